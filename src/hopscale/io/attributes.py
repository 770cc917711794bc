"""Attributes of nodes as features, where graph libraries keep them by node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from hopscale.exceptions import GraphError, in_short, warn
from hopscale.indexed import feature_rows, is_frame, is_series
from hopscale.io.columns import is_amount_name
from hopscale.io.edges import entries_by_node, lists_by_id
from hopscale.io.naming import check_attributes, listing
from hopscale.io.node_table import chosen_encoder
from hopscale.names import shown_name

__all__ = ["Attributes", "NodeFeatures", "check_known", "check_weight", "node_features"]

DEFAULT = "features"
WEIGHT = "weight"


class Attributes(NamedTuple):
    """What nodes of a graph have."""

    names: Sequence[str]
    cells: Callable[[str], list[Any]]  # of all nodes in order, None where a node has none


class NodeFeatures(NamedTuple):
    """Features as :func:`hopscale.io.assemble.assemble` takes them."""

    features: Any = None
    names: Any = None
    encoder: Any = None


def node_features(
    features: Any,
    attributes: Attributes,
    nodes: NDArray[Any],
    *,
    label: str | None,
    columns: Mapping[str, Any] | None = None,
    encoder: Any = None,
) -> NodeFeatures:
    """Features that were asked for: an attribute, several, or what is given by node; others are named in a warning.

    ``features`` is the name of an attribute that holds a list, a mapping or a vector; a list of names of attributes
    with anything in them, which are encoded as the columns of a table; or features by node: a mapping, a data frame or
    a Series with the nodes as index.
    """
    if is_frame(features):
        return NodeFeatures(*feature_rows(features, nodes, None))
    if is_series(features):
        return NodeFeatures(entries_by_node(lists_by_id(features, nodes)))
    if isinstance(features, Mapping):
        return NodeFeatures(entries_by_node(features))
    if isinstance(features, (list, tuple, set, frozenset)):
        return _encoded(features, attributes, columns, encoder)
    check_attributes(features=features)
    check_known([label, None if features == DEFAULT else features], attributes)
    if features is None:
        return NodeFeatures()
    if features not in attributes.names:
        _warn_of_unused([name for name in attributes.names if name != label])
        return NodeFeatures()
    cells = attributes.cells(features)
    row = next((row for row, cell in enumerate(cells) if isinstance(cell, (str, bytes, bool, int, float))), None)
    if row is not None:
        raise GraphError(
            f"the attribute {in_short(features)} of node {shown_name(nodes, row)} is {in_short(cells[row])}, which is "
            f"no list of features, mapping or vector: features=[{in_short(features)}] makes features of its values"
        )
    return NodeFeatures(entries_by_node(dict(zip(nodes.tolist(), cells, strict=True))))


def _encoded(names: Iterable[Any], attributes: Attributes, columns: Any, encoder: Any) -> NodeFeatures:
    """Attributes as the columns of a table of nodes, encoded by a :class:`hopscale.FeatureEncoder`."""
    chosen = list(names)
    for name in chosen:
        check_attributes(features=name)
    if not chosen:
        raise GraphError("features is an empty list: name attributes of nodes, or give None")
    check_known(chosen, attributes)
    table = {name: attributes.cells(name) for name in chosen}
    encoder, is_fitted = chosen_encoder(encoder, columns)
    matrix = encoder.transform(table) if is_fitted else encoder.fit_transform(table)
    return NodeFeatures(matrix, encoder.get_feature_names_out(), encoder)


def check_known(names: Iterable[str | None], attributes: Attributes) -> None:
    """Refuse attributes that no node has."""
    for name in names:
        if name is not None and name not in attributes.names:
            there = f"nodes have {listing(attributes.names)}" if attributes.names else "nodes have none at all"
            raise GraphError(f"no node has the attribute {in_short(name)}; {there}")


def check_weight(weight: str, attributes: Iterable[Any]) -> None:
    """Refuse a weight that no edge has, if it was asked for; else warn of an attribute that is called like one."""
    there = [name for name in attributes if isinstance(name, str)]
    if weight != WEIGHT:
        has = f"edges have {listing(there)}" if there else "edges have none at all"
        raise GraphError(f"no edge has the attribute {in_short(weight)}; {has}")
    others = [name for name in there if is_amount_name(name)]
    if others:
        warn(
            f"the graph is taken for unweighted: edges have {listing(others)}, but no 'weight'. If these are weights, "
            f"give weight={others[0]!r}, and weight=None if they are not"
        )


def _warn_of_unused(names: list[str]) -> None:
    if names:
        warn(
            f"the graph has no features: nodes have the attribute(s) {listing(names)}, but none called "
            f"{DEFAULT!r}. from_networkx and from_igraph make features of them by features=[{listing(names)}]; "
            "features=None leaves them out without this warning"
        )
