"""Few-shot learning: node classification from a few labelled nodes per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.checks import number, whole
from hopscale.exceptions import GraphError, warn
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks.metrics import classification_scores
from hopscale.tasks.splits import Record, Split, check_classes, in_parallel

__all__ = ["few_shot"]


def few_shot(
    vectors: Any,
    labels: ArrayLike | Mapping[Any, Any],
    *,
    samples_per_class: int | Sequence[int] = (3, 6, 9, 12, 15, 18, 21, 24, 27, 30),
    C: float = 1.0,
    splits: int = 100,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[Record]:
    """Score vectors by logistic regression on k nodes per class, as in the paper's few-shot experiment.

    All other labelled nodes form the test part. Within a split, the training nodes of a smaller k are a subset of those
    of a larger one.

    Parameters
    ----------
    vectors : array-like or data frame of shape (n, d), or fitted model
        One row per node.
    labels : Series, mapping or array-like of shape (n,)
        As for :func:`hopscale.tasks.node_classification`.
    samples_per_class : int or sequence of int, default=(3, 6, ..., 30)
        Values of k. Of a class with no more than k nodes, all but one are trained on, with a warning.
    C, standardize, n_jobs
        As for :func:`hopscale.tasks.node_classification`.
    splits : int, default=100
        Number of samples for each k.
    random_state : int, default=0
        Seed of the samples.

    Returns
    -------
    list of dict
        One per k and split, with ``task, k, split, n_train, n_test`` and the metrics of
        :func:`hopscale.tasks.node_classification`; ``majority_micro_f1`` is that of the most frequent class of all
        labelled nodes, as the training part is balanced.

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
    C = number("C", C, least=1e-12, most=1e12)
    whole("splits", splits, least=1)
    whole("random_state", random_state, least=0)
    counts = [whole("samples_per_class", k, least=1) for k in np.atleast_1d(samples_per_class).tolist()]
    X, classes, names = check_classes(vectors, labels)
    sizes = np.bincount(classes)
    if np.count_nonzero(sizes > 1) < 2:
        raise GraphError("fewer than two classes have two nodes or more, one to train on and one to test on")
    if max(counts, default=0) >= sizes.min():
        rarest, few = int(sizes.argmin()), np.count_nonzero(sizes <= max(counts))
        message = f"{few} class(es) have too few nodes, such as {names[rarest]!r} with {sizes[rarest]}"
        warn(f"{message}: all but one of them are trained on")
    majority = int(sizes.argmax())

    def score(sample: tuple[int, int]) -> Record:
        k, split = sample
        train, test = _samples(classes, sizes, k, np.random.default_rng([random_state, split]))
        fit = fit_logistic(X[train], classes[train], len(names), C=C, standardize=standardize)
        scores = classification_scores(classes[test], fit.probabilities(X[test]), majority)
        return {"task": "few_shot", "k": k, "split": split, "n_train": len(train), "n_test": len(test), **scores}

    return in_parallel(score, product(counts, range(splits)), n_jobs)


def _samples(classes: NDArray[np.int64], sizes: NDArray[np.int64], k: int, rng: np.random.Generator) -> Split:
    """Rows of k nodes of each class, at most all but one, and the remaining rows."""
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the class
    chosen = rank < np.minimum(k, np.repeat(sizes, sizes) - 1)
    return order[chosen], np.sort(order[~chosen])
