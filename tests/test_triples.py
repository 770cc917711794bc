"""Sparse matrices from triples against SciPy, and files that are read into huge pages."""

import os
import threading
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from hopscale._core import _native
from hopscale.io.content import read_content


def expected(rows, columns, values, shape, mirrored, self_loops):
    """Repeats are added up in the order of the triples, by plain Python."""
    entries = {}
    for u, v, x in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        if not mirrored:
            entries[u, v] = entries.get((u, v), 0.0) + x
        elif u != v or self_loops:
            for place in {(u, v), (v, u)}:
                entries[place] = entries.get(place, 0.0) + x
    places = sorted(entries)
    offsets = np.searchsorted([u for u, _ in places], np.arange(shape[0] + 1))
    return offsets, np.array([v for _, v in places], dtype=int), np.array([entries[place] for place in places])


# Both sides of the number of triples from which two threads share the work, and rows of very different lengths.
@pytest.mark.parametrize(("count", "shape"), [(0, (3, 3)), (40, (7, 7)), (90_000, (300, 300)), (90_000, (70_000, 5))])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compressed_adds_repeats_in_the_order_of_the_triples(count, shape, index):
    rng = np.random.default_rng(count)
    ends = (rng.random((count, 2)) ** 3 * shape).astype(index)  # small numbers are the most frequent
    values = rng.random(count)
    for mirrored, self_loops in product([False, True] if shape[0] == shape[1] else [False], [False, True]):
        offsets, columns, sums = expected(*ends.T, values, shape, mirrored, self_loops)
        found = _native.compressed(*ends.T, values, *shape, mirrored, self_loops)
        for array, right in zip(found, (offsets, columns, sums), strict=True):
            np.testing.assert_array_equal(array, right)
        bare = _native.compressed(*ends.T, None, *shape, mirrored, self_loops)
        assert [array.dtype for array in bare[:2]] == [index, index]
        assert bare[2] is None
        np.testing.assert_array_equal(bare[0], offsets)
        np.testing.assert_array_equal(bare[1], columns)


def test_compressed_is_what_scipy_makes():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 1000, (2, 200_000), dtype=np.int32)
    offsets, indices, values = _native.compressed(rows, columns, np.ones(200_000), 1000, 1000, False, False)
    right = sp.coo_array((np.ones(200_000), (rows, columns)), shape=(1000, 1000)).tocsr()
    right.sort_indices()
    np.testing.assert_array_equal(offsets, right.indptr)
    np.testing.assert_array_equal(indices, right.indices)
    np.testing.assert_array_equal(values, right.data)


class TestReadBytes:
    def test_large_files_and_those_that_end_early(self, tmp_path):
        content = np.random.default_rng(0).bytes(9 << 20)
        path = tmp_path / "text"
        path.write_bytes(content)
        for size in (0, 1, 5 << 20, 9 << 20, 10 << 20):
            with open(path, "rb", buffering=0) as file:
                assert _native.read_bytes(file, size) == content[:size]

    def test_errors_of_the_file_are_raised(self, tmp_path):
        with open(tmp_path / "text", "wb", buffering=0) as file, pytest.raises(OSError, match="not open for reading"):
            _native.read_bytes(file, 1)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_pipes_have_no_size(self, tmp_path):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=lambda: path.write_bytes(b"a,b\n"))
        writer.start()
        assert read_content(path) == b"a,b\n"
        writer.join()
