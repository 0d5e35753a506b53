"""Preview of the data for the Data tab: a few samples, read from disk where the data is large."""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from netwright.engine.data.loading.open_data import KEPT_BYTES, Opened, open_source
from netwright.engine.data.loading.preview import ALL, Change, Selection, describe
from netwright.engine.data.sources.prefetch import LazyArray
from netwright.engine.data.sources.source import Array, Samples, free_memory, refuse_too_large
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_loading import loading
from netwright.engine.project.training import TrainingOptions


def preview(
    options: DataOptions,
    base: Path,
    folder: Path,
    count: int,
    change: Change | None = None,
    *,
    training: TrainingOptions | None = None,
    selection: Selection = ALL,
) -> dict[str, Any]:
    """Return a preview for the Data tab, in the shape that `netwright.engine.data.loading.preview` describes; its entry
    `loading` describes how a run with these options and one worker loads the data. Raises `UserError`."""
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
        change,
        selection=replace(selection, count=count),
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
