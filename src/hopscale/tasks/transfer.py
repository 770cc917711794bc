"""Transfer learning: fit a model and a classifier to one graph, and classify the nodes of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from hopscale.checks import number, whole
from hopscale.compute.threads import Threads
from hopscale.exceptions import GraphError, ParameterError
from hopscale.indexed import labels_by_id
from hopscale.io import as_graph
from hopscale.labels import class_codes
from hopscale.supervised.heads.logistic import fit_logistic
from hopscale.tasks.metrics import classification_scores
from hopscale.tasks.splits import Record, check_vectors

__all__ = ["transfer"]


def transfer(
    model: Any,
    source: Any,
    target: Any,
    *,
    source_labels: ArrayLike | None = None,
    target_labels: ArrayLike | None = None,
    C: float = 1.0,
    standardize: bool = False,
    seeds: Sequence[int] | None = None,
) -> list[Record]:
    """Fit a model and a logistic regression to one graph, and classify the nodes of another.

    This is the paper's transfer learning experiment. The target's nodes are embedded by ``transform``, using feature
    vectors learned on the source only, and none of their labels is used. To score training on the target itself,
    pass ``model.fit_transform(target)`` to :func:`hopscale.tasks.node_classification`.

    Parameters
    ----------
    model : estimator
        An inductive one: ``AE`` or ``MUSAE`` without ``ego``. A model fitted to the source is used as it is;
        otherwise a clone is fitted.
    source, target : AttributedGraph or what a model's ``fit`` takes
        Features are matched by name.
    source_labels, target_labels : Series, mapping or array-like, optional
        Classes of the nodes, matched by id where they have an index or keys; by default the graphs'
        own. As for :func:`hopscale.tasks.node_classification`.
    C : float, default=1.0
        As for :func:`hopscale.tasks.node_classification`.
    standardize : bool, default=False
        Scale every dimension to mean 0 and standard deviation 1 on the labelled nodes of the source.
    seeds : sequence of int, optional
        Fit a clone of the model with each as its ``random_state``; the paper has ten runs.

    Returns
    -------
    list of dict
        One per seed, with ``task, seed, n_train, n_test``, the metrics of :func:`hopscale.tasks.node_classification`
        on all labelled nodes of the target, where ``majority_micro_f1`` is that of the most frequent class of the
        source, and ``target_majority_micro_f1``, that of the most frequent class of the target.

    Examples
    --------
    >>> from hopscale import MUSAE
    >>> from hopscale.datasets import planted_blocks
    >>> from hopscale.tasks import transfer
    >>> source, target = planted_blocks(300), planted_blocks(300, random_state=1)
    >>> [record] = transfer(MUSAE(dimensions=16), source, target)
    >>> record["micro_f1"] > 0.8 > 0.5 > record["target_majority_micro_f1"]
    True
    """
    C = number("C", C, least=1e-12, most=1e12)
    if seeds is not None and not len(seeds):
        raise ParameterError("seeds is empty: give one for each run, or None to take the model as it is")
    source, target = as_graph(source), as_graph(target)
    graphs = {"source": source, "target": target}
    train, test, n_classes = _codes(graphs, {"source": source_labels, "target": target_labels})
    known, asked = train >= 0, test >= 0
    train, test = train[known], test[asked]
    counts = {"n_train": len(train), "n_test": len(test)}
    source_majority, target_majority = (int(np.bincount(codes).argmax()) for codes in (train, test))
    records = []
    for seed in [None] if seeds is None else seeds:
        fitted = _fitted(model, source, seed)
        X_train, X_test = check_vectors(fitted.embedding_, known)[0], check_vectors(fitted.transform(target), asked)[0]
        with Threads():  # BLAS on a single thread: results do not depend on their number
            fit = fit_logistic(X_train[known], train, n_classes, C=C, standardize=standardize)
            scores = classification_scores(test, fit.probabilities(X_test[asked]), source_majority)
        scores["target_majority_micro_f1"] = float(np.mean(test == target_majority))
        records.append({"task": "transfer", "seed": seed, **counts, **scores})
    return records


def _fitted(model: Any, source: Any, seed: int | None) -> Any:
    if seed is not None:
        return clone(model).set_params(random_state=whole("seeds", seed, least=0)).fit(source)
    if not hasattr(model, "embedding_"):
        return clone(model).fit(source)
    if len(model.embedding_) != source.n_nodes:
        raise ParameterError(
            f"this {type(model).__name__} is fitted to {len(model.embedding_)} nodes, but the source has "
            f"{source.n_nodes}: pass the graph that it was fitted to, or a model that is not fitted"
        )
    return model


def _codes(graphs: dict[str, Any], given: dict[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Codes of the classes of both graphs, and the number of classes; equal labels have equal codes."""
    labels = []
    for which, graph in graphs.items():
        found = graph.labels
        if given[which] is not None:
            found = np.asarray(labels_by_id(given[which], graph.node_ids, f"{which}_labels"))
        if found is None:
            raise GraphError(f"the {which} graph carries no labels: pass {which}_labels")
        if found.shape != (graph.n_nodes,):
            raise GraphError(f"{which}_labels must be one per node, {graph.n_nodes}, but have shape {found.shape}")
        labels.append(found)
    if len({each.dtype.kind for each in labels}) > 1:
        labels = [each.astype(object) for each in labels]
    codes, names = class_codes(np.concatenate(labels))
    train, test = np.split(codes, [len(labels[0])])
    known = np.unique(train[train >= 0])
    if len(known) < 2:
        one = f"all labelled nodes of the source are of class {names[known[0]]!r}" if len(known) else None
        raise GraphError(f"{one or 'no node of the source has a label'}: there is nothing to learn from")
    if test.max() < 0:
        raise GraphError("no node of the target has a label: there is nothing to test on")
    if not np.isin(test, known).any():
        here, there = names[known[0]], names[test.max()]
        raise GraphError(f"source and target have no class in common: the source has {here!r}, the target {there!r}")
    return train, test, len(names)
