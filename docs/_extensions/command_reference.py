"""The directive ``commands``: a section for each command of the program, as its own help describes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hopscale.cli.commands import hopscale as program


class Commands(SphinxDirective):
    """Usage, description, examples and options of every command."""

    def run(self) -> list[nodes.Node]:
        context = click.Context(program, info_name="hopscale")
        sections = []
        for name in program.list_commands(context):
            command = program.get_command(context, name)
            assert command is not None
            sections.append(self._section(name, command, click.Context(command, info_name=name, parent=context)))
        return list(sections)

    def _section(self, name: str, command: click.Command, context: click.Context) -> nodes.section:
        section = nodes.section(ids=[f"hopscale-{name}"], names=[f"hopscale {name}"])
        section += nodes.title("", f"hopscale {name}")
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        section += nodes.literal_block(usage, usage, language="none")
        section += list(_described(command.help or ""))
        rows = [row for option in command.get_params(context) if (row := option.get_help_record(context))]
        section += nodes.definition_list("", *(_entry(*row) for row in rows))
        self.state.document.note_explicit_target(section)
        return section


def _described(text: str) -> Iterator[nodes.Node]:
    """Paragraphs of a command's help; those that click does not wrap hold examples."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.lstrip().startswith("\b"):
            lines = "\n".join(line.strip() for line in paragraph.splitlines() if line.strip(" \b"))
            yield nodes.literal_block(lines, lines, language="sh")
        else:
            yield nodes.paragraph("", "", *_inline(" ".join(paragraph.split())))


def _entry(option: str, text: str) -> nodes.definition_list_item:
    term = nodes.term("", "", nodes.literal("", option))
    return nodes.definition_list_item(
        "", term, nodes.definition("", nodes.paragraph("", "", *_inline(" ".join(text.split()))))
    )


def _inline(text: str) -> Iterator[nodes.Node]:
    """Text with its literals, which help writes in double backticks."""
    for at, part in enumerate(text.split("``")):
        if part:
            yield nodes.literal("", part) if at % 2 else nodes.Text(part)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
