"""Memory of the sampled solver at two sizes: graph, features, parameters, and what is on top of them.

python benchmarks/sgns_memory.py
"""

from __future__ import annotations

import argparse
import json

from hopscale import MUSAE, SGNS, load
from measure import in_new_process, markdown, measured, peak_mib, resident_mib, write

SIZES = (2**14, 2**17)
SETTINGS = {"short walks": (20, 1), "long walks": (80, 2)}


def one(nodes: str, setting: str) -> dict[str, object]:
    walk_length, walks_per_node = SETTINGS[setting]
    graph = load("erdos-renyi", n_nodes=int(nodes))
    A, F = graph.adjacency, graph.features
    held = sum(a.nbytes for m in (A, F) for a in (m.indptr, m.indices, m.data)) / 2**20
    before = resident_mib()
    model = MUSAE(solver=SGNS(walk_length=walk_length, walks_per_node=walks_per_node, epochs=1), self_scale=False)
    seconds, _ = measured(lambda: model.fit(graph))
    parameters = (model.embedding_.nbytes + model.feature_embedding_.nbytes) / 2**20
    return {
        "nodes": int(nodes),
        "setting": setting,
        "pairs": model.rows_["1"],
        "graph_mib": held,
        "parameters_mib": parameters,
        "peak_mib": peak_mib() - before,
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("NODES", "SETTING"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    records = [in_new_process(__file__, str(nodes), setting) for nodes in SIZES for setting in SETTINGS]
    rows = [
        [
            f"{r['nodes']:,}",
            r["setting"],
            r["pairs"],
            f"{r['graph_mib']:.0f}",
            f"{r['parameters_mib']:.0f}",
            f"{r['peak_mib']:.0f}",
            f"{r['seconds']:.1f}",
        ]
        for r in records
    ]
    header = "nodes|setting|pairs, each scale|graph and features, MiB|vectors, MiB|peak on top of graph, MiB|seconds"
    write("sgns_memory", records, markdown(header.split("|"), rows))


if __name__ == "__main__":
    main()
