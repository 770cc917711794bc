"""The pages ``link-prediction`` and ``attribute-inference``: ROC-AUC and average precision of held-out entries."""

from __future__ import annotations

from pathlib import Path

from hopscale.paper.pages.layout import mean_and_error, method_tables
from hopscale.paper.store import Measurements, Record

_TEXTS = {
    "link-prediction": "Vectors learnt on half of the edges; the others against pairs that are no edges: ROC-AUC ± "
    "standard error / average precision, by what a pair's vectors are turned into.",
    "attribute-inference": "A tenth of the (node, feature) entries hidden before the fit, ranked against pairs that "
    "are none: ROC-AUC ± standard error / average precision. *product* is G·Hᵀ, *likelihood* adds log p(f), "
    "*popularity* and *neighbors* know no vectors.",
}


def page(experiment: str, measurements: Measurements, _: Path) -> list[str]:
    kinds = list(measurements.records[0]["scores"]["roc_auc"])

    def cells(record: Record) -> list[str]:
        area, precision = record["scores"]["roc_auc"], record["scores"]["average_precision"]
        each = [(*mean_and_error(area[kind]), mean_and_error(precision[kind])[0]) for kind in kinds]
        return ["{:.3f} ± {:.3f} / {:.3f}".format(*numbers) for numbers in each]

    return [_TEXTS[experiment], "", *method_tables(measurements, kinds, cells)]
