"""Files of models that learnt from labels, and the commands that make and use them."""

from fuzz.doors.commands import EDGES, TEXTS
from fuzz.doors.models import facts_changed
from fuzz.doors.registry import door
from fuzz.generators import JSON
from fuzz.names import model_bytes, parts, predictor_bytes

KINDS = [
    ("GraphClassifier", "logistic", "both"),
    ("GraphClassifier", "logistic", "features"),
    ("GraphClassifier", "kernel", "both"),
    ("GraphClassifier", "kernel", "vectors"),
    ("GraphRegressor", "elastic-net", "vectors"),
    ("GraphRegressor", "kernel", "features"),
]


def saved_predictor(m):
    """Bytes of a sound file."""
    return predictor_bytes(*m.choice(KINDS))


@door(400)
def predictor_bytes_mutated(m):
    data = saved_predictor(m)
    if m.rarely(0.5):
        return f"predicted(load_model(file({m.mutated(data, JSON)!r})))"
    _, tensors = parts(data)
    return f"predicted(load_model(file(with_tensors({data!r}, {m.mutated(tensors)!r}))))"


@door(800)
def predictor_facts(m):
    """Metadata and headers of tensors that are changed in a file that is sound otherwise, digest and all."""
    return f"predicted({facts_changed(m, saved_predictor(m))})"


FEATURES = 'file(b\'{"0": [1, 2], "1": [2], "2": [0], "3": [1], "4": [0, 2], "5": [1]}\', \'f.json\')'
RING = "file(b'0,1\\n1,2\\n2,3\\n3,4\\n4,5\\n5,0\\n0,3\\n', 'e.csv')"
LABELS = [
    b"id,label\n0,a\n1,b\n2,a\n3,b\n",
    b"id,label\n0,0\n1,1\n2,0\n3,1\n4,0\n",
    b"id,label\n0,0.5\n1,1.5\n2,0.25\n3,1\n4,2\n",
    b"id,label\n0,a\n1,b\n2,a\n3,b\n4,a\n5,b\n",
    b"id,label\n0,a\n1,a\n2,a\n3,a\n",
    b"id,label\n0,a\n1,b\n2,c\n3,d\n4,e\n",
    b"id,label\n0,a\n1,b\n",
    b"id,label\n0,-1\n1,1\n2,-1\n3,1\n",
    b"id,label\n9,a\n8,b\n0,a\n1,b\n2,a\n3,b\n",
    b"id,label\n0,True\n1,False\n2,True\n3,False\n",
    b"id,label\n0,nan\n1,inf\n2,1e60\n3,2\n4,5\n",
    b"id,label\n0,\n1,\n",
    b"id,label\n",
    b'id,label\n0,"a,""b"\n1,"x\ny"\n2,"a,""b"\n3,"x\ny"\n',
]
OPTIONS = [
    *(
        "--inputs",
        "--head",
        "--folds",
        "--landmarks",
        "--random-state",
        "--model",
        "--dimensions",
        "--window",
        "--save",
    ),
    *("--solver", "--format", "--label-column", "--node-column", "--weight", "--graph", "--nodes", "-o", "--unknown"),
    *("--labels-header", "--epochs", "--memory-limit", "--k"),
]
FLAGS = ["--all", "--classes", "--no-smooth", "--smooth", "--keep-graph", "--json", "--no-header", "--self-loops", "-q"]
WORDS = [
    "vectors",
    "features",
    "both",
    "auto",
    "logistic",
    "kernel",
    "elastic-net",
    "2",
    "3",
    "deepwalk",
    "musae",
    "tsv",
]


@door(250)
def predicting_commands(m):
    """``classify``, ``regress`` and ``predict``: options of all kinds, labels of all kinds."""
    labels = m.choice(LABELS)
    if m.rarely(0.2):
        labels = m.mutated(labels)
    graph = ["'--edges'", RING if m.rarely(0.9) else EDGES, *(["'--features'", FEATURES] if m.rarely(0.8) else [])]
    learn = [*graph, "'--labels'", f"file({labels!r}, 'l.csv')", "'--n-jobs'", "'1'"]
    sizes = ["'--dimensions'", "'4'", "'--folds'", "'2'"]
    output = ["'-o'", m.choice(["'-'", "out('p.csv')", "out('p.tsv')", "out('p.parquet')", "out('p')"])]
    model = f"file({saved_predictor(m) if m.rarely(0.9) else model_bytes('AE')!r}, 'm.safetensors')"
    args = m.one_of(
        lambda: ["'classify'", *learn, *sizes, *output],
        lambda: ["'classify'", *learn, "'--save'", "out('m')"],
        lambda: ["'regress'", *learn, *sizes, *output],
        lambda: ["'predict'", model, *graph, *output],
        lambda: ["'predict'", model, *output],
        lambda: ["'explain'", model, repr(m.choice(["0", "3", *TEXTS])), *graph],
        lambda: ["'info'", model],
    )
    for _ in range(m.choice([0, 1, 1, 2, 3])):
        if m.rarely(0.4):
            args.append(repr(m.choice(FLAGS)))
        else:
            args += [repr(m.choice(OPTIONS)), repr(m.choice(WORDS if m.rarely(0.6) else TEXTS))]
    return f"cli({', '.join(args)})"
