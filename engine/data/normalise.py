"""Fits the normalisation of an input on the training part, one shift and scale a channel: y = (x - shift) * scale."""

from collections.abc import Iterator

import numpy as np

from engine.data.sources.source import Array

CHUNK_NUMBERS = 2**20


def fit(kind: str, array: Array, channel_axis: int) -> tuple[Array, Array]:
    """Shift and scale as float32, one of each a channel. `kind` is one of `engine.layers.inputs.NORMALIZATIONS`.

    `channel_axis` counts the samples' axis as 0. A channel that is constant keeps the scale 1.
    """
    channels = array.shape[channel_axis]
    if kind == "none" or array.size == 0:
        return np.zeros(channels, np.float32), np.ones(channels, np.float32)
    axes = tuple(axis for axis in range(array.ndim) if axis != channel_axis)
    low, high = (edge(array, axis=axes).astype(np.float64) for edge in (np.min, np.max))
    match kind:
        case "zerocenter":
            shift, spread = _mean(array, channel_axis, axes), np.ones(channels)
        case "zscore":
            shift = _mean(array, channel_axis, axes)
            spread = _deviation(array, shift, channel_axis, axes)
        case "rescale-zero-one":
            shift, spread = low, high - low
        case "rescale-symmetric":
            shift, spread = (low + high) / 2, (high - low) / 2
        case _:
            raise ValueError(f"There is no normalisation '{kind}'.")
    constant = low == high
    scale = 1.0 / np.where(constant | (spread < np.finfo(np.float32).tiny), 1.0, spread)
    return np.where(constant, low, shift).astype(np.float32), scale.astype(np.float32)


def _pieces(array: Array) -> Iterator[Array]:
    """A few samples at a time in double precision, so that no copy of the whole is made."""
    step = max(1, CHUNK_NUMBERS // max(1, array[0].size))
    for start in range(0, len(array), step):
        yield array[start : start + step].astype(np.float64)


def _mean(array: Array, channel_axis: int, axes: tuple[int, ...]) -> Array:
    total = np.asarray(sum(piece.sum(axis=axes) for piece in _pieces(array)))
    return np.asarray(total * array.shape[channel_axis] / array.size)


def _deviation(array: Array, mean: Array, channel_axis: int, axes: tuple[int, ...]) -> Array:
    """The standard deviation of the population, in a second pass, which loses no digits."""
    sizes = [-1 if axis == channel_axis else 1 for axis in range(array.ndim)]
    total = sum(((piece - mean.reshape(sizes)) ** 2).sum(axis=axes) for piece in _pieces(array))
    return np.asarray(np.sqrt(np.asarray(total) * array.shape[channel_axis] / array.size))
