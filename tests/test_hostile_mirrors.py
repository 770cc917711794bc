"""Mirrors and caches that do what they should not: an error for people, nothing in the cache, nothing overwritten."""

import gzip
import io
import os
import subprocess
import sys
import threading
import zipfile
from contextlib import suppress
from functools import partial
from itertools import repeat

import pytest
from publisher import CLUB, archive
from test_datasets_published import files_in, is_cited, is_club

from hopscale.datasets import download, load, registry
from hopscale.exceptions import DownloadError, FileFormatError

LIMIT = 2000  # bytes of club.zip, as the registry of the tests has it


@pytest.fixture
def server(server, monkeypatch):
    """A mirror that is given up after two seconds."""
    monkeypatch.setattr(download, "_PATIENCE", 1)
    monkeypatch.setattr(download, "_SLOWEST", LIMIT)
    return server


def answer(*lines, body=(), code=200):
    """A mirror's answer: headers as they are given, then pieces of a body, which may never end."""

    def send(handler):
        handler.wfile.write("".join(f"{line}\r\n" for line in (f"HTTP/1.1 {code} X", *lines, "")).encode())
        for piece in body:
            handler.wfile.write(piece)

    return send


def chunked(pieces):
    return (b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


def patiently(pieces, given_up):
    """Pieces with a pause before each, until nobody is interested."""
    for piece in pieces:
        if given_up.wait(0.2):
            return
        yield piece


def refused(cache, name="club"):
    with pytest.raises(DownloadError) as caught:
        load(name)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{name}: http://127.0.0.1:")
    assert "by hand, into the folder that the variable HOPSCALE_DATA names" in message
    assert files_in(cache) == []
    return message


ZEROS = bytes(1000)
BOMB = gzip.compress(bytes(50_000_000))  # 48 kB
TYPE = "Content-Type: application/zip"


class TestMirrors:
    @pytest.mark.parametrize(
        "fault",
        [
            answer(TYPE, body=repeat(ZEROS)),
            answer("Content-Length: 6000000000", body=repeat(ZEROS)),
            answer("Transfer-Encoding: chunked", body=chunked(repeat(ZEROS))),
            answer("Content-Encoding: gzip", body=[BOMB]),
            answer("Content-Encoding: gzip", body=repeat(gzip.compress(ZEROS))),
        ],
        ids=["endless", "6 GB", "endless chunks", "gzip bomb", "endless gzip"],
    )
    @pytest.mark.parametrize("name", ["club", "cited"])
    def test_that_send_too_much_do_not_fill_the_disk(self, server, cache, monkeypatch, fault, name):
        written, replace = [], os.unlink

        def watched(path, **settings):
            written.append(os.stat(path).st_size)
            replace(path, **settings)

        monkeypatch.setattr(os, "unlink", watched)  # of the temporary file, by when all has been written
        server.fault = fault
        limit = registry.published()[name].size(registry.published()[name].units[0])
        assert f"it has more than the {limit:,} bytes that were published" in refused(cache, name)
        assert len(written) == 1
        assert written[0] <= limit

    @pytest.mark.parametrize("part", ["body", "header", "nothing"])
    def test_that_are_slow_are_given_up(self, server, cache, part):
        given_up = threading.Event()
        drip = patiently(repeat(b"x"), given_up)
        server.fault = {
            "body": answer("Content-Length: 2000", body=drip),
            "header": lambda handler: [handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: "), *map(handler.wfile.write, drip)],
            "nothing": lambda handler: given_up.wait(60),
        }[part]
        try:
            message = refused(cache)
        finally:
            given_up.set()
        assert ("gave no answer within 1 seconds" if part == "nothing" else "did not come within 2 seconds") in message

    @pytest.mark.parametrize(
        ("place", "reason"),
        [
            ("file://{mirror}/true.zip", "leads to an address that is not of the web"),
            ("ftp://127.0.0.1/club.zip", "leads to an address that is not of the web"),
            ("/club.zip", "it leads to more than 10 other addresses"),
            ("http://[", "could not be downloaded"),
            ("http://127.0.0.1:99999/", "could not be downloaded"),
            ("//" + "a" * 300 + "/", "club.zip"),
        ],
    )
    def test_that_lead_elsewhere(self, server, mirror, cache, place, reason):
        (mirror / "club.zip").rename(mirror / "true.zip")  # what a file:// address leads to is the published archive
        (mirror / "club.zip").touch()
        location = place.format(mirror=mirror).encode()

        def redirect(handler):
            handler.wfile.write(b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: " + location + b"\r\n\r\n")

        server.fault = redirect
        assert reason in refused(cache)

    def test_that_lead_elsewhere_in_endless_words(self, server, mirror, cache):
        """What comes with a redirection is not read."""
        content, sent = (mirror / "club.zip").read_bytes(), []

        def words():
            for piece in repeat(bytes(1 << 20)):
                sent.append(len(piece))
                yield piece

        def redirect(handler):
            if handler.path == "/club.zip":
                answer("Location: /planetoid/ind.cited.tx", body=words(), code=302)(handler)
            else:
                answer(f"Content-Length: {len(content)}", body=[content])(handler)

        server.fault = redirect
        is_club(load("club"))
        assert sum(sent) < 100 << 20  # what the system takes in advance

    @pytest.mark.parametrize(
        "fault",
        [
            answer("Content-Length: many", body=[b"x"]),
            answer("Content-Length: -1", body=[b"x"]),
            answer("Transfer-Encoding: chunked", body=[b"fffffffffffffffff\r\nx"]),
            answer("Transfer-Encoding: chunked", body=[b"-1\r\nx"]),
            answer("Content-Encoding: gzip", body=[b"not gzip"]),
            answer("Content-Encoding: deflate", body=[b"\xff" * 50]),
            answer(*(f"X-{i}: x" for i in range(200))),
            answer("X: " + "x" * 70_000),
            answer("no header at all", body=[b"x"]),
            answer(code=204),
            answer(code=206, body=[b"PK"]),
            answer(code=500),
            answer(code="abc"),
            lambda handler: handler.wfile.write(b"\0" * 100),
            lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n"),
            lambda handler: None,
        ],
    )
    def test_that_do_not_speak_http(self, server, cache, fault):
        server.fault = fault
        refused(cache)

    def test_that_have_a_log_in_page(self, server, cache):
        server.fault = answer("Content-Type: text/html", body=[b"<html>Log in, please</html>"])
        assert "is not a whole zip archive" in refused(cache)
        assert "ind.cited.allx is not the file that was published" in refused(cache, "cited")

    @pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + b"\0", lambda c: c[:-1] + b"?", lambda c: b""])
    def test_that_are_off_by_a_byte(self, server, mirror, cache, change):
        path = mirror / "planetoid" / "ind.cited.allx"
        path.write_bytes(change(path.read_bytes()))
        message = refused(cache, "cited")
        assert "is not the file that was published" in message or "it has more than the" in message


class TestArchives:
    """Archives in disguise: no member is unpacked further than the published file reaches."""

    def packed(self, method=zipfile.ZIP_DEFLATED, **changes):
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", method) as container:
            for name, text in {**CLUB, **changes}.items():
                container.writestr(name, text)
        return content.getvalue()

    def test_bomb(self, server, mirror, cache, monkeypatch):
        read, read_sizes = zipfile.ZipExtFile.read, []

        def watched(self, n=-1):
            read_sizes.append(n)
            return read(self, n)

        monkeypatch.setattr(zipfile.ZipExtFile, "read", watched)
        bomb = self.packed(zipfile.ZIP_BZIP2, **{"club_edges.csv": "0" * 30_000_000})
        assert len(bomb) < LIMIT
        (mirror / "club.zip").write_bytes(bomb)
        assert "club_edges.csv in it is not the file that was published" in refused(cache)
        assert all(0 <= n <= 200 for n in read_sizes)

    @pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_packed_another_way(self, server, mirror, cache, method):
        (mirror / "club.zip").write_bytes(self.packed(method))
        is_club(load("club"))

    @pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_damaged_anywhere(self, server, mirror, tmp_path, method):
        """Every byte of every kind of packing: an error, or the published files."""
        whole = self.packed(method)
        for at in range(len(whole)):
            (mirror / "club.zip").write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            with suppress(FileFormatError):
                is_club(load("club", data=mirror))

    def test_names_that_climb(self, server, mirror, cache, tmp_path):
        (mirror / "club.zip").write_bytes(archive(CLUB, "../../outside"))
        is_club(load("club"))  # the published files, and nothing is written but the archive
        assert files_in(tmp_path) == sorted([*files_in_mirror(mirror), "cache/club.zip"])


def files_in_mirror(mirror):
    return [f"mirror/{name}" for name in files_in(mirror)]


class TestCaches:
    """What lies in the place of a file in the cache is mended if it can be, and never leads us elsewhere."""

    @pytest.fixture
    def place(self, server, cache):
        cache.mkdir()
        return cache / "club.zip"

    def test_link_to_a_file_that_is_not_ours(self, place, tmp_path):
        (tmp_path / "precious").write_text("precious")
        place.symlink_to(tmp_path / "precious")
        is_club(load("club"))
        assert (tmp_path / "precious").read_text() == "precious"
        assert not place.is_symlink()
        is_club(load("club", download=False))

    def test_link_to_the_published_file_is_used(self, server, place, mirror):
        place.symlink_to(mirror / "club.zip")
        is_club(load("club"))
        assert place.is_symlink()
        assert server.asked == []

    @pytest.mark.parametrize("target", ["nothing", "cache/club.zip", "mirror", "/dev/zero", "/dev/full"])
    def test_other_links_are_replaced(self, place, tmp_path, target):
        place.symlink_to(tmp_path / target)
        is_club(load("club"))
        assert not place.is_symlink()
        assert not (tmp_path / "nothing").exists()

    def test_pipe(self, place):
        os.mkfifo(place)
        with pytest.raises(DownloadError, match=r"club cannot be kept in .* it is no regular file"):
            load("club")
        with pytest.raises(DownloadError, match="is not on this machine"):
            load("club", download=False)

    def test_folder(self, place):
        place.mkdir()
        with pytest.raises(DownloadError, match=r"club cannot be kept in .* it is a folder"):
            load("club")

    @pytest.mark.parametrize("name", ["club", "cited"])
    def test_file_without_end(self, place, cache, name):
        unit = cache / registry.published()[name].units[0]
        unit.parent.mkdir(exist_ok=True)
        with unit.open("wb") as file:
            file.truncate(1 << 40)
        (is_club if name == "club" else is_cited)(load(name))
        assert unit.stat().st_size < LIMIT

    def test_what_a_killed_download_left_goes_with_the_next(self, server, place, cache):
        killer = (
            "import os, sys; from pathlib import Path\nfrom hopscale.atomic import replacing\n"
            "with replacing(sys.argv[1]) as temporary: os.kill(os.getpid(), 9)"
        )
        subprocess.run([sys.executable, "-c", killer, str(place)], check=False)
        assert len(list(cache.iterdir())) == 1
        load("club")
        assert files_in(cache) == ["club.zip"]

    @pytest.mark.parametrize("make", [lambda path: path.touch(), lambda path: path.symlink_to(path), os.mkfifo])
    def test_folder_that_is_none(self, server, tmp_path, monkeypatch, make):
        make(tmp_path / "place")
        monkeypatch.setenv("HOPSCALE_CACHE", str(tmp_path / "place"))
        for name in ("club", "cited"):
            with pytest.raises(DownloadError, match=r"cannot be kept in .*name another folder in HOPSCALE_CACHE"):
                load(name)

    def test_several_fetch_at_once(self, server, mirror, cache):
        """Slowly, so that all of them are at it at once: each gets the whole, and one file is left."""
        content = (mirror / "club.zip").read_bytes()
        together = threading.Barrier(4)

        def send(handler):
            together.wait(timeout=60)
            answer(f"Content-Length: {len(content)}", body=[content])(handler)

        server.fault = send
        graphs, fetch = [], partial(load, "club", cache=cache)
        threads = [threading.Thread(target=lambda: graphs.append(fetch())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for graph in graphs:
            is_club(graph)
        assert len(graphs) == 4
        assert files_in(cache) == ["club.zip"]
