"""Ordinary node tables as sparse, non-negative features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import KnownParameters, checked_fields, choice, parameter, whole
from hopscale.exceptions import GraphError, in_short, warn
from hopscale.features.base import Limits
from hopscale.features.encoded import (
    EncodedColumn,
    about_column,
    as_vectors,
    beside,
    checked_kinds,
    learnt_column,
    with_distinct_names,
)
from hopscale.features.frames import columns_of
from hopscale.features.kinds import vector_groups, without_missing_texts

__all__ = ["ColumnSummary", "FeatureEncoder"]


class ColumnSummary(NamedTuple):
    """What a column was taken for; see :meth:`FeatureEncoder.describe`."""

    column: str
    kind: str
    why: str
    features: int
    missing: int
    rare: int
    examples: str


# By auto_wrap_output_keys scikit-learn would make data frames of features where its configuration says so.
@dataclass(eq=False, repr=False)
class FeatureEncoder(KnownParameters, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """Features from an ordinary table of nodes: categories, numbers, dates, lists, text.

    A scikit-learn transformer from a table with a row for each node to a sparse matrix of non-negative features, whose
    names say what they mean: ``country=FR``, ``age=30..41``, ``tags=jazz``. What a column holds is found by looking at
    it and can be overridden; :meth:`describe` and ``print(encoder)`` tell what was understood.

    Parameters
    ----------
    columns : dict, optional
        Kinds of columns that are not to be guessed, by name:

        - ``"category"``: a feature for each value, and ``(rare)`` for all values of fewer than ``min_count`` nodes.
        - ``"boolean"``: ``yes`` and ``no``, also from true, t, y, on, 1 and their opposites.
        - ``"list"``: several values a cell, as lists or separated by ``;``, ``|`` or ``,``: a feature for each item.
        - ``"number"``: a feature for each of ``bins`` quantile bins; the outer ones have no end.
        - ``"spline"``: a number is shared out between the two of ``bins`` knots beside it.
        - ``"date"``: a feature for each year, or month or day where there are few years, or for bins of them.
        - ``"text"``: a feature for each word, unless most texts have it.
        - ``"vector"``: a dense vector a cell, ``"signed"`` or ``"binned"`` (:func:`hopscale.features.signed`,
          :func:`hopscale.features.binned`); columns like emb_0, emb_1, ... are one vector, called emb.
        - ``"drop"``, ``"id"``, ``"label"``: no features.
        - a transformer of scikit-learn, which gets the cells as a column of one, or one by one if it takes texts apart.
          Such an encoder cannot be saved with a model.
    min_count : int, default=2
        Values, items and words of fewer nodes have no feature of their own.
    max_values : int, default=10000
        At most so many values, items or words of a column have features: the commonest.
    bins : int, default=10
        Bins or knots of a number; fewer where a bin would hold less than ten nodes.
    missing : {"feature", "ignore"}, default="feature"
        Whether missing cells have a feature of their own, as in ``age=missing``, if there are ``min_count`` of them.
        Missing lists and texts never have.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        What was learnt of each column.
    feature_names_in_ : ndarray of str
        Columns that :meth:`transform` needs.

    See Also
    --------
    hopscale.from_tables : Takes a table of nodes beside the edges, and matches them by id.

    Notes
    -----
    Cells are missing if they are None or NaN, or text that says so: empty, ``-``, ``?``, ``NA``, ``n/a``, ``null``,
    ``None``, ``missing`` and the like. Columns that tell nothing of what nodes share (ids, a value that all have, text
    that is different everywhere) are dropped. So are single features that more than nine in ten nodes have, if there
    are not few: they would tell next to nothing, and fill the matrix. Feature values are 1, but for splines and signed
    vectors.

    Work is done for each distinct value of a column, not for each cell, and nothing is ever dense.

    Examples
    --------
    >>> from hopscale import FeatureEncoder
    >>> people = {
    ...     "country": ["FR", "DE", "FR", "DE", "n/a", "FR"],
    ...     "tags": ["jazz;chess", "jazz", "chess", "", "go;jazz", "go"],
    ...     "active": ["yes", "no", "yes", "yes", "no", "no"],
    ... }
    >>> encoder = FeatureEncoder()
    >>> encoder.fit_transform(people).shape
    (6, 7)
    >>> encoder.get_feature_names_out().tolist()
    ['country=DE', 'country=FR', 'tags=chess', 'tags=go', 'tags=jazz', 'active=no', 'active=yes']
    >>> print(encoder)
    column   kind      features  missing  rare  examples               why
    country  category         2        1     0  FR 3, DE 2             2 different values; missing: n/a
    tags     list             3        1     0  jazz 3, chess 2, go 2  items separated by ";"; missing: empty
    active   boolean          2        0     0  no 3, yes 3            cells are no or yes
    """

    columns: Mapping[str, Any] | None = None
    _: KW_ONLY
    min_count: int = parameter(2, whole, least=1)
    max_values: int = parameter(10_000, whole, least=1)
    bins: int = parameter(10, whole, least=2)
    missing: Literal["feature", "ignore"] = parameter("feature", choice, options=("feature", "ignore"))

    def fit(self, table: Any, y: Any = None) -> FeatureEncoder:
        """Learn what the columns of a table hold.

        Parameters
        ----------
        table : table or mapping of columns
            A data frame (pandas, polars, pyarrow: anything with ``__arrow_c_stream__``) or ``{name: cells}``.
        y : ignored

        Returns
        -------
        self
        """
        self._learn(table)
        return self

    def fit_transform(self, table: Any, y: Any = None) -> sp.csr_array:
        """Learn what the columns of a table hold, and return its features."""
        return beside(self._learn(table), self.columns_[0].n_rows)

    def _learn(self, table: Any) -> list[sp.csr_array]:
        """Fit, and return the features of each column."""
        checked = checked_fields(self)
        limits = Limits(checked["min_count"], checked["max_values"], checked["bins"])
        columns = columns_of(table)
        groups = vector_groups({name: column for name, column in columns.items() if name not in (self.columns or {})})
        asked = checked_kinds(self.columns, [*columns, *groups])
        groups = {name: members for name, members in groups.items() if asked.get(name) != "drop"}
        group_of = {member: name for name, members in groups.items() for member in members}
        learnt: list[EncodedColumn] = []
        parts: list[sp.csr_array] = []
        for name, column in columns.items():
            own, sources = group_of.get(name, name), groups.get(group_of.get(name, ""), [name])
            if name != sources[0]:
                continue
            cells = column if len(sources) == 1 else as_vectors([columns[source] for source in sources])
            with about_column(own):
                found, matrix = learnt_column(own, sources, cells, asked.get(own), limits, checked["missing"])
            learnt.append(found)
            parts += [] if matrix is None else [matrix]
        self.columns_ = with_distinct_names(learnt)
        self._set_names()
        return parts

    def _set_names(self) -> None:
        used = [source for column in self.columns_ if column.encoder is not None for source in column.sources]
        self.feature_names_in_ = np.array(used, dtype=object)

    def transform(self, table: Any) -> sp.csr_array:
        """Features of a table with the columns that were learnt from; others are passed over.

        Parameters
        ----------
        table : table or mapping of columns
            As for :meth:`fit`. A category, item, word or date that was not learnt gives nothing (or ``(rare)``).

        Returns
        -------
        csr_array of shape (n, q), float32

        Warns
        -----
        HopscaleWarning
            If cells of some columns say nothing to the encoder, more often than when it was fitted.
        """
        check_is_fitted(self)
        columns = columns_of(table)
        lacking = [name for name in self.feature_names_in_.tolist() if name not in columns]
        if lacking:
            raise GraphError(
                f"the node table lacks the column(s) {in_short(lacking)}, which the encoder was fitted on; "
                f"its columns are {in_short(list(columns))}"
            )
        parts, odd = [], []
        for encoded in self.columns_:
            if encoded.encoder is None:
                continue
            sources = [columns[source] for source in encoded.sources]
            with about_column(encoded.name):
                column, _ = without_missing_texts(sources[0] if len(sources) == 1 else as_vectors(sources))
                matrix, unread = encoded.matrix(column)
            parts.append(matrix)
            if unread.mean() > 2 * encoded.n_unread / max(encoded.n_rows, 1) if len(unread) else False:
                first = column.value(int(column.codes[np.argmax(unread)]))
                odd.append(f"{encoded.name} ({int(unread.sum())} of {len(unread)} cells, such as {in_short(first)})")
        if odd:
            warn(f"the node table has values that the encoder has not learnt, and that say nothing: {'; '.join(odd)}")
        return beside(parts, len(next(iter(columns.values()))))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features, such as ``country=FR``."""
        check_is_fitted(self)
        return np.array([name for column in self.columns_ for name in column.names], dtype=object)

    def describe(self) -> list[ColumnSummary]:
        """What each column was taken for, and why.

        Returns
        -------
        list of ColumnSummary
            Named tuples (column, kind, why, features, missing, rare, examples): ``pandas.DataFrame`` makes a table of
            them. ``rare`` counts the different values without a feature of their own, ``examples`` has the commonest.
        """
        check_is_fitted(self)
        return [
            ColumnSummary(
                column.name if len(column.sources) == 1 else f"{column.sources[0]}..{column.sources[-1]}",
                column.kind,
                column.why,
                len(column.names),
                column.n_missing,
                column.n_rare,
                column.examples,
            )
            for column in self.columns_
        ]

    def __str__(self) -> str:
        if not hasattr(self, "columns_"):
            return repr(self)
        order = ("column", "kind", "features", "missing", "rare", "examples", "why")
        rows = [order, *([f"{getattr(row, name)}" for name in order] for row in self.describe())]
        widths = [max(len(row[at]) for row in rows) for at in range(len(order))]
        layout = [
            f"{'>' if name in ('features', 'missing', 'rare') else '<'}{n}"
            for name, n in zip(order, widths, strict=True)
        ]
        return "\n".join("  ".join(map(format, row, layout)).rstrip() for row in rows)

    def column_of_kind(self, kind: str) -> str | None:
        """The first column of a kind, such as "id", None if there is none."""
        return next((column.name for column in self.columns_ if column.kind == kind), None)
