"""Judges of run time: its slopes, the gain of threads, the cost of a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from hopscale.paper.experiments import RUNTIME_THREADS
from hopscale.paper.pages import runtime
from hopscale.paper.pages.differences import Evidence, shares
from hopscale.paper.pages.records import Records

_NEAR = 0.25  # how far a slope may be from one to be called linear
_NO_GAIN = 1.25  # a gain of more threads below which they do not help


def linear(records: Records) -> Iterator[Evidence]:
    for way, varied in product(("published", "sgns", "pmi"), runtime.VARIED):
        upper, every = (
            runtime.slopes(records.of("runtime"), varied, way, share) for share in (runtime.UPPER_HALF, 1.0)
        )
        if upper:
            near, name = sum(abs(each - 1) <= _NEAR for each in upper), varied.replace("_", " ")
            steeper = sum(each > 1 + _NEAR for each in upper)
            cells = f"slopes in {name}: {_listed(upper)}; {steeper} are steeper; over all sizes {_listed(every)}"
            yield shares(way, near, len(upper), cells, of=name)


def _listed(slopes: Iterable[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in slopes)


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
