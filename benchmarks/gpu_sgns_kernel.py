"""The kernel of gpu_sgns.py: arithmetic, reads and writes of skip-gram, a program of one warp for each shard.

Not a solver: nodes and features are random, and a feature that a batch has twice is updated once.
"""

import triton
import triton.language as tl


@triton.jit
def train(positives, negatives, G, H, steps, features, B: tl.constexpr, D: tl.constexpr):
    """Each step trains a row of G against B positives and B negatives, in the shard's own copy of H."""
    shard = tl.program_id(0).to(tl.int64)
    own, lanes, some = H + shard * features * D, tl.arange(0, D), tl.arange(0, B)
    for step in range(steps):
        at = shard * steps + step
        g = tl.load(G + at * D + lanes)
        rows = own + tl.load(positives + at * B + some)[:, None] * D + lanes[None, :]
        h = tl.load(rows)
        push = 0.05 * (1.0 - tl.sigmoid(tl.sum(h * g[None, :], axis=1)))
        tl.store(rows, h + push[:, None] * g[None, :])
        change = tl.sum(push[:, None] * h, axis=0)
        rows = own + tl.load(negatives + at * B + some)[:, None] * D + lanes[None, :]
        h = tl.load(rows)
        push = -0.05 * tl.sigmoid(tl.sum(h * g[None, :], axis=1))
        tl.store(rows, h + push[:, None] * g[None, :])
        tl.store(G + at * D + lanes, g + change + tl.sum(push[:, None] * h, axis=0))
