"""Figures in the README and on pages are those of the benchmarks' result files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def test_figures_are_those_of_the_result_files() -> None:
    from readme import PAPER, RESULTS, SHOWN, with_results

    for page in SHOWN:
        text = page.read_text(encoding="utf-8")
        assert with_results(text, RESULTS, PAPER) == text, f"{page.name}: run `make readme`"


def test_figures_of_the_page_on_vectors_are_those_of_the_records() -> None:
    from choosing_vectors import RESULTS, tables

    for name, table in tables().items():
        assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == table + "\n", f"{name}: run `make readme`"


def test_figures_of_the_readme_are_those_of_the_records() -> None:
    from compared import NAME, PAIRS, RESULTS, table

    shown = table(json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))["records"])
    assert (RESULTS / f"{NAME}.md").read_text(encoding="utf-8") == shown + "\n", "run `make readme`"
    assert len(shown.splitlines()) == 2 + len(PAIRS)


def test_results_replace_what_a_hand_has_typed(tmp_path: Path) -> None:
    from readme import with_results

    (tmp_path / "speed.md").write_text("# Speed\n\n| fast |\n")
    typed = "<!-- benchmarks:speed -->\n100×\n<!-- /benchmarks -->\nand\n<!-- benchmarks:size -->\n<!-- /benchmarks -->"
    assert with_results(typed, tmp_path).splitlines() == [
        "<!-- benchmarks:speed -->",
        "| fast |",
        "<!-- /benchmarks -->",
        "and",
        "<!-- benchmarks:size -->",
        "*size: not run yet.*",
        "<!-- /benchmarks -->",
    ]


@pytest.mark.parametrize(
    "text", ["<!-- benchmarks:a -->\n", "<!-- benchmarks:a -->\n<!-- benchmarks:b -->\n<!-- /benchmarks -->"]
)
def test_marks_come_in_pairs(text: str, tmp_path: Path) -> None:
    from readme import with_results

    with pytest.raises(ValueError, match=r"closed|pairs"):
        with_results(text, tmp_path)
