"""Seconds that each method takes here and in other libraries, on one data set, two threads, interleaved.

Every library gets an environment of its own from the package index, in a folder that is kept between runs. What does
not install, does not import, fails or takes too long is listed as such. Ours runs before each of them, in a process of
its own as well; reading the data and importing is not counted on either side. scikit-network has none of the methods.

    HOPSCALE_DATA=... python benchmarks/rivals_speed.py [--dataset facebook] [--limit 300] [--folder .rivals]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from libraries import LIBRARIES, environment, grape, here, karate, keep, nodevectors, run
from measure import graph_and_target, markdown, median, write

WALKS = "walk_number=10, walk_length=80, dimensions={d}, workers=2, window_size=3, epochs=1"
# Method: our model and its arguments, then the same in other libraries. What is trained there is trained here, for one
# epoch, except SINE and ASNE, which are factorised here.
METHODS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "MUSAE": ("MUSAE", {"solver": "sgns", "epochs": 1}, {"karateclub": karate("MUSAE", "workers=2, epochs=1", True)}),
    "DeepWalk": (
        "DeepWalk",
        {"solver": "sgns", "epochs": 1},
        {
            "karateclub": karate("DeepWalk", WALKS.format(d=128)),
            "grape": grape(
                "DeepWalkSkipGramEnsmallen",
                "embedding_size=128, epochs=1, walk_length=80, iterations=10, window_size=3, verbose=False",
            ),
        },
    ),
    "Walklets": (
        "Walklets",
        {"window": 4, "solver": "sgns", "epochs": 1},
        {"karateclub": karate("Walklets", WALKS.format(d=32))},
    ),
    "Node2Vec": (
        "Node2Vec",
        {"solver": "sgns", "epochs": 1, "window": 3, "p": 0.5, "q": 2.0},
        {
            "karateclub": karate("Node2Vec", WALKS.format(d=128) + ", p=0.5, q=2.0"),
            "nodevectors": nodevectors(
                "Node2Vec",
                "n_components=128, walklen=80, epochs=10, return_weight=2.0, neighbor_weight=0.5, threads=2, "
                "w2vparams={'window': 3, 'negative': 5, 'epochs': 1, 'batch_words': 128}",
            ),
            "grape": grape(
                "Node2VecSkipGramEnsmallen",
                "embedding_size=128, epochs=1, walk_length=80, iterations=10, window_size=3, return_weight=2.0, "
                "explore_weight=0.5, verbose=False",
            ),
        },
    ),
    "LINE": (
        "LINE",
        {},  # both orders, 64 dimensions each, against the first order alone
        {"grape": grape("FirstOrderLINEEnsmallen", "embedding_size=64, verbose=False")},
    ),
    "NetMF": (
        "NetMF",
        {"window": 5},
        {
            "karateclub": karate("NetMF", "dimensions=128, order=5, negative_samples=1"),
        },
    ),
    "HOPE": ("HOPE", {}, {"grape": grape("HOPEEnsmallen", "embedding_size=128, verbose=False")}),
    "GraRep": (
        "GraRep",
        {},
        {
            "karateclub": karate("GraRep", "dimensions=32, order=4"),
            "nodevectors": nodevectors("GraRep", "n_components=128, order=4"),
        },
    ),
    "TADW": ("TADW", {}, {"karateclub": karate("TADW", "dimensions=64", True)}),
    "ASNE": ("ASNE", {}, {"karateclub": karate("ASNE", "dimensions=128, workers=2, epochs=1", True)}),
    "BANE": ("BANE", {}, {"karateclub": karate("BANE", "dimensions=128", True)}),
    "TENE": ("TENE", {}, {"karateclub": karate("TENE", "dimensions=64", True)}),
    "SINE": ("SINE", {"window": 3}, {"karateclub": karate("SINE", "dimensions=128, workers=2, epochs=1", True)}),
    "FEATHER-N": ("FEATHER", {}, {"karateclub": karate("FeatherNode", "reduction_dimensions=64", True)}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="facebook")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a fit may take, reading included")
    parser.add_argument("--folder", type=Path, default=Path(".rivals"), help="where the environments are kept")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    graph, _ = graph_and_target(options.dataset)
    pythons = {library: environment(library, options.folder) for library in LIBRARIES}
    records: list[dict[str, Any]] = [
        {"library": library, "installed": python is not None} for library, python in pythons.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        keep(graph, folder)
        for name in options.methods:
            model, arguments, others = METHODS[name]
            for library, script in others.items():
                ours = run(Path(sys.executable), here(model, arguments), options.limit, folder)
                theirs = run(pythons[library], script, options.limit, folder)
                record = {"method": name, "library": library, "dataset": options.dataset}
                records.append({**record, "ours": ours, "theirs": theirs, "limit": options.limit})
                print(name, library, ours, theirs, flush=True)
    write("rivals_speed", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    measured = [record for record in records if "method" in record]
    for name in dict.fromkeys(record["method"] for record in measured):
        runs = [record for record in measured if record["method"] == name]
        taken = [r["ours"]["seconds"] for r in runs if "seconds" in r["ours"]]
        if not taken:
            rows.append([name, runs[0]["ours"]["failed"], "", "", ""])
            continue
        ours = median(taken)
        for record in runs:
            theirs = record["theirs"]
            shown = f"{theirs['seconds']:.1f} s" if "seconds" in theirs else theirs["failed"]
            ratio = theirs["seconds"] / ours if "seconds" in theirs else None  # a limit counts reading as well
            rows.append(
                [
                    name,
                    f"{ours:.1f} s",
                    record["library"],
                    shown.replace("|", "/"),
                    "–" if ratio is None else f"{ratio:.1f}×",
                ]
            )
    missing = [r["library"] for r in records if "installed" in r and not r["installed"]]
    lines = markdown(["method", "hopscale", "library", "its time", "hopscale is faster by"], rows)
    return lines + (f"\n\nNot installed: {', '.join(missing)}." if missing else "")


if __name__ == "__main__":
    main()
