"""Tables with an index: their rows are matched by it, never taken by position in silence.

pandas is never imported: its objects, and those of libraries that are made alike, bring what is needed. A default index
(0, 1, 2, ...) says nothing about nodes, unless these numbers are the ids of the nodes, in this order.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress, islice, repeat
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, in_short, warn
from hopscale.matrices import selection
from hopscale.names import as_names, is_missing, name_array, positions, repeated_name, shown_name

__all__ = [
    "adjacency_rows",
    "check_common",
    "feature_rows",
    "frame_matrix",
    "has_index",
    "index_names",
    "is_default",
    "is_frame",
    "is_keyed",
    "is_series",
    "labels_at",
    "labels_by_id",
    "rows_by_id",
]

_ID_COLUMN = re.compile(r"(.*[_ .-])?(id|ID|Id|node|Node|index)|.*[a-z](Id|ID)")


def has_index(values: Any) -> bool:
    """Whether something is a column or table of rows with an index, as those of pandas are.

    >>> has_index([1, 2]), has_index(np.zeros(2))
    (False, False)
    """
    return hasattr(values, "iloc") and hasattr(values, "index")


def is_frame(values: Any) -> bool:
    """Whether something is a data frame with an index."""
    return has_index(values) and hasattr(values, "columns")


def is_series(values: Any) -> bool:
    """Whether something is a single column with an index."""
    return has_index(values) and not hasattr(values, "columns")


def is_default(index: Any) -> bool:
    """Whether an index is the default one: 0, 1, 2, ..., without a name."""
    return (
        getattr(index, "start", None) == 0
        and getattr(index, "step", None) == 1
        and getattr(index, "name", None) is None
    )


def is_keyed(values: Any) -> bool:
    """Whether values come with the ids that they belong to: by an index or as a mapping."""
    return isinstance(values, Mapping) or has_index(values)


def index_names(values: Any, what: str) -> NDArray[Any]:
    """Index, or keys, as distinct names.

    Examples
    --------
    >>> import pandas as pd
    >>> index_names(pd.Series(["x", "y"], index=[2.0, 1.0]), "labels")
    array([2, 1])
    """
    if isinstance(values, Mapping):
        return name_array(values)
    return _distinct(_listed(values.index), f"the index of {what}")


def rows_by_id(values: Any, ids: NDArray[Any], what: str) -> NDArray[Any]:
    """Row of every id in something with an index or keys, -1 where there is none.

    Rows of other ids are counted in a warning; where not a single id is found, that is an error.

    Examples
    --------
    >>> rows_by_id({"b": 1, "a": 2}, name_array(["a", "b", "c"]), "labels")
    array([ 1,  0, -1])
    """
    names = name_array(values) if isinstance(values, Mapping) else _listed(values.index)
    if has_index(values):
        _check_default(values.index, names, ids, what)
    if not len(names) or not len(ids):
        return np.full(len(ids), -1)
    at = _distinct_positions(ids, names, f"the index of {what}")
    if at.max() < 0:
        raise _nothing_in_common(names, ids, what)
    left_out = np.ones(len(names), dtype=bool)
    left_out[at[at >= 0]] = False
    if left_out.any():
        shown = ", ".join(map(in_short, islice(compress(names.tolist(), left_out.tolist()), 5)))
        warn(f"{int(left_out.sum())} of {len(names)} {what} belong to no node and are left out: those of {shown}")
    return at


def check_common(values: Any, names: NDArray[Any], ids: NDArray[Any], what: str) -> None:
    """Refuse an index, of these names, of which not a single entry is a node."""
    if is_default(values.index) and len(names):
        if ids.dtype != np.int64 or (len(ids) and (ids.min() < 0 or ids.max() >= len(names))):
            _check_default(values.index, names, ids, what)
    elif len(names) and len(ids) and set(ids.tolist()).isdisjoint(names.tolist()):
        raise _nothing_in_common(names, ids, what)


def _nothing_in_common(names: NDArray[Any], ids: NDArray[Any], what: str) -> GraphError:
    return GraphError(
        f"the ids of {what} and those of the nodes have nothing in common: {what} has {shown_name(names, 0)}, the "
        f"nodes {shown_name(ids, 0)}. Are they of one type? Rows of a matrix are called 0, 1, 2, ..., unless node_ids "
        "names them"
    )


def _distinct_positions(ids: NDArray[Any], names: NDArray[Any], what: str) -> NDArray[Any]:
    """Position of each id among names, which must be distinct; -1 where it is not there."""
    if names.dtype == np.int64 and ids.dtype == np.int64:
        return positions(ids, _distinct(names, what))
    try:
        row = dict(zip(names.tolist(), range(len(names)), strict=True))
    except TypeError as error:
        raise GraphError(f"{what} must be hashable ({error})") from None
    if len(row) < len(names) or any(type(name) is not str and is_missing(name) for name in row):
        _distinct(names, what)  # which is an error
    return np.fromiter(map(row.get, ids.tolist(), repeat(-1)), dtype=np.int64, count=len(ids))


def labels_by_id(labels: Any, ids: NDArray[Any], what: str = "labels") -> Any:
    """Labels in the order of the nodes; those without an index or keys are in it already, and returned as they are.

    Examples
    --------
    >>> labels_by_id({"b": 1, "a": 2}, name_array(["a", "b", "c"]))
    array([ 2.,  1., nan])
    """
    if not is_keyed(labels):
        return labels
    at = rows_by_id(labels, ids, what)
    values = list(labels.values()) if isinstance(labels, Mapping) else np.asarray(labels)
    if isinstance(values, list) or values.dtype == object:
        given = np.array([not is_missing(value) for value in values], dtype=bool)
        if not given.all():
            rank = np.append(np.where(given, np.cumsum(given) - 1, -1), -1)
            at, values = rank[at], list(compress(values, given))
    return labels_at(values, at)


def labels_at(values: Sequence[Any] | NDArray[Any], at: NDArray[Any]) -> NDArray[Any]:
    """``values[at]``; where ``at`` is -1 there is NaN among numbers and None among other labels."""
    try:
        typed = np.array(values)
    except ValueError:  # lists of different lengths
        typed = np.empty(0, dtype=object)
    is_complete = at.min(initial=0) >= 0
    if typed.dtype.kind in "biuf" and (is_complete or typed.ndim == 1):
        return typed[at] if is_complete else np.append(typed.astype(np.float64), np.nan)[at]
    if is_complete and all(isinstance(label, str) for label in values):
        return typed[at]
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    pool = np.empty(len(values) + 1, dtype=object)  # the last one None
    for row, label in enumerate(values):  # one by one: NumPy would take arrays for rows
        pool[row] = label
    return pool[at]


def feature_rows(
    features: Any, ids: NDArray[Any], feature_names: Sequence[Hashable] | NDArray[Any] | None
) -> tuple[Any, Any]:
    """Feature matrix with a row for each node, and the names of its columns.

    Rows of a data frame are matched by its index, and its columns by the names of the features, or are these names.
    What has no index is a matrix already, and returned as it is.
    """
    if not has_index(features):
        if hasattr(features, "__arrow_c_stream__") or hasattr(features, "__dataframe__"):
            raise GraphError(
                f"features is a table without an index ({type(features).__name__}), which does not say whose row is "
                "whose: pass it to from_tables(edges, nodes=...), or a matrix with node_ids"
            )
        return features, feature_names
    if is_series(features):
        raise GraphError(
            "features is a column with an index, not a data frame: from_edges and from_networkx take one of lists"
        )
    matrix, names = frame_matrix(features)
    at = rows_by_id(features, ids, "features")
    if feature_names is not None:
        wanted = name_array(feature_names)
        _check_default(features.columns, names, wanted, "features", "columns")
        where = positions(names, wanted)
        if len(names) and where.min() < 0:
            raise GraphError(
                f"features has the column {shown_name(names, int(np.argmin(where)))}, which feature_names has not"
            )
        matrix, names = matrix @ selection(where, len(wanted)), wanted
    return selection(at, len(features.index)) @ matrix, names


def frame_matrix(frame: Any) -> tuple[sp.csr_array, NDArray[Any]]:
    """Data frame of features as a matrix, and the names of its columns; rows are as they come."""
    _check_columns(frame)
    names = _distinct(_listed(frame.columns), "the columns of features")
    matrix = sp.csr_array(_numbers(frame, "features"))
    _check_cells(matrix, frame.index, names)
    return matrix, names


def adjacency_rows(adjacency: Any, node_ids: Any) -> tuple[Any, Any]:
    """Adjacency matrix and the names of its nodes; a data frame has these as index and as columns, in any order."""
    if not is_frame(adjacency):
        return adjacency, node_ids
    rows = _distinct(_listed(adjacency.index), "the index of adjacency")
    columns = _distinct(_listed(adjacency.columns), "the columns of adjacency")
    _check_same(rows, columns, "adjacency", "rows", "columns")
    if node_ids is None:
        ids = rows
    else:
        ids = name_array(node_ids)
        _check_default(adjacency.index, rows, ids, "adjacency")
        _check_same(rows, ids, "adjacency", "rows", "node_ids")
    matrix = sp.csr_array(_numbers(adjacency, "adjacency"))
    return selection(positions(ids, rows), len(ids)) @ matrix @ selection(positions(columns, ids), len(ids)), ids


def _listed(index: Any) -> NDArray[Any]:
    """Entries of an index as names."""
    kind = getattr(getattr(index, "dtype", None), "kind", "O")
    return as_names(np.asarray(index)) if kind in "iuf" and hasattr(index, "__array__") else name_array(index.tolist())


def _distinct(names: NDArray[Any], what: str) -> NDArray[Any]:
    if names.dtype == object:
        missing = sum(type(name) is not str and is_missing(name) for name in names.tolist())
        if missing:
            raise GraphError(f"{what} has {missing} missing entr{'y' if missing == 1 else 'ies'}: leave these rows out")
    twice = repeated_name(names, what)
    if twice is not None:
        raise GraphError(f"{what} must name everything once, but has {shown_name(names, twice)} twice")
    return names


def _check_same(some: NDArray[Any], others: NDArray[Any], what: str, here: str, there: str) -> None:
    """Refuse two lists of nodes of which one names a node that the other does not name."""
    for names, known, has, lacks in ((some, others, here, there), (others, some, there, here)):
        at = positions(names, known) if len(known) else np.full(len(names), -1)
        if at.min(initial=0) < 0:
            raise GraphError(
                f"{what} must have the same nodes as {here} and as {there}: {shown_name(names, int(np.argmin(at)))} is "
                f"among the {has}, but not among the {lacks}"
            )


def _check_default(index: Any, names: NDArray[Any], ids: NDArray[Any], what: str, side: str = "rows") -> None:
    """Refuse a default index, unless its numbers are the ids."""
    if is_default(index) and len(names) and not (ids.dtype == np.int64 and np.array_equal(names, ids)):
        things = "nodes" if side == "rows" else "features"
        raise GraphError(
            f"the {side} of {what} have a default index, 0 to {len(names) - 1}, which does not say to which of the "
            f"{len(ids)} {things} ({shown_name(ids, 0) if len(ids) else 'none'}, ...) they belong: make the ids the "
            f'index, as by .set_index("id"), or pass .to_numpy() if they are in the order of the {things}; if the '
            'numbers are the ids, give the index a name, as by .rename_axis("id")'
        )


def _check_columns(frame: Any) -> None:
    """Refuse what is no table of numbers."""
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        kind = getattr(dtype, "subtype", dtype) if _is_sparse(dtype) else dtype
        if getattr(kind, "kind", "O") not in "biuf":
            raise GraphError(
                f"the column {in_short(name)} of features holds no numbers ({dtype}): from_tables(edges, nodes=...) "
                "makes features of any columns"
            )
    ids = [name for name in frame.columns if isinstance(name, str) and _ID_COLUMN.fullmatch(name)]
    if is_default(frame.index) and ids and len(frame[ids[0]].drop_duplicates()) == len(frame):
        raise GraphError(
            f"features has a column {in_short(ids[0])}, which would be a feature like the others: make it the index, "
            f'by .set_index("{ids[0]}")'
        )


def _numbers(frame: Any, what: str) -> Any:
    """Data frame as a matrix of numbers, sparse if all its columns are."""
    if any(str(dtype).startswith("complex") for dtype in frame.dtypes):
        raise GraphError(f"{what} must be a data frame of real numbers, not complex ones")
    try:
        if len(frame.columns) and all(map(_is_sparse, frame.dtypes)):
            return frame.sparse.to_coo()
        with np.errstate(over="ignore"):  # of long doubles: what is not finite is refused later
            return frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"{what} must be a data frame of numbers ({error})") from error


def _is_sparse(dtype: Any) -> bool:
    return str(dtype).startswith("Sparse[")


def _check_cells(matrix: sp.csr_array, index: Any, columns: NDArray[Any]) -> None:
    """Refuse missing cells by the names of their node and feature."""
    missing = np.isnan(matrix.data)
    if missing.any():
        entry = int(np.argmax(missing))
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise GraphError(
            f"features has {int(missing.sum())} missing cell(s), the first in column "
            f"{shown_name(columns, matrix.indices[entry])} of {shown_name(_listed(index), row)}: fill them, with 0 "
            "where a node has not the feature"
        )
