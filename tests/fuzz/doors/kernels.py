"""Every entry of the core."""

import math

import numpy as np
from kernel_arguments import VALID

from fuzz.doors.registry import door


def _array_text(a):
    if a.size and (a == a.flat[0]).all():
        return f"np.full({a.shape}, {_plain(a.flat[0])}, {a.dtype.str!r})"
    text = f"np.array([{', '.join(_plain(x) for x in a.flat)}], {a.dtype.str!r})"
    return text if a.ndim == 1 else f"{text}.reshape({a.shape})"


def _plain(x):
    return repr(x.item()) if hasattr(x, "item") else repr(x)


_INTEGERS = [0, 1, 2, 3, 4, 5, 7, 16, -1, 255, 2**31 - 1, -(2**31), 2**32 - 1, 2**31, 2**40, 2**62, -(2**62), 2**63 - 1]
_FLOATS = [0.0, 1.0, -1.0, 0.5, 2.0, math.nan, math.inf, -math.inf, 1e30, 1e-42, 3e38, -1e-30, 1e9]
# How often something is done: a kernel that is asked for 2^62 walks takes them, until it is told to stop.
_TIMES = {
    ("train", "visits"),
    ("sample_rows", "walks"),
    ("project_rows", "walks"),
    ("sample_panels", "walks"),
    ("SkipGram", "counts"),
    ("SkipGram", "negatives"),
    ("read_bytes", "size"),
    ("compressed", "n_rows"),
    ("compressed", "n_columns"),
}


def _other_array(m, a, times):
    """An array with a few entries, its length, its type or its shape changed."""
    a = a.copy()
    for _ in range(m.randint(1, 3)):
        action = m.randrange(8)
        if action < 4 and a.size:
            value = m.choice(_FLOATS if a.dtype.kind == "f" else [v for v in _INTEGERS if not times or v < 1000])
            if times and a.dtype.kind == "f" and value > 1000:
                value = 3.0
            with np.errstate(all="ignore"):
                a.flat[m.randrange(a.size)] = np.array(value).astype(a.dtype)
        elif action == 4:
            a = a[: m.randrange(len(a) + 1)]
        elif action == 5:
            a = np.concatenate([a, a[: m.randrange(len(a) + 1)]])
        elif action == 6 and m.rarely(0.3) and not times:  # -1 would become 2^32 - 1
            with np.errstate(all="ignore"):
                a = a.astype(m.choice(["f4", "f8", "i4", "i8", "u1", "u4", "i2", "f2"]))
        elif action == 7 and m.rarely(0.3):
            a = m.choice([a.reshape(-1), a[..., None], a[None], np.atleast_2d(a).T])
    return a


_STRINGS = ["'a'", "'b'", "'é'", "'ab'", "''", "'x' * 40", "'a\\nb'", "'\\0'", "'\\ud800'", "1", "None", "b'a'"]


def _chunk(m, arrays):
    """A tuple of arrays, some of them changed."""
    return f"({', '.join(_array_text(_other_array(m, a, False) if m.rarely(0.4) else a) for a in arrays)})"


def _kernel(m, entry, depth=2):
    arguments = VALID[entry]()
    changed = []
    for name in m.sample(list(arguments), min(len(arguments), m.choice([0, 1, 1, 1, 2, 3]))):
        value = arguments[name]
        if m.rarely(0.05):
            text = m.choice(["None", "'x'", "object()", "[[1.0]]", "np.zeros((1, 1, 1, 1), 'f4')", "[]", "np.zeros(0)"])
        elif isinstance(value, np.ndarray):
            text = _array_text(_other_array(m, value, (entry, name) in _TIMES))
        elif isinstance(value, bool) or type(value) is int:
            text = repr(m.choice([v for v in _INTEGERS if (entry, name) not in _TIMES or v < 1000]))
        elif type(value) is float:
            text = repr(m.choice(_FLOATS))
        elif name in ("panels", "sparse"):
            if isinstance(value, list):
                text = "[" + ", ".join([_chunk(m, value[0])] * m.randrange(3)) + "]"
            else:
                text = _kernel(m, "Panels", depth - 1)
        elif name == "blocks":
            text = m.listed(lambda: _kernel(m, "Panels", depth - 1), 0, 3, "[]")
        elif name == "hops":
            text = m.listed(lambda: _kernel(m, m.choice(["one_hop", "no_hop", "fill"]), depth - 1), 0, 3, "[]")
        elif name == "copies":
            text = m.listed(lambda value=value: _chunk(m, value[0]), 0, 3, "[]")
        elif name == "data":
            text = repr(m.delimited(2, ("a", "b")) if entry == "encode_text" else m.json())
        elif name == "file":
            text = m.choice(["None", "b'text'", "object()"])
        elif name == "delimiter":
            text = repr(m.choice([",", ";", "\t", " ", "\n", '"', "\0", "é", "ab", "", "\x7f"]))
        elif name == "columns":
            text = m.listed(lambda value=value: m.listed(lambda: _chunk(m, value[0][0]), 0, 2, "[]"), 0, 3, "[]")
        elif entry == "encode_strings":
            text = m.listed(lambda: m.listed(lambda: m.choice(_STRINGS), 0, 4, m.choice(["[]", "()"])), 0, 3, "[]")
        elif name == "groups":
            text = m.listed(lambda: str(m.choice(_INTEGERS)), 0, 4, "[]")
        else:
            text = _kernel(m, _STRUCTS[name], depth - 1)
        changed.append(f", {name}={text}")
    return f"kernel({entry!r}{''.join(changed)})"


_STRUCTS = {
    "graph": "Graph",
    "features": "Csr",
    "features_by_column": "Csr",
    "matrix": "Csr",
    "noise": "Noise",
    "self": "SkipGram",
}


@door(10000)
def kernels(m):
    return _kernel(m, m.choice(list(VALID)))
