"""The pages ``link-prediction`` and ``attribute-inference``: ROC-AUC and average precision of held-out entries."""

from __future__ import annotations

from pathlib import Path

from hopscale.paper.methods import METHODS, WAYS
from hopscale.paper.pages.layout import mark, markdown_table, mean_and_error
from hopscale.paper.store import Measurements

__all__ = ["page"]


_TEXTS = {
    "link-prediction": "Vectors learnt on half of the edges; the others against pairs that are no edges: ROC-AUC ± "
    "standard error / average precision, by what a pair's vectors are turned into.",
    "attribute-inference": "A tenth of the (node, feature) entries hidden before the fit, ranked against pairs that "
    "are none: ROC-AUC ± standard error / average precision. *product* is G·Hᵀ, *likelihood* adds log p(f), "
    "*popularity* and *neighbors* know no vectors.",
}


def page(experiment: str, measurements: Measurements, _: Path) -> list[str]:
    lines = [_TEXTS[experiment], ""]
    for dataset in measurements.values("dataset"):
        rows, kinds = [], []
        for name in METHODS:
            for solver in WAYS:
                record = measurements.get(method=name, solver=solver, dataset=dataset)
                if record is None:
                    continue
                area, precision = record["scores"]["roc_auc"], record["scores"]["average_precision"]
                kinds = list(area)
                cells = [(*mean_and_error(area[k]), mean_and_error(precision[k])[0]) for k in kinds]
                texts = ("{:.3f} ± {:.3f} / {:.3f}".format(*cell) for cell in cells)
                rows.append([name, solver + mark(record), *texts])
        lines += [f"## {dataset}", "", *markdown_table(["method", "solver", *kinds], rows), ""]
    return lines
