"""Every entry of the core against arguments that do not fit: an error that names the argument, never a crash.

All on a ring of four nodes, each with a feature of its own.
"""

import gc
import weakref

import numpy as np
import pytest
from kernel_arguments import (
    F32,
    F64,
    GUIDE,
    I32,
    I64,
    LAST,
    NEIGHBORS,
    U8,
    U32,
    VALID,
    call,
    graph,
    matrix,
    panel,
    skip_gram,
    table,
    vector,
)

from hopscale._core import _native
from hopscale.walks.sampling import noise_layout
from reference import csr

HUGE = 2**40

OFFSETS_THAT_ARE_NONE = [
    np.zeros(0, I64),
    *(np.array([0, 2, 4, 6, last]) for last in (7, 9)),
    *(np.array([first, 2, 4, 6, 8]) for first in (1, -1)),
    *(np.array([0, second, 4, 6, 8]) for second in (5, HUGE, -HUGE)),
]
WIDTHS_THAT_ARE_NONE = [table(width=0), table(width=8), table(width=24), table(width=1040)]
NAN, INF = float("nan"), float("inf")


def replaced(array, value, at=1):
    changed = array.copy()
    changed[at] = value
    return changed


# Values that do not fit, by entry and argument: ValueErrors whose message names entry and argument.
WRONG = {
    "Graph": {
        "offsets": OFFSETS_THAT_ARE_NONE,
        "neighbors": [
            NEIGHBORS[:7],
            *(replaced(NEIGHBORS, u) for u in (-1, 4, 2**31 - 1, -(2**31))),
            NEIGHBORS[[1, 0, *range(2, 8)]],  # not sorted, where back and away are not 1
        ],
        "inverse_degrees": [np.ones(3, F32), np.ones(5, F32), vector(1, -1, 1, 1), vector(1, NAN, 1, 1)],
        "weights": [np.ones(7, F32), np.ones(9, F32), replaced(np.ones(8, F32), -1), replaced(np.ones(8, F32), NAN)],
        "keep": [np.ones(7, F32), None, replaced(np.ones(8, F32), 1.5), replaced(np.ones(8, F32), NAN)],
        "other": [np.zeros(7, I32), None, *(replaced(np.zeros(8, I32), i) for i in (-1, 2, 7, 2**31 - 1))],
        "back": [0.0, -1.0, NAN, INF, 1e300],
        "away": [0.0, -1.0, NAN, INF, 1e-300],
        "exponents": [np.zeros(3, I32), *(replaced(np.zeros(4, I32), k) for k in (-300, 300, 2**31 - 1, -(2**31)))],
    },
    "Csr": {
        "offsets": [
            np.zeros(0, I64),
            *(np.array(offsets) for offsets in ([0, 1, 2, 3, 3], [0, 1, 2, 3, 5], [1, 1, 2, 3, 4], [0, 3, 2, 3, 4])),
            *(np.array([0, offset, 2, 3, 4]) for offset in (-1, HUGE, -HUGE)),
        ],
        "columns": [
            np.arange(3, dtype=I32),
            *(replaced(np.arange(4, dtype=I32), f) for f in (-1, 4, 2**31 - 1, -(2**31))),
        ],
        "values": [np.ones(3, F32), np.ones(5, F32)],
        "n_columns": [-1, 3, 2**31, 2**62],
    },
    "Noise": {
        "last": [LAST[:0], LAST[:3], LAST[::-1].copy(), LAST - U32(1), replaced(LAST, 2**32 - 1)],
        "feature": [np.arange(3, dtype=U32), np.arange(5, dtype=U32), np.arange(1, 5, dtype=U32)],
        "guide": [GUIDE[:-1], replaced(GUIDE, 4), replaced(GUIDE, 2**32 - 1), replaced(GUIDE, 3)],
        "shift": [-1, 23, 25, 32, 64],
    },
    "Panels": {
        "panels": [
            [panel(offsets=(0, 1, 2, 3))],
            [panel(), panel(offsets=(0, 1, 2, 3, 5))],
            [panel(offsets=(0, 1, 2, 3, 3))],
            [panel(offsets=(0, 3, 2, 3, 4))],
            [panel(offsets=(0, 2**32 - 1, 0, 3, 4))],  # as if their number had passed 2³²
            [panel(offsets=(1, 1, 2, 3, 4))],
            [panel(columns=(0, 1, 2, 4))],
            [panel(columns=(0, 1, 2))],
            [panel(values=(1, 1, 1))],
        ],
        "n_rows": [-1, 3, 5, 2**62],
        "width": [-1, 0, 3, 257],
    },
    "SkipGram": {
        "features": [_native.Csr(np.arange(4), np.arange(3, dtype=I32), np.ones(3, F32), 4)],
        "noise": [_native.Noise(*noise_layout(np.ones(3))), _native.Noise(*noise_layout(np.ones(5)))],
        "hops": [0],
        "negatives": [-1],
        "batch": [0, -1, 65],
        "shared": [0, -1, 65],
        "counts": [np.ones(3, F32), np.ones(5, F32), *(vector(1, 1, x, 1) for x in (-1, NAN, INF, 2.0**32))],
        "keep": [np.ones(3, F32), np.ones(5, F32), *(vector(1, 1, x, 1) for x in (-1, 1.5, NAN, INF))],
    },
    "train": {
        "node_vectors": [table(3), table(5), *WIDTHS_THAT_ARE_NONE],
        "feature_vectors": [table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE],
        "own": [None, table(3), table(width=32)],
        "touches": [None, np.zeros(3, U32), np.zeros(5, U32)],
        "nodes": [np.arange(3, dtype=I32), *(vector(0, 1, 2, v, dtype=I32) for v in (-1, 4, 2**31 - 1))],
        "visits": [np.ones(3, I64), np.ones(5, I64), vector(1, 1, 1, -1, dtype=I64)],
        "learning_rate": [-0.1, NAN, INF],
        "stop": [np.zeros(0, U8)],
    },
    "propagate": {
        "block": [table(3), table(5), *WIDTHS_THAT_ARE_NONE],
        "out": [table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE],
    },
    "first_hop": {
        "features_by_column": [matrix(n_columns=5), *(matrix((1, x, 1, 1)) for x in (0, -1, NAN))],
        "first": [-1, 5, -(2**62)],
        "last": [0, 5, 2**62],
        "out": [table(3), table(5), table(width=2)],
    },
    "compress": {
        "block": [table(3), table(5), table(width=32), table(width=272), *WIDTHS_THAT_ARE_NONE],
        "scale": [np.ones(15, F32), np.ones(17, F32)],
        "offsets": [np.zeros(4, U32), np.zeros(6, U32)],
        "columns": [np.zeros(79, U8)],
        "values": [np.zeros(79, F32)],
    },
    "panels_times": {
        "x": [table(7), table(9), table(8, 32), table(8, 8), table(8, 1040)],
        "y": [table(3), table(5), table(width=32)],
        "begin": [-1, 5, -(2**62)],
        "end": [0, 5, 2**62],
    },
    "panel_transposed_times": {
        "j": [-1, 2, 2**62],
        "y": [table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE],
        "w": [table(3), table(5), table(width=32)],
    },
    "csr_times": {
        "x": [table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE],
        "y": [table(3), table(5), table(width=32)],
        "begin": [-1, 5, -(2**62)],
        "end": [0, 5, 2**62],
    },
    "accumulate": {
        "own": [table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE],
        "count": [np.ones(3, U32), np.ones(5, U32)],
        "total": [table(3), table(5), table(width=32)],
    },
    "build_alias": {
        "offsets": OFFSETS_THAT_ARE_NONE,
        "weights": [np.ones(7), np.ones(9), *(replaced(np.ones(8), x) for x in (-1, NAN, INF))],
        "keep": [np.zeros(7, F32), np.zeros(9, F32)],
        "other": [np.zeros(7, I32), np.zeros(9, I32)],
    },
    "sample_walks": {
        "starts": [np.arange(3, dtype=I32), *(vector(0, 1, 2, v, dtype=I32) for v in (-1, 4, 2**31 - 1))],
        "count": [-1, 1, 3, 2**62],
        "out": [np.zeros((3, 2, 3), I32), np.zeros((4, 3, 3), I32)],
    },
    "sample_rows": {
        "features": [
            _native.Csr(np.arange(4), np.arange(3, dtype=I32), np.ones(3, F32), 4),
            *(matrix((1, x, 1, 1)) for x in (0, -1, NAN)),
        ],
        "nodes": [vector(0, 1, 2, v, dtype=I32) for v in (-1, 4, 2**31 - 1)],
        "walks": [0, -1],
        "hops": [0, 1, 0b11],
        "scale": [np.ones(3, F32), np.ones(5, F32)],
        "stop": [np.zeros(0, U8)],
    },
    "encode_text": {
        "start": [-1, 9, 2**62],
        "delimiter": ["\n", '"', " ", "\0"],
        "groups": [[], [0], [0, -2], [0, 2], [2**31 - 1, 0]],
    },
    "encode_features": {},
    "encode_strings": {},
    "encode_characters": {},
    "encode_columns": {
        "columns": [
            [],
            [[]],
            *(
                [[(np.array(offsets, I32), vector(97, 98, 99, dtype=U8))]]
                for offsets in ([], [-1, 2], [0, 2, 1], [0, 4])
            ),
            [[(vector(0, 1, dtype=F32), vector(97, dtype=U8))]],
            [[(np.array(offsets, I64), vector(97, 98, dtype=U8))] for offsets in ([0, 1], [0, 1, 2])],
        ]
    },
    "read_bytes": {},
    "compressed": {
        "rows": [np.zeros(3, I32), *(vector(0, 1, 0, v, dtype=I32) for v in (-1, 4, 2**31 - 1))],
        "columns": [np.zeros(5, I32), *(vector(0, 1, 0, v, dtype=I32) for v in (-1, 4, 2**31 - 1))],
        "values": [np.ones(3), np.ones(5)],
        "n_rows": [0, 2, 5, 2**31 - 1],
        "n_columns": [0, 3, 5, 2**40],
    },
}

# What is written to, or watched: an array of another type would be converted, and what is written lost with the copy.
WRITTEN = {
    "train": ["node_vectors", "own", "touches", "stop"],
    "propagate": ["out"],
    "first_hop": ["out"],
    "compress": ["offsets", "columns", "values"],
    "panels_times": ["y"],
    "panel_transposed_times": ["w"],
    "csr_times": ["y"],
    "accumulate": ["total"],
    "build_alias": ["keep", "other"],
    "sample_walks": ["out"],
    "sample_rows": ["stop"],
}


def test_every_entry_is_here():
    entries = {name for name in dir(_native) if not name.startswith("_") and "instruction_set" not in name}
    assert entries | {"train"} == set(VALID) == set(WRONG)


@pytest.mark.parametrize("entry", VALID)
def test_arguments_that_fit_are_taken(entry):
    call(entry, VALID[entry]())


@pytest.mark.parametrize(
    ("entry", "name", "value"),
    [(entry, name, value) for entry in WRONG for name, values in WRONG[entry].items() for value in values],
)
def test_values_that_do_not_fit_are_refused_and_nothing_is_written(entry, name, value):
    arguments = VALID[entry]() | {name: value}
    before = {k: a.copy() for k, a in arguments.items() if isinstance(a, np.ndarray)}
    with pytest.raises(ValueError, match=f"^{entry}: "):
        call(entry, arguments)
    for k, a in before.items():
        np.testing.assert_array_equal(arguments[k], a)


@pytest.mark.parametrize(("entry", "name"), [(entry, name) for entry, names in WRITTEN.items() for name in names])
def test_outputs_are_never_converted(entry, name):
    arguments = VALID[entry]()
    strided = np.repeat(arguments[name], 2, axis=-1)[..., ::2]
    for wrong in (arguments[name].astype(F64), *([strided] if strided.size > 1 else [])):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call(entry, arguments | {name: wrong})


@pytest.mark.parametrize(("entry", "name"), [(entry, name) for entry in VALID for name in VALID[entry]()])
def test_things_of_another_kind_are_refused(entry, name):
    lists = [] if entry == "encode_strings" else [[[1.0]]]  # which takes any, and looks for text in them
    for wrong in ("text", object(), *lists, np.zeros((1, 1, 1, 1), F32)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call(entry, VALID[entry]() | {name: wrong})


@pytest.mark.parametrize(("entry", "name"), [("SkipGram", "hops"), ("SkipGram", "seed"), ("train", "round")])
def test_numbers_that_would_wrap_around_are_refused(entry, name):
    for wrong in (-1, 2**64):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call(entry, VALID[entry]() | {name: wrong})


def test_a_hop_in_place_is_refused():
    block = table()
    with pytest.raises(ValueError, match="two arrays"):
        _native.propagate(graph(), block, block)


def test_a_walk_that_could_not_go_on_is_refused():
    """Node 1 leads to node 0, which has no edge."""
    with pytest.raises(ValueError, match="neighbors must have neighbors"):
        _native.Graph(vector(0, 0, 1, dtype=I64), vector(0, dtype=I32), inverse_degrees=np.ones(2, F32))


def test_a_walk_that_could_not_begin_is_refused():
    arguments = VALID["train"]()
    lonely = _native.Graph(vector(0, 1, 2, 2, 2, dtype=I64), vector(1, 0, dtype=I32), inverse_degrees=np.ones(4, F32))
    with pytest.raises(ValueError, match="node 2 has none"):
        call("train", arguments | {"self": skip_gram(graph=lonely)})
    call("train", arguments | {"self": skip_gram(graph=lonely, hops=1)})  # own features take no walk
    call("train", arguments | {"self": skip_gram(graph=lonely), "visits": vector(3, 3, 0, 0, dtype=I64)})


@pytest.mark.parametrize("entry", ["Graph", "Csr", "Noise", "Panels", "SkipGram"])
def test_a_struct_keeps_its_arrays_and_no_longer_than_it_lives(entry):
    arguments = VALID[entry]()
    if entry == "Panels":
        arrays = [a for p in arguments["panels"] for a in p]
    else:
        arrays = [a for a in arguments.values() if isinstance(a, np.ndarray)]
    alive = [weakref.ref(a) for a in arrays]
    struct = call(entry, arguments)
    del arguments, arrays
    gc.collect()
    assert all(ref() is not None for ref in alive)
    del struct
    gc.collect()
    assert all(ref() is None for ref in alive)


@pytest.mark.parametrize("entry", ["Graph", "Csr", "Noise", "SkipGram"])
def test_a_struct_that_is_refused_keeps_nothing(entry):
    arguments = VALID[entry]()
    name = next(name for name, value in arguments.items() if isinstance(value, np.ndarray))
    kept = weakref.ref(arguments[name])
    other = next(other for other in WRONG[entry] if other != name)
    with pytest.raises(ValueError, match=f"^{entry}: "):
        call(entry, arguments | {other: WRONG[entry][other][0]})
    del arguments
    gc.collect()
    assert kept() is None


def test_skip_gram_keeps_the_arrays_of_its_parts():
    arguments = VALID["Graph"]()
    offsets = weakref.ref(arguments["offsets"])
    model = skip_gram(graph=_native.Graph(**arguments))
    del arguments
    gc.collect()
    assert offsets() is not None
    del model
    gc.collect()
    assert offsets() is None


def test_a_struct_that_was_never_made_is_refused():
    empty = _native.Graph.__new__(_native.Graph)
    with pytest.warns(RuntimeWarning, match="uninitialized"), pytest.raises(TypeError, match="incompatible"):
        _native.sample_walks(**(VALID["sample_walks"]() | {"graph": empty}))


def test_arrays_that_fit_are_not_copied():
    offsets, neighbors, _ = csr(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    native = _native.Graph(offsets, neighbors, inverse_degrees=np.ones(4, F32))
    neighbors[:] = np.repeat(np.arange(1, 5) % 4, 2)  # now every step leads to the next node
    out = np.zeros((1, 1, 4), I32)
    _native.sample_walks(native, np.zeros(1, I32), 1, 0, out)
    assert out.tolist() == [[[1, 2, 3, 0]]]
