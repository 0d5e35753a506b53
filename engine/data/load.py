"""Load the data of a project: sizes and types, samples in three splits, and a preview.

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
   Encoding is a function of one sample and the outline, the one that `netwright.engine.data.apply_preparation` calls
   for new samples.

`samples` and `readers` get the fitted outline. Outlines and samples are cached by `stamp`, the options and, where `fit`
changed the outline, by the training samples.
"""

import hashlib
import importlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import FilePath
from netwright.engine.data.loaded import LoadedData
from netwright.engine.data.prefetch import LazyArray, SampleCache, num_threads
from netwright.engine.data.reader_processes import ReaderProcesses
from netwright.engine.data.sources.joined import Joined, outline_like, parts_of
from netwright.engine.data.sources.remote_files import naming_urls, recorded_remote
from netwright.engine.data.sources.shard_places import recorded
from netwright.engine.data.sources.source import (
    Array,
    Outline,
    Samples,
    Source,
    free_memory,
    locate,
    located,
    refuse_too_large,
    unreadable,
)
from netwright.engine.data.split import Division, Rule, untrained_classes
from netwright.engine.placement.choose import Placement
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit
from netwright.engine.project.data_loading import Loading, loading
from netwright.engine.project.dataset_info import SPLITS, DatasetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.sources.shards import PLACES
from netwright.engine.project.sources.source_type import SourceType
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.data_files import DataPlace
from netwright.engine.runs.data_record import DataRecord

if TYPE_CHECKING:
    from netwright.engine.data.preview import Change

T = TypeVar("T")
KEPT = 2
KEPT_BYTES = 2**30
LEAST_READERS, LEAST_SAMPLES = 2, 2000
"""Least number of cores, and of samples, for reader processes where the option leaves it open."""
SPLIT_PATHS = frozenset({"validation_path", "test_path"})
"""Options that name the data of other splits; a reader of time series reads these files with its own."""
MOST_OF_FREE = 0.25
"""Largest fraction of the free memory for decoded images, whatever the option says."""


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


def facts(options: DataOptions, base: Path) -> DatasetInfo:
    """Return sizes, types and notes, read as cheaply as the source allows. Raises `UserError`."""
    return open_source(options, base).facts


@naming_urls()
def load(options: DataOptions, base: Path, *, is_streamed: bool = False, cache_bytes: int = 0) -> LoadedData:
    """Load all samples; streamed ones stay on disk, and up to `cache_bytes` of them are cached once decoded. Raises
    `UserError`."""
    dataset = open_source(options, base)
    if dataset.outline.gathers:
        return _streamed(dataset, 0)
    if is_streamed and not dataset.outline.resident_because:
        return _streamed(dataset, cache_bytes)

    def read() -> Samples:
        samples = dataset.source.samples(options, dataset.path, dataset.outline)
        for array in samples.arrays:
            array.flags.writeable = False
        return samples

    samples = _SAMPLES.get(dataset.key, read, lambda samples: samples.bytes)
    return LoadedData(
        _noted(dataset.facts, samples.notes),
        samples.arrays,
        samples.lengths,
        dataset.outline.targets,
        dataset.numbers,
        dataset.outline.shards,
    )


def _streamed(dataset: Opened, cache_bytes: int) -> LoadedData:
    readers = dataset.source.readers(dataset.options, dataset.path, dataset.outline)
    inputs = readers.inputs
    if reads_in_processes(dataset.options, len(dataset.outline)):
        inputs = tuple(ReaderProcesses(reader) for reader in inputs)
    if cache_bytes:
        inputs = tuple(SampleCache(reader, cache_bytes // len(inputs)) for reader in inputs)
    return LoadedData(
        _noted(dataset.facts, readers.notes),
        inputs,
        readers.lengths,
        dataset.outline.targets,
        dataset.numbers,
        dataset.outline.shards,
        dataset.options.skips_bad_samples,
    )


def reads_in_processes(options: DataOptions, samples: int) -> bool:
    """Return whether streamed samples are read by processes: as asked, else on several cores and for many samples.

    Threads decode side by side but take turns in Python, at about 0.1 ms per image; starting a process takes 0.3 s.
    """
    if not options.is_visible("readers") or options.readers != "auto":
        return options.is_visible("readers") and options.readers == "processes"
    return num_threads() >= LEAST_READERS and samples >= LEAST_SAMPLES


def _noted(facts: DatasetInfo, notes: Sequence[str]) -> DatasetInfo:
    """Return the info with the notes of reading added, without duplicates."""
    return replace(facts, notes=(*facts.notes, *(note for note in notes if note not in facts.notes)))


def preview(
    options: DataOptions,
    base: Path,
    folder: Path,
    count: int,
    change: "Change | None" = None,
    *,
    training: TrainingOptions | None = None,
) -> dict[str, Any]:
    """Return a preview for the Data tab, in the shape that `netwright.engine.data.preview` describes; its entry
    `loading` describes how a run with these options and one worker loads the data. Raises `UserError`."""
    from netwright.engine.data.preview import describe  # imports Pillow

    dataset = open_source(options, base)
    how = loading(options, training or TrainingOptions(), dataset.facts, free_bytes=free_memory())
    is_large = (
        how.held_bytes > KEPT_BYTES
        and not dataset.outline.resident_because
        and not dataset.declared.reads_single_samples
    )

    def read(indices: Array) -> Samples:
        if is_large:
            return _some(dataset, indices)
        return dataset.source.samples(options, dataset.path, dataset.outline, indices)

    division = dataset.division
    look = describe(
        dataset.outline,
        division.counts,
        dataset.numbers,
        read,
        folder,
        count,
        change,
        is_large=is_large,
        lengths=_lengths(dataset),
        wave=_wave(dataset),
    )
    return {**look, "notes": [*look["notes"], *division.notes], "loading": how.sentence()}


def _wave(dataset: Opened) -> Callable[[int], Array] | None:
    """Return the function that reads the sound of a sample; None for other data, and for sounds of several folders."""
    if dataset.outline.inputs[0].sound is None:
        return None
    reader = dataset.source.readers(dataset.options, dataset.path, dataset.outline).inputs[0]
    wave: Callable[[int], Array] | None = getattr(reader, "wave", None)
    return wave


def _lengths(dataset: Opened) -> Array | None:
    """Return the lengths of all sequences of the first input (N), where they differ; no sample is read for them."""
    if dataset.outline.inputs[0].lengths is None:
        return None
    if dataset.outline.samples is not None:
        lengths = dataset.outline.samples.lengths
    elif dataset.outline.resident_because:
        return None
    else:
        lengths = dataset.source.readers(dataset.options, dataset.path, dataset.outline).lengths
    return lengths[0] if lengths else None


def _some(dataset: Opened, indices: Array) -> Samples:
    """Read the chosen samples from disk. Raises `UserError` where memory is short."""
    readers = dataset.source.readers(dataset.options, dataset.path, dataset.outline)
    lengths = tuple(None if counts is None else counts[indices] for counts in readers.lengths)
    needed = sum(4 * len(indices) * prod(reader.shape[1:]) for reader in readers.inputs)
    refuse_too_large(needed, f"{len(indices):,} samples", "Use fewer samples or smaller ones.")
    return Samples(tuple(LazyArray(reader, indices)[:] for reader in readers.inputs), readers.notes, lengths)


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


def places_of(options: DataOptions, base: Path) -> list[DataPlace]:
    """Return the state of the files that the options name. Raises `UserError`."""
    admit(options)
    places: list[DataPlace] = []
    suffixes = options.source_type.recorded if options.source_type is not None else ()
    for name, field in options.fields.items():
        if name in PLACES and options.source_type is not None and options.source_type.has_patterns:
            if text := getattr(options, name):
                places.append(recorded(name, text, base))
            continue
        if isinstance(field, FilePath) and options.is_visible(name) and (text := getattr(options, name)):
            if is_remote(text):
                places.append(recorded_remote(name, text))
                continue
            path = locate(text, base)
            # One array file stands for all in its folder.
            path = path.parent if path.suffix == ".npy" and path.is_file() else path
            try:
                places.append(DataPlace.look(name, path, suffixes))
            except OSError as error:
                raise unreadable(path, error) from None
    return places


def record(options: DataOptions, base: Path, versions: Mapping[str, str]) -> DataRecord:
    """Return the record of the data for the folder of a run: its files as they are now, and the splits. Raises
    `UserError`."""
    places = places_of(options, base)
    division = open_source(options, base).division
    kind = options.split if division.in_time is None else division.rule.kind
    return DataRecord(options.source, tuple(places), kind, division.codes, versions, round(time.time(), 3))


@naming_urls()
def load_like(options: DataOptions, base: Path, facts: DatasetInfo) -> LoadedData:
    """Load other data than a network was trained on, prepared as the data with the facts `facts` was. All samples are
    in the split `test`, and are streamed where the source can. Raises `UserError` for data that does not fit."""
    declared = options.source_type
    if declared is None:
        raise UserError("No data is named.")
    if problems := options.problems():
        raise FieldErrors(problems)
    admit(options)
    path = located(declared, options.path, base)
    source = reader_of(declared, options, base)
    outline = outline_like(source, options, path, facts, resizes=declared.resizes)
    count = len(outline)
    numbers = {name: np.arange(count if name == "test" else 0) for name in SPLITS}
    info = replace(facts, samples={name: len(part) for name, part in numbers.items()}, notes=outline.notes)
    if outline.gathers or (declared.can_stream and not outline.resident_because):
        readers = source.readers(options, path, outline)
        return LoadedData(
            _noted(info, readers.notes), readers.inputs, readers.lengths, outline.targets, numbers, outline.shards
        )
    samples = source.samples(options, path, outline)
    return LoadedData(_noted(info, samples.notes), samples.arrays, samples.lengths, outline.targets, numbers)


def remote_changes(options: DataOptions, base: Path, before: DataRecord) -> tuple[str, ...]:
    """Return a sentence for each place behind a URL that has changed. Raises `UserError`."""
    declared = options.source_type
    has_shards = declared is not None and declared.has_patterns
    changes = []
    for place in before.places:
        text = getattr(options, place.option, "") if place.kind == "remote" else ""
        if text and has_shards and place.option in PLACES:
            changes.append(place.differences(recorded(place.option, text, base)))
        elif text:
            changes.append(place.differences(recorded_remote(place.option, text, is_fresh=True)))
    return tuple(filter(None, changes))


def choose_loading(project: Project, facts: DatasetInfo, placement: Placement, inventory: DeviceInventory) -> Loading:
    """Decide between resident and streamed data, by its size, the free memory, and the number of workers."""
    names = {worker.device for worker in placement.workers}
    devices = [device.memory_bytes for device in inventory.devices if device.name in names]
    return loading(
        project.data,
        project.training,
        facts,
        free_bytes=free_memory(),
        workers=len(placement.workers),
        device_bytes=min(devices, default=0),
    )


def loaded(project: Project, base: Path, how: Loading, workers: int) -> LoadedData:
    """Load the data of a run for one of its workers. Raises `UserError`."""
    size = project.data.decoded_cache * 2**20 if project.data.is_visible("decoded_cache") else 0
    cache = min(size, int(MOST_OF_FREE * free_memory())) // workers
    return load(project.data, base, is_streamed=how.is_streamed, cache_bytes=cache)
