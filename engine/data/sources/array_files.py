"""Files of NumPy's arrays: a `.npz` file, or a folder of `.npy` files. What they hold is known before it is read.

Pickled objects are never loaded: they could run a program.
"""

import io
import warnings
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from engine.data.sources.places import file_stamp, refuse_too_large, unreadable
from engine.data.sources.source import Array
from engine.errors import UserError, plural
from engine.fields import printable, quoted

EXPECTED = "a .npz file, as numpy.savez(path, x=..., y=...) writes it, or a folder of .npy files"
AGAIN = "Write the file again with numpy.savez."
MOST_ARRAYS = 1000
LONGEST_NAME = 200
DIRECTORY_BYTES = 2**22
"""Of a zip file; larger ones hold far more than the arrays that are looked at."""
MOST_DEFLATED = 1032
"""No byte of deflated data stands for more: see the manual of zlib, maximum compression factor."""


@dataclass(frozen=True)
class Header:
    """Shape and type of number of one array, known without reading it."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    path: Path
    """The file that holds it."""
    offset: int = 0
    """Where its numbers begin in the file; 0 where they cannot be read there one by one."""

    @property
    def bytes(self) -> int:
        count = 1
        for size in self.shape:
            count *= size  # in Python's whole numbers, which do not overflow
        return count * self.dtype.itemsize

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"


class _Reader(io.BufferedReader):
    """Hands out no more at a time than a directory may have: a zip file says itself how large its directory is."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))

    def read(self, size: int | None = -1, /) -> bytes:
        """As asked, within the limit."""
        wanted = DIRECTORY_BYTES + 1 if size is None or size < 0 else size
        data = super().read(min(wanted, DIRECTORY_BYTES + 1))
        if len(data) > DIRECTORY_BYTES:
            raise ValueError(f"its directory has more than {DIRECTORY_BYTES:,} bytes")
        return data


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns what can go wrong inside a damaged or foreign file into words."""
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
    """Size and time of the file, or of each file of a folder. Raises `UserError` where there is nothing to read."""
    path = _place(path)
    if path.is_dir():
        return tuple((file.name, file_stamp(file, EXPECTED)) for file in _files(path))
    return file_stamp(path, EXPECTED)


def headers(path: Path) -> dict[str, Header]:
    """The arrays by name, in the order of the file, or of their names in a folder. Raises `UserError`."""
    path = _place(path)
    found = _of_folder(path) if path.is_dir() else _of_archive(path)
    if not found:
        raise UserError(f"{path} holds no arrays. Expected {EXPECTED}.")
    return found


def _place(path: Path) -> Path:
    """One `.npy` file stands for the folder with all of them, since a file dialog offers files."""
    return path.parent if path.suffix == ".npy" and path.is_file() else path


def _files(folder: Path) -> list[Path]:
    """The arrays of a folder. Raises `UserError` where there is none."""
    try:
        found = sorted(file for file in folder.iterdir() if file.suffix == ".npy" and not file.name.startswith("."))
    except OSError as error:
        raise unreadable(folder, error) from None
    if not found:
        raise UserError(f"{folder} is a folder without .npy files. Expected {EXPECTED}.")
    if len(found) > MOST_ARRAYS:
        raise UserError(f"{folder} holds {len(found):,} arrays; at most {MOST_ARRAYS:,} are taken.")
    return found


def _of_folder(folder: Path) -> dict[str, Header]:
    found = {}
    for file in _files(folder):
        _refuse_odd_name(file.stem, folder)
        with _reading(file), open(file, "rb") as content:
            shape, is_by_column, dtype = _npy_header(content)
            begin = content.tell()
            offset = 0 if is_by_column and len(shape) > 1 else begin
            found[file.stem] = Header(file.stem, shape, dtype, file, offset)
            _refuse_unusable(found[file.stem], file.stat().st_size - begin)
    return found


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
    """Raise for an array that is not as long as it says (`held` bytes), or holds what is no data."""
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
    """Refuse what numpy does not write, and sizes that cannot be true: nothing of them was read yet."""
    _refuse_odd_name(name, path)
    if name in found:
        raise UserError(f"{path} holds two arrays called '{name}'. {AGAIN}")
    most = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_DEFLATED}.get(entry.compress_type, 0)
    if not most:
        raise UserError(f"Array '{name}' of {path} is compressed in another way than numpy does it. {AGAIN}")
    if entry.compress_size > path.stat().st_size or entry.file_size > most * (entry.compress_size + 1):
        raise ValueError(f"array '{name}' cannot have {plural(entry.file_size, 'byte')}")


def _begin(opened: IO[bytes], entry: zipfile.ZipInfo) -> int:
    """Where the bytes of an entry begin, which its own header in the file says, behind a name and more."""
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
    """All of an array. Raises `UserError`."""
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
    """What `numpy.save` wrote."""
    if header.path.suffix == ".npy":
        with open(header.path, "rb") as content:
            yield content
        return
    with zipfile.ZipFile(header.path) as file, file.open(f"{header.name}.npy") as entry:
        yield entry


def _are_characters(texts: Array) -> bool:
    """Whether all of them are Unicode: numpy keeps a character as any number of 32 bits."""
    whole = np.ascontiguousarray(texts)
    codes = whole.view(np.dtype(np.uint32).newbyteorder(whole.dtype.byteorder))
    return not bool(((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any())
