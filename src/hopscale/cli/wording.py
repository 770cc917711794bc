"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

from hopscale.cli.options import PARAMETER_HELP, flag

__all__ = ["in_options"]

_PARAMETER = "|".join(sorted(PARAMETER_HELP, key=len, reverse=True))

# Whole phrases, not words: the names of nodes and files in a message must stay as they are.
_PHRASES = {
    r"^walk_length \* walks_per_node must": "--walk-length times --walks-per-node must",
    r"must be larger than window=": "must be larger than --window ",
    r"more than (half of )?memory_limit (?=\()": r"more than \1--memory-limit ",
    r"rows='exact' forces": "--rows exact forces",
    r"rows='sampled' silences": "--rows sampled silences",
    r"made with self_loops=True": "read with --self-loops",
    r"use DeepWalk or Walklets, or ego=True,": "use --model deepwalk or --model walklets, or --ego,",
    r"AE and MUSAE with ego=False can": "--model ae and --model musae without --ego can",
    r"^with ego=True ": "with --ego ",
    r"name it with node_column": "name it with --node-column",
    r", or pass format$": ", or give --format",
    r"pass (weight|value)=(?=')": r"give --\1 ",
    r"pass header=True": "give --header",
    r"pass header=False": "give --no-header",
    r"^data must name a folder": "--data must name a folder",
    r"the folder given as data=\.\.\. or as HOPSCALE_DATA": "the folder that the variable HOPSCALE_DATA names",
}


def in_options(message: str) -> str:
    """A message that names options where the library names parameters.

    >>> in_options("learning_rate must be a number above 0, not nan")
    '--learning-rate must be a number above 0, not nan'
    >>> in_options("walk_length=3 must be larger than window=3")
    '--walk-length 3 must be larger than --window 3'
    """
    for phrase, words in _PHRASES.items():
        message = re.sub(phrase, words, message)
    message = re.sub(rf"^({_PARAMETER})=", lambda found: f"{flag(found[1])} ", message)
    return re.sub(rf"^({_PARAMETER})(?= must )", lambda found: flag(found[1]), message)
