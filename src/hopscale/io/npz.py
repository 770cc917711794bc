"""Graphs in one ``.npz`` file: those that hopscale saves, and arrays of others with ids 0..n-1."""

from __future__ import annotations

import json
import math
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.atomic import replacing
from hopscale.checks import as_path
from hopscale.exceptions import FileFormatError, GraphError, ParameterError, in_short
from hopscale.graph import AttributedGraph
from hopscale.io.assemble import amounts, assemble
from hopscale.io.content import check_unpacked, existing, unpacked_limit
from hopscale.io.edges import from_edges
from hopscale.io.name_bytes import as_json, encoded_names, restored_names
from hopscale.io.naming import Names
from hopscale.names import repeated_name, shown_name

if TYPE_CHECKING:
    from hopscale.features import FeatureEncoder

__all__ = ["read_npz", "save_npz"]

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
# What only files have that save_npz has written; others may mean something else by these names.
_VERSION = "hopscale_graph"
_SAVED = ("edge_weights", "node_ids", "feature_names", "labels", "self_loops", "encoder")
FORMAT_VERSION = 1

# What a graph holds for every node and feature, however few edges and entries there are: names, offsets, degrees.
_NODE_BYTES, _FEATURE_BYTES = 48, 16


def read_npz(
    path: str | os.PathLike[str], *, self_loops: bool = False, max_unpacked: int | str | None = None
) -> AttributedGraph:
    """Graph that :func:`save_npz` has saved, or from arrays saved with ``numpy.savez``.

    Parameters
    ----------
    path : path-like
        File with the arrays ``edges`` (E, 2) and ``n_nodes``, and, if the graph has them, features as
        CSR (``feature_indptr``, ``feature_indices``, ``n_features`` and perhaps ``feature_values``)
        and labels (``target``, which with ``class_names`` counts into these; -1 is no label). Nothing
        in it is ever unpickled.
    self_loops : bool, default=False
        Keep self-loops. Those of a graph that was saved are kept.
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
        if _VERSION in arrays:
            return _saved_graph(arrays, n, features)
        return from_edges(
            arrays["edges"],
            features,
            node_ids=np.arange(n, dtype=np.int64),
            labels=_labels(arrays),
            self_loops=self_loops,
        )
    except GraphError as error:
        raise FileFormatError(f"{path}: {error}") from error


def save_npz(graph: AttributedGraph, path: str | os.PathLike[str]) -> None:
    """Save a graph with all that it holds; see :meth:`hopscale.AttributedGraph.save`."""
    if as_path(path).suffix.lower() != ".npz":
        raise ParameterError(f"a graph is saved as an .npz file, and read by that suffix: {path} does not end in it")
    upper = sp.triu(graph.adjacency, format="coo")
    arrays: dict[str, Any] = {
        _VERSION: np.int64(FORMAT_VERSION),
        "edges": np.column_stack(upper.coords).astype(np.int32),
        "n_nodes": np.int64(graph.n_nodes),
    }
    if graph.is_weighted:
        arrays["edge_weights"] = upper.data
    if graph.adjacency.diagonal().any():
        arrays["self_loops"] = np.True_
    if graph.n_features:
        F = graph.features
        arrays |= {"n_features": np.int64(F.shape[1]), "feature_indptr": F.indptr, "feature_indices": F.indices}
        if (F.data != 1).any():
            arrays["feature_values"] = F.data
    for name, names, what in (
        ("node_ids", graph.node_ids, "node id"),
        ("feature_names", graph.feature_names, "feature name"),
    ):
        if names.dtype != np.int64 or (names != np.arange(len(names))).any():
            arrays[name] = encoded_names(names, what)
    if graph.labels is not None:
        arrays |= _label_arrays(graph.labels)
    if graph.encoder is not None:
        from hopscale.features.state import encoder_state  # by scikit-learn, which takes long to import

        arrays["encoder"] = as_json(encoder_state(graph.encoder))
    with replacing(as_path(path)) as temporary, temporary.open("wb") as file:  # given a name, NumPy adds a suffix
        np.savez(file, **arrays)


def _label_arrays(labels: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if labels.dtype.kind in "biufU":
        return {"target": labels}
    listed = [x.item() if isinstance(x, np.generic) else x for x in labels.tolist()]
    plain = labels.ndim == 1 and all(x is None or isinstance(x, (str, int, float)) for x in listed)
    if not plain:
        raise ParameterError(
            f"cannot save labels of {labels.dtype} and shape {labels.shape}: they must be numbers, or text, numbers, "
            "booleans and None, one a node"
        )
    try:
        return {"labels": as_json(listed)}
    except ValueError as error:  # thousands of digits
        raise ParameterError(f"cannot save the labels: {error}") from error


def _saved_graph(arrays: dict[str, NDArray[Any]], n: int, features: sp.csr_array | None) -> AttributedGraph:
    """Graph from the arrays of :func:`save_npz`; everything is validated."""
    if _count(arrays, _VERSION) > FORMAT_VERSION:
        raise GraphError(f"its format is {int(arrays[_VERSION])}, and this version reads 1: upgrade hopscale")
    pairs, weights = arrays["edges"], arrays.get("edge_weights")
    if pairs.dtype.kind not in "iu" or pairs.shape[1:] != (2,):
        raise GraphError(f"'edges' must be pairs of whole numbers, not {pairs.dtype} of shape {pairs.shape}")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise GraphError(f"'edges' must count into {n} nodes")
    if weights is not None:
        if weights.dtype.kind != "f" or weights.shape != pairs.shape[:1]:
            raise GraphError(f"'edge_weights' is {weights.dtype} of shape {weights.shape} for {len(pairs)} edges")
        weights = amounts(weights, "weight", lambda row: f"edge {row}")
    q = 0 if features is None else features.shape[1]
    labels = _labels(arrays)
    if "labels" in arrays:
        labels = np.empty(n, dtype=object)
        listed = _parsed(arrays, "labels")
        if not isinstance(listed, list) or len(listed) != n or any(isinstance(x, (list, dict)) for x in listed):
            raise GraphError(f"'labels' must be a list of {n} plain values")
        labels[:] = listed
    ids = _names(arrays, "node_ids", n)
    return assemble(
        Names(pairs.astype(np.int64), ids),
        weights,
        features,
        node_ids=ids,
        feature_names=_names(arrays, "feature_names", q),
        labels=labels,
        self_loops="self_loops" in arrays,
        encoder=_encoder(arrays),
    )


def _encoder(arrays: dict[str, NDArray[Any]]) -> FeatureEncoder | None:
    if "encoder" not in arrays:
        return None
    from hopscale.features.state import restored_encoder

    try:
        return restored_encoder(_parsed(arrays, "encoder"))
    except ValueError as error:
        raise GraphError(f"its encoder cannot be: {error}") from error


def _names(arrays: dict[str, NDArray[Any]], name: str, count: int) -> NDArray[Any]:
    """Distinct names, 0..count-1 where the file has none."""
    array = arrays.get(name, np.arange(count, dtype=np.int64))
    if array.dtype != np.int64:
        try:
            array = restored_names(_parsed(arrays, name))
        except ValueError as error:
            raise GraphError(f"{name!r} cannot be read: {error}") from error
    if array.shape != (count,):
        raise GraphError(f"{name!r} has {array.size} names for {count}")
    twice = repeated_name(array, name)
    if twice is not None:
        raise GraphError(f"{name!r} has {shown_name(array, twice)} twice")
    return array


def _parsed(arrays: dict[str, NDArray[Any]], name: str) -> Any:
    """JSON in an array of bytes."""
    array = arrays[name]
    if array.dtype != np.uint8 or array.ndim != 1:
        raise GraphError(f"{name!r} is {array.dtype} of shape {array.shape}, not a row of bytes")
    try:
        return json.loads(array.tobytes())
    except (ValueError, RecursionError) as error:
        raise GraphError(f"{name!r} is not JSON ({error})") from error


def _arrays(path: Path, limit: int) -> dict[str, NDArray[Any]]:
    """The arrays of a graph, of no more than ``limit`` bytes together."""
    try:
        with zipfile.ZipFile(path) as archive:
            wanted = (*_WANTED, _VERSION, *_SAVED) if f"{_VERSION}.npy" in archive.NameToInfo else _WANTED
            members = {name: archive.NameToInfo.get(f"{name}.npy") for name in wanted}
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
