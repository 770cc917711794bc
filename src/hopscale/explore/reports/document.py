"""Documents of headings, paragraphs, tables and pictures, as one HTML page or as Markdown with a folder of pictures.

Whatever comes from data is text: it is escaped here, and nowhere else.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from hopscale.atomic import replacing

__all__ = [
    "Block", "Document", "Heading", "Listing", "Paragraph", "Picture", "Section", "Table", "html_page",
    "write_markdown",
]  # fmt: skip

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Listing:
    """Lines as they are, such as those of a command."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows of texts under a heading; columns in ``right`` hold numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, its name, and what it shows in words."""

    name: str
    svg: str
    alt: str


Block = Paragraph | Heading | Listing | Table | Picture


@dataclass
class Section:
    """A heading and what is below it."""

    title: str
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Document:
    """A title, what it is about in a line, and sections."""

    title: str
    about: str
    sections: list[Section] = field(default_factory=list)

    def numbers(self, title: str) -> dict[str, list[str]]:
        """Rows of the first table of a section, by their first cell."""
        section = next(section for section in self.sections if section.title == title)
        table = next(block for block in section.blocks if isinstance(block, Table))
        return {row[0]: list(row[1:]) for row in table.rows}


def html_page(document: Document) -> str:
    """One page that needs nothing else: no script, no request, styles and pictures inside."""
    style = files("hopscale.explore.reports").joinpath("report.css").read_text(encoding="utf-8")
    links = "\n".join(
        f'<li><a href="#{_anchor(at)}">{_text(section.title)}</a></li>' for at, section in enumerate(document.sections)
    )
    parts = [
        f'<section id="{_anchor(at)}">\n<h2>{_text(section.title)}</h2>\n'
        + "\n".join(_html(block, f"s{at}-{number}") for number, block in enumerate(section.blocks))
        + "\n</section>"
        for at, section in enumerate(document.sections)
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(document.title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            f"<header><h1>{_text(document.title)}</h1><p>{_text(document.about)}</p></header>",
            f'<nav aria-label="Contents"><ul>\n{links}\n</ul></nav>',
            "<main>",
            *parts,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _anchor(at: int) -> str:
    return f"section-{at + 1}"


def _html(block: Block, key: str) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{_text(block.text)}</p>"
    if isinstance(block, Heading):
        return f"<h3>{_text(block.text)}</h3>"
    if isinstance(block, Listing):
        return "<pre>" + "\n".join(map(_text, block.lines)) + "</pre>"
    if isinstance(block, Picture):
        return f'<figure role="img" aria-label="{_text(block.alt)}">\n{_inline(block.svg, key)}\n</figure>'
    head = "".join(f"<th{_align(block, at)}>{_text(cell)}</th>" for at, cell in enumerate(block.header))
    rows = "\n".join(
        "<tr>" + "".join(f"<td{_align(block, at)}>{_text(cell)}</td>" for at, cell in enumerate(row)) + "</tr>"
        for row in block.rows
    )
    return f'<div class="table"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>'


def _align(table: Table, at: int) -> str:
    return ' class="number"' if at in table.right else ""


def _text(value: Any) -> str:
    """Text for HTML; half characters, which no file can hold, become question marks."""
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"), quote=True)


def _inline(svg: str, key: str) -> str:
    """An SVG for a page with others: its ids are its own, and dark ink has the colour of the page's text."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{key}-\1"', body)
    return body.replace("#222222", "currentColor")


def write_markdown(document: Document, path: Path) -> list[Path]:
    """Write Markdown, and its pictures to a folder beside it; returns all files."""
    folder = path.with_name(f"{path.stem}-figures")
    lines = [f"# {_plain(document.title)}", "", _plain(document.about), ""]
    written: list[Path] = []
    for section in document.sections:
        lines += [f"## {_plain(section.title)}", ""]
        for block in section.blocks:
            if isinstance(block, Picture):
                folder.mkdir(exist_ok=True)
                place = folder / f"{block.name}.svg"
                with replacing(place) as temporary:
                    temporary.write_text(block.svg, encoding="utf-8")
                written.append(place)
                target = f"{folder.name}/{place.name}".replace(" ", "%20").replace("(", "%28").replace(")", "%29")
                lines += [f"![{_plain(block.alt)}]({target})", ""]
            else:
                lines += [*_markdown(block), ""]
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    return [path, *written]


def _markdown(block: Paragraph | Heading | Listing | Table) -> list[str]:
    if isinstance(block, Paragraph):
        return [_plain(block.text)]
    if isinstance(block, Heading):
        return [f"### {_plain(block.text)}"]
    if isinstance(block, Listing):
        return [f"    {line.rstrip()}" for lines in block.lines for line in lines.splitlines()]
    marks = ["---:" if at in block.right else "---" for at in range(len(block.header))]
    cells = [list(map(_plain, block.header)), marks, *(list(map(_plain, row)) for row in block.rows)]
    return ["| " + " | ".join(row) + " |" for row in cells]


def _plain(text: str) -> str:
    """Text for Markdown, on one line, in which no character has a meaning.

    >>> _plain("a*b|c <img>")
    'a\\\\*b\\\\|c \\\\<img\\\\>'
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", " ".join(str(text).split()))
