"""Seconds that each method takes here and in other libraries, on one data set, two threads, interleaved.

Every library gets an environment of its own from the package index, in a folder that is kept between runs. What does
not install, does not import, fails or takes too long is listed as such. Ours runs before each of them, in a process of
its own as well; reading the data and importing is not counted on either side. scikit-network has none of the methods.
Results of methods that are not asked for are kept.

    HOPSCALE_DATA=... python benchmarks/rivals_speed.py [--dataset facebook] [--limit 300] [--repeats 3] [--folder ...]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from libraries import LIBRARIES, environment, grape, here, karate, keep, nodevectors, run, version
from measure import RESULTS, graph_and_target, markdown, median, write

WALKS = "walk_number=10, walk_length=80, dimensions={d}, workers=2, window_size=3, epochs=1"
# Method: our model and its arguments, then the same in other libraries. What is trained there is trained here, for one
# epoch, except SINE and ASNE, which are factorised here. grape's HOPE counts common neighbours, so ours does; its LINE
# makes 100 passes over the edges, about as many as ours draws, and has a model for each order.
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
        {},
        {
            "grape": grape(
                "FirstOrderLINEEnsmallen, SecondOrderLINEEnsmallen", "embedding_size=64, epochs=100, verbose=False"
            )
        },
    ),
    "NetMF": (
        "NetMF",
        {"window": 5},
        {
            "karateclub": karate("NetMF", "dimensions=128, order=5, negative_samples=1"),
        },
    ),
    "HOPE": (
        "HOPE",
        {"proximity": "common-neighbors"},
        {"grape": grape("HOPEEnsmallen", "embedding_size=128, verbose=False")},
    ),
    "GraRep": (
        "GraRep",
        {},
        {
            "karateclub": karate("GraRep", "dimensions=32, order=4"),
            "nodevectors": nodevectors("GraRep", "n_components=32, order=4"),
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
    parser.add_argument("--repeats", type=int, default=3, help="runs of what takes less than a minute")
    parser.add_argument("--folder", type=Path, default=Path(".rivals"), help="where the environments are kept")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    graph, _ = graph_and_target(options.dataset)
    pythons = {library: environment(library, options.folder) for library in LIBRARIES}
    file = RESULTS / "rivals_speed.json"
    before = json.loads(file.read_text())["records"] if file.exists() else []
    records: list[dict[str, Any]] = [
        *({"library": library, "version": version(library, python)} for library, python in pythons.items()),
        *(r for r in before if r.get("dataset") == options.dataset and r["method"] not in options.methods),
    ]
    with tempfile.TemporaryDirectory() as folder:
        keep(graph, folder)
        for name in options.methods:
            model, arguments, others = METHODS[name]
            for library, script in others.items():
                for _ in range(options.repeats):
                    ours = run(Path(sys.executable), here(model, arguments), options.limit, folder)
                    theirs = run(pythons[library], script, options.limit, folder)
                    record = {"method": name, "library": library, "dataset": options.dataset, "limit": options.limit}
                    records.append({**record, "ours": ours, "theirs": theirs})
                    print(name, library, ours, theirs, flush=True)
                    if theirs.get("seconds", 60.0) >= 60.0:
                        break
            write("rivals_speed", records, table(records))


def table(records: list[dict[str, Any]]) -> str:
    rows = []
    versions = {record["library"]: record["version"] for record in records if "version" in record}
    measured = [record for record in records if "method" in record]
    pairs = {(record["method"], record["library"]) for record in measured}
    for name, library in sorted(pairs, key=lambda pair: (list(METHODS).index(pair[0]), pair[1])):
        runs = [record for record in measured if (record["method"], record["library"]) == (name, library)]
        ours, theirs = (_median(record[side] for record in runs) for side in ("ours", "theirs"))
        ratio = f"{theirs / ours:.1f}×" if isinstance(ours, float) and isinstance(theirs, float) else "–"
        shown = [f"{each:.1f} s" if isinstance(each, float) else each.replace("|", "/") for each in (ours, theirs)]
        rows.append([name, shown[0], f"{library} {versions[library] or ''}".strip(), shown[1], ratio])
    return markdown(["method", "hopscale", "library", "its time", "hopscale is faster by"], rows)


def _median(outcomes: Iterable[dict[str, Any]]) -> float | str:
    """The middle of the seconds, or why there are none. A limit gives no ratio: it counts reading as well."""
    outcomes = list(outcomes)
    taken = [outcome["seconds"] for outcome in outcomes if "seconds" in outcome]
    return median(taken) if taken else str(outcomes[0]["failed"])


if __name__ == "__main__":
    main()
