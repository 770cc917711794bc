"""A plan in words: a small table, a sentence, and what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopscale.checks import in_words
from hopscale.planning.stages import FORMS

if TYPE_CHECKING:
    from hopscale.planning.estimates import Plan

__all__ = ["document", "duration", "lines", "refusal"]


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(0.42), duration(75), duration(7300), duration(400_000)
    ('0.42 s', '1.2 min', '2.0 h', '4.6 days')
    """
    for unit, size, least in (("days", 86400.0, 2.0), ("h", 3600.0, 1.5), ("min", 60.0, 1.0)):
        if seconds >= least * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def lines(plan: Plan) -> list[str]:
    """The plan for people."""
    size, machine = plan.size, plan.machine
    counts = (
        f"{size.n_nodes:,} nodes, {size.n_edges:,} edges, {size.n_features:,} features ({size.n_entries:,} entries)"
    )
    found = [f"{plan.model} with the solver {plan.solver} on {counts}, by {size.source}", ""]
    if plan.needs:
        found.append(refusal(plan))
    else:
        rows = [("stage", "time", "memory beside graph and vectors")]
        rows += [(stage.name, duration(stage.seconds), in_words(stage.memory)) for stage in plan.stages]
        rows.append(("all", duration(plan.seconds), in_words(plan.work)))
        found += [*_columns(rows), "", *_forms(plan), "", _sentence(plan)]
    if plan.disk and not plan.needs:
        found.append(
            f"The storage takes up to {in_words(plan.disk)}; {in_words(plan.network)} go over the network."
            if machine.machines > 1
            else f"The disk takes up to {in_words(plan.disk)}."
        )
    if plan.ways_out:
        found += ["", "What would help:" if not plan.fits else "What would be quicker:"]
        changes = [(f"  {way.change}", duration(way.seconds), in_words(way.memory)) for way in plan.ways_out]
        found += _columns(changes)
    elif not plan.fits:
        found += ["", "Nothing that was tried would fit: fewer dimensions, or a larger machine, may."]
    return [*found, "", *(f"Note: {note}." for note in plan.notes)]


def refusal(plan: Plan) -> str:
    """Why a fit would be refused."""
    return f"The fit would be refused: it needs a memory_limit of about {in_words(plan.needs)}."


def _sentence(plan: Plan) -> str:
    machine, available = plan.machine, plan.machine.available
    where = "a GPU" if machine.gpu else f"{machine.cores} core{'s' if machine.cores > 1 else ''}"
    if machine.machines > 1:
        where = f"{machine.machines} machines with {where} each"
    time = f"about {duration(plan.seconds)} ({duration(plan.fastest)} to {duration(plan.slowest)}) on {where}"
    if machine.gpu:
        parts = "of its memory at least"
    elif plan.disk:
        each = "a machine" if machine.machines > 1 else "of memory"
        parts = f"{each}, {in_words(plan.graph)} of it files of the graph"
    else:
        parts = f"({in_words(plan.graph)} graph, {in_words(plan.work)} work, {in_words(plan.vectors)} vectors)"
    room = "" if available is None else f"; there are {in_words(available)}"
    verdict = "It fits" if plan.fits else "It does not fit"
    return f"{verdict}: {time}, and {in_words(plan.memory)} {parts}{room}."


def _forms(plan: Plan) -> list[str]:
    by_form: dict[str, list[str]] = {}
    for label, form in plan.rows.items():
        by_form.setdefault(form, []).append(label)
    return [f"scale {', '.join(labels)}: {FORMS[form]}" for form, labels in by_form.items()]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def document(plan: Plan) -> dict[str, Any]:
    """The plan for machines."""
    size, machine = plan.size, plan.machine
    return {
        "model": plan.model,
        "solver": plan.solver,
        "size": {name: getattr(size, name) for name in size.__dataclass_fields__ if name != "in_memory"},
        "machine": {name: getattr(machine, name) for name in machine.__dataclass_fields__},
        "rows": plan.rows,
        "refused": refusal(plan) if plan.needs else None,
        "fits": plan.fits,
        "seconds": plan.seconds,
        "fastest": plan.fastest,
        "slowest": plan.slowest,
        "memory": {
            "graph": plan.graph,
            "work": plan.work,
            "vectors": plan.vectors,
            "all": plan.memory,
            "available": machine.available,
        },
        "disk": plan.disk,
        "network": plan.network,
        "stages": [vars(stage) for stage in plan.stages],
        "ways_out": [vars(way) for way in plan.ways_out],
        "notes": list(plan.notes),
    }
