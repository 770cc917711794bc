"""Random graphs as partitioned Parquet, and as the one file that the parts make."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hopscale import AttributedGraph, read_graph


def write_parts(table: pa.Table, folder: Path, cuts: list[int], **options: Any) -> None:
    """A table in parts that end at ``cuts``, some of them empty perhaps."""
    folder.mkdir(parents=True)
    places = [0, *cuts, len(table)]
    for part, (begin, end) in enumerate(pairwise(places)):
        pq.write_table(table.slice(begin, end - begin), folder / f"part-{part:03d}.parquet", **options)


def random_tables(random: np.random.Generator) -> tuple[pa.Table, pa.Table | None]:
    """Edges and perhaps features, of any kind that a stored graph can have."""
    n, m = int(random.integers(1, 30)), int(random.integers(1, 80))
    names = _names(random, n)
    kind = _arrow_kind(random, names)
    edges = {
        "source": _column(names, random.integers(0, n, m), kind),
        "target": _column(names, random.integers(0, n, m), kind),
    }
    if random.random() < 0.5:
        edges["weight"] = _amounts(random, m)
    if random.random() < 0.2:
        edges["note"] = pa.array(["x"] * m)
    return pa.table(edges), _features(random, names, kind) if random.random() < 0.8 else None


def _features(random: np.random.Generator, names: list[Any], kind: pa.DataType) -> pa.Table:
    q, entries = int(random.integers(1, 12)), int(random.integers(0, 60))
    # Nodes that no edge names are among them; numbers may be text here, and text of numbers may be numbers.
    others = [*names, *(["new", "é"] if isinstance(names[0], str) else [997, -998])]
    if isinstance(names[0], int) and random.random() < 0.3:
        others, kind = list(map(str, others)), pa.string()
    features: list[Any] = list(range(q)) if random.random() < 0.4 else [f"f{at}" for at in range(q)]
    if random.random() < 0.3:
        features = ["10", "9", "-0", "0", "-7"]  # text of whole numbers, two of which are one
    column = pa.array([features[at] for at in random.integers(0, len(features), entries)])
    table = {"who": _column(others, random.integers(0, len(others), entries), kind), "what": column}
    if random.random() < 0.25:
        lists = [
            [features[at] for at in random.integers(0, len(features), length)]
            for length in random.integers(0, 4, entries)
        ]
        listed = [None if random.random() < 0.1 else own for own in lists]
        table["what"] = pa.array(listed, pa.list_(pa.array(features).type))
    elif random.random() < 0.4:
        table["value"] = _amounts(random, entries)
    return pa.table(table)


def _names(random: np.random.Generator, n: int) -> list[Any]:
    if random.random() < 0.4:
        return random.choice(np.arange(-50, 400), n, replace=False).tolist()
    if random.random() < 0.2:
        return [str(number) for number in random.permutation(n)]  # text of numbers stays text among nodes
    return [f"{'né'[at % 2]}{at}" * int(random.integers(1, 4)) for at in random.permutation(n)]


def _arrow_kind(random: np.random.Generator, names: list[Any]) -> pa.DataType:
    whole = [pa.int64(), pa.int16(), pa.float64(), pa.dictionary(pa.int8(), pa.int64())]
    text = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    kinds = text if isinstance(names[0], str) else whole
    return kinds[int(random.integers(len(kinds)))]


def _column(names: list[Any], at: np.ndarray, kind: pa.DataType) -> pa.Array:
    values = [names[each] for each in at]
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    return pa.array(values, kind)


def _amounts(random: np.random.Generator, count: int) -> pa.Array:
    amounts = random.choice([0.0, 0.1, 0.2, 1e-3, 1e7, 1.0, 3.0], count)
    return pa.array(amounts) if random.random() < 0.7 else pa.array(np.ones(count, dtype=np.int32))


def whole_graph(edges: pa.Table, features: pa.Table | None, folder: Path, **options: Any) -> AttributedGraph:
    """The graph that :func:`hopscale.read_graph` reads from one file of all rows."""
    folder.mkdir(exist_ok=True)
    paths = [None if table is None else folder / f"{at}.parquet" for at, table in enumerate((edges, features))]
    for path, table in zip(paths, (edges, features), strict=True):
        if path is not None:
            pq.write_table(table, path)
    return read_graph(*paths, **options)
