"""Models and solvers of one's own: what they get wrong is told, and what they learn is kept."""

import copy
import json
import pickle
import warnings
from dataclasses import KW_ONLY, dataclass

import numpy as np
import pytest
from model_files import spoilt, words_of

from hopscale import AE, HOPE, LINE, MUSAE, PMI, SGNS, Node2Vec, datasets, load_model
from hopscale.checks import number, parameter
from hopscale.compute import Threads
from hopscale.compute.operators import Dense
from hopscale.exceptions import DownloadError, HopscaleWarning, NotInductiveError, ParameterError, Setting
from hopscale.models import MODELS
from hopscale.models.walk.base import WalkEmbedding

SAMPLED = PMI(rows="sampled", walks=np.uint8(20))


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Classes that a test defines are forgotten after it."""
    monkeypatch.setattr("hopscale.models.base.MODELS", MODELS)
    before = dict(MODELS)
    yield
    MODELS.clear()
    MODELS.update(before)


@pytest.fixture(scope="module")
def graph():
    return datasets.planted_blocks(n_nodes=60, n_features=20)


def of_groups(groups, **more):
    return type("Groups", (WalkEmbedding,), {"context": "features", "hop_groups": lambda self: groups, **more})


class TestScales:
    @pytest.mark.parametrize(
        "groups", [[], [()], [(1,), ()], [(3, 1)], [(1, 1)], [(1,), (1,)], [(1, 3), (1, 2, 3)], [(40,)], [(-1,)], [1]]
    )
    @pytest.mark.parametrize("solver", ["pmi", "sgns"])
    def test_that_are_no_groups_of_hops_are_refused_before_the_work(self, groups, solver, graph):
        with pytest.raises(ParameterError, match="Groups"):
            of_groups(groups)(12, solver=solver).fit(graph)

    def test_walks_must_be_longer_than_the_farthest_hop_whatever_the_window(self, graph):
        with pytest.raises(ParameterError, match="walk_length=9 must be larger than window=9"):
            of_groups([(9,)])(4, solver=SGNS(walk_length=9)).fit(graph)

    @pytest.mark.parametrize(
        ("wrong", "name"),
        [({"context": "feature"}, "context"), ({"start": "anywhere"}, "start")]
        + [({"bias": bias}, "bias") for bias in ((0, 1), (1,), (1.0, -2.0))],
    )
    def test_words_and_weights_are_checked(self, wrong, name, graph):
        with pytest.raises(ParameterError) as caught:
            of_groups([(1,)], **wrong)(4).fit(graph)
        assert caught.value.parameter == name


class TestParameters:
    def test_a_forgotten_decorator_is_told(self, graph):
        class Forgotten(MUSAE):
            p: float = parameter(1.0, number, least=0)

        with pytest.raises(TypeError, match=r"Forgotten has parameters: put @dataclass"):
            Forgotten(8).fit(graph)

    @pytest.mark.parametrize(
        ("model", "same"),
        [
            (HOPE(dimensions=np.uint8(60)), HOPE(dimensions=60)),
            (HOPE(dimensions=np.int8(40), proximity="katz"), HOPE(dimensions=40, proximity="katz")),
            (LINE(dimensions=np.uint8(200), solver="pmi"), LINE(dimensions=200, solver="pmi")),
            (MUSAE(np.uint8(16), solver=SAMPLED), MUSAE(16, solver=PMI(rows="sampled", walks=20))),
        ],
    )  # fmt: skip
    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_numpys_small_integers_are_numbers_like_others(self, model, same, graph):
        assert np.array_equal(model.fit_transform(graph), same.fit_transform(graph))
        assert type(model.dimensions) is not int  # as it was given

    def test_steps_are_counted_without_overflow(self, graph):
        many = np.int32(100_000)
        with pytest.raises(ParameterError, match="walk_length times walks_per_node"):
            MUSAE(8, solver=SGNS(walk_length=many, walks_per_node=many)).fit(graph)

    @pytest.mark.parametrize("wrong", ["no", "False", None, 1, 0.0])
    def test_switches_are_true_or_false(self, wrong, graph):
        for model in (AE(8, ego=wrong), AE(8, self_scale=wrong), AE(8, solver=SGNS(share_negatives=wrong))):
            with pytest.raises(ParameterError, match="must be True or False"):
                model.fit(graph)

    @pytest.mark.parametrize("name", ["n_jobs", "random_state"])
    def test_true_is_no_number(self, name, graph):
        with pytest.raises(ParameterError, match=name):
            AE(8, **{name: True}).fit(graph)

    @pytest.mark.parametrize("wrong", [{"shift": 10**400}, {"memory_limit": "9" * 400}, {"memory_limit": 10**30}])
    def test_numbers_beyond_all_bounds(self, wrong, graph):
        with pytest.raises(ParameterError) as caught:
            AE(8, solver=PMI(**wrong)).fit(graph)
        assert caught.value.parameter in wrong

    def test_checking_draws_nothing(self):
        before = np.random.get_state()[2]  # noqa: NPY002
        AE(random_state=None).check_parameters()
        assert np.random.get_state()[2] == before  # noqa: NPY002

    def test_what_line_has_no_use_for_is_refused(self, graph):
        for wrong in ({"rows": "exact"}, {"walks": 3}, {"memory_limit": "1MB"}):
            with pytest.raises(ParameterError, match="means nothing here"):
                LINE(4, solver=PMI(**wrong)).fit(graph)
        LINE(4, solver=PMI(shift=2.0)).fit(graph)

    def test_refused_parameters_change_nothing(self):
        model = MUSAE(8)
        for wrong in ({"solver__nope": 1}, {"solver": "bogus", "solver__shift": 1.0}):
            with pytest.raises(ParameterError):
                model.set_params(**wrong)
            assert model.solver == "pmi"
        for set_some in (model.configure, model.set_params):
            with pytest.raises(ParameterError) as caught:
                set_some(window=2, nope=1)
            assert (caught.value.parameter, model.window) == ("nope", 3)


class TestAfterTheFit:
    def test_another_context_moves_no_node(self, graph):
        model = MUSAE(16).fit(graph)
        before = model.transform(graph)
        assert np.array_equal(model.set_params(ego=True).transform(graph), before)
        with pytest.raises(NotInductiveError):
            MUSAE(16, ego=True).fit(graph).set_params(ego=False).transform(graph)

    def test_copies_hold_vectors_once(self, graph):
        model = MUSAE(16).fit(graph)
        model.neighbors(0)
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
            assert all(np.shares_memory(s.node_vectors, again.embedding_) for s in again.solutions_)
            assert all(np.shares_memory(s.feature_vectors, again.feature_embedding_) for s in again.solutions_)
            assert np.array_equal(again.transform(graph), model.transform(graph))
        vectors = model.embedding_.nbytes + model.feature_embedding_.nbytes
        assert len(pickle.dumps(model)) < 2 * vectors

    def test_what_could_not_be_read_is_not_written(self, graph, tmp_path):
        model = MUSAE(16).fit(graph)
        with pytest.raises(ParameterError, match="n_jobs"):
            model.set_params(n_jobs="many").save(tmp_path / "m")

        class Other(PMI):
            pass

        with pytest.raises(ParameterError, match="cannot save a solver of class Other"):
            MUSAE(16, solver=Other()).fit(graph).save(tmp_path / "m")
        assert not (tmp_path / "m").exists()

    def test_settings_of_old_files_are_inherited(self, graph, tmp_path):
        @dataclass(eq=False, repr=False)
        class Younger(Node2Vec):
            settings_before = {"q": 4.0}  # noqa: RUF012
            _: KW_ONLY
            more: float = parameter(1.0, number, least=0)

        @dataclass(eq=False, repr=False)
        class Youngest(Younger):
            settings_before = {"more": 3.0}  # noqa: RUF012

        path = tmp_path / "m.safetensors"
        Youngest(4, window=2).fit(graph).save(path)
        written = json.loads(words_of(path)["parameters"])
        old = {name: value for name, value in written.items() if name not in ("q", "more")}
        again = load_model(spoilt(path, parameters=json.dumps(old)))
        assert (again.q, again.more) == (4.0, 3.0)


def test_warnings_point_at_the_callers_line(graph):
    """However many layers, ours or scikit-learn's, are between."""
    model = MUSAE(200)
    for call in (model.fit, model.fit_transform, lambda g: MUSAE(16, solver=PMI(memory_limit=2000, walks=1)).fit(g)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(graph)
        assert caught
        assert {warning.filename for warning in caught} == {__file__}
    nothing = datasets.planted_blocks(n_nodes=20, n_features=20, feature_p_in=0, feature_p_out=0)
    with pytest.warns(HopscaleWarning, match="nothing to place it by") as caught:
        MUSAE(16).fit(graph).transform(nothing)
    assert caught[0].filename == __file__


def test_operators_refuse_what_does_not_fit():
    with Threads(1) as engine:
        tall = Dense(np.ones((5, 3), dtype=np.float32), engine)
        for wrong in (np.ones((4, 2), dtype=np.float32), tall):
            with pytest.raises(ValueError, match=r"\(5, 3\) cannot be multiplied"):
                tall @ wrong


def test_every_error_keeps_all_parts_of_its_message():
    error = DownloadError("a ", Setting("b"), " c ", Setting("d", 1), " e")
    assert str(error) == str(pickle.loads(pickle.dumps(error))) == "a b c d=1 e"
