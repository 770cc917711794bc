"""``hopscale explain``: features around a node, exactly or as a saved model estimates them."""

from __future__ import annotations

from pathlib import Path

import click

from hopscale.cli.matching import graph_for
from hopscale.cli.program import Console, table_lines, with_console
from hopscale.cli.questions import MODEL, NODE_SETTINGS, SCALE, K, node_among
from hopscale.cli.sources import GraphFiles, saved_model, with_graph
from hopscale.io.vectors import name_text
from hopscale.models.explanation import Explanation

__all__ = ["explain", "explanation_lines"]

_EXACT_WAYS = (
    "Estimates may show features that are not there. Exact values need the graph: give --edges and --features, or "
    "--graph, or save the model with --keep-graph."
)


@click.command(context_settings=NODE_SETTINGS)
@MODEL
@click.argument("node")
@K
@SCALE
@with_graph(labels=False, optional=True)
@with_console
def explain(model: Path, node: str, k: int, scale: str | None, files: GraphFiles | None, console: Console) -> None:
    """Features that stand out around NODE, scale by scale, in a saved MODEL.

    A score is the natural logarithm of how many times more often the feature is met that many hops from
    the node than elsewhere. With the graph, from files or in a model that was saved with --keep-graph,
    scores are exact, and of features that are really met; NODE may then be one that the model does not
    know. Without it they are estimates by the vectors, which may show features that are not there.

    \b
    hopscale explain model.safetensors 42
    hopscale explain model.safetensors 42 --edges edges.csv --features features.json
    hopscale explain model.safetensors 42 -k 3 --scale 0 --json
    """
    learner = saved_model(model)
    graph = None if files is None else graph_for(learner, files, console)
    name = node_among(learner.node_ids_ if graph is None else graph.node_ids, node)
    answer = learner.explain(name, graph=graph, k=k, scale=scale)
    scales = {
        label: [{"feature": feature, "score": score} for feature, score in found] for label, found in answer.items()
    }
    document = {"node": name, "exact": answer.exact, "captured": answer.captured, "scales": scales}
    console.answer(document, explanation_lines(answer))


def explanation_lines(answer: Explanation) -> list[str]:
    """A paragraph a scale, and what estimates are."""
    lines = []
    for label, found in answer.items():
        rows = [(f"  {name_text(feature)}", f"{score:+7.3f}") for feature, score in found]
        lines += [f"scale {label} ({answer.how_known(label)})", *(table_lines(rows, right=[1]) or ["  nothing"])]
    return lines if answer.exact else [*lines, _EXACT_WAYS]
