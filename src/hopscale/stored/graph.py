"""A graph as a folder of memory-mapped arrays: what is not looked at takes no memory."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hopscale
from hopscale.atomic import replacing
from hopscale.checks import as_path
from hopscale.compute.chunks import ranges
from hopscale.exceptions import FileFormatError, GraphError, OutputError, ParameterError, in_short
from hopscale.graph import AttributedGraph
from hopscale.names import repeated_name, shown_name
from hopscale.stored.arrays import decoded_text, encoded_text, mapped, release, save_array

__all__ = ["StoredGraph", "check_new_folder", "new_folder", "write_manifest"]

FORMAT, VERSION = "hopscale stored graph", 1
_MANIFEST = "manifest.json"
_COUNTS = ("n_nodes", "n_edges", "n_features", "links", "entries")
_PIECE = 1 << 22  # numbers that are looked at together
_MOST = 2**31 - 1  # nodes, and features: their numbers are int32


class StoredGraph:
    """A graph in a folder, whose arrays are memory-mapped. :meth:`open` gives one.

    Attributes
    ----------
    folder : Path
    n_nodes, n_edges, n_features : int
    links : int
        Entries of ``neighbors``: two for each edge, one for a self-loop.
    entries : int
        Entries of the feature matrix.
    weighted, valued : bool
        Whether some edge has a weight other than 1, and some entry of the features a value other than 1.
    offsets : ndarray of shape (n_nodes + 1,), int64
        ``neighbors[offsets[v]:offsets[v + 1]]`` are those of node v, in rising order.
    neighbors : ndarray of shape (links,), int32
    weights : ndarray of shape (links,), float32, or None
        None if the graph is not weighted.
    feature_offsets : ndarray of shape (n_nodes + 1,), int64
    feature_columns : ndarray of shape (entries,), int32
    feature_values : ndarray of shape (entries,), float32, or None
        None if all values are 1.

    Examples
    --------
    >>> import tempfile
    >>> from hopscale import from_edges
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     StoredGraph.save(from_edges([("ann", "bob"), ("bob", "eve")], {"ann": ["tea"]}), f"{folder}/graph")
    ...     graph = StoredGraph.open(f"{folder}/graph")
    ...     graph, graph.node_ids(1, 3).tolist(), graph.neighbors.tolist()
    (StoredGraph(nodes=3, edges=2, features=1, feature_entries=1), ['bob', 'eve'], [1, 0, 2, 1])
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest
        self.n_nodes: int = manifest["n_nodes"]
        self.n_edges: int = manifest["n_edges"]
        self.n_features: int = manifest["n_features"]
        self.links: int = manifest["links"]
        self.entries: int = manifest["entries"]
        self.weighted: bool = manifest["weighted"]
        self.valued: bool = manifest["valued"]
        self._maps: list[NDArray[Any]] = []
        self.offsets = self._map("offsets", np.int64, self.n_nodes + 1)
        self.neighbors = self._map("neighbors", np.int32, self.links)
        self.weights = self._map("weights", np.float32, self.links) if self.weighted else None
        self.feature_offsets = self._map("feature_offsets", np.int64, self.n_nodes + 1)
        self.feature_columns = self._map("feature_columns", np.int32, self.entries)
        self.feature_values = self._map("feature_values", np.float32, self.entries) if self.valued else None
        self._node_ids = self._names("node_ids", self.n_nodes)
        self._feature_names = self._names("feature_names", self.n_features)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, validate: bool = True) -> StoredGraph:
        """The graph in a folder.

        Parameters
        ----------
        folder : path-like
            What :func:`store_graph` or :meth:`save` has written.
        validate : bool, default=True
            Read all arrays once, and refuse a graph whose arrays do not fit each other: kernels follow their indices
            without looking. Tasks that open a folder which was validated before need not do it again.

        Returns
        -------
        StoredGraph

        Raises
        ------
        FileFormatError
            If the folder does not hold a stored graph, or a damaged one.
        """
        path = Path(os.path.abspath(as_path(folder)))
        graph = cls(path, _manifest_of(path))
        if validate:
            graph.validate()
        return graph

    @staticmethod
    def save(graph: AttributedGraph, folder: str | os.PathLike[str]) -> None:
        """Write a graph that is in memory, without its labels, into a folder that is new or empty.

        Parameters
        ----------
        graph : AttributedGraph
            Its ids, and its names of features, must be all whole numbers or all text.
        folder : path-like
        """
        A, F = graph.adjacency, graph.features
        with new_folder(folder) as temporary:
            counts = {"n_nodes": graph.n_nodes, "n_edges": graph.n_edges, "n_features": graph.n_features}
            kinds = {
                name: _save_names(temporary, name, names)
                for name, names in (("node_ids", graph.node_ids), ("feature_names", graph.feature_names))
            }
            amounts = {"weighted": graph.is_weighted, "valued": bool((F.data != 1).any())}
            for name, array, dtype, wanted in (
                ("offsets", A.indptr, np.int64, True),
                ("neighbors", A.indices, np.int32, True),
                ("weights", A.data, np.float32, amounts["weighted"]),
                ("feature_offsets", F.indptr, np.int64, True),
                ("feature_columns", F.indices, np.int32, True),
                ("feature_values", F.data, np.float32, amounts["valued"]),
            ):
                if wanted:
                    save_array(temporary / f"{name}.npy", array.astype(dtype, copy=False))
            write_manifest(temporary, {**counts, "links": int(A.nnz), "entries": int(F.nnz), **amounts, **kinds})

    def to_graph(self) -> AttributedGraph:
        """The whole graph in memory."""
        n = self.n_nodes
        return AttributedGraph(
            _csr(self.offsets, self.neighbors, self.weights, (n, n)),
            _csr(self.feature_offsets, self.feature_columns, self.feature_values, (n, self.n_features)),
            node_ids=self.node_ids(),
            feature_names=self.feature_names,
            self_loops=True,
        )

    def node_ids(self, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Ids of the nodes of some rows; only these are read."""
        return self._named("node_ids", self._node_ids, begin, self.n_nodes if end is None else end)

    @cached_property
    def feature_names(self) -> NDArray[Any]:
        """Names of all features."""
        return self._named("feature_names", self._feature_names, 0, self.n_features)

    @property
    def maps(self) -> tuple[NDArray[Any], ...]:
        """All arrays that are mapped."""
        return tuple(self._maps)

    def release(self) -> None:
        """Give back the memory of all that was read; it is read again when it is needed."""
        for array in self._maps:
            release(array)

    def validate(self) -> None:
        """Refuse arrays that do not fit each other; they are read once, in pieces."""
        n, q = self.n_nodes, self.n_features
        for name, last in (("offsets", self.links), ("feature_offsets", self.entries)):
            self._check_rising(f"{name}.npy", getattr(self, name), last)
        for name, limit in (("neighbors", n), ("feature_columns", q)):
            self._check_range(name, getattr(self, name), limit)
        for name in ("weights", "feature_values"):
            if getattr(self, name) is not None:
                self._check_amounts(name, getattr(self, name))
        for name, names in (("node_ids", self._node_ids), ("feature_names", self._feature_names)):
            if len(names) == 2:
                self._check_rising(f"{name}_offsets.npy", names[1], len(names[0]))
        repeated = repeated_name(self.feature_names, "feature_names")
        if repeated is not None:
            raise self._damaged(f"feature_names.npy has {shown_name(self.feature_names, repeated)} twice")

    def __repr__(self) -> str:
        return (
            f"StoredGraph(nodes={self.n_nodes}, edges={self.n_edges}, features={self.n_features}, "
            f"feature_entries={self.entries})"
        )

    def _map(self, name: str, dtype: Any, length: int | None) -> NDArray[Any]:
        array = mapped(self.folder / f"{name}.npy", dtype, None if length is None else (length,))
        self._maps.append(array)
        return array

    def _names(self, name: str, count: int) -> tuple[NDArray[Any], ...]:
        """Whole numbers, or UTF-8 text and its offsets."""
        if self.manifest[name] == "int64":
            return (self._map(name, np.int64, count),)
        return self._map(name, np.uint8, None), self._map(f"{name}_offsets", np.int64, count + 1)

    def _named(self, name: str, names: tuple[NDArray[Any], ...], begin: int, end: int) -> NDArray[Any]:
        if len(names) == 1:
            return np.array(names[0][begin:end])
        if end <= begin:
            return np.empty(0, dtype=object)
        return decoded_text(names[0], np.array(names[1][begin : end + 1]), self.folder / f"{name}.npy")

    def _check_rising(self, file: str, offsets: NDArray[np.int64], last: int) -> None:
        pieces = ranges(len(offsets), _PIECE)
        rising = all((np.diff(offsets[max(0, a - 1) : b]) >= 0).all() for a, b in pieces)
        if not rising or offsets[0] != 0 or offsets[-1] != last:
            raise self._damaged(f"{file} must rise from 0 to {last}")
        release(offsets)

    def _check_range(self, name: str, indices: NDArray[np.int32], limit: int) -> None:
        for a, b in ranges(len(indices), _PIECE):
            if indices[a:b].min() < 0 or indices[a:b].max() >= limit:
                raise self._damaged(f"{name}.npy must hold numbers from 0 to {limit - 1}")
        release(indices)

    def _check_amounts(self, name: str, values: NDArray[np.float32]) -> None:
        for a, b in ranges(len(values), _PIECE):
            if not (np.isfinite(values[a:b]).all() and values[a:b].min() > 0):
                raise self._damaged(f"{name}.npy must hold finite numbers above 0")
        release(values)

    def _damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"the stored graph {str(self.folder)!r} is damaged: {what}")


def check_new_folder(folder: str | os.PathLike[str]) -> Path:
    """Absolute path of a folder that is not there, or empty; another one is refused."""
    path = Path(os.path.abspath(as_path(folder)))
    try:
        if path.is_dir() and any(path.iterdir()):
            raise OutputError(f"the folder {str(path)!r} is not empty: name another one, or remove what is in it")
        if path.exists() and not path.is_dir():
            raise OutputError(f"{str(path)!r} is a file, where a folder is to be made")
        if not path.parent.is_dir():
            raise OutputError(f"cannot make the folder {str(path)!r}: there is no folder {str(path.parent)!r}")
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"cannot make the folder {in_short(str(path))}: {error}") from error
    return path


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder to write into, which becomes ``folder`` once it is complete, or is removed."""
    path = check_new_folder(folder)
    temporary = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        temporary.mkdir()
        yield temporary
        os.replace(temporary, path)  # an empty folder gives way
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"cannot write the folder {str(path)!r}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write what :meth:`StoredGraph.open` reads first."""
    manifest = {"format": FORMAT, "version": VERSION, "hopscale": hopscale.__version__, **content}
    with replacing(folder / _MANIFEST) as temporary:
        temporary.write_text(json.dumps(manifest, indent=1))


def _manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of a stored graph; everything that is read from it is validated."""
    path = folder / _MANIFEST
    if not folder.is_dir():
        raise FileFormatError(f"there is no folder {str(folder)!r} with a stored graph")
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise FileFormatError(f"{str(folder)!r} holds no stored graph: it has no {_MANIFEST}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} cannot be read ({in_short(error)})") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not that of a stored graph")
    if type(manifest.get("version")) is not int or manifest["version"] != VERSION:
        raise FileFormatError(
            f"{path} has format {in_short(manifest.get('version'))}, and this version reads {VERSION}: "
            "store the graph again, or upgrade hopscale"
        )
    for name in _COUNTS:
        most = _MOST if name in ("n_nodes", "n_features") else 2**62
        if type(manifest.get(name)) is not int or not 0 <= manifest[name] <= most:
            raise FileFormatError(f"{path}: {name} must be a whole number from 0 to {most}")
    if manifest["n_nodes"] == 0 or not manifest["links"] <= 2 * manifest["n_edges"] <= 2 * manifest["links"]:
        raise FileFormatError(
            f"{path}: {manifest['n_nodes']} nodes, {manifest['n_edges']} edges and {manifest['links']} links do not fit"
        )
    for name in ("weighted", "valued"):
        if type(manifest.get(name)) is not bool:
            raise FileFormatError(f"{path}: {name} must be true or false")
    for name in ("node_ids", "feature_names"):
        if manifest.get(name) not in ("int64", "text"):
            raise FileFormatError(f"{path}: {name} must be 'int64' or 'text', not {in_short(manifest.get(name))}")
    return manifest


def _save_names(folder: Path, name: str, names: NDArray[Any]) -> str:
    """Write names, and say of which kind they are."""
    if names.dtype == np.int64:
        save_array(folder / f"{name}.npy", names)
        return "int64"
    listed = names.tolist()
    if set(map(type, listed)) != {str}:
        other = next(each for each in listed if type(each) is not str)
        raise ParameterError(
            f"a stored graph has {name} that are all whole numbers or all text; {in_short(other)} is not text"
        )
    text, offsets = encoded_text(listed)
    save_array(folder / f"{name}.npy", text)
    save_array(folder / f"{name}_offsets.npy", offsets)
    return "text"


def _csr(
    offsets: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32] | None, shape: tuple[int, int]
) -> sp.csr_array:
    """A matrix in memory, with the index type that the doors of ``io`` choose."""
    if len(columns) >= _MOST:
        raise GraphError(f"{len(columns)} entries are too many for a matrix in memory")
    data = np.ones(len(columns), dtype=np.float32) if values is None else np.array(values)
    return sp.csr_array((data, np.array(columns), offsets.astype(np.int32)), shape=shape)
