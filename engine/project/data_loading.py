"""Whether the samples are held in memory while a network trains, or read batch by batch: by their size, or as asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from netwright.engine.core.text import format_bytes
from netwright.engine.network.problems import Problem
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.sources.source_type import SourceType
from netwright.engine.project.training import TrainingOptions

MOST_OF_FREE = 0.5
"""Largest share of the free memory for data that `auto` holds in memory; the rest is for the network."""


@dataclass(frozen=True)
class Loading:
    """How each worker of a run loads the data. `held_bytes` is the estimated memory for holding all of it in one
    worker; `free_bytes` the free memory, of the host or of the device, for the copies of all workers."""

    is_streamed: bool
    held_bytes: int
    free_bytes: int
    workers: int = 1
    place: str = "memory"
    because: str = ""

    def sentence(self) -> str:
        """Return `Held in memory while training: 1.2 GiB; 12 GiB are free.`"""
        size = format_bytes(self.held_bytes * self.workers)
        copies = f" for {self.workers} workers" if self.workers > 1 else ""
        free = format_bytes(self.free_bytes)
        why = f" It cannot be streamed: {self.because}." if self.because else ""
        if not self.is_streamed:
            return f"Held in memory while training: {size}{copies}; {free} are free.{why}"
        on = " on the device" if self.place == "device" else ""
        return f"Streamed while training: held in memory it takes {size}{copies}; {free} are free{on}."

    def write(self) -> dict[str, Any]:
        """Return the value as JSON."""
        return asdict(self)

    @classmethod
    def read(cls, data: Mapping[str, Any] | None) -> "Loading":
        """Return the value from JSON that `write` made; runs from before the option existed hold their data in
        memory. A value of an unexpected kind counts as absent."""
        loading = cls(False, 0, 0)
        values: dict[str, Any] = {
            name: value for name, value in (data or {}).items() if type(value) is type(getattr(loading, name, None))
        }
        return replace(loading, **values)


def held_bytes(source: SourceType | None, facts: DatasetInfo) -> int:
    """Return the bytes for holding all samples: inputs as read and in single precision, and targets that are maps."""
    if facts.held_bytes:
        return facts.held_bytes
    numbers = sum(_numbers(info.type.sizes, info.lengths) for info in facts.inputs)
    maps = sum(_numbers(target.type.sizes[1:], None) for target in facts.targets if target.per in ("pixel", "voxel"))
    each = source.bytes_per_number if source is not None else SourceType.bytes_per_number
    return sum(facts.samples.values()) * (numbers * each + 2 * maps)


def _numbers(sizes: Sequence[object], lengths: tuple[int, int] | None) -> int:
    """Return the count of numbers per sample; for sequences, that of the longest."""
    longest = lengths[1] if lengths else 1
    count = 1
    for size in sizes:
        count *= size if isinstance(size, int) else longest
    return count


def resident_because(options: TrainingOptions, facts: DatasetInfo) -> str:
    """Return the reason why the samples can only be held in memory; empty where they can be streamed."""
    if facts.resident_because:
        return facts.resident_because
    if options.is_full_batch:
        return f"the solver {options.solver} takes all samples at once"
    has_steps = any(info.type.has("T") for info in facts.inputs)
    if options.sequence_length == "split" and has_steps:
        return "sequences are cut into pieces (training.sequence_length=split)"
    return ""


def loading_problems(project: Project, facts: DatasetInfo) -> Iterator[Problem]:
    """Return the problems of streaming where it is requested and impossible."""
    because = resident_because(project.training, facts)
    if project.data.is_visible("loading") and project.data.loading == "stream" and because:
        message = f"The data cannot be streamed: {because}. Choose auto or memory, or change that."
        yield Problem("error", "", "", "data.loading", message)


def loading(
    data: DataOptions,
    training: TrainingOptions,
    facts: DatasetInfo,
    *,
    free_bytes: int,
    workers: int = 1,
    device_bytes: int = 0,
) -> Loading:
    """Return how a run loads its data, given the number of workers and the free memory of the machine; `device_bytes`:
    memory of their smallest device, where each has its own."""
    num_bytes = held_bytes(data.source_type, facts)
    because = resident_because(training, facts)
    wish = data.loading if data.is_visible("loading") else "auto"
    is_large = num_bytes * workers > free_bytes * MOST_OF_FREE
    resident = Loading(False, num_bytes, free_bytes, workers)
    if because or wish == "memory":
        return replace(resident, because=because if is_large else "")
    if device_bytes and num_bytes > device_bytes * MOST_OF_FREE and not is_large:
        return Loading(True, num_bytes, device_bytes, place="device")
    return replace(resident, is_streamed=is_large or wish == "stream" or data.skips_bad_samples)
