"""What every model is: an estimator that learns a vector for each node of a graph."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from hopscale.checks import KnownParameters, check_seed, checked_fields, parameter, seed_of, switch, whole
from hopscale.compute.devices import checked_device, engine_on
from hopscale.compute.threads import checked_jobs
from hopscale.exceptions import GraphError, NotInductiveError, ParameterError, Setting, in_short
from hopscale.features import FeatureEncoder
from hopscale.graph import AttributedGraph
from hopscale.io import as_graph
from hopscale.models.clusters import Clusters
from hopscale.models.explanation import Explanations
from hopscale.models.extension import Extension
from hopscale.models.notices import check_second, warn_of_empty_dimensions, warn_of_lost_nodes, warn_of_missing_rows
from hopscale.models.pictures import Pictures
from hopscale.models.queries import no_feature_vectors
from hopscale.models.suggestions import Suggestions
from hopscale.solvers import PMI, SGNS, Solver

__all__ = ["MODELS", "NodeEmbedding", "SolverChoice", "finite", "finite_numbers"]

MODELS: dict[str, type[NodeEmbedding]] = {}

HOW_TO_RUN = ("device", "n_jobs", "verbose")  # parameters that make no difference to what is learnt
OF_THIS_MACHINE = ("device",)  # parameters that files leave out: another machine may not have it


class _NotFiniteError(ArithmeticError):
    """Something is infinite, or not a number."""


def finite(*arrays: NDArray[Any]) -> NDArray[Any]:
    """The first array, if all of them are finite; within :func:`finite_numbers`."""
    # A sum of squares takes a third of the time, and is finite as a rule where all numbers are.
    if not all(np.isfinite(np.vdot(array, array)) or np.isfinite(array).all() for array in arrays):
        raise _NotFiniteError
    return arrays[0]


@contextmanager
def finite_numbers(cause: str) -> Iterator[None]:
    """Computing whose result is finite or an error that names the likely cause; NumPy's own warnings are not shown."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (_NotFiniteError, np.linalg.LinAlgError) as error:
        raise GraphError(f"the vectors would not be finite: {cause}") from error


class _Fitted:
    """What every fit leaves beside vectors and names."""

    parameters_: dict[str, Any]  # as they were at the time
    graph_: AttributedGraph  # only if it was to be kept
    encoder_: FeatureEncoder | None  # of the node table that the features came from


@dataclass(eq=False, repr=False)
class NodeEmbedding(
    _Fitted,
    KnownParameters,
    Explanations,
    Suggestions,
    Clusters,
    Pictures,
    Extension,
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of all models: learns ``embedding_``, a row for each of ``node_ids_``.

    A model is a dataclass whose fields are its parameters. Defining one registers it under its name, so that files and
    the command line find it; ``abstract=True`` in the class statement keeps a base class out.
    """

    dimensions: int = parameter(128, whole, least=1)
    _: KW_ONLY
    keep_graph: bool = parameter(False, switch)
    device: str | None = parameter(None, checked_device)
    n_jobs: int | None = parameter(-1, checked_jobs)
    random_state: Any = parameter(0, check_seed)
    verbose: bool = parameter(False, switch)

    kind: ClassVar[str] = "own"
    higher_order: ClassVar[bool] = True  # whether vectors depend on nodes that are no neighbours
    non_linear: ClassVar[bool] = False  # whether what is approximated is no linear function of a node's vector
    time: ClassVar[str] = "-"
    memory: ClassVar[str] = "-"
    # Settings of files that were written before a parameter existed, where its default would change the model.
    settings_before: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, *, abstract: bool = False, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        known = MODELS.get(cls.__name__)
        # A model of ours keeps its name, whatever is defined later: files must mean the same everywhere.
        if not abstract and (known is None or not known.__module__.startswith("hopscale.")):
            MODELS[cls.__name__] = cls

    # What kind of method this is, with the parameters that it has.

    @property
    def uses_features(self) -> bool:
        """Whether features are read at all."""
        return False

    @property
    def multi_scale(self) -> bool:
        """Whether hops have blocks of dimensions of their own."""
        return False

    @property
    def inductive(self) -> bool:
        """Whether nodes of other graphs can be embedded."""
        return False

    @property
    def proximal(self) -> bool:
        """Whether vectors tell where a node is, and not only what is around it."""
        return True

    @property
    def has_feature_vectors(self) -> bool:
        """Whether what walks meet gets vectors, too."""
        return False

    # Parameters by their plain names, the model's own or its solver's: what the command line and files of settings use.

    def settings(self) -> dict[str, Any]:
        """Values of all parameters by plain name, those of the chosen solver among them."""
        return dict(self.get_params(deep=False))

    def configure(self, **settings: Any) -> NodeEmbedding:
        """Set parameters by plain name; one that neither the model nor its solver has is an error."""
        known = self.get_params(deep=False)
        own = {name: value for name, value in settings.items() if name in known}
        tried = clone(self).set_params(**own)
        for name in settings:
            if name not in tried.settings():
                raise ParameterError(f"means nothing to {tried._described_without(name)}", parameter=name)
        return self.set_params(**own)  # type: ignore[no-any-return]

    def _described_without(self, parameter: str) -> str:
        """What this is, for the error on a parameter that it has not."""
        return type(self).__name__

    def parameters_now(self) -> dict[str, Any]:
        """Copies of the parameters, which later changes leave alone."""
        return {name: clone(x) if isinstance(x, Solver) else x for name, x in self.get_params(deep=False).items()}

    def as_fitted(self) -> NodeEmbedding:
        """An unfitted model with the parameters that this one was fitted with; how to run is as it is now."""
        return type(self)(**{**self.parameters_, **{name: getattr(self, name) for name in HOW_TO_RUN}})

    def changed_parameters(self) -> dict[str, tuple[str, str]]:
        """Parameters that are no longer what the vectors were learnt with: their values then and now, in words."""
        now = self.get_params(deep=False)
        words = {name: (in_short(was), in_short(now[name])) for name, was in self.parameters_.items()}
        return {name: pair for name, pair in words.items() if name not in HOW_TO_RUN and pair[0] != pair[1]}

    # Learning.

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before a graph is read."""
        checked_fields(self)
        self._check_device()

    def _check_device(self) -> None:
        """Refuse a device that cannot be used for this model, or is not there."""
        if checked_device("device", self.device) is not None:
            obstacle = self._needs_processor()
            if obstacle:
                raise ParameterError(*obstacle, parameter="device", value=self.device)
            self._engine()

    def _needs_processor(self) -> tuple[str | Setting, ...]:
        """Why this cannot be learnt on another device, and what can be; nothing where it can."""
        return ()

    @abstractmethod
    def _learn(self, graph: AttributedGraph, seed: int) -> NDArray[np.bool_] | None:
        """Set what ``fit`` learns; may return of which nodes there is something to learn."""

    def fit(self, graph: Any, y: Any = None) -> NodeEmbedding:
        """Learn vectors from a graph.

        Parameters
        ----------
        graph : AttributedGraph, (adjacency, features), a graph of another library or a path
            Whatever :func:`hopscale.io.as_graph` takes. Two matrices are a pair: ``fit((adjacency, features))``.
        y : ignored

        Returns
        -------
        self
        """
        self.check_parameters()
        check_second(graph, y, "fit")
        graph = as_graph(graph)
        if not graph.adjacency.nnz:
            raise GraphError(
                f"the graph has no edges ({graph.n_nodes} node(s)): there is nothing to walk on. Self-loops are "
                "dropped unless the graph is made with ",
                Setting("self_loops", True),
            )
        with self.learning() as learner:
            learner.encoder_ = graph.encoder
            knowable = learner._learn(graph, seed_of(self.random_state))
        if self.keep_graph:
            self.graph_ = graph
        warn_of_empty_dimensions(self)
        warn_of_lost_nodes(self, graph, knowable)
        return self

    @contextmanager
    def learning(self) -> Iterator[NodeEmbedding]:
        """Give a copy of the model that is to learn; what it has learnt becomes this model's if it is finite."""
        # Learning sees parameters as their checks return them: arithmetic on NumPy's small integers would overflow.
        checked = copy(self)
        checked.__dict__.update(checked_fields(self))
        checked.parameters_ = self.parameters_now()
        checked.encoder_ = None
        with finite_numbers("weights, values or parameters are too far apart for single precision"):
            yield checked
            finite(checked.embedding_, checked.feature_embedding_)
        self.__dict__.update({name: value for name, value in vars(checked).items() if name.endswith("_")})
        for last in ("_node_index", "feature_index", "graph_"):
            self.__dict__.pop(last, None)

    def _engine(self) -> Any:
        """What the work runs on: an :class:`~hopscale.compute.Engine`."""
        return engine_on(self.device, self.n_jobs, verbose=bool(self.verbose))

    def fit_transform(self, graph: Any, y: Any = None) -> NDArray[np.float32]:
        """Learn and return the nodes' vectors, ``embedding_``."""
        check_second(graph, y, "fit_transform")
        return self.fit(graph).embedding_

    def transform(self, graph: Any, y: Any = None) -> NDArray[np.float32]:
        """Vectors of the nodes of a graph, each with all that it has around it: old neighbours and their features too.

        A node's vector comes from what walks meet around it **in the graph that is passed**, and from nothing that the
        model remembers. So pass the whole graph around the nodes: a node that the model knows, with only the edges of
        today, gets another vector than in ``embedding_``, and a new node whose neighbours come without their features
        has blocks of zeros. A warning counts such nodes. :meth:`extend` takes the new rows alone and joins them to the
        graph of the fit.

        Features are matched by name; those that the model has not seen are ignored, with a warning that
        counts them. The feature vectors stay as they are. On the graph of ``fit``, the direct solver gives
        the same vectors again. Skip-gram gives longer ones, since it trains against feature vectors that are complete
        from the start: what is trained on vectors of one graph and used on those of another should have both from
        ``transform``.

        Parameters
        ----------
        graph : AttributedGraph or what ``fit`` takes
        y : ignored

        Returns
        -------
        ndarray of shape (n, dimensions)

        Raises
        ------
        NotInductiveError
            If the model learns nothing but the vectors of the training nodes.
        """
        check_is_fitted(self)
        self._check_placing()
        check_second(graph, y, "transform")
        graph = as_graph(graph)
        found = self._placed(graph, 0)
        warn_of_missing_rows(self, graph, found)
        return found

    def _check_placing(self) -> None:
        """Refuse to place nodes of other graphs where this model cannot, or not on its device."""
        self._check_inductive()
        self.as_fitted()._check_device()

    def _check_inductive(self) -> None:
        raise self._not_inductive("it learns nothing but the vectors of the training nodes")

    def _placed(self, graph: AttributedGraph, first: int) -> NDArray[np.float32]:
        raise NotImplementedError  # by those that are inductive

    def _not_inductive(self, reason: str) -> NotInductiveError:
        return NotInductiveError(
            f"{type(self).__name__} cannot embed other nodes: {reason}. AE and MUSAE with ",
            Setting("ego", False),
            " can",
        )

    def context_names(self, graph: AttributedGraph) -> NDArray[Any]:
        """Names that ``feature_names_`` has after a fit on a graph: refused where features get no vectors."""
        raise ParameterError(no_feature_vectors(self))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as a safetensors file; :func:`hopscale.load_model` brings it back."""
        from hopscale.models.files import save_model  # which knows all models

        save_model(self, path)

    @abstractmethod
    def _state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What a file keeps beside ids and node vectors: tensors by name, and facts that JSON can hold."""

    @abstractmethod
    def _restore(self, embedding: NDArray[np.float32], file: Any) -> None:
        """Set what was learnt, from node vectors and a file (:class:`hopscale.models.files.ModelFile`)."""


class SolverChoice:
    """A model with the parameter ``solver``: the name of one of ``solvers``, or one with settings of its own.

    A name stands for the solver with the settings that the model has for it.
    """

    solvers: ClassVar[Mapping[str, Callable[[], Solver]]] = {"pmi": PMI, "sgns": SGNS}
    solver: str | Solver

    def chosen_solver(self) -> Solver:
        """A copy of the solver that the parameters ask for."""
        if isinstance(self.solver, Solver) and self.solver.name in self.solvers:
            settings = checked_fields(self.solver)
            solver: Solver = clone(self.solver)
            solver.__dict__.update(settings)
            return solver
        if not isinstance(self.solver, str) or self.solver not in self.solvers:
            names = ", ".join(map(repr, self.solvers))
            classes = ", ".join(type(make()).__name__ for make in self.solvers.values())
            raise ParameterError(
                f"must be one of {names}, or a solver ({classes}), not {in_short(self.solver)}", parameter="solver"
            )
        return self.solvers[self.solver]()

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters; ``solver__epochs`` sets one of the solver, by name or not."""
        nested = {name[8:]: parameters.pop(name) for name in list(parameters) if name.startswith("solver__")}
        before = self.solver
        super().set_params(**parameters)  # type: ignore[misc]
        if nested:
            try:
                solver = self.chosen_solver() if not isinstance(self.solver, Solver) else self.solver
                self.solver = solver.set_params(**nested)
            except ParameterError:
                self.solver = before
                raise
        return self

    def settings(self) -> dict[str, Any]:
        """Values of all parameters by plain name; where model and solver share a name, the model's."""
        return {**self.chosen_solver().get_params(), **super().settings()}  # type: ignore[misc]

    def configure(self, **settings: Any) -> Any:
        """Set parameters by plain name, the model's own or else its solver's."""
        super().configure(**settings)  # type: ignore[misc]
        own = self.get_params(deep=False)  # type: ignore[attr-defined]
        return self.set_params(**{f"solver__{name}": value for name, value in settings.items() if name not in own})

    def _described_without(self, parameter: str) -> str:
        others = [name for name, make in self.solvers.items() if parameter in make().get_params()]
        hint = f": it belongs to the solver {others[0]}" if others else ""
        return f"{type(self).__name__} with the solver {self.chosen_solver().name}{hint}"
