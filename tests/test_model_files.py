"""Saved models: every answer the same to the bit, every damaged or strange file refused by name."""

import contextlib
import json
import re
import warnings
from uuid import uuid4

import numpy as np
import pytest
from model_files import assert_same, refusal, spoilt, words_of
from safetensors.numpy import load_file, save_file
from sklearn.exceptions import NotFittedError

from hopscale import AE, MUSAE, PMI, SGNS, AttributedGraph, DeepWalk, Walklets, load_model
from hopscale.datasets import erdos_renyi, figure1, planted_blocks
from hopscale.exceptions import FileFormatError, HopscaleError, HopscaleWarning, OutputError, ParameterError
from hopscale.models import MODELS, NodeEmbedding, files, save_model
from reference import parameters

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

FAST_SGNS = SGNS(epochs=1, walk_length=8, walks_per_node=1)
EXAMPLES = {
    "MUSAE": MUSAE(16),
    "MUSAE, no self scale": MUSAE(9, self_scale=False),
    "MUSAE-EGO": MUSAE(16, ego=True),
    "MUSAE, sgns": MUSAE(16, solver=FAST_SGNS),
    "AE": AE(12, window=2, solver=PMI(shift=2.5)),
    "AE-EGO, sgns": AE(12, ego=True, solver=FAST_SGNS),
    "DeepWalk": DeepWalk(8),
    "DeepWalk by name": DeepWalk(8, solver="sgns", window=2),
    "Walklets, sgns": Walklets(8, window=2, solver=FAST_SGNS),
}


def named_graph(names, feature_names=None):
    """A ring with chords whose nodes have these names."""
    n = len(names)
    ring = np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), 2, axis=1)
    features = np.eye(n)[:, : len(feature_names) if feature_names else n]
    return AttributedGraph(np.minimum(ring + ring.T, 1), features, node_ids=names, feature_names=feature_names)


@pytest.fixture
def saved(tmp_path):
    """Path of a good file, to be spoilt."""
    path = tmp_path / "good.safetensors"
    MUSAE(8).fit(figure1()).save(path)
    return path


class TestFittedSolver:
    """What new nodes are placed by, whatever the parameters say later."""

    def changed(self, path, drop=None, **settings):
        solver = json.loads(words_of(path)["solver"]) | settings
        return spoilt(path, solver=json.dumps({key: value for key, value in solver.items() if key != drop}))

    def test_without_its_seed_a_file_is_refused(self, saved):
        """No default may stand in for a seed that a damaged file has lost."""
        assert "no 'seed'" in refusal(spoilt(saved, drop=["seed"]))

    @pytest.mark.parametrize("seed", ["-1", "1.5", '"7"', "true", "null", "9223372036854775808"])
    def test_with_a_seed_that_is_none(self, saved, seed):
        assert "'seed' is not a whole number" in refusal(spoilt(saved, seed=seed))

    @pytest.mark.parametrize("solver", ["[]", "7", "null", "{}", '{"name": "svd"}', '{"name": ["pmi"]}'])
    def test_that_is_not_one_of_the_models(self, saved, solver):
        assert "its solver is not one of pmi, sgns" in refusal(spoilt(saved, solver=solver))

    def test_with_a_parameter_of_another(self, saved):
        assert "PMI has no parameter 'epochs'" in refusal(self.changed(saved, epochs=1))

    @pytest.mark.parametrize("wrong", [{"shift": -1.0}, {"shift": "two"}, {"walks": 0}, {"memory_limit": "much"}])
    def test_with_values_that_make_no_sense(self, saved, wrong):
        assert next(iter(wrong)) in refusal(self.changed(saved, **wrong))


class TestRoundTrip:
    @pytest.mark.parametrize("name", EXAMPLES)
    def test_every_answer_has_the_same_bits(self, tmp_path, name):
        graph = planted_blocks(n_nodes=90, n_features=30)
        model = EXAMPLES[name].fit(graph)
        model.save(tmp_path / "model.safetensors")
        again = load_model(tmp_path / "model.safetensors")

        assert type(again) is type(model)
        assert parameters(again) == parameters(model)
        fitted = {attribute for attribute in vars(model) if attribute.endswith("_")}
        assert fitted == {attribute for attribute in vars(again) if attribute.endswith("_")}
        for attribute in fitted:
            assert_same(getattr(model, attribute), getattr(again, attribute))
        for attribute in ("scales_", "rows_", "scale_columns_", "singular_values_", "feature_probability_"):
            assert_same(getattr(model, attribute), getattr(again, attribute))
        for node in (0, 41, 89):
            assert again.explain(node, k=7) == model.explain(node, k=7)
            assert again.neighbors(node, k=50) == model.neighbors(node, k=50)
            assert again.neighbors(node, scale=model.scales_[-1].label) == model.neighbors(
                node, scale=model.scales_[-1].label
            )

    @pytest.mark.parametrize("name", ["MUSAE", "AE", "MUSAE, sgns"])
    def test_transform_has_the_same_bits(self, tmp_path, name):
        model = EXAMPLES[name].fit(planted_blocks(n_nodes=90, n_features=30))
        model.save(tmp_path / "model")
        other = planted_blocks(n_nodes=60, n_features=30, random_state=7)
        np.testing.assert_array_equal(load_model(tmp_path / "model").transform(other), model.transform(other))

    @pytest.mark.parametrize(
        "names",
        [
            ["a", "", "ü🙂", 'with "quotes"\n', "\ud800", "nul\0"],
            [5, -3, 2**62, 0, 7, 1],
            [2**80, 1, 2, 3, 4, 5],
            [1, "1", 2.5, (1, "1"), False, ("a", (True, 0.5))],
            [(0, 1), (1, 0), (2, 2), (3, 1), (4, 4), ()],
            [0.1, 1e300, -2.0, 5e-324, 3.0, 4.0],
        ],
        ids=["text", "int", "large int", "mixed", "tuples", "floats"],
    )
    def test_names_keep_value_and_type(self, tmp_path, names):
        save_model(MUSAE(4).fit(named_graph(names, ("p", "q", ("r", 1)))), tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert again.node_ids_.tolist() == names
        assert [type(name) for name in again.node_ids_.tolist()] == [type(name) for name in names]
        assert again.feature_names_.tolist() == ["p", "q", ("r", 1)]
        assert again.neighbors(names[3], k=2)

    def test_ego_names_node_features_by_tuples(self, tmp_path):
        MUSAE(16, ego=True).fit(figure1()).save(tmp_path / "m")
        assert ("node", "D") in load_model(tmp_path / "m").feature_names_.tolist()

    def test_random_state_that_is_no_number_becomes_none(self, tmp_path):
        model = AE(8, random_state=np.random.default_rng(3), n_jobs=None, solver=PMI(memory_limit=np.int64(2**30)))
        model.fit(figure1()).save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert again.random_state is None
        assert again.n_jobs is None
        assert again.solver.memory_limit == 2**30

    def test_file_holds_plain_tensors_and_words(self, saved):
        assert sorted(load_file(saved)) == [
            "embedding",
            "feature_embedding",
            "feature_names",
            "feature_probability",
            "node_ids",
            "singular_values",
        ]
        assert b"pickle" not in saved.read_bytes()


class TestSaving:
    def test_unfitted_model(self, tmp_path):
        with pytest.raises(NotFittedError):
            MUSAE().save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "name",
        [uuid4(), b"bytes", frozenset([1]), (1, b"x"), float("inf"), 10**5000],
        ids=["uuid", "bytes", "set", "bytes in a tuple", "infinite", "5001 digits"],
    )
    def test_other_names_are_refused_before_anything_is_written(self, tmp_path, name):
        model = MUSAE(4).fit(named_graph([name, 1, 2, 3]))
        with pytest.raises(ParameterError, match="cannot save"):
            model.save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_class_of_ones_own_with_the_name_of_another(self, tmp_path):
        mine = type("MUSAE", (MUSAE,), {"__module__": __name__})
        assert MODELS["MUSAE"] is MUSAE
        with pytest.raises(ParameterError, match="cannot save this MUSAE: another model has that name"):
            mine(8).fit(figure1()).save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
    def test_failure_midway_leaves_the_old_file(self, saved, monkeypatch, failure):
        before = saved.read_bytes()

        def half(path, tensors, metadata):
            path.write_bytes(b"half of it")
            raise failure

        monkeypatch.setattr(files, "write_tensors", half)
        with pytest.raises(type(failure)):
            DeepWalk(8).fit(figure1()).save(saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    def test_folder_that_is_not_there(self, tmp_path):
        with pytest.raises(OutputError, match="no folder"):
            MUSAE(8).fit(figure1()).save(tmp_path / "nowhere" / "m")


class TestRefusals:
    def test_missing(self, saved):
        with pytest.raises(FileNotFoundError, match=r"did you mean .*good\.safetensors") as caught:
            load_model(saved.with_name("god.safetensors"))
        assert isinstance(caught.value, HopscaleError)

    def test_folder(self, tmp_path):
        assert "folder" in refusal(tmp_path)

    @pytest.mark.parametrize("size", [0, 5, 40, 300, -1])
    def test_truncated(self, saved, size):
        saved.write_bytes(saved.read_bytes()[:size])
        assert "not a complete safetensors file" in refusal(saved)

    @pytest.mark.parametrize("content", [b"id_1,id_2\n0,1\n", b"\x89PNG" + bytes(range(256)), b"\0" * 64])
    def test_other_file(self, saved, content):
        saved.write_bytes(content)
        assert "not a complete safetensors file" in refusal(saved)

    @pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
    def test_foreign_safetensors(self, saved, metadata):
        save_file({"weight": np.zeros((2, 3), np.float32)}, saved, metadata=metadata)
        assert "not a model that hopscale has saved" in refusal(saved)

    def test_newer_format(self, saved):
        found = refusal(spoilt(saved, format_version="4", hopscale_version="9.0"))
        assert "upgrade hopscale (written by hopscale 9.0, this is" in found
        for version in ("one", "", "-1", "9" * 5000):
            assert "not a number" in refusal(spoilt(saved, format_version=version))

    def test_class_is_looked_up_not_imported(self, saved):
        for name in ("os.system", "NodeEmbedding", "hopscale.models.MUSAE"):
            assert repr(name) in refusal(spoilt(saved, model=name))

    @pytest.mark.parametrize(
        ("name", "array"),
        [
            ("embedding", np.zeros((11, 7), np.float32)),
            ("embedding", np.zeros((12, 8), np.float32)),
            ("embedding", np.zeros((11, 8), np.float64)),
            ("embedding", np.full((11, 8), np.nan, np.float32)),
            ("feature_embedding", np.zeros((4, 8), np.int32)),
            ("feature_embedding", np.full((4, 8), np.inf, np.float32)),
            ("feature_probability", np.zeros((4, 5))),
            ("feature_probability", np.full((4, 4), np.nan)),
            ("singular_values", np.zeros(9)),
            ("singular_values", np.full(8, np.inf)),
            ("node_ids", np.arange(11.0)),
            ("node_ids", np.arange(10)),
            ("node_ids", np.zeros(11, np.int64)),
            ("node_ids", np.frombuffer(b'["a", "b"', np.uint8)),
            ("node_ids", np.frombuffer(b"[null, {}]", np.uint8)),
            ("node_ids", np.frombuffer(b"7", np.uint8)),
            ("node_ids", np.frombuffer(b"\xff\xfe\xff", np.uint8)),
            ("node_ids", np.frombuffer(b"[" * 100_000, np.uint8)),
            ("feature_names", np.frombuffer(b'["a", "a", "b", "c"]', np.uint8)),
            ("feature_names", np.zeros((2, 2), np.int64)),
        ],
    )
    def test_wrong_tensor(self, saved, name, array):
        found = refusal(spoilt(saved, tensors={name: array}))
        assert name in found or "embedding" in found  # too few names show in the first tensor that has rows

    @pytest.mark.parametrize("name", ["embedding", "feature_embedding", "feature_probability", "node_ids"])
    def test_missing_tensor(self, saved, name):
        assert f"no tensor {name!r}" in refusal(spoilt(saved, drop=[name]))

    @pytest.mark.parametrize("name", ["model", "parameters", "scales", "solver", "seed"])
    def test_missing_metadata(self, saved, name):
        assert f"no {name!r}" in refusal(spoilt(saved, drop=[name]))

    @pytest.mark.parametrize(
        "metadata",
        [
            {"parameters": "{"},
            {"parameters": "[]"},
            {"parameters": '{"window": [1]}'},
            {"parameters": '{"colour": 1}'},
            {"scales": "[]"},
            {"scales": "3"},
            {"scales": '[{"hops": [], "dimensions": 8}]'},
            {"scales": '[{"hops": [1], "dimensions": -8}]'},
            {"scales": '[{"hops": [1], "dimensions": 4}, {"hops": [1], "dimensions": 4}]'},
            {"scales": '[{"hops": [10000000000], "dimensions": 8}]'},
            {"scales": '[{"hops": [31], "dimensions": 8}]'},  # no bit of a kernel's mask
            {"scales": '[{"hops": [2, 1], "dimensions": 8}]'},
            {"scales": '[{"hops": [1, 1, 2], "dimensions": 8}]'},
            {"scales": '[{"hops": [1], "dimensions": 7}]'},
            {"scales": '["ab"]'},
            {"parameters": '{"solver": {"name": "svd"}}'},
            {"parameters": '{"solver": {"name": "pmi", "epochs": 1}}'},
            {"parameters": '{"solver": {"name": "pmi", "shift": 0}}'},
            {"parameters": '{"solver": {"name": "pmi", "rows": {}}}'},
            {"parameters": '{"solver": {}}'},
            {"parameters": '{"window": -1}'},
        ],
    )
    def test_wrong_metadata(self, saved, metadata):
        refusal(spoilt(saved, **metadata))

    def test_any_flipped_byte_is_refused_or_harmless(self, saved):
        """No damage may end in anything but a model or a FileFormatError."""
        good, random = saved.read_bytes(), np.random.default_rng(0)
        for position in random.integers(len(good), size=300):
            spoiled = bytearray(good)
            spoiled[position] ^= int(random.integers(1, 256))
            saved.write_bytes(spoiled)
            with contextlib.suppress(FileFormatError):
                assert isinstance(load_model(saved), NodeEmbedding)


def test_new_file_obeys_the_umask(saved):
    plain = saved.with_name("plain")
    plain.write_bytes(b"")
    assert saved.stat().st_mode == plain.stat().st_mode


def test_saving_over_a_file_keeps_its_permissions(saved):
    saved.chmod(0o640)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HopscaleWarning)
        MUSAE(8).fit(erdos_renyi(32, 2, n_features=8, features_per_node=2)).save(saved)
    assert oct(saved.stat().st_mode)[-3:] == "640"
    assert re.match(r"MUSAE\(", repr(load_model(saved)))
