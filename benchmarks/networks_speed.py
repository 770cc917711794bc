"""Seconds that an epoch of our GCN takes on a processor, beside one of PyTorch Geometric's layers on the same numbers.

Both have the paper's settings: features with dropout, two layers of 32 filters, Adam. Theirs, as they are documented
for sparse features: a sparse tensor times weights, then ``GCNConv``, whose own weights are the identity. What ours do
before and after the epochs is not counted: a training of few epochs is taken from one of three times as many, medians
of rounds from medians. It is not shown unless it is larger than what rounds differ by.

    HOPSCALE_DATA=... python benchmarks/networks_speed.py [--epochs 20] [--rounds 5]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from torch_geometric.nn import GCNConv

from hopscale import GCN, AttributedGraph, load
from hopscale.compute.threads import effective_jobs
from hopscale.labels import class_codes
from measure import markdown, measured, median, write

DATASETS = ("cora", "facebook", "github", "deezer-europe", "pubmed")


class Theirs(torch.nn.Module):
    """A GCN of PyTorch Geometric's layers over sparse features."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = torch.nn.Parameter(torch.randn(features, 32) / np.sqrt(features))
        self.convolutions = torch.nn.ModuleList([GCNConv(32, 32, cached=True), GCNConv(32, classes, cached=True)])
        self.convolutions[0].lin = torch.nn.Identity()

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        kept = torch.nn.functional.dropout(x.values(), 0.5)
        x = torch.sparse_coo_tensor(x.indices(), kept, x.shape, is_coalesced=True)
        hidden = self.convolutions[0](torch.sparse.mm(x, self.first), edges).relu()
        return self.convolutions[1](torch.nn.functional.dropout(hidden, 0.5), edges)


def theirs(graph: AttributedGraph, epochs: int) -> float:
    """With one thread or all, whichever is faster."""
    return min(theirs_with(threads, graph, epochs) for threads in {1, effective_jobs(-1)})


def theirs_with(threads: int, graph: AttributedGraph, epochs: int) -> float:
    torch.set_num_threads(threads)
    codes = torch.from_numpy(class_codes(np.asarray(graph.labels))[0])
    rows = torch.nonzero(codes >= 0)[:, 0]
    coo = graph.features.tocoo()
    x = torch.sparse_coo_tensor(np.stack(coo.coords).astype(np.int64), coo.data.copy(), coo.shape).coalesce()
    edges = torch.from_numpy(np.stack(graph.adjacency.nonzero()).astype(np.int64))
    network = Theirs(graph.n_features, int(codes.max()) + 1)
    adam = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=0.001)

    def train() -> None:
        for _ in range(epochs):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(network(x, edges)[rows], codes[rows]).backward()
            adam.step()

    return measured(train)[0] / epochs


def ours(graph: AttributedGraph, epochs: int) -> float:
    return measured(lambda: GCN(epochs=epochs, device="cpu").fit(graph))[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    for dataset in DATASETS:
        graph = load(dataset)
        ours(graph, 2)
        for turn in range(options.rounds):
            seconds = {key: ours(graph, times * options.epochs) for key, times in (("short", 1), ("long", 3))}
            seconds["theirs"] = theirs(graph, options.epochs)
            records.append({"dataset": dataset, "turn": turn, "epochs": options.epochs, **seconds})
            print(records[-1], flush=True)
    write("networks_speed", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        here = [record for record in records if record["dataset"] == dataset]
        long, short = ([record[key] for record in here] for key in ("long", "short"))
        difference, spread = median(long) - median(short), max(np.ptp(long), np.ptp(short))
        mine, their = difference / (2 * here[0]["epochs"]), median(record["theirs"] for record in here)
        told = difference > spread
        shown = [f"{1000 * mine:.1f} ms" if told else "–", f"{1000 * their:.1f} ms"]
        rows.append([dataset, *shown, f"{their / mine:.1f}" if told else "–"])
    return markdown(["data set", "hopscale", "PyTorch Geometric", "ratio"], rows)


if __name__ == "__main__":
    main()
