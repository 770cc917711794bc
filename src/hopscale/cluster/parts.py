"""Vectors out: a Parquet file for each part of the nodes, and what warnings need to know of them."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.cluster.opened import Opened
from hopscale.compute.aligned import Floats
from hopscale.compute.threads import instruction_set
from hopscale.io.vectors import write_vectors
from hopscale.models.base import finite, finite_numbers
from hopscale.stored.arrays import save_array
from hopscale.stored.graph import new_folder

__all__ = ["VECTORS", "move", "part_name", "vector_lengths", "write_part"]

VECTORS = "vectors"  # the folder of the parts
_LENGTHS = "lengths"


def part_name(number: int) -> str:
    """Name of a file of vectors."""
    return f"part-{number:05d}.parquet"


def write_part(work: Opened, number: int, vectors: Floats, knowable: NDArray[np.bool_]) -> dict[str, Any]:
    """Write a part, and the lengths of the vectors of those nodes that the graph tells something about."""
    begin, end = work.plan.parts[number]
    with finite_numbers("weights, values or parameters are too far apart for single precision"):
        finite(vectors)
    for folder in (VECTORS, _LENGTHS):
        (work.folder / folder).mkdir(exist_ok=True)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    save_array(work.folder / _LENGTHS / f"{number}.npy", lengths[knowable])
    write_vectors(
        work.folder / VECTORS / part_name(number), work.graph.node_ids(begin, end), vectors, columns=work.plan.columns
    )
    used = vectors.any(axis=0)
    return {"empty": np.flatnonzero(~used).tolist(), "instructions": instruction_set()}


def vector_lengths(folder: Path, count: int) -> NDArray[np.float64]:
    """Lengths of the vectors of all parts."""
    return np.concatenate([np.load(folder / _LENGTHS / f"{number}.npy") for number in range(count)])


def move(folder: Path, output: Path) -> None:
    """Make the parts of a work folder the output, which appears whole or not at all."""
    try:
        os.replace(folder / VECTORS, output)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with new_folder(output) as temporary:  # on another disk
            for part in (folder / VECTORS).iterdir():
                shutil.copyfile(part, temporary / part.name)
