"""Node regression: predict a number from the vector of a node by an elastic net."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import enet_path
from sklearn.metrics import r2_score

from hopscale.checks import number
from hopscale.compute.threads import Threads, checkpoint, ranges
from hopscale.labels import check_different, has_value, target_values
from hopscale.tasks.scoring import score_splits
from hopscale.tasks.splits import Record, Split, check_vectors, seeded_splits

__all__ = ["node_regression"]

Array = NDArray[np.float64]

_MAX_ITERATIONS = 10_000
_MULTIPLICATIONS = 1 << 31  # in one matrix product: a fraction of a second, after which an interruption is heeded
_CONSTANT = 1e-12  # columns with a smaller variance, relative to that over all rows, are constant up to rounding


def node_regression(
    vectors: Any,
    labels: ArrayLike | Mapping[Any, Any],
    *,
    alpha: float = 0.01,
    l1_ratio: float = 0.5,
    splits: int = 10,
    test_size: float = 0.2,
    standardize: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
    progress: bool = False,
) -> list[Record]:
    r"""Score vectors by elastic net regression on seeded splits, as in the paper.

    With m training nodes, the weights minimise

    .. math::

        \frac{1}{2m} \lVert y - Xw - w_0 \rVert^2 + \alpha \rho \lVert w \rVert_1
        + \frac{\alpha (1 - \rho)}{2} \lVert w \rVert^2

    Parameters
    ----------
    vectors : array-like or data frame of shape (n, d), or fitted model
        One row per node.
    labels : Series, mapping or array-like of shape (n,)
        Target of each node, matched with the vectors as in :func:`hopscale.tasks.evaluate`, used
        unchanged: take the logarithm first where the paper does (web traffic).
        Nodes labelled NaN are ignored; -1 is a value.
    alpha : float, default=0.01
        Weight α of the penalty.
    l1_ratio : float, default=0.5
        Fraction ρ of the penalty that is l1.
    splits, test_size, standardize, random_state, n_jobs, max_seconds, progress
        As for :func:`hopscale.tasks.node_classification`.

    Returns
    -------
    list of dict
        One per split, with ``task, split, n_train, n_test`` and

        ``r2``
            coefficient of determination on the test part;
        ``mean_r2``
            R² of always predicting the mean of the training part: 0 or slightly below.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks import node_regression, summarize
    >>> vectors = np.random.default_rng(0).normal(size=(200, 4))
    >>> records = node_regression(vectors, vectors @ [1.0, -2.0, 3.0, 0.0], splits=3)
    >>> bool(summarize(records)["r2"]["mean"] > 0.99)
    True
    """
    X, y = check_vectors(vectors, labels)
    y = target_values(y)
    known = has_value(y)
    X, y = X[known], y[known]
    check_different(y)

    number("alpha", alpha, least=0)
    number("l1_ratio", l1_ratio, least=0, most=1)
    parts = seeded_splits(len(y), splits, test_size, random_state)
    with Threads():  # BLAS on a single thread
        Z = np.column_stack([X - X.mean(axis=0), y - y.mean()])
        products = _gram(Z, Z)

    def score(chunk: Sequence[Split]) -> list[Record]:
        return [_score(Z, products, split, alpha=alpha, l1_ratio=l1_ratio, standardize=standardize) for split in chunk]

    settings = {"n_jobs": n_jobs, "max_seconds": max_seconds, "progress": progress}
    records = score_splits(score, parts, together=1, memory=16.0 * Z.size, **settings)  # type: ignore[arg-type]
    return [{"task": "regression", "split": split, **record} for split, record in enumerate(records)]


def _score(Z: Array, products: Array, split: Split, *, alpha: float, l1_ratio: float, standardize: bool) -> Record:
    """Fit and score one split. The last column of Z is the target; `products` is ZᵀZ."""
    train, test = split
    mean, covariance = _covariance(Z, products, train, test)
    scale = np.sqrt(covariance.diagonal()[:-1]) if standardize else np.ones(len(mean) - 1)
    scale[scale == 0] = 1
    # With a precomputed Gram matrix enet_path uses only the number of rows: a single one, as the Gram matrix is a mean.
    settings = {"alphas": [alpha], "l1_ratio": l1_ratio, "max_iter": _MAX_ITERATIONS, "check_input": False}
    _, weights, _ = enet_path(
        np.zeros((1, len(scale)), order="F"),
        np.sqrt(covariance[-1:, -1]),
        precompute=covariance[:-1, :-1] / np.outer(scale, scale),
        Xy=covariance[:-1, -1] / scale,
        **settings,
    )
    truth, predicted = Z[test, -1], (Z[test, :-1] - mean[:-1]) / scale @ weights[:, 0] + mean[-1]
    r2, mean_r2 = float(r2_score(truth, predicted)), float(r2_score(truth, np.full(len(test), mean[-1])))
    return {"n_train": len(train), "n_test": len(test), "r2": r2, "mean_r2": mean_r2}


def _covariance(Z: Array, products: Array, rows: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[Array, Array]:
    """Mean and covariance of the columns over some rows, computed from the smaller of the two parts.

    Columns are centred over all rows, which keeps cancellation in the difference small.
    """
    if len(others) < len(rows):
        total, squares = -Z[others].sum(axis=0), products - _gram(Z[others], Z[others])
    else:
        total, squares = Z[rows].sum(axis=0), _gram(Z[rows], Z[rows])
    mean = total / len(rows)
    covariance = squares / len(rows) - np.outer(mean, mean)
    constant = covariance.diagonal() <= _CONSTANT * products.diagonal() / len(rows)
    covariance[constant] = covariance[:, constant] = 0
    return mean, covariance


def _gram(x: Array, y: Array) -> Array:
    """xᵀy, some rows at a time."""
    product = np.zeros((x.shape[1], y.shape[1]))
    for begin, end in ranges(len(x), max(1, _MULTIPLICATIONS // product.size)):
        checkpoint()
        product += x[begin:end].T @ y[begin:end]
    return product
