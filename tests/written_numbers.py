"""Numbers in the prose of pages that people write: each is followed by a comment that says where it comes from.

``.012<!--= published("Walklets", "citeseer") - rivals("Walklets", "citeseer", "both") -->`` is a number and its source,
an expression over the functions below, which read records, results of benchmarks, published tables and parameters. What
stands in code, links and generated blocks is no prose.
"""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from hopscale.datasets import published as paper_datasets
from hopscale.paper import METHODS, reference_values
from hopscale.paper.estimates import PAPER_SPLITS, TEST_SHARES, estimate
from hopscale.paper.pages.headline import TOLERANCES
from hopscale.paper.store import Measurements, records_of
from hopscale.supervised import SUPERVISED
from hopscale.tasks import node_classification

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "docs" / "paper"

_NUMBER = r"(?<![\w.^/{}\\¹²³-])[−+-]?(?:\d+(?:,\d{3})+|\d*\.?\d+)(?![\w.]*\d)(?!\w)"
_FOUND = re.compile(rf"(?P<number>{_NUMBER})(?P<percent>\s?%)?(?:<!--= (?P<source>.*?) -->)?")
_NO_PROSE = (
    re.compile(r"<!-- benchmarks:.*?<!-- /benchmarks -->", re.DOTALL),
    re.compile(r"```.*?```", re.DOTALL),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"<!-- (?!=).*?-->", re.DOTALL),
    re.compile(r"(?<=\])\([^)]*\)"),  # where a link leads
    re.compile(r"`[^`]*`"),
)


def prose(page: Path) -> str:
    """The text of a page without what is not prose."""
    text = page.read_text(encoding="utf-8")
    for pattern in _NO_PROSE:
        text = pattern.sub(" ", text)
    return text


def mistakes(page: Path) -> list[str]:
    """Numbers of a page without source, or that are not what their source says."""
    found = []
    for match in _FOUND.finditer(prose(page)):
        shown = match["number"].replace(",", "").replace("−", "-")
        where = f"{page.name}: {match['number']}"
        if match["source"] is None:
            found.append(f"{where} has no source")
            continue
        value = float(eval(match["source"], dict(_KNOWN))) * (
            100 if match["percent"] else 1
        )  # expressions of our pages
        digits = len(shown.partition(".")[2])
        if abs(value - float(shown)) > 0.5 * 10**-digits * (1 + 1e-9):
            found.append(f"{where} should be {value:.{digits}f}, by {match['source']}")
    return found


def parameter(method: str, name: str, solver: str | None = None) -> Any:
    """A setting of a method of the paper's tables."""
    return METHODS[method].build(solver).settings()[name]


def network(name: str, setting: str) -> Any:
    """A setting of a supervised network."""
    return SUPERVISED[name]().get_params(deep=False)[setting]


def published(method: str, dataset: str, what: str | None = None) -> float:
    """A figure of the paper's tables of scores, or its standard error."""
    for table, metric in (("classification", "micro_f1"), ("regression", "r2")):
        for row in reference_values(table):
            if (row["method"], row["dataset"]) == (method, dataset):
                return float(row[what or metric])
    raise KeyError((method, dataset))


def best_published(dataset: str, *, without: str = "") -> float:
    """The best figure of the paper's table of classification, without a method."""
    rows = reference_values("classification")
    return max(float(r["micro_f1"]) for r in rows if r["dataset"] == dataset and r["method"] != without)


def methods_published(dataset: str) -> int:
    """How many methods the paper's table of classification has."""
    return sum(row["dataset"] == dataset for row in reference_values("classification"))


def statistic(dataset: str, name: str) -> float:
    """A statistic of a data set."""
    return float(paper_datasets()[dataset].statistics[name])


def printed_statistic(dataset: str, name: str) -> float:
    """A statistic of a data set in the paper's table."""
    return float(paper_datasets()[dataset].paper[name])


def retrained(method: str) -> float:
    """The paper's score of a fit to twitch-pt itself, in its figure of transfer."""
    (found,) = {
        row["retrained_on_target_micro_f1"]
        for row in reference_values("transfer")
        if (row["method"], row["target"]) == (method, "twitch-pt")
    }
    return float(found)


def best_transfer(target: str) -> float:
    """The best of the paper's scores of transfer to a network."""
    return max(float(row["micro_f1"]) for row in reference_values("transfer") if row["target"] == target)


def commonest_class(dataset: str) -> float:
    """Share of the commonest class of a Twitch network that others were transferred to."""
    record = _measurements("transfer").get(dataset=dataset)
    assert record is not None
    return estimate(record["scores"]["target_majority_micro_f1"]).mean


def nodes_tested(dataset: str, share: float = 0.2) -> int:
    """Nodes in the test part of a split."""
    return round(share * paper_datasets()[dataset].statistics["nodes"])


def rivals(method: str, dataset: str, way: str) -> float:
    """A figure of the benchmark on settings of rivals."""
    return _one("rivals_scores", method=method, dataset=dataset, way=way)["score"]


def rivals_setting(method: str, dataset: str, name: str) -> Any:
    """A setting that the benchmark on rivals tried instead."""
    return _one("rivals_scores", method=method, dataset=dataset, way="other settings")["parameters"][name]


def rivals_splits() -> int:
    """Splits of the benchmark on rivals."""
    (splits,) = {record["splits"] for record in _results("rivals_scores")}
    return int(splits)


def searched_gains() -> list[float]:
    """Where searched values of node2vec's p and q score higher than none on test parts: by how much."""
    gains = []
    for line in (ROOT / "benchmarks" / "results" / "node2vec_search.md").read_text(encoding="utf-8").splitlines()[2:]:
        cells = [cell.strip() for cell in line.split("|")]
        gains.append(float(cells[6]) - float(cells[7]))
    return [gain for gain in gains if gain > 0]


def score_deviation(dataset: str) -> float:
    """Deviation of the share of right answers over test parts, drawn from the same nodes, if the score is APPNP's."""
    score = published("APPNP", "twitch-pt")
    return float((score * (1 - score) / nodes_tested(dataset) * (1 - TEST_SHARES["classification"])) ** 0.5)


def result(name: str, key: str, **what: Any) -> Any:
    """A value of the record of a benchmark that has these values."""
    return _one(name, **what)[key]


def constant(program: str, name: str) -> Any:
    """A constant that a benchmark or a test works with."""
    import ast

    tree = ast.parse((ROOT / "benchmarks" / f"{program}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    raise KeyError(name)


def evaluation(setting: str) -> Any:
    """A setting of the classifier that scores vectors, by default."""
    return inspect.signature(node_classification).parameters[setting].default


def by_base(base: str) -> float:
    """What R² of raw vectors gains, in the mean, by another base of the logarithm than the natural one."""
    records = [record for record in _results("open_questions") if "base" in record and not record["standardize"]]
    means = {
        each: sum(r["score"] for r in records if r["base"] == each) / sum(r["base"] == each for r in records)
        for each in ("natural", base)
    }
    return float(means[base] - means["natural"])


@cache
def _measurements(experiment: str) -> Measurements:
    return Measurements(records_of(PAPER, experiment).records())


@cache
def _results(name: str) -> list[dict[str, Any]]:
    text = (ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8")
    return list(json.loads(text)["records"])


def _one(name: str, **what: Any) -> dict[str, Any]:
    (found,) = [record for record in _results(name) if what.items() <= record.items()]
    return found


_KNOWN = {
    each.__name__: each
    for each in (
        parameter, network, published, best_published, methods_published, statistic,
        printed_statistic, commonest_class, retrained, best_transfer, nodes_tested, rivals,
        rivals_setting, rivals_splits, searched_gains, score_deviation, result, constant, evaluation, by_base,
        min, max, abs, sum, len,
    )
} | {"TOLERANCES": TOLERANCES, "PAPER_SPLITS": PAPER_SPLITS}  # fmt: skip
