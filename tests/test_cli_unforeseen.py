"""What no command has foreseen: one line, a hint how to report it, and an exit code of its own."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hopscale import DeepWalk, from_edges
from hopscale.cli.commands import hopscale as main


@pytest.fixture
def model(tmp_path):
    """A saved model, one of whose nodes has half a character in its name."""
    DeepWalk(2, window=1).fit(from_edges([("a", "\ud800"), ("\ud800", "b"), ("b", "a")])).save(tmp_path / "m")
    return tmp_path / "m"


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.mark.parametrize(
    "error", [RuntimeError("odd\nindeed"), KeyError("x"), RecursionError(), TypeError(), EOFError()]
)
def test_one_line_and_a_hint(model, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.delenv("HOPSCALE_DEBUG", raising=False)
    monkeypatch.setattr("hopscale.cli.sources.load_model", fail)
    result = run("neighbors", model, "a")
    assert result.exit_code == 70
    assert result.stdout == ""
    said = result.stderr.lstrip("\n")  # click's own after an EOFError
    assert said.count("\n") == 1
    assert said.startswith(f"hopscale: this should not have happened: {type(error).__name__}: ")
    assert "Please report it" in said
    assert "HOPSCALE_DEBUG" in said


def test_where_it_comes_from_is_shown_on_demand(model, monkeypatch):
    def fail(*_):
        raise RuntimeError("odd")

    monkeypatch.setattr("hopscale.cli.sources.load_model", fail)
    monkeypatch.setenv("HOPSCALE_DEBUG", "1")
    result = run("neighbors", model, "a")
    assert result.exit_code == 70
    assert "Traceback" in result.stderr
    assert 'in fail\n    raise RuntimeError("odd")' in result.stderr


def test_errors_that_are_foreseen_can_be_traced_too(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCALE_DEBUG", "1")
    result = run("info", tmp_path / "none.csv")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "hopscale: there is no file" in result.stderr


def test_half_characters_are_shown_escaped(model):
    result = run("neighbors", model, "a")
    assert result.exit_code == 0
    assert "\\ud800" in result.stdout


def test_names_in_an_encoding_that_has_them_not(tmp_path):
    DeepWalk(2, window=1).fit(from_edges([("a", "é"), ("é", "b"), ("b", "a")])).save(tmp_path / "m")
    command = [sys.executable, "-m", "hopscale", "neighbors", str(tmp_path / "m"), "a"]
    found = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii:strict"}, check=True
    )
    assert b"\\xe9" in found.stdout
