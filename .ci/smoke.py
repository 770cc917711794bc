"""A short test of an installed hopscale, without anything from the repository: `python .ci/smoke.py`.

Prints a line for each step, and fails at the first that goes wrong. Continuous integration runs it on every wheel.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def library() -> None:
    """Fit, transform, save, load, explain, and predict."""
    import numpy as np

    import hopscale

    graph = hopscale.load("planted-blocks")
    for model in (hopscale.MUSAE(dimensions=32), hopscale.MUSAE(dimensions=32, solver=hopscale.SGNS(epochs=1))):
        vectors = model.fit_transform(graph)
        assert vectors.shape == (600, 32)
        assert np.isfinite(vectors).all()
        one = type(model)(**{**model.get_params(deep=False), "n_jobs": 1}).fit_transform(graph)
        assert (vectors == one).all(), "vectors depend on the number of threads"
    model = hopscale.MUSAE(dimensions=32).fit(graph)
    score = np.mean([record["micro_f1"] for record in hopscale.evaluate(model, graph.labels)])
    assert score > 0.9, f"vectors tell blocks apart with a micro-F1 of {score}"
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.safetensors")
        again = hopscale.load_model(Path(folder) / "model.safetensors")
    assert (again.embedding_ == model.embedding_).all()
    assert model.explain(0, graph=graph)["1"]
    assert hopscale.GraphClassifier().fit(graph, train=range(0, 600, 3)).score() > 0.9


def command_line() -> None:
    """Read files, write vectors, show the version, the demonstration and, where it is there, a picture."""
    from hopscale.cli.commands import hopscale as program

    with tempfile.TemporaryDirectory() as folder:
        edges, nodes = Path(folder) / "edges.csv", Path(folder) / "nodes.csv"
        edges.write_text(
            "source,target\n" + "".join(f"n{i},n{(i + step) % 40}\n" for i in range(40) for step in (1, 3))
        )
        nodes.write_text("id,team,age\n" + "".join(f"n{i},{'ab'[i // 20]},{20 + i}\n" for i in range(40)))
        vectors, picture = Path(folder) / "vectors.csv", Path(folder) / "map.png"
        run("--version")
        run("embed", "--edges", str(edges), "--nodes", str(nodes), "-o", str(vectors), "--quiet")
        assert len(vectors.read_text().splitlines()) == 41
        run("demo")
        if "plot" in program.list_commands(None) and _has("matplotlib"):
            run("plot", "--graph", "figure1", "-o", str(picture))
            assert picture.stat().st_size > 1000


def run(*arguments: str) -> None:
    """Run a command of hopscale in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "hopscale", *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"hopscale {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    print(f"hopscale {arguments[0]}: fine")


def _has(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def main() -> None:
    """Run all of it."""
    import hopscale
    from hopscale._core import _native

    print(f"hopscale {hopscale.__version__} from {Path(hopscale.__file__).parent}")
    print(f"Python {sys.version.split()[0]}, instruction sets: {', '.join(_native.instruction_sets())}")
    library()
    print("library: fine")
    command_line()


if __name__ == "__main__":
    main()
