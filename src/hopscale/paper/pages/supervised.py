"""The part of the pages ``classification`` and ``regression`` on methods that learn from labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hopscale.paper.pages.layout import METRICS, mark, markdown_table, measured_datasets, score_text, table
from hopscale.paper.store import Measurements, Record, records_of, reference_values
from hopscale.paper.supervised import OURS, WAY, rows_of
from hopscale.tasks.metrics import mean_and_error

__all__ = ["predictors", "supervised_part"]

_EXPLANATIONS = "networks.md"  # a page written by hand, where there is one
_RIVALS = {"classification": "supervised method", "regression": "method"}  # whose best figure ours is set beside


def supervised_part(
    experiment: str, metric: str, tolerance: float, measurements: Measurements, folder: Path
) -> list[str]:
    """Published and measured scores, with seconds of training; which are apart; and ours against the best."""
    records = measurements.all(solver=WAY)
    if not records:
        return []
    published = _published(experiment, metric)
    datasets = measured_datasets(experiment, Measurements(records))
    rows, apart, compared = [], [], 0
    for name in rows_of(experiment):
        row = [name]
        for dataset in datasets:
            record = measurements.get(solver=WAY, method=name, dataset=dataset)
            reference = published.get((name, dataset))
            text = f"{reference[metric]:.3f} / " if reference else "– / "
            row.append(text + (f"{score_text(record, metric)} ({_seconds(record)})" if record else "–"))
            if record and reference and name not in OURS:
                compared += 1
                mean = mean_and_error(record["scores"][metric])[0]
                difference = mean - reference[metric]
                if abs(difference) > tolerance:
                    apart.append([name, dataset, f"{reference[metric]:.3f}", f"{mean:.3f}", f"{difference:+.3f}"])
        if any(not text.endswith("–") for text in row[1:]):
            rows.append(row)
    splits = " or ".join(map(str, sorted({record["repeats"] for record in records})))
    text = (
        f"Trained on labels anew for each of {splits} splits, the same as below: published / measured ± standard error "
        f"(seconds of a training). {_places(records)} Published beside ours is the best figure of any published "
        f"{_RIVALS[experiment]}."
    )
    lines = table("Supervised", ["method", *datasets], rows, text)
    if compared:
        below = sum(row[-1].startswith("-") for row in apart)
        reasons = f"; [why]({_EXPLANATIONS})" if (folder / _EXPLANATIONS).exists() else ""
        lines += [
            f"{compared - len(apart)} of {compared} figures are within {tolerance:g} of the published ones, "
            f"{len(apart) - below} are above and {below} below{reasons}{':' if apart else '.'}",
            "",
        ]
    if apart:
        lines += [*markdown_table(["method", "data set", "published", "measured", "difference"], apart), ""]
    return lines + _ours_against_the_best(experiment, metric, measurements)


def _published(experiment: str, metric: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The paper's figures by method and data set; those of ours are the best that it has."""
    rows = reference_values(experiment)
    published = {(row["method"], row["dataset"]): row for row in rows}
    supervised = rows_of(experiment)
    rivals = [row for row in rows if row["method"] in supervised] or rows
    for dataset in dict.fromkeys(row["dataset"] for row in rivals):
        best = max((row for row in rivals if row["dataset"] == dataset), key=lambda row: float(row[metric]))
        published |= {(name, dataset): best for name in OURS if name in supervised}
    return published


def _seconds(record: Record) -> str:
    return f"{record['fit']['seconds']:.1f} s"


def _places(records: Iterable[Record]) -> str:
    """On what the methods were trained, and how many trainings shared it."""
    places: dict[str, list[str]] = {}
    for record in records:
        fit, cores = record["fit"], record["machine"]["cores"]
        place = f"{cores} cores" if fit["device"] == "cpu" else fit["device"]
        if fit.get("processes", 1) > 1:
            place += f", {fit['processes']} trainings at a time"
        name = record["cell"]["method"]
        places.setdefault(place, []).append(f"{name} with its vectors" if name in OURS else name)
    return " ".join(f"On {place}: {', '.join(dict.fromkeys(names))}." for place, names in places.items())


def _ours_against_the_best(experiment: str, metric: str, measurements: Measurements) -> list[str]:
    """A table of ours beside the best published figure and the best of the others that were measured here."""
    own, rows = _beside_the_best(experiment, metric, measurements)
    if not rows:
        return []
    header = ["data set", own, "best published", "difference", "best measured", "difference"]
    if all(row[-1] == "–" for row in rows):
        return table(f"{own} against the best", header[:4], [row[:4] for row in rows])
    text = (
        "The best measured has the highest mean among methods that were trained; the difference is a mean ± standard "
        "error over the splits that both have."
    )
    return table(f"{own} against the best", header, rows, text)


def predictors(folder: Path) -> list[str]:
    """GraphClassifier and GraphRegressor beside the best on all data sets, from the records in a folder."""
    rows = []
    for experiment, metric in METRICS.items():
        measurements = Measurements(records_of(folder, experiment).records())
        own, found = _beside_the_best(experiment, metric, measurements)
        name = "F1" if metric == "micro_f1" else "R²"
        rows += [[dataset, f"{own}, {name}", score, best, *rest[1:]] for dataset, score, best, *rest in found]
    header = ["data set", "model, metric", "measured", "best published", "best network, measured", "difference"]
    return markdown_table(header, rows) if rows else []


def _beside_the_best(experiment: str, metric: str, measurements: Measurements) -> tuple[str, list[list[str]]]:
    """The name of ours, and its score, the best published and the best measured of each data set."""
    others = [name for name in rows_of(experiment) if name not in OURS]
    (own,) = (name for name in rows_of(experiment) if name in OURS)
    published, rows = _published(experiment, metric), []
    for dataset in measured_datasets(experiment, measurements):
        record = measurements.get(solver=WAY, method=own, dataset=dataset)
        if record is None:
            continue
        mean, error = mean_and_error(record["scores"][metric])
        row = [dataset, f"{mean:.3f}{mark(record)} ± {error:.3f}"]
        best = published.get((own, dataset))
        row += [f"{best[metric]:.3f} ({best['method']})", f"{mean - best[metric]:+.3f}"] if best else ["–", "–"]
        rivals = [found for name in others if (found := measurements.get(solver=WAY, method=name, dataset=dataset))]
        rows.append(row + _difference(record, rivals, metric))
    return own, rows


def _difference(record: Record, rivals: Iterable[Record], metric: str) -> list[str]:
    """The best rival, and by how much a record is above it on the splits that both have, which are the first ones."""
    best = max(rivals, key=lambda rival: mean_and_error(rival["scores"][metric])[0], default=None)
    if best is None:
        return ["–", "–"]
    theirs = best["scores"][metric]
    pairs = list(zip(record["scores"][metric], theirs, strict=False))
    mean, error = mean_and_error([mine - other for mine, other in pairs])
    return [
        f"{mean_and_error(theirs)[0]:.3f} ({best['cell']['method']})",
        f"{mean:+.4f} ± {error:.4f} ({len(pairs)} splits)",
    ]
