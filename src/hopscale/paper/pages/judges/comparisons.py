"""Judges of methods beside each other with many labels: classification and regression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import median
from typing import Any

from hopscale.paper.estimates import TEST_SHARES, Estimate, published
from hopscale.paper.methods import METHODS
from hopscale.paper.pages.differences import Evidence, everywhere, printed_datasets, shares, tendency, told
from hopscale.paper.pages.headline import LIBRARYS, OURS, TOLERANCES, best_of, other_methods, others_ahead
from hopscale.paper.pages.layout import METRICS, measured_datasets
from hopscale.paper.pages.records import Records, apart, of_metric
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.paper.supervised import SUPERVISED_ROWS, WAY

Judge = Callable[[Records], Iterator[Evidence]]

MATERIAL = TOLERANCES["classification"]  # a difference that is smaller is not material
_CLOSEST = ("ASNE", "AANE")
_RAW, _EITHER = (False,), (False, True)  # vectors that are not standardised, or may be
# The penalty of the regression is fixed, so that raw scores depend on the length of vectors.
_KINDS: dict[str, dict[str, Sequence[bool]]] = {
    "classification": {"": _RAW},
    "regression": {"": _RAW, "either kind of vectors": _EITHER},
}

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
        for (rivals, which, of), (kind, standardize) in product(
            rival_sets(printed, beyond), _KINDS[experiment].items()
        ):
            ahead = others_ahead(experiment, records.of(experiment), rivals, standardize)
            if found := {ours["cell"]["dataset"]: difference for ours, _, difference, _ in ahead}:
                what = ", ".join(filter(None, (f"the best of the four minus the best of {which}", kind)))
                label = ", ".join(filter(None, (of, kind)))
                yield tendency("measured", found, what, of=label, counted=printed_datasets(experiment))
        for way, (kind, standardize) in product(records.texts(experiment), _KINDS[experiment].items()):
            own = _best_of_four(records, experiment, way, standardize)
            if found := _measured_best(records.of(experiment), experiment, own, printed, standardize):
                _, which, of = rival_sets(printed, beyond)[0]
                what = ", ".join(filter(None, (f"the best of the text's four minus the best of {which}", kind)))
                label = ", ".join(filter(None, (of, kind)))
                yield tendency(way, found, what, of=label, counted=printed_datasets(experiment))

    return judge


def rival_sets(printed: list[str], beyond: list[str]) -> list[tuple[list[str], str, str]]:
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
    tolerance, known = MATERIAL, printed_datasets("classification")
    ways = ("published", *records.measured("classification"))
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
    for source, margins in _of_networks(records).items():
        best = _best_network(margins)
        yield _margins(source, best, "the best network minus the best of the four", told(best), "best network")
        cells = f"{sum(each.mean < 0 for each in margins.values())} of {len(margins)} are below"
        yield _margins(source, margins, "each network minus the best of the four", cells, "each network")


def upper_bound(records: Records) -> Iterator[Evidence]:
    for source, margins in _of_networks(records).items():
        by_name = {"the best network": _best_network(margins)}
        for (dataset, network), margin in margins.items():
            by_name.setdefault(network, {})[dataset] = margin
        for name, found in by_name.items():
            level = sum(each.verdict != "below" for each in found.values())
            yield shares(source, level, len(found), f"{name} minus the best of the four: {told(found)}", of=name)


def _best_network(margins: Mapping[tuple[str, str], Estimate]) -> dict[str, Estimate]:
    """By data set, the highest margin of a network."""
    best: dict[str, Estimate] = {}
    for (dataset, _), margin in margins.items():
        best[dataset] = max(margin, best.get(dataset, margin), key=lambda each: each.mean)
    return best


def _of_networks(records: Records) -> dict[str, dict[tuple[str, str], Estimate]]:
    """By source, data set and network of the paper, how far it is above the best of the four."""
    experiment, metric = "classification", METRICS["classification"]
    rows = [row for row in reference_values(experiment) if row["method"] in SUPERVISED_ROWS]
    networks = dict.fromkeys(row["method"] for row in rows)
    best = {dataset: published(_highest(experiment, dataset, OURS), metric) for dataset in _in_order(experiment)}
    found = {
        "published": {(r["dataset"], r["method"]): published(r, metric).minus(best[r["dataset"]]) for r in rows},
        "measured": {},
    }
    here = records.of(experiment)
    for dataset, name in product(measured_datasets(experiment, here), networks):
        record, ours = (
            here.get(method=name, solver=WAY, dataset=dataset),
            best_of(here, experiment, dataset, OURS, _RAW),
        )
        if record and ours:
            margin = apart(record, ours, of_metric(metric), TEST_SHARES[experiment])[0]
            found["measured"][dataset, name] = margin
    return {source: margins for source, margins in found.items() if margins}


def _margins(source: str, margins: Mapping[Any, Estimate], what: str, cells: str, of: str) -> Evidence:
    means = [each.mean for each in margins.values()]
    middle, least, tolerance = median(means), min(means), TOLERANCES["classification"]
    verdict = "holds" if abs(middle - 4 * tolerance) <= tolerance and least <= tolerance else "does not hold"
    return Evidence(source, verdict, f"{what}: median {middle:+.3f}. {cells}", of)


def every_gain_of_ego(records: Records) -> Iterator[Evidence]:
    for experiment in METRICS:
        for way, name in product(records.ways(experiment), ("AE", "MUSAE")):
            if found := records.between(experiment, f"{name}-EGO", name, way):
                what = f"{experiment}, {name}-EGO minus {name}"
                yield tendency(way, found, what, of=f"{name}, {experiment}", counted=printed_datasets(experiment))


def best_baseline(records: Records) -> Iterator[Evidence]:
    experiment = "regression"
    rivals = _unsupervised(experiment)
    best = {dataset: _highest(experiment, dataset, rivals)[METRICS[experiment]] for dataset in _in_order(experiment)}
    for way in records.printed(experiment):
        found = _printed_best(records, experiment, ["MUSAE-EGO"], rivals, way)
        yield _with_shares(everywhere(way, found), found, best)
    here = records.of(experiment)
    for way, (kind, standardize) in product(records.measured(experiment), _KINDS[experiment].items()):
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
        for way, (kind, standardize) in product(records.measured(experiment), _KINDS[experiment].items()):
            own = _musae_ego(records, experiment, way, standardize)
            of = ", ".join(filter(None, (experiment, kind)))
            if found := _measured_best(records.of(experiment), experiment, own, rivals, standardize):
                yield tendency(way, found, f"{of}, {what}", of=of, counted=printed_datasets(experiment))


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
    """MUSAE-EGO in one of the ways of measuring it, with the better of some kinds of vectors."""
    return _best_of_four(records, experiment, way, standardize, ["MUSAE-EGO"])


def _best_of_four(
    records: Records, experiment: str, way: str, standardize: Sequence[bool], names: Sequence[str] = OURS
) -> Pick:
    """The best of the four, or of some of them, in one of the ways of measuring them, and of some kinds of vectors."""
    metric = METRICS[experiment]

    def pick(dataset: str) -> Record | None:
        both = product(names, standardize)
        cells = (records.cell(experiment, name, way, dataset, standardize=kind) for name, kind in both)
        return max((r for r in cells if r), key=lambda record: records.mean(record, metric), default=None)

    return pick
