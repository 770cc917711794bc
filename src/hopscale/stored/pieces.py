"""Pieces of the inputs: rows as codes into the piece's own names, and these names as a sorted run.

A piece is read by the code that reads a whole file, so that names, missing cells and amounts mean the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.compute.chunks import ranges
from hopscale.exceptions import FileFormatError, in_short
from hopscale.io.arrow import ArrowTable
from hopscale.io.columns import all_whole
from hopscale.io.ids import like_edges
from hopscale.io.naming import Names, united
from hopscale.io.parquet import INDEX, parquet_errors, plain_columns
from hopscale.io.tables import feature_entries
from hopscale.stored.arrays import Bundle, decoded_text, encoded_text, save_bundle
from hopscale.stored.runs import piece, piece_path, run_of

__all__ = ["KEYS", "PLAN", "encode_edges", "encode_features", "text_hashes", "text_names", "whole_features"]

PLAN = "plan.json"
KEYS = {"whole": np.int64, "text": np.uint64}  # of runs of names: the numbers, or hashes of the text
_BATCH = 1 << 16  # rows that are decoded at once
_BUFFER = 1 << 20  # bytes of a column that are read at once
_TEXT = 256  # bytes of text that a row may have, of which memory is set aside for more
_HASHED = 1 << 20  # bytes of text that are hashed at once
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd, of no pattern


def encode_edges(work: str, number: int) -> dict[str, Any]:
    """Write the codes, weights and names of a piece of the edges."""
    plan = _plan(work)
    source = plan["edges"]
    first, second, weight = (source["columns"][role] for role in ("source", "target", "weight"))
    ends, weights = [], []
    for table in _segments(source, number):
        ends.append(_checked(table.ends(first, second), source["kinds"]["source"], table))
        if weight is not None:
            weights.append(table.amounts(weight))
    names, codes = united(*ends)
    text = _save_names(piece_path(work, "nodes", number), names, plan["kinds"]["nodes"])
    _save_codes(piece_path(work, "edges", number), np.concatenate(codes), weights)
    return {"rows": sum(map(len, codes)), "nodes": [len(names), text]}


def encode_features(work: str, number: int) -> dict[str, Any]:
    """Write the codes, values and names of a piece of the features."""
    plan = _plan(work)
    source = plan["features"]
    node, feature, value = (source["columns"][role] for role in ("node", "feature", "value"))
    like = np.array([0] if plan["kinds"]["nodes"] == "whole" else [""], dtype=object)
    listed, features, rows, values, begin = [], [], [], [], 0
    for table in _segments(source, number):
        entries = feature_entries(table, "index" if node == INDEX else node, feature, value)
        nodes = _checked(entries.listed, source["kinds"]["node"], table)
        listed.append(like_edges(nodes, like, table.role))
        features.append(_checked(entries.features, source["kinds"]["feature"], table))
        own = np.arange(len(nodes)) if entries.rows is None else entries.rows
        rows.append((own + begin).astype(np.int32))
        begin += len(nodes)
        if entries.values is not None:
            values.append(entries.values)
    node_names, node_codes = united(*listed)
    names, codes = united(*features)
    number_of_nodes = len(plan["edges"]["starts"]) - 1 + number  # pieces of the features follow those of the edges
    node_text = _save_names(piece_path(work, "nodes", number_of_nodes), node_names, plan["kinds"]["nodes"])
    text = _save_names(piece_path(work, "names", number), names, plan["kinds"]["features"])
    nodes_of = np.concatenate(node_codes)[np.concatenate(rows)]
    _save_codes(piece_path(work, "features", number), np.column_stack([nodes_of, np.concatenate(codes)]), values)
    is_whole = plan["kinds"]["features"] == "text" and all_whole(names.tolist())
    counts = {"nodes": [len(node_names), node_text], "names": [len(names), text]}
    return {"rows": len(nodes_of), **counts, "whole": is_whole}


def whole_features(work: str, number: int) -> list[int]:
    """Make whole numbers of the names of features in a piece, which are text, and numbers throughout."""
    numbers = list(map(int, text_names(piece(work, "names", number)).tolist()))
    large = next((each for each in numbers if not -(2**63) <= each < 2**63), None)
    if large is not None:
        raise FileFormatError(
            f"names of features are all whole numbers, but {in_short(large)} does not fit into 64 bits: put a letter "
            "before them, so that they are text"
        )
    names, codes = np.unique(np.array(numbers, dtype=np.int64), return_inverse=True)
    recoded = codes.astype(np.int32)  # "0" and "-0" are one
    save_bundle(piece_path(work, "whole-names", number), **run_of(names), recoded=recoded)
    return [len(names), 0]


def text_names(names: Bundle, codes: NDArray[Any] | None = None) -> NDArray[Any]:
    """Names of a piece, which are text, by their codes, or all of them in the order of their codes."""
    order = names["order"]
    listed = decoded_text(names["text"], names["offsets"], "a piece of the input")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return listed[place if codes is None else place[codes]]


def _plan(work: str) -> dict[str, Any]:
    return dict(json.loads(Path(work, PLAN).read_bytes()))


def _segments(source: dict[str, Any], number: int) -> Iterator[ArrowTable]:
    """Rows of a piece, file by file."""
    begin, end = source["starts"][number], source["starts"][number + 1]
    for file, first, last in source["segments"][begin:end]:
        path, size, changed = source["files"][file]
        with parquet_errors(path):
            found = os.stat(path)
            if [found.st_size, found.st_mtime_ns] != [size, changed]:
                raise FileFormatError(f"{path} has changed since the work began: run this again to start anew")
            table = _rows(path, [name for name in source["columns"].values() if name is not None], first, last)
        yield ArrowTable(table, path, first_row=first)


def _rows(path: str, columns: Sequence[str], first: int, last: int) -> Any:
    """Some rows of a file; text that repeats comes as codes and a dictionary."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as plain:
        leaves = [plain.schema.column(at) for at in range(len(plain.schema.names))]
        texts = [leaf.path for leaf in leaves if leaf.path in columns and str(leaf.logical_type) == "String"]
        counts = [plain.metadata.row_group(at).num_rows for at in range(plain.metadata.num_row_groups)]
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    groups = [at for at in range(len(counts)) if starts[at] < last and starts[at + 1] > first]
    batches, at = [], int(starts[groups[0]])
    options = {"pre_buffer": False, "buffer_size": _BUFFER}
    with pq.ParquetFile(path, read_dictionary=texts, **options) as coded:
        held = _TEXT * sum(counts[group] for group in groups)
        plain = set(plain_columns(coded, texts, held, groups))
    with pq.ParquetFile(path, read_dictionary=[name for name in texts if name not in plain], **options) as file:
        for batch in file.iter_batches(_BATCH, row_groups=groups, columns=list(columns), use_threads=False):
            begin, end = max(first - at, 0), min(last - at, batch.num_rows)
            if begin < end:
                batches.append(batch.slice(begin, end - begin))
            at += batch.num_rows
            if at >= last:
                break
    table = pa.Table.from_batches(batches)
    if sorted(table.column_names) != sorted(columns) or len(table) != last - first:
        raise FileFormatError(f"{path} does not give the columns {list(columns)} of rows {first} to {last}")
    return table.rename_columns(["index" if name == INDEX else name for name in table.column_names])


def _checked(names: Names, kind: str, table: ArrowTable) -> Names:
    """Names, ordered, that are whole numbers of 64 bits, or text; others are refused with their row."""
    names = names.ordered()
    if kind == "text" or not len(names) or names.vocabulary.dtype == np.int64:
        return names
    whole = [isinstance(name, int) and -(2**63) <= name < 2**63 for name in names.vocabulary.tolist()]
    place = int(np.argmin(np.array(whole)[names.codes].ravel()))
    row = table.first_row + place // (names.codes.shape[1] if names.codes.ndim == 2 else 1)
    raise FileFormatError(
        f"{table.role}, row {row}: {in_short(names.at(place))} is neither text nor a whole number of 64 bits, as names "
        "of nodes and features of a stored graph must be: write them as text"
    )


def _save_codes(path: Path, codes: NDArray[Any], amounts: list[NDArray[np.float64]]) -> None:
    """Write two codes a row, and amounts if there are any."""
    flat = codes.astype(np.int32, copy=False).ravel()
    save_bundle(path, codes=flat, **({"amounts": np.concatenate(amounts)} if amounts else {}))


def _save_names(path: Path, names: NDArray[Any], kind: str) -> int:
    """Write distinct names as a run: whole numbers are their own keys, text has hashes. Returns the bytes of text."""
    if kind == "whole":
        save_bundle(path, **run_of(names.astype(np.int64, copy=False)))
        return 0
    text, offsets = encoded_text(names.tolist())
    hashes = text_hashes(text, offsets)
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    sorted_text, sorted_offsets = _permuted(text, offsets, order)
    save_bundle(path, **run_of(hashes[order]), order=order, text=sorted_text, offsets=sorted_offsets)
    return len(text)


def _permuted(
    text: NDArray[np.uint8], offsets: NDArray[np.int64], order: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Names in another order."""
    lengths = np.diff(offsets)[order]
    moved = np.concatenate([[0], np.cumsum(lengths)])
    out = np.empty(len(text), dtype=np.uint8)
    for begin, end in ranges(len(order), _HASHED // 16):
        piece = lengths[begin:end]
        within = np.arange(moved[begin], moved[end]) - np.repeat(moved[begin:end], piece)
        out[moved[begin] : moved[end]] = text[np.repeat(offsets[order[begin:end]], piece) + within]
    return out, moved


def text_hashes(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number of 64 bits for each name, the same on every machine.

    >>> text_hashes(*encoded_text(["a", "b", "a"])).tolist()[0] == text_hashes(*encoded_text(["a"])).tolist()[0]
    True
    """
    lengths = np.diff(offsets)
    powers = np.full(int(lengths.max(initial=0)) + 1, _MULTIPLIER, dtype=np.uint64)
    powers[0] = 1
    powers = np.multiply.accumulate(powers)
    hashes = lengths.astype(np.uint64)
    # Whole names, about as many bytes of text at a time.
    cuts = np.unique(np.searchsorted(offsets, np.arange(0, len(text) + _HASHED, _HASHED)).clip(0, len(lengths)))
    for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        low, own = int(offsets[begin]), offsets[begin : end + 1]
        within = np.arange(low, int(own[-1])) - np.repeat(own[:-1], lengths[begin:end])
        terms = (text[low : int(own[-1])].astype(np.uint64) + np.uint64(1)) * powers[within]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.add.accumulate(terms)])
        hashes[begin:end] += sums[own[1:] - low] - sums[own[:-1] - low]
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xFF51AFD7ED558CCD)
    return hashes ^ (hashes >> np.uint64(33))
