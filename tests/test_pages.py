"""Every page: its Python runs as shown, its commands run or are marked with a reason, and its links lead somewhere."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pages
import pytest
from click.testing import CliRunner, Result
from pages import PAGES, ROOT

from hopscale.cli.commands import hopscale as program
from hopscale.features.encoded import KINDS

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

# Pages whose Python needs a package that not every environment of the tests has.
NEEDS = {"docs/networks.md": "torch", "docs/predicting.md": "torch", "docs/coming-from.md": "torch_geometric"}
WITH_PYTHON = [page for page in PAGES if pages.blocks(page, "pycon")]
WITH_COMMANDS = [page for page in PAGES if list(pages.commands(page))]
WITH_ANSWERS = [page for page in PAGES if pages.blocks(page, "text")]
SHELL = re.compile(r"[|<>]|^[A-Z_]+=")  # what only a shell understands


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a page, in a folder with its files."""
    name: str = request.param
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    pages.write_files(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return name


def of(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", names, indirect=True)


@of(WITH_PYTHON)
def test_python_runs_as_shown(page: str) -> None:
    blocks = [block for block in pages.blocks(page, "pycon") if not block.reason]
    examples = "\n".join(block.text for block in blocks)
    test = doctest.DocTestParser().get_doctest(examples, {}, page, page, 0)
    said: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert not results.failed, "".join(said)
    assert results.attempted == len(re.findall(r"^>>> ", examples, re.M))


@of(WITH_COMMANDS)
def test_commands_run(page: str) -> None:
    for command, reason in pages.commands(page):
        if reason:
            _check_words(command)
        else:
            _run(command)


def _run(command: str) -> None:
    """Run a command of hopscale; of others, check that what they name is there."""
    words = pages.words_of(command)
    if SHELL.search(command) and "hopscale" in words:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], env=os.environ | {"PATH": path}, capture_output=True, timeout=300
        )
        assert done.returncode == 0, f"{command}\n{done.stderr.decode()}"
    elif words[0] == "hopscale":
        _answer(command)
    else:
        _check_words(command)


def _answer(command: str) -> Result:
    done = CliRunner().invoke(program, pages.words_of(command)[1:])
    assert done.exit_code == 0, f"{command}\n{done.output}"
    return done


def _check_words(command: str) -> None:
    """Check a command without running it: options, targets, extras and programs that it names must exist."""
    words = [word for word in pages.words_of(command) if not re.match(r"[A-Z_]+=", word)]
    if words[0] == "hopscale":
        context = click.Context(program, info_name="hopscale")
        name, chosen, rest = program.resolve_command(context, words[1:])
        assert chosen is not None
        parser = chosen.make_parser(click.Context(chosen, info_name=name, parent=context))
        parser.parse_args([word for word in rest if word != "..."])
    elif words[:2] == ["pip", "install"]:
        extras = {extra for word in words[2:] for found in re.findall(r"\[(.*?)\]", word) for extra in found.split(",")}
        declared = re.findall(r"^([a-z]+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
        assert extras <= set(declared), command
    elif words[0] == "python":
        target = words[2].replace(".", "/") if words[1] == "-m" else words[1]
        assert (ROOT / target).exists(), command
    else:
        assert words[0] in ("make", "man", "dask"), f"{command!r} is not run: mark it with <!-- not run: REASON -->"


@of(WITH_ANSWERS)
def test_answers_are_those_that_are_shown(page: str) -> None:
    """A block of text after one of commands is what the first of these prints."""
    form = _form if page == "docs/predicting.md" else _without_times
    found = pages.blocks(page)
    shown = [(found[at - 1], block) for at, block in enumerate(found) if block.language == "text"]
    for asked, block in shown:
        assert asked.language == "sh", f"{page}: a block of text follows no command"
        done = _answer(asked.commands[0])
        printed = done.stdout if form is _form else done.stderr + done.stdout
        assert form(block.text) == form(printed)


def _without_times(text: str) -> list[str]:
    """Lines without blanks at their end, bars and seconds."""
    lines = (line.rstrip() for line in text.replace("\r", "\n").splitlines())
    return [re.sub(r"in [0-9.]+ s", "in 0 s", line) for line in lines if line and "%|" not in line]


def _form(text: str) -> list[str]:
    """Lines without what a better choice would change."""
    lines = [line for line in text.splitlines() if not line.startswith("chosen  ")]
    assert len(lines) == len(text.splitlines()) - 1
    return [re.sub(r"[\d.]+", "0", re.sub(r"(north|south|west)(?= \d)", "CLASS", line)) for line in lines]


@pytest.mark.parametrize("page", PAGES)
class TestText:
    """What can be seen without running anything."""

    def test_python_without_answers_can_be_read(self, page: str) -> None:
        for block in pages.blocks(page, "python"):
            ast.parse(block.text)
            assert block.reason or page == "docs/adding-a-method.md", f"{page}: mark it, or show it as a session"

    def test_links_lead_somewhere(self, page: str) -> None:
        for address in pages.links(page):
            path, _, anchor = address.partition("#")
            if "://" in address or address.startswith("mailto:"):
                continue
            target = (ROOT / page).parent / path if path else ROOT / page
            if path.startswith("gallery/"):  # the site alone has the gallery
                continue
            assert target.exists(), f"{page}: there is no {address}"
            if anchor and target.suffix == ".md":
                assert anchor in pages.anchors(str(target.resolve().relative_to(ROOT))), f"{page}: no anchor {address}"

    def test_targets_of_make_exist(self, page: str) -> None:
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
        code = "\n".join(re.findall(r"`[^`]+`|```.*?```", pages.text_of(page), re.S))
        assert set(re.findall(r"\bmake ([a-z-]+)\b", code)) <= targets

    def test_a_list_of_headings_has_all_of_them(self, page: str) -> None:
        listed = re.findall(r"^- \[(.*?)\]\(#(.*?)\)$", pages.text_of(page), re.M)
        if listed:
            assert [name for name, _ in listed] == pages.headings(page, "##")
            assert [anchor for _, anchor in listed] == [pages.slug(name) for name, _ in listed]


def test_every_command_is_shown_on_some_page() -> None:
    shown = {
        pages.words_of(line)[1] for page in PAGES for line, _ in pages.commands(page) if line.startswith("hopscale ")
    }
    assert shown >= set(program.list_commands(click.Context(program)))


def test_the_readme_begins_with_what_to_do() -> None:
    text = pages.text_of("README.md")
    first = next(block for block in pages.blocks("README.md") if block.language == "sh")
    assert {line.split("#")[0].strip() for line in first.commands} >= {"make demo", "make test"}
    assert len(text.splitlines()) <= 140


def test_every_kind_of_column_is_on_its_page() -> None:
    listed = re.findall(r"^\| `([a-z]+)` \|", pages.text_of("docs/tables.md"), re.M)
    assert set(listed) == {*KINDS, "drop"}


class TestChecks:
    """The checks themselves find what is wrong."""

    @pytest.mark.parametrize(
        "command",
        ["hopscale embed --no-such-option 1", "hopscale neverland", 'pip install "hopscale[none]"', "rm -r ."],
    )
    def test_wrong_commands_are_found(self, command: str) -> None:
        with pytest.raises((AssertionError, click.UsageError)):
            _check_words(command)

    def test_a_mark_belongs_to_the_block_after_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pages, "ROOT", tmp_path)
        text = "```sh\na\n```\n\n<!-- not run: needs a GPU -->\n```sh\nb \\\n  c\n```\n"
        (tmp_path / "page.md").write_text(text)
        assert list(pages.commands("page.md")) == [("a", None), ("b    c", "needs a GPU")]
