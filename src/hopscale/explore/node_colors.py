"""What the nodes of a plot are coloured by: classes, values, a feature or clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.exceptions import GraphError, ParameterError, Setting
from hopscale.explore.shown_names import in_order, short_text
from hopscale.indexed import is_series, labels_by_id
from hopscale.io.vectors import name_text
from hopscale.labels import Task, has_class, has_value, label_column, likely_task, target_values

__all__ = [
    "MOST_CLASSES", "Classes", "Values", "chosen_colors", "cluster_colors", "feature_colors", "has_long_tail",
    "label_colors",
]  # fmt: skip

MOST_CLASSES = 20  # that are told apart by colour


@dataclass(frozen=True, eq=False)
class Classes:
    """A class for each node, as a number: -1 for none, ``len(names)`` for one of those too rare for a colour."""

    codes: NDArray[np.int64]
    names: list[str]
    others: int = 0  # number of classes that are too rare
    none: str = "no label"


@dataclass(frozen=True, eq=False)
class Values:
    """A number for each node, NaN for none."""

    values: NDArray[np.float64]
    what: str
    logarithmic: bool = False


def chosen_colors(
    model: Any,
    *,
    color: Any = None,
    color_name: str | None = None,
    feature: Hashable | None = None,
    n_clusters: int | None = None,
    scale: int | str | None = None,
    random_state: Any = 0,
) -> Classes | Values | None:
    """The colours that were asked for, one way at most; None where all nodes are alike."""
    given = {"color": color, "feature": feature, "n_clusters": n_clusters}
    asked = [name for name, value in given.items() if value is not None]
    if len(asked) > 1:
        raise ParameterError(
            "nodes have one colour each: give one of ", Setting(asked[0]), " and ", Setting(asked[1]), ", not both"
        )
    if color is not None:
        return label_colors(color, model.node_ids_, name=color_name)
    if feature is not None:
        return feature_colors(model, feature, scale)
    if n_clusters is not None:
        return cluster_colors(model, n_clusters, scale, random_state)
    return None


def label_colors(
    labels: ArrayLike, ids: NDArray[Any], *, task: Task | None = None, name: str | None = None
) -> Classes | Values:
    """Colours of labels: classes or values, as ``task`` says, or by what they look like."""
    if isinstance(labels, str):
        raise ParameterError("must be the labels or values of the nodes, not a single text", parameter="color")
    column = label_column(labels_by_id(labels, ids))
    if column.shape != (len(ids),):
        raise GraphError(
            f"there must be one label for each of the {len(ids)} nodes, but the shape of the labels is {column.shape}"
        )
    if not has_value(column).any():
        raise GraphError("no node has a label: there is nothing to colour nodes by")
    if (likely_task(column)[0] if task is None else task) == "regression":
        values = target_values(column)
        if name is None and is_series(labels):
            name = getattr(labels, "name", None)
        return Values(values, "value" if name is None else short_text(name), has_long_tail(values))
    known = has_class(column)
    listed = column[known].tolist()
    try:
        counts = Counter(listed)
    except TypeError as error:
        raise GraphError(f"labels must be one class a node ({error})") from None
    common = counts.most_common(MOST_CLASSES if len(counts) <= MOST_CLASSES else MOST_CLASSES - 1)
    names = in_order([name for name, _ in common])
    code = {name: at for at, name in enumerate(names)}
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[known] = [code.get(label, len(names)) for label in listed]
    return Classes(codes, [name_text(name) for name in names], others=len(counts) - len(names))


def feature_colors(model: Any, feature: Hashable, scale: int | str | None = None) -> Values:
    """Colours by how much a feature stands out around each node, as the vectors estimate it."""
    model.feature_vectors(scale)  # which must be there
    vector = model.feature_embedding_[model._feature_row(feature)]
    scales = len(model.scale_columns_) if scale is None else 1
    found = model.estimated_pmi(model.embedding_, vector, scale) / scales
    found[~model.node_vectors(scale).any(axis=1)] = np.nan
    return Values(np.asarray(found, dtype=np.float64), f"log ratio of {short_text(feature)}")


def cluster_colors(model: Any, n_clusters: int, scale: int | str | None = None, random_state: Any = 0) -> Classes:
    """Colours by cluster, numbered from the largest."""
    found = model.clusters(n_clusters, scale=scale, random_state=random_state)
    shown = n_clusters if n_clusters <= MOST_CLASSES else MOST_CLASSES - 1
    codes = np.minimum(found, shown)
    return Classes(
        codes, [f"cluster {number}" for number in range(shown)], others=n_clusters - shown, none="nothing is known"
    )


def has_long_tail(values: NDArray[np.float64]) -> bool:
    """Whether values are counts or the like, of which few are large."""
    known = values[~np.isnan(values)]
    return bool(known.min() > 0 and np.quantile(known, 0.98) > 8 * np.median(known))
