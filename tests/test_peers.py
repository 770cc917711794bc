"""The program that measures other libraries, without any: scripts, failures, turns and tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hopscale.datasets import planted_blocks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).resolve().parent.parent / "benchmarks")
    import libraries

    return libraries


@pytest.fixture
def peers(libraries: ModuleType) -> ModuleType:
    import peers

    return peers


def record(method: str, library: str, model: str, **more: object) -> dict[str, object]:
    return {"dataset": "x", "run": "1", "method": method, "library": library, "model": model, "version": "1", **more}


def timed(seconds: float) -> dict[str, float]:
    return {"seconds": seconds, "cpu_seconds": 2 * seconds, "before_mib": 100.0, "peak_mib": 150.0, "score": 0.5}


class TestScripts:
    def test_a_model_of_ours_is_fitted_as_it_would_be_here(self, libraries: ModuleType, tmp_path: Path) -> None:
        from hopscale import DeepWalk

        graph = planted_blocks(n_nodes=80, p_in=0.5)
        libraries.keep(graph, str(tmp_path))
        contender = libraries.here("DeepWalk", dimensions=8, window=2)
        found = libraries.run(
            Path(sys.executable), contender.script, 120.0, str(tmp_path), str(tmp_path / "vectors.npy")
        )
        assert found["seconds"] > 0
        assert found["peak_mib"] >= found["before_mib"] > 0
        expected = DeepWalk(8, window=2).fit_transform((graph.adjacency, graph.features))
        np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), expected)

    @pytest.mark.parametrize(
        ("script", "reason"),
        [
            ("raise ValueError('no such thing (/home/somebody/x.py)')", "ValueError: no such thing"),
            ("import os; os.abort()", "exit code -6"),
            ("import time; time.sleep(60)", "over 1 s"),
            ("raise OSError('nothing at https://example.org/simple/x')", "OSError: nothing at"),
        ],
    )
    def test_a_failure_has_a_reason_without_paths(self, libraries: ModuleType, script: str, reason: str) -> None:
        assert libraries.run(Path(sys.executable), script, 1.0) == {"failed": reason}


class TestTurns:
    def test_contenders_take_turns_and_long_ones_run_once(
        self, peers: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seconds = {"quick": 1.0, "long": 90.0}
        contenders = [peers.Contender("hopscale", name, name) for name in ("quick", "long")]
        contenders.append(peers.Contender("gone", "absent", "absent"))
        kept = []

        def run(python: Path, script: str, limit: float, *arguments: str) -> dict[str, float]:
            kept.append(len(arguments) == 2)
            return timed(seconds[script])

        monkeypatch.setattr(peers, "run", run)
        places = {
            "hopscale": peers.Environment(Path(sys.executable), "1"),
            "gone": peers.Environment(None, failed="pip: no such distribution"),
        }
        options = argparse.Namespace(repeats=3, limit=100.0)
        found = [(each.model, outcome) for each, outcome in peers.turns(contenders, places, options, "folder")]
        assert [name for name, _ in found] == ["quick", "long", "absent", "quick", "quick"]
        assert found[2][1] == {"failed": "pip: no such distribution"}
        assert kept == [True, True, False, False]  # vectors of the first turn only


class TestTables:
    @pytest.fixture
    def records(self) -> list[dict[str, object]]:
        return [
            record("LINE", "grape", "FirstOrderLINE, SecondOrderLINE", **timed(12.0)),
            record("LINE", "hopscale", "LINE, sgns", **timed(4.0)),
            record("LINE", "hopscale", "LINE, sgns", **timed(8.0)),
            record("LINE", "hopscale", "LINE, sgns", **timed(6.0)),
            record("LINE", "hopscale", "LINE, sgns", failed="over 1 s"),
            record("NetMF", "hopscale", "NetMF", **timed(1.0)),
            record("NetMF", "karateclub", "NetMF", failed="over 9 s"),
        ]

    def test_ratios_are_those_of_medians(self, peers: ModuleType, records: list[dict[str, object]]) -> None:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in peers.table(records).splitlines()[2:]]
        assert rows == [
            ["LINE", "hopscale: LINE, sgns", "6.00", "12.00", "50", "0.500", "", ""],
            ["LINE", "grape 1: FirstOrderLINE, SecondOrderLINE", "12.00", "24.00", "50", "0.500", "2×", "2×"],
            ["NetMF", "hopscale: NetMF", "1.00", "2.00", "50", "0.500", "", ""],
            ["NetMF", "karateclub 1: NetMF", "over 9 s", "", "", "", "", ""],
        ]
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in peers.summary(records).splitlines()[2:]]
        assert [row[2:4] for row in rows] == [["6.0 / 12.0", "2×"], ["1.0 / over 9 s", "–"]]

    def test_others_are_kept(
        self, peers: ModuleType, records: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(peers, "RESULTS", tmp_path)
        monkeypatch.setattr("measure.RESULTS", tmp_path)
        monkeypatch.setattr(peers, "PLOT", tmp_path / "plot")
        peers.show([*records, record("a method of old", "hopscale", "X", **timed(1.0))])
        new = [record("LINE", "hopscale", "LINE, sgns", **{**timed(2.0), "run": "2"})]
        kept = peers.others(new)
        assert kept == records  # ours of the run in which grape was measured are what it is compared with
        peers.show([*kept, *new])
        assert "2.00" in (tmp_path / "peers.md").read_text()
        assert "6.0 / 12.0" in (tmp_path / "peers_summary.md").read_text()
        new.append(record("LINE", "grape", "FirstOrderLINE, SecondOrderLINE", **{**timed(12.0), "run": "2"}))
        assert peers.others(new) == [each for each in records if each["method"] == "NetMF"]
        peers.show([*peers.others(new), *new])
        assert "2.0 / 12.0 | 6×" in (tmp_path / "peers_summary.md").read_text()

    def test_every_contender_has_a_place_of_its_own(self, peers: ModuleType) -> None:
        for contenders in peers.METHODS.values():
            assert contenders[0].library == "hopscale"
            assert len({(each.library, each.model) for each in contenders}) == len(contenders)
        assert set(peers.METHODS) >= peers.ATTRIBUTED
        used = {each.library for contenders in peers.METHODS.values() for each in contenders}
        assert used == {"hopscale", *peers.LIBRARIES}
