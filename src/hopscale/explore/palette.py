"""Colours of classes, apart from one another for people with any kind of colour vision, on light and dark ground."""

from __future__ import annotations

__all__ = ["PALETTE"]

# The colours of Okabe and Ito that are visible on white and on black, then others between them.
PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#9467bd",
    "#999933",
    "#44aa99",
    "#b0344d",
    "#6a7fdb",
    "#ddcc77",
    "#117733",
    "#e78ac3",
    "#8c6d31",
    "#7fbf7b",
    "#a65628",
    "#5e8ca8",
    "#f4a582",
    "#b2abd2",
)
