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
    I32,
    I64,
    VALID,
    call,
    graph,
    skip_gram,
    table,
    vector,
)
from kernel_wrong_arguments import WRITTEN, WRONG

from hopscale._core import _native
from reference import csr


def test_every_entry_is_here():
    entries = {name for name in dir(_native) if not name.startswith("_") and "instruction_set" not in name}
    entries.remove("HopToTake")  # made by other entries alone
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
