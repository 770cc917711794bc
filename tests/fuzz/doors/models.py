"""Files of models, parameters, questions to models, and files of vectors."""

from fuzz.doors.registry import SAVED, door, saved_model, some
from fuzz.generators import JSON
from fuzz.names import MODELS, parts


@door(1500)
def model_bytes_mutated(m):
    data = saved_model(m)
    if m.rarely(0.5):
        return f"used(load_model(file({m.mutated(data, JSON)!r})))"
    _, tensors = parts(data)
    return f"used(load_model(file(with_tensors({data!r}, {m.mutated(tensors)!r}))))"


@door(1500)
def model_facts(m):
    """Metadata and headers of tensors that are changed in a file that is sound otherwise, digest and all."""
    return f"used({facts_changed(m, saved_model(m))})"


def facts_changed(m, data):
    """A line that loads a file with another entry in its metadata, or another header of a tensor."""
    header, _ = parts(data)
    if m.rarely(0.2):
        name = m.choice([name for name in header if name != "__metadata__"])
        change = m.one_of(
            lambda: f"dtype={m.choice(['F64', 'F16', 'I8', 'BOOL', 'X'])!r}",
            lambda: f"shape={m.choice([[2**40, 2], [0], [], [-1], [1, 1, 1]])}",
            lambda: f"data_offsets={m.choice([[0, 8], [0, 2**60], [8, 0], []])}",
        )
        return f"load_model(file(with_tensor({data!r}, {name!r}, {change})))"
    name = m.choice(list(header["__metadata__"]))
    text = header["__metadata__"][name]
    if m.rarely(0.6):
        text = _with_another_value(m, text)
    else:
        text = m.mutated(text.encode(), JSON, most=2).decode("utf-8", "replace")
    return f"load_model(file(with_fact({data!r}, {name!r}, {text!r})))"


def _with_another_value(m, text):
    """JSON in which one of the values is another."""
    pieces = text.replace(":", "\0:\0").replace(",", "\0,\0").replace("}", "\0}").replace("]", "\0]").split("\0")
    values = [i for i, piece in enumerate(pieces) if piece.strip() and piece.strip() not in (",", ":", "}", "]")]
    if not values:
        return m.choice(JSON)
    small = [each for each in JSON if len(each) < 100]
    small += ["2", "-5", "0.5", "50", "1e-40", "4611686018427387904", '"x"', '"sgns"', '"pmi"']
    pieces[m.choice(values)] = " " + m.choice(small)
    return "".join(pieces)


# What parameters are given beside the ordinary, by the kind of parameter.
THINGS = [
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
    "1j",
]
WHOLE = ["1", "2", "3", "7", "31", "0", "-1", "1.5", "nan", "'3'", "True", "np.int8(3)", "None"]
HUGE = ["10**400", "2**70", "2**31"]
SIZES = ["1", "2", "3", "4", "7", "12", "24", "64", "0", "-2", "2.0", "nan", "'4'", "513", *HUGE]
MEMORY = ["1", "1000", "'64KiB'", "'1MiB'", "'1 GB'", "'x'", "nan", "inf", "-1", "2**80", "'9' * 500", "''", "1.5"]
WORDS = [
    *("'exact'", "'sampled'", "'auto'", "'node'", "'degree'", "'katz'", "'overlap'", "'pagerank'", "'adamic-adar'"),
    *("'common-neighbors'", "'x'", "0", "7", "2**70", "-1", "None", "np.random.default_rng(3)", "np.random"),
]
REALS = [
    *("1e-40", "1e-30", "1e-9", "0.1", "0.5", "0.9999", "0.999999999", "1", "2", "50", "1000", "1e9", "1e30", "1e300"),
    *(
        "0",
        "-1",
        "nan",
        "inf",
        "'1'",
        "True",
        "10**400",
        "1e-320",
        "np.float32(0.5)",
        "Fraction(1, 3)",
        "Decimal('0.5')",
    ),
]
BY_NAME = {
    **dict.fromkeys(("rows", "start", "proximity", "random_state", "solver"), WORDS),
    **dict.fromkeys(("iterations", "epochs"), WHOLE),  # a huge number of these is no mistake, but takes long
    **{
        name: [*WHOLE, *HUGE[:2]]
        for name in ("walks", "walk_length", "walks_per_node", "window", "points", "negatives")
    },
    **dict.fromkeys(("dimensions", "feature_dimensions", "text_dimensions"), SIZES),
    "memory_limit": MEMORY,
    "n_jobs": ["0", "None", "1", "2", "-1", "'x'", "1.5", "-(2**40)"],
    "verbose": ["False", "None", "3", "'x'"],
}


@door(400)
def parameters(m):
    name = m.choice(list(MODELS))
    kind = MODELS[name]
    solver = m.choice(list(kind.solvers)) if hasattr(kind, "solvers") else None
    known = [*kind().get_params(deep=False), *(kind.solvers[solver]().get_params() if solver else ())]
    settings = {"solver": repr(solver)} if solver else {}
    for each in m.sample(known, m.randint(1, 3)):
        settings[each] = m.choice(THINGS if m.rarely(0.15) else BY_NAME.get(each, REALS))
    return f"new({name!r}, {', '.join(f'{key}={value}' for key, value in settings.items())}).fit(small())"


@door(1500)
def questions(m):
    """Queries of fitted models, transform and export, with odd arguments."""

    def node():
        return m.thing() if m.rarely(0.3) else str(m.randrange(8))

    def scale():
        return m.thing() if m.rarely(0.3) else m.choice(["0", "1", "3", "'1-3'", "'0'", "9"])

    def k():
        return m.thing() if m.rarely(0.3) else str(m.randrange(1, 12))

    def graph():
        return m.one_of(m.thing, m.matrix, lambda: f"({m.matrix()}, {m.matrix((4, 5))})", lambda: "small()")

    question = m.one_of(
        lambda: f"neighbors({node()}, k={k()}{some(m, scale=scale)})",
        lambda: f"neighbors({m.listed(node)}, k={k()})",
        lambda: f"neighbors_of({m.one_of(m.thing, m.array, m.matrix, lambda: m.array((8,)))}{some(m, scale=scale)})",
        lambda: f"{m.choice(['similar_features', 'nodes_of'])}({node()}, k={k()}{some(m, scale=scale)})",
        lambda: f"suggest_links({m.one_of(node, lambda: 'None')}, k={k()}, graph={graph()}{some(m, scale=scale)})",
        lambda: f"suggest_features({m.one_of(node, lambda: m.listed(node))}, k={k()}, graph={graph()})",
        lambda: f"explain({node()}, k={k()}, scale={scale()}{some(m, graph=graph)})",
        lambda: f"clusters({m.one_of(k, m.thing)}{some(m, scale=scale, random_state=m.thing)})",
        lambda: f"node_vectors({scale()})",
        lambda: f"feature_vectors({scale()})",
        lambda: f"transform({graph()})",
        lambda: f"get_feature_names_out({m.thing()})",
        lambda: f"export(out('v.csv'), what={m.word('nodes', 'features')}, scale={scale()})",
        lambda: f"export(out('v'), format={m.word('npz', 'tsv', 'word2vec')})",
    )
    return f"small().index_of({node()})" if m.rarely(0.05) else f"model({m.choice(SAVED)!r}).{question}"


@door(700)
def new_nodes(m):
    """New rows for a model that knows its graph, and graphs with nodes that it knows."""
    ids = ["0", "3", "7", "8", "'8'", "'x'"]

    def edges():
        pairs = m.listed(lambda: f"({m.choice(ids)}, {m.choice(ids)})", 0, 4)
        return m.one_of(
            m.thing, lambda: pairs, lambda: f"np.array({pairs})", lambda: "small()", lambda: f"iter({pairs})"
        )

    def features():
        some_features = m.listed(lambda: f"{m.choice(ids)}: {m.choice(['[0, 9]', '[]', '{1: 2.5}', 'None'])}", 0, 3)
        return m.one_of(m.thing, lambda: "{" + some_features[1:-1] + "}", lambda: "None")

    name = m.choice([*["MUSAE", "AE"] * 4, "DeepWalk", "HOPE"])
    solver = ", solver='sgns'" if name in ("MUSAE", "AE") and m.rarely(0.2) else ""
    if m.rarely(0.3):
        return f"model({name!r}, keep_graph=True{solver}).transform(doors.from_edges({edges()}, {features()}))"
    rest = some(m, weights=lambda: m.array((2,)), nodes=m.thing)
    return f"model({name!r}, keep_graph=True{solver}).extend({edges()}, {features()}{rest})"


@door(700)
def scoring(m):
    """Tasks, with odd vectors, labels and settings."""

    def few():
        return m.choice(["1", "2", "2", "0", "-1", "nan", "'x'", "None", "1.5", "True", "[1]"])

    def labels():
        return m.one_of(lambda: m.array((8,)), lambda: "[0, 1] * 4", lambda: m.listed(m.name, 8, 8, "[]"), m.thing)

    settings = some(
        m,
        test_size=m.number,
        random_state=m.number,
        task=lambda: m.word("classification", "regression"),
        max_seconds=m.number,
        progress=lambda: m.choice(["True", "False", "1", "'x'"]),
        standardize=lambda: "True",
    )
    share = f"share={m.number()}, splits=1"
    return m.one_of(
        lambda: f"scores(evaluate({m.matrix((8, 2))}, {labels()}, splits={few()}{settings}))",
        lambda: f"scores(evaluate({m.array((8, 2))}, [0, 1, 0, 1, 1, 0, 1, 0], splits=2{settings}))",
        lambda: f"scores(tasks.few_shot({m.array((8, 2))}, {labels()}, samples_per_class={few()}, splits={few()}))",
        lambda: f"scores(tasks.node_classification({m.array((8, 2))}, [0, 1] * 4, splits=1, C={m.number()}))",
        lambda: f"scores(tasks.node_regression({m.array((8, 2))}, {labels()}, splits=1, alpha={m.number()}))",
        lambda: f"scores(tasks.link_prediction(new('DeepWalk'), small(), max_edges={m.count()}, {share}))",
        lambda: f"scores(tasks.attribute_inference(new('MUSAE'), small(), scale={m.word('0', '1')}, {share}))",
        lambda: (
            f"scores(tasks.transfer(new('MUSAE'), small(), {m.one_of(lambda: 'small()', m.thing)}, seeds=[{few()}]))"
        ),
        lambda: f"tasks.likely_task({labels()})",
        lambda: f"tasks.summarize({m.listed(m.thing)})",
    )


@door(1000)
def vector_files(m):
    n, d = m.randrange(4), m.randrange(4)
    ids = m.thing() if m.odd() and m.rarely(0.2) else m.listed(m.name, n, n, "[]")
    vectors = m.thing() if m.odd() and m.rarely(0.2) else m.array((n, d))
    name = m.choice(["v.csv", "v.tsv", "v.npz"] if m.rarely(0.7) else ["v.txt", "v.parquet", "v", "V.CSV"])
    settings = some(
        m,
        columns=lambda: m.one_of(m.thing, lambda: m.listed(m.name, d, d), lambda: "None"),
        format=lambda: m.word("csv", "npz", "word2vec", "x"),
    )
    return f"written({name!r}, {ids}, {vectors}{settings})"
