"""An ordinary folder: three CSV files of one small company, with all that is usually wrong with such files.

Ids are text, headers are words of the company's own, rows of each file are in another order, columns hold more than
two nodes, cells are missing, some people have no edge, some have no row, and a few lines are broken.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

TEAMS = ["red", "green", "blue", "gold"]
_INTERESTS = ["jazz vinyl chess", "go linux tea", "running vegan yoga", "cars grill football"]
_COMMON = "music film travel"
_COUNTRIES = ["FR", "DE", "US", "JP", "BR"]
_PEOPLE, _LINKS, _ISOLATED = 600, 2400, 30


def write_folder(folder: Path) -> dict[str, str]:
    """Write ``follows.csv``, ``people.csv`` and ``teams.csv``; returns the team of each person."""
    rng = np.random.default_rng(3)
    ids = [f"u-{number:05d}" for number in rng.permutation(100_000)[:_PEOPLE].tolist()]
    team = rng.integers(0, len(TEAMS), _PEOPLE)
    _write_links(folder / "follows.csv", ids, team, rng)
    _write_people(folder / "people.csv", ids, team, rng)
    rows = [[ids[i], TEAMS[team[i]]] for i in rng.permutation(_PEOPLE).tolist() if rng.random() < 0.8]
    rows[7][1] = ""
    _write(folder / "teams.csv", ["member", "squad"], [*rows, ["u-gone", "red"]])
    return {name: TEAMS[own] for name, own in zip(ids, team.tolist(), strict=True)}


def _write_links(path: Path, ids: list[str], team: np.ndarray, rng: np.random.Generator) -> None:
    """Links within teams, mostly; after a date, with a third column of no interest, and three broken lines."""
    pairs = rng.integers(0, _PEOPLE - _ISOLATED, (20 * _LINKS, 2))
    pairs = pairs[(team[pairs[:, 0]] == team[pairs[:, 1]]) | (rng.random(len(pairs)) < 0.05)][:_LINKS].tolist()
    lines = [f"{2015 + i % 9}-0{1 + i % 9}-1{i % 9};{ids[a]};{ids[b]};{1 + i % 17}" for i, (a, b) in enumerate(pairs)]
    lines[500:500] = ["2020-01-01;u-"]
    lines[900:900] = [";;;"]
    lines[1500:1500] = [f"2021-02-02;{ids[0]};;4"]
    path.write_text("\n".join(["since;follower;followee;msgs", *lines, ""]), encoding="utf-8")


def _write_people(path: Path, ids: list[str], team: np.ndarray, rng: np.random.Generator) -> None:
    header = ["Full Name", "user", "Country", "Age", "interests", "joined", "newsletter", "bio"]
    rows = []
    for i in rng.permutation(_PEOPLE).tolist():
        own = [word for word in _INTERESTS[team[i]].split() if rng.random() < 0.5]
        likes = own + [word for word in _COMMON.split() if rng.random() < 0.4]
        country = _COUNTRIES[(team[i] + int(rng.integers(2))) % len(_COUNTRIES)]
        rows.append(
            [
                f"Person {i}",
                ids[i],
                country if rng.random() < 0.9 else "n/a",
                int(rng.normal(30 + 5 * team[i], 6)) if rng.random() < 0.85 else "",
                "; ".join(likes),
                f"{2010 + i % 14}-{1 + i % 12:02d}-{1 + i % 28:02d}",
                "yes" if rng.random() < 0.5 else "no",
                f"likes {' and '.join(likes)} on weekends" if rng.random() < 0.7 else "",
            ]
        )
    _write(path, header, rows[3:])  # three people have no row
    with path.open("a", encoding="utf-8") as file:
        file.write("a line, that was cut\n")


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
