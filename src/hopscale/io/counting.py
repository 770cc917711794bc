"""How large a graph in files is, from a part of them: a plan needs counts, and not the rows.

Pieces of a file from its beginning to its end are read as the whole would be. Rows are counted by the metadata of
Parquet, or by the length of lines. Distinct ids are those from the smallest to the largest where they are whole numbers
that can all occur, else they are estimated from how many pieces have each (A. Chao and C.-W. Lin, "Nonparametric lower
bounds for species richness and shared species richness under sampling without replacement", Biometrics 2012).
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.checks import switch
from hopscale.exceptions import FileFormatError, HopscaleError
from hopscale.io.arrow import ArrowTable
from hopscale.io.content import UnreadableFileError, content_kind, existing
from hopscale.io.files import WHOLE_GRAPHS, Files, header_of_each
from hopscale.io.ids import like_edges
from hopscale.io.naming import Names, check_attributes
from hopscale.io.parquet import is_parquet, parquet_errors, with_index_first
from hopscale.io.tables import edge_columns, feature_entries

__all__ = ["FileCounts", "can_be_sampled", "count_rows", "distinct_in_all"]

_Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

WHOLE = 64 * 2**20  # bytes of all files, up to which they are read whole
PIECES = 32
PIECE = 2**19  # bytes of a piece of text
PIECE_ROWS = 2**15  # rows of a piece of Parquet


@dataclass(frozen=True)
class FileCounts:
    """Counts of a graph in files; ``share`` of the rows was read."""

    n_nodes: int
    n_edges: int
    n_features: int
    n_entries: int
    weighted: bool
    share: float


@dataclass(frozen=True)
class _Part:
    """Some rows of a Parquet file that follow each other."""

    path: Path
    first_row: int
    table: Any

    def named(self, *, by_node: bool) -> ArrowTable:
        """The rows, with errors that say where they are in their own file."""
        table = with_index_first(self.table, self.table.schema) if by_node else self.table
        return ArrowTable(table, str(self.path), first_row=self.first_row)


@dataclass(frozen=True)
class _Sample:
    """Some rows of a file in its own format, how many each piece has, and how many rows the file has, about."""

    path: Path
    data: bytes
    pieces: list[int]
    rows: float
    parts: list[_Part] = field(default_factory=list)  # of Parquet

    @property
    def share(self) -> float:
        return min(1.0, sum(self.pieces) / max(1.0, self.rows))

    @property
    def stream(self) -> BinaryIO:
        """What a reader takes for the file."""
        found = io.BytesIO(self.data)
        found.name = str(self.path)  # for messages
        return found

    def refuse(self, read: Callable[[ArrowTable], object], *, by_node: bool) -> None:
        """Raise what is wrong with rows of Parquet with their own file and row, which those of a sample are not."""
        for part in self.parts:
            read(part.named(by_node=by_node))


def can_be_sampled(*files: str | os.PathLike[str] | None) -> bool:
    """Whether a part of the files tells their size, and reading all of them would take long.

    JSON and packed text are read whole, and files of whole graphs.
    """
    paths = [existing(file) for file in files if file is not None]
    if sum(path.stat().st_size for path in paths) <= WHOLE:
        return False
    return all(
        content_kind(path) not in WHOLE_GRAPHS and _first(path)[:2] != b"\x1f\x8b" and not _is_json(path)
        for path in paths
    )


def count_rows(
    edges: _Files,
    features: _Files | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | Literal[False] | None = None,
    value: str | None = None,
    header: bool | Mapping[str, bool | None] | None = None,
    skip_bad_lines: bool = False,
) -> FileCounts:
    """Counts of a graph in files, from some rows of each; parameters are those of :func:`hopscale.read_graph`.

    Edges, or features, may lie in several Parquet files with the same columns, of types that go together.
    Repeated edges and entries count each time unless all rows were read, since a part of them does not tell how many
    there are, but not beyond what so many nodes and features can have.
    """
    check_attributes(source=source, target=target, weight=None if weight is False else weight, value=value)
    files = Files(header_of_each(header), switch("skip_bad_lines", skip_bad_lines), None, lambda line: None)
    sample = _sampled(edges)
    try:
        ends, weights = files.edges(sample.stream, source=source, target=target, weight=weight)
    except HopscaleError:
        if not files.skip_bad_lines:
            sample.refuse(lambda part: _read_edges(part, source, target, weight), by_node=False)
        raise
    n_nodes = _distinct(ends, sample, 2)
    weighted = weights is not None and bool(weights.size) and bool((weights != weights[0]).any())
    n_features = n_entries = 0
    share = sample.share
    if features is not None:
        of_features = _sampled(features)
        nodes = ends.ordered().vocabulary
        try:
            found = files.features(of_features.stream, nodes, value=value, unknown="isolate")
        except HopscaleError:
            if not files.skip_bad_lines:
                of_features.refuse(lambda part: _read_features(part, nodes, value), by_node=True)
            raise
        per_row = len(found.features.codes) / max(1, len(found.listed.codes))
        n_entries = round(of_features.rows * per_row)
        if of_features.share >= 1:
            nodes_of = found.listed.codes if found.rows is None else found.listed.codes[found.rows]
            n_entries = _distinct_pairs(nodes_of, found.features.codes)
        n_nodes = max(n_nodes, _distinct(found.listed, of_features, 1))
        n_features = _distinct(found.features, of_features, per_row)
        share = min(share, of_features.share)
    n_edges = round(sample.rows) if sample.share < 1 else _distinct_pairs(*np.sort(ends.codes, axis=1).T)
    n_edges, n_entries = min(n_edges, n_nodes * (n_nodes + 1) // 2), min(n_entries, n_nodes * n_features)
    return FileCounts(n_nodes, n_edges, n_features, n_entries, weighted, share)


def _read_edges(part: ArrowTable, source: str | None, target: str | None, weight: str | Literal[False] | None) -> None:
    first, second, amount = edge_columns(part, source, target, weight)
    part.ends(first, second)
    if amount is not None:
        part.amounts(amount)


def _read_features(part: ArrowTable, nodes: NDArray[Any], value: str | None) -> None:
    like_edges(feature_entries(part, None, None, value).listed, nodes, part.role)


def _first(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError as error:
        raise UnreadableFileError(f"{path} cannot be read: {error.strerror or error}") from error


def _is_json(path: Path) -> bool:
    return _first(path).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _sampled(files: _Files) -> _Sample:
    paths = [existing(file) for file in ([files] if isinstance(files, (str, os.PathLike)) else files)]
    if len(paths) == 1 and not is_parquet(_first(paths[0])):
        return _of_text(paths[0])
    return _of_parquet(paths)


def _of_text(path: Path) -> _Sample:
    """Pieces of whole lines; the first has the header."""
    size, parts = path.stat().st_size, []
    with path.open("rb") as file:
        starts = (
            np.linspace(0, max(0, size - PIECE), PIECES).astype(np.int64).tolist() if size > PIECES * PIECE else [0]
        )
        for start in starts:
            file.seek(start)
            piece = file.read(PIECE if len(starts) > 1 else -1)
            begin = 0 if start == 0 else piece.find(b"\n") + 1
            end = piece.rfind(b"\n") + 1 if len(starts) > 1 else len(piece)
            parts.append(piece[begin:end] if end > begin else b"")
    if not any(parts):
        raise FileFormatError(f"{path} has no line of less than {PIECE:,} bytes: it is no table of edges or features")
    lines = [part.count(b"\n") or int(bool(part)) for part in parts]
    return _Sample(path, b"".join(parts), lines, sum(lines) * size / sum(map(len, parts)))


def _of_parquet(paths: Sequence[Path]) -> _Sample:
    """The first rows of some parts of the files."""
    chosen = set(np.unique(np.linspace(0, len(paths) - 1, PIECES).astype(int)).tolist())
    count, parts = 0, []
    for at, path in enumerate(paths):
        with parquet_errors(path):
            import pyarrow.parquet as pq

            count += pq.read_metadata(path).num_rows
            parts += _parts_of(path, len(chosen)) if at in chosen else []
    with parquet_errors(paths[0]):
        data = _one_file(parts, paths[0])
    # Halves of a piece are pieces, too: a file may have one part alone.
    pieces = [own for part in parts for own in _split(len(part.table), max(1, PIECES // len(parts)))]
    return _Sample(paths[0], data, pieces, float(count), parts)


def _parts_of(path: Path, files: int) -> list[_Part]:
    """The first rows of some row groups of a file, which is one of so many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, memory_map=True, pre_buffer=False)
    counts = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
    if not counts:
        return []
    starts = [0, *itertools.accumulate(counts)]
    groups = np.unique(np.linspace(0, len(counts) - 1, -(-PIECES // files)).astype(int)).tolist()
    rows = PIECE_ROWS * PIECES // len(groups) // files
    batches = [next(file.iter_batches(rows, row_groups=[at], use_threads=False), None) for at in groups]
    return [
        _Part(path, starts[at], pa.Table.from_batches([batch]))
        for at, batch in zip(groups, batches, strict=True)
        if batch is not None
    ]


def _one_file(parts: Sequence[_Part], path: Path) -> bytes:
    """Rows of all parts as the content of one Parquet file; whole numbers may have more bits in some than in others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = io.BytesIO()
    if not parts:
        pq.write_table(pq.read_schema(path).empty_table(), made)
        return made.getvalue()
    whole = _plain(parts[0].table)
    for part in parts[1:]:
        if sorted(part.table.column_names) != sorted(whole.column_names):  # they would be filled with missing values
            raise FileFormatError(
                f"{part.path} has the columns {part.table.column_names}, but {parts[0].path} has "
                f"{whole.column_names}: all parts must have the same columns"
            )
        try:
            whole = pa.concat_tables([whole, _plain(part.table)], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise FileFormatError(
                f"{parts[0].path} and {part.path} have columns of different types ({error}): give all parts one type"
            ) from error
    pq.write_table(whole, made)
    return made.getvalue()


def _plain(table: Any) -> Any:
    """A table without dictionaries, which some parts may have for columns of text that others have not."""
    import pyarrow.types as types

    for at, kind in enumerate(table.schema):
        if types.is_dictionary(kind.type):
            table = table.set_column(at, kind.name, table.column(at).cast(kind.type.value_type))
    return table


def _split(count: int, parts: int) -> list[int]:
    bounds = np.linspace(0, count, min(parts, max(1, count)) + 1).astype(int)
    return np.diff(bounds).tolist()


def _distinct(names: Names, sample: _Sample, per_row: float) -> int:
    """Distinct names in all rows of a file, of which each has so many."""
    codes = names.codes
    if not len(codes):
        return 0
    bounds = np.cumsum([0, *sample.pieces]) * len(codes) // max(1, sum(sample.pieces))
    pieces = [codes[begin:end].ravel() for begin, end in itertools.pairwise(bounds)]
    found = distinct_in_all([np.unique(piece) for piece in pieces if piece.size], sample.share)
    used = names.vocabulary[np.unique(codes)]
    if used.dtype.kind == "i" and sample.share < 1:
        between = int(used.max()) - int(used.min()) + 1
        if between <= per_row * sample.rows:  # all of them can occur
            return between
    return round(min(found, per_row * sample.rows))


def _distinct_pairs(first: NDArray[Any], second: NDArray[Any]) -> int:
    """Distinct pairs of codes."""
    return len(np.unique(first.astype(np.int64) << 32 | second))


def distinct_in_all(pieces: list[NDArray[Any]], share: float) -> float:
    """About how many distinct numbers all rows have, from those of pieces that are a ``share`` of them.

    >>> distinct_in_all([np.array([0, 1]), np.array([2, 3])], 0.5)  # no number is in two pieces: each has its own
    8.0
    """
    if not pieces:
        return 0.0
    often = np.bincount(np.bincount(np.concatenate(pieces)))
    seen = float(often[1:].sum())
    once, twice, count = float(often[1]), float(often[2]) if len(often) > 2 else 0.0, len(pieces)
    if share >= 1 or once == 0:
        return seen
    return seen + once**2 / (2 * twice * count / max(1, count - 1) + once * share / (1 - share))
