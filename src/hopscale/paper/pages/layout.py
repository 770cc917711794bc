"""What the pages share: tables in Markdown, means with standard errors, marks of other parameters, and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hopscale.atomic import replacing
from hopscale.paper.estimates import Estimate, estimate
from hopscale.paper.options import SUITABLE
from hopscale.paper.store import Measurements, Record

__all__ = [
    "COLOURS", "MARKS", "METRICS", "draw", "explained_marks", "mark", "markdown_table", "measured_datasets",
    "panels_in_a_row", "rounded", "score_text", "table",
]  # fmt: skip

METRICS = {"classification": "micro_f1", "regression": "r2"}
MARKS = {
    "†": "† from records of other parameters than the paper's.",
    "°": "° from records of fewer repeats than others have.",
    "‡": "‡ from records by other code than most.",
}

# Plots show the paper's values in grey, dotted or as crosses, and measured ones in colour.
COLOURS = {"AE": "tab:blue", "AE-EGO": "tab:cyan", "MUSAE": "tab:red", "MUSAE-EGO": "tab:orange",
           "DeepWalk": "tab:gray", "Walklets": "tab:olive"}  # fmt: skip


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], text: str | None = None) -> list[str]:
    """A heading, a text if there is one, and a Markdown table."""
    return [f"## {title}", "", *([text, ""] if text else []), *markdown_table(header, rows), ""]


def rounded(value: float | None, digits: int = 3) -> str:
    """A number with so many digits; a dash for None."""
    return "–" if value is None else f"{value:.{digits}f}"


def measured_datasets(experiment: str, measurements: Measurements) -> list[str]:
    """Data sets with measurements, in the order of the experiment."""
    order = SUITABLE[experiment]
    return sorted(measurements.values("dataset"), key=lambda name: order.index(name) if name in order else len(order))


def mark(record: Record) -> str:
    """Signs beside the figures of a record, see :class:`hopscale.paper.store.Measurements`."""
    return str(record["marks"])


def explained_marks(records: Sequence[Record]) -> list[str]:
    """Lines that explain the signs that some of the records have."""
    lines = []
    marked = [record["cell"]["parameters"] for record in records if "†" in mark(record)]
    settings = {", ".join(f"`{name}={value}`" for name, value in parameters.items()) for parameters in marked}
    if settings:
        lines.append(f"† with {' or '.join(sorted(settings))} instead of the paper's value.")
    if fewer := sorted({record["repeats"] for record in records if "°" in mark(record)}):
        lines.append(f"° fewer repeats than other cells: {_listed(fewer)}.")
    if other := [record for record in records if "‡" in mark(record)]:
        lines.append(f"‡ measured by other code than most cells of all pages: {len(other)} of {len(records)}.")
    return lines


def _listed(values: Iterable[Any]) -> str:
    *first, last = map(str, values)
    return f"{', '.join(first)} or {last}" if first else last


def score_text(record: Record | None, metric: str, test_share: float = 0.0, reference: Estimate | None = None) -> str:
    """Mean ± standard error and, in brackets, the difference from the paper's value in standard errors of both."""
    if record is None:
        return "–"
    found = estimate(record["scores"][metric], test_share)
    text = f"{found.mean:.3f}{mark(record)}"
    if np.isnan(found.error):
        return text
    text += f" ± {found.error:.3f}"
    apart = found.minus(reference).in_errors if reference else np.nan
    return text if np.isnan(apart) else f"{text} ({apart:+.1f})"


def draw(plot: Callable[[Measurements, Any], None], measurements: Measurements, path: Path) -> list[Path]:
    """Write a plot to ``path`` as SVG and PNG, and return both; none without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return []
    with mpl.rc_context({"svg.hashsalt": "hopscale", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(layout="constrained")
        plot(measurements, figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        settings: dict[str, dict[str, Any]] = {
            "svg": {"metadata": {"Date": None}},
            "png": {"metadata": {"Software": None}, "dpi": 150},
        }
        for kind, setting in settings.items():
            with replacing(path.with_suffix(f".{kind}")) as temporary:
                figure.savefig(temporary, format=kind, **setting)
    return [path.with_suffix(f".{kind}") for kind in settings]


def panels_in_a_row(figure: Any, count: int, width: float = 4.0, height: float = 3.2) -> list[Any]:
    """Axes side by side, of that size in inches each."""
    figure.set_size_inches(width * count, height)
    return list(figure.subplots(1, count, squeeze=False)[0])
