"""Files of arrays behind the source `arrays`: their formats, which files belong together, and the reader of samples.

| format                | named is                                      | arrays                                      |
|-----------------------|-----------------------------------------------|---------------------------------------------|
| NumPy                 | a `.npz` file, or a folder of `.npy` files    | by name                                     |
| safetensors           | a file, or a folder of files                  | by name                                     |
| torch.save            | a `.pt` or `.pth` file, or a folder of files  | by name; of a pair `x` and `y`              |
| HDF5                  | a file, or a folder of files                  | by path, such as `group/x`                  |
| MATLAB                | a `.mat` file, or a folder of files           | by name; fields of a structure as `data.x`  |
| IDX (MNIST)           | one of the two files, or the folder           | `x` and `y`                                 |
| CIFAR's binary format | one of the files, or the folder               | `x` and `y`, or `x`, `fine` and `coarse`    |

Arrays of one name in several files of a folder are joined along their samples, in the order of the files' names.
"""

import contextlib
import mmap
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.part_registry import imported
from netwright.engine.data.sources import cifar_files, idx_files
from netwright.engine.data.sources.array_storage import MOST_ARRAYS, StoredArray, joined
from netwright.engine.data.sources.hdf5_file import hdf5_arrays, is_hdf5
from netwright.engine.data.sources.matlab_file import matlab_arrays
from netwright.engine.data.sources.numpy_files import npy_arrays, npz_arrays
from netwright.engine.data.sources.safetensors_file import safetensors_arrays
from netwright.engine.data.sources.source import Array, BadSampleError, file_stamp, unreadable
from netwright.engine.project.sources.arrays import split_of_file

EXPECTED = (
    "a .npz file, as numpy.savez(path, x=..., y=...) writes it, a folder of .npy files, a file of safetensors, "
    "torch.save, HDF5 or MATLAB, or the files of MNIST or CIFAR"
)
MOST_FILES = 10_000
TASK_BYTES = 2**20
MOST_TOUCHED = 2**27
"""Bytes read from a mapped file after which their memory is released, since it counts as memory of the run."""


@dataclass(frozen=True)
class Format:
    """One format: which files of a folder are of it, those read for a named file, and the reader of one."""

    is_mine: Callable[[str], bool]
    read: Callable[[Path], dict[str, StoredArray]]
    of_file: Callable[[Path], list[Path]] = lambda path: [path]
    splits: Callable[[Path], dict[str, list[Path]]] | None = None
    """Files of a folder by split, where their names say it."""


def _ends(*suffixes: str) -> Callable[[str], bool]:
    return lambda name: name.lower().endswith(suffixes) and not name.startswith(".")


def _neighbours(path: Path) -> list[Path]:
    """Return the files of a `.npy` file, which stands for all arrays in its folder since a file dialog offers files."""
    return _files_in(path.parent, FORMATS["npy"].is_mine)


def _of_torch(path: Path) -> dict[str, StoredArray]:
    """Return the arrays of a file of `torch.save`; torch is imported for such files alone."""
    arrays: dict[str, StoredArray] = imported("netwright.engine.data.sources.torch_tensors:torch_arrays")(path)
    return arrays


def _splits_of(is_mine: Callable[[str], bool]) -> Callable[[Path], dict[str, list[Path]]]:
    """Return a function that divides the files of a folder by their names, as train.mat and test.mat are; all train
    where a name says no split."""

    def split_files(folder: Path) -> dict[str, list[Path]]:
        files: dict[str, list[Path]] = {}
        for file in _files_in(folder, is_mine):
            files.setdefault(split_of_file(file.name), []).append(file)
        is_divided = "training" in files and "" not in files
        return files if is_divided else {"training": [*chain.from_iterable(files.values())]}

    return split_files


def _whole(read: Callable[[Path], dict[str, StoredArray]], *suffixes: str) -> Format:
    """Return a format whose files hold inputs and responses."""
    is_mine = _ends(*suffixes)
    return Format(is_mine, read, splits=_splits_of(is_mine))


FORMATS = {
    "npy": Format(_ends(".npy"), npy_arrays, _neighbours),
    "npz": _whole(npz_arrays, ".npz"),
    "safetensors": _whole(safetensors_arrays, ".safetensors"),
    "torch": _whole(_of_torch, ".pt", ".pth"),
    "hdf5": _whole(hdf5_arrays, ".h5", ".hdf5", ".hdf"),
    "matlab": _whole(matlab_arrays, ".mat"),
    "idx": Format(idx_files.is_idx, idx_files.idx_arrays, idx_files.pair_of, idx_files.split_pairs),
    "cifar": Format(
        cifar_files.is_cifar,
        cifar_files.cifar_arrays,
        lambda path: cifar_files.split_files(path.parent)["training"] if "test" not in path.name else [path],
        cifar_files.split_files,
    ),
}
"""Formats in the order in which a folder is taken as one of them."""


def format_of(path: Path) -> str:
    """Return the format of a file, by its name, else by how it begins; that of a folder by the first file that has one.

    Empty for a folder without such files. Raises `UserError`.
    """
    if path.is_dir():
        try:
            names = [entry.name for entry in path.iterdir()]
        except OSError as error:
            raise unreadable(path, error) from None
        return next((name for name, format in FORMATS.items() if any(map(format.is_mine, names))), "")
    if key := next((name for name, format in FORMATS.items() if format.is_mine(path.name)), ""):
        return key
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if file.read(7) == b"MATLAB ":
            return "matlab"
    return "hdf5" if is_hdf5(path) else "npz"


def stamp(path: Path) -> Hashable:
    """Return the stamp of each file that is read. Raises `UserError` where there is nothing to read."""
    if not path.is_dir():
        file_stamp(path, EXPECTED)
    files, _ = _files(path)
    every = dict.fromkeys((*files, *(file for some in split_files(path).values() for file in some)))
    return tuple((file.name, file_stamp(file, EXPECTED)) for file in every)


def split_files(path: Path) -> dict[str, list[Path]]:
    """Return the files of each split beside a file or in a folder, where their names say it, as those of MNIST and
    CIFAR, train.mat and test.mat. Empty otherwise. Raises `UserError`."""
    name = format_of(path)
    if not name or (divide := FORMATS[name].splits) is None:
        return {}
    try:
        files = divide(path if path.is_dir() else path.parent)
    except OSError as error:
        raise unreadable(path, error) from None
    return files if len(files) > 1 and all(files.values()) else {}


def headers(path: Path, *, is_by_python: bool = False, files: Sequence[Path] = ()) -> dict[str, StoredArray]:
    """Return the arrays by name, in the order of the file, or of the files of a folder; `is_by_python`: see
    `matlab_arrays`; `files`: those to read instead of all. Raises `UserError`."""
    listing, format = _files(path)
    files = files or listing
    reader = partial(matlab_arrays, is_by_python=True) if is_by_python and format is FORMATS["matlab"] else format.read
    contents = [reader(file) for file in files]
    result = joined(contents, path)
    if not result:
        raise UserError(f"{path} holds no arrays. Expected {EXPECTED}.")
    if len(result) > MOST_ARRAYS:
        raise UserError(f"{path} holds {len(result):,} arrays; at most {MOST_ARRAYS:,} are taken.")
    return result


def _files(path: Path) -> tuple[list[Path], Format]:
    """Return the files that are read for a file or folder, and their format. Raises `UserError`."""
    cifar_files.refuse_pickles(path)
    name = format_of(path)
    if not name:
        raise UserError(f"{path} is a folder without files of arrays. Expected {EXPECTED}.")
    format = FORMATS[name]
    try:
        if path.is_dir():
            return (format.splits(path)["training"] if format.splits else _files_in(path, format.is_mine)), format
        return format.of_file(path), format
    except OSError as error:
        raise unreadable(path, error) from None


def _files_in(folder: Path, is_mine: Callable[[str], bool]) -> list[Path]:
    """Return the files of a folder that are of a format, sorted. Raises `UserError` for too many."""
    files = sorted(file for file in folder.iterdir() if is_mine(file.name))
    if len(files) > MOST_FILES:
        raise UserError(f"{folder} holds {len(files):,} files of arrays; at most {MOST_FILES:,} are taken.")
    return files


class ArrayReader:
    """Reader of one input. Complex numbers become twice the channels; sequences are zero beyond their lengths."""

    kind: np.dtype[Any]

    def __init__(self, place: StoredArray, channel_axis: int, lengths: Array | None = None, largest: int = 0) -> None:
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

    def read(self, indices: Array, out: Array) -> None:
        """Read the chosen samples into `out`. Raises `UserError` for a cut-off file, `BadSampleError` for values not
        finite in float32."""
        values = self._place.take(indices)
        self._touched += max(values.nbytes, mmap.PAGESIZE * len(indices))  # several threads: it need not be exact
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
            out[np.arange(out.shape[1]) >= self._lengths[indices][:, np.newaxis]] = 0
        if out.dtype.kind == "f" and not np.isfinite(out).all():
            bad = indices[~np.isfinite(out).reshape(len(out), -1).all(1)]
            raise BadSampleError(
                f"{self._place.what}: sample {int(bad[0]):,} holds numbers that are not finite in single precision. "
                "Expected finite numbers. Replace them, or leave the sample out.",
                str(bad[0]),
                "it holds numbers that are not finite",
            )
