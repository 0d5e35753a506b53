"""One pass over the samples of a source, for the checks of data: hashes, small versions, and what cannot be read."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.progress import report
from netwright.engine.data.loading.open_data import Opened
from netwright.engine.data.sources.prefetch import ReadJob, prefetch
from netwright.engine.data.sources.source import Array, BadSampleError, Readers
from netwright.engine.project.dataset_info import InputInfo

MOST_SAMPLES = 1_000_000
"""Number of samples that are checked; of more, as many evenly spaced ones."""
BLOCK_BYTES = 2**22
GRID = 16
"""Height and width of the small versions of images."""
MOST_NUMBERS = 512
"""Length of the small version of a sample; longer ones are projected at random."""
SIGNATURE_BYTES = 2**29
"""Memory for all small versions; where they need more, they are not made."""
KEPT_BITS = np.uint32(0xFFFFF800)
"""Of a number in single precision: sign, exponent and 12 digits in binary, which are 3.6 in decimal."""
SEED = 20_260_101

Bad = tuple[int, str, str]
"""Index of a sample, its file or number, and why it cannot be read."""


@dataclass(frozen=True, eq=False)
class Scan:
    """Results of the pass over n samples, of those that could be read.

    places (n): their indices in the source. hashes (n): equal where all inputs are equal, bit for bit. near (n): equal
    where the first input is the same to about 4 digits (vectors) or looks the same (images); None for others.
    signatures (n, D): small versions of the first input; None where they take too much memory. low, high: smallest and
    largest value of each column of the first input, if it is a vector.
    """

    places: Array
    hashes: Array
    near: Array | None
    signatures: Array | None
    low: Array | None
    high: Array | None
    bad: tuple[Bad, ...] = ()
    names: tuple[str, ...] | None = None
    """Files of all samples of the source, where each is one."""
    noun: str = "sample"

    def name(self, index: int) -> str:
        """Return the name of a sample for the user: its file, or its number from 1."""
        return self.names[index] if self.names is not None else f"{self.noun} {index + 1:,}"


def scan(dataset: Opened) -> Scan:
    """Read all samples once, at most `MOST_SAMPLES`. Raises `UserError` where none can be read."""
    total, outline = len(dataset.outline), dataset.outline
    places = np.arange(total)
    if total > MOST_SAMPLES:
        places = np.linspace(0, total - 1, MOST_SAMPLES).round().astype(np.int64)
    first = outline.inputs[0]
    has_columns = first.type.layout == "features"
    size = min(MOST_NUMBERS, _signature_size(first))
    small = len(places) * size * 4 <= SIGNATURE_BYTES
    readable, hashes, near, signatures, bad = [], [], [], [], []
    low = high = None
    count = 0
    readers = None if outline.resident_because else dataset.source.readers(dataset.options, dataset.path, outline)
    for indices, arrays, broken in _blocks(dataset, readers, places):
        count += len(indices) + len(broken)
        report(count, len(places), "samples")
        bad += broken
        if not len(indices):
            continue
        readable.append(indices)
        hashes.append(sum_of_hashes(arrays))
        values = arrays[0].reshape(len(indices), -1)
        signature = signature_of(arrays[0], first)
        near.append(near_hash(arrays[0], signature, first))
        if small:
            signatures.append(signature)
        if has_columns:
            least, most = values.min(0), values.max(0)
            low = least if low is None else np.minimum(low, least)
            high = most if high is None else np.maximum(high, most)
    if not readable:
        raise UserError(f"None of the {total:,} samples of {dataset.path} can be read. The first: {bad[0][2]}.")
    names = getattr(readers.inputs[0], "names", None) if readers is not None else None
    return Scan(
        np.concatenate(readable),
        np.concatenate(hashes),
        np.concatenate(near) if first.type.layout in ("features", "image") else None,
        np.concatenate(signatures) if small else None,
        low,
        high,
        tuple(bad),
        None if names is None else tuple(names),
        "row" if dataset.options.is_visible("left_out") else "sample",
    )


def _blocks(dataset: Opened, readers: Readers | None, places: Array) -> Iterator[tuple[Array, list[Array], list[Bad]]]:
    """Yield the samples at these places in blocks: the indices and inputs of those that can be read, and the others."""
    if readers is None:
        samples = dataset.source.samples(dataset.options, dataset.path, dataset.outline)
        step = max(1, BLOCK_BYTES * len(samples.arrays[0]) // max(1, samples.bytes))
        for start in range(0, len(places), step):
            indices = places[start : start + step]
            yield indices, [array[indices] for array in samples.arrays], []
        return
    size = sum(prod(reader.shape[1:]) * reader.kind.itemsize for reader in readers.inputs)
    step = max(1, min(256, BLOCK_BYTES // max(1, size)))
    blocks = (places[start : start + step] for start in range(0, len(places), step))
    for block in prefetch(_job(readers, indices) for indices in blocks):
        yield block.chosen, block.arrays, block.bad


@dataclass(eq=False)
class _Block:
    chosen: Array
    arrays: list[Array]
    bad: list[Bad]

    def fill(self, readers: Readers) -> None:
        """Read all samples; where one cannot be read, one by one, without those."""
        self.arrays = [np.empty((len(self.chosen), *reader.shape[1:]), reader.kind) for reader in readers.inputs]
        try:
            for reader, array in zip(readers.inputs, self.arrays, strict=True):
                reader.read(self.chosen, array)
            return
        except BadSampleError:
            whole = np.ones(len(self.chosen), bool)
        for row, number in enumerate(self.chosen.tolist()):
            try:
                for reader, array in zip(readers.inputs, self.arrays, strict=True):
                    reader.read(self.chosen[row : row + 1], array[row : row + 1])
            except BadSampleError as error:
                whole[row] = False
                self.bad.append((number, error.sample, error.reason))
        self.chosen, self.arrays = self.chosen[whole], [array[whole] for array in self.arrays]


def _job(readers: Readers, indices: Array) -> ReadJob[_Block]:
    block = _Block(indices, [], [])
    size = sum(len(indices) * prod(reader.shape[1:]) * reader.kind.itemsize for reader in readers.inputs)
    return ReadJob(block, [partial(block.fill, readers)], size, readers.inputs[0].where)


# ---- hashes ----


def sum_of_hashes(arrays: list[Array]) -> Array:
    """Return a number of 64 bits per sample (N), equal where all arrays (N, ...) are."""
    total = np.zeros(len(arrays[0]), np.uint64)
    for number, array in enumerate(arrays):
        total = total * np.uint64(0x9E3779B97F4A7C15) + _hash(array, number)
    return total


def _hash(array: Array, seed: int) -> Array:
    """Return two sums of the 32-bit words of each row, times random odd numbers modulo 2^64, mixed into one."""
    rows = np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)
    if short := -rows.shape[1] % 4:
        rows = np.pad(rows, ((0, 0), (0, short)))
    words = rows.view(np.uint32)
    random = np.random.default_rng(SEED + seed)
    total = np.zeros(len(rows), np.uint64)
    for _ in range(2):
        factors = random.integers(1, 2**63, words.shape[1], np.uint64) * np.uint64(2) + np.uint64(1)
        part = np.zeros(len(rows), np.uint64)
        for start in range(0, words.shape[1], 4096):  # a product of integers is as large as the block, twice
            some = words[:, start : start + 4096].astype(np.uint64)
            part += (some * factors[start : start + 4096]).sum(1, dtype=np.uint64)
        part ^= part >> np.uint64(29)
        total = total * np.uint64(0xBF58476D1CE4E5B9) + part
    return total ^ (total >> np.uint64(32))


def near_hash(array: Array, signature: Array, info: InputInfo) -> Array:
    """Return a number per sample (N), equal where vectors are equal to about 4 digits, and images in their outlines.

    The outline of an image tells at each point of its small version whether it gets lighter to the right.
    """
    if info.type.layout == "image":
        side = _grid(array)
        levels = signature[:, : prod(side)].reshape(-1, *side)
        return _hash((levels[:, :, 1:] > levels[:, :, :-1]).view(np.uint8), 1)
    return _hash(rounded(array), 2)


def rounded(array: Array) -> Array:
    """Return integers (N, numbers) that are equal where numbers are equal to about 4 digits."""
    values = array.reshape(len(array), -1).astype(np.float32) + np.float32(0.0)
    integers: Array = values.view(np.uint32) + ~KEPT_BITS // np.uint32(2) & KEPT_BITS
    return integers


# ---- small versions ----


def _grid(array: Array) -> tuple[int, int]:
    return min(GRID, array.shape[-2]), min(GRID, array.shape[-1])


def _signature_size(info: InputInfo) -> int:
    sizes = [size for size in info.type.sizes if isinstance(size, int)]
    if len(sizes) < len(info.type.sizes):
        return MOST_NUMBERS
    return GRID * GRID + sizes[0] if info.type.layout == "image" else prod(sizes)


def signature_of(array: Array, info: InputInfo) -> Array:
    """Return a small version of each sample (N, D) in float32: of an image its grey levels on a grid of at most 16 by
    16 and the mean of each channel, of others all their numbers, projected at random where these are too many."""
    if info.type.layout == "image":
        height, width = _grid(array)
        tops = np.linspace(0, array.shape[-2], height + 1).astype(int)[:-1]
        lefts = np.linspace(0, array.shape[-1], width + 1).astype(int)[:-1]
        grey = array.mean(1, dtype=np.float32)
        sums = np.add.reduceat(np.add.reduceat(grey, tops, axis=1), lefts, axis=2)
        areas = np.outer(np.diff([*tops, array.shape[-2]]), np.diff([*lefts, array.shape[-1]]))
        small = (sums / areas).reshape(len(array), -1)
        return np.concatenate((small, array.mean((2, 3), dtype=np.float32)), 1).astype(np.float32)
    rows = array.reshape(len(array), -1).astype(np.float32)
    if rows.shape[1] <= MOST_NUMBERS:
        return rows
    random = np.random.default_rng(SEED)
    out = np.zeros((len(rows), MOST_NUMBERS), np.float32)
    for start in range(0, rows.shape[1], 4096):
        some = rows[:, start : start + 4096]
        out += some @ random.standard_normal((some.shape[1], MOST_NUMBERS), np.float32)
    return out
