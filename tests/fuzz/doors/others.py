"""Graphs of PyTorch's libraries, GraphML and GML files, and graphs that were saved."""

from fuzz.doors.registry import door, followed, some
from fuzz.generators import JSON
from fuzz.names import graph_bytes


def _ends(m, count):
    return m.listed(lambda: m.number() if m.odd() and m.rarely(0.3) else str(m.randrange(4)), count, count, "[]")


def _part(m, sound):
    return m.thing() if m.odd() and m.rarely(0.5) else sound


def _count(m):
    return m.choice(["3", "-1", "nan", "'4'", "None", "2.5", "2**40", "np.int64(4)", "[4]"]) if m.odd() else "4"


@door(1000)
def pyg_graphs(m):
    count = m.randrange(1, 6)
    u, v = _ends(m, count), _ends(m, count)
    edges = _part(m, f"np.array([{u} + {v}, {v} + {u}])")
    parts = some(
        m,
        x=lambda: m.one_of(lambda: m.matrix((4, 3)), m.thing),
        y=lambda: m.one_of(lambda: m.array((4,)), m.thing),
        edge_weight=lambda: m.one_of(lambda: m.array((2 * count,)), m.thing),
        node_ids=lambda: m.one_of(lambda: m.listed(m.name, 4, 4), m.thing),
        feature_names=lambda: m.listed(m.name, 3, 3),
        edge_types=lambda: "[]",
    )
    settings = some(
        m,
        features=lambda: m.word("x", "y"),
        weight=lambda: m.word("edge_weight", "x"),
        label=lambda: m.word("y"),
        dense=lambda: m.word("signed", "binned", "error"),
        directed=lambda: "'symmetrize'",
    )
    return followed(m, f"from_pyg(Bag(edge_index={edges}, num_nodes={_count(m)}{parts}){settings})")


@door(700)
def dgl_graphs(m):
    count = m.randrange(1, 6)
    u, v = _ends(m, count), _ends(m, count)
    both = f"np.array({u} + {v}), np.array({v} + {u})"
    ndata = m.mapping(lambda: m.choice(["'feat'", "'label'", "'x'"]), lambda: m.array((4, 3)), 3)
    edata = m.mapping(lambda: m.choice(["'weight'", "'w'", "'x'"]), lambda: m.array((2 * count,)), 2)
    settings = some(m, features=lambda: m.word("feat", "x"), dense=lambda: m.word("signed"), label=lambda: m.word("x"))
    return followed(m, f"from_dgl(dgl_graph({both}, {_count(m)}, {ndata}, {edata}){settings})")


GRAPHML = b"""<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="club" attr.type="string"/><key id="d1" for="node" attr.name="age" attr.type="long"/>
<key id="d2" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="undirected"><node id="0"><data key="d0">go</data><data key="d1">31</data></node>
<node id="1"><data key="d0">go</data></node><node id="2"><data key="d1">7</data></node>
<edge source="0" target="1"><data key="d2">2.5</data></edge><edge source="1" target="2"/></graph></graphml>
"""
GML = b"""graph [
  node [ id 0 label "a" club "go" age 31 ]
  node [ id 1 label "b" club "go" ]
  node [ id 2 label "c" age 7 ]
  edge [ source 0 target 1 weight 2.5 ]
  edge [ source 1 target 2 ]
]
"""
WORDS = [
    "directed",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
    "&amp;",
    "&b;",
    "NaN",
    "1e999",
    "[",
    "]",
    "9" * 400,
    '"',
    "<node/>",
]


@door(400)
def graph_files(m):
    name, sound = m.choice([("g.graphml", GRAPHML), ("g.gml", GML)])
    data = sound if m.rarely(0.1) else m.mutated(sound, WORDS, most=3)
    settings = some(
        m,
        label_column=lambda: m.word("club", "x"),
        weight=lambda: m.word("weight", "x"),
        directed=lambda: m.word("symmetrize"),
        self_loops=lambda: "True",
    )
    return followed(m, f"read_graph(file({data!r}, {name!r}){settings})")


@door(700)
def saved_graphs(m):
    """Any graph in a file and back, and files that are damaged."""
    if m.rarely(0.4):
        return f"read_graph(file({m.mutated(graph_bytes(), JSON, most=2)!r}, 'g.npz'))"
    settings = some(
        m,
        labels=lambda: m.one_of(lambda: m.array((4,)), lambda: m.listed(m.name, 4, 4)),
        feature_names=lambda: m.listed(m.name, 3, 3),
        self_loops=lambda: "True",
    )
    matrix = f"sp.csr_array(np.triu({m.array((4, 4), lambda: m.choice(['0', '1', '2.5', '0.1']))}.astype(float)))"
    ids = m.listed(m.name, 4, 4, "[]")
    made = f"AttributedGraph({matrix}, {m.matrix((4, 3))}, node_ids={ids}, directed='symmetrize'{settings})"
    return f"kept({made})"


@door(500)
def saved_arrays(m):
    """Arrays of a saved graph, of which some are others."""
    arrays = {
        "hopscale_graph": "1",
        "edges": "[[0, 1], [1, 2], [3, 3]]",
        "n_nodes": "4",
        "edge_weights": "[1.0, 2.5, 0.5]",
        "node_ids": "np.frombuffer(b'[\"a\", \"b\", 3, [1, 2]]', 'u1')",
        "labels": "np.frombuffer(b'[1, null, NaN, \"x\"]', 'u1')",
        "self_loops": "True",
    }
    for name in list(arrays):
        if m.rarely(0.1):
            arrays[name] = m.one_of(m.thing, m.number, m.array, lambda: f"np.frombuffer({m.json()!r}, 'u1')")
        elif name not in ("hopscale_graph", "edges", "n_nodes") and m.rarely(0.2):
            del arrays[name]
    held = ", ".join(f"{name}={text}" for name, text in arrays.items())
    return followed(m, f"read_graph(file(npz({held}), 'graph.npz'))")
