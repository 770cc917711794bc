"""The door for graphs of DGL, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopscale.exceptions import GraphError, in_short, warn
from hopscale.graph import AttributedGraph, Directed
from hopscale.io.assemble import assemble
from hopscale.io.columns import is_amount_name
from hopscale.io.naming import Names, check_attributes, listing
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

__all__ = ["from_dgl", "is_dgl", "to_dgl"]


def is_dgl(source: Any) -> bool:
    """Whether something is a graph of DGL."""
    names = ("ndata", "edata", "num_nodes", "edges", "ntypes")
    return not isinstance(source, type) and all(hasattr(source, name) for name in names)


def from_dgl(
    graph: Any,
    *,
    features: str | None = "feat",
    weight: str | None = "weight",
    label: str | None = "label",
    dense: Dense = "error",
    encoder: Any = None,
    self_loops: bool = False,
    directed: Directed = "error",
) -> AttributedGraph:
    """Graph from a ``dgl.DGLGraph``, which is left as it is. PyTorch is not imported.

    Parameters
    ----------
    graph : dgl.DGLGraph
        With nodes and edges of one type; it has both directions of every edge, as DGL has undirected graphs.
        Nodes are called 0..n-1.
    features, label : str or None, default="feat" and "label"
        Entries of ``graph.ndata``; there need be none of these names.
    weight : str or None, default="weight"
        Entry of ``graph.edata``; there need be none of that name.
    dense, encoder, self_loops, directed
        As in :func:`hopscale.io.from_pyg`.

    Returns
    -------
    AttributedGraph
        Its rows are those of ``graph``, so that masks such as ``graph.ndata["train_mask"]`` fit
        ``model.embedding_``.

    Examples
    --------
    >>> import dgl  # doctest: +SKIP
    >>> from_dgl(dgl.graph(([0, 1], [1, 0])))  # doctest: +SKIP
    AttributedGraph(nodes=2, edges=1, features=0, feature_entries=0)
    """
    check_attributes(features=features, weight=weight, label=label)
    if not is_dgl(graph):
        raise GraphError(f"expected a DGL graph, not {type(graph).__name__}")
    if len(graph.ntypes) > 1 or len(graph.etypes) > 1:
        raise GraphError(
            "the DGL graph has nodes or edges of several types, and hopscale embeds graphs of one: pass "
            "dgl.to_homogeneous(graph)"
        )
    found = tensor_features(_entry(graph.ndata, features, "feat", "ndata"), features, dense, encoder)
    n = node_count(graph.num_nodes(), found.n_rows)
    u, v = (as_array(ends, "edges") for ends in graph.edges())
    if u.ndim != 1 or u.shape != v.shape:
        raise GraphError(f"edges() must give two rows of nodes, but they have the shapes {u.shape} and {v.shape}")
    ends = edge_rows(np.stack([u, v]), n)
    weights = _entry(graph.edata, weight, "weight", "edata")
    if weights is not None:
        weights = weight_array(weights, f"edata[{weight!r}]", len(ends))
    elif weight is not None:
        others = [name for name in graph.edata if is_amount_name(str(name))]
        if others:
            warn(f"edata has {listing(others)}, but no 'weight': if it holds the weights, give weight={others[0]!r}")
    ids = np.arange(n, dtype=np.int64)
    return assemble(
        Names(ends, ids),
        weights,
        found.matrix,
        node_ids=ids,
        feature_names=found.names,
        labels=node_labels(_entry(graph.ndata, label, "label", "ndata"), n, f"ndata[{label!r}]"),
        self_loops=self_loops,
        directed=directed,
        encoder=found.encoder,
    )


def to_dgl(graph: AttributedGraph, vectors: Any = None) -> Any:
    """``dgl.DGLGraph`` of a graph; DGL must be installed.

    Parameters
    ----------
    graph : AttributedGraph
    vectors : model, data frame or array, optional
        What becomes ``ndata["feat"]``, as in :func:`hopscale.io.to_pyg`; by default the features of the graph.

    Returns
    -------
    dgl.DGLGraph
        With ``ndata["feat"]``, ``edata["weight"]`` if there are weights, and ``ndata["label"]`` if there are
        labels, as in :func:`hopscale.io.to_pyg`. Node i is ``graph.node_ids[i]``: DGL has no names.

    Examples
    --------
    >>> from hopscale import DeepWalk, datasets
    >>> graph = datasets.figure1()
    >>> data = to_dgl(graph, DeepWalk(dimensions=4).fit(graph))  # doctest: +SKIP
    """
    parts = arrays_of(graph, vectors, sparse=False)
    torch, dgl = imported("torch", "pip install torch"), imported("dgl", "see https://www.dgl.ai")
    made = dgl.graph(tuple(torch.from_numpy(parts["edges"])), num_nodes=graph.n_nodes)
    for place, name, array in (
        (made.ndata, "feat", parts["x"]),
        (made.ndata, "label", parts["y"]),
        (made.edata, "weight", parts["weights"]),
    ):
        if array is not None:
            place[name] = torch.from_numpy(np.array(array))
    return made


def _entry(data: Any, name: str | None, default: str, where: str) -> Any:
    """An entry of node or edge data; one that was asked for must be there."""
    if name is None:
        return None
    if name in data:
        return data[name]
    if name != default:
        raise GraphError(f"{where} has no {in_short(name)}; it has {listing(list(data)) or 'nothing'}")
    return None
