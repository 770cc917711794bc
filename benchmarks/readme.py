"""Figures in the README and on pages written by hand come from the result files of benchmarks and attacks.

Replaces what stands between ``<!-- benchmarks:NAME -->`` and ``<!-- /benchmarks -->`` by ``results/NAME.md``, or by
``docs/paper/NAME.md``, which ``hopscale reproduce`` writes, without the title of that page.

    python benchmarks/readme.py [--check]
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
DOCS = HERE.parent / "docs"
PAPER = DOCS / "paper"

_BLOCK = re.compile(r"<!-- benchmarks:([a-z0-9_]+) -->\n(.*?)<!-- /benchmarks -->", re.DOTALL)
_TITLE = re.compile(r"\A# .*\n")
_MARK = re.compile(r"<!-- /?benchmarks")

# The README and every page that has a mark.
SHOWN = tuple(
    page
    for page in (HERE.parent / "README.md", *sorted(DOCS.glob("*.md")), *sorted(PAPER.glob("*.md")))
    if _MARK.search(page.read_text(encoding="utf-8"))
)


def with_results(text: str, *folders: Path) -> str:
    """Text whose blocks hold files of the folders, or a line that says that a benchmark has not been run."""

    def block(found: re.Match[str]) -> str:
        name, inside = found.groups()
        if _MARK.search(inside):
            raise ValueError(f"the block benchmarks:{name} is not closed before another mark")
        files = [folder / f"{name}.md" for folder in folders if (folder / f"{name}.md").exists()]
        table = _TITLE.sub("", files[0].read_text(encoding="utf-8")).strip() if files else f"*{name}: not run yet.*"
        return f"<!-- benchmarks:{name} -->\n{table}\n<!-- /benchmarks -->"

    filled, blocks = _BLOCK.subn(block, text)
    if len(_MARK.findall(text)) != 2 * blocks:
        raise ValueError("marks of benchmarks must come in pairs: <!-- benchmarks:NAME --> and <!-- /benchmarks -->")
    return filled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if something would change")
    options = parser.parse_args()
    for page in SHOWN:
        text = page.read_text(encoding="utf-8")
        filled = with_results(text, RESULTS, PAPER)
        if options.check and filled != text:
            sys.exit(f"{page.name} does not show the figures of benchmarks/results: run make readme")
        if not options.check:
            page.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
