"""Names of Arrow columns, and delimited text read by pyarrow where it reads as Python does."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.graph import name_array
from hopscale.io.columns import is_whole, written_length
from hopscale.io.naming import Names

__all__ = ["Columns", "columns_by_arrow", "names_of_arrow"]

# Names of each group of columns, and the amounts if there are any.
Columns = tuple[list[Names], NDArray[np.float64] | None]


def names_of_arrow(column: Any) -> Names:
    """Names of a chunked Arrow column of text or anything else but numbers; dictionaries are kept as they are."""
    import pyarrow as pa

    if not len(column):
        return Names.of([])
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()  # with one dictionary for all chunks
    elif column.num_chunks > 1:
        try:
            column = column.unify_dictionaries()
        except pa.ArrowNotImplementedError:  # as for some kinds of values
            column = column.cast(column.type.value_type).dictionary_encode()
    # Each name becomes a Python object once, however often it occurs.
    names = column.chunk(0).dictionary.to_pylist()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
    if len(set(names)) == len(names):
        return Names(codes, name_array(names))
    distinct = Names.of(names)  # dictionaries of other makers may repeat a value
    return distinct.with_codes(distinct.codes[codes])


def columns_by_arrow(
    data: bytes,
    start: int,
    delimiter: str | None,
    first: Sequence[str],
    groups: Sequence[tuple[int, ...]],
    amount_at: int | None,
) -> Columns | None:
    """Columns of delimited text as Python's own means would read them, None where that is in doubt.

    Rows begin at ``start``, with the cells ``first``; ``groups`` and ``amount_at`` are those of
    :func:`hopscale.io.delimited.read_columns`.
    """
    try:
        import pyarrow as pa
    except ImportError:
        return None
    quotes = data.count(b'"', start)
    if not _is_simple(data, start, delimiter, quotes):
        return None
    text: list[Any] = [pa.string()] * len(first)
    whole = text.copy()
    for group in groups:
        if all(is_whole(first[position]) for position in group):
            for position in group:
                whole[position] = pa.int64()
    source = memoryview(data)[start:]
    table = _parsed(source, delimiter, whole, quotes)
    lines = data.count(b"\n", start) if quotes or whole != text else 0
    if whole != text:
        # Arrow reads 007, 0x7 and " 7" as 7. If no byte of the text is left over, they are all written the short way.
        between = quotes + lines + (0 if table is None else len(table) * (len(first) - 1))
        is_hex = data.find(b"0x", start) >= 0 or data.find(b"0X", start) >= 0
        if table is None or is_hex or len(source) != between + sum(_lengths(column)[0] for column in table.columns):
            table = _parsed(source, delimiter, text, quotes)
    if table is None or any(_lengths(column)[1] > csv.field_size_limit() for column in table.columns):
        return None
    if quotes and len(table) != lines + (not data.endswith(b"\n")):  # a cell of several lines
        return None
    try:
        amounts = None if amount_at is None else table.column(amount_at).cast(pa.float64()).to_numpy()
    except pa.ArrowException:
        return None
    # pyarrow's reader would encode each block by itself; whole columns can be encoded at the same time.
    with ThreadPoolExecutor() as pool:
        columns = list(pool.map(_encoded, table.columns))
    return [_names_of_group([columns[position] for position in group]) for group in groups], amounts


def _encoded(column: Any) -> Any:
    import pyarrow as pa

    # In one piece, which has one dictionary, unless it is too long for that.
    return column.combine_chunks().dictionary_encode() if pa.types.is_string(column.type) else column


def _names_of_group(columns: Sequence[Any]) -> Names:
    """Names of columns of one type, side by side."""
    import pyarrow as pa

    together = pa.chunked_array([chunk for column in columns for chunk in getattr(column, "chunks", [column])])
    names = Names.of(together.to_numpy()) if pa.types.is_integer(together.type) else names_of_arrow(together)
    return replace(names, codes=names.codes.reshape(len(columns), -1).T.ravel()).reshaped(len(columns))


def _is_simple(data: bytes, start: int, delimiter: str | None, quotes: int) -> bool:
    """Whether quotes only enclose whole cells, and blank space that divides cells is one space each."""
    if delimiter is None:
        signs = [b"\t", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x1f", b"  ", b" \n", b"\n ", b'"']
        return data.isascii() and data[-1:] != b" " and all(data.find(sign, start) < 0 for sign in signs)
    if not quotes:
        return True
    sign = delimiter.encode()
    opening = data.startswith(b'"', start) + data.count(sign + b'"', start) + data.count(b'\n"', start)
    closing = data.endswith(b'"') + data.count(b'"' + sign, start) + data.count(b'"\n', start)
    return opening == closing and opening + closing == quotes


def _parsed(data: memoryview, delimiter: str | None, kinds: Sequence[Any], quotes: int) -> Any:
    """Table of text by pyarrow, None if it refuses."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = list(map(str, range(len(kinds))))
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(column_names=names),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter or " ", quote_char='"' if quotes else False),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict(zip(names, kinds, strict=True)),
                check_utf8=False,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None


def _lengths(column: Any) -> tuple[int, int]:
    """Number of bytes of all cells together, numbers written as Python writes them, and of the longest text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type):
        return written_length(column.to_numpy()), 0
    lengths = pc.binary_length(column)
    return pc.sum(lengths).as_py() or 0, pc.max(lengths).as_py() or 0
