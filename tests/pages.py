"""Pages of the documentation as the tests read them: their blocks of code, their links, and the files they speak of.

A block of commands or Python that cannot run in a test is preceded by a line ``<!-- not run: REASON -->``. Its commands
are still parsed, so that an option that is not there is found.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from messy import write_folder

from hopscale.datasets import planted_blocks

ROOT = Path(__file__).resolve().parents[1]
# Pages that people write; those of docs/paper that a program writes have no code.
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/paper/*.md")]
)

_FENCE = re.compile(r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.M | re.S)
_LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; ``reason`` says why it is not run, if it is not."""

    language: str
    text: str
    reason: str | None

    @property
    def commands(self) -> list[str]:
        """Lines of a block for the shell, with continued lines joined, without comments."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def text_of(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, *languages: str) -> list[Block]:
    """Blocks of a page, of some languages or of all."""
    found = [Block(match["language"], match["text"], match["reason"]) for match in _FENCE.finditer(text_of(page))]
    return [block for block in found if not languages or block.language in languages]


def commands(page: str) -> Iterator[tuple[str, str | None]]:
    """Commands of a page, and why each is not run, if it is not."""
    for block in blocks(page, "sh", "console", "bash"):
        for line in block.commands:
            yield line, block.reason


def words_of(command: str) -> list[str]:
    """The words of a command line."""
    return shlex.split(command, comments=True)


def links(page: str) -> list[str]:
    """Addresses that a page links to, outside of its code."""
    prose = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text_of(page)))
    return _LINK.findall(prose)


def anchors(page: str) -> set[str]:
    """Anchors of a page's headings, as code hosts and MyST make them."""
    return {slug(heading) for heading in headings(page)}


def headings(page: str, level: str = "#+") -> list[str]:
    """Headings of a page."""
    return re.findall(rf"^{level} (.*)$", _FENCE.sub("", text_of(page)), re.M)


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def ordinary_files(folder: Path) -> None:
    """Files of a graph with three blocks, of another such graph, and of a company's folder."""
    for stem, graph in (("", planted_blocks(300)), ("new-", planted_blocks(200, random_state=1))):
        coo = graph.adjacency.tocoo()
        pairs = [(u, v) for u, v in zip(*(ends.tolist() for ends in coo.coords), strict=True) if u < v]
        (folder / f"{stem}edges.csv").write_text("".join(f"{u},{v}\n" for u, v in pairs))
        rows = {v: graph.features[[v]].indices.tolist() for v in range(graph.n_nodes)}
        (folder / f"{stem}features.json").write_text(json.dumps(rows))
        lines = [f"{v},{label}\n" for v, label in enumerate(graph.labels.tolist())]
        (folder / f"{stem}labels.csv").write_text("".join(["id,block\n", *lines]))
        table = [f"{stem[:1]}{v},{'|'.join(map(str, own))},{20 + v % 50}\n" for v, own in rows.items()]
        (folder / f"{stem}nodes.csv").write_text("".join(["member,interests,age\n", *table]).replace("\nn", "\n9000"))
    values = [f"{v},{10.5 * label + v / 100}\n" for v, label in enumerate(planted_blocks(300).labels.tolist())]
    (folder / "values.csv").write_text("".join(["id,value\n", *values]))
    (folder / "tomorrow.csv").write_text("from,to\n90001,7\n90002,8\n")
    planted_blocks(300).save(folder / "graph.npz")
    write_folder(folder)


def parquet_files(folder: Path) -> None:
    """Edges and features of a graph as Parquet."""
    import pandas as pd

    graph = planted_blocks(300)
    for name, matrix, columns in (
        ("edges", graph.adjacency, ["source", "target"]),
        ("features", graph.features, ["node", "feature"]),
    ):
        coo = matrix.tocoo()
        pd.DataFrame(dict(zip(columns, coo.coords, strict=True))).to_parquet(folder / f"{name}.parquet")


def partitioned_files(folder: Path) -> None:
    """The same in two folders, each in two files."""
    import pandas as pd

    parquet_files(folder)
    for name in ("edges", "features"):
        (folder / name).mkdir()
        table = pd.read_parquet(folder / f"{name}.parquet")
        for part in range(2):
            table.iloc[part::2].to_parquet(folder / name / f"part-{part}.parquet")


def labelled_files(folder: Path) -> None:
    """Files of a graph whose nodes have a team, or an age, one in three; and of another graph."""
    teams = np.array(["north", "south", "west"])
    for stem, seed in (("", 0), ("new-", 1)):
        graph = planted_blocks(300, random_state=seed)
        edges = np.argwhere(np.triu(graph.adjacency.toarray()))
        (folder / f"{stem}edges.csv").write_text("".join(f"{u},{v}\n" for u, v in edges))
        rows = {v: np.flatnonzero(row).tolist() for v, row in enumerate(graph.features.toarray())}
        (folder / f"{stem}features.json").write_text(json.dumps(rows))
        if not stem:
            labels = np.asarray(graph.labels)
            lines = [f"{v},{teams[labels[v]]}\n" for v in range(0, 300, 3)]
            (folder / "teams.csv").write_text("".join(["id,team\n", *lines]))
            lines = [f"{v},{20 + 10 * labels[v] + v / 100}\n" for v in range(0, 300, 3)]
            (folder / "ages.csv").write_text("".join(["id,age\n", *lines]))


def people_files(folder: Path) -> None:
    """An ordinary table of 60 people with a column of every kind, and who is joined to whom."""
    people = [_person(i) for i in range(60)]
    for stem in ("", "new-"):
        with (folder / f"{stem}nodes.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, people[0])
            writer.writeheader()
            writer.writerows(people)
        pairs = [(i, (i + step) % 60) for i in range(60) for step in (1, 3)]
        lines = [f"{people[u]['handle']},{people[v]['handle']}\n" for u, v in pairs]
        (folder / f"{stem}edges.csv").write_text("".join(["source,target\n", *lines]), encoding="utf-8")


def _person(i: int) -> dict[str, object]:
    """A row that follows from its number, with gaps."""
    instruments = ("guitar", "piano", "violin", "drums", "harp")
    country = "n/a" if i % 10 == 9 else "IT" if i == 3 else "ES" if i == 4 else ("FR", "DE")[i % 2]
    tags = ";".join(tag for at, tag in enumerate(("chess", "go", "jazz", "tea")) if (i + at) % 5 in (1, 2))
    return {
        "handle": f"@{i:02d}",
        "country": country,
        "age": "" if i % 12 == 5 else 18 + (i * 7) % 50,
        "tags": tags,
        "active": ("yes", "no")[i // 2 % 2],
        "joined": f"{2018 + i % 5}-0{1 + i % 9}-15",
        "bio": f"plays {instruments[i % 5]} in town {i} and {('swims', 'runs', 'reads', 'sings', 'cooks')[i // 12]}",
        "team": ("red", "blue", "green")[i // 20],
    }


# What a page's examples find in their folder, where it is not the ordinary one.
FILES: dict[str, Callable[[Path], None]] = {
    "docs/cluster.md": partitioned_files,
    "docs/large-graphs.md": parquet_files,
    "docs/planning.md": parquet_files,
    "docs/plots.md": labelled_files,
    "docs/predicting.md": labelled_files,
    "docs/tables.md": people_files,
}


def write_files(page: str, folder: Path) -> None:
    """Write the files that the examples of a page speak of."""
    FILES.get(page, ordinary_files)(folder)
