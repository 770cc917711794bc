"""The paper's experiments on small built-in data: what is kept, what is resumed, what is written."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hopscale import MUSAE, datasets
from hopscale.cli import reproduction
from hopscale.cli.commands import hopscale as command
from hopscale.exceptions import DownloadError, FileFormatError, ParameterError
from hopscale.paper import EXPERIMENTS, METHODS, Options, experiments, reference_values, render, reproduce
from hopscale.paper import options as options_module
from hopscale.paper.densification import nonzero_ratios
from hopscale.paper.fits import Fit, FitError, fitted, fitted_model
from hopscale.paper.store import Measurements, Store, records_of
from hopscale.paper.theory import distance_from_theory, target_matrix
from hopscale.tasks.metrics import mean_and_error
from reference import dense, pmi

SMALL = {"dimensions": 16}
_WRITTEN = {"classification.md", "overview.md", "claims.md", "summary.md"}


class TestReferenceValues:
    def test_tables_are_complete(self):
        counts = {"classification": 23 * 8, "regression": 16 * 3, "few_shot": 9 * 3 * 10, "transfer": 20}
        counts |= {"runtime": 2 * 3 * (6 + 8), "densification": 6 * 8}
        assert {table: len(reference_values(table)) for table in counts} == counts

    def test_what_the_text_says_of_them(self):
        rows = {(r["method"], r["dataset"]): r["micro_f1"] for r in reference_values("classification")}
        assert rows["AE-EGO", "facebook"] == 0.899
        assert rows["MUSAE", "twitch-pt"] == 0.672


class TestStore:
    def record(self, value, repeats=2, **cell):
        return {"cell": {"method": "AE", **cell}, "repeats": repeats, "scores": {"r2": [value] * repeats}}

    def test_gives_back_what_was_appended(self, tmp_path):
        store = Store(tmp_path / "new" / "r.jsonl")
        assert store.records() == []
        records = [self.record(0.1, dataset="a"), self.record(0.2, dataset="b")]
        for record in records:
            store.append(record)
        assert store.records() == [{**record, "code": None} for record in records]

    def test_of_two_records_of_a_cell_the_longer_one_counts(self, tmp_path):
        store = Store(tmp_path / "r.jsonl")
        for repeats in (3, 10, 5):
            store.append(self.record(repeats, repeats=repeats))
        (kept,) = store.records()
        assert kept["repeats"] == 10

    def test_a_line_that_was_cut_off_is_dropped_and_written_over(self, tmp_path):
        store = Store(tmp_path / "r.jsonl")
        store.append(self.record(0.1, dataset="a"))
        whole = store.path.read_bytes()
        store.path.write_bytes(whole + whole[: len(whole) // 2])
        assert len(store.records()) == 1
        store.append(self.record(0.2, dataset="b"))
        assert [r["cell"]["dataset"] for r in store.records()] == ["a", "b"]
        assert store.path.read_bytes().startswith(whole)

    @pytest.mark.parametrize("line", ["{", "[]", "{}", '{"cell": 1, "repeats": "x"}', "text"])
    def test_a_foreign_line_is_named(self, tmp_path, line):
        path = tmp_path / "r.jsonl"
        Store(path).append(self.record(0.1))
        path.write_text(path.read_text() + line + "\n" + json.dumps(self.record(0.3)) + "\n")
        with pytest.raises(FileFormatError, match="line 2"):
            Store(path).records()


class TestFits:
    def test_are_those_of_the_model_and_are_made_once(self, tmp_path, monkeypatch):
        fit = Fit("MUSAE-EGO", "pmi", "planted-blocks", parameters=SMALL)
        vectors, facts = fitted(fit, tmp_path)
        graph = datasets.load("planted-blocks")
        assert np.array_equal(vectors, MUSAE(ego=True, **SMALL).fit_transform(graph))
        assert facts["seconds"] > 0
        assert facts["rows"].keys() == {"0", "1", "2", "3"}

        monkeypatch.setattr("hopscale.paper.fits._in_a_process", None)
        again, same = fitted(fit, tmp_path)
        assert np.array_equal(again, vectors)
        assert same == facts

    def test_nodes_of_another_graph_are_placed_once(self, tmp_path, monkeypatch):
        fit, target = (
            Fit("MUSAE", "pmi", "planted-blocks", parameters=SMALL),
            datasets.planted_blocks(60, random_state=1),
        )
        model = MUSAE(**SMALL).fit(datasets.load("planted-blocks"))
        kept = fitted_model(fit, "other", tmp_path)
        assert np.array_equal(kept.embedding_, model.embedding_)
        expected = model.transform(target)
        assert np.array_equal(kept.transform(target), expected)
        monkeypatch.setattr(MUSAE, "transform", None)
        assert np.array_equal(fitted_model(fit, "other", tmp_path).transform(target), expected)

    def test_the_commit_is_that_of_the_code_and_not_of_where_it_is_called(self, tmp_path, monkeypatch):
        monkeypatch.delenv("HOPSCALE_COMMIT", raising=False)
        code = "from hopscale.paper.machine import machine; print(machine().get('commit'))"
        git, root = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C"], Path(__file__).resolve().parents[1]
        subprocess.run([*git, str(tmp_path), "init", "-q"], check=True)
        subprocess.run([*git, str(tmp_path), "commit", "-q", "--allow-empty", "-m", "other"], check=True)
        found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        here = subprocess.run([*git, str(root), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
        assert found.stdout.strip().rstrip("+") == (here.stdout.strip() if (root / ".git").exists() else "None")
        monkeypatch.setenv("HOPSCALE_COMMIT", "abc")
        found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == "abc"

    def test_memory_is_that_of_the_process_alone(self):
        held = np.ones(300 << 17)  # 300 MiB here are none of the other's
        code = "from hopscale.paper.machine import peak_mib; print(peak_mib())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "None" or float(done.stdout) < held.nbytes / 2**20

    def test_one_that_was_interrupted_is_made_again(self, tmp_path):
        fit = Fit("AE", "pmi", "figure1", parameters={"dimensions": 4})
        vectors, _ = fitted(fit, tmp_path)
        (tmp_path / f"{fit.stem}.safetensors").unlink()  # by somebody in need of room
        assert np.array_equal(fitted(fit, tmp_path)[0], vectors)
        (tmp_path / f"{fit.stem}.json").unlink()  # written last
        (tmp_path / f"{fit.stem}.safetensors").write_bytes(b"half")
        assert np.array_equal(fitted(fit, tmp_path)[0], vectors)

    def test_differ_in_name_if_in_anything(self):
        base = {"method": "AE", "solver": "pmi", "dataset": "cora", "seed": 0, "parameters": {}}
        changes = {"method": "MUSAE", "solver": "sgns", "dataset": "pubmed", "seed": 1, "parameters": {"window": 2}}
        stems = {Fit(**base).stem, *(Fit(**{**base, key: value}).stem for key, value in changes.items())}
        assert len(stems) == 6

    def test_a_failure_says_what_and_why(self, tmp_path):
        with pytest.raises(FitError, match=r"AE \(pmi\) on atlantis: .*no data set 'atlantis'"):
            fitted(Fit("AE", "pmi", "atlantis"), tmp_path)
        with pytest.raises(FitError, match="no parameter 'windows'"):
            fitted(Fit("AE", "pmi", "figure1", parameters={"windows": 2}), tmp_path)
        assert not list(tmp_path.glob("*.json"))


@pytest.fixture
def small_world(monkeypatch):
    """The experiments on built-in graphs."""
    for experiment in ("classification", "few-shot", "link-prediction", "attribute-inference"):
        monkeypatch.setitem(options_module.DATASETS, experiment, ("planted-blocks",))
    monkeypatch.setattr(experiments, "SAMPLES_PER_CLASS", (3, 30))


def options(tmp_path, **changes):
    settings = {"methods": ("MUSAE", "DeepWalk"), "solvers": ("pmi",), "splits": 3, "fits": 1, "parameters": SMALL}
    return Options(cache=tmp_path / "cache", **settings | changes)


@pytest.mark.usefixtures("small_world")
class TestReproduce:
    def test_measures_each_cell_once_and_more_splits_on_top(self, tmp_path):
        assert reproduce(["classification"], options(tmp_path), tmp_path) == []
        store = records_of(tmp_path, "classification")
        first = store.records()
        assert len(first) == 2 * 2  # methods, raw and standardised
        for record in first:
            assert [len(values) for values in record["scores"].values()] == [3] * 4
            assert record["machine"]["versions"]["hopscale"]
            assert record["fit"]["peak_mib"] is None or record["fit"]["peak_mib"] >= 0

        said = []
        reproduce(["classification"], options(tmp_path, splits=2), tmp_path, say=said.append)
        assert said == ["4 of 4 cells are there, 0 to measure"]
        assert store.records() == first

        reproduce(["classification"], options(tmp_path, splits=4), tmp_path)
        for before, after in zip(first, store.records(), strict=True):
            assert after["scores"]["micro_f1"][:3] == before["scores"]["micro_f1"]
            assert len(after["scores"]["micro_f1"]) == 4

    def test_goes_on_where_it_was_interrupted(self, tmp_path, monkeypatch):
        real, calls = experiments.node_classification, []

        def interrupted(*args, **kwargs):
            calls.append(args)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(experiments, "node_classification", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reproduce(["classification"], options(tmp_path), tmp_path)
        assert len(records_of(tmp_path, "classification").records()) == 2
        reproduce(["classification"], options(tmp_path), tmp_path)
        assert len(calls) == 3 + 2
        assert len(records_of(tmp_path, "classification").records()) == 4

    def test_a_cell_that_fails_does_not_stop_the_others(self, tmp_path, monkeypatch):
        monkeypatch.setitem(options_module.DATASETS, "classification", ("atlantis", "planted-blocks"))
        failures = reproduce(["classification"], options(tmp_path, methods=("AE",)), tmp_path)
        assert len(failures) == 2
        assert all("atlantis" in failure for failure in failures)
        assert len(records_of(tmp_path, "classification").records()) == 2

    def test_a_data_set_that_cannot_be_downloaded_is_asked_for_once(self, tmp_path, monkeypatch):
        monkeypatch.setitem(options_module.DATASETS, "classification", ("cora", "planted-blocks"))
        load, asked, said = experiments.load, [], []

        def offline(name, **settings):
            asked.append(name)
            if name == "cora":
                raise DownloadError("cora: no connection")
            return load(name, **settings)

        monkeypatch.setattr(experiments, "load", offline)
        failures = reproduce(["classification"], options(tmp_path), tmp_path, say=said.append)
        assert failures == [
            "classification MUSAE pmi cora standardize=False dimensions=16: cora: no connection",
            "3 more cells of cora, which cannot be downloaded, were left out",
        ]
        assert asked.count("cora") == 1
        assert len([line for line in said if "cora" in line]) == 1
        assert len(records_of(tmp_path, "classification").records()) == 4

    def test_the_number_of_threads_does_not_matter(self, tmp_path):
        for n_jobs in (1, 2):
            changes = {"n_jobs": n_jobs, "methods": ("MUSAE",)}
            reproduce(["classification"], options(tmp_path / str(n_jobs), **changes), tmp_path / str(n_jobs))
        one, two = (records_of(tmp_path / n, "classification").records() for n in "12")
        assert [r["scores"] for r in one] == [r["scores"] for r in two]

    def test_unknown_names(self, tmp_path):
        with pytest.raises(ParameterError, match="no experiment 'magic'"):
            reproduce(["magic"], options(tmp_path), tmp_path)
        with pytest.raises(ParameterError, match="no method 'Oracle'"):
            reproduce(["classification"], options(tmp_path, methods=("Oracle",)), tmp_path)
        with pytest.raises(ParameterError, match="data set 'Facebook'"):
            reproduce(["classification"], options(tmp_path, datasets=("Facebook",)), tmp_path)
        with pytest.raises(ParameterError, match="'solver' cannot be changed"):
            reproduce(["classification"], options(tmp_path, parameters={"solver": "sgns"}), tmp_path)

    def test_what_cannot_succeed_is_refused_before_anything_is_measured(self, tmp_path, monkeypatch):
        monkeypatch.setattr(experiments, "fitted", None)
        with pytest.raises(ParameterError, match="MUSAE has no parameter 'windows'"):
            reproduce(["classification"], options(tmp_path, parameters={"windows": 2}), tmp_path)
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match="file"):
            reproduce(["classification"], options(tmp_path), tmp_path / "file" / "out")

    def test_pages_and_figures(self, tmp_path):
        chosen = ["classification", "few-shot", "link-prediction", "attribute-inference", "theory"]
        assert reproduce(chosen, options(tmp_path, splits=2, parameters={}), tmp_path) == []
        written = {path.relative_to(tmp_path).as_posix() for path in render(chosen, tmp_path)}
        assert written == {
            *("overview.md", "claims.md", "summary.md"),
            *(f"{experiment}.md" for experiment in chosen),
            *(f"figures/{name}.{kind}" for name in ("few-shot", "theory") for kind in ("svg", "png")),
        }
        assert (tmp_path / "figures" / "theory.svg").read_text().startswith("<?xml")
        page = (tmp_path / "classification.md").read_text(encoding="utf-8")
        for record in records_of(tmp_path, "classification").records():
            assert "{:.3f} ± {:.3f}".format(*mean_and_error(record["scores"]["micro_f1"], test_share=0.2)) in page
        page = (tmp_path / "attribute-inference.md").read_text(encoding="utf-8")
        (record,) = records_of(tmp_path, "attribute-inference").records()
        scores = record["scores"]["roc_auc"]["product"]
        assert "{:.3f} ± {:.3f}".format(*mean_and_error(scores, test_share=0.1)) in page

    def test_figures_have_the_same_bytes_every_time(self, tmp_path):
        reproduce(["theory"], options(tmp_path, splits=1, methods=("AE",), parameters={}), tmp_path)
        bytes_ = []
        for _ in range(2):
            render(["theory"], tmp_path)
            bytes_.append((tmp_path / "figures" / "theory.svg").read_bytes())
        assert bytes_[0] == bytes_[1]


@pytest.mark.usefixtures("small_world")
class TestCommand:
    def test_knows_the_experiments(self):
        assert set(reproduction._EXPERIMENTS) == EXPERIMENTS.keys()

    def run(self, tmp_path, *arguments):
        folders = ("--cache", tmp_path / "cache", "--output", tmp_path / "out")
        return CliRunner().invoke(command, ["reproduce", *map(str, (*arguments, *folders))])

    def test_writes_pages_and_goes_on(self, tmp_path):
        arguments = (
            "classification",
            "-m",
            "AE",
            "--splits",
            2,
            "--fits",
            1,
            "-p",
            "dimensions=8",
            "-p",
            "rows=exact",
            "--json",
        )
        result = self.run(tmp_path, *arguments)
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        assert {Path(path).name for path in answer["written"]} == _WRITTEN
        (record, _) = records_of(tmp_path / "out", "classification").records()
        assert record["cell"]["parameters"] == {"dimensions": 8, "rows": "exact"}
        assert "2 of 2 cells are there" in self.run(tmp_path, *arguments).stderr
        (tmp_path / "out" / "classification.md").unlink()
        assert self.run(tmp_path, "classification", "--only-render").exit_code == 0
        assert (tmp_path / "out" / "classification.md").exists()

    def test_writes_into_the_current_folder_unless_told(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOPSCALE_CACHE", str(tmp_path / "cache"))
        arguments = ["reproduce", "classification", "-m", "AE", "--splits", "2", "-p", "dimensions=8"]
        result = CliRunner().invoke(command, arguments)
        assert result.exit_code == 0, result.output
        assert "writing to hopscale-paper" in result.stderr
        assert {path.name for path in tmp_path.iterdir()} == {"cache", "hopscale-paper"}
        written = {path.name for path in (tmp_path / "hopscale-paper").iterdir()}
        assert written == {"records", *_WRITTEN}

    def test_nothing_to_render_is_told(self, tmp_path):
        result = self.run(tmp_path, "classification", "--only-render")
        assert result.exit_code == 0
        assert "no records of classification" in result.stderr
        assert not (tmp_path / "out").exists()

    def test_failures_are_told_and_cost_the_exit_code(self, tmp_path, monkeypatch):
        monkeypatch.setitem(options_module.DATASETS, "classification", ("atlantis",))
        result = self.run(tmp_path, "classification", "-m", "AE")
        assert result.exit_code == 1
        assert "no data set 'atlantis'" in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("magic",), "magic"),
            ((), "EXPERIMENT"),
            (("theory", "-m", "Oracle"), "no method 'Oracle'"),
            (("theory", "-p", "window"), "NAME=VALUE"),
        ],
    )
    def test_mistakes(self, tmp_path, arguments, message):
        result = self.run(tmp_path, *arguments)
        assert result.exit_code in (1, 2)
        assert message in result.output
        assert not (tmp_path / "out").exists()


class TestPages:
    def test_a_data_set_that_the_paper_has_no_curve_of(self, tmp_path):
        """It has a row of its own, and nothing is said of a difference that nobody can know."""
        machine = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
        cell = {"experiment": "densification", "dataset": "cora"}
        scores = {"nonzero_ratio": [0.25] * 8}
        records_of(tmp_path, "densification").append({"cell": cell, "repeats": 1, "scores": scores, "machine": machine})
        render(["densification"], tmp_path)
        page = (tmp_path / "densification.md").read_text(encoding="utf-8")
        assert "| cora | – / 0.250 |" in page
        assert "Largest difference" not in page

    def test_difference_is_in_standard_errors_of_both(self, tmp_path):
        store = records_of(tmp_path, "regression")
        machine = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
        cell = {"method": "MUSAE", "solver": "pmi", "dataset": "wiki-chameleon", "standardize": True}
        scores = {"r2": [0.67, 0.69], "mean_r2": [0.0, 0.0]}  # .68; published .658 ± .004 over a hundred splits
        store.append({"cell": cell, "repeats": 2, "scores": scores, "machine": machine})
        render(["regression"], tmp_path)
        page = (tmp_path / "regression.md").read_text(encoding="utf-8")
        ours, theirs = 0.02**0.5 * 0.1 * (1 / 2 + 1 / 4) ** 0.5, 0.004 * 26**0.5
        apart = f"{0.022 / np.hypot(ours, theirs):+.1f}"
        assert f"0.680 ± {ours:.3f} ({apart})" in page
        best = f"| 0.658 ± {theirs:.3f} (MUSAE) | 0.680 ± {ours:.3f} (MUSAE, pmi) | +0.022 | {apart} |"
        assert f"| wiki-chameleon {best}" in page

    def test_links_lead_to_files_that_are_there(self, tmp_path):
        machine = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
        cell = {"method": "MUSAE", "solver": "pmi", "dataset": "wiki-chameleon", "standardize": True}
        record = {"cell": cell, "repeats": 2, "scores": {"r2": [0.1, 0.2], "mean_r2": [0.0, 0.0]}, "machine": machine}
        records_of(tmp_path, "regression").append({**record, "fit": {"seconds": 1.0}})
        for explained in (False, True):
            if explained:
                (tmp_path / "rivals.md").touch()
            render(["regression"], tmp_path)
            page = (tmp_path / "regression.md").read_text(encoding="utf-8")
            links = re.findall(r"\]\(([^)]+)\)", page)
            assert links == (["rivals.md"] if explained else [])
            assert "The others" in page

    def test_other_parameters_are_marked_and_told(self, tmp_path):
        machine = {"processor": "p", "cores": 1, "python": "3", "versions": {}}
        cell = {"method": "AE", "solver": "sgns", "dataset": "cora", "parameters": {"window": 2}}
        scores = {"micro_f1": [0.7, 0.9], "majority_micro_f1": [0.3, 0.3]}
        for repeats, standardize in ((2, False), (1, True)):
            record = {"cell": {**cell, "standardize": standardize}, "repeats": repeats, "fit": {"seconds": 1.0}}
            values = {metric: each[:repeats] for metric, each in scores.items()}
            records_of(tmp_path, "classification").append({**record, "scores": values, "machine": machine})
        render(["classification"], tmp_path)
        page = (tmp_path / "classification.md").read_text(encoding="utf-8")
        assert f"0.800† ± {0.1 * 1.5**0.5:.3f} (AE, sgns)" in page
        assert "1 or 2 splits." in page
        overview = (tmp_path / "overview.md").read_text(encoding="utf-8")
        assert "0.800† / 0.700†° ± " in overview
        assert "(least seconds of a fit on 1 thread)" in overview
        assert all("† with `window=2` instead of the paper's value." in text for text in (page, overview))

    def test_the_papers_parameters_come_first(self):
        records = [
            {"cell": {"method": "AE", "parameters": p}, "repeats": 1} for p in ({"window": 2}, {}, {"window": 1})
        ]
        assert Measurements(records).get(method="AE")["cell"]["parameters"] == {}
        assert Measurements(records[::2]).get(method="AE")["cell"]["parameters"] == {"window": 2}


class TestDensification:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_is_the_share_of_nonzero_entries(self, n_jobs):
        graph = datasets.erdos_renyi(700, 2, 3, 50, random_state=1)
        A, F = dense(graph)
        F = F[:, F.any(axis=0)]
        expected = []
        for power in range(1, 5):
            expected.append(np.mean((np.linalg.matrix_power(A, power) @ F) > 0))
        assert nonzero_ratios(graph, (1, 2, 4), n_jobs=n_jobs) == pytest.approx([expected[i] for i in (0, 1, 3)])


class TestTheory:
    def test_target_is_the_reference(self):
        graph = datasets.erdos_renyi(64, 4, 2, 16)
        for hops in ((2,), (1, 2, 3)):
            np.testing.assert_allclose(target_matrix(graph, hops), pmi(*dense(graph), hops))

    def test_longer_walks_come_closer(self):
        def mean(length):
            scores = distance_from_theory(METHODS["MUSAE"], "sgns", length, None, seeds=range(2))["scores"]
            return np.mean([*scores["distance"].values()], axis=1)

        assert np.all(mean(512) < 0.5 * mean(8))

    def test_direct_solver_is_as_close_as_its_dimensions_allow(self):
        scores = distance_from_theory(METHODS["MUSAE"], "pmi", None, 4, seeds=[0])["scores"]["distance"]
        graph = datasets.erdos_renyi(64, 4, 2, 16, random_state=0)
        for label, (distance,) in scores.items():
            positive = np.maximum(target_matrix(graph, [int(label)]), 0)
            sigma = np.linalg.svd(positive, compute_uv=False)
            assert distance == pytest.approx(np.sqrt((sigma[4:] ** 2).sum() / (sigma**2).sum()), rel=0.05)
        full = distance_from_theory(METHODS["MUSAE"], "pmi", None, None, seeds=[0])["scores"]["distance"]
        assert max(values[0] for values in full.values()) < 1e-4


class TestMethods:
    def test_a_parameter_is_for_those_that_have_it(self, tmp_path):
        asked = Options(cache=tmp_path, parameters={"walks_per_node": 1}).asked_methods
        assert {"MUSAE", "Node2Vec", "LINE2"} <= set(asked)
        assert not {"HOPE", "TADW"} & set(asked)
        assert Options(cache=tmp_path).asked_methods == tuple(METHODS)

    def test_a_parameter_that_none_has_is_refused(self, tmp_path):
        options = Options(cache=tmp_path, parameters={"height": 3})
        with pytest.raises(ParameterError, match=r"no method has the parameter.* 'height'"):
            reproduce(["regression"], options, tmp_path)

    def test_a_solver_that_a_method_has_not_is_refused(self):
        with pytest.raises(ParameterError, match="HOPE has no solver 'pmi', but own"):
            METHODS["HOPE"].build(solver="pmi")

    def test_settings_of_a_method_keep_its_fits_apart(self, monkeypatch):
        before = Fit("Walklets", "pmi", "cora").stem
        monkeypatch.setitem(METHODS, "Walklets", replace(METHODS["Walklets"], parameters={"window": 3}))
        assert Fit("Walklets", "pmi", "cora").stem != before

    def test_every_way_is_measured_when_it_is_asked_for(self, tmp_path):
        direct = set(Options(cache=tmp_path).chosen_methods())
        assert {("HOPE", "own"), ("MUSAE", "pmi"), ("LINE2", "pmi")} <= direct
        assert set(Options(cache=tmp_path, solvers=("sgns",)).chosen_methods()) == {
            (name, "sgns") for name, row in METHODS.items() if "sgns" in row.ways
        }
