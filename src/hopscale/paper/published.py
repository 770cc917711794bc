"""Every figure of the paper's tables and plots, as it was published."""

from __future__ import annotations

import csv
from importlib.resources import files

__all__ = ["published"]


def published(table: str) -> list[dict[str, str | float]]:
    """Rows of a published table or plot; numbers are floats.

    Parameters
    ----------
    table : {"classification", "regression", "few_shot", "transfer", "runtime", "densification"}

    Examples
    --------
    >>> from hopscale.paper import published
    >>> next(row for row in published("regression") if row["method"] == "MUSAE")
    {'method': 'MUSAE', 'dataset': 'wiki-chameleon', 'r2': 0.658, 'standard_error': 0.004}
    """
    text = (files("hopscale.paper") / "published" / f"{table}.csv").read_text(encoding="utf-8")
    return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
