"""Arguments that fit every entry of the core, on a ring of four nodes, each with a feature of its own."""

import io

import numpy as np

from hopscale._core import _native
from hopscale.walks.sampling import noise_layout

F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64
U8, U16, U32 = np.uint8, np.uint16, np.uint32
OFFSETS = np.arange(0, 9, 2)
NEIGHBORS = np.array([1, 3, 0, 2, 1, 3, 0, 2], dtype=I32)
LAST = noise_layout(np.ones(4)).last
GUIDE = noise_layout(np.ones(4)).guide


def vector(*values, dtype=F32):
    return np.array(values, dtype=dtype)


def table(rows=4, width=16, dtype=F32):
    return np.zeros((rows, width), dtype=dtype)


def graph(**changed):
    return _native.Graph(**(VALID["Graph"]() | changed))


def matrix(values=(1, 1, 1, 1), n_columns=4):
    return _native.Csr(np.arange(5), np.arange(4, dtype=I32), vector(*values), n_columns)


def panel(offsets=(0, 1, 2, 3, 4), columns=(0, 1, 2, 3), values=(1, 1, 1, 1)):
    return vector(*offsets, dtype=U32), vector(*columns, dtype=U8), vector(*values)


def panels():
    return _native.Panels([panel(), panel()], 4, 4)


def block(width=16, **changed):
    """One sparse panel, as a hop takes it."""
    return _native.Panels([panel(**changed)], 4, width)


def halves(parts=2, rows=4, width=32):
    """A dense block in parts of columns."""
    return np.zeros((parts, rows, width), U16)


def rows():
    """What rows of walks are made from."""
    return {
        "graph": graph(),
        "features": matrix(),
        "nodes": np.arange(4, dtype=I32),
        "walks": 3,
        "hops": 0b10,
        "scale": np.ones(4, F32),
        "power": 1.0,
        "seed": 0,
        "stream": 0,
        "stop": np.zeros(1, U8),
    }


def hop(**given):
    """What a hop takes, and what a scale makes of it."""
    more = {"scale": np.full(16, 3, F32), "x": table(16), "y": table(), "power": 0.5}
    return {"graph": graph(), "first": 0, "width": 16} | more | given


def skip_gram(**changed):
    return _native.SkipGram(**(VALID["SkipGram"]() | changed))


# Arguments that fit; each is made anew.
VALID = {
    "Graph": lambda: {
        "offsets": OFFSETS.copy(),
        "neighbors": NEIGHBORS.copy(),
        "inverse_degrees": np.full(4, 0.5, F32),
        "weights": np.ones(8, F32),
        "keep": np.ones(8, F32),
        "other": np.zeros(8, I32),
        "back": 2.0,
        "away": 0.5,
        "exponents": np.zeros(4, I32),
    },
    "Csr": lambda: {
        "offsets": np.arange(5),
        "columns": np.arange(4, dtype=I32),
        "values": np.ones(4, F32),
        "n_columns": 4,
    },
    "Noise": lambda: {"last": LAST.copy(), "feature": np.arange(4, dtype=U32), "guide": GUIDE.copy(), "shift": 24},
    "Panels": lambda: {"panels": [panel(), panel()], "n_rows": 4, "width": 4},
    "SkipGram": lambda: {
        "graph": graph(),
        "features": matrix(),
        "noise": _native.Noise(LAST, np.arange(4, dtype=U32), GUIDE, 24),
        "hops": 0b10,
        "negatives": 5,
        "batch": 1,
        "shared": 5,
        "seed": 0,
        "scale": 1,
        "counts": np.ones(4, F32),
        "keep": np.ones(4, F32),
    },
    "train": lambda: {
        "self": skip_gram(),
        "node_vectors": table(),
        "feature_vectors": table(),
        "own": table(),
        "touches": np.zeros(4, U32),
        "nodes": np.arange(4, dtype=I32),
        "visits": np.ones(4, I64),
        "learning_rate": 0.1,
        "round": 0,
        "stop": np.zeros(1, U8),
    },
    "propagate": lambda: {"graph": graph(), "block": table(), "out": table()},
    "first_hop": lambda: {"graph": graph(), "features_by_column": matrix(), "first": 1, "last": 4, "out": table()},
    "compress": lambda: {
        "block": table(),
        "scale": np.ones(16, F32),
        "offsets": np.zeros(5, U32),
        "columns": np.zeros(80, U8),
        "values": np.zeros(80, F32),
    },
    "panels_times": lambda: {"panels": panels(), "x": table(8), "y": table(), "begin": 1, "end": 4},
    "panel_transposed_times": lambda: {"blocks": [panels()], "j": 1, "y": table(), "w": table()},
    "csr_times": lambda: {"matrix": matrix(), "x": table(), "y": table(), "begin": 1, "end": 4},
    "average": lambda: {
        "copies": [(table(), np.ones(4, U32)), (table(), np.ones(4, U32))],
        "total": table(),
        "updates": np.zeros(4, np.int64),
        "begin": 0,
        "end": 4,
        "first": True,
        "before": table(),
    },
    "build_alias": lambda: {
        "offsets": OFFSETS.copy(),
        "weights": np.ones(8),
        "keep": np.zeros(8, F32),
        "other": np.zeros(8, I32),
    },
    "sample_walks": lambda: {
        "graph": graph(),
        "starts": np.arange(4, dtype=I32),
        "count": 2,
        "seed": 0,
        "out": np.zeros((4, 2, 3), I32),
    },
    "sample_rows": rows,
    "project_rows": lambda: rows() | {"x": table(), "y": table(), "together": 2},
    "sample_panels": lambda: rows() | {"width": 4, "weights": np.ones(4, F32)},
    "first_panel": lambda: {
        "graph": graph(),
        "features_by_column": matrix(),
        "first": 1,
        "last": 4,
        "factors": np.ones(4, F32),
    },
    "one_hop": lambda: hop(
        first=16,
        dense=halves(),
        out=halves(),
        pooled=halves(),
    ),
    "no_hop": lambda: hop(sparse=block()),
    "take_hops": lambda: {
        "hops": [_native.fill(graph(), width=16, sparse=block(), out=halves())],
        "bounds": np.array([0, 1, 4]),
        "next": np.zeros(1, I64),
        "stop": np.zeros(1, U8),
    },
    "fill": lambda: {
        "graph": graph(),
        "width": 16,
        "sparse": block(),
        "out": halves(),
    },
    "encode_text": lambda: {"data": b"a,b\nb,c\n", "start": 4, "delimiter": ",", "groups": [0, -1]},
    "encode_features": lambda: {"data": b'{"a": [1]}'},
    "encode_strings": lambda: {"groups": [["a", "b"], ("b",)]},
    "encode_characters": lambda: {"characters": np.array([[97, 0], [98, 99]], U32)},
    "encode_columns": lambda: {"columns": [[(vector(0, 1, 3, dtype=I32), vector(97, 98, 99, dtype=U8))]]},
    "read_bytes": lambda: {"file": io.BytesIO(b"text"), "size": 4},
    "compressed": lambda: {
        "rows": vector(0, 1, 0, 2, dtype=I32),
        "columns": vector(1, 3, 1, 2, dtype=I32),
        "values": np.ones(4),
        "n_rows": 4,
        "n_columns": 4,
        "mirrored": True,
        "self_loops": False,
    },
}


def valid(entry):
    return VALID[entry]()


def call(entry, arguments):
    return (_native.SkipGram.train if entry == "train" else getattr(_native, entry))(**arguments)
