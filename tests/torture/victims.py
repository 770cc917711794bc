"""What is attacked: each writes one of two versions of its files, and can tell a whole file from a torn one."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from processes import Process
from publisher import publish, serving

from hopscale import MUSAE, load_model
from hopscale.cli import main
from hopscale.datasets import planted_blocks, registry
from hopscale.graph import AttributedGraph
from hopscale.io.vectors import FORMATS

ABSENT, TORN = "absent", "torn"


def write_graph(path: Path, graph: AttributedGraph) -> None:
    """Write a graph as .npz."""
    coo = graph.adjacency.tocoo()
    ends = np.stack(coo.coords, axis=1)
    np.savez(
        path,
        edges=ends[ends[:, 0] < ends[:, 1]],
        n_nodes=graph.n_nodes,
        n_features=graph.n_features,
        feature_indptr=graph.features.indptr,
        feature_indices=graph.features.indices,
        target=graph.labels,
    )


def digest(path: Path) -> str:
    """What a file says: of a model its vectors or predictions, else its bytes; ``torn`` if a model cannot be read."""
    if not path.exists():
        return ABSENT
    if path.is_dir():
        parts = sorted(path.iterdir())
        return hashlib.sha256("".join(f"{part.name} {digest(part)}" for part in parts).encode()).hexdigest()
    if path.suffix != ".safetensors":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        model = load_model(path)
        learnt = model.outputs_ if hasattr(model, "outputs_") else model.embedding_
        return hashlib.sha256(learnt.tobytes()).hexdigest()
    except Exception:  # whatever it is: the file is no model
        return TORN


class Victim:
    """A program that writes files into a folder.

    Attributes
    ----------
    name : str
    files : list of Path
        What it writes.
    endless : bool
        Whether it writes one version after the other until it is stopped.
    cleans_up : bool
        Whether SIGTERM and SIGINT must leave nothing: the command line has handlers, the library has none of its own.
    """

    name: str
    endless = False
    cleans_up = True

    def __init__(self, folder: Path, inputs: Path) -> None:
        self.folder, self.inputs = folder, inputs
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files: list[Path] = []
        self.known: dict[Path, set[str]] = {}

    def write(self, version: int) -> None:
        """Write version 0 or 1; runs in a process of its own."""
        raise NotImplementedError

    def run(self, version: int) -> None:
        """What the process does."""
        parent = os.getppid()
        self.write(version)
        while self.endless and os.getppid() == parent:
            version = 1 - version
            self.write(version)

    def get_ready(self, log: Path) -> None:
        """Write both versions in peace, and remember them."""
        for version in (1, 0):
            process = Process(lambda version=version: self.write(version), log)
            assert process.wait() == 0, process.words()
            for file in self.files:
                self.known.setdefault(file, set()).add(digest(file))
        assert all(len(known) == 2 for known in self.known.values()), "versions must differ"

    def reset(self) -> None:
        """Called before every attack."""

    def state(self) -> dict[Path, str]:
        """Digest of every file, or ``torn`` if it is neither version."""
        found = {file: digest(file) for file in self.files}
        return {file: value if value in self.known[file] else TORN for file, value in found.items()}

    def left(self) -> list[str]:
        """Files that should not be there."""
        names = {file.name for file in self.files}
        return sorted(name for name in os.listdir(self.folder) if name not in names)


class Embed(Victim):
    """``hopscale embed`` with three outputs."""

    name = "hopscale embed"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / name for name in ("vectors.csv", "features.tsv", "model.safetensors")]

    def command(self, version: int) -> list[str]:
        """Arguments."""
        vectors, features, model = map(str, self.files)
        outputs = ["-o", vectors, "--feature-output", features, "--save", model]
        return [
            "embed", "--graph", str(self.inputs / "graph.npz"), "--dimensions", str(64 + 32 * version),
            "--n-jobs", "1", *outputs,
        ]  # fmt: skip

    def write(self, version: int) -> None:
        main(args=self.command(version), prog_name="hopscale")


class EmbedInBlocks(Victim):
    """``hopscale embed`` of a graph in parts: a folder that appears whole, and a work folder from which it goes on."""

    name = "hopscale embed, in blocks"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.output = folder / "vectors"
        self.files = [self.output]
        graph = planted_blocks(800, n_features=200)
        for name, columns, matrix in (
            ("edges", ("source", "target"), graph.adjacency),
            ("features", ("node", "feature"), graph.features),
        ):
            entries = np.stack(matrix.tocoo().coords)
            (inputs / name).mkdir(exist_ok=True)
            for part, some in enumerate(np.array_split(entries, 2, axis=1)):
                table = pa.table(dict(zip(columns, map(pa.array, some), strict=True)))
                pq.write_table(table, inputs / name / f"part-{part}.parquet")

    def reset(self) -> None:
        shutil.rmtree(self.output, ignore_errors=True)  # a folder that is not empty is refused

    def get_ready(self, log: Path) -> None:
        for version in (1, 0):
            self.reset()
            process = Process(lambda version=version: self.write(version), log)
            assert process.wait() == 0, process.words()
            self.known.setdefault(self.output, set()).add(digest(self.output))
        assert len(self.known[self.output]) == 2, "versions must differ"
        self.known[self.output].add(ABSENT)

    def write(self, version: int) -> None:
        edges, features = (str(self.inputs / name) for name in ("edges", "features"))
        quick = ["--rows", "sampled", "--dimensions", str(32 + 16 * version), "--n-jobs", "1"]
        main(args=["embed", "--edges", edges, "--features", features, *quick, "-o", str(self.output)])

    def left(self) -> list[str]:
        """Files that should not be there; those by which work goes on should, and a killed process leaves its locks."""
        ends = (".work", ".graph", ".graph.json", ".graph.work")
        kept = {f"{self.output.name}{end}" for end in (*ends, *(f"{end}.lock" for end in ("", *ends)))}
        return [name for name in super().left() if name not in kept]


class FreshEmbed(Embed):
    """The same in an interpreter of its own, which is still importing when many a signal comes."""

    name = "hopscale embed, from the start of Python"

    def write(self, version: int) -> None:
        os.execv(sys.executable, [sys.executable, "-m", "hopscale", *self.command(version)])


class Classify(Victim):
    """``hopscale classify`` with two outputs."""

    name = "hopscale classify"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / name for name in ("predictions.csv", "model.safetensors")]

    def write(self, version: int) -> None:
        predictions, model = map(str, self.files)
        quick = ["--inputs", "vectors", "--head", "logistic", "--folds", "2", "--dimensions", str(16 + 8 * version)]
        outputs = ["--all", "-o", predictions, "--save", model]
        arguments = ["classify", "--graph", str(self.inputs / "graph.npz"), "--n-jobs", "1", *quick, *outputs]
        main(args=arguments, prog_name="hopscale")


class Plot(Victim):
    """``hopscale plot`` with one picture."""

    name = "hopscale plot"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / "map.svg"]

    def write(self, version: int) -> None:
        quick = ["--method", "pca", "--dimensions", str(16 + 8 * version), "--n-jobs", "1"]
        arguments = ["plot", "--graph", str(self.inputs / "graph.npz"), *quick, "-o", str(self.files[0])]
        main(args=arguments, prog_name="hopscale")


class Extend(Victim):
    """``hopscale extend``, by a model that was saved with its graph."""

    name = "hopscale extend"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / "vectors.csv"]
        self.model = inputs / "kept.safetensors"
        MUSAE(64, keep_graph=True).fit(planted_blocks(1500, n_features=200, random_state=1)).save(self.model)
        for version in (0, 1):
            rows = "".join(f"{1500 + i},{i * (version + 2) % 1500}\n" for i in range(300))
            (inputs / f"new-{version}.csv").write_text(rows)

    def write(self, version: int) -> None:
        rows, output = self.inputs / f"new-{version}.csv", self.files[0]
        arguments = ["extend", str(self.model), "--edges", str(rows), "--n-jobs", "1", "-o", str(output)]
        main(args=arguments, prog_name="hopscale")


class _Library(Victim):
    endless, cleans_up = True, False

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        graph = planted_blocks(1500, n_features=200, random_state=1)
        self.models = [MUSAE(dimensions, keep_graph=True).fit(graph) for dimensions in (64, 96)]


class Save(_Library):
    """``model.save`` in a Python program."""

    name = "model.save"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / "model.safetensors"]

    def write(self, version: int) -> None:
        self.models[version].save(self.files[0])


class SaveGraph(Victim):
    """``graph.save`` in a Python program."""

    name, endless, cleans_up = "graph.save", True, False

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / "graph.npz"]
        self.graphs = [planted_blocks(1500, n_features=200, random_state=version) for version in (0, 1)]

    def write(self, version: int) -> None:
        self.graphs[version].save(self.files[0])


class Export(_Library):
    """``model.export`` in a Python program, in every format."""

    name = "model.export"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / f"vectors.{name}" for name in FORMATS]

    def write(self, version: int) -> None:
        for file, name in zip(self.files, FORMATS, strict=True):
            self.models[version].export(file, format=name)


class Download(Victim):
    """``hopscale datasets club --download``, from a slow server, over what is damaged or over nothing."""

    name = "hopscale datasets --download"

    def __init__(self, folder: Path, inputs: Path) -> None:
        super().__init__(folder, inputs)
        self.files = [folder / "club.zip"]
        mirror = inputs / "mirror"
        entries = publish(mirror)
        registry.published = lambda: entries  # type: ignore[assignment]
        self.whole = (mirror / "club.zip").read_bytes()
        self.known = {self.files[0]: {ABSENT, digest(mirror / "club.zip"), hashlib.sha256(b"damaged").hexdigest()}}
        os.environ["HOPSCALE_CACHE"] = str(folder)
        os.environ["HOPSCALE_MIRROR"] = _server_process(mirror, inputs / "address")
        self.turn = 0

    def get_ready(self, log: Path) -> None:
        process = Process(lambda: self.write(0), log)
        assert process.wait() == 0, process.words()
        assert self.files[0].read_bytes() == self.whole

    def reset(self) -> None:
        self.turn += 1
        if self.turn % 2:
            self.files[0].write_bytes(b"damaged")
        else:
            self.files[0].unlink(missing_ok=True)

    def write(self, version: int) -> None:
        main(args=["datasets", "club", "--download"], prog_name="hopscale")


def _server_process(mirror: Path, address: Path) -> str:
    """Address of a server that sends files in many pieces, from a process of its own: threads do not survive forks."""

    def slowly(handler: Any) -> None:
        content = (mirror / handler.path.lstrip("/")).read_bytes()
        handler.send_response(200)
        handler.end_headers()
        for begin in range(0, len(content), 50):
            handler.wfile.write(content[begin : begin + 50])
            time.sleep(0.005)

    def serve() -> None:
        parent = os.getppid()
        with serving(mirror) as server:
            server.fault = slowly
            address.with_suffix(".part").write_text(server.address)
            address.with_suffix(".part").rename(address)
            while os.getppid() == parent:
                time.sleep(0.1)

    Process(serve, address.with_suffix(".log"))
    while not address.exists():
        time.sleep(0.01)
    return address.read_text()
