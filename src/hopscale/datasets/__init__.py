"""Data by name: graphs that are generated here, that lie in a folder of yours, or that their publishers keep."""

from __future__ import annotations

import difflib
import inspect
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hopscale.datasets import fetching, registry
from hopscale.datasets.generators import digits, erdos_renyi, figure1, planted_blocks
from hopscale.datasets.registry import Published, published
from hopscale.datasets.statistics import Statistics, describe
from hopscale.exceptions import ParameterError, Setting, in_short
from hopscale.graph import AttributedGraph

__all__ = [
    "Place",
    "Published",
    "Statistics",
    "describe",
    "digits",
    "erdos_renyi",
    "fetch",
    "figure1",
    "load",
    "locate",
    "names",
    "planted_blocks",
    "published",
]

_BUILT_IN: dict[str, Callable[..., AttributedGraph]] = {
    "digits": digits,
    "erdos-renyi": erdos_renyi,
    "figure1": figure1,
    "planted-blocks": planted_blocks,
}
_FOLDER_VARIABLE = "HOPSCALE_DATA"

# What an .npz must hold to be a graph with features; other archives may lie in the same folder.
_GRAPH_ARRAYS = {"edges.npy", "feature_indptr.npy", "feature_indices.npy"}

_Path = str | os.PathLike[str]


class Place(NamedTuple):
    """Where a data set is.

    Attributes
    ----------
    kind : {"built-in", "local", "cached", "to download"}
        Generated, in the user's folder, downloaded before, or only at its publisher's.
    path : Path or None
        The file, or the folder of the files, if there is one.
    """

    kind: Literal["built-in", "local", "cached", "to download"]
    path: Path | None


def load(
    name: str,
    *,
    data: _Path | None = None,
    cache: _Path | None = None,
    download: bool = True,
    **parameters: Any,
) -> AttributedGraph:
    """Return a data set by its name.

    A built-in graph is generated. Any other is looked for, in this order, as ``<name>.npz`` in the data folder, as
    its publisher's own files there (or in its subfolder ``raw``), in the cache, and at the publisher's address, from
    where it comes into the cache. Publishers' files are checked by their hashes, wherever they come from.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data : path, optional
        The data folder; without it, the one that the environment variable ``HOPSCALE_DATA`` names, if any.
    cache : path, optional
        Folder for downloads; without it, the one that the environment variable ``HOPSCALE_CACHE`` names, or
        else the user's cache folder.
    download : bool, default=True
        Whether a data set that is nowhere on this machine may be downloaded. The environment variable
        ``HOPSCALE_MIRROR`` names another address to take files from, ``<mirror>/twitch.zip`` and so on.
    **parameters
        Passed to the function that generates a built-in data set, see
        :mod:`hopscale.datasets.generators`.

    Returns
    -------
    AttributedGraph
        Published graphs have nodes 0..n-1, binary features and no self-loops. Labels are as published: the Wikipedia
        graphs have page views, of which the paper predicts the logarithm, and −1 stands for no class.

    Raises
    ------
    ParameterError
        If there is no such data set, no such folder, or a parameter that the data set does not take.
    DownloadError
        If it cannot be had; the message says how to do without the download.
    FileFormatError
        If a file in the data folder is not what it should be.

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
    if _known_name(name) in _BUILT_IN:
        accepted = list(inspect.signature(_BUILT_IN[name]).parameters)
        for each in parameters:
            if each not in accepted:
                raise ParameterError(f"{name!r} has no parameter {each!r}; it takes {', '.join(accepted) or 'none'}")
        return _BUILT_IN[name](**parameters)
    folder, found = _found(name, data)
    if parameters:
        raise ParameterError(f"{name!r} is read from a file and takes no parameters: {sorted(parameters)}")
    if isinstance(found, Path):
        from hopscale.io.files import read_graph

        graph: AttributedGraph = read_graph(found)
        return graph
    from hopscale.datasets.formats import graph_of

    return graph_of(found, fetching.obtain(found, folder, cache, download=download))


def locate(name: str, *, data: _Path | None = None, cache: _Path | None = None) -> Place:
    """Where :func:`load` would take a data set from; nothing is read or downloaded.

    Parameters
    ----------
    name : str
    data, cache : path, optional
        As for :func:`load`.

    Returns
    -------
    Place

    Examples
    --------
    >>> from hopscale.datasets import locate
    >>> locate("digits").kind
    'built-in'
    """
    if _known_name(name) in _BUILT_IN:
        return Place("built-in", None)
    folder, found = _found(name, data)
    if isinstance(found, Path):
        return Place("local", found)
    if local := fetching.found_in(found, folder):
        return Place("local", _one_path(local))
    if kept := fetching.cached(found, cache):
        return Place("cached", _one_path(kept))
    return Place("to download", None)


def fetch(name: str, *, data: _Path | None = None, cache: _Path | None = None, progress: bool = False) -> Place:
    """Have a data set on this machine: download it, unless it is here.

    Parameters
    ----------
    name : str
    data, cache : path, optional
        As for :func:`load`.
    progress : bool, default=False
        Show how much has come, on the error stream.

    Returns
    -------
    Place
        Where it now is.

    Examples
    --------
    >>> from hopscale.datasets import fetch
    >>> fetch("figure1").kind
    'built-in'
    """
    place = locate(name, data=data, cache=cache)
    if place.kind in ("cached", "to download"):  # what is cached may be damaged
        fetching.fetch(registry.published()[name], cache, progress=progress)
    return locate(name, data=data, cache=cache)


def names(data: _Path | None = None) -> list[str]:
    """Names that :func:`load` knows: built-in graphs, those of the paper, and those of the files in the data folder.

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
    >>> "figure1" in names(), "cora" in names()
    (True, True)
    """
    return _known(_folder(data))


def _one_path(paths: fetching.Paths) -> Path:
    """The file, or the folder of several."""
    first = paths[0][1]
    return first if len(paths) == 1 else first.parent


def _known_name(name: Any) -> str:
    if not isinstance(name, str):
        raise ParameterError(f"the name of a data set must be text, not {in_short(name)}")
    return name


def _found(name: str, data: _Path | None) -> tuple[Path | None, Path | Published]:
    """The data folder, and the file ``<name>.npz`` in it, or else the entry of a published data set."""
    folder = _folder(data)
    # A name may not lead out of the folder.
    if folder is not None and Path(name).name == name and os.path.isfile(folder / f"{name}.npz"):
        return folder, folder / f"{name}.npz"
    if name in registry.published():
        return folder, registry.published()[name]
    known = _known(folder)
    close = difflib.get_close_matches(str(name), known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    where = (
        f"Other graphs are read from the folder that the variable {_FOLDER_VARIABLE} names, or data=..."
        if folder is None
        else f"Looked for {name}.npz in {str(folder)!r}"
    )
    raise ParameterError(f"no data set {in_short(name)}{guess} There are: {', '.join(known)}. {where}")


def _folder(data: _Path | None) -> Path | None:
    chosen = data if data is not None else os.environ.get(_FOLDER_VARIABLE) or None
    if chosen is None:
        return None
    if not isinstance(chosen, (str, os.PathLike)):
        raise ParameterError(f"must be the path of a folder, not {in_short(chosen)}", parameter="data")
    folder = Path(chosen).expanduser()
    if not os.path.isdir(folder):  # Path.is_dir raises where the name is too long
        origin = Setting("data") if data is not None else _FOLDER_VARIABLE
        raise ParameterError(origin, f" must name a folder, but there is none at {str(folder)!r}")
    return folder


def _known(folder: Path | None) -> list[str]:
    files = [] if folder is None else [path.stem for path in folder.glob("*.npz") if _holds_graph(path)]
    return sorted({*_BUILT_IN, *registry.published(), *files})


def _holds_graph(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist()) >= _GRAPH_ARRAYS
    except Exception:  # zipfile has many kinds of them for what is no archive
        return False
