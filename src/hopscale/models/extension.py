"""Vectors of nodes that join the graph of a fit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import GraphError, ParameterError, Setting, warn
from hopscale.features import FeatureEncoder
from hopscale.graph import AttributedGraph
from hopscale.io import from_edges, from_tables
from hopscale.io.joined import Joined, joined
from hopscale.io.node_table import encode_nodes, table_of_nodes
from hopscale.models.outputs import VectorOutputs, vector_frame, wants_pandas
from hopscale.names import positions, shown_name

__all__ = ["Extension"]


class Extension(VectorOutputs):
    """A model that has kept its graph, and places nodes that join it."""

    graph_: AttributedGraph
    encoder_: FeatureEncoder | None

    def extend(
        self,
        edges: Any,
        features: Any = None,
        *,
        nodes: Any = None,
        id_column: str | None = None,
        weights: Any = None,
    ) -> Any:
        """Vectors of nodes that are new, from the rows that came with them.

        The graph of the fit must have been kept (``keep_graph=True``). The new rows are joined to it by id, as if all
        rows had been in one table: an edge or feature that is there already counts once, or adds up where there are
        weights or values. New nodes then get the vectors that :meth:`transform` gives them on the joined graph.

        Nothing in the model changes: vectors of nodes that it knows stay as ``fit`` has learnt them, and rows that are
        passed today must be passed again with those of tomorrow, until the model is fitted anew.

        Parameters
        ----------
        edges : AttributedGraph, array-like of shape (E, 2), iterable of pairs, or table
            New edges, to nodes that the model knows by their ids and among new ones: as for
            :func:`hopscale.from_edges`, or a table as for :func:`hopscale.from_tables`. What else these two can read is
            passed as the graph that they make of the new rows.
        features : mapping, matrix or table, optional
            Features of the new nodes, as for the same functions.
        nodes : table, optional
            Table with a row for each new node, as the one that the features of the fit came from: it is encoded by
            ``encoder_``. Rows of nodes that the model knows are passed over: their features stay as they are.
        id_column : str, optional
            Column of ``nodes`` with the ids. By default the one that has most ids of the edges.
        weights : array-like of shape (E,), optional
            Weights of the edges, where these are no table.

        Returns
        -------
        (node_ids, vectors) : tuple of ndarray of shape (n,) and ndarray of shape (n, dimensions)
            The new nodes in the order in which they are first seen, or sorted if all ids are whole numbers. A data
            frame with the ids as index after ``set_output(transform="pandas")``.

        Raises
        ------
        ParameterError
            If the model has not kept its graph.
        NotInductiveError
            If the model's context holds the training nodes themselves.

        Warns
        -----
        HopscaleWarning
            If no new edge leads to a node that the model knows, which may be ids of another kind, ``7`` here and
            ``"7"`` there; or if rows change what is known of old nodes: that counts for new nodes, whose walks meet it.

        Examples
        --------
        >>> from hopscale import MUSAE, from_edges
        >>> friends = from_edges(
        ...     [("ann", "bob"), ("bob", "eve"), ("eve", "joe"), ("joe", "ann")],
        ...     {"ann": ["chess", "tea"], "bob": ["tea"], "eve": ["go"], "joe": ["go", "tea"]},
        ... )
        >>> model = MUSAE(dimensions=4, window=1, keep_graph=True).fit(friends)
        >>> ids, vectors = model.extend([("zoe", "ann"), ("zoe", "eve")], {"zoe": ["chess"]})
        >>> ids.tolist(), vectors.shape
        (['zoe'], (1, 4))
        """
        check_is_fitted(self)
        self._check_placing()
        if not hasattr(self, "graph_"):
            raise ParameterError(
                "this model has not kept the graph that it was fitted on, which new nodes join: fit it with ",
                Setting("keep_graph", True),
                ", or pass the whole graph, old and new rows together, to transform",
            )
        rows = self._new_rows(edges, features, weights)
        if nodes is not None:
            rows = joined(rows, self._encoded(nodes, id_column, rows.node_ids)).graph
        both = joined(self.graph_, rows)
        _warn_of_what_joins(both, self.graph_)
        ids, vectors = both.graph.node_ids[self.graph_.n_nodes :], self.embedding_[:0]
        if len(ids):
            vectors = self._placed(both.graph, self.graph_.n_nodes)
        return vector_frame(ids, vectors, self.get_feature_names_out()) if wants_pandas(self) else (ids, vectors)

    def _new_rows(self, edges: Any, features: Any, weights: Any) -> AttributedGraph:
        if isinstance(edges, AttributedGraph):
            if features is not None or weights is not None:
                raise GraphError("a graph of new rows has its features and weights in it: pass the graph alone")
            return edges if edges.encoder is None else self._of_new_nodes(edges)
        if not hasattr(edges, "__arrow_c_stream__"):
            return from_edges(edges, features, weights=weights)
        if weights is not None:
            raise GraphError("weights of a table are a column of it: make a graph with from_tables(..., weight=...)")
        return from_tables(edges, features)

    def _encoded(self, nodes: Any, id_column: str | None, named: NDArray[Any]) -> AttributedGraph:
        """Nodes of a table without edges, with the features that the encoder of the fit gives them."""
        if self.encoder_ is None:
            raise ParameterError(
                "needs the encoder of a node table, and the features of this model did not come from one: give ",
                Setting("features"),
                parameter="nodes",
            )
        new = named[positions(named, self.node_ids_) < 0]
        encoded = encode_nodes(
            table_of_nodes(nodes), new if len(new) else named, id_column=id_column, encoder=self.encoder_
        )
        ids, n = encoded.listed.vocabulary[encoded.listed.codes], len(encoded.listed)
        names = self.encoder_.get_feature_names_out()
        graph = AttributedGraph(sp.csr_array((n, n)), encoded.features, node_ids=ids, feature_names=names)
        return self._of_new_nodes(graph)

    def _of_new_nodes(self, graph: AttributedGraph) -> AttributedGraph:
        """A graph from a node table without the features of nodes that the model knows: a row is no addition."""
        is_new = (positions(graph.node_ids, self.node_ids_) < 0).astype(np.float32)
        return AttributedGraph(
            graph.adjacency,
            sp.diags_array(is_new) @ graph.features,
            node_ids=graph.node_ids,
            feature_names=graph.feature_names,
            self_loops=True,
        )

    @abstractmethod
    def _check_placing(self) -> None:
        """Refuse models that cannot place nodes of other graphs."""

    @abstractmethod
    def _placed(self, graph: AttributedGraph, first: int) -> NDArray[np.float32]:
        """Vectors of the nodes of a graph from row ``first`` on."""


def _warn_of_what_joins(both: Joined, old: AttributedGraph) -> None:
    if not both.n_new_nodes:
        warn("the new rows name no node that the model does not know")
    elif not both.edges_to_old:
        here = shown_name(both.graph.node_ids, old.n_nodes)
        warn(
            "no new edge leads to a node that the model knows: are the ids of the same kind? It has "
            f"{shown_name(old.node_ids, 0)}, the new rows {here}"
        )
    if both.edges_among_old or both.features_of_old:
        warn(
            f"{both.edges_among_old} new edge(s) are between nodes that the model knows ({both.repeated_edges} of them "
            f"known), and {both.features_of_old} new feature entries are theirs ({both.repeated_features} of them "
            "known): walks from the new nodes meet them, but the vectors of the nodes that the model knows stay as "
            "they are. Fit anew to learn from them"
        )
