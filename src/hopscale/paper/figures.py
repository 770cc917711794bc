"""The paper's plots, redrawn: what was published in grey or dashed, what was measured in colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hopscale.paper.densification import POWERS, published_ratios
from hopscale.paper.published import published

if TYPE_CHECKING:
    from hopscale.paper.reports import Chosen

__all__ = ["FIGURES", "draw"]

_COLOURS = {"AE": "tab:blue", "AE-EGO": "tab:cyan", "MUSAE": "tab:red", "MUSAE-EGO": "tab:orange",
            "DeepWalk": "tab:gray", "Walklets": "tab:olive"}  # fmt: skip


def draw(experiment: str, chosen: Chosen, folder: Path) -> list[Path]:
    """Write the figure of an experiment as SVG and PNG; nothing without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return []
    with mpl.rc_context({"svg.hashsalt": "hopscale", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(layout="constrained")
        FIGURES[experiment](chosen, figure)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{experiment}.{kind}" for kind in ("svg", "png")]
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=150, metadata={"Software": None})
    return paths


def _axes(figure: Any, count: int, width: float = 4.0, height: float = 3.2) -> list[Any]:
    figure.set_size_inches(width * count, height)
    axes = figure.subplots(1, count, squeeze=False)
    return list(axes[0])


def _densification(chosen: Chosen, figure: Any) -> None:
    (axis,) = _axes(figure, 1, 5.0, 3.5)
    theirs = published_ratios()
    for dataset in chosen.values("dataset"):
        record = chosen.get(dataset=dataset)
        assert record is not None
        (line,) = axis.plot(POWERS, record["scores"]["nonzero_ratio"], label=dataset)
        if dataset in theirs:
            axis.plot(POWERS, theirs[dataset], "x", color=line.get_color())
    axis.plot([], [], "kx", label="published")
    axis.set(xlabel="r", ylabel="share of non-zero entries of $A^rF$")
    axis.legend()


def _few_shot(chosen: Chosen, figure: Any) -> None:
    datasets = chosen.values("dataset")
    theirs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in published("few_shot"):
        key = (str(row["method"]), str(row["dataset"]))
        theirs.setdefault(key, []).append((float(row["samples_per_class"]), float(row["micro_f1"])))
    for axis, dataset in zip(_axes(figure, len(datasets)), datasets, strict=True):
        for (name, where), points in theirs.items():
            if where == dataset:
                axis.plot(*zip(*points, strict=True), ":", color=_COLOURS.get(name, "lightgray"), linewidth=1)
        for name, colour in _COLOURS.items():
            record = chosen.get(method=name, solver="pmi", dataset=dataset)
            if record is not None:
                scores = record["scores"]["micro_f1"]
                axis.plot([int(k) for k in scores], [np.mean(v) for v in scores.values()], color=colour, label=name)
        axis.set(title=dataset, xlabel="samples per class", ylabel="micro-F1")
    axis.plot([], [], "k:", label="published")
    axis.legend()


def _transfer(chosen: Chosen, figure: Any) -> None:
    targets = chosen.values("dataset")
    panels = [(target, name) for target in targets for name in ("AE", "MUSAE")]
    rows = published("transfer")
    for axis, (target, name) in zip(_axes(figure, len(panels), 3.2), panels, strict=True):
        here = [row for row in rows if row["method"] == name and row["target"] == target]
        positions = np.arange(len(here))
        axis.bar(positions - 0.3, [r["micro_f1"] for r in here], 0.2, color="lightgray", label="published")
        for shift, solver, colour in ((-0.1, "pmi", "tab:red"), (0.1, "sgns", "tab:blue")):
            for position, row in zip(positions, here, strict=True):
                record = chosen.get(dataset=target, source=row["source"], method=name, solver=solver, standardize=False)
                if record is not None:
                    height = np.mean(record["scores"]["micro_f1"])
                    axis.bar(position + shift, height, 0.2, color=colour, label=solver if position == 0 else None)
        if here:  # what the paper has for a model that was fitted to the target itself
            axis.axhline(float(here[0]["retrained_on_target_micro_f1"]), color="gray", linestyle=":", label="retrained")
        axis.set_xticks(positions, [str(r["source"]).removeprefix("twitch-").upper() for r in here])
        axis.set(title=f"{name} to {target}", ylabel="micro-F1", ylim=(0, 0.85))
    axis.legend()


def _runtime(chosen: Chosen, figure: Any) -> None:
    panels = [(name, varied) for name in ("AE", "MUSAE") for varied in ("features_per_node", "nodes")]
    rows = published("runtime")
    for axis, (name, varied) in zip(_axes(figure, 4, 3.4), panels, strict=True):
        for threads, line in ((1, "-"), (2, "--")):
            here = [r for r in rows if (r["method"], r["varied"], r["cores"]) == (name, varied, float(threads))]
            axis.plot(
                [2 ** float(r["log2_varied"]) for r in here],
                [2 ** float(r["log2_seconds"]) for r in here],
                line, color="gray", label=f"published, {threads}",
            )  # fmt: skip
            for solver, colour in (("sgns", "tab:blue"), ("pmi", "tab:red")):
                what = {"method": name, "solver": solver, "threads": threads, "varied": varied}
                points = sorted(
                    (r["cell"][varied], float(np.median(r["scores"]["seconds"])))
                    for r in chosen.records
                    if all(r["cell"].get(key) == value for key, value in what.items())
                )
                if points:
                    axis.plot(*zip(*points, strict=True), line, color=colour, marker=".", label=f"{solver}, {threads}")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set(title=name, xlabel=varied.replace("_", " "), ylabel="seconds")
    axis.legend(title="threads", fontsize=7)


def _theory(chosen: Chosen, figure: Any) -> None:
    varied = ("walk_length", "dimensions")
    for axis, key in zip(_axes(figure, 2), varied, strict=True):
        here = [r for r in chosen.records if r["cell"]["varied"] == key]
        curves: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
        for r in here:
            for label, distances in r["scores"]["distance"].items():
                curve = curves.setdefault((r["cell"]["method"], r["cell"]["solver"], label), [])
                curve.append((r["cell"][key], float(np.mean(distances))))
        for (name, solver, label), points in curves.items():
            line = "-" if solver == "sgns" else "--"
            axis.plot(*zip(*sorted(points), strict=True), line, marker=".", label=f"{name} {solver}, scale {label}")
        axis.set(xlabel=key.replace("_", " "), ylabel="distance from the theorem")
        if curves:
            axis.legend(fontsize=7)
    figure.axes[0].set_xscale("log", base=2)


FIGURES: dict[str, Callable[[Chosen, Any], None]] = {
    "densification": _densification,
    "few-shot": _few_shot,
    "transfer": _transfer,
    "runtime": _runtime,
    "theory": _theory,
}
