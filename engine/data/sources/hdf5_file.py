"""HDF5 files: their datasets by path, read in chunks; what leads to other files is refused.

Datasets that lie in the file as in memory are read without the library, sample by sample. Others are read chunk by
chunk, under the library's own lock.
"""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.array_storage import (
    MOST_ARRAYS,
    Loaded,
    Place,
    StoredArray,
    damaged,
    reading,
    refuse_bomb,
    refuse_odd_name,
)
from netwright.engine.data.sources.source import Array, refuse_too_large

SIGNATURE = b"\x89HDF\r\n\x1a\n"
AGAIN = "Write the file again."
MOST_DEPTH = 32
CACHE_BYTES = 2**26
"""Memory for chunks that were decompressed, per dataset."""
MOST_TEXT_BYTES = 2**28
FILTERS = {1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf"}
PLUGINS = {
    307: "bzip2",
    32001: "Blosc",
    32004: "LZ4",
    32008: "bitshuffle",
    32013: "ZFP",
    32015: "Zstandard",
    32026: "Blosc2",
}


def library() -> Any:
    """Return the module h5py. Raises `UserError` where it is not installed."""
    return import_extra("h5py", "hdf5", "HDF5 files")


def is_hdf5(path: Path) -> bool:
    """Return whether the file begins as HDF5 files do, also behind a user block of 512 bytes, as MATLAB writes it."""
    with reading(path), open(path, "rb") as file:
        start = file.read(512 + len(SIGNATURE))
    return start.startswith(SIGNATURE) or start[512:] == SIGNATURE


def hdf5_arrays(path: Path) -> dict[str, StoredArray]:
    """Return the datasets of a file by their path, such as `group/x`. Raises `UserError`."""
    h5py = library()
    arrays: dict[str, StoredArray] = {}
    with reading(path, AGAIN), h5py.File(path, "r", locking=False) as file:
        for name, dataset in datasets(file, path):
            arrays[name] = stored_dataset(path, name, dataset)
            if len(arrays) > MOST_ARRAYS:
                raise UserError(f"{path} holds more than {MOST_ARRAYS:,} datasets, which are not taken.")
    return arrays


def datasets(group: Any, path: Path, before: str = "", parents: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the path and each dataset below a group, in sorted order. Soft links, which name another dataset of the
    file once more, are passed over. `parents`: addresses of the groups above. Raises `UserError` for links to other
    files, and for groups that hold themselves."""
    h5py = library()
    address = h5py.h5o.get_info(group.id).addr
    if address in parents or len(parents) > MOST_DEPTH:
        raise UserError(f"{path} has groups in groups, more than {MOST_DEPTH} deep, or in a circle. Expected a few.")
    for count, key in enumerate(group):
        name = f"{before}{key}"
        if count > MOST_ARRAYS:
            raise UserError(f"{path} holds more than {MOST_ARRAYS:,} datasets, which are not taken.")
        link = group.get(key, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise UserError(
                f"'{name}' of {path} is a link to another file, which is not followed. Copy the data into one file: "
                "h5repack, or h5py's copy(..., expand_external=True)."
            )
        if isinstance(link, h5py.SoftLink):
            continue
        refuse_odd_name(name, path)
        item = group[key]
        if isinstance(item, h5py.Group):
            yield from datasets(item, path, f"{name}/", (*parents, address))
        elif isinstance(item, h5py.Dataset):
            yield name, item


def stored_dataset(path: Path, name: str, dataset: Any) -> StoredArray:
    """Return a dataset by its description in the file. Raises `UserError` for one that cannot be used."""
    h5py = library()
    subject = f"Array '{name}' of {path}"
    _refuse_elsewhere(dataset, subject)
    shape = dataset.shape
    if shape is None or 0 in shape[1:]:
        raise UserError(f"{subject} is empty: its shape is {shape}.")
    text = h5py.check_string_dtype(dataset.dtype)
    if text is not None:
        _refuse_filters(dataset, subject)
        return _texts(path, name, dataset, text)
    if dataset.dtype.hasobject or dataset.dtype.kind not in "biufc":
        kind = "object references" if h5py.check_ref_dtype(dataset.dtype) else "rows of unequal length"
        kind = kind if dataset.dtype.hasobject else f"{dataset.dtype}"[:100]
        raise UserError(
            f"{subject} holds {kind}, which are not read. Expected numbers, or texts as responses. For sequences of "
            f"unequal length store one array padded with zeros, and {name}_lengths."
        )
    _refuse_filters(dataset, subject)
    offset = dataset.id.get_offset()
    if offset is not None and dataset.chunks is None:
        return Contiguous(path, name, shape, dataset.dtype, offset=offset)
    refuse_bomb(prod(shape) * dataset.dtype.itemsize, path, name)
    if dataset.chunks is not None:
        needed = prod(dataset.chunks) * dataset.dtype.itemsize
        refuse_too_large(needed, f"A chunk of {subject}", "Write it with smaller chunks, such as h5repack -l.")
    return Hdf5Array(path, name, shape, dataset.dtype)


def _refuse_elsewhere(dataset: Any, subject: str) -> None:
    """Raise `UserError` for a dataset whose values lie in other files."""
    if dataset.is_virtual or dataset.external:
        kind = "is a virtual dataset" if dataset.is_virtual else "has its values outside"
        raise UserError(
            f"{subject} {kind}: they lie in other files, which are not opened. Copy the data into one file with "
            "h5repack."
        )


def _refuse_filters(dataset: Any, subject: str) -> None:
    """Raise `UserError` for a dataset compressed in a way that needs a plugin."""
    plan = dataset.id.get_create_plist()
    for place in range(plan.get_nfilters()):
        code, _, _, label = plan.get_filter(place)
        if code not in FILTERS or not library().h5z.filter_avail(code):
            name = PLUGINS.get(code) or FILTERS.get(code) or bytes(label).decode("utf-8", "replace")[:40] or "a filter"
            raise UserError(
                f"{subject} is compressed with {name} (filter {code}), which is not read here. Write it with gzip: "
                "h5repack -f GZIP=4 OLD NEW, or compression='gzip' in h5py."
            )


def _texts(path: Path, name: str, dataset: Any, text: Any) -> StoredArray:
    """Return texts as an array of their longest length; those of any length are read at once, to know it."""
    if text.length is not None and len(dataset.shape) == 1:
        refuse_bomb(dataset.shape[0] * text.length, path, name)
        kind = np.dtype(f"S{text.length}")
        return Loaded(
            path, name, dataset.shape, kind, "it holds texts", load=lambda: np.asarray(_whole(path, name), kind)
        )
    subject = f"Array '{name}' of {path}"
    if len(dataset.shape) != 1:
        raise UserError(f"{subject} holds texts of the shape {dataset.shape}. Expected one text per sample.")
    refuse_bomb(dataset.shape[0] * 16, path, name)
    step = max(1, MOST_TEXT_BYTES // (path.stat().st_size + 1))
    texts: list[str] = []
    count = 0
    for start in range(0, dataset.shape[0], step):
        part = [text.decode("utf-8", "replace") for text in dataset[start : start + step]]
        count += sum(map(len, part))
        longest = max(map(len, part), default=0)
        if count > MOST_TEXT_BYTES or longest * dataset.shape[0] > MOST_TEXT_BYTES:
            raise UserError(
                f"{subject} holds texts of more than {format_bytes(MOST_TEXT_BYTES)}. Expected names of classes."
            )
        texts += part
    values = np.array(texts, dtype=f"U{max(1, *map(len, texts))}" if texts else "U1")
    return Loaded(path, name, values.shape, values.dtype, "it holds texts", load=lambda: values)


def _whole(path: Path, name: str) -> Any:
    with reading(path, AGAIN), library().File(path, "r", locking=False) as file:
        return file[name][...]


def _code(name: str) -> tuple[str, str]:
    return f"h5py.File(FILE)[{name!r}]", "import h5py"


@dataclass(frozen=True)
class Contiguous(Place):
    """Dataset that lies in the file as in memory, which needs no library to be read."""

    @property
    def code(self) -> tuple[str, str]:
        """Expression that loads the dataset."""
        return _code(self.name)


@dataclass(frozen=True)
class _Open:
    """A dataset opened in one process."""

    process: int
    dataset: Any


@dataclass(frozen=True)
class Hdf5Array(StoredArray):
    """Dataset in chunks, which the library decompresses. The file is opened once per process, as HDF5 demands."""

    _kept: list[_Open] = field(default_factory=list, compare=False, repr=False)
    _opening: Any = field(default_factory=threading.Lock, compare=False, repr=False)

    @property
    def code(self) -> tuple[str, str]:
        """Expression that loads the dataset."""
        return _code(self.name)

    def take(self, indices: Array) -> Array:
        """Return the samples with these indices, each run of neighbours read in one piece. Raises `UserError`."""
        order = np.argsort(indices, kind="stable")
        ascending = indices[order]
        samples = np.empty((len(indices), *self.shape[1:]), self.dtype)
        starts = np.flatnonzero(np.diff(ascending, prepend=ascending[0] - 2) > 1)
        with reading(self.path, AGAIN):
            dataset = self._dataset()
            for start, end in zip(starts, [*starts[1:], len(ascending)], strict=True):
                first = int(ascending[start])
                run = dataset[first : int(ascending[end - 1]) + 1]
                if len(run) <= int(ascending[end - 1]) - first:
                    raise damaged(self.path, ValueError(f"array '{self.name}' became shorter"), AGAIN)
                samples[order[start:end]] = run[ascending[start:end] - first]
        return samples

    def _dataset(self) -> Any:
        with self._opening:
            if not self._kept or self._kept[0].process != os.getpid():
                file = library().File(self.path, "r", locking=False, rdcc_nbytes=CACHE_BYTES)
                self._kept[:] = [_Open(os.getpid(), file[self.name])]
            return self._kept[0].dataset
