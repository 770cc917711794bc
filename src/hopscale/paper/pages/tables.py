"""The pages ``few-shot``, ``transfer``, ``link-prediction`` and ``attribute-inference``: tables of methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any

import numpy as np

from hopscale.paper.estimates import TEST_SHARES, estimate
from hopscale.paper.experiments import TARGETS
from hopscale.paper.methods import METHODS, SOLVERS, WAYS
from hopscale.paper.options import TWITCH
from hopscale.paper.pages.differences import told
from hopscale.paper.pages.headline import LIBRARYS, TOLERANCES, other_methods, who_is_ahead
from hopscale.paper.pages.judges.links import others_ahead as links_ahead
from hopscale.paper.pages.judges.transfer import others_ahead
from hopscale.paper.pages.layout import COLOURS, mark, panels_in_a_row, rounded, score_text, table
from hopscale.paper.pages.records import Records
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.tasks import link_prediction

_SHOWN = (3, 9, 15, 21, 30)  # values of k in the tables; the plot has all
_MET = TOLERANCES["classification"]  # what is below a curve by no more counts as met
_METHODS = ("AE", "MUSAE")
_COLUMNS, _KINDS = ("direct", "sgns"), ("raw", "standardised")
_CORRECTED = "Standard errors are corrected for splits that overlap, by the method of Nadeau and Bengio."
_EDGES = inspect.signature(link_prediction).parameters["max_edges"].default
_NODE2VEC = "Node2Vec is DeepWalk here, since p and q are one. "
_OWN = "Solver *own* is that of methods without a choice of solvers. "
_TEXTS = {
    "link-prediction": f"Vectors learnt on half of the edges; the others, or {_EDGES:,} of them, against as many "
    "pairs that are no edges: ROC-AUC ± standard error / average precision. A classifier, trained on four fifths of "
    "these pairs and tested on the rest, has a vector for each pair, made "
    "from those of its nodes entry by entry: *hadamard* is their product, *average* their mean, *l1* the absolute "
    "and *l2* the squared difference. *preferential_attachment* is the product of degrees, without vectors. "
    + _NODE2VEC
    + _OWN
    + _CORRECTED,
    "attribute-inference": "A tenth of the (node, feature) entries hidden before the fit, ranked against as many "
    "pairs of a node and a feature that it does not have, of features that some node has: ROC-AUC ± standard error / "
    "average precision. *product* is G·Hᵀ, the sum over scales, which leaves out how common a feature is: drawn pairs "
    "are mostly of rare features, entries of common ones, and a score that is a little higher for rare features is "
    "below a half. *likelihood* is the mean over scales plus log p(f), which puts that in. "
    "*popularity* and *neighbors* know no vectors: nodes that have the feature, "
    "and the share of a node's neighbours that have it. " + _OWN + _CORRECTED,
}


def few_shot_page(measurements: Measurements, _: Records) -> list[str]:
    reference = published_curves()
    shown = [k for k in measurements.records[0]["scores"]["micro_f1"] if int(k) in _SHOWN]

    def cells(record: Record) -> list[str]:
        name = METHODS[record["cell"]["method"]].published
        published = reference.get((name, record["cell"]["dataset"]), {})
        scores = record["scores"]["micro_f1"]
        return [f"{rounded(published.get(int(k)))} / {estimate(scores[k])}" for k in shown]

    text = (
        "Mean micro-F1 of k training nodes a class, tested on all others: published / measured ± standard error over "
        "draws of the training nodes. These hardly overlap, while nearly all other nodes are tested on in every draw: "
        "errors know of the choice of training nodes, and nothing of that of nodes to test on, so that the correction "
        "for splits that overlap does not apply. They say how well the mean over draws on this data set is known. A "
        f"single draw varies by √{_longest(measurements)} times as much, and the training nodes of a draw with fewer "
        "are among those with more. The paper prints no errors. " + _NODE2VEC + _OWN
    )
    return [text, "", *_below(measurements), *_by_method(measurements, [f"k = {k}" for k in shown], cells)]


def _below(measurements: Measurements) -> list[str]:
    """Curves that no solver of the same method meets, by means over k."""
    rows, total = [], 0
    for (name, dataset), curve in published_curves().items():
        if name not in METHODS:
            continue
        found = []
        for way in METHODS[name].ways:
            if record := measurements.get(method=name, dataset=dataset, solver=way):
                here = {float(k): estimate(scores).mean for k, scores in record["scores"]["micro_f1"].items()}
                if common := [k for k in curve if k in here]:
                    ours, theirs = (float(np.mean([values[k] for k in common])) for values in (here, curve))
                    found.append((ours, theirs, way, mark(record)))
        if not found:
            continue
        total += 1
        ours, theirs, way, marks = max(found)
        if ours < theirs - _MET:
            rows.append([name, dataset, f"{theirs:.3f}", f"{ours:.3f}{marks} ({way})", f"{ours - theirs:+.3f}"])
    header = ["method", "data set", "published", "the best of its solvers here", "difference"]
    text = (
        f"By means over k, {total - len(rows)} of {total} published curves are met or above, by no more than {_MET:g} "
        "below. The reasons of the others were not looked for:"
    )
    return table("Below the published curves", header, rows, text) if rows else []


def _longest(measurements: Measurements) -> int:
    return max(record["repeats"] for record in measurements.records)


def few_shot_plot(measurements: Measurements, figure: Any) -> None:
    """Micro-F1 against k, a panel per data set."""
    datasets = measurements.values("dataset")
    for axis, dataset in zip(panels_in_a_row(figure, len(datasets)), datasets, strict=True):
        for (name, where), points in published_curves().items():
            if where == dataset:
                axis.plot([*points], [*points.values()], ":", color=COLOURS.get(name, "lightgray"), linewidth=1)
        for name, colour in COLOURS.items():
            if record := measurements.get(method=name, solver="pmi", dataset=dataset):
                scores = record["scores"]["micro_f1"]
                axis.plot([*map(int, scores)], [np.mean(v) for v in scores.values()], color=colour, label=name)
        axis.set(title=dataset, xlabel="samples per class", ylabel="micro-F1")
    axis.plot([], [], "k:", label="published")
    axis.legend()


def published_curves() -> dict[tuple[str, str], dict[float, float]]:
    """The paper's micro-F1 for each k, by method and data set."""
    curves: dict[tuple[str, str], dict[float, float]] = {}
    for row in reference_values("few_shot"):
        curves.setdefault((row["method"], row["dataset"]), {})[row["samples_per_class"]] = row["micro_f1"]
    return curves


def held_out_page(experiment: str, measurements: Measurements, records: Records) -> list[str]:
    kinds = list(measurements.records[0]["scores"]["roc_auc"])

    def cells(record: Record) -> list[str]:
        area, precision = record["scores"]["roc_auc"], record["scores"]["average_precision"]
        share = TEST_SHARES[experiment]
        return [f"{estimate(area[kind], share)} / {estimate(precision[kind]).mean:.3f}" for kind in kinds]

    runs = " or ".join(map(str, sorted({record["repeats"] for record in measurements.records})))
    text = f"{_TEXTS[experiment]} Means over {runs} runs; each hides others and fits anew."
    if experiment == "link-prediction":
        text += " " + " ".join(links_of_others(records))
    return [text, "", *_by_method(measurements, kinds, cells)]


def links_of_others(records: Records) -> Iterator[str]:
    """Where others' methods, and this library's own, are clearly ahead of the four in link prediction."""
    yield "The best of our four beside the best of others, by any solver and the best operator."
    for who in (None, LIBRARYS):
        rivals = who or [*chain(*other_methods("classification"))]
        if found := links_ahead(records, rivals):
            yield who_is_ahead(found, who)


def _by_method(
    measurements: Measurements, columns: Sequence[str], cells: Callable[[Record], Iterable[str]]
) -> list[str]:
    """A table per data set, with a row of cells for each method and solver that was measured."""
    lines = []
    for dataset in measurements.values("dataset"):
        rows = [
            [name, solver + mark(record), *cells(record)]
            for name, solver in product(METHODS, WAYS)
            if (record := measurements.get(method=name, solver=solver, dataset=dataset))
        ]
        lines += table(dataset, ["method", "solver", *columns], rows)
    return lines


def transfer_page(measurements: Measurements, records: Records) -> list[str]:
    reference = {(r["method"], r["source"], r["target"]): r for r in reference_values("transfer")}
    lines = [
        "Micro-F1 on the target of a classifier that was trained on the source, mean ± standard error over fits "
        "with other "
        "seeds; AUC in brackets. Nothing is split: the error says how much the fit matters, and nothing of the "
        "data. The "
        "last columns are the commonest class of the source and of the target, answered everywhere. Direct is pmi, or "
        "what a method without a choice of solvers does. " + " ".join(transfer_of_library(records)),
        "",
    ]
    header = ["source", "method", "published", *(f"{way}, {kind}" for way, kind in product(_COLUMNS, _KINDS))]
    inductive = [name for name in METHODS if name in _METHODS or measurements.all(method=name)]
    for target in TARGETS:
        rows = []
        for source, name in product(TWITCH, inductive):
            value = reference.get((METHODS[name].published, source, target))
            cells, classes = _transferred(measurements, source, target, name)
            if set(cells) - {"–"} or (value and name in _METHODS):
                printed = f"{value['micro_f1']:.3f} ± {value['standard_error']:.3f}" if value else "–"
                rows.append([source, name, printed, *cells, *classes])
        lines += table(f"To {target}", [*header, "source's class", "target's class"], rows)
        lines += [*_retrained(target, reference, records), ""]
    return lines


def _transferred(measurements: Measurements, source: str, target: str, name: str) -> tuple[list[str], list[str]]:
    """Cells of both solvers on raw and standardised vectors, and of the commonest classes."""
    cells, classes = [], ["–", "–"]
    for solver, standardize in product((METHODS[name].default_way, "sgns"), (False, True)):
        what = {"dataset": target, "source": source, "method": name, "solver": solver}
        record = measurements.get(**what, standardize=standardize)
        text = score_text(record, "micro_f1")
        if record is not None:
            scores = record["scores"]
            text += f" ({estimate(scores['roc_auc']).mean:.3f})"
            answers = (scores[f"{of}majority_micro_f1"] for of in ("", "target_"))
            classes = [f"{estimate(each).mean:.3f}" for each in answers]
        cells.append(text)
    return cells, classes


def transfer_of_library(records: Records) -> Iterator[str]:
    """Where this library's own methods are clearly ahead of AE and MUSAE by either solver, in words."""
    for name in LIBRARYS:
        if found := others_ahead(records, [name]):
            ahead = {pair: each for pair, each in found.items() if each.verdict == "above"}
            where = f" ({told(ahead)})" if ahead else ""
            higher = sum(each.mean > 0 for each in found.values())
            yield (
                f"{name}, a method of this library that no paper has, is above the best of AE and MUSAE by either "
                f"solver, on raw vectors, in {higher} of {len(found)} pairs of networks, clearly in "
                f"{len(ahead)}{where}."
            )


def _retrained(target: str, reference: dict[tuple[str, str, str], dict[str, Any]], records: Records) -> list[str]:
    """The paper's line for a fit to the target itself, and the same as measured under classification."""
    known = {name: row for (name, _, where), row in reference.items() if where == target}
    values = ", ".join(f"{name} {row['retrained_on_target_micro_f1']:.3f}" for name, row in known.items())
    lines = [f"Fitted to {target} itself: published {values}."]
    here = records.of("classification")
    share = TEST_SHARES["classification"]
    found = [
        f"{name} {solver} {score_text(record, 'micro_f1', share)}"
        for name, solver in product(_METHODS, SOLVERS)
        if (record := here.get(dataset=target, method=name, solver=solver, standardize=False))
    ]
    return [lines[0] + (f" Measured, on raw vectors: {', '.join(found)}." if found else "")]


def transfer_plot(measurements: Measurements, figure: Any) -> None:
    """Bars of micro-F1 for each source, a panel per target and method."""
    panels = list(product(measurements.values("dataset"), _METHODS))
    rows = reference_values("transfer")
    for axis, (target, name) in zip(panels_in_a_row(figure, len(panels), 3.2), panels, strict=True):
        here = [row for row in rows if row["method"] == name and row["target"] == target]
        positions = np.arange(len(here))
        axis.bar(positions - 0.3, [r["micro_f1"] for r in here], 0.2, color="lightgray", label="published")
        for shift, solver, colour in ((-0.1, "pmi", "tab:red"), (0.1, "sgns", "tab:blue")):
            for position, row in zip(positions, here, strict=True):
                what = {"dataset": target, "source": row["source"], "method": name, "solver": solver}
                if record := measurements.get(**what, standardize=False):
                    height = estimate(record["scores"]["micro_f1"]).mean
                    axis.bar(position + shift, height, 0.2, color=colour, label=solver if position == 0 else None)
        if here:  # the paper's value for a model that was fitted to the target itself
            axis.axhline(here[0]["retrained_on_target_micro_f1"], color="gray", linestyle=":", label="retrained")
        axis.set_xticks(positions, [r["source"].removeprefix("twitch-").upper() for r in here])
        axis.set(title=f"{name} to {target}", ylabel="micro-F1", ylim=(0, 0.85))
    axis.legend()
