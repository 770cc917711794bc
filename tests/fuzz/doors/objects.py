"""Lists, matrices, tables and graphs of other libraries."""

from fuzz.doors.registry import door, followed, some
from fuzz.generators import NUMBERS, TEXTS

# What a cell of a table may be: pyarrow itself crashes on arrays beside dates.
CELLS = [text for text in (*NUMBERS, *TEXTS, "None", "pd.NA", "b'a'") if not text.startswith("np.")]


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
    settings = some(
        m,
        weights=lambda: m.choice([lambda: m.array((edges.count("("),)), lambda: m.listed(m.number), m.thing])(),
        node_ids=lambda: m.choice([lambda: "range(6)", lambda: m.listed(m.name, 4), m.thing])(),
        feature_names=lambda: m.choice([lambda: m.listed(m.name, 3), lambda: "'abc'", m.thing])(),
        labels=lambda: m.choice([lambda: m.mapping(m.name, m.name), lambda: m.array((6,)), m.thing])(),
        self_loops=lambda: "True",
    )
    return followed(m, f"from_edges({edges}, {features}{settings})")


@door(2000)
def matrices(m):
    adjacency = m.matrix()
    features = m.choice([lambda: "None", lambda: m.matrix((4, 3)), lambda: m.matrix((4, 3))])()
    settings = some(
        m,
        node_ids=lambda: m.choice([lambda: m.listed(m.name, 4, 4), m.thing])(),
        feature_names=lambda: m.choice([lambda: m.listed(m.name, 3, 3), m.thing])(),
        labels=lambda: m.choice([lambda: m.array((4,)), lambda: m.listed(m.name, 4, 4), m.thing])(),
        directed=lambda: m.word("error", "symmetrize"),
        self_loops=lambda: "True",
    )
    if m.rarely(0.05):
        return f"new('MUSAE').fit(({adjacency}, {features}))"
    directed = "" if ", directed" in settings else ", directed='symmetrize'"
    return followed(m, f"AttributedGraph({adjacency}, {features}{directed}{settings})")


@door(600)
def tables(m):
    def name():
        return m.choice(CELLS) if m.odd() else str(m.randrange(6)) if m.numeric else repr(m.choice("abcdefgh"))

    def amount():
        return m.choice(CELLS) if m.odd() else m.choice(["1", "2.5", "0.5"])

    def column(n, kind):
        # pyarrow itself crashes on some arrays of objects.
        return m.array((n,)) if m.odd() and not kind.startswith("pa.") else m.listed(name, n, n, "[]")

    def table(*names):
        kind = m.choice(
            [
                "pd.DataFrame({{{}}})",
                "pl.DataFrame({{{}}})",
                "pa.table({{{}}})",
                "pd.DataFrame({{{}}}, dtype='category')",
            ]
        )
        n = m.randrange(1, 5)
        if m.odd() and m.rarely(0.1):
            return m.thing()
        lists = m.listed(lambda: m.listed(name, 0, 3, "[]"), n, n, "[]")
        columns = [m.listed(amount, n, n, "[]") if each in ("value", "weight") else column(n, kind) for each in names]
        if len(names) == 2 and m.rarely(0.2):
            columns[1] = lists
        held = ", ".join(
            f"{m.thing() if m.odd() and m.rarely(0.1) else repr(name)}: {text}"
            for name, text in zip(names, columns, strict=True)
        )
        return kind.format(held)

    edges = (
        table("source", "target") if m.rarely(0.7) else table("source", "target", m.choice(["weight", "value", "x"]))
    )
    features = m.choice(["None", table("node", "feature"), table("node", "feature", "value")])
    settings = some(
        m,
        source=lambda: m.word("source", "target", "x"),
        weight=lambda: m.word("weight", "value", "source"),
        node_column=lambda: m.word("node", "feature"),
        feature=lambda: m.word("feature", "value"),
        value=lambda: m.word("value"),
        labels=lambda: table("node", "label"),
        label_column=lambda: m.word("label", "node"),
        unknown=lambda: m.word("error"),
    )
    return followed(m, f"from_tables({edges}, {features}{settings})")


@door(1000)
def networkx_graphs(m):
    kind = m.choice(["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])

    def own():
        return m.one_of(
            lambda: m.listed(m.name), lambda: m.mapping(m.name, m.number, 3), lambda: m.array((3,)), m.thing
        )

    nodes = m.listed(
        lambda: f"({m.name()}, {{{m.choice([repr('features'), repr('x')])}: {own()}, 'label': {m.name()}}})", 0, 5, "[]"
    )
    edges = m.listed(
        lambda: f"({m.name()}, {m.name()}, {{{'' if m.rarely(0.5) else repr('weight') + ': ' + m.number()}}})",
        0,
        6,
        "[]",
    )
    settings = some(
        m,
        features=lambda: m.choice([lambda: m.word("features", "x"), lambda: m.mapping(m.name, own, 3), m.thing])(),
        weight=lambda: m.word("weight", "x"),
        label=lambda: m.word("label"),
        directed=lambda: m.word("symmetrize"),
        self_loops=lambda: "True",
    )
    return followed(m, f"from_networkx(nx_graph({kind!r}, {edges}, {nodes}){settings})")


@door(1500)
def anything(m):
    """Things that are no graph, in every place for one."""
    thing = m.choice([m.thing, m.matrix, m.array, lambda: f"({m.matrix()}, {m.matrix((4, 3))})"])()
    return f"as_graph({thing})"


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
