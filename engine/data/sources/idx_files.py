"""IDX files, the format of MNIST: one array per file, images and labels in two files beside each other.

A file begins with two zero bytes, the type of the numbers, the number of axes, and their sizes (big-endian, 4 bytes
each); http://yann.lecun.com/exdb/mnist describes it. Files may be packed with gzip. Names tell what belongs together:
`train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, also with a point before `idx`, or with other words before
`images`.
"""

import gzip
import re
from math import prod
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.array_storage import Converted, Loaded, Place, StoredArray, reading, refuse_bomb
from netwright.engine.data.sources.source import Array

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
NAME = re.compile(
    r"(?P<before>.*?)(?P<what>images|labels)(?P<between>[-._])idx(?P<axes>\d)[-._](?P<kind>[a-z]+)(?P<packed>\.gz)?",
    re.IGNORECASE,
)
TEST = ("t10k-", "test-")
EXPECTED = "files named as those of MNIST: train-images-idx3-ubyte and train-labels-idx1-ubyte, also with .gz"
AGAIN = "Download it again, or unpack it again."
MOST_AXES = 8


def is_idx(name: str) -> bool:
    """Return whether a file is called as an IDX file of images or labels."""
    return NAME.fullmatch(name) is not None


def pair_of(path: Path) -> list[Path]:
    """Return the files of the images and the labels that one of the two belongs to. Raises `UserError` where the other
    one is missing."""
    match = NAME.fullmatch(path.name)
    assert match is not None
    before = match["before"]
    by_what: dict[str, Path] = {match["what"].lower(): path}
    for file in sorted(path.parent.iterdir()):
        other = NAME.fullmatch(file.name)
        if other and other["before"] == before and other["what"].lower() not in by_what and file.is_file():
            by_what[other["what"].lower()] = file
    if len(by_what) < 2:
        missing = "labels" if "images" in by_what else "images"
        raise UserError(
            f"{path} lies there without its {missing}. Expected {EXPECTED}. Put both files beside each other."
        )
    return [by_what["images"], by_what["labels"]]


def pairs_in(folder: Path) -> dict[str, list[Path]]:
    """Return the pairs of images and labels in a folder by what their names begin with, sorted. Raises `UserError`."""
    starts: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if match := NAME.fullmatch(file.name):
            starts.setdefault(match["before"], file)
    return {start: pair_of(file) for start, file in sorted(starts.items())}


def split_pairs(folder: Path) -> dict[str, list[Path]]:
    """Return the files of a folder by split: those called `t10k-` or `test-` are for the test, if there are others."""
    pairs: dict[str, list[Path]] = {"training": [], "test": []}
    for start, files in pairs_in(folder).items():
        pairs["test" if start.lower().endswith(TEST) else "training"] += files
    return pairs if pairs["training"] else {"training": pairs["test"], "test": []}


def idx_arrays(path: Path) -> dict[str, StoredArray]:
    """Return the images of a file as `x`, or its labels as `y`. Grey images (N H W) get an axis of channels. Raises
    `UserError`."""
    match = NAME.fullmatch(path.name)
    assert match is not None
    is_label = match["what"].lower() == "labels"
    name = "y" if is_label else "x"
    with reading(path, AGAIN):
        is_packed = path.suffix.lower() == ".gz"
        with gzip.open(path) if is_packed else open(path, "rb") as content:
            shape, dtype, offset = _header(content.read(4 + 4 * MOST_AXES))
        size = path.stat().st_size
        expected = offset + prod(shape) * dtype.itemsize
        if not is_packed and size != expected:
            raise ValueError(f"it should have {expected:,} bytes and has {size:,}")
        if 0 in shape[1:]:
            raise ValueError(f"its array has the shape {shape}: an axis of size 0")
        stored: StoredArray
        if is_packed:
            refuse_bomb(expected, path, name)
            why = "it is packed (.gz). Unpacked with gunzip it can"
            stored = Loaded(path, name, shape, dtype, why, is_label, lambda: _unpacked(path, shape, dtype, offset))
        else:
            stored = Place(path, name, shape, dtype, "", is_label, offset)
    if is_label or len(shape) != 3:
        return {name: stored}
    grey = (shape[0], 1, *shape[1:])
    return {
        name: Converted(path, name, grey, dtype, stored.only_whole, stored=stored, change=lambda x: x[:, np.newaxis])
    }


def _header(data: bytes) -> tuple[tuple[int, ...], np.dtype[np.generic], int]:
    """Return shape, dtype and the offset of the values."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in TYPES or not 1 <= data[3] <= MOST_AXES:
        raise ValueError("it does not begin as an IDX file does")
    offset = 4 + 4 * data[3]
    if len(data) < offset:
        raise ValueError("it ends within its header")
    return tuple(int(size) for size in np.frombuffer(data, ">u4", data[3], 4)), np.dtype(TYPES[data[2]]), offset


def _unpacked(path: Path, shape: tuple[int, ...], dtype: np.dtype[np.generic], offset: int) -> Array:
    values = np.empty(shape, dtype)
    with reading(path, AGAIN), gzip.open(path) as content:
        content.read(offset)
        room = memoryview(values.reshape(-1).view(np.uint8).data)
        while room.nbytes:
            count = content.readinto(room)
            if not count:
                raise ValueError("it ends before its last value")
            room = room[count:]
    return values
