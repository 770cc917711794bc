"""From the files of a publisher to a graph, one function a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.datasets.pickled import unpickled
from hopscale.datasets.registry import Published
from hopscale.exceptions import FileFormatError
from hopscale.graph import AttributedGraph
from hopscale.io.delimited import read_columns
from hopscale.io.edges import from_edges
from hopscale.io.feature_json import read_feature_json
from hopscale.io.label_file import read_labels
from hopscale.io.naming import Names
from hopscale.io.rows import read_rows

__all__ = ["graph_of"]

_Parts = tuple[NDArray[np.int64], sp.csr_array, NDArray[Any]]


def graph_of(entry: Published, contents: Mapping[str, bytes]) -> AttributedGraph:
    """Graph from the contents of a data set's files, by role: nodes 0..n-1, binary features, self-loops dropped."""
    try:
        edges, features, labels = _FORMATS[entry.format](entry, contents)
        # Some sources store zeros, and weights where the paper asks for presence.
        features.eliminate_zeros()
        features.data[:] = 1
        return from_edges(edges, features, node_ids=np.arange(entry.nodes), labels=labels)
    except FileFormatError:
        raise
    except (ValueError, LookupError, TypeError) as error:
        raise FileFormatError(f"the files of {entry.name} do not belong together: {error}") from error


def _musae(entry: Published, contents: Mapping[str, bytes]) -> _Parts:
    """The format of the paper's authors: edges and targets as CSV, features as JSON."""
    source = {role: (contents[role], file.name) for role, file in entry.files.items()}
    [ends] = read_columns(read_rows(*source["edges"], True, node_columns=2), [(0, 1)], required=(0, 1)).names
    given = read_feature_json(*source["features"])
    rows, columns = _numbers(given.listed)[given.rows], _numbers(given.features)
    shape = (entry.nodes, entry.columns or int(columns.max(initial=-1)) + 1)
    target = read_rows(*source["target"], True, node_columns=1)
    labels, _ = read_labels(
        target,
        np.arange(entry.nodes),
        node_column=entry.node_column,
        label_column=entry.label_column,
        unknown="error",
    )
    if entry.task == "regression":
        labels = labels.astype(np.float64)
    elif entry.class_names:
        labels = np.array([entry.class_names[str(label)] for label in labels])
    features = sp.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    return _numbers(ends), features, labels


def _numbers(names: Names) -> NDArray[np.int64]:
    return names.vocabulary.astype(np.int64)[names.codes]


def _planetoid(entry: Published, contents: Mapping[str, bytes]) -> _Parts:
    """The format of planetoid: all nodes but those of its test set, then these in an order of their own.

    Nodes that the test set leaves out have no features, and −1 for a label.
    """
    held = {role: unpickled(contents[role], file.name) for role, file in entry.files.items() if role != "test"}
    last = np.array(contents["test"].split(), dtype=np.int64)
    node = np.concatenate([np.arange(held["allx"].shape[0]), last])
    stacked = sp.vstack([held["allx"], held["tx"]]).tocoo()
    rows, columns = stacked.coords
    features = sp.csr_array((stacked.data, (node[rows], columns)), shape=(entry.nodes, entry.columns))
    classes = np.concatenate([held["ally"], held["ty"]])
    labels = np.full(entry.nodes, -1, dtype=np.int64)
    labels[node] = np.where(classes.any(axis=1), classes.argmax(axis=1), -1)
    edges = [(source, end) for source, ends in held["graph"].items() for end in ends]
    return np.array(edges, dtype=np.int64), features, labels


_FORMATS: dict[str, Callable[[Published, Mapping[str, bytes]], _Parts]] = {"musae": _musae, "planetoid": _planetoid}
