"""Transformers of scikit-learn for single columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from hopscale.exceptions import GraphError, HopscaleError
from hopscale.features.table import Column

__all__ = ["Custom", "is_transformer"]


def is_transformer(kind: Any) -> bool:
    """Whether this is a transformer as scikit-learn has them."""
    return hasattr(kind, "fit") and hasattr(kind, "transform") and not isinstance(kind, type)


@dataclass(frozen=True, eq=False)
class Custom:
    """Features that a fitted transformer makes of a column."""

    kind: ClassVar[str] = "transformer"
    transformer: Any
    names: list[str]

    @classmethod
    def learn(cls, column: Column, transformer: Any) -> Custom:
        """With a copy of a transformer, fitted on all cells."""
        fitted = clone(transformer)
        cells = _cells(column, fitted)
        with _named_errors(fitted):
            fitted.fit(cells)
        made = cls(fitted, [])
        width = made.encode(column).shape[1]
        try:
            names = [str(name) for name in fitted.get_feature_names_out()]
        except Exception:  # many have none, or want names of columns
            names = []
        return cls(fitted, names if len(set(names)) == width else list(map(str, range(width))))

    def encode(self, column: Column) -> sp.csr_array:
        """A row of features for each cell."""
        with _named_errors(self.transformer):
            made = self.transformer.transform(_cells(column, self.transformer))
            matrix = sp.csr_array(made, dtype=np.float32)
        if matrix.shape[0] != len(column):
            raise GraphError(f"{type(self.transformer).__name__} made {matrix.shape[0]} rows of {len(column)} cells")
        if matrix.nnz and not (matrix.data.min() >= 0 and np.isfinite(matrix.data).all()):
            raise GraphError(
                f"{type(self.transformer).__name__} made features that are negative or not finite; features must be "
                "neither: kinds of ours are number, spline and signed"
            )
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix


def _cells(column: Column, transformer: Any) -> NDArray[Any]:
    cells = column.cells()
    if hasattr(transformer, "build_analyzer"):  # CountVectorizer and its kin take texts one by one
        return np.array(["" if cell is None else str(cell) for cell in cells.tolist()], dtype=object)
    return cells[:, None]


@contextmanager
def _named_errors(transformer: Any) -> Iterator[None]:
    """Raise errors of a transformer as a GraphError that names it."""
    try:
        yield
    except (HopscaleError, MemoryError):
        raise
    except Exception as error:
        raise GraphError(f"{type(transformer).__name__} refuses its cells ({error})") from error
