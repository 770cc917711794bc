"""``hopscale demo``: what the vectors are good for, in a few seconds, on data that needs no download."""

from __future__ import annotations

from typing import Any

import click

from hopscale.cli.embedding import timed
from hopscale.cli.explaining import explanation_lines
from hopscale.cli.program import Console, with_console
from hopscale.cli.scoring import mean_scores, score_lines
from hopscale.datasets import digits, figure1
from hopscale.models.walk.musae import MUSAE
from hopscale.tasks import evaluate

__all__ = ["demo"]

_NODE = 7  # a digit whose neighbours show something


@click.command()
@with_console
def demo(console: Console) -> None:
    """Learn, score, search and explain on built-in data.

    \b
    hopscale demo
    hopscale demo --json
    """
    console.say("digits: 1,797 images, joined to those that look alike; their features are dark pixels")
    first, lines = _digits()
    second, more = _figure1()
    console.answer({"digits": first, "figure1": second}, [*lines, "", *more])


def _digits() -> tuple[dict[str, Any], list[str]]:
    graph, model = digits(), MUSAE()
    _, seconds = timed(lambda: model.fit(graph))
    label = graph.labels.tolist()  # type: ignore[union-attr]
    found = [(node, label[node], near) for node, near in model.neighbors(_NODE, k=5)]
    results = mean_scores(evaluate(model, graph.labels, "classification"))  # type: ignore[arg-type]
    explanation = model.explain(_NODE, graph=graph, k=3)
    document = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "dimensions": model.embedding_.shape[1],
        "seconds": seconds,
        "scores": results,
        "node": {"node": _NODE, "label": label[_NODE]},
        "neighbors": [{"node": node, "label": digit, "similarity": near} for node, digit, near in found],
        "explanation": explanation,
    }
    return document, [
        f"Handwritten digits: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features} features.",
        f"MUSAE learnt {model.embedding_.shape[1]} dimensions in {seconds:.2f} s.",
        "",
        "How well a linear model reads the digit off the vectors (10 splits, mean ± standard error;",
        "majority_micro_f1 is what always answering the commonest digit scores):",
        *(f"  {line}" for line in score_lines(results)),
        "",
        f"Nodes most like node {_NODE}, a {label[_NODE]}:",
        *(f"  node {node:<5} a {digit}  {near:.3f}" for node, digit, near in found),
        "",
        f"Pixels (row, column) that stand out around node {_NODE}, by number of hops:",
        *(f"  {line}" for line in explanation_lines(explanation)),
    ]


def _figure1() -> tuple[dict[str, Any], list[str]]:
    model = MUSAE(dimensions=16).fit(figure1())
    k = len(model.node_ids_)
    similarity = {label: dict(model.neighbors("D", k=k, scale=label))["G"] for label in model.scale_columns_}
    return {"nodes": ["D", "G"], "similarity": similarity}, [
        "The paper's figure 1: similarity of the nodes D and G, by number of hops:",
        *(f"  scale {label}  {near:.3f}" for label, near in similarity.items()),
        "D and G are far apart, yet alike in their own and their neighbours' features and different beyond:",
        "only vectors with a block of dimensions for each scale can say both.",
    ]
