"""Edges as delimited text."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting, warn
from hopscale.io.columns import is_amount_name, is_node_name, may_be_header
from hopscale.io.delimited import amount_column, read_pairs, read_rows, warn_of_first_line
from hopscale.io.naming import Names

__all__ = ["read_edges"]


def read_edges(
    data: bytes,
    path: str | os.PathLike[str],
    *,
    header: bool | None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> tuple[Names, NDArray[np.float64] | None]:
    """Ends of all edges, as text, and their weights if there are any."""
    rows = read_rows(data, path, header, node_columns=2, number_at=2, named=(source, target, weight))
    at = amount_column(rows, "source,target,weight", weight)
    if at == 2 and weight is None and rows.header and not is_amount_name(rows.header[2]):
        if is_node_name(rows.header[2]) or not rows.header[0]:
            raise FileFormatError(f"{path}: expected source,target or source,target,weight, but ", *rows.columns)
        warn(
            f"{path}: the column {rows.header[2]!r} is passed over; if it holds the weights of the edges, give ",
            Setting("weight", rows.header[2]),
            " or call it weight",
        )
        at = None
    # Edges have no direction: in the order of the file, so that nodes are seen in it.
    ends_at = sorted(
        position if name is None else rows.position(name) for position, name in enumerate((source, target))
    )
    [ends], weights = read_pairs(rows, "weight", at, groups=(tuple(ends_at),))
    if header is None and rows.header is None and ends.vocabulary.dtype == object:
        first, others = ends.codes[0].tolist(), ends.codes[1:]
        if may_be_header((ends.at(0), first[0], others), (ends.at(1), first[1], others)):
            warn_of_first_line(ends.at(0), ends.at(1), path, "two nodes", "source,target")
    return ends, weights
