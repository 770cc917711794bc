"""The explorer's page in a browser: what is drawn, found, listed and written is what the model has."""

import csv
import io
import math

import numpy as np
import pytest
from attacked import ATTACKED_ROW, N

from hopscale import MUSAE
from hopscale.explore.palette import PALETTE


def similar(one, other):
    """Whether two lists of names and scores are the same, but for the order of what is equal to within .01."""
    scores = dict(other)
    return all(name in scores and abs(float(score) - scores[name]) < 0.01 for name, score in one)


class TestDrawing:
    def test_classes_have_the_colours_of_the_palette(self, shown, model):
        counts = shown.colors()
        for color in PALETTE[:3]:
            assert counts.get(color, 0) > 100
        assert counts["#fbfbfa"] > 0.5 * sum(counts.values())  # the ground

    def test_each_node_has_the_colour_of_its_class(self, shown, model):
        classes = sorted(set(model.graph_.labels))
        for row in (0, 100, 239):
            packed = shown.ask("(row) => hopscale.colorOf(row)", row)
            red, green, blue = packed & 255, packed >> 8 & 255, packed >> 16 & 255
            assert f"#{red:02x}{green:02x}{blue:02x}" == PALETTE[classes.index(model.graph_.labels[row])]

    def test_another_colouring_changes_the_picture_and_the_legend(self, shown):
        before, names = shown.colors(), shown.page.locator("#legend .name").all_text_contents()
        shown.page.select_option("#color", "cluster")
        shown.settle()
        assert shown.colors() != before
        after = shown.page.locator("#legend .name").all_text_contents()
        assert after == [f"Cluster {i}" for i in range(4)] != names

    def test_values_have_a_bar_for_a_legend(self, shown):
        shown.page.select_option("#color", label="Number of neighbours")
        shown.settle()
        assert shown.page.locator("#legend .bar").count() == 1
        low, high = shown.page.locator("#legend .ends span").all_text_contents()
        assert low.removeprefix("≤ ").isdigit()
        assert high.removeprefix("≥ ").isdigit()

    def test_a_class_that_is_switched_off_is_gone(self, shown):
        shown.page.locator("#legend label").nth(0).click()
        shown.settle()
        assert shown.colors().get(PALETTE[0], 0) == 0
        shown.page.locator("#legend label").nth(0).click()
        shown.settle()
        assert shown.colors()[PALETTE[0]] > 100

    def test_only_one_class(self, shown):
        shown.page.locator("#legend li").nth(1).hover()
        shown.page.locator("#legend li").nth(1).get_by_text("only").click()
        shown.settle()
        counts = shown.colors()
        assert counts[PALETTE[1]] > 100
        assert PALETTE[0] not in counts
        assert PALETTE[2] not in counts

    def test_dark_and_light(self, shown):
        shown.page.click("#theme")
        shown.settle()
        assert max(shown.colors().items(), key=lambda pair: pair[1])[0] == "#101419"
        assert "theme=dark" in shown.hash()

    def test_zoomed_in_points_are_circles_with_names(self, shown):
        shown.ask("() => hopscale.flyTo('node', 10)")
        shown.settle()
        assert shown.ask("() => hopscale.renderer.last.points") < 1200
        x, y = shown.place("node", 10)
        middle = shown.ask("() => hopscale.camera.middle")
        assert math.hypot(x - middle[0], y - middle[1]) < 2

    def test_while_the_map_moves_a_sample_is_drawn_and_then_all(self, shown):
        shown.ask("() => { hopscale.renderer.cost = 1; hopscale.pan(30, 0); hopscale.renderer.frame(); }")
        assert shown.ask("() => hopscale.renderer.last.step") > 1
        shown.settle()
        assert shown.ask("() => hopscale.renderer.last.step") == 1


class TestScales:
    def test_another_scale_moves_points_to_its_map(self, shown):
        before = [shown.place("node", row) for row in range(20)]
        shown.page.locator("#maps label").nth(2).click()
        shown.settle()
        after = [shown.place("node", row) for row in range(20)]
        moved = [math.dist(one, other) for one, other in zip(before, after, strict=True)]
        assert np.median(moved) > 5
        assert shown.ask("() => hopscale.scale") == 1
        assert "scale=1" in shown.hash()

    def test_points_are_between_the_maps_while_they_move(self, shown):
        found = shown.ask(
            """async () => {
                const before = (await hopscale.gridsOf(0)).nodes.x[7], after = (await hopscale.gridsOf(1)).nodes.x[7];
                await hopscale.showMap(1);
                const drawn = [];
                const { splats } = hopscale.renderer;
                const draw = splats.draw;
                splats.draw = function (x, ...rest) { drawn.push(x[7]); return draw.call(this, x, ...rest); };
                const { morph } = hopscale.renderer;
                morph.start = performance.now() - 450; morph.end = morph.start + 900;
                hopscale.renderer.draw(true);
                splats.draw = draw;
                return [before, drawn[0], after];
            }"""
        )
        assert min(found[0], found[2]) < found[1] < max(found[0], found[2])
        shown.settle()


class TestDetails:
    def test_a_click_lists_the_nearest_nodes_of_the_model(self, shown, model):
        shown.page.keyboard.press("f")  # without features, which lie above nodes
        shown.settle()
        row = shown.ask("([x, y]) => hopscale.at(x, y)?.index", shown.place("node", 30))
        shown.page.mouse.click(*shown.place("node", 30))
        name = model.node_ids_[row]
        shown.page.locator("#panel h2").get_by_text(name).wait_for()
        assert shown.title() == name
        near = shown.listed("Nearest nodes")
        assert similar(near, model.neighbors(name, k=14))
        assert len(near) == 10
        for scale in range(4):
            shown.page.locator("#panel .segments label").nth(1 + scale).click()
            assert similar(shown.listed("Nearest nodes"), model.neighbors(name, k=30, scale=scale))

    def test_features_are_those_that_the_vectors_estimate(self, shown, model):
        model_alone = MUSAE(dimensions=32)
        model_alone.__dict__ |= {key: value for key, value in vars(model).items() if key != "graph_"}
        shown.ask("() => hopscale.select('node', 30)")
        for scale in range(4):
            shown.page.locator("#panel .segments label").nth(1 + scale).click()
            expected = model_alone.explain("node 30", k=20, scale=scale)[str(scale)]
            found = shown.listed("Features that stand out")
            assert found[0][0] in [name for name, _ in expected[:3]]
            for name, score in found[:5]:
                assert float(score) == pytest.approx(dict(expected)[name], abs=0.1)

    def test_own_features_are_those_of_the_graph(self, shown, model):
        shown.ask("() => hopscale.select('node', 30)")
        shown.listed("Nearest nodes")
        graph = model.graph_
        own = graph.feature_names[graph.features[[30]].indices]
        assert sorted(shown.page.locator("#panel .chip").all_text_contents()) == sorted(own)

    def test_names_in_lists_lead_on(self, shown):
        shown.ask("() => hopscale.select('node', 30)")
        name = shown.listed("Nearest nodes")[0][0]
        shown.page.locator("#panel .row").first.click()
        shown.page.locator("#panel h2").get_by_text(name, exact=True).wait_for()
        shown.page.locator("#panel .chip").first.click()
        shown.page.get_by_text("Similar features").wait_for()
        shown.page.locator("#panel .icon").click()
        assert shown.page.locator("#panel").is_hidden()

    def test_a_feature_lists_its_nodes(self, shown, model):
        shown.ask("() => hopscale.select('feature', 3)")
        found = shown.listed("Nodes around which it stands out")
        expected = dict(model.nodes_of("word 3", k=N))
        for name, score in found:
            assert float(score) == pytest.approx(expected[name], abs=0.05)
        assert float(found[0][1]) >= max(expected.values()) - 0.05
        assert similar(shown.listed("Similar features"), model.similar_features("word 3", k=30))

    def test_colour_by_who_has_a_feature(self, shown, model):
        shown.ask("() => hopscale.select('feature', 3)")
        shown.page.get_by_text("Colour its nodes").click()
        shown.settle()
        marked = shown.ask("() => Array.from(hopscale.base.over).flatMap((color, i) => color ? [i] : [])")
        column = model.graph_.features[:, [3]].toarray().ravel()
        assert marked == np.flatnonzero(column).tolist()
        assert PALETTE[5] in shown.colors()

    def test_colour_by_the_score_of_a_feature(self, shown, model):
        shown.page.select_option("#color", "product")
        shown.page.fill("#feature-input", "word 7")
        shown.page.locator("#feature-hits .hit").first.wait_for()
        shown.page.keyboard.press("Enter")
        shown.settle()
        estimates = model.estimated_pmi(model.embedding_, model.feature_embedding_[7]) / 4
        low, high = np.argsort(estimates)[[0, -1]].tolist()
        dark, light = (shown.ask("(row) => hopscale.colorOf(row)", row) for row in (high, low))
        assert dark != light
        assert "feature=word+7" in shown.hash()


class TestSearch:
    def test_prefixes_come_first_and_a_hit_opens(self, shown):
        shown.page.keyboard.press("/")
        shown.page.keyboard.type("node 2")
        hits = shown.page.locator("#search-hits .hit .name").all_text_contents()
        assert hits[0] == "node 2"
        assert "node 20" in hits
        shown.settle()
        assert shown.ask("() => hopscale.state.hits.nodes.length") == 1 + 10 + 40
        shown.page.keyboard.press("ArrowDown")
        shown.page.keyboard.press("Enter")
        shown.page.locator("#panel h2").get_by_text("node 20", exact=True).wait_for()
        assert shown.ask("() => hopscale.state.hits") is None

    def test_anywhere_in_a_name_whatever_the_case(self, shown):
        shown.page.fill("#search-input", "ORD 11")
        shown.page.locator("#search-hits .hit").first.wait_for()
        assert set(shown.page.locator("#search-hits .hit .name").all_text_contents()) >= {"word 11", "word 110"}

    def test_what_is_not_there(self, shown):
        shown.page.fill("#search-input", "no such name")
        assert "no such name" in shown.page.locator("#search-hits").text_content()
        assert shown.ask("() => hopscale.state.hits") is None


class TestLasso:
    def around(self, shown, rows):
        """A polygon around some nodes, as pixels."""
        places = np.array([shown.place("node", row) for row in rows])
        low, high = places.min(axis=0) - 8, places.max(axis=0) + 8
        return [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]), (low[0], low[1])]

    def drag(self, shown, corners):
        shown.page.mouse.move(*corners[0])
        shown.page.mouse.down()
        for corner in corners[1:]:
            shown.page.mouse.move(*corner, steps=3)
        shown.page.mouse.up()
        shown.page.locator("#download").wait_for()

    def test_the_nodes_within_are_counted_listed_and_written(self, shown, model, tmp_path):
        corners = self.around(shown, [ATTACKED_ROW, 3, 8])
        (left, top), (right, bottom) = corners[0], corners[2]
        places = [shown.place("node", row) for row in range(N)]
        inside = [row for row, (x, y) in enumerate(places) if left < x < right and top < y < bottom]
        shown.page.keyboard.down("Shift")
        self.drag(shown, corners)
        shown.page.keyboard.up("Shift")
        assert shown.title() == f"{len(inside)} nodes"
        with shown.page.expect_download() as download:
            shown.page.click("#download")
        download.value.save_as(tmp_path / "nodes.csv")
        rows = list(csv.DictReader(io.StringIO((tmp_path / "nodes.csv").read_bytes().decode(), newline="")))
        assert [row["id"] for row in rows] == [model.node_ids_[row] for row in inside]
        assert [row["Label"] for row in rows] == [model.graph_.labels[row] for row in inside]

    def test_features_of_the_selection_are_counted_in_the_graph(self, shown, model):
        shown.page.click("#lasso")
        self.drag(shown, self.around(shown, [3, 8, 12]))
        picked = shown.ask("() => Array.from(hopscale.state.picked)")
        name, text = shown.listed("Features that stand out")[0]
        has = model.graph_.features.toarray()[:, model.feature_index[name]] > 0
        share = float(text.split(" %")[0]) / 100
        assert share == pytest.approx(has[picked].mean(), abs=0.01)
        assert float(text.split("· ")[1].rstrip("×")) == pytest.approx(has[picked].mean() / has.mean(), rel=0.01)
        assert shown.page.locator("#lasso").get_attribute("aria-pressed") == "false"

    def test_all_nodes_of_a_class(self, shown, model):
        shown.page.locator("#legend li").nth(1).hover()
        shown.page.locator("#legend li").nth(1).get_by_text("list").click()
        shown.page.locator("#download").wait_for()
        name = sorted(set(model.graph_.labels))[1]
        picked = shown.ask("() => Array.from(hopscale.state.picked)")
        assert picked == np.flatnonzero(model.graph_.labels == name).tolist()
