"""Dense or negative numbers as sparse, non-negative features: halves by sign, or bins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import whole
from hopscale.exceptions import GraphError, ParameterError
from hopscale.features.base import Limits, texts_of
from hopscale.features.cells import vector_in
from hopscale.features.scales import bin_edges, bin_names
from hopscale.features.table import Lists, Values
from hopscale.indexed import frame_matrix, has_index, is_frame
from hopscale.matrices import sound, two_dimensional

__all__ = ["Vector", "binned", "signed"]

VECTOR_BINS = 5
DEFAULT = "signed"


def signed(matrix: Any) -> tuple[Any, list[str]]:
    """Two features for each column of numbers, x⁺ = max(x, 0) and x⁻ = max(-x, 0).

    Parameters
    ----------
    matrix : sparse matrix, array or data frame of pandas of shape (n, d)
        Finite numbers of any sign, such as sentence embeddings.

    Returns
    -------
    features : csr_array of shape (n, 2d), float32
        Of a data frame it is a data frame of sparse columns with the same index, by which graphs match its rows.
    names : list of str
        ``0+``, ``0-``, ``1+``, ..., or with the names of a data frame's columns.

    See Also
    --------
    binned : Which quantile a number is in, where only its rank is to count.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.features import signed
    >>> features, names = signed(np.array([[0.5, -2.0], [0.0, 3.0]]))
    >>> names
    ['0+', '0-', '1+', '1-']
    >>> features.toarray()
    array([[0.5, 0. , 0. , 2. ],
           [0. , 0. , 3. , 0. ]], dtype=float32)
    """
    numbers, columns = _numbers_and_columns(matrix)
    names = [f"{column}{sign}" for column in columns for sign in "+-"]
    return _like(matrix, _signed(numbers), names), names


def binned(matrix: Any, bins: int = VECTOR_BINS) -> tuple[Any, list[str]]:
    """A feature for each of some bins of every column, which hold about as many rows each.

    Parameters
    ----------
    matrix : sparse matrix, array or data frame of pandas of shape (n, d)
        Finite numbers of any sign.
    bins : int, default=5
        Columns with fewer values than that have fewer.

    Returns
    -------
    features : csr_array of shape (n, q), float32
        One 1 for each row and column of the matrix. Of a data frame it is a data frame of sparse columns with the same
        index, by which graphs match its rows.
    names : list of str
        ``0=..-0.5``, ``0=-0.5..0.25``, ``0=0.25..``, ..., or with the names of a data frame's columns.

    See Also
    --------
    signed : Keeps how large a number is.

    Examples
    --------
    >>> import numpy as np
    >>> from hopscale.features import binned
    >>> features, names = binned(np.array([[-3.0], [0.2], [1.0], [7.0]]), bins=2)
    >>> names
    ['0=..1', '0=1..']
    >>> features.toarray().astype(int).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """
    numbers, columns = _numbers_and_columns(matrix)
    numbers = numbers.toarray() if sp.issparse(numbers) else numbers
    edges = _edges(numbers, whole("bins", bins, least=2))
    names = _binned_names(edges, columns)
    return _like(matrix, _binned(numbers, edges), names), names


@dataclass(frozen=True)
class Vector:
    """A column of vectors of one length, :func:`signed` or :func:`binned`."""

    kind: ClassVar[str] = "vector"
    method: str  # signed or binned
    width: int
    edges: list[list[float]]  # of each dimension, if it is binned

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits, method: str = DEFAULT) -> tuple[Vector, int]:
        vectors = _vectors(values)
        there = np.isfinite(vectors).all(axis=1) & (counts > 0)
        edges = _edges(vectors[there], VECTOR_BINS) if method == "binned" else []
        return cls(method, vectors.shape[1], edges), 0

    @property
    def names(self) -> list[str]:
        if self.method == "binned":
            return _binned_names(self.edges, range(self.width))
        return [f"{at}{sign}" for at in range(self.width) for sign in "+-"]

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        vectors = _vectors(values, self.width)
        if vectors.shape[1] != self.width:
            raise GraphError(f"vectors have {vectors.shape[1]} numbers where {self.width} were learnt from")
        known: NDArray[np.bool_] = np.asarray((np.abs(vectors) <= np.finfo(np.float32).max).all(axis=1))
        vectors = np.where(known[:, None], vectors, 0.0)
        if self.method == "signed":
            return _signed(vectors), known
        matrix = _binned(vectors, self.edges)
        return matrix if known.all() else sp.csr_array(sp.diags_array(known.astype(np.float32)) @ matrix), known


def _numbers_and_columns(matrix: Any) -> tuple[Any, Iterable[Any]]:
    """A matrix of finite numbers, and what its columns are called."""
    if is_frame(matrix):
        return _numbers(frame_matrix(matrix)[0].toarray()), [str(name) for name in matrix.columns]
    if has_index(matrix) or hasattr(matrix, "__arrow_c_stream__") or hasattr(matrix, "__dataframe__"):
        raise GraphError(
            f"expected a matrix or a data frame of pandas, not {type(matrix).__name__}: pass .to_numpy(), with rows in "
            "the order of the nodes, or give the table to from_tables(edges, nodes=...)"
        )
    numbers = _numbers(matrix)
    return numbers, range(numbers.shape[1])


def _like(matrix: Any, features: sp.csr_array, names: list[str]) -> Any:
    """Features as a data frame with the index of ``matrix``, if that is one."""
    if not is_frame(matrix):
        return features
    import pandas as pd

    return pd.DataFrame.sparse.from_spmatrix(features, index=matrix.index, columns=names)


def _numbers(matrix: Any) -> Any:
    """A matrix of finite numbers, sparse or not."""
    try:
        if sp.issparse(matrix):
            numbers = sp.csr_array(sound(matrix, "the matrix"), dtype=np.float64)
            numbers.sum_duplicates()
        else:
            numbers = two_dimensional(matrix, "the matrix")
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError(f"expected a matrix of numbers, not {type(matrix).__name__} ({error})") from None
    wrong = ~np.isfinite(numbers.data if sp.issparse(numbers) else numbers)
    if wrong.any():
        raise GraphError(f"the matrix has {int(wrong.sum())} value(s) that are not finite")
    return numbers


def _signed(numbers: Any) -> sp.csr_array:
    if sp.issparse(numbers):
        indptr, indices, data = numbers.indptr, numbers.indices, numbers.data
    else:
        filled = numbers != 0
        indptr, indices = np.append(0, np.cumsum(filled.sum(axis=1))), np.nonzero(filled)[1]
        data = numbers[filled]
    with np.errstate(over="ignore"):  # answered below
        amounts = np.abs(data).astype(np.float32)
    parts = (amounts, 2 * indices.astype(np.int64) + (data < 0), indptr)
    matrix = sp.csr_array(parts, shape=(numbers.shape[0], 2 * numbers.shape[1]))
    if not np.isfinite(matrix.data).all():
        raise GraphError("the matrix has values too large for float32: divide all of them by a number")
    matrix.eliminate_zeros()
    return matrix


def _edges(numbers: NDArray[np.float64], bins: int) -> list[list[float]]:
    found = []
    for column in numbers.T:
        values, counts = np.unique(column, return_counts=True)
        found.append(bin_edges(values, counts, bins))
    return found


def _binned(numbers: NDArray[np.float64], edges: list[list[float]]) -> sp.csr_array:
    n, d = numbers.shape
    starts = np.cumsum([0, *(len(own) + 1 for own in edges)])
    columns = np.empty((n, d), dtype=np.int64)
    for at, own in enumerate(edges):
        columns[:, at] = starts[at] + np.searchsorted(np.array(own), numbers[:, at], side="right")
    ones = np.ones(n * d, dtype=np.float32)
    return sp.csr_array((ones, columns.ravel(), np.arange(n + 1) * d), shape=(n, int(starts[-1])))


def _binned_names(edges: list[list[float]], columns: Iterable[Any]) -> list[str]:
    return [
        f"{column}={name}" for column, own in zip(columns, edges, strict=True) for name in bin_names(own, whole=False)
    ]


def _vectors(values: Values, width: int | None = None) -> NDArray[np.float64]:
    """Values as rows of numbers, NaN where they are none of the common length."""
    if not isinstance(values, Lists) and values.ndim == 2:
        return values
    if not isinstance(values, Lists) and values.dtype != object:
        raise ParameterError("a column of single values cannot be taken for vectors")
    if isinstance(values, Lists):
        texts = [f"[{text}]" for text in texts_of(values, Vector.kind)]
    else:
        texts = values.tolist()
    found = list(map(vector_in, texts))
    if width is None:
        lengths = [len(numbers) for numbers in found if numbers]
        width = max(set(lengths), key=lengths.count, default=0)
    gap = [np.nan] * width
    return np.array([numbers if numbers and len(numbers) == width else gap for numbers in found], dtype=float).reshape(
        len(found), width
    )
