"""The way out: vectors as tables and as word2vec text, for whatever comes next."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.atomic import replacing
from hopscale.checks import as_path
from hopscale.exceptions import GraphError, ParameterError, Setting, in_short
from hopscale.names import name_array

__all__ = [
    "FORMATS",
    "check_exportable",
    "name_text",
    "needed_pyarrow",
    "quoted",
    "vector_format",
    "write_vectors",
]

_SUFFIXES = {
    ".csv": "csv",
    ".npz": "npz",
    ".parquet": "parquet",
    ".tsv": "tsv",
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".w2v": "word2vec",
}

# Numbers turned into text at once: enough to be fast, few enough to be small beside the vectors.
_CHUNK = 1 << 20


def write_vectors(
    path: str | os.PathLike[str],
    ids: Sequence[Hashable] | NDArray[Any],
    vectors: ArrayLike,
    *,
    columns: Iterable[str] | None = None,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write vectors with the names of their rows.

    The file appears whole or not at all; one that was there before is replaced.

    Parameters
    ----------
    path : path-like
    ids : sequence of hashable of length n
        Name of each row. Whole numbers stay numbers where the format has them. Where names must be text,
        tuples become JSON lists (``["node",7]``) and anything else its ``str``.
    vectors : array-like of shape (n, d)
        Finite; float32 by the time they are written, which text holds exactly (nine digits).
    columns : iterable of str, optional
        Names of the dimensions; ``x0``, ``x1``, ... by default.
    format : {"csv", "tsv", "parquet", "npz", "word2vec"}, optional
        By default what the suffix says; ``.txt``, ``.vec`` and ``.w2v`` are word2vec.

        csv, tsv
            A header, ``id`` and the names of the dimensions, then a row each.
        parquet
            The same as columns, ``id`` int64 or text; needs ``pip install "hopscale[parquet]"``.
        npz
            Arrays ``ids``, ``vectors`` and ``columns``; no pickle.
        word2vec
            Text that gensim's ``KeyedVectors.load_word2vec_format`` reads. It divides names from
            numbers by spaces, so that names with white space in them, or empty ones, are refused: another
            name would not be found again.

    Raises
    ------
    ParameterError
        If the format is not known, or cannot hold these names or numbers. Nothing is written then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hopscale.io.vectors import write_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "vectors.csv")
    ...     write_vectors(file, ["ann", "bob"], [[0.5, 1.0], [2.0, -0.1]])
    ...     print(file.read_text(), end="")
    id,x0,x1
    ann,0.5,1
    bob,2,-0.100000001
    """
    chosen = vector_format(path, format)
    names = check_exportable(ids, chosen)
    matrix = _checked_matrix(vectors, len(names))
    header = _checked_header(columns, matrix.shape[1])
    with replacing(path) as temporary:
        _WRITERS[chosen](temporary, names, matrix, header)


def vector_format(path: str | os.PathLike[str], name: str | None = None) -> str:
    """Format of a file of vectors, by name or else by suffix, if it can be written here.

    Examples
    --------
    >>> vector_format("vectors.vec")
    'word2vec'
    """
    suffix = as_path(path).suffix.lower()
    chosen = _SUFFIXES.get(suffix) if name is None else name
    if chosen is None:
        raise ParameterError(
            f"{os.fspath(path)!r} does not say in which format vectors are to be written: let it end in one of "
            f"{', '.join(_SUFFIXES)}, or give ",
            Setting("format"),
        )
    if not isinstance(chosen, str) or chosen not in _WRITERS:
        raise ParameterError(f"format must be one of {', '.join(map(repr, _WRITERS))}, not {in_short(name)}")
    if chosen == "parquet":
        needed_pyarrow()
    return chosen


def check_exportable(ids: Sequence[Hashable] | NDArray[Any], format_name: str) -> NDArray[Any]:
    """Names as they will be written, int64 or text, refusing those that a format cannot hold."""
    try:
        names = name_array(ids)
    except GraphError as error:
        raise ParameterError(str(error)) from error
    if names.dtype == np.int64:
        return names
    try:
        text = list(map(name_text, names.tolist()))
    except (TypeError, ValueError, RecursionError) as error:  # thousands of digits, or of tuples in tuples
        raise ParameterError(f"a name cannot be written as text ({error})") from error
    if not all(type(name) is str for name in names.tolist()):
        _refuse_ambiguous(names.tolist(), text)
    for name in text:
        if "\0" in name or not _is_unicode(name):
            raise ParameterError(f"the name {in_short(name)} cannot be written: it holds a NUL or half a character")
        if format_name == "word2vec" and name.split() != [name]:
            raise ParameterError(
                f"word2vec text cannot hold the name {in_short(name)}: names there must not be empty or have white "
                "space; write .csv, .tsv, .parquet or .npz instead"
            )
    return name_array(text)


def name_text(name: Hashable) -> str:
    """Name of a node or feature as text.

    Examples
    --------
    >>> name_text("tea"), name_text(7), name_text(("node", 7))
    ('tea', '7', '["node",7]')
    """
    if isinstance(name, tuple):  # no space after the comma: word2vec text could not hold it
        return json.dumps(name, default=str, ensure_ascii=False, separators=(",", ":"))
    return name if isinstance(name, str) else str(name)


def _is_unicode(name: str) -> bool:
    """False where surrogates stand alone, as in file names that could not be decoded."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refuse_ambiguous(names: list[Hashable], text: list[str]) -> None:
    seen: dict[str, Hashable] = {}
    for name, written in zip(names, text, strict=True):
        if written in seen:
            raise ParameterError(
                f"the names {in_short(seen[written])} and {in_short(name)} would both be written as {in_short(written)}"
            )
        seen[written] = name


def _checked_header(columns: Iterable[str] | None, d: int) -> list[str]:
    if columns is None:
        return [f"x{i}" for i in range(d)]
    try:
        header = [] if isinstance(columns, str) else list(columns)
    except TypeError:
        header = []
    plain = all(isinstance(name, str) and "\0" not in name and _is_unicode(name) for name in header)
    if not plain or len(header) != d or len({"id", *header}) <= d:
        raise ParameterError(f"columns must be {d} different names other than 'id', not {in_short(columns)}")
    return header


def _checked_matrix(vectors: ArrayLike, count: int) -> NDArray[np.float32]:
    try:
        given = np.asarray(vectors)
        if isinstance(vectors, np.ma.MaskedArray) or given.dtype.kind not in "biufO":
            raise ParameterError(f"vectors must be plain real numbers, not {type(vectors).__name__} of {given.dtype}")
        with np.errstate(over="ignore"):  # answered below
            matrix = given.astype(np.float32, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"vectors must be an array of numbers, a row for each name ({error})") from error
    if matrix.ndim != 2 or len(matrix) != count:
        raise ParameterError(f"vectors must be one row for each of {count} names, but have shape {matrix.shape}")
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise ParameterError(f"the vector in row {int(np.argmin(finite))} is not finite")
    return matrix


def _write_delimited(
    path: Path, names: NDArray[Any], matrix: NDArray[np.float32], header: list[str], delimiter: str
) -> None:
    first = quoted(["id", *header], delimiter)
    shown = names.tolist() if names.dtype == np.int64 else quoted(names.tolist(), delimiter)
    _write_lines(path, delimiter.join(first), shown, matrix, delimiter)


def _write_word2vec(path: Path, names: NDArray[Any], matrix: NDArray[np.float32], header: list[str]) -> None:
    _write_lines(path, f"{matrix.shape[0]} {matrix.shape[1]}", names.tolist(), matrix, " ")


def _write_lines(path: Path, first: str, names: list[Any], matrix: NDArray[np.float32], delimiter: str) -> None:
    # Nine digits tell every float32 from its neighbours. One format for the whole row took 235 ns a
    # number, as long as Arrow takes; shortest forms by NumPy took 640 to 1,000 ns.
    row = delimiter.join(["%s", *["%.9g"] * matrix.shape[1]]) + "\n"
    step = max(1, _CHUNK // max(1, matrix.shape[1]))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(first + "\n")
        for begin in range(0, len(names), step):
            chunk = zip(names[begin : begin + step], matrix[begin : begin + step].tolist(), strict=True)
            file.write("".join([row % (name, *numbers) for name, numbers in chunk]))


def quoted(cells: list[str], delimiter: str) -> list[str]:
    """Cells as a delimited file wants them, quoted where they must be."""
    special = {delimiter, '"', "\n", "\r"}
    return [f'"{cell.replace(chr(34), chr(34) * 2)}"' if not cell or special & set(cell) else cell for cell in cells]


def _write_npz(path: Path, names: NDArray[Any], matrix: NDArray[np.float32], header: list[str]) -> None:
    ids = names if names.dtype == np.int64 else names.astype(np.str_)
    with path.open("wb") as file:  # given a name, NumPy would add a suffix
        np.savez(file, ids=ids, vectors=matrix, columns=np.array(header, dtype=np.str_))


def _write_parquet(path: Path, names: NDArray[Any], matrix: NDArray[np.float32], header: list[str]) -> None:
    pa = needed_pyarrow()
    import pyarrow.parquet as pq

    ids = pa.array(names if names.dtype == np.int64 else names.tolist())
    dimensions = [pa.array(np.ascontiguousarray(column)) for column in matrix.T]
    # Vectors are close to noise: dictionaries would only cost time.
    pq.write_table(pa.table([ids, *dimensions], names=["id", *header]), path, use_dictionary=False)


def needed_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ParameterError('Parquet files need pyarrow: pip install "hopscale[parquet]"') from error
    return pyarrow


_WRITERS: dict[str, Callable[[Path, NDArray[Any], NDArray[np.float32], list[str]], None]] = {
    "csv": partial(_write_delimited, delimiter=","),
    "npz": _write_npz,
    "parquet": _write_parquet,
    "tsv": partial(_write_delimited, delimiter="\t"),
    "word2vec": _write_word2vec,
}

FORMATS = tuple(_WRITERS)
