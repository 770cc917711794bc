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
from hopscale.supervised.heads.base import Head, HeadFamily, TrainingParts
from hopscale.supervised.inputs import Design, Inputs
from hopscale.supervised.selection import SMOOTHINGS, Candidate, ranked
from hopscale.supervised.smoothing import CORRECT_ALPHAS, SMOOTH_ALPHAS, Smoothing, corrected, smoothed

__all__ = ["Folds", "Trial"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Measure = Callable[[Array, Array], float]

_ENTRIES = 1 << 26  # of outputs that are smoothed at once
_MANY_NODES, _CHOOSING_FOLDS = 5000, 2  # on more training nodes, so many folds choose the strength for all
_RISEN = 1.01  # times the least loss: a path of strengths ends there
_NO_FOLD = -1  # where a head is trained on all training nodes


@dataclass(frozen=True, eq=False)
class Folds:
    """Training nodes, their targets (a row each), and the number of each one's fold.

    ``transitions`` is the matrix of :mod:`hopscale.supervised.smoothing`, or None where nothing is smoothed.
    """

    n_nodes: int
    rows: Indices
    targets: Array
    fold: Indices
    count: int
    transitions: sp.csr_array | None
    engine: Threads

    @cached_property
    def _operator(self) -> Operator:
        return self.engine.sparse(self.transitions)

    def smoothed(self, base: Array, out_of_fold: Array, how: Smoothing) -> Array:
        """Outputs of all nodes, smoothed with the targets of all training nodes."""
        S, engine = self._operator, self.engine
        known = np.zeros(self.n_nodes, dtype=bool)
        known[self.rows] = True
        found = corrected(S, base, known, self._placed(self.targets - out_of_fold), how.correct, engine)
        return smoothed(S, found, known, self._placed(self.targets), how.smooth, engine)

    def cross_validated(self, base: Sequence[Array], out_of_fold: Array) -> dict[Smoothing, Array]:
        """For every smoothing, outputs of the training nodes, those of a fold smoothed with targets of the other folds.

        ``base`` has the outputs of each fold's head for all nodes. The errors that are spread are of heads that were
        trained without the node itself, but some with the fold that is held out. That dependence is weak, and affects
        only what is chosen.
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
            for correct in CORRECT_ALPHAS:
                outputs = corrected(S, start, known, errors, correct, engine)
                for smooth in SMOOTH_ALPHAS:
                    done = smoothed(S, outputs, known, truth, smooth, engine)
                    by_fold = done.reshape(self.n_nodes, len(numbers), -1)
                    found[Smoothing(correct, smooth)][here] = by_fold[self.rows[here], self.fold[here] - numbers[0]]
        return found

    def parts(self, train: Design, without: Sequence[int], start: Head | None = None) -> TrainingParts:
        """What heads are trained on: the rows of the training nodes, each time without a fold."""
        return TrainingParts(train, self.targets, self.fold, without, self.engine, start)

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
        self.candidates: list[Candidate] = []

    def run(self, loss: Measure, score: Measure, done: Callable[[int], object]) -> None:
        """Cross-validate; ``done`` is called with numbers of strengths that were tried, or need not be."""
        folds = self._folds
        train = self.design.take(folds.rows)
        choosing = folds.count if len(train) <= _MANY_NODES else _CHOOSING_FOLDS
        heads = self._best_of_path(train, choosing, loss, done)
        if choosing < folds.count:
            path = replace(self.family, strengths=(heads[0].strength,)).path
            # A head starts from none that has seen the fold that it is scored on.
            heads += next(path(folds.parts(train, range(choosing, folds.count))))
            heads += next(path(folds.parts(train, [_NO_FOLD], heads[0])))
            self.out_of_fold = self._held_out_outputs(train, heads[:-1])
        *heads, self._head = heads
        by_smoothing = {Smoothing(): self.out_of_fold}
        if folds.transitions is not None:
            by_smoothing = folds.cross_validated(
                list(folds.engine.map(lambda head: head.outputs(self.design), heads)), self.out_of_fold
            )
        for how, outputs in by_smoothing.items():
            found = score(outputs, folds.targets)
            self.candidates.append(Candidate(self.inputs.kind, self.family.name, self._head.strength, how, found))
        self.best = ranked(self.candidates)[0]
        self.held_out = by_smoothing[self.best.smoothing]  # cross-validated outputs of the training nodes

    def _best_of_path(self, train: Design, choosing: int, loss: Measure, done: Callable[[int], object]) -> list[Head]:
        """Heads of the strength with the least loss on the first folds; of all folds, one of all rows as well."""
        folds, family = self._folds, self.family
        without = [*range(choosing), _NO_FOLD] if choosing == folds.count else list(range(choosing))
        held_out = folds.fold < choosing
        least, best = np.inf, []
        for tried, heads in enumerate(family.path(folds.parts(train, without)), 1):
            outputs = self._held_out_outputs(train, heads[:choosing])
            now = loss(outputs[held_out], folds.targets[held_out])
            if now < least:
                least, best, self.out_of_fold = now, heads, outputs
            done(1)
            if now > _RISEN * least:  # along a path the loss falls, then rises
                done(len(family.strengths) - tried)
                break
        return best

    def _held_out_outputs(self, train: Design, heads: Sequence[Head]) -> Array:
        """Outputs of the training nodes of the first folds, by heads that were trained without them."""
        folds = self._folds
        outputs = np.zeros_like(folds.targets)
        for k, head in enumerate(heads):
            outputs[folds.fold == k] = head.outputs(train.take(folds.fold == k))
        return outputs

    def final(self) -> tuple[Head, Array]:
        """The head of the best candidate, trained on all training nodes, and its outputs for all nodes, smoothed."""
        outputs = self._head.outputs(self.design)
        if self.best.smoothing:
            outputs = self._folds.smoothed(outputs, self.out_of_fold, self.best.smoothing)
        return self._head, outputs
