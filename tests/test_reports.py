"""Reports: numbers are those of the tasks, names are escaped, and odd graphs and labels have a report."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from hopscale import HOPE, MUSAE, AttributedGraph, DeepWalk, datasets
from hopscale.exceptions import GraphError, OutputError, ParameterError
from hopscale.explore.reports import Settings, charts, findings, make_report, write_report
from hopscale.explore.reports import report as report_module
from hopscale.explore.reports.document import Document, Listing, Paragraph, Picture, Section, Table, html_page
from hopscale.explore.reports.findings import feature_values, held_out_predictions, scored, top_features
from hopscale.explore.reports.scores import _confusion_section, mean_text
from hopscale.tasks import evaluate, few_shot, summarize

HOSTILE = "</script><img src=x onerror=alert(1)>&\"'|`$x$"
PCA = Settings(method="pca")


@pytest.fixture(scope="module")
def graph():
    return datasets.planted_blocks(150)


@pytest.fixture(scope="module")
def model(graph):
    return MUSAE(dimensions=16).fit(graph)


@pytest.fixture(scope="module")
def document(model, graph):
    return make_report(model, graph, settings=PCA)


class Tags(HTMLParser):
    """Names of all tags and attributes, and text outside of SVG's."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text.append(data)


def titles(document):
    return [section.title for section in document.sections]


def section_text(document, title, begin):
    """Paragraphs of a section that begin with some words."""
    section = next(section for section in document.sections if section.title == title)
    return [block.text for block in section.blocks if isinstance(block, Paragraph) and block.text.startswith(begin)]


class TestClasses:
    def test_sections(self, document):
        assert titles(document) == [
            "The graph", "Map", "Scores", "What is mistaken for what", "How many labels are enough",
            "What each scale adds", "Features of classes", "Examples", "How this was made",
        ]  # fmt: skip

    def test_scores_are_those_of_the_task(self, document, model, graph):
        expected = summarize(evaluate(model, graph.labels, "classification", splits=10))
        shown = [cells[0] for cells in document.numbers("Scores").values()]
        assert shown == [mean_text(row) for row in expected.values()]
        assert len(shown) == 4

    def test_few_labels_are_those_of_the_task(self, document, model, graph):
        expected = summarize(few_shot(model, graph.labels, samples_per_class=[1, 2, 5, 10, 20], splits=10), by="k")
        shown = {int(k): cells[0] for k, cells in document.numbers("How many labels are enough").items()}
        assert shown == {k: mean_text(row["micro_f1"]) for k, row in expected.items()}

    def test_scales_are_scored_by_their_own_columns(self, document, model, graph):
        shown = document.numbers("What each scale adds")
        assert len(shown) == 9
        columns = model.scale_columns_["2"]
        alone = summarize(evaluate(model.embedding_[:, columns], graph.labels, "classification", splits=5))
        others = np.delete(model.embedding_, np.arange(16)[columns], axis=1)
        without = summarize(evaluate(others, graph.labels, "classification", splits=5))
        assert shown["scale 2 alone"] == [mean_text(alone["micro_f1"])]
        assert shown["all but scale 2"] == [mean_text(without["micro_f1"])]

    def test_confusions_count_each_labelled_node_once(self, model, graph):
        found = scored(model, graph.labels, None)
        truth, predicted, names = held_out_predictions(model, graph.labels, found)
        assert [names[code] for code in truth] == graph.labels.tolist()
        right = summarize(evaluate(model, graph.labels, "classification", splits=10))["micro_f1"]["mean"]
        assert (truth == predicted).mean() == pytest.approx(right, abs=0.08)

    def test_rows_of_confusions_are_shares_of_all_nodes_of_a_class(self, monkeypatch):
        truth, predicted = np.repeat(np.arange(30), 4), np.repeat(np.arange(30), 4)
        predicted[1::4] = 29  # a quarter of each class, in one that is not among the twenty that are shown
        drawn = []
        monkeypatch.setattr(charts, "confusion_chart", lambda shares, names: drawn.append(shares) or "<svg></svg>")
        section = _confusion_section(truth, predicted, list(range(30)))
        assert "lack of 100" in section.blocks[0].text
        np.testing.assert_allclose(drawn[0], 0.75 * np.eye(20))

    def test_labels_at_random_are_not_called_a_success(self, model, graph):
        labels = np.random.default_rng(0).permutation(np.arange(150) % 30).astype(str)
        (verdict,) = section_text(make_report(model, graph, labels, PCA), "Scores", "That is")
        assert "no better" in verdict or "may be chance" in verdict
        (verdict,) = section_text(make_report(model, graph, settings=PCA), "Scores", "That is")
        assert verdict.endswith("above always predicting the commonest class (0.333).")

    def test_statistics_are_those_of_the_graph(self, document, graph):
        shown = document.numbers("The graph")
        assert shown["nodes"] == ["150"]
        assert shown["edges"] == [f"{graph.n_edges:,}"]

    def test_top_features_tell_the_blocks(self, graph):
        has = graph.features.toarray() > 0
        for block, features in enumerate(top_features(graph, np.asarray(graph.labels), 3)):
            inside = has[graph.labels == block].mean(axis=0)
            for name, times in features:
                column = list(graph.feature_names).index(name)
                assert times == pytest.approx(inside[column] / has[:, column].mean())
                assert times > 1

    def test_larger_graphs_are_sampled_and_the_page_says_so(self, model, graph, monkeypatch):
        monkeypatch.setattr(findings, "MOST_SCORED", 100)
        monkeypatch.setattr(report_module, "_MOST_DRAWN", 90)
        page = html_page(make_report(model, graph, settings=PCA))
        assert "100 of 150 labelled nodes, drawn at random" in page
        assert "90 of 150 nodes are shown" in page

    def test_the_same_report_has_the_same_bytes(self, document, model, graph):
        assert html_page(document) == html_page(make_report(model, graph, settings=PCA))


@pytest.fixture(scope="module")
def values(graph):
    return np.asarray(graph.labels) * 10.0 + np.arange(150) / 100


class TestValues:
    def test_scores_are_those_of_the_task(self, model, graph, values):
        document = make_report(model, graph, values, PCA)
        assert "Predictions" in titles(document)
        assert "How many labels are enough" not in titles(document)
        expected = summarize(evaluate(model, values, "regression", splits=10))
        shown = [cells[0] for cells in document.numbers("Scores").values()]
        assert shown == [mean_text(row) for row in expected.values()]

    def test_whole_numbers_may_be_values(self, model, graph):
        document = make_report(model, graph, settings=Settings(method="pca", task="regression"))
        assert "Predictions" in titles(document)

    def test_features_that_tell_values(self, graph, values):
        found = feature_values(graph, np.where(np.arange(150) % 7, values, np.nan))
        assert len(found) == 10
        name, count, mean, rest = found[0]
        column = graph.features.toarray()[:, list(graph.feature_names).index(name)] > 0
        known = np.arange(150) % 7 > 0
        assert count == (column & known).sum()
        assert mean == pytest.approx(values[column & known].mean())
        assert rest == pytest.approx(values[~column & known].mean())


class TestOddInput:
    def test_without_labels_there_are_clusters(self, graph):
        plain = AttributedGraph(graph.adjacency, graph.features)
        document = make_report(MUSAE(dimensions=16).fit(plain), plain, settings=PCA)
        assert titles(document) == ["The graph", "Map", "Features of clusters", "Examples", "How this was made"]

    def test_without_a_graph(self, model, graph):
        document = make_report(model, labels=graph.labels, settings=PCA)
        assert "The graph" not in titles(document)
        assert "Scores" in titles(document)

    def test_without_features(self, graph):
        plain = AttributedGraph(graph.adjacency, labels=graph.labels)
        for model in (HOPE(dimensions=32), DeepWalk(dimensions=16)):
            document = make_report(model.fit(plain), plain, settings=PCA)
            assert "Features of classes" not in titles(document)

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    @pytest.mark.parametrize("labels", [["one"] * 150, ["a", "b", *[None] * 148], [float("nan")] * 149 + [1.5]])
    def test_labels_that_cannot_be_scored_are_told(self, model, graph, labels):
        document = make_report(model, graph, np.array(labels, dtype=object), PCA)
        section = next(section for section in document.sections if section.title == "Scores")
        assert section.blocks[0].text.startswith("Vectors could not be scored on the labels: ")

    def test_nodes_in_another_order_are_matched(self, document, model, graph):
        order = np.random.default_rng(0).permutation(150)
        other = AttributedGraph(
            graph.adjacency[order][:, order],
            graph.features[order],
            node_ids=graph.node_ids[order],
            feature_names=graph.feature_names,
            labels=np.asarray(graph.labels)[order],
        )
        found = make_report(model, other, settings=PCA)
        for title in ("Scores", "Features of classes", "Examples"):
            assert found.numbers(title) == document.numbers(title)

    def test_another_graph_is_refused(self, model):
        with pytest.raises(GraphError, match="not that of the model: it has 160 nodes, of which 150"):
            make_report(model, datasets.planted_blocks(160), settings=PCA)

    def test_no_label_at_all(self, model, graph):
        document = make_report(model, graph, np.full(150, np.nan), PCA)
        assert "Scores" not in titles(document)

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_many_classes_of_few_nodes(self, model, graph):
        labels = np.array([f"class {i % 40}" for i in range(150)])
        document = make_report(model, graph, labels, PCA)
        tables = [block for block in document.sections[0].blocks if isinstance(block, Table)]
        assert tables[1].rows[-1][0] == "28 others"

    @pytest.mark.filterwarnings("ignore::hopscale.exceptions.HopscaleWarning")
    def test_two_nodes(self):
        pair = AttributedGraph(np.array([[0, 1], [1, 0]]), np.array([[1, 0], [0, 1]]), labels=["a", "b"])
        assert html_page(make_report(MUSAE(dimensions=4).fit(pair), pair, settings=PCA))


@pytest.fixture(scope="module")
def hostile(graph):
    named = AttributedGraph(
        graph.adjacency,
        graph.features,
        node_ids=[f"{HOSTILE}{v}" for v in range(150)],
        feature_names=[f"{HOSTILE}{f}" for f in range(graph.n_features)],
        labels=[f"_{HOSTILE}{label}" for label in graph.labels],
    )
    how = Settings(title=HOSTILE, method="pca", command=f"hopscale {HOSTILE}", said=[HOSTILE])
    return make_report(MUSAE(dimensions=16).fit(named), named, settings=how)


class TestPage:
    def test_names_are_text(self, hostile):
        page = html_page(hostile)
        found = Tags(page)
        assert not found.tags & {"script", "img", "iframe", "object"}
        assert not [name for name in found.attributes if name.startswith("on")]
        assert HOSTILE in "".join(found.text)

    def test_nothing_is_asked_of_a_network(self, document):
        page = html_page(document)
        assert "default-src 'none'" in page
        assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:)""", page)
        assert "@import" not in page

    def test_ids_are_unique(self, document):
        ids = re.findall(r'\bid="([^"]+)"', html_page(document))
        assert len(ids) == len(set(ids))

    def test_ink_has_the_colour_of_the_page(self, document):
        page = html_page(document)
        assert "prefers-color-scheme: dark" in page
        assert "currentColor" in page
        assert "#222222" not in page

    def test_markdown_has_pictures_beside_it(self, hostile, tmp_path):
        written = write_report(hostile, tmp_path / "my report.md")
        names = [block.name for section in hostile.sections for block in section.blocks if isinstance(block, Picture)]
        assert [path.name for path in written[1:]] == [f"{name}.svg" for name in names]
        text = written[0].read_text()
        assert all(f"(my%20report-figures/{name}.svg)" in text for name in names)
        assert not re.search(r"(?<!\\)<", "\n".join(line for line in text.splitlines() if not line.startswith("    ")))

    def test_lines_of_a_table_stay_lines_in_markdown(self, tmp_path):
        listing = Listing(["a table:\ncolumn  kind\nteam    label", "# no heading"])
        write_report(Document("t", "a", [Section("Read", [listing])]), tmp_path / "r.md")
        lines = (tmp_path / "r.md").read_text().splitlines()
        assert lines[-4:] == ["    a table:", "    column  kind", "    team    label", "    # no heading"]

    def test_names_from_right_to_left_leave_the_numbers_behind_them(self, graph):
        names = [f"city=القاهرة {at}" for at in range(graph.n_features)]
        arabic = AttributedGraph(graph.adjacency, graph.features, feature_names=names, labels=graph.labels)
        page = html_page(make_report(MUSAE(dimensions=8).fit(arabic), arabic, settings=PCA))
        assert re.search("\u2068city=القاهرة \\d+\u2069 \\(\\d", page)

    def test_files_that_cannot_be_written(self, document, tmp_path):
        with pytest.raises(ParameterError, match=r"\.html"):
            write_report(document, tmp_path / "report.txt")
        with pytest.raises(OutputError):
            write_report(document, tmp_path / "none" / "report.html")
