"""``hopscale plan``: what ``hopscale embed`` would take."""

from __future__ import annotations

import functools
from typing import Any

import click

from hopscale.cli.blocks import is_in_blocks
from hopscale.cli.options import chosen_model, with_parameters
from hopscale.cli.program import Command, Console, with_console
from hopscale.cli.sources import GraphFiles, with_graph
from hopscale.io.counting import can_be_sampled, count_rows
from hopscale.planning import plan as plan_fit
from hopscale.planning.files import counts_in_parts, size_of_rows
from hopscale.planning.report import document, lines
from hopscale.stored import StoredGraph

__all__ = ["plan"]

_COUNTS = {
    "n_nodes": ("--nodes-count", "Nodes of a graph that is not at hand, such as 1e8; --nodes 1e8 is the same."),
    "n_edges": ("--edges-count", "Its edges, each counted once."),
    "n_features": ("--features-count", "Its features, each counted once."),
    "n_entries": ("--entries", "Features of all its nodes, added up."),
}


def _with_counts(command: Command) -> Command:
    """Give a command the counts of a graph, as one argument ``counts``."""

    @functools.wraps(command)
    def wrapped(*args: Any, **options: Any) -> Any:
        counts = {name: options.pop(name) for name in _COUNTS}
        table = options.get("node_table")
        # --nodes is the file with a table of nodes in other commands; a number is none.
        if table is not None and not table.exists() and (number := _number(str(table))) is not None:
            if counts["n_nodes"] is not None:
                raise click.UsageError("give the number of nodes once: --nodes or --nodes-count")
            counts["n_nodes"], options["node_table"] = number, None
        given = {name: value for name, value in counts.items() if value is not None}
        return command(*args, counts=given, **options)

    for name, (flag, text) in reversed(_COUNTS.items()):
        wrapped = click.option(flag, name, type=float, help=text)(wrapped)
    return wrapped


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@click.command()
@_with_counts
@with_graph(labels=False, optional=True)
@click.option("--memory", help="Memory of a machine, such as 16GB.  [default: that of this one]")
@click.option("--cores", type=int, help="Cores of a machine.  [default: as --n-jobs says]")
@click.option("--machines", type=int, default=1, show_default=True, help="Machines of a cluster.")
@click.option("--gpu", is_flag=True, help="Plan for a GPU, by what was measured on an H200.")
@click.option(
    "--calibration/--no-calibration",
    default=True,
    show_default=True,
    help="Scale seconds by a product that is timed here, which takes a fraction of a second.",
)
@with_parameters()
@with_console
def plan(
    files: GraphFiles | None,
    counts: dict[str, float],
    memory: str | None,
    cores: int | None,
    machines: int,
    gpu: bool,
    calibration: bool,
    model: str,
    console: Console,
    **parameters: Any,
) -> None:
    """What embed would take: time, memory, the form of rows, and what to change if it does not fit.

    The graph is given as files, as embed takes them, or as counts. Large files are not read whole: Parquet tells its
    rows, and pieces of a file tell the rest. A folder, a glob or a stored graph means a fit in blocks, as it does to
    embed. Time is that of this machine, from costs that were fitted to measured fits.

    \b
    hopscale plan --edges edges.parquet --features features.parquet --memory 16GB --cores 8
    hopscale plan --edges edges/ --features 'features/*.parquet'
    hopscale plan --edges edges/ --features 'features/*.parquet' --machines 4
    hopscale plan --graph cora
    hopscale plan --nodes 1e8 --edges-count 1e9 --features-count 50000 --entries 2e9 --memory 64GB --cores 16
    hopscale plan --nodes 1e8 --edges-count 1e9 --features-count 50000 --entries 2e9 --machines 10 --json
    """
    learner = chosen_model(model, parameters)
    if (files is None) == (not counts):
        raise click.UsageError("give either a graph (--edges or --graph) or its counts (--nodes 1e8 --edges-count 1e9)")
    graph = None if files is None else _graph(files, console)
    settings: dict[str, Any] = {"memory": memory, "cores": cores, "machines": machines, "gpu": gpu, **counts}
    found = plan_fit(graph, model=learner, calibrate=calibration, **settings)
    console.answer(document(found), lines(found))


def _graph(files: GraphFiles, console: Console) -> Any:
    """The graph, or its counts where its files are large and a part of them tells."""
    columns: dict[str, Any] = {name: getattr(files, name) for name in ("source", "target", "weight", "value")}
    columns["weight"] = False if files.no_weight else files.weight
    in_blocks = is_in_blocks(files, None)
    if in_blocks and files.graph is not None:
        return StoredGraph.open(files.graph, validate=False)  # its counts are all that is needed
    if in_blocks and files.node_table is not None:
        raise click.UsageError("--nodes goes with files of edges that are read whole: name one file")
    if in_blocks:
        assert files.edges is not None
        found = counts_in_parts(files.edges, files.features, **columns, say=console.say)
    elif files.edges not in files.paths or files.node_table is not None or not can_be_sampled(*files.paths):
        return files.read(say=console.say)
    else:
        assert files.edges is not None
        headers = {name: getattr(files, f"{name}_header") for name in ("edges", "features")}
        found = count_rows(
            files.edges,
            files.features,
            **columns,
            header={name: files.header if header is None else header for name, header in headers.items()},
            skip_bad_lines=files.skip_bad_lines,
        )
    size = size_of_rows(found, "files" if in_blocks else "memory")
    if found.share < 1:
        console.say(f"counts are estimated from {size.source}; --nodes, --edges-count and the like plan for exact ones")
    return size
