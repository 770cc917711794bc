"""The pages ``classification`` and ``regression``, scores of all methods on seeded splits; and ``overview``."""

from __future__ import annotations

from itertools import product
from typing import Any

from hopscale.paper.estimates import PAPER_SPLITS, TEST_SHARES, estimate, published
from hopscale.paper.methods import METHODS, SOLVERS
from hopscale.paper.pages.headline import OURS, TEXTS, TOLERANCES, sections
from hopscale.paper.pages.layout import (
    METRICS,
    explained_marks,
    mark,
    markdown_table,
    measured_datasets,
    score_text,
    table,
)
from hopscale.paper.pages.printed_errors import printed_errors
from hopscale.paper.pages.records import Records
from hopscale.paper.pages.supervised import supervised_part
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.paper.supervised import SUPERVISED_ROWS, WAY, rows_of

_BASELINES = {"classification": "majority_micro_f1", "regression": "mean_r2"}

Reference = dict[str, dict[str, Any]]  # the paper's row of each method on one data set


def page(experiment: str, measurements: Measurements, records: Records) -> list[str]:
    folder = records.folder
    share = TEST_SHARES[experiment]
    text = (
        f"Mean {METRICS[experiment]} ± standard error over seeded splits, {1 - share:.0%} to train on and {share:.0%} "
        "to test on. All splits are of the same nodes, so that scores are correlated: errors are corrected by the "
        f"method of Nadeau and Bengio, ours and the published ones alike, as if theirs were over {PAPER_SPLITS} such "
        "splits as the paper says. Where a method was fitted with several seeds, the spread of the fits is in the "
        "error; of one fit nothing is known of it. Figures in brackets are differences from "
        "the published figure, in standard errors of both. Raw vectors, as in the paper, and vectors standardised by "
        "the training part. Direct is pmi, or what a method without a choice of solvers does; Node2Vec's is that of "
        "DeepWalk, since p and q are one. Rows in *-TEXT* are the models of the paper's text (`self_scale=False`); "
        "the others have the scale of a node's own features as well, which the vectors behind the published figures "
        "have."
    )
    lines = [text, "", *sections(experiment, measurements, folder), *printed_errors(experiment, records)]
    lines += supervised_part(experiment, METRICS[experiment], TOLERANCES[experiment], measurements, folder)
    references: dict[str, Reference] = {name: {} for name in measured_datasets(experiment, measurements)}
    for row in reference_values(experiment):
        references.get(row["dataset"], {})[row["method"]] = row
    for name, reference in references.items():
        lines += _table(experiment, measurements, name, reference)
    return lines


def _table(experiment: str, measurements: Measurements, dataset: str, reference: Reference) -> list[str]:
    """All methods on one data set."""
    metric, baseline, share = METRICS[experiment], _BASELINES[experiment], TEST_SHARES[experiment]
    header = ["method", "published", "direct, raw", "direct, standardised", "sgns, raw", "sgns, standardised"]
    rows = []
    for name in dict.fromkeys((*METHODS, *reference)):
        if name in SUPERVISED_ROWS:
            continue
        row = reference.get(METHODS[name].published if name in METHODS else name)
        theirs = published(row, metric) if row else None
        texts = [
            score_text(
                measurements.get(method=name, solver=solver, dataset=dataset, standardize=standardize),
                metric,
                share,
                theirs,
            )
            for solver, standardize in product(METHODS[name].ways if name in METHODS else (), (False, True))
        ]
        if theirs or set(texts) - {"–"}:
            cells = [name, str(theirs) if theirs else "–", *texts]
            rows.append(cells + ["–"] * (len(header) - len(cells)))
    trained = _trained_rows(experiment, measurements, dataset, reference)
    if trained:
        header.append("trained on labels")
        rows = [[*row, "–"] for row in rows] + [
            [name, theirs, *["–"] * (len(header) - 3), score] for name, theirs, score in trained
        ]
    here = [record for record in measurements.all(dataset=dataset) if "standardize" in record["cell"]]
    if not here:
        return []
    longest = max(here, key=lambda record: int(record["repeats"]))
    splits = " or ".join(map(str, sorted({record["repeats"] for record in here})))
    note = f"{splits} splits. {baseline}: {estimate(longest['scores'][baseline]).mean:.3f}."
    return [*table(dataset, header, rows), note, ""]


def _trained_rows(
    experiment: str, measurements: Measurements, dataset: str, reference: Reference
) -> list[tuple[str, str, str]]:
    """Supervised methods on one data set: name, published and measured."""
    metric, share, rows = METRICS[experiment], TEST_SHARES[experiment], []
    for name in rows_of(experiment):
        theirs = published(reference[name], metric) if name in reference else None
        record = measurements.get(method=name, solver=WAY, dataset=dataset)
        if theirs or record:
            rows.append((name, str(theirs) if theirs else "–", score_text(record, metric, share, theirs)))
    return rows


def overview(records: Records) -> list[str]:
    """MUSAE and AE on all data sets, with the seconds of the fits; then the models of the paper's text."""
    lines: list[str] = []
    shown: list[Record] = []
    for solver, names in product(SOLVERS, (OURS, TEXTS)):
        rows, threads = [], set()
        for experiment in METRICS:
            for dataset in measured_datasets(experiment, records.of(experiment)):
                row = [dataset, "F1" if METRICS[experiment] == "micro_f1" else "R²"]
                for name in names:
                    both = [_overviewed(records, experiment, name, solver, dataset, each) for each in (False, True)]
                    raw, standardised = both
                    if raw and standardised:
                        shown += [raw, standardised]
                        threads.add(raw["fit"].get("n_jobs") or raw["machine"]["cores"])  # None: all of them
                        row.append(_both(experiment, raw, standardised))
                    else:
                        row.append("–")
                if set(row[2:]) != {"–"}:
                    rows.append(row)
        if rows:
            on = f"{' or '.join(map(str, sorted(threads)))} thread{'' if threads == {1} else 's'}"
            note = f'`solver="{solver}"`: raw / standardised vectors ± standard error of the better'
            text = "" if names == OURS else ", without a scale of the node's own features"
            lines += [f"{note} (least seconds of a fit on {on}){text}", ""]
            lines += [*markdown_table(["data set", "metric", *names], rows), ""]
    return lines + explained_marks(shown)


def _overviewed(
    records: Records, experiment: str, name: str, solver: str, dataset: str, standardize: bool
) -> Record | None:
    what = {"method": name, "solver": solver, "dataset": dataset, "standardize": standardize}
    return records.of(experiment).get(**what)


def _both(experiment: str, raw: Record, standardised: Record) -> str:
    """Scores of raw and of standardised vectors, and the least seconds of a fit."""
    metric, share = METRICS[experiment], TEST_SHARES[experiment]
    found = [estimate(record["scores"][metric], share) for record in (raw, standardised)]
    means = " / ".join(f"{f.mean:.3f}{mark(r)}" for f, r in zip(found, (raw, standardised), strict=True))
    return f"{means} ± {max(found, key=lambda each: each.mean).error:.3f} ({raw['fit']['seconds']:.1f} s)"
