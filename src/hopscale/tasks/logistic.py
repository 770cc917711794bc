"""Logistic regressions on many parts of the same rows, fitted side by side.

Letters: X the n rows, whose last of d + 1 columns is ones; S parts of them; K columns of weights, one for two
classes. What belongs to a fit has the shape (K, S, d + 1), so that one product serves all parts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import expit

from hopscale.exceptions import HopscaleWarning

__all__ = ["LogisticFit", "LogisticParts", "fit_logistic"]

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

_TOLERANCE = 1e-7
_START_TOLERANCE = 1e-1  # a start need not lie closer to its own optimum than to those of the parts
_MAX_STEPS = 2000
_MEMORY = 20  # steps from which L-BFGS knows the curvature
_MAX_METRIC = 2048  # rows and columns of a metric, whose making must not take longer than it saves
_LEAST_CURVATURE = 1e-6  # of a row
_CONSTANT = 1e-12  # a variance that is a smaller share of the mean square is rounding


class LogisticFit(NamedTuple):
    """Weights on the vectors as they were given, those of scikit-learn's ``LogisticRegression``.

    ``coefficients`` has the shape (S, K, d) and ``intercepts`` (S, K), with K = 1 for two classes; ``seen``
    (S, classes) says which classes a part has. The weights of those that it lacks mean nothing.
    """

    coefficients: Array
    intercepts: Array
    seen: Marks

    def probabilities(self, vectors: Array, part: int = 0) -> Array:
        """Probability of each class for each row; 0 for a class that the part lacks."""
        logits = vectors @ self.coefficients[part].T + self.intercepts[part]
        if logits.shape[1] == 1:
            logits = np.hstack([np.zeros_like(logits), logits])
        logits[:, ~self.seen[part]] = -np.inf
        return np.ascontiguousarray(_softmax(logits.T).T)


def fit_logistic(
    vectors: Array, classes: NDArray[np.int64], n_classes: int, *, C: float = 1.0, standardize: bool = False
) -> LogisticFit:
    """Fit one logistic regression to all rows, see :class:`LogisticParts`.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.logistic import fit_logistic
    >>> fit = fit_logistic(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]), 2)
    >>> fit.probabilities(np.array([[1.5]])).round(3)
    array([[0.5, 0.5]])
    """
    problem = LogisticParts(vectors, classes, n_classes, C=C, standardize=standardize)
    return problem.fit(np.ones((1, len(vectors)), dtype=bool))


class LogisticParts:
    r"""l2-regularised logistic regressions on parts of the same rows.

    With w the weights without intercepts, each minimises over the rows of its part

    .. math:: C \sum_i -\log p(y_i \mid x_i) + \tfrac12 \lVert w \rVert^2,

    with softmax probabilities, or logistic ones of a single w for two classes: the objective of scikit-learn's
    ``LogisticRegression``.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
    classes : ndarray of shape (n,)
        Codes 0..n_classes-1.
    n_classes : int
        At least 2.
    C : float, default=1.0
        Weight of a row against that of the penalty.
    standardize : bool, default=False
        Bring every dimension to mean 0 and deviation 1 of the part before it is fitted.

    Notes
    -----
    L-BFGS runs in a metric in which the curvature is close to the identity: before :meth:`prepare` that of the model
    without weights, after it that of the fit to all rows, which then is also where the parts start. That fit has seen
    rows that a part is to be tested on, so that nothing of it may remain. Nothing does: the objective is strictly
    convex in w, and steps go on until the gradient's length in the metric, which is the distance to the optimum
    in units of the curvature, is below 1e-7.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.tasks.logistic import LogisticParts
    >>> problem = LogisticParts(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]), 2)
    >>> fit = problem.fit(np.array([[True, True, True, True], [True, True, False, True]]))
    >>> fit.coefficients.round(3).ravel()
    array([0.453, 0.708])
    """

    def __init__(
        self, vectors: Array, classes: NDArray[np.int64], n_classes: int, *, C: float = 1.0, standardize: bool = False
    ) -> None:
        n, d = vectors.shape
        self._C, self._standardize = C, standardize
        # Intercepts are free, so that the origin can lie where rounding is least.
        self._mean, self._scale = vectors.mean(axis=0), np.ones(d)
        centred = vectors - self._mean
        if standardize:
            self._scale = _moments(centred, np.ones((1, n)))[1][0]
        self._X = np.hstack([centred / self._scale, np.ones((n, 1))])
        self._penalty = np.append(np.ones(d), 0.0)
        self._members = (classes == np.arange(n_classes)[:, None]).astype(np.float64)
        self._targets = self._members[1:] if n_classes == 2 else self._members
        shares = np.clip(self._targets.mean(axis=1), 1 / (n + 1), n / (n + 1))
        self._start = np.zeros((len(self._targets), 1, d + 1))
        self._start[:, 0, d] = np.log(shares) if n_classes > 2 else np.log(shares / (1 - shares))
        self._metric = self._shared_metric()

    def prepare(self, share: float) -> None:
        """Take start and metric from all rows, for parts that hold about this share of them."""
        self._start = self._minimum(np.ones((1, len(self._X)), dtype=bool), _START_TOLERANCE)
        if self._start.size <= _MAX_METRIC:
            self._metric = self._joint_metric(_probabilities(self._start @ self._X.T)[:, 0], share)

    def fit(self, parts: Marks) -> LogisticFit:
        """Fit each part, given as a row of marks: which rows of the vectors belong to it."""
        weights = self._minimum(parts, _TOLERANCE)
        if self._standardize:
            weights = _unscaled(weights, *_moments(self._X[:, :-1], parts.astype(np.float64)))
        coefficients = weights[..., :-1] / self._scale
        intercepts = (weights[..., -1] - coefficients @ self._mean).T
        seen = self._seen(parts)
        if len(self._targets) > 1:
            # What all intercepts have in common makes no difference; scikit-learn's have the mean 0.
            intercepts = intercepts - np.mean(intercepts, axis=1, where=seen, keepdims=True)
        return LogisticFit(coefficients.transpose(1, 0, 2), intercepts, seen)

    def _seen(self, parts: Marks) -> Marks:
        return np.asarray(parts.astype(np.float64) @ self._members.T > 0)

    def _minimum(self, parts: Marks, tolerance: float) -> Array:
        """Weights (K, S, d + 1) on the rows of X, standardised by those of each part if that is asked for."""
        X, metric, seen = self._X, self._metric, self._seen(parts)
        # With a single class there is nothing to tell apart: no rows, and the penalty takes all weights away.
        rows = (parts & (seen.sum(axis=1) > 1)[:, None]).astype(np.float64)
        absent = ~seen.T if len(self._targets) > 1 else np.zeros((1, len(parts)), dtype=bool)
        start = np.where(absent[:, :, None], 0, self._start)
        if self._standardize:
            shift, scale = _moments(X[:, :-1], parts.astype(np.float64))

        def gradient(moves: Array, which: NDArray[np.int64]) -> Array:
            W = start[:, which] + _apply(metric, moves)
            logits = _product(_unscaled(W, shift[which], scale[which]) if self._standardize else W, X.T)
            logits[absent[:, which]] = -np.inf
            residuals = _probabilities(logits)
            residuals -= self._targets[:, None]
            residuals *= rows[which]
            slopes = _product(residuals, X)
            if self._standardize:
                slopes[..., :-1] = (slopes[..., :-1] - slopes[..., -1:] * shift[which]) / scale[which]
            return _apply(metric.T, self._C * slopes + self._penalty * W)

        moves, unfinished = _lbfgs(gradient, np.zeros_like(start), tolerance)
        if unfinished:
            warnings.warn(
                f"{unfinished} logistic regression(s) did not converge in {_MAX_STEPS} steps: a smaller C, or "
                "standardize=True, helps",
                HopscaleWarning,
                stacklevel=4,
            )
        return np.asarray(start + _apply(metric, moves))

    def _shared_metric(self) -> Array:
        """B with B Bᵀ the inverse of a class's block of the Hessian where all classes are equally likely."""
        K = max(2, len(self._targets))
        curvature = self._C / K * (1 - 1 / K)
        if len(self._penalty) > _MAX_METRIC:
            return np.asarray(1 / np.sqrt(curvature * (self._X**2).sum(axis=0) + self._penalty))
        return _inverse_root(curvature * (self._X.T @ self._X) + np.diag(self._penalty))

    def _joint_metric(self, probabilities: Array, share: float) -> Array:
        """B with B Bᵀ the inverse of the Hessian of all classes together at the probabilities (K, n) of a fit."""
        X, K, width = self._X, len(probabilities), len(self._penalty)
        # A shift of all intercepts has no curvature, and rows that are sure of their class have little.
        hessian = np.diag(np.tile(np.maximum(self._penalty, _LEAST_CURVATURE * len(X)), K)).reshape(K, width, K, width)
        for k in range(K):
            for j in range(k + 1):
                curvature = share * self._C * probabilities[k] * ((j == k) - probabilities[j])
                block = (X * curvature[:, None]).T @ X
                hessian[k, :, j] += block
                if j < k:
                    hessian[j, :, k] += block
        return _inverse_root(hessian.reshape(K * width, K * width))


def _inverse_root(hessian: Array) -> Array:
    # A little more on the diagonal than rounding can take away, where columns depend on each other.
    L = np.linalg.cholesky(hessian + np.diag(1e-11 * hessian.diagonal()))
    return np.asarray(solve_triangular(L, np.eye(len(L)), lower=True).T)


def _apply(metric: Array, moves: Array) -> Array:
    """Metric times moves (K, S, width): a diagonal, a matrix for each class alike, or one for all together."""
    K, S, width = moves.shape
    if metric.ndim == 1:
        return moves * metric
    if len(metric) == width:
        return moves @ metric.T
    joint = moves.transpose(1, 0, 2).reshape(S, K * width) @ metric.T
    return joint.reshape(S, K, width).transpose(1, 0, 2)


def _product(stacked: Array, matrix: Array) -> Array:
    """One product for all of a stack of matrices, where NumPy would make one for each."""
    return (stacked.reshape(-1, stacked.shape[-1]) @ matrix).reshape(*stacked.shape[:-1], -1)


def _probabilities(logits: Array) -> Array:
    """Softmax over the first axis, or the logistic function if it has length one. In place."""
    return expit(logits, out=logits) if len(logits) == 1 else _softmax(logits)


def _softmax(logits: Array) -> Array:
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=0)
    return logits


def _moments(X: Array, rows: Array) -> tuple[Array, Array]:
    """Mean and deviation of each column over the rows of each part; where a column is constant, 1 for the latter.

    Columns lie around 0, at a distance that is not much larger than their deviation.
    """
    counts = rows.sum(axis=1, keepdims=True)
    mean, square = rows @ X / counts, rows @ X**2 / counts
    variance = square - mean**2
    return mean, np.sqrt(np.where(variance > _CONSTANT * square, variance, 1))


def _unscaled(W: Array, shift: Array, scale: Array) -> Array:
    """Weights on rows x that do what W does on (x - shift) / scale."""
    V = W.copy()
    V[..., :-1] /= scale
    V[..., -1] -= (V[..., :-1] * shift).sum(axis=-1)
    return V


def _lbfgs(gradient: Callable[[Array, NDArray[np.int64]], Array], U: Array, tolerance: float) -> tuple[Array, int]:
    """Minimise S strictly convex functions side by side; U (K, S, ·) holds a start for each.

    Along a line the slope of a convex function only grows, so that steps can be judged by it alone. Values would
    drown in rounding at a distance to the optimum of the square root of what the gradient can tell.

    Returns the minima, and how many of them are not within the tolerance of the gradient's length.
    """
    U = U.copy()
    active = np.arange(U.shape[1])
    at, g = U, gradient(U, active)
    steps: list[tuple[Array, Array, Array]] = []
    direction, length, scale = -g, np.ones(len(active)), np.ones(len(active))
    for _ in range(_MAX_STEPS):
        going = _dot(g, g) > tolerance**2
        if not going.all():
            U[:, active] = at
            active, length, scale = active[going], length[going], scale[going]
            at, g, direction = at[:, going], g[:, going], direction[:, going]
            steps = [(s[:, going], y[:, going], rho[going]) for s, y, rho in steps]
        if not len(active):
            break
        step = length[:, None] * direction
        g_there = gradient(at + step, active)
        slope, slope_there = _dot(g, direction), _dot(g_there, direction)
        taken = slope_there <= 0.5 * np.abs(slope)
        s, y = step * taken[:, None], (g_there - g) * taken[:, None]
        bend = _dot(s, y)
        steps = [*steps[1 - _MEMORY :], (s, y, np.divide(1, bend, out=np.zeros_like(bend), where=bend > 0))]
        scale = np.divide(bend, _dot(y, y), out=scale, where=bend > 0)
        at, g = at + s, np.where(taken[:, None], g_there, g)
        # Too far: to where a straight line through the two slopes crosses zero.
        crossing = np.divide(slope, slope - slope_there, out=np.ones_like(slope), where=~taken)
        direction = np.where(taken[:, None], -_inverse_curvature(steps, scale, g), direction)
        length = np.where(taken, 1.0, length * np.clip(crossing, 0.1, 0.9))
    U[:, active] = at
    return U, len(active)


def _inverse_curvature(steps: list[tuple[Array, Array, Array]], scale: Array, g: Array) -> Array:
    """The two loops of L-BFGS over steps s, changes y of the gradient, and ρ = 1/sy, or 0 where none was taken."""
    q = g.copy()
    shares = []
    for s, y, rho in reversed(steps):
        share = rho * _dot(s, q)
        q -= share[:, None] * y
        shares.append(share)
    q *= scale[:, None]
    for (s, y, rho), share in zip(steps, reversed(shares), strict=True):
        q += (share - rho * _dot(y, q))[:, None] * s
    return q


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ksd,ksd->s", a, b))
