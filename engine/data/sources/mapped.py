"""Arrays that stay in their file: mapped into memory, of which the system keeps as much as it likes."""

import mmap
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

    @cached_property
    def _map(self) -> mmap.mmap:
        try:
            with open(self.path, "rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise unreadable(self.path, error) from None
        except ValueError:  # it is empty
            raise self._short() from None

    @cached_property
    def mapped(self) -> Array:
        """The array. Raises `UserError` where the file cannot be read."""
        self.look()
        return np.frombuffer(self._map, self.dtype, prod(self.shape), self.offset).reshape(self.shape)

    def look(self) -> None:
        """Raise `UserError` where the file was cut off: to read there what is mapped would end the process."""
        if self._map.size() < self.offset + prod(self.shape) * self.dtype.itemsize:
            raise self._short()

    def _short(self) -> UserError:
        return UserError(
            f"{self.path} was cut off while it was read: it ends within the array '{self.name}'. "
            "Write the file again, and train anew or resume the run."
        )

    def chunks(self) -> Iterator[Array]:
        """All of it, a part at a time."""
        step = max(1, CHUNK_BYTES // max(1, prod(self.shape[1:]) * self.dtype.itemsize))
        for start in range(0, self.shape[0], step):
            self.look()
            yield self.mapped[start : start + step]


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

    def read(self, chosen: Array, out: Array) -> None:
        """Raises `UserError` where the file was cut off, and for what is not finite in single precision."""
        self._place.look()
        found = self._place.mapped.take(chosen, 0)
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
