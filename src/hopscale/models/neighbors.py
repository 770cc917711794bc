"""What is near a node, a feature or a vector: exact search over a model's vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import whole
from hopscale.compute.nearest import Nearest
from hopscale.compute.threads import Threads
from hopscale.exceptions import GraphError, in_short, warn
from hopscale.models.queries import VectorQueries, largest
from hopscale.names import name_array, positions

__all__ = ["Asked", "Neighbors"]

Scored = list[tuple[Any, float]]
Answer = Any  # Scored for one, dict[Any, Scored] for several


class Neighbors(VectorQueries):
    """Neighbours in the space of the vectors, of one or of several at once.

    Several are a list, a set, an array or a column of a data frame; the answer is then a dict with the list of each.
    A tuple is the name of one. All answers are exact, and have the same bits for any ``n_jobs`` and for one or many.
    """

    @abstractmethod
    def _engine(self) -> Threads:
        """What the work runs on."""

    def neighbors(self, nodes: Hashable | Iterable[Hashable], *, k: int = 10, scale: int | str | None = None) -> Answer:
        """Nodes with the most similar vectors, by cosine.

        Parameters
        ----------
        nodes : hashable, or list or array of hashables
            A node id, or several.
        k : int, default=10
            Number of neighbours of each; the node itself is none.
        scale : int or str, optional
            Compare at one scale only: a number of hops, or a label as in ``scale_columns_``.

        Returns
        -------
        list of (node, similarity), or dict of such lists by node
            Most similar first, ties in the order of ``node_ids_``. Empty, with a warning, if the node's vector is
            zero: nothing is known of it.

        See Also
        --------
        neighbors_of : Neighbours of any vector, such as that of a new node.

        Notes
        -----
        A question costs n·d multiplications: with d = 128 a fraction of a second for a million nodes, and
        milliseconds each for hundreds of questions in one call.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> model = MUSAE(dimensions=16).fit(datasets.figure1())
        >>> [node for node, similarity in model.neighbors("D", k=1, scale=0)]
        ['G']
        >>> list(model.neighbors(["D", "A"], k=1))
        ['D', 'A']
        """
        vectors, k = self.node_vectors(scale), whole("k", k, least=1)
        return self._near(self._asked_nodes(nodes), vectors, self.node_ids_, k, scale)

    def neighbors_of(self, vectors: ArrayLike, *, k: int = 10, scale: int | str | None = None) -> Scored | list[Scored]:
        """Nodes whose vectors are most similar to a vector, by cosine.

        Parameters
        ----------
        vectors : array-like of shape (d,) or (m, d)
            One vector or several, such as those that ``transform`` returns for new nodes: of all dimensions, or, with
            ``scale``, of those of this scale alone.
        k, scale
            As for :meth:`neighbors`.

        Returns
        -------
        list of (node, similarity), or a list of such lists
            Empty for a vector that is zero.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> model = MUSAE(dimensions=16).fit(datasets.planted_blocks(100))
        >>> new = model.transform(datasets.planted_blocks(100, random_state=1))
        >>> len(model.neighbors_of(new[0], k=3)), len(model.neighbors_of(new))
        (3, 100)
        """
        among, k = self.node_vectors(scale), whole("k", k, least=1)
        queries = self._checked_vectors(vectors, scale)
        found = self._search(Nearest(among, cosine=True), np.atleast_2d(queries), self.node_ids_, k)
        return found if queries.ndim == 2 else found[0]

    def similar_features(
        self, features: Hashable | Iterable[Hashable], *, k: int = 10, scale: int | str | None = None
    ) -> Answer:
        """Features with the most similar vectors, by cosine: those that are met around the same nodes.

        Parameters
        ----------
        features : hashable, or list or array of hashables
            The name of a feature, or several.
        k, scale
            As for :meth:`neighbors`.

        Returns
        -------
        list of (feature, similarity), or dict of such lists by feature

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> model = MUSAE(dimensions=16).fit(datasets.digits())
        >>> [pixel for pixel, similarity in model.similar_features("r0c6", k=2)]
        ['r1c6', 'r0c5']
        """
        vectors, k = self.feature_vectors(scale), whole("k", k, least=1)
        return self._near(self._asked_features(features), vectors, self.feature_names_, k, scale)

    def nodes_of(
        self, features: Hashable | Iterable[Hashable], *, k: int = 10, scale: int | str | None = None
    ) -> Answer:
        """Nodes around which a feature stands out most, whether they have it or not.

        Scores are products of the two vectors, which estimate pointwise mutual information: the natural logarithm of
        how many times more often the feature is met near the node than elsewhere, on average over the scales. Products
        that estimate a power of it (``PMI(power=0.5)``) are raised back. With ``solver="sgns"`` scores are lower for
        nodes near which many features are met, see :class:`hopscale.MUSAE`.

        Parameters
        ----------
        features : hashable, or list or array of hashables
            The name of a feature, or several.
        k, scale
            As for :meth:`neighbors`.

        Returns
        -------
        list of (node, score), or dict of such lists by feature

        See Also
        --------
        explain : The other way round, features that stand out around a node.

        Examples
        --------
        >>> from hopscale import MUSAE, datasets
        >>> graph = datasets.digits()
        >>> model = MUSAE(dimensions=64).fit(graph)
        >>> [int(graph.labels[node]) for node, score in model.nodes_of("r7c7", k=3)]
        [1, 1, 1]
        """
        queries, k = self.feature_vectors(scale), whole("k", k, least=1)
        asked, scales = self._asked_features(features), len(self.scale_columns_) if scale is None else 1
        if set(self._powers().values()) == {1.0}:
            among = Nearest(self.node_vectors(scale), cosine=False)
            found = self._search(among, queries[asked.rows], self.node_ids_, k)
        else:  # what is largest is not the largest product of whole vectors
            found = [self._nodes_by_pmi(row, k, scale) for row in asked.rows.tolist()]
        self._warn_of_zeros(asked, [not vector.any() for vector in queries[asked.rows]], scale)
        return asked.answer([[(name, score / scales) for name, score in each] for each in found])

    def _nodes_by_pmi(self, feature: int, k: int, scale: int | str | None) -> Scored:
        """Nodes with the largest estimates for a feature; none where its vector is zero."""
        vector = self.feature_embedding_[feature]
        if not vector[self._columns(scale)].any():
            return []
        self._check_node_vectors()
        scores = self.estimated_pmi(self.embedding_, vector, scale)
        best = largest(scores, k)
        return list(zip(self.node_ids_[best].tolist(), scores[best].tolist(), strict=True))

    def _asked_nodes(self, nodes: Any) -> Asked:
        return Asked(nodes, self.node_ids_, "node", self._row)

    def _asked_features(self, features: Any) -> Asked:
        return Asked(features, self.feature_names_, "feature", self._feature_row)

    def _near(
        self,
        asked: Asked,
        vectors: NDArray[np.float32],
        names: NDArray[Any],
        k: int,
        scale: int | str | None,
    ) -> Answer:
        """Answers by cosine of vectors with one another, each but itself."""
        queries, themselves = vectors[asked.rows], asked.themselves(len(vectors))
        found = self._search(Nearest(vectors, cosine=True), queries, names, k, themselves)
        self._warn_of_zeros(asked, [not vector.any() for vector in queries], scale)
        return asked.answer(found)

    def _search(
        self,
        among: Nearest,
        queries: NDArray[np.float32],
        names: NDArray[Any],
        k: int,
        excluded: sp.csr_array | None = None,
    ) -> list[Scored]:
        """Names and scores of what is nearest to each query; nothing where a query is zero."""
        known = np.flatnonzero(queries.any(axis=1))
        answers: list[Scored] = [[] for _ in range(len(queries))]
        with self._engine() as engine:
            found = among.of(queries[known], k, engine, None if excluded is None else excluded[known])
            for query, (rows, scores) in zip(known.tolist(), found, strict=True):
                answers[query] = list(zip(names[rows].tolist(), scores.tolist(), strict=True))
        return answers

    def _checked_vectors(self, vectors: ArrayLike, scale: int | str | None) -> NDArray[np.float32]:
        columns, width = self._columns(scale), self.embedding_.shape[1]
        try:
            if np.iscomplexobj(vectors):
                raise TypeError("they are complex")
            with np.errstate(over="ignore"):  # what is not finite is refused below
                array = np.asarray(vectors, dtype=np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise GraphError(f"vectors must be an array of numbers ({error})") from error
        own = len(range(*columns.indices(width)))
        if array.ndim not in (1, 2) or array.shape[-1] not in (width, own):
            raise GraphError(
                f"vectors must have {width} dimensions"
                + (f", or {own} at scale {scale}" if own != width else "")
                + f", one vector or a row for each, but their shape is {array.shape}"
            )
        if not np.isfinite(array).all():
            raise GraphError("vectors must be finite numbers of single precision")
        return array if array.shape[-1] == own else array[..., columns]

    def _warn_of_zeros(self, asked: Asked, zero: list[bool], scale: int | str | None) -> None:
        unknown = [name for name, nothing in zip(asked.names, zero, strict=True) if nothing]
        if len(unknown) == 1 and asked.what == "node":
            self._warn_of_nothing(unknown[0], list(self.scale_columns_) if scale is None else [str(scale)])
        elif unknown:
            which = f"{asked.what} {in_short(unknown[0])}"
            of = which if len(unknown) == 1 else f"{len(unknown)} {asked.what}s, such as {which}"
            warn(f"nothing is known of {of}: the vector is zero" + ("" if scale is None else f" at scale {scale}"))


class Asked:
    """What a question is about: one name or several, and their rows."""

    def __init__(self, asked: Any, known: NDArray[Any], what: str, row_of: Callable[[Any], int]) -> None:
        self.what, self._one = what, not _several(asked)
        if self._one:
            self.rows = np.array([row_of(asked)], dtype=np.int64)
        else:
            listed = asked.tolist() if hasattr(asked, "tolist") else list(asked)
            try:
                self.rows = positions(name_array(listed), known).astype(np.int64) if listed else np.zeros(0, np.int64)
            except (TypeError, ValueError):  # something that is no name
                self.rows = np.full(len(listed), -1)
            if self.rows.min(initial=0) < 0:
                self.rows = np.array([row_of(name) for name in listed])  # which is an error
        self.names = known[self.rows].tolist()

    def themselves(self, count: int) -> sp.csr_array:
        """An entry for each pair of a name and its own row."""
        own = (np.ones(len(self.rows), dtype=bool), (np.arange(len(self.rows)), self.rows))
        return sp.csr_array(own, shape=(len(self.rows), count))

    def answer(self, found: list[Scored]) -> Answer:
        """The only list, or a dict of lists."""
        return found[0] if self._one else dict(zip(self.names, found, strict=True))


def _several(asked: Any) -> bool:
    """Whether a question is about several: a name is hashable, and a tuple is one name.

    >>> _several(["ann"]), _several(("ann", 1)), _several("ann")
    (True, False, False)
    """
    if isinstance(asked, np.ndarray):
        return asked.ndim > 0
    return isinstance(asked, (list, set, dict, range, Iterator)) or hasattr(asked, "to_numpy")
