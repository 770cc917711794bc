"""Options that are read off the models."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from hopscale.exceptions import HopscaleWarning
from hopscale.models import NodeEmbedding, registry

__all__ = ["MODELS", "PARAMETER_HELP", "chosen_model", "flag", "parameters_of", "was_given", "with_parameters"]

Command = Callable[..., Any]

MODELS = {name.lower(): model for name, model in registry.MODELS.items()}

# What is not here is not an option; names, types and defaults come from the models themselves.
PARAMETER_HELP = {
    "dimensions": "Length of the vectors, all scales together.",
    "window": "Largest number of hops.",
    "self_scale": "Scale 0, the node's own features (ae and musae).",
    "ego": "Every node is a feature of its own as well (ae and musae).",
    "solver": "Factorise the matrix, or train on sampled walks.",
    "shift": "pmi, and other matrices: divide ratios by it before the logarithm.",
    "rows": "pmi, and other matrices: compute them, or estimate their rows from walks.",
    "memory_limit": "Memory for matrices and other work, such as 500MB.",
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
    "p": "node2vec: what a step back is divided by.",
    "q": "node2vec: what a step away from the last neighbours is divided by.",
    "proximity": "hope: what is factorised.",
    "decay": "hope: share of the largest possible decay (katz), or chance to go on (rooted-pagerank).",
    "text_dimensions": "tadw: columns that features are reduced to.",
    "regularization": "tadw, bane: weight of the vectors' lengths.",
    "smoothness": "aane: weight of differences between neighbours.",
    "penalty": "aane: weight of differences between the two copies.",
    "strength": "bane: share of a step that goes to the neighbours.",
    "agreement": "tene: weight of what walks and features must agree on.",
    "text_weight": "tene: weight of the features.",
    "attribute_weight": "asne: weight of the features in the vectors.",
    "iterations": "Of the models that alternate.",
    "feature_dimensions": "asne, feather: columns that features are reduced to.",
    "points": "feather: points of the characteristic function.",
    "largest_point": "feather: the last of them.",
    "n_jobs": "Threads; -1 for all cores. Changes no bit of the result.",
    "random_state": "Seed.",
}


def with_parameters(command: Command) -> Command:
    """Give a command ``--model`` and an option for every parameter that a model can have."""
    for name in reversed(PARAMETER_HELP):
        command = _option(name)(command)
    return click.option(
        "--model",
        type=click.Choice(list(MODELS), case_sensitive=False),
        default="musae",
        show_default=True,
        help="What to learn; see hopscale methods.",
    )(command)


def _option(name: str) -> Callable[[Command], Command]:
    """Option for a parameter; what is not given is left to the model."""
    owners = [model for model in MODELS.values() if name in inspect.signature(model).parameters]
    defaults = list(dict.fromkeys(inspect.signature(model).parameters[name].default for model in owners))
    hint = get_type_hints(owners[0].__init__)[name]
    words = flag(name)
    kind: Any = type(defaults[0])
    shown = str(defaults[0]) if len(defaults) == 1 else "the model's"
    if isinstance(defaults[0], bool):
        words, kind = f"{words}/--no-{words[2:]}", None
        shown = words.split("/")[0 if defaults[0] else 1].lstrip("-")
    elif get_origin(hint) is Literal:
        kind = click.Choice(get_args(hint))
    return click.option(words, name, type=kind, default=None, show_default=shown, help=PARAMETER_HELP[name])


def chosen_model(name: str, options: dict[str, Any]) -> NodeEmbedding:
    """Model with the parameters that were given, checked before anything is read.

    A parameter that the model does not have must not have been given; one that its solver passes over is
    worth a warning.
    """
    known = inspect.signature(MODELS[name]).parameters
    given = {option: value for option, value in options.items() if was_given(option)}
    for option in given:
        if option not in known:
            raise click.UsageError(f"{flag(option)} means nothing to the model {name}")
    model = MODELS[name](**given)
    solver = getattr(model, "solver", None)
    ignored = [flag(option) for option in given if _solver_of(option) not in (None, solver)]
    if ignored and solver:
        warnings.warn(
            f"ignored, because it means nothing to --solver {solver}: {', '.join(ignored)}",
            HopscaleWarning,
            stacklevel=2,
        )
    model.check_parameters()
    return model


def parameters_of(name: str) -> list[dict[str, Any]]:
    """The options of a model: flag, default and what it says."""
    known = inspect.signature(MODELS[name]).parameters
    return [
        {"option": flag(parameter), "default": known[parameter].default, "help": text}
        for parameter, text in PARAMETER_HELP.items()
        if parameter in known
    ]


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
    word = PARAMETER_HELP[parameter].partition(":")[0].partition(",")[0]
    return word if word in ("pmi", "sgns") else None
