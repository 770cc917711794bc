"""Pages of the explorer on phones, for screen readers, and of other models and labels."""

import json

import numpy as np
import pytest
from attacked import N
from opened import opened

from hopscale import MUSAE, AttributedGraph, DeepWalk, datasets
from hopscale.explore import explorer


class TestOtherPages:
    def test_a_phone(self, browser, file):
        with opened(browser, file, is_mobile=True, has_touch=True, device_scale_factor=2) as shown:
            shown.page.set_viewport_size({"width": 390, "height": 780})
            shown.settle()
            assert shown.page.locator("#choices").is_hidden()
            shown.page.tap("#unfold")
            assert shown.page.locator("#color").is_visible()
            shown.page.tap("#unfold")
            shown.ask("() => hopscale.select('node', 3)")
            shown.listed("Nearest nodes")
            box = shown.page.locator("#panel").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["y"] + box["height"] <= 780
            assert shown.ask("() => document.documentElement.scrollWidth") <= 390

    def test_everything_has_a_name_for_those_who_do_not_see_it(self, shown):
        shown.ask("() => hopscale.select('node', 3)")
        shown.listed("Nearest nodes")
        nameless = shown.ask(
            """() => [...document.querySelectorAll("button, input, select, [role=application]")].filter((each) =>
                !(each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.[0]?.textContent.trim()))
                .map((each) => each.outerHTML)"""
        )
        assert nameless == []

    def test_a_model_without_features_or_labels(self, browser, tmp_path):
        DeepWalk(dimensions=8).fit(datasets.planted_blocks(60)).explore(
            tmp_path / "map.html", method="pca", n_clusters=0
        )
        with opened(browser, tmp_path / "map.html") as shown:
            shown.ask("() => hopscale.select('node', 3)")
            assert len(shown.listed("Nearest nodes")) == 10
            assert shown.page.locator("#features").is_hidden()
            assert shown.page.locator("#color option").all_text_contents() == ["Nothing"]

    def test_values_of_some_nodes(self, browser, model, tmp_path):
        values = np.linspace(-1.5, 2.5, N)
        values[: N // 4] = np.nan
        model.explore(tmp_path / "map.html", labels=values, method="pca", scales=["all"], n_clusters=0)
        with opened(browser, tmp_path / "map.html") as shown:
            assert shown.page.locator("#legend .missing").text_content() == f"No value: {N // 4}"
            ends = shown.page.locator("#legend .ends span").all_text_contents()
            assert [text[:2] for text in ends] == ["≤ ", "≥ "]  # some values lie beyond the ends of the scale

    def test_many_classes_have_the_colours_of_the_legend(self, browser, model, tmp_path):
        labels = [f"class {row % 30}" for row in range(N)]
        model.explore(tmp_path / "map.html", labels=labels, method="pca", scales=["all"], n_clusters=0)
        with opened(browser, tmp_path / "map.html") as shown:
            names = shown.page.locator("#legend .name").all_text_contents()
            assert names[-1] == "11 other classes"
            assert names[:-1] == sorted(names[:-1], key=lambda name: int(name.split()[1]))
            for row in range(60):  # what is said of a node has the colour that the node has
                said, drawn = shown.ask(
                    """async (row) => {
                        const [fact] = await hopscale.describe(row);
                        return [fact.querySelector(".swatch").style.background, hopscale.colorOf(row)];
                    }""",
                    row,
                )
                assert said == f"rgb({drawn & 255}, {drawn >> 8 & 255}, {drawn >> 16 & 255})"

    def test_two_nodes(self, browser, tmp_path):
        graph = AttributedGraph([[0, 1], [1, 0]], [[1], [0]], node_ids=["a", "b"], feature_names=["f"])
        model = MUSAE(dimensions=4, keep_graph=True).fit(graph)
        model.explore(tmp_path / "map.html", method="pca", n_clusters=1)
        with opened(browser, tmp_path / "map.html") as shown:
            shown.ask("() => hopscale.select('node', 1)")
            shown.page.locator("#panel h2").wait_for()
            assert shown.title() == "b"

    def test_vectors_in_few_bytes(self, browser, model, tmp_path, monkeypatch):
        monkeypatch.setattr(explorer, "_VECTOR_BYTES", 240 * 24)
        model.explore(tmp_path / "map.html", method="pca", n_clusters=0)
        with opened(browser, tmp_path / "map.html") as shown:
            cosines = shown.ask(
                """async () => {
                    const { nodes } = await hopscale.vectors();
                    return [...nodes.cosines(nodes.row(9), 1)];
                }"""
            )
            exact = dict(model.neighbors("node 9", k=N, scale=1))
            errors = [abs(cosines[row] - exact[name]) for row, name in enumerate(model.node_ids_) if name != "node 9"]
            assert np.mean(errors) < 0.1
            assert cosines[9] == pytest.approx(1, abs=1e-3)
            facts = json.loads(shown.ask("() => document.getElementById('facts').textContent"))
            assert facts["blocks"]["node-vectors"]["type"] == "uint8"
