"""Links of pages that lead to other files of the repository: they work on a code host and on the site.

On a code host a relative link opens whatever lies there. On the site a link to a page leads to the page, which MyST
does, one to a file that a page includes leads to that page, and one to any other file downloads it. A link to a folder
is followed by links to its files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

# Files outside of docs that have a page of their own here.
PAGES = {"README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}


class RepositoryLinks(SphinxTransform):
    """Turn links to files of the repository into links of the site, before Sphinx resolves any."""

    default_priority = 5

    def apply(self, **options: Any) -> None:
        folder = Path(self.env.doc2path(self.env.docname)).resolve().parent
        for link in list(self.document.findall(nodes.reference)) + list(self.document.findall(addnodes.pending_xref)):
            self._follow(link, folder)
        for link in list(self.document.findall(addnodes.download_reference)):
            self._follow(link, folder)

    def _follow(self, link: Any, folder: Path) -> None:
        target = link.get("refuri") or link.get("reftarget") or ""
        path, _, anchor = str(target).partition("#")
        if not path or "://" in path or path.startswith("mailto:"):
            return
        root = Path(self.env.srcdir).resolve().parent
        found = (folder / path).resolve() if not path.startswith("/") else root / "docs" / path[1:]
        if not found.exists():
            found = (root / path).resolve()
        if not found.is_relative_to(root) or not found.exists():
            return
        words = str(found.relative_to(root))
        if words in PAGES:
            link.replace_self(self._page(PAGES[words], anchor, link))
        elif found.is_dir():
            files = sorted(file for file in found.iterdir() if file.is_file())
            shown = [nodes.Text(f"{link.astext()} (")]
            for at, file in enumerate(files):
                shown += [nodes.Text(", ")] * bool(at) + [self._download(file, file.name)]
            link.replace_self([*shown, nodes.Text(")")])
        elif found.suffix != ".md":
            link.replace_self(self._download(found, link.astext()))

    def _page(self, name: str, anchor: str, link: nodes.Element) -> nodes.Element:
        """A link to a page of the site."""
        return addnodes.pending_xref(
            "",
            *(child.deepcopy() for child in link.children),
            refdomain="std",
            reftype="doc",
            reftarget=f"/{name}",
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )

    def _download(self, file: Path, text: str) -> nodes.Element:
        """A link that downloads a file of the repository; Sphinx copies the file."""
        target = "/" + str(Path("..") / file.relative_to(Path(self.env.srcdir).resolve().parent))
        return addnodes.download_reference(
            "", "", nodes.literal("", text), reftarget=target, refdoc=self.env.docname, refdomain="", reftype=""
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_transform(RepositoryLinks)
    return {"parallel_read_safe": True}
