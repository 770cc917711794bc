"""l2-regularised logistic regression, fitted to many training parts of the same rows at once.

Notation: X has n rows and d columns, followed by a column of ones for the intercept. S training parts are fitted, each
with K columns of weights (one for two classes). Weights and gradients have the shape (K, S, d + 1), so that one matrix
product serves all parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hopscale.compute.threads import checkpoint, ranges
from hopscale.exceptions import warn

__all__ = ["LogisticFit", "fit_logistic", "minimum", "softmax"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Preconditioner = Array | Callable[[Array], Array]

_TOLERANCE = 1e-6
_ROUNDING = 1e-14  # gᵀPg where rounding prevents further progress, see _lbfgs
_MAX_ITERATIONS = 2000
_MEMORY = 20  # steps that L-BFGS remembers
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
    X = np.hstack([vectors - mean, np.ones((n, 1))])
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
            logits = _product(V, X[block].T)
            logits[absent[:, which]] = -np.inf
            residuals = expit(logits, out=logits) if n_classes == 2 else softmax(logits)
            residuals -= targets[:, None, block]
            residuals *= rows[which, block]
            slopes += _product(residuals, X[block])
        slopes[..., :-1] = (slopes[..., :-1] - slopes[..., -1:] * shift[which]) / deviation[which]
        slopes = C * slopes + penalty * W
        # The tolerance is about the gradient on vectors that are not centred, as scikit-learn has it.
        plain = slopes if standardize else slopes + np.append(mean, 0) * slopes[..., -1:]
        return slopes, np.abs(plain).max(axis=(0, 2)) / weight[which]

    start = np.zeros((len(targets), len(parts), d + 1))
    W = minimum(gradient, start, _preconditioner(X, penalty, C, n_classes), tolerance)
    W = _unscaled(W, shift, deviation)
    coefficients = W[..., :-1] / scale
    intercepts = (W[..., -1] - coefficients @ mean).T
    if n_classes > 2:  # adding a constant to all intercepts makes no difference; scikit-learn's have the mean 0
        intercepts = intercepts - np.mean(intercepts, axis=1, where=seen, keepdims=True)
    return LogisticFit(coefficients.transpose(1, 0, 2), intercepts, seen)


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


def _product(stacked: Array, matrix: Preconditioner) -> Array:
    """One matrix product for the whole stack, where NumPy would make one for each; a vector stands for a diagonal."""
    if callable(matrix):
        return matrix(stacked)
    if matrix.ndim == 1:
        return stacked * matrix
    return (stacked.reshape(-1, stacked.shape[-1]) @ matrix).reshape(*stacked.shape[:-1], -1)


def softmax(logits: Array) -> Array:
    """Softmax over the first axis, in place."""
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=0)
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


def minimum(
    gradient: Callable[[Array, NDArray[np.int64]], tuple[Array, Array]],
    W: Array,
    P: Preconditioner,
    tolerance: float,
    *,
    memory: int = _MEMORY,
) -> Array:
    """Minima of convex functions, see ``_lbfgs``; a warning tells of those that were not reached."""
    W, unfinished = _lbfgs(gradient, W, P, tolerance, memory)
    if unfinished:
        message = f"{unfinished} logistic regression(s) did not converge in {_MAX_ITERATIONS} iterations"
        warn(f"{message}: a smaller C, or standardize=True, helps")
    return W


def _lbfgs(
    gradient: Callable[[Array, NDArray[np.int64]], tuple[Array, Array]],
    W: Array,
    P: Preconditioner,
    tolerance: float,
    memory: int,
) -> tuple[Array, int]:
    """Minimise S convex functions by L-BFGS from W (K, S, d + 1), with the scaled initial inverse Hessian P.

    `gradient` also returns what is compared with the tolerance. A step is accepted by its slopes alone: along a line
    the slope of a convex function only grows, and its values are lost in rounding long before the gradient is.

    Returns the minima, and for how many of them neither the tolerance was reached nor gᵀPg, about twice the distance
    of the function from its minimum, became as small as rounding.
    """
    active = np.arange(W.shape[1])
    at, (g, size) = W, gradient(W, active)
    steps: list[tuple[Array, Array, Array]] = []
    Pg = _product(g, P)
    direction, length, scale = -Pg, np.ones(len(active)), np.ones(len(active))
    for _ in range(_MAX_ITERATIONS):
        going = (size > tolerance) & (_dot(g, Pg) > _ROUNDING)
        if not going.all():
            W[:, active] = at
            active, length, scale, size = active[going], length[going], scale[going], size[going]
            at, g, Pg, direction = at[:, going], g[:, going], Pg[:, going], direction[:, going]
            steps = [(s[:, going], y[:, going], rho[going]) for s, y, rho in steps]
        if not len(active):
            break
        step = length[:, None] * direction
        g_there, size_there = gradient(at + step, active)
        Pg_there = _product(g_there, P)
        slope, slope_there = _dot(g, direction), _dot(g_there, direction)
        taken = slope_there <= 0.5 * np.abs(slope)
        s, y = step * taken[:, None], (g_there - g) * taken[:, None]
        curvature = _dot(s, y)
        rho = np.divide(1, curvature, out=np.zeros_like(curvature), where=curvature > 0)
        steps = [*steps[1 - memory :], (s, y, rho)]
        change = _dot(y, Pg_there - Pg)
        scale = np.divide(curvature, change, out=scale, where=(curvature > 0) & (change > 0))
        at, size = at + s, np.where(taken, size_there, size)
        g, Pg = np.where(taken[:, None], g_there, g), np.where(taken[:, None], Pg_there, Pg)
        # A step that was too long is cut to where a straight line through the two slopes crosses zero.
        crossing = np.divide(slope, slope - slope_there, out=np.ones_like(slope), where=~taken & (slope != slope_there))
        direction = np.where(taken[:, None], -_two_loops(steps, scale, P, g), direction)
        length = np.where(taken, 1.0, length * np.clip(crossing, 0.1, 0.9))
    W[:, active] = at
    return W, len(active)


def _two_loops(steps: list[tuple[Array, Array, Array]], scale: Array, P: Preconditioner, g: Array) -> Array:
    """The two-loop recursion of L-BFGS over steps s, changes y of the gradient, and ρ = 1/sy, 0 for rejected steps."""
    q = g.copy()
    alphas = []
    for s, y, rho in reversed(steps):
        alpha = rho * _dot(s, q)
        q -= alpha[:, None] * y
        alphas.append(alpha)
    q = scale[:, None] * _product(q, P)
    for (s, y, rho), alpha in zip(steps, reversed(alphas), strict=True):
        q += (alpha - rho * _dot(y, q))[:, None] * s
    return q


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ksd,ksd->s", a, b))
