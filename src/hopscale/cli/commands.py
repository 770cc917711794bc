"""All commands, under one name."""

import click

from hopscale import __version__
from hopscale.cli.program import Program

__all__ = ["hopscale"]


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="hopscale")
def hopscale() -> None:
    """Vectors for the nodes and the features of attributed graphs, one block of dimensions per hop scale.

    \b
    hopscale demo
    hopscale datasets
    hopscale methods
    hopscale plan --edges edges.csv --features features.json
    hopscale embed --edges edges.csv --features features.json -o vectors.csv --save model.safetensors
    hopscale classify --edges edges.csv --features features.json --labels labels.csv -o predictions.csv
    hopscale neighbors model.safetensors 42
    hopscale explain model.safetensors 42
    hopscale explore model.safetensors -o map.html
    hopscale suggest-links model.safetensors 42 --edges edges.csv
    hopscale plot model.safetensors -o map.png
    hopscale report --edges edges.csv --features features.json --labels labels.csv -o report.html
    hopscale reproduce classification

    Answers go to the standard output, progress and warnings to the error stream. Exit codes: 0 all went
    well, 1 an error, 2 a command that makes no sense, 70 a mistake of hopscale itself, 130 interrupted
    (Ctrl-C), 143 terminated.
    """


# By command: its module, which is imported when the command is asked for, and the first sentence of its help.
_COMMANDS = {
    "demo": ("demonstration", "Learn, score, search and explain on built-in data."),
    "embed": ("embedding", "Learn vectors for the nodes and the features of a graph."),
    "plan": (
        "planning",
        "What embed would take: time, memory, the form of rows, and what to change if it does not fit.",
    ),
    "classify": ("learning", "Learn from the classes of some nodes, and predict those of the others."),
    "regress": ("learning", "Learn from the values of some nodes, and predict those of the others."),
    "predict": ("predicting", "Predictions for another graph, or for the nodes of the fit, by a saved MODEL."),
    "transform": ("new_nodes", "Vectors of the nodes of a whole graph, by a MODEL that was saved."),
    "extend": ("new_nodes", "Vectors of new nodes, from their rows alone, by a MODEL that was saved with its graph."),
    "neighbors": ("searching", "Nodes with vectors most like those of each of NODES, by cosine, in a saved MODEL."),
    "explain": ("explaining", "Features that stand out around NODE, scale by scale, in a saved MODEL."),
    "explore": (
        "exploring",
        "Write a page on which people explore a MODEL, or a graph: a map of its nodes and features.",
    ),
    "suggest-links": (
        "searching",
        "Pairs of nodes without an edge that are most likely to have one, by a "
        "saved MODEL: of each of NODES, or of all.",
    ),
    "suggest-features": (
        "searching",
        "Features that each of NODES does not have but should, by a saved MODEL and the nodes' neighbours.",
    ),
    "clusters": (
        "searching",
        "Cluster of each node, one of NUMBER, by the vectors of a saved MODEL: k-means on vectors of length one.",
    ),
    "plot": ("plotting", "Draw a map of the nodes of a saved MODEL, or of a graph, as PNG, SVG or PDF."),
    "report": ("reporting", "Write a page about a graph: its statistics, scores on labels, maps and explanations."),
    "info": ("information", "What is in PATH: a saved model, a graph as a file or by name, or a list of edges."),
    "datasets": (
        "data",
        "Data sets that commands take by name: those built in, those of the paper, and those in a folder of yours.",
    ),
    "methods": (
        "methods",
        "Models that ``embed --model`` takes, as their classes describe themselves; of one, its options.",
    ),
    "reproduce": (
        "reproduction",
        "Repeat the paper's experiments and set the published figures beside the measured ones.",
    ),
}
for _name, (_module, _help) in _COMMANDS.items():
    hopscale.add_lazily(_name, f"hopscale.cli.{_module}", _help)
