"""The explorer's page as a file: what it holds is what the model has; and its errors."""

import base64
import html.parser
import json
import re
import zlib

import numpy as np
import pytest

import hopscale
from hopscale import MUSAE, AttributedGraph, DeepWalk, datasets
from hopscale.compute.threads import Threads
from hopscale.exceptions import GraphError, HopscaleWarning, OutputError, ParameterError
from hopscale.explore import explorer, page_file, write_explorer
from hopscale.explore.blocks import Blocks
from hopscale.explore.layout import node_positions
from hopscale.explore.quantized import byte_vectors, coded_vectors, grid_positions

ATTACK = "</script><img src=x onerror=alert(1)>"


class Reader(html.parser.HTMLParser):
    """Elements of a page that browsers would run, show or request."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.tags, self.addresses = {}, [], []
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.tags.append(tag)
        self.addresses += [known[name] for name in ("src", "href", "action", "data") if name in known]
        self._inside = known.get("id", "script") if tag == "script" else None

    def handle_data(self, text):
        if self._inside:
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + text

    def handle_endtag(self, tag):
        self._inside = None


class Decoded:
    """A page's facts and arrays."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.elements = Reader(self.text)
        self.facts = json.loads(self.elements.scripts["facts"])

    def __getitem__(self, name):
        facts = self.facts["blocks"][name]
        raw = base64.b64decode(self.elements.scripts[f"block-{name}"])
        raw = zlib.decompress(raw) if facts["packed"] else raw
        return json.loads(raw) if facts["type"] == "json" else np.frombuffer(raw, dtype=facts["type"])

    def names(self, name):
        if self.facts["blocks"][name]["type"] == "json":
            return self[name]
        return (self.facts["blocks"][name]["start"] + np.cumsum(self[name])).tolist()

    def vectors(self, what):
        scales = self.facts["scales"]
        factors = (self[f"{what}-factors"].astype(np.uint32) << np.uint32(16)).view(np.float32)
        factors = factors.reshape(-1, len(scales))
        vectors = self[f"{what}-vectors"].reshape(len(factors), -1).astype(np.float64)
        for at, scale in enumerate(scales):
            vectors[:, scale["begin"] : scale["begin"] + scale["width"]] *= factors[:, [at]]
        return vectors


@pytest.fixture(scope="module")
def model():
    return MUSAE(dimensions=32, keep_graph=True).fit(datasets.digits())


@pytest.fixture(scope="module")
def decoded(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "map.html"
    model.explore(path, method="pca", n_clusters=5)
    return Decoded(path)


class TestContent:
    def test_vectors_to_within_a_byte(self, decoded, model):
        for what, vectors in (("node", model.embedding_), ("feature", model.feature_embedding_)):
            found = decoded.vectors(what)
            for columns in model.scale_columns_.values():
                largest = np.abs(vectors[:, columns]).max(axis=1)
                error = np.abs(found[:, columns] - vectors[:, columns]).max(axis=1)
                assert (error <= 0.51 * largest / 126).all()

    def test_neighbors_are_those_of_the_model(self, decoded, model):
        vectors = decoded.vectors("node")
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        nodes = model.node_ids_[::50].tolist()
        same = []
        for node, near in model.neighbors(nodes, k=10).items():
            cosines = units @ units[node]
            cosines[node] = -np.inf
            same.append(len({other for other, _ in near} & set(np.argsort(-cosines)[:10].tolist())) / 10)
            for other, cosine in near:
                assert cosines[other] == pytest.approx(cosine, abs=0.01)
        assert np.mean(same) > 0.95

    def test_positions_are_those_of_the_maps(self, decoded, model):
        for at, scale in enumerate([None, "0", "1", "2", "3"]):
            expected = node_positions(model, scale=scale, method="pca")
            found = decoded[f"positions-{at}"].reshape(2, -1).T.astype(float)
            # The same but for a shift and a scale.
            for axis in range(2):
                slope, offset = np.polyfit(expected[:, axis], found[:, axis], 1)
                assert np.abs(found[:, axis] - slope * expected[:, axis] - offset).max() <= 1
            assert np.abs(found).max() <= 32_000

    def test_classes_clusters_and_neighbours(self, decoded, model):
        label, cluster, degree = decoded.facts["colorings"]
        codes = decoded[label["block"]]
        assert [label["classes"][code] for code in codes] == [str(each) for each in model.graph_.labels]
        assert label["classes"] == sorted(label["classes"])
        for at, scale in enumerate([None, *model.scale_columns_]):
            assert (decoded[cluster["blocks"][at]] == model.clusters(5, scale=scale)).all()
        assert (decoded[degree["block"]] == np.diff(model.graph_.adjacency.indptr)).all()

    def test_which_nodes_have_which_features(self, decoded, model):
        counts, steps = decoded["owners"], decoded["owner-steps"]
        found = np.zeros((1797, 64), dtype=bool)
        begin = 0
        for feature, count in enumerate(counts.tolist()):
            found[np.cumsum(steps[begin : begin + count].astype(np.int64)) - 1, feature] = True
            begin += count
        assert (found == (model.graph_.features.toarray() > 0)).all()

    def test_names_and_scales(self, decoded, model):
        assert decoded.names("node-names") == model.node_ids_.tolist()
        assert decoded.names("feature-names") == model.feature_names_.tolist()
        lengths = np.linalg.norm(model.feature_embedding_, axis=1)
        assert (np.diff(lengths[decoded["feature-order"]]) <= 0).all()
        assert [scale["label"] for scale in decoded.facts["scales"]] == list(model.scale_columns_)
        assert {scale["label"]: scale["power"] for scale in decoded.facts["scales"]} == model._powers()

    def test_the_same_page_for_any_number_of_threads(self, model, decoded, tmp_path):
        write_explorer(model, tmp_path / "one.html", method="pca", n_clusters=5, n_jobs=1)
        assert (tmp_path / "one.html").read_text() == decoded.text


class TestSafety:
    def test_nothing_leads_outside(self, decoded):
        assert decoded.elements.addresses == []
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", decoded.text)
        assert "default-src 'none'" in decoded.text
        assert "unsafe" not in decoded.text

    def test_names_end_no_element(self, tmp_path):
        graph = datasets.planted_blocks(40)
        ids = [ATTACK, *range(1, 40)]
        labels = np.array([ATTACK if block else "<!-- <script>" for block in graph.labels], dtype=object)
        names = [ATTACK, *range(1, graph.n_features)]
        hostile = AttributedGraph(graph.adjacency, graph.features, node_ids=ids, feature_names=names, labels=labels)
        fitted = MUSAE(dimensions=8, keep_graph=True).fit(hostile)
        fitted.explore(tmp_path / "map.html", method="pca", title=ATTACK, n_clusters=2)
        found = Decoded(tmp_path / "map.html")
        assert "img" not in found.elements.tags
        assert found.facts["title"] == ATTACK
        assert found.names("node-names")[0] == ATTACK
        assert set(found.facts["colorings"][0]["classes"]) == {ATTACK, "<!-- <script>"}

    def test_scripts_are_joined_without_modules(self):
        script = page_file._script()
        assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
        assert "</script" not in script
        assert "innerHTML" not in script
        listed = {file.name.removesuffix(".js") for file in (page_file.files("hopscale.explore") / "page").iterdir()}
        assert set(page_file.MODULES) == {name for name in listed if "." not in name}


class TestLabels:
    @pytest.fixture
    def small(self):
        return MUSAE(dimensions=8).fit(datasets.planted_blocks(60))

    def facts(self, model, tmp_path, **settings):
        model.explore(tmp_path / "map.html", method="pca", n_clusters=0, scales=["all"], **settings)
        return Decoded(tmp_path / "map.html")

    def test_by_id_with_gaps(self, small, tmp_path):
        found = self.facts(small, tmp_path, labels={0: "a", 7: "b"})
        (label,) = found.facts["colorings"]
        codes = found[label["block"]].tolist()
        assert (codes[0], codes[7]) == (0, 1)
        assert codes.count(2) == 58  # no label

    def test_values(self, small, tmp_path):
        values = np.linspace(0, 1, 60)
        values[3] = np.nan
        found = self.facts(small, tmp_path, labels=values)
        (label,) = found.facts["colorings"]
        assert label["kind"] == "values"
        assert not label["log"]
        np.testing.assert_allclose(found[label["block"]], values, rtol=1e-6)

    def test_columns_of_a_data_frame(self, small, tmp_path):
        pd = pytest.importorskip("pandas")
        table = pd.DataFrame({"team": ["x", "y"] * 30, "age": np.arange(60) ** 2.0 + 1}, index=small.node_ids_)
        found = self.facts(small, tmp_path, labels=table)
        assert [(each["name"], each["kind"]) for each in found.facts["colorings"]] == [
            ("team", "classes"),
            ("age", "values"),
        ]

    def test_more_classes_than_colours(self, small, tmp_path):
        labels = [f"class {i % 30:02}" for i in range(60)]
        labels[:10] = ["class 29"] * 10
        found = self.facts(small, tmp_path, labels=labels)
        (label,) = found.facts["colorings"]
        assert [label["classes"][code] for code in found[label["block"]]] == labels
        assert "class 29" in label["classes"][:19]

    def test_no_labels_at_all_warn(self, small, tmp_path):
        with pytest.warns(HopscaleWarning, match="no node has a label"):
            found = self.facts(small, tmp_path, labels=[None] * 60)
        assert found.facts["colorings"] == []

    @pytest.mark.parametrize("labels", [[1, 2], [[1, 2]] * 60])
    def test_labels_that_do_not_fit(self, small, tmp_path, labels):
        with pytest.raises(GraphError, match="one value a node"):
            self.facts(small, tmp_path, labels=labels)
        assert list(tmp_path.iterdir()) == []


class TestSizes:
    def test_large_graphs_are_sampled_with_a_warning(self, model, tmp_path):
        with pytest.warns(HopscaleWarning, match="100 of 1,797 nodes"):
            model.explore(tmp_path / "map.html", method="pca", max_nodes=100, scales=[1], n_clusters=3)
        found = Decoded(tmp_path / "map.html")
        nodes = found.names("node-names")
        assert (len(nodes), found.facts["nNodes"], found.facts["nAll"]) == (100, 100, 1797)
        rows = [model._row(node) for node in nodes]
        assert np.abs(found.vectors("node") - model.embedding_[rows]).max() < 0.02 * np.abs(model.embedding_).max()
        codes = found[found.facts["colorings"][0]["block"]]
        assert [int(found.facts["colorings"][0]["classes"][code]) for code in codes] == model.graph_.labels[
            rows
        ].tolist()

    def test_vectors_in_few_bytes_keep_lengths_and_most_of_the_direction(self, model):
        columns = list(model.scale_columns_.values())
        with Threads(1) as engine:
            codes, centres, factors = coded_vectors(model.embedding_, columns, 4, 0, engine)
        assert codes.shape == (1797, 16)
        lengths = (factors.astype(np.uint32) << np.uint32(16)).view(np.float32)
        tables, at = [], 0
        for width in [2] * 16:  # 8 dimensions a scale, in 4 parts
            tables.append(centres[at : at + 256 * width].reshape(256, width))
            at += 256 * width
        assert at == len(centres)
        for scale, own in enumerate(columns):
            parts = [tables[4 * scale + part][codes[:, 4 * scale + part]] for part in range(4)]
            decoded = np.hstack(parts) * lengths[:, [scale]]
            true = model.embedding_[:, own]
            norms = np.linalg.norm(true, axis=1)
            np.testing.assert_allclose(np.linalg.norm(decoded, axis=1), norms, rtol=0.01)
            cosines = np.einsum("ij,ij->i", decoded, true) / norms**2
            assert cosines.mean() > 0.98

    def test_many_features_are_left_out_with_a_warning(self, model, tmp_path, monkeypatch):
        monkeypatch.setattr(explorer, "_MOST_FEATURES", 10)
        monkeypatch.setattr(explorer, "_MOST_ENTRIES", 100)
        with pytest.warns(HopscaleWarning) as caught:
            model.explore(tmp_path / "map.html", method="pca", scales=["all"], n_clusters=0)
        assert any("10 features of 64" in str(each.message) for each in caught)
        assert any("does not say which nodes" in str(each.message) for each in caught)
        found = Decoded(tmp_path / "map.html")
        assert len(found.names("feature-names")) == 10
        assert "owners" not in found.facts["blocks"]

    def test_ids_of_all_kinds(self):
        for names in (np.array([7, 5, -3]), np.array([2**60, 1, 2]), np.array(["a", ("b", 1), 2], dtype=object)):
            blocks = Blocks()
            blocks.add_names("n", names)
            raw = base64.b64decode(blocks.texts["n"])
            raw = zlib.decompress(raw) if blocks.facts["n"]["packed"] else raw
            if blocks.facts["n"]["type"] == "int32":
                assert (blocks.facts["n"]["start"] + np.cumsum(np.frombuffer(raw, np.int32))).tolist() == [7, 5, -3]
            else:
                assert json.loads(raw) in (["1152921504606846976", "1", "2"], ["a", '["b",1]', "2"])

    def test_positions_in_one_place(self):
        (found,) = grid_positions(np.ones((3, 2)))
        assert found.tolist() == [0] * 6

    def test_zero_vectors_stay_zero(self):
        vectors, factors = byte_vectors(np.zeros((2, 3), dtype=np.float32), [slice(0, 3)])
        assert not vectors.any()
        assert not factors.any()


class TestErrors:
    def test_a_scale_that_is_not_there(self, model, tmp_path):
        with pytest.raises(ParameterError, match="no scale '9'; this model has all, 0, 1, 2, 3"):
            model.explore(tmp_path / "map.html", scales=[9])
        with pytest.raises(ParameterError, match="a list of scales"):
            model.explore(tmp_path / "map.html", scales="1")
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_is_not_there(self, model, tmp_path):
        with pytest.raises(OutputError, match="there is no folder"):
            model.explore(tmp_path / "none" / "map.html")

    def test_a_page_that_cannot_be_finished_leaves_the_last_one(self, model, tmp_path, monkeypatch):
        path = tmp_path / "map.html"
        path.write_text("the last one")

        def torn(*_):
            yield "<!doctype html>"
            raise OSError("no space left")

        monkeypatch.setattr(page_file, "_pieces", torn)
        with pytest.raises(OutputError, match="no space left"):
            model.explore(path, method="pca", scales=["all"], n_clusters=0)
        assert path.read_text() == "the last one"
        assert list(tmp_path.iterdir()) == [path]

    def test_another_graph(self, model, tmp_path):
        graph = datasets.figure1()
        with pytest.raises(GraphError, match="none of the model's nodes"):
            model.explore(tmp_path / "map.html", graph=graph)
        assert list(tmp_path.iterdir()) == []

    def test_a_model_that_is_not_fitted(self, tmp_path):
        with pytest.raises(ValueError, match="not fitted"):
            MUSAE().explore(tmp_path / "map.html")

    def test_models_of_nodes_alone_have_no_features(self, tmp_path):
        DeepWalk(dimensions=4).fit(datasets.planted_blocks(30)).explore(tmp_path / "map.html", method="pca")
        facts = Decoded(tmp_path / "map.html").facts
        assert facts["nFeatures"] == 0
        assert [each["label"] for each in facts["maps"]] == ["all"]

    def test_ego_models_show_features_without_nodes(self, tmp_path):
        graph = datasets.planted_blocks(30)
        MUSAE(dimensions=8, ego=True).fit(graph).explore(tmp_path / "map.html", method="pca", n_clusters=0)
        assert Decoded(tmp_path / "map.html").facts["nFeatures"] == graph.n_features


def test_the_package_has_its_version_on_the_page(decoded):
    assert f"hopscale {hopscale.__version__}" in decoded.facts["made"]
