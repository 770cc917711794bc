"""The part of the pages ``classification`` and ``regression`` on methods that learn from labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hopscale.paper.estimates import TEST_SHARES, estimate, paired, published
from hopscale.paper.pages.layout import (
    METRICS,
    explained_marks,
    mark,
    markdown_table,
    measured_datasets,
    score_text,
    table,
)
from hopscale.paper.pages.records import Records
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.paper.supervised import OURS, WAY, rows_of

__all__ = ["predictors", "supervised_part"]

_EXPLANATIONS = "networks.md"  # a page written by hand, where there is one
_APART = ["method", "data set", "published", "measured", "difference", "standard errors"]
_RIVALS = {"classification": "supervised method", "regression": "method"}  # whose best figure ours is set beside


def supervised_part(
    experiment: str, metric: str, tolerance: float, measurements: Measurements, folder: Path
) -> list[str]:
    """Published and measured scores, with seconds of training; which are apart; and ours against the best."""
    records = measurements.all(solver=WAY)
    if not records:
        return []
    references, share = _published(experiment, metric), TEST_SHARES[experiment]
    datasets = [
        each for each in measured_datasets(experiment, measurements) if measurements.all(solver=WAY, dataset=each)
    ]
    rows, apart, compared, level = [], [], 0, 0
    for name in rows_of(experiment):
        row = [name]
        for dataset in datasets:
            record = measurements.get(solver=WAY, method=name, dataset=dataset)
            reference = references.get((name, dataset))
            text = f"{reference[metric]:.3f} / " if reference else "– / "
            row.append(text + (f"{score_text(record, metric, share)} ({_seconds(record)})" if record else "–"))
            if record and reference and name not in OURS:
                compared += 1
                here, theirs = estimate(record["scores"][metric], share), published(reference, metric)
                difference = here.minus(theirs)
                level += difference.verdict == "level"
                if abs(difference.mean) > tolerance:
                    told = [f"{difference.mean:+.3f}", f"{difference.in_errors:+.1f}"]
                    apart.append([name, dataset, str(theirs), score_text(record, metric, share), *told])
        if any(not text.endswith("–") for text in row[1:]):
            rows.append(row)
    splits = " or ".join(map(str, sorted({record["repeats"] for record in records})))
    text = (
        f"Trained on labels anew for each of {splits} splits, the first of those below: published / measured ± "
        "standard "
        f"error, corrected likewise (seconds of a training). {_places(records)} Published beside ours is the best "
        "figure of "
        f"any published {_RIVALS[experiment]}."
    )
    lines = table("Supervised", ["method", *datasets], rows, text)
    if compared:
        below = sum(row[-2].startswith("-") for row in apart)
        reasons = f"; [why]({_EXPLANATIONS})" if (folder / _EXPLANATIONS).exists() else ""
        lines += [
            f"{compared - len(apart)} of {compared} figures are reproduced within {tolerance:g} of the published ones, "
            f"{len(apart) - below} are above and {below} below; {level} are within two standard errors{reasons}"
            f"{':' if apart else '.'}",
            "",
        ]
    if apart:
        lines += [*markdown_table(_APART, apart), ""]
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
        "The best measured has the highest mean among methods that were trained; the last difference is a mean ± "
        "corrected standard error over the splits that both have."
    )
    return table(f"{own} against the best", header, rows, text)


def predictors(records: Records) -> list[str]:
    """GraphClassifier and GraphRegressor beside the best on all data sets."""
    rows, shown = [], []
    for experiment, metric in METRICS.items():
        measurements = records.of(experiment)
        shown += measurements.all(solver=WAY)
        own, found = _beside_the_best(experiment, metric, measurements)
        name = "F1" if metric == "micro_f1" else "R²"
        rows += [[dataset, f"{own}, {name}", score, best, *rest[1:]] for dataset, score, best, *rest in found]
    header = ["data set", "model, metric", "measured", "best published", "best network, measured", "difference"]
    text = (
        "On the paper's splits, with the defaults. Means are over all splits that were measured, fewer where ° says "
        "so. Differences are over the splits that both have, and so not those of the means beside them. Which network "
        "is the best was seen on the same splits."
    )
    return [text, "", *markdown_table(header, rows), "", *explained_marks(shown)] if rows else []


def _beside_the_best(experiment: str, metric: str, measurements: Measurements) -> tuple[str, list[list[str]]]:
    """The name of ours, and its score, the best published and the best measured of each data set."""
    others = [name for name in rows_of(experiment) if name not in OURS]
    (own,) = (name for name in rows_of(experiment) if name in OURS)
    references, share, rows = _published(experiment, metric), TEST_SHARES[experiment], []
    for dataset in measured_datasets(experiment, measurements):
        record = measurements.get(solver=WAY, method=own, dataset=dataset)
        if record is None:
            continue
        here, best = estimate(record["scores"][metric], share), references.get((own, dataset))
        row = [dataset, f"{here.mean:.3f}{mark(record)} ± {here.error:.3f}"]
        if best:
            difference = here.minus(published(best, metric))
            row += [f"{best[metric]:.3f} ({best['method']})", f"{difference.mean:+.3f} ({difference.in_errors:+.1f})"]
        else:
            row += ["–", "–"]
        rivals = [found for name in others if (found := measurements.get(solver=WAY, method=name, dataset=dataset))]
        rows.append(row + _difference(record, rivals, metric, share))
    return own, rows


def _difference(record: Record, rivals: Iterable[Record], metric: str, test_share: float) -> list[str]:
    """The best rival, and by how much a record is above it on the splits that both have, which are the first ones."""
    best = max(rivals, key=lambda rival: estimate(rival["scores"][metric]).mean, default=None)
    if best is None:
        return ["–", "–"]
    theirs = best["scores"][metric]
    difference, splits = paired(record["scores"][metric], theirs, test_share)
    return [
        f"{estimate(theirs).mean:.3f}{mark(best)} ({best['cell']['method']})",
        f"{difference.mean:+.4f} ± {difference.error:.4f} ({splits} splits)",
    ]
