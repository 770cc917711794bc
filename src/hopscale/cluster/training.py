"""Tasks of skip-gram training: shards of each scale, in rounds, whose vectors are files of the work folder.

In a round every shard reads its nodes' vectors G and the features' H as the last round has left them, trains, and
writes its nodes' vectors and its own copy of H; another task then averages the copies in shard order. Where there is
little to train, one task does all shards, and several rounds. Every now and then the files are kept as a checkpoint:
work that was interrupted goes on from the last one.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopscale.atomic import flush_to_disk, replacing
from hopscale.cluster.opened import Opened, opened
from hopscale.cluster.parts import write_part
from hopscale.cluster.plan import Plan
from hopscale.compute import Threads
from hopscale.compute.aligned import Floats, aligned, aligned_empty, aligned_zeros
from hopscale.compute.blocks import Checkpoints
from hopscale.compute.threads import checkpoint
from hopscale.solvers import SGNS
from hopscale.solvers.shards import Copy, Deal, Shards, average, deal, expected_counts, unit_of
from hopscale.stored.arrays import save_array, save_pieces

__all__ = ["Runners", "train", "write"]

EVERY = 15.0  # seconds between two checkpoints, or somewhat more: scales must have come as far as each other
BATCH = 3e8  # pairs of a scale, about, after which scales wait for each other: some seconds
FILES = 2**30  # bytes that steps write, each its vectors, until the files of all but the last are removed
FEW = 4  # steps whose files are kept in any case
_PROGRESS = "steps.json"


class Runners(Protocol):
    """Who runs the tasks of a stage."""

    work: Checkpoints

    def run(self, stage: str, function: Any, tasks: Any, *, marked: bool = True, after: Any = None) -> list[Any]:
        """Results of the tasks."""


# What the client does.


@dataclass(frozen=True)
class _Steps:
    """How the rounds of a scale become tasks, by their work alone: where that is little, a task does several rounds."""

    rounds: int
    shards: int
    groups: int  # tasks of a round; if it is one, a step is a task of ``span`` rounds
    span: int
    pairs: float  # of a step

    @classmethod
    def of(cls, pairs: float, rounds: int, shards: int, features: int, plan: Plan) -> _Steps:
        """Those of a scale; shards stay together where their copies of the features would cost more than they gain."""
        each, pairs_per_task = pairs / rounds, plan.pairs_per_task
        worth = each > plan.pairs_per_copy * shards * features
        groups = int(np.clip(np.ceil(each / pairs_per_task), 1, shards)) if worth else 1
        span = int(np.clip(pairs_per_task / max(1.0, each), 1, rounds)) if groups == 1 else 1
        return cls(rounds, shards, groups, span, span * each)

    @property
    def count(self) -> int:
        """Number of steps."""
        return -(-self.rounds // self.span)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """The first shard of each group, and the first that is not in it."""
        return list(pairwise(k * self.shards // self.groups for k in range(self.groups + 1)))

    def tasks(self, step: int) -> list[tuple[int, int, int, int]]:
        """Shards and rounds of each task of a step."""
        begin, end = step * self.span, min((step + 1) * self.span, self.rounds)
        return [(*bounds, begin, end) for bounds in self.bounds]


def train(plan: Plan, runners: Runners) -> list[dict[str, Any]]:
    """All rounds of all scales; returns what each was learnt from."""
    folder, work = runners.work.folder, str(runners.work.folder)
    numbers = range(len(plan.scales))
    (folder / "train").mkdir(exist_ok=True)
    dealt = runners.run("deal nodes to shards", deal_nodes, [(work, i) for i in numbers])
    steps = [_Steps.of(**each, plan=plan) for each in dealt]
    rows = plan.n_nodes + dealt[0]["features"]
    most = max(FEW, FILES // (4 * rows * len(plan.columns)))
    count = max(each.count for each in steps)
    begin, pairs = _progress(folder, len(plan.scales))
    last = time.monotonic()
    step = begin
    while step < count:
        tasks, after = _tasks(work, steps, step, most)
        stage, end = f"step {step + 1} of {count}", tasks[-1][2] + 1
        seen = runners.run(f"train, {stage}", train_shards, tasks, marked=False, after=after)
        for task, found in zip(tasks, seen, strict=True):
            pairs[task[1]] += found
        apart = [(work, i, step) for i in numbers if step < steps[i].count and steps[i].groups > 1]
        runners.run(f"average, {stage}", average_copies, apart, marked=False)
        if time.monotonic() - last > EVERY or end == count:
            _keep(folder, end, pairs)
            last = time.monotonic()
        _clean(folder, end - 1)
        step = end
    return [{"rows": f"{found:,} pairs of walks"} for found in pairs]


def _tasks(work: str, steps: list[_Steps], step: int, most: int) -> tuple[list[tuple[Any, ...]], list[int | None]]:
    """Tasks of a step, and of up to ``most`` where no copies are averaged; and which of them each has to wait for."""
    tasks: list[tuple[Any, ...]] = []
    after: list[int | None] = []
    left = [each for each in steps if step < each.count]
    together = all(each.groups == 1 for each in left)
    batch = int(np.clip(BATCH / max(each.pairs for each in left), 1, most)) if together else 1
    before: dict[int, int] = {}
    for at in range(step, step + batch):
        for i, each in enumerate(steps):
            for task in each.tasks(at) if at < each.count else ():
                after.append(before.get(i) if together else None)
                before[i] = len(tasks)
                tasks.append((work, i, at, *task))
    return tasks, after


def _progress(folder: Path, scales: int) -> tuple[int, list[int]]:
    """Steps up to the last checkpoint, and pairs that were seen until then at each scale."""
    try:
        found = json.loads((folder / _PROGRESS).read_text())
        return found["steps"], found["pairs"]
    except FileNotFoundError:
        return 0, [0] * scales


def _keep(folder: Path, steps: int, pairs: list[int]) -> None:
    """Make the files that the next step reads a checkpoint."""
    for path in (folder / "train").glob(f"*-{steps}.npy"):
        flush_to_disk(path)
    with replacing(folder / _PROGRESS) as temporary:
        temporary.write_text(json.dumps({"steps": steps, "pairs": pairs}))


def _clean(folder: Path, step: int) -> None:
    """Remove files that neither a later step reads nor work that goes on from the last checkpoint."""
    kept = _progress(folder, 0)[0]
    for path in (folder / "train").glob("*.npy"):
        at = int(path.stem.rpartition("-")[2])
        if at <= step and at != kept:
            path.unlink(missing_ok=True)


# What tasks do.


def deal_nodes(folder: str, number: int) -> dict[str, Any]:
    """The task: which nodes each shard of a scale trains."""
    work = opened(folder)
    plan = work.plan
    assert isinstance(plan.solver, SGNS)
    window = max(scale.hops[-1] for scale in plan.scales)
    with work.maps.watched(), Threads(1):
        context = work.context()
        dealt = deal(plan.solver, context, plan.scales[number], window, plan.seed)
        for name in ("nodes", "rate", "offset"):
            save_array(work.folder / f"{name}-{number}.npy", getattr(dealt, name))
        place = np.empty_like(dealt.nodes)  # of each node among those of all shards
        place[dealt.nodes] = np.arange(len(place), dtype=np.int32)
        save_array(work.folder / f"place-{number}.npy", place)
        unit = unit_of(context)
        if number == 0 and (counts := expected_counts(context, unit)) is not None:
            save_pieces(work.folder / "counts.npy", np.float32, (context.features.nnz,), counts)
    facts = {name: getattr(dealt, name) for name in ("ends", "rounds", "tail", "pairs", "updates")}
    facts["unit"] = unit
    with replacing(work.folder / f"deal-{number}.json") as temporary:
        temporary.write_text(json.dumps(facts))
    features = work.probabilities.shape[1]
    return {"rounds": dealt.rounds, "shards": len(dealt.ends), "pairs": dealt.pairs, "features": features}


def train_shards(folder: str, number: int, step: int, first: int, last: int, begin: int, end: int) -> int:
    """The task: some rounds of some shards, of one round unless these are all shards; returns the pairs seen."""
    work = opened(folder)
    with work.maps.watched(), Threads(1) as engine:
        shards = _shards(work, number)
        G = _Vectors.nodes(work, shards, number, first, last, step, begin)
        H = _Vectors.features(work, number, step, begin)
        together, seen = last - first == len(shards.dealt.ends), 0
        added = first == 0  # sums begin with the first shard: its group's copies need not be kept
        copies = _copies(1 if added else last - first, H.table)
        new, updates = aligned_zeros(*H.table.shape), np.zeros(len(H.table), dtype=np.int64)
        for round_ in range(begin, end):
            updates.fill(0)
            for shard in range(first, last):
                copy = _copy(copies, 0 if added else shard - first)
                where = shards.dealt.shards[shard]
                rows = slice(where.start - G.begin, where.stop - G.begin)
                seen += shards.train(where, round_, G.table[rows], H.table, copy, engine.stop)
                checkpoint()  # told to stop, G means nothing
                if added:
                    _add(copy, H.table, new, updates, shard, len(shards.dealt.ends))
            G.take(G.table, round_)
            if together:
                new, table = H.table, new  # what the round has read is overwritten by the next
                H.take(table, round_)
    if together:
        H.save(step + 1, end)
    else:
        kept: tuple[NDArray[Any], NDArray[Any]] = (new, updates) if added else copies
        for name, array in zip(_COPIES, kept, strict=True):
            _save(work, f"{name}-{number}-{first}-{step}", array)
    G.save(step + 1, end)
    return seen


def average_copies(folder: str, number: int, step: int) -> None:
    """The task: H of the next step, from the sum of the first group and the copies of the others, which are removed."""
    work = opened(folder)
    steps = _steps(work, number)
    files = {
        first: [work.folder / "train" / f"{name}-{number}-{first}-{step}.npy" for name in _COPIES]
        for first, _ in steps.bounds
    }
    if not all(path.exists() for group in files.values() for path in group):
        return  # a worker has done this, and ended before it could say so
    H = _Vectors.features(work, number, step, step)  # steps are rounds where copies are averaged apart
    new, updates = _loaded(files[0][0]), np.load(files[0][1])
    with Threads(1):
        for first, last in steps.bounds[1:]:
            own, touches = (np.load(path, mmap_mode="r") for path in files[first])
            for shard in range(first, last):
                copy = aligned(own[shard - first]), np.array(touches[shard - first])
                _add(copy, H.table, new, updates, shard, steps.shards)
    H.take(new, step)
    H.save(step + 1, step + 1)
    for group in files.values():
        for path in group:
            path.unlink(missing_ok=True)


_COPIES = ("copies", "touches")  # files of shards' own features, and of their counts of updates, or of sums of both


def _copies(count: int, H: Floats) -> tuple[Floats, NDArray[np.uint32]]:
    """Room for the own features of some shards, and for their counts of updates."""
    return aligned_zeros(count * len(H), H.shape[1]).reshape(count, *H.shape), np.zeros((count, len(H)), np.uint32)


def _copy(copies: tuple[Floats, NDArray[np.uint32]], number: int) -> Copy:
    """Those of one shard; the counts are 0 once more."""
    own, touches = copies[0][number], copies[1][number]
    touches.fill(0)
    return own, touches


def _add(copy: Copy, H: Floats, new: Floats, updates: NDArray[np.int64], shard: int, count: int) -> None:
    """Add the copy of a shard to the mean of all."""
    average([copy], H, new, updates, slice(0, len(H)), first=shard == 0, last=shard + 1 == count)


@dataclass
class _Vectors:
    """Vectors of the nodes of some shards, or of the features, and their sum over the last rounds."""

    work: Opened
    name: str
    dealt: Deal
    table: Floats
    total: Floats
    begin: int = 0  # the first row, among those of all shards

    @classmethod
    def nodes(
        cls, work: Opened, shards: Shards, number: int, first: int, last: int, step: int, round_: int
    ) -> _Vectors:
        """Those of some shards before a step, which begins with that round."""
        name, every = f"nodes-{number}-{first}", shards.dealt.shards
        where = slice(every[first].start, every[last - 1].stop)
        table = shards.initial(where) if step == 0 else _stored(work, name, step)
        total = _sum_of(work, name, shards.dealt, table, step, round_)
        return cls(work, name, shards.dealt, table, total, where.start)

    @classmethod
    def features(cls, work: Opened, number: int, step: int, round_: int) -> _Vectors:
        """Those of the features before a step."""
        name, dealt = f"features-{number}", _deal(work, number)
        width = work.plan.scales[number].dimensions
        table = _stored(work, name, step) if step else aligned_zeros(work.probabilities.shape[1], width)
        return cls(work, name, dealt, table, _sum_of(work, name, dealt, table, step, round_))

    def take(self, table: Floats, round_: int) -> None:
        """Set what a round has left."""
        self.table = table
        if round_ >= self.dealt.rounds - self.dealt.tail:
            np.add(self.total, table, out=self.total)

    def save(self, step: int, rounds: int) -> None:
        """Write what the next step reads, or the mean after the last of all rounds."""
        if rounds == self.dealt.rounds:
            save_array(self.work.folder / f"trained-{self.name}.npy", self.total / np.float32(self.dealt.tail))
            return
        _save(self.work, f"{self.name}-{step}", self.table)
        if rounds > self.dealt.rounds - self.dealt.tail:
            _save(self.work, f"sum-{self.name}-{step}", self.total)


def _sum_of(work: Opened, name: str, dealt: Deal, table: Floats, step: int, round_: int) -> Floats:
    """The sum over the last rounds before a round."""
    if round_ > dealt.rounds - dealt.tail:
        return _stored(work, f"sum-{name}", step)
    return np.zeros_like(table)


def write(folder: str, number: int) -> dict[str, Any]:
    """The task: the trained vectors of the nodes of a part."""
    work = opened(folder)
    plan, (begin, end) = work.plan, work.plan.parts[number]
    found = np.empty((end - begin, len(plan.columns)), dtype=np.float32)
    first = 0
    with work.maps.watched():
        for i, scale in enumerate(plan.scales):
            dealt = _deal(work, i)
            columns = slice(first, first := first + scale.dimensions)
            place = work.once(f"place-{i}", partial(work.maps.open, work.folder / f"place-{i}.npy", np.int32))[
                begin:end
            ]
            for first_shard, last_shard in _steps(work, i).bounds:
                start, stop = dealt.shards[first_shard].start, dealt.shards[last_shard - 1].stop
                here = np.flatnonzero((place >= start) & (place < stop))
                trained = work.table(f"trained-nodes-{i}-{first_shard}", stop - start, scale.dimensions)
                found[here, columns] = trained[place[here] - start, : scale.dimensions]
        known = work.context().transitions.degrees[begin:end] > 0
        if plan.context != "nodes":
            offsets = work.graph.feature_offsets[begin : end + 1]
            known = known & (np.diff(offsets) > 0)
        return write_part(work, number, found, known)


def _deal(work: Opened, number: int) -> Deal:
    """The shards of a scale, as their task has written them; read once."""

    def array(name: str, dtype: Any) -> NDArray[Any]:
        return work.maps.open(work.folder / f"{name}-{number}.npy", dtype, (work.plan.n_nodes,))

    def make() -> Deal:
        facts = json.loads((work.folder / f"deal-{number}.json").read_text())
        nodes, rate, offset = array("nodes", np.int32), array("rate", np.float64), array("offset", np.float64)
        del facts["unit"]
        return Deal(nodes=nodes, rate=rate, offset=offset, **facts)

    return work.once(f"deal-{number}", make)


def _steps(work: Opened, number: int) -> _Steps:
    """How the rounds of a scale become tasks."""
    dealt = _deal(work, number)
    features = work.probabilities.shape[1]
    return _Steps.of(dealt.pairs, dealt.rounds, len(dealt.ends), features, work.plan)


def _shards(work: Opened, number: int) -> Shards:
    """What shards of a scale train with; made once in a process."""

    def make() -> Shards:
        plan, context = work.plan, work.context()
        assert isinstance(plan.solver, SGNS)
        unit = json.loads((work.folder / f"deal-{number}.json").read_text())["unit"]
        counts = None
        if (work.folder / "counts.npy").exists():
            counts = work.maps.open(work.folder / "counts.npy", np.float32, (context.features.nnz,))
        scale, probability = plan.scales[number], work.probabilities[number]
        return Shards(
            plan.solver, context, scale, probability, plan.seed, _deal(work, number), counts=counts, unit=unit
        )

    return work.once(f"shards-{number}", make)


def _stored(work: Opened, name: str, step: int) -> Floats:
    """Vectors as the last step has left them."""
    return _loaded(work.folder / "train" / f"{name}-{step}.npy")


def _loaded(path: Path) -> Floats:
    """Vectors of a file, in memory, as kernels take them."""
    stored = np.load(path, mmap_mode="r")
    found = aligned_empty(*stored.shape)
    found[:] = stored
    return found


def _save(work: Opened, name: str, array: NDArray[Any]) -> None:
    """Write a file that the next step reads; those of a checkpoint are flushed to the disk later."""
    save_array(work.folder / "train" / f"{name}.npy", array, durable=False)
