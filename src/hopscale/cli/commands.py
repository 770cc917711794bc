"""All commands, under one name."""

import click

from hopscale import __version__
from hopscale.cli.data import datasets
from hopscale.cli.demonstration import demo
from hopscale.cli.embedding import embed, transform
from hopscale.cli.explaining import explain
from hopscale.cli.methods import methods
from hopscale.cli.new_nodes import extend
from hopscale.cli.program import Program
from hopscale.cli.questions import info
from hopscale.cli.reproduction import reproduce
from hopscale.cli.searching import neighbors, suggest_features, suggest_links

__all__ = ["hopscale"]


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="hopscale")
def hopscale() -> None:
    """Vectors for the nodes and the features of attributed graphs, one block of dimensions per hop scale.

    \b
    hopscale demo
    hopscale datasets
    hopscale methods
    hopscale embed --edges edges.csv --features features.json -o vectors.csv --save model.safetensors
    hopscale neighbors model.safetensors 42
    hopscale explain model.safetensors 42
    hopscale suggest-links model.safetensors 42 --edges edges.csv
    hopscale reproduce classification

    Answers go to the standard output, progress and warnings to the error stream. Exit codes: 0 all went
    well, 1 an error, 2 a command that makes no sense, 70 a mistake of hopscale itself, 130 interrupted
    (Ctrl-C), 143 terminated.
    """


for _command in (
    *(demo, embed, transform, extend, neighbors, explain, suggest_links, suggest_features, info),
    *(datasets, methods, reproduce),
):
    hopscale.add_command(_command)
