"""Pictures of a fitted model."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from typing import Any, Literal

from numpy.typing import ArrayLike

from hopscale.models.queries import VectorQueries

__all__ = ["Pictures"]


class Pictures(VectorQueries):
    """What can be drawn of a model's vectors."""

    def plot(
        self,
        *,
        color: ArrayLike | None = None,
        feature: Hashable | None = None,
        n_clusters: int | None = None,
        scale: int | str | None = None,
        names: int = 0,
        method: Literal["auto", "tsne", "umap", "pca"] = "auto",
        positions: ArrayLike | None = None,
        title: str | None = None,
        ax: Any = None,
        random_state: Any = 0,
    ) -> Any:
        """Draw a map of the nodes: those with similar vectors, by cosine, are close to each other.

        Needs matplotlib (``pip install "hopscale[plots]"``).

        Parameters
        ----------
        color : Series, mapping or array-like of shape (n,), optional
            Labels or values that nodes are coloured by, in the order of ``node_ids_``, or matched by id where they
            have an index or are ``{node: label}``. Of more than 20 classes, the 19 commonest have colours. Nodes
            without one are grey.
        feature : hashable, optional
            The name of a feature: nodes are coloured by how much it stands out around them, as in :meth:`nodes_of`.
        n_clusters : int, optional
            Number of clusters that nodes are coloured by, see :meth:`clusters`.
        scale : int or str, optional
            Draw one scale only: a number of hops, or a label as in ``scale_columns_``.
        names : int, default=0
            Number of features whose names are written on the map, near the nodes around which they stand out.
            Features with the longest vectors are first; one that would cover another is left out.
        method : {"auto", "tsne", "umap", "pca"}, default="auto"
            As in :func:`hopscale.explore.node_positions`.
        positions : array-like of shape (n, 2), optional
            Positions of the nodes; by default those of :func:`hopscale.explore.node_positions`.
        title : str, optional
        ax : matplotlib Axes, optional
            Where to draw; by default in a figure of its own.
        random_state : int, default=0
            Seed of the map, of clusters and of the order in which points are drawn.

        Returns
        -------
        matplotlib Axes
            ``ax.figure.savefig("map.png")`` writes it to a file.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> graph = datasets.figure1()
        >>> ax = MUSAE(dimensions=8).fit(graph).plot(method="pca", names=2)
        >>> 0 < len(ax.texts) <= 2
        True
        """
        from hopscale.explore.plots import plot  # which needs matplotlib

        return plot(
            self,
            color=color,
            feature=feature,
            n_clusters=n_clusters,
            scale=scale,
            names=names,
            method=method,
            positions=positions,
            title=title,
            ax=ax,
            random_state=random_state,
        )

    def explore(
        self,
        path: str | os.PathLike[str],
        *,
        labels: Any = None,
        graph: Any = None,
        title: str | None = None,
        scales: Iterable[int | str] | None = None,
        method: Literal["auto", "tsne", "umap", "pca"] = "auto",
        n_clusters: int = 12,
        max_nodes: int = 100_000,
        random_state: Any = 0,
    ) -> None:
        """Write a page on which people explore the model: a map of nodes and features in one file of HTML.

        The page opens in any browser of 2023 or later, from disk and without a network. It has a map for each scale,
        colours by labels, features, clusters and values, a search, and lists of the nearest nodes and of the features
        that stand out, of a node or of all nodes within a lasso.

        Parameters
        ----------
        path : path-like
            Where the page goes, such as ``"map.html"``.
        labels : DataFrame, Series, mapping or array-like of shape (n,), optional
            Classes or values that nodes can be coloured by, in the order of ``node_ids_``, or matched by id where they
            have an index or are ``{node: label}``. Columns of a data frame are several of these. By default those of
            the graph, if it has any.
        graph : AttributedGraph or what ``fit`` takes, optional
            The graph that says which nodes have which features. By default ``graph_``, if the model has kept it.
        title : str, optional
            What the page is called; by default as the model.
        scales : list of int or str, optional
            Scales that get a map, ``"all"`` for all dimensions; by default ``"all"`` and each scale.
        method : {"auto", "tsne", "umap", "pca"}, default="auto"
            As in :func:`hopscale.explore.node_positions`.
        n_clusters : int, default=12
            Number of clusters that nodes can be coloured by, see :meth:`clusters`; 0 for none.
        max_nodes : int, default=100_000
            Of more nodes, as many are chosen at random, with a warning.
        random_state : int, default=0
            Seed of the maps, of the clusters and of the choice of nodes.

        Notes
        -----
        The page keeps vectors in a byte for each number. Its cosines differ from those of :meth:`neighbors` by about
        .001, and its scores are the estimates of :meth:`explain` without a graph. Where these bytes would be more than
        24 MiB, a few bytes stand for each node's vector (product quantisation), and its lists are approximate.

        Examples
        --------
        >>> import os, tempfile
        >>> from hopscale import MUSAE, datasets
        >>> model = MUSAE(dimensions=8, keep_graph=True).fit(datasets.figure1())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.explore(f"{folder}/map.html", method="pca", n_clusters=2)
        ...     os.listdir(folder)
        ['map.html']
        """
        from hopscale.explore.explorer import write_explorer

        model: Any = self
        write_explorer(
            model,
            path,
            labels=labels,
            graph=graph,
            title=title,
            scales=scales,
            method=method,
            n_clusters=n_clusters,
            max_nodes=max_nodes,
            random_state=random_state,
            n_jobs=model.n_jobs,
            verbose=bool(model.verbose),
        )
