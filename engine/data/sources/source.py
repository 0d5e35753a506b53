"""What every data source gives: an outline, which is cheap, and its samples."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.data.facts import InputFacts, TargetFacts
from engine.project.data import DataOptions

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = tuple[Array, ...]
MOST_CLASSES = 10_000
MOST_LOOKED_AT = 1_000_000


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

    `targets` holds one array for each of `wanted`, samples first, as `TargetFacts` says: class numbers are whole
    (int64, of maps the smallest signed type), numbers and labels float32. A source that has to read everything to know
    this much keeps it in `samples`. `columns` and the first `rows` are there for tables. `resident_because` says why
    the samples can only be held in memory; empty where they can be read one by one.
    """

    inputs: tuple[InputFacts, ...]
    targets: Arrays
    wanted: tuple[TargetFacts, ...]
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str | float, ...], ...] = ()
    samples: "Samples | None" = field(default=None, repr=False)
    resident_because: str = ""

    def __len__(self) -> int:
        return len(self.targets[0])

    @cached_property
    def sized(self) -> tuple[TargetFacts, ...]:
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


class Stored(Protocol):
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
class Streams:
    """Where the samples of each input lie, and what opening them brought to light. `lengths` are those of `Samples`."""

    inputs: tuple[Stored, ...]
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

    def streams(self, options: DataOptions, path: Path, outline: Outline) -> Streams:
        """The samples to be read as they are wanted, where the outline knows no reason against it. Raises `UserError`
        for data that cannot be used."""
