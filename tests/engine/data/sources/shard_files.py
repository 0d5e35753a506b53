"""Shards as WebDataset and pyarrow write them, and a web server for them."""

import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from netwright.engine.project.data_hosts import MOST_FILES, granting
from netwright.engine.project.sources.urls import host_of


def jpeg(level: int, size: int = 8) -> bytes:
    """A grey picture of one level, in three channels."""
    file = io.BytesIO()
    Image.fromarray(np.full((size, size, 3), level, np.uint8)).save(file, "JPEG", quality=95)
    return file.getvalue()


def npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def write_tar(path: Path, members: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(path, "w", format=form) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def pictures(first: int, count: int) -> dict[str, bytes]:
    """Members of samples whose level of grey is their number and whose class is its remainder."""
    members = {}
    for number in range(first, first + count):
        members[f"some/{number:06d}.jpg"] = jpeg(number)
        members[f"some/{number:06d}.cls"] = str(number % 3).encode()
        members[f"some/{number:06d}.json"] = json.dumps({"size": number / 4, "name": "xy"[number % 2]}).encode()
    return members


def write_shards(folder: Path, shards: int = 4, count: int = 6) -> str:
    """Write several shards; return their pattern."""
    for number in range(shards):
        write_tar(folder / f"train-{number:04d}.tar", pictures(number * count, count))
    return f"train-{{0000..{shards - 1:04d}}}.tar"


class Server(ThreadingHTTPServer):
    """A server of a folder that counts what it is asked for."""

    def __init__(self, folder: Path, *, has_ranges: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.has_ranges = folder, has_ranges
        self.requests: list[tuple[str, str, str]] = []
        self.cut_at: list[int] = []
        """Numbers of bytes after which the next answers break off."""
        self.code = 0
        """A code to refuse everything with."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked(self, method: str) -> list[str]:
        return [path for kind, path, _ in self.requests if kind == method]


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self) -> None:
        self._answer(is_body=False)

    def do_GET(self) -> None:
        self._answer(is_body=True)

    def _answer(self, *, is_body: bool) -> None:
        wanted = self.headers.get("Range", "")
        path = self.path.partition("?")[0]
        self.server.requests.append((self.command, path, wanted))
        file = self.server.folder / path.lstrip("/")
        if self.server.code or not file.is_file():
            self.send_error(self.server.code or 404)
            return
        data = file.read_bytes()
        tag = f'"{len(data)}-{file.stat().st_mtime_ns}"'
        if wanted and self.server.has_ranges:
            first, last = (int(number) for number in wanted.removeprefix("bytes=").split("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            data = data[first : last + 1]
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", tag)
        self.end_headers()
        if is_body:
            self.wfile.write(data[: self.server.cut_at.pop(0)] if self.server.cut_at else data)

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def serving(folder: Path, *, has_ranges: bool = True, is_allowed: bool = True) -> Iterator[Server]:
    """A server of a folder, whose host may be contacted unless `is_allowed` is false."""
    server = Server(folder, has_ranges=has_ranges)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        with granting({host_of(server.url): MOST_FILES} if is_allowed else {}):
            yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def parquet_pictures(path: Path, count: int) -> None:
    """Write rows whose level of grey is their number, as Hugging Face's datasets store images."""
    held = [{"bytes": jpeg(number), "path": None} for number in range(count)]
    pq.write_table(pa.table({"image": held, "label": [number % 2 for number in range(count)]}), path, row_group_size=4)
