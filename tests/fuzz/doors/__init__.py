"""A function for every door: random inputs for it, as lines of Python."""

from fuzz.doors import commands, files, kernels, models, objects
from fuzz.doors.registry import DOORS, line

__all__ = ["DOORS", "commands", "files", "kernels", "line", "models", "objects"]
