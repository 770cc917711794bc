"""Ways out of a fitted model: tables, files, vectors by id."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import choice
from hopscale.io.vectors import write_vectors
from hopscale.models.queries import VectorQueries

__all__ = ["VectorOutputs"]


class VectorOutputs(VectorQueries):
    """Vectors of a fitted model with their names, in the forms that other programs take."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of ``embedding_``: scale and number."""
        check_is_fitted(self)
        names = [
            f"hop{label}_{i}" if label[0].isdigit() else f"{label}_{i}"
            for label, columns in self.scale_columns_.items()
            for i in range(columns.stop - columns.start)
        ]
        return np.asarray(names, dtype=object)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        what: Literal["nodes", "features"] = "nodes",
        scale: int | str | None = None,
        format: str | None = None,  # noqa: A002
    ) -> None:
        """Write vectors with their names as a table or as word2vec text.

        Parameters
        ----------
        path : path-like
            Its suffix says the format: ``.csv``, ``.tsv``, ``.parquet``, ``.npz`` or, for word2vec text,
            ``.txt``, ``.vec`` or ``.w2v``.
        what : {"nodes", "features"}, default="nodes"
        scale : int or str, optional
            Only the columns of one scale.
        format : str, optional
            As for :func:`hopscale.io.vectors.write_vectors`, where the suffix does not say.
        """
        check_is_fitted(self)
        if choice("what", what, ["nodes", "features"]) == "nodes":
            ids, vectors = self.node_ids_, self.node_vectors(scale)
        else:
            ids, vectors = self.feature_names_, self.feature_vectors(scale)  # refused where there are none
        columns = self.get_feature_names_out()[self._columns(scale)]
        write_vectors(path, ids, vectors, columns=columns, format=format)
