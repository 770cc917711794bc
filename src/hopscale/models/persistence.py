"""Fitted models as files: safetensors with what a model needs to answer again, and no code.

Tensors ``embedding``, ``feature_embedding``, ``node_ids``, ``feature_names`` and, of models with scales,
``feature_probability`` and, from the direct solver, ``singular_values``. Names are int64, or else the UTF-8
bytes of a JSON list in which tuples are lists. Everything else is text in the metadata.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, fields
from importlib.metadata import version
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import FileFormatError, ParameterError
from hopscale.graph import name_array
from hopscale.io.atomic import replacing
from hopscale.io.content import existing
from hopscale.models.base import NodeEmbedding
from hopscale.models.blocks import BlockEmbedding
from hopscale.models.registry import MODELS
from hopscale.models.scales import MAX_WINDOW, ScaleEmbedding
from hopscale.pairs import Scale
from hopscale.solvers import PMISolver, SGNSSolver

__all__ = ["load_model", "save_model"]

FORMAT = "hopscale.model"
FORMAT_VERSION = 1

_SOLVERS: dict[str, type[PMISolver] | type[SGNSSolver]] = {"pmi": PMISolver, "sgns": SGNSSolver}

_DTYPES = {
    "embedding": "F32",
    "feature_embedding": "F32",
    "feature_probability": "F64",
    "singular_values": "F64",
}


def save_model(model: NodeEmbedding, path: str | os.PathLike[str]) -> None:
    """Save a fitted model.

    The file appears whole or not at all; one that was there before is replaced.

    Parameters
    ----------
    model : NodeEmbedding
        Fitted. Its node ids and feature names must be text, numbers, booleans or tuples of these. A
        ``random_state`` that is not a whole number is saved as None.
    path : path-like
        By custom with the suffix ``.safetensors``.

    Raises
    ------
    ParameterError
        If the model or a name cannot be saved. Nothing is written then.
    OSError
        If the file cannot be written.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from hopscale import MUSAE, datasets, load_model
    >>> model = MUSAE(dimensions=8).fit(datasets.figure1())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/figure1.safetensors")
    ...     again = load_model(f"{folder}/figure1.safetensors")
    >>> again.neighbors("D", k=1) == model.neighbors("D", k=1)
    True
    """
    if type(model) is not MODELS.get(type(model).__name__):
        raise ParameterError(f"cannot save a {type(model).__name__}: models are {', '.join(MODELS)}")
    check_is_fitted(model)
    tensors: dict[str, NDArray[Any]] = {
        "embedding": model.embedding_,
        "feature_embedding": model.feature_embedding_,
        "node_ids": _encoded_names(model.node_ids_, "node id"),
        "feature_names": _encoded_names(model.feature_names_, "feature name"),
    }
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "hopscale_version": version("hopscale"),
        "model": type(model).__name__,
        "parameters": json.dumps({name: _plain(name, value) for name, value in model.get_params().items()}),
        "rows": json.dumps(model.rows_),
    }
    if isinstance(model, ScaleEmbedding):
        tensors["feature_probability"] = model.feature_probability_
        if model.singular_values_ is not None:
            tensors["singular_values"] = model.singular_values_
        scales = zip(model.scales_, model.sampled_, strict=True)
        metadata["scales"] = json.dumps([{**asdict(scale), "sampled": sampled} for scale, sampled in scales])
        metadata["solver"] = json.dumps({"name": _solver_name(model.solver_), **asdict(model.solver_)})
    else:
        metadata["blocks"] = json.dumps(model._widths())
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
        except SafetensorError as error:
            raise OSError(f"cannot write {os.fspath(path)!r}: {error}") from error


def load_model(path: str | os.PathLike[str]) -> NodeEmbedding:
    """Load a model that :func:`save_model` has written.

    Nothing in the file is executed, and everything is checked before a model is made from it.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    NodeEmbedding
        Answers as the saved model did, to the bit.

    Raises
    ------
    FileFormatError
        If the file is not a complete model, or was written by a later version that this one cannot
        read. A file that is not there raises a ``FileNotFoundError`` of the same family.
    """
    if Path(path).is_dir():
        raise FileFormatError(f"{os.fspath(path)} is a folder, not a model file")
    return _Reader(existing(path)).model()


class _Reader:
    """One file, read with suspicion."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def model(self) -> NodeEmbedding:
        try:
            with safe_open(self.path, framework="numpy") as file:
                metadata = self._checked_metadata(file.metadata() or {})
                model = self._empty_model(metadata)
                model.rows_ = self._rows(metadata)
                if isinstance(model, ScaleEmbedding):
                    model.scales_, model.sampled_ = self._scales(self._with(metadata, "scales", "solver"))
                    model.solver_ = self._solver(metadata)
                elif isinstance(model, BlockEmbedding):
                    model.blocks_ = self._blocks(self._with(metadata, "blocks"))
                self._fill(model, file)
                return model
        except SafetensorError as error:
            raise FileFormatError(
                f"{self.path} is not a complete safetensors file: it is cut short, damaged or something else ({error})"
            ) from error

    def _wrong(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: {what}")

    def _checked_metadata(self, metadata: dict[str, str]) -> dict[str, str]:
        if metadata.get("format") != FORMAT:
            raise self._wrong("a safetensors file, but not a model that hopscale has saved")
        written = metadata.get("format_version", "")
        if not (written.isascii() and written.isdigit()):
            raise self._wrong(f"the format version is {written!r}, not a number")
        if int(written) > FORMAT_VERSION:
            raise self._wrong(
                f"written by hopscale {metadata.get('hopscale_version')} in format {written}, while this version "
                f"({version('hopscale')}) reads formats up to {FORMAT_VERSION}: upgrade hopscale"
            )
        return self._with(metadata, "model", "parameters", "rows")

    def _with(self, metadata: dict[str, str], *names: str) -> dict[str, str]:
        missing = set(names) - set(metadata)
        if missing:
            raise self._wrong(f"the metadata has no {', '.join(sorted(missing))}")
        return metadata

    def _parsed(self, text: str | bytes, what: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._wrong(f"{what} cannot be read as JSON ({error})") from error

    def _empty_model(self, metadata: dict[str, str]) -> NodeEmbedding:
        name = metadata["model"]
        if name not in MODELS:  # a file names its class; only these are ever made from one
            raise self._wrong(f"a model of class {name!r}, but this version knows {', '.join(MODELS)}")
        parameters = self._parsed(metadata["parameters"], "'parameters'")
        known = MODELS[name]().get_params()
        if not isinstance(parameters, dict) or not all(_is_scalar(value) for value in parameters.values()):
            raise self._wrong("'parameters' is not an object of plain values")
        strangers = sorted(set(parameters) - set(known))
        if strangers:
            raise self._wrong(f"{name} has no parameter {', '.join(map(repr, strangers))} in this version")
        return MODELS[name](**parameters)

    def _scales(self, metadata: dict[str, str]) -> tuple[list[Scale], list[bool]]:
        listed = self._parsed(metadata["scales"], "'scales'")
        try:
            scales = [Scale(_hops(entry["hops"]), _count(entry["dimensions"])) for entry in listed]
        except (TypeError, KeyError, ValueError) as error:
            raise self._wrong(f"'scales' does not list hops and dimensions ({error!r})") from error
        labels = {scale.label for scale in scales if scale.hops and scale.dimensions > 0}
        if not scales or len(labels) < len(scales):
            raise self._wrong("'scales' has none, or an empty or repeated one")
        return scales, [entry.get("sampled") is True for entry in listed]

    def _blocks(self, metadata: dict[str, str]) -> dict[str, int]:
        blocks = self._parsed(metadata["blocks"], "'blocks'")
        if not isinstance(blocks, dict) or not blocks or not all(type(d) is int and d > 0 for d in blocks.values()):
            raise self._wrong("'blocks' does not say how many dimensions each block has")
        return blocks

    def _solver(self, metadata: dict[str, str]) -> PMISolver | SGNSSolver:
        values = self._parsed(metadata["solver"], "'solver'")
        kind = _SOLVERS.get(values.pop("name", "")) if isinstance(values, dict) else None
        if kind is None:
            raise self._wrong(f"'solver' does not name one of {', '.join(_SOLVERS)}")
        if set(values) != {field.name for field in fields(kind)} or not all(map(_is_setting, values.values())):
            raise self._wrong(f"'solver' does not hold the settings of {kind.__name__}")
        return kind(**values)

    def _rows(self, metadata: dict[str, str]) -> dict[str, str]:
        rows = self._parsed(metadata["rows"], "'rows'")
        if not isinstance(rows, dict) or not all(isinstance(words, str) for words in rows.values()):
            raise self._wrong("'rows' does not say in words what each scale was learnt from")
        return rows

    def _fill(self, model: NodeEmbedding, file: Any) -> None:
        d = sum(model._widths().values())
        model.node_ids_ = self._names(file, "node_ids")
        model.feature_names_ = self._names(file, "feature_names")
        n, q = len(model.node_ids_), len(model.feature_names_)
        model.embedding_ = self._numbers(file, "embedding", (n, d))
        model.feature_embedding_ = self._numbers(file, "feature_embedding", (q, d))
        if isinstance(model, ScaleEmbedding):
            model.feature_probability_ = self._numbers(file, "feature_probability", (len(model.scales_), q))
            has_values = "singular_values" in file.keys()  # noqa: SIM118 (not a mapping)
            model.singular_values_ = self._numbers(file, "singular_values", (d,)) if has_values else None

    def _numbers(self, file: Any, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
        found = self._tensor_kind(file, name)
        if found != (_DTYPES[name], shape):
            raise self._wrong(
                f"the tensor {name!r} is {found[0]} of shape {found[1]}; expected {_DTYPES[name]} of shape {shape}"
            )
        tensor = np.asarray(file.get_tensor(name))
        if not np.isfinite(tensor).all():
            raise self._wrong(f"the tensor {name!r} has values that are not finite")
        return tensor

    def _names(self, file: Any, name: str) -> NDArray[Any]:
        dtype, shape = self._tensor_kind(file, name)
        if dtype not in ("I64", "U8") or len(shape) != 1:
            raise self._wrong(f"the tensor {name!r} is {dtype} of shape {shape}; expected a row of I64 or of U8")
        tensor = np.asarray(file.get_tensor(name))
        if dtype == "U8":
            listed = self._parsed(tensor.tobytes(), f"the tensor {name!r}")
            if not isinstance(listed, list) or not all(_is_name(entry) for entry in listed):
                raise self._wrong(f"the tensor {name!r} does not hold a list of names")
            tensor = name_array(map(_with_tuples, listed))
        if len(set(tensor.tolist())) < len(tensor):
            raise self._wrong(f"the tensor {name!r} has a name twice")
        return tensor

    def _tensor_kind(self, file: Any, name: str) -> tuple[str, tuple[int, ...]]:
        if name not in file.keys():  # noqa: SIM118 (not a mapping)
            raise self._wrong(f"there is no tensor {name!r}")
        header = file.get_slice(name)
        return header.get_dtype(), tuple(header.get_shape())


def _encoded_names(names: NDArray[Any], what: str) -> NDArray[Any]:
    if names.dtype == np.int64:
        return names
    listed = names.tolist()
    for name in listed:
        if not _is_name(name, sequence=tuple):
            raise ParameterError(
                f"cannot save the {what} {name!r} ({type(name).__name__}): names in a model file are text, finite "
                "numbers, booleans or tuples of these"
            )
    try:
        # ASCII escapes also carry what UTF-8 cannot: half characters from undecodable file names.
        return np.frombuffer(json.dumps(listed).encode("ascii"), dtype=np.uint8)
    except (ValueError, RecursionError) as error:  # thousands of digits, or of tuples in tuples
        raise ParameterError(f"cannot save a {what}: {error}") from error


def _is_name(name: Any, sequence: type[list[Any]] | type[tuple[Any, ...]] = list) -> bool:
    if isinstance(name, sequence):
        return all(_is_name(part, sequence) for part in name)
    return isinstance(name, (str, int)) or (isinstance(name, float) and math.isfinite(name))


def _with_tuples(name: Any) -> Any:
    return tuple(map(_with_tuples, name)) if isinstance(name, list) else name


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (Integral, Real)):
        return int(value) if isinstance(value, Integral) else float(value)
    if name == "random_state":
        return None
    raise ParameterError(f"cannot save {name}={value!r}: expected a number, text, a boolean or None")


def _solver_name(solver: PMISolver | SGNSSolver) -> str:
    return next(name for name, kind in _SOLVERS.items() if type(solver) is kind)


def _is_setting(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (int, float)) and 0 <= value < 2**63)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _count(value: Any, most: int = 2**31 - 1) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is not a count")
    return value


def _hops(values: Any) -> tuple[int, ...]:
    hops = tuple(_count(value, most=MAX_WINDOW) for value in values)
    if any(later <= earlier for earlier, later in pairwise(hops)):
        raise ValueError(f"{list(hops)} does not rise from hop to hop")
    return hops
