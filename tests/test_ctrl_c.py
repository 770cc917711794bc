"""Ctrl-C ends every long job within a moment."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads processor time from /proc")

# Processor time of two threads in a second: on a busy machine the clock says nothing.
MOMENT = 2.0
BEFORE = """
import os, signal, sys, warnings
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
import numpy as np, scipy.sparse as sp
import hopscale
from hopscale import *
from hopscale.datasets import erdos_renyi
"""
GRAPH = "graph = erdos_renyi(20_000, 16, 8, 2000)\n"
BEGUN = "print('begun', flush=True)\n"

# Each would go on for ten seconds at least, most for hours.
FITS = {
    "exact rows": "MUSAE(210, ego=True, window=20, solver=PMI(rows='exact', memory_limit='40GiB')).fit(graph)",
    "sampled rows": "AE(solver=PMI(rows='sampled', walks=10**6)).fit(graph)",
    "rows of more walks than end": "AE(solver=PMI(rows='sampled', walks=2**31 - 1)).fit(graph)",
    "sgns": "MUSAE(solver=SGNS(epochs=1000)).fit(graph)",
    "sgns on frozen features": "model.transform(graph)",
    "Node2Vec": "Node2Vec(p=1e3, q=1e-3, window=30, solver=PMI(walks=10**6)).fit(graph)",
    "LINE": "LINE(solver=SGNS(epochs=1000)).fit(graph)",
    "HOPE": "HOPE(proximity='rooted-pagerank', decay=0.9999).fit(graph)",
    "wide HOPE": "HOPE(1000, proximity='rooted-pagerank').fit(graph)",
    "SINE": "SINE(1000, window=30, memory_limit='60GiB').fit(graph)",
    "FEATHER": "FEATHER(points=1000, feature_dimensions=2, window=5, dimensions=512).fit(graph)",
    "AANE": "AANE(512, iterations=10**5).fit(graph)",
    "ASNE": "ASNE(iterations=10**5).fit(graph)",
    "BANE": "BANE(512, window=1000).fit(graph)",
    "TADW": "TADW(iterations=10**5).fit(graph)",
    "TENE": "TENE(iterations=10**5).fit(graph)",
}
OTHERS = {
    "logistic regressions": """
from hopscale.tasks import evaluate
random = np.random.default_rng(0)
vectors, labels = random.standard_normal((100_000, 256)), random.integers(0, 30, 100_000)
{begun}
evaluate(vectors, labels, splits=100)
""",
    "a logistic regression that converges slowly": """
from hopscale.tasks import evaluate
random = np.random.default_rng(0)
vectors = random.standard_normal((20_000, 128)) * np.logspace(0, -3, 128)
labels = (vectors @ random.standard_normal((128, 12))).argmax(axis=1)
{begun}
evaluate(vectors, labels, splits=32, n_jobs=2)
""",
    "logistic regressions of links": """
from hopscale.tasks import link_prediction
class Given(DeepWalk):
    def fit(self, graph, y=None):
        random, self.node_ids_ = np.random.default_rng(0), graph.node_ids
        self.embedding_ = random.standard_normal((graph.n_nodes, 1000)) * np.logspace(0, -2, 1000)
        return self
{graph}{begun}
link_prediction(Given(), graph, splits=1, max_edges=10**6, n_jobs=2)
""",
    "pairs of all nodes": """
from hopscale.compute import Threads
from hopscale.compute.nearest import Nearest
vectors = np.random.default_rng(0).standard_normal((400_000, 256), dtype=np.float32)
{begun}
with Threads(2) as engine:
    Nearest(vectors, cosine=True).pairs(10, engine, sp.csr_array((400_000, 400_000)))
""",
    "elastic nets": """
from hopscale.tasks import evaluate
random = np.random.default_rng(0)
vectors, labels = random.standard_normal((200_000, 256)), random.standard_normal(200_000)
{begun}
evaluate(vectors, labels, splits=1000)
""",
    "logistic heads": """
{graph}{begun}
GraphClassifier(inputs="features", head="logistic", folds=20).fit(graph, np.arange(20_000) % 30)
""",
    "kernel heads": """
{graph}{begun}
GraphClassifier(inputs="features", head="kernel", folds=20).fit(graph, np.arange(20_000) % 30)
""",
    "elastic nets as heads": """
{graph}embedder = DeepWalk(128, window=1).fit(graph)
{begun}
while True:
    GraphRegressor(embedder=embedder, inputs="vectors", head="elastic-net", folds=20).fit(graph, np.arange(20_000))
""",
    "diameter": """
from hopscale.datasets import describe
{graph}{begun}
for _ in range(1000):
    describe(graph)
""",
    "reproduce": """
import tempfile
from hopscale.cli import main
{begun}
main(args=["reproduce", "runtime", "-o", tempfile.mkdtemp()])
""",
    "embed": """
import tempfile
from hopscale.cli import main
output = os.path.join(tempfile.mkdtemp(), "vectors.csv")
{begun}
main(args=["embed", "--graph", "digits", "--solver", "sgns", "--epochs", "100000", "-o", output])
""",
    "a large file": """
import tempfile
path = os.path.join(tempfile.mkdtemp(), "edges.csv")
rows = "".join(f"{{i * 7919 % 5_000_011}},{{i * 104_729 % 5_000_011}}\\n" for i in range(1_000_000)).encode()
with open(path, "wb") as file:
    for _ in range(10):
        file.write(rows)
{begun}
read_graph(path)
""",
}


def interrupted(code):
    """Processor time that Python, running some code, takes on after Ctrl-C a moment into it; and how it ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEFORE + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n", process.stderr.read()
        begun = processor_time(process.pid)
        while processor_time(process.pid) < begun + 0.5:
            assert process.poll() is None, "the job is too short to be interrupted"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        before, said = processor_time(process.pid), process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime - before, process.returncode, said
    finally:
        process.kill()
        process.wait()


def processor_time(pid):
    """Seconds of all threads so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("job", FITS)
def test_fits_end_at_ctrl_c(job):
    model = "model = MUSAE(solver=SGNS(epochs=100)).fit(erdos_renyi(100, 4, 8, 2000))\n" if "frozen" in job else ""
    seconds, code, said = interrupted(GRAPH + model + BEGUN + FITS[job])
    assert code == -signal.SIGINT, said or "it was done before"
    assert seconds < MOMENT


@pytest.mark.parametrize("job", OTHERS)
def test_other_jobs_end_at_ctrl_c(job):
    seconds, code, said = interrupted(OTHERS[job].format(begun=BEGUN, graph=GRAPH))
    assert code in (130, -signal.SIGINT), said
    assert seconds < MOMENT
