"""From partitioned Parquet to a stored graph, by an external sort: no task holds more than its share of the graph."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import hopscale
from hopscale.atomic import only_writer, replacing
from hopscale.checks import as_path, memory_bytes, switch
from hopscale.compute.blocks import BlockRunner, Checkpoints, ThreadRunner
from hopscale.exceptions import FileFormatError, GraphError, OutputError, ParameterError, Setting, in_short, warn
from hopscale.io.naming import Unknown, check_attributes, check_unknown
from hopscale.stored.arrays import save_array
from hopscale.stored.assembly import join_array, join_offsets, join_text_offsets
from hopscale.stored.graph import StoredGraph, check_new_folder, write_manifest
from hopscale.stored.numbering import find_distinct, number_new, number_rows
from hopscale.stored.pieces import KEYS, PLAN, encode_edges, encode_features, whole_features
from hopscale.stored.rows import merge_rows, sort_edges, sort_features
from hopscale.stored.runs import piece_path, split_keys
from hopscale.stored.sources import Source, edge_source, feature_source, parquet_files

__all__ = ["store_graph"]

_SHARE = 0.5  # of the memory limit, which what is counted may take: the rest is for what is not
_NAME_COST, _TEXT_COST = 64, 5  # bytes that a name takes while it is numbered, and for each byte of its text
_ENTRY_COST, _AMOUNT_COST = 48, 56  # bytes that an entry takes while rows are merged, and its amount
_LEAST_MEMORY = 4096
_MOST_PIECES = 200_000
_MOST = 2**31 - 1  # nodes, and features: their numbers are int32


def store_graph(
    edges: Any,
    features: Any = None,
    *,
    folder: str | os.PathLike[str],
    source: str | None = None,
    target: str | None = None,
    weight: str | Literal[False] | None = None,
    value: str | None = None,
    unknown: Unknown = "isolate",
    self_loops: bool = False,
    runner: BlockRunner | None = None,
    memory_limit: int | str = "1GiB",
    work_folder: str | os.PathLike[str] | None = None,
    say: Callable[[str], None] | None = None,
) -> StoredGraph:
    """Sort the edges and features of a graph of any size, which lie in Parquet files, into a stored graph.

    The graph is the one that :func:`hopscale.read_graph` reads from one file with all rows: the same nodes in the same
    order, the same weights to the bit. Neither it nor the list of its nodes is ever held in memory.

    Parameters
    ----------
    edges : path-like, or list of path-like
        A Parquet file, a folder with files that end in ``.parquet``, a glob such as ``"edges/*.parquet"``, or a list of
        these; one undirected edge a row. Files of a folder or a glob count in the order of their paths. All must have
        the same columns; both nodes whole numbers, or both text.
    features : path-like, or list of path-like, optional
        Likewise, with ``node, feature`` or ``node, feature, value`` a row, or a node and a list of features.
    folder : path-like
        Where the stored graph is to be: a new folder, or an empty one. It appears whole or not at all.
    source, target, weight, value, unknown, self_loops
        As for :func:`hopscale.read_graph`.
    runner : BlockRunner, optional
        What runs the tasks: :class:`~hopscale.compute.blocks.ThreadRunner` by default, with one thread, or
        :class:`~hopscale.compute.dask.DaskRunner`. The result does not depend on it.
    memory_limit : int or str, default="1GiB"
        Memory that a task may take, beside what Python and its libraries take. Each task that runs has as much.
    work_folder : path-like, optional
        Folder for files that are needed meanwhile, about three times the size of the result: by default ``folder`` with
        ``.work`` at its end. It must be on the same file system as ``folder``, and all workers must see it. It stays if
        the work is interrupted, so that the same call goes on where it stopped, and is removed at the end.
    say : callable, optional
        Called with a line of text about which columns were taken, and what becomes of unfinished work.

    Returns
    -------
    StoredGraph

    Raises
    ------
    FileFormatError, GraphError
        If an input is not what it must be; the message names the file, and the row where there is one.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part, (ends, others) in enumerate([(["ann"], ["bob"]), (["bob"], ["eve"])]):
    ...         pq.write_table(pa.table({"source": ends, "target": others}), f"{folder}/edges-{part}.parquet")
    ...     graph = store_graph(f"{folder}/edges-*.parquet", folder=f"{folder}/graph")
    ...     graph, graph.node_ids().tolist()
    (StoredGraph(nodes=3, edges=2, features=0, feature_entries=0), ['ann', 'bob', 'eve'])
    """
    check_unknown(unknown)
    check_attributes(source=source, target=target, weight=None if weight is False else weight, value=value)
    self_loops = switch("self_loops", self_loops)
    limit = memory_bytes("memory_limit", memory_limit)
    if limit < _LEAST_MEMORY:
        raise ParameterError(f"must be at least {_LEAST_MEMORY} bytes", parameter="memory_limit")
    path = check_new_folder(folder)
    work_path = Path(os.path.abspath(f"{path}.work" if work_folder is None else as_path(work_folder)))
    _check_same_disk(path, work_path)
    runner = ThreadRunner() if runner is None else runner
    if not callable(getattr(runner, "check_folder", None)):
        raise ParameterError(
            f"must be a ThreadRunner, or a DaskRunner with the address of a scheduler, not {in_short(runner)}",
            parameter="runner",
        )
    tell = (lambda line: None) if say is None else say

    edge_files = parquet_files(edges, "edges")
    inputs = edge_source(edge_files, _called(edges), source=source, target=target, weight=weight, say=tell)
    own = None
    if features is not None:
        own = feature_source(parquet_files(features, "features"), _called(features), value=value, say=tell)
    identity = {
        "hopscale": hopscale.__version__,
        "folder": str(path),
        "edges": [[footer.path, *footer.state] for footer in inputs.footers],
        "features": None if own is None else [[footer.path, *footer.state] for footer in own.footers],
        "columns": [inputs.columns, None if own is None else own.columns],
        "self_loops": self_loops,
        "memory_limit": limit,
    }
    with only_writer(work_path):
        check_new_folder(folder)  # another run may have ended meanwhile
        work = Checkpoints(work_path, identity, say=tell)
        runner.check_folder(work.folder)
        job = _Job(inputs, own, work, runner, limit, self_loops, unknown)
        job.run()
        _move(work.folder / "graph", path)
        work.remove()
    return StoredGraph.open(path, validate=False)


@dataclass
class _Numbered:
    """Names that have numbers: of nodes or of features."""

    what: str = ""  # the folder of their runs
    kind: str = "whole"
    pieces: int = 0
    ranges: int = 0
    count: int = 0
    text: int = 0  # bytes


@dataclass
class _Job:
    """The stages, one after the other."""

    edges: Source
    features: Source | None
    work: Checkpoints
    runner: BlockRunner
    memory: int
    self_loops: bool
    unknown: Unknown
    manifest: dict[str, Any] = field(default_factory=dict)

    def run(self) -> None:
        """From the files to the arrays of the graph, in the folder ``graph`` of the work folder."""
        edge_pieces, feature_pieces = self._plan()
        rows = self._stage("reading edges", encode_edges, range(edge_pieces))
        own = self._stage("reading features", encode_features, range(feature_pieces))
        kind = self.edges.kinds["source"]
        sizes = [each["nodes"] for each in (*rows, *own)]
        nodes, found = self._number("nodes", kind, sizes, edge_pieces)
        if self.features is not None:
            self._check_apart(found)
        names, recoded = self._number_features(own)
        self._stage("sorting edges", sort_edges, range(edge_pieces), kind, nodes.ranges, nodes.count, self.self_loops)
        kinds, ranges = [kind, names.kind], [nodes.ranges, names.ranges]
        self._stage(
            "sorting features", sort_features, range(feature_pieces), kinds, ranges, edge_pieces, names.count, recoded
        )
        links = self._merge("edges", edge_pieces, nodes.count, self.edges.columns["weight"] is not None)
        valued = self.features is not None and self.features.columns["value"] is not None
        entries = self._merge("features", feature_pieces, names.count, valued)
        self._join(nodes, names, links, entries)

    def _plan(self) -> tuple[int, int]:
        """Write which rows are which piece; returns the numbers of pieces of edges and of features."""
        kinds = {"nodes": self.edges.kinds["source"]}
        plan: dict[str, Any] = {"kinds": kinds, "edges": self._pieces(self.edges)}
        if self.features is not None:
            kinds["features"] = self.features.kinds["feature"]
            plan["features"] = self._pieces(self.features)
        with replacing(self.work.folder / PLAN) as temporary:
            temporary.write_text(json.dumps(plan))
        edge_pieces, feature_pieces = (
            len(plan[what]["starts"]) - 1 if what in plan else 0 for what in ("edges", "features")
        )
        return edge_pieces, feature_pieces

    def _pieces(self, source: Source) -> dict[str, Any]:
        pieces = source.pieces(_SHARE * self.memory)
        if len(pieces) > _MOST_PIECES:
            raise ParameterError(
                f"is so small that {source.role} would be read in {len(pieces)} pieces: raise it",
                parameter="memory_limit",
            )
        return {
            "files": [[footer.path, *footer.state] for footer in source.footers],
            "columns": source.columns,
            "kinds": source.kinds,
            "starts": np.cumsum([0, *map(len, pieces)]).tolist(),
            "segments": [segment for piece in pieces for segment in piece],
        }

    def _stage(self, stage: str, function: Callable[..., Any], numbers: Sequence[int], *given: Any) -> list[Any]:
        tasks = [(str(self.work.folder), *given, number) for number in numbers]
        return self.runner.run(stage, function, tasks, self.work) if tasks else []

    def _number(
        self, what: str, kind: str, sizes: Sequence[Sequence[int]], first: int
    ) -> tuple[_Numbered, list[dict[str, Any]]]:
        """Number the names of some runs, of so many names and bytes of text each; the ``first`` ones go before all."""
        pieces = len(sizes)
        runs = [piece_path(self.work.folder, what, piece) for piece in range(pieces)]
        count, text = (sum(size[at] for size in sizes) for at in (0, 1))
        most = int(_SHARE * self.memory / (_NAME_COST + _TEXT_COST * text / max(1, count)))
        splits = split_keys(runs, KEYS[kind], most)
        save_array(self.work.folder / f"{what}-splits.npy", splits)
        ranges = len(splits) + 1
        words = "nodes" if what == "nodes" else "features"
        found = self._stage(f"finding {words}", find_distinct, range(ranges), what, kind, pieces, first)
        counts = [each["names"] for each in found]
        text = 0
        if kind == "text":
            new = self._stage(f"numbering {words}", number_new, range(pieces), what, ranges)
            counts, text = [count for count, _ in new], sum(size for _, size in new)
        if sum(counts) > _MOST:
            raise GraphError(f"there are {sum(counts)} {words}, and at most {_MOST:,} fit")
        self._save_bases(what, counts)
        if kind == "text":
            self._stage(f"looking up {words}", number_rows, range(ranges), what)
        return _Numbered(what, kind, pieces, ranges, sum(counts), text), found

    def _save_bases(self, what: str, counts: Sequence[int]) -> None:
        save_array(self.work.folder / f"{what}-bases.npy", np.cumsum([0, *counts], dtype=np.int64))

    def _number_features(self, read: Sequence[dict[str, Any]]) -> tuple[_Numbered, bool]:
        """Number the features; whether they are text of whole numbers, of which numbers are made."""
        if self.features is None or not any(each["names"][0] for each in read):
            self._save_bases("names", [])
            return _Numbered("names"), False
        kind = self.features.kinds["feature"]
        recoded = kind == "text" and all(each["whole"] for each in read)
        if not recoded:
            return self._number("names", kind, [each["names"] for each in read], len(read))[0], False
        sizes = self._stage("numbers as names of features", whole_features, range(len(read)))
        return self._number("whole-names", "whole", sizes, len(read))[0], True

    def _check_apart(self, found: Sequence[dict[str, Any]]) -> None:
        """Refuse nodes that no edge names, if asked to; ids that never match would only show as poor vectors later."""
        assert self.features is not None
        count, in_edges, in_features = (sum(each[name] for each in found) for name in ("names", "first", "others"))
        alone = next((each["alone"][0] for each in found if each["alone"]), None)
        if self.unknown == "error" and alone is not None:
            raise FileFormatError(
                f"{self.features.role}: {count - in_edges} node(s) that no edge names, such as {alone!r}; give ",
                Setting("unknown", "isolate"),
                " to take them for isolated nodes",
            )
        if in_features and count == in_edges + in_features:
            warn(
                f"none of the {in_features} nodes with features is in an edge: are the ids of the same kind? "
                f"Features have {alone!r}"
            )

    def _merge(self, what: str, pieces: int, width: int, weighted: bool) -> dict[str, Any]:
        """Merge the runs of a matrix; returns the number of ranges, of entries and of loops, and if all are 1."""
        shutil.rmtree(self.work.folder / what, ignore_errors=True)  # the rows as codes, which runs have replaced
        runs = [piece_path(self.work.folder, f"{what}-runs", piece) for piece in range(pieces)]
        done = self.work.folder / f"{what}-merged"
        splits_path = self.work.folder / f"{what}-splits.npy"
        if not done.exists():
            cost = _ENTRY_COST + (_AMOUNT_COST if weighted else 0)
            save_array(splits_path, split_keys(runs, np.int64, int(_SHARE * self.memory / cost)))
        ranges = len(np.load(splits_path)) + 1 if pieces else 0
        found = self._stage(f"merging {what}", merge_rows, range(ranges), what, pieces, width, weighted)
        done.touch()
        shutil.rmtree(self.work.folder / f"{what}-runs", ignore_errors=True)
        sums = {name: sum(each[name] for each in found) for name in ("entries", "loops")}
        return {"ranges": ranges, **sums, "ones": all(each["ones"] for each in found)}

    def _join(self, nodes: _Numbered, names: _Numbered, links: dict[str, Any], entries: dict[str, Any]) -> None:
        """Join the parts into the arrays, and write the manifest."""
        work, n = str(self.work.folder), nodes.count
        (self.work.folder / "graph").mkdir(exist_ok=True)
        arrays: list[tuple[Any, ...]] = []
        for what, found, columns, amounts in (
            ("edges", links, "neighbors", "weights"),
            ("features", entries, "feature_columns", "feature_values"),
        ):
            parts, length = (f"{what}-parts", found["ranges"]), found["entries"]
            arrays.append((work, parts[0], "columns", parts[1], "int32", length, columns))
            if not found["ones"]:
                arrays.append((work, parts[0], "amounts", parts[1], "float32", length, amounts))
        texts = []
        for numbered, name in ((nodes, "node_ids"), (names, "feature_names")):
            if numbered.kind == "whole":
                parts = (f"{numbered.what}-distinct", numbered.ranges if numbered.pieces else 0)
                arrays.append((work, parts[0], "names", parts[1], "int64", numbered.count, name))
            else:
                parts = (f"{numbered.what}-new", numbered.pieces)
                arrays.append((work, parts[0], "text", parts[1], "uint8", numbered.text, name))
                texts.append((work, *parts, numbered.count, f"{name}_offsets"))
        offsets = [
            (work, "edges", links["ranges"], n, "offsets"),
            (work, "features", entries["ranges"], n, "feature_offsets"),
        ]
        self.runner.run("writing arrays", join_array, arrays, self.work)
        self.runner.run("writing offsets", join_offsets, offsets, self.work)
        self.runner.run("writing offsets of names", join_text_offsets, texts, self.work)
        counts = {
            "n_nodes": n,
            "n_edges": (links["entries"] + links["loops"]) // 2,
            "n_features": names.count,
            "links": links["entries"],
            "entries": entries["entries"],
            "weighted": not links["ones"],
            "valued": not entries["ones"],
        }
        kinds = {"whole": "int64", "text": "text"}
        sources = {"edges": self.edges.role, "features": None if self.features is None else self.features.role}
        write_manifest(
            self.work.folder / "graph",
            {**counts, "node_ids": kinds[nodes.kind], "feature_names": kinds[names.kind], "sources": sources},
        )


def _called(given: Any) -> str:
    """What to call some files in messages."""
    if isinstance(given, (str, os.PathLike)):
        return str(given)
    listed = list(map(str, given))
    return listed[0] if len(listed) == 1 else f"{listed[0]} and {len(listed) - 1} more"


def _check_same_disk(folder: Path, work_folder: Path) -> None:
    """Refuse a work folder that the finished graph could not be moved from, before any work."""
    places = [next(each for each in (path, *path.parents) if each.exists()) for path in (folder, work_folder)]
    if len({place.stat().st_dev for place in places}) > 1:
        raise OutputError(
            f"the work folder {str(work_folder)!r} must be on the same file system as the stored graph, "
            f"{str(folder)!r}: name another one"
        )


def _move(finished: Path, folder: Path) -> None:
    """Give the finished folder its place; an empty folder that is there gives way."""
    try:
        check_new_folder(folder)
        os.replace(finished, folder)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"cannot move the stored graph to {str(folder)!r}: {error.strerror or error}. The work folder must be on "
            "the same file system"
        ) from error
