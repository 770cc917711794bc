"""Pages of the API reference: every public name, under the heading where a reader looks for it.

The names come from the modules themselves, so that a new model, task or function has a page as soon as it is public.
The pages are written into ``docs/api`` when a build starts; autosummary then makes a page of each name.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_origin

from sphinx.application import Sphinx
from sphinx.config import Config

# Modules with public names of their own: what `hopscale` itself offers is listed under `hopscale`.
MODULES = {
    "tasks": "Scoring: `hopscale.tasks`",
    "datasets": "Data sets: `hopscale.datasets`",
    "features": "Features from tables: `hopscale.features`",
    "io": "Readers and converters: `hopscale.io`",
    "explore": "Maps: `hopscale.explore`",
    "exceptions": "Errors and warnings: `hopscale.exceptions`",
}
HEADINGS = {
    "models": "Models",
    "supervised": "Predictions from labels",
    "solvers": "Solvers",
    "graph": "Graphs",
    "other": "More of `hopscale`",
}


def public_names() -> dict[str, list[str]]:
    """Full public names by the name of their page, each once."""
    hopscale = import_module("hopscale")
    pages: dict[str, list[str]] = {name: [] for name in (*HEADINGS, *MODULES)}
    for name in hopscale.__all__:
        pages[_page_of(name, getattr(hopscale, name))].append(f"hopscale.{name}")
    pages["other"] = [name for name in pages["other"] if name != "hopscale.datasets"]
    for module in MODULES:
        offered = import_module(f"hopscale.{module}")
        own = [name for name in offered.__all__ if getattr(hopscale, name, None) is not getattr(offered, name)]
        pages[module] = [f"hopscale.{module}.{name}" for name in sorted(own, key=str.lower)]
    return {page: names for page, names in pages.items() if names}


def _page_of(name: str, value: Any) -> str:
    """The page of a public name of ``hopscale``."""
    bases = {base.__name__ for base in inspect.getmro(value)} if inspect.isclass(value) else set()
    if "NodeEmbedding" in bases or name == "NodeVectors":
        return "models"
    if "SupervisedModel" in bases:
        return "supervised"
    if "Solver" in bases:
        return "solvers"
    if name == "AttributedGraph" or name.startswith(("from_", "to_", "read_")) or name == "load":
        return "graph"
    return "other"


def _page(heading: str, names: list[str]) -> Iterator[str]:
    title = heading.replace("`", "``")
    values = {name: _value(name) for name in names}
    plain = {name: value for name, value in values.items() if get_origin(value) is not None or not callable(value)}
    yield from (title, "=" * len(title), "", ".. autosummary::", "   :toctree: generated", "   :nosignatures:", "")
    yield from (f"   ~{name}" for name in names if name not in plain)
    for name, value in plain.items():  # types and constants have no docstring of their own
        yield from ("", f"``{name}`` is ``{str(value).replace('typing.', '')}``.")


def _value(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def write_pages(app: Sphinx, config: Config) -> None:
    """Write a page for each group of names, and leave those alone that have not changed."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = public_names()
    texts = {page: "\n".join(_page((HEADINGS | MODULES)[page], names)) + "\n" for page, names in pages.items()}
    for page, text in texts.items():
        path = folder / f"{page}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.rst"):
        if path.stem not in texts:
            path.unlink()
    config.autosummary_generate = [f"api/{page}.rst" for page in texts]  # those that an earlier build had not, too


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; pages must be there before it looks for pages."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
