"""Loaded data: all samples with their split, in memory or read on demand, and one split of them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from netwright.engine.data.sources.prefetch import LazyArray, LazySteps, aligned_array
from netwright.engine.data.sources.source import Array, Arrays, SampleReader, chosen
from netwright.engine.data.sources.windows import Windows
from netwright.engine.project.dataset_info import DatasetInfo

CHUNK_BYTES = 2**24


@dataclass(frozen=True, eq=False)
class Split:
    """One split of the data. Inputs are float32, indices int64, samples first; streamed ones are read on demand.

    Targets are those of `Outline`, one array each. `lengths`: see `Samples`.
    """

    inputs: tuple[Any, ...]
    """Arrays, or `LazyArray` where they are streamed."""
    targets: Arrays
    lengths: tuple[Array | None, ...] = ()

    def real(self, number: int) -> Any:
        """Return all values of one input; for sequences of different lengths the real steps, one per row.

        The result is an array, or `Rows` of `netwright.engine.data.loading.normalization`.
        """
        array, lengths = self.inputs[number], self.lengths[number] if self.lengths else None
        if isinstance(array, LazyArray) and isinstance(array.stored, Windows):
            return array.stored.compact(array.numbers)[0]
        if lengths is None:
            return array
        if isinstance(array, LazyArray):
            return LazySteps(array, lengths)
        return array[np.arange(array.shape[1]) < lengths[:, np.newaxis]]


@dataclass(frozen=True, eq=False)
class LoadedData:
    """All samples and their split; in memory in the source's dtype, or as readers of samples on disk."""

    facts: DatasetInfo
    inputs: tuple[Array | SampleReader, ...]
    lengths: tuple[Array | None, ...]
    targets: Arrays
    numbers: dict[str, Array]
    shards: Array | None = None
    """See `Outline.shards`."""
    skips_bad: bool = False
    """Whether another sample stands in for one that cannot be read, where samples are streamed."""

    def split(self, name: str, doubles: Collection[int] = ()) -> Split:
        """Return one split in the order of the source; data in memory is copied. The inputs with the indices `doubles`
        are float64."""
        indices = self.numbers[name]
        kinds = [
            np.int64 if info.type.kind == "index" else np.float64 if number in doubles else np.float32
            for number, info in enumerate(self.facts.inputs)
        ]
        inputs = tuple(
            _copied(x, indices, np.dtype(kind))
            if isinstance(x, np.ndarray)
            else LazyArray(x, indices, np.dtype(kind), self.skips_bad)
            for x, kind in zip(self.inputs, kinds, strict=True)
        )
        lengths = tuple(None if counts is None else counts[indices] for counts in self.lengths)
        return Split(inputs, tuple(chosen(target, indices) for target in self.targets), lengths)

    @property
    def wider(self) -> frozenset[int]:
        """Indices of the inputs whose stored numbers may have more digits than float32."""
        kinds = [x.dtype if isinstance(x, np.ndarray) else x.kind for x in self.inputs]
        return frozenset(number for number, kind in enumerate(kinds) if not np.can_cast(kind, np.float32))

    def largest(self, number: int) -> int:
        """Return the largest index of an input of indices."""
        array = self.inputs[number]
        return int(array.max()) if isinstance(array, np.ndarray) else array.largest


def _copied(array: Array, indices: Array, kind: np.dtype[Any]) -> Array:
    """Return the chosen samples in a dtype, copied in chunks to save memory."""
    out = aligned_array((len(indices), *array.shape[1:]), kind)
    step = max(1, CHUNK_BYTES // max(1, array[:1].nbytes))
    for start in range(0, len(indices), step):
        out[start : start + step] = array[indices[start : start + step]]
    return out
