"""The command line."""

from fuzz.doors.files import edge_file, feature_file
from fuzz.doors.others import GRAPHML
from fuzz.doors.registry import door, saved_model, sound_npz
from fuzz.names import MODELS

EDGES = "file(b'0,1\\n1,2\\n2,0\\n', 'e.csv')"
JSON_ANSWER = "'--json'"
FEATURES = "file(b'{\"0\": [1, 2], \"1\": [2]}', 'f.json')"
TEXTS = [
    *("x", "", "1", "0", "-1", "1e-40", "50", "nan", "inf", "1e400", "9" * 400, "9" * 5000, "é", "\0", "/", ".", ".."),
    *("true", "-", "1e30", "2147483648", "2", "3", "0.5", "1GiB", "exact", "sgns"),
]
OPTIONS = [
    *("--weight", "--value", "--header", "--no-header", "--self-loops", "--graph", "--labels", "--node-column", "-o"),
    *("--label-column", "--shift", "--noise-exponent", "--rows", "--walks", "--memory-limit", "--walk-length", "-k"),
    *("--walks-per-node", "--start", "--epochs", "--negatives", "--subsample", "--learning-rate", "--dimensions", "-"),
    *("--window", "--random-state", "--p", "--q", "--decay", "--iterations", "--score", "--task", "--splits", "--x"),
    *("--standardize", "--format", "--scale", "--save", "--quiet", "--solver", "--unknown", "--keep-graph", "--power"),
    *("--feature", "--clusters", "--names", "--title", "--method", "--max-nodes"),
    *("--directed", "--source", "--target", "--skip-bad-lines", "--edges-header", "--no-features-header", "--edges"),
]
# Options that say how much work there is: large ones are no mistake, but take long.
WORK = ("--epochs", "--walks", "--walk-length", "--walks-per-node", "--iterations", "--splits")


@door(400)
def command_line(m):
    edges, features = (edge_file(m), feature_file(m)) if m.rarely(0.2) else (EDGES, FEATURES)
    model = f"file({saved_model(m)!r}, 'm.safetensors')" if m.rarely(0.9) else m.choice([edges, "'/'", "'/dev/null'"])
    graph = ["'--edges'", edges, "'--features'", features]
    small = ["'--n-jobs'", "'1'", "'--dimensions'", "'8'"]
    args = m.one_of(
        lambda: ["'info'", m.choice([edges, model, f"file({sound_npz()!r}, 'g.npz')"])],
        lambda: ["'info'", edges, "'--features'", features],
        lambda: ["'info'", "'--edges'", "'-'", "'--features'", m.choice([features, "'-'"])],
        lambda: ["'embed'", *graph, "'-o'", "'-'", *small],
        lambda: ["'plan'", *graph, *small],
        lambda: [
            "'plan'",
            "'--nodes'",
            repr(m.choice(["1e6", *TEXTS])),
            "'--edges-count'",
            repr(m.choice(["9", *TEXTS])),
        ],
        lambda: ["'neighbors'", model, repr(m.choice(["0", "1", '["node", 1]', *TEXTS]))],
        lambda: ["'neighbors'", model, *(repr(m.choice(["0", "1", *TEXTS])) for _ in range(m.randint(0, 3)))],
        lambda: ["'neighbors'", model, repr(m.choice(["--feature", "--nodes-of"])), repr(m.choice(["1", "2", *TEXTS]))],
        lambda: ["'suggest-links'", model, *m.sample([*graph, "'0'", "'1'"], m.randint(0, 6))],
        lambda: ["'suggest-links'", model, *graph, "'-k'", repr(m.choice(["1", "99", *TEXTS]))],
        lambda: ["'clusters'", model, repr(m.choice(["1", "2", *TEXTS]))],
        lambda: ["'suggest-features'", model, repr(m.choice(["0", "1", *TEXTS])), *graph],
        lambda: ["'explain'", model, repr(m.choice(["0", "1", *TEXTS]))],
        lambda: ["'embed'", *graph, "'-o'", "out('v.csv')", *small],
        lambda: ["'embed'", *graph, "'--save'", "out('m')", "'--model'", repr(m.choice(list(MODELS)).lower()), *small],
        lambda: ["'explain'", model, repr(m.choice(["0", "1", *TEXTS])), *graph],
        lambda: ["'embed'", "'--graph'", f"file({GRAPHML!r}, 'g.graphml')", "'-o'", "out('v.csv')", *small],
        lambda: ["'transform'", model, *graph, "'-o'", "out('v.npz')"],
        lambda: ["'extend'", model, *graph, "'-o'", "out('v.csv')"],
        lambda: ["'plot'", model, "'-o'", "out('map.png')", "'--method'", "'pca'"],
        lambda: ["'plot'", *graph, "'-o'", "out('map.svg')", "'--method'", "'pca'", "'--names'", "'3'", *small],
        lambda: ["'report'", *graph, "'-o'", "out('report.html')", "'--method'", "'pca'", *small],
        lambda: ["'explore'", model, "'-o'", "out('p.html')", "'--method'", "'pca'", *m.sample(graph, m.randint(0, 4))],
        lambda: ["'datasets'", repr(m.choice(["figure1", "cora", *TEXTS]))],
        lambda: ["'methods'", repr(m.choice(["musae", "hope", *TEXTS]))],
        lambda: [repr(m.choice(["embed", "demo", "--version", "reproduce", *TEXTS])), "'--help'"],
    )
    for _ in range(m.choice([0, 0, 1, 1, 2, 3])):
        option = m.choice(OPTIONS)
        texts = [text for text in TEXTS if text not in ("50", "2147483648")] if option in WORK else TEXTS
        args += [repr(option), repr(m.choice(texts))] if m.rarely(0.8) else [repr(option)]
    return f"cli({', '.join([*args, *([JSON_ANSWER] if m.rarely(0.3) else [])])})"
