"""What the lines of the fuzzer may do with tables of nodes."""

import json

from hopscale import FeatureEncoder
from hopscale.exceptions import HopscaleError
from hopscale.features import binned, signed
from hopscale.features.state import encoder_state, restored_encoder


class UnsoundFeaturesError(Exception):
    """Features are negative, or an encoder that was written down makes others."""


def encoded(table, other=None, columns=None, **settings):
    """Features of a table, and of another by the same encoder and by one from its JSON."""
    encoder = FeatureEncoder(columns, **settings)
    found = encoder.fit_transform(table)
    if (found.data <= 0).any() or (encoder.transform(table) != found).nnz:
        raise UnsoundFeaturesError("features are not positive, or others the second time")
    if len(set(encoder.get_feature_names_out())) != found.shape[1]:
        raise UnsoundFeaturesError("two features have one name")
    str(encoder)
    again = restored_encoder(json.loads(json.dumps(encoder_state(encoder))))
    if other is not None:
        one, two = encoder.transform(other), again.transform(other)
        if (one != two).nnz or (one.data <= 0).any():
            raise UnsoundFeaturesError("features of another table are not positive, or others after loading")
    return found


def restored(data):
    """The encoder of some JSON."""
    try:
        return restored_encoder(json.loads(data)).get_feature_names_out()
    except (ValueError, RecursionError) as error:
        raise HopscaleError(str(error)) from error


def dense(how, matrix, **settings):
    """Features of dense numbers."""
    found, names = (signed if how == "signed" else binned)(matrix, **settings)
    if (found.data <= 0).any() or len(names) != found.shape[1]:
        raise UnsoundFeaturesError("features are not positive, or have no names")
    return found


def state_bytes():
    """JSON of an encoder with every kind."""
    table = {
        "c": ["FR", "DE", "FR", None] * 4,
        "b": [True, False] * 8,
        "l": ["a;b", "b", "a", ""] * 4,
        "n": ["1,5", "2,5", "3,25", "4"] * 4,
        "s": [0.5, 1.5, 2.5, 3.5] * 4,
        "d": ["2019-05-01", "2020-05-02", "2021-01-03", "2022-01-01"] * 4,
        "t": ["one two three four", "two three four five", "five six one two", "six one three"] * 4,
        "v": [[0.5, -1.0], [1.5, 2.0]] * 8,
        "id": list(range(16)),
    }
    kinds = {"s": "spline", "v": "binned", "id": "id"}
    return json.dumps(encoder_state(FeatureEncoder(kinds).fit(table))).encode()
