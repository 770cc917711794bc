"""Node classification: how well a linear model reads a class off the vectors."""

from __future__ import annotations

import warnings
from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from hopscale.exceptions import GraphError, HopscaleWarning
from hopscale.tasks.labels import has_class
from hopscale.tasks.splits import Record, Split, matched, score_splits

__all__ = ["node_classification"]

_MAX_ITERATIONS = 2000


def node_classification(
    vectors: ArrayLike,
    labels: ArrayLike,
    *,
    splits: int = 10,
    test_size: float = 0.2,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[Record]:
    """Score vectors by l2-regularised logistic regression on seeded splits, as in the paper.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        One row a node.
    labels : array-like of shape (n,)
        Class of each node. Nodes with NaN or None have none and are left out; so are those with -1 where
        the other labels are codes 0, 1, ..., k-1, as by custom. Else, as in ±1, -1 is a class.
    splits : int, default=10
        How many splits; the paper takes 100.
    test_size : float, default=0.2
        Share of the labelled nodes that is held out. Splits are not stratified.
    standardize : bool, default=False
        Bring every dimension to mean 0 and deviation 1 of the training part.
    random_state : int, default=0
        Seed of the splits.
    n_jobs : int, optional
        Processes; the records are the same for any number.

    Returns
    -------
    list of dict
        One a split: ``task, split, n_train, n_test`` and

        ``micro_f1``
            the paper's metric, here the accuracy;
        ``macro_f1``
            mean F1 of the classes, which a rare class weighs on as much as a common one;
        ``roc_auc``
            area under the ROC curve, one class against the rest, mean of the classes that the test
            part holds; NaN where it holds a single one;
        ``majority_micro_f1``
            micro-F1 of always answering the commonest class of the training part. Where most nodes
            are of one class, a high micro-F1 says little without it.

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
    X, y = matched(vectors, labels)
    known = has_class(y)
    X, y = X[known], y[known]
    # By hash, not by order: classes may be objects of several types.
    codes: dict[Hashable, int] = {}
    classes = np.array([codes.setdefault(label, len(codes)) for label in y.tolist()], dtype=np.int64)
    names = list(codes)
    if len(names) < 2:
        held = f"all {len(y)} labelled nodes are of class {names[0]!r}" if names else "no node has a label"
        raise GraphError(f"{held}: there is nothing to tell apart")
    if len(names) > max(20, len(y) // 2):
        raise GraphError(
            f"the labels are no classes: {len(y)} labelled nodes have {len(names)} different ones, such as "
            f"{names[0]!r} and {names[1]!r}. Is this the right column?"
        )
    lonely = [names[code] for code in np.flatnonzero(np.bincount(classes) == 1)]
    if lonely:
        warnings.warn(
            f"{len(lonely)} class(es) have a single node, such as {lonely[0]!r}: it is either trained on or "
            "tested on, never both",
            HopscaleWarning,
            stacklevel=2,
        )
    return score_splits(
        _score,
        X,
        classes,
        task="classification",
        splits=splits,
        test_size=test_size,
        standardize=standardize,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def _score(split: Split) -> dict[str, float]:
    seen, train = np.unique(split.train_labels, return_inverse=True)
    if len(seen) == 1:  # what the model tends to, but scikit-learn refuses to fit it
        probabilities = np.ones((len(split.test_labels), 1))
    else:
        model = LogisticRegression(max_iter=_MAX_ITERATIONS).fit(split.train_vectors, train)
        probabilities = model.predict_proba(split.test_vectors)
    test, predicted = split.test_labels, seen[probabilities.argmax(axis=1)]
    majority = np.full_like(test, seen[np.bincount(train).argmax()])
    return {
        "micro_f1": float(f1_score(test, predicted, average="micro")),
        "macro_f1": float(f1_score(test, predicted, average="macro", zero_division=0)),
        "roc_auc": _roc_auc(test, probabilities, seen),
        "majority_micro_f1": float(f1_score(test, majority, average="micro")),
    }


def _roc_auc(test: NDArray[np.int64], probabilities: NDArray[np.float64], seen: NDArray[np.int64]) -> float:
    """Mean one-against-rest area over the classes of the test part.

    scikit-learn's own refuses a test part that lacks a class, or has one that was not trained on; the
    latter's probability is 0 for every node, an area of one half.
    """
    present = np.unique(test)
    if len(present) < 2:
        return float("nan")
    by_class = dict(zip(seen.tolist(), probabilities.T, strict=True))
    unseen = np.zeros(len(test))
    return float(np.mean([roc_auc_score(test == c, by_class.get(c, unseen)) for c in present.tolist()]))
