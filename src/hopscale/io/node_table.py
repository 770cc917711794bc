"""Node tables: which column names the nodes, which rows are theirs, and what their features and labels are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, HopscaleError, ParameterError, Setting, in_short, warn
from hopscale.features.frames import columns_of
from hopscale.features.kinds import without_missing_texts
from hopscale.features.table import Column, column_of
from hopscale.indexed import has_index, is_default, labels_at
from hopscale.io.ids import numbers_if_all
from hopscale.io.label_file import warn_of_alike_classes
from hopscale.io.matching import EdgeIds, are_filled, check_overlap, likely_id_column
from hopscale.io.naming import Names, rows_of

if TYPE_CHECKING:
    from hopscale.features import FeatureEncoder

__all__ = ["EncodedNodes", "NodeTable", "check_kinds", "chosen_encoder", "encode_nodes", "table_of_nodes"]


_LINES = 100  # of what was understood are told


@dataclass(frozen=True)
class NodeTable:
    """A table of nodes as it came, with words for its rows."""

    columns: dict[str, Column]
    where: Callable[[int], str]  # a row, for people
    error: type[HopscaleError] = GraphError  # of what is wrong in a row
    skip_bad: bool = False  # leave out rows that are wrong instead of refusing them
    index: str | None = None  # a column that is an index: if it does not hold the ids, it is no data either
    hints: Mapping[str, bool] = field(default_factory=dict)  # whether a column is called as ids are

    def rows(self, kept: NDArray[Any], id_column: str) -> dict[str, Column]:
        """The columns at some rows."""
        return {
            name: replace(column, codes=column.codes[kept])
            for name, column in self.columns.items()
            if name != self.index or name == id_column
        }

    def named_rows(self, id_column: str, edges: EdgeIds) -> tuple[NDArray[Any], NDArray[Any]]:
        """Names of the nodes, each once, and the first row of each; rows that contradict it are refused."""
        ids = self.columns[id_column]
        is_id = np.append(edges.can_be(ids) if self.skip_bad else are_filled(ids), False)[ids.codes]
        there, missing = np.flatnonzero(is_id), np.flatnonzero(~is_id)
        if len(missing) and not self.skip_bad:
            raise self.error(
                f"{self.where(int(missing[0]))}: no id in the column {in_short(id_column)} ({len(missing)} row(s) "
                "without one)"
            )
        used, at = np.unique(ids.codes[there], return_inverse=True)
        values = np.asarray(ids.values)[used]
        names = edges.named(Column(at, values))
        named = Names.each(names) if names is values else Names.of(names)  # values are distinct
        node = named.codes[at]
        nodes, earliest = np.unique(node, return_index=True)
        first = np.zeros(len(named.vocabulary), dtype=np.int64)
        first[nodes] = there[earliest]
        again = first[node] != there
        contrary = self._contrary(id_column, there[again], first[node[again]])
        left_out = [f"{len(missing)} without an id"] if len(missing) else []
        if contrary:
            row, earlier, column = contrary[0]
            cells = self.columns[column]
            if not self.skip_bad:
                now, then = (in_short(cells.value(int(cells.codes[each]))) for each in (row, earlier))
                raise self.error(
                    f"{self.where(row)}: node {in_short(ids.value(int(ids.codes[row])))} has {now} in the column "
                    f"{in_short(column)}, but {then} in {self.where(earlier)} ({len(contrary)} row(s) like it). The "
                    f"column {in_short(id_column)} was taken for the ids; if another names the nodes, give ",
                    Setting("id_column"),
                )
            left_out.append(f"{len(contrary)} that contradict an earlier one, the first {self.where(row)}")
        if left_out:
            warn(f"rows of the node table are left out: {', '.join(left_out)}")
        kept = np.sort(first[nodes])
        return names[at[np.searchsorted(there, kept)]], kept

    def _contrary(self, id_column: str, rows: NDArray[Any], others: NDArray[Any]) -> list[tuple[int, int, str]]:
        """Rows that differ from an earlier one, that one, and the column where they do."""
        found: dict[int, tuple[int, int, str]] = {}
        for name, column in self.columns.items():
            if name == id_column:
                continue
            for at in np.flatnonzero(column.codes[rows] != column.codes[others]).tolist():
                row, other = int(rows[at]), int(others[at])
                # Lists and vectors may be the same under two codes.
                if column.value(int(column.codes[row])) != column.value(int(column.codes[other])):
                    found.setdefault(row, (row, other, name))
        return [found[row] for row in sorted(found)]


@dataclass(frozen=True)
class EncodedNodes:
    """Features of the nodes of a table, and perhaps their labels."""

    listed: Names  # the node of each row
    features: sp.csr_array
    encoder: FeatureEncoder
    columns: dict[str, Column]  # of these rows
    label_column: str | None = None

    def features_of(self, rows: NDArray[Any], n_nodes: int) -> sp.csr_array:
        """Features of all nodes, where ``rows`` are those of the table's; other nodes have none."""
        at = np.full(n_nodes, len(rows), dtype=np.int64)
        at[rows] = np.arange(len(rows))
        nothing = sp.csr_array((1, self.features.shape[1]), dtype=np.float32)
        return sp.csr_array(sp.vstack([self.features, nothing], format="csr"))[at]

    def labels_of(self, names: NDArray[Any]) -> tuple[NDArray[Any], str]:
        """Labels of all nodes, with gaps, and their column: ints or floats if all are numbers, else text."""
        assert self.label_column is not None
        label, _ = without_missing_texts(self.columns[self.label_column])
        at = np.full(len(names), -1, dtype=np.int64)
        at[rows_of(self.listed, names)] = label.codes
        used, given = np.unique(at, return_inverse=True)
        classes = _typed([label.value(code) for code in used.tolist() if code >= 0])
        labels = labels_at(classes, given - (len(classes) < len(used)))
        warn_of_alike_classes(classes, f"the column {in_short(self.label_column)}")
        return labels, self.label_column

    def warn_of_leaks(self, names: NDArray[Any], labels: NDArray[Any], label_name: str | None) -> None:
        """Warn of features that are called as the label, or each of whose values goes with one label and back."""
        label = column_of(labels[rows_of(self.listed, names)], "labels")
        shown = "" if label_name is None else f" {in_short(label_name)}"
        for encoded in self.encoder.columns_:
            if encoded.encoder is None:
                continue
            if _says_the_same(label, [self.columns[source] for source in encoded.sources]):
                what = f"says the same as the label{shown}"
            elif encoded.name == label_name:
                what = "has the name of the label"
            else:
                continue
            warn(
                f"the column {in_short(encoded.name)} {what}: as a feature it gives away what is to be predicted. To "
                "leave it out, give ",
                Setting("columns", {encoded.name: "drop"}),
            )


def table_of_nodes(nodes: Any) -> NodeTable:
    """A table of nodes, with its index as a column if that is more than row numbers."""
    columns = columns_of(nodes)
    index, hints = None, dict[str, bool]()
    if has_index(nodes) and not is_default(nodes.index):
        name = "index" if nodes.index.name is None else str(nodes.index.name)
        if name not in columns:
            index, columns = name, {name: column_of(nodes.index.to_series(), name), **columns}
            # Whole numbers without a name are what is left of row numbers where rows were chosen or sorted.
            hints = {name: nodes.index.name is not None or columns[name].form == "text"}
    return NodeTable(columns, lambda row: f"nodes, row {row}", index=index, hints=hints)


def encode_nodes(
    table: NodeTable,
    edges: NDArray[Any],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoder: FeatureEncoder | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> EncodedNodes:
    """Features of a table's rows, by the names that nodes have in the edges.

    ``encoder`` is used as it is if it is fitted; otherwise a copy of it is, with ``columns`` added to its own.
    ``say`` reports what was understood.
    """
    chosen, is_fitted = chosen_encoder(encoder, columns)
    known_ids = EdgeIds(edges)
    if id_column is None and is_fitted and chosen.column_of_kind("id") in table.columns:
        id_column = chosen.column_of_kind("id")
    is_guessed = id_column is None
    if id_column is None:
        id_column = likely_id_column(table.columns, known_ids, table.hints)
    for parameter, name in (("id_column", id_column), ("label_column", label_column)):
        if name is not None and name not in table.columns:
            known = in_short(list(table.columns))
            raise ParameterError(f"is no column of the node table, which has {known}", parameter=parameter, value=name)
    if id_column == label_column:
        raise ParameterError("holds the ids of the nodes", parameter="label_column", value=label_column)
    names, kept = table.named_rows(id_column, known_ids)
    listed, rows = Names.each(names), table.rows(kept, id_column)
    check_overlap(names, known_ids, id_column, is_guessed=is_guessed)
    if is_fitted:
        features = chosen.transform({name: column for name, column in rows.items() if name != id_column})
    else:
        own = {id_column: "id", **({} if label_column is None else {label_column: "label"})}
        chosen.set_params(columns={**(chosen.columns or {}), **own})
        features = chosen.fit_transform(rows)
    known = "they are encoded as those that the encoder was fitted on"
    if not is_fitted:
        lines = str(chosen).splitlines()
        more = [f"and {len(lines) - _LINES:,} more columns"] if len(lines) > _LINES else []
        known = "\n".join(["their columns are:", *lines[:_LINES], *more])
    say(f"{len(listed):,} nodes in the table, named by the column {in_short(id_column)}; {known}")
    return EncodedNodes(listed, features, chosen, rows, label_column)


def check_kinds(columns: Any) -> None:
    """Refuse kinds of columns that are not given by name; the encoder looks at the rest."""
    if columns is not None and not (isinstance(columns, Mapping) and all(isinstance(name, str) for name in columns)):
        raise ParameterError(f"must be a mapping from names to kinds, not {in_short(columns)}", parameter="columns")


def chosen_encoder(encoder: Any, columns: Any) -> tuple[FeatureEncoder, bool]:
    """The encoder to use, and whether it is fitted."""
    from sklearn.base import clone  # which takes long to import

    from hopscale.features import FeatureEncoder

    check_kinds(columns)
    if encoder is None:
        return FeatureEncoder(columns), False
    if not isinstance(encoder, FeatureEncoder):
        raise ParameterError(f"must be a FeatureEncoder, not {in_short(encoder)}", parameter="encoder")
    if hasattr(encoder, "columns_"):
        if columns is not None:
            raise ParameterError("cannot be given with an encoder that is fitted", parameter="columns")
        return encoder, True
    check_kinds(encoder.columns)
    return clone(encoder).set_params(columns={**(encoder.columns or {}), **(columns or {})} or None), False


def _says_the_same(label: Column, columns: list[Column]) -> bool:
    """Whether each value of a column goes with one label, and the other way round."""
    if len(columns) > 1 or columns[0].form in ("list", "vector") or label.form in ("list", "vector"):
        return False
    column, _ = without_missing_texts(columns[0])
    both = (label.codes >= 0) & (column.codes >= 0)
    width = len(column.values) + 1
    pairs = np.unique(label.codes[both].astype(np.int64) * width + column.codes[both])
    is_one_to_one = len(pairs) == len(np.unique(pairs // width)) == len(np.unique(pairs % width))
    return is_one_to_one and 1 < len(pairs) <= both.sum() / 2


def _typed(values: list[Any]) -> list[Any]:
    """Numbers if all values are finite ones, also as text, else the values."""
    if not all(isinstance(value, str) for value in values):
        return values
    numbers = numbers_if_all(values)
    return values if any(isinstance(number, float) and not math.isfinite(number) for number in numbers) else numbers
