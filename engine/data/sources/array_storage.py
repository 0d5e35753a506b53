"""Arrays in files: shape and dtype are known at once, values are read whole, or some samples at a time."""

import mmap
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable, quoted
from netwright.engine.core.platform_files import CAN_READ_INTO, open_descriptor, read_into
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.source import Array, refuse_too_large, unreadable

MOST_ARRAYS = 1000
LONGEST_NAME = 200
CHUNK_BYTES = 2**24
MOST_DEFLATED = 1032
"""Largest number of bytes per byte of deflated data: see the manual of zlib, maximum compression factor."""
LEAST_STORED = 2**16
"""Bytes that a compressed file may always declare, however small it is."""
LEAST_PICTURE = 8
"""Pixels of a side from which an array may hold pictures."""
CLOSE = 2
"""Samples are close together if at least one in `CLOSE` of those from the first to the last is read."""


@contextmanager
def reading(path: Path, again: str = "") -> Iterator[None]:
    """Context that turns errors in damaged or foreign files into `UserError`; `again` says how to write the file."""
    try:
        yield
    except UserError:
        raise
    except MemoryError:
        raise UserError(f"{path} does not fit into memory. Use fewer samples or smaller ones.") from None
    except OSError as error:
        if error.errno is None:  # raised by a library for what it finds in the file
            raise damaged(path, error, again) from None
        raise unreadable(path, error) from None
    except RecursionError:
        raise damaged(path, ValueError("its arrays lie too deep in each other"), again) from None
    except Exception as error:  # readers of headers raise whatever they trip over
        raise damaged(path, error, again) from None


def damaged(path: Path, error: Exception, again: str = "") -> UserError:
    """Return the error for a damaged file, with the first line of the library's message."""
    first = printable(str(error).partition("\n")[0][:150]) or type(error).__name__
    return UserError(f"{path} is damaged: {first}. {again}".rstrip())


def refuse_odd_name(name: str, path: Path) -> None:
    """Raise `UserError` for a name that is very long or cannot be printed."""
    if not name.isprintable() or not name or len(name) > LONGEST_NAME:
        raise UserError(f"{path} holds an array called {quoted(name)}. Expected names of letters and digits.")


def refuse_bomb(declared: int, path: Path, name: str) -> None:
    """Raise `UserError` where a compressed array declares more bytes than the whole file can hold."""
    size = path.stat().st_size
    if declared > MOST_DEFLATED * size + LEAST_STORED:
        raise UserError(
            f"Array '{name}' of {path} declares {format_bytes(declared)}, more than the file of {format_bytes(size)} "
            "can hold. It is damaged. Write the file again."
        )


@dataclass(frozen=True)
class StoredArray:
    """An array in a file. Sub-classes say how its samples are read.

    `only_whole` is the reason why its samples cannot be read one by one; empty where they can. Labels are targets where
    they are named or are the only ones, and never inputs.
    """

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    only_whole: str = ""
    is_label: bool = False

    @property
    def bytes(self) -> int:
        """Memory of all values in bytes."""
        return prod(self.shape) * self.dtype.itemsize  # Python's integers do not overflow

    @property
    def is_complex(self) -> bool:
        """Return whether the numbers are complex."""
        return self.dtype.kind == "c"

    @property
    def what(self) -> str:
        """Description of the array for messages."""
        return f"Array '{self.name}' of {self.path}"

    @property
    def sample_bytes(self) -> int:
        """Memory of one sample in bytes."""
        return prod(self.shape[1:]) * self.dtype.itemsize

    @property
    def code(self) -> tuple[str, str]:
        """Python expression that reads the array with `FILE` for its path, and the import it needs; empty without."""
        return "", ""

    def read(self) -> Array:
        """Return the whole array. Raises `UserError`."""
        self.refuse_if_too_large()
        values = np.empty(self.shape, self.dtype)
        start = 0
        for chunk in self.chunks():
            values[start : start + len(chunk)] = chunk
            start += len(chunk)
        return values

    def refuse_if_too_large(self) -> None:
        """Raise `UserError` where the array does not fit into the free memory."""
        refuse_too_large(self.bytes, self.what, "Use fewer samples or smaller ones.")

    def take(self, indices: Array) -> Array:
        """Return the samples with these indices. Raises `UserError` for a file that cannot be read or was cut off."""
        raise NotImplementedError

    def begin(self, count: int) -> Array | None:
        """Return the first `count` samples; None where they cannot be read without the others. Raises `UserError`."""
        return None if self.only_whole else self.take(np.arange(count))

    def chunks(self) -> Iterator[Array]:
        """Yield the whole array in chunks of samples. Raises `UserError` as `take` does."""
        for start, end in self._ranges():
            yield self.take(np.arange(start, end))

    def give_back(self) -> None:
        """Release memory that was taken to read samples faster."""

    def _ranges(self) -> Iterator[tuple[int, int]]:
        step = max(1, CHUNK_BYTES // max(1, self.sample_bytes))
        for start in range(0, self.shape[0], step):
            yield start, min(start + step, self.shape[0])


@dataclass(frozen=True)
class Place(StoredArray):
    """Array in a file in C order, from `offset` on, as its values lie in memory."""

    offset: int = 0

    def take(self, indices: Array) -> Array:
        """Return the samples with these indices. Raises `UserError` where the file cannot be read, or was cut off.

        Samples close together are read in one piece, long ones each by itself. Short ones far apart are taken from the
        memory-mapped file, which saves a system call per sample.
        """
        first, last = int(indices.min()), int(indices.max())
        if CAN_READ_INTO and last - first < CLOSE * len(indices):
            return np.take(self._span(first, last + 1), indices - first, 0)
        if self.sample_bytes < mmap.PAGESIZE or not CAN_READ_INTO:
            return self._mapped()[indices]
        samples = np.empty((len(indices), *self.shape[1:]), self.dtype)
        for place, number in enumerate(indices.tolist()):
            self._read(number, samples[place : place + 1])
        return samples

    def chunks(self) -> Iterator[Array]:
        """Yield the whole array in chunks of samples. Raises `UserError` as `take` does."""
        for start, end in self._ranges():
            yield self._span(start, end) if CAN_READ_INTO else self._mapped()[start:end]

    def give_back(self) -> None:
        """Release the memory of mapped pages; pages still in the system's cache come back at once."""
        if sys.platform != "win32" and "_map" in self.__dict__:
            self._map.madvise(mmap.MADV_DONTNEED)

    def _mapped(self) -> Array:
        if self._map.size() < self.offset + self.shape[0] * self.sample_bytes:
            raise self._short()  # reading there would kill the process
        return np.frombuffer(self._map, self.dtype, prod(self.shape), self.offset).reshape(self.shape)

    def _span(self, first: int, end: int) -> Array:
        samples = np.empty((end - first, *self.shape[1:]), self.dtype)
        self._read(first, samples)
        return samples

    def _read(self, number: int, out: Array) -> None:
        """Fill `out` with the samples from index `number` on."""
        room = memoryview(out.reshape(-1).view(np.uint8).data)
        at = self.offset + number * self.sample_bytes
        while room.nbytes:
            try:
                count = read_into(self._descriptor, room, at)
            except OSError as error:
                raise unreadable(self.path, error) from None
            if not count:
                raise self._short()
            room, at = room[count:], at + count

    @cached_property
    def _descriptor(self) -> int:
        """File descriptor, which is closed when this object is garbage collected."""
        try:
            descriptor = open_descriptor(self.path, "r")
        except OSError as error:
            raise unreadable(self.path, error) from None
        weakref.finalize(self, os.close, descriptor)
        return descriptor

    @cached_property
    def _map(self) -> mmap.mmap:
        try:
            mapping = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise unreadable(self.path, error) from None
        except ValueError:  # it is empty
            raise self._short() from None
        if sys.platform != "win32":  # or the system reads far more around each sample, up to megabytes
            mapping.madvise(mmap.MADV_RANDOM)
        return mapping

    def _short(self) -> UserError:
        return UserError(
            f"{self.path} was cut off while it was read: it ends within the array '{self.name}'. "
            "Write the file again, and train anew or resume the run."
        )


@dataclass(frozen=True)
class Held(StoredArray):
    """Array that was read with its header, since its file cannot be read otherwise."""

    values: Array | None = None

    def read(self) -> Array:
        """Return the whole array."""
        assert self.values is not None
        return self.values


@dataclass(frozen=True)
class Loaded(StoredArray):
    """Array that `load` returns whole, of the declared shape and dtype."""

    load: Callable[[], Array] = lambda: np.empty(0)

    def read(self) -> Array:
        """Return the whole array. Raises `UserError`, also where it has changed since its header was read."""
        self.refuse_if_too_large()
        values = self.load()
        if (values.shape, values.dtype) != (self.shape, self.dtype):
            raise UserError(f"{self.what} has changed while it was read. Read it again.")
        return values


@dataclass(frozen=True)
class Converted(StoredArray):
    """Array whose samples are those of `stored`, changed by `change`: chunks of samples in, chunks out."""

    stored: StoredArray | None = None
    change: Callable[[Array], Array] = np.asarray

    def take(self, indices: Array) -> Array:
        """Return the samples with these indices. Raises `UserError`."""
        return self.change(self._source.take(indices))

    def read(self) -> Array:
        """Return the whole array. Raises `UserError`."""
        return self.change(self._source.read()) if self.only_whole else super().read()

    def chunks(self) -> Iterator[Array]:
        """Yield the whole array in chunks of samples. Raises `UserError`."""
        for chunk in self._source.chunks():
            yield self.change(chunk)

    def give_back(self) -> None:
        """Release memory that was taken to read samples faster."""
        self._source.give_back()

    @property
    def _source(self) -> StoredArray:
        assert self.stored is not None
        return self.stored


@dataclass(frozen=True)
class Pictures(Converted):
    """Images of a file whose channels come last (N H W C), or that have none (N H W), with their channels first."""

    @classmethod
    def of(cls, stored: StoredArray) -> StoredArray:
        """Return an array with its channels first where it holds pictures as Keras and Pillow have them: bytes of two
        axes, or three or four channels at the end, or one of a square; another array as it is."""
        axes = stored.shape[1:]
        if len(axes) not in (2, 3) or min(axes[:2]) < LEAST_PICTURE or stored.dtype.kind not in "uif":
            return stored
        is_last = axes[-1] in (3, 4) or (axes[-1] == 1 and axes[0] == axes[1])
        if not is_last if len(axes) == 3 else stored.dtype != np.uint8:
            return stored
        shape = (stored.shape[0], axes[2] if len(axes) == 3 else 1, *axes[:2])
        rest = (stored.path, stored.name, shape, stored.dtype, stored.only_whole, stored.is_label)
        return cls(*rest, stored=stored, change=_channels_first)

    def note(self) -> str:
        """Return a note on how the array is taken."""
        _, channels, height, width = self.shape
        size = f"{width:,} × {height:,}"
        if channels > 1:
            return f"'{self.name}' was taken as images of {size} whose {channels} channels come last."
        return f"'{self.name}' was taken as grey images of {size}. Sequences of bytes are read from int16 or float32."


def _channels_first(values: Array) -> Array:
    return values[:, np.newaxis] if values.ndim == 3 else np.moveaxis(values, -1, 1)


@dataclass(frozen=True)
class Joined(StoredArray):
    """Array whose samples lie in several files, one after the other."""

    parts: tuple[StoredArray, ...] = ()

    def take(self, indices: Array) -> Array:
        """Return the samples with these indices. Raises `UserError`."""
        part_of = np.searchsorted(self._ends, indices, side="right")
        samples = np.empty((len(indices), *self.shape[1:]), self.dtype)
        for number in np.unique(part_of).tolist():
            here = part_of == number
            start = self._ends[number] - self.parts[number].shape[0]
            samples[here] = self.parts[number].take(indices[here] - start)
        return samples

    def begin(self, count: int) -> Array | None:
        """Return the first `count` samples, where the first part has as many. Raises `UserError`."""
        return self.parts[0].begin(count) if count <= self.parts[0].shape[0] else super().begin(count)

    def read(self) -> Array:
        """Return the whole array. Raises `UserError`."""
        self.refuse_if_too_large()
        return np.concatenate([part.read() for part in self.parts])

    def chunks(self) -> Iterator[Array]:
        """Yield the whole array in chunks of samples. Raises `UserError`."""
        for part in self.parts:
            yield from part.chunks()

    def give_back(self) -> None:
        """Release memory that was taken to read samples faster."""
        for part in self.parts:
            part.give_back()

    @cached_property
    def _ends(self) -> Array:
        return np.cumsum([part.shape[0] for part in self.parts])


def joined(files: Sequence[Mapping[str, StoredArray]], folder: Path) -> dict[str, StoredArray]:
    """Return the arrays of several files by name; those of one name are joined along their samples, in the order of
    the files. Raises `UserError` where they differ in more than the number of samples."""
    parts_of: dict[str, list[StoredArray]] = {}
    for arrays in files:
        for name, array in arrays.items():
            parts_of.setdefault(name, []).append(array)
    return {name: parts[0] if len(parts) == 1 else _join(name, parts, folder) for name, parts in parts_of.items()}


def _join(name: str, parts: list[StoredArray], folder: Path) -> Joined:
    first = parts[0]
    for part in parts:
        is_text = part.dtype.kind == first.dtype.kind == "U"
        if not part.shape or part.shape[1:] != first.shape[1:] or (part.dtype != first.dtype and not is_text):
            raise UserError(
                f"Array '{name}' of {folder} lies in several files that do not fit together: {first.path.name} has "
                f"{first.shape}, {first.dtype}, and {part.path.name} {part.shape}, {part.dtype}. Expected files that "
                "differ in the number of samples only, or in the names of their arrays."
            )
    dtype = np.result_type(*(part.dtype for part in parts))
    shape = (sum(part.shape[0] for part in parts), *first.shape[1:])
    why = next((part.only_whole for part in parts if part.only_whole), "")
    return Joined(folder, name, shape, dtype, why, first.is_label, tuple(parts))
