"""The first sections of the pages ``classification`` and ``regression``: what was reproduced, and how ours compare.

One setting comes first, the same for all data sets: MUSAE with its default solver on raw vectors. What is chosen among
several settings by their scores is named as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

from hopscale.paper.estimates import TEST_SHARES, Estimate, estimate, published
from hopscale.paper.methods import METHODS, SOLVERS
from hopscale.paper.pages.layout import METRICS, mark, measured_datasets, table
from hopscale.paper.pages.records import apart, of_metric
from hopscale.paper.store import Measurements, Record, reference_values
from hopscale.paper.supervised import SUPERVISED_ROWS

__all__ = [
    "HEADLINE", "LIBRARYS", "OURS", "TEXTS", "TOLERANCES", "Shortfall", "kind", "one_setting", "other_methods",
    "others_ahead", "sections", "shortfalls", "verdicts", "who_is_ahead",
]  # fmt: skip

HEADLINE = "MUSAE"
OURS = ("AE", "AE-EGO", "MUSAE", "MUSAE-EGO")
LIBRARYS = ("FeatureDiffusion",)  # methods that no paper has: this library's own
TEXTS = tuple(name for name, row in METHODS.items() if row.published in OURS and name not in OURS)  # the text's models
TOLERANCES = {"classification": 0.01, "regression": 0.02}  # what differs by no more counts as the same figure
_EXPLANATIONS = "rivals.md"  # a page written by hand, where there is one

Rows = list[dict[str, Any]]


def sections(experiment: str, measurements: Measurements, folder: Path) -> list[str]:
    """Sections on one setting, on figures that were reproduced, on the best of several, and on others' methods."""
    references = published_by_dataset(experiment, measurements)
    if not any(references.values()):
        return []
    return [
        *_one_setting_section(experiment, measurements),
        *_reproduced(experiment, measurements, folder),
        *_best_of(experiment, measurements, references),
        *_others_ahead(experiment, measurements),
    ]


def kind(standardize: bool) -> str:
    """How vectors are called that are or are not standardised."""
    return "standardised" if standardize else "raw"


def published_by_dataset(experiment: str, measurements: Measurements) -> dict[str, Rows]:
    """The paper's rows of each data set that was measured, without supervised methods."""
    rows = [row for row in reference_values(experiment) if row["method"] not in SUPERVISED_ROWS]
    datasets = measured_datasets(experiment, measurements)
    return {name: [row for row in rows if row["dataset"] == name] for name in datasets}


# One setting.


@dataclass(frozen=True)
class OneSetting:
    """The headline setting on a data set: measured, published for the same method, and the best published."""

    record: Record
    here: Estimate
    own: Estimate
    best: Estimate
    best_method: str


def one_setting(experiment: str, measurements: Measurements) -> list[OneSetting]:
    """MUSAE with its default solver on raw vectors, on every data set that the paper has a figure of."""
    metric, share = METRICS[experiment], TEST_SHARES[experiment]
    found = []
    for dataset, rows in published_by_dataset(experiment, measurements).items():
        what = {"method": HEADLINE, "solver": METHODS[HEADLINE].default_way, "dataset": dataset, "standardize": False}
        record = measurements.get(**what)
        own = [row for row in rows if row["method"] == HEADLINE]
        if record is None or not own:
            continue
        best = max(rows, key=lambda row: float(row[metric]))
        here = estimate(record["scores"][metric], share)
        found.append(OneSetting(record, here, published(own[0], metric), published(best, metric), best["method"]))
    return found


def _one_setting_section(experiment: str, measurements: Measurements) -> list[str]:
    found = one_setting(experiment, measurements)
    if not found:
        return []
    rows = []
    for each in found:
        own, best = each.here.minus(each.own), each.here.minus(each.best)
        here = f"{each.here.mean:.3f}{mark(each.record)} ± {each.here.error:.3f}"
        row = [each.record["cell"]["dataset"], here, str(each.own), f"{own.mean:+.3f} ({own.in_errors:+.1f})"]
        rows.append([*row, f"{each.best} ({each.best_method})", f"{best.mean:+.3f} ({best.in_errors:+.1f})"])
    header = ["data set", HEADLINE, "published", "difference", "best published, unsupervised", "difference"]
    text = (
        f"{HEADLINE} with its default solver, `{METHODS[HEADLINE].default_way}`, on raw vectors, for every data "
        "set: no "
        "model, solver or kind of vectors is chosen by its score. Differences are followed by how many standard errors "
        f"they are. {verdicts(experiment, found)}"
    )
    return table("One setting for all data sets", header, rows, text)


def verdicts(experiment: str, found: Sequence[OneSetting]) -> str:
    """In words, on which data sets one setting is above the best published figure, and where clearly so."""
    differences = {each.record["cell"]["dataset"]: each.here.minus(each.best) for each in found}
    above = [name for name, each in differences.items() if each.mean > 0]
    below = [name for name in differences if name not in above]
    clear = {
        verdict: [name for name, each in differences.items() if each.verdict == verdict]
        for verdict in ("above", "below")
    }
    text = f"It is above the best published figure on {len(above)} of {len(found)} data sets"
    text += f", clearly on {', '.join(clear['above']) or 'none'}" if above else ""
    if below and below == clear["below"]:
        text += f", and clearly below on {', '.join(below)}"
    elif below:
        text += f", and below on {', '.join(below)}, clearly on {', '.join(clear['below']) or 'none'}"
    absent = dict.fromkeys(row["dataset"] for row in reference_values(experiment) if row["dataset"] not in differences)
    return f"{text}." + (f" The paper has {', '.join(absent)} as well, not measured here." if absent else "")


# Figure by figure.


@dataclass(frozen=True)
class Shortfall:
    """A value of the paper that no way of the same method meets here."""

    method: str
    dataset: str
    published: float
    measured: float
    how: str
    marks: str


def shortfalls(measurements: Measurements, experiment: str) -> tuple[list[Shortfall], int]:
    """Values of the paper that no way of the method meets, on raw or standardised vectors; and how many there are."""
    metric, missed, compared = METRICS[experiment], [], 0
    for row in _comparable(experiment):
        found = [
            (estimate(record["scores"][metric]).mean, f"{record['cell']['solver']}, {kind(standardize)}", mark(record))
            for way, standardize in product(METHODS[row["method"]].ways, (False, True))
            if (record := _record(measurements, row, way, standardize))
        ]
        compared += bool(found)
        if found and max(found)[0] < row[metric] - TOLERANCES[experiment]:
            missed.append(Shortfall(row["method"], row["dataset"], row[metric], *max(found)))
    return missed, compared


def _comparable(experiment: str) -> Iterator[dict[str, Any]]:
    return (row for row in reference_values(experiment) if row["method"] in METHODS)


def _record(measurements: Measurements, row: dict[str, Any], way: str, standardize: bool) -> Record | None:
    what = {"method": row["method"], "dataset": row["dataset"]}
    return measurements.get(**what, solver=way, standardize=standardize)


def _reproduced(experiment: str, measurements: Measurements, folder: Path) -> list[str]:
    tolerance = TOLERANCES[experiment]
    lines = [
        "## The same method, the published figure",
        "",
        f"*Reproduced* is a figure within {tolerance:g} of the published one, on either side; *level* is one "
        "within two "
        f"standard errors; *met or above* is no more than {tolerance:g} below. Raw vectors, as in the paper.",
        "",
    ]
    rows = []
    every = tuple(name for name in METHODS if name not in TEXTS)
    for title, names in (("our four", OURS), ("the same by the paper's text", TEXTS), ("all methods but these", every)):
        for way in ("default", "sgns"):
            counts = _counts(experiment, measurements, names, way)
            if counts:
                rows.append([title, "its default" if way == "default" else way, *counts])
    header = ["methods", "solver", "figures", "reproduced", "level", "met or above", "above", "below"]
    lines += table("", header, rows)[2:]
    missed, compared = shortfalls(measurements, experiment)
    reasons = f"; [why]({_EXPLANATIONS})" if (folder / _EXPLANATIONS).exists() else ""
    text = (
        "With the better of its solvers and of raw and standardised vectors, chosen by the score, "
        f"{compared - len(missed)} "
        f"of {compared} are met or above"
    )
    if not missed:
        return [*lines, f"{text}.", ""]
    told = [[m.method, m.dataset, f"{m.published:.3f}", f"{m.measured:.3f}{m.marks} ({m.how})"] for m in missed]
    told = [[*row, f"{m.measured - m.published:+.3f}"] for row, m in zip(told, missed, strict=True)]
    header = ["method", "data set", "published", "the best of its ways here", "difference"]
    return [*lines, f"{text}. The others{reasons}:", "", *table("", header, told)[2:]]


def _counts(experiment: str, measurements: Measurements, names: Iterable[str], way: str) -> list[int]:
    """Figures compared, reproduced, level, met or above; and those above or below by more than the tolerance."""
    metric, tolerance = METRICS[experiment], TOLERANCES[experiment]
    differences = []
    for row, name in product(_comparable(experiment), names):
        if METHODS[name].published != row["method"]:
            continue
        solver = METHODS[name].default_way if way == "default" else way
        if record := _record(measurements, {**row, "method": name}, solver, False):
            here = estimate(record["scores"][metric], TEST_SHARES[experiment])
            differences.append(here.minus(published(row, metric)))
    if not differences:
        return []
    above = sum(each.mean > tolerance for each in differences)
    below = sum(each.mean < -tolerance for each in differences)
    level = sum(each.verdict == "level" for each in differences)
    return [len(differences), len(differences) - above - below, level, len(differences) - below, above, below]


# The best of several.


def best_of(
    measurements: Measurements, experiment: str, dataset: str, names: Iterable[str], standardize: Sequence[bool]
) -> Record | None:
    """The record with the highest mean among methods, all of their solvers, and kinds of vectors."""
    metric = METRICS[experiment]
    found = [
        record
        for name, way, kind_ in product(names, (*SOLVERS, "own"), standardize)
        if (record := measurements.get(method=name, solver=way, dataset=dataset, standardize=kind_))
    ]
    return max(found, key=lambda record: estimate(record["scores"][metric]).mean, default=None)


def how(record: Record, *, vectors: bool = True) -> str:
    """Method and solver of a record, and its kind of vectors."""
    cell = record["cell"]
    return f"{cell['method']}, {cell['solver']}" + (f", {kind(cell['standardize'])}" if vectors else "")


def _best_of(experiment: str, measurements: Measurements, references: dict[str, Rows]) -> list[str]:
    metric, share = METRICS[experiment], TEST_SHARES[experiment]
    lines: list[str] = []
    for standardize in (False, True):
        rows = []
        for dataset, published_rows in references.items():
            best = best_of(measurements, experiment, dataset, OURS, [standardize])
            if best is None or not published_rows:
                continue
            rival = max(published_rows, key=lambda row: float(row[metric]))
            here, theirs = estimate(best["scores"][metric], share), published(rival, metric)
            difference = here.minus(theirs)
            ours = f"{here.mean:.3f}{mark(best)} ± {here.error:.3f} ({how(best, vectors=False)})"
            rows.append([dataset, f"{theirs} ({rival['method']})", ours, f"{difference.mean:+.3f}"])
            rows[-1].append(f"{difference.in_errors:+.1f}")
        if rows:
            header = ["data set", "best published, unsupervised", "best of our four", "difference", "standard errors"]
            note = (
                f"On {kind(standardize)} vectors. The best of our four models and two solvers, chosen by its score "
                "on these "
                "very splits, beside the best of all published methods, chosen likewise: either is the higher for it."
            )
            note += " Standardising is our choice, not the paper's." if standardize else ""
            lines += table(f"Best of ours against the best published, {kind(standardize)} vectors", header, rows, note)
    return lines


def other_methods(experiment: str) -> tuple[list[str], list[str]]:
    """Others' unsupervised methods: those that the paper has figures of, and those that it has none of.

    >>> other_methods("few-shot")[0]
    ['TADW', 'AANE', 'ASNE', 'BANE', 'TENE']
    """
    printed = {row["method"] for row in reference_values(experiment.replace("-", "_"))}
    others = [name for name, row in METHODS.items() if row.published not in (*OURS, *LIBRARYS)]
    return [name for name in others if name in printed], [name for name in others if name not in printed]


def others_ahead(
    experiment: str,
    measurements: Measurements,
    rivals: Sequence[str] | None = None,
    standardize: Sequence[bool] = (False, True),
) -> list[tuple[Record, Record, Estimate, int]]:
    """On each data set the best of the four, the best of others' methods measured here, and the difference."""
    metric, found = METRICS[experiment], []
    rivals = list(chain(*other_methods(experiment))) if rivals is None else rivals
    for dataset in measured_datasets(experiment, measurements):
        ours, theirs = (
            best_of(measurements, experiment, dataset, names, standardize) for names in (OURS, rivals)
        )  # fmt: skip
        if ours and theirs:
            found.append((ours, theirs, *apart(ours, theirs, of_metric(metric), TEST_SHARES[experiment])))
    return found


def _others_ahead(experiment: str, measurements: Measurements) -> list[str]:
    beyond = [name for name in other_methods(experiment)[1] if measurements.all(method=name)]
    text = (
        "The best of our four against the best of the other unsupervised methods *as measured here*, either with the "
        "better of its solvers and kinds of vectors; differences are over the splits that both have. "
    )
    text += f"The paper has no figures of {', '.join(beyond)}. " if beyond else ""
    own = (
        "A method of this library that no paper has, against the best of the four, likewise. What of its settings was "
        "chosen on which data is [told apart](README.md#what-was-chosen-on-what-data). "
    )
    return [
        *_ahead_section(experiment, measurements, None, "Against other methods measured here", text, "the others"),
        *_ahead_section(experiment, measurements, LIBRARYS, f"Against {' and '.join(LIBRARYS)}", own, "these"),
    ]


def _ahead_section(
    experiment: str, measurements: Measurements, rivals: Sequence[str] | None, title: str, text: str, who: str
) -> list[str]:
    metric, share = METRICS[experiment], TEST_SHARES[experiment]
    found = others_ahead(experiment, measurements, rivals)
    rows = []
    for ours, theirs, difference, splits in found:
        cells = (
            f"{estimate(r['scores'][metric], share).mean:.3f}{mark(r)} ({how(r)})" for r in (ours, theirs)
        )  # fmt: skip
        told = f"{difference.mean:+.3f} ± {difference.error:.3f} ({splits} splits)"
        rows.append([ours["cell"]["dataset"], *cells, told, difference.verdict])
    header = ["data set", "best of our four", f"best of {who}", "difference", "ours are"]
    return table(title, header, rows, text + who_is_ahead(found, rivals)) if found else []


def who_is_ahead(found: Sequence[tuple[Record, Record, Estimate, int]], who: Sequence[str] | None = None) -> str:
    """In words, on which data sets other methods, or those named, are clearly ahead of our four, or level."""
    names = " and ".join(who) if who else ""
    first, then = (f"{names} is", "It is") if names else ("Others are", "They are")
    told = []
    for verdict, words in (("below", f"{first} clearly ahead of our four on"), ("level", f"{then} level with them on")):
        where = [
            ours["cell"]["dataset"] + ("" if names else f" ({theirs['cell']['method']})")
            for ours, theirs, difference, _ in found
            if difference.verdict == verdict
        ]
        if where or verdict == "below":
            nobody = f"{names} is nowhere" if names else "None of the others is"
            told.append(f"{words} {', '.join(where)}." if where else f"{nobody} clearly ahead of our four.")
    return " ".join(told)
