"""Folders of stored graphs that are damaged, and Parquet parts that are to become one."""

import json

from fuzz.doors.files import parquet_bytes
from fuzz.doors.registry import door, some
from fuzz.generators import JSON
from fuzz.stored import stored_files

KINDS = ("whole", "text", "weighted")


@door(1000)
def stored_folders(m):
    """A stored graph with files that are damaged, missing or those of another one."""
    kind = m.choice(KINDS)
    changed = _changes(m, kind, m.randint(0, 2) if m.rarely(0.9) else 4)
    return f"opened(out('stored'), {kind!r}{''.join(f', {name}={data}' for name, data in changed.items())})"


def _changes(m, kind, count):
    """Some files of a stored graph, damaged, missing or of another one, by name with __ for the point."""
    files, changed = stored_files(kind), {}
    for _ in range(count):
        name = m.choice(list(files))
        data = m.choice([_manifest, _numbers, _mutated, _mutated, _other])(m, name, files)
        changed[name.replace(".", "__")] = data
    return changed


@door(120)
def fits_in_blocks(m):
    """Fits to stored graphs, some of them damaged, by models and with settings that make sense or not."""
    kind = m.choice(KINDS)
    changed = _changes(m, kind, m.randint(1, 2) if m.rarely(0.3) else 0)
    quick = "walk_length=4, walks_per_node=1, epochs=1"
    solver = m.choice(
        [
            "PMI(rows='sampled', walks=5)",
            "PMI(rows='sampled', walks=5)",
            f"SGNS({quick})",
            f"SGNS({quick}, learning_rate=1e6)",
            "PMI(rows='sampled', memory_limit=1)",
            "PMI(rows='exact')",
            "'pmi'",
            "None",
        ]
    )
    model = m.choice(["MUSAE", "AE", "DeepWalk", "Walklets"]) if m.rarely(0.9) else m.choice(["HOPE", "TADW"])
    walks = model not in ("HOPE", "TADW")
    own = f"{m.choice(['2', '3', '8', '0'])}{f', solver={solver}' if walks else ''}"
    own += some(m, random_state=lambda: m.choice(["0", "7", "-1"]), window=lambda: m.choice(["1", "2", "0", "40"]))
    settings = some(
        m,
        work_folder=lambda: m.choice(["out('work')", "'/dev/null/x'", "3", "''"]),
        scheduler=lambda: m.choice(["8786", "'nonsense'", "'tcp://'", "[]"]),
    )
    files = ", ".join(f"{name!r}: {data}" for name, data in changed.items())
    return f"fitted_in_blocks(out('fit'), {kind!r}, MODELS[{model!r}]({own}), {{{files}}}{settings})"


def _mutated(m, name, files):
    return repr(m.mutated(files[name], JSON if name.endswith("json") else ()))


def _other(m, name, files):
    """Nothing, or the file of the same name of another graph."""
    other = stored_files(m.choice(KINDS)).get(name)
    return repr(None if m.rarely(0.3) else other)


def _numbers(m, name, files):
    if name.endswith("json"):
        return _manifest(m, name, files)
    numbers = m.listed(lambda: m.choice(["0", "1", "2", "3", "4", "6", "-1", "2**31 - 1"]), 0, 8, "[]")
    return f"npy(np.array({numbers}, {m.choice(['i4', 'i8', 'i8', 'f4', 'u1', 'O'])!r}))"


def _manifest(m, name, files):
    if not name.endswith("json"):
        return _mutated(m, name, files)
    manifest = json.loads(files[name])
    key = m.choice(list(manifest))
    manifest[key] = m.choice([0, 1, 2, 4, 6, -1, 2**31, 2**62, 2**70, 1.5, True, False, None, "int64", "text", [], {}])
    return repr(json.dumps(manifest).encode())


@door(150)
def parquet_parts(m):
    """Parts of edges and features for the external sort, of which some do not fit the others."""
    names = m.choice([["a", "b", "c"], [0, 1, 2], [0.0, 1.0, 2.0]])
    odd = [[0, 1, 2], [0.0, 1.0, 2.5], ["a", None, "b"], [["x"], [], None], [True, False, None]]

    def parts(columns, most):
        made = []
        for _ in range(m.randint(most > 1, most)):
            own = [(name, m.choice(odd) if m.rarely(0.07) else m.sample(values, 3)) for name, values in columns]
            data = parquet_bytes(*own)
            made.append(m.mutated(data) if m.rarely(0.07) else data)
        return repr(made)

    amounts = [("weight", [0.5, 1.0, 2.0])] if m.rarely(0.3) else []
    edges = parts([("source", names), ("target", names), *amounts], 3)
    values = [("value", [0.5, 1.0, 0.0])] if m.rarely(0.3) else []
    features = parts(
        [("node", names), ("feature", m.choice([["x", "y", "z"], [5, 6, 7], ["1", "2", "-0"]])), *values], 1
    )
    settings = some(
        m,
        self_loops=lambda: m.choice(["True", "False"]),
        memory_limit=lambda: m.choice(["4096", "'1KiB'", "'1MiB'", "0", "None"]),
        unknown=lambda: m.word("error", "isolate"),
        weight=lambda: m.word("weight", "count"),
    )
    return f"stored_parts(out('parts'), {edges}, {features}{settings})"
