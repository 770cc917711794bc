"""The machine that a fit is planned for, and how quick this one is beside that of the cost model."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hopscale.compute import Threads

__all__ = ["GPU_MEMORY", "Machine", "calibration_seconds"]

ROWS, ENTRIES, WIDTH = 2**15, 24, 64  # of the product: what it reads is larger than the caches near a core
REPEATS = 7
GPU_MEMORY = 141 * 10**9  # bytes of the GPU that its costs were measured on


@dataclass(frozen=True)
class Machine:
    """What a fit is to run on: a machine, so many of them, or one with a GPU.

    ``speed`` is how long one core takes for work, beside the machine that the cost model was fitted on; ``network`` are
    bytes a second.
    """

    memory: int | None
    cores: int
    machines: int = 1
    gpu: bool = False
    speed: float = 1.0
    network: float = 10e9 / 8

    @property
    def available(self) -> int | None:
        """Bytes of memory of the machine, or of its GPU; None where that is not known."""
        return GPU_MEMORY if self.gpu else self.memory


def calibration_seconds() -> float:
    """Seconds of a small product of a sparse matrix on one core, the quickest of a few: rows gathered and added up.

    Seconds of the processor, so that other programs do not count.
    """
    random = np.random.default_rng(0)
    columns = random.integers(0, ROWS, ROWS * ENTRIES, dtype=np.int32)
    matrix = sp.csr_array(
        (np.ones(len(columns), dtype=np.float32), columns, np.arange(0, len(columns) + 1, ENTRIES, dtype=np.int32)),
        shape=(ROWS, ROWS),
    )
    taken = []
    with Threads(1) as engine:
        operator, x = engine.sparse(matrix), engine.normal(ROWS, WIDTH, random)
        for _ in range(REPEATS):
            begin = time.process_time()
            _ = operator @ x
            taken.append(time.process_time() - begin)
    return min(taken)
