"""Tables of nodes: as objects, as files, and what was learnt from them."""

from fuzz.doors.registry import door, followed, some
from fuzz.generators import CELLS, NUMBERS, TEXTS
from fuzz.tables import state_bytes

KINDS = [
    *("category", "boolean", "list", "number", "spline", "date", "text", "vector", "signed", "binned"),
    *("drop", "id", "label"),
]
# Texts that are numbers, days, lists, vectors or nothing.
MESSY = [
    *("'NA'", "'n/a'", "''", "'-'", "'1,5'", "'1,200'", "'1.200,5'", "'5%'", "'$3'", "'€ 4'", "'1 000'", "'1e400'"),
    *("'2021-05-01'", "'31.12.2020'", "'01/02/2021'", "'20210304'", "'Mar 4, 2021'", "'2021-02-30'", "'0000-01-01'"),
    *("'a;b'", "'a|b'", "'a, b'", "'[a, b]'", "'[0.5, 1]'", "'[0.5 1]'", "'[1e999]'", "'one two three four'", "'yes'"),
    *("None", "[]", "['a', None]", "[0.5, -1.5]", "{'a', 'b'}", "{'a': 1}", "pd.NaT", "pd.Timestamp('2021-03-04')"),
    *("Decimal('1.5')", "np.datetime64('2021-01-01')", "np.timedelta64(3, 'D')", "'\\x1e'", "'a=b'", "'(rare)'"),
]


def _cells(m, n):
    """A column that is of a kind, but for some cells."""
    pool = m.choice(
        [
            ["'FR'", "'DE'", "'IT'"],
            ["True", "False"],
            ["1", "2", "3", "40", "500"],
            ["0.5", "1.5", "-2.25", "nan", "1e9"],
            ["'1'", "'2.5'", "'-3'", "''"],
            ["'2021-05-01'", "'2020-01-31'", "'2019-12-31'"],
            ["'tea;go'", "'go'", "'tea'", "''"],
            ["['a', 'b']", "['b']", "[]", "None"],
            ["[0.5, 1.5]", "[-1.0, 2.5]"],
            ["'one two three four'", "'two three four'", "'one five six'"],
            MESSY,
        ]
    )

    def cell():
        return m.choice(m.choice([NUMBERS, TEXTS, MESSY])) if m.odd() else m.choice(pool)

    return m.array((n,)) if m.odd() and m.rarely(0.2) else m.listed(cell, n, n, "[]")


def _table(m, ids=None, n=None):
    """A table of any maker; Arrow takes columns of one type only, and crashes on some objects."""
    n = m.randrange(1, 9) if n is None else n
    columns = {repr(name): _cells(m, n) for name in m.sample("abcxy", m.randrange(1, 4))}
    if ids is not None:
        columns = {repr(m.choice(["id", "node", "who"])): ids(n), **columns}
    if m.odd() and m.rarely(0.1):
        return m.thing()
    maker = "pd.DataFrame({})" if m.rarely(0.3) else "{}"
    return maker.format("{" + ", ".join(f"{name}: {cells}" for name, cells in columns.items()) + "}")


def _kinds(m):
    return m.mapping(lambda: repr(m.choice("abcxy")), lambda: m.word(*KINDS), 2)


def _settings(m):
    return some(
        m,
        columns=lambda: _kinds(m),
        min_count=m.count,
        max_values=m.count,
        bins=lambda: m.choice(["2", "3", m.count()]),
        missing=lambda: m.word("feature", "ignore"),
    )


@door(1500)
def encoders(m):
    other = m.choice(["None", _table(m)])
    return f"encoded({_table(m)}, {other}{_settings(m)})"


@door(600)
def node_tables(m):
    def ids(n):
        def one():
            return (
                m.choice([*TEXTS, *NUMBERS])
                if m.odd()
                else str(m.randrange(6))
                if m.numeric
                else repr(m.choice("abcdef"))
            )

        return m.listed(one, n, n, "[]")

    ends = ["0", "1", "2", "3"] if m.numeric else ["'a'", "'b'", "'c'", "'d'"]
    edges = f"pd.DataFrame({{'u': [{', '.join(ends)}], 'v': [{', '.join(reversed(ends))}]}})"
    settings = some(
        m,
        id_column=lambda: m.word("id", "node", "who"),
        label_column=lambda: m.word("a", "b", "x"),
        columns=lambda: _kinds(m),
        unknown=lambda: m.word("error"),
    )
    return followed(m, f"from_tables({edges}, nodes={_table(m, ids)}{settings})")


@door(1000)
def node_files(m):
    edges = "file(b'0,1\\n1,2\\n2,3\\n3,4\\n')" if m.numeric else "file(b'a,b\\nb,c\\nc,d\\n')"
    data = repr(m.delimited(m.choice([2, 3, 4]), ("node", "country", "age", "tags")))
    settings = some(
        m,
        id_column=lambda: m.word("node", "age"),
        label_column=lambda: m.word("country", "age"),
        columns=lambda: m.mapping(lambda: m.word("country", "age"), lambda: m.word(*KINDS), 2),
        skip_bad_lines=lambda: "True",
        header=lambda: m.choice(["True", "False", "{'nodes': True}"]),
    )
    return followed(m, f"read_graph({edges}, nodes=file({data}, 'nodes.csv'){settings})")


@door(1000)
def encoder_states(m):
    data = state_bytes()
    return f"restored({m.mutated(data, CELLS, 2) if m.rarely(0.9) else data!r})"


@door(500)
def dense_features(m):
    bins = some(m, bins=m.count)
    return f"dense({m.choice(['signed', 'binned'])!r}, {m.matrix((4, 3))}{bins if m.rarely(0.5) else ''})"
