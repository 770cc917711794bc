"""Maps as static pictures, drawn by matplotlib."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopscale.atomic import replacing
from hopscale.checks import as_path, seed_of, whole
from hopscale.exceptions import GraphError, MissingPackageError, ParameterError
from hopscale.explore.fonts import fonts, told_of_missing_signs
from hopscale.explore.layout import feature_positions, node_positions
from hopscale.explore.node_colors import Classes, Values, chosen_colors
from hopscale.explore.palette import PALETTE
from hopscale.explore.shown_names import short_text

__all__ = [
    "FORMATS", "INK", "draw_map", "drawn_with", "new_figure", "picture_format", "plot", "plot_colored", "save_picture",
]  # fmt: skip

FORMATS = ("png", "svg", "pdf")

_PLAIN = "#4477aa"  # of nodes that are all alike
_OTHER = "#9aa0a6"  # of those whose class is too rare for a colour
_FAINT = "#cfd3d7"  # of those without a class or value
INK = "#222222"
_MANY = 5_000  # points from which vector graphics hold an image of them
_DPI = 200
_COLUMN = 12  # classes in a column of the legend


def plot(
    model: Any,
    *,
    color: ArrayLike | None = None,
    feature: Hashable | None = None,
    n_clusters: int | None = None,
    scale: int | str | None = None,
    names: int = 0,
    method: Any = "auto",
    positions: ArrayLike | None = None,
    title: str | None = None,
    ax: Any = None,
    random_state: Any = 0,
) -> Any:
    """Draw a map of a model's nodes; see :meth:`hopscale.MUSAE.plot`."""
    colors = chosen_colors(
        model, color=color, feature=feature, n_clusters=n_clusters, scale=scale, random_state=random_state
    )
    _matplotlib()
    made = ax is None
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=_size(colors), layout="compressed")[1]
    try:
        plot_colored(
            model, ax, colors, scale=scale, names=names, method=method, positions=positions, title=title,
            seed=seed_of(random_state),
        )  # fmt: skip
    except BaseException:
        if made:
            pyplot.close(ax.figure)
        raise
    return ax


def plot_colored(
    model: Any,
    ax: Any,
    colors: Classes | Values | None,
    *,
    scale: int | str | None = None,
    names: int = 0,
    method: Any = "auto",
    positions: ArrayLike | None = None,
    title: str | None = None,
    seed: int = 0,
) -> None:
    """Draw a map of a model's nodes in these colours, and the names of some features."""
    names = whole("names", names, least=0)
    if names:
        model.feature_vectors(scale)  # which must be there
    run = {"random_state": seed, "n_jobs": model.n_jobs, "verbose": bool(model.verbose)}
    if positions is None:
        positions = node_positions(model, scale=scale, method=method, **run)
    places = np.asarray(positions)
    if places.shape != (len(model.node_ids_), 2) or not np.isfinite(places).all():
        raise GraphError(
            f"positions must be {len(model.node_ids_)} rows of two finite numbers, but their shape is {places.shape}"
        )
    with _matplotlib().rc_context(fonts()):
        draw_map(ax, places, colors, title=title, seed=seed)
        if names:
            _write_names(ax, model, feature_positions(model, places, scale=scale, **run), names, scale)


def draw_map(
    ax: Any,
    positions: NDArray[Any],
    colors: Classes | Values | None = None,
    *,
    title: str | None = None,
    seed: int = 0,
) -> None:
    """Draw points with their colours, a legend or a colour bar."""
    n = len(positions)
    # In a random order, so that no class hides the others; points without a class or value are below all.
    order = np.random.default_rng(seed).permutation(n)
    settings = {"s": point_area(n), "alpha": opacity(n), "linewidths": 0, "rasterized": n > _MANY}
    if isinstance(colors, Values):
        unknown = np.isnan(colors.values[order])
        ax.scatter(*positions[order[unknown]].T, color=_FAINT, **settings)
        _draw_values(ax, positions[order[~unknown]], colors, order[~unknown], settings)
    elif isinstance(colors, Classes):
        order = order[np.argsort(_height(colors)[order], kind="stable")]
        ax.scatter(*positions[order].T, c=_shades(colors)[colors.codes[order]], **settings)
        _draw_legend(ax, colors)
    else:
        ax.scatter(*positions[order].T, color=_PLAIN, **settings)
    _set_limits(ax, positions)
    ax.set_aspect("equal", adjustable="box")
    ax.set_axis_off()
    if title:
        ax.set_title(title, loc="left", fontsize=12, color=INK, parse_math=False)


def _set_limits(ax: Any, positions: NDArray[Any]) -> None:
    """Show all points with a margin; points on a line, or in one place, have some room around them as well."""
    low, high = positions.min(axis=0).astype(float), positions.max(axis=0).astype(float)
    middle, half = (low + high) / 2, (high - low) / 2
    half = 1.06 * np.maximum(half, 0.3 * half.max() or 1.0)
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])


def _shades(colors: Classes) -> NDArray[Any]:
    """Colours of all codes, the last of which is for -1."""
    return np.array([*(PALETTE[at % len(PALETTE)] for at in range(len(colors.names))), _OTHER, _FAINT])


def _height(colors: Classes) -> NDArray[np.int64]:
    """0 for nodes without a class, 1 for rare classes, 2 for others."""
    return np.where(colors.codes < 0, 0, np.where(colors.codes >= len(colors.names), 1, 2))


def point_area(n: int) -> float:
    """Area of a point, in square points: smaller the more there are.

    >>> point_area(100) > point_area(10_000) > point_area(1_000_000)
    True
    """
    return float(np.clip(520.0 / max(n, 1) ** 0.55, 0.25, 60.0))


def opacity(n: int) -> float:
    """Opacity of a point: lower the more there are.

    >>> opacity(100), opacity(10**7)
    (0.9, 0.35)
    """
    return float(np.clip(0.9 - 0.18 * np.log10(max(n, 1) / 3000), 0.35, 0.9))


def _draw_values(
    ax: Any, positions: NDArray[Any], colors: Values, rows: NDArray[np.int64], settings: dict[str, Any]
) -> None:
    from matplotlib.colors import LogNorm, Normalize

    values = colors.values[rows]
    ends = np.quantile(values, [0.01, 0.99]) if len(values) else np.array([0.0, 1.0])  # few values would fade all else
    low, high = map(float, ends)
    norm = LogNorm(low, high) if colors.logarithmic else Normalize(low, high)
    dots = ax.scatter(*positions.T, c=values, cmap="viridis", norm=norm, **settings)
    bar = ax.figure.colorbar(dots, ax=ax, shrink=0.6, aspect=24, pad=0.02, extend="both")
    bar.solids.set_alpha(1.0)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8, colors=INK)
    what = colors.what if len(values) == len(colors.values) else f"{colors.what} (grey: none)"
    bar.set_label(what, fontsize=9, color=INK, parse_math=False)


def _draw_legend(ax: Any, colors: Classes) -> None:
    from matplotlib.lines import Line2D

    entries = list(zip(map(short_text, colors.names), _shades(colors).tolist(), strict=False))
    if colors.others:
        entries.append((f"{colors.others:,} others", _OTHER))
    if (colors.codes < 0).any():
        entries.append((colors.none, _FAINT))
    marks = [Line2D([], [], marker="o", linestyle="", markersize=6, color=shade) for _, shade in entries]
    legend = ax.legend(
        marks,
        [" "] * len(marks),  # names are set below: matplotlib drops those that begin with an underscore
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        fontsize=9,
        ncols=-(-len(entries) // _COLUMN),
        handletextpad=0.1,
        columnspacing=1.0,
        labelcolor=INK,
    )
    for text, (name, _) in zip(legend.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _write_names(ax: Any, model: Any, positions: NDArray[Any], count: int, scale: int | str | None) -> None:
    """Write names of features on the map: those with the longest vectors first, none over another or the legend."""
    from matplotlib.patheffects import withStroke

    lengths = np.linalg.norm(model.feature_vectors(scale).astype(np.float64), axis=1)
    taken = list[Any]()
    with told_of_missing_signs(tell=False):  # which they are when the picture is drawn
        ax.figure.draw_without_rendering()  # which sets where everything is
        for row in np.argsort(-lengths, kind="stable")[: 50 * count]:
            if len(taken) == count or not lengths[row]:
                break
            text = ax.text(
                *positions[row],
                short_text(model.feature_names_[row]),
                fontsize=8,
                weight="bold",
                color=INK,
                ha="center",
                va="center",
                parse_math=False,
                path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.85)],
            )
            box = _moved_inside(ax, text)
            if box is None or any(box.overlaps(other) for other in taken):
                text.remove()
            else:
                taken.append(box)


def _moved_inside(ax: Any, text: Any) -> Any:
    """The box of a text once it is moved into the map, beside which there is a legend; None if it is too wide."""
    room, renderer = ax.get_window_extent(), ax.figure.canvas.get_renderer()
    box = text.get_window_extent(renderer).padded(3)
    if box.width > room.width:
        return None
    shift = max(room.x0 - box.x0, 0.0) - max(box.x1 - room.x1, 0.0)
    if shift:
        x, y = ax.transData.transform(text.get_position())
        text.set_position(ax.transData.inverted().transform((x + shift, y)))
        box = text.get_window_extent(renderer).padded(3)
    return box


def _size(colors: Classes | Values | None) -> tuple[float, float]:
    """Inches of a figure of its own: a square map, and beside it a legend."""
    columns = -(-len(colors.names) // _COLUMN) if isinstance(colors, Classes) else 0
    return 6.4 + (0.9 if isinstance(colors, Values) else 1.3 * columns), 6.0


def _matplotlib() -> Any:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingPackageError(f'plots need matplotlib ({error}): pip install "hopscale[plots]"') from error
    return mpl


def drawn_with() -> Any:
    """A context in which charts of a report are drawn: plain axes, and letters that stay text in SVG."""
    return _matplotlib().rc_context(
        {
            "svg.hashsalt": "hopscale",
            "svg.fonttype": "none",
            "font.size": 9,
            **fonts(),
            **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), INK),
        }
    )


def new_figure(colors: Classes | Values | None) -> Any:
    """A figure for a map with such colours, which belongs to no window."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_size(colors), layout="compressed")
    FigureCanvasAgg(figure)
    return figure


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format of a picture, by the suffix of its file.

    >>> picture_format("map.PNG")
    'png'
    """
    found = as_path(path).suffix.lower().lstrip(".")
    if found not in FORMATS:
        listed = ", ".join(f".{name}" for name in FORMATS)
        raise ParameterError(f"a picture is written as {listed}, by the suffix of its file, not {Path(path).name!r}")
    return found


def save_picture(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file; the same figure gives the same bytes."""
    kind = picture_format(path)
    metadata: dict[str, dict[str, Any]] = {
        "svg": {"Date": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None},
    }
    with (
        _matplotlib().rc_context({"svg.hashsalt": "hopscale"}),
        told_of_missing_signs(),
        replacing(path) as temporary,
    ):
        figure.savefig(temporary, format=kind, dpi=_DPI, bbox_inches="tight", pad_inches=0.1, metadata=metadata[kind])
