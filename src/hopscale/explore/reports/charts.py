"""Charts of a report, as SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopscale.explore.fonts import told_of_missing_signs
from hopscale.explore.node_colors import Classes, Values
from hopscale.explore.palette import PALETTE
from hopscale.explore.plots import INK, draw_map, drawn_with, new_figure
from hopscale.explore.shown_names import short_text

__all__ = ["bars", "confusion_chart", "curve", "map_chart", "predicted_chart"]

_DPI = 160


def map_chart(positions: NDArray[Any], colors: Classes | Values | None, seed: int) -> str:
    """A map of nodes in their colours."""
    with drawn_with():
        figure = new_figure(colors)
        draw_map(figure.add_subplot(), positions, colors, seed=seed)
        return _svg(figure)


def curve(points: dict[int, tuple[float, float]], baseline: float, said: str) -> str:
    """Means with their standard errors against numbers of labels, beside a constant."""

    def draw(ax: Any) -> None:
        x, (y, error) = list(points), np.array(list(points.values())).T
        error = np.nan_to_num(error)
        ax.fill_between(x, y - error, y + error, color=PALETTE[0], alpha=0.2, linewidth=0)
        ax.plot(x, y, marker="o", markersize=4, color=PALETTE[0], label="vectors")
        ax.axhline(baseline, color=PALETTE[5], linestyle="--", linewidth=1.2, label=said)
        ax.set_xscale("log")
        ax.set_xticks(x, [str(k) for k in x])
        ax.minorticks_off()
        ax.set(xlabel="labelled nodes per class", ylabel="micro-F1", ylim=(0, 1.02))
        ax.legend(frameon=False, fontsize=9, labelcolor=INK)

    return _chart(draw, (6.0, 3.2))


def bars(rows: Sequence[tuple[str, float, float]], what: str) -> str:
    """A horizontal bar for each row of a name, a mean and its standard error."""

    def draw(ax: Any) -> None:
        names, means, errors = zip(*rows, strict=True)
        at = np.arange(len(rows))[::-1]
        shades = [PALETTE[0] if name.startswith("all scales") else PALETTE[4] for name in names]
        ax.barh(at, means, xerr=np.nan_to_num(errors), color=shades, height=0.62, ecolor=INK)
        ax.set_yticks(at, names)
        ax.set(xlabel=what, xlim=(min(0.0, min(means) * 1.1), max(1.0, max(means) * 1.1) if max(means) > 0.5 else None))
        ax.tick_params(left=False)
        ax.spines["left"].set_visible(False)

    return _chart(draw, (6.0, 0.6 + 0.32 * len(rows)))


def confusion_chart(shares: NDArray[np.float64], names: Sequence[str]) -> str:
    """Shares of each true class (rows) by predicted class (columns), as percentages."""

    def draw(ax: Any) -> None:
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        ticks = [short_text(name, 18) for name in names]
        ax.set_xticks(range(len(ticks)), ticks, rotation=60 if max(map(len, ticks)) > 3 else 0, ha="right")
        if max(map(len, ticks)) <= 3:
            ax.set_xticks(range(len(ticks)), ticks, ha="center")
        ax.set_yticks(range(len(ticks)), ticks)
        ax.tick_params(length=0)
        ax.set(xlabel="predicted", ylabel="true")
        ax.spines[:].set_visible(False)
        for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            text.set_parse_math(False)
        size = 8 if len(ticks) <= 12 else 6
        for i, j in np.ndindex(*shares.shape):
            if shares[i, j] >= 0.005:
                ink = "white" if shares[i, j] > 0.55 else "#102030"
                ax.text(j, i, f"{100 * shares[i, j]:.0f}", ha="center", va="center", fontsize=size, color=ink)

    side = 1.8 + 0.36 * len(names)
    return _chart(draw, (max(side, 3.4), max(side, 3.2)))


def predicted_chart(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> str:
    """Predicted values against true ones, and the diagonal."""

    def draw(ax: Any) -> None:
        n = len(truth)
        settings = {"s": 10 if n < 3000 else 4, "alpha": 0.5 if n < 3000 else 0.25, "linewidths": 0}
        ax.scatter(truth, predicted, color=PALETTE[0], rasterized=n > 3000, **settings)
        low, high = float(truth.min()), float(truth.max())
        ax.plot([low, high], [low, high], color=PALETTE[5], linestyle="--", linewidth=1.2)
        ax.set(xlabel="true", ylabel="predicted")

    return _chart(draw, (4.6, 4.2))


def _chart(draw: Callable[[Any], None], size: tuple[float, float]) -> str:
    with drawn_with():
        figure = new_figure(None)
        figure.set_size_inches(*size)
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        ax.spines[["top", "right"]].set_visible(False)
        draw(ax)
        return _svg(figure)


def _svg(figure: Any) -> str:
    """A figure as text, on no ground; letters are text, so that pages can show, print and search them."""
    file = io.StringIO()
    with drawn_with(), told_of_missing_signs(tell=False):  # pages have the reader's fonts
        figure.savefig(file, format="svg", dpi=_DPI, transparent=True, bbox_inches="tight", metadata={"Date": None})
    return file.getvalue()
