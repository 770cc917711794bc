"""What every model is: an estimator that learns a vector for each node of a graph."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import GraphError, HopscaleWarning, NotInductiveError, ParameterError
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.io.vectors import write_vectors
from hopscale.models.parameters import choice, seed_of
from hopscale.models.queries import VectorQueries, no_feature_vectors

__all__ = ["NodeEmbedding", "Traits"]


@dataclass(frozen=True)
class Traits:
    """What kind of method a model is; complexities in nodes n, edges m, entries of F nnz(F), dimensions d."""

    kind: str
    time: str
    memory: str
    uses_features: bool = False
    multi_scale: bool = False
    inductive: bool = False


class NodeEmbedding(VectorQueries, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all models: learns ``embedding_``, a row for each of ``node_ids_``.

    Every model has the parameters ``dimensions``, ``n_jobs``, ``random_state`` and ``verbose``.
    """

    traits: ClassVar[Traits]

    dimensions: int
    n_jobs: int | None
    random_state: Any
    verbose: bool
    rows_: dict[str, str]

    @abstractmethod
    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""

    @abstractmethod
    def _learn(self, graph: AttributedGraph, seed: int) -> None:
        """Set what ``fit`` learns."""

    def fit(self, graph: Any, y: Any = None) -> NodeEmbedding:
        """Learn vectors from a graph.

        Parameters
        ----------
        graph : AttributedGraph, networkx graph, (adjacency, features) or path of an ``.npz`` file
        y : ignored

        Returns
        -------
        self
        """
        self.check_parameters()
        graph = as_graph(graph)
        if not graph.adjacency.nnz:
            raise GraphError(
                f"the graph has no edges ({graph.n_nodes} node(s)): there is nothing to walk on. Self-loops are "
                "dropped unless the graph is made with self_loops=True"
            )
        self._learn(graph, seed_of(self.random_state))
        self.__dict__.pop("_node_index", None)
        self._warn_of_empty_dimensions()
        return self

    def fit_transform(self, graph: Any, y: Any = None) -> NDArray[np.float32]:
        """Learn and return the nodes' vectors, ``embedding_``."""
        return self.fit(graph).embedding_

    def transform(self, graph: Any) -> NDArray[np.float32]:
        """Vectors of the nodes of another graph: refused, unless the model says otherwise."""
        check_is_fitted(self)
        raise NotInductiveError(
            f"{type(self).__name__} cannot embed other nodes: it learns nothing but the vectors of the training "
            "nodes. AE and MUSAE with ego=False can"
        )

    def context_names(self, graph: AttributedGraph) -> NDArray[Any]:
        """Names that ``feature_names_`` has after a fit on a graph: refused where features get no vectors."""
        raise ParameterError(no_feature_vectors(self))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of ``embedding_``: scale and number."""
        check_is_fitted(self)
        names = [
            f"hop{label}_{i}" if label[0].isdigit() else f"{label}_{i}"
            for label, columns in self.scale_columns_.items()
            for i in range(columns.stop - columns.start)
        ]
        return np.asarray(names, dtype=object)

    # Handing on what was learnt.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as a safetensors file; :func:`hopscale.load_model` brings it back."""
        from hopscale.models.persistence import save_model  # which knows all models

        save_model(self, path)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        what: Literal["nodes", "features"] = "nodes",
        scale: int | str | None = None,
        format: str | None = None,  # noqa: A002
    ) -> None:
        """Write vectors with their names as a table or as word2vec text.

        Parameters
        ----------
        path : path-like
            Its suffix says the format: ``.csv``, ``.tsv``, ``.parquet``, ``.npz`` or, for word2vec text,
            ``.txt``, ``.vec`` or ``.w2v``.
        what : {"nodes", "features"}, default="nodes"
        scale : int or str, optional
            Only the columns of one scale.
        format : str, optional
            As for :func:`hopscale.io.vectors.write_vectors`, where the suffix does not say.
        """
        check_is_fitted(self)
        if choice("what", what, ["nodes", "features"]) == "nodes":
            ids, vectors = self.node_ids_, self.node_vectors(scale)
        else:
            ids, vectors = self.feature_names_, self.feature_vectors(scale)  # refused where there are none
        columns = self.get_feature_names_out()[self._columns(scale)]
        write_vectors(path, ids, vectors, columns=columns, format=format)

    def _warn_of_empty_dimensions(self) -> None:
        for label, columns in self.scale_columns_.items():
            empty = int((~self.embedding_[:, columns].any(axis=0)).sum())
            if empty:
                warnings.warn(
                    f"scale {label}: {empty} of {columns.stop - columns.start} dimensions are zero: what it "
                    "learns from has no more directions",
                    HopscaleWarning,
                    stacklevel=3,
                )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")
