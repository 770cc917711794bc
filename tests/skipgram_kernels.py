"""Small rounds of training for the kernels of skip-gram, and what they must compute, in NumPy.

As a program it compares Triton's kernels with those in plain PyTorch, on a GPU or, with TRITON_INTERPRET=1, without.
"""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import torch

from hopscale.compute import skipgram_plain as plain
from hopscale.walks.sampling import noise_layout
from hopscale.walks.transitions import alias_table
from reference import random_graph

POSITIVES, SHARED = 7, 9


class Small:
    """A graph, features and a round in which its nodes are visited."""

    def __init__(self, device: str = "cpu", *, weighted: bool = False, hops: tuple[int, ...] = (1, 2)) -> None:
        random = np.random.default_rng(7)
        graph = random_graph(40, 30, density=0.2, weighted=weighted, values=weighted, seed=1)
        self.adjacency, self.features = graph.adjacency, graph.features
        self.device, self.hops, self.random = device, hops, random
        A, F, tensor = graph.adjacency, graph.features, self.tensor
        alias = alias_table(A.data, A.indptr.astype(np.int64)) if weighted else (None, None)
        self.graph = plain.Graph(
            tensor(A.indptr, np.int64), tensor(A.indices, np.int32),
            *(None if each is None else tensor(each, each.dtype) for each in alias),
        )  # fmt: skip
        self.expected = 2 * random.random(F.nnz).astype(np.float32) if weighted else None
        self.table = plain.Table(
            tensor(F.indptr, np.int64), tensor(F.indices, np.int32),
            None if self.expected is None else tensor(self.expected, np.float32),
        )  # fmt: skip
        self.weights = random.random(F.shape[1]) ** 4
        layout = noise_layout(self.weights)
        guide = np.append(layout.guide, F.shape[1] - 1)
        self.noise = plain.Noise(
            tensor(layout.last, np.int64), tensor(layout.feature, np.int32), tensor(guide, np.int64), layout.shift
        )
        self.nodes = np.flatnonzero(np.diff(A.indptr) > 0)  # a row each
        self.counts = random.integers(0, 4, len(self.nodes))

    def tensor(self, x: Any, dtype: Any) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(x).astype(dtype)).to(self.device)

    def round(self, kernels: ModuleType, key: int = 12345678901234567890) -> plain.Round:
        nodes, counts = self.tensor(self.nodes, np.int32), self.tensor(self.counts, np.int64)
        return plain.gathered(kernels, self.graph, self.table, nodes, counts, self.hops, POSITIVES, key)[0]

    def batches(self, kernels: ModuleType, this: plain.Round) -> plain.Batches:
        return kernels.batches(self.table, self.noise, this, POSITIVES, SHARED)

    def bounds(self, this: plain.Round, shards: int) -> torch.Tensor:
        """Where the batches of shards begin; of several the second one has none."""
        rows = np.linspace(0, len(self.nodes), max(2, shards)).astype(np.int64)
        return this.batches[self.tensor(np.insert(rows, 1, rows[1]) if shards > 1 else rows, np.int64)]

    def vectors(self, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        random = np.random.default_rng(3)
        sizes = (len(self.nodes), columns), (self.features.shape[1], columns)
        G, H = (self.tensor(0.3 * random.standard_normal(size), np.float32) for size in sizes)
        return G, H

    def trained(
        self,
        kernels: ModuleType,
        this: plain.Round,
        of: plain.Batches,
        columns: int,
        shards: int,
        *,
        learn: bool = True,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """G, H and counts of updates after the round."""
        G, H = self.vectors(columns)
        own = H.repeat(shards, 1, 1).clone() if learn else None
        touches = torch.zeros((shards, len(H)), dtype=torch.int32, device=self.device) if learn else None
        kernels.train(of, this.row, self.bounds(this, shards), G, H, own, touches, rate=0.05, noise_rate=0.05 * 5 / 9)
        return G, H if own is None else kernels.average(own, touches, H), touches


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def one_after_the_other(
    G: np.ndarray, H: np.ndarray, features: np.ndarray, row: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """G and H after a round: skip-gram as it is defined, shard by shard and batch by batch."""
    G, total, count = G.astype(float), np.zeros(H.shape), np.zeros(len(H))
    for begin, end in pairwise(bounds):
        own, touches = H.astype(float), np.zeros(len(H))
        for batch in range(begin, end):
            g, ids = G[row[batch]].copy(), features[batch]
            h, positives = own[np.maximum(ids, 0)].copy(), (ids[:POSITIVES] >= 0).sum()
            for slot in np.flatnonzero(ids >= 0):
                x = h[slot] @ g
                push = 0.05 * (sigmoid(-x) if slot < POSITIVES else -5 / 9 * positives * sigmoid(x))
                own[ids[slot]] += push * g
                G[row[batch]] += push * h[slot]
                touches[ids[slot]] += 1
        total += touches[:, None] * own
        count += touches
    return G, np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], H)


def compare(device: str) -> None:
    """Fail unless Triton's kernels do what the plain ones do."""
    from hopscale.compute import skipgram_triton as triton

    for weighted in (False, True):
        for hops in ((2,), (1, 2), (0, 3)):
            small = Small(device, weighted=weighted, hops=hops)
            this, there = small.round(plain), small.round(triton)
            assert bool((this.reached == there.reached).all())
            of, other = small.batches(plain, this), small.batches(triton, this)
            assert bool((of.features == other.features).all())
            for columns in (16, 48):
                for learn in (True, False):
                    results = [small.trained(kernels, this, of, columns, 5, learn=learn) for kernels in (plain, triton)]
                    for one, two in zip(*results, strict=True):
                        if one is not None:
                            assert float((one - two).abs().max()) < 2e-6
                    assert float((results[0][0] - small.vectors(columns)[0]).abs().max()) > 0.1


if __name__ == "__main__":
    compare("cuda" if torch.cuda.is_available() else "cpu")
