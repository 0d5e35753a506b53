"""Arrays that stay in their file, of which samples are read when they are wanted."""

import mmap
import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.sources.places import unreadable
from engine.data.sources.source import Array
from engine.errors import UserError

CHUNK_BYTES = 2**24
TASK_BYTES = 2**20
MOST_TOUCHED = 2**27
"""After so many bytes of a file that is mapped were read their memory is given back: it would count as the run's."""
_CAN_READ_AT = hasattr(os, "preadv")
CLOSE = 2
"""Samples are close together that are one in so many of those between the first and the last, at least."""


@dataclass(frozen=True)
class Place:
    """Where the numbers of an array lie in a file, one after the other, the first axis outermost."""

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @property
    def what(self) -> str:
        """In words."""
        return f"Array '{self.name}' of {self.path}"

    def take(self, chosen: Array) -> Array:
        """The samples with these numbers. Raises `UserError` where the file cannot be read, or was cut off.

        Samples that lie close together are read in one piece, long ones each by itself. Short ones far apart come from
        the file as it is mapped into memory, which spares a call of the system for each of them.
        """
        first, last = int(chosen.min()), int(chosen.max())
        if _CAN_READ_AT and last - first < CLOSE * len(chosen):
            return np.take(self._span(first, last + 1), chosen - first, 0)
        if self._sample_bytes < mmap.PAGESIZE or not _CAN_READ_AT:
            return self._mapped()[chosen]
        found = np.empty((len(chosen), *self.shape[1:]), self.dtype)
        for place, number in enumerate(chosen.tolist()):
            self._read(number, found[place : place + 1])
        return found

    def chunks(self) -> Iterator[Array]:
        """All of it, a part at a time. Raises `UserError` as `take` does."""
        step = max(1, CHUNK_BYTES // max(1, self._sample_bytes))
        for start in range(0, self.shape[0], step):
            end = min(start + step, self.shape[0])
            yield self._span(start, end) if _CAN_READ_AT else self._mapped()[start:end]

    def give_back(self) -> None:
        """Let go of the memory of what was read; what of it the system still has is there again at once."""
        if hasattr(mmap, "MADV_DONTNEED") and "_map" in self.__dict__:
            self._map.madvise(mmap.MADV_DONTNEED)

    @property
    def _sample_bytes(self) -> int:
        return prod(self.shape[1:]) * self.dtype.itemsize

    def _mapped(self) -> Array:
        if self._map.size() < self.offset + self.shape[0] * self._sample_bytes:
            raise self._short()  # to read there would end the process
        return np.frombuffer(self._map, self.dtype, prod(self.shape), self.offset).reshape(self.shape)

    def _span(self, first: int, end: int) -> Array:
        found = np.empty((end - first, *self.shape[1:]), self.dtype)
        self._read(first, found)
        return found

    def _read(self, number: int, out: Array) -> None:
        """All samples from this one on that there is room for."""
        room = memoryview(out.reshape(-1).view(np.uint8).data)
        at = self.offset + number * self._sample_bytes
        while room.nbytes:
            try:
                count = os.preadv(self._descriptor, [room], at)
            except OSError as error:
                raise unreadable(self.path, error) from None
            if not count:
                raise self._short()
            room, at = room[count:], at + count

    @cached_property
    def _descriptor(self) -> int:
        """Of the open file, which is closed when nobody reads from here any more."""
        try:
            found = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise unreadable(self.path, error) from None
        weakref.finalize(self, os.close, found)
        return found

    @cached_property
    def _map(self) -> mmap.mmap:
        try:
            found = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise unreadable(self.path, error) from None
        except ValueError:  # it is empty
            raise self._short() from None
        if hasattr(mmap, "MADV_RANDOM"):  # or the system reads far more around each sample, up to megabytes
            found.madvise(mmap.MADV_RANDOM)
        return found

    def _short(self) -> UserError:
        return UserError(
            f"{self.path} was cut off while it was read: it ends within the array '{self.name}'. "
            "Write the file again, and train anew or resume the run."
        )


class StoredArray:
    """One input. Complex numbers become twice the channels, sequences end where their lengths say."""

    kind: np.dtype[Any]

    def __init__(self, place: Place, channel_axis: int, lengths: Array | None = None, largest: int = 0) -> None:
        sizes = list(place.shape[1:]) or [1]
        self._is_complex = place.dtype.kind == "c"
        if self._is_complex:
            sizes[channel_axis - 1] *= 2
        if lengths is not None:
            sizes[0] = int(lengths.max())
        self.shape = (place.shape[0], *sizes)
        self.kind = np.dtype(np.uint8 if place.dtype == np.uint8 else np.float32)
        self.at_once = max(1, TASK_BYTES // (4 * prod(sizes)))
        self.largest, self.where = largest, str(place.path)
        self._place, self._lengths = place, lengths
        self._channel_axis = channel_axis
        self._touched = 0

    def read(self, chosen: Array, out: Array) -> None:
        """Raises `UserError` where the file was cut off, and for what is not finite in single precision."""
        found = self._place.take(chosen)
        self._touched += max(found.nbytes, mmap.PAGESIZE * len(chosen))  # several threads: it need not be exact
        if self._touched > MOST_TOUCHED:
            self._touched = 0
            self._place.give_back()
        if self._lengths is not None:
            found = found[:, : self.shape[1]]
        with np.errstate(over="ignore", invalid="ignore"):
            if self._is_complex:
                found = found[:, np.newaxis] if found.ndim == 1 else found
                found = np.stack((found.real, found.imag), self._channel_axis + 1)
            out[...] = found.reshape(out.shape)
        if self._lengths is not None:
            out[np.arange(out.shape[1]) >= self._lengths[chosen][:, np.newaxis]] = 0
        if out.dtype.kind == "f" and not np.isfinite(out).all():
            bad = chosen[~np.isfinite(out).reshape(len(out), -1).all(1)]
            raise UserError(
                f"{self._place.what}: sample {int(bad[0]):,} holds numbers that are not finite in single precision. "
                "Expected finite numbers. Replace them, or leave the sample out."
            )
