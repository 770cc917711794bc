"""Random numbers that are drawn by another thread, before they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

import numpy as np

from hopscale.compute.aligned import Floats
from hopscale.compute.chunks import TALL_CHUNK, ranges

__all__ = ["DrawnAhead"]


class DrawnAhead:
    """Rows of the normal numbers that a generator of this seed would give, drawn while others compute.

    Whoever has had all rows gets them once more.
    """

    def __init__(self, seed: Sequence[int], rows: int, columns: int) -> None:
        self._random, self._at = np.random.default_rng(list(seed)), 0
        self._rows: Floats = np.empty((rows, columns), dtype=np.float32)
        self._thread = Thread(target=self._draw, daemon=True)
        self._thread.start()

    def _draw(self) -> None:
        for begin, end in ranges(len(self._rows), TALL_CHUNK):  # one call for all could not be interrupted
            self._random.standard_normal(dtype=np.float32, out=self._rows[begin:end])

    def standard_normal(self, shape: tuple[int, int], dtype: type[np.float32]) -> Floats:
        """The next rows, once they are there."""
        self._thread.join()
        found = self._rows[self._at : self._at + shape[0]]
        assert found.shape == shape, "rows are of one length, and asked for in order"
        self._at = (self._at + shape[0]) % len(self._rows)
        return found
