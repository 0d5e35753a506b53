"""Published weights are fetched from a server on this machine that misbehaves in every way."""

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core import progress
from netwright.engine.core.errors import EXIT_DONE, UnavailableError, UserError
from netwright.engine.core.locks import take_lock
from netwright.engine.data.sources import fetch_weights
from netwright.engine.data.sources.fetch_weights import fetch
from netwright.engine.project.published_weights import FILE, Published, published

CONTENT = bytes(range(256)) * 4000
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `CONTENT` at /w.pth; breaks off after so many bytes, once for each number in `breaks`."""

    breaks: list[int]
    ranges: list[str]
    knows_ranges = True
    content = CONTENT
    redirects: str = ""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.ranges.append(wanted)
        if self.server.redirects and self.path != "/moved/w.pth":
            self.send_response(302)
            self.send_header("Location", self.server.redirects)
            self.end_headers()
            return
        if "gone" in self.path:
            self.send_error(404)
            return
        content, start = self.server.content, 0
        if wanted and self.server.knows_ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = start + self.server.breaks.pop(0) if self.server.breaks else len(content)
        self.wfile.write(content[start:end])

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as started:
        started.breaks, started.ranges = [], []
        thread = threading.Thread(target=started.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield started
        started.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")


def entry(server: Server, place: str = "w.pth", sha256: str = CHECKSUM, bytes: int = 0) -> Published:
    return Published("small", "mlp", f"http://127.0.0.1:{server.server_port}/{place}", sha256, bytes=bytes)


def test_a_file_is_fetched_once_with_progress(server: Server, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    with progress.listening(lambda *said: told.append(said)):
        path = fetch(entry(server, sha256=CHECKSUM[:8]))
    assert path == tmp_path / "cache" / "netwright" / "weights" / "w.pth"
    assert path.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT), "bytes")
    assert fetch(entry(server)) == path
    assert server.ranges == [""]
    assert [file.name for file in path.parent.iterdir()] == ["w.pth"]


def test_what_was_interrupted_goes_on(server: Server) -> None:
    server.breaks = [1000, 500_000]
    assert fetch(entry(server)).read_bytes() == CONTENT
    assert server.ranges == ["", "bytes=1000-", "bytes=501000-"]


def test_what_broke_off_for_good_goes_on_with_the_next_call(server: Server) -> None:
    server.breaks = [1000, 1000, 1000]
    with pytest.raises(UnavailableError, match=r"could not be fetched: .*Run it again: what has come is kept"):
        fetch(entry(server))
    part = entry(server).path.with_name("w.pth.part")
    assert part.read_bytes() == CONTENT[:3000]
    assert fetch(entry(server)).read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=3000-"


def test_a_server_without_ranges_sends_all_again(server: Server) -> None:
    server.breaks, server.knows_ranges = [1000], False
    assert fetch(entry(server)).read_bytes() == CONTENT


def test_nothing_is_kept_of_what_cannot_go_on(server: Server) -> None:
    server.breaks, server.knows_ranges = [1000, 1000, 1000], False
    with pytest.raises(UnavailableError, match="only as a whole, so nothing was kept"):
        fetch(entry(server))
    part = entry(server).path.with_name("w.pth.part")
    assert not part.exists()
    part.write_bytes(b"of before")
    with pytest.raises(UnavailableError, match="is not there"):
        fetch(replace(entry(server), url=entry(server).url.replace("w.pth", "gone/w.pth")))
    assert list(part.parent.iterdir()) == []


def test_two_fetches_of_one_file_do_not_write_into_each_other(server: Server) -> None:
    path = entry(server).path
    path.parent.mkdir(parents=True)
    descriptor = take_lock(path.with_name("w.pth.lock"))
    try:
        with pytest.raises(UserError, match=r"w.pth is being fetched by another process.*Wait until that is done"):
            fetch(entry(server))
    finally:
        os.close(descriptor)
    assert server.ranges == []
    assert fetch(entry(server)) == path
    assert [file.name for file in path.parent.iterdir()] == ["w.pth"]


def test_a_part_of_a_longer_file_of_before_is_thrown_away(server: Server) -> None:
    part = entry(server).path.with_name("w.pth.part")
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(len(CONTENT) + 5))
    assert fetch(entry(server)).read_bytes() == CONTENT


def test_a_wrong_hash_is_refused_and_nothing_is_kept(server: Server) -> None:
    with pytest.raises(UserError, match="has another SHA-256 than 0000") as refused:
        fetch(entry(server, sha256="0" * 64))
    assert refused.value.code == "changed"
    assert list(entry(server).path.parent.iterdir()) == []


def test_redirects_are_followed_to_addresses_that_may_be_fetched(server: Server) -> None:
    server.redirects = f"http://127.0.0.1:{server.server_port}/moved/w.pth"
    assert fetch(entry(server)).read_bytes() == CONTENT
    entry(server).path.unlink()
    for bad in ("http://example.com/w.pth", "file:///etc/passwd", "ftp://127.0.0.1/w.pth"):
        server.redirects = bad
        with pytest.raises(UserError, match=r"must begin with https|which is not followed"):
            fetch(entry(server))
        assert not entry(server).path.exists()


@pytest.mark.parametrize("url", ["http://example.com/w.pth", "ftp://127.0.0.1/w.pth", "file:///etc/passwd", "w.pth"])
def test_only_https_is_fetched(server: Server, url: str) -> None:
    with pytest.raises(UserError, match="must begin with https://"):
        fetch(replace(entry(server), url=url))


def test_a_file_that_is_too_large_is_refused(server: Server) -> None:
    with pytest.raises(UserError, match="has 1,000 KiB; expected at most 1,000 B"):
        fetch(entry(server), most_bytes=1000)
    with pytest.raises(UserError, match="expected at most"):
        fetch(entry(server, bytes=999))


def test_a_server_that_is_not_there_or_has_no_file_is_said(server: Server) -> None:
    with pytest.raises(UnavailableError, match="is not there: the server says 404"):
        fetch(entry(server, "gone.pth"))
    server.shutdown()
    server.server_close()
    with pytest.raises(UnavailableError, match=r"could not be fetched: .*refused"):
        fetch(entry(server))


def test_a_full_disk_is_said(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(
            "netwright.engine.data.sources.fetch_weights.shutil.disk_usage",
            lambda path: type("Usage", (), {"free": 10})(),
        )
        with pytest.raises(UserError, match="only 10 B are free") as refused:
            fetch(entry(server))
    assert refused.value.code == "no_space"

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(fetch_weights, "_copy", full)
        with pytest.raises(UserError, match=r"No space left on device\. Make room"):
            fetch(entry(server))
    assert fetch(entry(server)).read_bytes() == CONTENT


def test_the_user_extends_the_address_book(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "config" / "netwright"
    folder.mkdir(parents=True)
    mine = {"name": "mine", "template": "mlp", "url": entry(server).url, "sha256": CHECKSUM}
    (folder / FILE).write_text(json.dumps({"weights": [mine, {**mine, "name": "resnet18"}]}))
    assert published()["mine"].sha256 == CHECKSUM
    assert published()["resnet18"].url == entry(server).url
    assert main(["weights", "fetch", "mine", "--json"]) == EXIT_DONE
    assert json.loads(capsys.readouterr().out)["bytes"] == len(CONTENT)
    assert main(["weights", "list", "--json"]) == EXIT_DONE
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["weights"]}
    assert rows["mine"]["is_here"]
    assert not rows["vgg16"]["is_here"]


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        '{"weights": 3}',
        '{"weights": [3]}',
        '{"weights": [{"name": "../x"}]}',
        '{"weights": [{"name": "x", "url": "https://a/b?c", "sha256": "abc"}]}',
        '{"weights": [{"name": "x", "url": "https://a/..", "sha256": "00000000"}]}',
        '{"weights": [{"name": "x", "url": "https://a/b", "sha256": "00000000", "bytes": -1}]}',
        '{"weights": [{"name": "x", "url": "https://a/b", "sha256": "00000000", "mean": ["a"]}]}',
    ],
)
def test_a_bad_address_book_is_refused_in_words(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "config" / "netwright"
    folder.mkdir(parents=True)
    (folder / FILE).write_text(content)
    with pytest.raises(UserError, match=FILE):
        published()


def test_every_entry_of_ours_belongs_to_a_template() -> None:
    from netwright.engine.operations.new import shipped

    templates = {row["name"] for row in shipped()}
    for one in published().values():
        assert one.template in templates
        assert one.file.endswith(f"-{one.sha256}.pth"), "the file name carries the first digits"
        assert one.url.startswith("https://")
