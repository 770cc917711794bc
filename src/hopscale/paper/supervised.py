"""The supervised rows of the tables: methods that learn from labels, trained anew for each split."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph
from hopscale.labels import class_codes, has_value
from hopscale.supervised import SUPERVISED, SupervisedModel
from hopscale.supervised.networks.base import Network
from hopscale.supervised.predictor import GraphPredictor
from hopscale.tasks.metrics import classification_scores
from hopscale.tasks.splits import Record, seeded_splits

__all__ = [
    "OURS", "SUPERVISED_ROWS", "WAY", "device_of", "is_installed", "most_splits", "rows_of", "scores_of_splits",
    "supervised_model",
]  # fmt: skip

_SPLITS = 10  # of networks on a processor, where a training takes seconds
WAY = "labels"  # what stands in the place of a solver

# Rows by the names of their models: the paper's networks, one more, and ours.
SUPERVISED_ROWS = {
    "GCN": "GCN",
    "GraphSAGE": "GraphSAGE",
    "GAT": "GAT",
    "MixHop": "MixHop",
    "ClusterGCN": "ClusterGCN",
    "APPNP": "APPNP",
    "SGCONV": "SGC",
    "SIGN": "SIGN",
    "GraphClassifier": "GraphClassifier",
    "GraphRegressor": "GraphRegressor",
}
OURS = ("GraphClassifier", "GraphRegressor")


def rows_of(task: str) -> tuple[str, ...]:
    """Rows that predict classes (``"classification"``) or values (``"regression"``)."""
    return tuple(row for row, model in SUPERVISED_ROWS.items() if SUPERVISED[model].task == task)


def is_installed(row: str) -> bool:
    """Whether a row can be measured here: networks need PyTorch, one of them METIS."""
    if not _is_network(row):
        return True
    return find_spec("torch") is not None and find_spec("pymetis") is not None


def _is_network(row: str) -> bool:
    return issubclass(SUPERVISED[SUPERVISED_ROWS[row]], Network)


def supervised_model(row: str, **parameters: Any) -> SupervisedModel:
    """The unfitted model of a row."""
    model = SUPERVISED[SUPERVISED_ROWS[row]]()
    unknown = [name for name in parameters if name not in model.get_params(deep=False)]
    if unknown:
        raise ParameterError(f"{row} has no parameter {', '.join(map(repr, unknown))}")
    return model.set_params(**parameters)  # type: ignore[no-any-return]


def most_splits(row: str, parameters: Mapping[str, Any]) -> int:
    """How many splits are worth their time, each of which is a training: few of a network on a processor."""
    return _SPLITS if _is_network(row) and device_of(row, parameters) == "cpu" else sys.maxsize


def scores_of_splits(
    row: str,
    graph: AttributedGraph,
    labels: NDArray[Any],
    parameters: Mapping[str, Any],
    *,
    splits: int,
    seed: int = 0,
    n_jobs: int | None = None,
) -> list[Record]:
    """Scores and seconds of a training for each split.

    The splits are those that vectors are scored on: seeded, 80 to 20, of the nodes that have a label. Vectors, which
    are learnt without labels, are learnt once; their ``vector_seconds`` are part of the ``seconds`` of each split.
    """
    labels = np.asarray(labels)
    classes = SUPERVISED[SUPERVISED_ROWS[row]].task == "classification"
    codes, names = class_codes(labels) if classes else (labels, [])
    labelled = np.flatnonzero(codes >= 0 if classes else has_value(labels))
    settings = {"n_jobs": n_jobs or -1, **parameters}
    before = 0.0
    if _is_network(row):  # the first training of a process waits for libraries to be loaded, and a GPU to be started
        supervised_model(row, **{**settings, "epochs": 1}).fit(graph, labels, train=labelled)
    else:
        embedder, before = _embedder(supervised_model(row, random_state=seed, **settings), graph)
        settings["embedder"] = embedder
    records: list[Record] = []
    for split, (train, test) in enumerate(seeded_splits(len(labelled), splits, 0.2, 0)):
        model = supervised_model(row, random_state=seed + split, **settings)
        start = time.perf_counter()
        model.fit(graph, labels, train=labelled[train])
        seconds = before + time.perf_counter() - start
        outputs = model.outputs_[labelled[test]]
        if classes:
            scores = _class_scores(codes[labelled], (train, test), names, model.classes_, outputs)
        else:
            mean = np.full(len(test), labels[labelled[train]].mean())
            truth = labels[labelled[test]]
            scores = {"r2": float(r2_score(truth, outputs)), "mean_r2": float(r2_score(truth, mean))}
        records.append({**scores, "seconds": seconds, "vector_seconds": before})
    return records


def _embedder(model: SupervisedModel, graph: AttributedGraph) -> tuple[Any, float]:
    """The embedder of a model, fitted to a graph, and the seconds that this took; None if no vectors may be used."""
    assert isinstance(model, GraphPredictor)
    start = time.perf_counter()
    embedder = None if model.inputs == "features" else model.fitted_embedder(graph)
    return embedder, time.perf_counter() - start


def _class_scores(
    codes: NDArray[np.int64], split: tuple[Any, Any], names: Any, known: NDArray[Any], outputs: NDArray[np.float64]
) -> dict[str, float]:
    """Scores of the test part, whose probabilities are in the order of the classes that the model knows."""
    train, test = split
    code = {name: i for i, name in enumerate(names)}
    probabilities = np.zeros((len(test), len(names)))  # of a class without training node: none
    probabilities[:, [code[name] for name in known.tolist()]] = outputs
    return classification_scores(codes[test], probabilities, int(np.bincount(codes[train]).argmax()))


def device_of(row: str, parameters: Mapping[str, Any]) -> str:
    """What a row is trained on: the name of the GPU, or "cpu"."""
    if not _is_network(row) or not is_installed(row):
        return "cpu"
    import torch

    asked = str(parameters.get("device", "auto"))
    on_gpu = torch.cuda.is_available() if asked == "auto" else asked.startswith("cuda")
    return torch.cuda.get_device_name() if on_gpu else "cpu"
