"""Cross-validation of one kind of input with one family of heads, with and without smoothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.compute import Operator, Threads
from hopscale.compute.threads import ranges
from hopscale.supervised.heads.base import Head, HeadFamily
from hopscale.supervised.inputs import Design, Inputs
from hopscale.supervised.selection import SMOOTHINGS, Candidate
from hopscale.supervised.smoothing import SHARES_OF_ERRORS, SHARES_OF_PREDICTIONS, Smoothing, corrected, smoothed

__all__ = ["Folds", "Trial"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Measure = Callable[[Array, Array], float]

_ENTRIES = 1 << 26  # of outputs that are smoothed at once
_FEW_ROWS, _FEW_FOLDS = 5000, 2  # on more training nodes, so many folds choose the strength for all
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
        S, engine = self._operator, self.engine
        known = np.zeros(self.n_nodes, dtype=bool)
        known[self.rows] = True
        found = corrected(S, base, known, self._placed(self.targets - out_of_fold), how.correct, engine)
        return smoothed(S, found, known, self._placed(self.targets), how.smooth, engine)

    def held_out(self, base: Sequence[Array], out_of_fold: Array) -> dict[Smoothing, Array]:
        """For every smoothing, outputs of the training nodes, each with the targets of the other folds at hand.

        ``base`` has the outputs of each fold's head for all nodes. Errors that are spread are those of heads that did
        not see the node itself; they may have seen the fold that is held out, a dependence that is weak and concerns
        the choice alone.
        """
        S, engine = self._operator, self.engine
        targets, residuals = self._placed(self.targets), self._placed(self.targets - out_of_fold)
        found = {how: np.empty_like(self.targets) for how in SMOOTHINGS}
        at_once = max(1, _ENTRIES // max(1, targets.size))
        for folds in (slice(*piece) for piece in ranges(self.count, at_once)):  # side by side, as memory allows
            numbers = np.arange(self.count)[folds]
            known = np.zeros((self.n_nodes, len(numbers) * targets.shape[1]), dtype=bool)
            known[self.rows] = np.repeat(self.fold[:, None] != numbers, targets.shape[1], axis=1)
            start, errors, truth = (
                np.hstack(base[folds]),
                np.tile(residuals, len(numbers)),
                np.tile(targets, len(numbers)),
            )
            here = (self.fold >= numbers[0]) & (self.fold <= numbers[-1])
            for correct in SHARES_OF_ERRORS:
                outputs = corrected(S, start, known, errors, correct, engine)
                for smooth in SHARES_OF_PREDICTIONS:
                    done = smoothed(S, outputs, known, truth, smooth, engine)
                    by_fold = done.reshape(self.n_nodes, len(numbers), -1)
                    found[Smoothing(correct, smooth)][here] = by_fold[self.rows[here], self.fold[here] - numbers[0]]
        return found

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
        few, everything = folds.count if len(train) <= _FEW_ROWS else _FEW_FOLDS, -1
        asked = [*range(few), everything] if few == folds.count else list(range(few))
        least, heads = np.inf, []
        for tried, found in enumerate(family.path(train, folds.targets, folds.fold, asked, folds.engine), 1):
            outputs = self._held_out_outputs(train, found[:few])
            known = folds.fold < few
            now = loss(outputs[known], folds.targets[known])
            if now < least:
                least, heads, self.out_of_fold = now, found, outputs
            done(1)
            if now > _RISEN * least:  # along a path the loss falls, then rises
                done(len(family.strengths) - tried)
                break
        if few < folds.count:
            path = replace(family, strengths=(heads[0].strength,)).path
            shared = (train, folds.targets, folds.fold)
            # A head starts from none that has seen the fold that it is scored on.
            heads += next(path(*shared, range(few, folds.count), folds.engine))
            heads += next(path(*shared, [everything], folds.engine, heads[0]))
            self.out_of_fold = self._held_out_outputs(train, heads[:-1])
        *heads, self._head = heads
        held = {Smoothing(): self.out_of_fold}
        if folds.steps is not None:
            held = folds.held_out(
                list(folds.engine.map(lambda head: head.outputs(self.design), heads)), self.out_of_fold
            )
        for how, outputs in held.items():
            score = agreement(outputs, folds.targets)
            self.held_out[Candidate(self.inputs.kind, family.name, self._head.strength, how, score)] = outputs

    def _held_out_outputs(self, train: Design, heads: Sequence[Head]) -> Array:
        """Outputs of the training nodes of the first folds, by heads that were trained without them."""
        folds = self._folds
        outputs = np.zeros_like(folds.targets)
        for k, head in enumerate(heads):
            outputs[folds.fold == k] = head.outputs(train.take(folds.fold == k))
        return outputs

    def final(self, candidate: Candidate) -> tuple[Head, Array]:
        """The head of a candidate, trained on all training nodes, and its outputs for all nodes, smoothed."""
        outputs = self._head.outputs(self.design)
        if candidate.smoothing:
            outputs = self._folds.smoothed(outputs, self.out_of_fold, candidate.smoothing)
        return self._head, outputs
