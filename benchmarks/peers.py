"""Seconds, memory and score of each method here and in other libraries, on one data set, two threads, interleaved.

Every library gets an environment of its own from the package index, in a folder that is kept between runs. What does
not install, fails or takes too long is listed with the reason. All contenders of a method take turns, each in a process
of its own; importing, reading and compiling is not counted. Scores are means of micro F1 over the same splits, of the
better of raw and standardised vectors. Results of methods and libraries that are not asked for are kept.

    HOPSCALE_DATA=... python benchmarks/peers.py [--methods DeepWalk LINE] [--libraries grape] [--limit 300]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from hopscale.paper.pages.layout import draw, panels_in_a_row
from hopscale.tasks import evaluate
from libraries import (
    LIBRARIES,
    Contender,
    Environment,
    cleora,
    environment,
    grape,
    here,
    karate,
    keep,
    nodevectors,
    pecanpy,
    run,
    sknetwork,
)
from measure import RESULTS, graph_and_target, markdown, median, write

NAME = "peers"
PLOT = Path(__file__).resolve().parent.parent / "docs" / "figures" / NAME
WIDE = 1024  # columns; what has more is scored by its leading principal components, as many as others have columns
NUMBERS = ("seconds", "cpu_seconds", "before_mib", "peak_mib")  # that are medians over turns
LONG = 60.0  # seconds; what takes longer is run once

WALKS = "walk_number=10, walk_length=80, dimensions={d}, workers=2, window_size=3, epochs=1"
GRAPE_WALKS = "embedding_size=128, epochs=1, walk_length=80, iterations=10, window_size=3, verbose=False"
PECANPY_WALKS = "dim=128, num_walks=10, walk_length=80, window_size=3, epochs=1"
TRAINED = {"solver": "sgns", "epochs": 1}
# Ours first, then the same in other libraries. What is trained there is trained here, for one epoch, except SINE and
# ASNE, which are factorised here; MUSAE is as karateclub has it, with nodes as features and its own defaults. grape's
# HOPE counts common neighbours, so ours does; its LINE makes 100 passes over the edges, about as many as ours draws,
# and has a model for each order. Nobody else has DeepWalk in closed form: what others have that reads the edges alone
# and is quick stands beside it.
METHODS: dict[str, list[Contender]] = {
    "MUSAE": [
        here("MUSAE", "MUSAE-EGO, sgns", ego=True, solver="sgns", epochs=5, walks_per_node=5, start="node"),
        here("MUSAE", "MUSAE-EGO, pmi", ego=True),
        here("MUSAE", "MUSAE, pmi"),
        karate("MUSAE", "workers=2", True, "MUSAE-EGO"),
    ],
    "DeepWalk": [
        here("DeepWalk", "DeepWalk, sgns", **TRAINED),
        karate("DeepWalk", WALKS.format(d=128)),
        grape("DeepWalkSkipGramEnsmallen", GRAPE_WALKS),
        pecanpy("FirstOrderUnweighted", "p=1, q=1, workers=2, verbose=False", PECANPY_WALKS),
    ],
    "Walklets": [
        here("Walklets", "Walklets, sgns", window=4, **TRAINED),
        karate("Walklets", WALKS.format(d=32)),
        grape("WalkletsSkipGramEnsmallen", GRAPE_WALKS.replace("128", "32").replace("window_size=3", "window_size=4")),
    ],
    "Node2Vec": [
        here("Node2Vec", "Node2Vec, sgns", window=3, p=0.5, q=2.0, **TRAINED),
        karate("Node2Vec", WALKS.format(d=128) + ", p=0.5, q=2.0"),
        grape("Node2VecSkipGramEnsmallen", GRAPE_WALKS + ", return_weight=2.0, explore_weight=0.5"),
        pecanpy("SparseOTF", "p=0.5, q=2.0, workers=2, verbose=False", PECANPY_WALKS),
        nodevectors(
            "Node2Vec",
            "n_components=128, walklen=80, epochs=10, return_weight=2.0, neighbor_weight=0.5, threads=2, "
            "w2vparams={'window': 3, 'negative': 5, 'epochs': 1, 'batch_words': 128}",
        ),
    ],
    "LINE": [
        here("LINE", "LINE, sgns"),
        here("LINE", "LINE, pmi", solver="pmi"),
        grape(
            "FirstOrderLINEEnsmallen",
            "embedding_size=64, epochs=100, verbose=False",
            "SecondOrderLINEEnsmallen",
        ),
    ],
    "NetMF": [here("NetMF", window=5), karate("NetMF", "dimensions=128, order=5, negative_samples=1")],
    "HOPE": [
        here("HOPE", proximity="common-neighbors"),
        grape("HOPEEnsmallen", "embedding_size=128, verbose=False"),
    ],
    "GraRep": [
        here("GraRep"),
        karate("GraRep", "dimensions=32, order=4"),
        nodevectors("GraRep", "n_components=32, order=4"),
    ],
    "TADW": [here("TADW"), karate("TADW", "dimensions=64", True)],
    "ASNE": [
        here("ASNE"),
        karate("ASNE", "dimensions=128, workers=2, epochs=1", True, "ASNE, one epoch"),
        karate("ASNE", "dimensions=128, workers=2", True, "ASNE, 100 epochs"),
    ],
    "BANE": [here("BANE"), karate("BANE", "dimensions=128", True)],
    "TENE": [here("TENE"), karate("TENE", "dimensions=64", True)],
    "SINE": [here("SINE", window=3), karate("SINE", "dimensions=128, workers=2, epochs=1", True)],
    "FEATHER-N": [here("FEATHER"), karate("FeatherNode", "reduction_dimensions=64", True)],
    "edges alone, quick": [
        here("DeepWalk", "DeepWalk, pmi"),
        sknetwork("Spectral", "128"),
        sknetwork("SVD", "128"),
        sknetwork("GSVD", "128"),
        sknetwork("RandomProjection", "128"),
        sknetwork("LouvainEmbedding"),
        nodevectors("ProNE", "n_components=128, verbose=False"),
        nodevectors("GGVec", "n_components=128, threads=2"),
        cleora("feature_dim=128, num_workers=2"),
    ],
}
ATTRIBUTED = {"MUSAE", "TADW", "ASNE", "BANE", "TENE", "SINE", "FEATHER-N"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="facebook")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--libraries", nargs="+", default=list(LIBRARIES), choices=list(LIBRARIES))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a fit may take, reading included")
    parser.add_argument("--repeats", type=int, default=3, help=f"turns of what takes less than {LONG:.0f} seconds")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=Path(".rivals"), help="where the environments are kept")
    parser.add_argument("--only-show", action="store_true", help="measure nothing, and write tables and plot anew")
    options = parser.parse_args()
    if options.only_show:
        show(others([]))
        return
    graph, target = graph_and_target(options.dataset)
    places = {library: environment(library, options.folder) for library in ("hopscale", *options.libraries)}
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with tempfile.TemporaryDirectory() as folder:
        keep(graph, folder)
        for name in options.methods:
            contenders = [each for each in METHODS[name] if each.library in places]
            if all(each.library == "hopscale" for each in contenders):
                continue
            new = []
            for contender, outcome in turns(contenders, places, options, folder):
                what = {"dataset": options.dataset, "run": started, "method": name, "library": contender.library}
                new.append({**what, "model": contender.model, "version": places[contender.library].version, **outcome})
                if (vectors := Path(folder, "vectors.npy")).exists():
                    new[-1] |= score(np.load(vectors), target, options.splits)
                    vectors.unlink()
                print(new[-1], flush=True)
            show([*others(new), *new])


def show(records: list[dict[str, Any]]) -> None:
    """Keep everything that was measured, and draw it."""
    (RESULTS / f"{NAME}_summary.md").write_text(summary(records) + "\n")
    write(NAME, records, table(records))
    draw(plot, last(middle(records)), PLOT)


def turns(
    contenders: list[Contender], places: dict[str, Environment], options: argparse.Namespace, folder: str
) -> Iterator[tuple[Contender, dict[str, Any]]]:
    """Runs of all contenders in turn, and what each gave; only vectors of the first run are kept."""
    again = contenders
    for turn in range(options.repeats):
        now, again = again, []
        for contender in now:
            place = places[contender.library]
            if place.python is None:
                yield contender, {"failed": place.failed}
                continue
            kept = [] if turn else [f"{folder}/vectors.npy"]
            outcome = run(place.python, contender.script, options.limit, folder, *kept)
            yield contender, {**outcome, "turn": turn}
            if outcome.get("seconds", LONG) < LONG:
                again.append(contender)


def score(vectors: NDArray[Any], target: NDArray[Any], splits: int) -> dict[str, Any]:
    """Mean micro F1 of raw and of standardised vectors."""
    found: dict[str, Any] = {"columns": vectors.shape[1]}
    if not np.isfinite(vectors).all():
        return {**found, "score": None}
    if vectors.shape[1] > WIDE:
        vectors = PCA(128, svd_solver="randomized", random_state=0).fit_transform(vectors)
    scores = [
        float(np.mean([r["micro_f1"] for r in evaluate(vectors, target, splits=splits, standardize=standardize)]))
        for standardize in (False, True)
    ]
    return {**found, "scores": scores, "score": max(scores)}


KEYS = ("dataset", "method", "library", "model")


def others(new: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was measured before of other contenders, and ours beside them."""
    file = RESULTS / f"{NAME}.json"
    before = (
        [record for record in json.loads(file.read_text())["records"] if _place(record) >= 0] if file.exists() else []
    )
    known = {_key(record) for record in new}
    kept = [record for record in before if _key(record) not in known]
    runs = {(record["method"], record["run"]) for record in kept if record["library"] != "hopscale"}
    return [
        record
        for record in before
        if record in kept or (record["library"] == "hopscale" and (record["method"], record["run"]) in runs)
    ]


def _key(record: dict[str, Any]) -> tuple[str, ...]:
    return tuple(record[key] for key in KEYS)


def _place(record: dict[str, Any]) -> int:
    """Where a contender stands in METHODS, or -1."""
    order = [(name, each.library, each.model) for name, contenders in METHODS.items() for each in contenders]
    return order.index(_key(record)[1:]) if _key(record)[1:] in order else -1


def middle(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record for each contender of a run: medians of its turns, in the order of METHODS, the last run last."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for record in sorted(records, key=lambda record: (_place(record), record["run"])):
        groups.setdefault((*_key(record), record["run"]), []).append(record)
    found = []
    for group in groups.values():
        runs = [record for record in group if "seconds" in record]
        medians = {name: median(run[name] for run in runs) for name in NUMBERS if runs}
        scores = [record["score"] for record in runs if "score" in record]
        found.append({**(runs or group)[0], **medians, "score": scores[0] if scores else None})
    return found


def last(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of each contender's last run."""
    return list({_key(record): record for record in found}.values())


def beside(record: dict[str, Any], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Our own contenders of the same method and run that came to an end."""
    same = ("dataset", "method", "run")
    return [
        each
        for each in found
        if each["library"] == "hopscale" and "seconds" in each and all(each[key] == record[key] for key in same)
    ]


def table(records: list[dict[str, Any]]) -> str:
    """A row for each contender; ours stand first, and others' ratios are to each of them."""
    found, rows = middle(records), []
    for record in last(found):
        row = [record["method"], called(record)]
        if "seconds" not in record:
            rows.append([*row, record["failed"].replace("|", "/"), "", "", "", "", ""])
            continue
        ours = [] if record["library"] == "hopscale" else beside(record, found)
        ratios = [" / ".join(ratio(record, each, what) for each in ours) for what in ("seconds", "cpu_seconds")]
        numbers = [f"{record['seconds']:.2f}", f"{record['cpu_seconds']:.2f}", memory(record), scored(record)]
        rows.append([*row, *numbers, *ratios])
    header = ["method", "library and model", "seconds", "processor seconds", "memory, MiB", "micro F1"]
    return markdown([*header, "slower by", "by processor seconds"], rows)


def summary(records: list[dict[str, Any]]) -> str:
    """A row for each pair of ours and another library's."""
    found, rows = middle(records), []
    for record in last(found):
        for ours in beside(record, found) if record["library"] != "hopscale" else ():
            row = [ours["model"], called(record)]
            if "seconds" not in record:
                rows.append([*row, f"{ours['seconds']:.1f} / {record['failed']}".replace("|", "/"), *("–" * 4)])
                break  # once is enough
            ratios = [ratio(record, ours, what) for what in ("seconds", "cpu_seconds")]
            pairs = [f"{part(ours)} / {part(record)}" for part in (memory, scored)]
            rows.append([*row, f"{ours['seconds']:.1f} / {record['seconds']:.1f}", *ratios, *pairs])
    header = [
        "hopscale",
        "library and model",
        "seconds",
        "faster by",
        "by processor seconds",
        "memory, MiB",
        "micro F1",
    ]
    return markdown(header, rows)


def called(record: dict[str, Any]) -> str:
    """Library, version and model."""
    if record["library"] == "hopscale":
        return f"hopscale: {record['model']}"
    return f"{record['library']} {record['version']}".strip() + f": {record['model']}"


def ratio(record: dict[str, Any], ours: dict[str, Any], what: str) -> str:
    """How many times as much it takes, without an exponent."""
    times = record[what] / ours[what]
    return f"{times:,.0f}×" if times >= 100 else f"{times:.2g}×"


def memory(record: dict[str, Any]) -> str:
    """What fitting took beside what was there before it."""
    return f"{record['peak_mib'] - record['before_mib']:,.0f}"


def scored(record: dict[str, Any]) -> str:
    """The mean score, three digits."""
    return "not finite" if record["score"] is None else f"{record['score']:.3f}"


def plot(records: list[dict[str, Any]], figure: Any) -> None:
    """Score over seconds, with attributes and without: up and to the left is better."""
    libraries = ["hopscale", *LIBRARIES]
    finished = [record for record in records if "seconds" in record and record["score"] is not None]
    groups = {
        "edges and attributes": [record for record in finished if record["method"] in ATTRIBUTED],
        "edges alone": [record for record in finished if record["method"] not in ATTRIBUTED],
    }
    groups = {title: points for title, points in groups.items() if points}
    for axes, (title, points) in zip(panels_in_a_row(figure, len(groups), 5.5, 5.0), groups.items(), strict=True):
        for library in dict.fromkeys(record["library"] for record in points):
            own = [record for record in points if record["library"] == library]
            ours = library == "hopscale"
            axes.scatter(
                [record["seconds"] for record in own],
                [record["score"] for record in own],
                s=60 if ours else 20,
                marker="*" if ours else "o",
                color=f"C{libraries.index(library)}",
                label=library,
                zorder=3 if ours else 2,
            )
        for record in points:
            place = (record["seconds"], record["score"])
            axes.annotate(record["model"], place, fontsize=5.5, xytext=(4, 2), textcoords="offset points")
        axes.set(xscale="log", xlabel="seconds", ylabel="micro F1", title=title)
        axes.legend(fontsize=7, loc="lower right")


if __name__ == "__main__":
    main()
