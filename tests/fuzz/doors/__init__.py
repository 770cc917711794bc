"""A function for every door: random inputs for it, as lines of Python."""

from fuzz.doors import (
    commands,
    files,
    indexed,
    kernels,
    models,
    node_tables,
    objects,
    others,
    plans,
    predictors,
    stored,
)
from fuzz.doors.registry import DOORS, line

__all__ = ["DOORS", "commands", "files", "indexed", "kernels", "line", "models", "node_tables", "objects", "others"]
__all__ += ["plans", "predictors", "stored"]
