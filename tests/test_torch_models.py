"""Models on PyTorch's devices have the vectors of the processor, and files that know no device."""

import numpy as np
import pytest
from sklearn.base import clone

from hopscale import AE, MUSAE, PMI, GraphClassifier, Node2Vec, datasets, load_model
from hopscale.exceptions import ParameterError
from hopscale.models import MODELS
from reference import random_graph

torch = pytest.importorskip("torch")

from devices import ABLE, TOLERANCE, apart, on_every_device, uneven_graph  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")


@pytest.fixture(scope="module")
def graph():
    return uneven_graph()


class TestModels:
    @on_every_device
    @pytest.mark.parametrize("name", ABLE)
    def test_have_the_vectors_of_the_processor(self, graph, name, device):
        here, there = ABLE[name]().fit(graph), ABLE[name](device=device).fit(graph)
        assert apart(there.embedding_, here.embedding_) < TOLERANCE[device]
        if len(here.feature_embedding_):
            assert apart(there.feature_embedding_, here.feature_embedding_) < TOLERANCE[device]
        if here.inductive:
            other = random_graph(120, 70, density=0.08, seed=4)
            assert apart(there.transform(other), here.transform(other)) < TOLERANCE[device]
            assert apart(there.transform(graph), there.embedding_) < TOLERANCE[device]

    @on_every_device
    @pytest.mark.parametrize("name", ["MUSAE", "AE", "NetMF", "HOPE", "SINE"])
    def test_have_the_same_bits_from_run_to_run(self, graph, name, device):
        one, other = (ABLE[name](device=device).fit(graph) for _ in range(2))
        np.testing.assert_array_equal(one.embedding_, other.embedding_)
        np.testing.assert_array_equal(one.feature_embedding_, other.feature_embedding_)

    @on_every_device
    def test_rows_and_captured_shares_are_those_of_the_processor(self, graph, device):
        here, there = MUSAE(24).fit(graph), MUSAE(24, device=device).fit(graph)
        assert list(there.rows_) == list(here.rows_)
        for label, share in here.captured_.items():
            assert there.captured_[label] == pytest.approx(share, abs=1e-3)

    def test_every_model_can_or_says_why_not(self):
        able = {name for name in MODELS if MODELS[name].__module__.startswith("hopscale.")}
        able -= {name.split()[0] for name in ABLE}
        assert able == {"AANE", "BANE", "TENE"}
        for name in able:
            with pytest.raises(ParameterError, match=f"{name} is learnt on the processor alone.*Leave device out"):
                MODELS[name](device="torch-cpu").fit(datasets.figure1())

    @pytest.mark.parametrize(
        ("model", "words"),
        [
            (Node2Vec(p=0.5, solver="pmi"), "walks that remember their last step are taken on the processor"),
            (Node2Vec(p=0.5, solver="sgns"), "walks that remember their last step are taken on the processor"),
            (MUSAE(solver=PMI(rows="sampled")), "leave out rows='sampled'"),
        ],
    )
    def test_what_is_not_products_stays_on_the_processor(self, model, words):
        with pytest.raises(ParameterError, match=words) as caught:
            model.set_params(device="torch-cpu").fit(datasets.figure1())
        assert caught.value.parameter == "device"


class TestFiles:
    def test_leave_the_device_out(self, graph, tmp_path):
        model = MUSAE(24, device="torch-cpu").fit(graph)
        assert clone(model).device == model.get_params()["device"] == "torch-cpu"
        model.save(tmp_path / "there")
        again = load_model(tmp_path / "there")
        assert again.device is None
        np.testing.assert_array_equal(again.embedding_, model.embedding_)
        assert apart(again.transform(graph), model.embedding_) < TOLERANCE["torch-cpu"]
        model.device = None
        model.save(tmp_path / "here")  # as fitted, wherever that was
        assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()

    def test_of_predictors_leave_it_out_as_well(self, graph, tmp_path, monkeypatch):
        """A model that was fitted on a GPU is read on machines without one."""
        learner = GraphClassifier(AE(8, device="torch-cpu"), inputs="vectors", head="logistic", smooth=False)
        learner.fit(graph, np.arange(150) % 2).save(tmp_path / "m")
        monkeypatch.setattr("hopscale.models.base.engine_on", lambda *_, **__: pytest.fail("a device was looked for"))
        again = load_model(tmp_path / "m")
        assert again.embedder.device is again.embedder_.device is None
        np.testing.assert_array_equal(again.outputs_, learner.outputs_)

    def test_nodes_are_not_placed_on_a_device_where_models_are_not_fitted_on_one(self, graph):
        sampled = MUSAE(8, solver=PMI(rows="sampled", walks=5)).fit(graph)
        with pytest.raises(ParameterError, match="leave out rows='sampled'"):
            sampled.set_params(device="torch-cpu").transform(graph)
        sampled.parameters_["solver"] = PMI()  # as of a graph whose rows were too many
        with pytest.raises(ParameterError, match=r"device computes exact rows, and those .* are sampled"):
            sampled.transform(graph)
