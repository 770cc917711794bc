"""Cross-validation of one kind of input with one family of heads, with and without smoothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.compute import Operator, Threads
from hopscale.supervised.heads.base import Head, HeadFamily
from hopscale.supervised.inputs import Design, Inputs
from hopscale.supervised.selection import SMOOTHINGS, Candidate
from hopscale.supervised.smoothing import Smoothing, corrected_and_smoothed

__all__ = ["Folds", "Trial"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Measure = Callable[[Array, Array], float]

_RISEN = 1.01  # times the least loss: from there on stronger fits are not tried


@dataclass(frozen=True, eq=False)
class Folds:
    """Training nodes, their targets (a row each), and the number of each one's fold.

    ``steps`` is one step along edges, or None where nothing is smoothed.
    """

    n_nodes: int
    rows: Indices
    targets: Array
    fold: Indices
    count: int
    steps: sp.csr_array | None
    engine: Threads

    @cached_property
    def _operator(self) -> Operator:
        return self.engine.sparse(self.steps)

    def smoothed(self, base: Array, out_of_fold: Array, how: Smoothing) -> Array:
        """Outputs of all nodes, with the targets of all training nodes at hand."""
        known = np.zeros(self.n_nodes, dtype=bool)
        known[self.rows] = True
        targets, residuals = self._placed(self.targets), self._placed(self.targets - out_of_fold)
        return corrected_and_smoothed(self._operator, base, known, targets, residuals, how, self.engine)

    def held_out(self, base: Array, out_of_fold: Array, how: Smoothing) -> Array:
        """Outputs of the training nodes, each with the targets of the other folds at hand.

        ``base`` has the outputs of every fold's head for all nodes, side by side. Errors that are spread are those of
        heads that did not see the node itself; they may have seen the fold that is held out, a dependence that is
        weak and concerns the choice alone.
        """
        k = self.targets.shape[1]
        known = np.zeros((self.n_nodes, self.count), dtype=bool)
        known[self.rows] = self.fold[:, None] != np.arange(self.count)
        targets, residuals = self._placed(self.targets), self._placed(self.targets - out_of_fold)
        found = corrected_and_smoothed(
            self._operator,
            base,
            np.repeat(known, k, axis=1),
            np.tile(targets, self.count),
            np.tile(residuals, self.count),
            how,
            self.engine,
        )
        return np.asarray(found.reshape(self.n_nodes, self.count, k)[self.rows, self.fold])

    def _placed(self, values: Array) -> Array:
        """Values of the training nodes in an array of all nodes."""
        everywhere = np.zeros((self.n_nodes, values.shape[1]))
        everywhere[self.rows] = values
        return everywhere


class Trial:
    """One kind of input and one family of heads: the best strength, and how smoothing changes its score."""

    def __init__(self, inputs: Inputs, design: Design, family: HeadFamily, folds: Folds) -> None:
        self.inputs, self.design, self.family = inputs, design, family
        self._folds = folds
        self.held_out: dict[Candidate, Array] = {}  # outputs of the training nodes, none of which saw its own target

    def run(self, loss: Measure, agreement: Measure, done: Callable[[int], object]) -> None:
        """Cross-validate; ``done`` is called with the number of strengths that are tried, or need not be."""
        folds, family = self._folds, self.family
        train = self.design.take(folds.rows)
        least, heads = np.inf, []
        for tried, found in enumerate(family.path(train, folds.targets, folds.fold, folds.engine), 1):
            outputs = np.empty_like(folds.targets)
            for k, head in enumerate(found[:-1]):
                outputs[folds.fold == k] = head.outputs(train.take(folds.fold == k))
            now = loss(outputs, folds.targets)
            if now < least:
                least, heads, self.out_of_fold = now, found, outputs
            done(1)
            if now > _RISEN * least:  # along a path the loss falls, then rises
                done(len(family.strengths) - tried)
                break
        *heads, self._head = heads
        base = None
        for how in SMOOTHINGS if folds.steps is not None else (Smoothing(),):
            if how and base is None:
                base = np.hstack(list(folds.engine.map(lambda head: head.outputs(self.design), heads)))
            held = folds.held_out(base, self.out_of_fold, how) if base is not None and how else self.out_of_fold
            score = agreement(held, folds.targets)
            candidate = Candidate(self.inputs.kind, family.name, self._head.strength, how, score)
            self.held_out[candidate] = held

    def final(self, candidate: Candidate) -> tuple[Head, Array]:
        """The head of a candidate, trained on all training nodes, and its outputs for all nodes, smoothed."""
        outputs = self._head.outputs(self.design)
        if candidate.smoothing:
            outputs = self._folds.smoothed(outputs, self.out_of_fold, candidate.smoothing)
        return self._head, outputs
