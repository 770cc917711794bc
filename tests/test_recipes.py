"""Pages of recipes and advice: their code runs as shown."""

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import sklearn.base  # noqa: F401, before stand-ins that it would take for PyTorch

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

DOCS = Path(__file__).parents[1] / "docs"
LEAST = {"recipes.md": 50, "choosing-vectors.md": 13}  # examples of each page


@pytest.fixture
def _torch(monkeypatch):
    """Stand-ins for PyTorch and PyTorch Geometric where they are not installed: arrays, and a bag of attributes."""
    try:
        import torch_geometric.data  # noqa: F401
    except ImportError:

        def data(x, edge_index):
            return SimpleNamespace(x=x, edge_index=edge_index, num_nodes=len(x))

        torch, package, module = ModuleType("torch"), ModuleType("torch_geometric"), ModuleType("torch_geometric.data")
        torch.tensor, torch.eye, module.Data, package.data = np.array, np.eye, data, module
        for each in (torch, package, module):
            monkeypatch.setitem(sys.modules, each.__name__, each)


@pytest.mark.usefixtures("_torch")
@pytest.mark.parametrize("page", LEAST)
def test_every_block_runs_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    assert text.count("```") == 2 * len(blocks)  # no code of another kind
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    said = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert results.attempted >= LEAST[page]
    assert not results.failed, "".join(said)


def test_headings_are_listed():
    text = (DOCS / "recipes.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(.*?)\]\(#(.*?)\)$", text, flags=re.MULTILINE)
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert [name for name, _ in listed] == headings
    for name, anchor in listed:
        assert anchor == re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")
