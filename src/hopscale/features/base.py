"""What encoders of single columns share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import ParameterError
from hopscale.features.table import Lists, Values, text_of

__all__ = ["ColumnEncoder", "Limits", "frequent", "indicator", "one_hot", "texts_of"]


class Limits(NamedTuple):
    """Parameters of :class:`~hopscale.FeatureEncoder` that bound the features of every column."""

    min_count: int
    max_values: int
    bins: int


class ColumnEncoder(Protocol):
    """One column as features: what was learnt are the fields of a dataclass, plain enough for JSON."""

    kind: ClassVar[str]

    @property
    def names(self) -> list[str]:
        """Names of the features, without that of the column."""

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        """A row of features for each value, and which of the values mean anything to the encoder."""


def texts_of(values: Values, kind: str) -> list[str]:
    """Values as text."""
    if isinstance(values, Lists):
        items = values.vocabulary[values.codes]
        return [", ".join(items[start:end]) for start, end in zip(values.indptr, values.indptr[1:], strict=False)]
    if values.ndim == 2:
        raise ParameterError(f"a column of vectors cannot be of the kind {kind}, but vector, signed, binned or drop")
    if values.dtype.kind == "b":
        return ["yes" if value else "no" for value in values.tolist()]
    return values.tolist() if values.dtype == object else list(map(text_of, values.tolist()))


def frequent(texts: Sequence[str], counts: NDArray[Any], limits: Limits) -> tuple[list[str], int, int]:
    """The texts that occur often enough, sorted, how many different ones do not, and in how many cells.

    ``texts`` may repeat, and may have counts of 0.
    """
    total: dict[str, int] = {}
    for text, count in zip(texts, counts.tolist(), strict=True):
        if count:
            total[text] = total.get(text, 0) + count
    kept = [text for text, count in total.items() if count >= limits.min_count]
    if len(kept) > limits.max_values:
        kept = sorted(kept, key=lambda text: (-total[text], text))[: limits.max_values]
    left_out = sum(total.values()) - sum(total[text] for text in kept)
    return sorted(kept, key=_by_number), len(total) - len(kept), left_out


def _by_number(text: str) -> tuple[float, str]:
    try:
        return (float(text), text) if float(text) == float(text) else (np.inf, text)
    except ValueError:
        return np.inf, text


def one_hot(columns: NDArray[Any], width: int) -> sp.csr_array:
    """A row with a single 1 for each column, or with none where it is -1."""
    there = columns >= 0
    indptr = np.append(0, np.cumsum(there))
    return sp.csr_array(
        (np.ones(indptr[-1], dtype=np.float32), columns[there].astype(np.int32), indptr), shape=(len(columns), width)
    )


def indicator(lists: Lists, vocabulary: Sequence[str]) -> sp.csr_array:
    """For each list which texts of a vocabulary are in it; others are left out."""
    column = {text: at for at, text in enumerate(vocabulary)}
    known = np.array([column.get(text, -1) for text in lists.vocabulary.tolist()], dtype=np.int32)
    columns = known[lists.codes] if len(known) else np.empty(0, dtype=np.int32)
    there = columns >= 0
    indptr = np.append(0, np.cumsum(there))[lists.indptr]
    matrix = sp.csr_array(
        (np.ones(int(indptr[-1]), dtype=np.float32), columns[there], indptr), shape=(len(lists), len(column))
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
