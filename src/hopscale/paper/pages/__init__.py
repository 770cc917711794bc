"""Pages of published and measured values, as Markdown, with plots; one module per page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hopscale.atomic import replacing
from hopscale.checks import choice
from hopscale.paper.pages import claims, curves, runtime, scores, summary, supervised, tables
from hopscale.paper.pages.layout import draw, explained_marks
from hopscale.paper.pages.records import Records
from hopscale.paper.runner import describe
from hopscale.paper.store import Agreements, Measurements, Record, comparable, records_of, trained_on_device

__all__ = ["mixed_sources", "render"]

# The lines of a page, from its measurements and all records of the folder; and its plot, where there is one.
PAGES: dict[str, tuple[Callable[[Measurements, Records], list[str]], Callable[[Measurements, Any], None] | None]] = {
    "classification": (partial(scores.page, "classification"), None),
    "few-shot": (tables.few_shot_page, tables.few_shot_plot),
    "regression": (partial(scores.page, "regression"), None),
    "transfer": (tables.transfer_page, tables.transfer_plot),
    "runtime": (runtime.page, runtime.plot),
    "densification": (curves.densification_page, curves.densification_plot),
    "theory": (curves.theory_page, curves.theory_plot),
    "link-prediction": (partial(tables.held_out_page, "link-prediction"), None),
    "attribute-inference": (partial(tables.held_out_page, "attribute-inference"), None),
}


def render(experiments: Sequence[str], folder: Path) -> list[Path]:
    """Write a page for each experiment that has records in ``folder``, and its plot.

    Plots need matplotlib (``pip install 'hopscale[plots]'``); without it they are left out.

    Parameters
    ----------
    experiments : sequence of str
        Keys of :data:`hopscale.paper.EXPERIMENTS`.
    folder : Path
        Records are read from ``records/<experiment>.jsonl`` in it. Pages are written to ``<experiment>.md`` and plots
        to ``figures/<experiment>.svg`` and ``.png``.

    Returns
    -------
    list of Path
        Files that were written.
    """
    for experiment in experiments:
        choice("experiments", experiment, PAGES)
    written, records = [], Records(folder)
    for experiment in experiments:
        measurements = records.of(experiment)
        if not measurements.records:
            continue
        page, plot = PAGES[experiment]
        drawn = draw(plot, measurements, folder / "figures" / experiment) if plot else []
        lines = page(measurements, records)
        lines += ["", f"![{experiment}](figures/{experiment}.svg)"] if drawn else []
        footer = _footer(measurements, lines, records_of(folder, experiment).fits(), folder, experiment)
        written += [*drawn, _titled(folder / f"{experiment}.md", [*lines, "", *footer])]
    if {folder / "classification.md", folder / "regression.md"} & set(written):
        written.append(_titled(folder / "overview.md", scores.overview(records)))
        if lines := supervised.predictors(records):
            written.append(_titled(folder / "predictors.md", lines))
    if written:
        written.append(_write(folder / "claims.md", claims.page(records)))
        written.append(_titled(folder / "summary.md", summary.page(records)))
    return written


def mixed_sources(folder: Path) -> str | None:
    """What is wrong with records in a folder that were not all made by the same code; None if they were.

    All experiments count: some pages are made from the records of several.
    """
    codes = Records(folder).codes()
    if len(set().union(*codes.values())) < 2:
        return None
    told = "; ".join(
        f"{experiment} {' and '.join(f'{count} by {_named(code)}' for code, count in counts.most_common())}"
        for experiment, counts in codes.items()
    )
    return (
        f"the records in {folder / 'records'} were made by different code ({told}): measure all of them again, in an "
        "empty folder, or write pages that mark them by --only-render"
    )


def _named(sources: str | None) -> str:
    return f"sources `{sources}`" if sources else "sources that were not recorded"


def _titled(path: Path, lines: Sequence[str]) -> Path:
    """Write a page under a title, the name of its file."""
    return _write(path, [f"# {path.stem.capitalize().replace('-', ' ')}", "", *lines])


def _write(path: Path, lines: Sequence[str]) -> Path:
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _footer(
    measurements: Measurements, lines: Sequence[str], fits: Sequence[Record], folder: Path, experiment: str
) -> list[str]:
    """Meaning of the marks in these lines, which code measured what and how codes were compared, machines, versions."""
    marks = [each for each in explained_marks(measurements.shown) if any(each[0] in line for line in lines)]
    by_code: dict[str | None, list[Record]] = {}
    for record in fits:
        by_code.setdefault(record["code"], []).append(record)
    sources = []
    for code, of in by_code.items():
        commits = sorted({record["machine"]["commit"] for record in of if "commit" in record["machine"]})
        at = f" (commit {', '.join(commits)})" if commits else ""
        sources.append(f"{len(of)} records are by {_named(code)}{at}.")
    sources += _compared(by_code, Agreements(folder, experiment))
    if devices := Counter(record["fit"]["device"] for record in fits if trained_on_device(record)):
        what = " and ".join(f"{count} records were trained on {device}" for device, count in devices.items())
        sources.append(f"{what}, and can be compared on such a device alone: they count without a comparison.")
    machines = []
    for m in (record["machine"] for record in fits):
        versions = ", ".join(
            [*(f"{name} {version}" for name, version in m["versions"].items()), *([m["blas"]] if "blas" in m else [])]
        )
        machines.append(f"Measured on: {m['processor']}, {m['cores']} cores, Python {m['python']}, {versions}.")
    return [*marks, *([""] if marks else []), " ".join(sources), "", *dict.fromkeys(machines)]


def _compared(by_code: Mapping[str | None, Sequence[Record]], agreements: Agreements) -> list[str]:
    """Which of these codes count as one, and how many of their records were measured again."""
    groups: dict[str | None, list[str]] = {}
    for code in by_code:
        groups.setdefault(agreements.first(code), []).append(f"`{code}`")
    told = [f"Those by {', '.join(codes)} count as one." for codes in groups.values() if len(codes) > 1]
    for (older, newer), cells in agreements.pairs().items():
        if older in by_code:
            here = sum(describe(record["cell"]) in cells for record in by_code[older])
            where = f"{here} of this page and {len(cells) - here} of others" if here else "all of other pages"
            told.append(
                f"`{newer}` measured {len(cells)} cells of `{older}` again, {where}, with the same scores to the last "
                "bit."
            )
    if told and not any(comparable(record["scores"]) for records in by_code.values() for record in records):
        told.append("Seconds are not compared.")
    return told
