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
import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from sklearn.utils.validation import check_is_fitted

from hopscale.atomic import replacing
from hopscale.checks import as_path
from hopscale.exceptions import FileFormatError, ParameterError, in_short, warn
from hopscale.io.content import UnreadableFileError, existing
from hopscale.io.name_bytes import encoded_names
from hopscale.io.tensor_file import VERSION, TensorFile
from hopscale.io.tensors import DIGEST, has_digest, write_tensors
from hopscale.models.base import MODELS, OF_THIS_MACHINE, NodeEmbedding, SolverChoice
from hopscale.models.format_1 import from_format_1
from hopscale.models.kept_graph import FEATURE_NAMES, KINDS, graph_tensors, stored_graph
from hopscale.models.stored_encoder import encoder_tensor, stored_encoder
from hopscale.models.stored_settings import known_model, plain, stored_model, stored_solver
from hopscale.solvers import Solver

__all__ = [
    "READERS",
    "ModelFile",
    "check_known",
    "check_savable",
    "facts_as_json",
    "load_model",
    "model_parts",
    "save_model",
    "write_model",
]

FORMAT = "hopscale.model"
FORMAT_VERSION = 3
IN_BLOCKS = "in_blocks"  # the fact that vectors of nodes are kept elsewhere

_ATTEMPTS = 10  # at reading a file that others replace meanwhile
_DTYPES = {"feature_probability": "F64", "singular_values": "F64", **KINDS}  # all others are F32


def save_model(model: NodeEmbedding, path: str | os.PathLike[str]) -> None:
    """Save a fitted model that learns vectors.

    The file appears whole or not at all; one that was there before is replaced.

    Parameters
    ----------
    model : NodeEmbedding
        Fitted. Its node ids and feature names must be text, numbers, booleans or tuples of these. A
        ``random_state`` that is not a whole number is saved as None. Parameters are saved as they were when the
        vectors were learnt, ``parameters_``, except for ``n_jobs`` and ``verbose``; a warning names those that
        have been changed since. The ``device`` is not saved: other machines may have none. The graph is saved,
        without its labels, if it was kept (``keep_graph=True``); ``del model.graph_`` before leaves it out.
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
    write_model(path, *model_parts(model))


def write_model(path: str | os.PathLike[str], tensors: Mapping[str, NDArray[Any]], words: Mapping[str, str]) -> None:
    """Write the parts of a model of any kind; ``words`` name the model."""
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        VERSION: version("hopscale"),
        **words,
    }
    with replacing(as_path(path)) as temporary:
        write_tensors(temporary, tensors, metadata)


def model_parts(model: NodeEmbedding) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Tensors and metadata that :meth:`ModelFile.model` makes the model from."""
    check_known(model)
    check_is_fitted(model)
    learner = model.as_fitted()
    check_savable(learner, getattr(model, "solver_", None))
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
    kept = {name: value for name, value in learner.get_params(deep=False).items() if name not in OF_THIS_MACHINE}
    facts = {"parameters": kept, **facts}
    if not len(model.node_ids_):
        facts[IN_BLOCKS] = True
    return tensors, {"model": type(model).__name__, **facts_as_json(facts)}


def check_known(model: NodeEmbedding) -> None:
    """Refuse a model that a file could not name."""
    name = type(model).__name__
    if MODELS.get(name) is not type(model):
        raise ParameterError(f"cannot save this {name}: another model has that name, and a file knows no more than it")


def check_savable(model: NodeEmbedding, *solvers: Solver | None) -> None:
    """Refuse parameters that could not be read from a file, and solvers of other classes than the model knows."""
    model.check_parameters()
    if isinstance(model, SolverChoice):
        for solver in (model.chosen_solver(), *solvers):
            if solver is not None and type(solver) is not type(model.solvers[solver.name]()):
                raise ParameterError(f"cannot save a solver of class {type(solver).__name__}", parameter="solver")


def facts_as_json(facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts as metadata have them."""
    return {fact: json.dumps(plain(fact, value)) for fact, value in facts.items()}


def _warn_of_changes(model: NodeEmbedding) -> None:
    changed = model.changed_parameters()
    if changed:
        words = ", ".join(f"{name} from {was} to {now}" for name, (was, now) in changed.items())
        warn(
            f"parameters were changed after the fit ({words}): the file has those that the vectors were learnt with. "
            "Fit again to use the new ones"
        )


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model that its ``save`` has written, one that learns vectors or one that learnt from labels.

    Nothing in the file is executed, and everything is checked before a model is made from it. A model of a class of
    your own can be loaded once the module that defines it has been imported.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    NodeEmbedding, GraphClassifier or GraphRegressor
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


def _loaded(path: Path) -> Any:
    try:
        with safe_open(path, framework="numpy") as tensors:
            file = ModelFile(path, tensors, tensors.metadata() or {})
            file.check()
            return file.content()
    except FileFormatError:
        raise
    except OSError as error:
        raise UnreadableFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise FileFormatError(
            f"{path} is not a complete safetensors file: it is cut short, damaged or something else ({error})"
        ) from error


class ModelFile(TensorFile):
    """The file of a model, or the part of one that is about a model."""

    dtypes = _DTYPES

    def check(self) -> None:
        """Refuse what is no file of a model, is damaged or is too new; make one of format 1 one of today."""
        if self.metadata.get("format") != FORMAT:
            raise self.wrong("a safetensors file, but not a model that hopscale has saved")
        written = self.metadata.get("format_version", "")
        if not (written.isascii() and written.isdigit() and len(written) < 10):
            raise self.wrong(f"the format version is {in_short(written)}, not a number")
        if int(written) > FORMAT_VERSION:
            raise self.wrong(
                f"its format is {written}, and this version reads up to {FORMAT_VERSION}: upgrade hopscale"
            )
        # Whatever the version says: that is a single digit, which damage can change as well.
        digest = self.metadata.get(DIGEST, "" if int(written) > 2 else None)
        if digest is not None and not has_digest(self._path, digest):
            raise self.wrong("the file is damaged: it is not what was saved")
        if int(written) < 2:
            try:
                self.metadata.update(from_format_1(self, self.metadata))
            except (ArithmeticError, AttributeError, KeyError, LookupError, TypeError, ValueError) as error:
                if isinstance(error, FileFormatError):
                    raise
                raise self.wrong(f"it is not a complete file of format 1 ({error!r})") from error

    def content(self) -> Any:
        """The model, of whichever kind."""
        reader = READERS.get(self.metadata.get("model", ""))
        return self.model() if reader is None else reader(self)

    def model(self) -> NodeEmbedding:
        """The model that learns vectors."""
        if "model" not in self.metadata:
            raise self.wrong("there is no 'model'")
        model = stored_model(self, known_model(self, self.metadata["model"]), self.fact("parameters"))
        model.parameters_ = model.parameters_now()
        model.node_ids_ = self.names("node_ids")
        if not len(model.node_ids_) and not self.fact(IN_BLOCKS, False):
            raise self.wrong("it has no nodes")
        model.feature_names_ = self.names("feature_names")
        d = self.kind("embedding")[1][-1:]
        model._restore(self.numbers("embedding", (len(model.node_ids_), *d)), self)
        model.encoder_ = stored_encoder(self)
        graph = stored_graph(self, model.node_ids_, model.encoder_)
        if graph is not None:
            model.graph_ = graph
        return model

    def solver(self, model: SolverChoice, window: int) -> Solver:
        """The solver that the model was fitted with, on walks of ``window`` hops."""
        return stored_solver(self, model, self.fact("solver"), window)


# By name of a model of another kind than those that learn vectors: what makes one of an open file.
READERS: dict[str, Callable[[ModelFile], Any]] = {}
