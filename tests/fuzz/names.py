"""What the lines of the fuzzer may name: the doors themselves, things to give them, and checks of what comes back."""

import atexit
import functools
import gzip
import hashlib
import io
import json
import shutil
import struct
import sys
import tempfile
import warnings
import zipfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import click
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from kernel_arguments import call, valid

import hopscale
from fuzz import stored, tables
from hopscale import datasets, tasks
from hopscale import io as doors
from hopscale.cli.commands import hopscale as program
from hopscale.datasets.pickled import unpickled
from hopscale.exceptions import HopscaleError
from hopscale.io import counting
from hopscale.io.vectors import write_vectors
from hopscale.models import MODELS, NodeEmbedding
from hopscale.supervised.heads.base import LinearHead

nan, inf = float("nan"), float("inf")


class NotFiniteError(Exception):
    """A result has a NaN or an infinity in it."""


class DifferenceError(Exception):
    """What was written and read again is not the same."""


# Files.

SCRATCH = Path(tempfile.mkdtemp(prefix="hopscale-fuzz-"))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
_made = 0


def clear():
    """Forget the files of the last input."""
    global _made
    for each in SCRATCH.iterdir():
        shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    _made = 0


def out(name):
    """A path to write to."""
    global _made
    _made += 1
    return SCRATCH / f"{_made}-{name}"


def file(data, name="edges.csv"):
    path = out(name)
    path.write_bytes(data)
    return path


def loop(name):
    """A link to itself."""
    path = out(name)
    path.symlink_to(path)
    return path


def folder(**files):
    path = out("folder")
    path.mkdir()
    for name, data in files.items():
        (path / name.replace("__", ".").replace("_", "-")).write_bytes(data)
    return path


def gz(data):
    return gzip.compress(data, 1)


def npz(**arrays):
    """An .npz, whatever the arrays are."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def packed(members, method=zipfile.ZIP_DEFLATED):
    """A zip archive of members that need not be arrays."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def npy(value, **header):
    """An .npy, perhaps with lies in its header."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(value), allow_pickle=True)
    data = buffer.getvalue()
    for old, new in header.values():
        data = data.replace(old, new.ljust(len(old))[: len(old)])
    return data


# Objects.


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def pairs(items):
    return dict(items)


def array(values, dtype, shape):
    if dtype == "object":
        made = np.empty(len(values), object)
        made[:] = values
        return made.reshape(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(values).astype(dtype).reshape(shape)


def masked(values):
    mask = np.zeros(values.shape, bool)
    mask.flat[:1] = True
    return np.ma.array(values, mask=mask)


def strided(values):
    return np.repeat(values, 2, axis=-1)[..., ::2] if values.ndim else values


def frozen(values):
    values.flags.writeable = False
    return values


def sparse(kind, values, rows, columns, shape, dtype, old):
    made = (sp.coo_matrix if old else sp.coo_array)((np.array(values).astype(dtype), (rows, columns)), shape=shape)
    return made.asformat(kind)


def raw_csr(values, indices, indptr, shape, dtype):
    """A CSR array whose parts nobody has checked."""
    made = sp.csr_array(shape)
    made.data, made.indices, made.indptr = np.array(values, float), np.array(indices, dtype), np.array(indptr, dtype)
    return made


def nx_graph(kind, edges, nodes=(), weight="weight"):
    graph = getattr(nx, kind)()
    for node, attributes in nodes:
        graph.add_node(node, **attributes)
    for source, target, attributes in edges:
        graph.add_edge(source, target, **attributes)
    return graph


def igraph_graph(edges, n, directed=False, **attributes):
    import igraph

    graph = igraph.Graph(n=n, edges=edges, directed=directed)
    for name, values in attributes.items():
        (graph.es if name == "weight" else graph.vs)[name] = values
    return graph


def indexed(values, index, kind="Series", **settings):
    """A column or table of pandas with an index of whatever."""
    if sp.issparse(values):
        raise ValueError("pandas makes nothing of a sparse matrix, and takes for ever where its indices are wrong")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(pd, kind)(values, index=pd.Index(index, tupleize_cols=False), **settings)


class Bag:
    """Something with attributes: a stand-in for graphs of PyTorch."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def dgl_graph(u, v, n, ndata=None, edata=None):
    kinds = {"ntypes": ["_N"], "etypes": ["_E"]}
    return Bag(edges=lambda: (u, v), num_nodes=lambda: n, ndata=ndata or {}, edata=edata or {}, **kinds)


def kept(graph):
    """A graph in a file and back."""
    path = out("graph.npz")
    graph.save(path)
    again = doors.read_graph(path)
    for name in ("adjacency", "features"):
        if (getattr(again, name) != getattr(graph, name)).nnz:
            raise DifferenceError(f"other {name} after loading")
    if repr(again.node_ids.tolist()) != repr(graph.node_ids.tolist()):
        raise DifferenceError("other ids after loading")
    return again


@functools.cache
def graph_bytes():
    path = out("graph.npz")
    hopscale.AttributedGraph(
        small().adjacency, small().features, node_ids=list("abcdefgh"), labels=[1, None, "x", 2.5] * 2, self_loops=True
    ).save(path)
    return path.read_bytes()


def small():
    """A graph that takes a model a millisecond or two."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (6, 4), (7, 7)]
    features = {0: [0, 1], 1: [1], 2: [1, 2], 3: [0, 3], 4: [2], 5: [3, 4], 6: [4]}
    return doors.from_edges(edges, features, labels={0: 0, 1: 1, 2: 0, 3: 1, 4: 0, 5: 1, 6: 1, 7: 0}, self_loops=True)


SHORT = {"dimensions": 4, "n_jobs": 1}
OF_MODEL = {"FEATHER": {"dimensions": 24, "points": 2, "feature_dimensions": 2}, "TENE": {"iterations": 5}}


def new(name, **settings):
    """A model, or one with settings of its own or its solver's, small unless they say otherwise."""
    kind = MODELS[name]
    fast = SHORT | OF_MODEL.get(name, {})
    model = kind(**fast)
    if hasattr(model, "chosen_solver") and settings.get("solver") == "sgns":
        settings = {"walk_length": 12, "walks_per_node": 1, "epochs": 1} | settings
    return model.configure(**settings)


@functools.cache
def model(name, **settings):
    """A fitted model; nobody changes it."""
    return new(name, **settings).fit(small())


@functools.cache
def model_bytes(name, **settings):
    path = out("model")
    model(name, **settings).save(path)
    return path.read_bytes()


@functools.cache
def predictor_bytes(kind, head, inputs):
    """The file of a model that learnt from labels."""
    path = out("predictor")
    learner = getattr(hopscale, kind)(embedder=new("AE"), head=head, inputs=inputs, folds=2, landmarks=4, n_jobs=1)
    learner.fit(small(), [0, 1, 0, 1, 0, 1, 1, 0], train=[0, 1, 2, 3, 4, 5]).save(path)
    return path.read_bytes()


# Model files in parts: what is changed inside a file passes the checks of its frame.


def parts(data):
    """The header of a safetensors file and its tensors' bytes."""
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def whole(header, tensors):
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + tensors


def resealed(header, tensors):
    """A file with the digest that its content asks for."""
    words = header.get("__metadata__", {})
    if isinstance(words, dict) and "sha256" in words:
        words["sha256"] = "0" * 64
        words["sha256"] = hashlib.sha256(whole(header, tensors)).hexdigest()
    return whole(header, tensors)


def with_fact(data, name, text):
    """A model file with one entry of its metadata changed, and all else in order."""
    header, tensors = parts(data)
    header["__metadata__"][name] = text
    return resealed(header, tensors)


def with_tensor(data, name, **changes):
    header, tensors = parts(data)
    header[name] = {**header[name], **changes}
    return resealed(header, tensors)


def with_tensors(data, tensors):
    return resealed(parts(data)[0], tensors)


# Doors.


def cli(*args):
    """A command in this process; what it does not foresee is raised. Returns what it answers."""
    answer = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    try:
        with redirect_stdout(answer), redirect_stderr(io.StringIO()), _standard_input(b"0,1\n1,2\n"):
            click.Group.main(program, args=[str(arg) for arg in args], prog_name="hopscale", standalone_mode=False)
    except (click.ClickException, click.Abort, click.exceptions.Exit, OSError) as error:
        raise HopscaleError(str(error)) from error
    answer.flush()
    text = answer.buffer.getvalue().decode("utf-8", "replace")
    if "--json" in args and text.startswith("{"):
        json.loads(text, parse_constant=_refused_constant)
    return text


def planned(model, solver, **settings):
    """A plan, in words as well; its figures are numbers."""
    found = hopscale.plan(model=MODELS[model](**({} if model == "HOPE" else {"solver": solver})), **settings)
    assert str(found)
    figures = [found.seconds, found.memory, found.graph, found.work, found.vectors, found.disk, found.network]
    assert all(np.isfinite(figure) and figure >= 0 for figure in figures), figures
    return found


def counted_rows(*files, **settings):
    """Counts of files as if they were large."""
    whole = counting.PIECE, counting.PIECE_ROWS
    counting.PIECE, counting.PIECE_ROWS = 16, 4
    try:
        return counting.count_rows(*files, **settings)
    finally:
        counting.PIECE, counting.PIECE_ROWS = whole


@contextmanager
def _standard_input(data):
    """Let standard input hold some bytes."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def _refused_constant(name):
    raise NotFiniteError(name)


STRUCTS = ("Graph", "Csr", "Noise", "Panels", "SkipGram")


def kernel(entry, **changed):
    """An entry of the core, with arguments that fit but for those that are given; no number of theirs is checked."""
    try:
        found = call(entry, valid(entry) | changed)
        return found if entry in STRUCTS else None
    except (TypeError, ValueError, OverflowError) as error:
        raise HopscaleError(str(error)) from error


def written(name, ids, vectors, **settings):
    """Vectors in a file and back."""
    path = out(name)
    write_vectors(path, ids, vectors, **settings)
    expected, suffix = np.asarray(vectors, dtype=np.float32), settings.get("format") or path.suffix[1:]
    if suffix in ("csv", "tsv"):
        frame = pd.read_csv(path, sep="," if suffix == "csv" else "\t", keep_default_na=False, dtype={"id": str})
        found = frame.iloc[:, 1:].to_numpy(np.float32).reshape(expected.shape)
    elif suffix == "npz":
        found = np.load(path)["vectors"]
    elif suffix == "parquet":
        found = pd.read_parquet(path).iloc[:, 1:].to_numpy(np.float32).reshape(expected.shape)
    else:
        return
    if not np.array_equal(found, expected):
        raise DifferenceError(f"{found.tolist()} instead of {expected.tolist()}")


def followed(graph, name, **settings):
    """What one does with a graph: fit, ask, save, load; all finite, and the same after loading."""
    if not isinstance(graph, hopscale.AttributedGraph) or graph.n_nodes > 100 or graph.n_features > 1000:
        return graph
    datasets.describe(graph)
    fitted = new(name, **settings).fit(graph)
    check(fitted)
    check([score for _, score in fitted.neighbors(graph.node_ids[0], k=3)])
    path = out("model.safetensors")
    fitted.save(path)
    again = hopscale.load_model(path)
    if again.embedding_.tobytes() != fitted.embedding_.tobytes():
        raise DifferenceError("other vectors after loading")
    if fitted.inductive:
        check(again.transform(graph))
    return graph


def used(loaded):
    """What one does with a model from a file."""
    check(loaded)
    check([score for _, score in loaded.neighbors(loaded.node_ids_[0], k=2)])
    if loaded.has_feature_vectors and len(loaded.feature_names_):
        check(loaded.explain(loaded.node_ids_[0], k=2))
    loaded.configure(n_jobs=1)
    return loaded.transform(small()) if loaded.inductive else loaded


def predicted(loaded):
    """What one does with a model from a file that learnt from labels."""
    if isinstance(loaded, NodeEmbedding):  # where the file names another class
        return used(loaded)
    loaded.set_params(n_jobs=1)
    repr(loaded)
    str(loaded.report_)
    for graph in (None, small()):
        loaded.predict(graph)
        check(loaded._outputs_of(graph))
    if isinstance(loaded.head_, LinearHead):
        check([value for *_, value in loaded.explain_prediction(3, graph=small()).parts])
    return loaded


def listed(path):
    """All that is said of a folder of data sets."""
    return {name: datasets.locate(name, data=path) for name in datasets.names(path)}


def check(value):
    """Refuse a result that is not finite; labels may be, where there is none."""
    if isinstance(value, hopscale.AttributedGraph):
        repr(value)
        for matrix in (value.adjacency, value.features):
            check(matrix)
            if matrix.nnz and not 0 <= matrix.indices.min() <= matrix.indices.max() < matrix.shape[1]:
                raise DifferenceError("column indices out of range")
        check(value.degrees)
    elif isinstance(value, NodeEmbedding) and hasattr(value, "embedding_"):
        check(value.embedding_)
        check(getattr(value, "feature_embedding_", None))
    elif sp.issparse(value):
        check(value.data)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "fc" and not np.isfinite(value).all():
            raise NotFiniteError("an array is not finite")
    elif isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise NotFiniteError(f"a result is {value}")
    elif isinstance(value, dict):
        for each in value.values():
            check(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            check(each)
    return value


def scores(records):
    """Scores may be undefined, as is a ROC of one class; no more is asked of them here than that they come."""
    assert isinstance(records, list)


LIBRARIES = {"Decimal": Decimal, "Fraction": Fraction, "np": np, "pa": pa, "pd": pd, "pl": pl, "sp": sp}
SPACE = {
    **{name: each for name, each in globals().items() if not name.startswith("_")},
    **{name: getattr(doors, name) for name in doors.__all__},
    **{name: getattr(hopscale, name) for name in ("AttributedGraph", "PMI", "SGNS", "load", "load_model", "evaluate")},
    **LIBRARIES,
    **{name: getattr(tables, name) for name in ("encoded", "restored", "dense")},
    **{name: getattr(stored, name) for name in ("fitted_in_blocks", "opened", "stored_parts")},
    "tasks": tasks,
    "unpickled": unpickled,
}
