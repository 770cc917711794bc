"""Few-shot classification: what vectors are worth when only a few nodes of each class are known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import number, whole
from hopscale.exceptions import GraphError, HopscaleWarning
from hopscale.tasks.labels import class_codes
from hopscale.tasks.logistic import fit_logistic
from hopscale.tasks.metrics import classification_scores
from hopscale.tasks.splits import Record, in_pieces, matched

__all__ = ["few_shot"]


def few_shot(
    vectors: ArrayLike,
    labels: ArrayLike,
    *,
    samples_per_class: int | Sequence[int] = (3, 6, 9, 12, 15, 18, 21, 24, 27, 30),
    C: float = 1.0,
    splits: int = 100,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[Record]:
    """Score vectors by logistic regression on k nodes of each class, as in the paper's few-shot experiment.

    All other labelled nodes are the test part. Within a split, the nodes drawn for a smaller k are among those for a
    larger one.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        One row a node.
    labels : array-like of shape (n,)
        As for :func:`hopscale.tasks.node_classification`.
    samples_per_class : int or sequence of int, default=(3, 6, ..., 30)
        Values of k. A class that has no more than k nodes gives all but one of them, with a warning: that one is
        tested on.
    C, standardize, n_jobs
        As for :func:`hopscale.tasks.node_classification`.
    splits : int, default=100
        How many draws for each k.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    list of dict
        One for each k and split: ``task, k, split, n_train, n_test`` and the metrics of
        :func:`hopscale.tasks.node_classification`; ``majority_micro_f1`` is that of the commonest class of all
        labelled nodes, which the training part does not show.

    See Also
    --------
    hopscale.tasks.summarize : with ``by="k"``, mean and standard error for each k.

    Examples
    --------
    >>> from hopscale.datasets import digits
    >>> from hopscale.tasks import few_shot, summarize
    >>> graph = digits()
    >>> records = few_shot(graph.features.toarray(), graph.labels, samples_per_class=(1, 10), splits=5)
    >>> scores = summarize(records, by="k")
    >>> scores[1]["micro_f1"]["mean"] < 0.6 < 0.7 < scores[10]["micro_f1"]["mean"]
    True
    """
    number("C", C, least=0, above=True)
    whole("splits", splits, least=1)
    whole("random_state", random_state, least=0)
    given = [samples_per_class] if np.isscalar(samples_per_class) else list(samples_per_class)  # type: ignore[arg-type]
    counts = [whole("samples_per_class", k, least=1) for k in given]
    X, y = matched(vectors, labels)
    classes, names = class_codes(y)
    X, classes = X[classes >= 0], classes[classes >= 0]
    sizes = np.bincount(classes)
    if np.count_nonzero(sizes > 1) < 2:
        raise GraphError("fewer than two classes have two nodes or more, one to train on and one to test on")
    if max(counts, default=0) >= sizes.min():
        rarest = int(sizes.argmin())
        warnings.warn(
            f"{np.count_nonzero(sizes <= max(counts))} class(es) have no more nodes than are to be drawn, such as "
            f"{names[rarest]!r} with {sizes[rarest]}: all but one of them are",
            HopscaleWarning,
            stacklevel=2,
        )
    majority = int(sizes.argmax())

    def score(piece: Sequence[tuple[int, int]]) -> list[Record]:
        records = []
        for k, split in piece:
            train, test = _drawn(classes, sizes, k, np.random.default_rng([random_state, split]))
            fit = fit_logistic(X[train], classes[train], len(names), C=C, standardize=standardize)
            scores = classification_scores(classes[test], fit.probabilities(X[test]), majority)
            records.append({"k": k, "split": split, "n_train": len(train), "n_test": len(test), **scores})
        return records

    draws = [(k, split) for k in counts for split in range(splits)]
    return [{"task": "few_shot", **record} for record in in_pieces(score, draws, 1, n_jobs)]


def _drawn(
    classes: NDArray[np.int64], sizes: NDArray[np.int64], k: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of k nodes of each class, or of all but one, and the other rows."""
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the class
    chosen = place < np.minimum(k, np.repeat(sizes, sizes) - 1)
    return order[chosen], np.sort(order[~chosen])
