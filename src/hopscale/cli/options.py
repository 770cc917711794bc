"""Options that are read off the models and solvers: names, types, defaults and help are those of their classes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from hopscale import models
from hopscale.cli.program import Command, decorated
from hopscale.cli.wording import flag
from hopscale.exceptions import ParameterError
from hopscale.models import NodeEmbedding
from hopscale.models.base import SolverChoice

__all__ = ["MODELS", "chosen_model", "given_parameters", "parameters_of", "was_given", "with_parameters"]

MODELS = {name.lower(): model for name, model in models.MODELS.items()}

_SEVERAL = 4  # models that share a parameter, beyond which they are not listed


@dataclass(frozen=True)
class _Parameter:
    """A parameter as one class has it."""

    owner: str
    hint: Any
    default: Any
    help: str


def _parameters(kind: Any) -> dict[str, _Parameter]:
    """The parameters of a model or solver, in the order of its docstring."""
    told = {name: text for base in reversed(kind.__mro__) for name, text in _documented(base).items()}
    hints, defaults = get_type_hints(kind), kind().get_params(deep=False)
    owner = getattr(kind, "name", kind.__name__.lower())
    return {
        name: _Parameter(owner, hints[name], defaults[name], told.get(name, ""))
        for name in sorted(defaults, key=[*told, *defaults].index)
        if name != "verbose"
    }


def _documented(kind: type) -> dict[str, str]:
    """The first sentence on each parameter in a docstring; empty where another class is referred to.

    >>> from hopscale import SGNS
    >>> _documented(SGNS)["epochs"]
    'Passes over as many pairs as the walks have.'
    """
    section = re.search(r"Parameters\n +-+\n(.*?)(?:\n\n    [A-Z]|\Z)", kind.__doc__ or "", re.DOTALL)
    found: dict[str, str] = {}
    for entry in re.split(r"\n    (?=\S)", "\n" + (section[1] if section else ""))[1:]:
        names, _, text = entry.partition("\n")
        sentence = re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]
        plain = re.sub(r":\w+:`(.*?)`|``(.*?)``", lambda match: match[1] or match[2], sentence)
        for name in names.partition(" : ")[0].split(", "):
            found[name.strip()] = "" if plain.startswith("As in ") else plain
    return found


@cache
def _by_name() -> dict[str, list[_Parameter]]:
    """Every parameter as all have it who do: the models first, then their solvers."""
    found: dict[str, list[_Parameter]] = {}
    models = [MODELS["musae"](), *(kind() for kind in MODELS.values())]  # MUSAE's texts are the fullest
    solvers = [make() for kind in MODELS.values() if issubclass(kind, SolverChoice) for make in kind.solvers.values()]
    for part in (*models, *solvers):
        for name, parameter in _parameters(type(part)).items():
            as_here = replace(parameter, default=getattr(part, name))
            if as_here not in found.setdefault(name, []):
                found[name].append(as_here)
    return found


def with_parameters(default: str | None = "musae", *, said: str | bool = True) -> Callable[[Command], Command]:
    """Give a command ``--model`` and an option for every parameter that a model or a solver can have.

    ``said`` is what help says of the default.
    """
    model = click.option(
        "--model",
        type=click.Choice(list(MODELS), case_sensitive=False),
        default=default,
        show_default=said,
        help="What to learn; see hopscale methods.",
    )
    return decorated(model, *(_option(name, parameters) for name, parameters in _by_name().items()))


def _option(name: str, parameters: list[_Parameter]) -> Callable[[Command], Command]:
    """Option for a parameter; what is not given is left to the model."""
    default, hint, words = parameters[0].default, parameters[0].hint, flag(name)
    defaults = {repr(parameter.default) for parameter in parameters}
    kind: Any = type(default)
    shown = "the processor" if name == "device" else str(default) if len(defaults) == 1 else "the model's"
    if default is None:
        kind = str
    if isinstance(default, bool):
        words, kind = f"{words}/--no-{words[2:]}", None
        shown = words.split("/")[0 if default else 1].lstrip("-")
    elif get_origin(hint) is Literal:
        kind = click.Choice(get_args(hint))
    elif name == "solver":
        kind = click.Choice(sorted({solver for model in MODELS.values() for solver in getattr(model, "solvers", ())}))
    return click.option(words, name, type=kind, default=None, show_default=shown, help=_help(parameters))


def _help(parameters: list[_Parameter]) -> str:
    """What a parameter is, and whose, if it is not most models'."""
    text, owners = _text(parameters), list(dict.fromkeys(parameter.owner for parameter in parameters))
    return text if len(owners) > _SEVERAL else f"{', '.join(owners)}: {text[:1].lower()}{text[1:]}"


def _text(parameters: list[_Parameter]) -> str:
    return next((parameter.help for parameter in parameters if parameter.help), "")


def chosen_model(name: str, options: dict[str, Any]) -> NodeEmbedding:
    """Model with the parameters that were given, checked before anything is read.

    A parameter that neither the model nor its solver has must not have been given.
    """
    given = given_parameters(options)
    model = MODELS[name]()
    solver, solvers = given.get("solver"), getattr(model, "solvers", ())
    if solver is not None and solvers and solver not in solvers:
        raise ParameterError(
            f"is not for --model {name}, which has {', '.join(solvers)}", parameter="solver", value=solver
        )
    model.configure(**given)
    model.check_parameters()
    return model


def given_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Those of some options that stand on the command line."""
    return {option: value for option, value in options.items() if was_given(option)}


def parameters_of(model_name: str) -> list[dict[str, Any]]:
    """The options of a model and its solvers: flag, default, whose it is and what it says."""
    texts, model = _by_name(), MODELS[model_name]
    makers = model.solvers.values() if issubclass(model, SolverChoice) else ()
    return [
        {
            "option": flag(name),
            "default": getattr(part, name),
            "of": each.owner,
            "help": each.help or _text(texts[name]),
        }
        for part in (model(), *(make() for make in makers))
        for name, each in _parameters(type(part)).items()
    ]


def was_given(option: str) -> bool:
    """Whether an option stands on the command line."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE
