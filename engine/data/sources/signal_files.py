"""Sequences as matrices, one per file: `.npy`, or `.mat` with one variable of numbers.

Which axis is the time follows from all files: the one whose size differs, else the longer one, as in 9 x 1000.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.array_storage import StoredArray
from netwright.engine.data.sources.matlab_file import matlab_arrays
from netwright.engine.data.sources.numpy_files import npy_arrays
from netwright.engine.data.sources.source import Array, listed
from netwright.engine.data.sources.targets import refuse_strange


def read_signals(files: Sequence[Path]) -> tuple[list[Array], list[str]]:
    """Return each file's sequence (T, C), float64, and notes. Raises `UserError` for other arrays, numbers of channels
    that differ, and numbers that are not finite."""
    arrays = [_matrix(file) for file in files]
    rows, columns = ({array.shape[axis] for array in arrays} for axis in (0, 1))
    if len(rows) > 1 and len(columns) > 1:
        odd = next(place for place, array in enumerate(arrays) if not set(array.shape) & set(arrays[0].shape))
        sizes = [" x ".join(map(str, arrays[place].shape)) for place in (odd, 0)]
        raise UserError(
            f"{files[odd]} holds an array of {sizes[0]}, and {files[0]} one of {sizes[1]}. Expected the same number of "
            "channels in all files: steps x channels."
        )
    is_turned = len(columns) > 1 or (len(rows) == 1 and max(rows) < max(columns))
    notes = [f"The arrays are channels x steps, {min(rows)} channels each, and are turned."] if is_turned else []
    return [array.T if is_turned else array for array in arrays], notes


def read_signal(file: Path, channels: int, steps: int | None) -> Array:
    """Return the sequence of a file (T, C) for a network that takes so many channels, cut to a fixed number of steps or
    padded with zeros. Raises `UserError`."""
    array = _matrix(file)
    array = array if array.shape[1] == channels else array.T
    if array.shape[1] != channels:
        sizes = " x ".join(map(str, array.shape[::-1]))
        raise UserError(f"{file} holds an array of {sizes}. Expected steps x {channels:,} channels.")
    missing = max(0, (steps or 0) - len(array))
    return np.pad(array[:steps], ((0, missing), (0, 0)))


def _matrix(file: Path) -> Array:
    """Return the one array of a file, with two axes. Raises `UserError`."""
    is_matlab = file.suffix.lower() == ".mat"
    stored = list((matlab_arrays(file, is_by_python=True) if is_matlab else npy_arrays(file)).values())
    usable = [array for array in stored if len(array.shape) <= 2 and array.dtype.kind in "biuf"]
    if len(usable) != 1:
        raise UserError(
            f"{file} holds {listed([_said(array) for array in stored])}. Expected one array of numbers, "
            "steps x channels, per sequence."
        )
    values = np.asarray(usable[0].read(), np.float64)
    refuse_strange(values, usable[0].what)
    return values.reshape(-1, 1) if 1 in values.shape or values.ndim == 1 else values


def _said(array: StoredArray) -> str:
    return f"'{array.name}' ({' x '.join(map(str, array.shape))}, {array.dtype})"
