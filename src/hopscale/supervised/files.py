"""Predictors as files, of the same format as all models: safetensors without code, with a digest.

The embedder, if one is used, is a part of the file that is the file of a model itself, with ``embedder.`` before each
name. What a fit leaves beside it are ``node_ids``, ``feature_names``, ``encoder``, ``outputs``, ``train`` and what
:mod:`hopscale.supervised.stored_parts` keeps of the head, its inputs, the classes and the report.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hopscale.exceptions import ParameterError
from hopscale.io.name_bytes import encoded_names
from hopscale.io.tensor_file import with_prefix
from hopscale.models.base import OF_THIS_MACHINE, NodeEmbedding
from hopscale.models.files import (
    READERS,
    ModelFile,
    check_known,
    check_savable,
    facts_as_json,
    model_parts,
    write_model,
)
from hopscale.models.stored_encoder import encoder_tensor, stored_encoder
from hopscale.models.stored_settings import built, known_model, stored_model
from hopscale.supervised.base import SUPERVISED, NodeClassifier, SupervisedModel
from hopscale.supervised.classifier import GraphClassifier
from hopscale.supervised.predictor import GraphPredictor
from hopscale.supervised.regressor import GraphRegressor
from hopscale.supervised.stored_parts import (
    REAL,
    class_state,
    head_state,
    input_state,
    report_state,
    stored_classes,
    stored_head,
    stored_inputs,
    stored_numbers,
    stored_report,
)

__all__ = ["save_predictor"]

_EMBEDDER = "embedder."
_KINDS = (GraphClassifier, GraphRegressor)
_ROUNDING = 1e-6  # that probabilities of a node may differ from one by


def save_predictor(model: SupervisedModel, path: str | os.PathLike[str]) -> None:
    """Save a fitted :class:`hopscale.GraphClassifier` or :class:`hopscale.GraphRegressor`.

    The file appears whole or not at all; one that was there before is replaced.

    Parameters
    ----------
    model : GraphClassifier or GraphRegressor
        Fitted. Its node ids, feature names and classes must be text, numbers, booleans or tuples of these. A
        ``random_state`` that is not a whole number is saved as None. A loaded model answers for the nodes of the fit
        without their graph; its parameter ``embedder`` is not fitted, ``embedder_`` is. The graph is in the file only
        if the embedder has kept it (``keep_graph=True``).
    path : path-like
        By custom with the suffix ``.safetensors``.

    Raises
    ------
    ParameterError
        If the model, as are the networks, or a name cannot be saved. Nothing is written then.
    OSError
        If the file cannot be written.

    See Also
    --------
    hopscale.load_model : The way back.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hopscale import GraphClassifier, datasets, load_model
    >>> graph = datasets.planted_blocks(n_nodes=90)
    >>> model = GraphClassifier(head="logistic").fit(graph, train=np.arange(45))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/blocks.safetensors")
    ...     again = load_model(f"{folder}/blocks.safetensors")
    >>> bool((again.predict_proba() == model.predict_proba()).all())
    True
    """
    name = type(model).__name__
    if not isinstance(model, _KINDS):
        raise ParameterError(
            f"a {name} cannot be saved: models with files are {', '.join(kind.__name__ for kind in _KINDS)}. Keep its "
            "predictions, or fit it again: with the same seed it learns the same"
        )
    if SUPERVISED.get(name) is not type(model) or type(model) not in _KINDS:
        raise ParameterError(f"cannot save a {name} of your own: a file knows no more than the name of its class")
    check_is_fitted(model)
    model.check_parameters()
    parameters = {key: value for key, value in model.get_params(deep=False).items() if key != "embedder"}
    tensors = {
        "node_ids": encoded_names(model.node_ids_, "node id"),
        "feature_names": encoded_names(model.feature_names_, "feature name"),
        "outputs": model.outputs_,
        "train": model.train_,
        **encoder_tensor(model.encoder_),
    }
    facts: dict[str, Any] = {
        "parameters": {**parameters, "embedder": _settings_of(model.embedder)},
        "report": report_state(model.report_),
        "graph_digest": model.graph_digest_,
    }
    states = [input_state(model.inputs_), head_state(model.head_)]
    if isinstance(model, GraphClassifier):
        states.append(class_state(model.classes_))
        facts["temperatures"] = model.temperatures_
    for more_tensors, more_facts in states:
        tensors |= more_tensors
        facts |= more_facts
    words = {"model": name, **facts_as_json(facts)}
    if model.embedder_ is not None:
        learnt, told = model_parts(model.embedder_)
        tensors |= with_prefix(_EMBEDDER, learnt)
        words |= with_prefix(_EMBEDDER, told)
    write_model(path, tensors, words)


def _settings_of(embedder: NodeEmbedding | None) -> dict[str, Any] | None:
    """What a file keeps of the parameter: class and parameters, whether it is fitted or not."""
    if embedder is None:
        return None
    check_known(embedder)
    check_savable(embedder)
    kept = {name: value for name, value in embedder.get_params(deep=False).items() if name not in OF_THIS_MACHINE}
    return {"model": type(embedder).__name__, "parameters": kept}


def _restored(file: ModelFile) -> GraphPredictor:
    """The predictor in a file."""
    model = _with_parameters(file)
    model.node_ids_ = file.names("node_ids")
    n = len(model.node_ids_)
    if not n:
        raise file.wrong("it has no nodes")
    model.feature_names_ = file.names("feature_names")
    model.encoder_ = stored_encoder(file)
    model.train_ = _training_nodes(file, n)
    model.report_ = stored_report(file, model.metric)
    model.graph_digest_ = file.fact("graph_digest")
    if not isinstance(model.graph_digest_, str):
        raise file.wrong("'graph_digest' is no text")
    part = file.part(_EMBEDDER)
    model.embedder_ = part.model() if "model" in part.metadata else None
    if model.embedder_ is not None and not np.array_equal(model.embedder_.node_ids_, model.node_ids_):
        raise file.wrong("its embedder has other nodes")
    d = None if model.embedder_ is None else model.embedder_.embedding_.shape[1]
    model.inputs_ = stored_inputs(file, d, len(model.feature_names_))
    count = 1
    if isinstance(model, GraphClassifier):
        model.classes_ = stored_classes(file)
        count = len(model.classes_)
        first, second = stored_numbers(file, "'temperatures'", file.fact("temperatures"), 2, above=1e-9, below=1e9)
        model.temperatures_ = first, second
    model.head_ = stored_head(file, model.heads, model.inputs_, count)
    shape, least = ((n, count), 0.0) if isinstance(model, NodeClassifier) else ((n,), -np.inf)
    model.outputs_ = file.numbers("outputs", shape, least=least, dtypes=REAL)
    if isinstance(model, NodeClassifier) and np.abs(model.outputs_.sum(axis=1) - 1).max() > _ROUNDING:
        raise file.wrong("the probabilities of a node do not add up to one")
    if model.embedder_ is not None and hasattr(model.embedder_, "graph_"):
        model._graph = model.embedder_.graph_
    return model


def _with_parameters(file: ModelFile) -> Any:
    """An unfitted predictor."""
    settings = file.fact("parameters")
    model = built(file, SUPERVISED[file.metadata["model"]], settings, dict)
    if model.embedder is not None:
        given = model.embedder
        if not isinstance(given, dict) or set(given) != {"model", "parameters"}:
            raise file.wrong("'embedder' does not name a model and its parameters")
        model.embedder = stored_model(file, known_model(file, given["model"]), given["parameters"])
    try:
        model.check_parameters()
    except ParameterError as error:
        raise file.wrong(str(error)) from error
    return model


def _training_nodes(file: ModelFile, n: int) -> Any:
    shape = file.kind("train")[1]
    train = file.numbers("train", shape, least=0, dtypes=("I64",))
    if train.ndim != 1 or not len(train) or train[-1] >= n or (np.diff(train) <= 0).any():
        raise file.wrong("'train' is not a rising row of positions of nodes")
    return train


READERS.update({kind.__name__: _restored for kind in _KINDS})
