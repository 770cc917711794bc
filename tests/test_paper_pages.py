"""What pages say of records that are made up: which setting comes first, who is ahead, which claims hold."""

from __future__ import annotations

import numpy as np
import pytest

from hopscale.paper import EXPERIMENTS, reference_values, render
from hopscale.paper.pages import runtime
from hopscale.paper.pages.differences import tendency
from hopscale.paper.pages.headline import one_setting, others_ahead, shortfalls, verdicts
from hopscale.paper.pages.records import Records
from hopscale.paper.store import Measurements, records_of

MACHINE = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
NOISE = np.random.default_rng(0).normal(0, 0.003, 10)


def add(folder, mean, *, experiment="classification", method="MUSAE", solver="pmi", dataset="cora", **more):
    """A record whose splits vary, the same way for all methods."""
    metric, baseline = {"classification": ("micro_f1", "majority_micro_f1"), "regression": ("r2", "mean_r2")}[
        experiment
    ]
    cell = {"method": method, "solver": solver, "dataset": dataset, "standardize": False, "parameters": {}, **more}
    scores = {metric: list(mean + NOISE - NOISE.mean()), baseline: [0.0] * 10}
    record = {"cell": cell, "repeats": 10, "scores": scores, "machine": MACHINE, "fit": {"seconds": 1.0}}
    records_of(folder, experiment).append(record)


def page(folder, name="classification"):
    render([name if name in EXPERIMENTS else "classification"], folder)
    return (folder / f"{name}.md").read_text(encoding="utf-8")


def measured(folder, experiment="classification"):
    return Measurements(records_of(folder, experiment).records())


def test_one_setting_is_not_the_best_of_several(tmp_path):
    for method, solver, mean in (("MUSAE", "pmi", 0.80), ("MUSAE", "sgns", 0.90), ("AE", "pmi", 0.95)):
        add(tmp_path, mean, method=method, solver=solver)
    (found,) = one_setting("classification", measured(tmp_path))
    assert found.here.mean == pytest.approx(0.80)
    told = verdicts("classification", [found])
    assert told.startswith("It is above the best published figure on 0 of 1 data sets, and clearly below on cora.")
    others = "facebook, github, twitch-pt, lastfm-asia, deezer-europe, citeseer, pubmed"
    assert told.endswith(f"The paper has {others} as well, not measured here.")
    text = page(tmp_path)
    assert text.index("## One setting for all data sets") < text.index("## Best of ours against the best published")
    assert "(AE, pmi)" in text[text.index("## Best of ours") :]


def test_figures_are_reproduced_on_either_side(tmp_path):
    published = {r["dataset"]: r["micro_f1"] for r in reference_values("classification") if r["method"] == "MUSAE"}
    for dataset, apart in (("cora", 0.005), ("citeseer", -0.005), ("pubmed", 0.05), ("facebook", -0.05)):
        add(tmp_path, published[dataset] + apart, dataset=dataset)
    (row,) = [line for line in page(tmp_path).splitlines() if line.startswith("| our four | its default |")]
    # Four figures, two reproduced, three met or above, one above and one below.
    figures, reproduced, _, met, above, below = (int(cell) for cell in row.split("|")[3:-1])
    assert (figures, reproduced, met, above, below) == (4, 2, 3, 1, 1)
    missed, compared = shortfalls(measured(tmp_path), "classification")
    assert compared == 4
    assert [(each.method, each.dataset) for each in missed] == [("MUSAE", "facebook")]


def test_other_methods_that_are_ahead_are_named(tmp_path):
    add(tmp_path, 0.80)
    add(tmp_path, 0.82, method="SINE", solver="own")
    add(tmp_path, 0.90, method="MUSAE-TEXT")  # ours, though not one of the four
    ((ours, theirs, difference, splits),) = others_ahead("classification", measured(tmp_path))
    assert (ours["cell"]["method"], theirs["cell"]["method"], splits) == ("MUSAE", "SINE", 10)
    assert difference.mean == pytest.approx(-0.02)
    assert difference.verdict == "below"
    assert "Others are clearly ahead of our four on cora (SINE)." in page(tmp_path)
    assert "clearly ahead of our four on cora (SINE)." in page(tmp_path, "summary")
    add(tmp_path, 0.70, dataset="pubmed")
    add(tmp_path, 0.70, method="SINE", solver="own", dataset="pubmed")
    assert "on cora (SINE). They are level with them on pubmed (SINE)." in page(tmp_path)


def test_claims_are_judged_by_clear_differences(tmp_path):
    for dataset, apart in (("cora", 0.05), ("citeseer", 0.05), ("pubmed", 0.0)):
        add(tmp_path, 0.70 + apart, dataset=dataset)
        add(tmp_path, 0.70, method="AE", dataset=dataset)
    found = Records(tmp_path).between("classification", "MUSAE", "AE", "pmi")
    assert tendency("pmi", found).verdict == "holds"
    add(tmp_path, 0.70, dataset="facebook")
    add(tmp_path, 0.80, method="AE", dataset="facebook")
    assert tendency("pmi", Records(tmp_path).between("classification", "MUSAE", "AE", "pmi")).verdict == "holds in part"
    text = page(tmp_path, "claims")
    assert "- **pmi: holds in part.** MUSAE minus AE: clear on 2, reversed on 1 of 4." in text
    assert "- **published: not shown.** MUSAE minus AE: clear on 0, reversed on 0 of 8." in text


def test_links_of_claims_lead_to_their_sections(tmp_path):
    add(tmp_path, 0.8)
    add(tmp_path, 0.8, method="AE")
    lines = page(tmp_path, "claims").splitlines()
    headings = {line[3:] for line in lines if line.startswith("## ")}
    linked = {line.split("](#")[0].removeprefix("| [") for line in lines if line.startswith("| [")}
    assert headings == linked
    assert len(headings) >= 3


def test_slopes_are_those_of_powers():
    assert runtime.slope({2.0**k: 3.0 * 2.0 ** (1.5 * k) for k in range(8)}) == pytest.approx(1.5)
    fixed = {2.0**k: 100.0 + 2.0**k for k in range(4)} | {2.0**k: 2.0**k for k in range(4, 8)}
    assert runtime.slope(fixed) == pytest.approx(1.0)  # what is fixed counts for small sizes only
    assert runtime.slope({2.0: 1.0}) is None


def runtimes(folder, threads, seconds_of, machine=MACHINE):
    """Records of AE by skip-gram on some threads, with seconds by features of a node."""
    for features, seconds in seconds_of.items():
        varied = {"varied": "features_per_node", "nodes": 64, "features_per_node": features, "threads": threads}
        cell = {"method": "AE", "solver": "sgns", **varied}
        record = {"cell": cell, "repeats": len(seconds), "scores": {"seconds": seconds}, "machine": machine}
        records_of(folder, "runtime").append(record)


def test_gains_of_threads_are_ratios(tmp_path):
    runtimes(tmp_path, 1, {8: [4.0, 6.0], 256: [40.0]})
    runtimes(tmp_path, 2, {8: [2.5], 256: [40.0]})
    found = runtime.gains(measured(tmp_path, "runtime"), "sgns", "AE", 2)
    assert found == pytest.approx((2.0, 1.0))
    text = page(tmp_path, "runtime")
    assert "| AE | sgns | 2 | 2.00 | 1.00 |" in text
    assert "| AE | sgns | 1 | 5.000 | 40.000 |" in text  # means of the runs
    assert "across processors" not in text


def test_seconds_of_another_processor_are_shown_but_give_no_gain(tmp_path):
    runtimes(tmp_path, 1, {8: [4.0], 256: [40.0]})
    runtimes(tmp_path, 4, {8: [1.0], 256: [10.0]}, {**MACHINE, "processor": "slower"})
    assert runtime.gains(measured(tmp_path, "runtime"), "sgns", "AE", 4) is None
    text = page(tmp_path, "runtime")
    assert "| AE | sgns | 4 | 1.000 | 10.000 |" in text
    assert "Threads: 1 on p; 4 on slower. Gains of threads are not told across processors." in text
