"""An ordinary folder of messy files: read by one command, and nothing of it wrong in silence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy import write_folder

from hopscale import MUSAE, evaluate, from_tables, load_model, read_graph
from hopscale.exceptions import FileFormatError, HopscaleWarning
from hopscale.tasks import summarize

FILES = ("--edges", "follows.csv", "--nodes", "people.csv", "--labels", "teams.csv")


@pytest.fixture
def teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    return write_folder(tmp_path)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hopscale", *words], capture_output=True, text=True, check=False)


def clean() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """The same tables as pandas reads them, without the lines that are broken."""
    follows = pd.read_csv("follows.csv", sep=";").dropna(subset=["follower", "followee"])
    people = pd.read_csv("people.csv", keep_default_na=False, on_bad_lines="skip").query("user != ' that was cut'")
    return follows, people, pd.read_csv("teams.csv").dropna().set_index("member")["squad"]


def test_a_broken_line_is_named_with_the_way_out(teams: dict[str, str]) -> None:
    done = run("embed", *FILES, "-o", "vectors.csv")
    assert done.returncode == 1
    assert "follows.csv, line 502: 2 column(s) instead of 4" in done.stderr
    assert "--skip-bad-lines" in done.stderr
    assert not Path("vectors.csv").exists()


def test_vectors_and_scores_by_the_next_command(teams: dict[str, str]) -> None:
    done = run("embed", *FILES, "--skip-bad-lines", "-o", "vectors.parquet", "--save", "model.safetensors")
    assert done.returncode == 0, done.stderr
    for said in (
        "nodes are 'follower' and 'followee'",
        "line 502 (2 column(s) instead of 4), line 902 (column 2 is empty), line 1502 (column 3 is empty)",
        "named by the column 'user'",
        "3 of the 570 nodes in the edges are not in the node table",
        "nodes are 'member', labels are 'squad'",
        "'u-gone'",
    ):
        assert said in done.stderr
    score = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    assert score["micro_f1"] > 0.9 > 0.5 > score["majority_micro_f1"]
    vectors, model = pd.read_parquet("vectors.parquet").set_index("id"), load_model("model.safetensors")
    assert set(vectors.index) == set(teams)
    np.testing.assert_array_equal(vectors.to_numpy(), model[vectors.index.tolist()])


def test_everything_lands_on_its_node(teams: dict[str, str]) -> None:
    with pytest.warns(HopscaleWarning):
        graph = read_graph("follows.csv", labels="teams.csv", nodes="people.csv", skip_bad_lines=True)
    follows, people, squads = clean()
    row = {node: at for at, node in enumerate(graph.node_ids.tolist())}
    assert set(row) == set(teams)
    edges = {frozenset(pair) for pair in follows[["follower", "followee"]].to_numpy().tolist() if len(set(pair)) == 2}
    assert graph.n_edges == len(edges)
    assert all(graph.adjacency[row[u], row[v]] == 1 for u, v in map(tuple, edges))
    column = {name: at for at, name in enumerate(graph.feature_names.tolist())}
    for person in people.itertuples():
        own = set(graph.feature_names[graph.features[[row[person.user]]].indices])
        assert {name for name in own if name.startswith("interests=")} == {
            f"interests={word}" for word in person.interests.split("; ") if word
        }
        assert ("Country=missing" in own) == (person.Country == "n/a")
        assert f"newsletter={person.newsletter}" in own
        assert f"joined={person.joined[:4]}" in own
        assert ("Age=missing" in own) == (person.Age == "")
    assert not any(name.startswith(("Full Name", "user")) for name in column)
    known = {node: label for node, label in zip(graph.node_ids.tolist(), graph.labels.tolist(), strict=True) if label}
    assert known == squads.drop("u-gone").to_dict()


def test_tables_in_any_order_give_the_same_features_and_scores(teams: dict[str, str]) -> None:
    follows, people, squads = clean()
    chosen = {"source": "follower", "target": "followee"}
    with pytest.warns(HopscaleWarning, match="not in the node table"):
        graph = from_tables(follows, nodes=people, **chosen)
    with pytest.warns(HopscaleWarning, match="not in the node table"):
        other = from_tables(follows, nodes=people.sample(frac=1, random_state=0), **chosen)
    same_nodes = [other.index_of(node) for node in graph.node_ids.tolist()]
    assert (graph.features != other.features[same_nodes]).nnz == 0
    assert graph.feature_names.tolist() == other.feature_names.tolist()
    model = MUSAE(dimensions=16).fit(graph)
    with pytest.warns(HopscaleWarning, match="'u-gone'"):
        first = evaluate(model, squads, splits=3)
    with pytest.warns(HopscaleWarning, match="'u-gone'"):
        again = evaluate(model, squads.sample(frac=1, random_state=1), splits=3)
    assert first == again
    assert summarize(first)["micro_f1"]["mean"] > 0.9


def test_a_file_that_is_not_repaired_is_refused_in_python_too(teams: dict[str, str]) -> None:
    with pytest.raises(FileFormatError, match=r"follows\.csv, line 502: .*skip_bad_lines=True"):
        read_graph("follows.csv", nodes="people.csv")
