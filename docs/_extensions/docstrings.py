"""Docstrings of hopscale as the API reference shows them.

Members that a class has from another library are left to that library's documentation. A name that a docstring refers
to leads to its page, by whichever module it is called; a name that exists and has no page is shown as code.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def skip_foreign(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that another library defines."""
    home = getattr(getattr(member, "fget", member), "__module__", None)
    return True if isinstance(home, str) and not home.startswith("hopscale") else None


def keep_first_line(app: Sphinx, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from taking what stands before a colon, in the first line of an attribute, for its type."""
    if what in ("attribute", "property") and lines:
        lines[0] = f": {lines[0]}"


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> nodes.Node | None:
    """Find a name under which the target of a reference has a page, or show it as code if it exists at all."""
    if node.get("refdomain") != "py":
        return None
    target = str(node["reftarget"])
    domain = env.get_domain("py")
    ends = (target, target.rpartition(".")[2])
    for name in (name for end in ends for name in domain.objects if name.endswith(f".{end}")):
        if found := domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, text):
            return found
    return text if _exists(target, str(node.get("py:module") or "hopscale")) else None


def _exists(target: str, module: str) -> bool:
    """Whether a dotted name, absolute or within a module, is that of a Python object."""
    for name in (target, f"{module}.{target}", f"hopscale.models.{target}", f"hopscale.supervised.{target}"):
        head, *rest = name.split(".")
        try:
            value: Any = import_module(head)
            for part in rest:
                head = f"{head}.{part}"
                value = getattr(value, part, None) or import_module(head)
        except (ImportError, ValueError):
            continue
        return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; napoleon must come after `keep_first_line`."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", keep_first_line, priority=400)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}
