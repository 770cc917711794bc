"""Every number on the pages of docs/paper is computed: by what renders a page, or by a source that stands beside it."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from written_numbers import PAPER, ROOT, mistakes

import hopscale.paper.pages as pages
from hopscale.paper import EXPERIMENTS, render
from hopscale.paper.pages import mixed_sources

WRITTEN = ("README.md", "rivals.md", "networks.md", "errata.md")
if not (PAPER / "records").exists():
    pytest.skip("an archive without records", allow_module_level=True)


def test_pages_are_those_of_the_records(tmp_path, monkeypatch):
    shutil.copytree(PAPER / "records", tmp_path / "records")
    for name in WRITTEN:
        (tmp_path / name).touch()  # some pages have links to them
    monkeypatch.setattr(pages, "draw", lambda _, __, path: [path])
    written = [path for path in render(list(EXPERIMENTS), tmp_path) if path.suffix == ".md"]
    for path in written:
        shown = (PAPER / path.name).read_text(encoding="utf-8")
        assert path.read_text(encoding="utf-8") == shown, f"{path.name}: run `hopscale reproduce all --only-render`"
    assert {path.name for path in PAPER.glob("*.md")} == {*(path.name for path in written), *WRITTEN}


def test_no_page_mixes_what_different_code_measured():
    assert mixed_sources(PAPER) is None
    assert not [path.name for path in PAPER.glob("*.md") if path.name not in WRITTEN and "‡" in path.read_text("utf-8")]


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_of_written_pages_are_what_their_sources_say(name):
    assert mistakes(PAPER / name) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("level with .5", [".5 has no source"]),
        ('a window of 4<!--= parameter("Walklets", "window") -->.', []),
        ('a window of 5<!--= parameter("Walklets", "window") -->.', ["5 should be 4"]),
        ("36 %<!--= 0.364 -->, 35 %<!--= 0.364 -->", ["35 should be 36"]),
        ("`window=7`, [page](a1.md), l2, node2vec, G₁, 2¹⁴\n\n```sh\n1\n```", []),
        ("−.012<!--= -0.0123 -->, 19,717<!--= 19717 -->", []),
    ],
)
def test_the_check_can_fail(tmp_path, text, wrong):
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert [each.partition(": ")[2].partition(",")[0] for each in mistakes(tmp_path / "page.md")] == wrong


@pytest.mark.parametrize("module", sorted((ROOT / "src/hopscale/paper/pages").glob("*.py")), ids=lambda path: path.name)
def test_no_number_is_typed_into_what_writes_pages(module: Path):
    tree = ast.parse(module.read_text(encoding="utf-8"))
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)]
    documentation = {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}
    formats = [node.format_spec for node in ast.walk(tree) if isinstance(node, ast.FormattedValue) and node.format_spec]
    digits = {id(part) for spec in formats for part in ast.walk(spec)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation | digits:
            assert not re.search(r"(?<![\w-])\d", node.value), f"line {node.lineno}: {node.value!r}"
