"""Neighbours by exact search against indexes of approximate ones: seconds to build, seconds a question, recall.

Vectors are those of MUSAE on facebook, rows drawn with replacement and moved a little, 128 dimensions. All rivals get
unit vectors in memory, two threads and k = 10; ``recall`` is the share of the ten nearest by exact cosine that is
found. ``pays off at`` is the number of questions, asked a thousand at a time, from which building the index and asking
it is quicker than exact search. Rivals take turns; the quickest turn counts. usearch and faiss are no dependencies of
hopscale: those that are not installed are left out, and HNSW is not built beyond ``--most-hnsw`` vectors.

    HOPSCALE_DATA=... python benchmarks/neighbors_speed.py [--sizes 100000 1000000] [--repeats 3]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from hopscale import MUSAE, load
from hopscale.compute import Threads
from hopscale.compute.nearest import Nearest
from measure import markdown, measured, write

K, THREADS, MANY = 10, 2, 1000

Ask = Callable[[np.ndarray], np.ndarray]  # queries in, rows of neighbours out


def vectors_like(G: np.ndarray, n: int) -> np.ndarray:
    """Rows of G with replacement, each moved by a tenth of the spread."""
    rng = np.random.default_rng(0)
    moved = G[rng.integers(0, len(G), n)] + 0.1 * G.std() * rng.standard_normal((n, G.shape[1]), dtype=np.float32)
    return np.ascontiguousarray(moved / np.linalg.norm(moved, axis=1, keepdims=True))


def exact(vectors: np.ndarray) -> Ask:
    near = Nearest(vectors, cosine=True)

    def ask(queries: np.ndarray) -> np.ndarray:
        with Threads(THREADS) as engine:
            return np.array([rows for rows, _ in near.of(queries, K, engine)])

    return ask


def faiss_index(kind: str) -> Callable[[np.ndarray], Ask]:
    def build(vectors: np.ndarray) -> Ask:
        import faiss

        faiss.omp_set_num_threads(THREADS)
        index = faiss.index_factory(vectors.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        if "IVF" in kind:
            index.train(vectors[np.random.default_rng(0).permutation(len(vectors))[:100_000]])
            index.nprobe = 16
        index.add(vectors)
        return lambda queries: index.search(queries, K)[1]

    return build


def usearch(vectors: np.ndarray) -> Ask:
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="ip", dtype="f32")
    index.add(np.arange(len(vectors)), vectors, threads=THREADS)
    return lambda queries: np.atleast_2d(index.search(queries, K, threads=THREADS).keys).astype(np.int64)


RIVALS: dict[str, Callable[[np.ndarray], Ask]] = {
    "hopscale, exact": exact,
    "faiss Flat, exact": faiss_index("Flat"),
    "faiss IVF1024, 16 probed": faiss_index("IVF1024,Flat"),
    "faiss HNSW32": faiss_index("HNSW32"),
    "usearch HNSW": usearch,
}


def of_size(vectors: np.ndarray, options: argparse.Namespace) -> list[dict[str, Any]]:
    asks: dict[str, Ask] = {}
    records: dict[str, dict[str, Any]] = {}
    for name, build in RIVALS.items():
        if "HNSW" in name and len(vectors) > options.most_hnsw:
            continue
        try:
            seconds, asks[name] = measured(lambda build=build: build(vectors))
        except ImportError:
            print(f"{name}: not installed")
            continue
        records[name] = {"rival": name, "n": len(vectors), "build": seconds, "one": [], "many": []}
    rows = np.random.default_rng(1).permutation(len(vectors))[:MANY]
    queries, found = vectors[rows], {}
    for _ in range(options.repeats):
        for name, ask in asks.items():
            records[name]["one"].append(measured(lambda ask=ask: ask(queries[:1]))[0])
            seconds, found[name] = measured(lambda ask=ask: ask(queries))
            records[name]["many"].append(seconds / MANY)
    for name, record in records.items():
        pairs = zip(found[name].tolist(), found["hopscale, exact"].tolist(), strict=True)
        record["recall"] = float(np.mean([len(set(a) & set(b)) / K for a, b in pairs]))
    return list(records.values())


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for record in records:
        ours = next(r for r in records if r["n"] == record["n"] and r["rival"].startswith("hopscale"))
        gained = min(ours["many"]) - min(record["many"])
        pays = f"{record['build'] / gained:,.0f}" if gained > 0 and record["recall"] < 1 else ""
        rows.append(
            [
                f"{record['n']:,}",
                record["rival"],
                f"{record['build']:.1f}",
                f"{1000 * min(record['one']):.1f}",
                f"{1000 * min(record['many']):.2f}",
                f"{record['recall']:.3f}",
                pays,
            ]
        )
    header = ["vectors", "search", "build, s", "one question, ms", "of 1,000, ms each", "recall@10", "pays off at"]
    return markdown(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most-hnsw", type=int, default=100_000)
    options = parser.parse_args()
    G = MUSAE().fit_transform(load("facebook"))
    records = []
    for size in options.sizes:
        records += of_size(vectors_like(G, size), options)
        print(table(records), flush=True)
    write("neighbors_speed", records, table(records))


if __name__ == "__main__":
    main()
