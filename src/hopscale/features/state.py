"""An encoder as plain values for JSON, and back: everything is validated, nothing is executed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any

from hopscale.checks import checked_fields
from hopscale.exceptions import ParameterError, in_short
from hopscale.features.cells import UNITS
from hopscale.features.custom import Custom, is_transformer
from hopscale.features.encoded import KINDS, UNUSED, EncodedColumn
from hopscale.features.encoder import FeatureEncoder

__all__ = ["encoder_state", "restored_encoder"]

_MOST = 2**53
_LARGEST_STEP = 10**8  # years, months or days from 1970


def encoder_state(encoder: FeatureEncoder) -> dict[str, Any]:
    """What a fitted encoder needs to encode again.

    Examples
    --------
    >>> encoder = FeatureEncoder().fit({"team": ["a", "b", "a", "b"]})
    >>> state = encoder_state(encoder)
    >>> restored_encoder(state).get_feature_names_out().tolist()
    ['team=a', 'team=b']
    """
    for column in encoder.columns_:
        if isinstance(column.encoder, Custom):
            raise ParameterError(
                f"cannot save an encoder with a transformer of scikit-learn for the column {in_short(column.name)}: "
                "give a kind of hopscale's in columns, or encode the table apart from the model"
            )
    settings = encoder.get_params(deep=False)
    kinds = {name: kind for name, kind in (settings["columns"] or {}).items() if not is_transformer(kind)}
    return {
        "settings": {**settings, "columns": kinds},
        "columns": [
            {
                **{each.name: getattr(column, each.name) for each in fields(EncodedColumn)},
                "encoder": None if column.encoder is None else asdict(column.encoder),  # type: ignore[arg-type]
            }
            for column in encoder.columns_
        ],
    }


def restored_encoder(state: Any) -> FeatureEncoder:
    """The encoder of a state; a ValueError says what is wrong with one that no encoder has."""
    _expect(_is_object(state, "settings", "columns"), "it is no object with settings and columns")
    settings, columns = state["settings"], state["columns"]
    _expect(_is_object(settings, *FeatureEncoder().get_params()), "its settings are not those of an encoder")
    kinds = settings["columns"]
    _expect(isinstance(kinds, dict) and all(isinstance(kind, str) for kind in kinds.values()), "its kinds are no words")
    encoder = FeatureEncoder(**{**settings, "columns": kinds or None})
    checked_fields(encoder)
    _expect(isinstance(columns, list), "its columns are no list")
    encoder.columns_ = [_column(column) for column in columns]
    names = [name for column in encoder.columns_ for name in column.names]
    _expect(len(set(names)) == len(names), "two features have one name")
    encoder._set_names()
    return encoder


def _column(state: Any) -> EncodedColumn:
    _expect(_is_object(state, *(each.name for each in fields(EncodedColumn))), "a column is not one of an encoder")
    for name in ("name", "kind", "why", "examples"):
        _expect(isinstance(state[name], str), f"{name} of a column is no text")
    for name in ("n_rows", "n_missing", "n_rare", "n_unread"):
        _expect(_is_whole(state[name]), f"{name} of a column is no number")
    _expect(_are_steps(state["common"]) and all(map(_is_whole, state["common"])), "common are no positions")
    _expect(type(state["missing"]) is bool, "missing is not true or false")
    _expect(_are_texts(state["sources"]) and len(state["sources"]) > 0, "a column has no sources")
    kind, learnt = state["kind"], state["encoder"]
    if learnt is None:
        _expect(
            kind in UNUSED and not state["missing"] and not state["common"],
            f"the column {in_short(state['name'])} has no encoder",
        )
        return EncodedColumn(**state)
    _expect(kind in KINDS, f"a column is of the kind {in_short(kind)}")
    own = {each.name: _CHECKS[kind][each.name] for each in fields(KINDS[kind])}
    _expect(_is_object(learnt, *own), f"an encoder of the kind {kind} has other fields")
    for name, check in own.items():
        _expect(check(learnt[name]), f"{name} of an encoder of the kind {kind} cannot be")
    if kind == "vector":
        binned = learnt["method"] == "binned"
        _expect(len(learnt["edges"]) == (learnt["width"] if binned else 0), "a vector has another number of edges")
    found = EncodedColumn(**{**state, "encoder": KINDS[kind](**learnt)})
    n_features = len(found.encoder.names) + found.missing  # type: ignore[union-attr]
    _expect(all(at < n_features for at in found.common), "common names a feature that is not there")
    return found


def _expect(right: bool, what: str) -> None:
    if not right:
        raise ValueError(what)


def _is_object(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and set(value) == set(names)


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_switch(value: Any) -> bool:
    return type(value) is bool


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(type(text) is str for text in value) and len(set(value)) == len(value)


def _rise(value: Any) -> bool:
    if not isinstance(value, list) or not all(type(x) in (int, float) and math.isfinite(x) for x in value):
        return False
    return all(low < high for low, high in pairwise(value))


def _are_steps(value: Any) -> bool:
    return _rise(value) and all(type(step) is int and abs(step) < _LARGEST_STEP for step in value)


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


_ORDERS = {"ymd", "compact", "named", "dmy", "mdy", "year"}
_NUMBER = {"comma": _one_of("", "thousands", "decimal"), "unit": _one_of("", *UNITS)}
_CHECKS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "category": {"values": _are_texts, "rare": _is_switch},
    "boolean": {"values": lambda value: value in (["no"], ["yes"], ["no", "yes"])},
    "list": {"values": _are_texts, "separator": _one_of(";", "|", ",", "[]")},
    "text": {"values": _are_texts},
    "number": {"edges": _rise, "whole": _is_switch, **_NUMBER},
    "spline": {"knots": lambda value: _rise(value) and len(value) > 0, **_NUMBER},
    "date": {
        "order": lambda value: isinstance(value, str) and set(value.split("+")) <= _ORDERS,
        "step": _one_of("Y", "M", "D"),
        "edges": _are_steps,
        "each": _is_switch,
    },
    "vector": {
        "method": _one_of("signed", "binned"),
        "width": _is_whole,
        "edges": lambda value: isinstance(value, list) and all(map(_rise, value)),
    },
}
