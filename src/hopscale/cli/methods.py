"""``hopscale methods``: which models there are, and what kind each is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from hopscale.cli.options import MODELS, parameters_of
from hopscale.cli.program import Console, table_lines, with_console

__all__ = ["methods"]

# The seven properties of the paper's first table, from "uses_features" on, and its complexities.
_COLUMNS = (
    "name", "kind", "uses_features", "multi_scale", "implicit", "proximal", "higher_order", "inductive", "non_linear",
    "time", "memory",
)  # fmt: skip


@click.command()
@click.argument("name", required=False, type=click.Choice(list(MODELS), case_sensitive=False), metavar="[NAME]")
@with_console
def methods(name: str | None, console: Console) -> None:
    """Models that ``embed --model`` takes, as their classes describe themselves; of one, its options.

    Features: vectors depend on features of nodes. Multi-scale: hops have dimensions of their own. Implicit: the matrix
    that is factorised is never computed. Proximal: vectors tell where a node is, not only what is around it.
    Higher-order: they depend on nodes that are no neighbours. Inductive: nodes of other graphs can be embedded.
    Non-linear: what is approximated is no linear function of a node's vector. "sgns" is a yes with that solver.

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
        _described(name, model)
        for key, kind in sorted(MODELS.items(), key=lambda entry: (-entry[1]().uses_features, entry[1].kind))
        for name, model in _variants(key, kind())
    ]
    titles = [column.removeprefix("uses_").replace("_", "-") for column in _COLUMNS]
    console.answer({"methods": rows}, table_lines([titles, *(list(map(_shown, row.values())) for row in rows)]))


def _variants(name: str, model: Any) -> Iterator[tuple[str, Any]]:
    """A model, and its EGO variant where it has one."""
    yield name, model
    if "ego" in model.get_params():
        yield f"{name} --ego", model.set_params(ego=True)


def _described(name: str, model: Any) -> dict[str, Any]:
    """What a model says of itself; training is implicit, and through a logarithm that makes it non-linear."""
    row = {"name": name, **{column: getattr(model, column, False) for column in _COLUMNS[1:]}}
    if "sgns" in getattr(model, "solvers", ()) and "solver" in model.get_params():
        row |= {"implicit": "sgns", "non_linear": "sgns"}
    return row


def _shown(value: Any) -> str:
    return ("yes" if value else "-") if isinstance(value, bool) else str(value)
