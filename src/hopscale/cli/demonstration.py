"""``hopscale demo``: what the vectors are good for, in a few seconds, on data that needs no download."""

from __future__ import annotations

import time
from typing import Any

import click

from hopscale.cli.embedding import score_lines, scores
from hopscale.cli.program import Console, with_console
from hopscale.cli.questions import explanation_lines
from hopscale.datasets import digits, figure1
from hopscale.models.walk.musae import MUSAE

__all__ = ["demo"]

_NODE = 7  # a digit whose neighbours show something
_NEIGHBORS = 5
_FEATURES = 3


@click.command()
@with_console
def demo(console: Console) -> None:
    """Learn, score, search and explain on built-in data.

    \b
    hopscale demo
    hopscale demo --json
    """
    console.say("digits: 1,797 images, joined to those that look alike; their features are dark pixels")
    first = _digits()
    second = _figure1()
    console.answer({"digits": first, "figure1": second}, [*_digits_lines(first), "", *_figure1_lines(second)])


def _digits() -> dict[str, Any]:
    graph = digits()
    model = MUSAE()
    begin = time.perf_counter()
    model.fit(graph)
    seconds = time.perf_counter() - begin
    found = model.neighbors(_NODE, k=_NEIGHBORS)
    label = graph.labels.tolist()  # type: ignore[union-attr]
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "dimensions": model.embedding_.shape[1],
        "seconds": seconds,
        "scores": scores(model, graph, "classification"),
        "node": {"node": _NODE, "label": label[_NODE]},
        "neighbors": [{"node": node, "label": label[node], "similarity": near} for node, near in found],
        "explanation": model.explain(_NODE, k=_FEATURES),
    }


def _figure1() -> dict[str, Any]:
    graph = figure1()
    model = MUSAE(dimensions=16).fit(graph)
    similarity = {
        label: dict(model.neighbors("D", k=graph.n_nodes, scale=label))["G"] for label in model.scale_columns_
    }
    return {"nodes": ["D", "G"], "similarity": similarity}


def _digits_lines(answer: dict[str, Any]) -> list[str]:
    node = answer["node"]
    return [
        f"Handwritten digits: {answer['nodes']:,} nodes, {answer['edges']:,} edges, {answer['features']} features.",
        f"MUSAE learnt {answer['dimensions']} dimensions in {answer['seconds']:.2f} s.",
        "",
        "How well a linear model reads the digit off the vectors (10 splits, mean ± standard error;",
        "majority_micro_f1 is what always answering the commonest digit scores):",
        *[f"  {line}" for line in score_lines(answer["scores"])],
        "",
        f"Nodes most like node {node['node']}, a {node['label']}:",
        *[f"  node {row['node']:<5} a {row['label']}  {row['similarity']:.3f}" for row in answer["neighbors"]],
        "",
        f"Pixels (row, column) that stand out around node {node['node']}, by number of hops:",
        *[f"  {line}" for line in explanation_lines(answer["explanation"])],
    ]


def _figure1_lines(answer: dict[str, Any]) -> list[str]:
    return [
        "The paper's figure 1: similarity of the nodes D and G, by number of hops:",
        *[f"  scale {label}  {near:.3f}" for label, near in answer["similarity"].items()],
        "D and G are far apart, yet alike in their own and their neighbours' features and different beyond:",
        "only vectors with a block of dimensions for each scale can say both.",
    ]
