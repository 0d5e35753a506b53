"""Transposed convolution over sequences (1-D), images (2-D) and volumes (3-D)."""

import math
from typing import Any

from netwright.engine.core import types
from netwright.engine.core.errors import ShapeError
from netwright.engine.core.list_fields import Padding, Size
from netwright.engine.core.types import Sizes, TensorType, derive
from netwright.engine.layers import windows
from netwright.engine.layers.base import LENGTHS, Call, Lowered, channels_first, function, masked, module
from netwright.engine.layers.convolution import (
    SlidingWindow,
    bias_field,
    dilation_field,
    filters_field,
    kernel_field,
    stride_field,
    unless_default,
)

CROPPING_HELP = "Cropping on both sides of each axis, or same: the output is as large as the input times the stride"
ENDING_HELP = "Size added at the end of each axis; less than the stride or the dilation"


def _cropping(dims: int) -> Padding:
    return Padding("same", length=dims, help=CROPPING_HELP)


def _output_padding(dims: int) -> Size:
    return Size(0, length=dims, low=0, help=ENDING_HELP, visible_when=lambda layer: layer.cropping != "same")


class TransposedConvolution(SlidingWindow):
    """Spreads each input place over a learned window: the reverse of a convolution's sizes."""

    filters = filters_field()
    kernel = kernel_field(2)
    stride = stride_field(2, default=2)
    cropping = _cropping(2)
    output_padding = _output_padding(2)
    dilation = dilation_field(2)
    bias = bias_field()

    def output(self, x: TensorType) -> TensorType:
        self._channels(x)
        sizes = {axis: self._size(x[axis], axis, i) for i, axis in enumerate(x.spatial)}
        return x.with_sizes(C=self.filters, **sizes)

    def _cut(self, i: int) -> tuple[int, int]:
        """Return torch's `padding` and `output_padding` of one axis."""
        if not isinstance(self.cropping, str):
            return self.cropping[i], self.output_padding[i]
        surplus = windows.reach_of(self.kernel[i], self.dilation[i]) - self.stride[i]
        cut = max(0, math.ceil(surplus / 2))
        return cut, 2 * cut - surplus

    def _size(self, size: types.Size, axis: str, i: int) -> types.Size:
        reach = windows.reach_of(self.kernel[i], self.dilation[i])
        cut, ending = self._cut(i)
        if ending >= max(self.stride[i], self.dilation[i]):
            self._refuse_ending(axis, i, ending)

        def rule(n: int) -> int:
            result = (n - 1) * self.stride[i] + reach - 2 * cut + ending
            if result < 1:
                raise ShapeError(
                    f"Nothing is left along axis {axis}: {result + 2 * cut:,} less {cut:,} on both sides. Crop less.",
                    field="cropping",
                )
            return result

        return derive(rule, size)

    def _refuse_ending(self, axis: str, i: int, ending: int) -> None:
        if self.cropping == "same":
            raise ShapeError(
                f"A kernel of {self.kernel[i]:,} with a stride of 1 cannot keep the size of axis {axis}: "
                "it would crop half a place. Use an odd kernel, a larger stride, or cropping in numbers.",
                field="kernel",
            )
        limit = max(self.stride[i], self.dilation[i])
        raise ShapeError(
            f"The output padding must be below the stride or the dilation. Expected less than {limit:,} along "
            f"axis {axis}, received {ending:,}.",
            field="output_padding",
        )

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        weight: dict[str, Sizes] = {"weight": (x.channels, self.filters, *self.kernel)}
        return {**weight, "bias": (self.filters,)} if self.bias else weight

    def flops(self, x: TensorType) -> int:
        return 2 * x.count * self.filters * math.prod(self.kernel) if x.count else 0

    def lower(self, x: TensorType) -> Lowered:
        cuts = [self._cut(i) for i in range(self.dims)]
        conv: dict[str, Any] = {
            "in_channels": x.channels,
            "out_channels": self.filters,
            "kernel_size": windows.compact(self.kernel),
        }
        conv |= unless_default(1, stride=self.stride, dilation=self.dilation)
        conv |= unless_default(
            0, padding=tuple(cut for cut, _ in cuts), output_padding=tuple(ending for _, ending in cuts)
        )
        if not self.bias:
            conv["bias"] = False
        return channels_first(x, module(f"ConvTranspose{self.dims}d", **conv))

    def lower_padded(self, x: TensorType) -> Lowered:
        return masked(self.lower(x))

    def lengths_after(self, x: TensorType) -> Call:
        cut, ending = self._cut(0)
        grown = windows.reach_of(self.kernel[0], self.dilation[0]) - 2 * cut + ending - self.stride[0]
        return function(f"{LENGTHS}linear_lengths", factor=self.stride[0], added=grown)

    def short_value(self) -> str:
        return f"{self.filters:,} filter{'s' * (self.filters > 1)}"


class TransposedConv1d(TransposedConvolution):
    """Makes a sequence longer with learned filters.

        size = (n - 1) · stride + dilation · (kernel - 1) + 1 - 2 · cropping + output padding

    Each input place adds its multiple of the filters to the output, `stride` apart: the gradient of a convolution with
    respect to its input, not its inverse. Where `same` crops an odd number, the odd one goes before.

    Input: (N, T, C). Output: (N, T', K) with K filters and S' = stride (S - 1) + dilation (kernel - 1) + 1 - cropping +
    output padding for each size S, where cropping counts both sides.

    Source: Zeiler, Krishnan, Taylor, Fergus: Deconvolutional networks, 2010. Sizes: Dumoulin, Visin: A guide to
    convolution arithmetic for deep learning, 2016.
    """

    key, label, family, dims = "transposed_conv1d", "1-D transposed convolution", "Convolution", 1
    matlab = "transposedConv1dLayer"
    found_as = "deconv Conv1DTranspose"
    kernel = kernel_field(1)
    stride = stride_field(1, default=2)
    cropping = _cropping(1)
    output_padding = _output_padding(1)
    dilation = dilation_field(1)


class TransposedConv2d(TransposedConvolution):
    """Makes an image larger with learned filters.

        size = (n - 1) · stride + dilation · (kernel - 1) + 1 - 2 · cropping + output padding

    Each input place adds its multiple of the filters to the output, `stride` apart: the gradient of a convolution with
    respect to its input, not its inverse. Where `same` crops an odd number, the odd one goes before.

    Input: (N, C, H, W). Output: (N, K, H', W') with K filters and S' = stride (S - 1) + dilation (kernel - 1) + 1 -
    cropping + output padding for each size S, where cropping counts both sides.

    Source: Zeiler, Krishnan, Taylor, Fergus: Deconvolutional networks, 2010. Sizes: Dumoulin, Visin: A guide to
    convolution arithmetic for deep learning, 2016.
    """

    key, label, family, dims = "transposed_conv2d", "2-D transposed convolution", "Convolution", 2
    matlab = "transposedConv2dLayer"
    found_as = "deconv Conv2DTranspose"


class TransposedConv3d(TransposedConvolution):
    """Makes a volume larger with learned filters.

        size = (n - 1) · stride + dilation · (kernel - 1) + 1 - 2 · cropping + output padding

    Each input place adds its multiple of the filters to the output, `stride` apart: the gradient of a convolution with
    respect to its input, not its inverse. Where `same` crops an odd number, the odd one goes before.

    Input: (N, C, D, H, W). Output: (N, K, D', H', W') with K filters and S' = stride (S - 1) + dilation (kernel - 1) +
    1 - cropping + output padding for each size S, where cropping counts both sides.

    Source: Zeiler, Krishnan, Taylor, Fergus: Deconvolutional networks, 2010. Sizes: Dumoulin, Visin: A guide to
    convolution arithmetic for deep learning, 2016.
    """

    key, label, family, dims = "transposed_conv3d", "3-D transposed convolution", "Convolution", 3
    matlab = "transposedConv3dLayer"
    found_as = "deconv Conv3DTranspose"
    kernel = kernel_field(3)
    stride = stride_field(3, default=2)
    cropping = _cropping(3)
    output_padding = _output_padding(3)
    dilation = dilation_field(3)
