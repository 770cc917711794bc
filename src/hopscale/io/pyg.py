"""The door for ``Data`` of PyTorch Geometric, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopscale.checks import switch
from hopscale.exceptions import GraphError, in_short, warn
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.assemble import assemble
from hopscale.io.naming import Names, check_attributes
from hopscale.io.torch_arrays import (
    Dense,
    arrays_of,
    as_array,
    edge_rows,
    imported,
    node_count,
    node_labels,
    tensor_features,
    weight_array,
)
from hopscale.names import as_names

__all__ = ["from_pyg", "is_pyg", "to_pyg"]


def is_pyg(source: Any) -> bool:
    """Whether something is a graph of PyTorch Geometric, of one type of nodes or of several."""
    return not isinstance(source, type) and (
        (hasattr(source, "edge_index") and hasattr(source, "num_nodes"))
        or (hasattr(source, "edge_types") and hasattr(source, "node_types") and hasattr(source, "num_nodes"))
    )


def from_pyg(
    data: Any,
    *,
    features: str | None = "x",
    weight: str | None = "edge_weight",
    label: str | None = "y",
    dense: Dense = "error",
    encoder: Any = None,
    self_loops: bool = False,
    directed: Directed = "error",
) -> AttributedGraph:
    """Graph from a ``torch_geometric.data.Data``, which is left as it is. PyTorch is not imported.

    Parameters
    ----------
    data : torch_geometric.data.Data
        Its ``edge_index`` has both directions of every edge, as PyTorch Geometric has undirected graphs.
        Nodes are called 0..n-1, or as ``data.node_ids`` says, and features likewise by
        ``data.feature_names``. A ``HeteroData`` is refused: call ``.to_homogeneous()`` first.
    features : str or None, default="x"
        Attribute with the features, a dense or sparse tensor; there need be none of that name.
    weight : str or None, default="edge_weight"
        Attribute with one weight an edge, such as "edge_attr" where that has a single column; there need be
        none of that name.
    label : str or None, default="y"
        Attribute with the labels of the nodes; there need be none of that name.
    dense : {"error", "signed", "binned"}, default="error"
        What to make of dense features: taken as they are, refused if any is negative; or two features for each
        column, of its positive and its negative numbers; or one for each of some bins of a column.
    encoder : FeatureEncoder, optional
        What has made the features of another graph in this way, such as ``model.encoder_``: bins are then the same.
    self_loops : bool, default=False
        Keep self-loops.
    directed : {"error", "symmetrize"}, default="error"
        As in :func:`hopscale.io.from_networkx`.

    Returns
    -------
    AttributedGraph
        Its rows are those of ``data``, so that masks such as ``data.train_mask`` fit ``model.embedding_``.

    Examples
    --------
    >>> from types import SimpleNamespace as Data
    >>> path = Data(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3, x=[[1, 0], [0, 1], [1, 1]])
    >>> from_pyg(path)
    AttributedGraph(nodes=3, edges=2, features=2, feature_entries=4)
    """
    check_attributes(features=features, weight=weight, label=label)
    if hasattr(data, "edge_types") and hasattr(data, "node_types"):
        raise GraphError(
            "a HeteroData has nodes or edges of several types, and hopscale embeds graphs of one: pass "
            "data.to_homogeneous(), or a Data of one type"
        )
    if not is_pyg(data):
        raise GraphError(f"expected a torch_geometric Data, not {type(data).__name__}")
    if data.edge_index is None:
        raise GraphError("data has no edge_index; where its edges are in adj_t, make it without ToSparseTensor")
    pairs = as_array(data.edge_index, "edge_index")
    found = tensor_features(_part(data, features, "x"), features, dense, encoder)
    rows, names, n = found.n_rows, found.names, data.num_nodes
    if n is None:
        n = rows if rows is not None else int(edge_rows(pairs, np.iinfo(np.int32).max).max(initial=-1)) + 1
    n = node_count(n, rows)
    if names is None and rows is not None:
        names = getattr(data, "feature_names", None)
    ids = getattr(data, "node_ids", None)
    ids = np.arange(n, dtype=np.int64) if ids is None else as_names(ids)
    if len(ids) != n:
        raise GraphError(f"node_ids has {len(ids)} names for {n} nodes")
    ends = edge_rows(pairs, n)
    weights = _part(data, weight, "edge_weight")
    if weights is not None:
        weights = weight_array(weights, str(weight), len(ends))
    elif weight == "edge_weight" and getattr(data, "edge_attr", None) is not None:
        warn("edge_attr is not used: if it holds one weight for each edge, give weight='edge_attr'")
    return assemble(
        Names(ends, ids),
        weights,
        found.matrix,
        node_ids=ids,
        feature_names=names,
        labels=node_labels(_part(data, label, "y"), n, str(label)),
        self_loops=self_loops,
        directed=directed,
        encoder=found.encoder,
    )


def to_pyg(graph: AttributedGraph, vectors: Any = None, *, sparse: bool = False) -> Any:
    """``torch_geometric.data.Data`` of a graph. Needs ``pip install "hopscale[pyg]"``.

    Parameters
    ----------
    graph : AttributedGraph
    vectors : model, data frame or array, optional
        What becomes ``x``: the vectors of a fitted model, matched by id, a data frame with the nodes as index, or
        one row a node. By default the features of the graph.
    sparse : bool, default=False
        Make ``x`` a sparse tensor, where it holds features.

    Returns
    -------
    torch_geometric.data.Data
        ``x``, ``edge_index``, ``edge_weight`` if there are weights, and ``y`` if there are labels: numbers as
        they are, other classes counted, -1 where there is none, with their names in ``class_names``.
        ``node_ids`` and ``feature_names`` are lists that :func:`from_pyg` reads again.

    Examples
    --------
    >>> from hopscale import MUSAE, datasets
    >>> from hopscale.io import to_pyg
    >>> graph = datasets.figure1()
    >>> to_pyg(graph, MUSAE(dimensions=8).fit(graph)).x.shape  # doctest: +SKIP
    torch.Size([6, 8])
    """
    parts = arrays_of(graph, vectors, sparse=switch("sparse", sparse))
    advice = 'pip install "hopscale[pyg]"'
    torch, data = imported("torch", advice), imported("torch_geometric.data", advice).Data()
    data.edge_index = torch.from_numpy(parts["edges"])
    data.num_nodes = graph.n_nodes
    x = parts["x"]
    if x is not None:
        data.x = torch.from_numpy(np.ascontiguousarray(x)) if isinstance(x, np.ndarray) else _sparse(torch, x)
    for name, array in (("edge_weight", parts["weights"]), ("y", parts["y"])):
        if array is not None:
            setattr(data, name, torch.from_numpy(np.array(array)))
    data.node_ids = graph.node_ids.tolist()
    if vectors is None and graph.n_features:
        data.feature_names = graph.feature_names.tolist()
    if parts["class_names"] is not None:
        data.class_names = parts["class_names"]
    return data


def _sparse(torch: Any, matrix: Any) -> Any:
    parts = (torch.from_numpy(part.copy()) for part in (matrix.indptr, matrix.indices, matrix.data))
    return torch.sparse_csr_tensor(*parts, size=matrix.shape)


def _part(data: Any, name: str | None, default: str) -> Any:
    """An attribute; one that was asked for must be there."""
    part = None if name is None else getattr(data, name, None)
    if part is None and name not in (None, default):
        raise GraphError(f"data has no attribute {in_short(name)}")
    return part
