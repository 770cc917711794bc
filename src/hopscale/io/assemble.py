"""Where all doors meet: columns of names become matrices, and the matrices a graph.

What only a door can know is checked here: which edge, which feature of which node an amount belongs
to. All else is left to :class:`~hopscale.graph.AttributedGraph`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hopscale.exceptions import GraphError, HopscaleWarning
from hopscale.graph import AttributedGraph, Directed, name_array, shown_name
from hopscale.io.naming import as_names, distinct, known_rows

__all__ = ["FeatureEntries", "amounts", "assemble", "label_array"]


@dataclass(frozen=True)
class FeatureEntries:
    """The non-zero entries of a feature matrix, by name.

    Attributes
    ----------
    nodes, features : ndarray
        Columns of names, one entry a position.
    values : ndarray of float64 or None
        Without values an entry that is repeated counts once, with values they add up.
    listed : ndarray
        Nodes that the source mentions, those without features among them.
    vocabulary : ndarray or None
        Names of all features where the source fixes them, used or not.
    """

    nodes: NDArray[Any]
    features: NDArray[Any]
    values: NDArray[np.float64] | None
    listed: NDArray[Any]
    vocabulary: NDArray[Any] | None = None


def assemble(
    ends: NDArray[Any],
    weights: NDArray[np.float64] | None = None,
    features: Any = None,
    *,
    node_ids: Sequence[Hashable] | NDArray[Any] | None = None,
    feature_names: Sequence[Hashable] | NDArray[Any] | None = None,
    labels: Mapping[Any, Any] | ArrayLike | None = None,
    self_loops: bool = False,
    directed: Directed | None = None,
) -> AttributedGraph:
    """Graph from named edges and named or matrix features.

    Parameters
    ----------
    ends : ndarray of shape (E, 2)
        Names, int64 or object.
    weights : ndarray of shape (E,), optional
        Checked already, by :func:`amounts`.
    features : FeatureEntries or matrix, optional
    node_ids, feature_names, labels, self_loops
        As in :func:`hopscale.io.from_edges`.
    directed : {"error", "symmetrize"}, optional
        Read each row as an arc and let the graph decide; by default a row is an undirected edge.

    Returns
    -------
    AttributedGraph
    """
    entries = features if isinstance(features, FeatureEntries) else None
    if node_ids is not None:
        names = as_names(node_ids)
    elif entries is None and features is not None:
        names = _row_numbers(ends, features)
    else:
        names = distinct(ends.ravel(), entries.listed if entries else ends[:0, 0])
    rows = known_rows(ends.ravel(), names, source="edges", things="nodes").reshape(-1, 2)
    if entries is not None:
        listed = known_rows(entries.listed, names, source="features", things="nodes")
        if node_ids is None:
            _warn_if_apart(rows, listed, names)
        features, feature_names = _feature_matrix(entries, names, feature_names)
    return AttributedGraph(
        _adjacency(rows, weights, len(names), arcs=directed is not None),
        features,
        node_ids=names,
        feature_names=feature_names,
        labels=label_array(labels, names) if isinstance(labels, Mapping) else labels,
        directed=directed or "error",
        self_loops=self_loops,
    )


def amounts(values: Iterable[Any] | NDArray[Any], what: str, where: Callable[[int], str]) -> NDArray[np.float64]:
    """Weights or feature values as finite, non-negative floats; ``where`` names a position for people.

    Examples
    --------
    >>> amounts([1, "many"], "weight", lambda position: f"edge {position}")
    Traceback (most recent call last):
    hopscale.exceptions.GraphError: the weight of edge 1 is 'many', which is not a number
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array([_number(value, what, where(row)) for row, value in enumerate(values)])
    for wrong, why in ((~np.isfinite(array), "not finite"), (array < 0, "negative")):
        if wrong.any():
            row = int(np.argmax(wrong))
            more = int(wrong.sum()) - 1
            raise GraphError(
                f"the {what} of {where(row)} is {array[row]:g}, which is {why}"
                + (f" ({more} more like it)" if more else "")
            )
    return array


def label_array(labels: Mapping[Any, Any], names: NDArray[Any]) -> NDArray[Any]:
    """Labels in the order of the nodes; what is missing is NaN among numbers and None among names.

    Examples
    --------
    >>> label_array({"a": 1, "c": 0}, as_names(["a", "b", "c"]))
    array([ 1., nan,  0.])
    """
    rows = known_rows(as_names(list(labels)), names, source="labels", things="nodes of the edges and features")
    column: list[Any] = [None] * len(names)
    for row, label in zip(rows.tolist(), labels.values(), strict=True):
        column[row] = label
    present = [label for label in column if label is not None]
    given = np.array(present)
    complete = len(present) == len(names)
    if given.dtype.kind in "biuf":
        return given if complete else np.array([np.nan if label is None else label for label in column])
    if complete and all(isinstance(label, str) for label in present):
        return given
    array = np.empty(len(column), dtype=object)
    array[:] = column
    return array


def _number(value: Any, what: str, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise GraphError(f"the {what} of {where} is {value!r}, which is not a number") from None


def _row_numbers(ends: NDArray[Any], features: Any) -> NDArray[np.int64]:
    """Ids 0..n-1 for a feature matrix that comes without ``node_ids``."""
    n = np.shape(features)[0] if np.ndim(features) or sp.issparse(features) else 0
    if ends.dtype != np.int64 or (ends.size and (ends.min() < 0 or ends.max() >= n)):
        stranger = next(end for end in ends.ravel().tolist() if type(end) is not int or not 0 <= end < n)
        raise GraphError(
            f"a feature matrix of {n} rows needs node_ids to say which node each row is, unless the ids are "
            f"the row numbers 0 to {n - 1}; an edge names {stranger!r}"
        )
    return np.arange(n, dtype=np.int64)


def _warn_if_apart(rows: NDArray[np.int64], listed: NDArray[np.int64], names: NDArray[Any]) -> None:
    """Ids such as 7 in one source and "7" in the other would only show as poor vectors later."""
    if not len(rows) or not len(listed):
        return
    connected = np.zeros(len(names), dtype=bool)
    connected[rows] = True
    if not connected[listed].any():
        warnings.warn(
            f"none of the {len(listed)} nodes with features is in an edge: are the ids of the same kind? "
            f"Edges have {shown_name(names, rows[0, 0])}, features {shown_name(names, listed[0])}",
            HopscaleWarning,
            stacklevel=4,
        )


def _adjacency(rows: NDArray[np.int64], weights: NDArray[np.float64] | None, n: int, *, arcs: bool) -> sp.csr_array:
    u, v = rows[:, 0], rows[:, 1]
    value = np.ones(len(u)) if weights is None else weights
    if not arcs:
        back = u != v  # a self-loop has no other direction: adding it would double its weight
        u, v, value = np.append(u, v[back]), np.append(v, u[back]), np.append(value, value[back])
    return _matrix(u, v, value, (n, n), once=weights is None)


def _feature_matrix(
    entries: FeatureEntries, names: NDArray[Any], feature_names: Sequence[Hashable] | NDArray[Any] | None
) -> tuple[sp.csr_array, NDArray[Any]]:
    if feature_names is not None:
        vocabulary = name_array(feature_names)
    elif entries.vocabulary is not None:
        vocabulary = entries.vocabulary
    else:
        vocabulary = distinct(entries.features)
    u = known_rows(entries.nodes, names, source="features", things="nodes")
    f = known_rows(entries.features, vocabulary, source="feature entries", things="feature_names")
    value = np.ones(len(u)) if entries.values is None else entries.values
    shape = (len(names), len(vocabulary))
    return _matrix(u, f, value, shape, once=entries.values is None), vocabulary


def _matrix(
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    value: NDArray[np.float64],
    shape: tuple[int, int],
    *,
    once: bool,
) -> sp.csr_array:
    """CSR of triples; repeats add up, or count ``once``."""
    index = np.int32 if max(*shape, len(u)) <= np.iinfo(np.int32).max else np.int64
    matrix = sp.csr_array((value, (u.astype(index), v.astype(index))), shape=shape)
    matrix.sum_duplicates()
    if once:
        matrix.data[:] = 1
    return matrix
