"""The page on predictions: its Python and its commands run, and the answer that it shows is of the right form."""

import doctest
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale.cli.commands import hopscale as program
from hopscale.datasets import planted_blocks

PAGE = (Path(__file__).parents[1] / "docs" / "predicting.md").read_text(encoding="utf-8")
TEAMS = np.array(["north", "south", "west"])


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for stem, seed in (("", 0), ("new-", 1)):
        graph = planted_blocks(300, random_state=seed)
        edges = np.argwhere(np.triu(graph.adjacency.toarray()))
        Path(f"{stem}edges.csv").write_text("".join(f"{u},{v}\n" for u, v in edges))
        rows = {v: np.flatnonzero(row).tolist() for v, row in enumerate(graph.features.toarray())}
        Path(f"{stem}features.json").write_text(json.dumps(rows))
        if not stem:
            labels = np.asarray(graph.labels)
            lines = [f"{v},{TEAMS[labels[v]]}\n" for v in range(0, 300, 3)]
            Path("teams.csv").write_text("".join(["id,team\n", *lines]))
            lines = [f"{v},{20 + 10 * labels[v] + v / 100}\n" for v in range(0, 300, 3)]
            Path("ages.csv").write_text("".join(["id,age\n", *lines]))


@pytest.mark.usefixtures("_in_folder")
@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
class TestPage:
    def test_python_runs_as_shown(self):
        test = doctest.DocTestParser().get_doctest("\n".join(blocks("pycon")), {}, "predicting.md", "predicting.md", 0)
        said = []
        results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
        assert results.attempted >= 30
        assert not results.failed, "".join(said)

    def test_commands_run(self):
        commands = [shlex.split(line)[1:] for line in "".join(blocks("sh")).splitlines()]
        assert {command[0] for command in commands} == {"classify", "regress", "predict", "info", "explain"}
        for command in commands:
            done = CliRunner().invoke(program, command)
            assert done.exit_code == 0, done.output

    def test_the_answer_is_of_the_form_that_is_shown(self):
        [shown] = blocks("text")
        command = shlex.split(blocks("sh")[0])[1:]
        found = CliRunner().invoke(program, command).stdout
        assert _form(found) == _form(shown)


def _form(text):
    """Lines without what a better choice would change."""
    lines = [line for line in text.splitlines() if not line.startswith("chosen  ")]
    counts = [re.sub(r"(north|south|west)(?= \d)", "CLASS", line) for line in lines]
    assert len(lines) == len(text.splitlines()) - 1
    return [re.sub(r"[\d.]+", "0", line) for line in counts]


def test_headings_are_listed():
    listed = re.findall(r"^- \[(.*?)\]\(#(.*?)\)$", PAGE, flags=re.MULTILINE)
    assert [name for name, _ in listed] == re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    for name, anchor in listed:
        assert anchor == re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")
