"""The page on networks: its code runs as shown."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

PAGE = Path(__file__).parents[1] / "docs" / "networks.md"


@pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
def test_every_example_runs_as_shown():
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, PAGE.name, 0)
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert results.attempted >= 12
    assert not results.failed, "".join(said)
