"""Tensors of PyTorch as arrays and matrices, and the way back. Reading imports nothing but what is here already."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import choice
from hopscale.exceptions import GraphError, MissingPackageError, in_short, warn
from hopscale.graph import AttributedGraph
from hopscale.indexed import has_index, rows_by_id
from hopscale.io.assemble import amounts
from hopscale.names import is_missing, positions, shown_name

__all__ = [
    "Dense",
    "arrays_of",
    "as_array",
    "edge_rows",
    "imported",
    "node_count",
    "node_labels",
    "numbered_labels",
    "tensor_features",
    "vectors_of",
    "weight_array",
]

Dense = Literal["error", "signed", "binned"]

_MOST_CELLS = 2**31  # of a dense feature matrix: 8 GiB


def imported(name: str, extra: str) -> Any:
    """A module, or an error that says how to install it."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackageError(f"this needs {name}, which cannot be imported ({error}): {extra}") from error


def as_array(tensor: Any, what: str) -> NDArray[Any]:
    """A dense tensor, on whatever device, or anything else that NumPy reads, as an array."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        try:
            return np.asarray(tensor.numpy())
        except TypeError:  # bfloat16 and others that NumPy has not
            return np.asarray(tensor.float().numpy())
        except RuntimeError as error:
            raise GraphError(f"{what} cannot be read as an array ({error})") from error
    try:
        return np.asarray(tensor)
    except ValueError as error:
        raise GraphError(f"{what} cannot be read as an array ({error})") from error


class TensorFeatures(NamedTuple):
    """Features of a tensor, with their names and what has made them of dense numbers."""

    matrix: Any = None
    names: Any = None
    encoder: Any = None

    @property
    def n_rows(self) -> int | None:
        return None if self.matrix is None else int(self.matrix.shape[0])


def tensor_features(tensor: Any, name: str | None, dense: Dense, encoder: Any) -> TensorFeatures:
    """Features of a dense or sparse tensor; negative numbers are refused, or encoded as one column of vectors."""
    choice("dense", dense, ["error", "signed", "binned"])
    if tensor is None or name is None:
        return TensorFeatures()
    what, matrix = repr(name), _matrix(tensor, name)
    if matrix.ndim == 1:
        matrix = matrix.reshape(-1, 1)
    if matrix.ndim != 2:
        raise GraphError(f"{what} must have a row of features for each node, but has shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"{what} must hold real numbers, not {matrix.dtype}")
    if dense != "error" or encoder is not None:
        table = {name: matrix.toarray() if sp.issparse(matrix) else matrix}
        if encoder is None:
            from hopscale.features import FeatureEncoder  # by scikit-learn, which takes long to import

            encoder = FeatureEncoder({name: dense}).fit(table)
        return TensorFeatures(encoder.transform(table), encoder.get_feature_names_out(), encoder)
    data = matrix.data if sp.issparse(matrix) else matrix
    if data.dtype.kind == "f" and data.min(initial=0) < 0:
        raise GraphError(
            f"{what} has negative numbers, down to {data.min():g}, but features are non-negative: from_pyg and "
            "from_dgl make two features of every column by dense='signed', of its positive and of its negative "
            "numbers, and one for each of some bins of its values by dense='binned'; features=None leaves them out"
        )
    return TensorFeatures(matrix)


def _matrix(tensor: Any, what: str) -> Any:
    """A tensor as an array, or a sparse one as a sparse matrix."""
    if callable(getattr(tensor, "coo", None)) and hasattr(tensor, "sparse_sizes"):  # SparseTensor of torch_sparse
        row, column, value = tensor.coo()
        ends = as_array(row, what), as_array(column, what)
        values = np.ones(len(ends[0])) if value is None else as_array(value, what)
        return sp.coo_array((values, ends), shape=tuple(tensor.sparse_sizes()))
    layout = str(getattr(tensor, "layout", ""))
    if "sparse" not in layout:
        return as_array(tensor, what)
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
    if layout == "torch.sparse_coo":
        tensor = tensor.coalesce()
        return sp.coo_array(
            (as_array(tensor.values(), what), tuple(as_array(tensor.indices(), what))), shape=tuple(tensor.shape)
        )
    if layout == "torch.sparse_csr":
        parts = tensor.values(), tensor.col_indices(), tensor.crow_indices()
        return sp.csr_array(tuple(as_array(part, what) for part in parts), shape=tuple(tensor.shape))
    if layout == "torch.sparse_csc":
        parts = tensor.values(), tensor.row_indices(), tensor.ccol_indices()
        return sp.csc_array(tuple(as_array(part, what) for part in parts), shape=tuple(tensor.shape))
    raise GraphError(f"{what} is a tensor of layout {layout}: call .to_sparse() first")


def node_count(value: Any, rows: int | None = None) -> int:
    """Number of nodes; it must be that of the rows of the features, if there are any."""
    count = value.item() if isinstance(value, np.generic) or hasattr(value, "detach") else value
    if type(count) is not int or not 0 <= count <= np.iinfo(np.int32).max:
        raise GraphError(f"the number of nodes must be a whole number of at most 2^31 - 1, not {in_short(value)}")
    if rows is not None and rows != count:
        raise GraphError(f"the features have {rows} rows, but there are {count} nodes")
    return count


def edge_rows(pairs: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Edges, as columns of two rows of nodes, as rows of two columns; all must be among n nodes."""
    if pairs.ndim != 2 or pairs.shape[0] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
        raise GraphError(f"edges must be whole numbers of shape (2, E), but are {pairs.dtype} of shape {pairs.shape}")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise GraphError(f"edges must count into {n} nodes, but go from {pairs.min()} to {pairs.max()}")
    return np.ascontiguousarray(pairs.T, dtype=np.int64)


def weight_array(tensor: Any, what: str, count: int) -> NDArray[Any]:
    """Weights of edges, from one number each."""
    weights = as_array(tensor, what)
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim != 1:
        raise GraphError(f"{what} must be one weight for each edge, but has shape {weights.shape}")
    if len(weights) != count:
        raise GraphError(f"{what} has {len(weights)} weights for {count} edges")
    return amounts(weights, "weight", lambda row: f"edge {row}")


def node_labels(tensor: Any, n: int, what: str) -> NDArray[Any] | None:
    """Labels of n nodes; what is no label of nodes is left out with a warning."""
    if tensor is None:
        return None
    labels = as_array(tensor, what)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape[:1] != (n,):
        warn(f"{what} has shape {labels.shape} for {n} nodes: it is no label of nodes and left out")
        return None
    return labels


def numbered_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], list[Any] | None]:
    """Labels as numbers: other classes are numbered in the order of first occurrence, with -1 for no label."""
    if labels.dtype.kind in "iufb":
        return labels, None
    code: dict[Any, int] = {}
    listed = labels.tolist()
    codes = [-1 if is_missing(label) else code.setdefault(label, len(code)) for label in listed]
    return np.array(codes, dtype=np.int64), list(code)


def vectors_of(vectors: Any, graph: AttributedGraph) -> NDArray[Any]:
    """Vectors of the nodes of a graph, in their order: of a model, a data frame with the nodes as index or an array."""
    ids = graph.node_ids
    if hasattr(vectors, "embedding_"):
        at = positions(ids, vectors.node_ids_)
        if at.min() < 0:
            unknown = shown_name(ids, int(np.argmin(at)))
            raise GraphError(f"the model has no vector of node {unknown} ({int((at < 0).sum())} such nodes)")
        return np.asarray(vectors.embedding_[at])
    if has_index(vectors):
        at = rows_by_id(vectors, ids, "vectors")
        if at.min() < 0:
            raise GraphError(f"vectors has no row for node {shown_name(ids, int(np.argmin(at)))}")
        return np.asarray(vectors, dtype=np.float32)[at]
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or len(array) != graph.n_nodes:
        raise GraphError(f"vectors has shape {in_short(array.shape)}, but the graph has {graph.n_nodes} nodes")
    return array


def arrays_of(graph: AttributedGraph, vectors: Any, *, sparse: bool) -> dict[str, Any]:
    """What a graph is made of in PyTorch: ``edges`` (2, m), ``weights``, ``x`` and ``y``; None where there is none."""
    if not isinstance(graph, AttributedGraph):
        raise GraphError(f"expected an AttributedGraph, not {type(graph).__name__}: make one by hopscale.io.as_graph")
    coo = graph.adjacency.tocoo()
    x: Any = None
    if vectors is not None:
        x = vectors_of(vectors, graph)
    elif graph.n_features:
        x = graph.features
        if not sparse and graph.n_nodes * graph.n_features > _MOST_CELLS:
            raise GraphError(
                f"{graph.n_nodes} nodes by {graph.n_features} features are too many for a dense matrix: pass vectors "
                "of a model, or ask for sparse=True"
            )
        x = x if sparse else x.toarray()
    labels, classes = (None, None) if graph.labels is None else numbered_labels(graph.labels)
    return {
        "edges": np.stack(coo.coords).astype(np.int64),
        "weights": coo.data.copy() if graph.is_weighted else None,
        "x": x,
        "y": labels,
        "class_names": classes,
    }
