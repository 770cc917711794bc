"""What a column holds, by looking at it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.features.base import Limits
from hopscale.features.cells import (
    BOOLEANS,
    ENOUGH,
    NumberFormat,
    are_missing_texts,
    date_format,
    number_format,
    separator_of,
    vector_in,
    words,
)
from hopscale.features.table import Column

__all__ = ["Guess", "as_numbers", "guess_kind", "is_id_name", "vector_groups", "without_missing_texts"]

_SAMPLE = 20_000  # distinct texts to look at; of more a part is taken that does not depend on their order
_FEW_WHOLE = 10  # different whole numbers, or fewer, are categories
_TEXT_WORDS = 3.0  # words a text has on average, or it is a name
_SHARED = 0.05  # of the cells must have a value that others have, too
_WIDE = 8  # columns that are numbered, or more, are a vector

_ID = re.compile(r"(.*[^a-z])?(id|uid|uuid|guid|key|index|row|rownames?|unnamed)", re.IGNORECASE)
_CODE = re.compile(r".*(zip|postcode|postal|plz|code|phone|fips|isbn)", re.IGNORECASE)
_NUMBERED = re.compile(r"(.*?)[ _.\-\[(]?(\d+)[\])]?")
_COUNTRY = re.compile("[A-Z]{2}")


@dataclass(frozen=True)
class Guess:
    """A kind, and why; ``option`` is the separator of a list."""

    kind: str
    why: str
    option: str | None = None


def is_id_name(name: str) -> bool:
    """Whether a column of this name holds ids of something.

    >>> is_id_name("user_id"), is_id_name("userId"), is_id_name("period")
    (True, True, False)
    """
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return _ID.fullmatch(re.sub(r"[\s\d_.:-]+$", "", plain)) is not None


def without_missing_texts(column: Column) -> tuple[Column, list[str]]:
    """The column with missing cells where a text says so, such as "n/a", and these texts.

    "NA" among codes of two letters is Namibia.
    """
    if column.form != "text":
        return column, []
    texts, counts = np.asarray(column.values), column.counts()
    missing = are_missing_texts(texts.tolist())
    others = counts[~missing].sum()
    if "NA" in texts[missing].tolist() and others:
        codes = sum(n for text, n in zip(texts[~missing], counts[~missing], strict=True) if _COUNTRY.fullmatch(text))
        if codes >= ENOUGH * others:
            missing &= texts != "NA"
    if not missing.any():
        return column, []
    code = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1)
    found = [text for text, n in zip(texts[missing].tolist(), counts[missing], strict=True) if n]
    return Column(code[column.codes].astype(np.int32), texts[~missing]), found


def guess_kind(name: str, column: Column, limits: Limits) -> Guess:
    """What a column holds; texts for missing cells must have been taken out."""
    counts = column.counts()
    seen, rows = int(np.count_nonzero(counts)), len(column)
    if not seen:
        return Guess("drop", "every cell is missing" if rows else "the table has no rows")
    if column.form == "list":
        return Guess("list", "cells are lists")
    if column.form == "vector":
        return Guess("vector", f"cells are vectors of {np.asarray(column.values).shape[1]} numbers")
    if seen == 1 and counts.sum() == rows:
        return Guess("drop", f"every cell is {column.value(int(np.argmax(counts)))!s:.40}")
    if column.form == "boolean":
        return Guess("boolean", "cells are true or false")
    if column.form == "date":
        return Guess("date", "cells are dates")
    if column.form == "number":
        return _of_numbers(name, np.asarray(column.values)[counts > 0], counts[counts > 0], "numbers")
    return _of_texts(name, np.asarray(column.values)[counts > 0], counts[counts > 0], limits)


def vector_groups(columns: dict[str, Column]) -> dict[str, list[str]]:
    """Names of columns that are the dimensions of one vector, such as emb_0 to emb_383, by what they share."""
    numbered: dict[str, dict[int, str]] = {}
    for name, column in columns.items():
        found = _NUMBERED.fullmatch(name)
        if found and len(found[2]) < 10 and column.form in ("number", "text"):
            numbered.setdefault(found[1], {})[int(found[2])] = name
    groups = {}
    for prefix, named in numbered.items():
        if len(named) < _WIDE:
            continue
        numbers = {at: np.asarray(as_numbers(columns[name]).values, dtype=np.float64) for at, name in named.items()}
        members = sorted(at for at, part in numbers.items() if not np.isnan(part).any())
        if len(members) < _WIDE or members[0] > 1 or members != list(range(members[0], members[0] + len(members))):
            continue
        if any((numbers[at] != np.floor(numbers[at])).any() for at in members):  # whole numbers are answers, or counts
            span = f"{prefix or 'vector'}{members[0]}..{members[-1]}"
            groups[prefix if prefix and prefix not in columns else span] = [named[at] for at in members]
    return groups


def as_numbers(column: Column) -> Column:
    """A column of numbers, or of text that is plain numbers; NaN for other text that does not say that it is missing.

    >>> as_numbers(Column(np.array([0, 1, 2]), np.array(["0.5", "n/a", "007"], dtype=object))).cells()
    array([0.5, nan, nan])
    """
    known, _ = without_missing_texts(column)
    if known.form != "text":
        return known
    texts = np.asarray(known.values).tolist()
    has_zeros = np.array([text[:1] == "0" and text[1:2].isdigit() for text in texts], dtype=bool)  # codes
    return Column(known.codes, np.where(has_zeros, np.nan, NumberFormat().parse(texts)))


def _of_numbers(name: str, values: NDArray[Any], counts: NDArray[Any], why: str, share: float = 1.0) -> Guess:
    """``values`` are that share of those there are."""
    numbers = values[np.isfinite(values)]
    whole = bool((numbers == np.floor(numbers)).all())
    if len(numbers) and whole:
        if set(numbers.tolist()) <= {0, 1}:
            return Guess("boolean", "numbers 0 and 1")
        if _CODE.fullmatch(name):
            return Guess("category", "whole numbers that are codes by their name")
        if len(numbers) <= _FEW_WHOLE and len(numbers) <= counts.sum() / 2:
            return Guess("category", f"{len(numbers)} different whole numbers")
        if counts.max() == 1 and len(numbers) > _FEW_WHOLE:
            if is_id_name(name):
                return Guess("drop", "an id by its name: whole numbers, all different")
            if numbers.max() - numbers.min() < 1.5 * len(numbers) / share:
                return Guess("drop", "whole numbers that count the rows")
    return Guess("number", why)


def _of_texts(name: str, values: NDArray[Any], counts: NDArray[Any], limits: Limits) -> Guess:
    every = np.array(_sampled(values.tolist()))
    texts, cells = values[every].tolist(), counts[every]
    total = cells.sum()
    if {text.casefold() for text in texts} <= set(BOOLEANS) and len({BOOLEANS[text.casefold()] for text in texts}) == 2:
        return Guess("boolean", f"cells are {' or '.join(sorted(texts)[:2])}")
    first = sorted(texts)[:100]
    vectors = [numbers for text in first if (numbers := vector_in(text))]
    has_decimals = any(number % 1 for numbers in vectors for number in numbers)
    if has_decimals and len(vectors) >= ENOUGH * len(first) and len(set(map(len, vectors))) == 1:
        return Guess("vector", f"cells are vectors of {len(vectors[0])} numbers as text")
    plain = number_format(texts, cells)
    # Numbers are days if they are written as 20240131 is.
    may_be_days = plain is None or cells[[len(text) == 8 for text in texts]].sum() >= ENOUGH * total
    days = date_format(texts, cells) if may_be_days else None
    if days is not None and (plain is None or days.order == "compact"):
        read = cells[~np.isnat(days.parse(texts))].sum()
        return Guess("date", _told("dates", days.words, total - read, texts, ~np.isnat(days.parse(texts))))
    if plain is not None:
        parsed = plain.parse(texts)
        read = np.isfinite(parsed)
        distinct, at = np.unique(parsed[read], return_inverse=True)
        repeats = np.bincount(at, weights=cells[read])
        why = _told("numbers", plain.words, total - cells[read].sum(), texts, read)
        return _of_numbers(name, distinct, repeats, why, len(texts) / len(values))
    separator = separator_of(texts, cells)
    if separator is not None:
        signs = "in brackets" if separator == "[]" else f'separated by "{separator}"'
        return Guess("list", f"items {signs}", separator)
    lengths = np.diff(words(texts)[1])
    alone = cells[cells < limits.min_count].sum()
    if (lengths * cells).sum() / total >= _TEXT_WORDS and len(texts) >= 0.3 * total:
        return Guess("text", f"{(lengths * cells).sum() / total:.0f} words a cell, seldom the same")
    if total - alone < _SHARED * total or (is_id_name(name) and alone >= ENOUGH * total):
        every_one = "all" if alone == total else "nearly all"
        return Guess("drop", f"names or ids: {every_one} {len(values):,} values are different")
    return Guess("category", f"{len(values):,} different values")


def _told(what: str, how: str, unread: float, texts: Iterable[str], read: NDArray[np.bool_]) -> str:
    odd = min((text for text, fits in zip(texts, read, strict=True) if not fits), default="")
    left = f"{int(unread)} cell(s) are none, such as {odd!s:.20}" if unread else ""
    return ", ".join(part for part in (f"text that is {what}", how, left) if part)


def _sampled(texts: list[str]) -> list[int]:
    """Rows of all texts, or of about as many as are worth looking at."""
    share = len(texts) // _SAMPLE
    if share < 2:
        return list(range(len(texts)))
    try:
        encoded = list(map(str.encode, texts))
    except UnicodeEncodeError:  # half characters
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    hashes = np.fromiter(map(zlib.crc32, encoded), dtype=np.int64, count=len(encoded))
    return np.flatnonzero(hashes % share == 0).tolist() or list(range(len(texts)))
