"""``hopscale methods``: which models there are, and what kind each is of."""

from __future__ import annotations

import re
from typing import Any

import click

from hopscale.cli.options import MODELS, parameters_of
from hopscale.cli.program import Console, table_lines, with_console

__all__ = ["methods"]

_COLUMNS = ("name", "kind", "uses_features", "multi_scale", "inductive", "time", "memory")


@click.command()
@click.argument("name", required=False, type=click.Choice(list(MODELS), case_sensitive=False), metavar="[NAME]")
@with_console
def methods(name: str | None, console: Console) -> None:
    """Models that ``embed --model`` takes, as their classes describe themselves; of one, its options.

    Nodes n, edges m, features q, entries of the matrix nnz and of the features nnz(F), dimensions d, hops t,
    iterations i, reduced features f, columns c before they are reduced, walks of a node, pairs that are trained on.

    \b
    hopscale methods
    hopscale methods node2vec
    hopscale methods --json
    """
    if name:
        options = parameters_of(name)
        told = [["option", "default", "of", ""]]
        told += [[o["option"], _shown(o["default"]), o["of"], o["help"]] for o in options]
        summary = re.sub(r":class:`(.*?)`", r"\1", (MODELS[name].__doc__ or "").partition("\n")[0])
        console.answer({"name": name, "summary": summary, "options": options}, [summary, "", *table_lines(told)])
        return
    rows: list[dict[str, Any]] = [
        {"name": key, **{column: getattr(model(), column) for column in _COLUMNS[1:]}}
        for key, model in sorted(MODELS.items(), key=lambda entry: (-entry[1]().uses_features, entry[1].kind))
    ]
    titles = [column.removeprefix("uses_").replace("_", "-") for column in _COLUMNS]
    console.answer({"methods": rows}, table_lines([titles, *(list(map(_shown, row.values())) for row in rows)]))


def _shown(value: Any) -> str:
    return ("yes" if value else "-") if isinstance(value, bool) else str(value)
