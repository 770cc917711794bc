"""The page ``runtime``: seconds against size, as in figure 6 of the paper, with slopes and the gain of more threads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from hopscale.paper.experiments import RUNTIME_THREADS
from hopscale.paper.methods import SOLVERS
from hopscale.paper.pages.layout import panels_in_a_row, rounded, table
from hopscale.paper.pages.records import Records
from hopscale.paper.store import Measurements, reference_values

__all__ = ["UPPER_HALF", "gains", "page", "plot", "slope", "slopes"]

METHODS = ("AE", "MUSAE")
VARIED = ("nodes", "features_per_node")
UPPER_HALF = 0.5  # of the sizes: where fixed costs count less
_WAYS = ("published", *SOLVERS)
_LINES = dict(zip(RUNTIME_THREADS, ("-", "--", ":"), strict=True))
_COLOURS = {"published": "gray", "sgns": "tab:blue", "pmi": "tab:red"}

Curve = dict[float, float]  # seconds by size


def page(measurements: Measurements, _: Records) -> list[str]:
    runs = {solver: {r["repeats"] for r in measurements.all(solver=solver)} for solver in SOLVERS}
    told = " and ".join(
        f"{' or '.join(map(str, sorted(each)))} of {solver}" for solver, each in runs.items() if each
    )  # fmt: skip
    lines = [
        "Seconds of one fit to an Erdős–Rényi graph, eight edges a node, features drawn from two thousand and "
        "forty-eight; "
        f"means over runs, each on a graph of its own: {told}, a hundred in the paper. Published figures are of "
        "another "
        "machine and library; sgns trains one epoch as they did, pmi has none. *Slope* is the exponent of the size, by "
        "least squares of logarithms over the upper half of the sizes, where fixed costs count less: the paper's "
        "analysis "
        "says one, for nodes and for features of a node. Records do not say whether other programs ran at the same "
        "time: compare figures of one thread and of two before you trust either." + _spread(measurements),
        "",
        *_machines(measurements),
    ]
    for varied in VARIED:
        rows = []
        sizes = sorted({r["cell"][varied] for r in measurements.records if r["cell"]["varied"] == varied})
        for name, threads, way in product(METHODS, RUNTIME_THREADS, _WAYS):
            curve = seconds(measurements, varied, way, name, threads)
            if curve:
                digits = 1 if way == "published" else 3
                rows.append([name, way, threads, *(rounded(curve.get(size), digits) for size in sizes)])
                rows[-1].append(rounded(slope(curve), 2))
        header = ["method", "", "threads", *map(str, sizes), "slope"]
        lines += table(varied.replace("_", " ").capitalize(), header, rows)
    return lines + _gains_section(measurements)


def _spread(measurements: Measurements) -> str:
    """Where runs of a cell differ most, in words."""
    ratios = [(max(r["scores"]["seconds"]) / min(r["scores"]["seconds"]), r["cell"]) for r in measurements.records]
    if not ratios:
        return ""
    most, cell = max(ratios, key=lambda each: each[0])
    threads = f"{cell['threads']} thread{'' if cell['threads'] == 1 else 's'}"
    return (
        f" The slowest run of a cell takes {np.median([ratio for ratio, _ in ratios]):.2f} times as long as the "
        f"quickest in the median of all cells, and {most:.1f} times where they differ most: {cell['method']} by "
        f"{cell['solver']}, {cell['nodes']:,} nodes with {cell['features_per_node']} features, {threads}."
    )


def seconds(measurements: Measurements, varied: str, way: str, name: str, threads: int) -> Curve:
    """Mean seconds by size: published ones, or those measured with a solver."""
    if way == "published":
        what = {"varied": varied, "method": name, "cores": threads}
        rows = [row for row in reference_values("runtime") if what.items() <= row.items()]
        return {2 ** row["log2_varied"]: 2 ** row["log2_seconds"] for row in rows}
    records = measurements.all(varied=varied, solver=way, method=name, threads=threads)
    return {r["cell"][varied]: float(np.mean(r["scores"]["seconds"])) for r in reversed(records)}


def slope(curve: Mapping[float, float], share: float = UPPER_HALF) -> float | None:
    """The exponent of the size in seconds, over the upper share of the sizes; None of fewer than two.

    >>> slope({2: 3.0, 4: 12.0, 8: 48.0})
    2.0
    """
    sizes = sorted(curve)[-max(math.ceil(share * len(curve)), 2) :]
    if len(sizes) < 2:
        return None
    logs = np.log2([[size, curve[size]] for size in sizes])
    return round(float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0]), 9)


def slopes(measurements: Measurements, varied: str, way: str, share: float = UPPER_HALF) -> list[float]:
    """Slopes of all methods and numbers of threads."""
    curves = (seconds(measurements, varied, way, *each) for each in product(METHODS, RUNTIME_THREADS))
    return [found for curve in curves if (found := slope(curve, share)) is not None]


def gains(measurements: Measurements, way: str, name: str, threads: int) -> tuple[float, float] | None:
    """How many times as quick more threads are than one, with the fewest and with the most features of a node.

    None if figures of either are missing, or both are not of the same processor.
    """
    one, more = (seconds(measurements, "features_per_node", way, name, each) for each in (1, threads))
    if _processors(measurements, 1, way, name) != _processors(measurements, threads, way, name):
        return None  # a slower processor is not what more threads cost
    common = sorted(set(one) & set(more))
    return (one[common[0]] / more[common[0]], one[common[-1]] / more[common[-1]]) if common else None


def _processors(measurements: Measurements, threads: int, way: str, name: str | None = None) -> set[str]:
    """Processors that the figures of a number of threads were measured on; none of the published ones."""
    methods = METHODS if name is None else (name,)
    records = [r for method in methods for r in measurements.all(solver=way, method=method, threads=threads)]
    return {r["machine"]["processor"] for r in records}


def _machines(measurements: Measurements) -> list[str]:
    """Which numbers of threads were measured on which processors, if not all on the same ones."""
    groups: dict[str, list[int]] = {}
    for threads in sorted({r["cell"]["threads"] for r in measurements.records}):
        on = sorted(set().union(*(_processors(measurements, threads, way) for way in SOLVERS)))
        groups.setdefault(" and ".join(on), []).append(threads)
    if len(groups) < 2:
        return []
    told = "; ".join(f"{' and '.join(map(str, group))} on {on}" for on, group in groups.items())
    return [f"Threads: {told}. Gains of threads are not told across processors.", ""]


def _gains_section(measurements: Measurements) -> list[str]:
    rows = []
    for name, threads, way in product(METHODS, RUNTIME_THREADS[1:], _WAYS):
        if found := gains(measurements, way, name, threads):
            rows.append([name, way, threads, *(f"{gain:.2f}" for gain in found)])
    text = (
        "The paper observes that more cores do not help where a node has nearly as many features as there are; its "
        "figure ends at an eighth of them, as ours does. How many times as quick more threads are than one, with the "
        "fewest and with the most features of a node:"
    )
    return table("More threads", ["method", "", "threads", "fewest features", "most features"], rows, text)


def plot(measurements: Measurements, figure: Any) -> None:
    """Seconds against size, a panel per method and what is varied."""
    panels = product(METHODS, reversed(VARIED))
    for axis, (name, varied) in zip(panels_in_a_row(figure, 4, 3.4), panels, strict=True):
        for threads, way in product(RUNTIME_THREADS, _WAYS):
            if points := sorted(seconds(measurements, varied, way, name, threads).items()):
                dots = {} if way == "published" else {"marker": "."}
                label = f"{way}, {threads}"
                axis.plot(*zip(*points, strict=True), _LINES[threads], color=_COLOURS[way], label=label, **dots)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set(title=name, xlabel=varied.replace("_", " "), ylabel="seconds")
    axis.legend(title="threads", fontsize=7)
