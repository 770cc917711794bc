"""Judges of link prediction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hopscale.paper.estimates import TEST_SHARES, estimate
from hopscale.paper.methods import WAYS
from hopscale.paper.pages.differences import Evidence, shares, tendency, told
from hopscale.paper.pages.judges.comparisons import Judge
from hopscale.paper.pages.records import Records, apart
from hopscale.paper.store import Record

NEIGHBOURS = ("DeepWalk", "Walklets", "LINE2", "Node2Vec", "NetMF", "HOPE", "GraRep")  # proximity-preserving methods


def above(first: str, rivals: tuple[str, ...], *, matches: bool = False) -> Judge:
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
