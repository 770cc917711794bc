"""The page ``claims``: what the paper says of its results, judged by its own figures and by ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

from hopscale.paper.estimates import TEST_SHARES, Estimate, estimate, paired, published
from hopscale.paper.experiments import RUNTIME_THREADS
from hopscale.paper.pages import runtime
from hopscale.paper.pages.differences import RULE, Evidence, Records, shares, tendency
from hopscale.paper.pages.headline import (
    OURS,
    TOLERANCES,
    best_of,
    other_methods,
    others_ahead,
    published_by_dataset,
)
from hopscale.paper.pages.layout import METRICS, markdown_table, measured_datasets
from hopscale.paper.store import Record, reference_values
from hopscale.paper.supervised import OURS as OUR_PREDICTORS
from hopscale.paper.supervised import SUPERVISED_ROWS, WAY, rows_of

__all__ = ["page"]

_RANDOM = 0.5  # the paper's line of random guesses, for two classes
_NEAR = 0.25  # how far a slope may be from one to be called linear
_NO_GAIN = 1.25  # a gain of more threads below which they do not help
_NEIGHBOURS = ("DeepWalk", "Walklets", "LINE2", "Node2Vec")  # proximity-preserving methods with a choice of solvers


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and what judges it."""

    says: str
    where: str
    judge: Callable[[Records], Iterator[Evidence]]
    rule: str = ""


def page(folder: Path) -> list[str]:
    """Every claim with its verdicts."""
    records = Records(folder)
    lines = [
        "# Claims of the paper, judged",
        "",
        f"What the paper says of its results, by its own figures and by ours on raw vectors. {RULE}",
        "",
    ]
    rows, parts = [], []
    for claim in CLAIMS:
        found = list(claim.judge(records))
        if not found:
            continue
        by_source = {each.source: [e.verdict for e in found if e.source == each.source] for each in found}
        verdicts = "; ".join(f"{name}: {' / '.join(dict.fromkeys(each))}" for name, each in by_source.items())
        rows.append([f"[{claim.says}](#{_anchor(claim.says)})", claim.where, verdicts])
        parts += [f"## {claim.says}", "", f"{claim.where}.{' ' + claim.rule if claim.rule else ''}", ""]
        parts += [f"- **{each.source}: {each.verdict}.** {each.cells}." for each in found]
        parts.append("")
    return [*lines, *markdown_table(["claim", "where", "verdicts"], rows), "", *parts[:-1]]


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def _multi_scale(experiment: str) -> Callable[[Records], Iterator[Evidence]]:
    def judge(records: Records) -> Iterator[Evidence]:
        for way, ego in product(records.ways(experiment), ("", "-EGO")):
            found = records.between(experiment, f"MUSAE{ego}", f"AE{ego}", way)
            if found:
                yield tendency(way, found, f"MUSAE{ego} minus AE{ego}")

    return judge


def _ours_ahead(experiment: str) -> Callable[[Records], Iterator[Evidence]]:
    def judge(records: Records) -> Iterator[Evidence]:
        metric, measurements = METRICS[experiment], records.of(experiment)
        printed: dict[str, Estimate] = {}
        for dataset, rows in published_by_dataset(experiment, measurements).items():
            if rows:
                ours, others = (
                    max((row for row in rows if (row["method"] in OURS) == mine), key=lambda row: float(row[metric]))
                    for mine in (True, False)
                )
                printed[dataset] = published(ours, metric).minus(published(others, metric))
        if printed:
            yield tendency("published", printed, "the best of the four minus the best of the others")
        for rivals, which in _rivals(experiment):
            ahead = others_ahead(experiment, measurements, rivals, (False,))
            if found := {ours["cell"]["dataset"]: apart for ours, _, apart, _ in ahead}:
                what = f"the best of the four minus the best of {which}, either chosen by the score"
                yield tendency("measured", found, what)

    return judge


def _rivals(experiment: str) -> Iterator[tuple[list[str], str]]:
    """What the four are compared with: methods that the paper has figures of, and all that were measured."""
    printed, beyond = other_methods(experiment)
    yield printed, "the other methods that the paper has figures of"
    yield [*printed, *beyond], f"these and {', '.join(beyond)}"


def _no_impact_of_ego(records: Records) -> Iterator[Evidence]:
    tolerance = TOLERANCES["classification"]
    for way, name in product(records.ways("classification"), ("AE", "MUSAE")):
        found = records.between("classification", f"{name}-EGO", name, way)
        small = [dataset for dataset, each in found.items() if abs(each.mean) <= tolerance]
        large = ", ".join(f"{d} {each.mean:+.3f}" for d, each in found.items() if d not in small)
        if found:
            cells = f"{name}-EGO and {name} differ by no more than {tolerance:g}" + (f", but {large}" if large else "")
            yield shares(way, len(small), len(found), cells)


def _only_multi_scale_gains_by_ego(records: Records) -> Iterator[Evidence]:
    for way, name in product(records.ways("regression"), ("MUSAE", "AE")):
        found = records.between("regression", f"{name}-EGO", name, way)
        if found:
            yield tendency(way, found, f"{name}-EGO minus {name}")


def _margin_of_labels(records: Records) -> Iterator[Evidence]:
    metric = METRICS["classification"]
    table = reference_values("classification")
    rows = {
        dataset: (
            max(r[metric] for r in table if r["dataset"] == dataset and r["method"] in SUPERVISED_ROWS),
            max(r[metric] for r in table if r["dataset"] == dataset and r["method"] not in SUPERVISED_ROWS),
        )
        for dataset in dict.fromkeys(row["dataset"] for row in table)
    }
    yield _margins("published", rows)
    here = records.of("classification")
    networks = [name for name in rows_of("classification") if name not in OUR_PREDICTORS]
    measured = {}
    for dataset in measured_datasets("classification", here):
        found = [r for name in networks if (r := here.get(method=name, solver=WAY, dataset=dataset))]
        ours = best_of(here, "classification", dataset, OURS, (False,))
        if found and ours:
            best = max(records.mean(record, metric) for record in found)
            measured[dataset] = (best, records.mean(ours, metric))
    if measured:
        yield _margins("measured", measured)


def _margins(source: str, rows: dict[str, tuple[float, float]]) -> Evidence:
    margins = {dataset: best - ours for dataset, (best, ours) in rows.items()}
    middle, least = median(margins.values()), min(margins.values())
    told = ", ".join(f"{dataset} {margin:+.3f}" for dataset, margin in margins.items())
    tolerance = TOLERANCES["classification"]
    verdict = "holds" if abs(middle - 4 * tolerance) <= 2 * tolerance and least <= tolerance else "does not hold"
    return Evidence(source, verdict, f"the best network minus the best of the four: median {middle:+.3f}. {told}")


def _few_labels(records: Records, ahead: Callable[[str], tuple[str, ...]], way: str) -> list[tuple[str, str, float]]:
    """Data set, k and how far the best of some methods is above the best of others, for all cells of few labels."""
    found = []
    here = records.of("few-shot")
    for dataset in here.values("dataset"):
        means = [
            {k: max(estimate(r["scores"]["micro_f1"][k]).mean for r in rows) for k in rows[0]["scores"]["micro_f1"]}
            for side in ("first", "second")
            if (rows := [r for name in ahead(side) for r in here.all(dataset=dataset, method=name) if _of(r, way)])
        ]
        if len(means) == 2:
            found += [(dataset, k, means[0][k] - means[1][k]) for k in means[0]]
    return found


def _of(record: Record, way: str) -> bool:
    return way in (record["cell"]["solver"], "all")


def _few_labels_ours(records: Records) -> Iterator[Evidence]:
    best: dict[tuple[str, str], list[float]] = {}  # by data set and k: of our four, of the others
    for row in reference_values("few_shot"):
        both = best.setdefault((row["dataset"], str(row["samples_per_class"])), [0.0, 0.0])
        side = int(row["method"] not in OURS)
        both[side] = max(both[side], row["micro_f1"])
    told = [(dataset, k, ours - others) for (dataset, k), (ours, others) in best.items()]
    yield _counted("published", told, "the best of the four is above the best of the others at")
    for rivals, which in _rivals("few-shot"):
        sides = {"first": OURS, "second": tuple(rivals)}
        if found := _few_labels(records, sides.__getitem__, "all"):
            yield _counted("measured", found, f"the best of the four is above the best of {which} at")


def _few_labels_ego(records: Records) -> Iterator[Evidence]:
    curves: dict[tuple[str, str], dict[float, float]] = {}
    for row in reference_values("few_shot"):
        curves.setdefault((row["method"], row["dataset"]), {})[row["samples_per_class"]] = row["micro_f1"]
    for name in ("AE", "MUSAE"):
        told = [
            (dataset, str(k), value - curves[name, dataset][k])
            for (method, dataset), curve in curves.items()
            if method == f"{name}-EGO"
            for k, value in curve.items()
        ]
        yield _counted("published", told, f"{name}-EGO is above {name} at")
    for way, name in product(records.ways("few-shot")[1:], ("AE", "MUSAE")):
        sides = {"first": (f"{name}-EGO",), "second": (name,)}
        if found := _few_labels(records, sides.__getitem__, way):
            yield _counted(way, found, f"{name}-EGO is above {name} at")


def _counted(source: str, found: list[tuple[str, str, float]], what: str) -> Evidence:
    up = sum(value > 0 for *_, value in found)
    by_set = {dataset: [value for name, _, value in found if name == dataset] for dataset, *_ in found}
    told = ", ".join(
        f"{dataset} {sum(v > 0 for v in values)} of {len(values)} (mean {sum(values) / len(values):+.3f})"
        for dataset, values in by_set.items()
    )
    return shares(source, up, len(found), f"{what} so many k: {told}")


def _best_baseline(records: Records) -> Iterator[Evidence]:
    metric = METRICS["regression"]
    rows = reference_values("regression")
    for way in records.ways("regression"):
        told, holds, total = [], 0, 0
        for dataset in dict.fromkeys(row["dataset"] for row in rows):
            theirs = max(r[metric] for r in rows if r["dataset"] == dataset and r["method"] not in OURS)
            if way == "published":
                own = next(r[metric] for r in rows if r["dataset"] == dataset and r["method"] == "MUSAE-EGO")
            else:
                record = records.cell("regression", "MUSAE-EGO", way, dataset)
                if record is None:
                    continue
                own = records.mean(record, metric)
            total, holds = total + 1, holds + (own > theirs)
            told.append(f"{dataset} {own:.3f} against {theirs:.3f} ({own / theirs - 1:+.1%})")
        if total:
            yield shares(way, holds, total, ", ".join(told))


def _beats_random(records: Records) -> Iterator[Evidence]:
    published = [row["micro_f1"] for row in reference_values("transfer")]
    above = sum(value > _RANDOM for value in published)
    yield shares("published", above, len(published), f"micro-F1 from {min(published):.3f} to {max(published):.3f}")
    for way in records.ways("transfer")[1:]:
        cells = [r for r in records.of("transfer").all(solver=way, standardize=False) if r["cell"]["method"] in OURS]
        for metric, than in (("micro_f1", _RANDOM), ("roc_auc", _RANDOM), ("micro_f1", "target_majority_micro_f1")):
            told = []
            for r in cells:
                bar = than if isinstance(than, float) else records.mean(r, than)
                if not records.mean(r, metric) > bar:
                    names = (str(r["cell"][key]).removeprefix("twitch-") for key in ("source", "dataset"))
                    told.append(f"{r['cell']['method']} {' to '.join(names)} {records.mean(r, metric):.3f}")
            name = f"{metric} above " + (f"{than:g}" if isinstance(than, float) else "the target's commonest class")
            cells_text = f"{name}" + (f"; not {', '.join(told)}" if told else "")
            yield shares(way, len(cells) - len(told), len(cells), cells_text)


def _linear(records: Records) -> Iterator[Evidence]:
    for way, varied in product(("published", "sgns", "pmi"), runtime.VARIED):
        if found := runtime.slopes(records.of("runtime"), varied, way):
            near = sum(abs(each - 1) <= _NEAR for each in found)
            told = f"slopes in {varied.replace('_', ' ')}: " + ", ".join(f"{each:.2f}" for each in found)
            yield shares(way, near, len(found), told)


def _threads(records: Records) -> Iterator[Evidence]:
    for way in ("published", "sgns", "pmi"):
        found = {
            f"{name} {threads} threads": both[1]
            for name, threads in product(runtime.METHODS, RUNTIME_THREADS[1:])
            if (both := runtime.gains(records.of("runtime"), way, name, threads))
        }
        if found:
            told = ", ".join(f"{name} {gain:.2f}" for name, gain in found.items())
            yield shares(way, sum(gain < _NO_GAIN for gain in found.values()), len(found), f"times as quick: {told}")


def _links(first: str, rivals: tuple[str, ...], *, matches: bool = False) -> Callable[[Records], Iterator[Evidence]]:
    def judge(records: Records) -> Iterator[Evidence]:
        here = records.of("link-prediction")
        for way in records.ways("link-prediction")[1:]:
            told = {}
            for dataset in here.values("dataset"):
                one = here.get(dataset=dataset, method=first, solver=way)
                two = [r for name in rivals if (r := here.get(dataset=dataset, method=name, solver=way))]
                if one and two:
                    best = max(map(_best_operator, two), key=lambda scores: estimate(scores).mean)
                    told[dataset] = paired(_best_operator(one), best, TEST_SHARES["link-prediction"])[0]
            if told and matches:
                cells = ", ".join(f"{dataset} {each.mean:+.3f} ± {each.error:.3f}" for dataset, each in told.items())
                level = sum(each.verdict != "below" for each in told.values())
                yield shares(way, level, len(told), f"area under the ROC curve by the best operator: {cells}")
            elif told:
                yield tendency(way, told, "area under the ROC curve by the best operator")

    return judge


def _best_operator(record: Record) -> list[float]:
    """Scores of the operator that is best for these vectors; not that of degrees, which needs none."""
    areas = record["scores"]["roc_auc"]
    trained = [values for name, values in areas.items() if name != "preferential_attachment"]
    return max(trained, key=lambda values: estimate(values).mean)


CLAIMS = (
    Claim("Attributed embeddings tend to outperform other unsupervised methods at classification",
          "Node attribute classification", _ours_ahead("classification")),
    Claim("Multi-scale embeddings tend to outperform pooled ones at classification",
          "Node attribute classification", _multi_scale("classification")),
    Claim("EGO has no material impact on classification", "Node attribute classification", _no_impact_of_ego,
          "It holds if it does on all data sets, in part if on most."),
    Claim("Supervised methods have an advantage of about four per cent, which can be within one",
          "Node attribute classification", _margin_of_labels,
          "It holds if the median is between two and six hundredths and the least within one."),
    Claim("With few labels, attributed embeddings are materially better than other unsupervised methods",
          "Few-shot learning", _few_labels_ours, "Cells are data sets and k; it holds if it does in all of them."),
    Claim("With few labels, EGO is of a modest benefit", "Few-shot learning", _few_labels_ego,
          "Cells are data sets and k; it holds if it does in all of them, in part if in most."),
    Claim("Attributed embeddings tend to outperform all others at regression", "Node attribute regression",
          _ours_ahead("regression")),
    Claim("Multi-scale embeddings tend to outperform pooled ones at regression", "Node attribute regression",
          _multi_scale("regression")),
    Claim("EGO is of benefit at regression, but only with several scales", "Node attribute regression",
          _only_multi_scale_gains_by_ego, "It holds where MUSAE gains and AE does not."),
    Claim("MUSAE-EGO outperforms the best baseline of each regression", "Node attribute regression", _best_baseline,
          "The baseline is the best published one; it holds if it does on all data sets."),
    Claim("Transfer always beats random guessing", "Transfer learning", _beats_random,
          "Cells are methods, sources and targets; it holds if it does in all of them. Area under the ROC curve "
          "and the "
          "commonest class are what the paper does not compare with."),
    Claim("Run time is linear in nodes and in features of a node", "Scalability", _linear,
          "Slopes of logarithms within a quarter of one."),
    Claim("More cores do not help as features of a node approach all features", "Scalability", _threads,
          "It holds where threads are less than a quarter quicker than one with the most features of a node."),
    Claim("Several scales help link prediction", "Conclusion", _links("MUSAE", ("AE",))),
    Claim("EGO helps link prediction", "Conclusion", _links("MUSAE-EGO", ("MUSAE",))),
    Claim("MUSAE-EGO matches proximity-preserving embeddings in link prediction", "Conclusion",
          _links("MUSAE-EGO", _NEIGHBOURS, matches=True), "It holds if none is clearly below the best of them."),
)  # fmt: skip
