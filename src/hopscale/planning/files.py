"""Counts of graphs that are not in memory: in Parquet files, some of whose rows tell, or stored in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from hopscale.exceptions import GraphError
from hopscale.io.counting import FileCounts, count_rows
from hopscale.planning.sizes import GraphSize, Place
from hopscale.stored import StoredGraph
from hopscale.stored.sources import edge_source, feature_source, parquet_files

__all__ = ["counts_in_parts", "size_of_rows", "size_of_stored"]


def counts_in_parts(
    edges: str | os.PathLike[str],
    features: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | Literal[False] | None = None,
    value: str | None = None,
    say: Callable[[str], None],
) -> FileCounts:
    """Counts of a graph in the Parquet files of folders or globs; what :func:`hopscale.store_graph` refuses is refused.

    Parameters are those of :func:`hopscale.store_graph`.
    """
    files = parquet_files(edges, "edges")
    columns = edge_source(files, str(edges), source=source, target=target, weight=weight, say=say).columns
    listed = None
    if features is not None:
        listed = parquet_files(features, "features")
        value = feature_source(listed, str(features), value=value, say=say).columns["value"]
    return count_rows(
        files,
        listed,
        source=columns["source"],
        target=columns["target"],
        weight=columns["weight"] or False,  # columns were chosen, with warnings: they are not to be chosen again
        value=value,
    )


def size_of_rows(found: FileCounts, kept_in: Place = "memory") -> GraphSize:
    """Counts from all rows of some files, or from a part of them."""
    source = "the rows of its files" if found.share >= 1 else f"{_percent(found.share)} % of the rows of its files"
    return GraphSize(
        found.n_nodes, found.n_edges, found.n_features, found.n_entries, found.weighted, source, kept_in=kept_in
    )


def _percent(share: float) -> str:
    """A share below 1 in two digits.

    >>> _percent(0.9999), _percent(0.123), _percent(0.00123)
    ('99', '12', '0.12')
    """
    return f"{min(99.0, 100 * share):.2g}"


def size_of_stored(graph: StoredGraph) -> GraphSize:
    """Counts of a graph in a folder."""
    if not graph.n_edges:
        raise GraphError(f"the graph {str(graph.folder)!r} has no edges: there is nothing to walk on")
    return GraphSize(
        graph.n_nodes,
        graph.n_edges,
        graph.n_features,
        graph.entries,
        weighted=graph.weighted,
        source="the stored graph",
        kept_in="folder",
    )
