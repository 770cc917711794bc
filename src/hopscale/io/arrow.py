"""Tables through Arrow: columns by name, as names or amounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, HopscaleError, MissingPackageError, in_short
from hopscale.graph import name_array, repeated_name
from hopscale.io.assemble import amounts
from hopscale.io.columns import WIDE_TABLE
from hopscale.io.naming import Names

__all__ = ["ArrowTable"]

# Types of NumPy's that Arrow does not take from a column of objects as what they are.
_ODD = {np.datetime64, np.timedelta64, np.complex64, np.complex128, np.clongdouble, np.longdouble, np.float16, np.void}


class ArrowTable:
    """Columns of one table, with errors that say which table, column and row (counted from 0)."""

    def __init__(self, source: Any, role: str) -> None:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingPackageError(
                "tables are read through pyarrow, which is not installed: pip install hopscale[parquet]"
            ) from error
        if not hasattr(source, "__arrow_c_stream__"):
            raise GraphError(
                f"{role} must be a table with __arrow_c_stream__ (pandas >= 2.2, polars, pyarrow, DuckDB), "
                f"not {type(source).__name__}"
            )
        self.role, self._pa = role, pa
        self._check_columns(source)
        with self._in_words():
            self._table = pa.table(source)
            self._table.validate(full=True)  # Arrow follows offsets and codes without looking at them
        # pandas sends its index along when it is more than a row number; it is not data of the user's.
        kept = [name for name in self._table.column_names if not name.startswith("__index_level_")]
        self.names_of_columns = kept
        if len(kept) < 2:
            raise GraphError(f"{role} needs at least 2 columns, but has {kept}")

    def _check_columns(self, source: Any) -> None:
        """Refuse what crashes on its way to Arrow, or arrives as something else.

        Names with a NUL byte end the process of polars, dates of NumPy's among other objects that of pyarrow, which
        also cuts complex numbers and long doubles to whole numbers; objects of polars arrive as addresses in memory.
        """
        names, kinds = getattr(source, "columns", ()), getattr(source, "dtypes", ())  # of data frames
        for at, (name, kind) in enumerate(zip(names, kinds, strict=False) if isinstance(kinds, Iterable) else ()):
            if "\0" in str(name):
                raise GraphError(f"{self.role} has a NUL byte in the name of column {in_short(name)}")
            types: set[type] = {object} if str(kind) == "Object" else set()
            if str(kind) == "object" and hasattr(source, "iloc"):
                types = set(map(type, source.iloc[:, at])) & _ODD
            if types:
                raise GraphError(
                    f"column {in_short(name)} of {self.role} holds objects of type {types.pop().__name__}: convert it "
                    "to text or numbers"
                )

    def column(self, name: str | None, position: int, *, nulls: bool = False) -> Any:
        """Column by name, else by position."""
        name = self.names_of_columns[position] if name is None else name
        if self.names_of_columns.count(name) != 1:
            how = "no" if name not in self.names_of_columns else "more than one"
            raise GraphError(f"{self.role} has {how} column {in_short(name)}; its columns are {self.names_of_columns}")
        column = self._table.column(name)
        if column.null_count and not nulls:
            row = column.is_null().to_pylist().index(True)
            raise GraphError(
                f"{self.role} has {column.null_count} missing value(s) in column {in_short(name)}; "
                f"the first is in row {row}"
            )
        return column

    def others(self, first: str | None, second: str | None) -> list[str]:
        """Columns besides two, which are given by name, else the first and the second."""
        used = {given or self.names_of_columns[position] for position, given in enumerate((first, second))}
        return [name for name in self.names_of_columns if name not in used]

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        kind, types = self.column(name, 0, nulls=True).type, self._pa.types
        return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)

    def names(self, name: str | None, position: int) -> Names:
        """Column as names of nodes or features."""
        column = self.column(name, position)
        with self._in_words():
            return self._named(column)

    def coded(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Column of any values as codes, -1 where one is missing, and the values that they stand for."""
        column = self.column(name, 0, nulls=True)
        with self._in_words():
            column = column.combine_chunks()
            if not self._pa.types.is_dictionary(column.type):
                column = column.dictionary_encode()
            values = np.empty(len(column.dictionary), dtype=object)
            values[:] = column.dictionary.to_pylist()
            return column.indices.fill_null(-1).to_numpy(zero_copy_only=False), values

    def lists(self, name: str | None, position: int) -> tuple[NDArray[Any], Names] | None:
        """Lengths and contents of a column of lists of features, None if the column is none."""
        import pyarrow.compute as pc

        column, types = self.column(name, position, nulls=True), self._pa.types
        kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
        if not any(is_kind(column.type) for is_kind in kinds):
            return None
        with self._in_words():
            counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
            features = pc.list_flatten(column)
            if types.is_floating(features.type):
                raise GraphError(f"{self.role} has vectors where lists of features are expected. {WIDE_TABLE}")
            if features.null_count:
                row = np.repeat(np.arange(len(counts)), counts)[features.is_null().to_pylist().index(True)]
                raise GraphError(f"{self.role}, row {row}: a feature in the list is missing")
            return counts, self._named(features)

    def amounts(self, name: str) -> NDArray[np.float64]:
        """Column of weights or values."""
        column, types = self.column(name, 0), self._pa.types
        with self._in_words():
            numeric = types.is_primitive(column.type) and not types.is_temporal(column.type)
            values = column.to_numpy() if numeric else column.to_pylist()
        return amounts(values, name, lambda row: f"{self.role}, row {row},")

    def _named(self, column: Any) -> Names:
        """Arrow column as names of nodes or features; dictionaries are kept as they are."""
        types = self._pa.types
        if types.is_integer(column.type) or types.is_floating(column.type):
            numbers = column.to_numpy()
            missing = np.isnan(numbers)
            if missing.any():
                row = int(np.argmax(missing))
                raise GraphError(f"{self.role}, row {row}: the name of a node or feature is missing (NaN)")
            return Names.of(numbers)
        if not len(column):
            return Names.of([])
        if not types.is_dictionary(column.type):
            column = column.dictionary_encode()  # with one dictionary for all chunks
        elif column.num_chunks > 1:
            try:
                column = column.unify_dictionaries()
            except self._pa.ArrowNotImplementedError:  # as for some kinds of values
                column = column.cast(column.type.value_type).dictionary_encode()
        # Each name becomes a Python object once, however often it occurs.
        names = column.chunk(0).dictionary.to_pylist()
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
        vocabulary = name_array(names)
        if repeated_name(vocabulary, "names of nodes and features") is None:
            return Names(codes, vocabulary)
        distinct = Names.of(names)  # dictionaries of other makers may repeat a value
        return distinct.with_codes(distinct.codes[codes])

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn what Arrow, or the maker of the table, has against its content into an error of ours."""
        try:
            yield
        except (HopscaleError, MemoryError):
            raise
        except Exception as error:  # whatever the table's own code has to say
            raise GraphError(
                f"{self.role} cannot be read through Arrow: every column must hold text, or numbers, or lists of one "
                f"of them, under a name of its own ({error})"
            ) from error
