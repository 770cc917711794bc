"""The graph of a fit in the file of its model: the parts of its two matrices, and names of its features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import GraphError
from hopscale.features import FeatureEncoder
from hopscale.graph import AttributedGraph

__all__ = ["FEATURE_NAMES", "KINDS", "graph_tensors", "stored_graph"]

FEATURE_NAMES = "graph_feature_names"  # a model's own may be others, such as those of nodes
_MATRICES = ("adjacency", "features")
KINDS = {
    f"graph_{matrix}_{part}": kind for matrix in _MATRICES for part, kind in (("indptr", "I64"), ("indices", "I32"))
}


def graph_tensors(graph: AttributedGraph) -> dict[str, NDArray[Any]]:
    """Edges and features as CSR parts; labels are no part of a model."""
    tensors: dict[str, NDArray[Any]] = {}
    for name in _MATRICES:
        matrix = getattr(graph, name)
        tensors[f"graph_{name}_indptr"] = matrix.indptr.astype(np.int64)
        tensors[f"graph_{name}_indices"] = matrix.indices.astype(np.int32)
        tensors[f"graph_{name}_data"] = matrix.data
    return tensors


def stored_graph(file: Any, node_ids: NDArray[Any], encoder: FeatureEncoder | None) -> AttributedGraph | None:
    """The graph in a file (:class:`hopscale.models.files.ModelFile`), validated; None if it has none."""
    if not file.has(FEATURE_NAMES):
        return None
    n, names = len(node_ids), file.names(FEATURE_NAMES)
    matrices = [_matrix(file, f"graph_{name}", (n, q)) for name, q in zip(_MATRICES, (n, len(names)), strict=True)]
    try:
        return AttributedGraph(*matrices, node_ids=node_ids, feature_names=names, self_loops=True, encoder=encoder)
    except GraphError as error:
        raise file.wrong(f"its graph cannot be: {error}") from error


def _matrix(file: Any, name: str, shape: tuple[int, int]) -> sp.csr_array:
    indptr = file.numbers(f"{name}_indptr", (shape[0] + 1,), least=0)
    entries = (int(indptr[-1]),)
    parts = file.numbers(f"{name}_data", entries, least=0), file.numbers(f"{name}_indices", entries, least=0), indptr
    try:
        return sp.csr_array(parts, shape=shape)
    except ValueError as error:
        raise file.wrong(f"the tensors {name!r} are no matrix ({error})") from error
