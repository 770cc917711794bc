"""Tables of docs/choosing-vectors.md, from the records of few_labels.py, targets.py and width.py; measures nothing.

python benchmarks/choosing_vectors.py
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from few_labels import CURVES, PLANETOID
from measure import REGRESSION, RESULTS, markdown
from targets import MODELS as COMPARED
from targets import UNSEEN, compared
from width import MODELS, WIDTHS

Record = dict[str, Any]

FEW = (*PLANETOID, "facebook", "github", "deezer-europe", "twitch-pt", "twitch-de", "twitch-es")
MANY = (*PLANETOID, "facebook", "github", "deezer-europe", "twitch-pt", *REGRESSION)
VECTORS = ("AE", "AE √", "MUSAE", "MUSAE √", "FeatureDiffusion", "MUSAE + FeatureDiffusion")
TASKS = {
    "classification": "classification, micro-F1",
    "regression": "regression, R²",
    "few-shot, k = 3": "3 labelled nodes of each class, micro-F1",
    "few-shot, k = 15": "15 labelled nodes of each class, micro-F1",
    "links, cosine": "links by the cosine, ROC-AUC",
    "attributes, product": "hidden features by the product, ROC-AUC",
    "attributes, likelihood": "hidden features by the likelihood, ROC-AUC",
    "transfer, ROC-AUC": "transfer to another network, ROC-AUC",
    "transfer, micro-F1": "transfer to another network, micro-F1",
}


def tables() -> dict[str, str]:
    """The tables of the page, by the names of their files."""
    return {
        "choosing_few_labels": few_labels(dict.fromkeys(FEW, "drawn")),
        "choosing_curves": curves((3, 15, 30)),
        "choosing_many_labels": few_labels(dict.fromkeys(MANY, "80/20")),
        "choosing_power": power(),
        "choosing_width": width("80/20"),
        "choosing_width_few_labels": width("k = 20"),
    }


def records(name: str) -> list[Record]:
    """What a benchmark has measured."""
    return list(json.loads((RESULTS / f"{name}.json").read_text())["records"])


def few_labels(tasks: dict[str, str]) -> str:
    """Scores of each kind of vectors on data sets, of one task each."""
    means = {(r["method"], r["dataset"], r["task"]): np.mean(r["scores"]) for r in records("few_labels")}
    rows = [[each, *(f"{means[each, name, task]:.3f}" for name, task in tasks.items())] for each in VECTORS]
    return markdown(["vectors", *tasks], rows)


def curves(few: tuple[int, ...]) -> str:
    """Scores with k labelled nodes of each class."""
    means = {(r["method"], r["dataset"], r["task"]): np.mean(r["scores"]) for r in records("few_labels")}
    columns = [(name, f"k = {k}") for name in CURVES for k in few]
    rows = [[each, *(f"{means[(each, *column)]:.3f}" for column in columns)] for each in VECTORS]
    return markdown(["vectors", *(", ".join(column) for column in columns)], rows)


def power() -> str:
    """What square roots of the target gain, in the mean over data sets."""
    found, rows = records("targets"), []
    for task, title in TASKS.items():
        row = [title]
        for unseen in (True, False):
            for kind in COMPARED:
                names = dict.fromkeys(r["dataset"] for r in found if r["task"] == task)
                both = [compared(found, task, name, kind) for name in names if (name in UNSEEN) == unseen]
                gains = [each[2] for each in both if each]
                row.append(f"{np.mean(gains):+.4f}" if gains else "")
        rows.append(row)
    return markdown(["task", *(f"{kind}, {group}" for group in ("unseen", "others") for kind in COMPARED)], rows)


def width(task: str) -> str:
    """Scores of a task by the number of dimensions."""
    some = [r for r in records("width") if r["task"] == task]
    means = {(r["model"], r["width"], r["dataset"]): np.mean(r["scores"]) for r in some}
    names = list(dict.fromkeys(name for *_, name in means))
    rows = [
        [f"{kind}, {wide}", *(f"{means[kind, wide, name]:.3f}" for name in names)] for kind in MODELS for wide in WIDTHS
    ]
    return markdown(["vectors", *names], rows)


if __name__ == "__main__":
    for name, table in tables().items():
        (RESULTS / f"{name}.md").write_text(table + "\n")
