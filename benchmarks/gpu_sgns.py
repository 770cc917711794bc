"""Would skip-gram pay on a GPU? Shards are trained side by side there, and each needs features' vectors of its own.

Two questions, each with its table. How many pairs a second a GPU could train, by the number of shards: a kernel that
does the arithmetic and the reads and writes of training, one warp a shard, on random nodes and features, without walks
and without averaging the copies; beside it what the solver does with all cores of the same machine. And what so many
shards cost: micro-F1 of MUSAE by the solver itself, on the processor.

    HOPSCALE_DATA=... python benchmarks/gpu_sgns.py [--without-gpu]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from hopscale import MUSAE, SGNS, load
from hopscale.solvers import training
from hopscale.tasks import evaluate, summarize
from large_graph import large_graph
from measure import markdown, measured, median, updated, write

SHARDS = (16, 128, 1024, 4096)
POSITIVES = 8  # features of a visit that share noise, and as much of that; the solver takes 8 and 10
LANES = 64  # floats of a row
FEATURES = 50_000
PAIRS = 2**26
SCORED = ("facebook", "cora")


def rate_on_gpu(shards: int) -> dict[str, Any]:
    """Pairs a second; the median of five runs."""
    import torch

    from gpu_sgns_kernel import train  # needs a GPU's library

    steps = PAIRS // POSITIVES // shards
    which = [torch.randint(FEATURES, (shards * steps * POSITIVES,), device="cuda", dtype=torch.int32) for _ in range(2)]
    G = torch.randn((shards * steps, LANES), device="cuda") / LANES
    H = torch.zeros((shards, FEATURES, LANES), device="cuda")

    def once() -> None:
        train[(shards,)](*which, G, H, steps, FEATURES, B=POSITIVES, D=LANES, num_warps=1)
        torch.cuda.synchronize()

    once()
    seconds = [measured(once)[0] for _ in range(5)]
    assert bool(torch.isfinite(H).all())
    return {
        "what": "rate",
        "shards": shards,
        "pairs_a_second": shards * steps * POSITIVES / median(seconds),
        "copies_gib": H.nbytes / 2**30,
        "gpu": torch.cuda.get_device_name(),
    }


def rate_of_solver() -> dict[str, Any]:
    """Pairs a second of the solver on all cores."""
    graph = large_graph(2**17)
    model = MUSAE(solver=SGNS(walks_per_node=1, walk_length=53, epochs=1), random_state=0)
    seconds, _ = measured(lambda: model.fit(graph))
    pairs = sum(int(words.split()[0].replace(",", "")) for words in model.rows_.values())
    return {
        "what": "rate",
        "shards": training.SHARDS,
        "pairs_a_second": pairs / seconds,
        "copies_gib": None,
        "gpu": None,
    }


def score(name: str, shards: int) -> dict[str, Any]:
    """Micro-F1 with so many shards; the rounds are those of the solver for them."""
    graph, usual = load(name), training.SHARDS
    training.SHARDS = shards  # type: ignore[misc]
    try:
        model = MUSAE(solver=SGNS(walks_per_node=2), random_state=0).fit(graph)
    finally:
        training.SHARDS = usual  # type: ignore[misc]
    found = summarize(evaluate(model.embedding_, graph.labels, splits=10))["micro_f1"]["mean"]
    return {"what": "score", "dataset": name, "shards": shards, "micro_f1": float(found)}


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for r in (r for r in records if r["what"] == "rate"):
        where = "solver, all cores" if r["gpu"] is None else f"kernel, {r['gpu']}"
        copies = "–" if r["copies_gib"] is None else f"{r['copies_gib']:.1f}"
        rows.append([where, str(r["shards"]), f"{r['pairs_a_second'] / 1e6:,.0f}", copies, "–"])
    scores = [r for r in records if r["what"] == "score"]
    for shards in dict.fromkeys(r["shards"] for r in scores):
        words = ", ".join(f"{r['dataset']} {r['micro_f1']:.3f}" for r in scores if r["shards"] == shards)
        rows.append(["solver, quality", str(shards), "–", "–", words])
    return markdown(["what", "shards", "million pairs a second", "copies of features, GiB", "micro-F1"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-gpu", action="store_true", help="scores alone; rates of an earlier run are kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.without_gpu:
        records = [score(name, shards) for shards in SHARDS for name in SCORED]
    else:
        records = [rate_of_solver(), *map(rate_on_gpu, SHARDS)]
    kept = updated("gpu_sgns", records, ("what",))
    kept = sorted(kept, key=lambda record: str(record["what"]))
    write("gpu_sgns", kept, table(kept))


if __name__ == "__main__":
    main()
