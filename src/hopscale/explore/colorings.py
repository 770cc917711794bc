"""What the nodes of a page can be coloured by: classes, values, clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.exceptions import GraphError, warn
from hopscale.explore.blocks import Blocks
from hopscale.explore.node_colors import MOST_CLASSES, has_long_tail
from hopscale.explore.shown_names import in_order
from hopscale.indexed import is_frame, is_series, labels_by_id
from hopscale.io.vectors import name_text
from hopscale.labels import has_class, has_value, label_column, likely_task, target_values

__all__ = ["add_clusters", "add_labels", "add_values", "label_columns"]

_MOST = 60_000  # classes


def label_columns(labels: Any, ids: NDArray[Any], name: str | None = None) -> Iterator[tuple[str, NDArray[Any]]]:
    """Names and values of labels in the order of the nodes; a data frame has several columns."""
    if is_frame(labels):
        for each in labels.columns:
            yield name_text(each), _checked(labels_by_id(labels[each], ids), len(ids))
        return
    if name is None and is_series(labels):
        name = labels.name
    yield "Label" if name is None else name_text(name), _checked(labels_by_id(labels, ids), len(ids))


def _checked(labels: Any, n: int) -> NDArray[Any]:
    column = label_column(labels)
    if column.shape != (n,):
        raise GraphError(f"labels must be one value a node, {n} in all, but their shape is {column.shape}")
    return column


def add_labels(blocks: Blocks, name: str, labels: NDArray[Any]) -> dict[str, Any] | None:
    """Add classes or values, by what the labels look like; None, with a warning, where there are none."""
    if not has_value(labels).any():
        warn(f"no node has a label in {name!r}: nodes are not coloured by it")
        return None
    task, _ = likely_task(labels)
    if task == "regression":
        return add_values(blocks, name, target_values(labels))
    known = has_class(labels)
    try:
        counts = Counter(labels[known].tolist())
    except TypeError as error:
        raise GraphError(f"labels must be one class a node ({error})") from None
    if len(counts) > _MOST:
        warn(f"{name!r} has {len(counts):,} different labels: nodes are not coloured by it")
        return None
    # Those that have colours of their own come first, in the order in which plots have them.
    by_count = [label for label, _ in counts.most_common()]
    own = MOST_CLASSES if len(counts) <= MOST_CLASSES else MOST_CLASSES - 1
    code = {label: at for at, label in enumerate([*in_order(by_count[:own]), *by_count[own:]])}
    codes = np.full(len(labels), len(code), dtype=np.uint8 if len(code) < 2**8 else np.uint16)
    codes[known] = [code[label] for label in labels[known].tolist()]
    block = _block_name(blocks)
    blocks.add(block, codes)
    return {
        "id": block,
        "kind": "classes",
        "name": name,
        "classes": [name_text(label) for label in code],
        "block": block,
    }


def add_values(blocks: Blocks, name: str, values: NDArray[np.float64]) -> dict[str, Any]:
    """Add numbers; colours follow their logarithms where they are counts or the like, with a long tail."""
    block = _block_name(blocks)
    blocks.add(block, values.astype(np.float32))
    return {"id": block, "kind": "values", "name": name, "block": block, "log": has_long_tail(values)}


def _block_name(blocks: Blocks) -> str:
    return f"label-{sum(name.startswith('label-') for name in blocks.texts)}"


def add_clusters(blocks: Blocks, model: Any, scales: list[str | None], n_clusters: int, seed: int) -> dict[str, Any]:
    """Add the clusters of each map, numbered from the largest."""
    names = []
    for at, scale in enumerate(scales):
        known = int(model.node_vectors(scale).any(axis=1).sum())
        codes = model.clusters(min(n_clusters, known), scale=scale, random_state=seed)
        codes[codes < 0] = n_clusters  # of which nothing is known
        names.append(f"clusters-{at}")
        blocks.add(names[-1], codes.astype(np.uint8 if n_clusters < 2**8 else np.uint16))
    classes = [f"Cluster {number}" for number in range(n_clusters)]
    missing = "Nothing is known"
    return {
        "id": "cluster",
        "kind": "classes",
        "name": "Cluster",
        "classes": classes,
        "blocks": names,
        "missing": missing,
    }
