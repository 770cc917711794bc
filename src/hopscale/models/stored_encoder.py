"""The encoder of a node table in the file of its model: JSON in a tensor of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError
from hopscale.features import FeatureEncoder
from hopscale.features.state import encoder_state, restored_encoder
from hopscale.io.name_bytes import as_json

__all__ = ["encoder_tensor", "stored_encoder"]

_TENSOR = "encoder"


def encoder_tensor(encoder: FeatureEncoder | None) -> dict[str, NDArray[np.uint8]]:
    """What the file keeps of an encoder, nothing if there is none."""
    if encoder is None:
        return {}
    return {_TENSOR: as_json(encoder_state(encoder))}


def stored_encoder(file: Any) -> FeatureEncoder | None:
    """The encoder in a file (:class:`hopscale.models.files.ModelFile`), validated; None if it has none."""
    if not file.has(_TENSOR):
        return None
    try:
        return restored_encoder(file.document(_TENSOR))
    except FileFormatError:
        raise
    except ValueError as error:
        raise file.wrong(f"its encoder cannot be: {error}") from error
