"""Files of models, to be spoilt and compared."""

from dataclasses import fields

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from hopscale import AttributedGraph, load_model
from hopscale.exceptions import FileFormatError
from hopscale.io.tensors import DIGEST, write_tensors
from hopscale.solvers import Solution
from reference import parameters


def words_of(path):
    """The metadata of a file."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata()


def spoilt(path, *, tensors=None, drop=(), **metadata):
    """The same file with some tensors or metadata changed, and the digest, if it has one, made right again."""
    words = {**words_of(path), **metadata}
    arrays = {**load_file(path), **(tensors or {})}
    kept = {name: array for name, array in arrays.items() if name not in drop}
    kept_words = {name: text for name, text in words.items() if name not in drop}
    if DIGEST in kept_words:
        write_tensors(path, kept, kept_words)
    else:
        save_file(kept, path, metadata=kept_words)
    return path


def refusal(path):
    with pytest.raises(FileFormatError) as caught:
        load_model(path)
    assert path.name in str(caught.value)
    return str(caught.value)


def graph_parts(graph):
    """All that a model's file keeps of a graph."""
    parts = [graph.node_ids, graph.feature_names]
    for matrix in (graph.adjacency, graph.features):  # whose indices may be of either width
        parts += [matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data]
    return parts


def assert_same(before, after):
    """The same to the bit, whatever it is that a fit leaves."""
    assert type(before) is type(after)
    if isinstance(before, np.ndarray):
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    elif isinstance(before, list):
        for one, other in zip(before, after, strict=True):
            assert_same(one, other)
    elif isinstance(before, dict):
        assert list(before) == list(after)
        for key, value in before.items():
            assert_same(value, after[key])
    elif isinstance(before, AttributedGraph):
        for one, other in zip(graph_parts(before), graph_parts(after), strict=True):
            assert_same(one, other)
    elif isinstance(before, Solution):
        for field in fields(Solution):
            assert_same(getattr(before, field.name), getattr(after, field.name))
    elif hasattr(before, "get_params"):
        assert parameters(before) == parameters(after)
    else:
        assert before == after
