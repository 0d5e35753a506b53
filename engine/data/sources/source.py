"""What every data source gives: an outline, which is cheap, and its samples."""

import contextlib
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil

from engine.core.errors import UserError, did_you_mean
from engine.project.data import DataOptions
from engine.project.dataset_info import InputInfo, TargetInfo

CGROUP = Path("/sys/fs/cgroup")
Array = np.ndarray[Any, np.dtype[Any]]
Arrays = tuple[Array, ...]
MOST_CLASSES = 10_000
MOST_LOOKED_AT = 1_000_000


def locate(text: str, base: Path) -> Path:
    """The path that the options name. Relative ones start at the project's folder. Raises `UserError`."""
    try:
        path = base / Path(text).expanduser()
    except RuntimeError:
        user = Path(text).parts[0]
        raise UserError(f"There is no home folder {user} for the data to lie in. Choose the data anew.") from None
    try:
        path.lstat()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        message = f"There is no file or folder {path}."
        if not Path(text).expanduser().is_absolute():
            message += f" The project says '{text}', which starts at the project's folder, {base}."
        raise UserError(f"{message}{_near(path)} Put it there, or choose the data anew.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    return path


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def unreadable(path: Path, error: OSError) -> UserError:
    """The error for a file or folder that the system does not hand out."""
    if isinstance(error, PermissionError):
        return UserError(f"{path} may not be read. Give yourself permission to read it, or choose other data.")
    return UserError(f"{path} cannot be read: {error.strerror or error}.")


def file_stamp(path: Path, expected: str) -> Hashable:
    """Changes when the file does. Raises `UserError` where it is no file; `expected` says what it should be."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder. Expected {expected}.")
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from None
    if status.st_size == 0:
        raise UserError(f"{path} is empty: it has 0 bytes. Expected {expected}.")
    return status.st_mtime_ns, status.st_size, status.st_ino


def free_memory() -> int:
    """Bytes that this process may still take: of the machine, or of the container that it runs in."""
    free = int(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        limit = int((CGROUP / "memory.max").read_text())
        rows = (line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        files = next(int(count) for name, count in rows if name == "file")  # given up where memory is short
        free = min(free, max(0, limit - int((CGROUP / "memory.current").read_text()) + files))
    return free


def refuse_too_large(needed_bytes: int, what: str, way_out: str) -> None:
    """Raise `UserError` if so much memory is not free: the alternative is that the system ends the process."""
    free = free_memory()
    if needed_bytes > free:
        raise UserError(
            f"{what} need {needed_bytes / 2**30:,.1f} GiB of memory; {free / 2**30:,.1f} GiB are free. {way_out}"
        )


def listed(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


@dataclass(frozen=True)
class Column:
    """One column of a table, or one array of a file, for a person to look at."""

    name: str
    role: str
    kind: str
    low: float | None = None
    mean: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Outline:
    """All that is known of a source except its samples.

    `targets` holds one array for each of `wanted`, samples first, as `TargetInfo` says: class numbers are whole
    (int64, of maps the smallest signed type), numbers and labels float32. A source that has to read everything to know
    this much keeps it in `samples`. `columns` and the first `rows` are there for tables. `resident_because` says why
    the samples can only be held in memory; empty where they can be read one by one.
    """

    inputs: tuple[InputInfo, ...]
    targets: Arrays
    wanted: tuple[TargetInfo, ...]
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str | float, ...], ...] = ()
    samples: "Samples | None" = field(default=None, repr=False)
    resident_because: str = ""

    def __len__(self) -> int:
        return len(self.targets[0])

    @cached_property
    def sized(self) -> tuple[TargetInfo, ...]:
        """What is wanted, with the sizes of the numbers to predict."""
        pairs = zip(self.wanted, self.targets, strict=True)
        return tuple(replace(one, largest=_largest(given)) if one.task == "numbers" else one for one, given in pairs)

    @property
    def groups(self) -> Array:
        """The class of each sample by the first target, of which each part of the data gets its share; all samples are
        in one group where that target is no single class."""
        return self.targets[0] if self.wanted[0].is_one_class else np.zeros(len(self), dtype=np.int64)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many samples each group has."""
        classes = len(self.wanted[0].classes) if self.wanted[0].is_one_class else 1
        return tuple(np.bincount(self.groups, minlength=classes).tolist())


def _largest(numbers: Array) -> float:
    """The largest size among some of the numbers, spread evenly where there are very many; NaN does not count."""
    seen = numbers.reshape(-1)[:: 1 + numbers.size // MOST_LOOKED_AT]
    return float(np.max(np.abs(seen), where=~np.isnan(seen), initial=0.0))


@dataclass(frozen=True, eq=False)
class Samples:
    """One array for each input, samples first, in any type of number; and what reading them brought to light.

    Sequences of different lengths are padded with zeros at their ends; `lengths` then holds, for each input, how many
    steps of each sample are real (int64), or None where all are. It is empty where no input has lengths.
    """

    arrays: Arrays
    notes: tuple[str, ...] = ()
    lengths: tuple[Array | None, ...] = ()

    @property
    def bytes(self) -> int:
        """The memory they take."""
        return sum(array.nbytes for array in self.arrays)


class SampleReader(Protocol):
    """The samples of one input where they lie. Several threads may read at once."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples first."""

    @property
    def kind(self) -> np.dtype[Any]:
        """What they are read as without loss: uint8, or float32."""

    @property
    def at_once(self) -> int:
        """So many are worth a task of their own."""

    @property
    def where(self) -> str:
        """The file or folder, in words."""

    @property
    def largest(self) -> int:
        """Of indices; 0 for other numbers."""

    def read(self, chosen: Array, out: Array) -> None:
        """The samples with these numbers, written there, which is of their kind or float32. Raises `UserError` for
        what cannot be read, or not be used."""


@dataclass(frozen=True, eq=False)
class Readers:
    """Where the samples of each input lie, and what opening them brought to light. `lengths` are those of `Samples`."""

    inputs: tuple[SampleReader, ...]
    notes: tuple[str, ...] = ()
    lengths: tuple[Array | None, ...] = ()


class Source(Protocol):
    """One kind of data. `path` is where the options point to, made absolute; sources only read there."""

    def stamp(self, path: Path) -> Hashable:
        """Changes when the data does. Raises `UserError` where there is nothing to read."""

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Everything but the samples. Raises `UserError` for data that cannot be used."""

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        """The samples, or those with the chosen numbers. Raises `UserError` for data that cannot be used."""

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """The samples to be read as they are wanted, where the outline knows no reason against it. Raises `UserError`
        for data that cannot be used."""
