"""Skip-gram on a GPU beside all cores of the same machine: seconds, pairs a second and scores.

The first fit of a process compiles the kernels: it is shown on its own, and seconds are the median of those after it.
Scores are of the usual classifiers and regressors over ten splits, on 5,000 nodes of the generated graph. Its training
is short, as that of the benchmark of large graphs: a hundred visits a node; all others have the paper's walks.

    HOPSCALE_DATA=... python benchmarks/gpu_sgns.py [--repeats 2] [--cases facebook:MUSAE ...]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import torch

from hopscale import AE, MUSAE, SGNS, AttributedGraph
from hopscale.tasks import evaluate, summarize
from large_graph import large_graph
from measure import graph_and_target, markdown, measured, median, updated, write

KINDS = {"MUSAE": MUSAE, "AE": AE}
LARGE = "generated, 2^17 nodes"
SHORT = {"walks_per_node": 1, "walk_length": 53, "epochs": 1}
CASES = ("facebook:MUSAE", "facebook:AE", "cora:MUSAE", "cora:AE", "wiki-chameleon:MUSAE", "twitch-pt:MUSAE",
         f"{LARGE}:MUSAE")  # fmt: skip
SCORED = 5_000  # nodes of the generated graph


def graph_of(name: str) -> tuple[AttributedGraph, np.ndarray, dict[str, Any]]:
    """A graph, what to predict, and settings of the solver."""
    if name != LARGE:
        return *graph_and_target(name), {}
    graph = large_graph(2**17)
    assert graph.labels is not None
    return graph, graph.labels, SHORT


def score(vectors: np.ndarray, target: np.ndarray) -> float:
    if len(target) > 100_000:
        some = np.random.default_rng(0).permutation(len(target))[:SCORED]
        vectors, target = vectors[some], target[some]
    metric = "r2" if target.dtype.kind == "f" else "micro_f1"
    return float(summarize(evaluate(vectors, target, splits=10))[metric]["mean"])


def one(name: str, kind: str, repeats: int) -> dict[str, Any]:
    graph, target, settings = graph_of(name)

    def fit(device: str | None) -> Any:
        return KINDS[kind](solver=SGNS(**settings), device=device).fit(graph)

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    there = [measured(lambda: fit("cuda")) for _ in range(1 + repeats)]
    memory = torch.cuda.max_memory_allocated() / 2**30
    seconds, here = measured(lambda: fit(None))
    models = [model for _, model in there]
    return {
        "graph": name,
        "model": kind,
        "pairs": sum(int(words.split()[0].replace(",", "")) for words in here.rows_.values()),
        "first_seconds": there[0][0],
        "seconds": [each[0] for each in there[1:]],
        "processor_seconds": seconds,
        "memory_gib": memory,
        "same_bits": all(bool((model.embedding_ == models[0].embedding_).all()) for model in models),
        "score": score(models[0].embedding_, target),
        "processor_score": score(here.embedding_, target),
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
    }


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for r in records:
        there = median(r["seconds"])
        rows.append(
            [
                f"{r['graph']}, {r['model']}",
                f"{r['processor_seconds']:.1f}",
                f"{there:.1f}",
                f"{r['processor_seconds'] / there:.1f} ×",
                f"{r['pairs'] / r['processor_seconds'] / 1e6:,.0f} / {r['pairs'] / there / 1e6:,.0f}",
                f"{r['first_seconds']:.1f}",
                f"{r['memory_gib']:.1f}",
                f"{r['processor_score']:.3f} / {r['score']:.3f}",
                "yes" if r["same_bits"] else "no",
            ]
        )
    header = (
        "graph, model|16 cores, s|GPU, s|as quick|million pairs a second|first fit, s|GPU memory, GiB|"
        "score, cores / GPU|same bits in every run"
    )
    return markdown(header.split("|"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2, help="fits after the first one; at least 1")
    parser.add_argument("--cases", nargs="*", default=CASES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    records: list[dict[str, Any]] = []
    for case in options.cases:
        records.append(one(*case.split(":"), options.repeats))
        kept = updated("gpu_sgns", records, ("graph", "model"))
        write("gpu_sgns", kept, table(kept))


if __name__ == "__main__":
    main()
