"""The command line."""

from fuzz.names import MODELS
from fuzz.doors.files import edge_file, feature_file
from fuzz.doors.registry import door, saved_model, sound_npz

_TEXTS = [
    "x",
    "",
    "1",
    "0",
    "-1",
    "1e-40",
    "50",
    "nan",
    "inf",
    "1e400",
    "9" * 400,
    "9" * 5000,
    "é",
    "\0",
    "/",
    ".",
    "..",
    "true",
    "-",
    "1e30",
    "2147483648",
]


@door(400)
def command_line(m):
    edges, features = "file(b'0,1\\n1,2,', 'e.csv')", "file(b'{\"0\": [1, 2], \"1\": [2]}', 'f.json')"
    if m.rarely(0.5):
        edges = "file(b'0,1\\n1,2\\n2,0\\n', 'e.csv')"
    if m.rarely(0.1):
        edges, features = edge_file(m), feature_file(m)
    saved = (
        f"file({saved_model(m)!r}, 'm.safetensors')"
        if m.rarely(0.9)
        else m.choice([edges, "'/'", "'/dev/null'", "'x'"])
    )
    args = m.choice([
        lambda: ["'info'", m.choice([edges, saved, f"file({sound_npz()!r}, 'g.npz')"]), "'--features'", features],
        lambda: ["'info'", edges],
        lambda: ["'neighbors'", saved, repr(m.choice(["0", "1", '["node", 1]', *_TEXTS]))],
        lambda: ["'explain'", saved, repr(m.choice(["0", "1", *_TEXTS]))],
        lambda: ["'embed'", "'--edges'", edges, "'--features'", features, "'-o'", "out('v.csv')", "'--dimensions'", "'4'", "'--n-jobs'", "'1'"],
        lambda: ["'embed'", "'--edges'", edges, "'--model'", repr(m.choice(list(MODELS)).lower()) , "'--save'", "out('m')", "'--dimensions'", "'8'", "'--n-jobs'", "'1'"],
        lambda: ["'transform'", saved, "'--edges'", edges, "'--features'", features, "'-o'", "out('v.npz')"],
        lambda: ["'datasets'", repr(m.choice(["digits", "cora", *_TEXTS]))],
        lambda: ["'methods'", repr(m.choice(["musae", "hope", *_TEXTS]))],
        lambda: [repr(m.choice(["embed", "demo", "x", "--version", "reproduce", *_TEXTS])), "'--help'"],
    ])()  # fmt: skip
    for _ in range(m.choice([0, 1, 1, 2, 3])):
        option = m.choice(_OPTIONS)
        args.append(repr(option))
        if m.rarely(0.8):
            cheap = option in (
                "--epochs",
                "--walks",
                "--walk-length",
                "--walks-per-node",
                "--iterations",
                "--points",
                "--splits",
                "--window",
            )
            args.append(repr(m.choice([t for t in _TEXTS if not cheap or t != "2147483648"])))
    if m.rarely(0.3):
        args.append("'--json'")
    return f"cli({', '.join(args)})"


_OPTIONS = [
    *(
        "--weight",
        "--value",
        "--header",
        "--no-header",
        "--self-loops",
        "--graph",
        "--labels",
        "--node-column",
        "--label-column",
    ),
    *(
        "--solver",
        "--shift",
        "--noise-exponent",
        "--rows",
        "--walks",
        "--memory-limit",
        "--walk-length",
        "--walks-per-node",
        "--start",
    ),
    *(
        "--epochs",
        "--negatives",
        "--subsample",
        "--learning-rate",
        "--dimensions",
        "--window",
        "--random-state",
        "--p",
        "--q",
        "--decay",
    ),
    *(
        "--iterations",
        "--score",
        "--task",
        "--splits",
        "--standardize",
        "--format",
        "-k",
        "--scale",
        "-o",
        "--save",
        "--quiet",
        "--x",
        "-",
    ),
]
