"""The README's Python runs, its commands run, and its figures are those of the benchmarks' result files."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from messy import write_folder

from hopscale.cli.commands import hopscale
from hopscale.datasets import planted_blocks

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Contents of the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the README speaks of."""
    for stem, graph in (("", planted_blocks(300)), ("new-", planted_blocks(200, random_state=1))):
        coo = graph.adjacency.tocoo()
        pairs = [(u, v) for u, v in zip(*(ends.tolist() for ends in coo.coords), strict=True) if u < v]
        (tmp_path / f"{stem}edges.csv").write_text("".join(f"{u},{v}\n" for u, v in pairs))
        rows = {v: graph.features[[v]].indices.tolist() for v in range(graph.n_nodes)}
        (tmp_path / f"{stem}features.json").write_text(json.dumps(rows))
        lines = [f"{v},{label}\n" for v, label in enumerate(graph.labels.tolist())]
        (tmp_path / f"{stem}labels.csv").write_text("".join(["id,block\n", *lines]))
        table = [f"{stem[:1]}{v},{'|'.join(map(str, own))},{20 + v % 50}\n" for v, own in rows.items()]
        (tmp_path / f"{stem}nodes.csv").write_text("".join(["member,interests,age\n", *table]).replace("\nn", "\n9000"))
    (tmp_path / "tomorrow.csv").write_text("from,to\n90001,7\n90002,8\n")
    write_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("in_folder")
def test_python_runs_as_shown() -> None:
    examples = "\n".join(blocks("pycon"))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", "README.md", 0)
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert results.attempted >= 10
    assert not results.failed, "".join(said)


@pytest.mark.usefixtures("in_folder")
def test_commands_run() -> None:
    lines = "".join(blocks("sh")).replace("\\\n", " ").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("hopscale ")]
    assert {command[1] for command in commands} == set(hopscale.list_commands(None))
    for command in commands:
        if command[1] == "reproduce":  # its data would have to be downloaded
            command.append("--only-render")
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"


@pytest.mark.usefixtures("in_folder")
def test_an_ordinary_folder_is_understood_as_shown() -> None:
    [shown] = blocks("text")
    command = next(line for line in "".join(blocks("sh")).splitlines() if "people.csv" in line)
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, check=True, timeout=300
    )
    assert _without_times(shown) == _without_times(done.stderr + done.stdout)


def _without_times(text: str) -> list[str]:
    """Lines without blanks at their end, bars and seconds."""
    lines = (line.rstrip() for line in text.replace("\r", "\n").splitlines())
    return [re.sub(r"in [0-9.]+ s", "in 0 s", line) for line in lines if line and "%|" not in line]


def test_every_make_target_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(re.findall(r"`[^`]+`|```.*?```", README, re.DOTALL))))
    assert {"demo", "test"} <= named <= targets


class TestFigures:
    @pytest.fixture(autouse=True)
    def _program(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(ROOT / "benchmarks")

    def test_are_those_of_the_result_files(self) -> None:
        from readme import PAPER, RESULTS, SHOWN, with_results

        for page in SHOWN:
            text = page.read_text(encoding="utf-8")
            assert with_results(text, RESULTS, PAPER) == text, f"{page.name}: run `make readme`"

    def test_of_the_page_on_vectors_are_those_of_the_records(self) -> None:
        from choosing_vectors import RESULTS, tables

        for name, table in tables().items():
            assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == table + "\n", f"{name}: run `make readme`"

    def test_replace_what_a_hand_has_typed(self, tmp_path: Path) -> None:
        from readme import with_results

        (tmp_path / "speed.md").write_text("| fast |\n")
        typed = (
            "<!-- benchmarks:speed -->\n100×\n<!-- /benchmarks -->\nand\n<!-- benchmarks:size -->\n<!-- /benchmarks -->"
        )
        assert with_results(typed, tmp_path).splitlines() == [
            "<!-- benchmarks:speed -->",
            "| fast |",
            "<!-- /benchmarks -->",
            "and",
            "<!-- benchmarks:size -->",
            "*size: not run yet.*",
            "<!-- /benchmarks -->",
        ]

    @pytest.mark.parametrize(
        "text", ["<!-- benchmarks:a -->\n", "<!-- benchmarks:a -->\n<!-- benchmarks:b -->\n<!-- /benchmarks -->"]
    )
    def test_need_marks_in_pairs(self, text: str, tmp_path: Path) -> None:
        from readme import with_results

        with pytest.raises(ValueError, match=r"closed|pairs"):
            with_results(text, tmp_path)
