"""The site: its checker finds broken links, its reference has every public name, its lists have every page."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import hopscale

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (DOCS, DOCS / "_extensions"):
        monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ('<a href="other.html#here">', None),
        ('<a href="#top">', None),
        ('<a href="https://example.org/x">', None),
        ('<a href="gone.html">', "no such file"),
        ('<a href="other.html#gone">', "no such anchor"),
        ('<script src="https://example.org/x.js">', "loads it from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads it from elsewhere"),
        ('<img src="gone.png">', "no such file"),
    ],
)
def test_the_checker_finds_broken_links(link: str, why: str | None, tmp_path: Path) -> None:
    from check_links import faults

    (tmp_path / "index.html").write_text(f'<h1 id="top">A page</h1>{link}')
    (tmp_path / "other.html").write_text('<p id="here">Another</p>')
    found = list(faults(tmp_path))
    assert len(found) == (why is not None)
    assert why is None or why in found[0]


def test_the_reference_has_every_public_name() -> None:
    pytest.importorskip("sphinx")
    from api_pages import MODULES, public_names

    names = {name for page in public_names().values() for name in page}
    assert {f"hopscale.{name}" for name in hopscale.__all__} - names == {"hopscale.datasets"}
    for module in MODULES:
        offered = import_module(f"hopscale.{module}")
        for name in offered.__all__:
            assert {f"hopscale.{module}.{name}", f"hopscale.{name}"} & names, f"{module}.{name} has no page"


def test_every_page_is_in_a_list() -> None:
    listed = {
        line.rpartition("<")[2].strip("> ")
        for path in DOCS.glob("*.md")
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.S)
        for line in block.splitlines()
        if line and not line.startswith(":")
    }
    pages = {str(path.relative_to(DOCS).with_suffix("")) for path in [*DOCS.glob("*.md"), *DOCS.glob("paper/*.md")]}
    assert pages - listed == {"index"}, "add the page to a toctree, of docs/guides.md for example"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_have_a_title_and_pictures(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, line = text.splitlines()[1:3]
    assert len(title) == len(line)
    assert set(line) == {"="}
    assert "plt.subplots" in text
    compile(text, path.name, "exec")
