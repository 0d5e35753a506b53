"""Open the data of a project: its source, the outline, and the samples in three splits.

A source (`netwright.engine.data.sources.source.Source`) is called in this order, so that nothing of the validation and
test splits reaches the training:

1. `outline`: what is there, as cheaply as the data allows: the number of samples, the targets with the names of their
   classes (those of all data, since they are what labels mean), and the inputs that are known without learning from the
   data. Nothing is counted, averaged or collected over samples here, except for the targets. What has to be read for
   this and is needed again goes to `Outline.raw`.
2. The samples are split by their targets, into three lists of indices.
3. `fit`: all that is learned from the data: categories, vocabularies, values for gaps. It gets the indices of the
   training samples and looks at no others, except to count in notes what they will be encoded as. It returns the
   outline with `inputs`, their `prepared` columns, and `notes`. Normalisation is not fitted here: it is a layer of the
   network.
4. `samples`, or `readers` where samples are read one by one: the inputs of all samples, encoded by the fitted outline.
   Encoding is a function of one sample and the outline, the one that
   `netwright.engine.data.loading.apply_preparation` calls for new samples.

`samples` and `readers` get the fitted outline. Outlines and samples are cached by `stamp`, the options and, where `fit`
changed the outline, by the training samples.
"""

import hashlib
import importlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import FilePath
from netwright.engine.data.loading.split import Division, Rule, untrained_classes
from netwright.engine.data.sources.joined import Joined, parts_of
from netwright.engine.data.sources.remote_files import naming_urls
from netwright.engine.data.sources.source import Array, Outline, Samples, Source, free_memory, locate, located
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit, say_typed
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import guesses, names_shards, not_understood, with_guess
from netwright.engine.project.sources.source_type import SourceType
from netwright.engine.project.sources.urls import is_remote

T = TypeVar("T")
KEPT = 2
KEPT_BYTES = 2**30
SPLIT_PATHS = frozenset({"validation_path", "test_path"})
"""Options that name the data of other splits; a reader of time series reads these files with its own."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A source with its options and its outline, which is fitted on the training split."""

    declared: SourceType
    options: DataOptions
    source: Source
    path: Path
    key: Hashable
    outline: Outline
    division: Division

    @property
    def facts(self) -> DatasetInfo:
        """Sizes, types and notes, as far as they are known before samples are read."""
        outline = self.outline
        notes = (*outline.notes, *self.division.notes)
        size = outline.raw.bytes if outline.raw is not None and outline.gathers else 0
        return DatasetInfo(
            outline.inputs,
            self.division.samples,
            outline.sized,
            notes,
            outline.resident_because,
            outline.warnings,
            size,
            outline.forecast,
        )

    @property
    def numbers(self) -> dict[str, Array]:
        """Sample indices of each split."""
        return self.division.numbers


def reader_of(declared: SourceType, options: DataOptions, base: Path) -> Source:
    """Import the reader of a source and make one for these options. Raises `UserError` where a file that they name, or
    the library of the reader, is missing."""
    path = located(declared, options.path, base)
    library, extra = declared.library
    if library:
        import_extra(library, extra, declared.label)
    module, _, name = declared.reader_for(options, path, free_memory()).partition(":")
    paths = {
        name: locate(text, base)
        for name in declared.option_names - {"path"} | (SPLIT_PATHS if declared.is_in_time else frozenset())
        if isinstance(options.fields[name], FilePath) and options.is_visible(name)
        if (text := getattr(options, name))
    }
    arguments = {**paths, **declared.arguments(options, base)}
    reader: Source = getattr(importlib.import_module(module), name)(**arguments)
    return reader


class _Kept:
    """Cache of the values read last, by source and stamp."""

    def __init__(self) -> None:
        self._items: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the cached value, or call `make` and cache the result unless it is larger than `KEPT_BYTES`."""
        if key in self._items:
            self._items.move_to_end(key)
            cached: T = self._items[key]
            return cached
        value = make()
        if size(value) <= KEPT_BYTES:
            self._items[key] = value
            while len(self._items) > KEPT:
                self._items.popitem(last=False)
        return value


_OUTLINES, _DIVISIONS, _FITTED, _SAMPLES = _Kept(), _Kept(), _Kept(), _Kept()


@naming_urls()
def open_source(options: DataOptions, base: Path) -> Opened:
    """Return the source that the options name, with its outline. Raises `UserError` for data that cannot be used."""
    declared = options.source_type
    if declared is None:
        raise UserError("The project has no data yet. Choose a data source.")
    problems = options.problems()
    if problems:
        raise FieldErrors(problems)
    admit(options)
    path = located(declared, options.path, base)
    parts = parts_of(options, path, base, partial(reader_of, declared, base=base))
    source = parts[0].source if len(parts) == 1 else Joined(parts, resizes=declared.resizes)
    key: Hashable = (type(parts[0].source), options.reading, str(path), source.stamp(path))
    outline = _OUTLINES.get(key, lambda: source.outline(options, path), lambda outline: outline.bytes)
    rule = _rule_of(options)
    division = _DIVISIONS.get((key, rule), lambda: _divide(rule, outline), lambda _: 8 * len(outline))
    training = division.numbers["training"]
    fitted_key = (key, hashlib.sha256(np.ascontiguousarray(training).data).hexdigest())

    def fit() -> Outline:
        fitted = source.fit(options, path, outline, training)
        return replace(fitted, warnings=(*fitted.warnings, *untrained_classes(fitted, training)))

    fitted = _FITTED.get(fitted_key, fit, lambda outline: outline.bytes)
    is_same = fitted.inputs is outline.inputs
    return Opened(declared, options, source, path, key if is_same else fitted_key, fitted, division)


def _rule_of(options: DataOptions) -> Rule:
    kind = "random" if options.division == "folders" else options.division
    shares = options.validation_share, options.test_share
    return Rule(kind, *shares, options.split_seed, options.folds, options.fold, options.split_gap)


def _divide(rule: Rule, outline: Outline) -> Division:
    """Divide the samples into splits by a rule."""
    first = outline.wanted[0]
    if outline.in_time is not None:
        return Division(rule, outline.groups, in_time=outline.in_time)
    names = first.classes if first.is_one_class else ()
    return Division(rule, outline.groups, names, outline.split_keys, outline.given)


def split_codes(options: DataOptions, base: Path) -> bytes:
    """Return the split of each sample, as `DataRecord.parts` holds it. Raises `UserError`."""
    return open_source(options, base).division.codes


def samples_of(dataset: Opened) -> Samples:
    """Return all samples, read now unless they were before. Raises `UserError`."""

    def read() -> Samples:
        samples = dataset.source.samples(dataset.options, dataset.path, dataset.outline)
        for array in samples.arrays:
            array.flags.writeable = False
        return samples

    return _SAMPLES.get(dataset.key, read, lambda samples: samples.bytes)


def options_for(text: str, settings: Sequence[str] = ()) -> tuple[DataOptions, str]:
    """Return the options for a file, a folder or a URL of shards, with settings such as `data.source=table`, and why it
    is taken as this kind, empty where a setting says the kind. Raises `UserError`."""
    for typed in (text, *(setting.partition("=")[2].strip() for setting in settings)):
        say_typed(typed)
    path = Path(text).absolute()
    has_source = any(setting.partition("=")[0].strip() == "data.source" for setting in settings)
    if is_remote(text) and (has_source or names_shards(text)):
        options, reason = DataOptions(source="shards", path=text), "A URL"
    elif has_source:
        options, reason = DataOptions(path=str(path)), ""
    else:
        options, reason = _guessed(text, path)
    project = Project(data=options)
    for setting in settings:
        project = set_option(project, setting)
    return project.data, reason


def _guessed(text: str, path: Path) -> tuple[DataOptions, str]:
    """Return options by the contents of a path, or of the copy of what is behind a URL. Raises `UserError`."""
    if is_remote(text):
        path = locate(text, Path.cwd())
    found = guesses(path)
    if not found:
        raise UserError(not_understood(path), hint="--set data.source=table, or another, says which it is.")

    def short(given: Path) -> str:
        if not is_remote(text):
            return str(given)
        return text if given == path else f"{text.rstrip('/')}/{given.relative_to(path).as_posix()}"

    return with_guess(DataOptions(), found[0], path, short), found[0].reason
