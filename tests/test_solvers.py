"""Solvers as values: parameters of their own, nested in a model's as scikit-learn nests them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ParameterGrid

from hopscale import AE, LINE, MUSAE, PMI, SGNS, DeepWalk, GraRep, NetMF, Node2Vec, datasets
from hopscale.exceptions import ParameterError
from hopscale.solvers import Solver
from reference import parameters, random_graph

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

SHORT = {"pmi": PMI(rows="sampled", walks=20), "sgns": SGNS(walk_length=8, walks_per_node=1, epochs=1)}
every_solver = pytest.mark.parametrize("solver", SHORT)


@pytest.fixture(scope="module")
def graph():
    return random_graph(40, 12, density=0.15, seed=3)


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Learns labels of the rows of a graph from a model's vectors."""

    def __init__(self, model=None, graph=None):
        self.model, self.graph = model, graph

    def fit(self, rows, labels):
        self.vectors_ = clone(self.model).fit_transform(self.graph)
        self.learner_ = LogisticRegression(max_iter=500).fit(self.vectors_[rows.ravel()], labels)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, rows):
        return self.learner_.predict(self.vectors_[rows.ravel()])


class TestNesting:
    def test_a_solver_s_parameters_are_listed_under_its_name(self):
        listed = MUSAE(solver=SGNS(epochs=2)).get_params()
        assert listed["solver__epochs"] == 2
        assert {f"solver__{name}" for name in SGNS().get_params()} < set(listed)
        assert "solver__shift" not in listed
        assert not any("__" in name for name in MUSAE(solver=SGNS()).get_params(deep=False))

    def test_a_name_is_listed_as_it_is(self):
        listed = MUSAE(solver="sgns").get_params()
        assert listed["solver"] == "sgns"
        assert not any("__" in name for name in listed)

    def test_of_a_value(self):
        solver = SGNS(negatives=3)
        model = MUSAE(solver=solver).set_params(solver__epochs=2, dimensions=9)
        assert model.solver is solver
        assert parameters(solver) == parameters(SGNS(negatives=3, epochs=2))
        assert model.dimensions == 9

    def test_of_a_name(self):
        model = MUSAE(solver="sgns").set_params(solver__epochs=2)
        assert isinstance(model.solver, SGNS)
        assert parameters(model.solver) == parameters(SGNS(epochs=2))
        assert parameters(MUSAE().set_params(solver__shift=2.0).solver) == parameters(PMI(shift=2.0))

    def test_of_a_name_that_is_set_in_the_same_call(self):
        model = MUSAE(solver="pmi").set_params(solver__epochs=2, solver="sgns")
        assert parameters(model.solver) == parameters(SGNS(epochs=2))
        model.set_params(solver__shift=3.0, solver=PMI(walks=7))
        assert parameters(model.solver) == parameters(PMI(walks=7, shift=3.0))

    @pytest.mark.parametrize(
        ("model", "own"), [(Node2Vec, {"epochs": 1}), (LINE, {"epochs": 1, "noise_exponent": 0.75}), (DeepWalk, {})]
    )
    def test_a_name_means_the_settings_that_a_model_has_for_it(self, model, own):
        assert parameters(model(solver="sgns").chosen_solver()) == parameters(SGNS(**own))
        changed = model(solver="sgns").set_params(solver__negatives=3).solver
        assert parameters(changed) == parameters(SGNS(**own, negatives=3))

    def test_a_name_is_not_changed_across_copies(self):
        model = MUSAE(solver="sgns")
        copy = clone(model).set_params(solver__epochs=1)
        assert model.solver == "sgns"
        assert parameters(model.chosen_solver()) == parameters(SGNS())
        other = clone(model).set_params(solver__epochs=2)
        assert (copy.solver.epochs, other.solver.epochs) == (1, 2)

    def test_copies_have_solvers_of_their_own(self):
        model = MUSAE(solver=SGNS(epochs=3))
        copy = clone(model)
        assert copy.solver is not model.solver
        assert parameters(copy) == parameters(model)
        copy.set_params(solver__epochs=1)
        assert model.solver.epochs == 3

    def test_by_plain_name(self):
        model = MUSAE(solver="sgns").configure(epochs=2, dimensions=9, window=2)
        assert (model.dimensions, model.window, model.solver.epochs) == (9, 2, 2)
        assert model.settings()["epochs"] == 2
        with pytest.raises(ParameterError, match="shift means nothing to MUSAE with the solver sgns") as caught:
            model.configure(shift=2.0)
        assert caught.value.parameter == "shift"

    def test_text(self):
        assert repr(SGNS(epochs=2)) == "SGNS(epochs=2)"
        assert repr(MUSAE(8, solver=PMI(rows="exact"))) == "MUSAE(dimensions=8, solver=PMI(rows='exact'))"
        assert repr(MUSAE(solver="sgns")) == "MUSAE(solver='sgns')"
        assert repr(AE()) == "AE()"


class TestRefusals:
    @pytest.mark.parametrize("solver", ["pmi", "sgns", PMI(), SGNS()], ids=repr)
    def test_of_parameters_that_a_solver_has_not(self, solver):
        with pytest.raises(ParameterError, match=r"^depth is no parameter of (PMI|SGNS), which has ") as caught:
            MUSAE(solver=solver).set_params(solver__depth=3)
        assert caught.value.parameter == "depth"

    def test_of_another_solver_s_parameters(self):
        with pytest.raises(ParameterError, match=r"^epochs is no parameter of PMI"):
            MUSAE().set_params(solver__epochs=3)
        with pytest.raises(ValueError, match=r"^shift is no parameter of SGNS"):
            SGNS().set_params(shift=1.0)
        with pytest.raises(TypeError, match="shift"):
            SGNS(shift=1.0)

    @pytest.mark.parametrize("model", [NetMF, GraRep])
    @pytest.mark.parametrize("solver", ["sgns", SGNS()], ids=repr)
    def test_of_a_solver_that_a_model_cannot_use(self, model, solver, graph):
        wrong = model(8, window=2, solver=solver)
        for refuses in (wrong.check_parameters, lambda: wrong.fit(graph)):
            with pytest.raises(ParameterError, match=r"^solver must be one of 'pmi', or a solver \(PMI\)") as caught:
                refuses()
            assert caught.value.parameter == "solver"

    @pytest.mark.parametrize("solver", [PMI, 3, None, LogisticRegression()], ids=repr)
    def test_of_what_is_no_solver(self, solver, graph):
        with pytest.raises(ParameterError, match=r"^solver must be one of 'pmi', 'sgns', or a solver \(PMI, SGNS\)"):
            MUSAE(8, solver=solver).fit(graph)


class TestFits:
    @every_solver
    def test_leave_a_solver_as_it_was(self, solver, graph):
        value = clone(SHORT[solver])
        before, state = parameters(value), set(vars(value))
        one, other = MUSAE(8, solver=value).fit(graph), AE(8, solver=value).fit(graph)
        assert one.solver is other.solver is value
        assert parameters(value) == before
        assert set(vars(value)) == state  # nothing was learnt into it
        np.testing.assert_array_equal(MUSAE(8, solver=value).fit(graph).embedding_, one.embedding_)

    @every_solver
    def test_keep_a_solver_of_their_own(self, solver, graph):
        model = MUSAE(8, solver=clone(SHORT[solver])).fit(graph)
        before = parameters(model.solver_)
        placed = model.transform(graph)
        assert before == parameters(SHORT[solver])
        model.set_params(**{"solver__walks": 3} if solver == "pmi" else {"solver__negatives": 1})
        assert parameters(model.solver_) == before
        np.testing.assert_array_equal(model.transform(graph), placed)

    def test_of_a_name_and_of_its_settings_are_the_same(self, graph):
        for model, name, value in (
            (MUSAE, "pmi", PMI()),
            (DeepWalk, "sgns", SGNS()),
            (LINE, "sgns", SGNS(epochs=1, noise_exponent=0.75)),
            (Node2Vec, "sgns", SGNS(epochs=1)),
        ):
            named, valued = (model(8, solver=solver).fit_transform(graph) for solver in (name, value))
            np.testing.assert_array_equal(named, valued)

    def test_with_solvers_of_ones_own(self, graph):
        """One that is a kind of PMI is taken for one."""

        class Doubled(PMI):
            def scaling(self, probability):
                return 2 * super().scaling(probability)

        assert isinstance(Doubled(), Solver)
        shifted = MUSAE(8, solver=PMI(shift=0.5)).fit_transform(graph)
        np.testing.assert_allclose(MUSAE(8, solver=Doubled()).fit_transform(graph), shifted, atol=1e-4)


class TestSearches:
    """A shift beyond every ratio leaves nothing to learn: a search over shifts must find the other one."""

    SHIFTS = (1.0, 1e6)

    def test_over_a_grid(self):
        graph = datasets.planted_blocks(n_nodes=90, n_features=30)
        model = MUSAE(8)
        scores = {}
        for point in ParameterGrid({"solver__shift": self.SHIFTS, "dimensions": [8, 12]}):
            vectors = clone(model).set_params(**point).fit_transform(graph)
            assert vectors.shape[1] == point["dimensions"]
            scores[point["solver__shift"]] = vectors.any()
        assert scores == {1.0: True, 1e6: False}
        assert parameters(model) == parameters(MUSAE(8))

    @pytest.mark.parametrize("solver", ["pmi", PMI(rows="exact")], ids=repr)
    def test_with_cross_validation(self, solver):
        graph = datasets.planted_blocks(n_nodes=150, p_in=0.3, p_out=0.02)
        classifier = NodeClassifier(MUSAE(16, solver=solver), graph)
        search = GridSearchCV(classifier, {"model__solver__shift": self.SHIFTS}, cv=3, error_score="raise")
        search.fit(np.arange(150)[:, None], graph.labels)
        assert search.best_params_ == {"model__solver__shift": 1.0}
        good, useless = search.cv_results_["mean_test_score"]
        assert good > 0.8
        assert useless < 0.4  # of four blocks
        best = search.best_estimator_.model.solver
        assert parameters(best) == parameters(PMI(rows="auto" if solver == "pmi" else "exact"))
