"""l2-regularised logistic regression, fitted to many training parts of the same rows at once.

Notation: X has n rows and d columns, followed by a column of ones for the intercept. S training parts are fitted, each
with K columns of weights (one for two classes). Weights and gradients have the shape (K, S, d + 1), so that one matrix
product serves all parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hopscale.compute.threads import TALL_CHUNK, checkpoint, ranges
from hopscale.supervised.heads.lbfgs import minimum, product

__all__ = ["LogisticFit", "fit_logistic", "softmax"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TOLERANCE = 1e-6
_ADVICE = ": a smaller C, or standardize=True, helps"
_MAX_PRECONDITIONER = 2048  # columns; with more, a diagonal is used
_MULTIPLICATIONS = 1 << 31  # in one matrix product: a fraction of a second, after which an interruption is heeded
_CONSTANT = 1e-12  # columns with a smaller variance, relative to their mean square, are constant up to rounding


class LogisticFit(NamedTuple):
    """Weights of each part, on the vectors as given; those of scikit-learn's ``LogisticRegression``.

    ``coefficients`` has the shape (S, K, d), ``intercepts`` (S, K) and ``seen`` (S, n_classes): which classes occur in
    a training part. Weights of the other classes are meaningless.
    """

    coefficients: Array
    intercepts: Array
    seen: Mask

    def probabilities(self, vectors: Array, part: int = 0) -> Array:
        """Probability of each class for each row; 0 for classes that are missing from the training part."""
        logits = vectors @ self.coefficients[part].T + self.intercepts[part]
        if logits.shape[1] == 1:
            logits = np.hstack([np.zeros_like(logits), logits])
        logits[:, ~self.seen[part]] = -np.inf
        return np.ascontiguousarray(softmax(logits.T).T)


def fit_logistic(
    vectors: Array,
    classes: NDArray[np.int64],
    n_classes: int,
    parts: Mask | None = None,
    *,
    C: float = 1.0,
    standardize: bool = False,
    tolerance: float = _TOLERANCE,
) -> LogisticFit:
    r"""Fit a logistic regression to each training part.

    With weights w and intercepts b, each minimises over the m rows of its part

    .. math:: C \sum_i -\log p(y_i \mid x_i; w, b) + \tfrac12 \lVert w \rVert^2,

    with softmax probabilities, or logistic ones of a single w for two classes: the objective of scikit-learn's
    ``LogisticRegression``.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
    classes : ndarray of shape (n,)
        Codes 0..n_classes-1.
    n_classes : int
        At least 2.
    parts : ndarray of bool of shape (S, n), optional
        Training rows of each part; by default a single part with all rows.
    C : float, default=1.0
        Inverse of the regularisation strength.
    standardize : bool, default=False
        Scale every dimension to mean 0 and standard deviation 1 on each part.
    tolerance : float, default=1e-6
        Stop when no entry of the gradient of the objective, divided by C·m, is larger: the criterion of scikit-learn's
        solvers ``lbfgs`` and ``newton-cholesky``.

    Notes
    -----
    All parts start from zero and see the labels of their own rows only. They share a preconditioner that is computed
    from the vectors of all rows, without labels: it changes the path to the optimum, not the optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.supervised.heads.logistic import fit_logistic
    >>> vectors, classes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> fit = fit_logistic(vectors, classes, 2, np.array([[True, True, True, True], [True, True, False, True]]))
    >>> fit.coefficients.round(3).ravel()
    array([0.453, 0.708])
    >>> fit.probabilities(np.array([[1.5]])).round(3)
    array([[0.5, 0.5]])
    """
    n, d = vectors.shape
    parts = np.ones((1, n), dtype=bool) if parts is None else parts
    # The intercept is not penalised: centring the columns improves the conditioning and changes nothing else.
    mean, scale = vectors.mean(axis=0), np.ones(d)
    X = _with_intercept(vectors, mean)
    if standardize:
        scale = _moments(X[:, :-1], np.ones((1, n)))[1][0]
        X[:, :-1] /= scale
    members = (classes == np.arange(n_classes)[:, None]).astype(np.float64)
    targets = members[1:] if n_classes == 2 else members
    seen = np.asarray(parts.astype(np.float64) @ members.T > 0)
    # With a single class in the training part there is nothing to learn: without rows, all weights are zero.
    rows = (parts & (seen.sum(axis=1) > 1)[:, None]).astype(np.float64)
    absent = ~seen.T if n_classes > 2 else np.zeros((1, len(parts)), dtype=bool)
    penalty, weight = np.append(np.ones(d), 0.0), C * parts.sum(axis=1)
    shift, deviation = np.zeros((len(parts), d)), np.ones((len(parts), d))
    if standardize:
        shift, deviation = _moments(X[:, :-1], parts.astype(np.float64))
    blocks = _blocks(n, len(targets) * len(parts) * (d + 1))

    def gradient(W: Array, which: NDArray[np.int64]) -> tuple[Array, Array]:
        V, slopes = _unscaled(W, shift[which], deviation[which]), np.zeros_like(W)
        for block in blocks:
            checkpoint()
            logits = product(V, X[block].T)
            logits[absent[:, which]] = -np.inf
            residuals = expit(logits, out=logits) if n_classes == 2 else softmax(logits)
            residuals -= targets[:, None, block]
            residuals *= rows[which, block]
            slopes += product(residuals, X[block])
        slopes[..., :-1] = (slopes[..., :-1] - slopes[..., -1:] * shift[which]) / deviation[which]
        slopes = C * slopes + penalty * W
        # The tolerance is about the gradient on vectors that are not centred, as scikit-learn has it.
        plain = slopes if standardize else slopes + np.append(mean, 0) * slopes[..., -1:]
        return slopes, np.abs(plain).max(axis=(0, 2)) / weight[which]

    start = np.zeros((len(targets), len(parts), d + 1))
    W = minimum(gradient, start, _preconditioner(X, penalty, C, n_classes), tolerance, advice=_ADVICE)
    W = _unscaled(W, shift, deviation)
    coefficients = W[..., :-1] / scale
    intercepts = (W[..., -1] - coefficients @ mean).T
    if n_classes > 2:  # adding a constant to all intercepts makes no difference; scikit-learn's have the mean 0
        intercepts = intercepts - np.mean(intercepts, axis=1, where=seen, keepdims=True)
    return LogisticFit(coefficients.transpose(1, 0, 2), intercepts, seen)


def _with_intercept(vectors: Array, mean: Array) -> Array:
    X = np.empty((len(vectors), len(mean) + 1))
    for begin, end in ranges(len(X), TALL_CHUNK):  # the first writing of gigabytes could not be interrupted
        checkpoint()
        np.subtract(vectors[begin:end], mean, out=X[begin:end, :-1])
        X[begin:end, -1] = 1
    return X


def _preconditioner(X: Array, penalty: Array, C: float, n_classes: int) -> Array:
    """Inverse of one class's block of the Hessian at zero weights, a matrix or, for many columns, a diagonal."""
    curvature = C / n_classes * (1 - 1 / n_classes)
    if len(penalty) > _MAX_PRECONDITIONER:
        return np.asarray(1 / (curvature * (X**2).sum(axis=0) + penalty))
    hessian = curvature * _gram(X) + np.diag(penalty)
    # More on the diagonal than rounding can take away, for columns that depend on each other.
    inverse = np.linalg.inv(hessian + np.diag(1e-11 * hessian.diagonal()))
    return np.asarray((inverse + inverse.T) / 2)


def _blocks(n: int, multiplications: int) -> list[slice]:
    """All rows of X, each of which takes so many multiplications, in pieces that take a moment."""
    return [slice(*piece) for piece in ranges(n, max(1, _MULTIPLICATIONS // max(1, multiplications)))]


def _gram(X: Array) -> Array:
    product = np.zeros((X.shape[1], X.shape[1]))
    for block in _blocks(len(X), X.shape[1] ** 2):
        checkpoint()
        product += X[block].T @ X[block]
    return product


def softmax(logits: NDArray[Any], axis: int = 0) -> NDArray[Any]:
    """Softmax over an axis, in place."""
    logits -= logits.max(axis=axis, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=axis, keepdims=True)
    return logits


def _moments(X: Array, rows: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the columns over the rows of each part; 1 instead of a deviation of 0."""
    counts = rows.sum(axis=1, keepdims=True)
    total, squares = np.zeros((len(rows), X.shape[1])), np.zeros((len(rows), X.shape[1]))
    for block in _blocks(len(X), rows.shape[0] * X.shape[1]):
        checkpoint()
        total += rows[:, block] @ X[block]
        squares += rows[:, block] @ X[block] ** 2
    mean, square = total / counts, squares / counts
    variance = square - mean**2
    return mean, np.sqrt(np.where(variance > _CONSTANT * square, variance, 1))


def _unscaled(W: Array, shift: Array, deviation: Array) -> Array:
    """Weights V with V·x = W·(x - shift) / deviation."""
    V = W.copy()
    V[..., :-1] /= deviation
    V[..., -1] -= (V[..., :-1] * shift).sum(axis=-1)
    return V
