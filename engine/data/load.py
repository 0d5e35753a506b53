"""The data of a project: what is known about it, its samples in three parts, and a look at it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from engine.data import split as splitting
from engine.data.facts import PARTS, DataFacts
from engine.data.preview import describe
from engine.data.sources.masks import Masks
from engine.data.sources.places import locate
from engine.data.sources.registry import SOURCES
from engine.data.sources.source import Array, Arrays, Outline, Samples, Source
from engine.errors import FieldErrors, UserError
from engine.project.data import DataOptions

T = TypeVar("T")
KEPT = 2
KEPT_BYTES = 2**30
SPLIT_FIELDS = ("validation_share", "test_share", "split_seed")


@dataclass(frozen=True, eq=False)
class Part:
    """One part of the data. Inputs are float32, samples first; targets are those of `Outline`, one array each.
    `lengths` are those of `Samples`."""

    inputs: Arrays
    targets: Arrays
    lengths: tuple[Array | None, ...] = ()

    def real(self, number: int) -> Array:
        """All that one input holds; of sequences of different lengths every real step, one a row."""
        array, lengths = self.inputs[number], self.lengths[number] if self.lengths else None
        return array if lengths is None else array[np.arange(array.shape[1]) < lengths[:, np.newaxis]]


@dataclass(frozen=True, eq=False)
class LoadedData:
    """All samples in memory, in the source's own type of number, and their split."""

    facts: DataFacts
    samples: Samples
    targets: Arrays
    numbers: dict[str, Array]

    def part(self, name: str) -> Part:
        """Training, validation or test: a copy, in the order of the source."""
        chosen = self.numbers[name]
        inputs = tuple(array[chosen].astype(np.float32, copy=False) for array in self.samples.arrays)
        lengths = tuple(None if given is None else given[chosen] for given in self.samples.lengths)
        return Part(inputs, tuple(target[chosen] for target in self.targets), lengths)


@dataclass(frozen=True, eq=False)
class Opened:
    """A source with the options that point to it, its outline read."""

    options: DataOptions
    source: Source
    path: Path
    key: Hashable
    outline: Outline

    @cached_property
    def counts(self) -> list[splitting.Counts]:
        """How many samples of each class go to each part."""
        return splitting.counts(self.outline.counts, self.options.validation_share, self.options.test_share)

    @property
    def facts(self) -> DataFacts:
        """What is known before any sample is read."""
        sums = [sum(column) for column in zip(*self.counts, strict=True)]
        known = self.outline
        samples = dict(zip(PARTS, sums, strict=True))
        return DataFacts(known.inputs, samples, known.wanted, known.notes)

    @property
    def numbers(self) -> dict[str, Array]:
        """The numbers of the samples in each part."""
        return splitting.split(self.outline.groups, self.counts, self.options.split_seed)


class _Kept:
    """The few last things that were read, by what they were read from."""

    def __init__(self) -> None:
        self._items: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The kept one, or a new one, which is kept unless it is large."""
        if key in self._items:
            self._items.move_to_end(key)
            found: T = self._items[key]
            return found
        made = make()
        if size(made) <= KEPT_BYTES:
            self._items[key] = made
            while len(self._items) > KEPT:
                self._items.popitem(last=False)
        return made


_OUTLINES, _SAMPLES = _Kept(), _Kept()


def facts(options: DataOptions, base: Path) -> DataFacts:
    """What is known about the data, as cheaply as its kind allows. Raises `UserError`."""
    return _open(options, base).facts


def load(options: DataOptions, base: Path) -> LoadedData:
    """All samples, split. Raises `UserError`."""
    opened = _open(options, base)

    def read() -> Samples:
        samples = opened.source.samples(options, opened.path, opened.outline)
        for array in samples.arrays:
            array.flags.writeable = False
        return samples

    samples = _SAMPLES.get(opened.key, read, lambda samples: samples.bytes)
    known = opened.facts
    notes = (*known.notes, *(note for note in samples.notes if note not in known.notes))
    complete = DataFacts(known.inputs, known.samples, known.targets, notes)
    return LoadedData(complete, samples, opened.outline.targets, opened.numbers)


def preview(options: DataOptions, base: Path, folder: Path, count: int) -> dict[str, Any]:
    """A look at the data for the Data tab, in the shape that `engine.data.preview` describes. Raises `UserError`."""
    opened = _open(options, base)

    def read(chosen: Array) -> Samples:
        return opened.source.samples(options, opened.path, opened.outline, chosen)

    return describe(opened.outline, opened.counts, opened.numbers, read, folder, count)


def _open(options: DataOptions, base: Path) -> Opened:
    if options.source not in SOURCES:
        raise UserError("The project has no data yet. Choose a data source.")
    problems = options.problems()
    if problems:
        raise FieldErrors(problems)
    source = SOURCES[options.source]
    if options.source == "images" and options.masks:
        source = Masks(locate(options.masks, base))
    path = locate(options.path, base) if options.path else base
    # Another split of the same data is no reason to read it again.
    reading = options.replace(**{name: DataOptions.fields[name].default for name in SPLIT_FIELDS})
    key = (reading, str(path), source.stamp(path))

    def size(outline: Outline) -> int:
        return sum(target.nbytes for target in outline.targets) + (outline.samples.bytes if outline.samples else 0)

    outline = _OUTLINES.get(key, lambda: source.outline(options, path), size)
    return Opened(options, source, path, key, outline)
