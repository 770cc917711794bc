"""Data by name: graphs that are generated here, and graphs that lie in a folder of yours."""

from __future__ import annotations

import difflib
import inspect
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hopscale.datasets.generators import digits, erdos_renyi, figure1, planted_blocks
from hopscale.exceptions import ParameterError
from hopscale.graph import AttributedGraph

__all__ = ["digits", "erdos_renyi", "figure1", "load", "names", "planted_blocks"]

_BUILT_IN: dict[str, Callable[..., AttributedGraph]] = {
    "digits": digits,
    "erdos-renyi": erdos_renyi,
    "figure1": figure1,
    "planted-blocks": planted_blocks,
}
_FOLDER_VARIABLE = "HOPSCALE_DATA"

# What an .npz must hold to be a graph with features; other archives may lie in the same folder.
_GRAPH_ARRAYS = {"edges.npy", "feature_indptr.npy", "feature_indices.npy"}


def load(name: str, *, data: str | os.PathLike[str] | None = None, **parameters: Any) -> AttributedGraph:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data : path, optional
        Folder with files ``<name>.npz``; without it, the folder that the environment variable
        ``HOPSCALE_DATA`` names, if any. Built-in names need no folder and come first.
    **parameters
        Passed to the function that generates a built-in data set, see
        :mod:`hopscale.datasets.generators`.

    Returns
    -------
    AttributedGraph

    Examples
    --------
    >>> from hopscale.datasets import load
    >>> load("erdos-renyi", n_nodes=64, edges_per_node=2)
    AttributedGraph(nodes=64, edges=128, features=2048, feature_entries=512)
    >>> load("figure-1")
    Traceback (most recent call last):
    ...
    hopscale.exceptions.ParameterError: no data set 'figure-1'; did you mean 'figure1'? ...
    """
    if name in _BUILT_IN:
        return _generated(name, parameters)
    folder = _folder(data)
    if folder is not None and Path(name).name == name and (folder / f"{name}.npz").is_file():
        if parameters:
            raise ParameterError(f"{name!r} is read from a file and takes no parameters: {sorted(parameters)}")
        from hopscale.io.files import read_graph

        graph: AttributedGraph = read_graph(folder / f"{name}.npz")
        return graph
    raise ParameterError(_unknown(name, folder))


def names(data: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that :func:`load` knows: the built-in ones and those of the files in the data folder.

    Parameters
    ----------
    data : path, optional
        As for :func:`load`.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> from hopscale.datasets import names
    >>> "figure1" in names()
    True
    """
    return _known(_folder(data))


def _generated(name: str, parameters: dict[str, Any]) -> AttributedGraph:
    generate = _BUILT_IN[name]
    accepted = list(inspect.signature(generate).parameters)
    for parameter in parameters:
        if parameter not in accepted:
            raise ParameterError(f"{name!r} has no parameter {parameter!r}; it takes {', '.join(accepted) or 'none'}")
    return generate(**parameters)


def _folder(data: str | os.PathLike[str] | None) -> Path | None:
    chosen, origin = data, "data"
    if chosen is None:
        chosen, origin = os.environ.get(_FOLDER_VARIABLE) or None, _FOLDER_VARIABLE
    if chosen is None:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise ParameterError(f"{origin} must name a folder, but there is none at {str(folder)!r}")
    return folder


def _known(folder: Path | None) -> list[str]:
    files = [] if folder is None else [path.stem for path in folder.glob("*.npz") if _holds_graph(path)]
    return sorted({*_BUILT_IN, *files})


def _holds_graph(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist()) >= _GRAPH_ARRAYS
    except (OSError, zipfile.BadZipFile):
        return False


def _unknown(name: str, folder: Path | None) -> str:
    known = _known(folder)
    close = difflib.get_close_matches(str(name), known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    where = (
        f"Other graphs are read from the folder given as data=... or as {_FOLDER_VARIABLE}"
        if folder is None
        else f"Looked for {name}.npz in {str(folder)!r}"
    )
    return f"no data set {name!r}{guess} There are: {', '.join(known)}. {where}"
