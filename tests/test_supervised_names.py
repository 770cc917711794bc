"""The names that the library offers, and those that type checkers are told of."""

import ast
from pathlib import Path

import hopscale
from hopscale.supervised import SUPERVISED


def test_stubs_name_what_is_there():
    """``__init__.pyi`` lists by hand what is found when it is asked for."""
    stub = ast.parse(Path(hopscale.__file__).with_suffix(".pyi").read_text())
    names = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    offered = set(hopscale.__all__)
    assert offered <= names
    assert names <= set(dir(hopscale))
    assert {"GraphClassifier", "GraphRegressor"} <= offered
    for name, model in SUPERVISED.items():
        if model.__module__.startswith("hopscale."):
            assert getattr(hopscale, name) is model
