"""The door for ``.npz`` files: edges, features and labels of a graph with ids 0..n-1 in one file."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, GraphError, in_short
from hopscale.graph import AttributedGraph
from hopscale.io.content import check_unpacked, existing, unpacked_limit
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

# What a graph holds for every node and feature, however few edges and entries there are: names, offsets, degrees.
_NODE_BYTES, _FEATURE_BYTES = 48, 16


def read_npz(
    path: str | os.PathLike[str], *, self_loops: bool = False, max_unpacked: int | str | None = None
) -> AttributedGraph:
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
    max_unpacked : int or str, optional
        As for :func:`~hopscale.io.read_graph`.

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
    path = existing(path)
    limit = unpacked_limit(path.stat().st_size, max_unpacked)
    arrays = _arrays(path, limit)
    for name in ("edges", "n_nodes"):
        if name not in arrays:
            raise FileFormatError(f"{path} has no array {name!r}; a graph needs 'edges' and 'n_nodes'")
    try:
        features = _features(arrays)
        n, q = _count(arrays, "n_nodes"), 0 if features is None else features.shape[1]
        check_unpacked(_NODE_BYTES * n + _FEATURE_BYTES * q, limit, path)  # a few bytes can ask for any number of nodes
        return from_edges(
            arrays["edges"],
            features,
            node_ids=np.arange(n, dtype=np.int64),
            labels=_labels(arrays),
            self_loops=self_loops,
        )
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from error


def _arrays(path: Path, limit: int) -> dict[str, NDArray[Any]]:
    """The arrays of a graph, of no more than ``limit`` bytes together."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.NameToInfo.get(f"{name}.npy") for name in _WANTED}
            found = {name: member for name, member in members.items() if member is not None}
            check_unpacked(sum(member.file_size for member in found.values()), limit, path)
            return {name: _array(archive, member) for name, member in found.items()}
    except FileFormatError:
        raise
    except Exception as error:  # zipfile, its codecs and NumPy have many kinds of them
        raise FileFormatError(f"{path} is not a complete .npz file of plain arrays ({in_short(error)})") from error


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """An array as large as the archive says: nothing is set aside for what only its header claims."""
    with archive.open(member) as file:
        read = np.lib.format.read_array_header_1_0
        if np.lib.format.read_magic(file) != (1, 0):
            read = np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        held = member.file_size - file.tell()
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != held:
        raise ValueError(f"{member.filename} claims to be {dtype} of shape {shape}, but has {held} bytes")
    with archive.open(member) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _count(arrays: dict[str, NDArray[Any]], name: str) -> int:
    array = arrays[name]
    if array.shape != () or array.dtype.kind not in "iu" or array < 0:
        raise GraphError(f"{name!r} must be one whole number, but is {in_short(array)}")
    if array > np.iinfo(np.int32).max:
        raise GraphError(f"{name!r} is {int(array)}, but at most {np.iinfo(np.int32).max:,} fit")
    return int(array)


def _features(arrays: dict[str, NDArray[Any]]) -> sp.csr_array | None:
    parts = ("feature_indptr", "feature_indices", "n_features")
    present = [name for name in parts if name in arrays]
    if not present:
        return None
    if len(present) < len(parts):
        raise GraphError(f"of the arrays {parts} that hold features only {present} are there")
    offsets, columns = arrays["feature_indptr"], arrays["feature_indices"]
    values = arrays.get("feature_values", np.ones(columns.shape, dtype=np.float32))
    shape = (_count(arrays, "n_nodes"), _count(arrays, "n_features"))
    wrong = _not_csr(offsets, columns, values, shape)
    if wrong:
        raise GraphError(f"the feature arrays are not a CSR matrix of shape {shape}: {wrong}")
    return sp.csr_array((values, columns, offsets), shape=shape)


def _not_csr(offsets: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]) -> str | None:
    """What is wrong with the arrays of a CSR matrix: SciPy, which follows them, looks at some of it only."""
    if offsets.dtype.kind not in "iu" or columns.dtype.kind not in "iu" or values.dtype.kind not in "biuf":
        return f"they are {offsets.dtype}, {columns.dtype} and {values.dtype}, not whole and real numbers"
    if offsets.shape != (shape[0] + 1,) or columns.ndim != 1 or values.shape != columns.shape:
        return f"they have the shapes {offsets.shape}, {columns.shape} and {values.shape}"
    if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any() or offsets[-1] != len(columns):
        return f"'feature_indptr' must rise from 0 to {len(columns)}, the number of 'feature_indices'"
    if len(columns) and (columns.min() < 0 or columns.max() >= shape[1]):
        return f"'feature_indices' must lie between 0 and {shape[1] - 1}"
    return None


def _labels(arrays: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
    target, classes = arrays.get("target"), arrays.get("class_names")
    for name, array in (("target", target), ("class_names", classes)):
        if array is not None and array.dtype.kind not in "biufSU":
            raise GraphError(f"{name!r} must hold numbers or text, not {array.dtype}")
    if target is None or classes is None:
        return target
    counts = target.ndim == 1 and target.dtype.kind in "iu" and classes.ndim == 1
    if not counts or (target < -1).any() or (target >= len(classes)).any():
        raise GraphError(f"'target' must count into the {classes.size} names of 'class_names', or be -1")
    named = np.array([*classes.tolist(), None], dtype=object)[target]
    return named.astype(classes.dtype) if (target >= 0).all() else named
