"""Labels that a model may learn from: those of the training nodes, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, ParameterError, UnknownNodeError, in_short, warn
from hopscale.graph import AttributedGraph
from hopscale.indexed import is_keyed, rows_by_id
from hopscale.labels import class_codes
from hopscale.names import as_names, name_array, positions, shown_name

__all__ = ["as_classes", "chosen_labels", "chosen_nodes", "label_array"]

Indices = NDArray[np.int64]


def chosen_nodes(graph: AttributedGraph, chosen: Any, what: str = "train") -> Indices:
    """Positions of nodes that are given by a mask, by positions or by their ids.

    Parameters
    ----------
    graph : AttributedGraph
    chosen : array-like, or Series
        Booleans, one per node, in the order of the nodes or with the ids as index; whole numbers, which are
        positions of nodes; a pandas ``Index``, or names of another type, which are ids.
    what : str
        Name of the parameter, for messages.

    Returns
    -------
    ndarray of int64
        Distinct positions in the order of the nodes.

    Examples
    --------
    >>> from hopscale.datasets import figure1
    >>> graph = figure1()
    >>> chosen_nodes(graph, [2, 0]), chosen_nodes(graph, ["C", "A"])
    (array([0, 2]), array([0, 2]))
    """
    if is_keyed(chosen):
        rows = np.flatnonzero(_mask_by_id(graph, chosen, what))
    else:
        column = _as_column(chosen, what)
        if column.dtype == bool:
            if len(column) != graph.n_nodes:
                raise ParameterError(
                    f"is a mask of {len(column)} nodes, but the graph has {graph.n_nodes}: it needs an entry for each",
                    parameter=what,
                )
            rows = np.flatnonzero(column)
        elif column.dtype == np.int64 and not _is_index(chosen):
            rows = column
            wrong = (rows < 0) | (rows >= graph.n_nodes)
            if wrong.any():
                raise ParameterError(
                    f"has the position {int(rows[wrong][0])}, but the graph has {graph.n_nodes} nodes: whole numbers "
                    "are positions, 0 for the first node. Pass ids as a pandas Index",
                    parameter=what,
                )
            if _may_be_ids(rows, graph.node_ids):
                warn(
                    f"{what} is taken for positions of nodes, 0 for the first, though these whole numbers are ids as "
                    "well: pass ids as a pandas Index, or a mask, which has no such doubt"
                )
        else:
            rows = positions(column, graph.node_ids)
            if rows.min(initial=0) < 0:
                raise UnknownNodeError(
                    f"{what} has {int((rows < 0).sum())} id(s) that are no nodes of the graph, such as "
                    f"{shown_name(column, int(np.argmin(rows)))}"
                )
    distinct = np.unique(rows).astype(np.int64)
    if len(distinct) < len(rows):
        raise ParameterError(f"names {len(rows) - len(distinct)} node(s) more than once", parameter=what)
    if not len(distinct):
        raise ParameterError("chooses no node", parameter=what)
    return distinct


def _may_be_ids(rows: Indices, node_ids: NDArray[Any]) -> bool:
    """Whether whole numbers would choose other nodes if they were ids."""
    if node_ids.dtype.kind not in "iu":
        return False
    at = positions(rows, node_ids)
    return bool(len(rows)) and bool((at >= 0).all()) and not np.array_equal(np.sort(at), np.sort(rows))


def _mask_by_id(graph: AttributedGraph, chosen: Any, what: str) -> NDArray[np.bool_]:
    values = np.asarray(list(chosen.values()) if isinstance(chosen, Mapping) else chosen)
    if values.dtype != bool:
        raise ParameterError(
            "with an index or keys must be booleans, one for each node: else it may mean its index or its values. Pass "
            "a mask, positions of nodes (.to_numpy()) or ids (.index)",
            parameter=what,
        )
    at = rows_by_id(chosen, graph.node_ids, what)
    if at.min(initial=0) < 0:
        raise ParameterError(
            f"has no entry for {int((at < 0).sum())} of {len(at)} nodes, such as "
            f"{shown_name(graph.node_ids, int(np.argmin(at)))}",
            parameter=what,
        )
    return np.asarray(values[at])


def _as_column(chosen: Any, what: str) -> NDArray[Any]:
    """Booleans, whole numbers (int64) or names in one dimension."""
    if isinstance(chosen, (list, tuple)):
        column = name_array(chosen)
    else:
        array = np.asarray(chosen)
        if array.ndim != 1:
            raise ParameterError(
                f"must be one-dimensional, a mask, positions or ids of nodes, not {in_short(chosen)}", parameter=what
            )
        column = array if array.dtype == bool else as_names(array) if _is_index(chosen) else name_array(array)
    kinds = {type(entry) for entry in column.tolist()} if column.dtype == object else set()
    if kinds and kinds <= {bool, np.bool_}:
        return column.astype(bool)
    if kinds == {float} and not _is_index(chosen):
        raise ParameterError(
            "has fractions: positions are whole numbers, and ids come as a pandas Index", parameter=what
        )
    return column


def _is_index(values: Any) -> bool:
    """Whether something is an index as those of pandas are, on its own."""
    return hasattr(values, "get_indexer")


def chosen_labels(graph: AttributedGraph, labels: Any, rows: Indices | None) -> list[Any] | NDArray[Any]:
    """Labels of the nodes at ``rows``, or of all nodes; no others are read.

    ``labels`` are in the order of the nodes, or are a Series or mapping by id, or None for those of the graph.
    A node without a label has None or NaN.
    """
    if labels is None:
        labels = graph.labels
        if labels is None:
            raise GraphError("the graph has no labels to learn from: pass them as y")
    rows = np.arange(graph.n_nodes) if rows is None else rows
    if is_keyed(labels):
        at = rows_by_id(labels, graph.node_ids, "labels")[rows]
        values = list(labels.values()) if isinstance(labels, Mapping) else np.asarray(labels)
        if not isinstance(values, list) and at.min(initial=0) >= 0:
            return values[at]
        return [values[i] if i >= 0 else None for i in at.tolist()]
    try:
        count = len(labels)
    except TypeError:
        raise GraphError(f"labels must be one per node, not {in_short(labels)}") from None
    if isinstance(labels, np.ma.MaskedArray):
        raise GraphError("labels must be plain values, NaN or None where there is none, not a masked array")
    if count != graph.n_nodes:
        raise GraphError(
            f"there are {count} labels for {graph.n_nodes} nodes: one is needed per node, in the same order; "
            "mark a node without label by None or NaN"
        )
    if hasattr(labels, "shape"):
        return np.asarray(labels)[rows]
    return [labels[i] for i in rows.tolist()]


def label_array(values: list[Any] | NDArray[Any]) -> NDArray[Any]:
    """Labels as a one-dimensional array; a list of several types becomes one of objects."""
    if isinstance(values, np.ndarray):
        column = values
    else:
        known = [value for value in values if value is not None]
        if len(known) == len(values) and len({type(value) for value in known}) == 1:
            column = np.asarray(values)
        else:
            column = np.empty(len(values), dtype=object)
            column[:] = values
    if column.ndim != 1:
        raise GraphError(f"labels must be one per node, but have shape {column.shape}")
    return column


def as_classes(values: list[Any] | NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes of classes, -1 for nodes without one, and the sorted names of the classes.

    Examples
    --------
    >>> as_classes(["tea", "cocoa", None, "tea"])
    (array([ 1,  0, -1,  1]), array(['cocoa', 'tea'], dtype=object))
    >>> as_classes([2.0, 1.0, float("nan")])
    (array([ 1,  0, -1]), array([1, 2]))
    """
    column = label_array(values)
    codes, names = class_codes(column)
    try:
        order = sorted(range(len(names)), key=names.__getitem__)  # type: ignore[arg-type]
    except TypeError:  # names of several types have no order but that in which they appear
        order = list(range(len(names)))
    rank = np.append(np.argsort(order), -1)
    classes = np.empty(len(names), dtype=object)
    classes[:] = [names[i] for i in order]
    if column.dtype.kind == "f" and all(name.is_integer() and abs(name) < 2**53 for name in classes):
        classes = classes.astype(np.int64)  # whole numbers are floats where a node has none
    elif column.dtype.kind in "biuf":
        classes = classes.astype(column.dtype)
    elif column.dtype.kind == "U":
        classes = classes.astype(str)  # as wide as these names, whatever labels of other nodes are
    return rank[codes].astype(np.int64), classes
