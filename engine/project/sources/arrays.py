"""Arrays in files of NumPy, safetensors, torch, HDF5, MATLAB, MNIST (IDX) and CIFAR."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from netwright.engine.core.fields import Choice
from netwright.engine.core.records import Record
from netwright.engine.project.sources.source_type import SPLIT_NAMES, Guess, Peek, SourceType, split_of_name

_SPLITS = "|".join(sorted(SPLIT_NAMES, key=len, reverse=True))
_PARTS = (
    re.compile(rf"(?P<name>.+?)_(?P<split>(?i:{_SPLITS}))(?P<lengths>_lengths)?"),
    re.compile(rf"(?P<name>.+?)(?P<split>{_SPLITS.title()})(?P<lengths>_lengths)?"),
    re.compile(rf"(?P<split>(?i:{_SPLITS}))(?:_|(?=[A-Z]))(?P<name>.+?)(?P<lengths>_lengths)?"),
)
"""Names of arrays with their splits: `x_train`, `XTrain` as MATLAB's examples have it, `train_x` or `trainImages`."""
_HDF5 = b"\x89HDF\r\n\x1a\n"
_IDX = re.compile(r".*(images|labels)[-._]idx\d[-._][a-z]+(\.gz)?", re.IGNORECASE)
_COMPRESSED, _MATLAB_BEGIN = 15, 2048
"""Type of a compressed variable of MATLAB, and how much of it is read for its name."""
_CIFAR = re.compile(r"(data_batch_\d|test_batch|train|test)\.bin|data_batch_\d|test_batch")
"""Names of CIFAR's files; the reader refuses those without a suffix, which are pickles, and says what to do."""


def part_of_name(name: str) -> tuple[str, str]:
    """Return the name of an array without its split, and the split: `x` and `training` for `x_train`, `x_lengths` for
    `x_train_lengths`, `X` for `XTrain`; an empty split where it has none."""
    match = next(filter(None, (pattern.fullmatch(name) for pattern in _PARTS)), None)
    return (match["name"] + (match["lengths"] or ""), SPLIT_NAMES[match["split"].lower()]) if match else (name, "")


def division(names: Iterable[str]) -> dict[str, object]:
    """Return the options of arrays that are divided by their names, as `x_train` and `x_test` are."""
    splits = {part_of_name(name)[1] for name in names} - {""}
    return {"split": "folders"} if "training" in splits and len(splits) > 1 else {}


def split_of_file(name: str) -> str:
    """Return the split that the name of a file of arrays says: `training` for train.npz, `test` for test_32x32.mat;
    empty where it says none, as those of .npy files do: an array each."""
    stem, _, suffix = name.rpartition(".")
    return split_of_name(stem) if suffix.lower() != "npy" else ""


class ArrayOptions(Record):
    """Options of arrays alone."""

    integer_arrays = Choice(
        "indices",
        options=("indices", "numbers"),
        notes={
            "indices": "Sequences of indices, such as words, for an embedding",
            "numbers": "Features, as arrays of fractions are",
        },
        group="Source",
        help="What input arrays of integers with two axes, N T, hold. Default indices. torch: the dtype says it, long"
        " or float",
    )
    matlab_axes = Choice(
        "matlab",
        options=("matlab", "python"),
        words={"matlab": "Samples last (MATLAB)", "python": "Samples first (Python)"},
        notes={
            "matlab": "Samples last: T x C x N, H x W x C x N, H x W x D x C x N; a matrix is N x C",
            "python": "Samples first, as in files that scipy.io.savemat wrote: N T C, N C H W, N C D H W",
        },
        label="Axes of .mat files",
        group="Source",
        help="Order of the axes of arrays in MATLAB files. Default matlab. MATLAB: InputDataFormats",
        visible_when=lambda options: options.path.lower().endswith(".mat"),
    )


class Arrays(SourceType):
    """Inputs and targets as arrays."""

    key, label = "arrays", "Arrays"
    note = (
        "Arrays in files of NumPy, safetensors, torch, HDF5 or MATLAB, or those of MNIST or CIFAR; or a folder of such "
        "files"
    )
    wanted = "the file of arrays"
    inputs = "the other arrays of a file or of a folder of files ([formats of arrays](#formats-of-arrays))"
    targets = (
        "`y`, or `y_NAME` for each output `NAME`, or the arrays that `response` names; without these the one that is "
        "called `labels`, `targets`, `YTrain` or the like, or the smaller one of two"
    )
    options = ArrayOptions
    uses = ("path", "response", "task", "ignored_value", "loading", "bad_samples", "split_column")
    takes = "both"
    suffixes = (".npz", ".npy", ".safetensors", ".pt", ".pth", ".h5", ".hdf5", ".hdf", ".mat")
    files = "Arrays"
    reader = "netwright.engine.data.sources.arrays_reader:ArrayFile"
    can_stream = True
    has_folders = True
    streamed = "arrays that lie in a file as in memory, read in place; HDF5 in chunks"
    resident = (
        "targets; compressed `.npz` and `.gz`, arrays in Fortran order, `.pt`, `.mat` before version 7.3, as a whole"
    )

    @property
    def recorded(self) -> tuple[str, ...]:
        """All files: those of MNIST have no suffix."""
        return ()

    @property
    def pattern(self) -> str:
        """Pattern of the file dialog, with the files of MNIST and CIFAR, which have no suffix of their own."""
        suffixes = " ".join(f"*{suffix}" for suffix in self.suffixes)
        return f"{self.files} ({suffixes} *-ubyte *-ubyte.gz *_batch*.bin train.bin test.bin)"

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for files of arrays, by their first bytes and names, and for folders of them."""
        if not peek.is_folder:
            content = _kind(peek)
            return Guess(self.key, 0.95, f"The file holds {content}", division(_names(peek))) if content else None
        names = [name for name in peek.tree.get("", ()) if self._is_mine(name)]
        if not names:
            return None
        listing = ", ".join(names[:4]) + (" and more" if len(names) > 4 else "")
        splits = set(map(split_of_file, names))
        is_divided = any(map(_is_test, names)) and not all(map(_is_test, names))
        is_divided = is_divided or ({"training"} < splits and "" not in splits)
        options = (
            {"split": "folders"}
            if is_divided
            else division(name.removesuffix(".npy") for name in names if name.endswith(".npy"))
        )
        return Guess(self.key, 0.9, f"The folder holds arrays: {listing}", options)

    def _is_mine(self, name: str) -> bool:
        return name.lower().endswith(self.suffixes) or bool(_IDX.fullmatch(name) or _CIFAR.fullmatch(name))


def _names(peek: Peek) -> list[str]:
    """Return the names of the arrays of NumPy in a file, or beside it, or those of MATLAB before version 7.3."""
    if peek.suffix == ".npy":
        return [file.stem for file in peek.path.parent.glob("*.npy")]
    if peek.head.startswith(b"MATLAB 5.0"):
        with suppress(OSError, ValueError, struct.error, zlib.error):
            return list(_matlab_names(peek.path))
    if peek.suffix != ".npz":
        return []
    with suppress(zipfile.BadZipFile, OSError, NotImplementedError, ValueError), zipfile.ZipFile(peek.path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]
    return []


def _matlab_names(path: Path) -> Iterator[str]:
    """Yield the names of the variables in a file of MATLAB's versions 5 to 7, from the beginning of each: see
    MathWorks, MAT-File Format, Level 5. Raises `ValueError`, `struct.error` or `zlib.error` for a damaged file."""
    with open(path, "rb") as file:
        order = "<" if file.read(128).endswith(b"IM") else ">"
        while len(tag := file.read(8)) == 8:
            kind, size = struct.unpack(f"{order}2I", tag)
            start = file.tell()
            begin = file.read(min(size, _MATLAB_BEGIN))
            if kind == _COMPRESSED:
                begin = zlib.decompressobj().decompress(begin, _MATLAB_BEGIN)[8:]  # the tag of the matrix inside
            (axes,) = struct.unpack_from(f"{order}I", begin, 20)  # behind the flags
            at = 24 + -(-axes // 8) * 8
            count, length = struct.unpack_from(f"{order}2I", begin, at)
            name = begin[at + 4 :][: count >> 16] if count >> 16 else begin[at + 8 :][:length]
            yield name.decode("ascii", "replace")
            file.seek(start + size)


def _is_test(name: str) -> bool:
    """Return whether a file of MNIST or CIFAR is for the test."""
    is_test = name.lower().startswith(("t10k-", "test-")) if _IDX.fullmatch(name) else "test" in name
    return is_test and bool(_IDX.fullmatch(name) or _CIFAR.fullmatch(name))


def _kind(peek: Peek) -> str:
    """Return the arrays that a file holds, in words; empty for another file."""
    head = peek.head
    if peek.suffix == ".npz" and head.startswith(b"PK"):
        return "several NumPy arrays"
    if peek.suffix == ".npy" and head.startswith(b"\x93NUMPY"):
        return "a NumPy array, and those beside it"
    if peek.suffix == ".safetensors" and head[8:9] == b"{":
        return "tensors in the format safetensors"
    if peek.suffix in (".pt", ".pth") and head.startswith((b"PK", b"\x80")):
        return "tensors of torch.save"
    if head.startswith((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file")) or (peek.suffix == ".mat" and head):
        return "variables of MATLAB"
    if head.startswith(_HDF5) or head[512 : 512 + len(_HDF5)] == _HDF5:
        return "datasets of HDF5"
    if _IDX.fullmatch(peek.path.name) and head.startswith((b"\0\0", b"\x1f\x8b")):
        return "images or labels in the format of MNIST; the other file lies beside it"
    if _CIFAR.fullmatch(peek.path.name) and head:
        return "images and labels in CIFAR's binary format"
    return ""
