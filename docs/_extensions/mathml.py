"""Formulas as MathML, which browsers show by themselves: pages load nothing from anywhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(_mathml(node, is_block=False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(_mathml(node, is_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, is_block: bool) -> str:
    try:
        return str(tex2mathml(node.astext(), as_block=is_block))
    except MathError as error:
        logger.warning("a formula cannot be shown: %s", error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True}
