"""``hopscale info``: what is in a saved model or a graph."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
import numpy as np
from scipy.sparse.csgraph import connected_components

from hopscale.cli.program import Console, finite_or_none, shown, with_console
from hopscale.cli.sources import STREAM, GraphFiles, Predictor, looks_like_model, model_size, saved, with_graph
from hopscale.graph import AttributedGraph
from hopscale.labels import has_class, has_value, likely_task
from hopscale.models import NodeEmbedding
from hopscale.supervised import GraphClassifier

__all__ = ["info"]


@click.command()
@with_graph(labels=True, argument="path")
@with_console
def info(files: GraphFiles, console: Console) -> None:
    """What is in PATH: a saved model, a graph as a file or by name, or a list of edges.

    \b
    hopscale info model.safetensors
    hopscale info cora.npz
    hopscale info digits
    hopscale info edges.csv --features features.json --json
    hopscale info --edges payments.csv --source payer --target payee --weight amount
    """
    place = files.graph
    if place not in (None, STREAM) and files.name is None and looks_like_model(place):
        model = saved(place)
        document = _predictor_facts(model) if isinstance(model, Predictor) else _model_facts(model)
    else:
        document = _graph_facts(files.read(say=console.say))
    console.answer(document, _fact_lines(document))


def _model_facts(model: NodeEmbedding) -> dict[str, Any]:
    scales = [
        {
            "scale": label,
            "dimensions": columns.stop - columns.start,
            "learnt_from": model.rows_.get(label, ""),
            "captured": model.captured_.get(label),
        }
        for label, columns in model.scale_columns_.items()
    ]
    return {
        "kind": "model",
        **model_size(model),
        "zero_vectors": int((~model.embedding_.any(axis=1)).sum()),
        "graph_kept": hasattr(model, "graph_"),
        "scales": scales,
        "parameters": model.get_params(),
    }


def _predictor_facts(model: Predictor) -> dict[str, Any]:
    report, parameters = model.report_, model.get_params(deep=False)
    classes = {} if not isinstance(model, GraphClassifier) else {"classes": len(model.classes_)}
    return {
        "kind": "predictor",
        "model": type(model).__name__,
        "nodes": len(model.node_ids_),
        "features": len(model.feature_names_),
        "training_nodes": report.n_train,
        **classes,
        "chosen": str(report.chosen),
        "accuracy" if classes else "r2": report.chosen.score,
        "commonest_class" if classes else "mean_value": report.baseline,
        "embedder": None if model.embedder_ is None else model_size(model.embedder_),
        "parameters": {name: value for name, value in parameters.items() if name != "embedder"},
    }


def _graph_facts(graph: AttributedGraph) -> dict[str, Any]:
    steps = np.diff(graph.adjacency.indptr)
    per_node = np.diff(graph.features.indptr)
    return {
        "kind": "graph",
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "feature_entries": int(graph.features.nnz),
        "features_per_node": float(per_node.mean()),
        "nodes_without_features": int((per_node == 0).sum()),
        "mean_neighbors": float(steps.mean()),
        "most_neighbors": int(steps.max()),
        "isolated_nodes": int((steps == 0).sum()),
        "components": int(connected_components(graph.adjacency, directed=False, return_labels=False)),
        "weighted": graph.is_weighted,
        "labels": _label_facts(graph.labels),
    }


def _label_facts(labels: Any) -> dict[str, Any] | None:
    if labels is None:
        return None
    task, _ = likely_task(labels)
    known = labels[has_value(labels) if task == "regression" else has_class(labels)].tolist()
    if task == "regression":
        smallest, largest = (finite_or_none(float(end(known))) for end in (min, max))
        return {"task": task, "labelled_nodes": len(known), "smallest": smallest, "largest": largest}
    counts = Counter(known)
    share = max(counts.values()) / len(known) if known else None
    return {"task": task, "labelled_nodes": len(known), "classes": len(counts), "share_of_largest_class": share}


def _fact_lines(document: dict[str, Any], indent: str = "") -> list[str]:
    lines = []
    for name, value in document.items():
        words = indent + name.replace("_", " ") if name != "parameters" and not indent else indent + name
        if isinstance(value, dict):
            lines += [words, *_fact_lines(value, indent + "  ")]
        elif isinstance(value, list):
            shares = [f"{100 * row['captured']:.0f} %" if row["captured"] is not None else "-" for row in value]
            rows = [
                f"{indent}  {row['scale']:<6} {row['dimensions']:>4} {share:>6}  {row['learnt_from']}"
                for row, share in zip(value, shares, strict=True)
            ]
            lines += [f"{words} (label, dimensions, share of the matrix that they hold, learnt from)", *rows]
        else:
            lines.append(f"{words:<26} {shown(value, 4)}")
    return lines
