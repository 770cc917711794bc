"""Models that are a choice of scales, context and solver: graph → walks and context → solver → vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopscale.checks import choice, parameter, whole
from hopscale.compute.svd import MAX_RANK
from hopscale.exceptions import GraphError, ParameterError, Setting, in_short
from hopscale.graph import AttributedGraph
from hopscale.models.base import NodeEmbedding, SolverChoice, finite, finite_numbers
from hopscale.models.exact_row import ContextKind, log_ratios
from hopscale.models.matching import matched_features
from hopscale.models.walk_state import checked_hops, restore, state
from hopscale.names import name_array
from hopscale.solvers import PMI, Solution, Solver
from hopscale.solvers.few_rows import are_few, project_few
from hopscale.walks import Scale, Start, Transitions, WalkContext, WalkSize, split_dimensions
from hopscale.walks.context import MAX_WINDOW

__all__ = ["ContextKind", "WalkEmbedding"]


def _no_features() -> GraphError:
    return GraphError(
        "no node of the graph has a feature: use DeepWalk or Walklets (on the command line --model deepwalk), or ",
        Setting("ego", True),
        ", to learn from its edges alone",
    )


class _Learnt:
    """What a fit leaves: one solution a scale, whose vectors are columns of the embeddings."""

    solutions_: list[Solution]
    # As they were at the time: what changes later must not move new nodes.
    solver_: Solver
    seed_: int
    bias_: tuple[float, float]
    context_: ContextKind


@dataclass(eq=False, repr=False)
class WalkEmbedding(_Learnt, SolverChoice, NodeEmbedding, abstract=True):
    """A model that says which hops form a scale and what a walk sees; a solver does the rest.

    ``context`` and ``pooled`` are all that a method must define. Other groups of hops override :meth:`hop_groups`; a
    walk that remembers its last step has a ``bias``; where walks start that probabilities are taken from is ``start``.
    """

    _: KW_ONLY
    window: int = parameter(3, whole, least=1, most=MAX_WINDOW)
    solver: str | Solver = "pmi"

    context: ClassVar[ContextKind]  # what a walk sees at a node: its features, the node itself, or both
    pooled: ClassVar[bool]  # whether all hops form one scale
    start: ClassVar[Start] = "degree"

    def hop_groups(self) -> list[tuple[int, ...]]:
        """Hops of each scale; a group of several is pooled."""
        hops = range(1, self.window + 1)
        return [tuple(hops)] if self.pooled else [(hop,) for hop in hops]

    @property
    def bias(self) -> tuple[float, float]:
        """The pair (1/p, 1/q) of node2vec: (1, 1) where steps do not depend on the last one."""
        return 1.0, 1.0

    @property
    def uses_features(self) -> bool:
        """Whether features are read at all."""
        return self.context != "nodes"

    @property
    def multi_scale(self) -> bool:
        """Whether hops have blocks of dimensions of their own."""
        return len([group for group in self.hop_groups() if group != (0,)]) > 1

    @property
    def inductive(self) -> bool:
        """Whether nodes of other graphs can be embedded: not if the context holds the training nodes."""
        return self.context == "features"

    @property
    def proximal(self) -> bool:
        """Whether vectors tell where a node is: if the context holds nodes."""
        return self.context != "features"

    @property
    def has_feature_vectors(self) -> bool:
        """Whether what walks meet gets vectors, too: here always."""
        return True

    # Learning.

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        super().check_parameters()
        choice("context", self.context, get_args(ContextKind))
        choice("start", self.start, get_args(Start))
        scales, solver = self.scales(), self.chosen_solver()
        solver.check(max(scale.hops[-1] for scale in scales))
        if len(self.bias) != 2 or min(self.bias) <= 0:
            raise ParameterError(f"must be a pair of positive numbers, not {in_short(self.bias)}", parameter="bias")
        if self.bias != (1.0, 1.0) and isinstance(solver, PMI) and solver.rows == "exact":
            raise ParameterError(
                "is for walks without a bias: where a walk remembers its last step, rows are known from samples only",
                parameter="rows",
                value="exact",
            )

    def _needs_processor(self) -> tuple[str | Setting, ...]:
        solver = self.chosen_solver()
        if self.bias != (1.0, 1.0):
            return ("cannot be used: walks that remember their last step are taken on the processor",)
        if isinstance(solver, PMI) and solver.rows == "sampled":
            return (
                "computes exact rows: leave out ",
                Setting("rows", "sampled"),
                ", or leave out ",
                Setting("device"),
                " to sample them on the processor",
            )
        return super()._needs_processor()

    def _learn(self, graph: AttributedGraph, seed: int) -> NDArray[np.bool_]:
        scales, solver, context = self.scales(), self.chosen_solver(), self.walk_context(graph)
        names = self.context_names(graph)
        solutions: list[Solution] = []
        filled = np.zeros(context.n_nodes, dtype=np.bool_)
        none, first = np.zeros((0, 0), dtype=np.float32), 0
        with self._engine() as engine:
            tall, feature_tall = (engine.empty(rows, self.dimensions) for rows in context.features.shape)
            for solution in solver.fit(context, scales, engine, seed):
                columns = slice(first, first := first + solution.scale.dimensions)
                engine.put(tall, columns, solution.node_vectors)
                engine.put(feature_tall, columns, solution.feature_vectors)
                if solution.filled is not None:
                    filled |= solution.filled
                solutions.append(replace(solution, node_vectors=none, feature_vectors=none, filled=None))
                del solution  # before the next is made
            embedding, feature_embedding = engine.host(tall), engine.host(feature_tall)
            del tall, feature_tall
        self.node_ids_, self.feature_names_ = graph.node_ids, names
        self.keep_learnt(solutions, embedding, feature_embedding, solver, seed)
        return filled

    def keep_learnt(
        self,
        solutions: list[Solution],
        embedding: NDArray[np.float32],
        feature_embedding: NDArray[np.float32],
        solver: Solver,
        seed: int,
    ) -> None:
        """Set what was learnt beside names, and how."""
        self.solver_, self.seed_, self.context_ = solver, seed, self.context
        self.bias_ = float(self.bias[0]), float(self.bias[1])
        self._keep(solutions, embedding, feature_embedding)

    def _keep(
        self, solutions: list[Solution], embedding: NDArray[np.float32], feature_embedding: NDArray[np.float32]
    ) -> None:
        """Set what was learnt; the solutions' vectors become columns of the embeddings, which are held once."""
        self.embedding_, self.feature_embedding_, self.solutions_ = embedding, feature_embedding, solutions
        self.solutions_ = [
            replace(solution, node_vectors=embedding[:, columns], feature_vectors=feature_embedding[:, columns])
            for solution, columns in zip(solutions, self.scale_columns_.values(), strict=True)
        ]

    def _check_inductive(self) -> None:
        if self.context_ != "features":
            raise self._not_inductive("its context holds the training nodes themselves")

    def _placed(self, graph: AttributedGraph, first: int) -> NDArray[np.float32]:
        features, transitions = matched_features(self, graph), Transitions(graph.adjacency, *self.bias_)
        context, nodes = WalkContext(transitions, features, self.start), np.arange(first, graph.n_nodes)
        with finite_numbers("the model does not fit the graph, or its file is damaged"):
            # Exact rows need no more than walks can reach. Samples are drawn by row, and training goes over all nodes.
            if first and isinstance(self.solver_, PMI) and not any(solution.sampled for solution in self.solutions_):
                if are_few(self.solver_, context, nodes):
                    return finite(project_few(self.solver_, context, self.solutions_, nodes))
                context, nodes = context.around(nodes, max(scale.hops[-1] for scale in self.scales_))
            return finite(self._projected(context, nodes))

    def _projected(self, context: WalkContext, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Vectors of some nodes, by the solver."""
        found, begin = np.empty((len(nodes), self.embedding_.shape[1]), dtype=np.float32), 0
        with self._engine() as engine:
            for vectors in self.solver_.project(context, self.solutions_, engine, self.seed_):
                columns = slice(begin, begin := begin + vectors.shape[1])
                found[:, columns] = vectors if len(vectors) == len(nodes) else vectors[nodes]
                del vectors  # before the next are made
        return found

    # Checking what came in.

    def scales(self) -> list[Scale]:
        """Scales that the parameters ask for."""
        try:
            groups = [checked_hops(group) for group in self.hop_groups()]
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the scales of {type(self).__name__} are not groups of hops: {error}") from error
        if not groups or len({Scale(group, 1).label for group in groups}) < len(groups):
            raise ParameterError(f"{type(self).__name__} has no scale, or two of the same hops: {groups}")
        scales = split_dimensions(self.dimensions, groups)
        if min(scale.dimensions for scale in scales) < 1:
            raise ParameterError(
                f"is too few for {len(groups)} scales: each needs at least one",
                parameter="dimensions",
                value=self.dimensions,
            )
        if max(scale.dimensions for scale in scales) > MAX_RANK:
            raise ParameterError(
                f"is too many: a scale has at most {MAX_RANK}", parameter="dimensions", value=self.dimensions
            )
        return scales

    def context_names(self, graph: AttributedGraph) -> NDArray[Any]:
        """Names that ``feature_names_`` has after a fit on a graph: those of its features, its nodes or both.

        Where there are both, the node ``7`` is the feature ``("node", 7)``.
        """
        return self.names_in_context(graph.feature_names, lambda: graph.node_ids)

    def names_in_context(self, features: NDArray[Any], node_ids: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """The same from names of features, and ids of nodes that are read only where they are needed."""
        if self.context == "features":
            return features
        if self.context == "nodes":
            return node_ids()
        nodes = [("node", node) for node in node_ids().tolist()]
        taken = set(features.tolist()).intersection(nodes)
        if taken:
            raise GraphError(
                "with ",
                Setting("ego", True),
                f" a node is a feature as well, but {in_short(next(name for name in nodes if name in taken))} is the "
                f"name of a feature already ({len(taken)} such name(s)): rename the feature(s)",
            )
        return name_array(features.tolist() + nodes)

    def walk_context(self, graph: AttributedGraph) -> WalkContext:
        """The walks of a graph, and what they see."""
        transitions = Transitions(graph.adjacency, *self.bias)
        if self.context == "nodes":
            return WalkContext.of_nodes(transitions, self.start)
        if self.context == "features+nodes":
            identity = sp.eye_array(graph.n_nodes, dtype=np.float32, format="csr")
            both = sp.csr_array(sp.hstack([graph.features, identity], format="csr"))
            return WalkContext(transitions, both, self.start)
        if not graph.features.nnz:
            raise _no_features()
        return WalkContext(transitions, graph.features, self.start)

    def outline(
        self, n_nodes: int, n_edges: int, n_features: int, n_entries: int, *, weighted: bool = False
    ) -> tuple[list[Scale], WalkSize]:
        """The scales, and counts of what walks would see on a graph of that size: what a plan needs to know."""
        nodes, features = self.context == "nodes", self.context == "features"
        if features and not n_entries:
            raise _no_features()
        size = WalkSize(
            n_nodes=n_nodes,
            n_features=n_nodes if nodes else n_features + (0 if features else n_nodes),
            steps=2 * n_edges,
            entries=n_nodes if nodes else n_entries + (0 if features else n_nodes),
            weighted=weighted,
            sees_nodes=nodes or (not features and not n_features),
            second_order=self.bias != (1.0, 1.0),
        )
        return self.scales(), size

    # What is met around a node.

    def _log_ratios(
        self, graph: AttributedGraph, row: int
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.float64]]] | None:
        if self.bias_ != (1.0, 1.0):
            return None
        return log_ratios(self, graph, row)

    # What was learnt, scale by scale.

    @property
    def scales_(self) -> list[Scale]:
        """The scales, in the order of their columns."""
        return [solution.scale for solution in self.solutions_]

    @property
    def rows_(self) -> dict[str, str]:
        """What each scale was learnt from, in words."""
        return {solution.scale.label: solution.rows for solution in self.solutions_}

    @property
    def captured_(self) -> dict[str, float | None]:
        """Share of the squared norm of each scale's matrix that the vectors hold, on the rows that were learnt from.

        None where that is not known: the direct solver knows it.
        """
        return {solution.scale.label: solution.captured for solution in self.solutions_}

    @property
    def feature_probability_(self) -> NDArray[np.float64]:
        """p(f) of each scale, as ``fit`` saw it."""
        return np.stack([solution.feature_probability for solution in self.solutions_])

    @property
    def singular_values_(self) -> NDArray[np.float64] | None:
        """Singular values of the direct solver, or None."""
        values = [solution.singular_values for solution in self.solutions_ if solution.singular_values is not None]
        return np.concatenate(values) if values else None

    def _powers(self) -> dict[str, float]:
        return {scale.label: self.solver_.power_at(scale) for scale in self.scales_}

    def _widths(self) -> dict[str, int]:
        return {scale.label: scale.dimensions for scale in self.scales_}

    # Copies and files: the solutions' vectors are columns of the embeddings, and kept once.

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "solutions_" in state:
            none = np.zeros((0, 0), dtype=np.float32)
            bare = [replace(s, node_vectors=none, feature_vectors=none) for s in state["solutions_"]]
            state = {**state, "solutions_": bare}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "solutions_" in state:
            self._keep(self.solutions_, self.embedding_, self.feature_embedding_)

    def _state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return state(self)

    def _restore(self, embedding: NDArray[np.float32], file: Any) -> None:
        restore(self, embedding, file)
