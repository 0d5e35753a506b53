"""Files of NumPy's arrays: a `.npz` file, or a folder of `.npy` files, whose headers are read first.

Pickled objects are never loaded: they could run a program.
"""

import io
import mmap
import os
import warnings
import weakref
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from engine.core.errors import UserError, plural
from engine.core.fields import printable, quoted
from engine.data.sources.source import Array, file_stamp, refuse_too_large, unreadable

EXPECTED = "a .npz file, as numpy.savez(path, x=..., y=...) writes it, or a folder of .npy files"
AGAIN = "Write the file again with numpy.savez."
MOST_ARRAYS = 1000
LONGEST_NAME = 200
DIRECTORY_BYTES = 2**22
"""Limit of the directory of a zip file; larger ones hold far more than the arrays that are read."""
MOST_DEFLATED = 1032
"""Largest number of bytes per byte of deflated data: see the manual of zlib, maximum compression factor."""
CHUNK_BYTES = 2**24
TASK_BYTES = 2**20
MOST_TOUCHED = 2**27
"""Bytes read from a mapped file after which their memory is released, since it counts as memory of the run."""
_CAN_READ_AT = hasattr(os, "preadv")
CLOSE = 2
"""Samples are close together if at least one in `CLOSE` of those from the first to the last is read."""


@dataclass(frozen=True)
class Header:
    """Shape and dtype of an array, known without reading its values."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    path: Path
    """File that holds the array."""
    offset: int = 0
    """Offset of the values in the file, in bytes; 0 where samples cannot be read one by one."""

    @property
    def bytes(self) -> int:
        count = 1
        for size in self.shape:
            count *= size  # Python's integers do not overflow
        return count * self.dtype.itemsize

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"


class _Reader(io.BufferedReader):
    """Reader with a limit per call, since a zip file itself states the size of its directory, which may be wrong."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes. Raises `ValueError` above the limit `DIRECTORY_BYTES`."""
        wanted = DIRECTORY_BYTES + 1 if size is None or size < 0 else size
        data = super().read(min(wanted, DIRECTORY_BYTES + 1))
        if len(data) > DIRECTORY_BYTES:
            raise ValueError(f"its directory has more than {DIRECTORY_BYTES:,} bytes")
        return data


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Context that turns errors in damaged or foreign files into `UserError`."""
    try:
        yield
    except UserError:
        raise
    except MemoryError:
        raise UserError(f"{path} does not fit into memory. Use fewer samples or smaller ones.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    except Exception as error:  # readers of zip files and of headers raise whatever they trip over
        if isinstance(error, zipfile.BadZipFile) and "not a zip file" in str(error):
            raise UserError(f"{path} is no .npz file, or was cut off. Expected {EXPECTED}. {AGAIN}") from None
        first = printable(str(error).partition("\n")[0][:150]) or type(error).__name__
        raise UserError(f"{path} is damaged: {first}. {AGAIN}") from None


def stamp(path: Path) -> Hashable:
    """Return the stamp of the file, or of each file of a folder. Raises `UserError` where there is nothing to read."""
    path = _place(path)
    if path.is_dir():
        return tuple((file.name, file_stamp(file, EXPECTED)) for file in _files(path))
    return file_stamp(path, EXPECTED)


def headers(path: Path) -> dict[str, Header]:
    """Return the array headers by name, in the order of the file, sorted for a folder. Raises `UserError`."""
    path = _place(path)
    result = _of_folder(path) if path.is_dir() else _of_archive(path)
    if not result:
        raise UserError(f"{path} holds no arrays. Expected {EXPECTED}.")
    return result


def _place(path: Path) -> Path:
    """Return the folder of a `.npy` file, which stands for all arrays in it since a file dialog offers files."""
    return path.parent if path.suffix == ".npy" and path.is_file() else path


def _files(folder: Path) -> list[Path]:
    """Return the array files of a folder, sorted. Raises `UserError` where there is none."""
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix == ".npy" and not file.name.startswith("."))
    except OSError as error:
        raise unreadable(folder, error) from None
    if not files:
        raise UserError(f"{folder} is a folder without .npy files. Expected {EXPECTED}.")
    if len(files) > MOST_ARRAYS:
        raise UserError(f"{folder} holds {len(files):,} arrays; at most {MOST_ARRAYS:,} are taken.")
    return files


def _of_folder(folder: Path) -> dict[str, Header]:
    arrays = {}
    for file in _files(folder):
        _refuse_odd_name(file.stem, folder)
        with _reading(file), open(file, "rb") as content:
            shape, is_by_column, dtype = _npy_header(content)
            begin = content.tell()
            offset = 0 if is_by_column and len(shape) > 1 else begin
            arrays[file.stem] = Header(file.stem, shape, dtype, file, offset)
            _refuse_unusable(arrays[file.stem], file.stat().st_size - begin)
    return arrays


def _of_archive(path: Path) -> dict[str, Header]:
    found: dict[str, Header] = {}
    with _reading(path), _Reader(path) as opened, zipfile.ZipFile(opened) as file:
        entries = [entry for entry in file.infolist() if entry.filename.endswith(".npy")]
        if len(entries) > MOST_ARRAYS:
            raise UserError(f"{path} holds {len(entries):,} arrays; at most {MOST_ARRAYS:,} are taken. {AGAIN}")
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            _refuse_odd(entry, name, found, path)
            with file.open(entry) as content:
                shape, is_by_column, dtype = _npy_header(content)
                begin = content.tell()
            is_plain = entry.compress_type == zipfile.ZIP_STORED and not (is_by_column and len(shape) > 1)
            offset = _begin(opened, entry) + begin if is_plain else 0
            found[name] = Header(name, shape, dtype, path, offset)
            _refuse_unusable(found[name], entry.file_size - begin)
    return found


def _refuse_unusable(header: Header, held: int) -> None:
    """Raise an error for an array whose size is not `held` bytes, or whose dtype or shape cannot be used."""
    name, shape, dtype, path = header.name, header.shape, header.dtype, header.path
    if dtype.hasobject:
        raise UserError(
            f"Array '{name}' of {path} holds Python objects, which are not loaded because they could "
            "run a program. Expected numbers, or texts as responses. "
            f"Store it with a type, as in {name}.astype('float32')."
        )
    if header.bytes != held or any(size < 0 for size in shape):
        raise ValueError(f"array '{name}' should have {header.bytes:,} bytes and has {held:,}")
    if (0 in shape[1:] or not dtype.itemsize) and shape[:1] != (0,):
        what = f"has the shape {shape}: an axis of size 0" if dtype.itemsize else "holds texts without characters"
        raise UserError(f"Array '{name}' of {path} {what}.")


def _refuse_odd_name(name: str, path: Path) -> None:
    if not name.isprintable() or len(name) > LONGEST_NAME:
        raise UserError(f"{path} holds an array called {quoted(name)}. Expected names of letters and digits. {AGAIN}")


def _refuse_odd(entry: zipfile.ZipInfo, name: str, found: Mapping[str, Header], path: Path) -> None:
    """Refuse entries that NumPy does not write, and impossible sizes, before anything is read."""
    _refuse_odd_name(name, path)
    if name in found:
        raise UserError(f"{path} holds two arrays called '{name}'. {AGAIN}")
    most = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_DEFLATED}.get(entry.compress_type, 0)
    if not most:
        raise UserError(f"Array '{name}' of {path} is compressed in another way than numpy does it. {AGAIN}")
    if entry.compress_size > path.stat().st_size or entry.file_size > most * (entry.compress_size + 1):
        raise ValueError(f"array '{name}' cannot have {plural(entry.file_size, 'byte')}")


def _begin(opened: IO[bytes], entry: zipfile.ZipInfo) -> int:
    """Return the offset of the bytes of a zip entry, from its local header in the file."""
    opened.seek(entry.header_offset)
    header = opened.read(30)
    return entry.header_offset + 30 + sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))


def _npy_header(content: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    version = np.lib.format.read_magic(content)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version[0]}.{version[1]} of NumPy's format is not known")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the file was written by an old NumPy
        shape, is_by_column, dtype = read(content)
    return shape, is_by_column, dtype


def read(header: Header) -> Array:
    """Read a whole array. Raises `UserError`."""
    path = header.path
    refuse_too_large(header.bytes, f"Array '{header.name}' of {path}", "Use fewer samples or smaller ones.")
    with _reading(path), _content(header) as content:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as above
            array: Array = np.lib.format.read_array(content, allow_pickle=False)
        if (array.shape, array.dtype) != (header.shape, header.dtype):
            raise ValueError(f"array '{header.name}' has changed meanwhile")
    if array.dtype.kind == "U" and not _are_characters(array):
        raise UserError(f"Array '{header.name}' of {path} holds texts with characters that do not exist. {AGAIN}")
    return array


@contextmanager
def _content(header: Header) -> Iterator[IO[bytes]]:
    """Open the `.npy` data of an array, in its own file or in an archive."""
    if header.path.suffix == ".npy":
        with open(header.path, "rb") as content:
            yield content
        return
    with zipfile.ZipFile(header.path) as file, file.open(f"{header.name}.npy") as entry:
        yield entry


def _are_characters(texts: Array) -> bool:
    """Return whether all characters are valid Unicode: NumPy stores a character as any 32-bit number."""
    whole = np.ascontiguousarray(texts)
    codes = whole.view(np.dtype(np.uint32).newbyteorder(whole.dtype.byteorder))
    return not bool(((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any())


@dataclass(frozen=True)
class Place:
    """Location of an array in a file, in C order."""

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @property
    def what(self) -> str:
        """Description of the array for messages."""
        return f"Array '{self.name}' of {self.path}"

    def take(self, chosen: Array) -> Array:
        """Return the samples with these indices. Raises `UserError` where the file cannot be read, or was cut off.

        Samples close together are read in one piece, long ones each by itself. Short ones far apart are taken from the
        memory-mapped file, which saves a system call per sample.
        """
        first, last = int(chosen.min()), int(chosen.max())
        if _CAN_READ_AT and last - first < CLOSE * len(chosen):
            return np.take(self._span(first, last + 1), chosen - first, 0)
        if self._sample_bytes < mmap.PAGESIZE or not _CAN_READ_AT:
            return self._mapped()[chosen]
        samples = np.empty((len(chosen), *self.shape[1:]), self.dtype)
        for place, number in enumerate(chosen.tolist()):
            self._read(number, samples[place : place + 1])
        return samples

    def chunks(self) -> Iterator[Array]:
        """Yield the whole array in chunks of samples. Raises `UserError` as `take` does."""
        step = max(1, CHUNK_BYTES // max(1, self._sample_bytes))
        for start in range(0, self.shape[0], step):
            end = min(start + step, self.shape[0])
            yield self._span(start, end) if _CAN_READ_AT else self._mapped()[start:end]

    def give_back(self) -> None:
        """Release the memory of mapped pages; pages still in the system's cache come back at once."""
        if hasattr(mmap, "MADV_DONTNEED") and "_map" in self.__dict__:
            self._map.madvise(mmap.MADV_DONTNEED)

    @property
    def _sample_bytes(self) -> int:
        return prod(self.shape[1:]) * self.dtype.itemsize

    def _mapped(self) -> Array:
        if self._map.size() < self.offset + self.shape[0] * self._sample_bytes:
            raise self._short()  # reading there would kill the process
        return np.frombuffer(self._map, self.dtype, prod(self.shape), self.offset).reshape(self.shape)

    def _span(self, first: int, end: int) -> Array:
        samples = np.empty((end - first, *self.shape[1:]), self.dtype)
        self._read(first, samples)
        return samples

    def _read(self, number: int, out: Array) -> None:
        """Fill `out` with the samples from index `number` on."""
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
        """File descriptor, which is closed when this object is garbage collected."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
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
        if hasattr(mmap, "MADV_RANDOM"):  # or the system reads far more around each sample, up to megabytes
            mapping.madvise(mmap.MADV_RANDOM)
        return mapping

    def _short(self) -> UserError:
        return UserError(
            f"{self.path} was cut off while it was read: it ends within the array '{self.name}'. "
            "Write the file again, and train anew or resume the run."
        )


class ArrayReader:
    """Reader of one input. Complex numbers become twice the channels; sequences are zero beyond their lengths."""

    kind: np.dtype[Any]

    def __init__(self, place: Place, channel_axis: int, lengths: Array | None = None, largest: int = 0) -> None:
        sizes = list(place.shape[1:]) or [1]
        self._is_complex = place.dtype.kind == "c"
        if self._is_complex:
            sizes[channel_axis - 1] *= 2
        if lengths is not None:
            sizes[0] = int(lengths.max())
        self.shape = (place.shape[0], *sizes)
        is_exact = np.can_cast(place.dtype, np.complex64 if self._is_complex else np.float32)
        self.kind = np.dtype(np.uint8 if place.dtype == np.uint8 else np.float32 if is_exact else np.float64)
        self.at_once = max(1, TASK_BYTES // (4 * prod(sizes)))
        self.largest, self.where = largest, str(place.path)
        self._place, self._lengths = place, lengths
        self._channel_axis = channel_axis
        self._touched = 0

    def read(self, chosen: Array, out: Array) -> None:
        """Read the chosen samples into `out`. Raises `UserError` for a cut-off file or values not finite in float32."""
        values = self._place.take(chosen)
        self._touched += max(values.nbytes, mmap.PAGESIZE * len(chosen))  # several threads: it need not be exact
        if self._touched > MOST_TOUCHED:
            self._touched = 0
            self._place.give_back()
        if self._lengths is not None:
            values = values[:, : self.shape[1]]
        with np.errstate(over="ignore", invalid="ignore"):
            if self._is_complex:
                values = values[:, np.newaxis] if values.ndim == 1 else values
                values = np.stack((values.real, values.imag), self._channel_axis + 1)
            out[...] = values.reshape(out.shape)
        if self._lengths is not None:
            out[np.arange(out.shape[1]) >= self._lengths[chosen][:, np.newaxis]] = 0
        if out.dtype.kind == "f" and not np.isfinite(out).all():
            bad = chosen[~np.isfinite(out).reshape(len(out), -1).all(1)]
            raise UserError(
                f"{self._place.what}: sample {int(bad[0]):,} holds numbers that are not finite in single precision. "
                "Expected finite numbers. Replace them, or leave the sample out."
            )
