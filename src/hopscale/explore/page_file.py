"""Pages that people explore a model on: one file of HTML that holds its scripts, its styles and its data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from string import Template
from typing import Any

from hopscale import __version__
from hopscale.atomic import replacing

__all__ = ["write_html"]

# In the order of their imports: joined, they are one script without modules, which browsers do not load from disk.
MODULES = (
    "data",
    "dom",
    "colors",
    "camera",
    "grid",
    "splats",
    "vectors",
    "coded",
    "labels",
    "renderer",
    "coloring",
    "legend",
    "selection",
    "panel",
    "search",
    "pointer",
    "address",
    "app",
    "main",
)
# Nothing is requested, and no script runs but the page's own, whatever names of nodes and features hold.
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'"
)
_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=class|function|async|const)", re.MULTILINE)


def write_html(path: str | os.PathLike[str], facts: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    """Write a page; ``texts`` are the arrays that ``facts["blocks"]`` describe, as base64."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for piece in _pieces(facts, texts):
            file.write(piece)


def _pieces(facts: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    script, style = _script(), _file("style.css")
    before, after = _file("page.html").split("$blocks\n")
    known = {
        "policy": _POLICY.format(script=_digest(script), style=_digest(style)),
        "version": __version__,
        "title": html.escape(str(facts["title"])),
        "style": style,
        "facts": _embedded(facts),
        "script": script,
    }
    yield Template(before).substitute(known)
    for name, text in texts.items():
        yield f'<script type="application/octet-stream" id="block-{name}">{text}</script>\n'
    yield Template(after).substitute(known)


def _script() -> str:
    """All modules as one script, in a scope of its own."""
    parts = [_EXPORT.sub("", _IMPORT.sub("", _file(f"{module}.js"))) for module in MODULES]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _file(name: str) -> str:
    return (files("hopscale.explore") / "page" / name).read_text(encoding="utf-8")


def _embedded(facts: Mapping[str, Any]) -> str:
    """JSON that HTML cannot take for anything else: no name ends the element or begins another."""
    text = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    """How a Content-Security-Policy names the one script, or style, that it allows."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
