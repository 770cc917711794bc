"""The page on adding a method: its code runs, and its methods are models like any other."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from model_files import assert_same, words_of
from sklearn.base import clone

from hopscale import datasets, load_model
from hopscale.exceptions import FileFormatError, NotInductiveError, ParameterError
from hopscale.models import MODELS, save_model
from reference import parameters, transition

pytestmark = pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")

PAGE = Path(__file__).parents[1] / "docs" / "adding-a-method.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
NAMES = ["NearFar", "Wanderer", "TwoStepWalk"]

every_method = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module", name="page")
def executed(tmp_path_factory):
    """What the page's code defines, as a module of somebody else's; the registry is put back as it was."""
    module, known = ModuleType("somebody_elses"), dict(MODELS)
    sys.modules[module.__name__] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for block in BLOCKS:
            exec(compile(block, PAGE.name, "exec"), vars(module))
    yield module
    MODELS.clear()
    MODELS.update(known)
    del sys.modules[module.__name__]


def test_a_method_of_walks_is_short():
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert "class NearFar" in BLOCKS[0]
    assert len(lines) < 15


def test_what_the_page_says_is_so(page):
    np.testing.assert_allclose(page.placed, page.model.embedding_, atol=1e-5)
    np.testing.assert_array_equal(page.again.embedding_, page.model.embedding_)
    assert page.trained.embedding_.any()
    assert not np.array_equal(page.outward.embedding_, page.MUSAE(dimensions=16).fit_transform(page.graph))
    assert page.vectors.shape == (60, 8)


def test_near_and_far_are_the_scales(page):
    """What each block learns from is the mean over its hops: the same as those scales of models that we know."""
    graph = datasets.planted_blocks(n_nodes=60)
    model = page.NearFar(300, window=3).fit(graph)
    near = page.MUSAE(4 * 100, window=3).fit(graph)
    products = [m.node_vectors(1).astype(float) @ m.feature_vectors(1).T for m in (model, near)]
    np.testing.assert_allclose(*products, atol=1e-4)
    P = transition(graph.adjacency.toarray().astype(float))
    F, degrees = graph.features.toarray().astype(float), graph.degrees
    seen = (P @ P @ F + P @ P @ P @ F) / 2
    common = degrees @ F / degrees.sum()
    ratio = np.divide(seen, common, out=np.zeros_like(seen), where=common > 0)
    far = model.node_vectors("2-3").astype(float) @ model.feature_vectors("2-3").T
    np.testing.assert_allclose(far, np.log(np.maximum(ratio, 1)), atol=1e-4)


def test_two_step_walks_are_what_the_page_says(page):
    graph = datasets.planted_blocks(n_nodes=60)
    P = transition(graph.adjacency.toarray().astype(float))
    u, s, _ = np.linalg.svd((P + P @ P) / 2)
    found = page.TwoStepWalk(60).fit_transform(graph).astype(float)
    np.testing.assert_allclose(found @ found.T, (u * s) @ u.T, atol=1e-3)


@every_method
class TestEveryMethodOfThePage:
    def fitted(self, page, name):
        changed = {"q": 0.25} if name == "Wanderer" else {}
        return getattr(page, name)(12, **changed).fit(datasets.planted_blocks(n_nodes=60))

    def test_is_registered(self, page, name):
        assert MODELS[name] is getattr(page, name)
        assert MODELS[name].__module__ == "somebody_elses"

    def test_is_an_estimator(self, page, name):
        model = self.fitted(page, name)
        assert parameters(clone(model)) == parameters(model)
        assert repr(model).startswith(f"{name}(dimensions=12")
        with pytest.raises(ParameterError, match=r"^dimensions\b"):
            MODELS[name](dimensions=-1).fit(datasets.planted_blocks(n_nodes=60))

    def test_places_new_nodes_if_it_can(self, page, name):
        graph, model = datasets.planted_blocks(n_nodes=60), self.fitted(page, name)
        assert model.inductive is (name != "TwoStepWalk")
        if model.inductive:
            np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-5)
        else:
            with pytest.raises(NotInductiveError):
                model.transform(graph)

    def test_is_saved_and_loaded(self, page, name, tmp_path):
        graph, model, path = datasets.planted_blocks(n_nodes=60), self.fitted(page, name), tmp_path / "m.safetensors"
        save_model(model, path)
        assert words_of(path)["model"] == name
        again = load_model(path)
        assert type(again) is type(model)
        assert parameters(again) == parameters(model)
        for attribute in (attribute for attribute in vars(model) if attribute.endswith("_")):
            assert_same(getattr(model, attribute), getattr(again, attribute))
        if model.inductive:
            np.testing.assert_array_equal(again.transform(graph), model.transform(graph))

    def test_is_refused_by_name_where_it_is_not_known(self, page, name, tmp_path, monkeypatch):
        path = tmp_path / "m.safetensors"
        self.fitted(page, name).save(path)
        monkeypatch.delitem(MODELS, name)
        with pytest.raises(FileFormatError, match=f"a model of class '{name}', which is unknown here: import"):
            load_model(path)

    def test_the_latest_class_of_a_name_counts(self, page, name, monkeypatch):
        """So that a module can be run again; but a model of the library keeps its name."""
        monkeypatch.setitem(MODELS, name, MODELS[name])  # put back afterwards
        again = type(name, (MODELS[name],), {"__module__": "somebody_elses"})
        assert MODELS[name] is again
        ours = MODELS["AE"]
        assert type("AE", (ours,), {"__module__": "somebody_elses"}) is not MODELS["AE"]
        assert MODELS["AE"] is ours


def test_a_base_class_is_not_registered(page):
    type("Base", (page.WalkEmbedding,), {}, abstract=True)
    assert "Base" not in MODELS
