"""Commands in tests: run one, and take its answer or its refusal."""

import csv
import json
import sys

import numpy as np
from click.testing import CliRunner

from hopscale.cli.commands import hopscale as main

HOPSCALE = [sys.executable, "-m", "hopscale"]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def succeeded(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def answer(*arguments):
    """The JSON document, which must be all there is on standard output."""
    return json.loads(succeeded(*arguments, "--json").stdout)


def refused(*arguments, code=1):
    """The one line of a refusal."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if code == 1:
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith("hopscale: ")
    return result.stderr


def vectors_in(path):
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=np.float32)
