"""Files of models, parameters, questions to models, and files of vectors."""

from fuzz.generators import JSON
from fuzz.names import MODELS, parts
from fuzz.doors.registry import SAVED, door, saved_model, some


@door(1500)
def model_bytes_mutated(m):
    data = saved_model(m)
    if m.rarely(0.5):
        return f"used(load_model(file({m.mutated(data, JSON)!r})))"
    header, tensors = parts(data)
    return f"used(load_model(file(with_tensors({data!r}, {m.mutated(tensors)!r}))))"


@door(1500)
def model_facts(m):
    """Metadata and headers of tensors that are changed in a file that is sound otherwise, digest and all."""
    data = saved_model(m)
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
    fitted = f"model({m.choice(SAVED)!r})"
    node = lambda: m.thing() if m.rarely(0.3) else str(m.randrange(8))  # noqa: E731
    scale = lambda: m.thing() if m.rarely(0.3) else m.choice(["0", "1", "3", "'1-3'", "'0'", "9"])  # noqa: E731
    k = lambda: m.thing() if m.rarely(0.3) else str(m.randrange(1, 12))  # noqa: E731
    few = lambda: m.choice(["1", "2", "0", "-1", "nan", "'x'", "None", "1.5", "True", "[1]"])  # noqa: E731
    return m.choice([
        lambda: f"{fitted}.neighbors({node()}, k={k()}{some(m, scale=scale)})",
        lambda: f"{fitted}.explain({node()}, k={k()}, scale={scale()})",
        lambda: f"{fitted}.node_vectors({scale()})",
        lambda: f"{fitted}.feature_vectors({scale()})",
        lambda: f"{fitted}.transform({m.choice([m.thing, m.matrix, lambda: f'({m.matrix()}, {m.matrix((4, 5))})', lambda: 'small()'])()})",
        lambda: f"{fitted}.get_feature_names_out({m.thing()})",
        lambda: f"{fitted}.export(out('v.' + {m.word('csv', 'npz', 'txt')}), what={m.word('nodes', 'features')}, scale={scale()})",
        lambda: f"small().index_of({node()})",
        lambda: f"scores(evaluate({m.matrix((8, 2))}, {_labels(m)}, splits={few()}{some(m, test_size=m.number, random_state=m.number, task=lambda: m.word('classification', 'regression'), standardize=lambda: 'True')}))",
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
    return f"written({name!r}, {ids}, {vectors}{some(m, columns=columns, format=lambda: m.word('csv', 'npz', 'word2vec', 'x'))})"
