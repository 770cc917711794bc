"""``hopscale report``: a page about a graph and its labels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from hopscale.cli.embedding import timed
from hopscale.cli.fitted import check_picture, fitted, for_pictures, label_name, seed, shown_file
from hopscale.cli.options import with_parameters
from hopscale.cli.program import Console, Program, with_console
from hopscale.cli.sources import GraphFiles
from hopscale.explore.reports import Settings, make_report, report_format, write_report

__all__ = ["report"]


@click.command()
@for_pictures("Where the report goes: .html, or .md with a folder of pictures.")
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="What labels are: classes or values.",
)
@with_parameters()
@with_console
def report(
    saved: Path | None,
    files: GraphFiles | None,
    output: Path,
    title: str | None,
    task: str,
    method: Any,
    model: str,
    console: Console,
    **parameters: Any,
) -> None:
    """Write a page about a graph: its statistics, scores on labels, maps and explanations.

    With labels: scores beside the commonest class (or the mean), what is mistaken for what, how many labels
    are enough, and what each scale adds. Without: clusters and their features. The page is one file without scripts
    that needs no network. Of more than 20,000 nodes a sample is scored and drawn.

    \b
    hopscale report --edges edges.csv --features features.json --labels labels.csv -o report.html
    hopscale report --edges edges.csv --nodes nodes.csv --label-column team -o report.html
    hopscale report --graph digits -o report.md
    hopscale report model.safetensors --edges edges.csv --features features.json -o report.html
    """
    report_format(output)
    chosen = check_picture(output, saved, files, method)
    shown = shown_file(saved, files)
    found = fitted(saved, files, model, parameters, console)
    settings = Settings(
        title=title or f"Report on {'a graph' if shown is None else shown.name}",
        task=None if task == "auto" else task,  # type: ignore[arg-type]
        method=chosen,  # type: ignore[arg-type]
        label_name=label_name(files),
        random_state=seed(parameters),
        command=_command(),
        said=found.said,
        seconds=found.seconds,
        progress=console.say,
    )
    written, seconds = timed(
        lambda: write_report(make_report(found.model, found.graph, found.labels, settings), output)
    )
    console.say(f"report in {seconds:.1f} s: {output}")
    if console.as_json:
        console.answer({"output": str(output), "files": list(map(str, written)), "seconds": seconds}, [])


def _command() -> str:
    """What was typed."""
    program = click.get_current_context().find_root().command
    return shlex.join(["hopscale", *(program.words if isinstance(program, Program) else [])])
