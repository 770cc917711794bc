"""How long files and objects take to become a graph, against what reading them alone takes.

All sources hold the same generated graph of 100,000 nodes. "Alone" is what pyarrow or json needs to read the file into
its own objects: no graph is built. Two sources are shown a second time, against what would be done by hand after
reading: encoding the columns of a table, and building a symmetric matrix. Every source has a process of its own, in
which the two take turns; the quickest turn of each counts, as other processes can only add to a time.

    python benchmarks/loading_speed.py [--repeats 9] [--edges 2000000] [--entries 2000000] [--only "CSV, features"]

With ``--only`` the sources whose names have a text in them are measured and printed, and no results are written.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

from hopscale import from_edges, from_tables, read_graph
from measure import in_new_process, markdown, measured, write

NODES, FEATURES = 100_000, 5_000


def write_files(folder: Path, edges: int, entries: int) -> None:
    """One graph in all formats."""
    rng = np.random.default_rng(0)
    names = np.array([f"user_{node * 7919 % 1_000_003}" for node in range(NODES)], dtype=object)
    tags = np.array([f"tag_{tag}" for tag in range(FEATURES)], dtype=object)
    ends = rng.integers(0, NODES, (edges, 2))
    nodes, features = np.sort(rng.integers(0, NODES, entries)), rng.integers(0, FEATURES, entries)
    plain = arrow_csv.WriteOptions(quoting_style="none")
    text = pa.table({"source": names[ends[:, 0]], "target": names[ends[:, 1]]})
    arrow_csv.write_csv(text, folder / "text.csv", plain)
    arrow_csv.write_csv(text, folder / "quoted.csv")
    parquet.write_table(text, folder / "text.parquet")
    whole = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
    arrow_csv.write_csv(whole, folder / "whole.csv")
    parquet.write_table(whole, folder / "whole.parquet")
    arrow_csv.write_csv(pa.table({"node": names[nodes], "feature": tags[features]}), folder / "features.csv", plain)
    arrow_csv.write_csv(
        pa.table({"node": names, "label": tags[:10][np.arange(NODES) % 10]}), folder / "labels.csv", plain
    )
    countries = np.array(["FR", "DE", "US", "JP", "BR"], dtype=object)
    people = {
        "user": names,
        "country": countries[rng.integers(0, 5, NODES)],
        "age": rng.integers(18, 80, NODES),
        "income": rng.lognormal(10, 1, NODES).round(2),
        "joined": np.datetime_as_string(np.datetime64("2015-01-01") + rng.integers(0, 3650, NODES)).astype(object),
        "tags": tags[:200][rng.integers(0, 200, NODES)] + ";" + tags[:200][rng.integers(0, 200, NODES)],
    }
    arrow_csv.write_csv(pa.table(people), folder / "people.csv", plain)
    lists = np.split(features, np.flatnonzero(np.diff(nodes)) + 1)
    listed = {str(node): own.tolist() for node, own in zip(np.unique(nodes).tolist(), lists, strict=True)}
    (folder / "lists.json").write_text(json.dumps(listed))
    tagged = {node: tags[own].tolist() for node, own in listed.items()}
    (folder / "tags.json").write_text(json.dumps(tagged))
    valued = {node: {tags[tag]: 0.5 for tag in own} for node, own in listed.items()}
    (folder / "values.json").write_text(json.dumps(valued))
    (folder / "few.csv").write_text("0,1\n")
    (folder / "few-names.csv").write_text(f"{names[0]},{names[1]}\n")


def cases(folder: Path) -> dict[str, tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """By source: what reads it alone, the function that builds a graph, and the one that only reads."""
    few, few_names = folder / "few.csv", folder / "few-names.csv"
    ends, entries = ("source", "target"), ("node", "feature")

    def graph(*names: str | Path) -> Callable[[], Any]:
        return lambda: read_graph(*(folder / name for name in names))

    def arrow(name: str, *coded: str) -> Callable[[], Any]:
        options = arrow_csv.ConvertOptions(column_types=dict.fromkeys(coded, pa.dictionary(pa.int32(), pa.string())))
        return lambda: arrow_csv.read_csv(folder / name, convert_options=options)

    def table(name: str, *coded: str) -> Any:
        return parquet.read_table(folder / name, read_dictionary=list(coded))

    def load(name: str) -> Callable[[], Any]:
        return lambda: json.loads((folder / name).read_text())

    def labels() -> Any:
        return arrow("features.csv", *entries)(), arrow("labels.csv", "node", "label")()

    def table_of_nodes() -> Any:
        return read_graph(folder / "text.csv", nodes=folder / "people.csv")

    def both() -> Any:
        return arrow("text.csv", *ends)(), arrow("people.csv", "user", "country", "joined", "tags")()

    def by_encoders() -> Any:
        edges, people = arrow("text.csv", *ends)(), arrow("people.csv")().to_pandas()
        tags = CountVectorizer(tokenizer=lambda cell: cell.split(";"), token_pattern=None, binary=True)
        parts = [
            OneHotEncoder().fit_transform(people[["country"]]),
            KBinsDiscretizer(10, quantile_method="averaged_inverted_cdf").fit_transform(people[["age", "income"]]),
            OneHotEncoder().fit_transform(pd.to_datetime(people["joined"]).dt.year.to_frame()),
            tags.fit_transform(people["tags"]),
        ]
        return edges, sp.hstack(parts, format="csr")

    def symmetric() -> Any:
        u, v = (column.to_numpy() for column in table("whole.parquet").columns)
        matrix = sp.coo_array((np.ones(len(u), dtype=np.float32), (u, v)), shape=(NODES, NODES)).tocsr()
        return matrix.maximum(matrix.T)

    coded, numbers = "pyarrow, dictionaries", "pyarrow, integers"
    return {
        "CSV, names": (coded, graph("text.csv"), arrow("text.csv", *ends)),
        "CSV, names in quotes": (coded, graph("quoted.csv"), arrow("quoted.csv", *ends)),
        "CSV, whole numbers": (coded, graph("whole.csv"), arrow("whole.csv", *ends)),
        "Parquet, names": (coded, graph("text.parquet"), lambda: table("text.parquet", *ends)),
        "Parquet, whole numbers": (numbers, graph("whole.parquet"), lambda: table("whole.parquet")),
        "Parquet, whole numbers: a matrix": ("pyarrow, SciPy's CSR", graph("whole.parquet"), symmetric),
        "JSON, numbers of features": ("json.load", graph(few, "lists.json"), load("lists.json")),
        "JSON, names of features": ("json.load", graph(few, "tags.json"), load("tags.json")),
        "JSON, features and values": ("json.load", graph(few, "values.json"), load("values.json")),
        "CSV, features": (coded, graph(few_names, "features.csv"), arrow("features.csv", *entries)),
        "CSV, features and labels": (coded, graph(few_names, "features.csv", "labels.csv"), labels),
        "CSV, names and a table of nodes, encoded": (coded, table_of_nodes, both),
        "CSV, names and a table of nodes, encoded: encoders": (
            "pyarrow, scikit-learn's encoders",
            table_of_nodes,
            by_encoders,
        ),
        "CSV, names and features": (
            coded,
            graph("text.csv", "features.csv"),
            lambda: (arrow("text.csv", *ends)(), arrow("features.csv", *entries)()),
        ),
    }


def objects(folder: Path) -> dict[str, Callable[[], tuple[str, Callable[[], Any], Callable[[], Any]]]]:
    """The same of objects in memory, which are made when asked for."""

    def column(name: str) -> Any:
        return parquet.read_table(folder / name)

    def array(name: str) -> Any:
        return np.stack([one.to_numpy() for one in column(name).columns], axis=1)

    def against_encoding(source: Any, load: Callable[[Any], Any]) -> tuple[str, Callable[[], Any], Callable[[], Any]]:
        text = column("text.parquet")
        return "pyarrow, encoding", lambda: load(source), lambda: [one.dictionary_encode() for one in text.columns]

    def frame() -> Any:
        text = column("text.parquet")
        return pa.table([one.dictionary_encode() for one in text.columns], names=text.column_names)

    def whole_array() -> tuple[str, Callable[[], Any], Callable[[], Any]]:
        ends = array("whole.parquet")
        return "numpy.unique", lambda: from_edges(ends), lambda: np.unique(ends, return_inverse=True)

    def whole_pairs() -> tuple[str, Callable[[], Any], Callable[[], Any]]:
        pairs = list(map(tuple, array("whole.parquet").tolist()))
        return "numpy.array", lambda: from_edges(pairs), lambda: np.array(pairs)

    return {
        "pyarrow, text": lambda: against_encoding(column("text.parquet"), from_tables),
        "pyarrow, dictionaries": lambda: against_encoding(frame(), from_tables),
        "pandas, categories": lambda: against_encoding(frame().to_pandas(), from_tables),
        "polars, text": lambda: against_encoding(polars.from_arrow(column("text.parquet")), from_tables),
        "array of text": lambda: against_encoding(array("text.parquet").astype(str), from_edges),
        "list of pairs of text": lambda: against_encoding(list(map(tuple, array("text.parquet").tolist())), from_edges),
        "array of whole numbers": whole_array,
        "list of pairs of whole numbers": whole_pairs,
    }


def one(source: str, folder: str, repeats: str) -> dict[str, Any]:
    """Turns of one source."""
    by_name = cases(Path(folder))
    alone, load, read = by_name[source] if source in by_name else objects(Path(folder))[source]()
    load(), read()
    turns: dict[str, list[float]] = {"graph": [], "graph_processor": [], "reading": [], "reading_processor": []}
    for _ in range(int(repeats)):
        for name, function in (("graph", load), ("reading", read)):
            start = time.process_time()
            turns[name].append(measured(function)[0])
            turns[f"{name}_processor"].append(time.process_time() - start)
    return {"source": source, "alone": alone, **turns}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--edges", type=int, default=2_000_000)
    parser.add_argument("--entries", type=int, default=2_000_000)
    parser.add_argument("--only", metavar="TEXT", help="sources whose names have this text in them; writes no results")
    parser.add_argument("--one", nargs=3, metavar=("SOURCE", "FOLDER", "REPEATS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.edges, options.entries)
        sources = [*cases(Path(folder)), *objects(Path(folder))]
        sources = [source for source in sources if (options.only or "") in source]
        records = [in_new_process(__file__, source, folder, str(options.repeats)) for source in sources]
    rows = []
    for record in records:
        graph, graph_cpu, reading, reading_cpu = (min(turns) for turns in record.values() if isinstance(turns, list))
        ratios = (f"{graph / reading:.1f}×", f"{graph_cpu / reading_cpu:.1f}×")
        rows.append([record["source"], f"{graph:.2f}", record["alone"], f"{reading:.2f}", *ratios])
    header = (
        f"{options.edges:,} edges, or {options.entries:,} features|to a graph, s|read alone by|alone, s|ratio|"
        "ratio of processor time"
    )
    table = markdown(header.split("|"), rows)
    if options.only is None:
        write("loading_speed", records, table)
    else:
        print(table)


if __name__ == "__main__":
    main()
