"""CIFAR's binary files: records of one label (CIFAR-10) or two (CIFAR-100), and 3 x 32 x 32 bytes of an image.

https://www.cs.toronto.edu/~kriz/cifar.html describes them. The files of the Python version are pickles, which are
refused: they could run a program.
"""

from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.array_storage import Converted, Place, StoredArray, reading
from netwright.engine.data.sources.source import Array

SIZE = (3, 32, 32)
PIXELS = 3 * 32 * 32
TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
BATCHES = (*TRAINING, "test_batch.bin")
HUNDRED = ("train.bin", "test.bin")
NAMES = {
    "y": ("batches.meta.txt", 10),
    "fine": ("fine_label_names.txt", 100),
    "coarse": ("coarse_label_names.txt", 20),
}
PICKLES = ("batches.meta", *(name.removesuffix(".bin") for name in BATCHES))
MOST_TEXT = 2**14


def is_cifar(name: str) -> bool:
    """Return whether a file is called as one of CIFAR's binary files."""
    return name in BATCHES or name in HUNDRED


def split_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of a folder by split, in order; those of the test train where there are no others."""
    names_of = {"training": (*TRAINING, HUNDRED[0]), "test": (BATCHES[-1], HUNDRED[1])}
    files = {split: [folder / name for name in names if (folder / name).is_file()] for split, names in names_of.items()}
    return files if files["training"] else {"training": files["test"], "test": []}


def refuse_pickles(path: Path) -> None:
    """Raise `UserError` for the Python version of CIFAR, as a file or as a folder that holds it."""
    if path.is_file():
        with reading(path), open(path, "rb") as file:
            is_pickle = path.name in (*PICKLES, "meta", "train", "test") and file.read(1) == b"\x80"
    else:
        is_pickle = any((path / name).is_file() for name in PICKLES)
    if is_pickle:
        raise UserError(
            f"{path} is the Python version of CIFAR: pickles, which are not loaded because they could run a program. "
            "Download the binary version (cifar-10-binary.tar.gz or cifar-100-binary.tar.gz) and unpack it."
        )


def cifar_arrays(path: Path) -> dict[str, StoredArray]:
    """Return the images of a file as `x`, and its labels: `y`, or `fine` and `coarse` for CIFAR-100. Raises
    `UserError`."""
    labels = ("coarse", "fine") if path.name in HUNDRED else ("y",)
    with reading(path):
        size, record = path.stat().st_size, len(labels) + PIXELS
        if not size or size % record:
            raise ValueError(f"it should have a multiple of {record:,} bytes and has {size:,}. Download it again")
        stored = Place(path, "x", (size // record, record), np.dtype(np.uint8))
        shape = (size // record, *SIZE)

    def images(records: Array) -> Array:
        return records[:, len(labels) :].reshape(-1, *SIZE)

    arrays: dict[str, StoredArray] = {"x": Converted(path, "x", shape, stored.dtype, stored=stored, change=images)}
    for column, name in sorted(enumerate(labels), reverse=True):  # the fine labels first: they are the usual target
        arrays[name] = _labels(stored, name, column)
    return arrays


def _labels(stored: Place, name: str, column: int) -> StoredArray:
    """Return the labels of one kind: the names of the classes where their file lies beside, else numbers."""
    path = stored.path
    file, count = NAMES[name]
    names = _names(path.parent / file, count)
    dtype = names.dtype if names is not None else stored.dtype

    def change(records: Array) -> Array:
        numbers = records[:, column]
        if int(numbers.max(initial=0)) >= count:
            raise UserError(
                f"{path} holds the label {int(numbers.max())}; its labels are 0 to {count - 1}. Download it again."
            )
        return numbers if names is None else names[numbers]

    return Converted(path, name, stored.shape[:1], dtype, is_label=True, stored=stored, change=change)


def _names(file: Path, count: int) -> Array | None:
    """Return the names of the classes in their order, or None where their file is missing."""
    if not file.is_file():
        return None
    with reading(file), open(file, "rb") as content:
        lines = [line.strip() for line in content.read(MOST_TEXT).decode().splitlines() if line.strip()]
        if len(lines) != count or len(set(lines)) != count or not all(line.isprintable() for line in lines):
            raise ValueError(f"it should name {count} classes, one per line, and names {len(set(lines))}")
    return np.array(lines)
