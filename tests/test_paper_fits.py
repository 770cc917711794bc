"""Several fits by a solver: a record of each, and one for all of them on pages."""

from __future__ import annotations

import pytest

from hopscale.paper import Options, experiments, reproduce
from hopscale.paper import options as options_module
from hopscale.paper.runner import measure_again
from hopscale.paper.store import Store, records_of

QUICK = {"dimensions": 8, "epochs": 1, "walks_per_node": 1}


def fit(seed, *scores, code="abc", seconds=1.0, **cell):
    cell = {"method": "AE", "solver": "sgns", "dataset": "cora", "parameters": {}, "seed": seed, **cell}
    facts = {"seconds": seconds, "rows": {}}
    by_class = {"micro_f1": list(scores), "by_k": {"3": list(scores)}}
    return {
        "cell": cell,
        "repeats": len(scores),
        "seconds": 2 * seconds,
        "sources": code,
        "fit": facts,
        "scores": by_class,
    }


@pytest.fixture
def store(tmp_path):
    def of(*records):
        found = Store(tmp_path / "r.jsonl")
        for record in records:
            found.append(record)
        return found

    return of


class TestRecords:
    def test_of_all_seeds_are_one(self, store):
        found = store(fit(1, 0.3, 0.4, seconds=3.0), fit(0, 0.1, 0.2), fit(2, 0.5, 0.6, seconds=5.0))
        (record,) = found.records()
        assert record["fits"] == 3
        assert record["cell"]["seed"] == 0
        assert record["repeats"] == 2
        assert record["scores"]["micro_f1"] == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
        assert record["scores"]["by_k"] == {"3": [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]}
        assert record["fit"]["seconds"] == 1.0
        assert record["seconds"] == pytest.approx(18.0)
        assert len(found.fits()) == 3

    def test_seconds_are_of_fits_on_as_many_threads_as_the_first(self, store):
        fits = [fit(seed, 0.1, seconds=seconds) for seed, seconds in ((0, 3.0), (1, 1.0), (2, 2.0))]
        for record, threads in zip(fits, (2, 1, 2), strict=True):
            record["fit"]["n_jobs"] = threads
        (record,) = store(*fits).records()
        assert (record["fit"]["n_jobs"], record["fit"]["seconds"]) == (2, 2.0)

    def test_of_one_seed_stay_as_they_are(self, store):
        assert store(fit(0, 0.1)).records() == [{**fit(0, 0.1), "code": "abc"}]

    def test_of_seeds_with_a_gap_stay_apart(self, store):
        first, second = store(fit(0, 0.1), fit(1, 0.2), fit(5, 0.3)).records()
        assert (first["fits"], second["cell"]["seed"]) == (2, 5)

    def test_of_other_cells_stay_apart(self, store):
        others = fit(1, 0.2, dataset="pubmed"), fit(1, 0.2, parameters={"epochs": 1}), fit(1, 0.2, solver="pmi")
        assert len(store(fit(0, 0.1), *others).records()) == 4

    def test_whose_seed_is_of_more_than_the_fit_stay_apart(self, store):
        """Transfer and the like: a record has all of its seeds, and what it scores has no facts of a single fit."""
        records = [{key: value for key, value in fit(seed, 0.1).items() if key != "fit"} for seed in (0, 1)]
        assert store(*records).records() == [{**record, "code": "abc"} for record in records]

    def test_by_the_latest_code_count_alone(self, store):
        old = [fit(seed, 0.1, code="old") for seed in range(3)]
        (record,) = store(*old, fit(0, 0.7)).records()
        assert (record.get("fits", 1), record["sources"], record["scores"]["micro_f1"]) == (1, "abc", [0.7])

    def test_with_the_most_splits_count_alone(self, store):
        (record,) = store(fit(0, 0.1, 0.2), fit(1, 0.3)).records()
        assert (record.get("fits", 1), record["scores"]["micro_f1"]) == (1, [0.1, 0.2])


class TestReproduce:
    @pytest.fixture(autouse=True)
    def small_world(self, monkeypatch):
        monkeypatch.setitem(options_module.DATASETS, "classification", ("planted-blocks",))

    def options(self, tmp_path, **changes):
        settings = {"methods": ("AE", "MUSAE"), "solvers": ("sgns",), "splits": 2, "parameters": QUICK}
        return Options(cache=tmp_path / "cache", **settings | changes)

    def test_what_stops_leaves_all_cells_with_the_fits_that_were_made(self, tmp_path, monkeypatch):
        real, calls = experiments.node_classification, []

        def stopped(*args, **kwargs):
            calls.append(args)
            if len(calls) == 6:  # of two methods, raw and standardised, three times
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(experiments, "node_classification", stopped)
        with pytest.raises(KeyboardInterrupt):
            reproduce(["classification"], self.options(tmp_path, fits=3), tmp_path)
        store = records_of(tmp_path, "classification")
        assert [record.get("fits", 1) for record in store.records()] == [2, 1, 1, 1]
        reproduce(["classification"], self.options(tmp_path, fits=3), tmp_path)
        assert [record.get("fits", 1) for record in store.records()] == [3] * 4
        assert len(calls) == 12 + 1  # the one that was stopped

    def test_what_several_machines_measured_counts_together(self, tmp_path):
        for seed in (0, 1):
            reproduce(["classification"], self.options(tmp_path, fits=1, seed=seed), tmp_path / str(seed))
        reproduce(["classification"], self.options(tmp_path, fits=2), tmp_path / "both")
        paths = [records_of(tmp_path / name, "classification").path for name in ("0", "1")]
        joined = records_of(tmp_path / "joined", "classification")
        joined.path.parent.mkdir(parents=True)
        joined.path.write_bytes(b"".join(path.read_bytes() for path in paths))
        both = records_of(tmp_path / "both", "classification").records()
        assert [record["scores"] for record in joined.records()] == [record["scores"] for record in both]
        said = []
        reproduce(["classification"], self.options(tmp_path, fits=2), tmp_path / "joined", say=said.append)
        assert said == ["8 of 8 cells are there, 0 to measure"]

    @pytest.mark.parametrize(("method", "fits"), [("AE", 2), ("SINE", 1)])
    def test_both_solvers_have_several_and_methods_without_a_choice_one(self, tmp_path, method, fits):
        chosen = {"methods": (method,), "solvers": ("pmi",), "parameters": {"dimensions": 8}}
        reproduce(["classification"], self.options(tmp_path, fits=2, **chosen), tmp_path)
        records = records_of(tmp_path, "classification").records()
        assert [record.get("fits", 1) for record in records] == [fits] * 2

    def test_each_can_be_measured_again(self, tmp_path):
        options = self.options(tmp_path, fits=2, methods=("AE",))
        reproduce(["classification"], options, tmp_path)
        said = []
        assert measure_again(["classification"], options, tmp_path, 9, say=said.append) == []
        assert len(said) == 4
        assert sum("seed=1" in line for line in said) == 2
