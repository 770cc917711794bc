"""Tables through Arrow: columns by name, as names or amounts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, in_short
from hopscale.features.arrow import arrow_errors, arrow_table, one_dictionary
from hopscale.io.assemble import amounts
from hopscale.io.columns import WIDE_TABLE
from hopscale.io.ids import both_ends
from hopscale.io.naming import Names
from hopscale.names import name_array, repeated_name

__all__ = ["ArrowTable"]

_COLUMNS = ": every column must hold text, or numbers, or lists of one of them, under a name of its own"
_SAMPLE = 100  # cells


class ArrowTable:
    """Columns of one table, with errors that say which table, column and row (counted from 0).

    A table that is part of a larger one has its ``first_row`` there.
    """

    def __init__(self, source: Any, role: str, *, first_row: int = 0) -> None:
        self.role, self._table, self.first_row = role, arrow_table(source, role, _COLUMNS), first_row
        import pyarrow as pa

        self._types, self._view = pa.types, pa.string_view() if hasattr(pa, "string_view") else None
        # pandas sends its index along when it is more than a row number; it is not data of the user's.
        kept = [name for name in self._table.column_names if not name.startswith("__index_level_")]
        self.names_of_columns = kept
        if len(kept) < 2:
            raise GraphError(f"{role} needs at least 2 columns, but has {kept}")

    def column(self, name: str | None, position: int, *, nulls: bool = False) -> Any:
        """Column by name, else by position."""
        name = self.names_of_columns[position] if name is None else name
        if self.names_of_columns.count(name) != 1:
            how = "no" if name not in self.names_of_columns else "more than one"
            raise GraphError(f"{self.role} has {how} column {in_short(name)}; its columns are {self.names_of_columns}")
        column = self._table.column(name)
        if column.type == self._view:  # polars' own, of which Arrow knows less
            with arrow_errors(self.role, _COLUMNS):
                column = column.cast("large_string")
        if column.null_count and not nulls:
            row = self.first_row + column.is_null().to_pylist().index(True)
            raise GraphError(
                f"{self.role} has {column.null_count} missing value(s) in column {in_short(name)}; "
                f"the first is in row {row}"
            )
        return column

    def sample(self, name: str) -> list[str]:
        """Some cells of a column as text, but for missing ones."""
        column = self._table.column(self._table.column_names.index(name))
        return [str(value) for value in column.slice(0, _SAMPLE).to_pylist() if value is not None]

    def others(self, first: str | None, second: str | None) -> list[str]:
        """Columns besides two, which are given by name, else the first and the second."""
        used = {given or self.names_of_columns[position] for position, given in enumerate((first, second))}
        return [name for name in self.names_of_columns if name not in used]

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        kind, types = self.column(name, 0, nulls=True).type, self._types
        return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)

    def names(self, name: str | None, position: int) -> Names:
        """Column as names of nodes or features."""
        column = self.column(name, position)
        with arrow_errors(self.role, _COLUMNS):
            return self._named(column)

    def ends(self, first: str, second: str) -> Names:
        """Two columns with the ends of edges, side by side."""
        import pyarrow as pa

        columns = [self.column(name, 0) for name in (first, second)]
        kind, types = columns[0].type, self._types
        content = kind.value_type if types.is_dictionary(kind) else kind
        is_text = types.is_string(content) or types.is_large_string(content)
        if kind != columns[1].type or not (is_text or types.is_integer(kind)):
            return both_ends(self.names(first, 0), self.names(second, 0), self.role)
        if is_text and not types.is_dictionary(kind):
            text = _text_names(columns)
            if text is not None:
                return text.reshaped(2)
        with arrow_errors(self.role, _COLUMNS):  # one below the other, their names are numbered at once
            names = self._named(pa.chunked_array([chunk for column in columns for chunk in column.chunks], kind))
        return replace(names, codes=names.codes.reshape(2, -1).T)

    def coded(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Column of any values as codes, -1 where one is missing, and the values that they stand for."""
        column = self.column(name, 0, nulls=True)
        with arrow_errors(self.role, _COLUMNS):
            column = column.combine_chunks()
            if not self._types.is_dictionary(column.type):
                column = column.dictionary_encode()
            values = np.empty(len(column.dictionary), dtype=object)
            values[:] = column.dictionary.to_pylist()
            return column.indices.fill_null(-1).to_numpy(zero_copy_only=False), values

    def lists(self, name: str | None, position: int) -> tuple[NDArray[Any], Names] | None:
        """Lengths and contents of a column of lists of features, None if the column is none."""
        import pyarrow.compute as pc

        column, types = self.column(name, position, nulls=True), self._types
        kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
        if not any(is_kind(column.type) for is_kind in kinds):
            return None
        with arrow_errors(self.role, _COLUMNS):
            counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
            features = pc.list_flatten(column)
            if types.is_floating(features.type):
                raise GraphError(f"{self.role} has vectors where lists of features are expected. {WIDE_TABLE}")
            if features.null_count:
                row = np.repeat(np.arange(len(counts)), counts)[features.is_null().to_pylist().index(True)]
                row += self.first_row
                raise GraphError(f"{self.role}, row {row}: a feature in the list is missing")
            return counts, self._named(features)

    def amounts(self, name: str) -> NDArray[np.float64]:
        """Column of weights or values."""
        column, types = self.column(name, 0), self._types
        with arrow_errors(self.role, _COLUMNS):
            numeric = types.is_primitive(column.type) and not types.is_temporal(column.type)
            values = column.to_numpy() if numeric else column.to_pylist()
        return amounts(values, name, lambda row: f"{self.role}, row {self.first_row + row},")

    def _named(self, column: Any) -> Names:
        """Arrow column as names of nodes or features; dictionaries are kept as they are."""
        types = self._types
        if types.is_integer(column.type) or types.is_floating(column.type):
            numbers = column.to_numpy()
            missing = np.isnan(numbers)
            if missing.any():
                row = self.first_row + int(np.argmax(missing))
                raise GraphError(f"{self.role}, row {row}: the name of a node or feature is missing (NaN)")
            return Names.of(numbers)
        if not len(column):
            return Names.of([])
        if types.is_string(column.type) or types.is_large_string(column.type):
            text = _text_names([column])
            if text is not None:
                return text
        column = one_dictionary(column)
        # Each name becomes a Python object once, however often it occurs.
        names = column.chunk(0).dictionary
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
        is_text = types.is_string(names.type) or types.is_large_string(names.type)
        vocabulary = name_array(names.to_numpy(zero_copy_only=False) if is_text else names.to_pylist())
        if repeated_name(vocabulary, "names of nodes and features") is None:
            return Names(codes, vocabulary)
        distinct = Names.of(vocabulary.tolist())  # dictionaries of other makers may repeat a value
        return distinct.with_codes(distinct.codes[codes])


def _text_names(columns: list[Any]) -> Names | None:
    """Columns of text without gaps, row by row, None if some of it is not plain."""
    chunks = [column.chunks if hasattr(column, "chunks") else [column] for column in columns]
    return Names.of_chunks([list(map(_text_chunk, own)) for own in chunks]) if chunks[0] else None


def _text_chunk(chunk: Any) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Offsets and bytes of an array of text without gaps."""
    _, offsets, data = chunk.buffers()
    kind = np.int64 if "large" in str(chunk.type) else np.int32
    if not len(chunk) or offsets is None:
        return np.zeros(1, dtype=kind), np.empty(0, dtype=np.uint8)
    at = np.frombuffer(offsets, dtype=kind, count=len(chunk) + 1, offset=chunk.offset * np.dtype(kind).itemsize)
    return at, np.empty(0, dtype=np.uint8) if data is None or not data.size else np.frombuffer(data, dtype=np.uint8)
