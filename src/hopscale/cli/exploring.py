"""``hopscale explore``: a model, or a graph, as a page that opens in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopscale.cli.embedding import timed
from hopscale.cli.fitted import check_picture, fitted, for_pictures, label_name, seed, shown_file
from hopscale.cli.options import with_parameters
from hopscale.cli.program import Console, several, with_console
from hopscale.cli.sources import GraphFiles
from hopscale.explore.explorer import ALL, check_page, write_explorer

__all__ = ["explore"]


@click.command()
@for_pictures("Where the page goes: .html.")
@click.option(
    "--scale",
    "scales",
    multiple=True,
    **several(),
    help=f"Scales that get a map: numbers of hops, labels such as 1-3, or {ALL}.  [default: {ALL} and each]",
)
@click.option(
    "--clusters",
    "n_clusters",
    type=click.IntRange(0, 1000),
    default=12,
    show_default=True,
    help="Clusters that nodes can be coloured by; 0 for none.",
)
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    help="Nodes on the page; of larger graphs as many are chosen at random.",
)
@with_parameters()
@with_console
def explore(
    saved: Path | None,
    files: GraphFiles | None,
    output: Path,
    title: str | None,
    scales: tuple[str, ...],
    method: Any,
    n_clusters: int,
    max_nodes: int,
    model: str,
    console: Console,
    **parameters: Any,
) -> None:
    """Write a page on which people explore a MODEL, or a graph: a map of its nodes and features.

    The page is one file that opens in any browser, without a network. It shows nodes and features by the vectors
    of all scales or of one, coloured by labels, features, clusters or values; it finds names, lists the nearest
    nodes and the features of a node, and those of all nodes within a lasso. With the graph, from files or in a
    model that was saved with --keep-graph, it knows which nodes have which features.

    \b
    hopscale explore model.safetensors -o map.html
    hopscale explore model.safetensors --labels labels.csv -o map.html
    hopscale explore --edges edges.csv --features features.json --labels labels.csv -o map.html
    hopscale explore --graph digits --scale all,1 --method pca -o map.html
    """
    check_page(output)
    method = check_picture(output, saved, files, method, is_drawn=False)
    shown = shown_file(saved, files)
    found = fitted(saved, files, model, parameters, console)
    _, seconds = timed(
        lambda: write_explorer(
            found.model,
            output,
            graph=found.graph,
            labels=found.labels,
            label_name=label_name(files),
            title=title or ("graph" if shown is None else shown.stem),
            scales=scales or None,
            method=method,
            n_clusters=n_clusters,
            max_nodes=max_nodes,
            random_state=seed(parameters),
            n_jobs=found.model.n_jobs,
            verbose=not console.quiet,
        )
    )
    size = output.stat().st_size if output.is_file() else 0
    nodes = min(len(found.model.node_ids_), max_nodes)
    console.say(f"page of {nodes:,} nodes in {seconds:.1f} s: {output} ({size / 1e6:.1f} MB)")
    if console.as_json:
        console.answer({"output": str(output), "nodes": nodes, "bytes": size, "seconds": seconds}, [])
