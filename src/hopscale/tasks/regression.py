"""Node regression: how well a linear model reads a value off the vectors."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import ElasticNet
from sklearn.metrics import r2_score

from hopscale.exceptions import GraphError
from hopscale.tasks.labels import has_value
from hopscale.tasks.splits import Record, Split, matched, score_splits

__all__ = ["node_regression"]

_MAX_ITERATIONS = 10_000


def node_regression(
    vectors: ArrayLike,
    labels: ArrayLike,
    *,
    alpha: float = 0.01,
    l1_ratio: float = 0.5,
    splits: int = 10,
    test_size: float = 0.2,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> list[Record]:
    r"""Score vectors by elastic net regression on seeded splits, as in the paper.

    With m training nodes, the weights minimise

    .. math::

        \frac{1}{2m} \lVert y - Xw - w_0 \rVert^2 + \alpha \rho \lVert w \rVert_1
        + \frac{\alpha (1 - \rho)}{2} \lVert w \rVert^2

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        One row a node.
    labels : array-like of shape (n,)
        Value of each node, used as it is: take the logarithm first where the paper does (web traffic).
        Nodes with NaN have none and are left out; -1 is a value.
    alpha : float, default=0.01
        Weight of the penalty, α.
    l1_ratio : float, default=0.5
        Share of the l1 norm in it, ρ.
    splits, test_size, standardize, random_state, n_jobs
        As for :func:`hopscale.tasks.node_classification`.

    Returns
    -------
    list of dict
        One a split: ``task, split, n_train, n_test`` and

        ``r2``
            coefficient of determination on the test part;
        ``mean_r2``
            that of always answering the mean of the training part: 0 or a little less.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks import node_regression, summarize
    >>> vectors = np.random.default_rng(0).normal(size=(200, 4))
    >>> records = node_regression(vectors, vectors @ [1.0, -2.0, 3.0, 0.0], splits=3)
    >>> bool(summarize(records)["r2"]["mean"] > 0.99)
    True
    """
    X, y = matched(vectors, labels)
    try:
        # Integers become floats as well: NaN marks what is missing.
        y = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"labels must be numbers for a regression ({error})") from error
    known = has_value(y)
    X, y = X[known], y[known]
    if not np.isfinite(y).all():
        raise GraphError("labels has values that are infinite; log(0)?")
    if len(np.unique(y)) < 2:
        held = f"all {len(y)} labelled nodes have the value {y[0]:g}" if len(y) else "no node has a label"
        raise GraphError(f"{held}: there is nothing to predict")

    return score_splits(
        partial(_score, alpha=alpha, l1_ratio=l1_ratio),
        X,
        y,
        task="regression",
        splits=splits,
        test_size=test_size,
        standardize=standardize,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def _score(split: Split, *, alpha: float, l1_ratio: float) -> dict[str, float]:
    model = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, max_iter=_MAX_ITERATIONS)
    predicted = model.fit(split.train_vectors, split.train_labels).predict(split.test_vectors)
    mean = np.full_like(split.test_labels, split.train_labels.mean())
    return {
        "r2": float(r2_score(split.test_labels, predicted)),
        "mean_r2": float(r2_score(split.test_labels, mean)),
    }
