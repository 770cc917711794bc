"""Tables of others: mappings of columns, pandas, and whatever streams Arrow columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, in_short
from hopscale.features.arrow import arrow_errors, arrow_table, one_dictionary
from hopscale.features.table import Column, Lists, column_of, text_array
from hopscale.indexed import is_frame

__all__ = ["columns_of"]

_TABLE = "the node table"


def columns_of(table: Any) -> dict[str, Column]:
    """Columns of a table by their names.

    Parameters
    ----------
    table : mapping of columns, or table
        Tables are data frames of pandas, and whatever has ``__arrow_c_stream__`` (polars, pyarrow, DuckDB), for which
        pyarrow must be there. A series of pandas is a table of one column.

    Examples
    --------
    >>> columns = columns_of({"country": ["FR", "DE"], "age": [31, 40]})
    >>> {name: column.form for name, column in columns.items()}
    {'country': 'text', 'age': 'number'}
    """
    if hasattr(table, "to_frame") and not hasattr(table, "columns"):  # a series of pandas
        table = table.to_frame("value" if table.name is None else table.name)
    if isinstance(table, Mapping):
        found = [(name, column_of(cells, name)) for name, cells in table.items()]
    elif is_frame(table):
        found = [(name, column_of(table.iloc[:, at], name)) for at, name in enumerate(table.columns)]
    elif hasattr(table, "__arrow_c_stream__"):
        found = _arrow_columns(table)
    else:
        raise GraphError(
            "a node table must be a data frame (pandas, polars, pyarrow: anything with __arrow_c_stream__) or a "
            f"mapping of columns, not {type(table).__name__}"
        )
    names = [str(name) for name, _ in found]
    if not names:
        raise GraphError("the node table has no columns")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise GraphError(f"the node table has more than one column {in_short(name)}")
    lengths = {len(column) for _, column in found}
    if len(lengths) > 1:
        sizes = {name: len(column) for name, (_, column) in zip(names, found, strict=True)}
        raise GraphError(f"the columns of the node table differ in length: {in_short(sizes)}")
    return {name: column for name, (_, column) in zip(names, found, strict=True)}


def _arrow_columns(source: Any) -> list[tuple[str, Column]]:
    table = arrow_table(source, _TABLE)
    with arrow_errors(_TABLE):
        return [(name, _arrow_column(table.column(at), name)) for at, name in enumerate(table.column_names)]


def _arrow_column(column: Any, name: str) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, column.type
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return _filled(column, np.dtype(kind.to_pandas_dtype()), name)
    if types.is_decimal(kind):
        return _filled(column.cast(pa.float64()), np.dtype(np.float64), name)
    if types.is_timestamp(kind) or types.is_date(kind):
        days = column.cast(pa.timestamp("s"), safe=False) if types.is_timestamp(kind) else column
        return _filled(days.cast(pa.date32(), safe=False).cast(pa.int32()), np.dtype("datetime64[D]"), name)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
        return _dictionary(column, name)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        items = pc.list_flatten(column)
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64)
        present = pc.is_valid(column).to_numpy()
        sizes = set(np.unique(lengths[present]).tolist())
        if types.is_floating(items.type) and len(sizes) == 1 and sizes != {0} and not items.null_count:
            vectors = items.to_numpy().astype(np.float64).reshape(-1, sizes.pop())
            return Column(np.where(present, np.cumsum(present) - 1, -1).astype(np.int32), vectors)
        if types.is_string(items.type) or types.is_large_string(items.type) or types.is_integer(items.type):
            item = _arrow_column(items, name)
            texts = item.values if item.form == "text" else text_array(list(map(str, np.asarray(item.values).tolist())))
            indptr = np.append(0, np.cumsum(lengths[present]))
            if item.codes.min(initial=0) < 0:  # a missing item is none
                indptr = np.append(0, np.cumsum(item.codes >= 0))[indptr]
            codes = np.where(present, np.cumsum(present) - 1, -1).astype(np.int32)
            return Column(codes, Lists(indptr, item.codes[item.codes >= 0], np.asarray(texts)))
    return column_of(column.to_pylist(), name)


def _filled(column: Any, dtype: np.dtype[Any], name: str) -> Column:
    """Column of numbers, booleans or days, of which some may be missing."""
    if not column.null_count:
        return column_of(column.to_numpy().astype(dtype, copy=False), name)
    import pyarrow.compute as pc

    present = pc.is_valid(column).to_numpy()
    numbers: NDArray[Any] = column.drop_null().to_numpy().astype(dtype, copy=False)
    own = column_of(numbers, name)
    codes = np.full(len(present), -1, dtype=np.int32)
    codes[present] = own.codes
    return Column(codes, own.values)


def _dictionary(column: Any, name: str) -> Column:
    if not len(column):
        return column_of([], name)
    column = one_dictionary(column)
    own = column_of(column.chunk(0).dictionary.to_pylist(), name)  # which joins values that are repeated
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks])
    return Column(np.append(own.codes, np.int32(-1))[codes.astype(np.int64)], own.values)
