"""The page ``overview``: MUSAE and AE on all data sets in one table, with the seconds of the fits."""

from __future__ import annotations

from pathlib import Path

from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import explained_marks, mark, markdown_table, mean_and_error, measured_datasets
from hopscale.paper.pages.scores import METRICS, OURS
from hopscale.paper.store import Measurements, records_of

__all__ = ["page"]


def page(folder: Path) -> list[str]:
    """Lines of the page, from the records of classification and regression in a folder."""
    lines, shown = [], []
    measurements = {experiment: Measurements(records_of(folder, experiment).records()) for experiment in METRICS}
    for solver in SOLVERS:
        rows = []
        for experiment, metric in METRICS.items():
            for dataset in measured_datasets(experiment, measurements[experiment]):
                row = [dataset, "F1" if metric == "micro_f1" else "R²"]
                for name in OURS:
                    what = {"method": name, "solver": solver, "dataset": dataset}
                    raw, standardised = (measurements[experiment].get(**what, standardize=s) for s in (False, True))
                    if raw is None or standardised is None:
                        row.append("–")
                        continue
                    shown += [raw, standardised]
                    means = [mean_and_error(r["scores"][metric]) for r in (raw, standardised)]
                    seconds = f"{raw['fit']['seconds']:.1f} s{mark(raw) or mark(standardised)}"
                    row.append(f"{means[0][0]:.3f} / {means[1][0]:.3f} ± {max(means)[1]:.3f} ({seconds})")
                if any(cell != "–" for cell in row[2:]):
                    rows.append(row)
        if rows:
            note = f'`solver="{solver}"`: raw / standardised vectors ± standard error of the better (seconds to fit)'
            lines += [note, "", *markdown_table(["data set", "metric", *OURS], rows), ""]
    return lines + explained_marks(shown)
