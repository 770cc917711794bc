"""What judges the claims of the paper: differences and counts, by its own figures and by records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import median
from typing import Any

import numpy as np

from hopscale.paper.estimates import TEST_SHARES, Estimate, estimate
from hopscale.paper.experiments import RUNTIME_THREADS
from hopscale.paper.methods import METHODS, WAYS
from hopscale.paper.pages import runtime
from hopscale.paper.pages.differences import Evidence, everywhere, printed_datasets, shares, tendency, told
from hopscale.paper.pages.headline import LIBRARYS, OURS, TOLERANCES, best_of, other_methods, others_ahead
from hopscale.paper.pages.layout import METRICS, mark, measured_datasets
from hopscale.paper.pages.records import Records, apart, of_metric
from hopscale.paper.pages.tables import published_curves
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.paper.supervised import SUPERVISED_ROWS, WAY, rows_of

NEIGHBOURS = ("DeepWalk", "Walklets", "LINE2", "Node2Vec", "NetMF", "HOPE", "GraRep")  # proximity-preserving methods
_CLOSEST = ("ASNE", "AANE")
_RANDOM = 0.5  # the paper's line of random guesses, for two classes
_NEAR = 0.25  # how far a slope may be from one to be called linear
_NO_GAIN = 1.25  # a gain of more threads below which they do not help
_MATERIAL = TOLERANCES["classification"]  # a difference that is smaller is not material
_LARGER, _SMALLER = ("facebook", "github"), "twitch-pt"  # networks of few labels, as the paper calls them

_AS_PRINTED = "measured, others as published"
_RAW, _EITHER = (False,), (False, True)  # vectors that are not standardised, or may be
# The penalty of the regression is fixed, so that raw scores depend on the length of vectors.
_KINDS: dict[str, dict[str, Sequence[bool]]] = {
    "classification": {"": _RAW},
    "regression": {"": _RAW, "either kind of vectors": _EITHER},
}

Judge = Callable[[Records], Iterator[Evidence]]
Pick = Callable[[str], Record | None]  # of a data set


def multi_scale(experiment: str) -> Judge:
    def judge(records: Records) -> Iterator[Evidence]:
        for way, ego in product(records.ways(experiment), ("", "-EGO")):
            if found := records.between(experiment, f"MUSAE{ego}", f"AE{ego}", way):
                what = f"MUSAE{ego} minus AE{ego}"
                yield tendency(way, found, what, of=f"MUSAE{ego}", counted=printed_datasets(experiment))

    return judge


def ours_ahead(experiment: str) -> Judge:
    def judge(records: Records) -> Iterator[Evidence]:
        printed, beyond = other_methods(experiment)
        what = "the best of the four minus the best of the others"
        for way in records.printed(experiment):
            yield tendency(way, _printed_best(records, experiment, OURS, _unsupervised(experiment), way), what)
        for (rivals, which, of), (kind, standardize) in product(_rivals(printed, beyond), _KINDS[experiment].items()):
            ahead = others_ahead(experiment, records.of(experiment), rivals, standardize)
            if found := {ours["cell"]["dataset"]: difference for ours, _, difference, _ in ahead}:
                what = ", ".join(filter(None, (f"the best of the four minus the best of {which}", kind)))
                label = ", ".join(filter(None, (of, kind)))
                yield tendency("measured", found, what, of=label, counted=printed_datasets(experiment))

    return judge


def _rivals(printed: list[str], beyond: list[str]) -> list[tuple[list[str], str, str]]:
    """Sets of other methods, what each is, and its name in a list of verdicts."""
    own = [*LIBRARYS]
    return [
        (printed, "the other methods that the paper has figures of", "rivals of the paper"),
        ([*printed, *beyond], f"these and {', '.join(beyond)}", "rivals of other papers too"),
        ([*printed, *beyond, *own], f"all of these and {', '.join(own)}, which is ours", f"{', '.join(own)} too"),
    ]


def closest(records: Records) -> Iterator[Evidence]:
    experiment = "classification"
    best = {
        dataset: _highest(experiment, dataset, _unsupervised(experiment))["method"] for dataset in _in_order(experiment)
    }
    yield _closest("published", best)
    printed, _ = other_methods(experiment)
    ahead = others_ahead(experiment, records.of(experiment), printed, _RAW)
    known = printed_datasets(experiment)
    here = {o["cell"]["dataset"]: t["cell"]["method"] for o, t, _, _ in ahead if o["cell"]["dataset"] in known}
    if here:
        yield _closest("measured", here)


def _closest(source: str, best: dict[str, str]) -> Evidence:
    names = ", ".join(f"{dataset} {name}" for dataset, name in best.items())
    return shares(source, sum(name in _CLOSEST for name in best.values()), len(best), f"closest are: {names}")


def first_order(records: Records) -> Iterator[Evidence]:
    experiment = "classification"
    printed, _ = other_methods(experiment)
    weak = [name for name in printed if _is_attributed(name) and not METHODS[name].build().higher_order]
    others = [name for name in printed if name not in weak]
    what = f"the best of the other rivals minus the best of {', '.join(weak)}"
    for way in records.printed(experiment):
        yield tendency(way, _printed_best(records, experiment, others, weak, way), what)
    here = records.of(experiment)
    if found := _measured_best(
        here, experiment, lambda dataset: best_of(here, experiment, dataset, others, _RAW), weak
    ):
        yield tendency("measured", found, what, counted=printed_datasets(experiment))


def no_impact_of_ego(records: Records) -> Iterator[Evidence]:
    tolerance, known = _MATERIAL, printed_datasets("classification")
    ways = ("published", *records.solvers("classification"))
    for way, name in product(ways, ("AE", "MUSAE")):
        found = records.between("classification", f"{name}-EGO", name, way)
        judged = {dataset: each for dataset, each in found.items() if dataset in known}
        small = [dataset for dataset, each in judged.items() if abs(each.mean) <= tolerance]
        large = told({dataset: each for dataset, each in judged.items() if dataset not in small})
        if judged:
            cells = f"{name}-EGO and {name} differ by no more than {tolerance:g}" + (f", but {large}" if large else "")
            yield shares(way, len(small), len(judged), cells, of=name)


def only_multi_scale_gains_by_ego(records: Records) -> Iterator[Evidence]:
    for way in records.ways("regression"):
        both = [records.between("regression", f"{name}-EGO", name, way) for name in ("MUSAE", "AE")]
        if all(both):
            gains = [
                tendency(way, each, f"{name}-EGO minus {name}")
                for each, name in zip(both, ("MUSAE", "AE"), strict=True)
            ]
            verdict = "does not hold" if gains[1].verdict.startswith("holds") else gains[0].verdict
            yield Evidence(way, verdict, "; ".join(each.cells for each in gains))


def margin_of_labels(records: Records) -> Iterator[Evidence]:
    experiment, metric = "classification", METRICS["classification"]
    networks = [name for name in SUPERVISED_ROWS if name in {row["method"] for row in reference_values(experiment)}]
    yield _margins("published", _printed_best(records, experiment, networks, OURS))
    here, margins = records.of(experiment), {}
    for dataset in measured_datasets(experiment, here):
        named = [name for name in rows_of(experiment) if name in networks]
        found = [r for name in named if (r := here.get(method=name, solver=WAY, dataset=dataset))]
        ours = best_of(here, experiment, dataset, OURS, _RAW)
        if found and ours:
            best = max(found, key=lambda record: records.mean(record, metric))
            margins[dataset] = apart(best, ours, of_metric(metric), TEST_SHARES[experiment])[0]
    if margins:
        yield _margins("measured", margins)


def _margins(source: str, margins: dict[str, Estimate]) -> Evidence:
    means = [each.mean for each in margins.values()]
    middle, least, tolerance = median(means), min(means), TOLERANCES["classification"]
    verdict = "holds" if abs(middle - 4 * tolerance) <= tolerance and least <= tolerance else "does not hold"
    return Evidence(
        source, verdict, f"the best network minus the best of the four: median {middle:+.3f}. {told(margins)}"
    )


def few_labels_ours(records: Records) -> Iterator[Evidence]:
    def material(source: str, found: dict[str, Estimate], rivals: str, of: str) -> Evidence:
        level = sum(each.verdict == "above" and each.mean >= _MATERIAL for each in found.values())
        return shares(
            source, level, len(found), f"the best of the four minus the best of {rivals}: {told(found)}", of=of
        )

    printed, beyond = other_methods("few-shot")
    yield material("published", _printed_curves(OURS, printed), "the others", "")
    for rivals, which, of in _rivals(printed, beyond):
        if found := _few_labels(records, OURS, rivals):
            yield material("measured", found, which, of)
    if found := _beside_printed_curves(records, printed):
        yield material(_AS_PRINTED, found, "the others as the paper has them", "")


def few_labels_ego(records: Records) -> Iterator[Evidence]:
    for way, name in product(records.ways("few-shot"), ("AE", "MUSAE")):
        pair = [f"{name}-EGO"], [name]
        found = _printed_curves(*pair) if way == "published" else _few_labels(records, *pair, way)
        if found:
            gains = sum(each.verdict == "above" for each in found.values())
            yield shares(way, gains, len(found), f"{name}-EGO minus {name}: {told(found)}", of=name)


def _few_labels(
    records: Records, first: Iterable[str], second: Iterable[str], way: str | None = None
) -> dict[str, Estimate]:
    """By data set, how far the best of some methods is above the best of others, by the mean over k of each draw."""
    here, found = records.of("few-shot"), {}
    for dataset in here.values("dataset"):
        if dataset not in printed_datasets("few-shot"):
            continue
        best = []
        for names in (first, second):
            cells = product(names, WAYS if way is None else (way,))
            found_here = [r for name, how in cells if (r := here.get(dataset=dataset, method=name, solver=how))]
            best += sorted(found_here, key=lambda record: estimate(_over_k(record)).mean)[-1:]
        if len(best) == 2:
            found[dataset] = apart(best[0], best[1], _over_k)[0]
    return found


def _beside_printed_curves(records: Records, rivals: Iterable[str]) -> dict[str, Estimate]:
    """By data set, how far the best of the four measured here is above the best curve that the paper has of others."""
    here, curves, found = records.of("few-shot"), _curves(), {}
    for dataset in dict.fromkeys(dataset for dataset, _ in curves):
        cells = (here.get(dataset=dataset, method=name, solver=way) for name, way in product(OURS, WAYS))
        ours = [replace(estimate(_over_k(record)), marks=record["marks"]) for record in cells if record]
        if ours:
            best = max(ours, key=lambda each: each.mean)
            found[dataset] = replace(best, mean=best.mean - max(curves[dataset, name] for name in rivals))
    return found


def _over_k(record: Record) -> list[list[float]]:
    """The mean over k of each draw, by fits."""
    by_k = record["scores"]["micro_f1"].values()
    mean = np.mean([np.atleast_2d(np.array(scores, dtype=float)) for scores in by_k], axis=0)
    return [list(map(float, fit)) for fit in mean]


def _printed_curves(first: Iterable[str], second: Iterable[str]) -> dict[str, Estimate]:
    """The same of the paper's curves, which have no errors."""
    means = _curves()
    sides = [*first], [*second]
    found = {}
    for dataset in dict.fromkeys(dataset for dataset, _ in means):
        one, two = (max(means[dataset, name] for name in names if (dataset, name) in means) for names in sides)
        found[dataset] = Estimate(one - two, float("nan"))
    return found


def _curves() -> dict[tuple[str, str], float]:
    """Means over k of the paper's curves, by data set and method."""
    curves = published_curves().items()
    return {(dataset, name): sum(curve.values()) / len(curve) for (name, dataset), curve in curves}


def larger_data_sets(records: Records) -> Iterator[Evidence]:
    """Of few labels: what the four gain on the larger networks, less what they gain on the smaller one."""
    printed, _ = other_methods("few-shot")
    for source, gains in (
        ("published", _printed_curves(OURS, printed)),
        ("measured", _few_labels(records, OURS, printed)),
        (_AS_PRINTED, _beside_printed_curves(records, printed)),
    ):
        if {_SMALLER, *_LARGER} <= gains.keys():
            more = {dataset: gains[dataset].minus(gains[_SMALLER]) for dataset in _LARGER}
            yield everywhere(source, more, f"the gain on each minus that on {_SMALLER}")


def best_baseline(records: Records) -> Iterator[Evidence]:
    experiment = "regression"
    rivals = _unsupervised(experiment)
    best = {dataset: _highest(experiment, dataset, rivals)[METRICS[experiment]] for dataset in _in_order(experiment)}
    for way in records.printed(experiment):
        found = _printed_best(records, experiment, ["MUSAE-EGO"], rivals, way)
        yield _with_shares(everywhere(way, found), found, best)
    here = records.of(experiment)
    for way, (kind, standardize) in product(records.solvers(experiment), _KINDS[experiment].items()):
        own = _musae_ego(records, experiment, way, standardize)
        if found := _measured_best(here, experiment, own, rivals, standardize):
            best = {
                dataset: records.mean(record, METRICS[experiment])
                for dataset in found
                if (record := best_of(here, experiment, dataset, rivals, standardize))
            }
            yield _with_shares(everywhere(way, found, kind, of=kind or "raw vectors"), found, best)


def _with_shares(evidence: Evidence, found: dict[str, Estimate], best: dict[str, float]) -> Evidence:
    """The same, with differences as shares of what they are differences from."""
    parts = ", ".join(f"{dataset} {each.mean / best[dataset]:+.0%}" for dataset, each in found.items())
    return replace(evidence, cells=f"{evidence.cells}; relative to the best baseline: {parts}")


def ahead_of_attributed(records: Records) -> Iterator[Evidence]:
    for experiment in METRICS:
        rivals = [name for name in other_methods(experiment)[0] if _is_attributed(name)]
        what = f"minus the best of {', '.join(rivals)}"
        for way in records.printed(experiment):
            found = _printed_best(records, experiment, ["MUSAE-EGO"], rivals, way)
            yield tendency(way, found, f"{experiment}, {what}", of=experiment)
        for way, (kind, standardize) in product(records.solvers(experiment), _KINDS[experiment].items()):
            own = _musae_ego(records, experiment, way, standardize)
            of = ", ".join(filter(None, (experiment, kind)))
            if found := _measured_best(records.of(experiment), experiment, own, rivals, standardize):
                yield tendency(way, found, f"{of}, {what}", of=of, counted=printed_datasets(experiment))


def beats_random(records: Records) -> Iterator[Evidence]:
    rows = reference_values("transfer")
    printed = [row["micro_f1"] for row in rows]
    above = sum(value > _RANDOM for value in printed)
    name = f"micro_f1 above {_RANDOM:g}"
    cells = f"{name}: from {min(printed):.3f} to {max(printed):.3f}"
    yield shares("published", above, len(printed), cells, of=name, always=True)
    name, commonest = "micro_f1 above the target's commonest class", commonest_classes(records)
    if above := [f"{r['method']} {_from_to(r['source'], r['target'])}" for r in rows if _is_above(r, commonest)]:
        cells = f"{name}: {', '.join(above)}"
        yield shares("published", len(above), len(rows), cells, of=name, always=True)
    for way in records.solvers("transfer"):
        bars = _transferred(records, way)
        for metric, than in (("micro_f1", _RANDOM), ("roc_auc", _RANDOM), ("micro_f1", "target_majority_micro_f1")):
            below = []
            for r in bars:
                least = than if isinstance(than, float) else records.mean(r, than)
                if not records.mean(r, metric) > least:
                    score = f"{records.mean(r, metric):.3f}{mark(r)}"
                    between = _from_to(r["cell"]["source"], r["cell"]["dataset"])
                    below.append(f"{r['cell']['method']} {between} {score}")
            name = f"{metric} above " + (f"{than:g}" if isinstance(than, float) else "the target's commonest class")
            cells = f"{name}" + (f"; not {', '.join(below)}" if below else "")
            yield shares(way, len(bars) - len(below), len(bars), cells, of=name, always=True)


def _from_to(source: str, target: str) -> str:
    return " to ".join(name.removeprefix("twitch-") for name in (source, target))


def _is_above(row: Mapping[str, Any], commonest: Mapping[str, float]) -> bool:
    return bool(row["micro_f1"] > commonest.get(row["target"], np.inf))


def commonest_classes(records: Records) -> dict[str, float]:
    """Micro-F1 of the commonest class of each data set that others were transferred to."""
    return {r["cell"]["dataset"]: records.mean(r, "target_majority_micro_f1") for r in records.of("transfer").records}


def near_retrained(records: Records) -> Iterator[Evidence]:
    """Cells near a fit to the target itself, where that says more than the target's commonest class."""
    rows, commonest = reference_values("transfer"), commonest_classes(records)
    targets = [(row["target"], row["micro_f1"], row["retrained_on_target_micro_f1"]) for row in rows]
    yield from _near("published", targets, commonest)
    for way in records.solvers("transfer"):
        pairs = []
        for record in _transferred(records, way):
            cell = record["cell"]
            if own := records.cell("classification", cell["method"], way, cell["dataset"]):
                pairs.append((cell["dataset"], *(records.mean(each, "micro_f1") for each in (record, own))))
        yield from _near(way, pairs, commonest)


def _near(source: str, pairs: Sequence[tuple[str, float, float]], commonest: Mapping[str, float]) -> Iterator[Evidence]:
    """Of targets, scores of transfer and of a fit to the target."""
    learnt = [one - two for target, one, two in pairs if two > commonest.get(target, 0.0)]
    beside = [one - two for target, one, two in pairs if not two > commonest.get(target, 0.0)]
    near, also = (sum(each >= -TOLERANCES["classification"] for each in those) for those in (learnt, beside))
    cells = []
    if learnt:
        cells.append(f"{near} of {len(learnt)} cells; differences from {min(learnt):+.3f} to {max(learnt):+.3f}")
    if beside:
        cells.append(
            f"{len(beside)} cells are not counted, as a fit to their target is no better than its commonest class; "
            f"{also} of them are near"
        )
    if cells:
        yield Evidence(source, "holds" if near else "does not hold" if learnt else "not judged", ". ".join(cells))


def _transferred(records: Records, way: str) -> list[Record]:
    return [r for r in records.of("transfer").all(solver=way, standardize=False) if r["cell"]["method"] in OURS]


def linear(records: Records) -> Iterator[Evidence]:
    for way, varied in product(("published", "sgns", "pmi"), runtime.VARIED):
        if found := runtime.slopes(records.of("runtime"), varied, way):
            near, name = sum(abs(each - 1) <= _NEAR for each in found), varied.replace("_", " ")
            steeper = sum(each > 1 + _NEAR for each in found)
            cells = f"slopes in {name}: " + ", ".join(f"{each:.2f}" for each in found) + f"; {steeper} are steeper"
            yield shares(way, near, len(found), cells, of=name)


def threads(records: Records) -> Iterator[Evidence]:
    for way in ("published", "sgns", "pmi"):
        found = {
            f"{name} {threads} threads": both[1]
            for name, threads in product(runtime.METHODS, RUNTIME_THREADS[1:])
            if (both := runtime.gains(records.of("runtime"), way, name, threads))
        }
        if found:
            cells = "times as quick: " + ", ".join(f"{name} {gain:.2f}" for name, gain in found.items())
            yield shares(way, sum(gain < _NO_GAIN for gain in found.values()), len(found), cells)


def implicit(records: Records) -> Iterator[Evidence]:
    """Seconds of the solver that makes no matrix over those of the one that does, at the largest graphs."""
    ratios = {}
    for name, threads, varied in product(runtime.METHODS, RUNTIME_THREADS, runtime.VARIED):
        without, explicit = (
            runtime.seconds(records.of("runtime"), varied, way, name, threads) for way in ("sgns", "pmi")
        )
        if common := set(without) & set(explicit):
            what = f"{name}, most {varied.replace('_', ' ')}, {threads} thread{'' if threads == 1 else 's'}"
            ratios[what] = without[max(common)] / explicit[max(common)]
    if ratios:
        cells = "seconds of sgns over those of pmi: " + ", ".join(f"{name} {each:.1f}" for name, each in ratios.items())
        yield shares("measured, seconds", sum(each < 1 for each in ratios.values()), len(ratios), cells)


def links(first: str, rivals: tuple[str, ...], *, matches: bool = False) -> Judge:
    """A model above others of the same solver; or one that ``matches`` the best of others, of whatever solver."""

    def judge(records: Records) -> Iterator[Evidence]:
        here = records.of("link-prediction")
        for way in records.solvers("link-prediction"):
            found = {}
            for dataset in here.values("dataset"):
                one = here.get(dataset=dataset, method=first, solver=way)
                pairs = product(rivals, WAYS if matches else (way,))
                two = [r for name, how in pairs if (r := here.get(dataset=dataset, method=name, solver=how))]
                if one and two:
                    best = max(two, key=lambda record: estimate(_best_operator(record)).mean)
                    found[dataset] = apart(one, best, _best_operator, TEST_SHARES["link-prediction"])[0]
            if found and matches:
                level = sum(each.verdict != "below" for each in found.values())
                cells = f"area under the ROC curve by the best operator: {told(found)}"
                yield shares(way, level, len(found), cells, always=True)
            elif found:
                yield tendency(way, found, "area under the ROC curve by the best operator")

    return judge


def _best_operator(record: Record) -> list[float]:
    """Scores of the operator that is best for these vectors; not that of degrees, which needs none."""
    areas = record["scores"]["roc_auc"]
    trained = [values for name, values in areas.items() if name != "preferential_attachment"]
    return max(trained, key=lambda values: estimate(values).mean)


def _is_attributed(name: str) -> bool:
    return bool(METHODS[name].build().uses_features)


def _unsupervised(experiment: str) -> list[str]:
    """Other methods of the paper's table that learn without labels."""
    rows = reference_values(experiment)
    return [*dict.fromkeys(r["method"] for r in rows if r["method"] not in (*OURS, *SUPERVISED_ROWS))]


def _in_order(experiment: str) -> list[str]:
    return [*dict.fromkeys(row["dataset"] for row in reference_values(experiment))]


def _highest(experiment: str, dataset: str, names: Iterable[str]) -> dict[str, Any]:
    """The paper's row with the highest figure of some methods."""
    known = {*names}
    rows = [r for r in reference_values(experiment) if r["dataset"] == dataset and r["method"] in known]
    return max(rows, key=lambda row: float(row[METRICS[experiment]]))


def _printed_best(
    records: Records, experiment: str, first: Iterable[str], second: Iterable[str], way: str = "published"
) -> dict[str, Estimate]:
    """By data set, how far the highest figure of some methods is above that of others in the paper's table."""
    sides, found = ([*first], [*second]), {}
    for dataset in _in_order(experiment):
        one, two = (records.figure(experiment, _highest(experiment, dataset, names), way) for names in sides)
        found[dataset] = one.minus(two)
    return found


def _measured_best(
    here: Measurements, experiment: str, own: Pick, rivals: Iterable[str], standardize: Sequence[bool] = _RAW
) -> dict[str, Estimate]:
    """How far a record of each data set is above the best of some methods as measured, over the same splits."""
    metric, names, found = METRICS[experiment], [*rivals], {}
    for dataset in measured_datasets(experiment, here):
        one, two = own(dataset), best_of(here, experiment, dataset, names, standardize)
        if one and two:
            found[dataset] = apart(one, two, of_metric(metric), TEST_SHARES[experiment])[0]
    return found


def _musae_ego(records: Records, experiment: str, way: str, standardize: Sequence[bool]) -> Pick:
    """MUSAE-EGO by a solver, with the better of some kinds of vectors."""
    here, metric = records.of(experiment), METRICS[experiment]

    def pick(dataset: str) -> Record | None:
        cells = (here.get(method="MUSAE-EGO", solver=way, dataset=dataset, standardize=kind) for kind in standardize)
        return max((r for r in cells if r), key=lambda record: records.mean(record, metric), default=None)

    return pick
