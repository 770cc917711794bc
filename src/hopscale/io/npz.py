"""The door for ``.npz`` files: edges, features and labels of a graph with ids 0..n-1 in one file."""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, GraphError
from hopscale.graph import AttributedGraph
from hopscale.io.content import existing
from hopscale.io.edges import from_edges

__all__ = ["read_npz"]

_WANTED = (
    "edges",
    "n_nodes",
    "n_features",
    "feature_indptr",
    "feature_indices",
    "feature_values",
    "target",
    "class_names",
)


def read_npz(path: str | os.PathLike[str], *, self_loops: bool = False) -> AttributedGraph:
    """Graph from arrays saved with ``numpy.savez``.

    Parameters
    ----------
    path : path-like
        File with the arrays ``edges`` (E, 2) and ``n_nodes``, and, if the graph has them, features as
        CSR (``feature_indptr``, ``feature_indices``, ``n_features`` and perhaps ``feature_values``)
        and labels (``target``, which with ``class_names`` counts into these; -1 is no label). Nothing
        in it is ever unpickled.
    self_loops : bool, default=False
        Keep self-loops.

    Returns
    -------
    AttributedGraph

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/path.npz", edges=[[0, 1], [1, 2]], n_nodes=4)
    ...     read_npz(f"{folder}/path.npz")
    AttributedGraph(nodes=4, edges=2, features=0, feature_entries=0)
    """
    arrays = _arrays(path)
    for name in ("edges", "n_nodes"):
        if name not in arrays:
            raise FileFormatError(f"{path} has no array {name!r}; a graph needs 'edges' and 'n_nodes'")
    try:
        return from_edges(
            arrays["edges"],
            _features(arrays),
            node_ids=np.arange(_count(arrays, "n_nodes"), dtype=np.int64),
            labels=_labels(arrays),
            self_loops=self_loops,
        )
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from error


def _arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    path = existing(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in _WANTED if name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise FileFormatError(f"{path} is not a complete .npz file of plain arrays ({error})") from error


def _count(arrays: dict[str, NDArray[Any]], name: str) -> int:
    array = arrays[name]
    if array.shape != () or array.dtype.kind not in "iu" or array < 0:
        raise GraphError(f"{name!r} must be one whole number, but is {array.tolist()!r}")
    if array > np.iinfo(np.int32).max:  # refused before names for so many are made
        raise GraphError(f"{name!r} is {int(array)}, but at most {np.iinfo(np.int32).max:,} fit")
    return int(array)


def _features(arrays: dict[str, NDArray[Any]]) -> sp.csr_array | None:
    parts = ("feature_indptr", "feature_indices", "n_features")
    present = [name for name in parts if name in arrays]
    if not present:
        return None
    if len(present) < len(parts):
        raise GraphError(f"of the arrays {parts} that hold features only {present} are there")
    indptr, indices = arrays["feature_indptr"], arrays["feature_indices"]
    values = arrays.get("feature_values", np.ones(indices.shape, dtype=np.float32))
    shape = (_count(arrays, "n_nodes"), _count(arrays, "n_features"))
    try:
        matrix = sp.csr_array((values, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise GraphError(f"the feature arrays are not a CSR matrix of shape {shape}: {error}") from error
    return matrix


def _labels(arrays: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
    target, classes = arrays.get("target"), arrays.get("class_names")
    if target is None or classes is None:
        return target
    if target.dtype.kind not in "iu" or classes.ndim != 1 or (target < -1).any() or (target >= len(classes)).any():
        raise GraphError(f"'target' must count into the {classes.size} names of 'class_names', or be -1")
    named = np.array([*classes.tolist(), None], dtype=object)[target]
    return named.astype(classes.dtype) if (target >= 0).all() else named
