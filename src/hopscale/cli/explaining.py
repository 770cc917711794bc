"""``hopscale explain``: features around a node, exactly or as a saved model estimates them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopscale.cli.matching import graph_for
from hopscale.cli.program import Console, table_lines, with_console
from hopscale.cli.questions import MODEL, NODE_SETTINGS, SCALE, K, node_among
from hopscale.cli.sources import GraphFiles, Predictor, saved, with_graph
from hopscale.graph import AttributedGraph
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

    Of a model that classify or regress has saved, it is the prediction that is explained: features at numbers of
    hops that speak for it or against it, which add up to the score of the head. That needs the graph.

    \b
    hopscale explain model.safetensors 42
    hopscale explain model.safetensors 42 --edges edges.csv --features features.json
    hopscale explain model.safetensors 42 -k 3 --scale 0 --json
    """
    learner = saved(model)
    if isinstance(learner, Predictor):
        if scale is not None:
            raise click.UsageError("--scale is for vectors: a prediction is explained by features at all scales")
        if files is None and not hasattr(learner.embedder_, "graph_"):
            raise click.UsageError(
                "a prediction is explained from the graph: give --edges and --features, or --graph, or save the model "
                "with --keep-graph"
            )
    graph = None if files is None else graph_for(learner, files, console)
    name = node_among(learner.node_ids_ if graph is None else graph.node_ids, node)
    if isinstance(learner, Predictor):
        console.answer(*_evidence(learner, name, graph, k))
        return
    answer = learner.explain(name, graph=graph, k=k, scale=scale)
    scales = {
        label: [{"feature": feature, "score": score} for feature, score in found] for label, found in answer.items()
    }
    document = {"node": name, "exact": answer.exact, "captured": answer.captured, "scales": scales}
    console.answer(document, explanation_lines(answer))


def _evidence(model: Predictor, node: Any, graph: AttributedGraph | None, k: int) -> tuple[dict[str, Any], list[str]]:
    """Why a node is predicted to be what it is, as a document and as lines."""
    found = model.explain_prediction(node, graph=graph)
    top, rest = found.parts[:k], found.parts[k:]
    others = sum(value for *_, value in rest)
    document = {
        "node": node,
        "prediction": found.prediction,
        "probability": found.probability,
        "score": found.score,
        "intercept": found.intercept,
        "parts": [{"feature": feature, "hops": hops, "evidence": value} for feature, hops, value in top],
        "other_parts": {"number": len(rest), "evidence": others},
        "unexplained": found.unexplained,
    }
    rows = [(f"  {name_text(feature)}", f"{hops} hops", f"{value:+8.4f}") for feature, hops, value in top]
    rows += [(f"  {len(rest)} other parts", "", f"{others:+8.4f}")] if rest else []
    rows += [("  intercept", "", f"{found.intercept + found.unexplained:+8.4f}")]
    rows += [("  score of the head", "", f"{found.score:+8.4f}")]
    probability = "" if found.probability is None else f", probability {found.probability:.4f}"
    return document, [f"{name_text(found.prediction)}{probability}", *table_lines(rows, right=[2])]


def explanation_lines(answer: Explanation) -> list[str]:
    """A paragraph a scale, and what estimates are."""
    lines = []
    for label, found in answer.items():
        rows = [(f"  {name_text(feature)}", f"{score:+7.3f}") for feature, score in found]
        lines += [f"scale {label} ({answer.how_known(label)})", *(table_lines(rows, right=[1]) or ["  nothing"])]
    return lines if answer.exact else [*lines, _EXACT_WAYS]
