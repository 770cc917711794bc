"""Skip-gram pairs a second: hopscale against gensim's Word2Vec, same graph, dimensions, negatives and threads.

gensim trains on stored walks (its fastest way in, a corpus file), hopscale walks as it goes; walking, drawing
noise and averaging the shards are in its time. ``nodes`` is gensim's own job, DeepWalk, where every pair needs a
new step; ``features`` is hopscale's, where a step gives a pair for each feature of the node it reaches.

    HOPSCALE_DATA=... python benchmarks/sgns_speed.py [--repeats 3] [--dataset facebook]
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from hopscale.compute import Threads
from hopscale.solvers import SGNS
from hopscale.walks import Scale, Transitions, WalkContext
from measure import graph_and_target, markdown, measured, median, write

LENGTH, WINDOW, NEGATIVES = 80, 3, 5
RIVALS = ("gensim", "own noise", "shared noise")


def stored_walks(transitions: Transitions, path: Path) -> int:
    """Write one walk per node as text; returns the number of pairs that a window of 3 finds in them."""
    starts = np.flatnonzero(transitions.degrees > 0).astype(np.int32)
    steps = transitions.sample(starts, 1, LENGTH - 1, 0)[:, 0]
    np.savetxt(path, np.hstack([starts[:, None], steps]), fmt="%d")
    return len(starts) * 2 * sum(LENGTH - hop for hop in range(1, WINDOW + 1))


def gensim_rate(path: Path, pairs: int, dimensions: int, threads: int) -> float:
    model = Word2Vec(
        vector_size=dimensions,
        window=WINDOW,
        shrink_windows=False,
        min_count=0,
        sg=1,
        negative=NEGATIVES,
        sample=0,
        workers=threads,
    )
    model.build_vocab(corpus_file=str(path))
    seconds, _ = measured(
        lambda: model.train(
            corpus_file=str(path),
            total_words=model.corpus_total_words,
            total_examples=model.corpus_count,
            epochs=1,
        )
    )
    return pairs / seconds / 1e6


def hopscale_rate(context: WalkContext, dimensions: int, threads: int, *, shared: bool) -> float:
    per_visit = context.features.nnz / context.n_nodes
    solver = SGNS(
        walk_length=LENGTH,
        walks_per_node=3 if per_visit > 2 else 10,
        epochs=1,
        negatives=NEGATIVES,
        share_negatives=shared,
    )
    with Threads(threads) as engine:
        scale = Scale(tuple(range(1, WINDOW + 1)), dimensions)
        seconds, (solution,) = measured(lambda: solver.fit(context, [scale], engine, 0))
    found = re.match(r"[\d,]+", solution.rows)
    assert found
    return int(found[0].replace(",", "")) / seconds / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dataset", default="facebook")
    options = parser.parse_args()
    graph, _ = graph_and_target(options.dataset)
    transitions = Transitions(graph.adjacency)
    contexts = {"features": WalkContext(transitions, graph.features), "nodes": WalkContext.of_nodes(transitions)}
    records: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walks.txt"
        count = stored_walks(transitions, path)
        for dimensions in (128, 32):
            for threads in (1, 2):
                for repeat in range(options.repeats):
                    rates = {("gensim", "nodes"): gensim_rate(path, count, dimensions, threads)}
                    for context, walks in contexts.items():
                        for rival, shared in (("own noise", False), ("shared noise", True)):
                            rate = hopscale_rate(walks, dimensions, threads, shared=shared)
                            rates[rival, context] = rate
                    records += [
                        {
                            "rival": rival,
                            "context": context,
                            "dimensions": dimensions,
                            "threads": threads,
                            "repeat": repeat,
                            "million_pairs_per_second": rate,
                        }
                        for (rival, context), rate in rates.items()
                    ]
    write("sgns_speed", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    def rate(rival: str, context: str, dimensions: int, threads: int) -> float:
        key = (rival, context, dimensions, threads)
        return median(
            r["million_pairs_per_second"]
            for r in records
            if (r["rival"], r["context"], r["dimensions"], r["threads"]) == key
        )

    rows = []
    for dimensions in (128, 32):
        for threads in (1, 2):
            gensim = rate("gensim", "nodes", dimensions, threads)
            row = [dimensions, threads, f"{gensim:.2f}"]
            for context in ("features", "nodes"):
                for rival in RIVALS[1:]:
                    ours = rate(rival, context, dimensions, threads)
                    row.append(f"{ours:.1f} ({ours / gensim:.1f}×)")
            rows.append(row)
    for context in ("features", "nodes"):
        for rival in RIVALS[1:]:
            for dimensions in (128, 32):
                gain = rate(rival, context, dimensions, 2) / rate(rival, context, dimensions, 1)
                rows.append([dimensions, "2 against 1", "", f"{context}, {rival}: {gain:.2f}×", "", "", ""])
    header = (
        "dimensions|threads|gensim, M pairs/s|features, own noise|features, shared noise|"
        "nodes, own noise|nodes, shared noise"
    )
    return markdown(header.split("|"), rows)


if __name__ == "__main__":
    main()
