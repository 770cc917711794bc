"""``hopscale neighbors``, ``suggest-links``, ``suggest-features`` and ``clusters``: what vectors say of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from hopscale.cli.matching import graph_for
from hopscale.cli.program import Console, decorated, table_lines, with_console
from hopscale.cli.questions import MODEL, NODE_SETTINGS, SCALE, K, node_among
from hopscale.cli.sources import GraphFiles, saved_model, with_graph
from hopscale.io.vectors import name_text

__all__ = ["clusters", "neighbors", "suggest_features", "suggest_links"]

Scored = Sequence[tuple[Any, float]]

_SUGGESTING = decorated(K, with_graph(labels=False, optional=True), with_console)


@click.command(context_settings=NODE_SETTINGS)
@MODEL
@click.argument("nodes", nargs=-1)
@click.option("--feature", "features", multiple=True, help="Features like this one, instead; may be repeated.")
@click.option("--nodes-of", multiple=True, help="Nodes near which this feature stands out, instead; may be repeated.")
@K
@SCALE
@with_console
def neighbors(
    model: Path,
    nodes: tuple[str, ...],
    features: tuple[str, ...],
    nodes_of: tuple[str, ...],
    k: int,
    scale: str | None,
    console: Console,
) -> None:
    """Nodes with vectors most like those of each of NODES, by cosine, in a saved MODEL.

    \b
    hopscale neighbors model.safetensors 42
    hopscale neighbors model.safetensors ann bob --json
    hopscale neighbors model.safetensors "Ada Lovelace" -k 5 --scale 2
    hopscale neighbors model.safetensors '["node", 7]'
    hopscale neighbors model.safetensors --feature tea
    hopscale neighbors model.safetensors --nodes-of tea
    """
    if sum(map(bool, (nodes, features, nodes_of))) != 1:
        raise click.UsageError("give nodes, or --feature, or --nodes-of")
    learner: Any = saved_model(model)
    if nodes:
        of, what, word, found = "node", "node", "similarity", learner.neighbors
    elif features:
        of, what, word, found = "feature", "feature", "similarity", learner.similar_features
    else:
        of, what, word, found = "feature", "node", "score", learner.nodes_of
    known = learner.node_ids_ if nodes else learner.feature_names_
    asked = _meant(known, nodes or features or nodes_of)
    answers = found(asked, k=k, scale=scale)
    console.answer({"scale": scale, "answers": _documents(answers, of, "neighbors", what, word)}, _lines(answers))


@click.command("suggest-links", context_settings=NODE_SETTINGS)
@MODEL
@click.argument("nodes", nargs=-1)
@SCALE
@_SUGGESTING
def suggest_links(
    model: Path, nodes: tuple[str, ...], scale: str | None, k: int, files: GraphFiles | None, console: Console
) -> None:
    """Pairs of nodes without an edge that are most likely to have one, by a saved MODEL: of each of NODES, or of all.

    A score is the cosine of the vectors plus the logarithm of one plus the index of Adamic and Adar, which
    counts common neighbours. The graph comes from files, or from a model that was saved with --keep-graph.

    \b
    hopscale suggest-links model.safetensors --edges edges.csv
    hopscale suggest-links model.safetensors ann bob -k 5 --edges edges.csv --json
    """
    learner = saved_model(model).set_params(verbose=not console.quiet)
    graph = None if files is None else graph_for(learner, files, console)
    if nodes:
        asked = _meant(learner.node_ids_, nodes)
        answers = learner.suggest_links(asked, k=k, graph=graph, scale=scale)
        console.answer(
            {"scale": scale, "answers": _documents(answers, "node", "links", "node", "score")}, _lines(answers)
        )
        return
    pairs = learner.suggest_links(k=k, graph=graph, scale=scale)
    rows = [{"source": u, "target": v, "score": score} for u, v, score in pairs]
    lines = table_lines([(name_text(u), name_text(v), f"{score:7.4f}") for u, v, score in pairs], right=[2])
    console.answer({"scale": scale, "links": rows}, lines)


@click.command("suggest-features", context_settings=NODE_SETTINGS)
@MODEL
@click.argument("nodes", nargs=-1, required=True)
@_SUGGESTING
def suggest_features(model: Path, nodes: tuple[str, ...], k: int, files: GraphFiles | None, console: Console) -> None:
    """Features that each of NODES does not have but should, by a saved MODEL and the nodes' neighbours.

    A score estimates the probability that the node has the feature. The graph comes from files, or from a
    model that was saved with --keep-graph.

    \b
    hopscale suggest-features model.safetensors ann --edges edges.csv --features features.json
    """
    learner = saved_model(model)
    graph = None if files is None else graph_for(learner, files, console)
    asked = _meant(learner.node_ids_, nodes)
    answers = learner.suggest_features(asked, k=k, graph=graph)
    console.answer({"answers": _documents(answers, "node", "features", "feature", "score")}, _lines(answers))


@click.command()
@MODEL
@click.argument("number", type=click.IntRange(min=1))
@SCALE
@click.option("--random-state", type=click.IntRange(min=0), default=0, show_default=True, help="Seed.")
@with_console
def clusters(model: Path, number: int, scale: str | None, random_state: int, console: Console) -> None:
    """Cluster of each node, one of NUMBER, by the vectors of a saved MODEL: k-means on vectors of length one.

    Clusters are numbered from the largest, 0; -1 is for nodes of which nothing is known.

    \b
    hopscale clusters model.safetensors 8
    """
    learner = saved_model(model)
    found = learner.clusters(number, scale=scale, random_state=random_state).tolist()
    each = list(zip(learner.node_ids_.tolist(), found, strict=True))
    rows = [{"node": node, "cluster": cluster} for node, cluster in each]
    lines = table_lines([(name_text(node), str(cluster)) for node, cluster in each], right=[1])
    console.answer({"scale": scale, "clusters": rows}, lines)


def _meant(known: NDArray[Any], texts: Sequence[str]) -> list[Any]:
    """Names that texts on the command line mean; what looks like an option and is no name is an unknown option."""
    names = [node_among(known, text) for text in dict.fromkeys(texts)]
    for name in names:
        if isinstance(name, str) and name.startswith("--") and name not in known.tolist():
            raise click.NoSuchOption(name)
    return names


def _documents(answers: Mapping[Any, Scored], of: str, field: str, what: str, word: str) -> list[dict[str, Any]]:
    return [
        {of: name, field: [{what: other, word: score} for other, score in found]} for name, found in answers.items()
    ]


def _lines(answers: Mapping[Any, Scored]) -> list[str]:
    """A table, or one with a heading for each of several."""
    lines = []
    for name, found in answers.items():
        rows = [(name_text(other), f"{score:7.4f}") for other, score in found]
        table = table_lines(rows, right=[1])
        lines += table if len(answers) == 1 else [name_text(name), *(f"  {line}" for line in table or ["nothing"])]
    return lines
