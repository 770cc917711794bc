"""Judges of classification from few labels of each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from hopscale.paper.estimates import Estimate, estimate
from hopscale.paper.methods import METHODS, WAYS
from hopscale.paper.pages.differences import Evidence, everywhere, printed_datasets, shares, told
from hopscale.paper.pages.headline import OURS, other_methods
from hopscale.paper.pages.judges.comparisons import MATERIAL, rival_sets
from hopscale.paper.pages.records import OUR_ERRORS, Records, apart
from hopscale.paper.pages.tables import published_curves
from hopscale.paper.store import Record

_LARGER, _SMALLER = ("facebook", "github"), "twitch-pt"  # networks of few labels, as the paper calls them
_AS_PRINTED = "measured, others as published"


def ours_ahead(records: Records) -> Iterator[Evidence]:
    def material(source: str, found: dict[str, Estimate], rivals: str, of: str, four: str = "four") -> Evidence:
        level = sum(each.verdict == "above" and each.mean >= MATERIAL for each in found.values())
        cells = f"the best of the {four} minus the best of {rivals}: {told(found)}"
        return shares(source, level, len(found), cells, of=of)

    printed, beyond = other_methods("few-shot")
    yield material("published", _printed_curves(OURS, printed), "the others", "")
    for rivals, which, of in rival_sets(printed, beyond):
        if found := _differences(records, OURS, rivals):
            yield material("measured", found, which, of)
    for way in records.texts("few-shot"):
        if found := _differences(records, OURS, printed, [way]):
            _, which, of = rival_sets(printed, beyond)[0]
            yield material(way, found, which, of, "text's four")
    if found := _beside_printed_curves(records, printed):
        yield material(_AS_PRINTED, found, "the others as the paper has them", "")


def gain_of_ego(records: Records) -> Iterator[Evidence]:
    for way, name in product(records.ways("few-shot"), ("AE", "MUSAE")):
        pair = [f"{name}-EGO"], [name]
        found = _printed_curves(*pair) if way == "published" else _differences(records, *pair, [way], [way])
        yield from _gains(way, name, found)
        if way == "published":
            default = [METHODS[name].default_way]
            here = _differences(records, *pair, default, default)
            both = {dataset: each for dataset, each in found.items() if dataset in here}
            yield from _gains(OUR_ERRORS, name, {d: replace(here[d], mean=each.mean) for d, each in both.items()})


def _gains(source: str, name: str, found: dict[str, Estimate]) -> Iterator[Evidence]:
    if found:
        gains = sum(each.verdict == "above" for each in found.values())
        yield shares(source, gains, len(found), f"{name}-EGO minus {name}: {told(found)}", of=name)


def _differences(
    records: Records,
    first: Iterable[str],
    second: Iterable[str],
    ways: Sequence[str] = WAYS,
    their_ways: Sequence[str] = WAYS,
) -> dict[str, Estimate]:
    """By data set, how far the best of some methods is above the best of others, by the mean over k of each draw."""
    here, found = records.of("few-shot"), {}
    for dataset in here.values("dataset"):
        if dataset not in printed_datasets("few-shot"):
            continue
        best = []
        for cells in (product(first, ways), product(second, their_ways)):
            found_here = [r for name, way in cells if (r := records.cell("few-shot", name, way, dataset))]
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
        ("measured", _differences(records, OURS, printed)),
        (_AS_PRINTED, _beside_printed_curves(records, printed)),
    ):
        if {_SMALLER, *_LARGER} <= gains.keys():
            more = {dataset: gains[dataset].minus(gains[_SMALLER]) for dataset in _LARGER}
            yield everywhere(source, more, f"the gain on each minus that on {_SMALLER}")
