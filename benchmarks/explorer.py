"""The explorer's page in a browser without a window: time until it can be used, frames a second, and its size.

Needs Chromium and playwright. ``--screenshots FOLDER`` writes pictures of a page instead, for the documentation.

    python benchmarks/explorer.py [--pages FOLDER]
    python benchmarks/explorer.py --screenshots docs/figures
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hopscale import MUSAE, load
from hopscale.explore import write_explorer
from hopscale.models.clusters import Clusters
from hopscale.models.explanation import Explanations
from measure import markdown, median, write

REPEATS = 3
SECONDS = 3  # of panning
SIZE = {"width": 1440, "height": 900}
PICTURE = {"width": 1280, "height": 800}
FLAGS = {"default": [], "no GPU": ["--disable-gpu", "--disable-software-rasterizer"]}

PAN = """(seconds) => new Promise((done) => {
    const start = performance.now();
    let frames = 0;
    const points = [];
    const step = (now) => {
        if (now - start > 1000 * seconds) {
            return done({ fps: (1000 * frames) / (now - start), points: points.reduce((a, b) => a + b, 0) / frames });
        }
        hopscale.pan(6 * Math.sin(frames / 20), 4 * Math.cos(frames / 25));
        points.push(hopscale.renderer.last.points);
        frames++;
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""


class Points(Explanations, Clusters, BaseEstimator):
    """Vectors of as many nodes as are wanted, in groups, as a fitted model has them."""

    context_ = "features"
    uses_features = has_feature_vectors = True

    def __init__(self, n: int, q: int = 1000) -> None:
        self.n, self.q = n, q
        random = np.random.default_rng(0)
        centres = random.normal(size=(12, 128)).astype(np.float32)
        self.groups = random.integers(12, size=n)
        self.embedding_ = centres[self.groups] + random.normal(size=(n, 128)).astype(np.float32)
        self.feature_embedding_ = random.normal(size=(q, 128)).astype(np.float32)
        self.node_ids_, self.feature_names_ = np.arange(n), np.arange(q)

    def fit(self) -> Points:
        """Nothing is left to learn."""
        return self

    def _widths(self) -> dict[str, int]:
        return dict.fromkeys("0123", 32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="where pages are kept, and found the next time")
    parser.add_argument("--graph", default="github", help="data set of the screenshots")
    options = parser.parse_args()
    if options.screenshots:
        screenshots(options.graph, options.screenshots)
        return
    with tempfile.TemporaryDirectory(prefix="hopscale-") as folder:
        found = [*pages(options.pages or Path(folder))]
        records = [record for name, path in found for record in on_page(name, path)]
    rows = [
        [
            record["page"],
            record["flags"],
            f"{record['megabytes']:.1f} MB",
            f"{record['interactive']:.2f} s",
            f"{record['first_draw']:.2f} s",
            f"{record['fps']:.0f}",
            f"{100 * record['share']:.0f} %",
        ]
        for record in records
    ]
    header = ["page", "browser", "size", "usable after", "first draw", "frames a second", "of the points"]
    write("explorer", records, markdown(header, rows))


def pages(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and paths of the pages that are measured; those that are there already are not written again."""
    sources = {
        "github, 37,700 nodes": lambda: MUSAE(keep_graph=True).fit(load("github")),
        "30,000 points": lambda: Points(30_000),
        "1,000,000 points": lambda: Points(1_000_000),
    }
    for name, make in sources.items():
        path = folder / f"{name.split(',')[0].replace(' ', '-')}-{len(name)}.html"
        if not path.exists():
            model = make()
            labels = getattr(model, "groups", None)
            write_explorer(model, path, labels=labels, method="pca", n_clusters=0, max_nodes=10**6)
        yield name, path


def on_page(name: str, path: Path) -> Iterator[dict[str, Any]]:
    """What a page takes, with each kind of browser."""
    for kind, flags in FLAGS.items():
        with browser(flags) as running:
            found = [one_visit(running, path) for _ in range(REPEATS)]
        best = {key: median(each[key] for each in found) for key in found[0]}
        yield {"page": name, "flags": kind, "megabytes": path.stat().st_size / 1e6, **best}


def one_visit(running: Any, path: Path) -> dict[str, float]:
    """Open a page, and move its map for a while."""
    with running.new_context(viewport=SIZE) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
        marks = dict(page.evaluate("performance.getEntriesByType('mark').map((mark) => [mark.name, mark.startTime])"))
        page.evaluate("() => hopscale.vectors().then(() => null)")
        page.wait_for_timeout(500)
        panned = page.evaluate(PAN, SECONDS)
        return {
            "interactive": marks["interactive"] / 1000,
            "first_draw": (marks["drawn"] - marks["indexed"]) / 1000,
            "fps": panned["fps"],
            "share": panned["points"] / page.evaluate("hopscale.facts.nNodes"),
        }


@contextmanager
def browser(flags: list[str]) -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit(
            "benchmarks/explorer.py needs a browser: install Chromium (on Debian and Ubuntu: apt install chromium)"
        )
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *flags])
        yield running
        running.close()


def screenshots(name: str, folder: Path) -> None:
    """Pictures of a data set's page, light and dark."""
    model = MUSAE(keep_graph=True, verbose=True).fit(load(name))
    with tempfile.TemporaryDirectory(prefix="hopscale-") as place, browser([]) as running:
        path = Path(place, "map.html")
        model.explore(path, title=f"{name.capitalize()}")
        take_screenshots(running, path, folder)


def take_screenshots(running: Any, path: Path, folder: Path) -> None:
    """Pictures of a page: one with a node that is selected, and a dark one of another scale."""
    from PIL import Image

    shown = {
        "explorer.png": ("", "() => hopscale.select('node', hopscale.facts.nNodes >> 1)"),
        "explorer-dark.png": ("#theme=dark&scale=0&color=cluster", "() => null"),
    }
    for file, (fragment, action) in shown.items():
        with running.new_context(viewport=PICTURE) as context:
            page = context.new_page()
            page.goto(path.as_uri() + fragment)
            page.wait_for_selector("html[data-ready]", state="attached")
            page.evaluate(action)
            page.wait_for_timeout(2000)
            page.screenshot(path=folder / file)
        with Image.open(folder / file) as picture:  # 256 colours are enough, and a third of the size
            few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(folder / file, optimize=True)


if __name__ == "__main__":
    main()
