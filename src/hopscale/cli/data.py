"""``hopscale datasets``: which data sets there are, what is in them, and where they come from."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from hopscale.cli.program import Console, table_lines, with_console
from hopscale.cli.sources import file_option
from hopscale.datasets import Published, Statistics, describe, fetch, load, locate, names, registry
from hopscale.exceptions import FileFormatError
from hopscale.tasks.labels import likely_task

__all__ = ["datasets"]

_COLUMNS = ("name", "nodes", "edges", "features", "per node", "task", "where")
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
    document = _row(name, data) | _source(registry.published().get(name))
    console.answer(document, _lines(document))


def _row(name: str, data: Path | None) -> dict[str, Any]:
    place = locate(name, data=data)
    path = None if place.path is None else str(place.path)
    return {"name": name, **_statistics(name, data), "where": place.kind, "path": path}


def _statistics(name: str, data: Path | None) -> dict[str, Any]:
    """Of a published data set as the registry has them, of others as they are found."""
    entry = registry.published().get(name)
    if entry is not None:
        return {"task": entry.task} | {statistic: entry.statistics.get(statistic) for statistic in _STATISTICS}
    try:
        graph = load(name, data=data)
    except FileFormatError:  # one broken file in a folder is no reason to list none
        return {"task": None} | dict.fromkeys(_STATISTICS)
    found = asdict(describe(graph))
    task = None if graph.labels is None else likely_task(graph.labels)[0]
    return {"task": task, **found, "classes": found["classes"] if task == "classification" else None}


def _source(entry: Published | None) -> dict[str, Any]:
    if entry is None:
        return {}
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
    counts = (_shown(row[name]) for name in ("nodes", "edges", "unique_features"))
    per_node = "-" if row["features_per_node"] is None else f"{row['features_per_node']:.2f}"
    return (row["name"], *counts, per_node, task, row["where"])


def _lines(document: dict[str, Any]) -> list[str]:
    paper, differences = document.get("paper", {}), document.get("differences", {})
    lines = []
    for name, value in document.items():
        if name in ("paper", "differences") or value is None:
            continue
        shown = ", ".join(value) if isinstance(value, list) else _shown(value)
        if name in differences:
            shown += f"; the paper has {_shown(paper[name])}: {differences[name]}"
        lines.append(f"{name.replace('_', ' '):<20} {shown}")
    return lines


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if type(value) is int else f"{value:.5g}" if isinstance(value, float) else str(value)
