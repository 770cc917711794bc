"""The page on tables: its Python and its commands run on a table as it describes."""

import csv
import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopscale.cli.commands import hopscale as program
from hopscale.features.encoded import KINDS

PAGE = (Path(__file__).parents[1] / "docs" / "tables.md").read_text(encoding="utf-8")
INSTRUMENTS = ("guitar", "piano", "violin", "drums", "harp")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def person(i):
    """A row that follows from its number, with gaps."""
    country = "n/a" if i % 10 == 9 else "IT" if i == 3 else "ES" if i == 4 else ("FR", "DE")[i % 2]
    tags = ";".join(tag for at, tag in enumerate(("chess", "go", "jazz", "tea")) if (i + at) % 5 in (1, 2))
    bio = f"plays {INSTRUMENTS[i % 5]} in town {i} and {('swims', 'runs', 'reads', 'sings', 'cooks')[i // 12]}"
    return {
        "handle": f"@{i:02d}",
        "country": country,
        "age": "" if i % 12 == 5 else 18 + (i * 7) % 50,
        "tags": tags,
        "active": ("yes", "no")[i // 2 % 2],
        "joined": f"{2018 + i % 5}-0{1 + i % 9}-15",
        "bio": bio,
        "team": ("red", "blue", "green")[i // 20],
    }


@pytest.fixture
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = [person(i) for i in range(60)]
    for stem in ("", "new-"):
        with open(f"{stem}nodes.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, people[0])
            writer.writeheader()
            writer.writerows(people)
        pairs = [(i, (i + step) % 60) for i in range(60) for step in (1, 3)]
        lines = [f"{people[u]['handle']},{people[v]['handle']}\n" for u, v in pairs]
        Path(f"{stem}edges.csv").write_text("".join(["source,target\n", *lines]), encoding="utf-8")


@pytest.mark.usefixtures("_in_folder")
@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
class TestPage:
    def test_python_runs_as_shown(self):
        test = doctest.DocTestParser().get_doctest("\n".join(blocks("pycon")), {}, "tables.md", "tables.md", 0)
        said = []
        results = doctest.DocTestRunner().run(test, out=said.append)
        assert results.attempted >= 20
        assert not results.failed, "".join(said)

    def test_commands_run(self):
        commands = [shlex.split(line)[1:] for line in "".join(blocks("sh")).splitlines()]
        assert [command[0] for command in commands] == ["embed", "transform"]
        for command in commands:
            done = CliRunner().invoke(program, command)
            assert done.exit_code == 0, done.output


def test_every_kind_is_on_the_page():
    assert set(re.findall(r"^\| `([a-z]+)` \|", PAGE, re.MULTILINE)) == {*KINDS, "drop"}
