"""An attributed graph: adjacency, features, names. All checking of input happens here and in matrices.py.

Letters of the paper: A adjacency (n×n), D degrees, c = ΣA the volume, F node-feature matrix (n×q).
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import switch
from hopscale.exceptions import DirectedGraphError, GraphError, UnknownNodeError, in_short
from hopscale.indexed import adjacency_rows, feature_rows, labels_by_id
from hopscale.matrices import SymmetricArray, canonical
from hopscale.names import DistinctNames, is_missing, name_array, repeated_name, shown_name

__all__ = ["AttributedGraph", "Directed"]

Directed = Literal["error", "symmetrize"]


class AttributedGraph:
    """An undirected graph whose nodes carry sparse, non-negative features.

    Nothing that is passed in is changed or kept: matrices are copied into canonical CSR form
    (sorted, without duplicates or stored zeros, float32). A graph does not change either: its arrays
    are read-only. ``graph.adjacency.copy()`` and ``graph.features.copy()`` are matrices that can be
    changed, and from which another graph can be made.

    Parameters
    ----------
    adjacency : sparse matrix, array or data frame of shape (n, n)
        Edge weights, non-negative; 0 means no edge. Must be symmetric unless
        ``directed="symmetrize"``. A data frame names the nodes by its index and its columns.
    features : sparse matrix, array or data frame of shape (n, q), optional
        Feature values, non-negative. Binary in the paper; any other value is read as being
        proportional to p(f|v), so that a feature of value 2 counts twice. Without it the graph has
        no features, which is enough for ``DeepWalk``, ``Walklets`` and others. Rows of a data frame are
        matched with ``node_ids`` by its index, and its columns name the features.
    node_ids : sequence of hashable, optional
        One distinct name a node; 0..n-1 by default.
    feature_names : sequence of hashable, optional
        One distinct name a feature; 0..q-1 by default.
    labels : array-like of shape (n,), Series or mapping, optional
        Anything that is known of the nodes: classes or target values. Carried along, never used
        for learning vectors. A Series is matched with ``node_ids`` by its index, a mapping is
        ``{node: label}``; nodes that they leave out have NaN among numbers, None among other labels.
    directed : {"error", "symmetrize"}, default="error"
        What to do with a matrix that is not symmetric: refuse it, or give each pair of nodes the
        larger of its two weights.
    self_loops : bool, default=False
        Keep self-loops. By default they are dropped, as in the paper.
    encoder : FeatureEncoder, optional
        What made the features from a node table. Carried along: models keep it as ``encoder_``.

    Attributes
    ----------
    adjacency : csr_array of shape (n, n), float32
    features : csr_array of shape (n, q), float32
    node_ids, feature_names : ndarray
    labels : ndarray or None
    encoder : FeatureEncoder or None

    Notes
    -----
    Isolated nodes, nodes without features and several components are all allowed. A node that a
    random walk can say nothing about (isolated, or all of whose surroundings have no features) gets
    a zero vector at that scale. Duplicate entries of a sparse matrix are added up.

    Weights and values of any size are welcome, as long as float32 holds them (1.2e-38 to 3.4e38): random walks know
    ratios of weights only, and vectors do not depend on the unit, where a model's documentation does not say otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale import AttributedGraph
    >>> ring = np.roll(np.eye(4), 1, axis=1)
    >>> graph = AttributedGraph(ring + ring.T, np.eye(4)[:, :2], node_ids=["a", "b", "c", "d"])
    >>> graph
    AttributedGraph(nodes=4, edges=4, features=2, feature_entries=2)
    >>> graph.index_of("c")
    2
    """

    adjacency: sp.csr_array
    features: sp.csr_array
    node_ids: NDArray[Any]
    feature_names: NDArray[Any]
    labels: NDArray[Any] | None
    encoder: Any

    def __init__(
        self,
        adjacency: Any,
        features: Any = None,
        *,
        node_ids: Sequence[Hashable] | NDArray[Any] | None = None,
        feature_names: Sequence[Hashable] | NDArray[Any] | None = None,
        labels: Mapping[Any, Any] | ArrayLike | None = None,
        directed: Directed = "error",
        self_loops: bool = False,
        encoder: Any = None,
    ) -> None:
        if not isinstance(directed, str) or directed not in ("error", "symmetrize"):
            raise GraphError(f"directed must be 'error' or 'symmetrize', not {in_short(directed)}")
        self_loops = switch("self_loops", self_loops)
        adjacency, node_ids = adjacency_rows(adjacency, node_ids)
        A = canonical(adjacency, "adjacency", rows="node", columns="node")
        n = A.shape[0]
        if A.shape[0] != A.shape[1]:
            raise GraphError(f"the adjacency matrix must be square, but has shape {A.shape}")
        if n == 0:
            raise GraphError("the graph is empty: it has no nodes")
        self.node_ids = _checked_names(node_ids, n, "node_ids", "nodes")
        if features is None:
            F = sp.csr_array((n, 0), dtype=np.float32)
        else:
            features, feature_names = feature_rows(features, self.node_ids, feature_names)
            F = canonical(features, "features", rows="node", columns="feature")
        if F.shape[0] != n:
            raise GraphError(
                f"the feature matrix has {F.shape[0]} rows but the graph has {n} nodes: "
                "there must be one row of features per node, empty where a node has none"
            )
        self.feature_names = _checked_names(feature_names, F.shape[1], "feature_names", "features")
        if not isinstance(adjacency, SymmetricArray):
            A = _symmetric(A if self_loops else _without_self_loops(A), directed, self.node_ids)
        self.adjacency = A
        self.features = F
        self.labels = _checked_labels(labels_by_id(labels, self.node_ids), n)
        self.encoder = encoder
        self._freeze()

    def _freeze(self) -> None:
        """Make all arrays read-only: SciPy and the kernels follow indices that were checked once."""
        named = (self.node_ids, self.feature_names, self.labels)
        parts = ((matrix.data, matrix.indices, matrix.indptr) for matrix in (self.adjacency, self.features))
        for array in (*named, *chain(*parts)):
            if array is not None:
                array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # copies that pickle and copy.deepcopy make are not

    def __repr__(self) -> str:
        return (
            f"AttributedGraph(nodes={self.n_nodes}, edges={self.n_edges}, "
            f"features={self.n_features}, feature_entries={self.features.nnz})"
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.adjacency.shape[0])

    @property
    def n_features(self) -> int:
        """Number of distinct features, q."""
        return int(self.features.shape[1])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges; a self-loop counts as one."""
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        return (int(self.adjacency.nnz) + loops) // 2

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Weighted degrees, the diagonal of D."""
        degrees = np.asarray(self.adjacency.sum(axis=1, dtype=np.float64)).ravel()
        degrees.flags.writeable = False
        return degrees

    @property
    def volume(self) -> float:
        """Sum of all degrees, c."""
        return float(self.degrees.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether any edge weight differs from 1."""
        return bool(np.any(self.adjacency.data != 1))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the graph as an ``.npz`` file, which :func:`hopscale.read_graph` reads again.

        The file appears whole or not at all. It holds ids, names, weights, values, self-loops, labels and the
        encoder, as arrays and JSON: no pickle, no code.

        Parameters
        ----------
        path : path-like
            Must end in ``.npz``. Ids and names must be text, numbers, booleans or tuples of these.

        Examples
        --------
        >>> import tempfile
        >>> from hopscale import from_edges, read_graph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     from_edges([("ann", "bob")], {"ann": {"tea": 2.5}}).save(f"{folder}/graph.npz")
        ...     read_graph(f"{folder}/graph.npz").node_ids.tolist()
        ['ann', 'bob']
        """
        from hopscale.io.npz import save_npz  # which reads it again

        save_npz(self, path)

    def index_of(self, node: Hashable) -> int:
        """Row of a node, by its id."""
        try:
            return self._node_index[node]
        except (KeyError, TypeError):
            raise UnknownNodeError(
                f"no node {in_short(node)} in this graph (ids look like {shown_name(self.node_ids, 0)})"
            ) from None

    @cached_property
    def _node_index(self) -> dict[Hashable, int]:
        return {node: row for row, node in enumerate(self.node_ids.tolist())}


def _without_self_loops(A: sp.csr_array) -> sp.csr_array:
    if not A.diagonal().any():
        return A
    coo = A.tocoo()
    keep = coo.coords[0] != coo.coords[1]
    return sp.csr_array((coo.data[keep], (coo.coords[0][keep], coo.coords[1][keep])), shape=A.shape)


def _symmetric(A: sp.csr_array, directed: Directed, ids: NDArray[Any]) -> sp.csr_array:
    mirrored = A.tocsc()  # both sorted: the same arrays if and only if the same matrix
    if all(np.array_equal(getattr(A, part), getattr(mirrored, part)) for part in ("indptr", "indices", "data")):
        return A
    difference = abs(A - A.T)
    # Rounding, as in a product of matrices, is not a direction.
    if difference.max() > 1e-6 * A.max() and directed == "error":
        coo = difference.tocoo()
        worst = int(np.argmax(coo.data))
        u, v = int(coo.coords[0][worst]), int(coo.coords[1][worst])
        raise DirectedGraphError(
            f"the graph is directed: the weight from {shown_name(ids, u)} to {shown_name(ids, v)} is "
            f"{A[u, v]:g}, back it is {A[v, u]:g}. hopscale embeds undirected graphs; give each "
            "pair the larger of its two weights by directed='symmetrize', an argument of AttributedGraph, "
            "from_networkx, from_igraph, from_pyg and from_dgl"
        )
    symmetric = sp.csr_array(A.maximum(A.T))
    symmetric.sort_indices()
    return symmetric


def _checked_names(names: Sequence[Hashable] | NDArray[Any] | None, count: int, what: str, things: str) -> NDArray[Any]:
    if names is None:
        return np.arange(count, dtype=np.int64)
    array = names.view(np.ndarray) if isinstance(names, DistinctNames) else name_array(names)
    if len(array) != count:
        raise GraphError(f"{what} has {len(array)} names for {count} {things}")
    if array.dtype == object and not set(map(type, array.tolist())) <= {str, int}:
        for name in array:
            if is_missing(name):
                raise GraphError(f"{what} has a missing name: {in_short(name)}")
    if isinstance(names, DistinctNames) or (array.dtype == np.int64 and (np.diff(array) > 0).all()):
        return array
    twice = repeated_name(array, what)
    if twice is not None:
        raise GraphError(f"{what} must be distinct, but {shown_name(array, twice)} occurs twice")
    return array


def _checked_labels(labels: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if labels is None:
        return None
    try:
        array = np.array(labels)
    except ValueError as error:
        raise GraphError(f"labels must be one value or row of values a node ({error})") from error
    if isinstance(labels, np.ma.MaskedArray) or array.dtype.kind == "V":
        raise GraphError(
            f"labels must be plain values, NaN or None where there is none, not {type(labels).__name__} of "
            f"{array.dtype}"
        )
    if array.shape[:1] != (n,):
        raise GraphError(f"labels has shape {array.shape}, but the graph has {n} nodes")
    return array
