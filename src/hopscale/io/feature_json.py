"""Features as JSON, the format of the paper's authors: one object with the features of every node."""

from __future__ import annotations

import json
import os
import re
import sys
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from hopscale._core import _native
from hopscale.exceptions import FileFormatError, in_short
from hopscale.io.assemble import FeatureEntries
from hopscale.io.content import as_text
from hopscale.io.naming import Names
from hopscale.names import name_array

__all__ = ["read_feature_json", "refuse_json_table"]

# An array of objects or arrays, or one of them a line.
_TABLE = re.compile(rb"""\s*(?:\[\s*[\[{]|(?:\{\s*"[^\n]*\}|\[\s*"[^\n]*\])\s*\n\s*[\[{])""")


def read_feature_json(data: bytes, path: str | os.PathLike[str]) -> FeatureEntries:
    """Feature entries of ``{"0": [1, 5], ...}`` or ``{"0": {"tea": 2.5}, ...}``, with names as text.

    A feature that a list repeats counts once, as in the authors' files, some of which do so. A node with
    ``null`` has no features. Blanks around the name of a node are left out, as in files of edges.
    ``path`` is for errors.

    Examples
    --------
    >>> entries = read_feature_json(b'{"7": [3, 1, 3], "8": []}', "features.json")
    >>> entries.rows.tolist(), entries.features.vocabulary.tolist(), entries.listed.vocabulary.tolist()
    ([0, 0, 0], [3, 1], ['7', '8'])
    """
    entries = _at_once(data)
    if entries is not None:
        return entries
    by_node = _parse(as_text(data, path), path)
    if not isinstance(by_node, dict):
        raise FileFormatError(
            f'{path}: expected one object such as {{"0": [1, 5]}}, with the features of every node, '
            f"but the file holds a {type(by_node).__name__}"
        )
    by_node = _without_blanks(by_node, path)
    described = [_described(own, f"{path}, node {in_short(node)}") for node, own in by_node.items()]
    values = np.array([value for own in described for value in own.values()], dtype=np.float64)
    rows = np.repeat(np.arange(len(described)), np.fromiter(map(len, described), dtype=np.int64))
    return FeatureEntries(Names.of(by_node), rows, Names.of(chain.from_iterable(described)), values)


def refuse_json_table(data: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse tables in JSON, with a row in each object or array, which are not read."""
    if _TABLE.match(data):
        raise FileFormatError(
            f"{path} is a table in JSON, which is not read: write it as CSV or Parquet, as by pandas.read_json(...), "
            "with lines=True if it has a row a line, and to_parquet(...)"
        )


def _at_once(data: bytes) -> FeatureEntries | None:
    """Features of lists of text, of lists of whole numbers or of objects; None for all else, and for what is wrong."""
    coded = _native.encode_features(data)
    if coded is None or not len(coded[2]):
        return None
    nodes, counts, codes, features, is_number, value_codes, values = coded
    try:
        listed, names = _distinct(nodes, str), _distinct(features, int if is_number else str)
        amounts = np.array(_distinct(values, int, float) if len(value_codes) else [], dtype=np.float64)
    except (ValueError, OverflowError, RecursionError):
        return None
    if not (np.isfinite(amounts) & (amounts >= 0)).all() or list(map(str.strip, listed)) != list(listed):
        return None
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    named = Names(codes, name_array(names), is_ordered=not is_number)
    return FeatureEntries(Names.of(listed), rows, named, amounts[value_codes] if len(value_codes) else None)


def _distinct(found: bytes, *kinds: type) -> dict[Any, None] | list[Any]:
    """What the kernel has found, parsed as JSON: names without repeats, or numbers, which may have them (1 and 1.0)."""
    sign = '"' if str in kinds else ""
    cells = json.loads(f"[{sign}{found.decode()}{sign}]".replace("\n", f"{sign},{sign}"), parse_constant=_no_constant)
    distinct = dict.fromkeys(cells)
    is_right = set(map(type, cells)) <= set(kinds) and len(cells) == found.count(b"\n") + 1
    if not is_right or (len(distinct) < len(cells) and float not in kinds):
        raise ValueError("left to the parser of the whole file")
    return cells if float in kinds else distinct


def _parse(text: str, path: str | os.PathLike[str]) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        why = "the file ends too early: it is cut short" if cut else error.msg
        raise FileFormatError(f"{path}, line {error.lineno}, column {error.colno}: {why}") from error
    except RecursionError as error:
        raise FileFormatError(f"{path}: nested too deeply to be features by node") from error
    except ValueError as error:  # from below, or a number with too many digits
        raise FileFormatError(f"{path}: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON parsers let the last of two equal keys win without a word; here that is a mistake."""
    keyed = dict(pairs)
    if len(keyed) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {in_short(twice)} occurs twice in one object")
    return keyed


def _without_blanks(by_node: dict[str, Any], path: str | os.PathLike[str]) -> dict[str, Any]:
    """Features by the names of nodes without blanks around them, by which edges in files know them."""
    stripped = {node.strip(): own for node, own in by_node.items()}
    if len(stripped) < len(by_node):
        seen: set[str] = set()
        twice = next(key for key in map(str.strip, by_node) if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise FileFormatError(f"{path}: node {in_short(twice)} occurs twice, with and without blanks around its name")
    return stripped


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a value a feature can have")


def _described(described: Any, where: str) -> dict[str, float]:
    """Features of one node with their values; null means none."""
    if described is None:
        return {}
    if isinstance(described, list):
        for feature in described:
            if isinstance(feature, bool) or not isinstance(feature, (str, int)):
                raise FileFormatError(f"{where}: {in_short(feature)} is not a feature; expected a number or a text")
        return dict.fromkeys(map(str, described), 1.0)
    if not isinstance(described, dict):
        raise FileFormatError(f"{where}: expected a list of features or an object of values, not {in_short(described)}")
    for feature, value in described.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= sys.float_info.max:
            raise FileFormatError(
                f"{where}, feature {in_short(feature)}: the value is {in_short(value)}, but must be a finite number, "
                "not negative"
            )
    return described
