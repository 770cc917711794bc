"""Types of the kernels.

A class checks its arrays when it is made and keeps them; they must not be changed afterwards. What does not fit raises
ValueError. Tables of vectors have rows of a multiple of 16 floats. kernels.hpp, portable.hpp, rows.hpp, text.hpp and
triples.hpp say what is computed, structs.hpp what the fields mean.
"""

from collections.abc import Sequence
from io import RawIOBase
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Bytes = NDArray[np.uint8]
_Floats = NDArray[np.float32]
_Halves = NDArray[np.uint16]
_Ids = NDArray[np.int32]
_Offsets = NDArray[np.int64]
_Words = NDArray[np.uint32]
_Index = TypeVar("_Index", np.int32, np.int64)
_Panel = tuple[_Words, _Bytes, _Floats]  # offsets, columns, values

def instruction_sets() -> list[str]: ...
def instruction_set() -> str: ...
def use_instruction_set(name: str) -> None: ...

class Graph:
    def __init__(
        self,
        offsets: _Offsets,
        neighbors: _Ids,
        *,
        inverse_degrees: _Floats,
        weights: _Floats | None = None,
        keep: _Floats | None = None,
        other: _Ids | None = None,
        back: float = 1.0,
        away: float = 1.0,
        exponents: _Ids | None = None,
    ) -> None: ...

class Csr:
    def __init__(self, offsets: _Offsets, columns: _Ids, values: _Floats, n_columns: int) -> None: ...

class Noise:
    def __init__(self, last: _Words, feature: _Words, guide: _Words, shift: int) -> None: ...

class Panels:
    n_rows: int
    count: int
    entries: int
    def __init__(self, panels: Sequence[_Panel], n_rows: int, width: int) -> None: ...
    def squared_norm(self) -> float: ...
    def filled_rows(self, filled: NDArray[np.bool_]) -> None: ...

class HopToTake: ...

class SkipGram:
    def __init__(
        self,
        graph: Graph,
        features: Csr,
        noise: Noise,
        *,
        hops: int,
        negatives: int,
        batch: int,
        shared: int,
        seed: int,
        scale: int,
        counts: _Floats | None = None,
        keep: _Floats | None = None,
    ) -> None: ...
    def train(
        self,
        node_vectors: _Floats,
        feature_vectors: _Floats,
        own: _Floats | None,
        touches: _Words | None,
        nodes: _Ids,
        visits: _Offsets,
        *,
        learning_rate: float,
        round: int,  # noqa: A002
        stop: _Bytes,
    ) -> tuple[int, int]: ...

def propagate(graph: Graph, block: _Floats, out: _Floats) -> None: ...
def take_hops(hops: Sequence[HopToTake], bounds: _Offsets, next: _Offsets, stop: _Bytes) -> None: ...  # noqa: A002
def one_hop(
    graph: Graph,
    *,
    first: int = 0,
    width: int,
    dense: _Halves | None = None,
    sparse: Panels | None = None,
    out: _Halves | None = None,
    pooled: _Halves | None = None,
    scale: _Floats | None = None,
    x: _Floats | None = None,
    y: _Floats | None = None,
    power: float = 1.0,
) -> HopToTake: ...
def no_hop(
    graph: Graph,
    *,
    first: int = 0,
    width: int,
    dense: _Halves | None = None,
    sparse: Panels | None = None,
    out: _Halves | None = None,
    pooled: _Halves | None = None,
    scale: _Floats | None = None,
    x: _Floats | None = None,
    y: _Floats | None = None,
    power: float = 1.0,
) -> HopToTake: ...
def fill(
    graph: Graph,
    *,
    first: int = 0,
    width: int,
    dense: _Halves | None = None,
    sparse: Panels | None = None,
    out: _Halves | None = None,
    pooled: _Halves | None = None,
    scale: _Floats | None = None,
    x: _Floats | None = None,
    y: _Floats | None = None,
    power: float = 1.0,
) -> HopToTake: ...
def first_panel(
    graph: Graph, features_by_column: Csr, first: int, last: int, factors: _Floats
) -> tuple[_Words, _Bytes, _Floats]: ...
def first_hop(graph: Graph, features_by_column: Csr, first: int, last: int, out: _Floats) -> None: ...
def compress(block: _Floats, scale: _Floats, offsets: _Words, columns: _Bytes, values: _Floats) -> int: ...
def panels_times(panels: Panels, x: _Floats, y: _Floats, begin: int, end: int) -> None: ...
def panel_transposed_times(blocks: Sequence[Panels], j: int, y: _Floats, w: _Floats) -> None: ...
def csr_times(matrix: Csr, x: _Floats, y: _Floats, begin: int, end: int) -> None: ...
def average(
    copies: Sequence[tuple[_Floats, _Words]],
    total: _Floats,
    updates: _Offsets,
    begin: int,
    end: int,
    *,
    first: bool,
    before: _Floats | None = None,
) -> None: ...
def build_alias(offsets: _Offsets, weights: NDArray[np.float64], keep: _Floats, other: _Ids) -> None: ...
def sample_walks(graph: Graph, starts: _Ids, count: int, seed: int, out: _Ids) -> None: ...
def sample_rows(
    graph: Graph,
    features: Csr,
    nodes: _Ids,
    walks: int,
    hops: int,
    scale: _Floats,
    power: float,
    seed: int,
    stream: int,
    stop: _Bytes,
) -> tuple[_Offsets, _Ids, _Floats]: ...
def project_rows(
    graph: Graph,
    features: Csr,
    nodes: _Ids,
    walks: int,
    hops: int,
    scale: _Floats,
    power: float,
    seed: int,
    stream: int,
    stop: _Bytes,
    x: _Floats,
    y: _Floats,
    together: int,
) -> None: ...
def sample_panels(
    graph: Graph,
    features: Csr,
    nodes: _Ids,
    walks: int,
    hops: int,
    scale: _Floats,
    power: float,
    seed: int,
    stream: int,
    stop: _Bytes,
    width: int,
    weights: _Floats | None = None,
) -> Panels: ...
def encode_text(
    data: bytes, start: int, delimiter: str | None, groups: Sequence[int]
) -> list[tuple[_Ids, bytes]] | None: ...
def encode_features(data: bytes) -> tuple[bytes, _Offsets, _Ids, bytes, bool, _Ids, bytes] | None: ...
def encode_strings(groups: list[Any] | tuple[Any, ...]) -> tuple[_Ids, bytes] | None: ...
def encode_characters(characters: _Words) -> tuple[_Ids, bytes] | None: ...
def encode_columns(columns: Sequence[Sequence[tuple[NDArray[Any], _Bytes]]]) -> tuple[_Ids, bytes] | None: ...
def read_bytes(file: RawIOBase, size: int) -> bytes: ...
def compressed(
    rows: NDArray[_Index],
    columns: NDArray[_Index],
    values: NDArray[np.float64] | None,
    n_rows: int,
    n_columns: int,
    mirrored: bool,
    self_loops: bool,
) -> tuple[NDArray[_Index], NDArray[_Index], NDArray[np.float64] | None]: ...
