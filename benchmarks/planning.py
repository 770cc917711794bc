"""What a very large graph would take, by the cost model: plans, of which nothing is run.

10⁸ nodes, 10⁹ edges and 20 of 50,000 features a node, on machines with 16 cores, 64 GB and a network of 10 Gbit/s, and
on one GPU; seconds are those of the machine that the costs were fitted on. And the answer of ``hopscale plan`` to the
command that the page shows, and entries of exact rows as counts let expect them, beside those of the graphs whose rows
were counted for ``gpu_speed``.

    python benchmarks/planning.py
"""

from __future__ import annotations

import json
import re
from typing import Any

import hopscale
from hopscale import AE, MUSAE, PMI, SGNS
from hopscale.checks import in_words
from hopscale.planning.estimates import Plan
from hopscale.planning.report import document, duration, lines, refusal
from hopscale.planning.rows import CountedRows
from measure import RESULTS, markdown, write

LARGE = {"n_nodes": 1e8, "n_edges": 1e9, "n_features": 50_000, "n_entries": 2e9}
EXAMPLE = {"n_nodes": 1e6, "n_edges": 1e7, "n_features": 50_000, "n_entries": 2e7, "memory": "16GB", "cores": 8}
MODELS = {
    "MUSAE, pmi": MUSAE(solver=PMI(memory_limit="12GiB")),
    "AE, pmi": AE(solver=PMI(memory_limit="12GiB")),
    "MUSAE, sgns, 100 visits a node": MUSAE(solver=SGNS(walks_per_node=1, walk_length=53, epochs=1)),
}
WHERE: dict[str, dict[str, Any]] = {
    "1 machine, in memory": {"machines": 1},
    "10 machines": {"machines": 10},
    "100 machines": {"machines": 100},
    "one GPU": {"gpu": True},
}


def cell(plan: Plan) -> list[str]:
    """Time, memory, storage and network of a plan, and whether it fits."""
    if plan.needs:
        return ["–", "–", "–", refusal(plan)]
    moved = f"{in_words(plan.disk)} / {in_words(plan.network)}" if plan.disk else "–"
    stages = ", ".join(f"{stage.name} {duration(stage.seconds)}" for stage in plan.stages if stage.seconds >= 1)
    verdict = "fits" if plan.fits else f"does not fit {in_words(plan.machine.available or 0)}"
    time = f"{duration(plan.seconds)} ({duration(plan.fastest)} to {duration(plan.slowest)})"
    return [time, f"{in_words(plan.memory)}, {verdict}", moved, stages if plan.disk else "–"]


def plans() -> list[tuple[str, str, Plan]]:
    found = []
    for name, model in MODELS.items():
        for where, settings in WHERE.items():
            if "gpu" in settings and not isinstance(model.chosen_solver(), PMI):
                continue
            made = hopscale.plan(**LARGE, model=model, memory="64GB", cores=16, calibrate=False, **settings)
            found.append((name, where, made))
            blocks = [way for way in made.ways_out if way.change.startswith("in blocks")]
            if where == "1 machine, in memory" and blocks:
                found.append((name, "1 machine, in blocks", out_of_core(model)))
    return found


def out_of_core(model: Any) -> Plan:
    """A fit in blocks on one machine."""
    from hopscale.planning.estimates import out_of_core as estimated
    from hopscale.planning.machine import Machine
    from hopscale.planning.sizes import GraphSize

    found = estimated(model, GraphSize(**LARGE), Machine(64 * 2**30, 16))  # type: ignore[arg-type]
    assert found is not None
    return found


def expected_rows() -> str:
    """Entries of an exact row, expected and true."""
    rows = []
    for record in json.loads((RESULTS / "gpu_speed.json").read_text())["records"]:
        model = getattr(hopscale, record["model"])()
        known = {label: int(re.sub(r"\D", "", words)) for label, words in record["rows"].items() if "positive" in words}
        scales, size = model.outline(record["nodes"], record["edges"], record["features"], known["0"])
        for scale in (scale for scale in scales if not scale.is_self and scale.label in known):
            true = known[scale.label] / size.n_nodes
            found = CountedRows(size, scale, float(size.steps)).row_entries
            rows.append(
                [record["graph"], record["model"], scale.label, f"{true:.0f}", f"{found:.0f}", f"{found / true:.1f} ×"]
            )
    return markdown(["graph", "model", "hops", "entries of a row", "expected from counts", "ratio"], rows)


def main() -> None:
    rows, records = [], []
    for name, where, plan in plans():
        rows.append([name, where, *cell(plan)])
        records.append({"model": name, "where": where, **document(plan)})
    header = ["model", "on", "time", "memory of a machine", "storage / network", "stages"]
    write("planning", records, markdown(header, rows))
    (RESULTS / "expected_rows.md").write_text(expected_rows() + "\n")
    example = hopscale.plan(**EXAMPLE, calibrate=False)  # type: ignore[arg-type]
    (RESULTS / "planning_example.md").write_text("\n".join(["```text", *lines(example), "```"]) + "\n")


if __name__ == "__main__":
    main()
