"""``hopscale datasets``: which data sets there are, what is in them, and where they come from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from hopscale.cli.program import Console, shown, table_lines, with_console
from hopscale.cli.sources import file_option
from hopscale.datasets import Published, Statistics, describe, fetch, load, locate, names, registry
from hopscale.exceptions import HopscaleError
from hopscale.labels import likely_task

__all__ = ["datasets"]

_COLUMNS = ("name", "nodes", "edges", "features used", "per node", "task", "where")
_STATISTICS = tuple(field.name for field in fields(Statistics))


@click.command()
@click.argument("name", required=False)
@file_option("--data", text="Folder with NAME.npz or publishers' files.  [default: the variable HOPSCALE_DATA]")
@click.option("--download", is_flag=True, help="Fetch NAME from its publisher, unless it is on this machine.")
@with_console
def datasets(name: str | None, data: Path | None, download: bool, console: Console) -> None:
    """Data sets that commands take by name: those built in, those of the paper, and those in a folder of yours.

    Downloads are kept in the folder that the variable HOPSCALE_CACHE names, or else in the user's cache.

    \b
    hopscale datasets
    hopscale datasets cora
    hopscale datasets cora --download
    hopscale datasets --data folder --json
    """
    if name is None:
        if download:
            raise click.UsageError("--download needs the name of a data set")
        rows = [_row(each, data) for each in names(data)]
        console.answer({"datasets": rows}, table_lines([_COLUMNS, *map(_cells, rows)], right=range(1, 5)))
        return
    if download:
        fetch(name, data=data, progress=not console.quiet)
    entry = registry.published().get(name)
    document = _row(name, data) | (_source(entry) if entry else {})
    console.answer(document, _lines(document))


def _row(name: str, data: Path | None) -> dict[str, Any]:
    """A data set in a line: statistics of a published one are the registry's, of others are computed."""
    place, entry = locate(name, data=data), registry.published().get(name)
    found: dict[str, Any] = dict.fromkeys(_STATISTICS)
    task: str | None = None
    if entry is not None:
        task, found = entry.task, {statistic: entry.statistics.get(statistic) for statistic in _STATISTICS}
    else:
        with suppress(HopscaleError):  # one broken file in a folder is no reason to list none
            graph = load(name, data=data)
            found = asdict(describe(graph))
            task = None if graph.labels is None else likely_task(graph.labels)[0]
            found["classes"] = found["classes"] if task == "classification" else None
    return {"name": name, "task": task, **found, "where": place.kind, "path": place.path and str(place.path)}


def _source(entry: Published) -> dict[str, Any]:
    return {
        "title": entry.title,
        "about": entry.about,
        "target": entry.target,
        "note": entry.note or None,
        "self_loops_dropped": entry.self_loops,
        "page": entry.page,
        "address": entry.address + (entry.archive or ""),
        "files": [file.name for file in entry.files.values()],
        "licence": entry.licence,
        "paper": dict(entry.paper),
        "differences": {statistic: difference.reason for statistic, difference in entry.differences.items()},
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    task = f"{row['classes']} classes" if row["classes"] else row["task"] or "-"
    formats = {"nodes": ",", "edges": ",", "unique_features": ",", "features_per_node": ".2f"}
    numbers = ("-" if row[name] is None else format(row[name], form) for name, form in formats.items())
    return (row["name"], *numbers, task, row["where"])


def _lines(document: dict[str, Any]) -> list[str]:
    paper, differences = document.get("paper", {}), document.get("differences", {})
    lines = []
    for name, value in document.items():
        if name in ("paper", "differences") or value is None:
            continue
        text = ", ".join(value) if isinstance(value, list) else shown(value, 5)
        if name in differences:
            text += f"; the paper has {shown(paper[name], 5)}: {differences[name]}"
        lines.append(f"{name.replace('_', ' '):<20} {text}")
    return lines
