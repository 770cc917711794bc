"""Ways out of a fitted model: tables, files, vectors by id."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import choice
from hopscale.exceptions import MissingPackageError
from hopscale.io import as_graph
from hopscale.io.vectors import write_vectors
from hopscale.models.queries import VectorQueries
from hopscale.names import name_array, positions

__all__ = ["VectorOutputs", "dimension_names", "vector_frame", "wants_pandas"]


class VectorOutputs(VectorQueries):
    """Vectors of a fitted model with their names, in the forms that other programs take.

    ``model["ann"]`` is the vector of a node, ``model[["ann", "bob"]]`` has a row for each of several, and
    ``"ann" in model`` says whether there is one.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)  # where scikit-learn makes data frames of what these methods return
        for name in ("fit_transform", "transform"):
            if name in cls.__dict__:
                setattr(cls, name, _with_ids(cls.__dict__[name]))

    def __getitem__(self, node: Any) -> NDArray[np.float32]:
        check_is_fitted(self)
        if not (isinstance(node, (list, np.ndarray)) or hasattr(node, "to_numpy")):
            return self.embedding_[self._row(node)]
        self._check_node_vectors()
        asked = name_array(node.tolist() if hasattr(node, "tolist") else list(node))
        rows = positions(asked, self.node_ids_) if len(asked) else np.empty(0, dtype=np.int64)
        if rows.min(initial=0) < 0:
            self._row(asked[int(np.argmin(rows))])  # which is an error
        return self.embedding_[rows]

    def __contains__(self, node: Any) -> bool:
        check_is_fitted(self)
        return isinstance(node, Hashable) and node in self._node_index

    __iter__ = None  # Python would ask for nodes 0, 1, 2, ... otherwise

    def to_frame(self, what: Literal["nodes", "features"] = "nodes", scale: int | str | None = None) -> Any:
        """Vectors as a pandas data frame with the ids of the nodes, or the names of the features, as index.

        Parameters
        ----------
        what : {"nodes", "features"}, default="nodes"
        scale : int or str, optional
            Only the columns of one scale.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> table = MUSAE(dimensions=8).fit(datasets.figure1()).to_frame(scale=1)
        >>> table.columns.tolist(), table.index[:3].tolist()
        (['hop1_0', 'hop1_1'], ['A', 'B', 'C'])
        """
        return vector_frame(*self._named_vectors(what, scale), what=what)

    def to_dict(self, scale: int | str | None = None) -> dict[Any, NDArray[np.float32]]:
        """Vectors by node, as ``networkx.set_node_attributes`` takes them.

        Examples
        --------
        >>> import networkx as nx
        >>> from hopscale import DeepWalk
        >>> club = nx.karate_club_graph()
        >>> model = DeepWalk(dimensions=4).fit(nx.Graph(club.edges))
        >>> nx.set_node_attributes(club, model.to_dict(), "vector")
        >>> club.nodes[33]["vector"].shape
        (4,)
        """
        names, vectors, _ = self._named_vectors("nodes", scale)
        return dict(zip(names.tolist(), vectors, strict=True))

    def _named_vectors(
        self, what: str, scale: int | str | None
    ) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[Any]]:
        """Names of rows, vectors and names of columns."""
        check_is_fitted(self)
        if choice("what", what, ["nodes", "features"]) == "nodes":
            ids, vectors = self.node_ids_, self.node_vectors(scale)
        else:
            ids, vectors = self.feature_names_, self.feature_vectors(scale)  # refused where there are none
        return ids, vectors, self.get_feature_names_out()[self._columns(scale)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of ``embedding_``: scale and number."""
        check_is_fitted(self)
        return np.asarray(dimension_names(self._widths()), dtype=object)

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
        ids, vectors, columns = self._named_vectors(what, scale)
        write_vectors(path, ids, vectors, columns=columns, format=format)


def dimension_names(widths: Mapping[str, int]) -> list[str]:
    """Names of the dimensions of some scales.

    >>> dimension_names({"0": 1, "1-3": 2})
    ['hop0_0', 'hop1-3_0', 'hop1-3_1']
    """
    return [
        f"hop{label}_{i}" if label[0].isdigit() else f"{label}_{i}"
        for label, width in widths.items()
        for i in range(width)
    ]


def wants_pandas(model: Any) -> bool:
    """Whether scikit-learn's ``set_output`` asks for data frames of pandas."""
    chosen = vars(model).get("_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    return bool(chosen == "pandas")


def vector_frame(names: NDArray[Any], vectors: NDArray[Any], columns: NDArray[Any], *, what: str = "nodes") -> Any:
    """Vectors as a data frame of pandas, with the names as index."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingPackageError("data frames need pandas, which is not installed: pip install pandas") from error
    return pd.DataFrame(vectors, index=_index(pd, names, what), columns=columns)


def _index(pd: Any, names: NDArray[Any], what: str) -> Any:
    """Index of pandas; a tuple is one name."""
    return pd.Index(names.tolist(), tupleize_cols=False, name=what.removesuffix("s"))


def _with_ids(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose result has the ids of the nodes as index, where scikit-learn makes it a data frame of pandas.

    Rows of other tables, polars' among them, have no names: they are in the order of the nodes, as those of arrays are.
    """

    @wraps(method)
    def framed(self: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
        if not wants_pandas(self):
            return method(self, graph, *args, **kwargs)
        import pandas as pd

        graph = as_graph(graph)
        frame = method(self, graph, *args, **kwargs)
        if isinstance(frame, pd.DataFrame) and len(frame) == graph.n_nodes:
            frame.index = _index(pd, graph.node_ids, "nodes")
        return frame

    return framed
