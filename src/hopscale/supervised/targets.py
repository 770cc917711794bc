"""Labels that a model may learn from: those of the training nodes, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, ParameterError, UnknownNodeError, in_short
from hopscale.graph import AttributedGraph
from hopscale.indexed import has_index, is_keyed, rows_by_id
from hopscale.labels import class_codes
from hopscale.names import name_array, positions, shown_name

__all__ = ["LARGEST", "as_classes", "as_values", "chosen_labels", "chosen_nodes", "label_array"]

LARGEST = 1e50  # of a value to predict: sums of products of such numbers are finite

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
        The parameter that it is, for messages.

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
    if isinstance(chosen, Mapping) or (has_index(chosen) and _kind(chosen) == "b"):
        at = rows_by_id(chosen, graph.node_ids, what)
        values = np.asarray(list(chosen.values()) if isinstance(chosen, Mapping) else chosen)
        if values.dtype.kind != "b" or (at < 0).any():
            raise ParameterError("with an index must be a boolean for each node", parameter=what)
        return np.flatnonzero(values[at])
    if has_index(chosen):
        raise ParameterError(
            "is a column with an index, which may mean its index or its values: pass a mask, positions of nodes "
            "(.to_numpy()) or ids (.index)",
            parameter=what,
        )
    array = np.asarray(chosen)
    if array.ndim != 1:
        raise ParameterError(
            f"must be one-dimensional, a mask, positions or ids of nodes, but has shape {array.shape}", parameter=what
        )
    if array.dtype.kind == "b":
        if len(array) != graph.n_nodes:
            raise ParameterError(
                f"is a mask of {len(array)} nodes, but the graph has {graph.n_nodes}: it needs an entry for each",
                parameter=what,
            )
        rows = np.flatnonzero(array)
    elif not len(array):
        rows = np.zeros(0, dtype=np.int64)
    elif array.dtype.kind in "iu" and not hasattr(chosen, "get_indexer"):
        wrong = (array < 0) | (array >= graph.n_nodes)
        if wrong.any():
            raise ParameterError(
                f"has the position {int(array[wrong][0])}, but the graph has {graph.n_nodes} nodes: whole numbers are "
                "positions, 0 for the first node. Pass ids as a pandas Index",
                parameter=what,
            )
        rows = array.astype(np.int64)
    else:
        names = name_array(array.tolist() if not isinstance(chosen, list) else chosen)
        rows = positions(names, graph.node_ids)
        if rows.min() < 0:
            unknown = int((rows < 0).sum())
            raise UnknownNodeError(
                f"{what} has {unknown} id(s) that are no nodes of the graph, such as "
                f"{shown_name(names, int(np.argmin(rows)))}"
            )
    distinct = np.unique(rows).astype(np.int64)
    if len(distinct) < len(rows):
        raise ParameterError(f"names {len(rows) - len(distinct)} node(s) more than once", parameter=what)
    if not len(distinct):
        raise ParameterError("chooses no node", parameter=what)
    return distinct


def _kind(values: Any) -> str:
    return np.asarray(values).dtype.kind


def chosen_labels(graph: AttributedGraph, labels: Any, rows: Indices | None) -> list[Any] | NDArray[Any]:
    """Labels of some nodes, or of all; those of other nodes are not looked at.

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
    if not hasattr(labels, "__len__"):
        raise GraphError(f"labels must be one per node, not {in_short(labels)}")
    if len(labels) != graph.n_nodes:
        raise GraphError(
            f"there are {len(labels)} labels for {graph.n_nodes} nodes: one is needed per node, in the same order; "
            "mark a node without label by None or NaN"
        )
    if hasattr(labels, "shape"):
        return np.asarray(labels)[rows]
    return [labels[i] for i in rows.tolist()]


def label_array(values: list[Any] | NDArray[Any]) -> NDArray[Any]:
    """Labels as an array, in which a list of different types keeps them."""
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
    if column.dtype.kind in "biufU":
        classes = classes.astype(column.dtype)
    return rank[codes].astype(np.int64), classes


def as_values(values: list[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Numbers to predict, NaN for nodes without one."""
    column = label_array(values)
    try:
        if np.iscomplexobj(column):
            raise TypeError("they are complex")
        with np.errstate(over="ignore"):  # of long doubles; what is not finite is refused below
            numbers = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"labels must be numbers for a regression ({error})") from error
    known = numbers[~np.isnan(numbers)]
    if not np.isfinite(known).all():
        raise GraphError("labels has values that are infinite; log(0)?")
    if np.abs(known).max(initial=0.0) > LARGEST:
        raise GraphError(f"labels must lie within ±{LARGEST:g}, or their squares would not be finite: scale them")
    if len(known) and known.min() == known.max():
        raise GraphError(f"all {len(known)} labelled nodes have the value {known[0]:g}: there is nothing to predict")
    if not len(known):
        raise GraphError("no node has a label: there is nothing to predict")
    return numbers
