"""The way out of predictions: tables of names and numbers, a node a row."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.atomic import replacing
from hopscale.checks import as_path
from hopscale.exceptions import ParameterError, Setting, in_short
from hopscale.io.vectors import check_exportable, needed_pyarrow, quoted

__all__ = ["FORMATS", "name_column", "table_format", "write_table"]

_SUFFIXES = {".csv": "csv", ".parquet": "parquet", ".tsv": "tsv"}

Columns = Mapping[str, NDArray[Any]]


def write_table(
    path: str | os.PathLike[str],
    columns: Columns,
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write columns of equal length: names, as :func:`name_column` has them, or float64.

    The file appears whole or not at all; one that was there before is replaced.

    Parameters
    ----------
    path : path-like
    columns : mapping of str to ndarray
        By their names. Text holds nine digits of a number, Parquet all of them; NaN is an empty cell.
    format : {"csv", "tsv", "parquet"}, optional
        By default what the suffix says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "predictions.csv")
    ...     write_table(file, {"id": name_column(["ann", "bob"]), "probability": np.array([0.5, 1.0])})
    ...     print(file.read_text(), end="")
    id,probability
    ann,0.5
    bob,1
    """
    chosen = table_format(path, format)
    with replacing(path) as temporary:
        _WRITERS[chosen](temporary, columns)


def name_column(names: Any) -> NDArray[Any]:
    """Names as a table holds them: int64, or text. One name may stand in several rows; None is an empty cell.

    >>> name_column(["tea", None, ("go", 9), "tea"]).tolist()
    ['tea', None, '["go",9]', 'tea']
    """
    listed = np.asarray(names, dtype=object).tolist() if not isinstance(names, list) else names
    distinct = [name for name in dict.fromkeys(listed) if name is not None]
    written = dict(zip(distinct, check_exportable(distinct, "csv").tolist(), strict=True))
    column = np.empty(len(listed), dtype=object)
    column[:] = [None if name is None else written[name] for name in listed]
    whole = bool(listed) and all(type(name) is int for name in column.tolist())
    return column.astype(np.int64) if whole else column


def table_format(path: str | os.PathLike[str], name: str | None = None) -> str:
    """Format of a table, by name or else by suffix, if it can be written here.

    >>> table_format("predictions.tsv")
    'tsv'
    """
    chosen = _SUFFIXES.get(as_path(path).suffix.lower()) if name is None else name
    if chosen is None:
        raise ParameterError(
            f"{os.fspath(path)!r} does not say in which format predictions are to be written: let it end in one of "
            f"{', '.join(_SUFFIXES)}, or give ",
            Setting("format"),
        )
    if chosen not in _WRITERS:
        raise ParameterError(f"format must be one of {', '.join(map(repr, _WRITERS))}, not {in_short(name)}")
    if chosen == "parquet":
        needed_pyarrow()
    return chosen


def _write_delimited(path: Path, columns: Columns, delimiter: str) -> None:
    cells = []
    for column in columns.values():
        if column.dtype.kind == "f":
            cells.append(["" if number != number else f"{number:.9g}" for number in column.tolist()])
        elif column.dtype.kind == "i":
            cells.append(list(map(str, column.tolist())))
        else:
            cells.append(["" if name is None else quoted([str(name)], delimiter)[0] for name in column.tolist()])
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(delimiter.join(quoted(list(columns), delimiter)) + "\n")
        file.writelines(delimiter.join(row) + "\n" for row in zip(*cells, strict=True))


def _write_parquet(path: Path, columns: Columns) -> None:
    pa = needed_pyarrow()
    import pyarrow.parquet as pq

    arrays = []
    for column in columns.values():
        if column.dtype.kind in "if":
            arrays.append(pa.array(column, from_pandas=True))  # NaN is no value
        else:
            whole = {type(name) for name in column.tolist()} == {int, type(None)}
            arrays.append(pa.array(column.tolist(), type=pa.int64() if whole else pa.string()))
    pq.write_table(pa.table(arrays, names=list(columns)), path)


_WRITERS: dict[str, Callable[[Path, Columns], None]] = {
    "csv": partial(_write_delimited, delimiter=","),
    "parquet": _write_parquet,
    "tsv": partial(_write_delimited, delimiter="\t"),
}

FORMATS = tuple(_WRITERS)
