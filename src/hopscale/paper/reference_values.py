"""The values printed in the paper's tables and plots."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

__all__ = ["reference_values"]


def reference_values(name: str) -> list[dict[str, Any]]:
    """Rows of one of the paper's tables or plots; numbers are floats.

    Parameters
    ----------
    name : {"classification", "regression", "few_shot", "transfer", "runtime", "densification"}

    Examples
    --------
    >>> from hopscale.paper import reference_values
    >>> next(row for row in reference_values("regression") if row["method"] == "MUSAE")
    {'method': 'MUSAE', 'dataset': 'wiki-chameleon', 'r2': 0.658, 'standard_error': 0.004}
    """
    text = (files("hopscale.paper") / "reference" / f"{name}.csv").read_text(encoding="utf-8")
    return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
