"""Which columns of a table of edges hold the two nodes, by their names and their first cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from hopscale.exceptions import Setting, warn
from hopscale.features.cells import number_format
from hopscale.io.columns import is_amount_name, is_number, is_whole, pair_of_nodes, pairs_of_nodes, words_of

__all__ = ["Ends", "choose_ends", "weight_to_suggest"]

_MOST_COLUMNS = 20  # of which any two are compared
_COUNTED = 10  # cells that must count up for a column to number the rows, whatever its name

_TIME_WORDS = """
    time times timestamp ts datetime date dates day days month months year years hour hours minute minutes week weeks
    quarter created updated modified since until when at datum fecha hora heure jahr zeit
"""
_NUMBER_WORDS = "row rows line no nr num number index idx seq sequence serial record lfd zeile unnamed"
_ID_WORDS = "id ids key code uuid no nr number zip postcode phone lat lon latitude longitude"
_AMOUNT_WORDS = """
    count counts amount amt price cost sum total qty quantity volume betrag summe menge importe monto cantidad montant
    valor rating ratings stars duration votes bytes
"""
_TIMES, _ROW_NUMBERS = frozenset(_TIME_WORDS.split()), frozenset(_NUMBER_WORDS.split())
_IDS, _AMOUNTS = frozenset(_ID_WORDS.split()), frozenset(_AMOUNT_WORDS.split())
_DATE = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T].*)?|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4}( .*)?")
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?")


@dataclass(frozen=True)
class Ends:
    """Positions of the columns with the two nodes, and why another choice is possible, if it is."""

    at: tuple[int, int]
    doubt: str = ""

    def warn(self, where: str, first: str, second: str) -> None:
        """Warn of a choice that neither names nor cells have settled."""
        if self.doubt:
            message = f"{where}: {first} and {second} are taken for the nodes, {self.doubt}; if others hold them, give "
            warn(message, Setting("source"), " and ", Setting("target"))


def choose_ends(names: Sequence[str], cells: Callable[[int], Sequence[str]], *, has_header: bool = True) -> Ends:
    """Columns with the two nodes: by their names, else the first two that may be nodes.

    Moments, counts, measurements and row numbers are no nodes where other columns may be. ``cells`` gives some cells of
    a column, those of the same row at the same place. Where names do not say, columns that have names of nodes in
    common go before the first two, if these have none.

    Examples
    --------
    >>> rows = [["2024-01-01", "ann", "bob", "7"], ["2024-01-02", "bob", "eve", "2"]]
    >>> choose_ends(["date", "who", "likes", "count"], lambda at: [row[at] for row in rows])
    Ends(at=(1, 2), doubt='')
    """
    every = range(len(names))
    if len(names) == 2:
        return Ends((0, 1))
    seen = {at: list(cells(at)) for at in every}
    unlikely = {at for at in every if (has_header and _is_no_node_name(names[at])) or _are_measures(seen[at])}
    times = {at for at in every if _are_seconds(seen[at])}
    known = pair_of_nodes(names, unlikely=unlikely, perhaps_times=times) if has_header else None
    likely = [at for at in every if at not in unlikely]
    if known and (unlikely.isdisjoint(known) or len(likely) < 2):
        return Ends(known)
    numbering = [at for at in likely if _number_rows(names[at] if has_header else "", at, seen, likely)]
    likely = [at for at in likely if at not in numbering]
    if len(likely) < 2:
        has_index = has_header and not names[0]
        return Ends(known or (int(has_index), int(has_index) + 1))
    first = likely[0], likely[1]
    other = _pair_in_common(first, likely, seen)
    if other is not None:
        return Ends(other, "as they have names in common, and the first two have not")
    return Ends(first, "as no names of columns say which hold them" if has_header and len(likely) > 2 else "")


def weight_to_suggest(
    names: Sequence[str], passed_over: Sequence[int], cells: Callable[[int], Sequence[str]]
) -> int | None:
    """A column of numbers that may be weights: no ids, moments, row numbers or nodes, and amounts by name first.

    Examples
    --------
    >>> rows = [["1", "ann", "bob", "2024", "9"], ["2", "bob", "eve", "2025", "2"]]
    >>> weight_to_suggest(["id", "from", "to", "year", "flights"], [0, 3, 4], lambda at: [row[at] for row in rows])
    4
    """
    nodes = {at for pair in pairs_of_nodes(names) for at in pair}
    found = []
    for at in passed_over:
        words, written = words_of(names[at]), list(cells(at))
        numbers = [cell for cell in written if is_number(cell)]
        if number_format(written, np.ones(len(written))) is not None:
            numbers = written
        is_other = bool(_IDS.intersection(words[-1:])) or bool((_TIMES | _ROW_NUMBERS).intersection(words))
        if names[at] and numbers and at not in nodes and not is_other and not _are_moments(numbers):
            found.append((_AMOUNTS.isdisjoint(words), at))
    return min(found)[1] if found else None


def _is_no_node_name(name: str) -> bool:
    """Whether a column of this name holds moments or amounts; the id of a day is an id."""
    words = words_of(name)
    if words[-1:] == ["id"]:
        return False
    return not name or is_amount_name(name) or not _TIMES.isdisjoint(words) or not _AMOUNTS.isdisjoint(words[-1:])


def _are_measures(cells: Sequence[str]) -> bool:
    """Whether cells are dates, times of the day, or numbers of which some are not whole."""
    if _are_moments(cells):
        return True
    return _are_numbers(cells) and any(not float(cell).is_integer() for cell in cells)


def _are_moments(cells: Sequence[str]) -> bool:
    return bool(cells) and all(_DATE.fullmatch(cell) or _CLOCK.fullmatch(cell) for cell in cells)


def _are_seconds(cells: Sequence[str]) -> bool:
    """Whether cells may be seconds or milliseconds of the years 2000 to 2035; ids may be such numbers, too."""
    numbers = [int(cell) if is_whole(cell) else -1 for cell in cells]
    spans = ((946_684_800, 2_051_222_400), (946_684_800_000, 2_051_222_400_000))
    return bool(numbers) and any(all(low <= number < high for number in numbers) for low, high in spans)


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(is_number, cells))


def _number_rows(name: str, at: int, seen: dict[int, list[str]], likely: Sequence[int]) -> bool:
    """Whether a column counts the rows; by its cells alone only if no other column has its numbers, and two have text.

    The first column of a path or a tree counts up as well.
    """
    cells = seen[at]
    if not cells or not all(map(is_whole, cells)):
        return False
    if any(int(after) - int(before) != 1 for before, after in pairwise(cells)):
        return False
    words = words_of(name)
    if words and (words[0] in _ROW_NUMBERS or words[-1] in {"row", "index", "idx"}):
        return True
    others = [other for other in likely if other != at]
    with_text = [other for other in others if not _are_numbers(seen[other])]
    is_shared = any(not set(cells).isdisjoint(seen[other]) for other in others)
    return len(cells) >= _COUNTED and len(with_text) >= 2 and not is_shared


def _pair_in_common(
    first: tuple[int, int], likely: Sequence[int], seen: dict[int, list[str]]
) -> tuple[int, int] | None:
    """Another pair of columns that has values in common, if the first has none and does not tell more rows apart."""
    values = {at: set(seen[at]) for at in likely[:_MOST_COLUMNS]}
    if values[first[0]] & values[first[1]]:
        return None
    distinct = min(len(values[at]) for at in first)
    has_text = not all(_are_numbers(seen[at]) for at in first)
    best: tuple[int, tuple[int, int] | None] = (0, None)
    for pair in combinations(values, 2):
        if any(len(values[at]) < distinct or (has_text and _are_numbers(seen[at])) for at in pair):
            continue
        common = len(values[pair[0]] & values[pair[1]])
        if common > best[0]:
            best = common, pair
    return best[1]
