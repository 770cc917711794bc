"""The supervised rows of the paper's table of classification: networks, trained anew for each split."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from hopscale.datasets import load
from hopscale.exceptions import ParameterError
from hopscale.labels import class_codes
from hopscale.supervised import SUPERVISED, SupervisedModel
from hopscale.tasks.metrics import classification_scores
from hopscale.tasks.splits import Record, seeded_splits

__all__ = ["SUPERVISED_ROWS", "WAY", "device_of", "is_installed", "most_splits", "scores_of_splits", "supervised_model"]

_SPLITS = 10  # on a processor, where a training takes seconds
WAY = "labels"  # what stands in the place of a solver

# The paper's rows, and one more, by the names of their models.
SUPERVISED_ROWS = {
    "GCN": "GCN",
    "GraphSAGE": "GraphSAGE",
    "GAT": "GAT",
    "MixHop": "MixHop",
    "ClusterGCN": "ClusterGCN",
    "APPNP": "APPNP",
    "SGCONV": "SGC",
    "SIGN": "SIGN",
}


def is_installed() -> bool:
    """Whether the networks can be trained here."""
    return find_spec("torch") is not None and find_spec("pymetis") is not None


def supervised_model(row: str, **parameters: Any) -> SupervisedModel:
    """The unfitted model of a row."""
    model = SUPERVISED[SUPERVISED_ROWS[row]]()
    unknown = [name for name in parameters if name not in model.get_params(deep=False)]
    if unknown:
        raise ParameterError(f"{row} has no parameter {', '.join(map(repr, unknown))}")
    return model.set_params(**parameters)  # type: ignore[no-any-return]


def most_splits(parameters: Mapping[str, Any]) -> int:
    """How many splits are worth their time, each of which is a training: few on a processor."""
    return _SPLITS if device_of(parameters) == "cpu" else sys.maxsize


def scores_of_splits(
    row: str,
    dataset: str,
    parameters: Mapping[str, Any],
    *,
    splits: int,
    seed: int,
    n_jobs: int | None,
    data: str | None,
) -> list[Record]:
    """Scores and seconds of a training for each split.

    The splits are those that vectors are scored on: seeded, 80 to 20, of the nodes that have a class.
    """
    graph = load(dataset, data=data)
    codes, names = class_codes(np.asarray(graph.labels))
    labelled = np.flatnonzero(codes >= 0)
    code = {name: i for i, name in enumerate(names)}
    records: list[Record] = []
    # The first training of a process waits for libraries to be loaded, and a GPU to be started.
    supervised_model(row, **{**parameters, "epochs": 1}).fit(graph, train=labelled)
    for split, (train, test) in enumerate(seeded_splits(len(labelled), splits, 0.2, 0)):
        model = supervised_model(row, n_jobs=n_jobs or -1, random_state=seed + split, **parameters)
        start = time.perf_counter()
        model.fit(graph, train=labelled[train])
        seconds = time.perf_counter() - start
        probabilities = np.zeros((len(test), len(names)))  # of a class without training node: none
        probabilities[:, [code[name] for name in model.classes_.tolist()]] = model.outputs_[labelled[test]]
        majority = int(np.bincount(codes[labelled[train]]).argmax())
        scores = classification_scores(codes[labelled[test]], probabilities, majority)
        records.append({**scores, "seconds": seconds})
    return records


def device_of(parameters: Mapping[str, Any]) -> str:
    """What networks are trained on: the name of the GPU, or "cpu"."""
    if not is_installed():
        return "cpu"
    import torch

    asked = str(parameters.get("device", "auto"))
    on_gpu = torch.cuda.is_available() if asked == "auto" else asked.startswith("cuda")
    return torch.cuda.get_device_name() if on_gpu else "cpu"
