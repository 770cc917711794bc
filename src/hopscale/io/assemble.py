"""Where all doors meet: columns of names become matrices, and the matrices a graph.

What only a door can know is checked here: which edge, which feature of which node an amount belongs
to. All else is left to :class:`~hopscale.graph.AttributedGraph`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hopscale._core import _native
from hopscale.checks import switch
from hopscale.exceptions import GraphError, in_short, warn
from hopscale.graph import AttributedGraph, Directed
from hopscale.indexed import labels_at
from hopscale.io.naming import Names, known_rows, united
from hopscale.matrices import ANY_SIGN, OwnArray, SymmetricArray
from hopscale.names import DistinctNames, as_names, name_array

if TYPE_CHECKING:
    from hopscale.features import FeatureEncoder
    from hopscale.io.node_table import EncodedNodes

__all__ = ["FeatureEntries", "amounts", "assemble", "label_array"]


@dataclass(frozen=True)
class FeatureEntries:
    """The non-zero entries of a feature matrix, by name."""

    listed: Names  # nodes that the source mentions, those without features among them
    rows: NDArray[Any] | None  # position of the node of each entry in `listed`; None if there is one entry at each
    features: Names  # one for each entry
    values: NDArray[np.float64] | None = None  # without them repeated entries count once, with them they add up
    vocabulary: NDArray[Any] | None = None  # names of all features where the source fixes them, used or not


def assemble(
    ends: Names,
    weights: NDArray[np.float64] | None = None,
    features: Any = None,
    *,
    nodes: EncodedNodes | None = None,
    node_ids: Sequence[Hashable] | NDArray[Any] | None = None,
    feature_names: Sequence[Hashable] | NDArray[Any] | None = None,
    labels: Mapping[Any, Any] | ArrayLike | None = None,
    labels_of: Callable[[NDArray[Any]], tuple[NDArray[Any], str | None]] | None = None,
    self_loops: bool = False,
    directed: Directed | None = None,
    encoder: FeatureEncoder | None = None,
) -> AttributedGraph:
    """Graph from named edges of shape (E, 2) and features as :class:`FeatureEntries` or a matrix.

    Weights must have been checked by :func:`amounts`; ``labels_of`` makes labels from the names of the nodes, and says
    what they are called. All else is as in :func:`hopscale.io.from_edges`. The rows of ``nodes``, for which there must
    be no ``node_ids``, have features beside the others. With ``directed`` each row is an arc, and the graph decides; by
    default a row is an undirected edge. ``encoder`` is what has made a matrix of features.
    """
    entries = features if isinstance(features, FeatureEntries) else None
    self_loops = switch("self_loops", self_loops)
    ends = ends.ordered()
    if node_ids is None and (entries or features is None):
        mentioned = [column.listed.ordered() for column in (entries, nodes) if column]
        names, (rows, *listed_rows) = united(ends, *mentioned)
        names = names.view(DistinctNames)
        if entries:
            listed = listed_rows[0]
            _warn_if_apart(ends, mentioned[0], names)
    else:
        names = as_names(node_ids) if node_ids is not None else _row_numbers(ends, features)
        rows = known_rows(ends, names, source="edges", things="nodes")
        if entries:
            listed = known_rows(entries.listed, names, source="features", things="nodes")
    if entries:
        features, feature_names = _feature_matrix(entries, listed, len(names), feature_names)
    if nodes:
        own = nodes.features_of(listed_rows[-1], len(names))
        own_names = name_array(nodes.encoder.get_feature_names_out())
        features = OwnArray(own if features is None else sp.hstack([features, own], format="csr"))
        feature_names = own_names if feature_names is None else name_array([*feature_names, *own_names])
        labels_of = labels_of or (None if nodes.label_column is None else nodes.labels_of)
    if labels_of is not None:
        labels, label_name = labels_of(names)
        if nodes:
            nodes.warn_of_leaks(names, labels, label_name)
    return AttributedGraph(
        _adjacency(rows, weights, len(names), arcs=directed is not None, self_loops=self_loops),
        features,
        node_ids=names,
        feature_names=feature_names,
        labels=labels,
        directed="error" if directed is None else directed,
        self_loops=self_loops,
        encoder=nodes.encoder if nodes else encoder,
    )


def amounts(values: Iterable[Any] | NDArray[Any], what: str, where: Callable[[int], str]) -> NDArray[np.float64]:
    """Weights or feature values as finite, non-negative floats; ``where`` names a position for people.

    Examples
    --------
    >>> amounts([1, "many"], "weight", lambda position: f"edge {position}")
    Traceback (most recent call last):
    hopscale.exceptions.GraphError: the weight of edge 1 is 'many', which is not a number
    """
    array = _numbers(values, what, where)
    for wrong, why in ((~np.isfinite(array), "not finite"), (array < 0, "negative")):
        if wrong.any():
            row = int(np.argmax(wrong))
            more = int(wrong.sum()) - 1
            raise GraphError(
                f"the {what} of {where(row)} is {array[row]:g}, which is {why}"
                + (f" ({more} more like it)" if more else "")
                + (ANY_SIGN if what == "value" and why == "negative" else "")
            )
    return array


def label_array(labels: Mapping[Any, Any], names: NDArray[Any]) -> NDArray[Any]:
    """Labels in the order of the nodes, with gaps as in :func:`labels_at`.

    Examples
    --------
    >>> label_array({"a": 1, "c": 0}, as_names(["a", "b", "c"]))
    array([ 1., nan,  0.])
    """
    rows = known_rows(Names.of(labels), names, source="labels", things="nodes of the edges and features")
    given = [(row, label) for row, label in zip(rows.tolist(), labels.values(), strict=True) if label is not None]
    at = np.full(len(names), -1)
    at[[row for row, _ in given]] = np.arange(len(given))
    return labels_at([label for _, label in given], at)


def _numbers(values: Any, what: str, where: Callable[[int], str]) -> NDArray[np.float64]:
    """Numbers in one dimension; what is none is refused with its place."""
    if isinstance(values, np.ma.MaskedArray):
        raise GraphError(f"the {what}s have masked entries, which could mean anything: fill them, or leave them out")
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufOSU":
            raise GraphError(f"the {what}s must be real numbers, not {given.dtype}")
        with np.errstate(over="ignore"):  # of long doubles: what is not finite is refused by the caller
            array = given.astype(np.float64)
    except GraphError:
        raise
    except (TypeError, ValueError, OverflowError):
        array = np.array([_number(value, what, where(row)) for row, value in enumerate(values)])
    if array.ndim != 1:
        raise GraphError(f"the {what}s must be one number each, but have shape {array.shape}")
    return array


def _number(value: Any, what: str, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise GraphError(f"the {what} of {where} is too large: {in_short(value)}") from None
    except (TypeError, ValueError):
        raise GraphError(f"the {what} of {where} is {in_short(value)}, which is not a number") from None


def _row_numbers(ends: Names, features: Any) -> NDArray[np.int64]:
    """Ids 0..n-1 for a feature matrix that comes without ``node_ids``."""
    try:
        n = features.shape[0] if sp.issparse(features) else len(features)
    except TypeError:  # no matrix, as the graph will say
        n = 0
    names = ends.vocabulary
    if len(names) and (names.dtype != np.int64 or names.min() < 0 or names.max() >= n):
        is_other = np.array([type(name) is not int or not 0 <= name < n for name in names.tolist()])
        other = ends.at(int(np.argmax(is_other[ends.codes])))
        raise GraphError(
            f"a feature matrix of {n} rows needs node_ids to say which node each row is, unless the ids are "
            f"the row numbers 0 to {n - 1}; an edge names {in_short(other)}"
        )
    return np.arange(n, dtype=np.int64)


def _warn_if_apart(ends: Names, listed: Names, names: NDArray[Any]) -> None:
    """Ids such as 7 in one source and "7" in the other would only show as poor vectors later."""
    if len(ends) and len(listed) and len(names) == len(ends.vocabulary) + len(listed.vocabulary):
        warn(
            f"none of the {len(listed.vocabulary)} nodes with features is in an edge: are the ids of the same kind? "
            f"Edges have {in_short(ends.at(0))}, features {in_short(listed.at(0))}"
        )


def _adjacency(
    rows: NDArray[Any], weights: NDArray[np.float64] | None, n: int, *, arcs: bool, self_loops: bool
) -> sp.csr_array:
    u, v = rows[:, 0], rows[:, 1]
    if arcs:
        return _matrix(OwnArray, u, v, weights, (n, n))
    return _matrix(SymmetricArray, u, v, weights, (n, n), self_loops=self_loops)


def _feature_matrix(
    entries: FeatureEntries, listed: NDArray[Any], n: int, feature_names: Sequence[Hashable] | NDArray[Any] | None
) -> tuple[sp.csr_array, NDArray[Any]]:
    used = entries.features.ordered()
    if feature_names is not None:
        vocabulary = name_array(feature_names)
    else:
        vocabulary = united(used)[0] if entries.vocabulary is None else entries.vocabulary
    u = listed if entries.rows is None else listed[entries.rows]
    f = known_rows(used, vocabulary, source="feature entries", things="feature_names")
    return _matrix(OwnArray, u, f, entries.values, (n, len(vocabulary))), vocabulary


def _matrix(
    kind: type[OwnArray],
    u: NDArray[Any],
    v: NDArray[Any],
    values: NDArray[np.float64] | None,
    shape: tuple[int, int],
    *,
    self_loops: bool = False,
) -> sp.csr_array:
    """Matrix of triples, and their mirror images if it is symmetric.

    Repeats add up in the order of the triples, or count once without values.
    """
    index: Any = np.int32 if max(*shape, 2 * len(u)) < np.iinfo(np.int32).max else np.int64
    offsets, columns, sums = _native.compressed(
        u.astype(index, copy=False), v.astype(index, copy=False), values, *shape, kind is SymmetricArray, self_loops
    )
    data = np.ones(len(columns), dtype=np.float32) if sums is None else sums
    matrix = kind((data, columns, offsets), shape=shape)
    matrix.has_canonical_format = True
    return matrix
