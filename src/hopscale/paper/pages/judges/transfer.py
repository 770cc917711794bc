"""Judges of transfer to another graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from hopscale.paper.estimates import Estimate, estimate
from hopscale.paper.methods import METHODS
from hopscale.paper.pages.differences import NOT_JUDGED, Evidence, shares, told
from hopscale.paper.pages.headline import LIBRARYS, OURS, TOLERANCES
from hopscale.paper.pages.layout import mark
from hopscale.paper.pages.records import Records, as_measured
from hopscale.paper.store import Record, reference_values

_RANDOM = 0.5  # the paper's line of random guesses, for two classes


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
    for way in records.measured("transfer"):
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


def enabled(records: Records) -> Iterator[Evidence]:
    """Other methods here that place nodes of another graph, and whether that says anything of these nodes."""
    others = [name for name, row in METHODS.items() if row.published not in OURS and row.build().inductive]
    if not set(others) - {*LIBRARYS}:
        yield Evidence("methods of papers", NOT_JUDGED, "none of those here places nodes of another graph")
    for name in others:
        areas: dict[str, Estimate] = {}
        for record in records.of("transfer").all(method=name, standardize=False):
            area = estimate(record["scores"]["roc_auc"])
            between = _from_to(record["cell"]["source"], record["cell"]["dataset"])
            areas[between] = replace(area, mean=area.mean - _RANDOM, marks=record["marks"])
        if areas:
            known = any(each.verdict == "above" for each in areas.values())
            beside = others_ahead(records, [name])
            cells = f"area under the ROC curve minus a half: {told(areas)}"
            cells += f"; micro_f1 minus the best of AE and MUSAE by either solver: {told(beside)}" if beside else ""
            source = f"{name}, which is ours" if name in LIBRARYS else name
            yield Evidence(source, "does not hold" if known else "not shown", cells)


def others_ahead(records: Records, names: Sequence[str]) -> dict[str, Estimate]:
    """By source and target, how far the best of some methods is above the best of AE and MUSAE, on raw vectors."""
    found = {}
    here = records.of("transfer")
    for target, source in product(here.values("dataset"), here.values("source")):
        cells = here.all(dataset=target, source=source, standardize=False)
        sides = ([r for r in cells if r["cell"]["method"] in each] for each in (names, OURS))
        one, two = (max(side, key=lambda r: records.mean(r, "micro_f1"), default=None) for side in sides)
        if one and two:
            scores = [estimate(record["scores"]["micro_f1"]) for record in (one, two)]
            marks = "".join(dict.fromkeys(one["marks"] + two["marks"]))
            found[_from_to(source, target)] = replace(scores[0].minus(scores[1]), marks=marks)
    return found


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
    for way in records.measured("transfer"):
        pairs = []
        for record in _transferred(records, way):
            cell = record["cell"]
            if own := records.cell("classification", cell["method"], cell["solver"], cell["dataset"]):
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
        yield Evidence(source, "holds" if near else "does not hold" if learnt else NOT_JUDGED, ". ".join(cells))


def _transferred(records: Records, way: str) -> list[Record]:
    cells = (records.of("transfer").all(**as_measured(name, way), standardize=False) for name in OURS)
    return [record for of_method in cells for record in of_method]
