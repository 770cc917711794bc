"""What text in a cell means: nothing, yes or no, a number, a day, a list of items, words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BOOLEANS",
    "ENOUGH",
    "UNITS",
    "DateFormat",
    "NumberFormat",
    "are_missing_texts",
    "date_format",
    "number_format",
    "separator_of",
    "split",
    "vector_in",
    "words",
]

ENOUGH = 0.9  # of the cells must be as a kind wants them; the others count as missing

_MISSING = frozenset(
    ("", "-", "--", ".", "?", "na", "n/a", "#n/a", "n.a.", "nan", "null", "none", "nil", "<na>", "nat", "missing")
) | {"\\n"}

BOOLEANS = {
    **dict.fromkeys(("true", "yes", "y", "t", "on", "1"), True),
    **dict.fromkeys(("false", "no", "n", "f", "off", "0"), False),
}

_CURRENCIES = "$€£¥₹"
UNITS = "%" + _CURRENCIES
_GAPS = re.compile(r"(?<=\d)[ '’\u00a0\u202f](?=\d{3}(?!\d))")  # between thousands
_AMOUNT = re.compile(rf"([-+]?)([{_CURRENCIES}]?) ?([-+]?[\d.,]+(?:[eE][-+]?\d+)?) ?([%{_CURRENCIES}]?)")
_PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+|[-+]?[1-9]\d{0,2}(?:\.\d{3}){2,}")
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_ZERO_BEFORE = re.compile(r"\n0\d")  # in lines

_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp][Mm])?\s*(?:Z|UTC|[-+]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})(?:\2(\d{{1,2}}){_TIME})?")
_COMPACT = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}")
_MONTHS = dict(zip("jan feb mar apr may jun jul aug sep oct nov dec".split(), range(1, 13), strict=True))  # noqa: SIM905
_NAMED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?[ .-]+)?([A-Za-z]{3,9})\.?[ -]+(?:(\d{1,2})(?:st|nd|rd|th)?,? +)?(\d{4})"
)

_BRACKETS = re.compile(r"[\[({].*[\])}]", re.DOTALL)
_OPENING = frozenset("[({")
_BETWEEN = "\x1e"  # stands between texts
_WORD = re.compile(r"\w\w+|[^\W\x00-\x7f]|\x1e")


def are_missing_texts(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each of some texts stands for nothing in files of all sorts.

    >>> are_missing_texts(["N/A", "-", "no"])
    array([ True,  True, False])
    """
    return np.array([len(text) < 8 and text.casefold() in _MISSING for text in texts], dtype=bool)


# Numbers.


@dataclass(frozen=True)
class NumberFormat:
    """How a column writes its numbers: what a comma means, and the sign that may stand with them."""

    comma: str = ""  # "", "thousands" or "decimal"
    unit: str = ""  # "%" with every number, or a currency's sign with some

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Numbers, NaN where a text is none."""
        if not self.comma and not self.unit:
            try:
                numbers = np.array(list(map(float, texts)), dtype=np.float64)
                if "_" not in "\n".join(texts):  # which Python alone allows within numbers
                    return np.where(np.isfinite(numbers), numbers, np.nan)
            except ValueError:
                pass
        return np.array(list(map(self._number, texts)), dtype=np.float64)

    def _number(self, text: str) -> float:
        digits, unit = _taken_apart(text)
        if (unit != self.unit) if "%" in (unit, self.unit) else (unit not in ("", self.unit)):
            return np.nan
        if "," in digits or (self.comma == "decimal" and digits.count(".")):
            if self.comma == "thousands" and _THOUSANDS.fullmatch(digits):
                digits = digits.replace(",", "")
            elif self.comma == "decimal" and _DECIMAL_COMMA.fullmatch(digits):
                digits = digits.replace(".", "").replace(",", ".")
            else:
                return np.nan
        number = float(digits) if _PLAIN.fullmatch(digits) else np.nan
        return number if np.isfinite(number) else np.nan

    @property
    def words(self) -> str:
        """What was understood, if it is not plain."""
        comma = {"thousands": "commas separate thousands", "decimal": "decimal commas"}.get(self.comma, "")
        return ", ".join(part for part in (comma, f"in {self.unit}" if self.unit else "") if part)


def number_format(texts: Sequence[str], counts: NDArray[Any]) -> NumberFormat | None:
    """How most of some texts are numbers, None if they are not, or in more ways than one.

    >>> number_format(["1,200", "3,450.5", "7"], np.ones(3))
    NumberFormat(comma='thousands', unit='')
    >>> number_format(["3,5", "1.200,25"], np.ones(2)).parse(["3,5", "1.200,25"]).tolist()
    [3.5, 1200.25]
    >>> number_format(["007", "012"], np.ones(2)) is None  # codes
    True
    """
    if _are_plain(texts):
        return NumberFormat()
    parts = [_taken_apart(text) for text in texts]
    units = {unit for _, unit in parts if unit}
    commas = [digits for digits, _ in parts if "," in digits or digits.count(".") > 1]
    if len(units) > 1 or any(_LEADING_ZERO.match(digits) for digits, _ in parts):
        return None
    if counts[[digits != "" for digits, _ in parts]].sum() < ENOUGH * counts.sum():
        return None
    comma = ""
    if commas:
        comma = "thousands" if all(map(_THOUSANDS.fullmatch, commas)) else "decimal"
    found = NumberFormat(comma, units.pop() if units else "")
    read = np.isfinite(found.parse(texts))
    return found if read.any() and counts[read].sum() >= ENOUGH * counts.sum() else None


def _are_plain(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers as Python writes them, as nearly all are."""
    lines = "\n" + "\n".join(texts)
    if "_" in lines or _ZERO_BEFORE.search(lines):
        return False
    try:
        return bool(texts) and bool(np.isfinite(list(map(float, texts))).all())
    except ValueError:
        return False


def _taken_apart(text: str) -> tuple[str, str]:
    """Digits of a number with all signs in them, and its unit; no digits if it is none."""
    if text[:1].isalpha():
        return "", ""
    text = text.replace("−", "-")
    found = _AMOUNT.fullmatch(_GAPS.sub("", text))
    if found is None:
        return "", ""
    sign, before, digits, after = found.groups()
    return sign + digits, before or after


# Days.


@dataclass(frozen=True)
class DateFormat:
    """How a column writes its days: the order of year, month and day, or names of months."""

    # ymd, compact, named, dmy, mdy, or "year" where day and month cannot be told apart; "ymd+dmy" where cells differ.
    order: str

    def parse(self, texts: Sequence[str]) -> NDArray[np.datetime64]:
        """Days, NaT where a text is none."""
        parts = np.array([self._parts(text) for text in texts], dtype=np.int64).reshape(-1, 3)
        year, month, day = parts.T
        known = (year > 0) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        months = ((np.where(known, year, 1970) - 1970) * 12 + np.where(known, month, 1) - 1).astype("datetime64[M]")
        days = months.astype("datetime64[D]") + np.where(known, day - 1, 0)
        known &= days.astype("datetime64[M]") == months  # there is no 30 February
        return np.where(known, days, np.datetime64("NaT"))

    def _parts(self, text: str) -> tuple[int, int, int]:
        nothing = (0, 0, 0)
        if "+" in self.order:  # no text is written in two of them
            found_in = (DateFormat(order)._parts(text) for order in self.order.split("+"))
            return next((parts for parts in found_in if parts != nothing), nothing)
        if self.order == "named":
            found = _NAMED.match(text)
            if not found:
                return nothing
            return int(found[4]), _MONTHS.get(found[2][:3].lower(), 0), int(found[1] or found[3] or 1)
        if self.order in ("ymd", "compact"):
            found = (_YEAR_FIRST if self.order == "ymd" else _COMPACT).fullmatch(text)
            if not found:
                return nothing
            year, month, day = (found[1], found[3], found[4]) if self.order == "ymd" else found.groups()
            return int(year), int(month), int(day or 1)
        found = _YEAR_LAST.fullmatch(text)
        if not found:
            return nothing
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if self.order == "year":
            return year, 1, 1
        return (year, second, first) if self.order == "dmy" else (year, first, second)

    @property
    def words(self) -> str:
        """What was understood, if it is not plain."""
        told = {
            "dmy": "day before month",
            "mdy": "month before day",
            "year": "day and month cannot be told apart: the year alone",
        }
        *others, last = self.order.split("+")
        return ", ".join(part for part in ("written in several ways" if others else "", told.get(last, "")) if part)


def date_format(texts: Sequence[str], counts: NDArray[Any]) -> DateFormat | None:
    """How most of some texts are days, None if they are not.

    >>> date_format(["31/12/2020", "01/02/2021"], np.ones(2))
    DateFormat(order='dmy')
    >>> date_format(["03/04/2020", "01/02/2021"], np.ones(2))
    DateFormat(order='year')
    >>> date_format(["31/12/2020", "2021-02-01", "3 May 2020"], np.ones(3))
    DateFormat(order='ymd+named+dmy')
    """
    left = total = counts.sum()
    enough = ENOUGH * total
    for text, count in zip(texts, counts.tolist(), strict=True):
        if not _may_be_day(text):
            left -= count
            if left < enough:
                return None
    if enough and counts[~np.isnat(DateFormat("ymd").parse(texts))].sum() == total:
        return DateFormat("ymd")
    read = {
        order: float(counts[~np.isnat(DateFormat(order).parse(texts))].sum())
        for order in ("ymd", "compact", "named", "dmy", "mdy")
    }
    is_dotted = all("." in text for text in texts if _YEAR_LAST.fullmatch(text))  # 3.4.2020 is written day first
    last = "dmy" if read["dmy"] >= read["mdy"] else "mdy"
    if read["dmy"] == read["mdy"] and not is_dotted:
        last = "year"
    if not enough:
        return None
    best = max(read, key=lambda order: read[order])
    if read[best] >= enough:
        return DateFormat(last if best in ("dmy", "mdy") else best)
    read["year"] = max(read["dmy"], read["mdy"])
    orders = [order for order in ("ymd", "named", last) if read[order]]
    return DateFormat("+".join(orders)) if sum(read[order] for order in orders) >= enough else None


def _may_be_day(text: str) -> bool:
    """Whether a text is written as days are, in any order."""
    found = _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text) or _COMPACT.fullmatch(text) or _NAMED.match(text)
    return found is not None


# Lists, vectors and words.


def separator_of(texts: Sequence[str], counts: NDArray[Any]) -> str | None:
    """What divides the items of cells with several, None if they do not look like lists of items that recur.

    "[]" stands for brackets, as Python and JSON write lists.

    >>> separator_of(["tea;go", "go", "tea;chess", "chess;go"], np.ones(4))
    ';'
    >>> separator_of(["Well, it depends on what you mean", "Yes, and that is all I say"], np.ones(2)) is None
    True
    """
    in_brackets = [at for at, text in enumerate(texts) if text[:1] in _OPENING and _BRACKETS.fullmatch(text)]
    if counts[in_brackets].sum() >= ENOUGH * counts.sum():
        return "[]"
    for separator in ";|,":
        several = [text for text in texts if separator in text.strip(separator + " ")]
        if len(several) < 2 or len(several) < 0.1 * len(texts):
            continue
        items = [item for text in texts for item in split(text, separator)]
        short = len(words(items)[0]) <= 3 * len(items)
        # Of items that mean something most occur again: names of people and sentences do not.
        seen: dict[str, int] = {}
        for item in items:
            seen[item] = seen.get(item, 0) + 1
        recurring = sum(count for count in seen.values() if count > 1)
        if short and recurring >= 0.5 * len(items):
            return separator
    return None


def split(text: str, separator: str) -> list[str]:
    """Items of a cell, without the blanks and quotes around them.

    >>> split("tea; go ;", ";"), split("['tea', 'go']", "[]")
    (['tea', 'go'], ['tea', 'go'])
    """
    if separator == "[]":
        text = text[1:-1] if _BRACKETS.fullmatch(text) else text
        separator = ","
        return [item for part in text.split(separator) if (item := part.strip().strip("'\"").strip())]
    return [item for part in text.split(separator) if (item := part.strip())]


def vector_in(text: str) -> list[float] | None:
    """The numbers of a vector that is written as text, None if it is none.

    >>> vector_in("[0.5, -1, 2]"), vector_in("[tea]")
    ([0.5, -1.0, 2.0], None)
    """
    if not text.startswith("["):
        return None
    try:
        numbers = json.loads(text)
    except (ValueError, RecursionError):
        try:
            return list(map(float, text.strip("[]").split()))  # as NumPy writes it
        except ValueError:
            return None
    if not all(type(number) in (int, float) for number in numbers):
        return None
    try:
        return list(map(float, numbers))
    except OverflowError:
        return None


def words(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Words of texts in lower case, one text after the other, and where those of each begin and end.

    Single ASCII letters are left out.

    >>> words(["I play the Guitar", "", "go!"])
    (['play', 'the', 'guitar', 'go'], array([0, 3, 3, 4]))
    """
    joined = _BETWEEN.join(texts).lower()
    if joined.count(_BETWEEN) >= max(len(texts), 1):
        joined = _BETWEEN.join(text.replace(_BETWEEN, " ") for text in texts).lower()
    found = _WORD.findall(joined)
    ends = np.flatnonzero(np.fromiter(map(_BETWEEN.__eq__, found), dtype=bool, count=len(found)))
    indptr = np.concatenate([[0], ends - np.arange(len(ends)), [len(found) - len(ends)]]).astype(np.int64)
    return [word for word in found if word != _BETWEEN], indptr[: len(texts) + 1]
