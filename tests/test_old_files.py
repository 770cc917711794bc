"""Files that age well: those of format 1, and those that lack or have a parameter that this version has not.

The files in ``data/format-1`` were written by the version that had that format, each from a fit on figure1.
"""

import contextlib
import json
from importlib.metadata import version
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
from model_files import assert_same, refusal, spoilt, words_of
from safetensors.numpy import load_file

from hopscale import AE, HOPE, LINE, MUSAE, PMI, SGNS, GraRep, Node2Vec, datasets, load_model
from hopscale.exceptions import FileFormatError
from hopscale.models import NodeEmbedding
from reference import parameters

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

FOLDER = Path(__file__).parent / "data" / "format-1"
MODELS = {
    "musae-pmi": MUSAE(8, solver=PMI(shift=2.0, rows="exact", memory_limit="1GiB", walks=400)),
    "musae-sgns": MUSAE(8, self_scale=False, solver=SGNS(epochs=2, walks_per_node=3, negatives=4)),
    "ae-ego": AE(8, ego=True, solver=PMI()),
    "node2vec": Node2Vec(4, window=3, p=0.5, q=2.0, solver=PMI(walks=100)),
    "grarep": GraRep(8, window=2, solver=PMI(shift=1.5)),
    "line": LINE(4, solver=SGNS(epochs=2, walks_per_node=2, noise_exponent=0.75)),
    "hope": HOPE(4, proximity="katz"),
}
OF_WALKS = sorted(set(MODELS) - {"line", "hope"})

every_file = pytest.mark.parametrize("name", MODELS)


@pytest.fixture
def old(tmp_path, name):
    """Path of a copy of the file, to be spoilt."""
    return Path(copy(FOLDER / f"{name}.safetensors", tmp_path))


@pytest.fixture
def new(tmp_path):
    """Path of a file as this version writes it."""
    path = tmp_path / "new.safetensors"
    MUSAE(8).fit(datasets.figure1()).save(path)
    return path


def changed(path, entry, drop=(), **settings):
    """The file with some settings in an entry of its metadata changed or dropped."""
    found = json.loads(words_of(path)[entry])
    kept = {key: value for key, value in {**found, **settings}.items() if key not in drop}
    return spoilt(path, **{entry: json.dumps(kept)})


class TestFormat1:
    def test_every_file_is_there(self):
        assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(MODELS)

    @every_file
    def test_is_the_model_that_was_saved(self, old, name):
        model, tensors = load_model(old), load_file(old)
        assert words_of(old)["format_version"] == "1"
        assert type(model) is type(MODELS[name])
        assert parameters(model) == parameters(MODELS[name])
        np.testing.assert_array_equal(model.embedding_, tensors["embedding"])
        np.testing.assert_array_equal(model.feature_embedding_, tensors["feature_embedding"])
        assert model.node_ids_.tolist() == list("ABCDEFGHIJK")
        assert len(model.get_feature_names_out()) == model.dimensions
        longest = model.node_ids_[np.linalg.norm(model.embedding_, axis=1).argmax()]
        assert model.neighbors(longest, k=1)[0][0] in model.node_ids_

    @pytest.mark.parametrize("name", OF_WALKS)
    def test_keeps_the_solver_that_the_model_was_fitted_with(self, old, name):
        model, words, tensors = load_model(old), words_of(old), load_file(old)
        wanted = parameters(MODELS[name].solver)
        if "memory_limit" in wanted:
            wanted["memory_limit"] = 2**30 if name == "musae-pmi" else 4 * 2**30
        assert parameters(model.solver_) == wanted
        assert model.seed_ == 0
        assert model.rows_ == json.loads(words["rows"])
        for solution, entry in zip(model.solutions_, json.loads(words["scales"]), strict=True):
            assert (list(solution.scale.hops), solution.sampled) == (entry["hops"], entry["sampled"])
        np.testing.assert_array_equal(model.feature_probability_, tensors["feature_probability"])
        if "singular_values" in tensors:
            np.testing.assert_array_equal(model.singular_values_, tensors["singular_values"])
        else:
            assert model.singular_values_ is None

    @pytest.mark.parametrize("name", ["musae-pmi"])
    def test_places_its_graph_where_it_was(self, old):
        model = load_model(old)
        np.testing.assert_allclose(model.transform(datasets.figure1()), model.embedding_, atol=1e-5)

    @pytest.mark.parametrize("name", ["musae-sgns"])
    def test_learns_with_the_parameters_that_it_had(self, old):
        """As training is today: what is drawn for a pair has changed since the file was written."""
        model = load_model(old)
        new = type(model)(**model.get_params(deep=False))
        np.testing.assert_array_equal(model.fit(datasets.figure1()).embedding_, new.fit(datasets.figure1()).embedding_)

    @every_file
    def test_is_saved_in_the_format_of_today(self, old, name):
        model, again = load_model(old), old.with_name("again.safetensors")
        model.save(again)
        words = words_of(again)
        assert (words["format_version"], words["hopscale_version"]) == ("3", version("hopscale"))
        loaded = load_model(again)
        assert type(loaded) is type(model)
        assert parameters(loaded) == parameters(model)
        fitted = {attribute for attribute in vars(model) if attribute.endswith("_")}
        assert fitted == {attribute for attribute in vars(loaded) if attribute.endswith("_")}
        for attribute in fitted:
            assert_same(getattr(model, attribute), getattr(loaded, attribute))

    @every_file
    def test_damage_is_refused_or_harmless(self, old):
        good, random = old.read_bytes(), np.random.default_rng(0)
        for position in random.integers(len(good), size=150):
            bad = bytearray(good)
            bad[position] ^= int(random.integers(1, 256))
            old.write_bytes(bad)
            with contextlib.suppress(FileFormatError):
                assert isinstance(load_model(old), NodeEmbedding)

    @every_file
    @pytest.mark.parametrize("entry", ["model", "parameters", "scales", "solver", "rows", "blocks"])
    def test_metadata_that_make_no_sense(self, old, entry):
        for junk in ("", "[]", "{}", "null", "7", '"text"', "[[]]", "[{}]", '[{"hops": []}]', '{"name": ["pmi"]}'):
            with contextlib.suppress(FileFormatError):
                assert isinstance(load_model(spoilt(old, **{entry: junk})), NodeEmbedding), junk

    @every_file
    def test_parameters_that_make_no_sense(self, old):
        text = words_of(old)["parameters"]
        for key, value in json.loads(text).items():
            for junk in ([], {}, [1], "text", -1, None, 1e400, type(value)()):
                wrong = json.dumps({**json.loads(text), key: junk})
                with contextlib.suppress(FileFormatError):
                    assert isinstance(load_model(spoilt(old, parameters=wrong)), NodeEmbedding), (key, junk)
            lost = json.dumps({other: kept for other, kept in json.loads(text).items() if other != key})
            with contextlib.suppress(FileFormatError):
                assert isinstance(load_model(spoilt(old, parameters=lost)), NodeEmbedding), key


class TestUnknownParameters:
    VERSIONS = rf"(written by hopscale 7.8.9, this is {version('hopscale')})"

    @every_file
    def test_of_a_model_in_format_1(self, old, name):
        found = refusal(spoilt(changed(old, "parameters", colour=1), hopscale_version="7.8.9"))
        assert f"{type(MODELS[name]).__name__} has no parameter 'colour' in this version {self.VERSIONS}" in found

    def test_of_a_model(self, new):
        found = refusal(spoilt(changed(new, "parameters", colour=1, depth=2), hopscale_version="7.8.9"))
        assert f"MUSAE has no parameter 'colour', 'depth' in this version {self.VERSIONS}" in found

    def test_of_a_solver(self, new):
        text = json.dumps({"dimensions": 8, "solver": {"name": "pmi", "colour": 1}})
        found = refusal(spoilt(new, parameters=text, hopscale_version="7.8.9"))
        assert f"PMI has no parameter 'colour' in this version {self.VERSIONS}" in found

    def test_of_the_solver_that_it_was_fitted_with(self, new):
        found = refusal(spoilt(changed(new, "solver", colour=1), hopscale_version="7.8.9"))
        assert f"PMI has no parameter 'colour' in this version {self.VERSIONS}" in found


class TestLackingParameters:
    """A file of before a parameter existed gets its default, or else what ``settings_before`` says it was."""

    def test_of_a_model(self, new, monkeypatch):
        changed(new, "parameters", drop=["window", "self_scale"])
        assert parameters(load_model(new)) == parameters(MUSAE(8))
        monkeypatch.setattr(MUSAE, "settings_before", {"self_scale": False})
        model = load_model(new)
        assert (model.self_scale, model.window) == (False, 3)

    def test_what_the_file_says_comes_first(self, new, monkeypatch):
        monkeypatch.setattr(MUSAE, "settings_before", {"self_scale": False, "window": 2})
        monkeypatch.setattr(PMI, "settings_before", {"shift": 4.0})
        model = load_model(new)
        assert (model.self_scale, model.window, model.solver_.shift) == (True, 3, 1.0)

    def test_of_a_solver(self, new, monkeypatch):
        spoilt(new, parameters=json.dumps({"dimensions": 8, "solver": {"name": "pmi", "walks": 5}}))
        assert parameters(load_model(new).solver) == parameters(PMI(walks=5))
        monkeypatch.setattr(PMI, "settings_before", {"shift": 4.0})
        assert parameters(load_model(new).solver) == parameters(PMI(walks=5, shift=4.0))

    def test_of_the_solver_that_it_was_fitted_with(self, new, monkeypatch):
        changed(new, "solver", drop=["shift"])
        assert load_model(new).solver_.shift == 1.0
        monkeypatch.setattr(PMI, "settings_before", {"shift": 4.0})
        assert load_model(new).solver_.shift == 4.0

    @pytest.mark.parametrize("name", ["musae-pmi"])
    def test_in_format_1(self, old, monkeypatch):
        changed(old, "parameters", drop=["self_scale", "shift"])
        changed(old, "solver", drop=["shift"])
        model = load_model(old)
        assert (model.self_scale, model.solver.shift, model.solver_.shift) == (True, 1.0, 1.0)
        monkeypatch.setattr(MUSAE, "settings_before", {"self_scale": False})
        monkeypatch.setattr(PMI, "settings_before", {"shift": 4.0})
        model = load_model(old)
        assert (model.self_scale, model.solver_.shift, model.solver.shift) == (False, 4.0, 4.0)
