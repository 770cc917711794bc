"""Columns and tables with an index, at every door that matches by it."""

from fuzz.doors.registry import door, followed, some

EDGES = {True: "[(0, 1), (1, 2), (2, 3)]", False: "[('a', 'b'), ('b', 'c'), ('c', 'd')]"}
IDS = {True: ["0", "1", "2", "3"], False: ["'a'", "'b'", "'c'", "'d'"]}


def _index(m, n=4):
    """Ids of the nodes in some order, with some that are none."""
    ids = m.sample(IDS[m.numeric], 4)
    entries = [m.name() if m.odd() else ids[i] if i < 4 else m.name() for i in range(n)]
    return f"range({n})" if m.rarely(0.05) else f"[{', '.join(entries)}]"


def _values(m, n=4):
    return m.one_of(lambda: m.array((n,)), lambda: m.listed(m.name, n, n, "[]"), lambda: m.listed(m.number, n, n, "[]"))


def _series(m):
    return f"indexed({_values(m)}, {_index(m)})"


def _frame(m, width=3):
    columns = m.listed(m.name, width, width, "[]") if m.rarely(0.2) else repr(list("xyz"[:width]))
    kind = ", dtype=pd.SparseDtype(float, 0)" if m.rarely(0.1) else ""
    return f"indexed({m.matrix((4, width))}, {_index(m)}, 'DataFrame', columns={columns}{kind})"


def _lists(m):
    return f"indexed({m.listed(lambda: m.listed(m.name, 0, 3, '[]'), 4, 4, '[]')}, {_index(m)})"


@door(1000)
def indexed_features(m):
    features = m.one_of(lambda: _frame(m), lambda: _frame(m), lambda: _lists(m), lambda: _series(m))
    ids = f"[{', '.join(IDS[m.numeric])}]"
    settings = some(
        m,
        labels=lambda: _series(m) if m.rarely(0.7) else m.mapping(m.name, m.name),
        feature_names=lambda: "['x', 'y', 'z']",
    )
    if m.rarely(0.3):
        return followed(m, f"AttributedGraph(np.ones((4, 4)), {_frame(m)}, node_ids={ids}{settings})")
    if m.rarely(0.2):
        graph = f"nx_graph('Graph', [(u, v, {{}}) for u, v in {EDGES[m.numeric]}])"
        return followed(m, f"from_networkx({graph}, features={features})")
    given = f", node_ids={ids}" if m.rarely(0.5) else ""
    weights = f", weights=indexed({m.array((3,))}, {_index(m, 3)})" if m.rarely(0.1) else ""
    return followed(m, f"from_edges({EDGES[m.numeric]}, {features}{given}{settings}{weights})")


@door(500)
def adjacency_frames(m):
    index = _index(m)
    columns = index if m.rarely(0.7) else _index(m)
    matrix = m.choice(["np.ones((4, 4))", "np.eye(4)", m.matrix()])
    settings = some(m, node_ids=lambda: _index(m), labels=lambda: _series(m), directed=lambda: "'symmetrize'")
    frame = f"indexed({matrix}, {index}, 'DataFrame', columns={columns})"
    return f"as_graph({frame})" if m.rarely(0.3) else followed(m, f"AttributedGraph({frame}{settings})")


@door(500)
def indexed_tables(m):
    edges = f"pd.DataFrame({EDGES[m.numeric]}, columns=['source', 'target'])"
    name = m.choice(["None", "'id'", "'user'", "'label'", m.name()])
    labels = f"indexed({_values(m)}, {_index(m)}).rename_axis({name})"
    if m.rarely(0.6):
        labels = f"{labels}.to_frame({m.choice([repr('label'), repr('x'), m.name()])})"
    settings = some(m, node_column=lambda: m.word("id", "user", "x"), label_column=lambda: m.word("label", "x"))
    return followed(m, f"from_tables({edges}, labels={labels}{settings})")


@door(300)
def indexed_labels(m):
    labels = f"indexed({_values(m, 8)}, {m.choice(['range(8)', 'list(range(7, -1, -1))', _index(m, 8)])})"
    labels = m.one_of(
        lambda: labels, lambda: labels, lambda: m.mapping(m.name, m.name, 8), lambda: "{i: i % 2 for i in range(8)}"
    )
    vectors = m.choice(["model('MUSAE')", "model('MUSAE').to_frame()", "model('MUSAE').embedding_"])
    task = m.choice(["evaluate", "tasks.node_classification", "tasks.node_regression"])
    return f"scores({task}({vectors}, {labels}, splits=1))"
