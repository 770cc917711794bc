"""The small table of the README, from the records of peers.py; measures nothing.

python benchmarks/compared.py
"""

from __future__ import annotations

import json
from typing import Any

from measure import RESULTS, markdown
from peers import beside, called, last, memory, middle, ratio, scored

NAME = "compared"
# Model here; library and model there: what one would take instead, those that score higher among them.
PAIRS = (
    ("MUSAE-EGO, pmi", "karateclub", "MUSAE-EGO"),
    ("MUSAE-EGO, sgns", "karateclub", "MUSAE-EGO"),
    ("FEATHER", "karateclub", "FeatherNode"),
    ("DeepWalk, sgns", "grape", "DeepWalkSkipGram"),
    ("DeepWalk, pmi", "nodevectors", "ProNE"),
    ("DeepWalk, pmi", "pycleora", "Cleora"),
)


def table(records: list[dict[str, Any]]) -> str:
    """A row for each pair that was measured to the end."""
    found, rows = middle(records), []
    others = [record for record in last(found) if "seconds" in record]
    for model, library, there in PAIRS:
        for record in (each for each in others if (each["library"], each["model"]) == (library, there)):
            for ours in (each for each in beside(record, found) if each["model"] == model):
                pairs = [f"{part(ours)} / {part(record)}" for part in (memory, scored)]
                rows.append([model, called(record), ratio(record, ours, "cpu_seconds"), *pairs])
    return markdown(["hopscale", "beside", "processor time, theirs over ours", "memory, MiB", "micro F1"], rows)


def main() -> None:
    """Write the table."""
    records = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))["records"]
    text = table(records)
    (RESULTS / f"{NAME}.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
