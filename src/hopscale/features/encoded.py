"""What is learnt of a single column, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, ParameterError, in_short
from hopscale.features.base import ColumnEncoder, Limits, one_hot
from hopscale.features.custom import Custom, is_transformer
from hopscale.features.dense import Vector
from hopscale.features.kinds import Guess, guess_kind, without_missing_texts
from hopscale.features.scales import Dates, Number, Spline
from hopscale.features.table import Column
from hopscale.features.values import Boolean, Category, Items, Words, item_lists, word_lists

__all__ = [
    "KINDS",
    "METHODS",
    "UNUSED",
    "EncodedColumn",
    "about_column",
    "as_vectors",
    "beside",
    "checked_kinds",
    "learnt_column",
    "with_distinct_names",
]

KINDS: dict[str, Any] = {
    encoder.kind: encoder for encoder in (Category, Boolean, Items, Number, Spline, Dates, Words, Vector)
}
METHODS = ("signed", "binned")  # of vectors, as kinds of their own
UNUSED = {"drop": "as asked", "id": "names the nodes", "label": "what is to be predicted"}
_MUST_BE_READ = {
    "number": "a number",
    "spline": "a number",
    "date": "a date",
    "boolean": "yes or no",
    "vector": "a vector",
}
_WITHOUT_MISSING = ("list", "text")  # an empty list is an answer
_EXAMPLES = 3
# A feature of more nodes than that, if they are not few, tells next to nothing, -log .9, and fills the matrix.
_COMMON, _FEW = 0.9, 20


@dataclass(frozen=True)
class EncodedColumn:
    """A column of the table, or several that are one vector, and what was learnt from it."""

    name: str
    sources: list[str]  # columns of the table
    kind: str
    why: str
    encoder: ColumnEncoder | Custom | None = None  # None for columns that are no features
    missing: bool = False  # whether missing cells have a feature
    common: list[int] = field(default_factory=list)  # features that are left out, as nearly all nodes have them
    n_rows: int = 0
    n_missing: int = 0
    n_rare: int = 0  # different values without a feature of their own
    n_unread: int = 0  # cells whose value has none
    examples: str = ""

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [f"{self.name}={name}" for at, name in enumerate(self._all_names()) if at not in self.common]

    def _all_names(self) -> list[str]:
        names = [] if self.encoder is None else self.encoder.names
        return [*names, "missing"] if self.missing else names

    def matrix(self, column: Column) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        """A row of features for each cell, and which cells are unread."""
        assert self.encoder is not None
        width = len(self._all_names())
        if isinstance(self.encoder, Custom):
            own = self.encoder.encode(column)
            read = np.ones(len(column.values), dtype=bool)
        else:
            by_value, read = self.encoder.encode(column.values)
            last = one_hot(np.array([width - 1 if self.missing else -1]), width)
            by_value.resize((len(read), width))
            by_value = sp.csr_array(sp.vstack([by_value, last], format="csr"))
            if self.common:
                by_value = by_value[:, np.delete(np.arange(width), self.common)]
            own = by_value[column.codes]  # the last for -1
        return own, ~np.append(read, True)[column.codes]


def learnt_column(
    name: str, sources: list[str], column: Column, asked: Any, limits: Limits, missing: str
) -> tuple[EncodedColumn, sp.csr_array | None]:
    """What is learnt of a column, and its features; ``asked`` is the kind, or None to guess it."""
    known, texts = (column, []) if is_transformer(asked) else without_missing_texts(column)
    n_missing = int(np.count_nonzero(known.codes < 0))
    about = EncodedColumn(name, sources, "", "", n_rows=len(column), n_missing=n_missing)
    guess = guess_kind(name, known, limits) if asked is None else _asked(asked, known, limits, name)
    why = guess.why + (f"; missing: {', '.join(text or 'empty' for text in sorted(texts)[:3])}" if texts else "")
    if guess.kind in UNUSED:
        return replace(about, kind=guess.kind, why=why), None
    counts, encoder, n_rare = known.counts(), None, 0
    if guess.kind == "text":
        known = replace(known, values=word_lists(known.values))  # which takes long: once for learning and encoding
    elif guess.kind == "list":
        known = replace(known, values=item_lists(known.values, guess.option or ";"))
    if is_transformer(asked):
        encoder = Custom.learn(known, asked)
    elif guess.option is not None:
        encoder, n_rare = KINDS[guess.kind].learn(known.values, counts, limits, guess.option)
    else:
        encoder, n_rare = KINDS[guess.kind].learn(known.values, counts, limits)
    must_be_read = asked is not None and guess.kind in _MUST_BE_READ
    if not encoder.names:
        if must_be_read and counts.any() and not n_rare:
            raise _unreadable(guess.kind, known)
        what = f"{guess.kind}: no value is shared by {limits.min_count} nodes"
        return replace(about, kind="drop", why=what, n_rare=n_rare), None
    has_missing = missing == "feature" and guess.kind not in _WITHOUT_MISSING and n_missing >= limits.min_count
    about = replace(
        about,
        kind=guess.kind,
        why=why,
        encoder=encoder,
        missing=has_missing and not isinstance(encoder, Custom),
        n_rare=n_rare,
    )
    matrix, unread = about.matrix(known)
    common = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) > _COMMON * max(len(column), _FEW))
    if len(common) and guess.kind not in ("vector", Custom.kind):
        if len(common) == matrix.shape[1]:
            return replace(about, kind="drop", why=f"nearly every cell is {encoder.names[0]:.40}", encoder=None), None
        left_out = ", ".join(f"{about.names[at][len(name) + 1 :]:.30}" for at in common.tolist())
        about = replace(about, common=common.tolist(), why=f"{why}; nearly all are {left_out}, which has no feature")
        matrix, _ = about.matrix(known)
    if must_be_read and unread.any():
        first, total = known.value(int(known.codes[np.argmax(unread)])), int(counts.sum())
        if unread.sum() == total:
            raise _unreadable(guess.kind, known)
        told = f"{int(unread.sum()):,} of {total:,} cells give no feature, such as {in_short(first):.30}"
        about = replace(about, why=f"{about.why}; {told}")
    return replace(about, n_unread=int(unread.sum()), examples=_examples(about, matrix)), matrix


def _unreadable(kind: str, column: Column) -> ParameterError:
    first = in_short(column.value(int(column.codes[column.codes >= 0][0])))
    return ParameterError(f"no cell can be read as {_MUST_BE_READ[kind]}, such as {first}")


def _asked(kind: Any, column: Column, limits: Limits, name: str) -> Guess:
    """A kind that was asked for, with what it needs to know about the column."""
    if is_transformer(kind):
        return Guess(Custom.kind, type(kind).__name__)
    if kind in UNUSED:
        return Guess(kind, UNUSED[kind])
    if kind in METHODS:
        return Guess("vector", f"as asked, {kind}", kind)
    if kind == "list":
        found = guess_kind(name, column, limits)
        return Guess("list", "as asked", (found.option if found.kind == "list" else None) or _separator(column))
    return Guess(kind, "as asked")


def _separator(column: Column) -> str:
    """The most frequent of the characters that can separate items."""
    texts = column.values.tolist() if column.form == "text" else []  # type: ignore[union-attr]
    return max(";|,", key=lambda sign: sum(sign in text for text in texts))


def _examples(column: EncodedColumn, matrix: sp.csr_array) -> str:
    """The commonest features of a column, and on how many nodes they are."""
    names = [name[len(column.name) + 1 :] for name in column.names]
    counts = np.bincount(matrix.indices, minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:_EXAMPLES]
    return ", ".join(f"{names[at]:.30} {counts[at]}" for at in order.tolist())


def with_distinct_names(columns: list[EncodedColumn]) -> list[EncodedColumn]:
    """Columns whose features differ in their names: that of a column is changed if another's features have them."""
    taken: set[str] = set()
    distinct = []
    for column in columns:
        number, own = 2, column
        while not taken.isdisjoint(own.names):
            own = replace(column, name=f"{column.name} ({number})")
            number += 1
        taken.update(own.names)
        distinct.append(own)
    return distinct


def as_vectors(columns: Sequence[Column]) -> Column:
    """Columns of numbers as one of vectors; where all are missing it is."""
    vectors = np.stack([np.asarray(column.cells(), dtype=np.float64) for column in columns], axis=1)
    there = ~np.isnan(vectors).all(axis=1)
    return Column(np.where(there, np.cumsum(there) - 1, -1).astype(np.int32), vectors[there])


def beside(parts: list[sp.csr_array], n_rows: int) -> sp.csr_array:
    """Features of several columns side by side."""
    if not parts:
        return sp.csr_array((n_rows, 0), dtype=np.float32)
    matrix = sp.csr_array(sp.hstack(parts, format="csr", dtype=np.float32))
    matrix.sort_indices()
    return matrix


@contextmanager
def about_column(name: str) -> Iterator[None]:
    """Let errors name the column."""
    try:
        yield
    except (GraphError, ParameterError) as error:
        raise type(error)(f"column {in_short(name)} of the node table: ", *error.parts) from error


def checked_kinds(columns: Any, names: list[str]) -> dict[str, Any]:
    """Kinds that were asked for, by column."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise ParameterError(f"must be a mapping from columns to kinds, not {in_short(columns)}", parameter="columns")
    known = (*KINDS, *METHODS, *UNUSED)
    for name, kind in columns.items():
        if name not in names:
            raise ParameterError(
                f"names {in_short(name)}, but the columns of the node table are {in_short(names)}", parameter="columns"
            )
        if not is_transformer(kind) and (not isinstance(kind, str) or kind not in known):
            raise ParameterError(
                f"has the kind {in_short(kind)} for {in_short(name)}: expected one of {', '.join(known)}, or a "
                "transformer of scikit-learn",
                parameter="columns",
            )
    return dict(columns)
