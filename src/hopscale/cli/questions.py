"""What questions to a saved model have in common: the model, nodes and features by name, how many, which scale."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from hopscale.io.name_bytes import with_tuples
from hopscale.io.vectors import name_text

__all__ = ["MODEL", "NODE_SETTINGS", "SCALE", "K", "node_among"]

NODE_SETTINGS = {"ignore_unknown_options": True}  # a node may be called -1
MODEL = click.argument("model", type=click.Path(path_type=Path))
K = click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="How many of each.")
SCALE = click.option("--scale", help="One scale only: a number of hops, or a label such as 1-3.")


def node_among(ids: NDArray[Any], text: str) -> Any:
    """Node that a text on the command line means: the one that is written so in exported files, or as JSON.

    >>> node_among(np.array([3, 7]), "7")
    7
    """
    if ids.dtype == np.int64:
        with suppress(ValueError):
            return int(text)
        return text
    listed = ids.tolist()
    if text in listed:
        return text
    with suppress(ValueError, RecursionError):
        meant = with_tuples(json.loads(text))
        if isinstance(meant, tuple) and meant in listed:
            return meant
    return next((name for name in listed if name_text(name) == text), text)
