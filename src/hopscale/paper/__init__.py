"""The paper's experiments: measure them, and write tables and plots of published and measured values.

B. Rozemberczki, C. Allen and R. Sarkar, "Multi-Scale Attributed Node Embedding", Journal of Complex Networks 9(2),
2021.
"""

from __future__ import annotations

from hopscale.paper.experiments import EXPERIMENTS
from hopscale.paper.methods import METHODS, Method
from hopscale.paper.options import Options
from hopscale.paper.pages import render
from hopscale.paper.runner import reproduce
from hopscale.paper.store import reference_values

__all__ = ["EXPERIMENTS", "METHODS", "Method", "Options", "reference_values", "render", "reproduce"]
