"""Edges, features and labels as Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import FileFormatError, HopscaleError, MissingPackageError
from hopscale.io.arrow import ArrowTable
from hopscale.io.assemble import FeatureEntries
from hopscale.io.bad_lines import BadLines
from hopscale.io.content import check_unpacked, unpacked_limit
from hopscale.io.edge_file import refuse_fractions
from hopscale.io.label_file import last_but, placed_labels, warn_of_last
from hopscale.io.naming import Names, Unknown, in_part
from hopscale.io.tables import edge_columns, feature_entries

__all__ = [
    "INDEX",
    "is_parquet",
    "parquet_edges",
    "parquet_errors",
    "parquet_features",
    "parquet_labels",
    "parquet_table",
    "plain_columns",
    "say_edges",
    "with_index_first",
]

_CODED = 4  # bytes a cell takes at most where all cells are stored as codes
_MOST_PARTS = 64  # of a file, whose dictionaries are looked at
INDEX = "__index_level_0__"  # what pandas calls an index without a name


def is_parquet(data: bytes) -> bool:
    """Whether the content of a file is Parquet."""
    return data[:4] == b"PAR1"


def parquet_table(data: bytes, path: str | os.PathLike[str], max_unpacked: Any = None, *, by_node: bool) -> Any:
    """Content of a Parquet file as a table of Arrow's; text that repeats comes as codes and a dictionary.

    An index that pandas has written is a column like the others if it may name the nodes of a table ``by_node``:
    if it is text, or if there is but one column beside it.
    """
    with parquet_errors(path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = pq.ParquetFile(pa.BufferReader(data))
        unpacked = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
        schema = file.schema_arrow
        limit = unpacked_limit(len(data), max_unpacked)
        check_unpacked(max(unpacked, 4 * file.metadata.num_rows), limit, path)
        texts = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        coded = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts, pre_buffer=False)
        plain = set(plain_columns(coded, texts, limit))
        dictionaries = [name for name in texts if name not in plain]
        table = pq.ParquetFile(pa.BufferReader(data), read_dictionary=dictionaries).read()
    return with_index_first(table, schema) if by_node else table


@contextmanager
def parquet_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise errors of Arrow, or that it is not installed, as errors that name the file."""
    try:
        yield
    except (HopscaleError, MemoryError):
        raise
    except ImportError as error:
        raise MissingPackageError(f'{path}: Parquet files need pyarrow: pip install "hopscale[parquet]"') from error
    except Exception as error:  # Arrow raises all kinds of them
        if not _begins_as_parquet(path):
            raise FileFormatError(f"{path} is not a Parquet file") from error
        raise FileFormatError(f"{path} cannot be read as Parquet: it is cut short or damaged ({error})") from error


def _begins_as_parquet(path: str | os.PathLike[str]) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(4) in (b"PAR1", b"PARE", b"")
    return True  # another error than that of its content


def with_index_first(table: Any, schema: Any) -> Any:
    """A table whose first column is the index that pandas has written, if that may name its nodes."""
    import pyarrow.types as types

    if INDEX not in schema.names:
        return table
    kind = schema.field(INDEX).type
    if not (types.is_string(kind) or types.is_large_string(kind) or len(schema.names) == 2):
        return table
    names = ["index" if name == INDEX else name for name in table.column_names]
    return table.rename_columns(names).select(["index", *(name for name in names if name != "index")])


def plain_columns(coded: Any, texts: list[str], limit: int, groups: Sequence[int] | None = None) -> list[str]:
    """Columns of text that are quicker read as they are: most of their cells are not stored as codes.

    Codes can stand for any amount of text, of which the dictionaries tell the most; a row is enough to see these. Some
    row groups of the file are looked at, or all.
    """
    import pyarrow.compute as pc

    groups = range(coded.metadata.num_row_groups) if groups is None else groups
    parts = [coded.metadata.row_group(at) for at in groups]
    rows = sum(part.num_rows for part in parts)
    if not texts or len(parts) > _MOST_PARTS or not rows:
        return []
    sizes = dict.fromkeys(texts, 0)
    for part in parts:
        for column in map(part.column, range(part.num_columns)):
            if column.path_in_schema in sizes:
                sizes[column.path_in_schema] += column.total_uncompressed_size
    plain = [name for name, size in sizes.items() if size > _CODED * rows]
    most = sum(sizes[name] for name in plain)
    for at, part in zip(groups, parts, strict=True) if plain else ():
        row = next(coded.iter_batches(batch_size=1, row_groups=[at], columns=plain, use_threads=False), None)
        if row is None:
            continue
        if sorted(row.schema.names) != sorted(plain):  # names that occur twice, or have a point in them
            return []
        longest = [pc.max(pc.binary_length(column.dictionary)).as_py() for column in row.columns]
        most += part.num_rows * sum(length or 0 for length in longest)
    return plain if most <= limit else []


def parquet_edges(
    table: Any,
    bad: BadLines,
    *,
    source: str | None,
    target: str | None,
    weight: str | Literal[False] | None,
    say: Callable[[str], None],
) -> tuple[Names, NDArray[np.float64] | None]:
    """Ends of all edges and their weights if there are any; ``say`` reports which columns were taken."""
    path = str(bad.path)
    named = ArrowTable(table, path)
    first, second, weight = edge_columns(named, source, target, weight)
    rows = _good_rows(table, named, bad, [first, second], weight)
    ends = rows.ends(first, second)
    if source is None and target is None:
        refuse_fractions(ends, path, [repr(first), repr(second)])
    say_edges(named, first, second, weight, say)
    return ends, None if weight is None else rows.amounts(weight)


def say_edges(table: ArrowTable, first: str, second: str, weight: str | None, say: Callable[[str], None]) -> None:
    """Report which columns of a table of edges were taken for what."""
    passed_over = [name for name in table.names_of_columns if name not in (first, second, weight)]
    weights = "no weights" if weight is None else f"weights are {weight!r}"
    others = f"; passed over: {in_part(list(map(repr, passed_over)))}" if passed_over else ""
    say(f"{table.role}: nodes are {first!r} and {second!r}; {weights}{others}")


def parquet_features(table: Any, bad: BadLines, *, value: str | None, say: Callable[[str], None]) -> FeatureEntries:
    """Entries of the feature matrix; ``say`` reports which columns were taken."""
    named = ArrowTable(table, str(bad.path))
    node, feature = named.names_of_columns[:2]
    is_listed = named.lists(feature, 1) is not None
    rows = _good_rows(table, named, bad, [node] if is_listed else [node, feature], value)
    say(f"{bad.path}: nodes are {node!r}, features are {feature!r}")
    return feature_entries(rows, None, None, value)


def parquet_labels(
    table: Any,
    bad: BadLines,
    nodes: NDArray[Any],
    *,
    node_column: str | None,
    label_column: str | None,
    unknown: Unknown,
    say: Callable[[str], None],
) -> tuple[NDArray[Any], str]:
    """Labels of all ``nodes``, with gaps, and the name of their column; ``say`` reports which columns were taken."""
    named = ArrowTable(table, str(bad.path))
    node = named.names_of_columns[0] if node_column is None else node_column
    columns = named.names_of_columns
    label = label_column
    if label is None:
        at = columns.index(node) if node in columns else 0
        label = columns[last_but(at, list(map(repr, columns)), bad.path)] if len(columns) > 1 else node
    rows = _good_rows(table, named, bad, [node], None)
    say(f"{bad.path}: nodes are {node!r}, labels are {label!r}")
    codes, labels = rows.coded(label)
    placed = placed_labels(
        rows.names(node, 0),
        codes,
        labels,
        nodes,
        bad.path,
        unknown=unknown,
        typed=list,
        where=lambda row: f"row {row}",
        columns=(f"its columns are {named.names_of_columns}",),
    )
    if label_column is None:
        warn_of_last(list(map(repr, columns)), bad.path)
    return placed, label


def _good_rows(table: Any, named: ArrowTable, bad: BadLines, required: Sequence[str], amount: str | None) -> ArrowTable:
    """Rows that have all that is required, and an amount that is one."""
    if not bad.skip:
        return named
    import pyarrow.compute as pc

    good = np.ones(len(table), dtype=bool)
    for name in [*required, *([] if amount is None else [amount])]:
        column = named.column(name, 0, nulls=True)
        good &= pc.is_valid(column).to_numpy()
    if amount is not None and named.is_numeric(amount):
        numbers = named.column(amount, 0, nulls=True).to_numpy().astype(np.float64)
        good &= np.isfinite(numbers) & (numbers >= 0)
    for row in np.flatnonzero(~good).tolist():
        bad.add(row, "a cell is empty, or a number that cannot be")
    bad.warn(int(good.sum()))
    return named if good.all() else ArrowTable(table.filter(good), named.role)
