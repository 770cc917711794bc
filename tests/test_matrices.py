"""Matrices from outside: arrays that contradict each other are refused before anything follows an index."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hopscale import MUSAE, AttributedGraph, from_edges
from hopscale.exceptions import GraphError
from reference import random_graph

RING = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
FAR = 10**8
I32 = np.int32


def changed(form, **arrays):
    """The features of a graph of four nodes, with other arrays than SciPy would make."""
    matrix = form(np.eye(4, dtype=np.float32))
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


def blocks(**arrays):
    matrix = sp.bsr_array(np.eye(4, dtype=np.float32), blocksize=(2, 2))
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


def lists(**rows):
    matrix = sp.lil_array(np.eye(4, dtype=np.float32))
    for part, row in rows.items():
        getattr(matrix, part)[2] = row
    return matrix


def keys():
    matrix = sp.dok_array(np.eye(4, dtype=np.float32))
    matrix._dict[(0, FAR)] = 1.0
    return matrix


UNSOUND = {
    **{
        f"{form.__name__}-{what}": (lambda form=form, arrays=arrays: changed(form, **arrays))
        for form in (sp.csr_array, sp.csc_array, sp.csr_matrix)
        for what, arrays in {
            "index too large": {"indices": np.array([0, 1, 2, FAR], I32)},
            "index at the end": {"indices": np.array([0, 1, 2, 4], I32)},
            "index negative": {"indices": np.array([0, -1, 2, 3], I32)},
            "index far negative": {"indices": np.array([0, 1, 2, -FAR])},
            "indices too few": {"indices": np.array([0, 1], I32)},
            "indices in a table": {"indices": np.zeros((2, 2), I32)},
            "indices not whole": {"indices": np.array([0.0, 1.0, 2.0, 3.0])},
            "values too few": {"data": np.ones(2, np.float32)},
            "values too many": {"data": np.ones(7, np.float32)},
            "offsets that fall": {"indptr": np.array([0, 3, 2, 3, 4], I32)},
            "offsets past the end": {"indptr": np.array([0, 1, 2, 3, FAR], I32)},
            "offsets far inside": {"indptr": np.array([0, 50_000_000, 0, 0, 0], I32)},
            "offsets not from 0": {"indptr": np.array([1, 1, 2, 3, 4], I32)},
            "offsets negative": {"indptr": np.array([0, -FAR, 2, 3, 4], I32)},
            "offsets too few": {"indptr": np.array([0, 1, 4], I32)},
            "offsets too many": {"indptr": np.array([0, 1, 2, 3, 4, 4], I32)},
            "offsets missing": {"indptr": np.zeros(0, I32)},
        }.items()
    },
    "no entries, offsets far inside": lambda: changed(
        sp.csr_array,
        indptr=np.array([0, 50_000_000, 0, 0, 0], I32),
        indices=np.zeros(0, I32),
        data=np.zeros(0, np.float32),
    ),
    "blocks, index": lambda: blocks(indices=np.array([0, FAR], I32)),
    "blocks, offsets": lambda: blocks(indptr=np.array([0, FAR, 2], I32)),
    "blocks, size": lambda: blocks(data=np.ones((2, 3, 3), np.float32)),
    "blocks of nothing": lambda: blocks(data=np.ones((2, 0, 2), np.float32)),
    "coordinates, rows": lambda: changed(sp.coo_array, coords=(np.array([0, 1, 2, FAR]), np.arange(4))),
    "coordinates, columns": lambda: changed(sp.coo_array, coords=(np.arange(4), np.array([0, -FAR, 2, 3]))),
    "coordinates, too few": lambda: changed(sp.coo_array, coords=(np.arange(4), np.arange(2))),
    "lists, index": lambda: lists(rows=[FAR]),
    "lists, more values than indices": lambda: lists(data=[1.0] * 1000),
    "keys": keys,
    "row numbers": lambda: sp.coo_array([1.0, 2.0, 3.0, 4.0]),
    "complex numbers": lambda: sp.csr_array(np.eye(4) * (1 + 2j)),
}


DOORS = {
    "AttributedGraph": lambda F: AttributedGraph(RING, F),
    "adjacency": lambda F: AttributedGraph(F),
    "from_edges": lambda F: from_edges([(0, 1), (1, 2), (2, 3)], F),
    "fit": lambda F: MUSAE(4).fit((RING, F)),
    "transform": lambda F: MUSAE(4).fit((RING, np.eye(4))).transform((RING, F)),
}


class TestUnsound:
    """Where a check is missing these end the process: each door is tried in one of its own, all cases in a row."""

    @pytest.mark.parametrize("door", DOORS)
    def test_every_door_refuses(self, door):
        script = f"from test_matrices import *; TestUnsound.refuses({door!r})"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, cwd=Path(__file__).parent, check=False
        )
        assert done.returncode == 0, done.stdout.splitlines()[-1:] + done.stderr.splitlines()[-3:]

    @staticmethod
    def refuses(door):
        for name, make in UNSOUND.items():
            print(name, flush=True)
            with pytest.raises(GraphError):
                DOORS[door](make())

    def test_the_index_is_named(self):
        with pytest.raises(GraphError, match=r"features has the index 4, but indices must lie between 0 and 3"):
            AttributedGraph(RING, UNSOUND["csr_array-index at the end"]())

    def test_masks_and_complex_numbers_are_not_dropped(self):
        with pytest.raises(GraphError, match="masked"):
            AttributedGraph(np.ma.masked_array(RING, RING == 0))
        with pytest.raises(GraphError, match="complex"):
            AttributedGraph(RING, np.eye(4) * 1j)

    def test_sound_ones_of_every_format_are_taken(self):
        F = np.diag([1.0, 2.0, 3.0, 0.0])
        forms = (sp.csr_array, sp.csc_array, sp.bsr_array, sp.coo_array, sp.dia_array, sp.lil_array, sp.dok_array)
        for form in (*forms, sp.csr_matrix, sp.coo_matrix):
            np.testing.assert_array_equal(AttributedGraph(form(RING), form(F)).features.toarray(), F)

    def test_room_for_more_entries_is_none(self):
        """SciPy lets arrays be longer than indptr says."""
        roomy = changed(sp.csr_array, indices=np.array([0, 1, 2, 3, 0, 0], I32), data=np.ones(6, np.float32))
        np.testing.assert_array_equal(AttributedGraph(RING, roomy).features.toarray(), np.eye(4))


class TestValues:
    @pytest.mark.parametrize("small", [1e-50, 1e-42, 3e-46])
    def test_too_small_for_float32(self, small):
        """They would vanish, or lose digits, and take a whole feature with them."""
        for matrices in ((RING * small,), (RING, np.diag([1, 1, 1, small]))):
            with pytest.raises(GraphError, match=r"too small for float32, such as .*multiply all"):
                AttributedGraph(*matrices)

    def test_what_float32_holds_is_kept(self):
        for power in (-149, -140, 123, 127):
            graph = AttributedGraph(RING * 2.0**power, np.eye(4) * 2.0**power)
            assert graph.adjacency.max() == graph.features.max() == 2.0**power
        assert AttributedGraph(RING, np.eye(4) * np.float32(1e-42)).features.max() == np.float32(1e-42)

    def test_too_large_for_float32(self):
        with pytest.raises(GraphError, match=r"too large for float32, of up to 1e\+39"):
            AttributedGraph(RING * 1e39)


def arrays(graph):
    matrices = [
        part for matrix in (graph.adjacency, graph.features) for part in (matrix.data, matrix.indices, matrix.indptr)
    ]
    return [*matrices, graph.node_ids, graph.feature_names, graph.labels, graph.degrees]


GRAPHS = {
    "matrices": lambda: AttributedGraph(RING, np.eye(4), labels=[0, 1, 0, 1]),
    "names": lambda: AttributedGraph(
        sp.csr_array(RING, dtype=np.float32), sp.eye_array(4), node_ids=list("abcd"), labels=list("xyzx")
    ),
    "edges": lambda: from_edges([(0, 1), (1, 2)], {0: ["a"], 1: ["b"]}, labels={0: 1, 1: 2, 2: 3}),
}


class TestReadOnly:
    @pytest.mark.parametrize("name", GRAPHS)
    def test_nothing_can_be_written(self, name):
        graph = GRAPHS[name]()
        copies = (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)))
        for each in (graph, *copies):
            for array in arrays(each):
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = array[-1]

    def test_what_is_passed_in_stays_writable(self):
        A, F = sp.csr_array(RING, dtype=np.float32), sp.csr_array(np.eye(4, dtype=np.float32))
        ids, labels = np.arange(4), np.arange(4)
        AttributedGraph(A, F, node_ids=ids, labels=labels)
        for array in (A.data, A.indices, A.indptr, F.data, ids, labels):
            array[0] = array[0]

    def test_copies_of_matrices_are_writable(self):
        graph = GRAPHS["matrices"]()
        features = graph.features.copy()
        features.data[:] = 3
        features.indices[0] = 1
        assert graph.features.max() == 1
        assert AttributedGraph(graph.adjacency.copy(), features).features[0, 1] == 3

    def test_scipy_still_works_on_them(self):
        graph = random_graph(30, 8, weighted=True, isolated=2)
        A, F = graph.adjacency, graph.features
        assert connected_components(A)[0] == 3
        A.sum_duplicates()
        A.sort_indices()
        with pytest.raises(ValueError, match="read-only"):  # whatever would change the graph
            A.eliminate_zeros()
        dense = A.toarray()
        np.testing.assert_array_equal((A @ A).toarray(), sp.csr_array(dense) @ sp.csr_array(dense).toarray())
        np.testing.assert_array_equal(F[[3, 1]].toarray(), F.toarray()[[3, 1]])
        np.testing.assert_array_equal(F[:, ::2].toarray(), F.toarray()[:, ::2])
        np.testing.assert_array_equal(A.tocoo().tocsc().toarray(), dense)
        again = AttributedGraph(A, F)
        assert (again.adjacency != A).nnz == 0
