"""Values that do not fit the entries of the core, and which of their arguments are written to."""

import numpy as np
from kernel_arguments import (
    F32,
    GUIDE,
    I32,
    I64,
    LAST,
    NEIGHBORS,
    U8,
    U32,
    block,
    halves,
    matrix,
    panel,
    table,
    vector,
)

from hopscale._core import _native
from hopscale.walks.sampling import noise_layout

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


ROWS = {
    "features": [
        _native.Csr(np.arange(4), np.arange(3, dtype=I32), np.ones(3, F32), 4),
        *(matrix((1, x, 1, 1)) for x in (0, -1, NAN)),
    ],
    "nodes": [vector(0, 1, 2, v, dtype=I32) for v in (-1, 4, 2**31 - 1)],
    "walks": [0, -1],
    "hops": [0, 1, 0b11],
    "scale": [np.ones(3, F32), np.ones(5, F32)],
    "power": [0.0, -1.0, 1.5, NAN, INF],
    "stop": [np.zeros(0, U8)],
}
HOP = {
    "width": [-16, 0, 8, 24, 32, 272],
    "scale": [np.ones(15, F32), np.ones(17, F32)],
    "x": [None, table(15), table(17), table(16, 32), table(16, 8), table(16, 1040)],
    "y": [None, table(3), table(5), table(width=32)],
    "power": [0.0, -1.0, 1.5, NAN, INF],
}
HALVES = [halves(*shape) for shape in ((0, 4, 32), (2, 3, 32), (2, 5, 32), *((2, 4, w) for w in (0, 8, 16, 48, 1040)))]
CROWDED = {"offsets": (0, 0, 257, 257, 257), "columns": [3] * 257, "values": [1] * 257}
BLOCKS = [
    None,
    block(width=32),
    block(**CROWDED),  # more entries in a row than columns
    _native.Panels([], 4, 16),
    _native.Panels([panel(), panel()], 4, 16),
    _native.Panels([(np.zeros(4, U32), np.zeros(0, U8), np.zeros(0, F32))], 3, 16),
]


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
    "average": {
        "copies": [
            [(table(), np.ones(4, U32)), copy]
            for copy in (
                *((own, np.ones(4, U32)) for own in (table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE)),
                *((table(), touches) for touches in (np.ones(3, U32), np.ones(5, U32))),
            )
        ],
        "total": [table(3), table(5), table(width=32)],
        "updates": [np.zeros(3, np.int64), np.zeros(5, np.int64)],
        "begin": [-1, 5],
        "end": [-1, 5],
        "before": [table(3), table(5), table(width=32)],
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
    "sample_rows": ROWS,
    "project_rows": ROWS
    | {
        "x": [table(3), table(5), table(width=32), *WIDTHS_THAT_ARE_NONE],
        "y": [table(3), table(5), table(width=32)],
        "together": [0, -1, -(2**62)],
    },
    "sample_panels": ROWS | {"width": [-1, 0, 257, 2**31 - 1], "weights": [np.ones(3, F32), np.ones(5, F32)]},
    "first_panel": {
        "features_by_column": [
            matrix(n_columns=5),
            *(matrix((1, x, 1, 1)) for x in (0, -1, NAN)),
            _native.Csr(np.zeros(301, I64), np.zeros(0, I32), np.zeros(0, F32), 4),  # then factors do not fit
        ],
        "first": [-1, 5, -(2**62)],
        "last": [0, 5, 2**62],
        "factors": [np.ones(3, F32), np.ones(5, F32)],
    },
    "one_hop": HOP
    | {
        "first": [-16, 17, 49, 64, 2**62, 2**63 - 1],
        "dense": [None, *HALVES],
        "sparse": [block()],  # beside a dense one
        "out": HALVES,
        "pooled": HALVES,
    },
    "no_hop": HOP
    | {
        "first": [-16, 1, 2**63 - 1],
        "dense": [halves()],
        "sparse": BLOCKS,
        "scale": [None, *HOP["scale"]],
    },
    "fill": {
        "width": HOP["width"],
        "dense": [halves()],
        "sparse": BLOCKS,
        "out": [None, *(halves(*shape) for shape in ((0, 4, 32), (2, 3, 32), (2, 5, 32), (2, 4, 8), (2, 4, 1040)))],
        "power": HOP["power"],
    },
    "take_hops": {
        "hops": [[None]],
        "bounds": [np.array(wrong) for wrong in ([-1, 4], [0, 5], [2, 1], [0, 2**62])],
        "next": [np.zeros(0, I64), np.zeros(2, I64), np.full(1, -1)],
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
    "average": ["total", "updates"],
    "build_alias": ["keep", "other"],
    "sample_walks": ["out"],
    "sample_rows": ["stop"],
    "sample_panels": ["stop"],
    "project_rows": ["stop", "y"],
    "take_hops": ["next", "stop"],
    "one_hop": ["dense", "out", "pooled", "y"],
    "no_hop": ["y"],
    "fill": ["out"],
}
