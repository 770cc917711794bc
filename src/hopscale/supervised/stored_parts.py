"""Parts of a predictor in its file: the report, the names of classes, the inputs and the head."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.exceptions import ParameterError, in_short
from hopscale.io.name_bytes import as_json, is_name, with_tuples
from hopscale.io.tensor_file import TensorFile
from hopscale.supervised.heads.base import Head
from hopscale.supervised.heads.elastic_net import ElasticNetHead
from hopscale.supervised.heads.kernel import KernelHead
from hopscale.supervised.heads.logistic_head import LogisticHead
from hopscale.supervised.inputs import Design, InputKind, Inputs
from hopscale.supervised.selection import STRENGTHS, Candidate, Metric, Report

__all__ = [
    "REAL",
    "State",
    "class_state",
    "head_state",
    "input_state",
    "report_state",
    "stored_classes",
    "stored_head",
    "stored_inputs",
    "stored_numbers",
    "stored_report",
]

State = tuple[dict[str, NDArray[Any]], dict[str, Any]]  # tensors, and facts that JSON can hold

REAL = ("F64", "F32")
# Beyond these, which no fit comes near, sums of products would not be finite.
_LARGEST_INPUT, _LARGEST_WEIGHT = 1e40, 1e100
_LEAST_IDF = 1e-20  # above zero: log(n / (n - 1)) of n nodes
# Types that names of classes may have; text has the width that it needs, and everything else is "object".
_CLASS_TYPES = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")


# Numbers and records.


def stored_numbers(
    file: TensorFile, what: str, values: Any, count: int, *, above: float = -math.inf, below: float = math.inf
) -> list[float]:
    """So many numbers between two bounds, from JSON."""
    listed = values if isinstance(values, list) else []
    if len(listed) != count or not all(type(x) in (int, float) and above < x < below for x in listed):
        raise file.wrong(f"{what} is not {count} number(s) between {above:g} and {below:g}")
    return [float(x) for x in listed]


def _record(value: Any) -> Any:
    """A dataclass as JSON has it."""
    if not is_dataclass(value):
        return value
    return {each.name: _record(getattr(value, each.name)) for each in fields(value)}


def _stored_record(file: TensorFile, kind: Any, given: Any) -> Any:
    """A dataclass from JSON; its fields are text, numbers or such dataclasses."""
    hints = get_type_hints(kind)
    if not isinstance(given, dict) or not set(given) <= set(hints):
        raise file.wrong(f"'report' has a {kind.__name__} that is not one of this version")
    made: dict[str, Any] = {}
    for name, value in given.items():
        if is_dataclass(hints[name]):
            made[name] = _stored_record(file, hints[name], value)
        elif hints[name] is float:
            [made[name]] = stored_numbers(file, f"{name!r} of a {kind.__name__}", [value], 1)
        elif type(value) is hints[name]:
            made[name] = value
        else:
            raise file.wrong(f"{name!r} of a {kind.__name__} is {in_short(value)}, not of type {hints[name].__name__}")
    try:
        return kind(**made)
    except TypeError as error:
        raise file.wrong(f"'report' has a {kind.__name__} that is not complete ({error})") from error


def report_state(report: Report) -> dict[str, Any]:
    """A report as JSON has it."""
    return {**_record(report), "candidates": list(map(_record, report.candidates))}


def stored_report(file: TensorFile, metric: Metric) -> Report:
    """The report in a file of a model with such scores; early files do not name the metric."""
    given = file.fact("report")
    names = {each.name for each in fields(Report)}
    if isinstance(given, dict):
        given = {"metric": metric, **given}
    if not isinstance(given, dict) or not isinstance(given.get("candidates"), list) or set(given) != names:
        raise file.wrong(f"'report' is not an object of {', '.join(sorted(names))}")
    if given["metric"] != metric:
        raise file.wrong(f"'report' has scores of {in_short(given['metric'])}, and this model's are of {metric!r}")
    candidates = [_stored_record(file, Candidate, each) for each in given["candidates"]]
    chosen = _stored_record(file, Candidate, given["chosen"])
    if chosen not in candidates:
        raise file.wrong("what was chosen is not among the candidates")
    unknown = [each.head for each in candidates if each.head not in STRENGTHS]
    if unknown:
        raise file.wrong(f"'report' has a candidate with the head {in_short(unknown[0])}, which is unknown here")
    counts = given["n_train"], given["n_folds"]
    if not all(type(count) is int and 0 < count < 2**63 for count in counts):
        raise file.wrong("'report' does not count training nodes and folds")
    [baseline] = stored_numbers(file, "'baseline'", [given["baseline"]], 1)
    return Report(candidates, chosen, baseline, *counts, metric)


# Classes.


def class_state(classes: NDArray[Any]) -> State:
    """Names of classes, and their type."""
    dtype = classes.dtype.name
    kind = "str" if classes.dtype.kind == "U" else dtype if dtype in _CLASS_TYPES else "object"
    listed = [name.item() if isinstance(name, np.generic) else name for name in classes.tolist()]
    for name in listed:
        if not is_name(name, sequence=tuple):
            raise ParameterError(
                f"cannot save the class {in_short(name)} ({type(name).__name__}): classes in a file are text, finite "
                "numbers, booleans or tuples of these"
            )
    return {"classes": as_json(listed)}, {"class_type": kind}


def stored_classes(file: TensorFile) -> NDArray[Any]:
    """The names of classes in a file."""
    listed, kind = file.document("classes"), file.fact("class_type")
    if not isinstance(listed, list) or len(listed) < 2 or not all(map(is_name, listed)):
        raise file.wrong("'classes' is not a list of at least two names")
    names = [with_tuples(name) for name in listed]
    if len(set(names)) < len(names):
        raise file.wrong("'classes' has a name twice")
    classes = np.empty(len(names), dtype=object)
    classes[:] = names
    if kind == "object":
        return classes
    if kind not in (*_CLASS_TYPES, "str"):
        raise file.wrong(f"'class_type' is {in_short(kind)}, which is no type of a class")
    try:
        with np.errstate(all="ignore"):
            typed = classes.astype(kind)
    except (OverflowError, TypeError, ValueError) as error:
        raise file.wrong(f"'classes' are not of the type {kind} ({error})") from error
    if typed.tolist() != names:  # 300 as a uint8, or numbers as text
        raise file.wrong(f"'classes' are not of the type {kind}")
    return typed


# Inputs.


def input_state(inputs: Inputs) -> State:
    """How vectors and features become columns."""
    return {"center": inputs.center, "idf": inputs.idf}, {"inputs": {"kind": inputs.kind, "scale": inputs.scale}}


def stored_inputs(file: TensorFile, dimensions: int | None, n_features: int) -> Inputs:
    """The inputs in a file; ``dimensions`` is None where there is no embedder."""
    given = file.fact("inputs")
    if not isinstance(given, dict) or set(given) != {"kind", "scale"} or given["kind"] not in get_args(InputKind):
        raise file.wrong(f"'inputs' does not say which of {', '.join(get_args(InputKind))} they are")
    kind = given["kind"]
    if (kind == "features") != (dimensions is None):
        raise file.wrong(f"its inputs are {kind}, and there is {'no' if dimensions is None else 'an'} embedder")
    [scale] = stored_numbers(
        file, "'scale' of the inputs", [given["scale"]], 1, above=1 / _LARGEST_INPUT, below=_LARGEST_INPUT
    )
    center = file.numbers("center", (dimensions or 0,), largest=_LARGEST_INPUT, dtypes=REAL)
    columns = 0 if kind == "vectors" else n_features
    idf = file.numbers("idf", (columns,), least=0, largest=_LARGEST_INPUT, dtypes=REAL)
    if ((idf > 0) & (idf < _LEAST_IDF)).any():
        raise file.wrong(f"the tensor 'idf' has values between 0 and {_LEAST_IDF:g}")
    return Inputs(kind, center, scale, idf)


# Heads.


def head_state(head: Head) -> State:
    """A head; one of a class that is not known here is refused."""
    tensors: dict[str, NDArray[Any]]
    if type(head) is LogisticHead:
        tensors = {"weights": head.weights, "intercepts": head.intercepts, "seen": head.seen.astype(np.uint8)}
        return tensors, {"head": {"kind": "logistic", "strength": head.strength}}
    if type(head) is ElasticNetHead:
        tensors = {"weights": head.weights, "intercepts": head.intercepts}
        return tensors, {"head": {"kind": "elastic-net", "strength": head.strength}}
    if type(head) is KernelHead:
        features = head.landmarks.sparse
        tensors = {
            "coefficients": head.coefficients,
            "mean": head.mean,
            "landmarks": head.landmarks.dense,
            "landmark_indptr": features.indptr.astype(np.int64),
            "landmark_indices": features.indices.astype(np.int32),
            "landmark_data": features.data,
        }
        # The last digits of products depend on the order of a matrix in memory, which files have by rows.
        by_columns = head.coefficients.flags.f_contiguous and not head.coefficients.flags.c_contiguous
        facts = {"kind": "kernel", "strength": head.strength, "scale": head.scale, "by_columns": by_columns}
        return tensors, {"head": facts}
    raise ParameterError(f"cannot save a head of class {type(head).__name__}")


def stored_head(file: TensorFile, heads: tuple[str, ...], inputs: Inputs, n_outputs: int) -> Head:
    """The head in a file, one of some kinds, with so many classes, or one value."""
    given = file.fact("head")
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind not in heads:
        raise file.wrong(f"its head is not one of {', '.join(heads)}")
    [strength] = stored_numbers(file, "'strength' of the head", [given.get("strength")], 1, above=0)
    d, q = len(inputs.center), len(inputs.idf)
    if kind == "kernel":
        [scale] = stored_numbers(file, "'scale' of the head", [given.get("scale")], 1, above=1 / _LARGEST_WEIGHT)
        coefficients = _matrix(file, "coefficients", n_outputs)
        if given.get("by_columns"):
            coefficients = np.asfortranarray(coefficients)
        mean = file.numbers("mean", (n_outputs,), largest=_LARGEST_WEIGHT, dtypes=REAL)
        return KernelHead(strength, _landmarks(file, len(coefficients), d, q), scale, coefficients, mean)
    columns = 1 if n_outputs == 2 and kind == "logistic" else n_outputs
    weights = file.numbers("weights", (d + q, columns), largest=_LARGEST_WEIGHT, dtypes=REAL)
    intercepts = file.numbers("intercepts", (columns,), largest=_LARGEST_WEIGHT, dtypes=REAL)
    if kind == "elastic-net":
        if q:
            raise file.wrong("an elastic net on features, which takes vectors alone")
        return ElasticNetHead(strength, weights, intercepts)
    seen = file.numbers("seen", (n_outputs,), dtypes=("U8",)).astype(bool)
    if not seen.any():
        raise file.wrong("its head has seen no class")
    return LogisticHead(strength, weights, intercepts, seen)


def _matrix(file: TensorFile, name: str, columns: int) -> NDArray[Any]:
    """A matrix of at least one row."""
    rows = file.kind(name)[1][:1]
    if rows == (0,):
        raise file.wrong(f"the tensor {name!r} has no rows")
    return file.numbers(name, (*rows, columns), largest=_LARGEST_WEIGHT, dtypes=REAL)


def _landmarks(file: TensorFile, m: int, d: int, q: int) -> Design:
    dense = file.numbers("landmarks", (m, d), largest=_LARGEST_INPUT, dtypes=REAL)
    indptr = file.numbers("landmark_indptr", (m + 1,), least=0, dtypes=("I64",))
    entries = (int(indptr[-1]),)
    indices = file.numbers("landmark_indices", entries, least=0, dtypes=("I32",))
    data = file.numbers("landmark_data", entries, largest=_LARGEST_INPUT, dtypes=REAL)
    if indptr[0] or (np.diff(indptr) < 0).any() or indices.max(initial=-1) >= q:
        raise file.wrong("the features of the landmarks are no matrix")
    return Design(dense, sp.csr_array((data, indices, indptr), shape=(m, q)))
