"""Shards as files of this machine: remote ones and converted Parquet files lie in the user's cache folder.

Several processes share it: one fetches a shard while the others wait for it. Indices lie beside, by the state of the
shard, so that each shard is read once for its index.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import BinaryIO

from netwright.engine.core.cache import TEMPORARY, Cache, open_new
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import open_file, write_atomically
from netwright.engine.core.platform_files import read_at
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.shard_index import ShardIndex, convert_parquet, index_tar
from netwright.engine.data.sources.shard_places import NoRangesError, Shard, read_all, read_range
from netwright.engine.data.sources.source import unreadable
from netwright.engine.project.sources.shards import PARQUET

FORMAT = 1
INDICES = Cache("shards/index", "Indices of shards are kept in", most_bytes=2**31)


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
    def _cache(self) -> Cache:
        return Cache("shards/data", "Shards are kept in", most_bytes=self.cache_bytes)

    @cached_property
    def keeps_whole(self) -> bool:
        """Whether the shards of a window fit into the cache; otherwise single samples are requested."""
        largest = max(shard.size for shard in self.shards)
        return largest * min(self.window, len(self.shards)) <= self.cache_bytes

    def index(self, number: int) -> ShardIndex:
        """Return the index of a shard, made now unless it was before. Raises `UserError`."""
        shard = self.shards[number]
        entry = self._entry(INDICES, shard)

        def write(path: Path) -> None:
            if shard.suffix == PARQUET:  # whose conversion puts the index beside it
                self._entry(self._cache, shard).unlink(missing_ok=True)
                self._opened(shard).close()
                shutil.copyfile(entry, path)
                return
            with _reading(shard), self._opened(shard) as file:
                index = index_tar(file, shard.shown)
            write_atomically(path, index.write(), mode=0o600)

        return INDICES.obtain(entry, ShardIndex.read, write, f"The index of {shard.shown}")

    def read(self, number: int, offsets: Sequence[int], sizes: Sequence[int]) -> list[bytes]:
        """Return the bytes at some places of a shard. Raises `UserError`."""
        shard = self.shards[number]
        is_part = shard.is_remote and shard.suffix != PARQUET and not self.keeps_whole
        if is_part and not self._entry(self._cache, shard).exists():
            with suppress(NoRangesError):
                return [read_range(shard, offset, size) for offset, size in zip(offsets, sizes, strict=True)]
        with _reading(shard), self._opened(shard) as file:
            contents = [read_at(file.fileno(), size, at) for at, size in zip(offsets, sizes, strict=True)]
        if [len(each) for each in contents] != list(sizes):
            raise UserError(f"{shard.shown} is shorter than it was. Copy or download it again, and start a new run.")
        return contents

    def _entry(self, cache: Cache, shard: Shard) -> Path:
        columns = [self.chosen, self.response] if shard.suffix == PARQUET else []
        return cache.entry(FORMAT, shard.url, shard.size, shard.tag, *columns)

    def _opened(self, shard: Shard) -> BinaryIO:
        """Open the file of this machine that has the shard, fetched or converted now unless it is there. Once open it
        stays readable, even if another process needs its room. Raises `UserError`."""
        if not shard.is_remote and shard.suffix != PARQUET:
            with _reading(shard):
                original: BinaryIO = open_file(shard.url)
            status = os.fstat(original.fileno())
            if (status.st_size, str(status.st_mtime_ns)) != (shard.size, shard.tag):
                original.close()
                raise UserError(f"{shard.shown} has changed since the run began. Start a new run.")
            return original
        entry = self._entry(self._cache, shard)
        if shard.size > self.cache_bytes and not entry.exists():
            raise UserError(
                f"{shard.shown} has {format_bytes(shard.size)}; the shard cache holds {format_bytes(self.cache_bytes)}."
                " Set data.shard_cache to the size of a few shards."
            )
        return self._cache.obtain(entry, open_file, partial(self._fetch, shard), shard.shown, shard.size)

    def _fetch(self, shard: Shard, path: Path) -> None:
        if shard.suffix != PARQUET:
            _download(shard, path)
            return
        original = path.with_name(f"{path.stem}-original{TEMPORARY}") if shard.is_remote else Path(shard.url)
        try:
            if shard.is_remote:
                _download(shard, original)
            with open_new(path) as file:
                index = convert_parquet(original, file, shard.shown, self.chosen, self.response)
        finally:
            if shard.is_remote:
                original.unlink(missing_ok=True)
        INDICES.put(self._entry(INDICES, shard), index.write())


def _download(shard: Shard, path: Path) -> None:
    with open_new(path) as file:
        for piece in read_all(shard):
            file.write(piece)


@contextmanager
def _reading(shard: Shard) -> Iterator[None]:
    """Turn errors of the file of a shard into `UserError`."""
    try:
        yield
    except OSError as error:
        raise unreadable(Path(shard.shown), error) from None
