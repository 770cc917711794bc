"""``hopscale embed`` and ``hopscale transform``: from files to vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hopscale.cli.options import GraphFiles, chosen_model, file_option, with_graph, with_parameters
from hopscale.cli.program import Console, finite_or_none, with_console
from hopscale.graph import AttributedGraph
from hopscale.io.atomic import check_writable
from hopscale.io.vectors import FORMATS, check_exportable, vector_format, write_vectors
from hopscale.models import NodeEmbedding, load_model
from hopscale.tasks import evaluate, summarize

__all__ = ["embed", "score_lines", "scores", "transform"]

_FORMAT = click.option(
    "--format", "format_name", type=click.Choice(FORMATS), help="Format of the vectors.  [default: by suffix]"
)


@click.command()
@with_graph(labels=True)
@file_option("--output", "-o", text="Where the nodes' vectors go: .csv, .tsv, .parquet, .npz, or word2vec .txt.")
@file_option("--feature-output", text="Where the features' vectors go.")
@_FORMAT
@file_option("--save", text="Where the model goes, for transform, neighbors and explain: .safetensors.")
@click.option("--score/--no-score", default=None, help="Score the vectors on the labels.  [default: if --labels]")
@with_parameters
@with_console
def embed(
    files: GraphFiles,
    output: Path | None,
    feature_output: Path | None,
    format_name: str | None,
    save: Path | None,
    score: bool | None,
    model: str,
    console: Console,
    **parameters: Any,
) -> None:
    """Learn vectors for the nodes and the features of a graph.

    Outputs are checked before the work starts, and appear whole or not at all.

    \b
    hopscale embed --edges edges.csv --features features.json -o vectors.csv
    hopscale embed --graph cora.npz -o vectors.parquet --save cora.safetensors --score
    hopscale embed --edges edges.csv --model deepwalk --dimensions 64 -o vectors.txt
    hopscale embed --edges e.csv --features f.json --solver sgns --epochs 1 --no-self-scale -o v.csv
    """
    learner = chosen_model(model, parameters).set_params(verbose=not console.quiet)
    tables = [path for path in (output, feature_output) if path is not None]
    formats = _checked_outputs(tables, [save] if save else [], files.paths, format_name)
    graph = files.read()
    if output:
        check_exportable(graph.node_ids, formats[output])
    if feature_output:
        check_exportable(learner.context_names(graph), formats[feature_output])
    console.say(_described(graph))

    begin = time.perf_counter()
    learner.fit(graph)
    seconds = time.perf_counter() - begin

    learner.set_params(verbose=False)  # a matter of this command, not of the model
    # Written before they are scored: nothing that goes wrong from here on costs the vectors.
    if save:
        learner.save(save)
    if output:
        learner.export(output, format=formats[output])
    if feature_output:
        learner.export(feature_output, what="features", format=formats[feature_output])
    written = {"output": output, "feature_output": feature_output, "save": save}
    results = scores(learner, graph) if score or (score is None and files.labels) else None
    _report(console, learner, seconds, {name: str(path) for name, path in written.items() if path}, results)


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@with_graph(labels=False)
@file_option("--output", "-o", required=True, text="Where the vectors go.")
@_FORMAT
@click.option("--n-jobs", type=int, default=-1, show_default=True, help="Threads; -1 for all cores.")
@with_console
def transform(
    model: Path, files: GraphFiles, output: Path, format_name: str | None, n_jobs: int, console: Console
) -> None:
    """Vectors of another graph's nodes, by a MODEL that was saved.

    Features are matched by name; their vectors stay as they are.

    \b
    hopscale transform model.safetensors --edges new.csv --features new.json -o vectors.csv
    """
    formats = _checked_outputs([output], [], [model, *files.paths], format_name)
    learner = load_model(model).set_params(verbose=not console.quiet, n_jobs=n_jobs)
    graph = files.read()
    check_exportable(graph.node_ids, formats[output])
    console.say(_described(graph))
    begin = time.perf_counter()
    vectors = learner.transform(graph)
    seconds = time.perf_counter() - begin
    write_vectors(output, graph.node_ids, vectors, columns=learner.get_feature_names_out(), format=formats[output])
    console.say(f"{len(vectors):,} vectors of {vectors.shape[1]} dimensions in {seconds:.2f} s: {output}")
    if console.as_json:
        size = {"nodes": graph.n_nodes, "dimensions": vectors.shape[1], "seconds": seconds}
        console.answer({"output": str(output), **size}, [])


def scores(model: NodeEmbedding, graph: AttributedGraph) -> dict[str, dict[str, float | None]]:
    """Mean and standard error of each metric over ten splits, from the graph's labels."""
    summary = summarize(evaluate(model, graph.labels))  # type: ignore[arg-type]
    return {metric: {word: finite_or_none(x) for word, x in row.items()} for metric, row in summary.items()}


def score_lines(results: dict[str, dict[str, float | None]]) -> list[str]:
    """A line for each metric."""
    shown = {metric: [f"{x:.3f}" if x is not None else "-" for x in row.values()] for metric, row in results.items()}
    return [f"  {metric:<18} {mean} ± {error}" for metric, (mean, error) in shown.items()]


def _checked_outputs(
    tables: Sequence[Path], others: Sequence[Path], inputs: Sequence[Path], format_name: str | None
) -> dict[Path, str]:
    """Format of each table, once it is certain that every output can be written and none is in use."""
    outputs = [*tables, *others]
    if not outputs:
        raise click.UsageError("nothing to write: give --output, --feature-output or --save")
    taken = {path.resolve(): "is read from" for path in inputs}
    for path in outputs:
        place = path.resolve()
        if place in taken and (path.is_file() or not path.exists()):
            raise click.UsageError(f"cannot write {str(path)!r}: it {taken[place]} as well")
        taken[place] = "is written to"
        check_writable(path)
    return {path: vector_format(path, format_name) for path in tables}


def _described(graph: AttributedGraph) -> str:
    return (
        f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features "
        f"({graph.features.nnz:,} entries)"
    )


def _report(
    console: Console,
    model: NodeEmbedding,
    seconds: float,
    written: dict[str, str],
    results: dict[str, dict[str, float | None]] | None,
) -> None:
    n, d = model.embedding_.shape
    console.say(f"{n:,} vectors of {d} dimensions in {seconds:.2f} s: {', '.join(written.values())}")
    if results:
        console.say("\n".join(["scores over 10 splits:", *score_lines(results)]))
    if console.as_json:
        size = {
            "nodes": n,
            "features": len(model.feature_names_),
            "dimensions": d,
            "scales": list(model.scale_columns_),
        }
        document = {"model": type(model).__name__, **size, "rows": model.rows_, "seconds": seconds, **written}
        console.answer({**document, "scores": results}, [])
