"""Columns whose values have names: categories, yes and no, lists of items, texts of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.features.base import Limits, frequent, indicator, one_hot, texts_of
from hopscale.features.cells import BOOLEANS, split, words
from hopscale.features.table import Lists, Values, text_array
from hopscale.names import Coder

__all__ = ["Boolean", "Category", "Items", "Words", "item_lists", "word_lists"]

RARE = "(rare)"

_MOST_COMMON = 0.5  # of the texts may have a word: those that more have are its language's, not the node's
_FEW = 20  # texts, among which no word is common
_AT_ONCE = 1 << 16  # texts whose words are held as objects


@dataclass(frozen=True)
class Category:
    """A feature for each value that occurs often enough, and one for all others together."""

    kind: ClassVar[str] = "category"
    values: list[str]
    rare: bool  # whether the others have a feature

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits) -> tuple[Category, int]:
        kept, folded, cells = frequent(texts_of(values, cls.kind), counts, limits)
        return cls(kept, cells >= limits.min_count and bool(kept)), folded

    @property
    def names(self) -> list[str]:
        return [*self.values, *([RARE] if self.rare else [])]

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        other = len(self.values) if self.rare else -1
        column = {text: at for at, text in enumerate(self.values)}
        columns = np.array([column.get(text, other) for text in texts_of(values, self.kind)], dtype=np.int32)
        return one_hot(columns, len(self.names)), (columns >= 0) & (columns < len(self.values))


@dataclass(frozen=True)
class Boolean:
    """Yes and no, in all their spellings."""

    kind: ClassVar[str] = "boolean"
    values: list[str]

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits) -> tuple[Boolean, int]:
        seen = {BOOLEANS.get(text.casefold()) for text, n in zip(texts_of(values, cls.kind), counts, strict=True) if n}
        return cls([name for name, answer in (("no", False), ("yes", True)) if answer in seen]), 0

    @property
    def names(self) -> list[str]:
        return self.values

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        answers = [BOOLEANS.get(text.casefold()) for text in texts_of(values, self.kind)]
        column = {{"no": False, "yes": True}[name]: at for at, name in enumerate(self.values)}
        columns = np.array([-1 if answer is None else column.get(answer, -1) for answer in answers], dtype=np.int32)
        return one_hot(columns, len(self.values)), columns >= 0


@dataclass(frozen=True)
class Items:
    """A feature for each item that occurs in enough cells; rarer ones are left out."""

    kind: ClassVar[str] = "list"
    values: list[str]
    separator: str  # of items in text

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits, separator: str = ";") -> tuple[Items, int]:
        lists = item_lists(values, separator)
        kept, folded, _ = frequent(lists.vocabulary.tolist(), _cells_with(lists, counts), limits)
        return cls(kept, separator), folded

    @property
    def names(self) -> list[str]:
        return self.values

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        return _encoded(item_lists(values, self.separator), self.values)


@dataclass(frozen=True)
class Words:
    """A feature for each word that enough texts have, and not most of them."""

    kind: ClassVar[str] = "text"
    values: list[str]

    @classmethod
    def learn(cls, values: Values, counts: NDArray[Any], limits: Limits) -> tuple[Words, int]:
        lists = word_lists(values)
        found, total = _cells_with(lists, counts), int(counts.sum())
        common = found > _MOST_COMMON * total if total >= _FEW else np.zeros(len(found), dtype=bool)
        kept, folded, _ = frequent(lists.vocabulary[~common].tolist(), found[~common], limits)
        return cls(kept), folded + int(common.sum())

    @property
    def names(self) -> list[str]:
        return self.values

    def encode(self, values: Values) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        return _encoded(word_lists(values), self.values)


class WordLists(Lists):
    """Words of texts, which are not to be taken apart again."""


def word_lists(values: Values) -> WordLists:
    """Words of each value; those of :class:`WordLists` are known."""
    if isinstance(values, WordLists):
        return values
    texts, coder = texts_of(values, Words.kind), Coder()
    lengths, codes = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for start in range(0, len(texts), _AT_ONCE):
        found, indptr = words(texts[start : start + _AT_ONCE])
        codes.append(coder.codes(found))
        lengths.append(np.diff(indptr))
    return WordLists(np.cumsum(np.concatenate(lengths)), np.concatenate(codes), text_array(list(coder)))


def item_lists(values: Values, separator: str) -> Lists:
    """Items of each value; those of lists are known."""
    if isinstance(values, Lists):
        return values
    return Lists.of([split(text, separator) for text in texts_of(values, Items.kind)])


def _cells_with(lists: Lists, counts: NDArray[Any]) -> NDArray[np.int64]:
    """How many cells have each text of the vocabulary, which must be distinct."""
    return np.asarray(indicator(lists, lists.vocabulary.tolist()).T @ counts.astype(np.float64)).astype(np.int64)


def _encoded(lists: Lists, vocabulary: list[str]) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    matrix = indicator(lists, vocabulary)
    return matrix, (np.diff(matrix.indptr) > 0) | (np.diff(lists.indptr) == 0)
