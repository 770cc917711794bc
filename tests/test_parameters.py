"""Parameters and graphs that make no sense: refused by name, before any work."""

import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from walk_models import INDUCTIVE, every_model, every_solver, fitted, large, make, toy

from hopscale import PMI, AttributedGraph, datasets
from hopscale._core import _native
from hopscale.compute.aligned import padded
from hopscale.compute.svd import MAX_RANK, OVERSAMPLING
from hopscale.exceptions import GraphError, HopscaleWarning, ParameterError
from reference import csr

BAD_ANYWHERE = {
    "dimensions": [0, -3, 2.5, "many", True, None],
    "window": [0, -1, 1.5, 31, True],
    "solver": ["svd", None, 3, PMI],
    "n_jobs": [0, 1.5, "two"],
    "random_state": [-1, "seven"],
}
BAD_FOR = {
    "pmi": {
        "shift": [0, -1, np.nan, np.inf, "one"],
        "noise_exponent": [-1, np.nan],
        "rows": ["some", None],
        "walks": [0, -1, 8.5, 2**31, 10**30],
        "memory_limit": [0, -5, np.nan, np.inf, "much", "", "GiB", "-1GiB", "0", True, None, [4]],
    },
    "sgns": {
        "walk_length": [0, -1, 8.5, 3, 1],  # 3 is not longer than the window
        "walks_per_node": [0, 2.5],
        "epochs": [0, -1, 1.5],
        "negatives": [0, -1, 65, 2.5],
        "learning_rate": [0, -0.1, np.nan, np.inf, "fast"],
        "min_learning_rate": [-0.1, np.nan],
        "start": ["anywhere", None],
        "noise_exponent": [-1, np.nan],
        "subsample": [-1, np.nan],
    },
}


class TestBadParameters:
    @every_model
    @every_solver
    def test_are_refused_by_name(self, name, solver):
        for bad in (BAD_ANYWHERE, BAD_FOR[solver]):
            for parameter, values in bad.items():
                for value in values:
                    model = make(name, solver)
                    own = parameter in model.get_params(deep=False)
                    model.set_params(**{parameter if own else f"solver__{parameter}": value})
                    for refuses in (model.check_parameters, lambda model=model: model.fit(toy())):
                        with pytest.raises(ParameterError, match=rf"^{parameter}\b") as caught:
                            refuses()
                        assert caught.value.parameter == parameter, value
                    with pytest.raises(NotFittedError):
                        model.node_vectors()

    @pytest.mark.parametrize(("parameter", "value"), [("walk_length", 2**30), ("walks_per_node", 10**30)])
    def test_more_steps_than_can_be_counted(self, parameter, value):
        """Two walks of 2³⁰ steps a node are as many as a count of 32 bits has not."""
        model = make("MUSAE", "sgns", **{parameter: value})
        with pytest.raises(ParameterError, match=parameter):
            model.check_parameters()

    @pytest.mark.parametrize(("name", "scales"), [("AE", 2), ("MUSAE", 4), ("Walklets", 3)])
    @every_solver
    def test_every_scale_needs_a_dimension(self, name, scales, solver):
        with pytest.raises(ParameterError, match=f"dimensions={scales - 1} is too few for {scales} scales"):
            make(name, solver, dimensions=scales - 1).fit(toy())
        assert make(name, solver, dimensions=scales).fit(toy()).embedding_.any(axis=0).all()

    @every_solver
    def test_more_dimensions_than_a_kernel_can_hold(self, solver):
        with pytest.raises(
            ParameterError, match=f"dimensions={MAX_RANK + 1} is too many: a scale has at most {MAX_RANK}"
        ):
            make("DeepWalk", solver, dimensions=MAX_RANK + 1).fit(toy())

    def test_as_many_dimensions_as_a_kernel_can_hold(self):
        assert make("DeepWalk", "sgns", dimensions=MAX_RANK).fit(toy()).embedding_.any(axis=0).all()
        widest = np.ones((1, padded(MAX_RANK + OVERSAMPLING)), dtype=np.float32)  # of the direct solver
        product = np.zeros_like(widest)
        _native.csr_times(_native.Csr(*csr([[2.0]]), 1), widest, product, 0, 1)
        assert (product == 2).all()

    @every_model
    def test_more_dimensions_than_the_rank_are_zero(self, name):
        model = make(name, dimensions=800)
        with pytest.warns(HopscaleWarning, match="dimensions are zero") as seen:
            model.fit(toy())
        assert len(seen) == len(model.scale_columns_)
        for label, columns in model.scale_columns_.items():
            products = model.node_vectors(label).astype(float) @ model.feature_vectors(label).T.astype(float)
            rank = np.linalg.matrix_rank(products, tol=1e-5 * np.linalg.norm(products, 2))
            for vectors in (model.embedding_, model.feature_embedding_):
                assert vectors[:, columns].any(axis=0).sum() == pytest.approx(rank, abs=1)

    @every_solver
    def test_walks_longer_than_the_graph_is_wide_are_fine(self, solver):
        longer = {"walk_length": 20} if solver == "sgns" else {}
        model = make("MUSAE", solver, window=12, dimensions=26, **longer).fit(datasets.figure1())
        assert list(model.scale_columns_) == [str(r) for r in range(13)]
        assert np.isfinite(model.embedding_).all()

    def test_memory_limits_in_words(self):
        for limit in ("1GiB", "1 gb", 2**30, 2.0**30, np.int64(2**30)):
            np.testing.assert_array_equal(
                make("AE", memory_limit=limit).fit(toy()).embedding_, fitted("AE", "pmi").embedding_
            )

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    @pytest.mark.parametrize("limit", [1, "1KiB", 200_000])
    def test_a_small_memory_limit_means_samples_and_a_word_about_it(self, limit):
        model = make("MUSAE", memory_limit=limit, walks=1)  # so few that exact rows would take much longer
        with pytest.warns(HopscaleWarning, match="scale 1: exact rows would take more than memory_limit"):
            model.fit(large())
        assert "exact" in model.rows_["0"]
        assert model.rows_["3"].startswith("rows sampled")
        assert model.embedding_.any(axis=0).all()
        exact = make("MUSAE", memory_limit=limit, walks=1, rows="exact").fit(large())
        assert all(words.startswith("exact rows") for words in exact.rows_.values())

    def test_exact_rows_past_the_limit_are_refused_with_the_least_that_works(self):
        graph = datasets.erdos_renyi(2100, 4, 8, 8000)
        with pytest.raises(ParameterError, match=r"needs at least [0-9]+ MiB .* leave rows at 'auto'") as refused:
            make("AE", memory_limit="10MiB", rows="exact").fit(graph)
        least = re.search("[0-9]+ MiB", str(refused.value))[0]
        assert "exact" in make("AE", memory_limit=least, rows="exact").fit(graph).rows_["1-3"]

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_a_scale_that_fits_the_memory_limit_is_exact(self):
        """Some 3 MB of scale 2 or 3: together they pass 6 MB, alone they fit; 2 MB hold neither: all are streamed."""
        graph = datasets.erdos_renyi(2100, 4, 8, 600)
        exact, alone, mixed = (make("MUSAE", memory_limit=limit).fit(graph) for limit in ("1GiB", "4MB", "2MB"))
        np.testing.assert_allclose(alone.embedding_, exact.embedding_, atol=1e-4)
        assert alone.rows_ == exact.rows_
        assert [label for label, rows in mixed.rows_.items() if "after learning from" in rows] == ["1", "2", "3"]


@every_solver
class TestBadGraphs:
    @every_model
    def test_without_edges_there_is_nothing_to_walk_on(self, name, solver):
        for n in (1, 4):
            with pytest.raises(GraphError, match=rf"no edges \({n} node"):
                make(name, solver).fit(AttributedGraph(np.eye(n), np.eye(n)))

    @every_model
    def test_without_features_only_models_of_nodes_can_learn(self, name, solver):
        ring = np.roll(np.eye(20), 1, axis=1)
        for features in (None, np.zeros((20, 3))):
            graph = AttributedGraph(ring + ring.T, features)
            if name in INDUCTIVE:
                with pytest.raises(GraphError, match="DeepWalk or Walklets"):
                    make(name, solver).fit(graph)
            else:
                assert make(name, solver).fit(graph).embedding_.any()

    @pytest.mark.parametrize("name", INDUCTIVE)
    def test_the_same_features_everywhere_tell_nodes_apart_nowhere(self, name, solver):
        graph = AttributedGraph(toy().adjacency, np.ones((60, 5)))
        if solver == "pmi":
            with pytest.warns(HopscaleWarning, match="dimensions are zero"):
                model = make(name).fit(graph)
            assert not model.embedding_.any()
        else:
            model = make(name, solver, epochs=40, dimensions=8).fit(graph)
            last = model.scales_[-1].label
            products = model.node_vectors(last) @ model.feature_vectors(last).T
            np.testing.assert_allclose(products.mean(axis=1), -np.log(5), atol=0.3)  # PMI 0, less log b

    @every_model
    def test_a_feature_with_the_name_of_a_node_as_a_feature(self, name, solver):
        names = [*range(38), ("node", 3), ("node", "node 3")]
        graph = AttributedGraph(toy().adjacency, toy().features, node_ids=toy().node_ids, feature_names=names)
        model = make(name, solver)
        if name.endswith("EGO"):
            with pytest.raises(GraphError, match=r"\('node', 'node 3'\) is the name of a feature already \(1 such"):
                model.fit(graph)
        else:
            assert model.fit(graph).embedding_.any()

    @every_model
    def test_what_is_no_graph(self, name, solver):
        for wrong in (None, 3, [[0, 1], [1, 0]]):
            with pytest.raises(GraphError, match="cannot read a graph"):
                make(name, solver).fit(wrong)
