"""A publisher for tests: small files in the formats of the real ones, a registry of them, and a server on loopback."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import struct
import threading
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from hopscale.datasets.registry import Published, read_registry

# What the files below say, worked out by hand.
CLUB_ADJACENCY = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
CLUB_FEATURES = np.array([[0, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
CLUB_LABELS = ["loud", "quiet", "loud", "loud"]
VIEWS_LABELS = [15.0, 7.0, 100.0, 8.0]

CLUB = {
    # An edge in both directions counts once, a self-loop not at all.
    "club_edges.csv": "id_1,id_2\n0,1\n1,0\n1,2\n3,3\n2,3\n",
    "club_features.json": json.dumps({"2": [0], "0": [3, 1, 3], "1": [], "3": [3]}),
    "club_target.csv": 'id,name,flag,new_id\n70,"a, b",True,2\n71,c,True,0\n72,d,False,1\n73,e,True,3\n71,c,True,0\n',
    "views_target.csv": "id,target\n0,15\n1,7\n2,100\n3,8\n",
}

# Seven nodes; 4, 5 and 6 are planetoid's test set, in the order 6, 4, and 5 is left out.
CITED_FEATURES = sp.csr_matrix(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0], [1, 1, 0], [0, 0, 3], [0, 0, 0], [1, 0, 1]]))
CITED_LABELS = [0, 1, 0, 1, 0, -1, 1]
CITED_GRAPH = {0: [1, 1, 4], 1: [0], 2: [2, 3], 3: [2], 4: [0], 5: [6], 6: [5]}


class _Python2Pickler(pickle._Pickler):
    """Writes bytes as Python 2 wrote its strings."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def save_bytes(self, content: bytes) -> None:
        self.write(b"T" + struct.pack("<i", len(content)) + content)

    dispatch[bytes] = save_bytes


def python2_pickle(value: object) -> bytes:
    file = io.BytesIO()
    _Python2Pickler(file, protocol=2).dump(value)
    # Where the classes were when planetoid's files were written.
    content = file.getvalue().replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
    return content.replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")


def cited_files(dumps: Callable[[object], bytes] = python2_pickle) -> dict[str, bytes]:
    """Files of a set in planetoid's format, by role."""
    order = [6, 4]
    one_hot = np.eye(2, dtype=np.int32)[CITED_LABELS]
    graph = defaultdict(list)
    graph.update(CITED_GRAPH)
    held = {
        "allx": CITED_FEATURES[:4],
        "ally": one_hot[:4],
        "tx": CITED_FEATURES[order].astype(np.float32),
        "ty": np.asfortranarray(one_hot[order]),
        "graph": graph,
    }
    return {role: dumps(value) for role, value in held.items()} | {"test": b"6\n4\n"}


def archive(files: dict[str, str], inside: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as container:
        for name, content in files.items():
            container.writestr(f"{inside}/{name}", content)
    return packed.getvalue()


def publish(folder: Path, cited: dict[str, bytes] | None = None) -> dict[str, Published]:
    """Write the files of all sets into a folder laid out as a mirror, and return their registry."""
    cited = cited or cited_files()
    (folder / "planetoid").mkdir(parents=True)
    (folder / "club.zip").write_bytes(archive(CLUB, "clbu/inner"))
    names = {role: "ind.cited." + {"test": "test.index"}.get(role, role) for role in cited}
    for role, content in cited.items():
        (folder / "planetoid" / names[role]).write_bytes(content)
    return read_registry(_registry(names, cited))


def _registry(names: dict[str, str], cited: dict[str, bytes]) -> str:
    common = 'page = "https://example.org/club.html"\nlicence = "CC0"\nabout = "Made up."\n'
    lines = [
        f'[sources.club]\n{common}format = "musae"\naddress = "https://example.org/data/"',
        'archive = "club.zip"\narchive_size = 2000',
        f'[sources.cited]\n{common}format = "planetoid"\naddress = "https://example.org/raw/"\nfolder = "planetoid"',
        '[reasons]\ntyped = "a typing error"',
        '[datasets.club]\nsource = "club"\ntitle = "Club"\ntask = "classification"\ntarget = "noise"',
        'nodes = 4\nedges = 4\nself_loops = 1\ncolumns = 6\nnode_column = "new_id"\nlabel_column = "flag"',
        'class_names = { True = "loud", False = "quiet" }',
        "paper = { nodes = 4, unique_features = 4, classes = 2 }",
        'differences = { unique_features = { here = 3, reason = "typed" } }',
        _files({role: f"club_{role}" + (".json" if role == "features" else ".csv") for role in _ROLES}),
        '[datasets.views]\nsource = "club"\ntitle = "Views"\ntask = "regression"\ntarget = "views"',
        "nodes = 4\nedges = 4",
        _files({"edges": "club_edges.csv", "features": "club_features.json", "target": "views_target.csv"}),
        '[datasets.cited]\nsource = "cited"\ntitle = "Cited"\ntask = "classification"\ntarget = "subject"',
        "nodes = 7\nedges = 5\nself_loops = 1\ncolumns = 3",
        *(f'files.{role} = {{ name = "{names[role]}", {_size_and_hash(content)} }}' for role, content in cited.items()),
    ]
    return "\n".join(lines)


_ROLES = ("edges", "features", "target")


def _files(names: dict[str, str]) -> str:
    """Edges by the hash of git, as a publisher may give it, and the others by SHA-256."""
    lines = []
    for role, name in names.items():
        content = CLUB[name].encode()
        known = _size_and_hash(content)
        if role == "edges":
            git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            known = f'size = {len(content)}, git_blob = "{git}"'
        lines.append(f'files.{role} = {{ name = "{name}", {known} }}')
    return "\n".join(lines)


def _size_and_hash(content: bytes) -> str:
    return f'size = {len(content)}, sha256 = "{hashlib.sha256(content).hexdigest()}"'


class Server:
    """Address of a running server, the paths that were asked of it, and how it is to misbehave."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[str] = []
        self.fault: str | Callable[[SimpleHTTPRequestHandler], None] | None = None


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: object, server_state: Server, **settings: object) -> None:
        self.state = server_state
        super().__init__(*arguments, **settings)

    def do_GET(self) -> None:
        self.state.asked.append(self.path)
        path = Path(self.translate_path(self.path))
        if self.state.fault is None or not path.is_file():
            super().do_GET()
            return
        if callable(self.state.fault):
            with suppress(OSError):  # the client has gone
                self.state.fault(self)
            self.close_connection = True
            return
        content = path.read_bytes()
        sent = content[: len(content) // 2] if "cut" in self.state.fault else b"<html>Log in, please</html>"
        self.send_response(200)
        if self.state.fault == "cut":  # the client can tell from the length that was announced
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Serve a folder on a free port of the loopback interface, until the end of the block."""
    state = Server("")
    handler = partial(_Handler, server_state=state, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        state.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
