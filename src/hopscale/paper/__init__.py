"""The paper's tables and figures as code: what was published, and what is measured here, side by side.

B. Rozemberczki, C. Allen and R. Sarkar, "Multi-Scale Attributed Node Embedding", Journal of Complex Networks 9(2),
2021.
"""

from __future__ import annotations

from hopscale.paper.experiments import EXPERIMENTS, Options
from hopscale.paper.methods import METHODS, Method
from hopscale.paper.published import published
from hopscale.paper.reports import render
from hopscale.paper.runner import reproduce

__all__ = ["EXPERIMENTS", "METHODS", "Method", "Options", "published", "render", "reproduce"]
