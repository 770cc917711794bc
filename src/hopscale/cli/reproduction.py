"""The command that repeats the paper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from hopscale.cli.options import was_given
from hopscale.cli.program import Console, several, with_console
from hopscale.exceptions import ParameterError

__all__ = ["reproduce"]

# As in hopscale.paper, which is only imported when the command runs.
_EXPERIMENTS = (
    "classification", "few-shot", "regression", "transfer", "runtime", "densification", "theory",
    "link-prediction", "attribute-inference",
)  # fmt: skip
_OUTPUT = "hopscale-paper"
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument(
    "experiments", nargs=-1, required=True, metavar="EXPERIMENT...", **several(click.Choice([*_EXPERIMENTS, "all"]))
)
@click.option(
    "--models",
    "-m",
    multiple=True,
    metavar="NAME,...",
    help="Methods, such as AE,MUSAE-EGO; default: all.",
    **several(),
)
@click.option(
    "--solvers",
    "-s",
    multiple=True,
    metavar="[pmi|sgns],...",
    help="Default: both.",
    **several(click.Choice(["pmi", "sgns"])),
)
@click.option(
    "--datasets", "-d", multiple=True, metavar="NAME,...", help="Default: those of the experiment.", **several()
)
@click.option("--splits", type=click.IntRange(min=1), default=100, show_default=True, help="Splits, as in the paper.")
@click.option(
    "--fits",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Fits with other seeds, whose spread is in the errors; methods without a choice of solvers are fitted once.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the fits.")
@click.option("--n-jobs", type=int, help="Threads; default: all cores. Figures do not depend on it.")
@click.option(
    "--parameter",
    "-p",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another value than the paper's for a parameter, such as walks_per_node=1; without --models, for those that "
    "have it. May be repeated.",
)
@click.option("--data", type=click.Path(exists=True, file_okay=False), help="Folder of the data sets.")
@click.option("--cache", type=_FOLDER, help="Folder that keeps fitted models; default: the user's cache.")
@click.option(
    "--output",
    "-o",
    type=_FOLDER,
    default=_OUTPUT,
    help=f"Folder of records, tables and plots; default: {_OUTPUT} in the current folder.",
)
@click.option(
    "--again",
    type=click.IntRange(min=1),
    metavar="N",
    help="Measure N cells of the records again, drawn at random, and fail unless scores are the same. If other code "
    "made them and enough are, it is written down that both agree, and their records count as one.",
)
@click.option("--only-render", is_flag=True, help="Measure nothing: write tables and figures of the records there are.")
@with_console
def reproduce(
    experiments: tuple[str, ...],
    models: tuple[str, ...],
    parameters: tuple[str, ...],
    cache: Path | None,
    output: Path,
    only_render: bool,
    again: int | None,
    n_jobs: int | None,
    console: Console,
    **others: Any,
) -> int:
    """Repeat the paper's experiments and set the published figures beside the measured ones.

    \b
    hopscale reproduce classification --data FOLDER
    hopscale reproduce all --splits 10
    hopscale reproduce few-shot --models MUSAE,AE --datasets facebook
    hopscale reproduce all --again 24

    EXPERIMENT is one or more of classification, few-shot, regression, transfer, runtime, densification,
    theory, link-prediction, attribute-inference, or all.

    Every measurement is appended to OUTPUT/records as a line of JSON as soon as it is made. What is there is not
    measured again: stop it whenever you like, the next run goes on. Tables and plots are written to OUTPUT at the end.
    Records carry a hash of the code that made them. What older code measured is measured again, as far as it is asked
    for; pages of records by different code are not written, unless by --only-render, which marks them. If a change has
    left scores as they were, --again can show it, and nothing has to be measured again.
    """
    from hopscale.datasets.fetching import cache_folder
    from hopscale.paper import Options, render
    from hopscale.paper import reproduce as run
    from hopscale.paper.machine import cores
    from hopscale.paper.methods import row_name
    from hopscale.paper.pages import mixed_sources
    from hopscale.paper.runner import measure_again

    chosen = list(_EXPERIMENTS) if "all" in experiments else list(dict.fromkeys(experiments))
    names = list(dict.fromkeys(map(row_name, models))) or None
    console.say(f"writing to {output}" + ("" if was_given("output") else ", see --output"))
    failures: list[str] = []
    options = Options(
        cache=cache or cache_folder() / "fits",
        methods=names,
        parameters=dict(map(_parameter, parameters)),
        n_jobs=n_jobs or cores(),
        **{name: value for name, value in others.items() if value != ()},
    )
    if again is not None:
        failures = measure_again(chosen, options, output, again, say=console.say, progress=not console.quiet)
        console.answer({"measured_again": again, "failures": failures}, failures or ["all scores are the same"])
        return 1 if failures else 0
    if not only_render:
        failures = run(chosen, options, output, say=console.say, progress=not console.quiet)
    mixed = None if only_render else mixed_sources(output)
    failures += [mixed] if mixed else []
    written = [] if mixed else [str(path) for path in render(chosen, output)]
    if not (written or mixed):
        console.say(f"there are no records of {', '.join(chosen)} in {output / 'records'}: nothing to write")
    lines = [*written, *(f"failed: {failure}" for failure in failures)]
    console.answer({"written": written, "failures": failures}, lines)
    return 1 if failures else 0


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ParameterError(f"--parameter {text!r} must have the form NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value  # a word, such as start=node
