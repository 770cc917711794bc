"""Seconds of a fit on a GPU, its memory there, and how far its vectors are from the processor's.

The first fit of a process compiles the kernels: it is shown on its own, and seconds are the median of those after it.
Graphs are in memory already. The processor's fit has all cores; on graphs too large for its exact rows to be held, the
vectors are not the same, and only scores are compared: of a logistic regression on some of the nodes.

    HOPSCALE_DATA=... python benchmarks/gpu_speed.py [--repeats 3] [--datasets ...] [--nodes ...] [--processor 131072]
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from hopscale import AE, MUSAE, AttributedGraph, load
from hopscale.tasks import evaluate, summarize
from large_graph import large_graph
from measure import markdown, measured, median, updated, write

DATASETS = ("facebook", "deezer-europe")
NODES = (2**17, 2**20, 2**22)
MODELS = (MUSAE, AE)
SCORED = 5_000  # nodes of a large graph that are scored


def fits(kind: Any, graph: AttributedGraph, repeats: int) -> tuple[list[float], list[Any], float]:
    """Seconds of the first fit and of others, the last two models, and the peak of the device's memory in GiB."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    seconds, models = [], []
    for _ in range(1 + repeats):
        taken, model = measured(lambda: kind(device="cuda").fit(graph))
        seconds.append(taken)
        models = [*models[-1:], model]
    return seconds, models, torch.cuda.max_memory_allocated() / 2**30


def score(vectors: np.ndarray, labels: np.ndarray) -> float:
    some = np.random.default_rng(0).permutation(len(labels))[:SCORED]
    return float(summarize(evaluate(vectors[some], labels[some], splits=1))["micro_f1"]["mean"])


def apart(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


def products(model: Any, nodes: np.ndarray) -> np.ndarray:
    """Of some nodes' and all features' vectors, scale by scale."""
    blocks = model.scale_columns_.values()
    return np.hstack([model.embedding_[nodes, b] @ model.feature_embedding_[:, b].T for b in blocks])


def one(name: str, kind: Any, graph: AttributedGraph, repeats: int, processor: int) -> dict[str, Any]:
    seconds, (before, model), memory = fits(kind, graph, repeats)
    assert graph.labels is not None
    record = {
        "graph": name,
        "model": kind.__name__,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "rows": model.rows_,
        "first_seconds": seconds[0],
        "seconds": seconds[1:],
        "memory_gib": memory,
        "same_bits": bool(
            (before.embedding_ == model.embedding_).all()
            and (before.feature_embedding_ == model.feature_embedding_).all()
        ),
        "score": score(model.embedding_, graph.labels),
    }
    if graph.n_nodes <= processor:
        taken, here = measured(lambda: kind().fit(graph))
        some = np.random.default_rng(1).permutation(graph.n_nodes)[:500]
        record |= {
            "processor_seconds": taken,
            "processor_rows": here.rows_,
            "processor_score": score(here.embedding_, graph.labels),
            "vectors_apart": apart(model.embedding_, here.embedding_),
            "products_apart": apart(products(model, some), products(here, some)),
        }
    return record


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for r in records:
        exact = all("positive" in words for words in (*r["rows"].values(), *r.get("processor_rows", {"": ""}).values()))
        rows.append(
            [
                f"{r['graph']}, {r['model']}",
                f"{median(r['seconds']):.3f}",
                f"{r['first_seconds']:.1f}",
                f"{r['memory_gib']:.1f}",
                f"{r['processor_seconds']:.1f}" if "processor_seconds" in r else "–",
                f"{r['vectors_apart']:.0e} / {r['products_apart']:.0e}" if exact else "–",
                f"{r['score']:.3f} / " + (f"{r['processor_score']:.3f}" if "processor_score" in r else "–"),
                "yes" if r["same_bits"] else "no",
            ]
        )
    header = (
        "graph, model|GPU, s|first fit, s|GPU memory, GiB|processor, s|vectors / products apart|"
        "micro-F1 GPU / processor|same bits in every run"
    )
    return markdown(header.split("|"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    parser.add_argument("--nodes", nargs="*", type=int, default=NODES)
    parser.add_argument("--processor", type=int, default=2**17, help="nodes up to which the processor is measured too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with ThreadPoolExecutor(max(1, len(options.nodes))) as pool:  # a large graph takes longer to make than to embed
        made: list[Future[AttributedGraph]] = [pool.submit(large_graph, nodes) for nodes in options.nodes]
        graphs = [(name, (lambda name=name: load(name))) for name in options.datasets]
        graphs += [(f"generated, 2^{np.log2(n):.0f} nodes", f.result) for n, f in zip(options.nodes, made, strict=True)]
        records: list[dict[str, Any]] = []
        for name, graph in graphs:
            for kind in MODELS:
                records.append(one(name, kind, graph(), options.repeats, options.processor))
                records[-1]["gpu"] = torch.cuda.get_device_name()
                records[-1]["torch"] = torch.__version__
                kept = updated("gpu_speed", records, ("graph", "model"))  # what was measured before stays
                kept.sort(key=lambda record: record["nodes"])
                write("gpu_speed", kept, table(kept))


if __name__ == "__main__":
    main()
