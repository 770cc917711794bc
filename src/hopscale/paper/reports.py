"""Tables of what was published and what was measured, as Markdown; figures beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.exceptions import ParameterError
from hopscale.paper.densification import POWERS, published_ratios
from hopscale.paper.experiments import EXPERIMENTS, STANDARDIZE, SUITABLE, TARGETS, TWITCH
from hopscale.paper.methods import METHODS, SOLVERS, WAYS
from hopscale.paper.published import published
from hopscale.paper.runner import records_of
from hopscale.paper.store import Record

__all__ = ["Chosen", "Shortfall", "render", "shortfalls"]

OURS = ("AE", "AE-EGO", "MUSAE", "MUSAE-EGO")
# How far below a published figure still meets it.
_TOLERANCES = {"classification": ("micro_f1", 0.01), "regression": ("r2", 0.02)}
SUPERVISED = ("GCN", "GraphSAGE", "GAT", "MixHop", "ClusterGCN", "APPNP", "SGCONV")


class Chosen:
    """An experiment's records, found by what they measure.

    Where a cell was measured with the paper's parameters, these count; else whatever there is, which is marked.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = sorted(records, key=lambda record: bool(record["cell"].get("parameters")))

    def get(self, **what: Any) -> Record | None:
        """The record whose cell has these values."""
        for record in self.records:
            if all(record["cell"].get(key) == value for key, value in what.items()):
                return record
        return None

    def values(self, key: str) -> list[Any]:
        """Different values of a key, in order of appearance."""
        return list(dict.fromkeys(r["cell"][key] for r in self.records if key in r["cell"]))


def render(experiments: Sequence[str], folder: Path) -> list[Path]:
    """Write a page for each experiment that has records, and its figure; returns what was written.

    Figures need matplotlib (``pip install 'hopscale[plots]'``); without it pages have none.
    """
    from hopscale.paper.figures import FIGURES, draw

    written = []
    for experiment in experiments:
        if experiment not in EXPERIMENTS:
            raise ParameterError(f"no experiment {experiment!r}. There are: {', '.join(EXPERIMENTS)}")
        chosen = Chosen(records_of(folder, experiment).records())
        if not chosen.records:
            continue
        lines = [f"# {experiment.capitalize().replace('-', ' ')}", "", *_PAGES[experiment](chosen)]
        if experiment in FIGURES:
            drawn = draw(experiment, chosen, folder / "figures")
            written += drawn
            if drawn:
                lines += ["", f"![{experiment}](figures/{experiment}.svg)"]
        page = folder / f"{experiment}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join([*lines, "", *_footer(chosen)]) + "\n", encoding="utf-8")
        written.append(page)
    if {folder / "classification.md", folder / "regression.md"} & set(written):
        written.append(_overview(folder))
    return written


def _overview(folder: Path) -> Path:
    """Our four models on all data sets in one table, with the seconds of the fit."""
    lines, marked = [], []
    for solver in SOLVERS:
        rows = []
        for experiment, metric in (("classification", "micro_f1"), ("regression", "r2")):
            chosen = Chosen(records_of(folder, experiment).records())
            for dataset in _datasets(experiment, chosen):
                row = [dataset, "F1" if metric == "micro_f1" else "R²"]
                for name in OURS:
                    what = {"method": name, "solver": solver, "dataset": dataset}
                    raw, standardised = (chosen.get(**what, standardize=s) for s in (False, True))
                    if raw is None or standardised is None:
                        row.append("–")
                        continue
                    means = [mean_and_error(r["scores"][metric]) for r in (raw, standardised)]
                    marked += [r for r in (raw, standardised) if r["cell"].get("parameters")]
                    seconds = f"{raw['fit']['seconds']:.1f} s{_mark(raw) or _mark(standardised)}"
                    row.append(f"{means[0][0]:.3f} / {means[1][0]:.3f} ± {max(means)[1]:.3f} ({seconds})")
                if any(cell != "–" for cell in row[2:]):
                    rows.append(row)
        if rows:
            lines += [
                f'`solver="{solver}"`: raw / standardised vectors ± standard error of the better (seconds to fit)',
                "",
            ]
            lines += [*markdown(["data set", "metric", *OURS], rows), ""]
    lines += _explained(marked)
    path = folder / "overview.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _datasets(experiment: str, chosen: Chosen) -> list[str]:
    """Data sets that were measured, in the experiment's order."""
    order = SUITABLE[experiment]
    return sorted(chosen.values("dataset"), key=lambda name: order.index(name) if name in order else len(order))


def _mark(record: Record) -> str:
    return "†" if record["cell"].get("parameters") else ""


def _explained(records: Iterable[Record]) -> list[str]:
    """What the mark stands for, if any of the records has it."""
    settings = {
        ", ".join(f"`{name}={value}`" for name, value in record["cell"]["parameters"].items())
        for record in records
        if _mark(record)
    }
    return [f"† with {' or '.join(sorted(settings))} instead of the paper's value."] if settings else []


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def mean_and_error(values: Sequence[float | None]) -> tuple[float, float]:
    """Mean and its standard error; the error of a single value is NaN.

    >>> mean_and_error([1.0, 3.0, None])
    (2.0, 1.0)
    """
    known = np.array([value for value in values if value is not None], dtype=float)
    if not len(known):
        return float("nan"), float("nan")
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else float("nan")
    return float(known.mean()), float(error)


def _measured(record: Record | None, scores: Callable[[Record], Sequence[float | None]], beside: Any = None) -> str:
    """Mean ± error, and how many standard errors above what was published."""
    if record is None:
        return "–"
    mean, error = mean_and_error(scores(record))
    mark = _mark(record)
    text = f"{mean:.3f}{mark}" if np.isnan(error) else f"{mean:.3f}{mark} ± {error:.3f}"
    if beside is None or np.isnan(error):
        return text
    spread = float(np.hypot(error, float(beside.get("standard_error", 0.0))))
    difference = mean - float(beside["value"])
    return f"{text} ({difference / spread:+.1f})" if spread else text


def _on_splits(experiment: str, baseline: str) -> Callable[[Chosen], list[str]]:
    """A page of classification or regression: a table for each data set, and who is best."""
    metric = _TOLERANCES[experiment][0]

    def page(chosen: Chosen) -> list[str]:
        rows = published(experiment)
        lines = [
            f"Mean {metric} ± standard error over splits; in brackets the difference from the published figure, in "
            "standard errors of both. Raw vectors, and vectors standardised by the training part. Direct is pmi, or "
            "what a method without a choice of solvers does.",
            "",
        ]
        header = ["method", "published", "direct, raw", "direct, standardised", "sgns, raw", "sgns, standardised"]
        best = []
        for dataset in _datasets(experiment, chosen):
            table = []
            theirs = {
                str(row["method"]): {"value": row[metric], "standard_error": row["standard_error"]}
                for row in rows
                if row["dataset"] == dataset
            }
            for name in [*METHODS, *(m for m in theirs if m not in METHODS)]:
                line = [name, f"{theirs[name]['value']:.3f}" if name in theirs else "–"]
                for solver in METHODS[name].ways if name in METHODS else SOLVERS:
                    for standardize in (False, True):
                        record = chosen.get(method=name, solver=solver, dataset=dataset, standardize=standardize)
                        line.append(_measured(record, lambda r: r["scores"][metric], theirs.get(name)))
                table.append(line + ["–"] * (len(header) - len(line)))
            here = [record for record in chosen.records if record["cell"]["dataset"] == dataset]
            longest = max(here, key=lambda record: int(record["repeats"]))
            answered = mean_and_error(longest["scores"][baseline])[0]
            splits = " or ".join(map(str, sorted({record["repeats"] for record in here})))
            lines += [f"## {dataset}", ""]
            lines += markdown(header, table)
            lines += ["", f"{splits} splits. {baseline}: {answered:.3f}.", ""]
            if theirs:
                best.append(_best(chosen, dataset, metric, theirs, STANDARDIZE[experiment]))
        if not best:
            return lines
        header = ["data set", "best published, unsupervised", "best of our four", "difference", "standard errors"]
        kind = "standardised" if STANDARDIZE[experiment] else "raw"
        note = (
            f"Ours on {kind} vectors, the setting that was fixed beforehand; the best of four models and two solvers, "
            "as theirs is the best of many methods."
        )
        top = [*lines[:2], "## Best against best", "", note, "", *markdown(header, best), ""]
        return [*top, *_unmet(chosen, experiment), *lines[2:]]

    return page


@dataclass(frozen=True)
class Shortfall:
    """A published figure that no way of the same method meets here."""

    method: str
    dataset: str
    published: float
    measured: float
    how: str


def shortfalls(chosen: Chosen, experiment: str, *, as_fixed: bool = False) -> tuple[list[Shortfall], int]:
    """Figures of the experiment that are not met, and how many were compared.

    By any way of the method, or ``as_fixed`` beforehand: its default solver, and vectors as the experiment takes them.
    """
    metric, tolerance = _TOLERANCES[experiment]
    missed, compared = [], 0
    for row in published(experiment):
        name, dataset, before = str(row["method"]), str(row["dataset"]), float(row[metric])
        if name not in METHODS:
            continue
        found = [
            (mean_and_error(record["scores"][metric])[0], f"{way}, {'standardised' if standardize else 'raw'}")
            for way in ([METHODS[name].default_way] if as_fixed else METHODS[name].ways)
            for standardize in ([STANDARDIZE[experiment]] if as_fixed else (False, True))
            if (record := chosen.get(method=name, solver=way, dataset=dataset, standardize=standardize)) is not None
        ]
        compared += bool(found)
        if found and max(found)[0] < before - tolerance:
            missed.append(Shortfall(name, dataset, before, *max(found)))
    return missed, compared


def _unmet(chosen: Chosen, experiment: str) -> list[str]:
    missed, compared = shortfalls(chosen, experiment)
    tolerance, fixed = _TOLERANCES[experiment][1], STANDARDIZE[experiment]
    at_once = shortfalls(chosen, experiment, as_fixed=True)[0]
    met = (
        f"{compared - len(missed)} of {compared} figures are met by the same method, within {tolerance:g}, with the "
        f"better of its solvers and of raw and standardised vectors; {compared - len(at_once)} with its default solver "
        f"and {'standardised' if fixed else 'raw'} vectors, which was fixed beforehand."
    )
    if not missed:
        return ["## Method by method", "", met, ""]
    rows = [
        [m.method, m.dataset, f"{m.published:.3f}", f"{m.measured:.3f} ({m.how})", f"{m.measured - m.published:+.3f}"]
        for m in missed
    ]
    header = ["method", "data set", "published", "the best of its ways here", "difference"]
    return ["## Method by method", "", f"{met} The others; [why](rivals.md):", "", *markdown(header, rows), ""]


def _best(chosen: Chosen, dataset: str, metric: str, theirs: dict[str, Any], standardize: bool) -> list[str]:
    unsupervised = {name: row for name, row in theirs.items() if name not in SUPERVISED}
    rival = max(unsupervised, key=lambda name: float(unsupervised[name]["value"]))
    row = unsupervised[rival]
    ours = [
        chosen.get(method=name, solver=solver, dataset=dataset, standardize=standardize)
        for name in OURS
        for solver in SOLVERS
    ]
    found = [(mean_and_error(record["scores"][metric]), record) for record in ours if record is not None]
    if not found:
        return [dataset, f"{row['value']:.3f} ({rival})", "–", "–", "–"]
    (mean, error), record = max(found, key=lambda pair: pair[0][0])
    cell = record["cell"]
    spread = float(np.hypot(error, row["standard_error"]))
    difference = mean - row["value"]
    return [
        dataset,
        f"{row['value']:.3f} ({rival})",
        f"{mean:.3f}{_mark(record)} ± {error:.3f} ({cell['method']}, {cell['solver']})",
        f"{difference:+.3f}",
        f"{difference / spread:+.1f}" if spread > 0 else "–",
    ]


def _few_shot(chosen: Chosen) -> list[str]:
    theirs = {(r["method"], r["dataset"], int(r["samples_per_class"])): r["micro_f1"] for r in published("few_shot")}
    lines = ["Mean micro-F1 of k training nodes a class, tested on all others: published / measured.", ""]
    measured = [int(k) for k in chosen.records[0]["scores"]["micro_f1"]]
    shown = [k for k in measured if k in (3, 9, 15, 21, 30)]
    for dataset in chosen.values("dataset"):
        rows = []
        for name in METHODS:
            for solver in WAYS:
                record = chosen.get(method=name, solver=solver, dataset=dataset)
                if record is None:
                    continue
                row = [name, solver + _mark(record)]
                for k in shown:
                    before = theirs.get((name, dataset, k))
                    text = "–" if before is None else f"{before:.3f}"
                    row.append(
                        "{} / {:.3f} ± {:.3f}".format(text, *mean_and_error(record["scores"]["micro_f1"][str(k)]))
                    )
                rows.append(row)
        lines += [f"## {dataset}", "", *markdown(["method", "solver", *(f"k = {k}" for k in shown)], rows), ""]
    return lines


def _transfer(chosen: Chosen) -> list[str]:
    theirs = {(r["method"], r["source"], r["target"]): r for r in published("transfer")}
    lines = [
        "Micro-F1 on the target of a classifier that was trained on the source, mean over seeded runs; AUC in "
        "brackets. The last column is the source's commonest class, answered everywhere.",
        "",
    ]
    for target in TARGETS:
        rows = []
        for source in TWITCH:
            for name in ("AE", "MUSAE"):
                before = theirs.get((name, source, target))
                if before is None:
                    continue
                row = [source, name, f"{before['micro_f1']:.3f} ± {before['standard_error']:.3f}"]
                majority = "–"
                for solver in SOLVERS:
                    for standardize in (False, True):
                        what = {"dataset": target, "source": source, "method": name, "solver": solver}
                        record = chosen.get(**what, standardize=standardize)
                        text = _measured(record, lambda r: r["scores"]["micro_f1"])
                        if record is not None:
                            text += f" ({mean_and_error(record['scores']['roc_auc'])[0]:.3f})"
                            majority = f"{mean_and_error(record['scores']['majority_micro_f1'])[0]:.3f}"
                        row.append(text)
                rows.append([*row, majority])
        header = ["source", "method", "published", "pmi, raw", "pmi, standardised", "sgns, raw", "sgns, standardised"]
        retrained = {name: row for (name, _, where), row in theirs.items() if where == target}
        said = ", ".join(f"{name} {row['retrained_on_target_micro_f1']:.3f}" for name, row in retrained.items())
        lines += [f"## To {target}", "", *markdown([*header, "majority"], rows), ""]
        lines += [f"Published for models that were fitted to {target} itself: {said}.", ""]
    return lines


def _densification(chosen: Chosen) -> list[str]:
    theirs = published_ratios()
    rows, differences = [], []
    for dataset in _datasets("densification", chosen):
        record = chosen.get(dataset=dataset)
        assert record is not None
        now, before = record["scores"]["nonzero_ratio"], theirs.get(dataset)
        if before is None:
            rows.append([dataset, *(f"– / {b:.3f}" for b in now)])
        else:
            rows.append([dataset, *(f"{a:.3f} / {b:.3f}" for a, b in zip(before, now, strict=True))])
            differences += [abs(a - b) for a, b in zip(before, now, strict=True)]
    lines = [
        "Share of the entries of AʳF that are not zero: published / measured, over the features that some node has.",
        "",
        *markdown(["data set", *(f"r = {r}" for r in POWERS)], rows),
    ]
    return [*lines, "", f"Largest difference: {max(differences):.4f}."] if differences else lines


def _runtime(chosen: Chosen) -> list[str]:
    theirs = {
        (r["method"], r["varied"], int(float(r["cores"])), int(float(r["log2_varied"]))): 2 ** float(r["log2_seconds"])
        for r in published("runtime")
    }
    lines = [
        "Seconds of one fit to an Erdős–Rényi graph, 8 edges a node, features drawn from 2¹¹; median of the runs. "
        "Published figures are of other machines; sgns trains one epoch as they did, pmi has none.",
        "",
    ]
    for varied in ("nodes", "features_per_node"):
        rows = []
        sizes = sorted({r["cell"][varied] for r in chosen.records if r["cell"]["varied"] == varied})
        for name in ("AE", "MUSAE"):
            for threads in (1, 2):
                before = [theirs.get((name, varied, threads, int(np.log2(size)))) for size in sizes]
                rows.append([name, "published", threads, *(f"{s:.1f}" if s else "–" for s in before)])
                for solver in SOLVERS:
                    row = [name, solver, threads]
                    for size in sizes:
                        what = {"method": name, "solver": solver, "threads": threads, "varied": varied, varied: size}
                        record = chosen.get(**what)
                        row.append(f"{np.median(record['scores']['seconds']):.3f}" if record else "–")
                    rows.append(row)
        lines += [f"## {varied.replace('_', ' ').capitalize()}", ""]
        lines += [*markdown(["method", "", "threads", *map(str, sizes)], rows), ""]
    return lines


def _theory(chosen: Chosen) -> list[str]:
    lines = [
        "Root mean square of G·Hᵀ minus the matrix of the theorems, over that of the matrix: sgns against "
        "log(c·PʳF·E⁻¹) − log b where it is finite, pmi against its positive part without log b. Dimensions are those "
        "of a hop: AE's one scale has three times as many.",
        "",
    ]
    for varied in ("walk_length", "dimensions"):
        here = [r for r in chosen.records if r["cell"]["varied"] == varied]
        values = sorted({r["cell"][varied] for r in here})
        rows = []
        for name in chosen.values("method"):
            for solver in SOLVERS:
                found = {
                    r["cell"][varied]: r["scores"]["distance"]
                    for r in here
                    if (r["cell"]["method"], r["cell"]["solver"]) == (name, solver)
                }
                for label in next(iter(found.values()), {}):
                    means = [mean_and_error(found[v][label])[0] if v in found else None for v in values]
                    rows.append([name, solver, label, *("–" if m is None else f"{m:.3f}" for m in means)])
        lines += [f"## {varied.replace('_', ' ').capitalize()}", ""]
        lines += [*markdown(["method", "solver", "scale", *map(str, values)], rows), ""]
    return lines


def _by_kind(text: str) -> Callable[[Chosen], list[str]]:
    """A page of an experiment whose scores come in several kinds: a table for each data set, AUC / AP."""

    def page(chosen: Chosen) -> list[str]:
        lines = [text, ""]
        for dataset in chosen.values("dataset"):
            rows, kinds = [], []
            for name in METHODS:
                for solver in WAYS:
                    record = chosen.get(method=name, solver=solver, dataset=dataset)
                    if record is None:
                        continue
                    area, precision = record["scores"]["roc_auc"], record["scores"]["average_precision"]
                    kinds = list(area)
                    cells = [(*mean_and_error(area[k]), mean_and_error(precision[k])[0]) for k in kinds]
                    rows.append(
                        [name, solver + _mark(record), *("{:.3f} ± {:.3f} / {:.3f}".format(*cell) for cell in cells)]
                    )
            lines += [f"## {dataset}", "", *markdown(["method", "solver", *kinds], rows), ""]
        return lines

    return page


def _footer(chosen: Chosen) -> list[str]:
    """What the figures were measured with."""
    marked = _explained(chosen.records)
    machines = []
    for record in chosen.records:
        m = record["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        machines.append(f"Measured on: {m['processor']}, {m['cores']} cores, Python {m['python']}, {versions}.")
    return [*marked, *([""] if marked else []), *dict.fromkeys(machines)]


_PAGES: dict[str, Callable[[Chosen], list[str]]] = {
    "classification": _on_splits("classification", "majority_micro_f1"),
    "regression": _on_splits("regression", "mean_r2"),
    "few-shot": _few_shot,
    "transfer": _transfer,
    "densification": _densification,
    "runtime": _runtime,
    "theory": _theory,
    "link-prediction": _by_kind(
        "Vectors learnt on half of the edges; the others against pairs that are no edges: ROC-AUC ± standard error / "
        "average precision, by what a pair's vectors are turned into."
    ),
    "attribute-inference": _by_kind(
        "A tenth of the (node, feature) entries hidden before the fit, ranked against pairs that are none: ROC-AUC ± "
        "standard error / average precision. *product* is G·Hᵀ, *likelihood* adds log p(f), *popularity* and "
        "*neighbors* know no vectors."
    ),
}
