"""Static plots: colours are those of the classes, odd labels and names have an answer."""

import re
import sys
from collections import Counter

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from hopscale import HOPE, MUSAE, AttributedGraph, datasets
from hopscale.exceptions import (
    GraphError,
    HopscaleWarning,
    MissingPackageError,
    OutputError,
    ParameterError,
    UnknownNodeError,
)
from hopscale.explore.node_colors import Classes, Values, label_colors
from hopscale.explore.palette import PALETTE
from hopscale.explore.plots import _FAINT, _OTHER, save_picture
from hopscale.explore.shown_names import in_order, isolated, short_text

mpl.use("agg")


@pytest.fixture(scope="module")
def graph():
    return datasets.planted_blocks(120)


@pytest.fixture(scope="module")
def model(graph):
    return MUSAE(dimensions=16).fit(graph)


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def fills(ax, path):
    """Number of points of each colour in a picture's SVG, without those of the legend."""
    save_picture(ax.figure, path)
    text = path.read_text()
    points = text[text.index('id="PathCollection_1"') : text.index('id="legend_1"') if "legend_1" in text else None]
    return Counter(re.findall(r"<use [^>]*fill: (#[0-9a-f]{6})", points))


class TestColors:
    def test_points_have_the_colours_of_their_classes(self, model, graph, tmp_path):
        ax = model.plot(color=graph.labels, method="pca")
        counts = Counter(graph.labels.tolist())
        assert fills(ax, tmp_path / "map.svg") == {PALETTE[label]: count for label, count in counts.items()}
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]

    def test_labels_are_matched_by_id(self, model, graph, tmp_path):
        series = pd.Series(graph.labels, index=graph.node_ids).sample(frac=1, random_state=0)
        found = label_colors(series, model.node_ids_)
        np.testing.assert_array_equal(found.codes, graph.labels)
        some = {graph.node_ids[0]: "a", graph.node_ids[5]: "b"}
        ax = model.plot(color=some, method="pca")
        assert fills(ax, tmp_path / "map.svg") == {_FAINT: 118, PALETTE[0]: 1, PALETTE[1]: 1}
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "no label"]

    def test_rare_classes_share_a_colour(self, model, tmp_path):
        labels = np.array([f"c{i:02}" for i in (*range(30), *np.repeat(np.arange(15), 6))])
        ax = model.plot(color=labels, method="pca")
        found = fills(ax, tmp_path / "map.svg")
        assert len(found) == 20
        assert found[_OTHER] == 11
        assert ax.get_legend().get_texts()[-1].get_text() == "11 others"

    def test_values_have_a_colour_bar(self, model):
        values = np.linspace(0, 1, 120)
        values[:3] = np.nan
        ax = model.plot(color=values, method="pca")
        assert ax.get_legend() is None
        bar = ax.figure.axes[1]
        assert bar.get_ylabel() == "value (grey: none)"
        below, above = ax.collections
        assert (len(below.get_offsets()), len(above.get_offsets())) == (3, 117)

    def test_values_have_the_name_of_their_series(self, model):
        series = pd.Series(np.linspace(0, 1, 120), index=model.node_ids_, name="age")
        assert model.plot(color=series, method="pca").figure.axes[1].get_ylabel() == "age"

    def test_values_that_vary_by_factors_are_shown_by_logarithm(self, model):
        found = label_colors(np.exp(np.random.default_rng(0).normal(0, 3, 120)), model.node_ids_)
        assert isinstance(found, Values)
        assert found.logarithmic

    def test_a_feature_is_brightest_where_nodes_of_it_are(self, model):
        name = model.feature_names_[7]
        ax = model.plot(feature=name, method="pca", scale=1)
        dots = ax.collections[-1]
        best = model.nodes_of(name, k=1, scale=1)[0]
        assert dots.get_array().max() == pytest.approx(best[1])
        assert short_text(name) in ax.figure.axes[1].get_ylabel()

    def test_clusters(self, model, tmp_path):
        ax = model.plot(n_clusters=3, method="pca")
        sizes = np.bincount(model.clusters(3))
        assert fills(ax, tmp_path / "map.svg") == {PALETTE[at]: size for at, size in enumerate(sizes)}

    def test_one_class_and_no_class(self, model, tmp_path):
        assert fills(model.plot(color=["x"] * 120, method="pca"), tmp_path / "map.svg") == {PALETTE[0]: 120}
        with pytest.raises(GraphError, match="no node has a label"):
            model.plot(color=[None] * 120, method="pca")

    def test_minus_one_means_no_label(self, model):
        found = label_colors(np.where(np.arange(120) % 2, -1, np.arange(120) % 3), model.node_ids_)
        assert isinstance(found, Classes)
        assert (found.codes < 0).sum() == 60


class TestPicture:
    def test_axes_that_are_given_are_drawn_on(self, model):
        from matplotlib import pyplot

        ax = pyplot.subplots()[1]
        assert model.plot(ax=ax, method="pca", title="a $title$") is ax
        assert ax.get_title(loc="left") == "a $title$"
        assert not ax.axison

    def test_the_same_map_has_the_same_bytes(self, model, graph, tmp_path):
        for suffix in ("png", "svg"):
            paths = [tmp_path / f"{name}.{suffix}" for name in ("a", "b")]
            for path in paths:
                save_picture(model.plot(color=graph.labels, method="pca").figure, path)
            assert paths[0].read_bytes() == paths[1].read_bytes()

    def test_many_points_are_an_image_in_vector_graphics(self, model, tmp_path, monkeypatch):
        from hopscale.explore import plots

        monkeypatch.setattr(plots, "_MANY", 100)
        save_picture(model.plot(method="pca").figure, tmp_path / "map.svg")
        assert "<image" in (tmp_path / "map.svg").read_text()

    def test_names_of_features_do_not_cover_each_other(self, model):
        ax = model.plot(names=12, method="pca")
        assert 3 <= len(ax.texts) <= 12
        assert {text.get_text() for text in ax.texts} <= {str(name) for name in model.feature_names_}
        boxes = [text.get_window_extent() for text in ax.texts]
        assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])

    def test_names_of_features_are_within_the_map_and_not_over_the_legend(self, graph):
        names = [f"a rather long name of feature {at}" for at in range(graph.n_features)]
        long = AttributedGraph(graph.adjacency, graph.features, feature_names=names, labels=graph.labels)
        ax = MUSAE(dimensions=16).fit(long).plot(color=graph.labels, names=12, method="pca")
        ax.figure.draw_without_rendering()
        room, legend = ax.get_window_extent(), ax.get_legend().get_window_extent()
        boxes = [text.get_window_extent() for text in ax.texts]
        assert len(boxes) > 2
        assert all(room.x0 - 1 < box.x0 and box.x1 < room.x1 + 1 for box in boxes)
        assert not any(box.overlaps(legend) for box in boxes)

    def test_signs_that_no_font_has_are_told_once(self, model, tmp_path):
        labels = np.array(["\U000f0001 and \U000f0002", "plain"])[np.arange(120) % 2]  # of private use
        ax = model.plot(color=labels, method="pca")
        with pytest.warns(HopscaleWarning, match="no font that matplotlib knows has") as caught:
            save_picture(ax.figure, tmp_path / "map.png")
        assert len(caught) == 1

    def test_names_are_shown_as_they_are(self, model, tmp_path):
        labels = np.array(["_hidden", "$x^$", "a\nb", "é" * 60])[np.arange(120) % 4]
        ax = model.plot(color=labels, method="pca")
        save_picture(ax.figure, tmp_path / "map.png")
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [
            "$x^$",
            "_hidden",
            "a b",
            short_text("é" * 60),
        ]


class TestNames:
    def test_numbers_in_names_are_in_order(self):
        assert in_order(["b", "a 10", "a 9", "10", "9"]) == ["9", "10", "a 9", "a 10", "b"]
        assert in_order([10, 9.5]) == [9.5, 10]
        assert in_order(["a", 1]) == ["a", 1]

    def test_names_that_differ_at_their_ends_do_when_shortened(self):
        names = [f"bio=plays the violin and likes {what}" for what in ("tea", "coffee")]
        assert len({short_text(name) for name in names}) == 2
        assert all(len(short_text(name, longest)) == longest for name in names for longest in (6, 18, 28))

    def test_names_from_right_to_left_are_isolated(self):
        assert isolated("city=القاهرة").startswith("\u2068")
        assert isolated("city=Zürich 42") == "city=Zürich 42"


class TestErrors:
    @pytest.mark.parametrize(
        ("wrong", "error", "words"),
        [
            ({"color": [1, 2]}, GraphError, "each of the 120 nodes"),
            ({"color": "red"}, ParameterError, "color"),
            ({"color": [0] * 120, "n_clusters": 3}, ParameterError, "one colour each"),
            ({"feature": "no such"}, UnknownNodeError, "no feature"),
            ({"n_clusters": 0}, ParameterError, "n_clusters"),
            ({"names": -1}, ParameterError, "names"),
            ({"scale": 7}, ParameterError, "no scale"),
            ({"positions": np.zeros((3, 2))}, GraphError, "120 rows"),
            ({"method": "x"}, ParameterError, "method"),
        ],
    )
    def test_wrong_input(self, model, wrong, error, words):
        from matplotlib import pyplot

        with pytest.raises(error, match=words):
            model.plot(**{"method": "pca", **wrong})
        assert not pyplot.get_fignums()

    def test_a_model_without_feature_vectors_has_no_names(self, graph):
        model = HOPE(dimensions=32).fit(graph)
        assert model.plot(method="pca") is not None
        with pytest.raises(ParameterError, match="no vectors of features"):
            model.plot(method="pca", names=3)

    def test_without_matplotlib_the_error_names_the_extra(self, model, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingPackageError, match=r"hopscale\[plots\]"):
            model.plot()

    def test_files_that_cannot_be_written(self, model, tmp_path):
        figure = model.plot(method="pca").figure
        with pytest.raises(ParameterError, match=r"\.png, \.svg, \.pdf"):
            save_picture(figure, tmp_path / "map.jpg")
        with pytest.raises(OutputError, match="no folder"):
            save_picture(figure, tmp_path / "none" / "map.png")
