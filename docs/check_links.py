"""Check a built site: local links lead to files and anchors that exist, and no page loads anything from outside.

python docs/check_links.py build/docs
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes of elements that a browser loads with the page, rather than when a reader follows them.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
NOT_LOADED = {"canonical", "index", "search", "next", "prev"}  # relations of <link> that only name another page


@dataclass
class Page:
    """Anchors of a page, and where it leads: addresses with whether the browser loads them."""

    anchors: set[str] = field(default_factory=set)
    links: list[tuple[str, bool]] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        for name in ("id", "name"):
            if value := found.get(name):
                self.page.anchors.add(value)
        for name in ("href", "src"):
            if (value := found.get(name)) and found.get("rel") not in NOT_LOADED:
                self.page.links.append((value, (tag, name) in LOADED))


@cache
def page_of(path: Path) -> Page:
    """What a page has and where it leads."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def pages_of(folder: Path) -> list[Path]:
    """Pages of a site, without what the theme brings."""
    return sorted(path for path in folder.rglob("*.html") if "_static" not in path.relative_to(folder).parts)


def faults(folder: Path) -> Iterator[str]:
    """What is wrong with the links of a folder of pages, a line each."""
    for path in pages_of(folder):
        for address, is_loaded in page_of(path).links:
            if why := _fault(path, address, is_loaded=is_loaded):
                yield f"{path.relative_to(folder)}: {address}: {why}"


def _fault(path: Path, address: str, *, is_loaded: bool) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return "the page loads it from elsewhere" if is_loaded and parts.scheme != "data" else None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "there is no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page_of(target).anchors:
        return "there is no such anchor"
    return None


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("give the folder of a built site: python docs/check_links.py build/docs")
    folder = Path(sys.argv[1])
    found = list(faults(folder))
    pages = pages_of(folder)
    if not pages:
        sys.exit(f"there are no pages in {folder}: run make docs")
    print(*found, sep="\n")
    print(f"{len(pages)} pages, {sum(len(page_of(page).links) for page in pages)} links, {len(found)} broken")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
