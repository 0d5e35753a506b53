"""Arithmetic of sliding windows, shared by convolution and pooling."""

import math

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.list_fields import PaddingValue
from netwright.engine.core.types import Size, Sizes, Symbol, TensorType, derive
from netwright.engine.layers.base import LENGTHS, Call, function

LAYOUT_OF = {1: "sequence", 2: "image", 3: "volume"}
"""The layout over which a window of so many dimensions slides."""

Borders = tuple[tuple[int, int], ...]
"""How many are added before and after each axis."""


def reach_of(kernel: int, dilation: int = 1) -> int:
    """Return the size of a dilated window: dilation (kernel - 1) + 1."""
    return dilation * (kernel - 1) + 1


def window_output(size: Size, axis: str, *, kernel: int, stride: int, padding: int | str, dilation: int = 1) -> Size:
    """Output size of a window over one axis.

    `padding` is so many on both sides, or `same` (ceil(size / stride)) or `causal` (as `same`, all in front).
    Otherwise floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1. Raises `ShapeError` below one.
    """
    reach = reach_of(kernel, dilation)

    def rule(n: int) -> int:
        if isinstance(padding, str):
            return math.ceil(n / stride)
        room = n + 2 * padding - reach
        if room < 0:
            raise ShapeError(
                f"The window covers {reach:,} along axis {axis}, and the input has {n:,}"
                f"{f' and {padding:,} of padding on both sides' if padding else ''}. "
                "Use a smaller kernel, more padding, or less pooling before.",
                field="kernel",
            )
        return room // stride + 1

    return derive(rule, size)


def window_sizes(
    x: TensorType, *, kernel: Sizes, stride: Sizes, padding: PaddingValue, dilation: Sizes | None = None
) -> dict[str, Size]:
    """The sizes of all axes that the window slides over, after it has. Raises `ShapeError`."""
    gaps = dilation or (1,) * len(kernel)
    borders(x, kernel=kernel, stride=stride, padding=padding, dilation=gaps)
    return {
        axis: window_output(
            x[axis], axis, kernel=kernel[i], stride=stride[i], padding=padding_of(padding, i), dilation=gaps[i]
        )
        for i, axis in enumerate(x.spatial)
    }


def borders(
    x: TensorType, *, kernel: Sizes, stride: Sizes, padding: PaddingValue, dilation: Sizes | None = None
) -> Borders:
    """Return the padding before and after each axis. Raises `ShapeError` where that depends on an unknown size."""
    gaps = dilation or (1,) * len(kernel)
    return tuple(
        _border(x[axis], axis, kernel[i], stride[i], padding_of(padding, i), gaps[i])
        for i, axis in enumerate(x.spatial)
    )


def _border(size: Size, axis: str, kernel: int, stride: int, padding: int | str, dilation: int) -> tuple[int, int]:
    if isinstance(padding, int):
        return padding, padding
    if padding == "causal":
        return reach_of(kernel, dilation) - 1, 0
    if isinstance(size, Symbol):
        if stride > 1:
            raise ShapeError(
                f"With a stride of {stride:,} the padding 'same' depends on the size of axis {axis}, which is not "
                "known before the network runs. Use a stride of 1, padding in numbers, or give the input a size.",
                field="padding",
            )
        size = kernel  # with a stride of 1 the size makes no difference
    return same_padding(size, kernel, stride, dilation)


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """Return the padding before and after an axis for an output of ceil(size / stride). The odd one goes after."""
    total = max(0, (math.ceil(size / stride) - 1) * stride + reach_of(kernel, dilation) - size)
    return total // 2, total - total // 2


def lengths_after(
    x: TensorType, *, kernel: Sizes, stride: Sizes, padding: PaddingValue, dilation: Sizes | None = None
) -> Call:
    """The lengths of sequences after a window has gone over them."""
    before, after = borders(x, kernel=kernel, stride=stride, padding=padding, dilation=dilation)[0]
    reach = reach_of(kernel[0], (dilation or (1,))[0])
    return function(f"{LENGTHS}window_lengths", reach=reach, stride=stride[0], padding=before + after)


def is_symmetric(sides: Borders) -> bool:
    """Whether as much is added before as after, on every axis."""
    return all(before == after for before, after in sides)


def torch_borders(sides: Borders) -> Sizes:
    """The borders in the order of torch's padding modules: the last axis first, before and after."""
    return tuple(size for pair in reversed(sides) for size in pair)


def padding_of(padding: PaddingValue, axis_index: int) -> int | str:
    """The padding of one axis: its number, or the word that holds for all of them."""
    return padding if isinstance(padding, str) else padding[axis_index]


def compact(sizes: Sizes) -> int | Sizes:
    """One number where all axes have the same, as torch takes it and a person reads it."""
    return sizes[0] if len(set(sizes)) == 1 else sizes
