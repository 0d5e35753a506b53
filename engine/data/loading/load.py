"""Load the data of a project: sizes, types, and samples in three splits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.open_data import Opened, open_source, reader_of, samples_of
from netwright.engine.data.loading.reader_processes import ReaderProcesses
from netwright.engine.data.sources.joined import outline_like
from netwright.engine.data.sources.prefetch import SampleCache, num_threads
from netwright.engine.data.sources.remote_files import naming_urls
from netwright.engine.data.sources.source import free_memory, index_type, located
from netwright.engine.placement.choose import Placement
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit
from netwright.engine.project.data_loading import Loading, loading
from netwright.engine.project.dataset_info import SPLITS, DatasetInfo
from netwright.engine.project.project import Project

LEAST_READERS, LEAST_SAMPLES = 2, 2000
"""Least number of cores, and of samples, for reader processes where the option leaves it open."""
MOST_OF_FREE = 0.25
"""Largest fraction of the free memory for decoded images, whatever the option says."""


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

    samples = samples_of(dataset)
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
    numbers = {name: np.arange(count if name == "test" else 0, dtype=index_type(count)) for name in SPLITS}
    info = replace(facts, samples={name: len(part) for name, part in numbers.items()}, notes=outline.notes)
    if outline.gathers or (declared.can_stream and not outline.resident_because):
        readers = source.readers(options, path, outline)
        return LoadedData(
            _noted(info, readers.notes), readers.inputs, readers.lengths, outline.targets, numbers, outline.shards
        )
    samples = source.samples(options, path, outline)
    return LoadedData(_noted(info, samples.notes), samples.arrays, samples.lengths, outline.targets, numbers)


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
