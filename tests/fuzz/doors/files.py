"""Files of edges, features and labels, archives, folders of data sets and pickles."""

import io
import zlib

import pyarrow as pa
from pyarrow import parquet

from fuzz.doors.registry import door, followed, some, sound_npz
from fuzz.generators import JSON


def _file(m, data, name):
    text = repr(data)
    if m.rarely(0.05):
        text = f"gz({text})" if m.rarely(0.7) else repr(m.mutated(_gzip(data)))
    return f"file({text}, {name!r})"


def _gzip(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


HEADERS = [
    *(("source", "target", "weight"), ("follower", "followee", "since"), ("a", "b", "c"), ("date", "from", "to")),
    *(("x", "x", "x"), ("", "u", "v"), ("weight", "value", "count"), ("user", "item", "rating")),
]


def edge_file(m):
    return _file(m, m.delimited(m.choice([2, 2, 3]), m.choice(HEADERS)), "edges.csv")


def feature_file(m):
    if m.rarely(0.5):
        return _file(m, m.json(), "features.json")
    return _file(m, m.delimited(m.choice([2, 2, 3]), ("node", "feature", "value")), "features.csv")


def label_file(m):
    return _file(m, m.delimited(m.choice([2, 2, 3]), ("node", "other", "label")), "labels.csv")


def _of_files(m):
    return some(
        m,
        source=lambda: m.word("source", "from", "1", "2"),
        target=lambda: m.word("target", "to", "2", "3"),
        weight=lambda: m.word("weight", "third", "3"),
        value=lambda: m.word("value", "third"),
        node_column=lambda: m.word("node"),
        label_column=lambda: m.word("label", "other"),
        unknown=lambda: m.word("error", "isolate"),
        header=lambda: m.word("x") if m.odd() else m.choice(["True", "False", "{'edges': True}", "{'labels': False}"]),
        skip_bad_lines=lambda: m.word("x") if m.odd() else "True",
        self_loops=lambda: m.choice(["True", "False"]),
    )


@door(3000)
def edge_files(m):
    return followed(m, f"read_graph({edge_file(m)}{_of_files(m)})")


@door(3000)
def feature_files(m):
    edges = "file(b'0,1\\n1,2\\n2,3\\n3,4\\n')" if m.numeric else "file(b'a,b\\nb,c\\nc,d\\n')"
    return followed(m, f"read_graph({edges}, {feature_file(m)}{_of_files(m)})")


def parquet_bytes(*columns):
    """A small table as Parquet, the same for ever with one version of Arrow."""
    made = io.BytesIO()
    parquet.write_table(pa.table(dict(columns)), made)
    return made.getvalue()


@door(1000)
def parquet_files(m):
    """Tables as Parquet, of which some are damaged."""
    kinds = [["a", "b", "c"], [0, 1, 2], [0.0, 1.0, 2.5], ["a", None, "b"], [["x"], [], None], [True, False, None]]
    names = m.choice([("source", "target", "weight"), ("day", "from", "to"), ("node", "feature", "value")])
    files = []
    for _ in range(m.randint(1, 3)):
        columns = [
            (name, m.choice(kinds[:2]) if m.rarely(0.7) else m.choice(kinds)) for name in names[: m.randint(2, 3)]
        ]
        data = parquet_bytes(*columns)
        damaged = m.mutated(data) if m.rarely(0.3) else data
        files.append(f"file({damaged!r}, 'table.parquet')")
    return followed(m, f"read_graph({', '.join(files)}{_of_files(m)})")


@door(2000)
def label_files(m):
    edges = "file(b'0,1\\n1,2\\n2,3\\n3,4\\n')" if m.numeric else "file(b'a,b\\nb,c\\nc,d\\n')"
    return followed(m, f"read_graph({edges}, None, {label_file(m)}{_of_files(m)})")


@door(1000)
def all_files(m):
    return followed(m, f"read_graph({edge_file(m)}, {feature_file(m)}, {label_file(m)}{_of_files(m)})")


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


@door(1000)
def npz_arrays(m):
    arrays = ", ".join(f"{name}={text}" for name, text in _npz(m))
    return followed(m, f"read_graph(file(npz({arrays}), 'graph.npz'){some(m, self_loops=lambda: 'True')})")


SHAPE = b"'shape': ("


@door(700)
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


@door(1000)
def npz_bytes(m):
    return f"read_graph(file({m.mutated(sound_npz(), JSON)!r}, 'graph.npz'))"


@door(400)
def data_folders(m):
    data = repr(m.mutated(sound_npz()) if m.odd() else sound_npz())
    name = m.word("graph", "cora", "figure1", "../graph", "twitch-de", "graph.npz", "")
    where = (
        m.thing()
        if m.odd() and m.rarely(0.2)
        else f"folder(graph__npz={data}, cora__npz={m.choice([data, repr(b'x')])})"
    )
    if m.rarely(0.2):
        return f"listed({where})"
    if m.rarely(0.1):
        return f"cli('datasets', '--data', {where})"
    settings = some(m, download=lambda: "False", n_nodes=m.count, random_state=m.count)
    return followed(m, f"load({name}, data={where}{settings})", 0.01)


PICKLE = (
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\x85q\x02U\x01bq\x03\x87q\x04Rq\x05"
    b"(K\x01K\x02K\x02\x86cnumpy\ndtype\nq\x06U\x02f4q\x07K\x00K\x01\x87Rq\x08(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    b"K\x00tb\x89U\x10" + b"\x00\x00\x80?" * 4 + b"tb."
)


@door(1500)
def pickles(m):
    mutated = m.mutated(PICKLE, ["cos\nsystem\n", "tR.", "i4", "f8"])
    return f"type(unpickled({mutated!r}, 'x'))"  # numbers of any kind: what makes a graph of them looks at them
