"""Features as JSON or as delimited text."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, Setting
from hopscale.io.assemble import FeatureEntries
from hopscale.io.columns import WIDE_TABLE, is_amount_name, may_be_header
from hopscale.io.delimited import Rows, amount_column, read_pairs, read_rows, warn_of_first_line
from hopscale.io.feature_json import read_feature_json
from hopscale.io.ids import like_edges, whole_if_all
from hopscale.io.naming import Unknown, listing, rows_of

__all__ = ["read_features"]


def read_features(
    data: bytes,
    path: str | os.PathLike[str],
    nodes: NDArray[Any],
    *,
    header: bool | None,
    value: str | None,
    whole: bool,
    unknown: Unknown,
) -> FeatureEntries:
    """Entries of the feature matrix; ``nodes`` are those of the edges, and ``whole`` says whether they are numbers."""
    rows = None
    if data.lstrip()[:1] in (b"{", b"["):
        raw = read_feature_json(data, path)
    else:
        rows = read_rows(data, path, header, node_columns=1, number_at=2, named=(value,))
        raw = _feature_pairs(rows, value)
        if header is None and rows.header is None and raw.listed.vocabulary.dtype == object and not whole:
            node, feature = raw.listed.at(0), str(raw.features.at(0))
            columns = ((node, raw.listed.codes), (feature, raw.features.codes))
            if node not in nodes and may_be_header(*((first, codes[0], codes[1:]) for first, codes in columns)):
                warn_of_first_line(node, feature, path, "a node and its feature", "node,feature")
    entries = replace(raw, listed=like_edges(raw.listed, whole, path), features=whole_if_all(raw.features))
    if unknown == "error" and (isolated := rows_of(entries.listed, nodes) < 0).any():
        names = entries.listed.with_codes(entries.listed.codes[isolated]).ordered().vocabulary.tolist()
        where = path if rows is None else f"{path}, line {rows.line(int(np.argmax(isolated)))}"
        raise FileFormatError(
            f"{where}: {len(names)} node(s) that no edge names: {listing(names)}; give ",
            Setting("unknown", "isolate"),
            " to take them for isolated nodes",
        )
    return entries


def _feature_pairs(rows: Rows, value: str | None) -> FeatureEntries:
    at = amount_column(rows, "node,feature,value", value, f". {WIDE_TABLE}")
    if at == 2 and value is None and rows.header and not is_amount_name(rows.header[2]):
        raise FileFormatError(
            f"{rows.path}: expected node,feature or node,feature,value, but ",
            *rows.columns,
            f"; if {rows.header[2]!r} holds the values, give ",
            Setting("value", rows.header[2]),
            f". {WIDE_TABLE}",
        )
    (nodes, features), values = read_pairs(rows, "value", at, groups=((0,), (1,)))
    return FeatureEntries(nodes, None, features, values)
