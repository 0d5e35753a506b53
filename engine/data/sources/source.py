"""What every data source gives: an outline, which is cheap, and its samples."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.data.facts import InputFacts, Task
from engine.project.data import DataOptions

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = tuple[Array, ...]
MOST_CLASSES = 10_000


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

    `targets` are class numbers (int64, one a sample) or numbers (float32, samples × responses). `classes` are in the
    order of the class numbers. A source that has to read everything to know this much keeps it in `samples`.
    `columns` and the first `rows` are there for tables.
    """

    inputs: tuple[InputFacts, ...]
    targets: Array
    task: Task
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str | float, ...], ...] = ()
    samples: "Samples | None" = field(default=None, repr=False)

    @property
    def responses(self) -> int:
        """How many numbers are to be predicted; 1 for classes."""
        return 1 if self.task == "classes" else int(self.targets.shape[1])

    @property
    def counts(self) -> tuple[int, ...]:
        """Samples of each class; for numbers, all samples in one group."""
        if self.task == "numbers":
            return (len(self.targets),)
        return tuple(np.bincount(self.targets, minlength=len(self.classes)).tolist())


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


class Source(Protocol):
    """One kind of data. `path` is where the options point to, made absolute; sources only read there."""

    def stamp(self, path: Path) -> Hashable:
        """Changes when the data does. Raises `UserError` where there is nothing to read."""

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Everything but the samples. Raises `UserError` for data that cannot be used."""

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        """The samples, or those with the chosen numbers. Raises `UserError` for data that cannot be used."""
