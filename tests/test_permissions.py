"""What an ordinary user may not do is an error for people, found out before long work; root is no ordinary user."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from publisher import publish, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no permissions")

NOBODY = 65534

# Everything is imported first, and the files of a publisher are read once: who gives up root's rights may not be able
# to read Python's own files any more.
PROGRAM = f"""
import os, sys
import numpy, pooch, requests, sklearn, hopscale, pathlib
import hopscale.cli.commands, hopscale.paper, hopscale.io.vectors, publisher
from hopscale import MUSAE, DeepWalk, datasets, load_model
from hopscale.cli import main
from hopscale.exceptions import HopscaleError
folder = pathlib.Path(sys.argv[1])
model = MUSAE(8).fit(datasets.figure1())
entries = publisher.publish(folder / "published")
datasets.registry.published = lambda: entries
datasets.load("club", data=folder / "published")
"example.org".encode("idna")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
def command(*words):
    try: main(args=[str(word) for word in words], prog_name="hopscale")
    except SystemExit as end: print("exit", end.code)
def refusal(run):
    try: run()
    except HopscaleError as error: print("refused:", error)
    else: print("accepted")
"""


@pytest.fixture
def place():
    """A folder that every user can reach, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="hopscale-permissions-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


def made(folder, mode):
    """A folder of the ordinary user's."""
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    folder.chmod(mode)
    return folder


def as_user(program, folder, **variables):
    """What a program prints that runs without root's rights."""
    tests = os.fspath(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": tests, "HOME": str(folder), **variables},
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_folders_that_may_not_be_written_to(place):
    closed = [made(place / f"closed-{mode:o}", mode) for mode in (0o555, 0o444, 0o000)]
    np.savez(place / "graph.npz", edges=[[0, 1], [1, 2]], n_nodes=3)
    found = as_user(
        "DeepWalk.fit = lambda *_: sys.exit('the long work was done in vain')\n"
        "for closed in folder.glob('closed-*'):\n"
        "    target = closed / 'v.csv'\n"
        "    refusal(lambda: model.export(target))\n"
        "    refusal(lambda: model.save(target))\n"
        "    command('embed', '--graph', folder / 'graph.npz', '--model', 'deepwalk', '-o', target)\n",
        place,
    )
    assert found.count("refused: cannot write") == 6
    assert found.count("Permission denied") == 9
    assert found.count("exit 1") == 3
    assert "vain" not in found
    for folder in closed:
        folder.chmod(0o755)
        assert names_in(folder) == []


def test_file_that_may_not_be_written_to(place):
    opened = made(place / "opened", 0o755)
    (opened / "v.csv").write_text("old")
    (opened / "v.csv").chmod(0o444)
    found = as_user("refusal(lambda: model.export(folder / 'opened' / 'v.csv'))", place)
    assert "v.csv': the file is there and is read-only" in found
    assert (opened / "v.csv").read_text() == "old"
    assert names_in(opened) == ["v.csv"]


def test_file_of_another_user_in_a_folder_of_ones_own_is_not_swept(place):
    """In a folder like /tmp: only the owner's leftovers go."""
    opened = made(place / "opened", 0o777)
    left = opened / ".hopscale-00000000-0123456789abcdef.tmp"
    left.touch()
    os.utime(left, (0, 0))
    found = as_user("refusal(lambda: model.export(folder / 'opened' / 'v.csv'))", place)
    assert "accepted" in found
    assert names_in(opened) == ([left.name, "v.csv"] if os.geteuid() == 0 else ["v.csv"])


def test_files_that_may_not_be_read(place):
    secrets = {name: place / name for name in ("graph.npz", "edges.csv", "model.safetensors")}
    for path in secrets.values():
        path.write_bytes(b"secret")
        path.chmod(0o000)
    found = as_user(
        "command('info', '--graph', folder / 'graph.npz')\n"
        "command('embed', '--edges', folder / 'edges.csv', '-o', 'v.csv')\n"
        "command('neighbors', folder / 'model.safetensors', 1)\n",
        place,
    )
    assert found.count("exit ") == 3
    assert "exit 0" not in found
    assert "secret" not in found.replace("secrets", "")


@pytest.fixture
def mirror(place):
    publish(place / "mirror")
    with serving(place / "mirror") as server:
        yield server


class TestCache:
    def fetched(self, place, mirror, cache):
        variables = {"HOPSCALE_CACHE": str(cache), "HOPSCALE_MIRROR": mirror.address, "HOPSCALE_DATA": ""}
        return as_user("refusal(lambda: print(datasets.load('club')))", place, **variables)

    def test_that_may_not_be_written_to(self, place, mirror):
        cache = made(place / "cache", 0o555)
        found = self.fetched(place, mirror, cache)
        assert "refused: club cannot be kept in" in found
        assert "Permission denied" in found
        assert "name another folder in HOPSCALE_CACHE" in found
        assert names_in(cache) == []

    def test_that_may_not_be_made(self, place, mirror):
        closed = made(place / "closed", 0o000)
        assert "refused: club cannot be kept in" in self.fetched(place, mirror, closed / "cache")

    def test_that_is_read_only_but_full_is_used(self, place, mirror):
        cache = made(place / "cache", 0o755)
        shutil.copy(place / "mirror" / "club.zip", cache / "club.zip")
        cache.chmod(0o555)
        assert "AttributedGraph(nodes=4, edges=3" in self.fetched(place, mirror, cache)
        assert mirror.asked == []

    def test_file_that_may_not_be_read_is_replaced(self, place, mirror):
        cache = made(place / "cache", 0o755)
        (cache / "club.zip").write_bytes(b"of another user")
        (cache / "club.zip").chmod(0o000)
        assert "AttributedGraph(nodes=4, edges=3" in self.fetched(place, mirror, cache)


def test_records_that_may_not_be_written(place):
    np.savez(place / "cora.npz", edges=[[0, 1], [1, 2]], n_nodes=3, target=[0, 1, 0])
    made(place / "closed", 0o555)
    found = as_user(
        "command('reproduce', 'classification', '--models', 'DeepWalk', '--datasets', 'cora', '--data', folder,\n"
        "        '--cache', folder / 'closed' / 'fits', '--output', folder / 'closed' / 'paper')\n",
        place,
    )
    assert "exit 1" in found
    assert "Permission denied" in found
