"""What the file of a walk's model keeps: vectors of the features, and what placing new nodes needs."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from hopscale.compute.svd import MAX_RANK
from hopscale.exceptions import in_short
from hopscale.models.exact_row import ContextKind
from hopscale.solvers import PMI, Solution
from hopscale.walks import Scale
from hopscale.walks.context import MAX_WINDOW

__all__ = ["checked_hops", "restore", "state"]


def state(model: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Tensors by name, and facts that JSON can hold."""
    tensors: dict[str, NDArray[Any]] = {
        "feature_embedding": model.feature_embedding_,
        "feature_probability": model.feature_probability_,
    }
    if model.singular_values_ is not None:
        tensors["singular_values"] = model.singular_values_
    scales = [
        {**asdict(s.scale), "sampled": s.sampled, "rows": s.rows, "captured": s.captured} for s in model.solutions_
    ]
    return tensors, {
        "scales": scales,
        "solver": model.solver_,
        "seed": model.seed_,
        "bias": model.bias_,
        "context": model.context_,
    }


def restore(model: Any, embedding: NDArray[np.float32], file: Any) -> None:
    """Set what was learnt, from node vectors and a file (:class:`hopscale.models.files.ModelFile`)."""
    listed = file.fact("scales")
    try:
        scales = [Scale(checked_hops(entry["hops"]), _count(entry["dimensions"])) for entry in listed]
    except (TypeError, KeyError, ValueError) as error:
        raise file.wrong(f"'scales' does not list hops and dimensions ({error!r})") from error
    labels = {scale.label for scale in scales if scale.dimensions > 0}
    if not scales or len(labels) < len(scales) or max(scale.dimensions for scale in scales) > MAX_RANK:
        raise file.wrong("'scales' has none, or an empty, repeated or too large one")
    model.solver_ = file.solver(model, max(scale.hops[-1] for scale in scales))
    model.seed_, model.bias_ = file.count("seed"), _bias(model, file)
    model.context_ = file.fact("context", model.context)
    if model.context_ not in get_args(ContextKind):
        raise file.wrong(f"'context' is not one of {', '.join(get_args(ContextKind))}")
    q, d = len(model.feature_names_), sum(scale.dimensions for scale in scales)
    if embedding.shape[1] != d:
        raise file.wrong(f"the vectors have {embedding.shape[1]} dimensions, the scales {d}")
    if not q:
        raise file.wrong("there is nothing in its context: 'feature_names' is empty")
    probability = file.numbers("feature_probability", (len(scales), q), least=0)
    sigma = file.numbers("singular_values", (d,), least=0) if isinstance(model.solver_, PMI) else None
    feature_embedding = file.numbers("feature_embedding", (q, d))
    solutions, first = [], 0
    for scale, entry, p in zip(scales, listed, probability, strict=True):
        own, first = slice(first, first + scale.dimensions), first + scale.dimensions
        solutions.append(
            Solution(
                scale,
                embedding[:, own],
                feature_embedding[:, own],
                p,
                None if sigma is None else sigma[own],
                rows=str(entry.get("rows", "")),
                sampled=entry.get("sampled") is True,
                captured=_share(entry.get("captured"), file),
            )
        )
    model._keep(solutions, embedding, feature_embedding)


def _bias(model: Any, file: Any) -> tuple[float, float]:
    bias = file.fact("bias", list(model.bias))  # format 1 has none
    if not isinstance(bias, list) or len(bias) != 2 or not all(isinstance(x, float) and 1e-9 < x < 1e9 for x in bias):
        raise file.wrong("'bias' is not a pair of positive numbers")
    return bias[0], bias[1]


def _count(value: Any, most: int = 2**31 - 1) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is not a count")
    return value


def _share(value: Any, file: Any) -> float | None:
    """A share that a file has, or None: older files and other solvers have none."""
    if value is not None and not (isinstance(value, float) and 0 <= value <= 1):
        raise file.wrong(f"'scales' has a share of {in_short(value)} that is captured")
    return value


def checked_hops(values: Any) -> tuple[int, ...]:
    """Hops of a scale, which must rise."""
    hops = tuple(_count(value, most=MAX_WINDOW) for value in values)
    if not hops or any(later <= earlier for earlier, later in pairwise(hops)):
        raise ValueError(f"{list(hops)} is empty, or does not rise from hop to hop")
    return hops
