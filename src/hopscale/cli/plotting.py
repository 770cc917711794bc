"""``hopscale plot``: a map of the nodes as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopscale.cli.embedding import timed
from hopscale.cli.fitted import check_picture, fitted, for_pictures, label_name, seed
from hopscale.cli.options import with_parameters
from hopscale.cli.program import Console, with_console
from hopscale.cli.questions import SCALE, node_among
from hopscale.cli.sources import GraphFiles
from hopscale.explore.node_colors import chosen_colors
from hopscale.explore.plots import new_figure, picture_format, plot_colored, save_picture

__all__ = ["plot"]


@click.command()
@for_pictures("Where the picture goes: .png, .svg or .pdf.")
@click.option("--feature", help="Colour nodes by how much this feature stands out around them.")
@click.option("--clusters", "n_clusters", type=click.IntRange(min=1), help="Colour nodes by so many clusters.")
@click.option("--names", type=click.IntRange(min=0), default=0, show_default=True, help="Features to write on the map.")
@SCALE
@with_parameters()
@with_console
def plot(
    saved: Path | None,
    files: GraphFiles | None,
    output: Path,
    feature: str | None,
    n_clusters: int | None,
    names: int,
    scale: str | None,
    method: Any,
    title: str | None,
    model: str,
    console: Console,
    **parameters: Any,
) -> None:
    """Draw a map of the nodes of a saved MODEL, or of a graph, as PNG, SVG or PDF.

    Nodes with similar vectors are close to each other. They are coloured by their labels, if there are any:
    those of the graph, or of a file that is given with the model. Without a MODEL one is learnt from the
    graph first, as by hopscale embed.

    \b
    hopscale plot model.safetensors -o map.png
    hopscale plot model.safetensors --labels labels.csv -o map.svg --names 20
    hopscale plot model.safetensors -o map.png --feature tea --scale 1
    hopscale plot --graph digits -o map.png
    hopscale plot --edges edges.csv --features features.json -o map.png --clusters 8
    """
    picture_format(output)
    method = check_picture(output, saved, files, method)
    found = fitted(saved, files, model, parameters, console)
    learner = found.model
    by_label = feature is None and n_clusters is None
    colors = chosen_colors(
        learner,
        color=found.labels if by_label else None,
        color_name=label_name(files),
        feature=None if feature is None else node_among(learner.feature_names_, feature),
        n_clusters=n_clusters,
        scale=scale,
        random_state=seed(parameters),
    )
    figure = new_figure(colors)

    def draw() -> None:
        how = {"scale": scale, "names": names, "method": method, "title": title, "seed": seed(parameters)}
        plot_colored(learner, figure.add_subplot(), colors, **how)
        save_picture(figure, output)

    _, seconds = timed(draw)
    console.say(f"map of {len(learner.node_ids_):,} nodes in {seconds:.1f} s: {output}")
    if console.as_json:
        console.answer({"output": str(output), "nodes": len(learner.node_ids_), "seconds": seconds}, [])
