"""Plans of fits: counts of a graph, files of which a part is read, and the command."""

from fuzz.doors.files import edge_file, feature_file
from fuzz.doors.registry import door, some

COUNTS = ["1", "2", "10", "1e3", "10**5", "10**8", "2**31 - 1"]
ODD = ["0", "-1", "2.5", "nan", "np.inf", "2**31", "10**30", "'7'", "None", "True", "[1]", "np.float16(3)"]
MEMORY = ["'16GB'", "'1MB'", "1", "2**40", "'x'", "0", "-1", "nan", "None", "[]", "'1e400GB'"]
WALKED = ["MUSAE", "AE", "DeepWalk", "Walklets", "NetMF", "Node2Vec", "GraRep"]
SOLVERS = [
    "'pmi'",
    "'sgns'",
    "PMI(rows='sampled')",
    "PMI(rows='exact')",
    "PMI(memory_limit='1MB')",
    "PMI(walks=1, memory_limit='1TB')",
    "SGNS(walk_length=4, epochs=1)",
]


def _count(m):
    return m.choice(ODD) if m.odd() and m.rarely(0.3) else m.choice(COUNTS)


@door(600)
def plans(m):
    model = m.choice([*WALKED, "HOPE"]) if m.odd() else m.choice(WALKED[:4])
    solver = m.choice(SOLVERS) if m.rarely(0.6) else "'pmi'"
    settings = some(
        m,
        memory=lambda: m.choice(MEMORY),
        cores=lambda: _count(m),
        machines=lambda: m.choice(["2", "10", "0", "1.5", "None", "10**6"]),
        gpu=lambda: m.choice(["True", "False", "1", "None"]),
    )
    nodes, times = _count(m), m.choice(["1", "3", "10"])
    counts = f"n_nodes={nodes}, n_edges={_count(m) if m.odd() else f'{nodes} // {times} + 1'}"
    if m.rarely(0.8):
        counts += f", n_features={_count(m)}, n_entries={_count(m)}"
    return f"planned({model!r}, {solver}, {counts}, calibrate=False{settings})"


@door(400)
def counted_files(m):
    """Files of which pieces are read, however small they are."""
    features = f", {feature_file(m)}" if m.rarely(0.5) else ""
    settings = some(
        m,
        source=lambda: m.word("source", "1"),
        target=lambda: m.word("target", "2"),
        header=lambda: m.choice(["True", "False", "{'edges': True}"]),
        skip_bad_lines=lambda: "True",
    )
    return f"counted_rows({edge_file(m)}{features}{settings})"
