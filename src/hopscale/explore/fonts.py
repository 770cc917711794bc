"""Fonts of plots: others are asked for signs that matplotlib's own does not have; a warning says what none has."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hopscale.exceptions import warn

__all__ = ["fonts", "told_of_missing_signs"]

# Fonts of the common systems for other scripts, in outlines: matplotlib does not draw fonts of coloured images.
_FALLBACKS = (
    "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "PingFang SC", "Yu Gothic", "Microsoft YaHei",
    "Malgun Gothic", "WenQuanYi Zen Hei", "Nirmala UI", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji",
    "Segoe UI Emoji", "Symbola", "Arial Unicode MS",
)  # fmt: skip
_MISSING = re.compile(r"Glyph (\d+) .*missing from (?:current )?font", re.DOTALL)
_LISTED = 5  # signs in a warning


def fonts() -> dict[str, Any]:
    """The setting of matplotlib by which fonts that are installed here come after the user's own."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    own = list(mpl.rcParams["font.family"])
    return {"font.family": [*own, *(name for name in _FALLBACKS if name in installed and name not in own)]}


@contextmanager
def told_of_missing_signs(tell: bool = True) -> Iterator[None]:
    """In place of a warning of matplotlib for each sign that no font has, one for all of them, or none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    signs: dict[str, None] = {}
    for each in caught:
        found = _MISSING.match(str(each.message))
        if found:
            signs[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if signs and tell:
        more = f" and {len(signs) - _LISTED} more" if len(signs) > _LISTED else ""
        warn(
            f"no font that matplotlib knows has {' '.join(list(signs)[:_LISTED])}{more}: boxes stand for them. Install "
            "a font that has them, or name one in matplotlib's setting font.family"
        )
