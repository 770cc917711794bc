"""Node classification: predict the class of a node from its vector by logistic regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hopscale.checks import number
from hopscale.exceptions import warn
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks.metrics import classification_scores
from hopscale.tasks.scoring import score_splits
from hopscale.tasks.splits import Record, Split, check_classes, seeded_splits

__all__ = ["node_classification"]

_CHUNK = 16  # splits that are fitted at once: enough for fast matrix products, few enough for several threads
_CHUNK_CELLS = 1 << 22  # largest number of their probabilities


def node_classification(
    vectors: Any,
    labels: ArrayLike | Mapping[Any, Any],
    *,
    C: float = 1.0,
    splits: int = 10,
    test_size: float = 0.2,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: bool = False,
) -> list[Record]:
    """Score vectors by l2-regularised logistic regression on seeded splits, as in the paper.

    Parameters
    ----------
    vectors : array-like or data frame of shape (n, d), or fitted model
        One row per node.
    labels : Series, mapping or array-like of shape (n,)
        Class of each node, matched with the vectors as in :func:`hopscale.tasks.evaluate`. Nodes labelled
        NaN or None are ignored; so are those labelled -1 if the other labels are the codes
        0, 1, ..., k-1. Otherwise, as in ±1, -1 is a class.
    C : float, default=1.0
        Inverse of the regularisation strength: weight of the loss relative to the penalty ½‖w‖², as in
        scikit-learn.
    splits : int, default=10
        Number of splits; the paper uses 100.
    test_size : float, default=0.2
        Fraction of the labelled nodes in the test part. Splits are not stratified.
    standardize : bool, default=False
        Scale every dimension to mean 0 and standard deviation 1 on the training part.
    random_state : int, default=0
        Seed of the splits.
    n_jobs : int, optional
        Number of threads. The records do not depend on it.
    max_seconds : float, optional
        If the first split shows that all would take longer than this, fewer are scored, but one at least. How many
        depends on the machine's speed; the records of those that are scored do not.
    progress : bool, default=False
        Show a progress bar, on the error stream and if that is a terminal.

    Returns
    -------
    list of dict
        One per split, with ``task, split, n_train, n_test`` and

        ``micro_f1``
            the paper's metric; equals the accuracy, as every node has one class;
        ``macro_f1``
            unweighted mean of the F1 of the classes;
        ``roc_auc``
            area under the ROC curve, one versus rest, averaged over the classes in the test part; NaN if
            it contains a single class;
        ``majority_micro_f1``
            micro-F1 of always predicting the most frequent class of the training part. With imbalanced
            classes, a high micro-F1 means little without it.

    See Also
    --------
    hopscale.tasks.summarize : Mean and standard error of the records.

    Examples
    --------
    >>> from hopscale.datasets import planted_blocks
    >>> from hopscale.tasks import node_classification, summarize
    >>> graph = planted_blocks(n_nodes=300)
    >>> records = node_classification(graph.features.toarray(), graph.labels, splits=3)
    >>> mean = {metric: row["mean"] for metric, row in summarize(records).items()}
    >>> mean["micro_f1"] > 0.7 > 0.5 > mean["majority_micro_f1"]
    True
    """
    C = number("C", C, least=1e-12, most=1e12)
    X, classes, names = check_classes(vectors, labels)
    singletons = np.flatnonzero(np.bincount(classes) == 1)
    if len(singletons):
        message = f"{len(singletons)} class(es) have a single node, such as {names[singletons[0]]!r}"
        warn(f"{message}: it is either trained on or tested on, never both")

    def score(chunk: Sequence[Split]) -> list[Record]:
        parts = np.zeros((len(chunk), len(classes)), dtype=bool)
        for row, (train, _) in zip(parts, chunk, strict=True):
            row[train] = True
        fit = fit_logistic(X, classes, len(names), parts, C=C, standardize=standardize)
        records = []
        for i, (train, test) in enumerate(chunk):
            majority = int(np.bincount(classes[train]).argmax())
            scores = classification_scores(classes[test], fit.probabilities(X[test], i), majority)
            records.append({"n_train": len(train), "n_test": len(test), **scores})
        return records

    size = max(1, min(_CHUNK, _CHUNK_CELLS // (len(classes) * len(names))))
    parts = seeded_splits(len(classes), splits, test_size, random_state)
    memory = 8.0 * len(classes) * (2 * X.shape[1] + (4 * size + 1) * len(names))
    settings = {"n_jobs": n_jobs, "max_seconds": max_seconds, "progress": progress}
    records = score_splits(score, parts, together=size, memory=memory, **settings)  # type: ignore[arg-type]
    return [{"task": "classification", "split": split, **record} for split, record in enumerate(records)]
