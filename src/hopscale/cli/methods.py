"""``hopscale methods``: which models there are, and what kind each is of."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from hopscale.cli.program import Console, table_lines, with_console
from hopscale.models import MODELS

__all__ = ["methods"]

_COLUMNS = {
    "name": "name",
    "kind": "kind",
    "uses_features": "features",
    "multi_scale": "multi-scale",
    "inductive": "inductive",
    "time": "time",
    "memory": "memory",
}


@click.command()
@with_console
def methods(console: Console) -> None:
    """Models that ``embed --model`` takes, as their classes describe themselves.

    Nodes n, edges m, features q, entries of the matrix nnz and of the features nnz(F), dimensions d, hops t,
    iterations i, reduced features f, columns c before they are reduced, walks of a node, pairs that are trained on.

    \b
    hopscale methods
    hopscale methods --json
    """
    rows: list[dict[str, Any]] = [{"name": name.lower(), **asdict(model.traits)} for name, model in MODELS.items()]
    shown = [list(_COLUMNS.values())] + [[_shown(row[column]) for column in _COLUMNS] for row in rows]
    console.answer({"methods": rows}, table_lines(shown))


def _shown(value: Any) -> str:
    return ("yes" if value else "-") if isinstance(value, bool) else str(value)
