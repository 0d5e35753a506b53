"""Arrays in a NumPy `.npz` file: one is the target (`y`, or what `engine.data.sources.targets` says), others inputs.

The first axis of each counts the samples. What the others mean follows from their number:

| array          | taken as                                               |
|----------------|--------------------------------------------------------|
| N              | one feature a sample                                   |
| N C            | features; of whole numbers: N T, tokens (indices)      |
| N T C          | a sequence, steps first; a grey image is N 1 H W       |
| N C H W        | an image                                               |
| N C D H W      | a volume                                               |

Complex numbers become twice as many channels, each real part before its imaginary part: what MATLAB calls
SplitComplexInputs, and as a real-to-complex layer takes them.

Sequences of different lengths are padded at their ends, and a second array says how many steps of each are real: whole
numbers called `x_lengths` beside the sequences or tokens `x`. What stands behind the end of one is not looked at.

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

from engine.data.facts import InputFacts
from engine.data.sources.mapped import Place, StoredArray
from engine.data.sources.places import file_stamp, refuse_too_large, unreadable
from engine.data.sources.source import Array, Column, Outline, Samples, Streams
from engine.data.sources.targets import LENGTHS, NUMBERS, Beside, Target, read_target, refuse_strange, target_names
from engine.errors import UserError, plural
from engine.fields import printable, quoted
from engine.layers.types import TensorType, features, image, sequence, tokens, volume
from engine.project.data import DataOptions

EXPECTED = "a .npz file, as numpy.savez(path, x=..., y=...) writes it"
AGAIN = "Write the file again with numpy.savez."
MOST_ARRAYS = 1000
LONGEST_NAME = 200
LARGEST = 2**63
DIRECTORY_BYTES = 2**22
"""Of a zip file; larger ones hold far more than the arrays that are looked at."""
MOST_DEFLATED = 1032
"""No byte of deflated data stands for more: see the manual of zlib, maximum compression factor."""


@dataclass(frozen=True)
class _Header:
    """Shape and type of number of one array, known without reading it."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
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


class ArrayFile:
    """Inputs and targets from one file."""

    def stamp(self, path: Path) -> Hashable:
        """Size and time of the file."""
        return file_stamp(path, EXPECTED)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """From the headers of the arrays, and the targets."""
        headers = _headers(path)
        names, timed = _roles(options.response, headers, path)
        inputs = {name: header for name, header in headers.items() if name not in (*names, *timed.values())}
        samples = _count(headers, path)
        types = {name: _type(header, path) for name, header in inputs.items()}
        found = {name: _lengths(path, headers[name], headers[given]) for name, given in timed.items()}
        padded = {name: lengths for name, lengths in found.items() if lengths is not None}
        beside = Beside(types, {name: padded[name] for name in padded if name in types}, options.ignored_value)
        targets = _targets(options.task, names, headers, found, beside, path)
        assert all(len(target.array) == samples for target in targets)
        spans = {name: _span(lengths) for name, lengths in padded.items() if name in types}
        types |= {name: types[name].opened() for name in spans}
        return Outline(
            inputs=tuple(InputFacts(name, type, lengths=spans.get(name)) for name, type in types.items()),
            targets=tuple(target.array for target in targets),
            wanted=tuple(target.facts for target in targets),
            notes=(
                *(note for target in targets for note in target.notes),
                *(_spoken(name, *span) for name, span in spans.items()),
                *(note for name, type in types.items() for note in _doubts(inputs[name], type)),
            ),
            columns=tuple(
                _column(header, types.get(header.name), is_lengths=header.name in timed.values())
                for header in headers.values()
            ),
            resident_because=next((why for header in inputs.values() if (why := _only_whole(header))), ""),
        )

    def streams(self, options: DataOptions, path: Path, outline: Outline) -> Streams:
        """The arrays where they lie in the file. The finiteness of samples is looked at as they are read."""
        headers = _headers(path)
        _, timed = _roles(options.response, headers, path)
        inputs, notes, lengths = [], [], []
        for given in outline.inputs:
            header = headers[given.name]
            place = Place(path, header.name, header.shape, header.dtype, header.offset)
            real = _lengths(path, header, headers[timed[header.name]]) if header.name in timed else None
            largest = 0
            if given.type.kind == "index":
                low, largest = _span_of_indices(place, real)
                notes.append(_vocabulary(low, largest, header.name, path))
            inputs.append(StoredArray(place, _channel_axis(len(header.shape)), real, largest))
            lengths.append(real)
        return Streams(tuple(inputs), tuple(notes), tuple(lengths) if any(n is not None for n in lengths) else ())

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        """The arrays as they are stored; only their finiteness is looked at."""
        headers = _headers(path)
        wanted = [headers[given.name] for given in outline.inputs]
        needed = sum(header.bytes // header.dtype.itemsize * (8 if header.is_complex else 4) for header in wanted)
        needed += sum(header.bytes * (2 if header.is_complex else 1) for header in wanted)
        refuse_too_large(needed, f"The arrays of {path}", "Use fewer samples or smaller ones.")
        arrays, notes, lengths = [], [], []
        _, timed = _roles(options.response, headers, path)
        for given, header in zip(outline.inputs, wanted, strict=True):
            array = _parts(_read(path, header))
            real = _lengths(path, header, headers[timed[header.name]]) if header.name in timed else None
            if real is not None:
                array = np.ascontiguousarray(array[:, : int(real.max())])  # no sequence needs the rest
                array[np.arange(array.shape[1]) >= real[:, np.newaxis]] = 0
            lengths.append(real if real is None or chosen is None else real[chosen])
            refuse_strange(array, f"Array '{header.name}' of {path}")
            if given.type.kind == "index":
                notes.append(_vocabulary(int(array.min()), int(array.max()), header.name, path))
            array = array[:, np.newaxis] if array.ndim == 1 else array
            arrays.append(array if chosen is None else array[chosen])
        return Samples(tuple(arrays), tuple(notes), tuple(lengths) if any(n is not None for n in lengths) else ())


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


def _headers(path: Path) -> dict[str, _Header]:
    """The arrays by name, in the order of the file. Raises `UserError`."""
    found: dict[str, _Header] = {}
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
            held = entry.file_size - begin
            is_plain = entry.compress_type == zipfile.ZIP_STORED and not (is_by_column and len(shape) > 1)
            found[name] = header = _Header(name, shape, dtype, _begin(opened, entry) + begin if is_plain else 0)
            if dtype.hasobject:
                raise UserError(
                    f"Array '{name}' of {path} holds Python objects, which are not loaded because they could "
                    "run a program. Expected numbers, or texts as responses. "
                    f"Store it with a type, as in {name}.astype('float32')."
                )
            if header.bytes != held or any(size < 0 for size in shape):
                raise ValueError(f"array '{name}' should have {header.bytes:,} bytes and has {held:,}")
            if (0 in shape[1:] or not dtype.itemsize) and shape[:1] != (0,):
                what = (
                    f"has the shape {shape}: an axis of size 0" if dtype.itemsize else "holds texts without characters"
                )
                raise UserError(f"Array '{name}' of {path} {what}.")
    if not found:
        raise UserError(f"{path} holds no arrays. Expected {EXPECTED}.")
    return found


def _refuse_odd(entry: zipfile.ZipInfo, name: str, found: Mapping[str, _Header], path: Path) -> None:
    """Refuse what numpy does not write, and sizes that cannot be true: nothing of them was read yet."""
    if not name.isprintable() or len(name) > LONGEST_NAME:
        raise UserError(f"{path} holds an array called {quoted(name)}. Expected names of letters and digits. {AGAIN}")
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


def _read(path: Path, header: _Header) -> Array:
    refuse_too_large(header.bytes, f"Array '{header.name}' of {path}", "Use fewer samples or smaller ones.")
    with _reading(path), zipfile.ZipFile(path) as file, file.open(f"{header.name}.npy") as content:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as above
            array: Array = np.lib.format.read_array(content, allow_pickle=False)
        if (array.shape, array.dtype) != (header.shape, header.dtype):
            raise ValueError(f"array '{header.name}' has changed meanwhile")
    if array.dtype.kind == "U" and not _are_characters(array):
        raise UserError(f"Array '{header.name}' of {path} holds texts with characters that do not exist. {AGAIN}")
    return array


def _are_characters(texts: Array) -> bool:
    """Whether all of them are Unicode: numpy keeps a character as any number of 32 bits."""
    whole = np.ascontiguousarray(texts)
    codes = whole.view(np.dtype(np.uint32).newbyteorder(whole.dtype.byteorder))
    return not bool(((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any())


def _count(headers: Mapping[str, _Header], path: Path) -> int:
    """The samples, of which each array must have as many."""
    for name, header in headers.items():
        if not header.shape:
            raise UserError(
                f"Array '{name}' of {path} is a single value. Expected one axis at least, which counts the samples."
            )
    counts = {name: header.shape[0] for name, header in headers.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"'{name}' {count:,}" for name, count in counts.items())
        raise UserError(f"The arrays of {path} differ in their number of samples (the first axis): {told}.")
    if (count := next(iter(counts.values()))) == 0:
        raise UserError(f"The arrays of {path} have no samples: the size of their first axis is 0.")
    return count


def _type(header: _Header, path: Path) -> TensorType:
    sizes = header.shape[1:]
    if header.is_complex:
        channels = _channel_axis(len(header.shape)) - 1
        sizes = (*sizes[:channels], 2 * (sizes[channels] if sizes else 1), *sizes[channels + 1 :])
    elif header.dtype.kind not in NUMBERS:
        raise UserError(
            f"Array '{header.name}' of {path} holds {header.dtype}; an input holds numbers. "
            "Store it as float32, or name it as the response."
        )
    match len(sizes):
        case 0:
            return features(1)
        case 1:
            return tokens(*sizes) if header.dtype.kind in "iu" else features(*sizes)
        case 2:
            return sequence(*sizes)
        case 3:
            return image(*sizes)
        case 4:
            return volume(*sizes)
    raise UserError(
        f"Array '{header.name}' of {path} has {len(header.shape)} axes, {header.shape}. Expected N C (features), "
        "N T C (sequence), N C H W (image) or N C D H W (volume)."
    )


def _channel_axis(axes: int) -> int:
    """The axis of the channels in an array with so many axes."""
    return 2 if axes == 3 else 1


def _parts(array: Array) -> Array:
    """Complex numbers as twice the channels, each real part before its imaginary part; others as they are."""
    if array.dtype.kind != "c":
        return array
    array = array[:, np.newaxis] if array.ndim == 1 else array
    axis = _channel_axis(array.ndim)
    shape = (*array.shape[:axis], 2 * array.shape[axis], *array.shape[axis + 1 :])
    return np.stack((array.real, array.imag), axis + 1).reshape(shape)


def _doubts(header: _Header, type: TensorType) -> Iterator[str]:
    """What may have been meant otherwise."""
    if type.kind == "index" and not type.is_open:
        yield (
            f"'{header.name}' holds whole numbers: taken as sequences of {type.sizes[0]} indices. "
            "To take them as features, store the array as float32."
        )
    if type.layout == "image" and header.shape[-1] in (1, 3, 4) and header.shape[1] not in (1, 3, 4):
        yield (
            f"'{header.name}' was taken as images with {header.shape[1]} channels. If its channels come last, "
            f"move them: {header.name}.transpose(0, 3, 1, 2)."
        )


def _span_of_indices(place: Place, lengths: Array | None) -> tuple[int, int]:
    """The smallest and the largest index of sequences as long as they really are, padded with 0."""
    low, high, start = (0, 0, 0) if lengths is not None else (LARGEST, -LARGEST, 0)
    for chunk in place.chunks():
        real = chunk
        if lengths is not None:
            real = chunk[np.arange(chunk.shape[1]) < lengths[start : start + len(chunk), np.newaxis]]
            start += len(chunk)
        low, high = min(low, int(real.min())), max(high, int(real.max()))
    return low, high


def _only_whole(header: _Header) -> str:
    """Why an array can only be read whole, or nothing."""
    if header.offset:
        return ""
    return (
        f"array '{header.name}' cannot be read sample by sample: it is compressed, or in Fortran order. "
        "numpy.savez (not savez_compressed) with numpy.ascontiguousarray writes it so that it can"
    )


def _vocabulary(low: int, high: int, name: str, path: Path) -> str:
    if low < 0:
        raise UserError(
            f"Array '{name}' of {path} holds whole numbers, taken as indices, but the smallest is {low:,}. "
            "Expected indices from 0. To take them as features, store the array as float32."
        )
    if high >= 2**24:
        raise UserError(f"Array '{name}' of {path} holds the index {high:,}; indices are at most {2**24 - 1:,}.")
    return f"The largest index in '{name}' is {high:,}: an embedding needs a vocabulary of at least {high + 1:,}."


def _roles(response: str, headers: Mapping[str, _Header], path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """For each array of targets the target's name; for each array of sequences the one that holds their lengths."""
    names = target_names(response, list(headers), str(path))
    pairs = {name: f"{name}{LENGTHS}" for name in headers}
    timed = {
        name: lengths
        for name, lengths in pairs.items()
        if lengths in headers
        and lengths not in names
        and headers[lengths].dtype.kind in "iu"
        and len(headers[lengths].shape) == 1
        and (name in names or _is_sequence(headers[name]))
        and len(headers[name].shape) > 1
    }
    if not headers.keys() - names.keys() - set(timed.values()):
        one = next(iter(names))
        raise UserError(f"{path} holds the responses {quoted(one)} and no input. Expected {EXPECTED}.")
    return names, timed


def _is_sequence(header: _Header) -> bool:
    return len(header.shape) == 3 or (len(header.shape) == 2 and header.dtype.kind in "iu")


def _targets(
    task: str,
    names: Mapping[str, str],
    headers: Mapping[str, _Header],
    lengths: Mapping[str, Array | None],
    beside: Beside,
    path: Path,
) -> list[Target]:
    """What each array of targets asks for. Where all lengths are those of the array they are said all the same: that
    there are some tells transcripts from numbers."""
    found = []
    for array, name in names.items():
        values, given = _read(path, headers[array]), lengths.get(array)
        if array in lengths and given is None:
            given = np.full(len(values), values.shape[1])
        found.append(read_target(name, task, values, given, beside, f"Array '{array}' of {path}"))
    return found


def _lengths(path: Path, header: _Header, lengths: _Header) -> Array | None:
    """The lengths of the sequences in an array, or None where none is padded. Raises `UserError`."""
    given = _read(path, lengths).astype(np.int64)
    most = header.shape[1]
    wrong = (given < 1) | (given > most)
    if wrong.any():
        place = int(wrong.argmax())
        raise UserError(
            f"Array '{lengths.name}' of {path} says how long each sequence in '{header.name}' is: expected 1 to "
            f"{most:,} steps, received {given[place]:,} for sample {place:,}. Correct it, or leave the sample out."
        )
    return None if (given == most).all() else given


def _span(lengths: Array) -> tuple[int, int]:
    return int(lengths.min()), int(lengths.max())


def _spoken(name: str, shortest: int, longest: int) -> str:
    return (
        f"The sequences in '{name}' have {shortest:,} to {longest:,} steps; '{name}{LENGTHS}' says how many each has."
    )


def _column(header: _Header, type: TensorType | None, *, is_lengths: bool = False) -> Column:
    numbers = "text" if header.dtype.kind in "US" else str(header.dtype)
    kind = f"{numbers}, {' × '.join(map(str, header.shape))}"
    role = "lengths" if is_lengths else "input" if type else "response"
    return Column(header.name, role, f"{type.layout}: {kind}" if type else kind)
