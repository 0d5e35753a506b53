"""MATLAB's `.mat` files: versions 4 to 7 through SciPy, 7.3 through HDF5; without running anything that lies in them.

MATLAB counts samples along the last axis of everything but a matrix, and lays images out as H W C N:

| size in MATLAB    | in Netwright | of                                                  |
|-------------------|--------------|-----------------------------------------------------|
| N x 1, 1 x N      | N            | one number, class name or truth value per sample    |
| N x C             | N C          | features, one row per sample                        |
| T x C x N         | N T C        | sequences; of classes per pixel, H x W x N: N H W   |
| H x W x C x N     | N C H W      | images                                              |
| H x W x D x C x N | N C D H W    | volumes                                             |

Files of Python with the samples first (N C H W) are read with the option `matlab_axes`. Structures are read field by
field, as `data.x`; cell arrays of texts are names of classes, those of matrices T x C are sequences of unequal lengths.
Where the matrices of a file agree in their columns alone, those are the samples.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.array_storage import (
    MOST_ARRAYS,
    Converted,
    Held,
    StoredArray,
    reading,
    refuse_bomb,
    refuse_odd_name,
)
from netwright.engine.data.sources.hdf5_file import MOST_DEPTH, is_hdf5, library, stored_dataset
from netwright.engine.data.sources.source import Array, refuse_too_large

AGAIN = "Write the file again with MATLAB's save."
AXES: dict[int, tuple[int, ...]] = {2: (0, 1), 3: (2, 0, 1), 4: (3, 2, 0, 1), 5: (4, 3, 2, 0, 1)}
"""For each number of axes the order in which Netwright takes those of MATLAB."""
BYTES = {"single": 4, "double": 8, "logical": 1, "char": 4} | {
    f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}
WHOLE = "files of MATLAB's versions 4 to 7 are read whole. save(..., '-v7.3') writes it so that it need not be"
BY_COLUMN = "its samples do not lie one after the other in MATLAB's order. As H x W x C x N, or T x C x N, they do"
OPAQUE = (
    "is an object of MATLAB, such as categorical, string, table or datetime, which only MATLAB can read. Store class "
    "names with cellstr(labels), numbers with double(...), a table with table2array, and only the variables that are "
    "needed: save('data.mat', 'x', 'y')"
)
LENGTHS = "_lengths"
MOST_CELLS = 10_000_000
FEW = 20
"""Different whole numbers in a vector of doubles, which MATLAB uses for everything, up to which they are integers."""
KEPT_BYTES = 2**28
_KEPT: dict[tuple[str, int, int, bool], dict[str, StoredArray]] = {}
"""The arrays of the file read last, if they are small: each step of loading asks for them anew."""


def matlab_arrays(path: Path, *, is_by_python: bool = False) -> dict[str, StoredArray]:
    """Return the variables of a file by name, samples first. Single numbers and single texts are settings, and passed
    over. With `is_by_python` the axes are taken as Python's writers mean them, samples first. Raises `UserError`."""
    arrays: dict[str, StoredArray] = {}
    if is_hdf5(path):
        arrays.update(_of_hdf5(path, is_by_python))
    else:
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size, is_by_python)
        if key in _KEPT:
            return dict(_KEPT[key])
        arrays.update(_of_scipy(path, is_by_python))
        if not is_by_python:
            arrays.update(_with_samples_in_columns(arrays))
        _KEPT.clear()
        if sum(array.bytes for array in arrays.values()) <= KEPT_BYTES:
            _KEPT[key] = dict(arrays)
    if len(arrays) > MOST_ARRAYS:
        raise UserError(f"{path} holds more than {MOST_ARRAYS:,} variables, which are not taken.")
    return arrays


# ---- versions 4 to 7 ----


def _of_scipy(path: Path, is_by_python: bool) -> Iterator[tuple[str, StoredArray]]:
    io = import_extra("scipy.io", "matlab", "MATLAB files")
    with reading(path, AGAIN):
        kinds = {}
        for name, shape, kind in io.whosmat(path, appendmat=False):
            subject = f"Variable '{name}' of {path}"
            if kind in ("opaque", "object") or name == "None":
                raise UserError(f"{subject} {OPAQUE}.")
            if name.startswith("__") or kind in ("unknown", "function"):
                continue
            refuse_odd_name(name, path)
            refuse_bomb(prod(shape) * BYTES.get(kind, 8), path, name)
            kinds[name] = kind, prod(shape) * BYTES.get(kind, 8)
        refuse_too_large(sum(size for _, size in kinds.values()), f"The variables of {path}", "Store fewer of them.")
        values = io.loadmat(path, appendmat=False, variable_names=list(kinds), mat_dtype=True) if kinds else {}
        for name, (kind, _) in kinds.items():
            value = values[name]
            yield from _arrays(path, name, value.astype(bool) if kind == "logical" else value, is_by_python)


def _with_samples_in_columns(arrays: Mapping[str, StoredArray]) -> Iterator[tuple[str, StoredArray]]:
    """Yield the matrices of a file whose matrices differ in their rows and agree in their columns: there the samples
    are columns, as in the data sets of MATLAB's shallow networks (`irisInputs` 4 x 150, `irisTargets` 3 x 150)."""
    matrices = {name: array for name, array in arrays.items() if len(array.shape) == 2}
    rows, columns = ({array.shape[axis] for array in matrices.values()} for axis in (0, 1))
    others = {array.shape[0] for name, array in arrays.items() if name not in matrices}
    if len(matrices) > 1 and len(rows) > 1 and len(columns) == 1 and others <= columns:
        for name, array in matrices.items():
            yield name, _held(array.path, name, np.ascontiguousarray(array.read().T))


def _arrays(
    path: Path, name: str, values: Any, is_by_python: bool, depth: int = 0
) -> Iterator[tuple[str, StoredArray]]:
    """Yield the arrays of a variable as SciPy returns it: those of the fields of a structure, and one of the others."""
    subject = f"Variable '{name}' of {path}"
    if depth > MOST_DEPTH:
        raise UserError(f"{subject} has structures in structures, more than {MOST_DEPTH} deep. Expected a few.")
    if not isinstance(values, np.ndarray) or values.dtype.names == ("s0", "s1", "s2", "arr"):
        raise UserError(f"{subject} {OPAQUE}.")
    if values.dtype.names is not None:
        if values.size != 1:
            raise UserError(
                f"{subject} is an array of {values.size:,} structures. Expected one, with an array per field."
            )
        for field in values.dtype.names:
            refuse_odd_name(field, path)
            yield from _arrays(path, f"{name}.{field}", values.reshape(-1)[0][field], is_by_python, depth + 1)
    elif values.dtype.kind == "U":
        if values.size > 1:
            yield name, _held(path, name, np.array([text.rstrip() for text in values.reshape(-1).tolist()]))
    elif values.dtype.kind == "O":
        yield from _cells(path, name, values.reshape(-1).tolist(), is_by_python)
    elif values.size > 1 and values.dtype.kind in "biufc":
        yield name, _held(path, name, _moved(values, subject, is_by_python))


def _held(path: Path, name: str, values: Array) -> StoredArray:
    if values.dtype.kind == "f" and values.ndim == 1:
        values = _as_integers(values)
    return Held(path, name, values.shape, values.dtype, WHOLE, values=values)


def _as_integers(vector: Array) -> Array:
    """Return few different whole numbers as integers, so that they are taken as classes; others unchanged."""
    with np.errstate(invalid="ignore"):
        is_whole = (
            np.isfinite(vector).all() and np.array_equal(vector, np.rint(vector)) and np.abs(vector).max() < 2**31
        )
    return vector.astype(np.int64) if is_whole and len(np.unique(vector)) <= FEW else vector


def _moved(values: Array, subject: str, is_by_python: bool) -> Array:
    """Return the array with its axes in the order of Netwright, or unchanged where Python wrote it."""
    if values.ndim == 2 and 1 in values.shape:
        return values.reshape(-1)
    if is_by_python:
        return values
    return np.ascontiguousarray(values.transpose(_order(values.ndim, values.shape, subject)))


def _order(axes: int, shape: Sequence[int], subject: str) -> tuple[int, ...]:
    if axes not in AXES:
        raise UserError(
            f"{subject} has {axes} axes, {tuple(shape)}. Expected N x C, T x C x N, H x W x C x N or volumes."
        )
    return AXES[axes]


def _cells(path: Path, name: str, cells: Sequence[Any], is_by_python: bool) -> Iterator[tuple[str, StoredArray]]:
    """Yield the array of a cell array: texts, single numbers, or sequences with their lengths."""
    subject = f"Variable '{name}' of {path}"
    if len(cells) < 2:
        return
    if not all(isinstance(cell, np.ndarray) and cell.dtype.kind in "UbiufO" for cell in cells):
        raise UserError(f"{subject} is a cell array with objects or structures. Expected texts, or matrices T x C.")
    if all(cell.dtype.kind == "U" and cell.size <= 1 for cell in cells):
        yield name, _held(path, name, np.array([cell.item() if cell.size else "" for cell in cells]))
    elif any(cell.dtype.kind in "UO" or cell.ndim != 2 or not cell.size for cell in cells):
        raise UserError(
            f"{subject} is a cell array of different things, or of arrays that are no matrices. Expected one text, or "
            "one matrix T x C, per sample. Images of one size are stored as one array H x W x C x N."
        )
    elif all(cell.size == 1 for cell in cells):
        yield name, _held(path, name, np.array([cell.item() for cell in cells]))
    else:
        yield from _sequences(path, name, cells, subject)


def _sequences(path: Path, name: str, cells: Sequence[Array], subject: str) -> Iterator[tuple[str, StoredArray]]:
    if len({cell.shape[1] for cell in cells}) > 1:
        if len({cell.shape[0] for cell in cells}) > 1:
            first = " and ".join(f"{a} x {b}" for a, b in sorted({cell.shape for cell in cells})[:2])
            raise UserError(
                f"{subject} holds sequences with different numbers of channels, such as {first}. Expected T x C."
            )
        cells = [cell.T for cell in cells]  # C x T, as MATLAB's trainNetwork takes them
    lengths = np.array([len(cell) for cell in cells])
    shape = (len(cells), int(lengths.max()), cells[0].shape[1])
    dtype = np.result_type(*(cell.dtype for cell in cells))
    refuse_too_large(
        prod(shape) * dtype.itemsize, f"{subject}, padded to its longest sequence,", "Cut the longest ones."
    )
    padded = np.zeros(shape, dtype)
    for place, cell in enumerate(cells):
        padded[place, : len(cell)] = cell
    yield name, _held(path, name, padded)
    if lengths.min() < lengths.max():
        yield f"{name}{LENGTHS}", _held(path, f"{name}{LENGTHS}", lengths)


# ---- version 7.3 ----


def _of_hdf5(path: Path, is_by_python: bool) -> Iterator[tuple[str, StoredArray]]:
    with reading(path, AGAIN), library().File(path, "r", locking=False) as file:
        yield from _of_group(path, file, "", is_by_python)


def _of_group(
    path: Path, group: Any, before: str, is_by_python: bool, parents: tuple[int, ...] = ()
) -> Iterator[tuple[str, StoredArray]]:
    h5py = library()
    address = h5py.h5o.get_info(group.id).addr
    if address in parents or len(parents) > MOST_DEPTH:
        raise UserError(f"{path} has structures in structures, more than {MOST_DEPTH} deep, or in a circle.")
    for count, key in enumerate(group):
        if count > MOST_ARRAYS:
            raise UserError(f"{path} holds more than {MOST_ARRAYS:,} variables, which are not taken.")
        if key.startswith("#") or not isinstance(group.get(key, getlink=True), h5py.HardLink):
            continue  # '#refs#' and '#subsystem#' hold the contents of cells and objects
        name, item = f"{before}{key}", group[key]
        refuse_odd_name(name, path)
        if isinstance(item, h5py.Group):
            yield from _of_group(path, item, f"{name}.", is_by_python, (*parents, address))
        elif isinstance(item, h5py.Dataset):
            yield from _of_dataset(path, name, item, is_by_python)


def _class(item: Any) -> str:
    """Return the class that MATLAB noted at a dataset; empty without one."""
    noted = item.attrs.get("MATLAB_class", b"")
    return noted.decode("ascii", "replace") if isinstance(noted, bytes) else ""


def _of_dataset(path: Path, name: str, item: Any, is_by_python: bool) -> Iterator[tuple[str, StoredArray]]:
    h5py = library()
    kind, subject = _class(item), f"Variable '{name}' of {path}"
    if "MATLAB_object_decode" in item.attrs or (kind not in BYTES and kind not in ("cell", "")):
        raise UserError(f"{subject} {OPAQUE}.")
    if kind == "cell" or h5py.check_ref_dtype(item.dtype) is not None:
        if kind != "cell":
            raise UserError(f"{subject} is an array of structures. Expected one, with an array per field.")
        yield from _cells(path, name, _cells_of(path, name, item), is_by_python)
    elif "MATLAB_empty" in item.attrs or item.size is None or item.size < 2:
        return
    elif kind == "char":
        texts = _texts(path, name, item)
        if len(texts) > 1:
            yield name, _held(path, name, np.array(texts))
    else:
        yield from _numbers(path, name, item, kind, is_by_python)


def _numbers(path: Path, name: str, item: Any, kind: str, is_by_python: bool) -> Iterator[tuple[str, StoredArray]]:
    """Yield an array of numbers, which lie in the file with MATLAB's axes reversed."""
    subject = f"Variable '{name}' of {path}"
    if item.dtype.names == ("real", "imag"):
        single = np.dtype(np.complex64 if item.dtype[0] == np.float32 else np.complex128)
        refuse_bomb(item.size * single.itemsize, path, name)
        refuse_too_large(item.size * single.itemsize, subject, "Use fewer samples or smaller ones.")
        parts = item[...]
        values = (parts["real"] + 1j * parts["imag"]).astype(single)
        yield name, _held(path, name, _moved(values.T, subject, is_by_python))
        return
    stored = stored_dataset(path, name, item)
    dtype = np.dtype(bool) if kind == "logical" else stored.dtype
    axes, shape = len(stored.shape), stored.shape
    if sum(size != 1 for size in shape) == 1 and axes == 2:
        if stored.bytes <= KEPT_BYTES:
            yield name, _held(path, name, stored.read().reshape(-1).astype(dtype))
            return
        order: tuple[int, ...] = (0, 1) if shape[1] == 1 else (1, 0)
        sizes: tuple[int, ...] = (prod(shape),)
    else:
        matlab = tuple(range(axes)) if is_by_python else _order(axes, shape[::-1], subject)
        order = tuple(axes - 1 - axis for axis in matlab)
        sizes = tuple(shape[axis] for axis in order)

    def change(part: Array) -> Array:
        whole = part.transpose(order)
        return whole.reshape(len(whole), *sizes[1:]).astype(dtype, copy=False)

    yield name, Converted(path, name, sizes, dtype, "" if order[0] == 0 else BY_COLUMN, stored=stored, change=change)


def _texts(path: Path, name: str, item: Any) -> list[str]:
    """Return the rows of an array of characters, which are 16-bit numbers in columns."""
    refuse_bomb(item.size * 2, path, name)
    if item.dtype.kind != "u" or item.ndim != 2 or item.size > KEPT_BYTES:
        raise ValueError(f"the characters of '{name}' are {item.dtype} of the shape {item.shape}"[:140])
    rows = np.ascontiguousarray(item[...].T.astype("<u2"))
    return [row.tobytes().decode("utf-16-le", "replace").rstrip() for row in rows]


def _cells_of(path: Path, name: str, item: Any) -> list[Any]:
    """Return the contents of the cells of a cell array, which are references, as SciPy returns them."""
    h5py, subject = library(), f"Variable '{name}' of {path}"
    if item.size > MOST_CELLS:
        raise UserError(f"{subject} has {item.size:,} cells; at most {MOST_CELLS:,} are taken.")
    refuse_bomb(item.size * 8, path, name)
    cells: list[Any] = []
    size = 0
    for reference in item[...].T.reshape(-1):
        cell = item.file[reference] if isinstance(reference, h5py.Reference) and reference else None
        if not isinstance(cell, h5py.Dataset):
            raise UserError(f"{subject} is a cell array with objects or structures. Expected texts, or matrices T x C.")
        size += cell.dtype.itemsize * cell.size
        if size > KEPT_BYTES:
            refuse_too_large(size, subject, "Store one array, padded, and the lengths of the sequences.")
        if size > 64 * path.stat().st_size + KEPT_BYTES:  # references may all lead to one and the same large array
            raise UserError(f"{subject} holds {format_bytes(size)} in cells, more than the file can. Store one array.")
        if _class(cell) == "char":
            is_empty = "MATLAB_empty" in cell.attrs
            cells.append(np.array([] if is_empty else _texts(path, name, cell), dtype="U"))
        elif cell.dtype.kind in "biuf":
            cells.append(stored_dataset(path, name, cell).read().T)
        else:
            raise UserError(f"{subject} is a cell array with objects or structures. Expected texts, or matrices T x C.")
    return cells
