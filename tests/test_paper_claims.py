"""How claims of the paper are judged: by which figures, over which splits, and by which rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_paper_pages import MACHINE, add, page

from hopscale.paper import reference_values
from hopscale.paper.estimates import Estimate, paired
from hopscale.paper.pages import summary
from hopscale.paper.pages.differences import tendency
from hopscale.paper.pages.judges import comparisons, few_labels, links, run_time, transfer
from hopscale.paper.pages.printed_errors import printed_errors
from hopscale.paper.pages.records import Records
from hopscale.paper.store import records_of


def differences(*means):
    return {str(place): Estimate(mean, 0.01) for place, mean in enumerate(means)}


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((0.1, 0.1, 0.0), "holds"),
        ((0.1, 0.1, 0.1, -0.1), "holds in part"),
        ((0.1, 0.0, 0.0, 0.0), "holds in part"),
        ((0.1, 0.0, 0.0, 0.0, 0.0), "not shown"),  # one of five may be chance
        ((-0.1, 0.0, 0.0, 0.0), "does not hold"),
        ((-0.1, 0.0, 0.0, 0.0, 0.0), "not shown"),
        ((0.1, -0.1, 0.0), "mixed"),
        ((0.01, -0.01), "not shown"),
    ],
)
def test_a_tendency(means, verdict):
    assert tendency("pmi", differences(*means)).verdict == verdict


def test_only_data_sets_of_the_papers_table_are_counted():
    found = tendency("pmi", differences(0.1, -0.1, -0.1), counted={"0"})
    assert found.verdict == "holds"
    assert "clear on 1, reversed on 0 of 1. 0 +0.100" in found.cells
    assert "not in the paper's tables: 1 -0.100" in found.cells


def test_the_margin_of_labels_is_over_the_four_and_the_papers_networks(tmp_path):
    published = next(comparisons.margin_of_labels(Records(tmp_path)))
    table = {(row["method"], row["dataset"]): row["micro_f1"] for row in reference_values("classification")}
    # Node2Vec is above the four on twitch-pt, and is none of them.
    assert table["Node2Vec", "twitch-pt"] > max(table[name, "twitch-pt"] for name in ("AE-EGO", "MUSAE-EGO", "AE"))
    assert f"twitch-pt {table['APPNP', 'twitch-pt'] - table['MUSAE', 'twitch-pt']:+.3f}" in published.cells

    add(tmp_path, 0.80)
    add(tmp_path, 0.84, method="GCN", solver="labels")
    add(tmp_path, 0.95, method="SIGN", solver="labels")  # of which the paper has no figure
    records = records_of(tmp_path, "classification")
    long = {**records.records()[0], "repeats": 20}
    long["scores"] = {**long["scores"], "micro_f1": [*long["scores"]["micro_f1"], *[0.5] * 10]}
    records.append(long)  # more splits of ours: the network has the first ten alone
    add(tmp_path, 0.70, method="GAT", solver="labels")
    found, each = [e for e in comparisons.margin_of_labels(Records(tmp_path)) if e.source == "measured"]
    assert "median +0.040" in found.cells
    assert found.verdict == "does not hold"  # no data set on which it is within one hundredth
    assert "median -0.030. 1 of 2 are below" in each.cells


def test_an_upper_bound_is_above_on_every_data_set(tmp_path):
    found = {each.of: each for each in comparisons.upper_bound(Records(tmp_path))}
    table = {(row["method"], row["dataset"]): row["micro_f1"] for row in reference_values("classification")}
    four = ("AE", "AE-EGO", "MUSAE", "MUSAE-EGO")
    below = [d for (n, d) in table if n == "GraphSAGE" and table[n, d] < max(table[name, d] for name in four)]
    total = sum(name == "GraphSAGE" for name, _ in table)
    assert len(below) == 4
    assert found["GraphSAGE"].cells.startswith(f"7 of {total}. GraphSAGE")  # three of these are level
    assert found["GraphSAGE"].verdict == "holds in part"
    assert found["the best network"].verdict == "holds"
    for dataset in ("cora", "pubmed"):
        add(tmp_path, 0.80, dataset=dataset)
        add(tmp_path, 0.81, method="GCN", solver="labels", dataset=dataset)
        add(tmp_path, 0.81 if dataset == "cora" else 0.79, method="GAT", solver="labels", dataset=dataset)
    found = {each.of: each for each in comparisons.upper_bound(Records(tmp_path)) if each.source == "measured"}
    assert (found["GCN"].verdict, found["GAT"].verdict) == ("holds", "does not hold")


def test_the_models_of_the_papers_text_are_judged_by_themselves(tmp_path):
    for dataset in ("wiki-chameleon", "wiki-squirrel", "wiki-crocodile"):
        for method, mean in (("MUSAE", 0.6), ("AE", 0.5), ("MUSAE-TEXT", 0.3), ("AE-TEXT", 0.4)):
            add(tmp_path, mean, experiment="regression", method=method, dataset=dataset)
        add(tmp_path, 0.55, experiment="regression", method="TENE", solver="own", dataset=dataset)
    records = Records(tmp_path)
    scales = {each.source: each.verdict for each in comparisons.multi_scale("regression")(records)}
    assert (scales["pmi"], scales["pmi, the text's model"]) == ("holds", "does not hold")
    ahead = {each.source: each for each in comparisons.ours_ahead("regression")(records)}
    assert ahead["measured"].verdict == "holds"
    assert ahead["pmi, the text's model"].verdict == "does not hold"
    assert "wiki-squirrel -0.150" in ahead["pmi, the text's model"].cells  # the best of the text's, and not of the four


def add_transferred(folder, method, scores, *, solver="pmi", source="twitch-en", dataset="twitch-ru"):
    what = {"experiment": "transfer", "method": method, "solver": solver, "parameters": {}, "seed": 0}
    cell = {**what, "dataset": dataset, "source": source, "standardize": False}
    metrics = ("micro_f1", "roc_auc", "majority_micro_f1", "target_majority_micro_f1")
    record = {"cell": cell, "repeats": len(scores), "scores": dict.fromkeys(metrics, scores), "machine": MACHINE}
    records_of(folder, "transfer").append(record)


def test_transfer_by_a_method_of_this_library_is_told(tmp_path):
    add_transferred(tmp_path, "AE", around(0.5))
    add_transferred(tmp_path, "MUSAE", around(0.6), solver="sgns")
    add_transferred(tmp_path, "FeatureDiffusion", around(0.7), solver="own")
    papers, own = transfer.enabled(Records(tmp_path))
    assert (papers.verdict, own.verdict) == ("not judged", "does not hold")
    assert "minus a half: en to ru +0.200" in own.cells
    assert "AE and MUSAE by either solver: en to ru +0.100" in own.cells
    add_transferred(tmp_path, "MUSAE-TEXT", around(0.45))
    found = {each.source: each.cells for each in transfer.beats_random(Records(tmp_path))}
    assert "not MUSAE-TEXT en to ru 0.450" in found["pmi, the text's model"]
    assert "in 1 of 1 pairs of networks, clearly in 1 (en to ru +0.100" in page(tmp_path, "transfer")
    assert "| twitch-en | FeatureDiffusion | – | 0.700" in page(tmp_path, "transfer")


def add_few_shot(folder, method, scores, *, solver="pmi", dataset="facebook"):
    cell = {"method": method, "solver": solver, "dataset": dataset, "parameters": {}}
    record = {"cell": cell, "repeats": len(scores["3"]), "scores": {"micro_f1": scores}, "machine": MACHINE}
    records_of(folder, "few-shot").append(record)


def test_few_labels_are_judged_by_the_mean_over_k_of_each_draw(tmp_path):
    noise = np.random.default_rng(0).normal(0, 0.05, 40)
    add_few_shot(tmp_path, "AE", {"3": list(0.4 + noise), "9": list(0.6 + noise)})
    add_few_shot(tmp_path, "AE-EGO", {"3": list(0.4 + noise + 0.03), "9": list(0.6 + noise - 0.01)})
    (found,) = [each for each in few_labels.gain_of_ego(Records(tmp_path)) if each.source == "pmi"]
    assert found.verdict == "holds"
    assert "facebook +0.010" in found.cells
    printed = {each.source: each for each in few_labels.gain_of_ego(Records(tmp_path)) if each.of == "AE"}
    assert "± 0.000" in printed["published, our errors"].cells  # the difference is the same in each draw
    assert "±" not in printed["published"].cells
    add_few_shot(tmp_path, "TENE", {"3": list(0.39 + noise), "9": list(0.58 + noise)}, solver="own")
    first = next(each for each in few_labels.ours_ahead(Records(tmp_path)) if each.source == "measured")
    assert "facebook +0.025" in first.cells
    assert first.verdict == "holds"
    add_few_shot(tmp_path, "TADW", {"3": list(0.415 + noise), "9": list(0.59 + noise)}, solver="own")
    first = next(each for each in few_labels.ours_ahead(Records(tmp_path)) if each.source == "measured")
    assert first.verdict == "does not hold"  # clear, but no hundredth


@pytest.mark.parametrize(("gain", "verdict"), [(0.0, "holds"), (0.05, "does not hold")])
def test_ego_is_of_benefit_with_several_scales_only_if_one_scale_gains_nothing(tmp_path, gain, verdict):
    for dataset in ("wiki-chameleon", "wiki-squirrel", "wiki-crocodile"):
        for method, mean in (("MUSAE", 0.5), ("MUSAE-EGO", 0.6), ("AE", 0.5), ("AE-EGO", 0.5 + gain)):
            add(tmp_path, mean, experiment="regression", method=method, dataset=dataset)
    (found,) = [e for e in comparisons.only_multi_scale_gains_by_ego(Records(tmp_path)) if e.source == "pmi"]
    assert found.verdict == verdict


def test_the_best_baseline_is_the_one_that_was_measured(tmp_path):
    for dataset in ("wiki-chameleon", "wiki-squirrel", "wiki-crocodile"):
        add(tmp_path, 0.9, experiment="regression", method="MUSAE-EGO", dataset=dataset)
        add(tmp_path, 0.95, experiment="regression", method="TENE", solver="own", dataset=dataset)
    published = next(comparisons.best_baseline(Records(tmp_path / "empty")))
    found = next(each for each in comparisons.best_baseline(Records(tmp_path)) if each.source == "pmi")
    assert found.verdict == "does not hold"  # although far above every published figure
    assert "wiki-squirrel -0.050" in found.cells
    assert "wiki-chameleon +0.055" in published.cells


def test_published_figures_are_judged_with_their_errors_and_with_ours(tmp_path):
    for row in reference_values("regression"):
        if row["method"] in ("MUSAE", "AE"):  # whose scores vary by little here
            add(tmp_path, 0.5, experiment="regression", method=row["method"], dataset=row["dataset"])
    found = {
        each.source: each for each in comparisons.multi_scale("regression")(Records(tmp_path)) if each.of == "MUSAE"
    }
    assert found["published"].verdict == "not shown"
    assert "clear on 0, reversed on 0 of 3. wiki-chameleon +0.016 ± 0.037" in found["published"].cells
    assert "clear on 2, reversed on 1 of 3. wiki-chameleon +0.016 ± 0.00" in found["published, our errors"].cells


def test_rivals_of_few_labels_stand_beside_the_four_as_published_too(tmp_path):
    noise = np.random.default_rng(0).normal(0, 0.05, 40)
    add_few_shot(tmp_path, "AE", {"3": list(0.9 + noise), "9": list(0.9 + noise)})
    add_few_shot(tmp_path, "BANE", {"3": list(0.1 + noise), "9": list(0.1 + noise)}, solver="own")
    found = {each.source: each.cells for each in few_labels.ours_ahead(Records(tmp_path))}
    assert "facebook +0.800" in found["measured"]
    curve = [r["micro_f1"] for r in reference_values("few_shot") if (r["method"], r["dataset"]) == ("BANE", "facebook")]
    best = float(np.mean(curve))  # the best of the paper's rivals there
    assert f"facebook {0.9 + noise.mean() - best:+.3f}" in found["measured, others as published"]


def test_verdicts_of_several_parts_are_told_apart(tmp_path):
    add(tmp_path, 0.80)
    add(tmp_path, 0.80, method="AE")
    add(tmp_path, 0.80, method="AE-EGO")
    add(tmp_path, 0.90, method="MUSAE-EGO")
    (row,) = [line for line in page(tmp_path, "claims").splitlines() if line.startswith("| [Multi-scale")][:1]
    assert "pmi: not shown (MUSAE), holds (MUSAE-EGO)" in row


def test_printed_errors_say_of_how_many_splits_they_are(tmp_path):
    rows = {row["dataset"]: row for row in reference_values("classification") if row["method"] == "MUSAE"}
    deviation = rows["cora"]["standard_error"] * math.sqrt(25)
    scores = [0.85 + deviation / math.sqrt(2), 0.85 - deviation / math.sqrt(2)]  # of that deviation
    cell = {"method": "MUSAE", "solver": "pmi", "dataset": "cora", "standardize": False, "parameters": {}}
    record = {"cell": cell, "repeats": 2, "scores": {"micro_f1": scores}, "machine": MACHINE}
    records_of(tmp_path, "classification").append(record)
    text = " ".join(printed_errors("classification", Records(tmp_path)))
    ends = [(deviation / (rows["cora"]["standard_error"] + off)) ** 2 for off in (0.0005, -0.0005)]
    assert ends[0] < 25 < ends[1]
    assert f"those of fewer on cora ({ends[0]:.0f} to {ends[1]:.0f})" in text
    assert "2.0 times in the median" in text  # the root of 100 / 25
    assert printed_errors("classification", Records(tmp_path / "empty")) == []


def test_solvers_are_compared_over_the_same_splits(tmp_path):
    add(tmp_path, 0.800, dataset="cora")
    add(tmp_path, 0.801, dataset="cora", solver="sgns")
    add(tmp_path, 0.70, dataset="pubmed")
    add(tmp_path, 0.60, dataset="pubmed", solver="sgns")
    one, two = (Records(tmp_path).cell("classification", "MUSAE", way, "cora") for way in ("pmi", "sgns"))
    assert paired(one["scores"]["micro_f1"], two["scores"]["micro_f1"])[0].error < 1e-9
    text = "\n".join(summary.page(Records(tmp_path)))
    assert "clearly higher by `pmi` on pubmed, and by `sgns` on cora" in text


def add_held_out(folder, experiment, method, areas, solver="pmi", dataset="cora"):
    cell = {"experiment": experiment, "method": method, "solver": solver, "parameters": {}, "seed": 0}
    scores = {"roc_auc": areas, "average_precision": areas}
    record = {"cell": {**cell, "dataset": dataset}, "repeats": 5, "scores": scores, "machine": MACHINE}
    records_of(folder, experiment).append(record)


def around(mean):
    """Scores of five runs with one standard error of .001."""
    return [mean + each for each in (-0.002, -0.001, 0.0, 0.001, 0.002)]


class TestLinks:
    def test_each_pair_is_judged_by_its_best_operators(self, tmp_path):
        degrees = {"preferential_attachment": around(0.99)}
        for method, area in (("AE", 0.8), ("MUSAE", 0.9), ("AE-EGO", 0.8), ("MUSAE-EGO", 0.7)):
            areas = {"hadamard": around(0.5), "average": around(area), **degrees}
            add_held_out(tmp_path, "link-prediction", method, areas)
        published, first, second = links.above((("MUSAE", "AE"), ("MUSAE-EGO", "AE-EGO")))(Records(tmp_path))
        assert (published.source, published.verdict) == ("published", "not judged")
        assert (first.verdict, first.of) == ("holds", "MUSAE")
        assert "MUSAE minus AE" in first.cells
        assert "cora +0.100" in first.cells
        assert (second.verdict, second.of) == ("does not hold", "MUSAE-EGO")

    def test_others_count_by_their_best_solver(self, tmp_path):
        for method, solver, area in (("MUSAE-EGO", "pmi", 0.8), ("LINE2", "pmi", 0.7), ("LINE2", "sgns", 0.9)):
            add_held_out(tmp_path, "link-prediction", method, {"average": around(area)}, solver)
        _, found = links.as_good("MUSAE-EGO", ["LINE2"])(Records(tmp_path))
        assert found.verdict == "does not hold"
        assert "cora -0.100" in found.cells

    def test_others_that_are_ahead_of_the_four_are_told(self, tmp_path):
        for method, solver, area in (("AE", "pmi", 0.8), ("SINE", "own", 0.9), ("FeatureDiffusion", "own", 0.8)):
            areas = {"average": around(area), "preferential_attachment": around(0.5)}
            add_held_out(tmp_path, "link-prediction", method, areas, solver)
        text = page(tmp_path, "link-prediction")
        assert "Others are clearly ahead of our four on cora (SINE)." in text
        assert "FeatureDiffusion is nowhere clearly ahead of our four. It is level with them on cora." in text
        assert "Others are clearly ahead of our four on cora (SINE)." in "\n".join(summary.page(Records(tmp_path)))

    def test_what_degrees_know_alone_is_told(self, tmp_path):
        for method, area in (("AE", 0.8), ("MUSAE", 0.9), ("MUSAE-EGO", 0.95)):
            areas = {"average": around(area), "preferential_attachment": around(0.9)}
            add_held_out(tmp_path, "link-prediction", method, areas)
        text = "\n".join(summary.page(Records(tmp_path)))
        assert "On cora the product of degrees, which needs no vectors, is clearly above AE by `pmi`." in text
        assert "is level with MUSAE by `pmi`." in text
        assert "MUSAE-EGO by `pmi`" not in text


def test_hidden_features_are_level_with_popularity_within_errors(tmp_path):
    areas = {"popularity": around(0.8)[::-1], "product": around(0.8001), "likelihood": around(0.9)}
    add_held_out(tmp_path, "attribute-inference", "MUSAE", areas)
    text = "\n".join(summary.page(Records(tmp_path)))
    assert "ranked by the product, MUSAE by `pmi` is level on cora" in text
    assert "ranked by the likelihood, MUSAE by `pmi` is clearly above on cora" in text


def test_solvers_are_compared_with_few_labels(tmp_path):
    noise = np.random.default_rng(0).normal(0, 0.01, 40)
    for solver, few, more in (("pmi", 0.5, 0.9), ("sgns", 0.6, 0.8)):
        add_few_shot(tmp_path, "MUSAE", {"3": list(few + noise), "30": list(more + noise)}, solver=solver)
    text = "\n".join(summary.page(Records(tmp_path)))
    assert "With 3 labelled nodes of each class, `sgns` beside `pmi` is clearly above on facebook." in text
    assert "With 30 labelled nodes of each class, `sgns` beside `pmi` is clearly below on facebook." in text


def test_slopes_are_judged_over_all_sizes_as_well(tmp_path):
    for nodes, seconds in ((128, 1.0), (256, 1.0), (512, 1.0), (1024, 2.0), (2048, 4.0), (4096, 8.0)):
        size = {"varied": "nodes", "nodes": nodes, "features_per_node": 8, "threads": 1}
        cell = {"experiment": "runtime", "method": "AE", "solver": "pmi", "parameters": {}, "seed": 0, **size}
        record = {"cell": cell, "repeats": 2, "scores": {"seconds": [seconds, 1.5 * seconds]}, "machine": MACHINE}
        records_of(tmp_path, "runtime").append(record)
    found = {each.of: each for each in run_time.linear(Records(tmp_path)) if each.source == "pmi"}
    assert found["nodes"].verdict == "holds"
    assert "slopes in nodes: 1.00; 0 are steeper; over all sizes 0.6" in found["nodes"].cells
    assert "1.50 times as long as the quickest in the median of all cells, and 1.5 times" in page(tmp_path, "runtime")
