"""NumPy's files: a `.npz` file, or a folder of `.npy` files. Pickled objects are never loaded."""

import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.data.sources.array_storage import (
    MOST_ARRAYS,
    MOST_DEFLATED,
    Place,
    StoredArray,
    reading,
    refuse_odd_name,
)
from netwright.engine.data.sources.source import Array

AGAIN = "Write the file again with numpy.savez."
DIRECTORY_BYTES = 2**22
"""Limit of the directory of a zip file; larger ones hold far more than the arrays that are read."""


@dataclass(frozen=True)
class NumpyArray(Place):
    """Array in NumPy's format, in a file of its own or in an archive; `offset` is 0 where it can only be read whole."""

    @property
    def code(self) -> tuple[str, str]:
        """Expression that loads the array."""
        return ("np.load(FILE)" if self.path.suffix == ".npy" else f"np.load(FILE)[{self.name!r}]"), ""

    def read(self) -> Array:
        """Return the whole array. Raises `UserError`."""
        self.refuse_if_too_large()
        with reading(self.path, AGAIN), self._content() as content:
            with _quiet():
                array: Array = np.lib.format.read_array(content, allow_pickle=False)
            if (array.shape, array.dtype) != (self.shape, self.dtype):
                raise ValueError(f"array '{self.name}' has changed meanwhile")
        if array.dtype.kind == "U" and not _are_characters(array):
            raise UserError(f"{self.what} holds texts with characters that do not exist. {AGAIN}")
        return array

    def begin(self, count: int) -> Array | None:
        """Return the first `count` samples, of a compressed array without unpacking the others. Raises `UserError`."""
        if not self.only_whole:
            return super().begin(count)
        with reading(self.path, AGAIN), self._content() as content:
            shape, is_by_column, dtype = _npy_header(content)
            if is_by_column and len(shape) > 1:
                return None
            data = content.read(count * self.sample_bytes)
            return np.frombuffer(data, dtype).reshape(count, *shape[1:])

    @contextmanager
    def _content(self) -> Iterator[IO[bytes]]:
        """Open the `.npy` data of the array, in its own file or in an archive."""
        if self.path.suffix == ".npy":
            with open(self.path, "rb") as content:
                yield content
            return
        with zipfile.ZipFile(self.path) as file, file.open(f"{self.name}.npy") as entry:
            yield entry


def npy_arrays(file: Path) -> dict[str, StoredArray]:
    """Return the array of a `.npy` file, called as the file is. Raises `UserError`."""
    refuse_odd_name(file.stem, file.parent)
    with reading(file, AGAIN), open(file, "rb") as content:
        shape, is_by_column, dtype = _npy_header(content)
        begin = content.tell()
        array = _array(file, file.stem, shape, dtype, 0 if is_by_column and len(shape) > 1 else begin)
        _refuse_unusable(array, file.stat().st_size - begin)
    return {file.stem: array}


def npz_arrays(path: Path) -> dict[str, StoredArray]:
    """Return the arrays of a `.npz` file by name, in its order. Raises `UserError`."""
    arrays: dict[str, StoredArray] = {}
    with reading(path, AGAIN), _Reader(path) as reader, _archive(reader, path) as file:
        entries = [entry for entry in file.infolist() if entry.filename.endswith(".npy")]
        if len(entries) > MOST_ARRAYS:
            raise UserError(f"{path} holds {len(entries):,} arrays; at most {MOST_ARRAYS:,} are taken. {AGAIN}")
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            _refuse_odd(entry, name, arrays, path)
            with file.open(entry) as content:
                shape, is_by_column, dtype = _npy_header(content)
                begin = content.tell()
            is_plain = entry.compress_type == zipfile.ZIP_STORED and not (is_by_column and len(shape) > 1)
            offset = _begin(reader, entry) + begin if is_plain else 0
            arrays[name] = _array(path, name, shape, dtype, offset)
            _refuse_unusable(arrays[name], entry.file_size - begin)
    return arrays


def _array(path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], offset: int) -> NumpyArray:
    why = (
        ""
        if offset
        else "it is compressed, or in Fortran order. numpy.savez (not savez_compressed) with numpy.ascontiguousarray "
        "writes it so that it can"
    )
    return NumpyArray(path, name, shape, dtype, why, offset=offset)


class _Reader(io.BufferedReader):
    """Reader with a limit per call, since a zip file itself states the size of its directory, which may be wrong."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes. Raises `ValueError` above the limit `DIRECTORY_BYTES`."""
        count = DIRECTORY_BYTES + 1 if size is None or size < 0 else size
        data = super().read(min(count, DIRECTORY_BYTES + 1))
        if len(data) > DIRECTORY_BYTES:
            raise ValueError(f"its directory has more than {DIRECTORY_BYTES:,} bytes")
        return data


def _archive(reader: IO[bytes], path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(reader)
    except zipfile.BadZipFile as error:
        if "not a zip file" in str(error):
            raise UserError(
                f"{path} is no .npz file, or was cut off. Expected a file as numpy.savez(path, x=..., y=...) writes "
                f"it, or of another format of arrays. {AGAIN}"
            ) from None
        raise


def _refuse_unusable(array: StoredArray, stored_bytes: int) -> None:
    """Raise an error for an array whose size is not `stored_bytes` bytes, or whose dtype or shape cannot be used."""
    name, shape, dtype = array.name, array.shape, array.dtype
    if dtype.hasobject:
        raise UserError(
            f"{array.what} holds Python objects, which are not loaded because they could "
            "run a program. Expected numbers, or texts as responses. "
            f"Store it with a type, as in {name}.astype('float32')."
        )
    if array.bytes != stored_bytes or any(size < 0 for size in shape):
        raise ValueError(f"array '{name}' should have {array.bytes:,} bytes and has {stored_bytes:,}")
    if (0 in shape[1:] or not dtype.itemsize) and shape[:1] != (0,):
        flaw = f"has the shape {shape}: an axis of size 0" if dtype.itemsize else "holds texts without characters"
        raise UserError(f"{array.what} {flaw}.")


def _refuse_odd(entry: zipfile.ZipInfo, name: str, arrays: Mapping[str, StoredArray], path: Path) -> None:
    """Refuse entries that NumPy does not write, and impossible sizes, before anything is read."""
    refuse_odd_name(name, path)
    if name in arrays:
        raise UserError(f"{path} holds two arrays called '{name}'. {AGAIN}")
    most = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_DEFLATED}.get(entry.compress_type, 0)
    if not most:
        raise UserError(f"Array '{name}' of {path} is compressed in another way than numpy does it. {AGAIN}")
    if entry.compress_size > path.stat().st_size or entry.file_size > most * (entry.compress_size + 1):
        raise ValueError(f"array '{name}' cannot have {plural(entry.file_size, 'byte')}")


def _begin(reader: IO[bytes], entry: zipfile.ZipInfo) -> int:
    """Return the offset of the bytes of a zip entry, from its local header in the file."""
    reader.seek(entry.header_offset)
    header = reader.read(30)
    return entry.header_offset + 30 + sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))


def _npy_header(content: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    version = np.lib.format.read_magic(content)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version[0]}.{version[1]} of NumPy's format is not known")
    parse = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with _quiet():
        return parse(content)


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore the warning that a file was written by an old NumPy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _are_characters(texts: Array) -> bool:
    """Return whether all characters are valid Unicode: NumPy stores a character as any 32-bit number."""
    whole = np.ascontiguousarray(texts)
    codes = whole.view(np.dtype(np.uint32).newbyteorder(whole.dtype.byteorder))
    return not bool(((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any())
