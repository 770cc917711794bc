"""Features as JSON, the format of the paper's authors: one object with the features of every node."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hopscale._core import _native
from hopscale.exceptions import FileFormatError
from hopscale.graph import name_array
from hopscale.io.assemble import FeatureEntries
from hopscale.io.content import as_text
from hopscale.io.naming import Names

__all__ = ["read_feature_json"]

# Features by node, all of them in one column, and their values.
_Read = tuple[Sequence[Any], Names, NDArray[np.float64] | None]


def read_feature_json(data: bytes, path: str | os.PathLike[str]) -> FeatureEntries:
    """Feature entries of ``{"0": [1, 5], ...}`` or ``{"0": {"tea": 2.5}, ...}``, with names as text.

    A feature that a list repeats counts once, as in the authors' files, some of which do so. A node with
    ``null`` has no features. ``path`` is for errors.

    Examples
    --------
    >>> entries = read_feature_json(b'{"7": [3, 1, 3], "8": []}', "features.json")
    >>> entries.rows.tolist(), entries.features.vocabulary.tolist(), entries.listed.vocabulary.tolist()
    ([0, 0, 0], [1, 3], ['7', '8'])
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
    described, features, values = _in_bulk(by_node) or _one_by_one(by_node, path)
    counts = np.fromiter(map(len, described), dtype=np.int64)
    return FeatureEntries(Names.of(by_node), np.repeat(np.arange(len(counts)), counts), features, values)


def _at_once(data: bytes) -> FeatureEntries | None:
    """Features of plain lists, of text or of whole numbers; None for all else."""
    coded = _native.encode_lists(data)
    if coded is None or not len(coded[2]):
        return None
    nodes, counts, codes, features, is_whole = coded
    try:
        listed, texts = nodes.decode().split("\n"), features.decode().split("\n")
    except UnicodeDecodeError:
        return None
    named = Names(codes, name_array(texts), is_ordered=True)
    rows = np.repeat(np.arange(len(counts)), counts)
    return FeatureEntries(Names.of(dict.fromkeys(listed)), rows, named.renamed(int) if is_whole else named)


def _in_bulk(by_node: dict[str, Any]) -> _Read | None:
    """Lists of one kind of names alone, or objects of values alone, are looked at all at once; None for all else."""
    kinds = set(map(type, by_node.values())) - {type(None)}
    if kinds not in ({list}, {dict}):
        return None
    nothing = kinds.pop()()
    described = [nothing if own is None else own for own in by_node.values()]
    try:
        if isinstance(nothing, dict):
            values = list(chain.from_iterable(map(dict.values, described)))
            amounts = np.array(values, dtype=np.float64) if set(map(type, values)) <= {int, float} else np.array([-1])
            right = (np.isfinite(amounts) & (amounts >= 0)).all()
            return (described, Names.of(chain.from_iterable(described)), amounts) if right else None
        kinds = set(map(type, chain.from_iterable(described)))
        if kinds == {int}:
            return described, Names.of(np.fromiter(chain.from_iterable(described), dtype=np.int64)), None
    except OverflowError:
        return None
    return (described, Names.of(chain.from_iterable(described)), None) if kinds == {str} else None


def _one_by_one(by_node: dict[str, Any], path: str | os.PathLike[str]) -> _Read:
    described = [_described(own, f"{path}, node {node!r}") for node, own in by_node.items()]
    values = np.array([value for own in described for value in own.values()], dtype=np.float64)
    return described, Names.of(chain.from_iterable(described)), values


def _parse(text: str, path: str | os.PathLike[str]) -> Any:
    try:
        if text.count("{") > 1:
            # The hook costs much for many small objects. Every pair has a colon: with as many keys as colons, none of
            # them was given twice.
            by_node = json.loads(text, parse_constant=_no_constant)
            inside = list(by_node.values()) if isinstance(by_node, dict) else []
            if set(map(type, inside)) == {dict} and text.count(":") == len(inside) + sum(map(len, inside)):
                return by_node
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
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return keyed


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a value a feature can have")


def _described(described: Any, where: str) -> dict[str, float]:
    """Features of one node with their values; null means none."""
    if described is None:
        return {}
    if isinstance(described, list):
        for feature in described:
            if isinstance(feature, bool) or not isinstance(feature, (str, int)):
                raise FileFormatError(f"{where}: {feature!r} is not a feature; expected a number or a text")
        return dict.fromkeys(map(str, described), 1.0)
    if not isinstance(described, dict):
        raise FileFormatError(f"{where}: expected a list of features or an object of values, not {described!r}")
    for feature, value in described.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise FileFormatError(
                f"{where}, feature {feature!r}: the value is {value!r}, but must be a finite number, not negative"
            )
    return described
