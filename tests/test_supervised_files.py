"""Files of predictors: every answer the same to the bit, every damaged or false file refused by name."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from model_files import assert_same, refusal, spoilt, words_of
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from test_model_damage import signed

from hopscale import (
    AE,
    GCN,
    MUSAE,
    PMI,
    SGNS,
    AttributedGraph,
    DeepWalk,
    GraphClassifier,
    GraphRegressor,
    from_tables,
    load_model,
    models,
)
from hopscale.datasets import planted_blocks
from hopscale.exceptions import FileFormatError, GraphError, HopscaleError, NotInductiveError, ParameterError
from hopscale.supervised.inputs import Design

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

SMALL = {"embedder": AE(8, window=2), "folds": 2, "landmarks": 20}
TRAIN = np.arange(0, 60, 2)
CHOICES = {
    "logistic on vectors": GraphClassifier(head="logistic", inputs="vectors", **SMALL),
    "logistic on features": GraphClassifier(head="logistic", inputs="features", **SMALL),
    "logistic on both": GraphClassifier(head="logistic", inputs="both", **SMALL),
    "kernel on vectors": GraphClassifier(head="kernel", inputs="vectors", **SMALL),
    "kernel on features": GraphClassifier(head="kernel", inputs="features", **SMALL),
    "kernel on both": GraphClassifier(head="kernel", inputs="both", **SMALL),
    "not smoothed": GraphClassifier(smooth=False, **SMALL),
    "elastic net": GraphRegressor(head="elastic-net", **SMALL),
    "values by kernel on vectors": GraphRegressor(head="kernel", inputs="vectors", **SMALL),
    "values by kernel on features": GraphRegressor(head="kernel", inputs="features", **SMALL),
    "values by kernel on both": GraphRegressor(head="kernel", inputs="both", **SMALL),
}


@pytest.fixture(scope="module")
def graph():
    return planted_blocks(60, n_features=30, random_state=0)


@pytest.fixture(scope="module")
def other():
    return planted_blocks(40, n_features=30, random_state=1)


def fitted(model, graph):
    values = np.asarray(graph.labels) + np.arange(graph.n_nodes) / 100
    return clone(model).fit(graph, values if isinstance(model, GraphRegressor) else None, train=TRAIN)


@cache
def bytes_of(name):
    """The file of a model of CHOICES."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "m")
        fitted(CHOICES[name], planted_blocks(60, n_features=30, random_state=0)).save(path)
        return path.read_bytes()


def saved_choice(name, folder):
    path = folder / "chosen.safetensors"
    path.write_bytes(bytes_of(name))
    return path


@pytest.fixture
def saved(tmp_path):
    """Path of a good file, to be spoilt."""
    return saved_choice("logistic on both", tmp_path)


def assert_same_parts(before, after):
    """The same attributes of inputs or heads, to the bit."""
    assert type(before) is type(after)
    for name, value in vars(before).items():
        found = getattr(after, name)
        if isinstance(value, Design):
            assert_same(value.dense, found.dense)
            np.testing.assert_array_equal(value.sparse.toarray(), found.sparse.toarray())
        else:
            assert_same(value, found)


class TestRoundTrip:
    @pytest.mark.parametrize("name", CHOICES)
    def test_every_answer(self, tmp_path, graph, other, name):
        model = fitted(CHOICES[name], graph)
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert type(again) is type(model)
        for of in (None, other, graph):
            assert_same(model.predict(of), again.predict(of))
            if isinstance(model, GraphClassifier):
                assert_same(model.predict_proba(of), again.predict_proba(of))
        for attribute in ("node_ids_", "train_", "feature_names_", "outputs_"):
            assert_same(getattr(model, attribute), getattr(again, attribute))
        assert_same_parts(model.inputs_, again.inputs_)
        assert_same_parts(model.head_, again.head_)
        assert model.report_.candidates == again.report_.candidates
        assert str(model.report_) == str(again.report_)
        assert model.score(other, other.labels) == again.score(other, other.labels)

    @pytest.mark.parametrize("name", ["logistic on both", "logistic on features", "elastic net"])
    def test_explanations(self, tmp_path, graph, other, name):
        model = fitted(CHOICES[name], graph)
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        for node in (0, 7):
            before, after = (each.explain_prediction(node, graph=other) for each in (model, again))
            assert vars(before) == vars(after)
        with pytest.raises(GraphError, match="pass it"):
            again.explain_prediction(0)

    @pytest.mark.parametrize("name", ["logistic on both", "kernel on both", "elastic net"])
    def test_the_bytes_are_the_same_at_each_save(self, tmp_path, name):
        path = saved_choice(name, tmp_path)
        load_model(path).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()

    def test_the_bytes_are_the_same_in_every_process(self, tmp_path):
        program = (
            "import sys, hopscale; graph = hopscale.load('planted-blocks', n_nodes=60);"
            "model = hopscale.GraphClassifier(embedder=hopscale.AE(8), folds=2).fit(graph, train=range(30));"
            "model.save(sys.argv[1])"
        )
        for seed in ("0", "1"):
            command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / seed)]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()

    @pytest.mark.parametrize(
        "classes",
        [
            ["tea", "go", 'größer, "mehr"'],
            [3, 1, 7],
            [True, False],
            [0.5, 1.5, 2.0],
            [("a", 1), ("b", 2)],
            ["x", 1, 2.5],
        ],
        ids=["text", "whole", "booleans", "numbers", "tuples", "mixed"],
    )
    def test_names_of_classes(self, tmp_path, graph, classes):
        labels = np.empty(graph.n_nodes, dtype=object)
        labels[:] = [classes[i % len(classes)] for i in np.asarray(graph.labels).tolist()]
        plain = np.array(labels.tolist()) if len({type(name) for name in classes} - {tuple}) == 1 else labels
        for y in (labels, plain) if not isinstance(classes[0], tuple) else (labels,):
            model = GraphClassifier(**SMALL).fit(graph, y, train=TRAIN)
            model.save(tmp_path / "m")
            again = load_model(tmp_path / "m")
            assert_same(again.classes_, model.classes_)
            assert list(map(type, again.classes_.tolist())) == list(map(type, model.classes_.tolist()))
            assert_same(again.predict(), model.predict())

    @pytest.mark.parametrize("kind", ["uint8", "int32", "float32"])
    def test_types_of_classes(self, tmp_path, graph, kind):
        labels = (np.asarray(graph.labels) + (0.5 if kind == "float32" else 0)).astype(kind)
        model = GraphClassifier(**SMALL).fit(graph, labels, train=TRAIN)
        model.save(tmp_path / "m")
        assert load_model(tmp_path / "m").classes_.dtype == model.classes_.dtype == np.dtype(kind)

    def test_names_of_nodes_and_features(self, tmp_path, graph):
        named = AttributedGraph(
            graph.adjacency,
            graph.features,
            node_ids=[f"n{i}" if i % 2 else (i, "x") for i in range(60)],
            feature_names=[f"f{i}" for i in range(30)],
            labels=graph.labels,
        )
        model = fitted(CHOICES["logistic on both"], named)
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert again.node_ids_.tolist() == model.node_ids_.tolist()
        assert_same(model.predict_proba(), again.predict_proba())
        equal = AttributedGraph(
            graph.adjacency, graph.features, node_ids=named.node_ids, feature_names=named.feature_names
        )
        assert_same(model.predict_proba(equal), again.predict_proba(equal))

    def test_parameters(self, tmp_path, graph):
        embedder = MUSAE(8, window=2, solver=PMI(shift=2.0))
        model = GraphClassifier(
            embedder=embedder, inputs="both", folds=3, landmarks=9, smooth=False, random_state=7, n_jobs=1
        ).fit(graph, train=TRAIN)
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        before, after = model.get_params(), again.get_params()
        assert {key: str(value) for key, value in before.items()} == {key: str(value) for key, value in after.items()}
        assert isinstance(again.embedder.solver, PMI)
        assert_same(clone(again).fit(graph, train=TRAIN).outputs_, model.outputs_)

    def test_a_seed_that_is_no_number_is_forgotten(self, tmp_path, graph):
        GraphClassifier(**SMALL, random_state=np.random.default_rng(0)).fit(graph, train=TRAIN).save(tmp_path / "m")
        assert load_model(tmp_path / "m").random_state is None

    def test_embedders_that_cannot_embed_others(self, tmp_path, graph, other):
        model = GraphClassifier(embedder=DeepWalk(8), inputs="vectors", folds=2).fit(graph, train=TRAIN)
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert_same(model.predict_proba(), again.predict_proba())
        with pytest.raises(NotInductiveError, match="DeepWalk cannot embed other nodes"):
            again.predict(other)

    def test_a_kept_graph_explains(self, tmp_path, graph):
        kept = GraphClassifier(embedder=AE(8, keep_graph=True), head="logistic", inputs="both", folds=2)
        kept.fit(graph, train=TRAIN).save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert again.explain_prediction(7).parts == kept.explain_prediction(7).parts
        assert again.score(y=graph.labels) == kept.score()

    @pytest.mark.parametrize("inputs", ["features", "both"])
    def test_of_a_node_table(self, tmp_path, inputs):
        random = np.random.default_rng(0)
        edges = pd.DataFrame(random.integers(0, 40, (160, 2)), columns=["from", "to"])
        people = pd.DataFrame({"id": range(40), "town": random.choice(["Bonn", "Oslo", "Rome"], 40), "age": range(40)})
        people["team"] = np.where(people.town == "Rome", "red", "blue")
        graph = from_tables(edges, nodes=people, label_column="team")
        model = GraphClassifier(embedder=AE(4), inputs=inputs, folds=2).fit(graph, train=np.arange(30))
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        new = from_tables(edges + 0, nodes=people.drop(columns="team").iloc[::-1], encoder=again.encoder_)
        assert_same(model.predict_proba(new), again.predict_proba(new))

    def test_models_that_learn_vectors_are_loaded_as_before(self, tmp_path, graph):
        AE(8).fit(graph).save(tmp_path / "m")
        assert isinstance(load_model(tmp_path / "m"), AE)
        assert load_model is models.load_model


class TestSaving:
    def test_before_a_fit(self, tmp_path):
        with pytest.raises(NotFittedError):
            GraphClassifier().save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_networks_are_refused(self, tmp_path):
        with pytest.raises(ParameterError, match="a GCN cannot be saved: models with files are GraphClassifier"):
            GCN().save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_classes_that_files_cannot_hold(self, tmp_path, graph):
        labels = pd.to_datetime(np.asarray(graph.labels), unit="D").to_pydatetime()
        model = GraphClassifier(**SMALL).fit(graph, labels.astype(object), train=TRAIN)
        with pytest.raises(ParameterError, match=r"cannot save the class datetime\.datetime"):
            model.save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_classes_of_others(self, tmp_path, graph):
        class MyClassifier(GraphClassifier):
            pass

        with pytest.raises(ParameterError, match="a MyClassifier of your own"):
            MyClassifier(**SMALL).fit(graph, train=TRAIN).save(tmp_path / "m")

    @pytest.mark.parametrize("inputs", ["features", "vectors"])
    def test_solvers_of_others(self, tmp_path, graph, inputs):
        class MyPMI(PMI):
            pass

        model = GraphClassifier(embedder=AE(8, solver=MyPMI()), inputs=inputs, folds=2).fit(graph, train=TRAIN)
        with pytest.raises(ParameterError, match="a solver of class MyPMI"):
            model.save(tmp_path / "m")

    def test_failure_leaves_the_old_file(self, saved, graph, monkeypatch):
        before = saved.read_bytes()

        def half(path, *_):
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("hopscale.models.files.write_tensors", half)
        with pytest.raises(HopscaleError, match="No space left"):
            fitted(CHOICES["kernel on both"], graph).save(saved)
        assert saved.read_bytes() == before
        assert [file.name for file in saved.parent.iterdir()] == [saved.name]


class TestDamage:
    @pytest.mark.parametrize("name", ["logistic on both", "kernel on both", "elastic net"])
    def test_any_changed_byte_is_refused(self, tmp_path, name):
        path = saved_choice(name, tmp_path)
        whole, random = path.read_bytes(), np.random.default_rng(0)
        header = 8 + int.from_bytes(whole[:8], "little")
        for position in [*random.integers(header, size=60), *random.integers(len(whole), size=60), header - 1, -1]:
            changed = bytearray(whole)
            changed[position] ^= 1 << int(random.integers(8))
            path.write_bytes(changed)
            refusal(path)

    def test_cut_short(self, saved):
        saved.write_bytes(saved.read_bytes()[:-8])
        refusal(saved)

    @pytest.mark.parametrize(
        "name",
        [
            *("node_ids", "feature_names", "outputs", "train", "center", "idf", "weights", "intercepts", "seen"),
            *("classes", "embedder.embedding", "embedder.node_ids", "class_type", "inputs", "head", "report"),
            *("parameters", "temperatures", "embedder.parameters", "embedder.solver", "graph_digest"),
        ],
    )
    def test_without_a_part(self, saved, name):
        assert name.removeprefix("embedder.") in refusal(spoilt(saved, drop=[name]))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("outputs", np.full((60, 3), 0.5)),  # do not add up to one
            ("outputs", np.tile([-1.0, 1.0, 1.0], (60, 1))),
            ("outputs", np.full((60, 2), 0.5)),
            ("outputs", np.full((60, 3), np.nan)),
            ("outputs", np.full((60, 3), 1, np.int64)),
            ("train", np.array([0, 60])),
            ("train", np.array([5, 3])),
            ("train", np.array([3, 3])),
            ("train", np.array([-1, 3])),
            ("train", np.zeros(0, np.int64)),
            ("train", np.zeros((2, 2), np.int64)),
            ("node_ids", np.arange(59)),
            ("node_ids", np.zeros(60, np.int64)),
            ("node_ids", np.arange(60) + 1),  # not those of the embedder
            ("weights", np.full((38, 3), np.inf)),
            ("weights", np.zeros((37, 3))),
            ("seen", np.zeros(3, np.uint8)),
            ("idf", np.full(30, -1.0)),
            ("idf", np.full(30, 1e-200)),  # whose squares are zero
            ("weights", np.full((38, 3), 1e300)),
            ("center", np.zeros(7)),
            ("classes", np.frombuffer(b"[0, 1]", np.uint8)),
            ("classes", np.frombuffer(b"[0, 1, 1]", np.uint8)),
            ("classes", np.frombuffer(b"[0, 1, 1.5]", np.uint8)),
            ("classes", np.frombuffer(b'[0, 1, "x"]', np.uint8)),
            ("classes", np.frombuffer(b"[0, 1, 9999999999999999999999]", np.uint8)),
            ("classes", np.frombuffer(b"[0, 1, null]", np.uint8)),
            ("classes", np.frombuffer(b"[0, 1, NaN]", np.uint8)),
            ("classes", np.frombuffer(b"{}", np.uint8)),
            ("classes", np.frombuffer(b"[" * 9999, np.uint8)),
            ("embedder.embedding", np.zeros((59, 8), np.float32)),
        ],
    )
    def test_tensors_that_cannot_be(self, saved, name, value):
        refusal(spoilt(saved, tensors={name: value}))

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("inputs", {"kind": "vectors"}),
            ("inputs", {"kind": "features"}),
            ("inputs", {"kind": "x"}),
            ("inputs", {"scale": 0.0}),
            ("inputs", {"scale": "1"}),
            ("head", {"kind": "kernel"}),
            ("head", {"kind": "elastic-net"}),
            ("head", {"kind": ["logistic"]}),
            ("head", {"strength": -1}),
            ("head", {"strength": float("nan")}),
            ("head", {"strength": None}),
            ("report", {"candidates": []}),
            ("report", {"candidates": None}),
            ("report", {"candidates": [7]}),
            ("report", {"chosen": {}}),
            ("report", {"baseline": float("inf")}),
            ("report", {"n_folds": 0}),
            ("report", {"n_train": 1.5}),
            ("report", {"more": 1}),
            ("report", {"metric": "r2"}),
            ("report", {"metric": ["accuracy"]}),
            ("parameters", {"folds": 1}),
            ("parameters", {"inputs": "all"}),
            ("parameters", {"head": "elastic-net"}),
            ("parameters", {"landmarks": 1}),
            ("parameters", {"unknown": 1}),
            ("parameters", {"embedder": "AE"}),
            ("parameters", {"embedder": {"model": "AE"}}),
            ("parameters", {"embedder": {"model": "GraphClassifier", "parameters": {}}}),
            ("parameters", {"embedder": {"model": ["AE"], "parameters": {}}}),
            ("parameters", {"embedder": {"model": "AE", "parameters": {"window": -1}}}),
            ("parameters", {"embedder": {"model": "AE", "parameters": {"solver": {"name": "x"}}}}),
        ],
        ids=lambda each: json.dumps(each)[:40] if isinstance(each, dict) else each,
    )
    def test_facts_that_cannot_be(self, saved, name, change):
        found = json.loads(words_of(saved)[name]) | change
        refusal(spoilt(saved, **{name: json.dumps(found)}))

    def test_a_candidate_with_an_unknown_head(self, saved):
        report = json.loads(words_of(saved)["report"])
        report["candidates"].append({**report["candidates"][0], "head": "forest"})
        assert "the head 'forest'" in refusal(spoilt(saved, report=json.dumps(report)))

    def test_a_report_without_a_metric_has_that_of_the_model(self, saved):
        report = json.loads(words_of(saved)["report"])
        assert report.pop("metric") == "accuracy"
        assert load_model(spoilt(saved, report=json.dumps(report))).report_.metric == "accuracy"

    @pytest.mark.parametrize("value", ["[1.0]", "[1.0, 0.0]", "[1.0, NaN]", "1.0", '["a", "b"]', "[1.0, true]"])
    def test_temperatures_that_cannot_be(self, saved, value):
        assert "temperatures" in refusal(spoilt(saved, temperatures=value))

    @pytest.mark.parametrize("kind", ['"float16"', '"datetime64[s]"', '"bool"', '"str"', "7", "[]", '"uint8 "'])
    def test_types_of_classes_that_cannot_be(self, saved, kind):
        tensors = {"classes": np.frombuffer(b"[0, 1, 300]", np.uint8)}
        assert "class" in refusal(spoilt(saved, class_type=kind, tensors=tensors))

    def test_an_embedder_inside_an_embedder_is_no_predictor(self, saved):
        assert "unknown here" in refusal(spoilt(saved, **{"embedder.model": "GraphClassifier"}))

    @pytest.mark.parametrize(
        "tensors",
        [
            {"landmark_indices": 99},
            {"landmark_indices": -1},
            {"landmark_indptr": -1},
            {"landmark_indptr": 10**6},
            {"landmark_data": np.nan},
            {"coefficients": np.inf},
            {"landmarks": np.nan},
        ],
        ids=str,
    )
    def test_landmarks_that_cannot_be(self, tmp_path, tensors):
        path = saved_choice("kernel on both", tmp_path)
        [(name, value)] = tensors.items()
        array = load_file(path)[name].copy()
        array.flat[1] = value
        refusal(spoilt(path, tensors={name: array}))

    @pytest.mark.parametrize("name", ["logistic on both", "kernel on both", "elastic net"])
    def test_header_edits_end_in_an_error_or_in_finite_answers(self, tmp_path, other, name):
        path = saved_choice(name, tmp_path)
        whole, random = path.read_bytes(), np.random.default_rng(1)
        words = ["-1", "0", "1e308", "NaN", "null", "true", str(2**62), '"x"', "[]", "{}", "1e-320", "9" * 400]
        header = 8 + int.from_bytes(whole[:8], "little")
        loaded = 0
        for _ in range(150):
            entries = json.loads(whole[8:header])
            facts = entries["__metadata__"]
            fact = str(random.choice(sorted(set(facts) - {"sha256", "format", "format_version"})))
            digits = [at for at, sign in enumerate(facts[fact]) if sign.isdigit()] or [0]
            at = int(random.choice(digits))
            facts[fact] = facts[fact][:at] + str(random.choice(words)) + facts[fact][at + 1 :]
            path.write_bytes(signed(entries, whole[header:]))
            try:
                model = load_model(path)
            except FileFormatError:
                continue
            loaded += 1
            assert np.isfinite(model.outputs_).all()
            with contextlib.suppress(HopscaleError), np.errstate(all="ignore"):
                model.predict(other)
        assert loaded  # some edits are harmless, or the digest was never right


class TestEmbedders:
    @pytest.mark.parametrize("embedder", [MUSAE(8), AE(8, solver=SGNS(epochs=1, walk_length=8, walks_per_node=1))])
    def test_of_other_kinds(self, tmp_path, graph, other, embedder):
        model = GraphClassifier(embedder=embedder, inputs="vectors", head="logistic", folds=2).fit(graph, train=TRAIN)
        model.save(tmp_path / "m")
        again = load_model(tmp_path / "m")
        assert_same(model.predict_proba(other), again.predict_proba(other))
        assert_same(again.embedder_.embedding_, model.embedder_.embedding_)
