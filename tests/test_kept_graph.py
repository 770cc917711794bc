"""Models that keep their graph, and parameters that are changed after the fit."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from model_files import assert_same, refusal, spoilt
from safetensors.numpy import load_file
from sklearn.base import clone

from hopscale import AE, HOPE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, Node2Vec, load_model
from hopscale.datasets import figure1, planted_blocks
from hopscale.exceptions import HopscaleWarning, ParameterError
from reference import parameters

FAST_SGNS = SGNS(epochs=1, walk_length=8, walks_per_node=1)


def blocks():
    return planted_blocks(n_nodes=90, n_features=30)


def weighted():
    """Weights, values, a self-loop, an isolated node, names of several kinds."""
    A = np.array([[0, 2, 0.5, 0], [2, 0, 0, 0], [0.5, 0, 3, 0], [0, 0, 0, 0.0]])
    F = np.array([[1, 0], [0, 2.5], [1, 0], [0, 1.0]])
    return AttributedGraph(A, F, node_ids=["a", 1, ("b", 2), 2.5], feature_names=["x", ("y", 1)], self_loops=True)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "kept.safetensors"
    MUSAE(8, keep_graph=True).fit(figure1()).save(path)
    return path


class TestKeptGraph:
    def test_is_the_graph_that_was_passed(self):
        graph = blocks()
        assert MUSAE(8, keep_graph=True).fit(graph).graph_ is graph

    def test_is_made_from_whatever_was_passed(self):
        graph = blocks()
        model = MUSAE(8, keep_graph=True).fit((graph.adjacency, graph.features))
        assert_same(model.graph_, graph)

    def test_is_not_kept_unless_asked_for(self):
        model = MUSAE(8, keep_graph=True).fit(blocks())
        model.set_params(keep_graph=False).fit(blocks())
        assert not hasattr(model, "graph_")
        assert not hasattr(MUSAE(8).fit(blocks()), "graph_")

    def test_the_next_fit_keeps_its_own(self):
        model, other = MUSAE(8, keep_graph=True).fit(blocks()), planted_blocks(n_nodes=60, n_features=30)
        assert model.fit(other).graph_ is other

    def test_makes_no_difference_to_vectors(self):
        kept, plain = MUSAE(8, keep_graph=True).fit(blocks()), MUSAE(8).fit(blocks())
        np.testing.assert_array_equal(kept.embedding_, plain.embedding_)

    @pytest.mark.parametrize("wrong", [None, 1, "yes", np.array([True, False])])
    def test_must_be_a_switch(self, wrong):
        with pytest.raises(ParameterError, match="keep_graph must be True or False"):
            MUSAE(8, keep_graph=wrong).fit(blocks())

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    @pytest.mark.parametrize(
        "model",
        [MUSAE(8), AE(8, ego=True), MUSAE(8, solver=FAST_SGNS), DeepWalk(4), Node2Vec(4, p=2.0), HOPE(2)],
        ids=lambda model: type(model).__name__,
    )
    @pytest.mark.parametrize("graph", [blocks, weighted, figure1])
    def test_comes_back_from_a_file_to_the_bit(self, model, graph, tmp_path):
        model = clone(model).set_params(keep_graph=True).fit(graph())
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert_same(again.graph_, model.graph_)
        assert again.keep_graph
        assert again.graph_.labels is None
        again.save(tmp_path / "n")
        assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()

    def test_without_features(self, tmp_path):
        graph = AttributedGraph(blocks().adjacency)
        DeepWalk(4, keep_graph=True).fit(graph).save(tmp_path / "m")
        assert_same(load_model(tmp_path / "m").graph_, graph)

    def test_a_graph_that_is_deleted_is_not_saved(self, tmp_path):
        model = MUSAE(8, keep_graph=True).fit(blocks())
        del model.graph_
        model.save(tmp_path / "m")
        assert not any(name.startswith("graph") for name in load_file(tmp_path / "m"))
        assert not hasattr(load_model(tmp_path / "m"), "graph_")

    def test_copies_have_it(self):
        model = MUSAE(8, keep_graph=True).fit(blocks())
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert_same(again.graph_, model.graph_)
            assert not again.graph_.adjacency.data.flags.writeable
        assert not hasattr(clone(model), "graph_")


class TestSpoiltGraph:
    """A digest shows damage only: what a file says is validated whatever it is."""

    @pytest.mark.parametrize("lost", ["adjacency_indptr", "adjacency_data", "features_indices"])
    def test_lost_tensors(self, saved, lost):
        assert f"no tensor 'graph_{lost}'" in refusal(spoilt(saved, drop=[f"graph_{lost}"]))

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("adjacency_indptr", lambda x: x[:-1]),
            ("adjacency_indptr", lambda x: x + 1),
            ("adjacency_indptr", lambda x: np.where(x == x[3], x[-1], x)),
            ("adjacency_indptr", lambda x: -x),
            ("adjacency_indptr", lambda x: x.astype(np.int32)),
            ("adjacency_indices", lambda x: x + 5),
            ("adjacency_indices", lambda x: -x),
            ("adjacency_indices", lambda x: x[:-1]),
            ("adjacency_indices", lambda x: np.roll(x, 1)),
            ("adjacency_data", lambda x: -x),
            ("adjacency_data", lambda x: x * np.inf),
            ("adjacency_data", lambda x: x.astype(np.float64)),
            ("features_indices", lambda x: x + 100),
            ("features_data", lambda x: x * np.nan),
            ("features_indptr", lambda x: x * 2**40),
            ("feature_names", lambda x: x[:0]),
        ],
    )
    def test_tensors_that_make_no_sense(self, saved, name, change):
        name = f"graph_{name}"
        assert refusal(spoilt(saved, tensors={name: change(load_file(saved)[name])}))

    def test_directed(self, saved):
        data = load_file(saved)["graph_adjacency_data"].copy()
        data[0] = 9
        assert "its graph cannot be: the graph is directed" in refusal(
            spoilt(saved, tensors={"graph_adjacency_data": data})
        )


class TestParametersAfterTheFit:
    """A file must not say that vectors were learnt with other parameters than they were."""

    def saved(self, model, path):
        model.save(path)
        return load_model(path)

    def test_those_of_the_fit_are_saved(self, tmp_path):
        model = MUSAE(8, window=2).fit(figure1()).set_params(dimensions=16, window=3)
        with pytest.warns(HopscaleWarning, match=r"dimensions from 8 to 16, window from 2 to 3.*Fit again"):
            again = self.saved(model, tmp_path / "m")
        assert (again.dimensions, again.window) == (8, 2)
        assert (model.dimensions, model.window) == (16, 3)
        np.testing.assert_array_equal(again.embedding_, model.embedding_)

    @pytest.mark.parametrize("solver", ["pmi", PMI(shift=2.0), PMI(walks=5)])
    def test_those_of_the_solver(self, tmp_path, solver):
        model = MUSAE(8, solver=clone(solver) if isinstance(solver, PMI) else solver).fit(figure1())
        model.set_params(solver__shift=3.0)
        with pytest.warns(HopscaleWarning, match=r"solver from .* to .*PMI\(shift=3"):
            again = self.saved(model, tmp_path / "m")
        assert parameters(again)["solver"] == parameters(MUSAE(8, solver=solver))["solver"]
        assert again.solver_.shift == getattr(solver, "shift", 1.0)

    def test_another_solver(self, tmp_path):
        model = MUSAE(8).fit(figure1()).set_params(solver=FAST_SGNS)
        with pytest.warns(HopscaleWarning, match="solver from 'pmi'"):
            assert self.saved(model, tmp_path / "m").solver == "pmi"

    def test_what_makes_no_sense_is_not_saved_either(self, tmp_path):
        model = MUSAE(8).fit(figure1()).set_params(dimensions=-1, solver=np.array([1, 2]))
        with pytest.warns(HopscaleWarning, match="dimensions from 8 to -1"):
            assert self.saved(model, tmp_path / "m").dimensions == 8

    def test_how_to_run_is_as_it_is_now(self, tmp_path):
        model = MUSAE(8, n_jobs=1, verbose=True).fit(figure1()).set_params(n_jobs=2, verbose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = self.saved(model, tmp_path / "m")
        assert (again.n_jobs, again.verbose) == (2, False)

    def test_unchanged_parameters_are_no_news(self, tmp_path):
        model = MUSAE(8, random_state=np.random.default_rng(3)).fit(figure1())
        model.set_params(dimensions=16).set_params(dimensions=8)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.save(tmp_path / "m")

    def test_the_next_fit_takes_the_new_ones(self, tmp_path):
        model = MUSAE(8).fit(figure1()).set_params(dimensions=12).fit(figure1())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert self.saved(model, tmp_path / "m").dimensions == 12

    def test_a_fit_that_fails_leaves_all_as_it_was(self, tmp_path):
        model = MUSAE(8).fit(figure1()).set_params(dimensions=5000)
        with pytest.raises(ParameterError):
            model.fit(figure1())
        with pytest.warns(HopscaleWarning, match="dimensions from 8 to 5000"):
            assert self.saved(model, tmp_path / "m").dimensions == 8

    def test_clones_have_the_new_ones(self):
        model = MUSAE(8).fit(figure1()).set_params(dimensions=12)
        assert clone(model).fit(figure1()).embedding_.shape[1] == 12
        assert model.embedding_.shape[1] == 8

    def test_new_nodes_are_placed_by_the_fit(self, tmp_path):
        model = MUSAE(8).fit(figure1())
        before = model.transform(figure1())
        model.set_params(dimensions=12, window=1, ego=True, self_scale=False, solver__shift=9.0)
        np.testing.assert_array_equal(model.transform(figure1()), before)
        with pytest.warns(HopscaleWarning, match="ego from False to True"):
            again = self.saved(model, tmp_path / "m")
        np.testing.assert_array_equal(again.transform(figure1()), before)
