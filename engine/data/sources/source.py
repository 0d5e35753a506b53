"""Protocol of data sources: an outline, which is cheap to read, and the samples."""

import contextlib
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import Any, Protocol

import numpy as np
import psutil

from netwright.engine.core import platform
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.platform import memory_left_bytes, unused_memory_bytes
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import Forecast, InputInfo, TargetInfo
from netwright.engine.project.sources.source_type import SourceType
from netwright.engine.project.sources.urls import SCHEME

CGROUP = Path("/sys/fs/cgroup")
GROUP_FILES = {
    "first": ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_cache", "cache")),
    "second": ("memory.max", "memory.current", ("file",)),
}
"""Files of a control group, by the version: its limit, what is used, and the row of files in `memory.stat`."""
MOST_OF_FREE, LEAST_BYTES = 0.75, 2**30
Array = np.ndarray[Any, np.dtype[Any]]
PIECE = 2**16
Arrays = tuple[Array, ...]
MOST_CLASSES = 10_000
MOST_ROUNDED = 2.0**-16
"""Largest error of rounding to single precision, relative to the range of a channel, that training does not mind."""
MOST_LOOKED_AT = 1_000_000
LONGEST_SHOWN = 200
"""Characters of a name that messages show."""


class BadSampleError(UserError):
    """Error of one sample that cannot be read or used, where the others may be whole.

    `sample` is its file, or its number from 0; `reason` says in a few words what is wrong.
    """

    def __init__(self, message: str, sample: str, reason: str) -> None:
        super().__init__(message)
        self.sample, self.reason = sample, reason


def locate(text: str, base: Path) -> Path:
    """Return the path that the options name; relative ones start at `base`, the project's folder. For a URL it is that
    of a copy on this machine, fetched now unless it is there.

    Raises `UserError` where there is no such file or folder, or it cannot be read.
    """
    if SCHEME.match(text):
        from netwright.engine.data.sources.remote_files import as_path  # few projects need it

        text = as_path(text)
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
            if PureWindowsPath(text).anchor:  # a drive here, a slash at the beginning on Windows
                raise UserError(
                    f"The data lies at {text}, a path of another system. Choose the data anew: a folder or file within "
                    "the project's folder is found on each system."
                ) from None
            message += f" The project says '{text}', which starts at the project's folder, {base}."
        raise UserError(f"{message}{_near(path)} Put it there, or choose the data anew.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    return path


def located(declared: SourceType | None, text: str, base: Path) -> Path:
    """Return the path that the options name: the project's folder, `base`, where they name none, or the source itself
    finds its files by a pattern or URL. Raises `UserError` as `locate` does."""
    return locate(text, base) if text and (declared is None or not declared.has_patterns) else base


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def unreadable(path: Path, error: OSError) -> UserError:
    """Return the error for a file or folder that the system refuses to read."""
    if isinstance(error, PermissionError):
        return UserError(f"{path} may not be read. Give yourself permission to read it, or choose other data.")
    return UserError(f"{path} cannot be read: {error.strerror or error}.")


def file_stamp(path: Path, expected: str) -> Hashable:
    """Return a value that changes when the file does: time of modification, size and inode.

    Raises `UserError` where it is missing, empty or a folder; `expected` describes the file for the message.
    """
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
    """Return the free memory of the machine, or of the container this process runs in, or what its limits leave this
    process, in bytes."""
    try:
        free = int(psutil.virtual_memory().available)
    except OSError:  # Linux without /proc; the C library asks the kernel, which leaves out what caches can release
        free = unused_memory_bytes()
    return int(min(free, _within_groups(), memory_left_bytes()))


def _within_groups() -> float:
    """Return the memory that the control groups of this process leave it, those of a container among them, in
    bytes. What they hold of files is released where memory is short."""
    free = math.inf
    try:
        lines = (line.split(":", 2) for line in platform.CONTROL_GROUPS.read_text().splitlines())
        places = [(kinds, inside.strip("/")) for _, kinds, inside in lines if not kinds or "memory" in kinds.split(",")]
    except (OSError, ValueError):
        places = []
    for kinds, inside in (*places, ("", "")):
        root = CGROUP / "memory" if kinds else CGROUP
        limit, usage, files = GROUP_FILES["first" if kinds else "second"]
        for folder in (root / inside, *(root / inside).parents):
            if not folder.is_relative_to(root):
                break
            with contextlib.suppress(OSError, ValueError, StopIteration):  # no such group, or one without a limit
                most = int((folder / limit).read_text())
                rows = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
                counts = {name: int(count) for name, count in rows}
                cached = next(counts[name] for name in files if name in counts)
                free = min(free, max(0, most - int((folder / usage).read_text()) + cached))
    return free


def allowed_memory() -> int:
    """Return the memory that a process which reads a stranger's file may take, in bytes: three quarters of what is
    free, and a GiB at least."""
    return max(LEAST_BYTES, int(MOST_OF_FREE * free_memory()))


def refuse_too_large(needed_bytes: int, subject: str, way_out: str) -> None:
    """Raise `UserError` if less than `needed_bytes` of memory is free, before the system kills the process."""
    free = free_memory()
    if needed_bytes > free:
        raise UserError(
            f"{subject} need {needed_bytes / 2**30:,.1f} GiB of memory; {free / 2**30:,.1f} GiB are free. {way_out}"
        )


def pieces(numbers: Array) -> Iterator[Array]:
    """Yield views of numbers (N), so short that what is computed of them stays in the processor's cache."""
    return (numbers[start : start + PIECE] for start in range(0, len(numbers), PIECE))


def index_type(count: int) -> np.dtype[Any]:
    """Return the type of indices below `count`: 32 bits where they suffice."""
    return np.dtype(np.int32 if count <= 2**31 else np.int64)


def chosen(values: Array, indices: Array) -> Array:
    """Return the values (N, ...) with these indices, a piece at a time: NumPy makes 64 bits of all that it is given."""
    out = np.empty((len(indices), *values.shape[1:]), values.dtype)
    for start in range(0, len(indices), PIECE):
        out[start : start + PIECE] = values[indices[start : start + PIECE]]
    return out


def is_whole(numbers: Array) -> bool:
    """Return whether all numbers (N) are whole."""
    return all(np.array_equal(part, np.rint(part)) for part in pieces(numbers))


def listed(names: list[str], most: int = 5) -> str:
    """Return the first `most` names as a text, long ones cut, with the number of the others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(cut, names[:most])) + more


def cut(name: str) -> str:
    """Return a name for messages: the beginning of a very long one."""
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..."


class Raw(Protocol):
    """Data that a source read for its outline and needs again for the samples, such as the columns of a table."""

    @property
    def bytes(self) -> int:
        """Memory in bytes, about."""


class InTime(Protocol):
    """Division of samples in the order of time."""

    def numbers(self, validation_share: float, test_share: float) -> dict[str, Array]:
        """Return the indices of the samples of each split, ascending. Raises `UserError` without any to train."""

    def notes(self, validation_share: float, test_share: float) -> list[str]:
        """Return notes on samples between the splits, and on splits without samples."""


@dataclass(frozen=True)
class Column:
    """Description of a column of a table, or of an array of a file, for display."""

    name: str
    role: str
    kind: str
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    histogram: dict[str, Any] | None = None
    """Counts of its values, see `netwright.engine.data.tables.histograms`."""


@dataclass(frozen=True, eq=False)
class Outline:
    """Description of a source and its targets, without the samples.

    `targets` holds one array per item of `wanted`, samples first, as described by `TargetInfo`: class indices are
    integers (int64; the smallest signed type for maps), numbers and labels float32. A source that has to read all data
    for its outline stores it in `samples`, or in `raw` where it is encoded once it is fitted. `columns` and the first
    `rows` are filled in for tables. `resident_because` is the reason why the samples can only be held in memory; empty
    where they can be read one by one. `gathers`: samples share memory in `raw`, from which readers gather each batch.
    `in_time` divides the samples of a source whose splits follow from time.
    """

    inputs: tuple[InputInfo, ...]
    targets: Arrays
    wanted: tuple[TargetInfo, ...]
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str | float, ...], ...] = ()
    samples: "Samples | None" = field(default=None, repr=False)
    raw: "Raw | None" = field(default=None, repr=False)
    resident_because: str = ""
    shards: Array | None = field(default=None, repr=False)
    """Index of the shard that holds each sample (N), rising, where samples lie in several files."""
    warnings: tuple[str, ...] = ()
    """Findings that the user should do something about, one line each."""
    split_keys: Array | None = None
    """Key of each sample (N) by which `netwright.engine.data.loading.split.Division` divides; None without."""
    given: Mapping[str, int] = field(default_factory=dict)
    """Numbers of samples in splits with data of their own, which follow the other samples in this order."""
    gathers: bool = False
    forecast: Forecast | None = None
    in_time: "InTime | None" = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.targets[0])

    @cached_property
    def sized(self) -> tuple[TargetInfo, ...]:
        """Items of `wanted`; those of numbers to predict with their largest absolute value."""
        pairs = zip(self.wanted, self.targets, strict=True)
        return tuple(
            replace(info, largest=_largest(target)) if info.task == "numbers" else info for info, target in pairs
        )

    @property
    def bytes(self) -> int:
        """Memory of targets, samples and raw data in bytes."""
        size = sum(target.nbytes for target in self.targets)
        return size + (self.samples.bytes if self.samples else 0) + (self.raw.bytes if self.raw else 0)

    @property
    def groups(self) -> Array:
        """Class of each sample (N) by the first target, for stratified splits; zeros where that target is no single
        class."""
        return self.targets[0] if self.wanted[0].is_one_class else np.zeros(len(self), dtype=np.int64)


def _largest(numbers: Array) -> float:
    """Return the largest absolute value, ignoring NaN; of evenly spaced numbers above `MOST_LOOKED_AT` of them."""
    sampled = numbers.reshape(-1)[:: 1 + numbers.size // MOST_LOOKED_AT]
    return float(np.max(np.abs(sampled), where=~np.isnan(sampled), initial=0.0))


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples as one array per input, samples first, in any dtype; and notes on findings while reading.

    Sequences of different lengths are padded with zeros at their ends; `lengths` then holds, per input, the number of
    real steps of each sample (N, int64), or None where all are. It is empty where no input has lengths.
    """

    arrays: Arrays
    notes: tuple[str, ...] = ()
    lengths: tuple[Array | None, ...] = ()

    @property
    def bytes(self) -> int:
        """Memory of all arrays in bytes."""
        return sum(array.nbytes for array in self.arrays)


class SampleReader(Protocol):
    """Reader of the samples of one input on disk. Several threads may read at once."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole array, samples first."""

    @property
    def kind(self) -> np.dtype[Any]:
        """Dtype in which samples are read without loss: uint8, float32 or float64, int64 for indices."""

    @property
    def at_once(self) -> int:
        """Number of samples per task of a reader thread."""

    @property
    def where(self) -> str:
        """File or folder, for messages."""

    @property
    def largest(self) -> int:
        """Largest index of an input of indices; 0 for other inputs."""

    def read(self, indices: Array, out: Array) -> None:
        """Read the samples with these indices into `out`, of dtype `kind`, float32 or another that holds them.

        Raises `UserError` for samples that cannot be read or used.
        """


@dataclass(frozen=True, eq=False)
class Readers:
    """Readers of the samples, one per input, and notes on findings while opening. `lengths`: see `Samples`."""

    inputs: tuple[SampleReader, ...]
    notes: tuple[str, ...] = ()
    lengths: tuple[Array | None, ...] = ()


class Source(Protocol):
    """Reader of one kind of data, which `netwright.engine.project.sources` declares. `path` is the absolute path that
    the options name; sources only read there. Further paths that the options name are given to the constructor, by the
    names of the options: `Masks(masks=...)`.

    A source derives from this class. `netwright.engine.data.loading.open_data` says in which order its methods are
    called.
    """

    def stamp(self, path: Path) -> Hashable:
        """Return a value that changes when the data does. Raises `UserError` where there is nothing to read."""

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline of the data, without samples. Raises `UserError` for data that cannot be used."""

    def fit(self, options: DataOptions, path: Path, outline: Outline, training: Array) -> Outline:
        """Return the outline with all that is learned from the data: `inputs` and `notes`.

        `training` holds the indices of the training samples, and nothing may be learned from any others. A source that
        learns nothing inherits this method. Raises `UserError` for data that cannot be used.
        """
        return outline

    def fit_like(self, options: DataOptions, path: Path, outline: Outline, fitted: Outline) -> Outline:
        """Return the outline of the data of another split with what was fitted on the training data, `fitted`.

        Raises `UserError` for data that cannot be used.
        """
        return replace(outline, inputs=fitted.inputs)

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return all samples, or those with the chosen indices; `outline` is the one that `fit` returned.

        Raises `UserError` for data that cannot be used.
        """

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return readers of the samples, where `resident_because` of the outline is empty; `outline` is the one that
        `fit` returned.

        Raises `UserError` for data that cannot be used.
        """
        raise AssertionError(f"{type(self).__name__} is held in memory, since resident_because says so.")

    def named_parts(self, options: DataOptions, path: Path) -> Mapping[str, "Source"]:
        """Return the sources of the splits that names inside a file tell apart, such as arrays `x_train` and `x_test`;
        none where there are no such names. Raises `UserError`."""
        return {}
