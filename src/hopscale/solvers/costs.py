"""How much work the stages of a fit are, and about how many seconds of one core that takes.

Work is counted by kind: a dictionary from the name of a kind to how many operations of it there are. ``costs.json`` has
the seconds of each, fitted to measured fits by ``benchmarks/cost_model.py``. A progress bar needs their ratios alone;
:func:`hopscale.plan` scales them to the machine at hand.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from hopscale.compute.aligned import padded
from hopscale.compute.svd import ITERATIONS, OVERSAMPLING, start_width
from hopscale.exceptions import FileFormatError
from hopscale.walks import Scale, WalkSize
from hopscale.walks.sampling import RowCounts

__all__ = [
    "GPU_KINDS",
    "KINDS",
    "CostModel",
    "Work",
    "all_factorised",
    "cost_model",
    "factorising",
    "gpu_work",
    "holding",
    "merged",
    "preparing",
    "projecting_sampled",
    "read_cost_model",
    "reading",
    "sampling",
    "seconds",
    "streaming",
    "training",
]

Work = dict[str, float]

GPU_ROWS = 131_072  # that V is learnt from there where not all fit
SORTED = 64  # entries of a row that are scanned in the time in which one is sorted; few are sorted instead
CACHE = 2**25  # bytes of the caches of the machine that costs were measured on
GUESS = 0.25  # share of the entries of exact rows that are positive, until some are known

KINDS = {
    "fit": "a fit, whatever its size",
    "graph": "an entry of the adjacency or the context matrix that is brought into the kernels' form",
    "met": "a feature that a sampled walk meets",
    "fetched": "a node that a sampled walk passes, and whose edges and features are in no cache",
    "scanned": "an entry, zero or not, of a sampled row, unless it has few",
    "panelled": "an entry of sampled rows that become panels",
    "noted": "an entry of rows in panels, whose norm is taken and whose rows are looked at",
    "product": "an entry of rows in panels or of a sparse matrix, times one column",
    "tall": "a multiplication of tall arrays",
    "first": "a feature of a neighbour, in the first hop of exact rows",
    "hop": "an edge and a column of exact rows that are held, in one hop after the first",
    "kept": "an entry, zero or not, of exact rows that are held",
    "streamed": "an edge and a column of exact rows that are streamed, in one hop after the first",
    "seen": "an entry, zero or not, of exact rows that are streamed",
    "touched": "a feature's vector that training updates",
    "update": "a number of a feature's vector that training updates",
    "visit": "a visit of a node and its walk",
    "average": "a number of a feature's vector that is averaged over shards",
    "turn": "a node in a round of training",
    "read": "a row of a Parquet file with edges or features",
    "sorted": "a row of a Parquet file that is sorted into a graph in a folder",
    "prepared": "an entry of the adjacency or the context matrix of a graph in a folder, before tasks read it",
    "written": "a number of a vector that is written to a Parquet file",
}
GPU_KINDS = {
    "fit": "a fit, whatever its size",
    "streamed": "an edge and a column of exact rows, in one hop",
    "dense": "an entry, zero or not, of exact rows, times one column",
}


SERIAL = ("fit", "graph", "read")


@dataclass(frozen=True)
class CostModel:
    """Seconds of one core by kind of work, and what they were fitted to.

    ``serial`` is the share of a stage that does not get quicker with more threads, by how many these are: threads that
    share caches and memory wait for each other the more, the more they are. ``low`` and ``high`` are the least
    and the largest ratio of measured and predicted seconds, over fits that took no part in the fit of the model too.
    ``calibration`` is how long a small product takes on the machine of the fit, ``read_bytes`` what reading a row of a
    file takes beside the graph that comes of it. ``gpu`` has seconds of an H200 by kind of work.
    """

    seconds: Mapping[str, float]
    serial: Mapping[int, float]
    low: float
    high: float
    calibration: float
    most_nodes: int
    read_bytes: float
    gpu: Mapping[str, float]
    machine: Mapping[str, Any]

    def of(self, work: Mapping[str, float], cores: int = 1) -> float:
        """Seconds that some work takes on so many cores; reading a graph, and bringing it into form, use one."""
        alone = sum(self.seconds[kind] * work.get(kind, 0.0) for kind in SERIAL)
        rest = sum(self.seconds[kind] * amount for kind, amount in work.items() if kind not in SERIAL)
        share = self._serial_share(cores)
        return alone + rest * (share + (1.0 - share) / cores)

    def _serial_share(self, cores: int) -> float:
        """The share of so many cores; between two that were measured it follows the logarithm of their number."""
        known = sorted(self.serial.items())
        threads, shares = zip(*known, strict=True)
        return float(np.interp(math.log(cores), np.log(threads), shares))


@cache
def cost_model() -> CostModel:
    """The model that comes with the library."""
    return read_cost_model(resources.files("hopscale.solvers").joinpath("costs.json").read_text(encoding="utf-8"))


def read_cost_model(text: str) -> CostModel:
    """A model from the text of a file like ``costs.json``.

    Raises
    ------
    FileFormatError
        If a number is missing, negative or not finite.
    """
    try:
        found = json.loads(text)
        numbers = {name: float(found[name]) for name in ("low", "high", "calibration", "read_bytes")}
        most_nodes = int(found["most_nodes"])
        by_kind = {kind: float(found["seconds"][kind]) for kind in KINDS}
        serial = {int(threads): float(share) for threads, share in found["serial"].items()}
        gpu = {kind: float(found["gpu"][kind]) for kind in GPU_KINDS}
        unknown = sorted({*found["seconds"], *found["gpu"]} - {*KINDS, *GPU_KINDS})
        machine = dict(found["machine"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(f"costs.json: not the coefficients of a cost model ({error!r})") from error
    values = (*numbers.values(), *serial.values(), *by_kind.values(), *gpu.values())
    if unknown or not all(math.isfinite(value) and value >= 0 for value in values):
        raise FileFormatError(f"costs.json: unknown kinds of work {unknown}, or a number that cannot be")
    if not 0 < numbers["low"] <= 1 <= numbers["high"] or not numbers["calibration"]:
        raise FileFormatError("costs.json: needs 0 < low <= 1 <= high, and calibration > 0")
    if not serial or max(serial.values()) > 1 or min(serial) < 2:
        raise FileFormatError("costs.json: serial must have shares up to 1, of 2 threads or more")
    return CostModel(by_kind, serial=serial, machine=machine, most_nodes=most_nodes, gpu=gpu, **numbers)


def seconds(work: Mapping[str, float]) -> float:
    """Seconds of one core of the machine of the fit."""
    return cost_model().of(work)


def merged(*parts: Mapping[str, float]) -> Work:
    """Work of several parts together."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)  # type: ignore[arg-type]
    return dict(total)


# The direct solver.


def reading(rows: int) -> Work:
    """Files of edges and features, so many rows of them."""
    return {"read": float(rows)}


def preparing(size: WalkSize, entries: float = 0.0) -> Work:
    """The graph and the context brought into the kernels' form, and norms of rows with so many entries in panels."""
    counts = float(size.steps + size.entries + size.n_nodes + size.n_features)
    return {"fit": 1.0, "graph": counts, "noted": entries}


def factorising(rows: int, columns: int, entries: float, scale: Scale) -> Work:
    """Singular vectors of a matrix with so many entries, held in panels or as a sparse matrix."""
    width = padded(min(scale.dimensions, rows, columns) + OVERSAMPLING)
    passes = 2 * ITERATIONS + 1
    tall = float(passes) * width * width * (rows + columns)
    return {"product": passes * width * entries, "tall": tall}


def all_factorised(size: WalkSize, scales: Sequence[Scale], entries: Sequence[float] | None = None) -> list[Work]:
    """Singular vectors of matrices of all rows; ``entries`` are those of the scales that walk, where they are known."""
    n, q = size.n_nodes, size.n_features
    of_walks = iter([GUESS * n * q] * len(scales) if entries is None else entries)
    each = [float(size.entries) if scale.is_self else next(of_walks) for scale in scales]
    return [factorising(n, q, count, scale) for scale, count in zip(scales, each, strict=True)]


def sampling(sampled: RowCounts, rows: int) -> Work:
    """Rows from walks."""
    return {**_walked(sampled, rows), "panelled": rows * sampled.row_entries}


def projecting_sampled(sampled: RowCounts) -> Work:
    """Rows of all nodes from walks, and their products."""
    n = sampled.size.n_nodes
    return {**_walked(sampled, n), "product": sampled.row_entries * n * padded(sampled.scale.dimensions)}


def _walked(sampled: RowCounts, rows: int) -> Work:
    met, size = sampled.row_met, sampled.size
    return {
        "met": rows * met,
        "scanned": rows * min(float(size.n_features), SORTED * met),
        "fetched": rows * sum(sampled.row_ways) * _outside_caches(size),
    }


def _outside_caches(size: WalkSize) -> float:
    """Share of the nodes whose edges and features are not in a cache while walks pass them in any order."""
    arrays = 4.0 * size.steps + 8.0 * size.entries + 16.0 * size.n_nodes
    return max(0.0, 1.0 - CACHE / arrays)


def streaming(size: WalkSize, scales: Sequence[Scale], entries: Sequence[float]) -> Work:
    """Exact rows of all nodes, of so many entries at each scale, and their products; scales that pool one by one."""
    pooled = any(len(scale.hops) > 1 for scale in scales)
    sweeps = [max(scale.hops) for scale in scales] if pooled else [max(max(scale.hops) for scale in scales)]
    cells, wide = float(size.n_nodes) * size.n_features, [padded(scale.dimensions) for scale in scales]
    return {
        "first": len(sweeps) * size.entries * size.degree,
        "streamed": float(size.steps) * size.n_features * sum(hops - 1 for hops in sweeps),
        "seen": cells * len(scales),
        "product": sum(size.n_nodes * each * width for each, width in zip(entries, wide, strict=True)),
    }


def holding(size: WalkSize, scales: Sequence[Scale]) -> Work:
    """Exact rows of all nodes, computed and compressed."""
    hops = max(max(scale.hops) for scale in scales)
    return {
        "first": size.entries * size.degree,
        "hop": float(size.steps) * size.n_features * (hops - 1),
        "kept": float(size.n_nodes) * size.n_features * len(scales),
    }


def gpu_work(size: WalkSize, scales: Sequence[Scale]) -> Work:
    """A fit of the direct solver on a GPU: rows are computed twice, and factorised where they fit its memory."""
    cells = float(size.n_features) * sum(
        start_width(scale.dimensions, size.n_nodes, size.n_features) for scale in scales
    )
    learnt = min(size.n_nodes, GPU_ROWS) * (2 * ITERATIONS + 1)
    return {
        "fit": 1.0,
        "streamed": float(size.steps) * size.n_features * max(max(scale.hops) for scale in scales),
        "dense": cells * (learnt + size.n_nodes),
    }


# The sampled solver.


def training(
    size: WalkSize, scale: Scale, *, visits: float, rounds: int, shards: int, updates: float, tail: int
) -> Work:
    """Skip-gram of one scale: so many visits of nodes, and updates of features' vectors, in rounds over shards."""
    width = padded(scale.dimensions)
    return {
        "touched": updates,
        "update": updates * width,
        "visit": visits * max(1, scale.hops[-1]),
        "average": float(rounds) * shards * size.n_features * width,
        "turn": float(rounds) * size.n_nodes + float(tail) * size.n_nodes * width / 16,
    }
