"""The door for data frames and tables: whatever streams Arrow columns comes in by this one path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, ParameterError, Setting, in_short, warn
from hopscale.graph import AttributedGraph
from hopscale.io.arrow import ArrowTable
from hopscale.io.assemble import FeatureEntries, assemble, label_array
from hopscale.io.columns import WIDE_TABLE, is_amount_name, weight_among
from hopscale.io.end_columns import choose_ends, weight_to_suggest
from hopscale.io.index_column import ids_as_column
from hopscale.io.naming import Names, Unknown, check_attributes, check_unknown, known_rows, listing, rows_of
from hopscale.io.node_table import encode_nodes, table_of_nodes

if TYPE_CHECKING:
    from hopscale.features import FeatureEncoder

__all__ = ["edge_columns", "feature_entries", "from_tables", "value_column"]


def from_tables(
    edges: Any,
    features: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | Literal[False] | None = None,
    node_column: str | None = None,
    feature: str | None = None,
    value: str | None = None,
    labels: Any = None,
    nodes: Any = None,
    id_column: str | None = None,
    label_column: str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoder: FeatureEncoder | None = None,
    unknown: Unknown = "isolate",
    self_loops: bool = False,
) -> AttributedGraph:
    """Graph from data frames or tables (pandas, polars, pyarrow, DuckDB, ...).

    A table is anything with the method ``__arrow_c_stream__``.

    Parameters
    ----------
    edges : table
        One undirected edge a row.
    features : table, optional
        Long format: one (node, feature) or (node, feature, value) a row. Repeated rows count once
        without values; with values they add up. Or one (node, list of features) a row, where null and
        empty lists mean no features.
    source, target : str, optional
        Columns of ``edges`` with the two nodes; by default two whose names say so (from and to, buyer and seller),
        else the first two that are no dates, amounts or row numbers, or two that have names in common where
        these have none; a warning tells where more than two were left to choose from.
    weight : str or False, optional
        Column of ``edges``; by default the first other one that is called weight, value, count, strength
        or alike, else the graph is unweighted, as it is with False. Repeated edges, in either direction, count once
        without weights and add up with them; ``graph.n_edges`` tells how many are left.
    node_column, feature : str, optional
        Columns of ``features``; by default the first two, or the index and the first column where the index
        holds the nodes. ``node_column`` is also that of ``labels``.
    value : str, optional
        Column of ``features``; by default the third and last column if it is called value, weight,
        count, score or alike. Other columns are refused unless ``feature`` is given: a wide table would
        be misread.
    labels : table, optional
        One (node, label) a row, or a Series with the nodes as index.
    nodes : table or mapping of columns, optional
        An ordinary table with a node a row, whatever its columns hold: categories, numbers, dates, lists, text. They
        become features by :class:`~hopscale.FeatureEncoder`; ``print(graph.encoder)`` tells what was understood.
        Rows are matched by id, never by position. Nodes without an edge are isolated nodes.
    id_column : str, optional
        Column of ``nodes`` with the ids, or the name of its index. By default the one that has most ids of the edges.
    label_column : str, optional
        Column of ``labels``; by default the last. Without ``labels`` it is a column of ``nodes``, which is then no
        feature.
    columns : dict, optional
        Kinds of columns of ``nodes`` that are not to be guessed, as in ``{"age": "number", "notes": "drop"}``.
    encoder : FeatureEncoder, optional
        What is to make the features: one that is fitted, such as ``model.encoder_``, gives new nodes the features that
        a model knows; another is fitted here.
    unknown : {"isolate", "error"}, default="isolate"
        Take nodes that only ``features`` names for isolated nodes, and leave out the labels of nodes
        that neither table names, with a warning; or refuse both.
    self_loops : bool, default=False
        Keep self-loops.

    Returns
    -------
    AttributedGraph

    Warns
    -----
    HopscaleWarning
        If a numeric column of ``edges`` is passed over because of its name, or labels are left out.

    Notes
    -----
    Nodes are those of ``edges`` and ``features``, in the order of :func:`~hopscale.io.from_edges`.
    A node, feature, weight or value that is missing (null, None, NaN) is refused with its row; a missing label, or list
    of features, means that there is none. An edge of weight 0 is none, and its nodes stay.
    Needs pyarrow: ``pip install hopscale[parquet]``.

    Examples
    --------
    >>> import pandas as pd
    >>> from hopscale.io import from_tables
    >>> edges = pd.DataFrame({"from": ["ann", "bob"], "to": ["bob", "eve"]})
    >>> likes = pd.DataFrame({"who": ["ann", "ann", "eve"], "what": ["tea", "go", "tea"]})
    >>> from_tables(edges, likes)
    AttributedGraph(nodes=3, edges=2, features=2, feature_entries=3)
    """
    check_unknown(unknown)
    check_attributes(
        source=source, target=target, weight=None if weight is False else weight, feature=feature, value=value
    )
    check_attributes(node_column=node_column, id_column=id_column, label_column=label_column)
    if label_column is not None and nodes is None and labels is None:
        raise ParameterError("is a column of labels or of nodes, of which there are none", parameter="label_column")
    table = ArrowTable(edges, "edges")
    source, target, weight = edge_columns(table, source, target, weight)
    ends = table.ends(source, target).ordered()
    entries = (
        None
        if features is None
        else feature_entries(
            ArrowTable(ids_as_column(features, "features", node_column), "features"), node_column, feature, value
        )
    )
    if entries is not None and unknown == "error":
        known_rows(entries.listed, ends.vocabulary, source="features", things="nodes of the edges")
    column = None
    if labels is not None:
        column = partial(
            _labels,
            ArrowTable(ids_as_column(labels, "labels", node_column), "labels"),
            node_column,
            label_column,
            unknown,
        )
    weights = None if weight is None else table.amounts(weight)
    encoded = None
    if nodes is not None:
        encoded = encode_nodes(
            table_of_nodes(nodes),
            ends.vocabulary,
            id_column=id_column,
            label_column=label_column if labels is None else None,
            columns=columns,
            encoder=encoder,
        )
        if unknown == "error":
            known_rows(encoded.listed, ends.vocabulary, source="nodes", things="nodes of the edges")
    return assemble(ends, weights, entries, nodes=encoded, labels_of=column, self_loops=self_loops)


def edge_columns(
    table: ArrowTable, source: str | None, target: str | None, weight: str | Literal[False] | None
) -> tuple[str, str, str | None]:
    """Columns with the two nodes and the weights: those given, else those that their names or their order say."""
    names = table.names_of_columns
    given = [name for name in (source, target) if name is not None]
    ends = choose_ends(names, lambda at: table.sample(names[at]))
    left = [names[at] for at in (*ends.at, *range(len(names))) if names[at] not in given]
    source = left.pop(0) if source is None else source
    target = left.pop(0) if target is None else target
    if source == target and names.count(source) < 2:
        raise GraphError(f"{table.role}: column {in_short(source)} cannot be both ends of the edges")
    if not given:
        ends.warn(table.role, repr(source), repr(target))
    if weight is not None:
        return source, target, None if weight is False else weight
    others = [name for name in names if name not in (source, target)]
    at = weight_among(others, (), lambda at: table.is_numeric(others[at]))
    if at is not None:
        return source, target, others[at]
    passed_over = [at for at, name in enumerate(names) if name in others and table.is_numeric(name)]
    numeric = None if given else weight_to_suggest(names, passed_over, lambda at: table.sample(names[at]))
    if numeric is not None:
        setting = Setting("weight", names[numeric])
        warn(f"the column {names[numeric]!r} of {table.role} is passed over; if it holds the weights, give ", setting)
    return source, target, None


def feature_entries(table: ArrowTable, node: str | None, feature: str | None, value: str | None) -> FeatureEntries:
    """Entries of the feature matrix, from rows of a node and a feature, or a list of them."""
    nodes = table.names(node, 0)
    if value is None:
        value = value_column(table, node, feature)
    lists = table.lists(feature, 1)
    if lists is None:
        values = None if value is None else table.amounts(value)
        return FeatureEntries(nodes, None, table.names(feature, 1), values)
    if value is not None:
        raise GraphError(f"features has lists of features, which cannot share the values in column {in_short(value)}")
    counts, features = lists
    return FeatureEntries(nodes, np.repeat(np.arange(len(counts)), counts), features)


def value_column(table: ArrowTable, node: str | None, feature: str | None) -> str | None:
    """Column that is the value by its name, if there is one; what may be a wide table is refused."""
    others = table.others(node, feature)
    if others and is_amount_name(others[0]) and (len(others) == 1 or feature is not None):
        return others[0]
    if others and feature is None:
        raise GraphError(
            f"features has the columns {table.names_of_columns}; expected node, feature and perhaps value, with one "
            f"feature of a node a row: name the columns with node_column, feature and value. {WIDE_TABLE}"
        )
    return None


def _labels(
    table: ArrowTable, node: str | None, label: str | None, unknown: Unknown, nodes: NDArray[Any]
) -> tuple[NDArray[Any], str]:
    """Labels of all nodes, and the name of their column; a node may be listed twice if it says the same."""
    called = table.names_of_columns[-1] if label is None else label
    given: dict[Any, Any] = {}
    column = table.column(label, -1, nulls=True).to_pylist()
    named = table.names(node, 0)
    for row, (name, value) in enumerate(zip(named.vocabulary[named.codes].tolist(), column, strict=True)):
        if given.setdefault(name, value) != value:
            raise GraphError(
                f"labels, row {row}: node {in_short(name)} has label {in_short(value)}, "
                f"but {in_short(given[name])} before"
            )
    known = rows_of(Names.of(given), nodes) >= 0
    if known.all() or not known.any() or unknown == "error":
        return label_array(given, nodes), called  # which refuses unknown nodes among them
    left_out = [name for name, meets in zip(given, known, strict=True) if not meets]
    warn(
        f"the labels of {len(left_out)} node(s) are left out: {listing(left_out)} are in neither the edges nor the "
        "features"
    )
    kept = {name: given[name] for name, meets in zip(given, known, strict=True) if meets}
    return label_array(kept, nodes), called
