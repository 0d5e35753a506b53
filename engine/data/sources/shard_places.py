"""Places of shards: paths, patterns and URLs; the state of each shard; and reading over the network.

http and https are read with the standard library, other protocols with fsspec; only hosts that the user has allowed are
contacted (`netwright.engine.project.data_hosts`). A lost connection is taken up where it broke. Messages name a URL
without its user, password and query (`without_secrets`).
"""

import glob
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.data.sources.source import locate, unreadable
from netwright.engine.project.data_hosts import refuse_contact
from netwright.engine.project.sources.shards import MOST_SHARDS, PARQUET, PROTOCOLS, TAR, expand
from netwright.engine.project.sources.urls import is_remote, split_url, url_fault, without_file_scheme, without_secrets
from netwright.engine.runs.data_files import DataPlace

T = TypeVar("T")
LIBRARIES = {"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs", "hdfs": "pyarrow", "sftp": "paramiko"}
TRIES = 4
PAUSE_S = 0.5
"""Pause before the first new try, in seconds; doubled each time."""
AT_ONCE = 16
PIECE_BYTES = 2**20
WAYS_OUT = "Check the network, then resume the run (netwright-engine resume RUN): it goes on where it stopped."
RETRIED_CODES = frozenset({408, 425, 429})


class NoRangesError(Exception):
    """The server sends whole files only."""


class _LostError(Exception):
    """A connection failed; it may work again."""


@dataclass(frozen=True)
class Shard:
    """A shard with its state. `tag` changes when its content does: the ETag, or the time of modification."""

    url: str = field(repr=False)
    """Absolute path, or URL with whatever tokens it has."""
    size: int
    tag: str

    @property
    def is_remote(self) -> bool:
        """Whether it is read over the network."""
        return is_remote(self.url)

    @property
    def shown(self) -> str:
        """Path, or URL without secrets."""
        return printable(without_secrets(self.url))

    @property
    def suffix(self) -> str:
        """Suffix of the file in lower case, with its point."""
        return suffix_of(self.url)


def recorded(option: str, pattern: str, base: Path) -> DataPlace:
    """Return the state of the shards that an option names, for the record of a run. Raises `UserError`."""
    shards = find_shards(pattern, base)
    if shards[0].is_remote:
        name = printable(without_secrets(pattern))
        return DataPlace.remote(option, name, {shard.shown: (shard.size, shard.tag) for shard in shards})
    folder = Path(os.path.commonpath([Path(shard.url).parent for shard in shards]))
    try:
        return DataPlace.look_at(option, folder, [Path(shard.url).relative_to(folder).as_posix() for shard in shards])
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error) from None


def suffix_of(place: str) -> str:
    """Return the suffix of the file at a path or URL, in lower case."""
    return Path(without_secrets(place)).suffix.lower()


def find_shards(pattern: str, base: Path) -> list[Shard]:
    """Return the shards of a path, folder, pattern or URL, in order, with their states.

    Relative paths start at `base`. Raises `UserError` where there is none, one is missing, or the network fails.
    """
    places = _places(pattern, base)
    name = printable(without_secrets(pattern))
    if not places:
        raise UserError(f"There is no {TAR} or {PARQUET} file at {name}. Choose the shards anew.")
    if len(places) > MOST_SHARDS:
        raise UserError(f"{name} names {len(places):,} shards; at most {MOST_SHARDS:,} can be read.")
    for place in places:
        if suffix_of(place) not in (TAR, PARQUET):
            hint = " Unpack it: random reads need tar files without compression." if ".tar." in place else ""
            raise UserError(f"{printable(without_secrets(place))} ends in neither {TAR} nor {PARQUET}.{hint}")
    if len({suffix_of(place) for place in places}) > 1:
        raise UserError(f"{name} names {TAR} and {PARQUET} files. Choose those of one kind, such as *{TAR}.")
    if not is_remote(pattern):
        return [_local_state(place) for place in places]
    refuse_contact(pattern, len(places))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(remote_state, places))


def _places(pattern: str, base: Path) -> list[str]:
    if fault := url_fault(pattern, PROTOCOLS, "shards"):
        raise UserError(f"{printable(without_secrets(pattern))}: {fault}")
    if is_remote(pattern):
        urls = expand(pattern)
        refuse_contact(pattern, len(urls))
        return [place for each in urls for place in _listed(each)]
    pattern = without_file_scheme(pattern)
    if "\0" in pattern:
        raise UserError("The path of the shards holds a null character. Choose the shards anew.")
    try:
        whole = base / Path(pattern).expanduser()
        each = [str(whole)] if whole.exists() else expand(pattern)
        places = [place for name in each for place in _local(name, base)]
    except OSError as error:
        raise unreadable(base / pattern, error) from None
    return places


def _local(name: str, base: Path) -> list[str]:
    """Return the files of a path, a folder, or a glob."""
    path = base / Path(name)
    if re.search(r"[*?\[]", name) and not path.exists():
        return sorted(glob.glob(str(base / Path(name).expanduser())))
    path = locate(name, base)
    if not path.is_dir():
        return [str(path)]
    return sorted(str(entry) for entry in path.iterdir() if entry.suffix.lower() in (TAR, PARQUET))


def _listed(url: str) -> list[str]:
    protocol, place, _ = split_url(url)
    if "*" not in without_secrets(url):
        return [url]
    if protocol in ("http", "https"):
        raise UserError(
            f"{printable(without_secrets(url))}: a web server does not list its files. Count them: "
            "train-{0000..0146}.tar."
        )
    system = file_system(url)
    with _translated(url):  # the first part of a name is the bucket, for which the URL may have more words
        return [f"{protocol}://{place}/{name.lstrip('/').partition('/')[2]}" for name in sorted(system.glob(url))]


def _local_state(place: str) -> Shard:
    try:
        status = Path(place).stat()
    except OSError as error:
        raise unreadable(Path(place), error) from None
    return Shard(place, status.st_size, str(status.st_mtime_ns))


def remote_state(url: str) -> Shard:
    """Return the state of a remote file. Raises `UserError`."""
    return tried(url, lambda: _http_state(url) if is_http(url) else listed_state(url, file_system(url).info(url)))


def tried(url: str, ask: Callable[[], T]) -> T:
    """Return the result of a request, which is tried again where the connection was lost. Raises `UserError`."""
    for number in range(TRIES):
        try:
            with _translated(url):
                return ask()
        except _LostError as error:
            _pause(url, number, error)
    raise AssertionError


def listed_state(url: str, facts: Mapping[str, Any]) -> Shard:
    """Return the state of a file from its facts in fsspec."""
    tag = next((str(facts[name]) for name in ("ETag", "etag", "LastModified", "mtime", "created") if name in facts), "")
    return Shard(url, int(facts["size"]), tag)


def _http_state(url: str) -> Shard:
    import urllib.error  # imports e-mail

    try:
        response = _request(url, "HEAD", {})
    except urllib.error.HTTPError as error:
        if error.code not in (403, 405, 501):  # a signed URL is valid for GET alone
            raise
        error.close()
        response = _request(url, "GET", {"Range": "bytes=0-0"})
    with response:
        size = response.headers.get("Content-Range", "").rpartition("/")[2] or response.headers.get("Content-Length")
        if not (size or "").isdigit():
            raise UserError(f"{printable(without_secrets(url))}: the server does not tell the size of the file.")
        return Shard(url, int(size), response.headers.get("ETag") or response.headers.get("Last-Modified") or "")


def read_range(shard: Shard, start: int, size: int) -> bytes:
    """Return some bytes of a remote shard. Raises `NoRangesError` where the server sends whole files only."""
    return b"".join(_pieces(shard, start, start + size, is_exact=True))


def read_all(shard: Shard) -> Iterator[bytes]:
    """Yield a remote shard piece by piece. Raises `UserError` where the connection is lost `TRIES` times."""
    return _pieces(shard, 0, shard.size, is_exact=False)


def _pieces(shard: Shard, start: int, end: int, *, is_exact: bool) -> Iterator[bytes]:
    failed = 0
    while start < end:
        try:
            with _translated(shard.url), _stream(shard, start, end, is_exact=is_exact) as stream:
                while start < end:
                    piece = stream.read(min(PIECE_BYTES, end - start))
                    if not piece:
                        raise ConnectionError("it ended early")
                    start += len(piece)
                    yield piece
        except _LostError as error:
            _pause(shard.url, failed, error)
            failed += 1


@contextmanager
def _stream(shard: Shard, start: int, end: int, *, is_exact: bool) -> Iterator[Any]:
    """Open a remote shard at `start`."""
    if not is_http(shard.url):
        with file_system(shard.url).open(shard.url, "rb", cache_type="readahead", block_size=PIECE_BYTES) as file:
            file.seek(start)
            yield file
        return
    is_part = start > 0 or end < shard.size
    with _request(shard.url, "GET", {"Range": f"bytes={start}-{end - 1}"} if is_part else {}) as response:
        tag = response.headers.get("ETag")
        if tag and shard.tag and shard.tag.startswith(("W/", '"')) and tag != shard.tag:
            raise UserError(f"{shard.shown} has changed since the run began. Start a new run.")
        if response.status != 206 and is_part:
            if is_exact:
                raise NoRangesError
            for _ in range(start // PIECE_BYTES):
                response.read(PIECE_BYTES)
            response.read(start % PIECE_BYTES)
        yield response


def is_http(url: str) -> bool:
    """Return whether a URL is read with the standard library."""
    return url.lower().startswith(("http://", "https://"))


def _request(url: str, method: str, headers: dict[str, str]) -> Any:
    from netwright.engine.data.sources.web import open_url  # imports HTTP and TLS

    refuse_contact(url)
    return open_url(url, method=method, headers={"User-Agent": "netwright", "Accept-Encoding": "identity", **headers})


def file_system(url: str) -> Any:
    """Return fsspec's file system for a URL; credentials come from the environment and fsspec's configuration. Raises
    `UserError` for a protocol that is not ours, a host that is not allowed, and where a library is missing."""
    if fault := url_fault(url):
        raise UserError(f"{printable(without_secrets(url))}: {fault}")
    refuse_contact(url)
    import fsspec

    protocol = split_url(url).protocol
    try:
        return fsspec.filesystem(protocol)
    except ImportError:
        library = LIBRARIES[protocol]
        raise UserError(
            f"Data behind {protocol}:// needs {library}, which is not installed.",
            hint=f"Install it: pip install {library}",
        ) from None


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Turn errors of the network into `_LostError`, where a new try may help, or `UserError`, without secrets."""
    import http.client  # imports e-mail and TLS
    import urllib.error

    name = printable(without_secrets(url))
    try:
        yield
    except (UserError, _LostError, NoRangesError, GeneratorExit):
        raise
    except urllib.error.HTTPError as error:
        error.close()
        if error.code >= 500 or error.code in RETRIED_CODES:
            raise _LostError(f"the server answers {error.code}") from None
        _refuse(name, {404: "there is no such file", 410: "there is no such file"}.get(error.code), error.code)
    except FileNotFoundError:
        _refuse(name, "there is no such file")
    except PermissionError:
        _refuse(name, "it may not be read; set credentials in the environment or in the configuration of fsspec")
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        words = getattr(reason, "strerror", None) or type(reason).__name__
        raise _LostError(str(words)) from None
    except Exception as error:  # the libraries of the protocols have errors of their own, whose texts may hold tokens
        _refuse(name, f"its library fails with {type(error).__name__}")


def _refuse(name: str, reason: str | None, code: int = 0) -> NoReturn:
    text = reason or (
        f"the server refuses it ({code}); a signed URL may have expired" if code in (401, 403) else f"error {code}"
    )
    raise UserError(f"{name} cannot be read: {text}. Check the place of the data (data.path).") from None


def _pause(url: str, number: int, error: Exception) -> None:
    """Wait before the next try. Raises `UserError` after the last one."""
    if number + 1 >= TRIES:
        name = printable(without_secrets(url))
        raise UserError(f"{name} cannot be read: {TRIES} tries failed, the last with {error}. {WAYS_OUT}") from None
    time.sleep(PAUSE_S * 2**number)
