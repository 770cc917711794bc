"""Tables of other libraries through Arrow, and errors that name the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np

from hopscale.exceptions import GraphError, HopscaleError, MissingPackageError, in_short

__all__ = ["arrow_errors", "arrow_table", "one_dictionary"]

# Types of NumPy's that Arrow does not take from a column of objects as what they are.
_ODD = {np.datetime64, np.timedelta64, np.complex64, np.complex128, np.clongdouble, np.longdouble, np.float16, np.void}


def arrow_table(source: Any, what: str, advice: str = "") -> Any:
    """Table of Arrow's from anything with ``__arrow_c_stream__``; ``what`` and ``advice`` are for errors."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingPackageError(
            "tables are read through pyarrow, which is not installed: pip install hopscale[parquet]"
        ) from error
    if not hasattr(source, "__arrow_c_stream__"):
        raise GraphError(
            f"{what} must be a table with __arrow_c_stream__ (pandas >= 2.2, polars, pyarrow, DuckDB), "
            f"not {type(source).__name__}"
        )
    _check_columns(source, what)
    with arrow_errors(what, advice):
        table = pa.table(source)
        table.validate(full=True)  # Arrow follows offsets and codes without looking at them
    return table


def one_dictionary(column: Any) -> Any:
    """Column of Arrow's as codes, with one dictionary for all chunks."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column.dictionary_encode()
    # Chunks that were encoded at once have one dictionary in memory: each is looked at once.
    groups = [list(own) for _, own in groupby(column.chunks, key=_memory_of_dictionary)]
    if len(groups) < column.num_chunks:
        ordered = column.type.ordered
        joined = [(pa.concat_arrays([chunk.indices for chunk in own]), own[0].dictionary) for own in groups]
        chunks = [pa.DictionaryArray.from_arrays(codes, values, ordered=ordered) for codes, values in joined]
        column = pa.chunked_array(chunks, type=column.type)
    if column.num_chunks < 2:
        return column
    try:
        return column.unify_dictionaries()
    except (
        pa.ArrowNotImplementedError,
        pa.ArrowInvalid,
    ):  # of some kinds of values; too many for the type of the codes
        return column.cast(column.type.value_type).dictionary_encode()


def _memory_of_dictionary(chunk: Any) -> tuple[Any, ...]:
    """Where the text of a dictionary lies; dictionaries of other values are all taken for different."""
    values = chunk.dictionary
    if str(values.type) not in ("string", "large_string"):
        return (object(),)
    return values.offset, len(values), *(buffer and (buffer.address, buffer.size) for buffer in values.buffers())


@contextmanager
def arrow_errors(what: str, advice: str = "") -> Iterator[None]:
    """Raise errors of Arrow, or of the library that made the table, as a GraphError that names the table."""
    try:
        yield
    except (HopscaleError, MemoryError):
        raise
    except Exception as error:  # of any type: other libraries have their own
        raise GraphError(f"{what} cannot be read through Arrow{advice} ({error})") from error


def _check_columns(source: Any, what: str) -> None:
    """Refuse what crashes on its way to Arrow, or arrives as something else.

    Names with a NUL byte end the process of polars, dates of NumPy's among other objects that of pyarrow, which
    also cuts complex numbers and long doubles to whole numbers; objects of polars arrive as addresses in memory.
    """
    names, kinds = getattr(source, "columns", ()), getattr(source, "dtypes", ())  # of data frames
    for at, (name, kind) in enumerate(zip(names, kinds, strict=False) if isinstance(kinds, Iterable) else ()):
        if "\0" in str(name):
            raise GraphError(f"{what} has a NUL byte in the name of column {in_short(name)}")
        types: set[type] = {object} if str(kind) == "Object" else set()
        if str(kind) == "object" and hasattr(source, "iloc"):
            types = set(map(type, source.iloc[:, at])) & _ODD
        if types:
            raise GraphError(
                f"column {in_short(name)} of {what} holds objects of type {types.pop().__name__}: convert it to text "
                "or numbers"
            )
