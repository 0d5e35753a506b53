"""Fit the normalisation of an input on the training split, y = (x - shift) * scale per channel, element or for all."""

from collections.abc import Iterator
from math import prod
from typing import Protocol

import numpy as np

from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import MOST_ROUNDED, Array

CHUNK_NUMBERS = 2**20


class Rows(Protocol):
    """Samples that are read a few at a time."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole array, samples first."""

    def chunks(self, step: int) -> Iterator[Array]:
        """Yield all samples, `step` at a time."""


class _Flat:
    """Samples as rows of `columns` numbers: whole samples, or single numbers."""

    def __init__(self, rows: Rows, columns: int) -> None:
        self._given, self._columns = rows, columns
        self.shape = (prod(rows.shape) // columns, columns)

    def chunks(self, step: int) -> Iterator[Array]:
        """Yield all rows, about `step` at a time."""
        per_sample = max(1, prod(self._given.shape[1:]) // self._columns)
        yield from (piece.reshape(-1, self._columns) for piece in self._given.chunks(max(1, step // per_sample)))


def fit(kind: str, values: Array | Rows, channel_axis: int, per: str = "channel") -> tuple[Array, Array]:
    """Return shift and scale as float32, in one dimension: one number per channel (C), per element in the order of the
    sample, or one for all. `kind` is one of `netwright.engine.layers.inputs.NORMALIZATIONS`, `per` of its `DIMENSIONS`.

    The shift is float64 where a channel of doubles or integers would lose its digits in single precision, such as times
    in seconds since 1970: such values have to reach the normalisation in double precision.
    `channel_axis` counts the samples' axis as 0. A channel that is constant keeps the scale 1. The numbers are read
    in one pass, in two for `zscore`, with the same result for data in memory and on disk.
    """
    if per != "channel" and 0 not in values.shape:
        columns = prod(values.shape[1:]) if per == "element" else 1
        flat = values.reshape(-1, columns) if isinstance(values, np.ndarray) else _Flat(values, columns)
        return fit(kind, flat, 1)
    channels = values.shape[channel_axis]
    if kind == "none" or 0 in values.shape:
        return np.zeros(channels, np.float32), np.ones(channels, np.float32)
    axes = tuple(axis for axis in range(len(values.shape)) if axis != channel_axis)
    low, high, mean, rounded = _edges(values, channel_axis, axes)
    match kind:
        case "zerocenter":
            shift, spread = mean, np.ones(channels)
        case "zscore":
            shift, spread = mean, _deviation(values, mean, channel_axis, axes)
        case "rescale-zero-one":
            shift, spread = low, high - low
        case "rescale-symmetric":
            shift, spread = (low + high) / 2, (high - low) / 2
        case _:
            raise ValueError(f"There is no normalisation '{kind}'.")
    constant = low == high
    scale = 1.0 / np.where(constant | (spread < np.finfo(np.float32).tiny), 1.0, spread)
    is_double = bool((rounded > MOST_ROUNDED * (high - low)).any())
    return np.where(constant, low, shift).astype(np.float64 if is_double else np.float32), scale.astype(np.float32)


def _chunks(values: Array | Rows) -> Iterator[Array]:
    """Yield a few samples at a time in double precision, so that no copy of the whole is made."""
    step = max(1, CHUNK_NUMBERS // max(1, prod(values.shape[1:])))
    if isinstance(values, np.ndarray):
        yield from (values[start : start + step].astype(np.float64) for start in range(0, len(values), step))
        return
    count = 0
    for piece in values.chunks(step):
        count += len(piece)
        report(count, values.shape[0], "samples")
        yield piece.astype(np.float64)


def _edges(values: Array | Rows, channel_axis: int, axes: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
    """Return minimum, maximum and mean of each channel (C), and the largest error of rounding it to float32."""
    low, high, total, rounded = [], [], np.zeros(values.shape[channel_axis]), np.zeros(values.shape[channel_axis])
    for piece in _chunks(values):
        rounded = np.maximum(rounded, np.abs(piece - piece.astype(np.float32)).max(axis=axes))
        low.append(piece.min(axis=axes))
        high.append(piece.max(axis=axes))
        total = total + piece.sum(axis=axes)
    mean = total * values.shape[channel_axis] / prod(values.shape)
    return np.min(low, axis=0), np.max(high, axis=0), mean, rounded


def _deviation(values: Array | Rows, mean: Array, channel_axis: int, axes: tuple[int, ...]) -> Array:
    """Return the population's standard deviation per channel, in a second pass, for precision."""
    sizes = [-1 if axis == channel_axis else 1 for axis in range(len(values.shape))]
    total = sum(((piece - mean.reshape(sizes)) ** 2).sum(axis=axes) for piece in _chunks(values))
    return np.asarray(np.sqrt(np.asarray(total) * values.shape[channel_axis] / prod(values.shape)))
