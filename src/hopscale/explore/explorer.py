"""The explorer: what a fitted model has learnt, as a page that opens in any browser."""

from __future__ import annotations

import os
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hopscale import __version__
from hopscale.atomic import check_writable
from hopscale.checks import as_path, seed_of, switch, whole
from hopscale.compute.threads import Threads, checked_jobs
from hopscale.exceptions import ParameterError, Setting, in_short, warn
from hopscale.explore.blocks import Blocks
from hopscale.explore.colorings import add_clusters, add_labels, add_values, label_columns
from hopscale.explore.layout import chosen_method, feature_positions, node_positions
from hopscale.explore.page_file import write_html
from hopscale.explore.palette import PALETTE
from hopscale.explore.quantized import NOWHERE, byte_vectors, coded_vectors, grid_positions
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.models.surroundings import Surroundings, features_in_columns

__all__ = ["ALL", "check_page", "write_explorer"]

ALL = "all"  # the map of all dimensions

_VECTOR_BYTES = 24 << 20  # of nodes, above which a few bytes have to do for each
_MOST_PARTS = 32  # bytes that then stand for a vector
_MOST_FEATURES = 20_000
_MOST_ENTRIES = 4_000_000  # pairs of a node and a feature


def write_explorer(
    model: Any,
    path: str | os.PathLike[str],
    *,
    graph: Any = None,
    labels: Any = None,
    label_name: str | None = None,
    title: str | None = None,
    scales: Iterable[int | str] | None = None,
    method: str = "auto",
    n_clusters: int = 12,
    max_nodes: int = 100_000,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: bool = False,
) -> None:
    """Write a page on which people explore a fitted model; see :meth:`hopscale.MUSAE.explore`, which calls this."""
    check_is_fitted(model)
    check_page(path)
    check_writable(path)
    seed, verbose = seed_of(random_state), switch("verbose", verbose)
    n_jobs, method = checked_jobs("n_jobs", n_jobs), chosen_method(method)
    n_clusters = whole("n_clusters", n_clusters, least=0, most=1000)
    known = getattr(model, "graph_", None) if graph is None else as_graph(graph)
    shown, rows = _part(model, whole("max_nodes", max_nodes, least=1), seed)
    maps = _maps(shown, scales)
    blocks, colorings = Blocks(), []
    if labels is None and known is not None and known.labels is not None:
        labels = dict(zip(known.node_ids.tolist(), known.labels.tolist(), strict=True))
    if labels is not None:
        columns = label_columns(labels, model.node_ids_, label_name)
        colorings += [add_labels(blocks, name, column[rows]) for name, column in columns]
    with Threads(n_jobs, verbose=verbose) as engine:
        if n_clusters:
            colorings.append(add_clusters(blocks, shown, maps, n_clusters, seed))
        if known is not None:
            around = Surroundings.of(shown.node_ids_, known)
            colorings.append(add_values(blocks, "Number of neighbours", around.counts))
            _add_owners(blocks, shown, around, known)
        _add_vectors(blocks, shown, seed, engine)
    for at, scale in enumerate(maps):
        _add_map(blocks, at, shown, scale, method=method, random_state=seed, n_jobs=n_jobs, verbose=verbose)
    facts = _facts(model, shown, title, maps, method) | {"colorings": [each for each in colorings if each]}
    write_html(path, {**facts, "blocks": blocks.facts}, blocks.texts)


def check_page(path: str | os.PathLike[str]) -> None:
    """Refuse names that browsers would not open as a page."""
    if as_path(path).suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"a page is written as .html, not {Path(path).name!r}")


def _part(model: Any, max_nodes: int, seed: int) -> tuple[Any, NDArray[np.int64] | slice]:
    """A model with the nodes and features that a page shows, and the rows of these nodes in the whole model."""
    n, part = len(model.node_ids_), copy(model)
    for cached in ("_node_index", "feature_index", "graph_"):
        part.__dict__.pop(cached, None)
    rows: NDArray[np.int64] | slice = slice(None)  # which copies nothing
    if n > max_nodes:
        warn(f"the page shows {max_nodes:,} of {n:,} nodes, chosen at random: ", Setting("max_nodes", n), " shows all")
        rows = np.sort(np.random.default_rng(seed).choice(n, max_nodes, replace=False))
    part.embedding_, part.node_ids_ = model.embedding_[rows], model.node_ids_[rows]
    # With ego, nodes come after the features; models of nodes alone have vectors of these in the place of features.
    has_features = model.uses_features and model.has_feature_vectors
    own = getattr(model, "context_", "features")
    q = (len(model.feature_names_) - own.endswith("+nodes") * n) if has_features else 0
    features: NDArray[np.int64] | slice = slice(0, q)
    if q > _MOST_FEATURES:
        warn(f"the page shows the {_MOST_FEATURES:,} features of {q:,} with the longest vectors")
        lengths = np.linalg.norm(model.feature_embedding_[:q], axis=1)
        features = np.sort(np.argsort(-lengths, kind="stable")[:_MOST_FEATURES])
    part.feature_embedding_, part.feature_names_ = model.feature_embedding_[features], model.feature_names_[features]
    return part, rows


def _maps(model: Any, scales: Iterable[int | str] | None) -> list[str | None]:
    """Scales that have a map, None for all dimensions; those at which nothing is known are left out."""
    labels = list(model.scale_columns_)
    every = [ALL, *(labels if len(labels) > 1 else [])]
    if isinstance(scales, (str, int)):
        raise ParameterError(f"must be a list of scales, not {in_short(scales)}", parameter="scales")
    asked = every if scales is None else list(dict.fromkeys(map(str, scales)))
    if not asked or not set(asked) <= {*every, *labels}:
        wrong = next((scale for scale in asked if scale not in {*every, *labels}), "none")
        raise ParameterError(f"no scale {in_short(wrong)}; this model has {', '.join(every)}")
    found: list[str | None] = []
    for scale in asked:
        label = None if scale == ALL else scale
        if model.node_vectors(label).any() or label is None:
            found.append(label)
        else:
            warn(f"there is no map of scale {scale}: the vectors of all nodes are zero at it")
    return found


def _add_map(blocks: Blocks, at: int, model: Any, scale: str | None, **settings: Any) -> None:
    nodes = node_positions(model, scale=scale, **settings)
    del settings["method"]
    features, known = nodes[:0], np.zeros(0, dtype=bool)
    if len(model.feature_names_):
        features = feature_positions(model, nodes, scale=scale, **settings)
        known = model.feature_vectors(scale).any(axis=1)
    on_grid, features_on_grid = grid_positions(nodes, features[known])
    blocks.add(f"positions-{at}", on_grid)
    if len(features):
        places = np.full((2, len(features)), NOWHERE, dtype=np.int16)
        places[:, known] = features_on_grid.reshape(2, -1)
        blocks.add(f"feature-positions-{at}", places.ravel())


def _add_vectors(blocks: Blocks, model: Any, seed: int, engine: Threads) -> None:
    """Add names and vectors of nodes and features, and the order in which features are named on the map."""
    columns = list(model.scale_columns_.values())
    blocks.add_names("node-names", model.node_ids_)
    if model.embedding_.size + 2 * len(model.embedding_) * len(columns) <= _VECTOR_BYTES:
        vectors, factors = byte_vectors(model.embedding_, columns)
        blocks.add("node-vectors", vectors.ravel())
    else:
        codes, centres, factors = coded_vectors(model.embedding_, columns, _parts(model), seed, engine)
        blocks.add("node-vectors", codes.ravel())
        blocks.add("node-centres", centres)
    blocks.add("node-factors", factors.ravel())
    if len(model.feature_names_):
        blocks.add_names("feature-names", model.feature_names_)
        vectors, factors = byte_vectors(model.feature_embedding_, columns)
        blocks.add("feature-vectors", vectors.ravel())
        blocks.add("feature-factors", factors.ravel())
        lengths = np.linalg.norm(model.feature_embedding_, axis=1)
        blocks.add("feature-order", np.argsort(-lengths, kind="stable").astype(np.uint32))


def _parts(model: Any) -> int:
    """Bytes for each scale of a node's vector, where it cannot have one for each dimension."""
    n, scales = len(model.embedding_), model.scale_columns_.values()
    each = min(_VECTOR_BYTES // n - 2 * len(scales), _MOST_PARTS) // len(scales)
    return max(1, min(each, *(columns.stop - columns.start for columns in scales)))


def _add_owners(blocks: Blocks, model: Any, around: Surroundings, graph: AttributedGraph) -> None:
    """Add which nodes have which features: how many have each, and the steps from one to the next."""
    if not len(model.feature_names_):
        return
    owners = sp.csc_array(around.place @ features_in_columns(graph, model.feature_names_))
    owners.eliminate_zeros()
    if owners.nnz > _MOST_ENTRIES:
        warn(f"the page does not say which nodes have which features: these are {owners.nnz:,} pairs, too many for it")
        return
    owners.sort_indices()
    counts = np.diff(owners.indptr)
    steps = np.diff(owners.indices.astype(np.int64), prepend=-1)
    first = owners.indptr[:-1][counts > 0]
    steps[first] = owners.indices[first] + 1  # from the node before the first one
    blocks.add("owners", counts.astype(np.uint32))
    blocks.add("owner-steps", steps.astype(np.uint32))


def _facts(model: Any, shown: Any, title: str | None, maps: list[str | None], method: str) -> dict[str, Any]:
    """What the page says and needs beside arrays."""
    labels, powers, captured = list(model.scale_columns_), model._powers(), model.captured_
    scales = [
        {
            "label": label,
            "name": scale_name(label),
            "begin": columns.start,
            "width": columns.stop - columns.start,
            "power": powers[label],
            "captured": captured[label],
        }
        for label, columns in model.scale_columns_.items()
    ]
    named = [
        {
            "label": ALL if scale is None else scale,
            "short": "All" if scale is None else scale,
            "name": "All scales together" if scale is None else scale_name(scale),
            "scale": -1 if scale is None else labels.index(scale),
        }
        for scale in maps
    ]
    kind = type(model).__name__
    return {
        "title": kind if title is None else str(title),
        "model": f"{kind}, {model.embedding_.shape[1]} dimensions",
        "nNodes": len(shown.node_ids_),
        "nAll": len(model.node_ids_),
        "nFeatures": len(shown.feature_names_),
        "palette": PALETTE,
        "maps": named,
        "scales": scales,
        "made": f"Made by hopscale {__version__}; positions by {_METHOD_NAMES[method]}.",
    }


_METHOD_NAMES = {"tsne": "t-SNE", "umap": "UMAP", "pca": "principal components"}


def scale_name(label: str) -> str:
    """A scale in words.

    >>> scale_name("0"), scale_name("1"), scale_name("3"), scale_name("1-3")
    ("0 hops: a node's own features", '1 hop', '3 hops', '1-3 hops')
    """
    if not label[:1].isdigit():
        return label
    return "0 hops: a node's own features" if label == "0" else "1 hop" if label == "1" else f"{label} hops"
