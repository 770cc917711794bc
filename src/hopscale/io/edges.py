"""The door for edge lists and for features by node, as plain Python and NumPy hold them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hopscale.exceptions import GraphError, in_short
from hopscale.graph import AttributedGraph
from hopscale.indexed import (
    check_common,
    feature_rows,
    frame_matrix,
    has_index,
    index_names,
    is_frame,
    is_series,
    rows_by_id,
)
from hopscale.io.assemble import FeatureEntries, amounts, assemble
from hopscale.io.naming import Names, listing
from hopscale.names import as_names, is_missing, positions, shown_name

__all__ = ["entries_by_node", "from_edges", "lists_by_id"]


def from_edges(
    edges: Any,
    features: Any = None,
    *,
    weights: ArrayLike | None = None,
    node_ids: Sequence[Hashable] | NDArray[Any] | None = None,
    feature_names: Sequence[Hashable] | NDArray[Any] | None = None,
    labels: Mapping[Any, Any] | ArrayLike | None = None,
    self_loops: bool = False,
) -> AttributedGraph:
    """Graph from a list of undirected edges.

    Parameters
    ----------
    edges : array-like of shape (E, 2), or iterable of pairs
        One undirected edge a row. Ids may be anything hashable; whole numbers of any size are
        fastest. An edge that is repeated, in either direction, counts once.
    features : mapping, matrix or None
        ``{node: [feature, ...]}`` (a feature listed twice counts once),
        ``{node: {feature: value}}``, or ``{node: vector}`` with NumPy vectors of one length, whose
        features are named 0, 1, ...; a node with None has no features. Or a sparse or dense matrix with
        one row per node, in the order of ``node_ids``. Or a data frame of numbers, or a Series of lists,
        with the nodes as index.
    weights : array-like of shape (E,), optional
        With weights, edges that are repeated, in either direction, **add up**. An edge of weight 0 is
        none; its nodes are nodes all the same. A Series is matched with the index of the edges, or with
        their row numbers where they have no index.
    node_ids : sequence of hashable, optional
        All nodes, in order; edges and features may then name no others. Without it the nodes are
        those seen in edges and features, sorted if all are whole numbers, else as first seen, edges
        before features; a feature matrix then stands for the ids 0..n-1.
    feature_names : sequence of hashable, optional
        All features, in order. Without it: those seen, ordered as nodes are.
    labels : mapping, Series or array-like of shape (n,), optional
        ``{node: label}``, a Series with the nodes as index, or one label a node in node order. Nodes that
        are left out get NaN among numbers, None among other labels.
    self_loops : bool, default=False
        Keep self-loops.

    Returns
    -------
    AttributedGraph

    Warns
    -----
    HopscaleWarning
        If no node that has features is in any edge: most often ``7`` here and ``"7"`` there. If labels, or
        rows of a data frame while ``node_ids`` are given, belong to no node.

    Notes
    -----
    A node that only features name is an isolated node. ``graph.n_edges`` tells how many edges are left
    once repeated ones count once and self-loops are dropped.

    Examples
    --------
    >>> from hopscale.io import from_edges
    >>> graph = from_edges(
    ...     [("ann", "bob"), ("bob", "eve"), ("bob", "ann")],
    ...     {"ann": ["chess", "tea"], "bob": ["tea"], "zoe": ["chess"]},
    ... )
    >>> graph
    AttributedGraph(nodes=4, edges=2, features=2, feature_entries=4)
    >>> graph.node_ids.tolist()
    ['ann', 'bob', 'eve', 'zoe']
    """
    ends = _endpoints(edges)
    _refuse_names(features)
    if node_ids is None:
        features = _indexed_features(features, ends.ordered()) if has_index(features) else features
    elif is_frame(features):
        features, feature_names = feature_rows(features, as_names(node_ids), feature_names)
    elif is_series(features):
        features = lists_by_id(features, as_names(node_ids))
    return assemble(
        ends,
        None if weights is None else _edge_weights(_in_order_of_edges(weights, edges), ends),
        entries_by_node(features) if isinstance(features, Mapping) else features,
        node_ids=node_ids,
        feature_names=feature_names,
        labels=labels,
        self_loops=self_loops,
    )


def _refuse_names(features: Any) -> None:
    """Refuse lists of names in the place of a matrix."""
    first = features
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, (str, bytes, set, frozenset)) or getattr(getattr(first, "dtype", None), "kind", "f") in "SU":
        raise GraphError(
            f"features is {in_short(features)}, but must be a mapping {{node: [feature, ...]}}, a matrix, or a data "
            "frame with the nodes as index; lists in the order of the nodes are one by dict(zip(node_ids, lists))"
        )


def _indexed_features(features: Any, ends: Names) -> FeatureEntries | dict[Hashable, Any]:
    """Rows of a data frame, or lists of a Series, by the names in their index, all of which are nodes."""
    names = index_names(features, "features")
    check_common(features, names, ends.vocabulary, "features")
    if is_series(features):
        return {node: None if is_missing(own) else own for node, own in zip(names.tolist(), features, strict=True)}
    matrix, columns = frame_matrix(features)
    coo = matrix.tocoo()
    rows, found = coo.coords[0], Names(coo.coords[1], columns)

    def where(entry: int) -> str:
        return f"feature {in_short(found.at(entry))} of node {shown_name(names, rows[entry])}"

    return FeatureEntries(Names.each(names), rows, found, amounts(coo.data, "value", where), columns)


def lists_by_id(features: Any, ids: NDArray[Any]) -> dict[Hashable, Any]:
    """Features by node from a column of lists with an index; a missing cell means none."""
    at, cells = rows_by_id(features, ids, "features"), features.tolist()
    given = zip(ids[at >= 0].tolist(), map(cells.__getitem__, at[at >= 0].tolist()), strict=True)
    return {node: None if is_missing(own) else own for node, own in given}


def _in_order_of_edges(weights: Any, edges: Any) -> Any:
    """Weights by edge: those with an index are matched with the index of the edges, or with their row numbers."""
    if not is_series(weights):
        return weights
    rows = index_names(weights, "weights")
    here = index_names(edges, "edges") if has_index(edges) else np.arange(len(rows))
    at = positions(here, rows) if len(rows) else np.empty(0, dtype=np.int64)
    if len(here) != len(rows) or at.min(initial=0) < 0:
        raise GraphError(
            "the index of weights must be that of the edges, or their row numbers where they have none: "
            f"weights has {listing(rows.tolist())} and edges {listing(here.tolist())}; pass .to_numpy() if the weights "
            "are in the order of the edges"
        )
    return np.asarray(weights)[at]


def entries_by_node(features: Mapping[Any, Any]) -> FeatureEntries:
    """Feature entries of ``{node: features of the node}``.

    Examples
    --------
    >>> entries = entries_by_node({"a": {"tea": 2.0}, "b": ["tea", "tea", "go"]})
    >>> entries.rows.tolist(), entries.features.codes.tolist(), entries.values.tolist()
    ([0, 1, 1], [0, 0, 1], [2.0, 1.0, 1.0])
    """
    if any(_is_vector(described) for described in features.values()):
        return _entries_of_vectors(features)
    described = list(features.values())
    values: list[Any] | None = None
    # Lists alone need no values, and nothing done for each node: that a list repeats a feature is no matter then.
    if not set(map(type, described)) <= {list, tuple}:
        described = [_described(node, own) for node, own in features.items()]
        values = list(chain.from_iterable(own.values() for own in described))
    try:
        named = _names_in(described)
    except GraphError:
        for node, own in features.items():
            _described(node, own)
        raise
    listed = Names.of(features)
    rows = np.repeat(np.arange(len(described)), list(map(len, described)))

    def where(entry: int) -> str:
        return f"feature {in_short(named.at(entry))} of node {in_short(listed.at(int(rows[entry])))}"

    return FeatureEntries(listed, rows, named, None if values is None else amounts(values, "value", where))


def _names_in(groups: Sequence[Iterable[Hashable]]) -> Names:
    """All names of some lists, one list after the other, as one column."""
    text = Names.of_text(groups)
    if text is not None:
        return text
    if set(map(type, chain.from_iterable(groups))) == {int}:
        with suppress(OverflowError):  # numbers past int64 are names like any other
            return Names.of(np.fromiter(chain.from_iterable(groups), dtype=np.int64))
    return Names.of(chain.from_iterable(groups))


def _endpoints(edges: Any) -> Names:
    """Edges as names of shape (E, 2)."""
    if sp.issparse(edges):
        raise GraphError("edges is a sparse matrix; an adjacency matrix goes to AttributedGraph(adjacency)")
    if isinstance(edges, (Mapping, str, bytes)) or edges is None:
        raise GraphError(f"edges must be an array or list of pairs, not {type(edges).__name__}")
    pairs = _pairs(edges)
    if not isinstance(pairs, np.ndarray):
        ends = _names_in(pairs)
    elif pairs.ndim == 2 and pairs.shape[1] == 2:
        ends = Names.of(pairs.ravel())
    elif pairs.size == 0:
        ends = Names.of([])
    else:
        hint = "; transpose it" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        hint = "; a table with other columns goes to from_tables(edges)" if has_index(edges) else hint
        raise GraphError(f"edges must have two columns, but has shape {pairs.shape}{hint}")
    ends = ends.reshaped(2)
    if ends.vocabulary.dtype != np.int64 and set(map(type, ends.vocabulary.tolist())) != {str}:
        missing = np.array([is_missing(name) for name in ends.vocabulary.tolist()])
        if missing.any():
            row = int(np.argmax(missing[ends.codes].any(axis=1)))
            raise GraphError(
                f"edge {row} has a missing node: ({in_short(ends.at(2 * row))}, {in_short(ends.at(2 * row + 1))})"
            )
    return ends


def _pairs(edges: Any) -> NDArray[Any] | list[Any]:
    """Edges as an array, or as a list of nothing but pairs."""
    if isinstance(edges, np.ma.MaskedArray):
        raise GraphError("edges has masked entries, which could mean anything: leave these edges out")
    if hasattr(edges, "__array__"):
        return np.asarray(edges)  # tables and tensors: iterating over them would mean something else
    try:
        rows = edges if isinstance(edges, list) else list(edges)
    except TypeError:
        raise GraphError(f"edges must be an array or list of pairs, not {type(edges).__name__}") from None
    if set(map(type, rows)) <= {tuple, list} and set(map(len, rows)) <= {2}:
        return rows
    for row, pair in enumerate(rows):
        if not _is_pair(pair):
            with suppress(TypeError, ValueError, OverflowError):
                array = np.array(rows)
                if array.dtype.kind == "i" and array.ndim == 2:
                    return array  # its shape says what is wrong
            raise GraphError(
                f"edge {row} must be a pair of nodes, but is {in_short(pair)}; weights are given apart, as weights=..."
            )
    return rows


def _is_pair(pair: Any) -> bool:
    try:
        return not isinstance(pair, (str, bytes)) and len(pair) == 2
    except TypeError:  # no length, or none that is clear
        return False


def _edge_weights(weights: ArrayLike, ends: Names) -> NDArray[np.float64]:
    # The order of a set or of the keys of a mapping says nothing of edges.
    wrong = isinstance(weights, (Mapping, Set, str, bytes)) or sp.issparse(weights) or not isinstance(weights, Iterable)
    if wrong or getattr(weights, "ndim", 1) == 0:
        raise GraphError(f"weights must be a list or an array, one number an edge, not {in_short(weights)}")
    column: Any = weights if hasattr(weights, "__len__") else list(weights)  # type: ignore[arg-type]
    if len(column) != len(ends):
        raise GraphError(f"there are {len(column)} weights for {len(ends)} edges")

    def where(row: int) -> str:
        return f"edge {row}, ({in_short(ends.at(2 * row))}, {in_short(ends.at(2 * row + 1))})"

    return amounts(column, "weight", where)


def _described(node: Hashable, described: Any) -> Mapping[Hashable, Any]:
    """Features of one node with their values, in an order that does not depend on hashes; None means none."""
    if described is None:
        return {}
    if isinstance(described, Mapping):
        return described
    if isinstance(described, (str, bytes)) or not isinstance(described, Iterable):
        raise GraphError(
            f"the features of node {in_short(node)} are {in_short(described)}; expected a list of features, a mapping "
            "{feature: value} or a NumPy vector"
        )
    try:
        names = _in_order(described) if isinstance(described, (set, frozenset)) else described
        with np.errstate(over="ignore"):  # of NumPy's small floats, which are compared with large numbers
            return dict.fromkeys(names, 1.0)
    except TypeError as error:
        raise GraphError(f"the features of node {in_short(node)} must be hashable ({error})") from None


def _in_order(names: set[Any] | frozenset[Any]) -> list[Any]:
    if all(isinstance(name, str) for name in names) or all(isinstance(name, (int, float)) for name in names):
        return sorted(names)
    return sorted(names, key=lambda name: (type(name).__name__, in_short(name)))


def _is_vector(described: Any) -> bool:
    return isinstance(described, np.ndarray) and described.dtype.kind in "biufc"


def _entries_of_vectors(features: Mapping[Any, Any]) -> FeatureEntries:
    width = next(len(np.atleast_1d(vector)) for vector in features.values() if _is_vector(vector))
    features = {node: np.zeros(width) if vector is None else vector for node, vector in features.items()}
    for node, vector in features.items():
        if isinstance(vector, np.ma.MaskedArray) or (_is_vector(vector) and vector.dtype.kind == "c"):
            raise GraphError(f"the features of node {in_short(node)} are masked or complex; give plain numbers")
        if not _is_vector(vector) or vector.shape != (width,):
            shown = f"shape {vector.shape}" if _is_vector(vector) else type(vector).__name__
            raise GraphError(
                f"the features of node {in_short(node)} are of {shown}, those of others vectors of {width} numbers; "
                "numeric arrays are read as vectors: lists of feature names must be lists"
            )
    listed = Names.of(features)
    with np.errstate(over="ignore"):  # what is not finite is refused below
        table = np.array(list(features.values()), dtype=np.float64)
    row, column = np.nonzero(table)
    values = amounts(
        table[row, column],
        "value",
        lambda entry: f"feature {column[entry]} of node {in_short(listed.at(int(row[entry])))}",
    )
    names = np.arange(width, dtype=np.int64)
    return FeatureEntries(listed, row, Names(column, names), values, names)
