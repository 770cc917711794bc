"""Scores of vectors on labels: which task, on how many splits, and how they are shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from hopscale.cli.options import was_given
from hopscale.cli.program import Console, decorated, finite_or_none
from hopscale.graph import AttributedGraph
from hopscale.models import NodeEmbedding
from hopscale.tasks import Record, Task, evaluate, likely_task, summarize

__all__ = ["SCORE_OPTIONS", "asks_for_scores", "mean_scores", "score_lines", "scored"]

Scores = dict[str, dict[str, float | None]]

SPLITS = 10
LEAST_SECONDS = 2.0  # that scoring may take, however little the embedding took

SCORE_OPTIONS = decorated(
    click.option("--score/--no-score", default=None, help="Score the vectors on the labels.  [default: if --labels]"),
    click.option(
        "--task",
        type=click.Choice(["auto", "classification", "regression"]),
        default="auto",
        show_default=True,
        help="What to score on: classes or values. auto takes whole numbers with many values, and others, for values.",
    ),
    click.option(
        "--splits",
        type=click.IntRange(min=1),
        help=f"How many to score on.  [default: {SPLITS}, or fewer if these would take longer than the embedding]",
    ),
    click.option("--standardize", is_flag=True, help="Score vectors that are scaled to mean 0 and variance 1."),
)


def asks_for_scores() -> bool:
    """Whether an option was given that means nothing without scores."""
    return any(map(was_given, ("task", "splits", "standardize")))


def scored(
    model: NodeEmbedding,
    graph: AttributedGraph,
    console: Console,
    seconds: float,
    *,
    task: str = "auto",
    splits: int | None = None,
    standardize: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Scores on the graph's labels as a document and as lines; ``seconds`` is what the embedding took."""
    chosen, begin = _chosen_task(graph, task, console), time.perf_counter()
    records = evaluate(
        model,
        graph.labels,  # type: ignore[arg-type]
        chosen,
        splits=splits or SPLITS,
        standardize=standardize,
        n_jobs=model.n_jobs,
        max_seconds=None if splits else max(seconds, LEAST_SECONDS),
        progress=not console.quiet,
    )
    console.say(_heading(len(records), splits or SPLITS, time.perf_counter() - begin))
    scores = mean_scores(records)
    return {"task": chosen, "splits": len(records), "scores": scores}, score_lines(scores)


def mean_scores(records: Sequence[Record]) -> Scores:
    """Mean and standard error of each metric, None where they are not defined."""
    return {metric: {word: finite_or_none(x) for word, x in row.items()} for metric, row in summarize(records).items()}


def score_lines(scores: Scores) -> list[str]:
    """A line for each metric; a single split has no standard error."""
    shown = {metric: [f"{x:.3f}" for x in row.values() if x is not None] or ["-"] for metric, row in scores.items()}
    return [f"{metric:<18} {' ± '.join(values)}" for metric, values in shown.items()]


def _heading(taken: int, splits: int, seconds: float) -> str:
    what = "mean ± standard error over" if taken > 1 else "score on"
    if taken == splits:
        return f"{what} {taken} split{'s' * (taken > 1)}:"
    all_of_them = _duration(seconds / taken * splits)
    return f"{what} {taken} of {splits} splits (all would take {all_of_them}; --splits {splits} takes them):"


def _duration(seconds: float) -> str:
    """A time as people say it.

    >>> _duration(12.3), _duration(250)
    ('12 s', '4 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _chosen_task(graph: AttributedGraph, asked: str, console: Console) -> Task:
    """The task that was asked for, or the likely one with a word about it."""
    if asked != "auto":
        return asked  # type: ignore[return-value]
    task, reason = likely_task(graph.labels)  # type: ignore[arg-type]
    other = "regression" if task == "classification" else "classification"
    console.say(f"scored as {task}: {reason} (--task {other} if that is wrong)")
    return task
