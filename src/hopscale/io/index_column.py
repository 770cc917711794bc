"""Tables whose index holds the ids of their rows: it becomes a column like the others."""

from __future__ import annotations

from typing import Any

from hopscale.exceptions import GraphError, Setting, in_short
from hopscale.indexed import has_index, is_default, is_series
from hopscale.io.columns import is_node_name

__all__ = ["ids_as_column"]


def ids_as_column(table: Any, role: str, node: str | None = None) -> Any:
    """A table by nodes with their ids as first column, where its index holds them.

    An index holds ids if it is called ``node`` or like a column of nodes, if it has no name and holds no whole numbers,
    or if there is but one column beside it. A default index is none, and whole numbers without a name are what is left
    of it where rows were chosen or sorted. What could be either is refused. A Series becomes a table of two columns.

    Examples
    --------
    >>> import pandas as pd
    >>> labels = pd.Series([1, 0], index=["bob", "ann"], name="label")
    >>> ids_as_column(labels, "labels").columns.tolist()
    ['index', 'label']
    """
    if not has_index(table):
        return table
    try:
        return _with_ids(table, role, node)
    except GraphError:
        raise
    except Exception as error:  # of the table's own code, on names that it does not like
        raise GraphError(f"the index of {role} cannot be made a column ({error}): call .reset_index() first") from error


def _with_ids(table: Any, role: str, node: str | None) -> Any:
    if is_series(table):
        table = table.to_frame(role if table.name is None else table.name)
    columns, name = [str(column) for column in table.columns], table.index.name
    is_number = getattr(table.index.dtype, "kind", "O") in "iu"
    if is_default(table.index) or node in columns or (name is not None and str(name) in columns):
        return table.reset_index(drop=True)
    if len(columns) < 2 or (not is_number if name is None else name == node or is_node_name(str(name))):
        return table.reset_index()
    if is_node_name(columns[0]) or name is None:
        return table.reset_index(drop=True)
    raise GraphError(
        f"{role} has an index {in_short(name)} and the columns {columns}: which of them holds the nodes? Make the "
        "index a column by .reset_index(), or drop it by .reset_index(drop=True), and give ",
        Setting("node_column"),
    )
