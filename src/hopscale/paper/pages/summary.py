"""The page ``summary``: where each experiment stands, in sentences whose figures are computed from the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from hopscale.paper.estimates import TEST_SHARES, Estimate, estimate, paired
from hopscale.paper.experiments import RUNTIME_THREADS, SEEDED_RUNS
from hopscale.paper.methods import METHODS, SOLVERS, WAYS
from hopscale.paper.pages import runtime
from hopscale.paper.pages.curves import largest_difference
from hopscale.paper.pages.headline import HEADLINE, LIBRARYS, OURS, one_setting, others_ahead, verdicts, who_is_ahead
from hopscale.paper.pages.judges.links import NEIGHBOURS, above_best, above_degrees
from hopscale.paper.pages.judges.transfer import commonest_classes
from hopscale.paper.pages.layout import METRICS, measured_datasets
from hopscale.paper.pages.records import Records, apart, of_metric
from hopscale.paper.pages.tables import links_of_others, transfer_of_library
from hopscale.paper.store import Record, reference_values

__all__ = ["page"]

_PAGES = {
    "classification": "micro-F1 on seeded splits",
    "regression": "R² of log traffic on seeded splits",
    "few-shot": "a few labelled nodes of each class",
    "transfer": "fit and classifier on one network, tested on another",
    "densification": "non-zero entries of AʳF",
    "runtime": "seconds against size",
    "theory": "distance of G·Hᵀ from the theorems' matrix",
}
_SETTINGS = ("dimensions", "window", "walk_length", "walks_per_node", "epochs", "negatives", "learning_rate")


def page(records: Records) -> list[str]:
    """What was found in each experiment, and sentences on what needs more words."""
    lines = [
        f"- **[{experiment}]({experiment}.md)**, {what}. {' '.join(_FOUND[experiment](records))}"
        for experiment, what in _PAGES.items()
        if records.of(experiment).records
    ]
    for title, sentences in (
        ("Settings", _settings()),
        ("Solvers", _solvers(records)),
        ("The text's models", _text_models(records)),
        ("First splits", _first_splits(records)),
        ("Links", _links(records)),
        ("Hidden features", _hidden_features(records)),
    ):
        if text := " ".join(sentences):
            lines += ["", f"**{title}.** {text}"]
    return lines


def _scores(experiment: str, records: Records) -> Iterator[str]:
    measurements = records.of(experiment)
    if found := one_setting(experiment, measurements):
        yield f"{HEADLINE}, {METHODS[HEADLINE].default_way}, raw vectors: " + verdicts(experiment, found).replace(
            "It is", "it is", 1
        )
    for who in (None, LIBRARYS):
        if compared := others_ahead(experiment, measurements, who):
            yield who_is_ahead(compared, who)


def _few_shot(records: Records) -> Iterator[str]:
    """Curves of ours clearly above or below the published ones, of which no errors are known."""
    here = records.of("few-shot")
    curves = {(r["method"], r["dataset"], r["samples_per_class"]): r["micro_f1"] for r in reference_values("few_shot")}
    yield "Curves of our four against the published, by two of our standard errors, as the paper prints none."
    for solver in SOLVERS:
        for pick in (min, max):
            k = 0
            found: dict[str, list[str]] = {"above": [], "level": [], "below": []}
            for dataset, name in product(here.values("dataset"), OURS):
                record = here.get(dataset=dataset, method=name, solver=solver)
                if record is None:
                    continue
                k = pick(map(int, record["scores"]["micro_f1"]))
                theirs = curves.get((name, dataset, k))
                if theirs is not None:
                    ours = estimate(record["scores"]["micro_f1"][str(k)])
                    found[replace(ours, mean=ours.mean - theirs).verdict].append(f"{name} on {dataset}")
            if total := sum(map(len, found.values())):
                told = f"{len(found['above'])} of {total} are above and {len(found['level'])} level"
                told += f"; below are {_listed(found['below'])}" if found["below"] else ""
                yield f"{solver}, k = {k}: {told}."


def _transfer(records: Records) -> Iterator[str]:
    rows = {
        (r["method"], r["source"], r["target"]): Estimate(r["micro_f1"], r["standard_error"], freedom=SEEDED_RUNS - 1)
        for r in reference_values("transfer")
    }
    if commonest := commonest_classes(records):
        useful = sum(value.mean > commonest.get(target, np.inf) for (_, _, target), value in rows.items())
        yield f"{useful} of {len(rows)} published bars are above the share of the target's commonest class."
    for solver in SOLVERS:
        above: list[str] = []
        below: list[str] = []
        useful, clearly = 0, 0
        for (name, source, target), theirs in rows.items():
            what = {"method": name, "source": source, "dataset": target, "solver": solver, "standardize": False}
            if record := records.of("transfer").get(**what):
                score = estimate(record["scores"]["micro_f1"])
                here = score.mean
                clearly += score.minus(theirs).verdict == "above"
                (above if here > theirs.mean else below).append(source)
                useful += here > max(theirs.mean, records.mean(record, "target_majority_micro_f1"))
        if above or below:
            where = sorted(set(below))
            told = f"; below from {_listed(where)}" if where else ""
            bars = len(above) + len(below)
            yield (
                f"{solver}, raw vectors: {len(above)} of {bars} bars are above the published, {clearly} of them "
                f"clearly{told}. Of these {len(above)}, {useful} are above the share of "
                "the target's commonest class as well."
            )
    yield from transfer_of_library(records)


def _densification(records: Records) -> Iterator[str]:
    compared, largest, where = largest_difference(records.of("densification"))
    if compared:
        yield f"All {compared} points are within {largest:.4f}; the largest difference, on {where}, is not explained."


def _runtime(records: Records) -> Iterator[str]:
    for way in SOLVERS:
        ratios = []
        for name, threads in product(runtime.METHODS, RUNTIME_THREADS):
            theirs, ours = (
                runtime.seconds(records.of("runtime"), "nodes", each, name, threads) for each in ("published", way)
            )
            if common := set(theirs) & set(ours):
                ratios.append(theirs[max(common)] / ours[max(common)])
        if ratios:
            yield (
                f"{way}: {min(ratios):.0f} to {max(ratios):.0f} times as quick as published for the largest "
                "graphs, on another "
                "machine."
            )


def _theory(records: Records) -> Iterator[str]:
    found: dict[int, list[float]] = {}
    for record in records.of("theory").all(varied="walk_length", solver="sgns"):
        for distances in record["scores"]["distance"].values():
            found.setdefault(record["cell"]["walk_length"], []).append(estimate(distances).mean)
    if found:
        short, long = (float(np.mean(found[pick(found)])) for pick in (min, max))
        yield (
            f"Skip-gram: {short:.3f} with walks of {min(found)} steps, {long:.3f} with {max(found)}, mean over "
            "models and "
            "scales."
        )


def _settings() -> Iterator[str]:
    known = METHODS[HEADLINE].build("sgns").settings()
    told = ", ".join(f"`{name}={known[name]}`" for name in _SETTINGS if name in known)
    yield (
        f"Models have the paper's parameters, which are their defaults: {told}. The page on theory has small "
        "graphs and smaller steps."
    )


def _solvers(records: Records) -> Iterator[str]:
    ahead: dict[str, list[str]] = {"above": [], "below": [], "level": []}
    for experiment, metric in METRICS.items():
        for dataset in measured_datasets(experiment, records.of(experiment)):
            one, two = (records.cell(experiment, HEADLINE, way, dataset) for way in SOLVERS)
            if one and two:
                difference, _ = apart(one, two, of_metric(metric), TEST_SHARES[experiment])
                ahead[difference.verdict].append(dataset + difference.marks)
    if any(ahead.values()):
        yield (
            f"`pmi` is not merely a faster `sgns`: {HEADLINE} on raw vectors scores clearly higher by `pmi` on "
            f"{_listed(ahead['above'])}, and by `sgns` on {_listed(ahead['below'])}; both are level on "
            f"{_listed(ahead['level'])}."
        )
    yield from _solvers_of_few_labels(records)
    for way in SOLVERS:
        every = [
            r for experiment in METRICS for r in records.of(experiment).all(solver=way) if r["cell"]["method"] in OURS
        ]
        reduced = sum("†" in record["marks"] for record in every)
        if reduced:
            yield f"{reduced} of {len(every)} cells of our four by `{way}` have fewer walks than the paper's (†)."
        single = sum(record.get("fits", 1) == 1 for record in every)
        if single:
            yield (
                f"In {single} of {len(every)} cells of our four by `{way}` the error knows nothing of the fit, of "
                "which there is one."
            )


def _solvers_of_few_labels(records: Records) -> Iterator[str]:
    here = records.of("few-shot")
    for pick in (min, max):
        found, k = {}, 0
        for dataset in here.values("dataset"):
            one, two = (here.get(dataset=dataset, method=HEADLINE, solver=way) for way in ("sgns", "pmi"))
            if one and two:
                k = pick(map(int, one["scores"]["micro_f1"]))
                by_k = [record["scores"]["micro_f1"][str(k)] for record in (one, two)]
                found[dataset] = paired(*by_k)[0]
        if found:
            yield f"With {k} labelled nodes of each class, `sgns` beside `pmi` is {_sides(found)}."


def _text_models(records: Records) -> Iterator[str]:
    """What the scale of a node's own features is worth, which the text of the paper does not have."""
    told = []
    for (experiment, metric), way in product(METRICS.items(), SOLVERS):
        printed = {(r["method"], r["dataset"]): r[metric] for r in reference_values(experiment)}
        lost = []
        for name, dataset in product(OURS, measured_datasets(experiment, records.of(experiment))):
            pair = [records.cell(experiment, each, way, dataset) for each in (name, f"{name}-TEXT")]
            if pair[0] and pair[1]:
                with_it, without = (records.mean(record, metric) for record in pair if record)
                lost.append((with_it - without, without, name, dataset))
        if lost:
            most, without, name, dataset = max(lost)
            known = printed.get((name, dataset))
            beside = f", published {known:.3f}" if known is not None else ""
            told.append(
                f"{experiment} by `{way}` loses {np.mean([each[0] for each in lost]):.3f} in the mean of {len(lost)} "
                f"cells of {len({each[-1] for each in lost})} data sets, most {most:.3f} with {name} on {dataset} "
                f"({without:.3f}{beside})"
            )
    if told:
        yield f"Without a scale of the node's own features, {'; '.join(told)}."


def _first_splits(records: Records) -> Iterator[str]:
    """How much a score moves from few splits to all of them, where it moves most."""
    moved: list[tuple[float, float, float, Record]] = []
    for experiment, metric in METRICS.items():
        for record in records.of(experiment).records:
            scores = np.atleast_2d(np.array(record["scores"][metric], dtype=float))
            if record["cell"]["method"] in OURS and scores.shape[1] >= 10 * 10:
                first, every = float(scores[:, :10].mean()), float(scores.mean())
                moved.append((abs(first - every), first, every, record))
    if moved:
        _, first, every, record = max(moved, key=lambda each: each[0])
        cell = record["cell"]
        vectors = "standardised" if cell["standardize"] else "raw"
        yield (
            f"Ten splits can mislead, most of all {cell['method']} by {cell['solver']} on {cell['dataset']}, "
            f"{vectors} vectors: "
            f"{first:.3f} on the first ten, {every:.3f} on all."
        )


def _links(records: Records) -> Iterator[str]:
    """Links, of which the paper has no figures: beside methods of neighbours, and beside degrees alone."""
    ways = records.solvers("link-prediction")
    if ways:
        yield f"The paper shows no figures. Beside the best of {_listed(NEIGHBOURS)}, by any solver:"
    beside = [(way, above_best(records, "MUSAE-EGO", way, [*product(NEIGHBOURS, WAYS)])) for way in ways]
    told = [f"MUSAE-EGO by `{way}` is {_sides(found)}" for way, found in beside if found]
    if told:
        yield "; ".join(told) + "."
    sides: dict[tuple[str, str], list[str]] = {}
    for way, name in product(ways, OURS):
        for dataset, each in above_degrees(records, name, way).items():
            sides.setdefault((dataset, each.verdict), []).append(f"{name} by `{way}`")
    for (dataset, verdict), names in sides.items():
        if verdict != "above":
            than = "clearly above" if verdict == "below" else "level with"
            yield f"On {dataset} the product of degrees, which needs no vectors, is {than} {_listed(names)}."
    if ways:
        yield from links_of_others(records)


def _hidden_features(records: Records) -> Iterator[str]:
    here, share, told = records.of("attribute-inference"), TEST_SHARES["attribute-inference"], []
    for solver, way in product(SOLVERS, ("product", "likelihood")):
        found = {
            dataset: paired(record["scores"]["roc_auc"][way], record["scores"]["roc_auc"]["popularity"], share)[0]
            for dataset in here.values("dataset")
            if (record := here.get(dataset=dataset, method=HEADLINE, solver=solver))
        }
        if found:
            told.append(f"ranked by the {way}, {HEADLINE} by `{solver}` is {_sides(found)}")
    if told:
        yield f"Beside the number of nodes that have the feature: {'; '.join(told)}."


def _sides(found: Mapping[str, Estimate]) -> str:
    """Where differences are clearly above zero, clearly below, and neither.

    >>> _sides({"cora": Estimate(0.5, 0.1), "pubmed": Estimate(0.1, 0.1)})
    'clearly above on cora and level on pubmed'
    """
    words = {"above": "clearly above", "below": "clearly below", "level": "level"}
    names = {verdict: [name for name, each in found.items() if each.verdict == verdict] for verdict in words}
    return _listed(f"{words[verdict]} on {_listed(names[verdict])}" for verdict in words if names[verdict])


def _listed(names: Iterable[str]) -> str:
    *first, last = [*names] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


_FOUND = {
    "classification": lambda records: _scores("classification", records),
    "regression": lambda records: _scores("regression", records),
    "few-shot": _few_shot,
    "transfer": _transfer,
    "densification": _densification,
    "runtime": _runtime,
    "theory": _theory,
}
