"""Names that were chosen to have one hash in the kernel's table: their time must not grow with their square.

Whoever knows a hash can make such names. The kernel gives them up, and Python's reader, whose hashes differ from
process to process, takes over.
"""

import json
from itertools import pairwise

import numpy as np
import pytest

from hopscale._core import _native
from hopscale.io import read_graph

LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)


def mixed(state, word):
    """The step of the kernel's hash."""
    state = (state ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> np.uint64(32))


@pytest.fixture(scope="module")
def names():
    """2,000 names of 48 letters and signs: three times one of many pairs of words that lead to the same state."""
    random, state, found = np.random.default_rng(0), np.uint64(0), [b""]
    for _ in range(3):
        first = random.choice(LETTERS, (300_000, 8)).view(np.uint64).ravel()
        after = mixed(state, first)
        second = after ^ after[0] ^ random.choice(LETTERS, 8).view(np.uint64)[0]
        signs = second.view(np.uint8).reshape(-1, 8)
        plain = ((signs > ord("/")) & (signs < 127) & (signs != ord("\\"))).all(axis=1)
        ends = np.unique(mixed(after[plain], second[plain]))
        assert len(ends) == 1
        state = ends[0]
        found = [start + pair.tobytes() for start in found for pair in np.stack([first, second], axis=1)[plain][:13]]
    return [name.decode() for name in found[:2000]]


def test_are_left_to_the_other_reader(names):
    assert len(set(names)) == 2000
    text = "".join(f"{one},{other}\n" for one, other in pairwise(names)).encode()
    assert _native.encode_text(text, 0, ",", [0, 0]) is None
    assert _native.encode_features(json.dumps({name: ["tea"] for name in names}).encode()) is None
    assert _native.encode_strings([names]) is None
    few = b"\n".join(text.split(b"\n")[:500])
    assert _native.encode_text(few, 0, ",", [0, 0]) is not None  # a few may well meet by chance


def test_make_the_same_graph(tmp_path, names):
    (tmp_path / "e.csv").write_text("".join(f"{a},{b}\n" for a, b in pairwise(names)))
    (tmp_path / "f.json").write_text(json.dumps({name: [name] for name in names}))
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.json")
    assert graph.node_ids.tolist() == names
    assert graph.feature_names.tolist() == names
    assert graph.n_edges == 1999
    assert (graph.features.toarray() == np.eye(2000)).all()
