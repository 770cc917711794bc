"""Pages of published and measured values, as Markdown, with plots; one module per page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hopscale.exceptions import ParameterError
from hopscale.paper.pages import densification, few_shot, held_out, overview, runtime, scores, theory, transfer
from hopscale.paper.pages.layout import draw, explained_marks
from hopscale.paper.store import Measurements, records_of

__all__ = ["render"]

# Functions from the measurements, and the folder of the page, to the lines of a page.
PAGES: dict[str, Callable[[Measurements, Path], list[str]]] = {
    "classification": partial(scores.page, "classification"),
    "few-shot": few_shot.page,
    "regression": partial(scores.page, "regression"),
    "transfer": transfer.page,
    "runtime": runtime.page,
    "densification": densification.page,
    "theory": theory.page,
    "link-prediction": partial(held_out.page, "link-prediction"),
    "attribute-inference": partial(held_out.page, "attribute-inference"),
}
PLOTS: dict[str, Callable[[Measurements, Any], None]] = {
    "densification": densification.plot,
    "few-shot": few_shot.plot,
    "transfer": transfer.plot,
    "runtime": runtime.plot,
    "theory": theory.plot,
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
    unknown = [experiment for experiment in experiments if experiment not in PAGES]
    if unknown:
        raise ParameterError(f"no experiment {unknown[0]!r}. There are: {', '.join(PAGES)}")
    written = []
    for experiment in experiments:
        measurements = Measurements(records_of(folder, experiment).records())
        if not measurements.records:
            continue
        lines = [f"# {experiment.capitalize().replace('-', ' ')}", "", *PAGES[experiment](measurements, folder)]
        if experiment in PLOTS:
            drawn = draw(PLOTS[experiment], measurements, folder / "figures" / experiment)
            written += drawn
            if drawn:
                lines += ["", f"![{experiment}](figures/{experiment}.svg)"]
        written.append(_write(folder / f"{experiment}.md", [*lines, "", *_footer(measurements)]))
    if {folder / "classification.md", folder / "regression.md"} & set(written):
        written.append(_write(folder / "overview.md", overview.page(folder)))
    return written


def _write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _footer(measurements: Measurements) -> list[str]:
    """Meaning of marks, machines and versions."""
    marks = explained_marks(measurements.records)
    machines = []
    for record in measurements.records:
        m = record["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        machines.append(f"Measured on: {m['processor']}, {m['cores']} cores, Python {m['python']}, {versions}.")
    return [*marks, *([""] if marks else []), *dict.fromkeys(machines)]
