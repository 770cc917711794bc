"""Files that appear whole or not at all: what a killed process left, links, locks, several writers."""

import errno
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from hopscale import MUSAE, atomic, load_model
from hopscale.atomic import check_writable, only_writer, replacing
from hopscale.datasets import figure1
from hopscale.exceptions import HopscaleError, OutputError
from hopscale.io.vectors import write_vectors
from hopscale.models import files
from hopscale.paper.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no signals, no locks")

WRITE = "import sys, time; from hopscale.atomic import replacing\nwith replacing(sys.argv[1]) as temporary:\n"
WAIT = f"{WRITE}    temporary.write_text('half'); print('writing', flush=True); time.sleep(60)"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def started(program, *arguments):
    """A process that has said its first word."""
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE)
    assert process.stdout.readline()
    return process


def killed(process):
    process.kill()
    process.communicate()


@pytest.fixture
def left_behind(tmp_path):
    """What a process leaves that is killed while it writes ``tmp_path / "v"``."""
    killed(started(WAIT, tmp_path / "v"))
    (left,) = tmp_path.iterdir()
    return left


def write(path, content="whole"):
    with replacing(path) as temporary:
        temporary.write_text(content)


class TestWhatAKillLeaves:
    def test_is_removed_by_the_next_write(self, tmp_path, left_behind):
        write(tmp_path / "other")
        assert names_in(tmp_path) == ["other"]

    def test_is_removed_by_the_next_check(self, tmp_path, left_behind):
        check_writable(tmp_path / "v")
        assert names_in(tmp_path) == []

    def test_of_a_model_is_nothing_else(self, tmp_path):
        """No writer makes temporary files of its own, which nobody would recognise."""
        MUSAE(8).fit(figure1()).save(tmp_path / "m")
        program = (
            "import os, sys; from hopscale import load_model\n"
            "model = load_model(sys.argv[1]); print('loaded', flush=True)\n"
            "os.fsync = lambda _: os.kill(os.getpid(), 9)\n"
            "model.save(sys.argv[1])"
        )
        process = started(program, tmp_path / "m")
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        left = [name for name in names_in(tmp_path) if name != "m"]
        assert len(left) == 1
        assert atomic._TEMPORARY.fullmatch(left[0])

    def test_stays_while_its_writer_lives(self, tmp_path):
        process = started(WAIT, tmp_path / "v")
        try:
            write(tmp_path / "other")
            old = time.time() - 10 * atomic._OLD
            (left,) = set(names_in(tmp_path)) - {"other"}
            os.utime(tmp_path / left, (old, old))  # a lock counts for more than any age
            write(tmp_path / "other")
            assert left in names_in(tmp_path)
        finally:
            killed(process)

    def test_of_another_system_must_be_old(self, tmp_path, left_behind):
        """Its lock may not be seen here."""
        foreign = left_behind.with_name(left_behind.name.replace(atomic._host(), "0" * 8))
        left_behind.rename(foreign)
        write(tmp_path / "v")
        assert names_in(tmp_path) == [foreign.name, "v"]
        os.utime(foreign, (time.time() - 2 * atomic._OLD,) * 2)
        write(tmp_path / "v")
        assert names_in(tmp_path) == ["v"]

    def test_must_be_old_where_there_are_no_locks(self, tmp_path, left_behind, monkeypatch):
        def refuse(*_):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(atomic.fcntl, "flock", refuse)
        write(tmp_path / "v")
        assert names_in(tmp_path) == [left_behind.name, "v"]
        os.utime(left_behind, (time.time() - 2 * atomic._OLD,) * 2)
        write(tmp_path / "v")
        assert names_in(tmp_path) == ["v"]

    @pytest.mark.parametrize("kind", ["folder", "link", "pipe", "another name"])
    def test_is_told_from_what_only_looks_like_it(self, tmp_path, left_behind, kind):
        (tmp_path / "precious").write_text("precious")
        left_behind.unlink()
        if kind == "folder":
            left_behind.mkdir()
        elif kind == "link":
            left_behind.symlink_to(tmp_path / "precious")
        elif kind == "pipe":
            os.mkfifo(left_behind)
        else:
            left_behind = left_behind.with_name(left_behind.name + ".bak")
            left_behind.touch()
        write(tmp_path / "v")
        assert names_in(tmp_path) == sorted([left_behind.name, "precious", "v"])

    def test_of_another_user_stays(self, tmp_path, left_behind, monkeypatch):
        monkeypatch.setattr(os, "geteuid", lambda: left_behind.stat().st_uid + 1)
        write(tmp_path / "v")
        assert left_behind.exists()

    def test_swept_before_it_was_locked_costs_nothing(self, tmp_path, monkeypatch):
        """A sweep that comes between the creation of a temporary file and its lock removes it; there is another."""
        swept, lock = [], atomic._locked

        def sweep_first(file):
            if not swept:
                swept.append(file.name)
                os.unlink(file.name)
            return lock(file)

        monkeypatch.setattr(atomic, "_locked", sweep_first)
        write(tmp_path / "v")
        assert swept
        assert (tmp_path / "v").read_text() == "whole"
        assert names_in(tmp_path) == ["v"]


def test_several_writers_never_sweep_each_other(tmp_path):
    program = (
        "import sys; from hopscale.atomic import replacing\nprint('ready', flush=True); sys.stdin.readline()\n"
        "for turn in range(150):\n"
        "    with replacing(sys.argv[1]) as temporary:\n"
        "        temporary.write_text(sys.argv[2] * 50_000)"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, tmp_path / "v", letter], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for letter in "abcd"
    ]
    for writer in writers:
        assert writer.stdout.readline()
    for writer in writers:
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "v").exists():
            content = (tmp_path / "v").read_text()
            assert len(content) == 50_000
            assert len(set(content)) == 1
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    assert names_in(tmp_path) == ["v"]


def test_model_that_is_replaced_while_it_is_read(tmp_path, monkeypatch):
    """Its digest is computed from another opening of the file, which may be another file."""
    models = [MUSAE(dimensions).fit(figure1()) for dimensions in (8, 4)]
    models[0].save(tmp_path / "m")
    check = files.has_digest

    def replaced(path, digest):
        if models[1:]:
            models.pop().save(tmp_path / "m")
        return check(path, digest)

    monkeypatch.setattr(files, "has_digest", replaced)
    assert load_model(tmp_path / "m").dimensions == 4


def test_several_processes_append_records(tmp_path):
    program = (
        "import sys; from pathlib import Path; from hopscale.paper.store import Store\n"
        "print('ready', flush=True); store = Store(Path(sys.argv[1]))\n"
        "for turn in range(40):\n"
        "    store.append({'cell': {'name': f'{sys.argv[2]}{turn}', 'long': 'x' * 100_000}, 'repeats': 1})"
    )
    path = tmp_path / "records.jsonl"
    writers = [started(program, path, letter) for letter in "abc"]
    for writer in writers:
        writer.communicate()
    names = {record["cell"]["name"] for record in Store(path).records()}
    assert names == {f"{letter}{turn}" for letter in "abc" for turn in range(40)}


class TestRefusals:
    @pytest.mark.parametrize("to", [check_writable, lambda path: write_vectors(path, [1], [[0.5]], format="csv")])
    def test_loop_of_links(self, tmp_path, to):
        (tmp_path / "a").symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(tmp_path / "a")
        for path in (tmp_path / "a", tmp_path / "a" / "v.csv"):
            with pytest.raises(HopscaleError, match=r"cannot write '.*a.*': Too many levels of symbolic links"):
                to(path)
        assert names_in(tmp_path) == ["a", "b"]

    def test_names_that_cannot_be(self, tmp_path):
        for name, reason in (("n" * 300, "File name too long"), ("a\0b", "embedded null byte")):
            with pytest.raises(OutputError, match=reason):
                check_writable(tmp_path / name)

    def test_full_disk_names_the_file_that_was_asked_for(self, tmp_path):
        with (
            pytest.raises(OutputError, match=r"cannot write '.*v\.csv': No space left on device") as caught,
            replacing(tmp_path / "v.csv"),
        ):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "another")
        assert caught.value.errno == errno.ENOSPC
        assert names_in(tmp_path) == []

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
    def test_device_that_is_full(self):
        with pytest.raises(OutputError, match="cannot write '/dev/full': No space left on device"):
            write("/dev/full")


class TestLinksThatAreNotFollowed:
    def write(self, path):
        with replacing(path, follow_links=False) as temporary:
            temporary.write_text("new")

    def test_are_replaced(self, tmp_path):
        (tmp_path / "precious").write_text("precious")
        for target in ("precious", "nothing", "link"):  # the last is a loop
            (tmp_path / "link").symlink_to(tmp_path / target)
            self.write(tmp_path / "link")
            assert not (tmp_path / "link").is_symlink()
            assert (tmp_path / "link").read_text() == "new"
            (tmp_path / "link").unlink()
        assert (tmp_path / "precious").read_text() == "precious"
        assert names_in(tmp_path) == ["precious"]

    def test_permissions_are_those_of_a_new_file(self, tmp_path):
        (tmp_path / "secret").touch(mode=0o600)
        (tmp_path / "link").symlink_to(tmp_path / "secret")
        self.write(tmp_path / "link")
        (tmp_path / "plain").touch()
        assert (tmp_path / "link").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_only_regular_files(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OutputError, match="it is no regular file"):
            self.write(tmp_path / "pipe")


class TestTermination:
    def test_cleans_up_as_ctrl_c_does(self, tmp_path):
        """The command writes to a pipe that nobody reads: the signal comes while its temporary file is there."""
        np = pytest.importorskip("numpy")
        np.savez(tmp_path / "graph.npz", edges=np.stack([np.arange(999), np.arange(1, 1000)], axis=1), n_nodes=1000)
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "tmp").mkdir()
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        command = ["embed", "--graph", "graph.npz", "--model", "deepwalk", "-o", "pipe", "--format", "csv", "-q"]
        for sent, code, word in (
            (signal.SIGTERM, 143, "hopscale: interrupted\n"),
            (signal.SIGINT, 130, "hopscale: interrupted\n"),
        ):
            with subprocess.Popen(
                [sys.executable, "-m", "hopscale", *command],
                cwd=tmp_path,
                env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            ) as process:
                while not self.writing(tmp_path) and process.poll() is None:
                    time.sleep(0.01)
                assert len(names_in(tmp_path / "tmp")) == 1
                process.send_signal(sent)
                _, errors = process.communicate()
            assert (process.returncode, re.sub(r"^\n", "", errors)) == (code, word)
            assert names_in(tmp_path / "tmp") == []
        os.close(reader)

    @staticmethod
    def writing(folder):
        return any(path.stat().st_size for path in (folder / "tmp").iterdir())

    def test_handlers_of_a_program_around_it_are_its_own(self):
        program = (
            "import signal, sys\n"
            "signal.signal(signal.SIGTERM, mine := lambda *_: print('mine', flush=True))\n"
            "import hopscale; hopscale.MUSAE(8).fit(hopscale.datasets.figure1())\n"
            "assert signal.getsignal(signal.SIGTERM) is mine\n"
            "from hopscale.cli import main\n"
            "try: main(args=['methods'])\n"
            "except SystemExit as end: assert end.code == 0\n"
            "assert signal.getsignal(signal.SIGTERM) is mine\n"
            "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
            "try: main(args=['methods'])\n"
            "except SystemExit as end: assert end.code == 0\n"
            "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr


class TestOnlyWriter:
    HOLD = (
        "import sys, time; from pathlib import Path; from hopscale.atomic import only_writer\n"
        "with only_writer(Path(sys.argv[1])):\n    print('working', flush=True); time.sleep(60)"
    )

    def test_another_process_is_refused_and_told_who_works(self, tmp_path):
        process = started(self.HOLD, tmp_path / "work")
        try:
            told = f"another run is working in .*work' \\(process {process.pid} on "
            with pytest.raises(OutputError, match=told), only_writer(tmp_path / "work"):
                pass
            with only_writer(tmp_path / "other"):
                pass
        finally:
            killed(process)

    def test_what_a_killed_process_left_is_no_obstacle(self, tmp_path):
        killed(started(self.HOLD, tmp_path / "work"))
        assert names_in(tmp_path) == ["work.lock"]
        with only_writer(tmp_path / "work"):
            assert (tmp_path / "work.lock").read_text().startswith(f"process {os.getpid()} on ")
        assert names_in(tmp_path) == []

    def test_one_after_the_other(self, tmp_path):
        for _ in range(3):
            with only_writer(tmp_path / "new" / "work"), pytest.raises(OutputError, match="another run"):
                only_writer(tmp_path / "new" / "work").__enter__()
        assert names_in(tmp_path / "new") == []

    def test_the_lock_goes_with_an_error(self, tmp_path):
        with pytest.raises(ValueError, match="wrong"), only_writer(tmp_path / "work"):
            raise ValueError("wrong")
        assert names_in(tmp_path) == []
