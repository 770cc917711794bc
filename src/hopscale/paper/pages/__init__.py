"""Pages of published and measured values, as Markdown, with plots; one module per page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hopscale.checks import choice
from hopscale.io.atomic import replacing
from hopscale.paper.pages import curves, scores, supervised, tables
from hopscale.paper.pages.layout import draw, explained_marks
from hopscale.paper.store import Measurements, records_of

__all__ = ["render"]

# The lines of a page, from the measurements and its folder; and its plot, where there is one.
PAGES: dict[str, tuple[Callable[[Measurements, Path], list[str]], Callable[[Measurements, Any], None] | None]] = {
    "classification": (partial(scores.page, "classification"), None),
    "few-shot": (tables.few_shot_page, tables.few_shot_plot),
    "regression": (partial(scores.page, "regression"), None),
    "transfer": (tables.transfer_page, tables.transfer_plot),
    "runtime": (curves.runtime_page, curves.runtime_plot),
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
    written = []
    for experiment in experiments:
        measurements = Measurements(records_of(folder, experiment).records())
        if not measurements.records:
            continue
        page, plot = PAGES[experiment]
        drawn = draw(plot, measurements, folder / "figures" / experiment) if plot else []
        lines = [f"# {experiment.capitalize().replace('-', ' ')}", "", *page(measurements, folder)]
        lines += ["", f"![{experiment}](figures/{experiment}.svg)"] if drawn else []
        written += [*drawn, _write(folder / f"{experiment}.md", [*lines, "", *_footer(measurements)])]
    if {folder / "classification.md", folder / "regression.md"} & set(written):
        written.append(_write(folder / "overview.md", scores.overview(folder)))
        if lines := supervised.predictors(folder):
            written.append(_write(folder / "predictors.md", lines))
    return written


def _write(path: Path, lines: Sequence[str]) -> Path:
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _footer(measurements: Measurements) -> list[str]:
    """Meaning of marks, machines and versions."""
    marks = explained_marks(measurements.records)
    machines = []
    for m in (record["machine"] for record in measurements.records):
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        machines.append(f"Measured on: {m['processor']}, {m['cores']} cores, Python {m['python']}, {versions}.")
    return [*marks, *([""] if marks else []), *dict.fromkeys(machines)]
