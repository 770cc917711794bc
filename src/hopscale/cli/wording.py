"""Parameters in the words of the command line."""

from __future__ import annotations

import shlex

from hopscale.exceptions import Setting

__all__ = ["as_option", "flag"]


_SHORTER = {
    "id_column": "id",
    "columns": "column",
    "node_table": "nodes",
    "n_nodes": "nodes-count",
    "n_edges": "edges-count",
    "n_features": "features-count",
    "n_entries": "entries",
    "n_clusters": "clusters",
    "scales": "scale",
}


def flag(parameter: str) -> str:
    """Option for a parameter.

    >>> flag("memory_limit")
    '--memory-limit'
    """
    return "--" + _SHORTER.get(parameter, parameter).replace("_", "-")


def as_option(setting: Setting) -> str:
    """A parameter that a message names, as one would type it.

    >>> as_option(Setting("walk_length", 3)), as_option(Setting("ego", False)), as_option(Setting("weight", "a b"))
    ('--walk-length 3', '--no-ego', "--weight 'a b'")
    """
    option = flag(setting.name)
    if setting.value is None or setting.value is True:
        return option
    if isinstance(setting.value, dict):
        return " ".join(f"{option} {shlex.quote(f'{name}={value}')}" for name, value in setting.value.items())
    return f"--no-{option[2:]}" if setting.value is False else f"{option} {shlex.quote(str(setting.value))}"
