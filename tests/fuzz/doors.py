"""A function for every door: random inputs for it, as lines of Python."""

import math
import zlib

import numpy as np
from kernel_arguments import VALID

from .generators import JSON, Maker
from .names import MODELS, model_bytes, npz, parts

DOORS = {}  # by name: the function, and how many inputs a short run takes
CONTEXTS = ("MUSAE", "AE", "HOPE", "FEATHER", "DeepWalk", "TADW")


def door(quick):
    def register(function):
        DOORS[function.__name__] = (function, quick)
        return function

    return register


def line(name, seed):
    """The input of a number; the same for ever, as long as the door is not changed."""
    return DOORS[name][0](Maker(name, seed))


def _settings(m, **choices):
    """Some of the keyword arguments, each with its own maker."""
    return "".join(f", {name}={make()}" for name, make in choices.items() if m.rarely(0.15))


def _followed(m, graph, share=0.03):
    """A graph, and for a few of them what follows."""
    if not m.rarely(share):
        return graph
    name = m.choice(list(MODELS))
    solver = ", solver='sgns'" if name in ("MUSAE", "AE", "DeepWalk", "Walklets") and m.rarely(0.3) else ""
    return f"followed({graph}, {name!r}{solver})"


# Files.


def _file(m, data, name):
    text = repr(data)
    if m.rarely(0.05):
        text = f"gz({text})" if m.rarely(0.7) else repr(m.mutated(_gzip(data)))
    return f"file({text}, {name!r})"


def _gzip(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _edge_file(m):
    return _file(m, m.delimited(m.choice([2, 2, 3]), ("source", "target", "weight")), "edges.csv")


def _feature_file(m):
    if m.rarely(0.5):
        return _file(m, m.json(), "features.json")
    return _file(m, m.delimited(m.choice([2, 2, 3]), ("node", "feature", "value")), "features.csv")


def _label_file(m):
    return _file(m, m.delimited(m.choice([2, 2, 3]), ("node", "other", "label")), "labels.csv")


def _of_files(m):
    return _settings(
        m,
        weight=lambda: m.word("weight", "third"),
        value=lambda: m.word("value", "third"),
        node_column=lambda: m.word("node"),
        label_column=lambda: m.word("label", "other"),
        unknown=lambda: m.word("error", "isolate"),
        header=lambda: m.word("x") if m.odd() else m.choice(["True", "False"]),
        self_loops=lambda: m.choice(["True", "False"]),
    )


@door(3000)
def edge_files(m):
    return _followed(m, f"read_graph({_edge_file(m)}{_of_files(m)})")


@door(3000)
def feature_files(m):
    edges = "file(b'0,1\\n1,2\\n2,3\\n3,4\\n')" if m.numeric else "file(b'a,b\\nb,c\\nc,d\\n')"
    return _followed(m, f"read_graph({edges}, {_feature_file(m)}{_of_files(m)})")


@door(2000)
def label_files(m):
    edges = "file(b'0,1\\n1,2\\n2,3\\n3,4\\n')" if m.numeric else "file(b'a,b\\nb,c\\nc,d\\n')"
    return _followed(m, f"read_graph({edges}, None, {_label_file(m)}{_of_files(m)})")


@door(1000)
def all_files(m):
    return _followed(m, f"read_graph({_edge_file(m)}, {_feature_file(m)}, {_label_file(m)}{_of_files(m)})")


def _npz(m):
    """An .npz of arrays that belong together, but for some."""
    arrays = {
        "edges": lambda: m.array((m.randrange(1, 6), 2), lambda: str(m.randrange(4)) if not m.odd() else m.number()),
        "n_nodes": lambda: "4",
        "n_features": lambda: "3",
        "feature_indptr": lambda: "[0, 1, 2, 3, 4]",
        "feature_indices": lambda: "[0, 1, 2, 0]",
        "feature_values": lambda: m.array((4,)),
        "target": lambda: "[0, 1, -1, 0]",
        "class_names": lambda: "['a', 'b']",
    }
    made = []
    for name, make in arrays.items():
        if name in ("feature_values", "target", "class_names") and m.rarely(0.5):
            continue
        if m.odd():
            if m.rarely(0.2):
                continue
            numbers = m.listed(
                lambda: m.choice(["0", "1", "2", "3", "4", "-1", "50_000_000", "2**31", "2**40"]), 0, 6, "[]"
            )
            make = m.choice([m.thing, m.number, m.array, lambda n=numbers: n, lambda n=numbers: f"np.array({n}, 'u4')"])
        made.append((name, make()))
    return made


@door(1500)
def npz_arrays(m):
    arrays = ", ".join(f"{name}={text}" for name, text in _npz(m))
    return _followed(m, f"read_graph(file(npz({arrays}), 'graph.npz'){_settings(m, self_loops=lambda: 'True')})")


SHAPE = b"'shape': ("


@door(1000)
def npz_members(m):
    """Members that are no arrays, or lie about what they are."""
    members = []
    for name, text in _npz(m):
        member = f"npy({text})"
        if m.odd():
            member = m.choice(
                [
                    f"npy({text}, lie=({SHAPE!r}, {SHAPE[:-1] + b'9'!r}))",
                    f"npy({text}, lie=(b'False', b'True'))",
                    f"npy({text}, lie=(b'<i8', {m.choice([b'<f8', b'|O8', b'<U8', b'|V8', b'>i8'])!r}))",
                    f"npy({text})[:{m.randrange(1, 140)}]",
                    f"npy({text}) * 2",
                    repr(
                        m.mutated(
                            b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", JSON
                        )
                    ),
                    "b''",
                    "nested",
                ]
            ).replace(
                "nested",
                repr(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * m.randrange(1, 70000)) if m.rarely(0.1) else "b'PK'",
            )
        members.append(f"({name + '.npy'!r}, {member})")
    method = m.choice(["0", "8", "12", "14"]) if m.odd() else "8"
    return f"read_graph(file(packed([{', '.join(members)}], {method}), 'graph.npz'))"


def _sound_npz(m):
    return npz(edges=[[0, 1], [1, 2], [2, 3]], n_nodes=4, n_features=3, feature_indptr=[0, 1, 2, 3, 4],
               feature_indices=np.array([0, 1, 2, 0], "i4"), target=[0, 1, -1, 0], class_names=["a", "b"])  # fmt: skip


@door(1000)
def npz_bytes(m):
    return f"read_graph(file({m.mutated(_sound_npz(m), JSON)!r}, 'graph.npz'))"


@door(400)
def data_folders(m):
    data = repr(m.mutated(_sound_npz(m)) if m.odd() else _sound_npz(m))
    name = m.word("graph", "cora", "digits", "../graph", "twitch-de", "graph.npz", "")
    where = (
        m.thing()
        if m.odd() and m.rarely(0.2)
        else f"folder(graph__npz={data}, cora__npz={m.choice([data, repr(b'x')])})"
    )
    if m.rarely(0.2):
        return f"listed({where})"
    if m.rarely(0.1):
        return f"cli('datasets', '--data', {where})"
    settings = _settings(m, download=lambda: "False", n_nodes=m.count, random_state=m.count)
    return _followed(m, f"load({name}, data={where}{settings})", 0.01)


@door(1500)
def pickles(m):
    data = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\x85q\x02U\x01bq\x03\x87q\x04Rq\x05(K\x01K\x02K\x02\x86cnumpy\ndtype\nq\x06U\x02f4q\x07K\x00K\x01\x87Rq\x08(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x10\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?tb."
    mutated = m.mutated(data, ["cos\nsystem\n", "tR.", "i4", "f8"])
    return f"unpickled({mutated!r}, 'x')"


# Objects.


@door(2000)
def edge_lists(m):
    pair = lambda: m.thing() if m.odd() and m.rarely(0.2) else f"({m.name()}, {m.name()})"  # noqa: E731
    if m.rarely(0.3):
        edges = m.array((m.randrange(1, 5), 2), m.name if m.rarely(0.3) else None)
    else:
        edges = m.thing() if m.odd() and m.rarely(0.2) else m.listed(pair, 1)
    per_node = m.choice(
        [
            lambda: m.listed(m.name),
            lambda: m.mapping(m.name, m.number, 3),
            lambda: m.array((3,)),
        ]
    )
    features = m.choice(
        [
            lambda: m.mapping(m.name, lambda: m.thing() if m.odd() else per_node()),
            lambda: m.matrix((6, 3)),
            lambda: "None",
        ]
    )()
    settings = _settings(
        m,
        weights=lambda: m.choice([lambda: m.array((edges.count("("),)), lambda: m.listed(m.number), m.thing])(),
        node_ids=lambda: m.choice([lambda: "range(6)", lambda: m.listed(m.name, 4), m.thing])(),
        feature_names=lambda: m.choice([lambda: m.listed(m.name, 3), lambda: "'abc'", m.thing])(),
        labels=lambda: m.choice([lambda: m.mapping(m.name, m.name), lambda: m.array((6,)), m.thing])(),
        self_loops=lambda: "True",
    )
    return _followed(m, f"from_edges({edges}, {features}{settings})")


@door(2000)
def matrices(m):
    adjacency = m.matrix()
    features = m.choice([lambda: "None", lambda: m.matrix((4, 3)), lambda: m.matrix((4, 3))])()
    settings = _settings(
        m,
        node_ids=lambda: m.choice([lambda: m.listed(m.name, 4, 4), m.thing])(),
        feature_names=lambda: m.choice([lambda: m.listed(m.name, 3, 3), m.thing])(),
        labels=lambda: m.choice([lambda: m.array((4,)), lambda: m.listed(m.name, 4, 4), m.thing])(),
        directed=lambda: m.word("error", "symmetrize"),
        self_loops=lambda: "True",
    )
    if m.rarely(0.05):
        return f"new('MUSAE').fit(({adjacency}, {features}))"
    return _followed(m, f"AttributedGraph({adjacency}, {features}, directed='symmetrize'{settings})"
                     if ", directed" not in settings else f"AttributedGraph({adjacency}, {features}{settings})")  # fmt: skip


@door(1000)
def tables(m):
    def column(n):
        if m.odd():
            return m.choice([lambda: m.listed(m.thing, n, n, "[]"), lambda: m.array((n,))])()
        return m.listed(m.name, n, n, "[]")

    def table(*names):
        n = m.randrange(1, 5)
        if m.odd() and m.rarely(0.1):
            return m.thing()
        lists = m.listed(lambda: m.listed(m.name, 0, 3, "[]"), n, n, "[]")
        columns = [column(n) if name != "value" else m.listed(m.number, n, n, "[]") for name in names]
        if len(names) == 2 and m.rarely(0.2):
            columns[1] = lists
        held = ", ".join(
            f"{m.thing() if m.odd() and m.rarely(0.1) else repr(name)}: {text}" for name, text in zip(names, columns)
        )
        return m.choice(
            [
                "pd.DataFrame({{{}}})",
                "pl.DataFrame({{{}}})",
                "pa.table({{{}}})",
                "pd.DataFrame({{{}}}, dtype='category')",
            ]
        ).format(held)

    edges = (
        table("source", "target") if m.rarely(0.7) else table("source", "target", m.choice(["weight", "value", "x"]))
    )
    features = m.choice(["None", table("node", "feature"), table("node", "feature", "value")])
    settings = _settings(
        m,
        source=lambda: m.word("source", "target", "x"),
        weight=lambda: m.word("weight", "value", "source"),
        node=lambda: m.word("node", "feature"),
        feature=lambda: m.word("feature", "value"),
        value=lambda: m.word("value"),
        labels=lambda: table("node", "label"),
        label=lambda: m.word("label", "node"),
        unknown=lambda: m.word("error"),
    )
    return _followed(m, f"from_tables({edges}, {features}{settings})")


@door(1000)
def networkx_graphs(m):
    kind = m.choice(["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
    own = lambda: m.choice(
        [lambda: m.listed(m.name), lambda: m.mapping(m.name, m.number, 3), lambda: m.array((3,)), m.thing]
    )()
    nodes = m.listed(
        lambda: f"({m.name()}, {{{m.choice([repr('features'), repr('x')])}: {own()}, 'label': {m.name()}}})", 0, 5, "[]"
    )
    edges = m.listed(
        lambda: f"({m.name()}, {m.name()}, {{{'' if m.rarely(0.5) else repr('weight') + ': ' + m.number()}}})",
        0,
        6,
        "[]",
    )
    settings = _settings(
        m,
        features=lambda: m.choice([lambda: m.word("features", "x"), lambda: m.mapping(m.name, own, 3), m.thing])(),
        weight=lambda: m.word("weight", "x"),
        label=lambda: m.word("label"),
        directed=lambda: m.word("symmetrize"),
        self_loops=lambda: "True",
    )
    return _followed(m, f"from_networkx(nx_graph({kind!r}, {edges}, {nodes}){settings})")


@door(1500)
def anything(m):
    """Things that are no graph, in every place for one."""
    thing = m.choice([m.thing, m.matrix, m.array, lambda: f"({m.matrix()}, {m.matrix((4, 3))})"])()
    return f"as_graph({thing})"


# Models.


@door(1500)
def model_bytes_mutated(m):
    data = _model(m)
    if m.rarely(0.5):
        return f"used(load_model(file({m.mutated(data, JSON)!r})))"
    header, tensors = parts(data)
    return f"used(load_model(file(with_tensors({data!r}, {m.mutated(tensors)!r}))))"


@door(1500)
def model_facts(m):
    """Metadata and headers of tensors that are changed in a file that is sound otherwise, digest and all."""
    data = _model(m)
    header, _ = parts(data)
    if m.rarely(0.2):
        name = m.choice([name for name in header if name != "__metadata__"])
        change = m.choice(["dtype", "shape", "data_offsets"])
        odd = {"dtype": m.choice(["F64", "F16", "I8", "BOOL", "X"]), "shape": m.choice([[2**40, 2], [0], [], [-1], [1, 1, 1]]),
               "data_offsets": m.choice([[0, 8], [0, 2**60], [8, 0], []])}[change]  # fmt: skip
        return f"used(load_model(file(with_tensor({data!r}, {name!r}, {change}={odd!r}))))"
    name = m.choice(list(header["__metadata__"]))
    text = header["__metadata__"][name]
    if m.rarely(0.6):
        text = _with_another_value(m, text)
    else:
        text = m.mutated(text.encode(), JSON, most=2).decode("utf-8", "replace")
    return f"used(load_model(file(with_fact({data!r}, {name!r}, {text!r}))))"


def _with_another_value(m, text):
    """JSON in which one of the values is another."""
    pieces = text.replace(":", "\0:\0").replace(",", "\0,\0").replace("}", "\0}").replace("]", "\0]").split("\0")
    values = [i for i, piece in enumerate(pieces) if piece.strip() and piece.strip() not in (",", ":", "}", "]")]
    if not values:
        return m.choice(JSON)
    small = [j for j in JSON if len(j) < 100] + [
        "2",
        "-5",
        "0.5",
        '"x"',
        "4611686018427387904",
        '"sgns"',
        '"pmi"',
        "1e-40",
        "50",
    ]
    pieces[m.choice(values)] = " " + m.choice(small)
    return "".join(pieces)


def _model(m):
    name = m.choice(CONTEXTS)
    return model_bytes(name, solver="sgns") if name == "MUSAE" and m.rarely(0.5) else model_bytes(name)


# Parameters that say how much work there is: large ones are no defect, but take long.
_WORK = {
    "epochs",
    "iterations",
    "walks",
    "walk_length",
    "walks_per_node",
    "points",
    "feature_dimensions",
    "text_dimensions",
}


@door(400)
def parameters(m):
    name = m.choice(list(MODELS))
    kind = MODELS[name]
    solver = m.choice(list(kind.solvers)) if hasattr(kind, "solvers") else None
    of_model = list(kind().get_params(deep=False))
    of_solver = list(kind.solvers[solver]().get_params()) if solver else []
    settings = {"solver": repr(solver)} if solver else {}
    for each in m.sample(of_model + of_solver, m.randint(1, 3)):
        if each in ("n_jobs", "verbose", "solver") and not m.rarely(0.2):
            continue
        settings[each] = _setting(m, each)
    text = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"new({name!r}, {text}).fit(small())"


def _setting(m, name):
    if name == "n_jobs":
        return m.choice(["0", "None", "1", "2", "-1", "'x'", "1.5", "-(2**40)"])
    if name == "verbose":
        return m.choice(["False", "None", "3", "'x'"])
    if m.rarely(0.2):
        return m.choice(THINGS_FOR_PARAMETERS)
    if name in _WORK or name == "window":
        most = [] if name in ("iterations", "epochs") else ["10**400", "2**70"]
        return m.choice(["1", "2", "3", "7", "31", "0", "-1", "1.5", "nan", "'3'", "True", "np.int8(3)", "None", *most])
    if name == "dimensions":
        return m.choice(
            ["1", "2", "3", "4", "7", "12", "24", "64", "0", "-2", "2.0", "nan", "'4'", "2**31", "10**400", "513"]
        )
    if name == "memory_limit":
        return m.choice(
            ["1", "1000", "'64KiB'", "'1MiB'", "'1 GB'", "'x'", "nan", "inf", "-1", "2**80", "'9' * 500", "''", "1.5"]
        )
    if name in ("rows", "start", "proximity", "random_state", "solver"):
        return m.choice(["'exact'", "'sampled'", "'auto'", "'node'", "'degree'", "'katz'", "'x'", "0", "7", "2**70", "-1", "None", "'overlap'",
                         "'pagerank'", "'adamic-adar'", "'common-neighbors'", "np.random.default_rng(3)", "np.random"])  # fmt: skip
    return m.choice(["1e-40", "1e-30", "1e-9", "0.1", "0.5", "0.9999", "0.999999999", "1", "2", "50", "1000", "1e9", "1e30", "1e300", "0", "-1",
                     "nan", "inf", "'1'", "True", "10**400", "1e-320", "np.float32(0.5)", "Fraction(1, 3)", "Decimal('0.5')", "1j"])  # fmt: skip


THINGS_FOR_PARAMETERS = [
    "None",
    "()",
    "[1]",
    "{}",
    "''",
    "'\\ud800'",
    "b'1'",
    "object()",
    "np.array([1, 2])",
    "np.array(2)",
    "int",
    "np.ma.masked",
]


@door(1500)
def questions(m):
    """Queries of fitted models, transform, export and the tasks, with odd arguments."""
    fitted = f"model({m.choice(CONTEXTS)!r})"
    node = lambda: m.thing() if m.rarely(0.3) else str(m.randrange(8))  # noqa: E731
    scale = lambda: m.thing() if m.rarely(0.3) else m.choice(["0", "1", "3", "'1-3'", "'0'", "9"])  # noqa: E731
    k = lambda: m.thing() if m.rarely(0.3) else str(m.randrange(1, 12))  # noqa: E731
    few = lambda: m.choice(["1", "2", "0", "-1", "nan", "'x'", "None", "1.5", "True", "[1]"])  # noqa: E731
    return m.choice([
        lambda: f"{fitted}.neighbors({node()}, k={k()}{_settings(m, scale=scale)})",
        lambda: f"{fitted}.explain({node()}, k={k()}, scale={scale()})",
        lambda: f"{fitted}.node_vectors({scale()})",
        lambda: f"{fitted}.feature_vectors({scale()})",
        lambda: f"{fitted}.transform({m.choice([m.thing, m.matrix, lambda: f'({m.matrix()}, {m.matrix((4, 5))})', lambda: 'small()'])()})",
        lambda: f"{fitted}.get_feature_names_out({m.thing()})",
        lambda: f"{fitted}.export(out('v.' + {m.word('csv', 'npz', 'txt')}), what={m.word('nodes', 'features')}, scale={scale()})",
        lambda: f"small().index_of({node()})",
        lambda: f"scores(evaluate({m.matrix((8, 2))}, {_labels(m)}, splits={few()}{_settings(m, test_size=m.number, random_state=m.number, task=lambda: m.word('classification', 'regression'), standardize=lambda: 'True')}))",
        lambda: f"scores(tasks.few_shot({m.array((8, 2))}, {_labels(m)}, samples_per_class={m.choice(['1', '2', '(1, 2)', m.thing()])}, splits={few()}))",
        lambda: f"scores(tasks.link_prediction(new('DeepWalk'), small(), share={m.number()}, splits=1, max_edges={m.count()}))" if m.rarely(0.3) else f"tasks.likely_task({_labels(m)})",
        lambda: f"scores(tasks.attribute_inference(new('MUSAE'), small(), share={m.number()}, scale={scale()}, splits=1))" if m.rarely(0.3) else f"tasks.summarize({m.listed(m.thing)})",
    ])()  # fmt: skip


def _labels(m):
    return m.choice(
        [lambda: m.array((8,)), lambda: "[0, 1, 0, 1, 1, 0, 1, 0]", lambda: m.listed(m.name, 8, 8, "[]"), m.thing]
    )()


@door(1000)
def vector_files(m):
    n, d = m.randrange(4), m.randrange(4)
    ids = m.thing() if m.odd() and m.rarely(0.2) else m.listed(m.name, n, n, "[]")
    vectors = m.thing() if m.odd() and m.rarely(0.2) else m.array((n, d))
    name = m.choice(
        ["v.csv", "v.tsv", "v.npz", "v.txt", "v.parquet", "v", "V.CSV"]
        if m.rarely(0.3)
        else ["v.csv", "v.tsv", "v.npz"]
    )
    columns = lambda: m.choice([m.thing, lambda: m.listed(m.name, d, d), lambda: "None"])()  # noqa: E731
    return f"written({name!r}, {ids}, {vectors}{_settings(m, columns=columns, format=lambda: m.word('csv', 'npz', 'word2vec', 'x'))})"


# The command line.

_TEXTS = [
    "x",
    "",
    "1",
    "0",
    "-1",
    "1e-40",
    "50",
    "nan",
    "inf",
    "1e400",
    "9" * 400,
    "9" * 5000,
    "é",
    "\0",
    "/",
    ".",
    "..",
    "true",
    "-",
    "1e30",
    "2147483648",
]


@door(400)
def command_line(m):
    edges, features = "file(b'0,1\\n1,2,', 'e.csv')", "file(b'{\"0\": [1, 2], \"1\": [2]}', 'f.json')"
    if m.rarely(0.5):
        edges = "file(b'0,1\\n1,2\\n2,0\\n', 'e.csv')"
    if m.rarely(0.1):
        edges, features = _edge_file(m), _feature_file(m)
    saved = f"file({_model(m)!r}, 'm.safetensors')" if m.rarely(0.9) else m.choice([edges, "'/'", "'/dev/null'", "'x'"])
    args = m.choice([
        lambda: ["'info'", m.choice([edges, saved, f"file({_sound_npz(m)!r}, 'g.npz')"]), "'--features'", features],
        lambda: ["'info'", edges],
        lambda: ["'neighbors'", saved, repr(m.choice(["0", "1", '["node", 1]', *_TEXTS]))],
        lambda: ["'explain'", saved, repr(m.choice(["0", "1", *_TEXTS]))],
        lambda: ["'embed'", "'--edges'", edges, "'--features'", features, "'-o'", "out('v.csv')", "'--dimensions'", "'4'", "'--n-jobs'", "'1'"],
        lambda: ["'embed'", "'--edges'", edges, "'--model'", repr(m.choice(list(MODELS)).lower()) , "'--save'", "out('m')", "'--dimensions'", "'8'", "'--n-jobs'", "'1'"],
        lambda: ["'transform'", saved, "'--edges'", edges, "'--features'", features, "'-o'", "out('v.npz')"],
        lambda: ["'datasets'", repr(m.choice(["digits", "cora", *_TEXTS]))],
        lambda: ["'methods'", repr(m.choice(["musae", "hope", *_TEXTS]))],
        lambda: [repr(m.choice(["embed", "demo", "x", "--version", "reproduce", *_TEXTS])), "'--help'"],
    ])()  # fmt: skip
    for _ in range(m.choice([0, 1, 1, 2, 3])):
        option = m.choice(_OPTIONS)
        args.append(repr(option))
        if m.rarely(0.8):
            cheap = option in (
                "--epochs",
                "--walks",
                "--walk-length",
                "--walks-per-node",
                "--iterations",
                "--points",
                "--splits",
                "--window",
            )
            args.append(repr(m.choice([t for t in _TEXTS if not cheap or t != "2147483648"])))
    if m.rarely(0.3):
        args.append("'--json'")
    return f"cli({', '.join(args)})"


_OPTIONS = [
    *(
        "--weight",
        "--value",
        "--header",
        "--no-header",
        "--self-loops",
        "--graph",
        "--labels",
        "--node-column",
        "--label-column",
    ),
    *(
        "--solver",
        "--shift",
        "--noise-exponent",
        "--rows",
        "--walks",
        "--memory-limit",
        "--walk-length",
        "--walks-per-node",
        "--start",
    ),
    *(
        "--epochs",
        "--negatives",
        "--subsample",
        "--learning-rate",
        "--dimensions",
        "--window",
        "--random-state",
        "--p",
        "--q",
        "--decay",
    ),
    *(
        "--iterations",
        "--score",
        "--task",
        "--splits",
        "--standardize",
        "--format",
        "-k",
        "--scale",
        "-o",
        "--save",
        "--quiet",
        "--x",
        "-",
    ),
]


# Kernels.


def _array_text(a):
    if a.size and (a == a.flat[0]).all():
        return f"np.full({a.shape}, {_plain(a.flat[0])}, {a.dtype.str!r})"
    text = f"np.array([{', '.join(_plain(x) for x in a.flat)}], {a.dtype.str!r})"
    return text if a.ndim == 1 else f"{text}.reshape({a.shape})"


def _plain(x):
    return repr(x.item()) if hasattr(x, "item") else repr(x)


_INTEGERS = [0, 1, 2, 3, 4, 5, 7, 16, -1, 255, 2**31 - 1, -(2**31), 2**32 - 1, 2**31, 2**40, 2**62, -(2**62), 2**63 - 1]
_FLOATS = [0.0, 1.0, -1.0, 0.5, 2.0, math.nan, math.inf, -math.inf, 1e30, 1e-42, 3e38, -1e-30, 1e9]
# How often something is done: a kernel that is asked for 2^62 walks takes them, until it is told to stop.
_TIMES = {("train", "visits"), ("sample_rows", "walks"), ("SkipGram", "counts"), ("SkipGram", "negatives")}


def _other_array(m, a, times):
    """An array with a few entries, its length, its type or its shape changed."""
    a = a.copy()
    for _ in range(m.randint(1, 3)):
        action = m.randrange(8)
        if action < 4 and a.size:
            value = m.choice(_FLOATS if a.dtype.kind == "f" else [v for v in _INTEGERS if not times or v < 1000])
            if times and a.dtype.kind == "f" and value > 1000:
                value = 3.0
            with np.errstate(all="ignore"):
                a.flat[m.randrange(a.size)] = np.array(value).astype(a.dtype)
        elif action == 4:
            a = a[: m.randrange(len(a) + 1)]
        elif action == 5:
            a = np.concatenate([a, a[: m.randrange(len(a) + 1)]])
        elif action == 6 and m.rarely(0.3):
            with np.errstate(all="ignore"):
                a = a.astype(m.choice(["f4", "f8", "i4", "i8", "u1", "u4", "i2", "f2"]))
        elif action == 7 and m.rarely(0.3):
            a = m.choice([a.reshape(-1), a[..., None], a[None], np.atleast_2d(a).T])
    return a


def _kernel(m, entry, depth=2):
    arguments = VALID[entry]()
    changed = []
    for name in m.sample(list(arguments), min(len(arguments), m.choice([0, 1, 1, 1, 2, 3]))):
        value = arguments[name]
        if m.rarely(0.05):
            text = m.choice(["None", "'x'", "object()", "[[1.0]]", "np.zeros((1, 1, 1, 1), 'f4')", "[]", "np.zeros(0)"])
        elif isinstance(value, np.ndarray):
            text = _array_text(_other_array(m, value, (entry, name) in _TIMES))
        elif isinstance(value, bool) or type(value) is int:
            text = repr(m.choice([v for v in _INTEGERS if (entry, name) not in _TIMES or v < 1000]))
        elif type(value) is float:
            text = repr(m.choice(_FLOATS))
        elif name == "panels":
            if isinstance(value, list):
                one = (
                    "("
                    + ", ".join(_array_text(_other_array(m, a, False) if m.rarely(0.4) else a) for a in value[0])
                    + ")"
                )
                text = "[" + ", ".join([one] * m.randrange(3)) + "]"
            else:
                text = _kernel(m, "Panels", depth - 1)
        elif name == "data":
            text = repr(m.delimited(2, ("a", "b")) if entry == "encode_text" else m.json())
        elif name == "delimiter":
            text = repr(m.choice([",", ";", "\t", " ", "\n", '"', "\0", "é", "ab", "", "\x7f"]))
        elif name == "groups":
            text = m.listed(lambda: str(m.choice(_INTEGERS)), 0, 4, "[]")
        else:
            text = _kernel(m, _STRUCTS[name], depth - 1)
        changed.append(f", {name}={text}")
    return f"kernel({entry!r}{''.join(changed)})"


_STRUCTS = {
    "graph": "Graph",
    "features": "Csr",
    "features_by_column": "Csr",
    "matrix": "Csr",
    "noise": "Noise",
    "self": "SkipGram",
}


@door(20000)
def kernels(m):
    return _kernel(m, m.choice(list(VALID)))


try:
    import igraph  # noqa: F401
except ImportError:
    pass
else:

    @door(1000)
    def igraph_graphs(m):
        n = m.randrange(1, 5)
        edges = [(m.randrange(n), m.randrange(n)) for _ in range(m.randrange(5))]
        weight = m.listed(m.number, len(edges), len(edges), "[]")
        features = m.listed(lambda: m.listed(m.name), n, n, "[]")
        return f"from_igraph(igraph_graph({edges}, {n}, {m.rarely(0.2)}, weight={weight}, features={features}))"
