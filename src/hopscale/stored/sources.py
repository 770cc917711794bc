"""Parquet files that hold the edges or the features of one graph: which there are, what is in them, and in what pieces.

Only footers and a few first rows are read here.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from hopscale.exceptions import FileFormatError, GraphError, ParameterError, in_short, warn
from hopscale.indexed import is_frame
from hopscale.io.arrow import ArrowTable
from hopscale.io.content import MissingFileError, existing
from hopscale.io.parquet import INDEX, parquet_errors, say_edges, with_index_first
from hopscale.io.tables import edge_columns, value_column

__all__ = ["Footer", "Source", "edge_source", "feature_source", "parquet_files"]

_HEAD = 100  # rows that are looked at to choose columns, as many as of a single file
_NAME_COST = {"whole": 96, "text": 384}  # bytes that a node or feature takes while a piece is read, at most
_TEXT_COST = 6  # bytes for each byte of text
_NUMBERED = re.compile(
    r"(\D*)(\d+)"
)  # a name as writers of parts make them: part-00001.parquet, part-00001-c000.parquet


@dataclass(frozen=True)
class Footer:
    """What the end of a Parquet file tells of it."""

    path: str
    state: tuple[int, int]  # size, and time of change
    schema: Any
    groups: list[tuple[int, dict[str, tuple[int, int]]]]  # rows, and values and bytes of each column, of each row group

    @property
    def rows(self) -> int:
        """Rows of all groups."""
        return sum(rows for rows, _ in self.groups)


@dataclass(frozen=True)
class Source:
    """Edges or features in some files, with the columns that hold them."""

    role: str  # as people call it
    footers: list[Footer]
    columns: dict[str, str | None]  # source, target and weight; or node, feature and value; as files name them
    kinds: dict[str, str]  # of names: whole or text

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(footer.rows for footer in self.footers)

    def pieces(self, memory: float) -> list[list[tuple[int, int, int]]]:
        """Pieces of (file, first row, end), in order, that take no more than so much memory while they are read.

        They end where row groups do, as far as these fit: rows within one are read by decoding those before them.
        """
        pieces: list[list[tuple[int, int, int]]] = []
        left = 0.0
        for file, footer in enumerate(self.footers):
            begin = 0
            for rows, columns in filter(itemgetter(0), footer.groups):  # a group may be empty
                cost = self._row_cost(rows, columns)
                most = max(1, int(memory / cost))
                for part in _parts(rows, most):
                    if not pieces or part * cost > left:
                        pieces.append([])
                        left = memory
                    pieces[-1].append((file, begin, begin + part))
                    left -= part * cost
                    begin += part
        return [_joined(piece) for piece in pieces]

    def _row_cost(self, rows: int, columns: dict[str, tuple[int, int]]) -> float:
        """Bytes that a row takes while it is read, at most, by the values and the bytes of its columns."""
        total = 24.0 * rows
        for role, name in self.columns.items():
            values, size = columns.get(str(name), (rows, 8 * rows))
            kind = self.kinds.get(role)
            total += 32.0 * values if kind is None else float(_NAME_COST[kind] * values)
            total += _TEXT_COST * size if kind == "text" else 0
        return total / rows


def parquet_files(given: Any, what: str) -> list[str]:
    """Files of a folder, a glob, one path or a list of these, in the order in which their rows count."""
    if isinstance(given, (str, os.PathLike)):
        return _files_of(given, what)
    if not isinstance(given, Iterable) or is_frame(given):
        raise ParameterError(f"must be a path, a glob or a list of these, not {in_short(given)}", parameter=what)
    listed = [path for each in given for path in _files_of(each, what)]
    if not listed:
        raise ParameterError("is an empty list: name at least one Parquet file", parameter=what)
    twice = next((path for at, path in enumerate(listed) if path in listed[:at]), None) if len(listed) < 1000 else None
    if twice is not None:
        raise ParameterError(f"has {twice} twice", parameter=what)
    return listed


def edge_source(
    files: Sequence[str],
    role: str,
    *,
    source: str | None,
    target: str | None,
    weight: str | Literal[False] | None,
    say: Callable[[str], None],
) -> Source:
    """Edges in some files, with the columns that :func:`~hopscale.read_graph` would choose."""
    _say_gaps(files)
    footers = _footers(files)
    filled = [footer for footer in footers if footer.rows]
    if not filled:
        raise GraphError(f"{role}: no edges, for none of {len(footers)} file(s) has a row")
    head = ArrowTable(_head(filled), role)
    first, second, weight = edge_columns(head, source, target, weight)
    columns = {"source": first, "target": second, "weight": weight}
    _check_columns(head, columns)
    kinds = _kinds(footers, columns, ("source", "target"))
    if kinds["source"] != kinds["target"]:
        raise GraphError(
            f"{role}: column {first!r} has {_IN_WORDS[kinds['source']]} and {second!r} {_IN_WORDS[kinds['target']]}: "
            "give both columns one type, so that the same node is the same on both ends"
        )
    say_edges(head, first, second, weight, say)
    return Source(role, footers, columns, kinds)


def feature_source(files: Sequence[str], role: str, *, value: str | None, say: Callable[[str], None]) -> Source:
    """Features in some files, with the columns that :func:`~hopscale.read_graph` would choose."""
    _say_gaps(files)
    footers = _footers(files)
    filled = [footer for footer in footers if footer.rows] or footers
    table = with_index_first(_head(filled), filled[0].schema)
    head = ArrowTable(table, role)
    node, feature = head.names_of_columns[:2]
    value = value_column(head, None, None) if value is None else value
    _check_columns(head, {"node": node, "feature": feature, "value": value})
    if value is not None and _is_list(table.schema.field(feature).type):
        raise GraphError(f"{role} has lists of features, which cannot share the values in column {in_short(value)}")
    in_files = INDEX if node == "index" and "index" not in filled[0].schema.names else node
    columns = {"node": in_files, "feature": feature, "value": value}
    say(f"{role}: nodes are {node!r}, features are {feature!r}")
    return Source(role, footers, columns, _kinds(footers, columns, ("node", "feature")))


_IN_WORDS = {"whole": "numbers", "text": "text"}


def _check_columns(head: ArrowTable, columns: dict[str, str | None]) -> None:
    """Refuse columns that are not there, or twice."""
    for name in columns.values():
        if name is not None:
            head.column(name, 0, nulls=True)


def _say_gaps(files: Sequence[str]) -> None:
    """Warn of a number that names of files leave out, which may be that of a part that is missing."""
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for path in files:
        folder, name = os.path.split(path)
        if found := _NUMBERED.match(name):
            groups.setdefault((folder, found[1]), {})[int(found[2])] = name
    for (folder, _), names in groups.items():
        gaps = [(a, b) for a, b in pairwise(sorted(names)) if b > a + 1]
        missing = sum(b - a - 1 for a, b in gaps)
        if 0 < missing < len(names):
            first, last = (names[number] for number in gaps[0])
            warn(f"{folder}: between {first} and {last} {missing} part(s) may be missing: their numbers are not there")


def _files_of(given: Any, what: str) -> list[str]:
    if not isinstance(given, (str, os.PathLike)) or isinstance(os.fspath(given), bytes):
        raise ParameterError(f"must be a path, a glob or a list of these, not {in_short(given)}", parameter=what)
    path = Path(given)
    try:
        if path.is_dir():
            hidden = (".", "_")
            found = sorted(
                each
                for each in path.rglob("*.parquet")
                if each.is_file() and not any(part.startswith(hidden) for part in each.relative_to(path).parts)
            )
            if not found:
                raise MissingFileError(f"the folder {str(path)!r} has no file that ends in .parquet")
            return [os.path.abspath(each) for each in found]
        if glob.has_magic(os.fspath(given)) and not path.exists():
            matches = sorted(each for each in glob.glob(os.fspath(given), recursive=True) if os.path.isfile(each))
            if not matches:
                raise MissingFileError(f"no file matches {os.fspath(given)!r}")
            return [os.path.abspath(each) for each in matches]
    except (OSError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{in_short(os.fspath(given))} cannot be read: {error}") from error
    return [os.path.abspath(existing(path))]


def _footers(files: Sequence[str]) -> list[Footer]:
    """Footers of all files, which must have the same columns, in any order: the first file's tells which are which."""
    footers = [_footer(path) for path in files]
    first = next((footer for footer in footers if footer.rows), footers[0])
    for footer in footers:
        if sorted(footer.schema.names) != sorted(first.schema.names):
            raise FileFormatError(
                f"{footer.path} has the columns {footer.schema.names}, but {first.path} has {first.schema.names}: all "
                "parts must have the same columns"
            )
    return footers


def _footer(path: str) -> Footer:
    with parquet_errors(path):
        import pyarrow.parquet as pq

        found = os.stat(path)
        file = pq.ParquetFile(path)
        groups = []
        for at in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(at)
            columns: dict[str, tuple[int, int]] = {}
            for column in map(group.column, range(group.num_columns)):
                columns[column.path_in_schema.partition(".")[0]] = column.num_values, column.total_uncompressed_size
                columns[column.path_in_schema] = column.num_values, column.total_uncompressed_size
            groups.append((group.num_rows, columns))
        return Footer(path, (found.st_size, found.st_mtime_ns), file.schema_arrow, groups)


def _head(footers: Sequence[Footer]) -> Any:
    """The first rows of all files, enough to choose columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables: list[Any] = []
    for footer in footers:
        wanted = _HEAD - sum(map(len, tables))
        if wanted <= 0:
            break
        with parquet_errors(footer.path):
            file = pq.ParquetFile(footer.path)
            batches = list(islice(file.iter_batches(batch_size=wanted, use_threads=False), 1))
            tables.append(pa.Table.from_batches(batches, schema=file.schema_arrow))
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        paths = f"{footers[0].path} and {footers[len(tables) - 1].path}"
        raise FileFormatError(f"{paths} have columns of different types ({error}): give all parts one type") from error


def _kinds(footers: Sequence[Footer], columns: dict[str, str | None], names: Sequence[str]) -> dict[str, str]:
    """Whether the names in some columns are whole numbers or text, the same in all files that have rows."""
    kinds: dict[str, str] = {}
    for role in names:
        column = str(columns[role])
        seen: dict[str, tuple[str, str]] = {}
        for footer in footers:
            if footer.rows:
                kind = footer.schema.field(footer.schema.get_field_index(column)).type
                seen.setdefault(_exact_kind(kind, footer.path, column), (footer.path, str(kind)))
        if len(seen) > 1:
            (one, one_type), (other, other_type), *_ = seen.values()
            raise FileFormatError(
                f"{other}: column {column!r} holds {other_type}, but {one_type} in {one}: write all parts with one "
                "type, so that the same name is the same in all of them"
            )
        kinds[role] = "text" if "text" in seen else "whole"
    return kinds


def _exact_kind(kind: Any, path: str, column: str) -> str:
    """Text, whole numbers or floats, which must be whole; lists of features are known by what they hold."""
    import pyarrow.types as types

    while _is_list(kind) or types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_integer(kind):
        return "whole"
    if types.is_floating(kind):
        return "float"
    raise FileFormatError(
        f"{path}: column {column!r} holds {kind}, and names of nodes and features must be whole numbers or text: "
        "convert it"
    )


def _is_list(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _parts(rows: int, most: int) -> list[int]:
    """A number of rows in equal parts of at most so many."""
    count = -(-rows // most)
    return [(rows * (at + 1)) // count - (rows * at) // count for at in range(count)]


def _joined(piece: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Ranges of rows of one file that follow each other as one."""
    joined: list[tuple[int, int, int]] = []
    for file, begin, end in piece:
        if joined and joined[-1][0] == file and joined[-1][2] == begin:
            joined[-1] = (file, joined[-1][1], end)
        else:
            joined.append((file, begin, end))
    return joined
