"""The command line as a program: help, messages, streams, exit codes and interruptions."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from command_line import HOPSCALE, answer, refused, succeeded

from hopscale import MUSAE, PMI, SGNS, DeepWalk, __version__, from_edges, load
from hopscale.cli.commands import hopscale as main
from hopscale.cli.wording import as_option
from hopscale.datasets import erdos_renyi, figure1
from hopscale.exceptions import HopscaleError, HopscaleWarning
from hopscale.io.vectors import vector_format


class TestProgram:
    def test_demo(self):
        document = answer("demo")
        scores = {metric: row["mean"] for metric, row in document["digits"]["scores"].items()}
        assert scores["micro_f1"] > 0.9 > 0.2 > scores["majority_micro_f1"]
        near = document["figure1"]["similarity"]
        assert near["0"] == pytest.approx(1) == near["1"]
        assert near["2"] < 0.9
        text = succeeded("demo").stdout
        assert "majority_micro_f1" in text
        assert "figure 1" in text

    def test_help_has_examples(self):
        for command in main.commands:
            assert f"hopscale {command}" in succeeded(command, "--help").stdout.split("Options:")[0].split("\n\n", 1)[1]

    @pytest.mark.parametrize(
        ("provoke", "words"),
        [
            (lambda: MUSAE().fit(from_edges([("a", "b")])), "(on the command line --model deepwalk), or --ego,"),
            (lambda: MUSAE().fit(from_edges([("a", "a")])), "made with --self-loops"),
            (
                lambda: DeepWalk(solver=SGNS(walk_length=2)).fit(figure1()),
                "--walk-length 2 must be larger than --window 3",
            ),
            (lambda: DeepWalk(solver=PMI(walks=2**40)).fit(figure1()), "--walks must be a whole number from 1 to"),
            (lambda: MUSAE(ego=True).fit(figure1()).transform(figure1()), "AE and MUSAE with --no-ego can"),
            (lambda: vector_format("vectors.xlsx"), "or give --format"),
            (lambda: vector_format("walk_length"), "'walk_length' does not say"),
            (lambda: load("nothing"), "the folder that the variable HOPSCALE_DATA names"),
        ],
    )
    def test_messages_speak_of_options(self, provoke, words, monkeypatch):
        monkeypatch.delenv("HOPSCALE_DATA", raising=False)
        with pytest.raises(HopscaleError) as caught:
            provoke()
        assert words in caught.value.worded(as_option)

    def test_warnings_speak_of_options(self):
        with pytest.warns(HopscaleWarning, match="estimated") as caught:
            MUSAE(8, solver=PMI(memory_limit=2000, walks=2)).fit(erdos_renyi(200, 4))
        words = caught[0].message.worded(as_option)
        assert "more than --memory-limit (2,000 bytes)" in words
        assert "--rows exact forces exact ones, --rows sampled silences this" in words

    def test_columns_of_labels_are_spoken_of_as_options(self, tmp_path, blocks, inputs):
        (tmp_path / "l.csv").write_text("name,id,block\n" + "".join(f"n{v},{v},{v % 2}\n" for v in range(90)))
        embed = ["embed", *inputs, "--labels", tmp_path / "l.csv", "-o", tmp_path / "v.npz", "--dimensions", 8]
        assert "name it with --node-column" in refused(*embed, "-q")
        assert answer(*embed, "--node-column", "id")["task"] == "classification"

    def test_version(self):
        assert __version__ in succeeded("--version").stdout

    def test_full_disk_or_no_memory(self, monkeypatch, model):
        for error, message in (
            (OSError(28, "No space left on device", "v.csv"), "hopscale: v.csv: No space left on device\n"),
            (MemoryError(), "hopscale: not enough memory: give a smaller --memory-limit"),
        ):

            def fail(*_, error=error):
                raise error

            monkeypatch.setattr("hopscale.cli.sources.load_model", fail)
            assert refused("neighbors", model, "D").startswith(message)


class TestProcess:
    """What only a process of its own can show."""

    @pytest.mark.skipif(os.name != "posix", reason="no signals")
    def test_ctrl_c(self, tmp_path):
        graph = erdos_renyi(20_000, 8)
        u, v = graph.adjacency.tocoo().coords
        np.savez(
            tmp_path / "graph.npz",
            edges=np.stack([u, v], axis=1)[u < v],
            n_nodes=graph.n_nodes,
            n_features=graph.n_features,
            feature_indptr=graph.features.indptr,
            feature_indices=graph.features.indices,
        )
        command = ["embed", "--graph", "graph.npz", "-o", "v.csv", "--save", "m", "--solver", "sgns"]
        with subprocess.Popen(
            [*HOPSCALE, *command, "--epochs", "1000"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process:
            assert process.stderr.readline().startswith("20,000 nodes")  # read; the long work begins
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            process.send_signal(signal.SIGINT)
            try:
                stdout, stderr = process.communicate(timeout=30)
            finally:
                process.kill()
        assert process.returncode == 130
        assert stdout == ""
        assert stderr.splitlines()[-1] == "hopscale: interrupted"
        assert "Traceback" not in stderr
        assert [path.name for path in tmp_path.iterdir()] == ["graph.npz"]

    @pytest.mark.skipif(os.name != "posix", reason="no signals")
    @pytest.mark.parametrize("start", [["-m", "hopscale"], ["-c", "from hopscale.cli import main; main()"]])
    def test_ctrl_c_while_modules_are_read(self, tmp_path, start):
        # A NumPy that takes long to import and lets no exception through.
        (tmp_path / "numpy.py").write_text(
            "import contextlib, os, signal, time\n"
            "with contextlib.suppress(BaseException):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "    time.sleep(60)\n"
        )
        done = subprocess.run(
            [sys.executable, *start, "embed", "--help"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=30,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "hopscale: interrupted\n")

    def test_nothing_that_takes_long_is_read_before_ctrl_c_is_seen_to(self):
        read = "import sys, hopscale.cli; print(*{'numpy', 'scipy', 'sklearn', 'click'} & set(sys.modules))"
        assert subprocess.run([sys.executable, "-c", read], capture_output=True, text=True).stdout == "\n"

    def test_all_names_are_there_for_all_that(self):
        ask = "import hopscale; print(*[getattr(hopscale, name) for name in hopscale.__all__], hopscale.io.from_igraph)"
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        nonsense = subprocess.run([sys.executable, "-c", "import hopscale; hopscale.x"], capture_output=True, text=True)
        assert "module 'hopscale' has no attribute 'x'" in nonsense.stderr

    def test_answers_and_errors_keep_to_their_streams(self, model):
        good = subprocess.run([*HOPSCALE, "explain", model, "D", "--json"], capture_output=True, text=True)
        assert (good.returncode, good.stderr) == (0, "")
        assert json.loads(good.stdout)["node"] == "D"
        bad = subprocess.run([*HOPSCALE, "explain", model, "Z", "--json"], capture_output=True, text=True)
        assert (bad.returncode, bad.stdout) == (1, "")
        assert bad.stderr.startswith("hopscale: no node 'Z'")

    def test_reader_that_goes_away(self, model):
        with subprocess.Popen(
            [*HOPSCALE, "explain", model, "D"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            process.stdout.close()
            assert process.stderr.read() == ""
