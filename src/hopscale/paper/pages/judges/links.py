"""Judges of link prediction, of which the paper has sentences and no figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from hopscale.paper.estimates import TEST_SHARES, Estimate, estimate, paired
from hopscale.paper.methods import WAYS
from hopscale.paper.pages.differences import NOT_JUDGED, Evidence, shares, tendency, told
from hopscale.paper.pages.headline import OURS
from hopscale.paper.pages.judges.comparisons import Judge
from hopscale.paper.pages.records import Records, apart
from hopscale.paper.store import Record

NEIGHBOURS = ("DeepWalk", "Walklets", "LINE2", "Node2Vec", "NetMF", "HOPE", "GraRep")  # proximity-preserving methods
_EXPERIMENT, _DEGREES = "link-prediction", "preferential_attachment"
_AREA = "area under the ROC curve by the best operator"
_NO_FIGURES = Evidence("published", NOT_JUDGED, "the paper shows no figures of link prediction")


def above(pairs: Sequence[tuple[str, str]]) -> Judge:
    """Models, each above another by the same solver."""

    def judge(records: Records) -> Iterator[Evidence]:
        ways = records.measured(_EXPERIMENT)
        if ways:
            yield _NO_FIGURES
        for way, (first, second) in product(ways, pairs):
            if found := above_best(records, first, way, [(second, way)]):
                yield tendency(way, found, f"{first} minus {second}, {_AREA}", of=first)

    return judge


def as_good(first: str, rivals: Iterable[str]) -> Judge:
    """A model that is nowhere clearly below the best of others, by whatever solver."""
    others = [*product(rivals, WAYS)]

    def judge(records: Records) -> Iterator[Evidence]:
        ways = records.measured(_EXPERIMENT)
        if ways:
            yield _NO_FIGURES
        for way in ways:
            if found := above_best(records, first, way, others):
                level = sum(each.verdict != "below" for each in found.values())
                what = f"{first} minus the best of these, {_AREA}: {told(found)}"
                yield shares(way, level, len(found), what, always=True)

    return judge


def above_best(records: Records, name: str, way: str, others: Iterable[tuple[str, str]]) -> dict[str, Estimate]:
    """By data set, how far a method is above the best of others, each by its own solver."""
    here, rivals, found = records.of(_EXPERIMENT), [*others], {}
    for dataset in here.values("dataset"):
        one = records.cell(_EXPERIMENT, name, way, dataset)
        two = _best(records, rivals, dataset)
        if one and two:
            found[dataset] = apart(one, two, _best_operator, TEST_SHARES[_EXPERIMENT])[0]
    return found


def others_ahead(records: Records, rivals: Sequence[str]) -> list[tuple[Record, Record, Estimate, int]]:
    """On each data set the best of the four, the best of others, and the difference; by any solver."""
    found = []
    for dataset in records.of(_EXPERIMENT).values("dataset"):
        ours, theirs = (_best(records, [*product(names, WAYS)], dataset) for names in (OURS, rivals))
        if ours and theirs:
            found.append((ours, theirs, *apart(ours, theirs, _best_operator, TEST_SHARES[_EXPERIMENT])))
    return found


def _best(records: Records, ways: Iterable[tuple[str, str]], dataset: str) -> Record | None:
    """The record with the highest mean of its best operator among methods, each by a solver."""
    cells = (records.cell(_EXPERIMENT, name, way, dataset) for name, way in ways)
    return max((r for r in cells if r), key=lambda record: estimate(_best_operator(record)).mean, default=None)


def above_degrees(records: Records, name: str, way: str) -> dict[str, Estimate]:
    """By data set, how far a method is above the product of degrees, which knows no vectors."""
    here, found = records.of(_EXPERIMENT), {}
    for dataset in here.values("dataset"):
        if record := here.get(dataset=dataset, method=name, solver=way):
            degrees = record["scores"]["roc_auc"][_DEGREES]
            found[dataset] = paired(_best_operator(record), degrees, TEST_SHARES[_EXPERIMENT])[0]
    return found


def _best_operator(record: Record) -> list[float]:
    """Scores of the operator that is best for these vectors; not that of degrees, which needs none."""
    areas = record["scores"]["roc_auc"]
    return max((values for name, values in areas.items() if name != _DEGREES), key=lambda each: estimate(each).mean)
