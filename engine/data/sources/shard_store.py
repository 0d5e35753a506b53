"""Shards as files of this machine: remote ones and converted Parquet files lie in the user's cache folder.

The cache is bounded; those used least recently are removed first. Several processes share it: one fetches a shard while
the others wait for it. Indices lie beside, by the state of the shard, so that each shard is read once for its index.
"""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import make_private_folder, open_file, write_atomically
from netwright.engine.core.folders import cache_folder
from netwright.engine.core.locks import LockHeldError, take_lock
from netwright.engine.core.platform_files import read_at
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.shard_index import ShardIndex, convert_parquet, index_tar
from netwright.engine.data.sources.shard_places import NoRangesError, Shard, read_all, read_range
from netwright.engine.data.sources.source import unreadable
from netwright.engine.project.sources.shards import PARQUET

FORMAT = 1
MOST_INDEX_BYTES = 2**31
"""Limit of all indices in the cache folder."""
TEMPORARY = ".tmp"
LEFT_BEHIND_S = 86400.0
"""Age at which an unfinished file was left by a process that was killed, in seconds."""
PATIENCE_S = 3600.0
"""Time limit for another process that fetches the same shard, in seconds."""


@dataclass(frozen=True)
class ShardStore:
    """The shards of a source. Several threads and processes may read at once.

    chosen, response: the columns of Parquet files, as the options name them. window: number of shards read at a time.
    """

    shards: tuple[Shard, ...]
    cache_bytes: int
    window: int
    chosen: str = ""
    response: str = ""

    @cached_property
    def folder(self) -> Path:
        """Folder of the cache. Raises `UserError` where it cannot be made."""
        try:
            folder = cache_folder() / "shards"
            for part in ("data", "index"):
                make_private_folder(folder / part)
        except (OSError, RuntimeError) as error:
            raise _no_cache(error) from None
        return folder

    @cached_property
    def keeps_whole(self) -> bool:
        """Whether the shards of a window fit into the cache; otherwise single samples are requested."""
        largest = max(shard.size for shard in self.shards)
        return largest * min(self.window, len(self.shards)) <= self.cache_bytes

    def index(self, number: int) -> ShardIndex:
        """Return the index of a shard, made now unless it was before. Raises `UserError`."""
        shard = self.shards[number]
        stored = self._index_file(shard)
        with suppress(Exception):  # a file of ours that is missing or damaged is made anew
            index = ShardIndex.read(stored)
            os.utime(stored)
            return index
        if shard.suffix == PARQUET:
            self._data_file(shard).unlink(missing_ok=True)
            self._opened(shard).close()
            return ShardIndex.read(stored)
        try:
            with self._opened(shard) as file:
                index = index_tar(file, shard.shown)
        except OSError as error:
            raise _read_error(shard, error) from None
        self._write_index(shard, index)
        return index

    def read(self, number: int, offsets: Sequence[int], sizes: Sequence[int]) -> list[bytes]:
        """Return the bytes at some places of a shard. Raises `UserError`."""
        shard = self.shards[number]
        if shard.is_remote and shard.suffix != PARQUET and not self.keeps_whole and not self._data_file(shard).exists():
            with suppress(NoRangesError):
                return [read_range(shard, offset, size) for offset, size in zip(offsets, sizes, strict=True)]
        try:
            with self._opened(shard) as file:
                contents = [read_at(file.fileno(), size, at) for at, size in zip(offsets, sizes, strict=True)]
        except OSError as error:
            raise _read_error(shard, error) from None
        if [len(each) for each in contents] != list(sizes):
            raise UserError(f"{shard.shown} is shorter than it was. Copy or download it again, and start a new run.")
        return contents

    def _name(self, shard: Shard) -> str:
        columns = [self.chosen, self.response] if shard.suffix == PARQUET else []
        key = json.dumps([FORMAT, shard.url, shard.size, shard.tag, *columns])
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def _data_file(self, shard: Shard) -> Path:
        return self.folder / "data" / self._name(shard)

    def _index_file(self, shard: Shard) -> Path:
        return self.folder / "index" / f"{self._name(shard)}.npz"

    def _write_index(self, shard: Shard, index: ShardIndex) -> None:
        try:
            _make_room(self.folder / "index", MOST_INDEX_BYTES)
            write_atomically(self._index_file(shard), index.write(), mode=0o600)
        except OSError as error:
            raise _no_cache(error) from None

    def _opened(self, shard: Shard) -> BinaryIO:
        """Open the file of this machine that has the shard, fetched or converted now unless it is there. Once open it
        stays readable, even if another process needs its room. Raises `UserError` or `OSError`."""
        if not shard.is_remote and shard.suffix != PARQUET:
            original: BinaryIO = open_file(shard.url)
            status = os.fstat(original.fileno())
            if (status.st_size, str(status.st_mtime_ns)) != (shard.size, shard.tag):
                original.close()
                raise UserError(f"{shard.shown} has changed since the run began. Start a new run.")
            return original
        path = self._data_file(shard)
        with suppress(FileNotFoundError):
            return _used(path)
        if shard.size > self.cache_bytes:
            raise UserError(
                f"{shard.shown} has {format_bytes(shard.size)}; the shard cache holds {format_bytes(self.cache_bytes)}."
                " Set data.shard_cache to the size of a few shards."
            )
        try:
            lock = take_lock(self.folder / "index" / f"{path.name}.lock", patience_s=PATIENCE_S)
        except LockHeldError:
            raise UserError(f"{shard.shown} is fetched by another process, which does not end.") from None
        except OSError as error:
            raise _no_cache(error) from None
        try:
            with suppress(FileNotFoundError):
                return _used(path)
            _make_room(path.parent, self.cache_bytes - shard.size)
            file = self._fetch(shard, path)
            _make_room(path.parent, self.cache_bytes, path)
            return file
        finally:
            os.close(lock)

    def _fetch(self, shard: Shard, path: Path) -> BinaryIO:
        if shard.suffix != PARQUET:
            return _written(path, lambda file: _download(shard, file))
        if not shard.is_remote:
            return _written(path, lambda file: self._convert(shard, Path(shard.url), file))
        original = path.with_name(f".{secrets.token_hex(8)}{TEMPORARY}")
        try:
            _written(original, lambda file: _download(shard, file)).close()
            return _written(path, lambda file: self._convert(shard, original, file))
        finally:
            original.unlink(missing_ok=True)

    def _convert(self, shard: Shard, original: Path, file: BinaryIO) -> None:
        self._write_index(shard, convert_parquet(original, file, shard.shown, self.chosen, self.response))


def _download(shard: Shard, file: BinaryIO) -> None:
    for piece in read_all(shard):
        file.write(piece)


def _written(path: Path, write: Callable[[BinaryIO], None]) -> BinaryIO:
    """Have a file written under another name, then renamed; return it, open. Raises `UserError` where the disk is
    full."""
    temporary = path.with_name(f".{secrets.token_hex(8)}{TEMPORARY}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            write(file)
        stream = temporary.open("rb")
        os.replace(temporary, path)
        return stream
    except OSError as error:
        raise _no_cache(error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _used(path: Path) -> BinaryIO:
    """Open a file of the cache and mark it as used now."""
    file = path.open("rb")
    with suppress(OSError):
        os.utime(path)
    return file


def _make_room(folder: Path, most_bytes: int, protected: Path | None = None) -> None:
    """Remove files used least recently until all take at most `most_bytes`, and partial files of killed processes."""
    now = time.time()
    with suppress(OSError):
        files = sorted((entry.stat().st_mtime, entry.stat().st_size, entry) for entry in folder.iterdir())
        total = sum(size for _, size, entry in files if entry.suffix != TEMPORARY)
        for when, size, entry in files:
            if entry.suffix == TEMPORARY:
                if now - when > LEFT_BEHIND_S:
                    entry.unlink(missing_ok=True)
            elif total > most_bytes and entry != protected:
                entry.unlink(missing_ok=True)
                total -= size


def _read_error(shard: Shard, error: OSError) -> UserError:
    return unreadable(Path(shard.url), error) if not shard.is_remote else _no_cache(error)


def _no_cache(error: OSError | RuntimeError) -> UserError:
    return UserError(
        f"Shards are kept in the cache folder, which cannot be used: {getattr(error, 'strerror', None) or error}. Set "
        "XDG_CACHE_HOME to a folder with room."
    )
