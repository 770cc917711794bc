"""Options that are read off the models."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from hopscale.exceptions import HopscaleWarning
from hopscale.models import MUSAE, NodeEmbedding, registry
from hopscale.parallel import effective_jobs

__all__ = ["MODELS", "PARAMETER_HELP", "chosen_model", "flag", "was_given", "with_parameters"]

Command = Callable[..., Any]

MODELS = {name.lower(): model for name, model in registry.MODELS.items()}

# What is not here is not an option; names, types and defaults come from the models themselves.
PARAMETER_HELP = {
    "dimensions": "Length of the vectors, all scales together.",
    "window": "Largest number of hops.",
    "self_scale": "Scale 0, the node's own features (ae and musae).",
    "ego": "Every node is a feature of its own as well (ae and musae).",
    "solver": "Factorise the matrix, or train on sampled walks.",
    "shift": "pmi: divide ratios by it before the logarithm.",
    "rows": "pmi: compute the matrix, or estimate its rows from walks.",
    "memory_limit": "pmi: memory for the matrix, such as 500MB.",
    "walk_length": "Length of the walks.",
    "walks_per_node": "Number of walks a node.",
    "start": "sgns: start walks in proportion to degree, or at every node.",
    "epochs": "sgns: passes over the walks.",
    "negatives": "sgns: noise features per pair.",
    "share_negatives": "sgns: small batches of pairs share their noise.",
    "noise_exponent": "Power of p(f) that noise is drawn from, or replaced by.",
    "subsample": "sgns: sub-sample frequent features; 0 keeps all.",
    "learning_rate": "sgns: first learning rate.",
    "min_learning_rate": "sgns: last learning rate.",
    "n_jobs": "Threads; -1 for all cores. Changes no bit of the result.",
    "random_state": "Seed.",
}


def with_parameters(command: Command) -> Command:
    """Give a command ``--model`` and an option for every parameter that a model can have."""
    hints = get_type_hints(MUSAE.__init__)
    parameters = inspect.signature(MUSAE).parameters
    for name in reversed(PARAMETER_HELP):
        command = _option(name, parameters[name].default, hints[name])(command)
    return click.option(
        "--model", type=click.Choice(list(MODELS)), default="musae", show_default=True, help="What to learn."
    )(command)


def _option(name: str, default: Any, hint: Any) -> Callable[[Command], Command]:
    words = flag(name)
    kind: Any = type(default)
    if isinstance(default, bool):
        words, kind = f"{words}/--no-{words[2:]}", None
    elif get_origin(hint) is Literal:
        kind = click.Choice(get_args(hint))
    return click.option(words, name, type=kind, default=default, show_default=True, help=PARAMETER_HELP[name])


def chosen_model(name: str, options: dict[str, Any]) -> NodeEmbedding:
    """Model with the parameters that were given, checked before anything is read.

    A parameter that the model does not have must not have been given; one that its solver passes over is
    worth a warning.
    """
    known = inspect.signature(MODELS[name]).parameters
    given = [option for option in options if was_given(option)]
    for option in given:
        if option not in known:
            raise click.UsageError(f"{flag(option)} means nothing to the model {name}")
    ignored = [flag(option) for option in given if _solver_of(option) not in (None, options["solver"])]
    if ignored:
        warnings.warn(
            f"ignored, because it means nothing to --solver {options['solver']}: {', '.join(ignored)}",
            HopscaleWarning,
            stacklevel=2,
        )
    model = MODELS[name](**{option: value for option, value in options.items() if option in known})
    model._checked_scales()
    model._checked_solver()
    effective_jobs(model.n_jobs)
    return model


def was_given(option: str) -> bool:
    """Whether an option stands on the command line."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def flag(parameter: str) -> str:
    """Option for a parameter.

    >>> flag("memory_limit")
    '--memory-limit'
    """
    return "--" + parameter.replace("_", "-")


def _solver_of(parameter: str) -> str | None:
    """The only solver that knows a parameter, as its help says."""
    word, colon, _ = PARAMETER_HELP[parameter].partition(": ")
    return word if colon else None
