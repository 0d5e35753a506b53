"""Fetch a published file of weights into the user's cache folder: checked by its hash, and going on after an
interruption."""

import contextlib
import hashlib
import http.client
import os
import shutil
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from netwright.engine.core import progress
from netwright.engine.core.errors import UnavailableError, UserError
from netwright.engine.core.files import open_file
from netwright.engine.core.locks import LockHeldError, restore_lock, take_lock
from netwright.engine.core.platform_files import replace_file
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.web import named_reach, open_url
from netwright.engine.project.published_weights import Published
from netwright.engine.project.sources.urls import host_of, split_url

MOST_BYTES = 8 * 2**30
TIMEOUT_S = 30.0
RETRIES = 3
CHUNK_BYTES = 2**20
AGAIN = "Run it again: what has come is kept."


def fetch(entry: Published, most_bytes: int = MOST_BYTES) -> Path:
    """Fetch a file unless it is there, and return its path. Progress is told in bytes.

    What has come is kept beside it (`.part`) and completed by the next call where the server allows that. Raises
    `UserError` for an address that is not encrypted, a file that is too large or has another hash, or a full disk;
    `UnavailableError` where the server does not answer.
    """
    path = entry.path
    refuse_address(entry.url)
    if path.is_file() and sha256_of(path).startswith(entry.sha256):
        return path
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path):
            return _fetched(entry, part, most_bytes)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}.", hint="Make room, or move the cache folder."
        ) from error


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Context in which no other process fetches this file. Raises `UserError` where one does."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        descriptor = take_lock(lock)
        restore_lock(lock, descriptor)
    except LockHeldError:
        raise UserError(
            f"{path.name} is being fetched by another process.", hint="Wait until that is done, and ask again."
        ) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _fetched(entry: Published, part: Path, most_bytes: int) -> Path:
    """Complete the part, check it, and give it its name."""
    path = entry.path
    if path.is_file() and sha256_of(path).startswith(entry.sha256):
        return path  # it has come in the meantime
    _complete(entry, part, most_bytes)
    if not sha256_of(part).startswith(entry.sha256):
        part.unlink()
        raise UserError(
            f"What came from {entry.url} has another SHA-256 than {entry.sha256}, and was removed.",
            hint="Run it again; if that does not help, the address book is out of date.",
            code="changed",
        )
    replace_file(part, path)
    return path


def refuse_address(url: str) -> None:
    """Raise `UserError` for an address that is not https, or http on this machine."""
    protocol = split_url(url).protocol
    if protocol == "https" or (protocol == "http" and named_reach(host_of(url)) == "loopback"):
        return
    raise UserError(f"{url[:200]} is not fetched: the address must begin with https://.", hint="Put it right.")


def _complete(entry: Published, part: Path, most_bytes: int) -> None:
    """Append to the part until it has all bytes. Raises `UserError`, `OSError` for the disk."""
    reason, goes_on = "", True
    for _ in range(RETRIES):
        before = part.stat().st_size if part.exists() else 0
        try:
            is_complete, goes_on = _receive(entry, part, before, most_bytes)
            if is_complete:
                return
            reason = "the connection ended early"
        except urllib.error.HTTPError as error:
            if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not before:
                part.unlink(missing_ok=True)  # it can never be completed
                raise UnavailableError(
                    f"{entry.url} is not there: the server says {error.code} {error.reason}."
                ) from None
            part.unlink()  # of another version of the file
            reason = "the file there has become shorter"
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            reason = str(getattr(error, "reason", "") or error) or type(error).__name__
    if not goes_on:
        part.unlink(missing_ok=True)
    hint = AGAIN if goes_on else "Run it again; that server sends the file only as a whole, so nothing was kept."
    raise UnavailableError(f"{entry.url} could not be fetched: {reason}.", hint=hint)


def _receive(entry: Published, part: Path, before: int, most_bytes: int) -> tuple[bool, bool]:
    """Receive what is missing behind `before` bytes. Return whether the file is complete, and whether the server can go
    on behind what has come."""
    headers = {"Range": f"bytes={before}-"} if before else {}
    with open_url(entry.url, headers=headers, timeout_s=TIMEOUT_S, refuse=refuse_address) as answer:
        goes_on = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        if goes_on and not str(answer.headers.get("Content-Range", "")).startswith(f"bytes {before}-"):
            part.unlink()
            return False, False  # a part that was not asked for; the next try takes all
        start = before if goes_on else 0
        knows_ranges = goes_on or (not before and answer.headers.get("Accept-Ranges", "").lower() != "none")
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length and length.isdecimal() else entry.bytes
        limit = entry.bytes or most_bytes
        if total > limit:
            part.unlink(missing_ok=True)
            raise UserError(f"{entry.url} has {format_bytes(total)}; expected at most {format_bytes(limit)}.")
        if (free := shutil.disk_usage(part.parent).free) < total - start:
            raise UserError(
                f"{entry.url} has {format_bytes(total)}, and only {format_bytes(free)} are free in {part.parent}.",
                hint="Make room, or move the cache folder.",
                code="no_space",
            )
        with open(part, "ab" if goes_on else "wb") as file:
            received = start + _copy(answer, file, start, total, limit)
            file.flush()
            os.fsync(file.fileno())
    if received > limit:
        part.unlink()
        raise UserError(f"{entry.url} has over {format_bytes(limit)}, more than expected; it was removed.")
    return not total or received >= total, knows_ranges


def _copy(answer: Any, file: IO[bytes], start: int, total: int, limit: int) -> int:
    """Copy what comes, up to one chunk beyond the limit. Return the number of bytes."""
    received = 0
    while start + received <= limit and (chunk := answer.read(CHUNK_BYTES)):
        file.write(chunk)
        received += len(chunk)
        progress.report(start + received, total, "bytes")
    return received


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits. Raises `OSError`."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
