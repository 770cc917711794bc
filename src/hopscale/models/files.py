"""Fitted models as files: safetensors with what a model needs to answer again, and no code.

Tensors ``embedding``, ``node_ids``, ``feature_names``, those of the model's family and, if it was kept, those of the
graph; ``encoder`` if features came from a node table, as the bytes of a JSON object. Names are int64, or else the
UTF-8 bytes of a JSON list in which tuples are lists. Everything else is JSON in the metadata.

Files age: settings that a file lacks get the value that they had when it was written (``settings_before``), settings
that this version does not know are an error that names both versions. Files of format 1, where a solver's settings were
the model's, and of format 2, which had no digest, are read, too.

A model gives the same bytes whenever it is saved, and a file that differs from what was written in any byte is refused.
The digest shows damage; it is no signature, and everything is validated whatever it says.
"""

from __future__ import annotations

import json
import math
import os
from importlib.metadata import version
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import as_path
from hopscale.exceptions import FileFormatError, ParameterError, in_short, warn
from hopscale.io.atomic import replacing
from hopscale.io.content import UnreadableFileError, existing
from hopscale.io.name_bytes import encoded_names, restored_names
from hopscale.io.tensors import DIGEST, has_digest, write_tensors
from hopscale.models.base import MODELS, NodeEmbedding, SolverChoice
from hopscale.models.format_1 import from_format_1
from hopscale.models.kept_graph import FEATURE_NAMES, KINDS, graph_tensors, stored_graph
from hopscale.models.stored_encoder import encoder_tensor, stored_encoder
from hopscale.names import repeated_name
from hopscale.solvers import Solver

__all__ = ["ModelFile", "load_model", "save_model"]

FORMAT = "hopscale.model"
FORMAT_VERSION = 3

_ATTEMPTS = 10  # at reading a file that others replace meanwhile
_DTYPES = {"feature_probability": "F64", "singular_values": "F64", **KINDS}  # all others are F32


def save_model(model: NodeEmbedding, path: str | os.PathLike[str]) -> None:
    """Save a fitted model.

    The file appears whole or not at all; one that was there before is replaced.

    Parameters
    ----------
    model : NodeEmbedding
        Fitted. Its node ids and feature names must be text, numbers, booleans or tuples of these. A
        ``random_state`` that is not a whole number is saved as None. Parameters are saved as they were when the
        vectors were learnt, ``parameters_``, except for ``n_jobs`` and ``verbose``; a warning names those that
        have been changed since. The graph is saved, without its labels, if it was kept (``keep_graph=True``);
        ``del model.graph_`` before leaves it out.
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
    name = type(model).__name__
    if MODELS.get(name) is not type(model):
        raise ParameterError(f"cannot save this {name}: another model has that name, and a file knows no more than it")
    check_is_fitted(model)
    learner = model.as_fitted()
    learner.check_parameters()  # or the file could not be read
    if isinstance(learner, SolverChoice):
        for solver in (learner.chosen_solver(), getattr(model, "solver_", None)):
            if solver is not None and type(solver) is not type(learner.solvers[solver.name]()):
                raise ParameterError(f"cannot save a solver of class {type(solver).__name__}", parameter="solver")
    _warn_of_changes(model)
    tensors, facts = model._state()
    if hasattr(model, "graph_"):
        tensors |= graph_tensors(model.graph_)
        tensors[FEATURE_NAMES] = encoded_names(model.graph_.feature_names, "feature name")
    tensors = {
        "embedding": model.embedding_,
        "node_ids": encoded_names(model.node_ids_, "node id"),
        "feature_names": encoded_names(model.feature_names_, "feature name"),
        **encoder_tensor(model.encoder_),
        **tensors,
    }
    facts = {"parameters": learner.get_params(deep=False), **facts}
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "hopscale_version": version("hopscale"),
        "model": name,
        **{fact: json.dumps(_plain(fact, value)) for fact, value in facts.items()},
    }
    with replacing(as_path(path)) as temporary:
        write_tensors(temporary, tensors, metadata)


def _warn_of_changes(model: NodeEmbedding) -> None:
    changed = model.changed_parameters()
    if changed:
        words = ", ".join(f"{name} from {was} to {now}" for name, (was, now) in changed.items())
        warn(
            f"parameters were changed after the fit ({words}): the file has those that the vectors were learnt with. "
            "Fit again to use the new ones"
        )


def load_model(path: str | os.PathLike[str]) -> NodeEmbedding:
    """Load a model that :func:`save_model` has written.

    Nothing in the file is executed, and everything is checked before a model is made from it. A model of a class of
    your own can be loaded once the module that defines it has been imported.

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
    path = existing(path, "a model")
    for _ in range(_ATTEMPTS):
        before = _identity(path)
        try:
            return _loaded(path)
        except FileFormatError:
            if _identity(path) == before:
                raise  # else it was replaced while it was read
    raise FileFormatError(f"{path} is being replaced all the time: load it later")


def _identity(path: Path) -> tuple[int, ...] | None:
    """Tells a file from one that takes its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _loaded(path: Path) -> NodeEmbedding:
    try:
        with safe_open(path, framework="numpy") as tensors:
            return ModelFile(path, tensors).model()
    except FileFormatError:
        raise
    except OSError as error:
        raise UnreadableFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise FileFormatError(
            f"{path} is not a complete safetensors file: it is cut short, damaged or something else ({error})"
        ) from error


class ModelFile:
    """One open file, whose content is validated as it is read."""

    def __init__(self, path: Path, tensors: Any) -> None:
        self._path, self._tensors = path, tensors
        self._metadata: dict[str, str] = tensors.metadata() or {}
        if self._metadata.get("format") != FORMAT:
            raise self.wrong("a safetensors file, but not a model that hopscale has saved")
        written = self._metadata.get("format_version", "")
        if not (written.isascii() and written.isdigit() and len(written) < 10):
            raise self.wrong(f"the format version is {in_short(written)}, not a number")
        if int(written) > FORMAT_VERSION:
            raise self.wrong(
                f"its format is {written}, and this version reads up to {FORMAT_VERSION}: upgrade hopscale"
            )
        # Whatever the version says: that is a single digit, which damage can change as well.
        digest = self._metadata.get(DIGEST, "" if int(written) > 2 else None)
        if digest is not None and not has_digest(path, digest):
            raise self.wrong("the file is damaged: it is not what was saved")
        if int(written) < 2:
            try:
                self._metadata.update(from_format_1(self, self._metadata))
            except (ArithmeticError, AttributeError, KeyError, LookupError, TypeError, ValueError) as error:
                if isinstance(error, FileFormatError):
                    raise
                raise self.wrong(f"it is not a complete file of format 1 ({error!r})") from error

    def model(self) -> NodeEmbedding:
        """The model."""
        name = self._metadata.get("model")
        if name is None:
            raise self.wrong("there is no 'model'")
        if name not in MODELS:  # a file names its class; only classes that are here already are ever made from one
            raise self.wrong(
                f"a model of class {in_short(name)}, which is unknown here: import the module that defines it, or "
                f"update hopscale. Known are {', '.join(MODELS)}"
            )
        model = self._built(MODELS[name], self.fact("parameters"), dict)
        if isinstance(model, SolverChoice) and isinstance(model.solver, dict):
            model.solver = self._solver(model, model.solver)
        try:
            model.check_parameters()
        except ParameterError as error:
            raise self.wrong(str(error)) from error
        model.parameters_ = model.parameters_now()
        model.node_ids_ = self.names("node_ids")
        if not len(model.node_ids_):
            raise self.wrong("it has no nodes")
        model.feature_names_ = self.names("feature_names")
        d = self._tensor_kind("embedding")[1][-1:]
        model._restore(self.numbers("embedding", (len(model.node_ids_), *d)), self)
        model.encoder_ = stored_encoder(self)
        graph = stored_graph(self, model.node_ids_, model.encoder_)
        if graph is not None:
            model.graph_ = graph
        return model

    def wrong(self, what: str) -> FileFormatError:
        """The error to raise, with the versions that matter."""
        written = self._metadata.get("hopscale_version", "an unknown version")
        return FileFormatError(
            f"{self._path}: {what} (written by hopscale {written[:50]}, this is {version('hopscale')})"
        )

    def fact(self, name: str, missing: Any = None) -> Any:
        """An entry of the metadata; without a value for ``missing``, it must be there."""
        if name not in self._metadata and missing is not None:
            return missing
        if name not in self._metadata:
            raise self.wrong(f"there is no {name!r}")
        return self._parsed(self._metadata[name], repr(name))

    def count(self, name: str) -> int:
        """A whole number of the metadata."""
        value = self.fact(name)
        if type(value) is not int or not 0 <= value < 2**63:
            raise self.wrong(f"{name!r} is not a whole number")
        return value

    def solver(self, model: SolverChoice, window: int) -> Solver:
        """The solver that the model was fitted with, on walks of ``window`` hops."""
        return self._solver(model, self.fact("solver"), window)

    def numbers(self, name: str, shape: tuple[int, ...], *, least: float = -math.inf) -> NDArray[Any]:
        """A tensor of finite numbers of at least ``least``."""
        expected = (_DTYPES.get(name, "F32"), shape)
        found = self._tensor_kind(name)
        if found != expected:
            raise self.wrong(
                f"the tensor {name!r} is {found[0]} of shape {found[1]}; expected {expected[0]} of shape {shape}"
            )
        tensor = np.asarray(self._tensors.get_tensor(name))
        if not np.isfinite(tensor).all():
            raise self.wrong(f"the tensor {name!r} has values that are not finite")
        if tensor.min(initial=0.0) < least:
            raise self.wrong(f"the tensor {name!r} has values below {least:g}")
        return tensor

    def has(self, name: str) -> bool:
        """Whether there is a tensor of that name."""
        return name in self._tensors.keys()  # noqa: SIM118 (not a mapping)

    def names(self, name: str) -> NDArray[Any]:
        """A tensor of distinct names."""
        dtype, shape = self._tensor_kind(name)
        if dtype not in ("I64", "U8") or len(shape) != 1:
            raise self.wrong(f"the tensor {name!r} is {dtype} of shape {shape}; expected a row of I64 or of U8")
        if dtype == "I64":
            tensor = np.asarray(self._tensors.get_tensor(name))
        else:
            try:
                tensor = restored_names(self.document(name))
            except ValueError as error:
                if isinstance(error, FileFormatError):
                    raise
                raise self.wrong(f"the tensor {name!r} cannot be read: {error}") from error
        if repeated_name(tensor, name) is not None:
            raise self.wrong(f"the tensor {name!r} has a name twice")
        return tensor

    def document(self, name: str) -> Any:
        """A tensor of bytes that are JSON."""
        dtype, shape = self._tensor_kind(name)
        if dtype != "U8" or len(shape) != 1:
            raise self.wrong(f"the tensor {name!r} is {dtype} of shape {shape}; expected a row of U8")
        return self._parsed(np.asarray(self._tensors.get_tensor(name)).tobytes(), f"the tensor {name!r}")

    def _solver(self, model: SolverChoice, settings: Any, window: int = 0) -> Solver:
        name = settings.pop("name", None) if isinstance(settings, dict) else None
        if not isinstance(name, str) or name not in model.solvers:
            raise self.wrong(f"its solver is not one of {', '.join(model.solvers)}")
        kind = type(model.solvers[name]())
        solver: Solver = self._built(kind, settings)
        try:
            solver.check(window)
        except ParameterError as error:
            raise self.wrong(f"its solver cannot be: {error}") from error
        return solver

    def _built(self, kind: Any, settings: Any, *structures: type) -> Any:
        """An object with settings from a file, none of them unknown; those that are missing as they were then."""
        plain: tuple[type, ...] = (str, int, float, type(None), *structures)
        if not isinstance(settings, dict) or not all(isinstance(value, plain) for value in settings.values()):
            raise self.wrong("the parameters are not an object of plain values")
        unknown = sorted(set(settings) - set(kind().get_params(deep=False)))
        if unknown:
            raise self.wrong(f"{kind.__name__} has no parameter {', '.join(map(repr, unknown))} in this version")
        before: dict[str, Any] = {}
        for each in reversed(kind.__mro__):
            before |= vars(each).get("settings_before", {})
        return kind(**{**before, **settings})

    def _parsed(self, text: str | bytes, what: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.wrong(f"{what} is not JSON ({error})") from error

    def _tensor_kind(self, name: str) -> tuple[str, tuple[int, ...]]:
        if not self.has(name):
            raise self.wrong(f"there is no tensor {name!r}")
        header = self._tensors.get_slice(name)
        return header.get_dtype(), tuple(header.get_shape())


def _plain(name: str, value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, Solver):
        return {"name": value.name, **_plain(name, value.get_params())}
    if isinstance(value, dict):
        return {key: _plain(key, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(name, each) for each in value]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (Integral, Real)):
        return int(value) if isinstance(value, Integral) else float(value)
    if name == "random_state":
        return None
    raise ParameterError(f"cannot save {in_short(value)}: expected a number, text, a boolean or None", parameter=name)
