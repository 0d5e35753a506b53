"""Plain and grouped convolution over sequences (1-D), images (2-D) and volumes (3-D).

Each idea is one class with fields for images; the classes for one and three dimensions only declare the lengths of
their sizes. Padding `same` may need an odd number of zeros: the odd one goes after, as a call of its own.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from netwright.engine.core.errors import FieldError, ShapeError
from netwright.engine.core.fields import Bool, Choice, Int
from netwright.engine.core.list_fields import Padding, Size
from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.layers import windows
from netwright.engine.layers.base import Call, Lowered, as_chain, channels_first, expect, masked, module
from netwright.engine.layers.padding import MODES, TORCH_MODES, padded, refuse_wide
from netwright.engine.layers.weighted import WithWeightsAndBias

KERNEL_HELP = {1: "steps", 2: "height × width", 3: "depth × height × width"}
PADDING_HELP = "Padding on both sides of each axis, or same: the output is as large as the input divided by the stride"
CAUSAL_HELP = PADDING_HELP + "; or causal: as same, with all padding in front, so that no step depends on a later one"


def kernel_field(dims: int, default: int = 3) -> Size:
    """Return the field for the size of a window."""
    return Size(default, length=dims, high=100_000, help=f"Size of the window: {KERNEL_HELP[dims]}")


def stride_field(dims: int, default: int = 1) -> Size:
    """The stride of the window."""
    return Size(default, length=dims, high=100_000, help="Distance that the window moves along each axis")


def dilation_field(dims: int) -> Size:
    """The dilation: the distance between the elements of the window."""
    return Size(1, length=dims, high=100_000, help="Distance between the elements of the window; 1: no gaps")


def padding_field(dims: int, default: str | int = "same", words: Sequence[str] = ("same",)) -> Padding:
    """The border before a window slides."""
    return Padding(default, length=dims, words=words, help=CAUSAL_HELP if "causal" in words else PADDING_HELP)


CONVOLUTION_MODES = {"reflection": "reflect", "replication": "replicate", "circular": "circular"}
"""What torch's convolutions call them."""
BORDERS = {name: MODES[name] for name in ("zeros", "reflection", "replication", "circular")}


def _is_padded(layer: Any) -> bool:
    return isinstance(layer.padding, str) or any(layer.padding)


def filters_field() -> Int:
    """The number of filters."""
    return Int(16, low=1, high=1_000_000, help="Number of filters, each of which computes one output channel")


def bias_field() -> Bool:
    """Whether a number is added to each output channel."""
    return Bool(True, help="Adds a learned bias to each output channel")


class SlidingWindow(WithWeightsAndBias):
    """Base of plain, grouped and transposed convolution."""

    dims: ClassVar[int] = 2

    def _channels(self, x: TensorType) -> int:
        """The channels that come in, once the input is of the right layout."""
        expect(x, windows.LAYOUT_OF[self.dims])
        return x.channels


class _Convolution(SlidingWindow):
    """Base of plain and grouped convolution, which override `_groups` and `_filters`."""

    filters = filters_field()
    kernel = kernel_field(2)
    stride = stride_field(2)
    padding = padding_field(2)
    dilation = dilation_field(2)
    padding_mode = Choice(
        "zeros", options=tuple(BORDERS), notes=BORDERS, help="Values of the padding", visible_when=_is_padded
    )
    bias = bias_field()

    def problems(self) -> list[FieldError]:
        if self.padding == "causal" and self.padding_mode in ("reflection", "circular"):
            message = f"{self.padding_mode} takes later steps, which causal must not. Use zeros or replication."
            return [FieldError("padding_mode", message)]
        return []

    def _groups(self, channels: int) -> int:
        return 1

    def _filters(self, channels: int) -> int:
        return self.filters

    @property
    def _window(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "stride": self.stride, "padding": self.padding, "dilation": self.dilation}

    def output(self, x: TensorType) -> TensorType:
        channels = self._channels(x)
        groups = self._groups(channels)
        if channels % groups:
            raise ShapeError(
                f"The {channels:,} channels of the input cannot be divided into {groups:,} equal groups. "
                f"Use a divisor of {channels:,}.",
                field="groups",
            )
        sizes = windows.window_sizes(x, **self._window)
        for axis, sides in zip(x.spatial, windows.borders(x, **self._window), strict=True):
            refuse_wide(x, axis, max(sides), self.padding_mode, "padding")
        return x.with_sizes(C=self._filters(channels), **sizes)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        channels = x.channels
        filters = self._filters(channels)
        weight: dict[str, Sizes] = {"weight": (filters, channels // self._groups(channels), *self.kernel)}
        return {**weight, "bias": (filters,)} if self.bias else weight

    def flops(self, x: TensorType) -> int:
        out = self.output(x)
        count = out.count
        return 2 * count * math.prod(self.weights(x)["weight"][1:]) if count else 0

    def lower(self, x: TensorType) -> Lowered:
        channels = x.channels
        sides = windows.borders(x, **self._window)
        conv: dict[str, Any] = {
            "in_channels": channels,
            "out_channels": self._filters(channels),
            "kernel_size": windows.compact(self.kernel),
        }
        conv |= unless_default(1, stride=self.stride, dilation=self.dilation)
        if self._groups(channels) > 1:
            conv["groups"] = self._groups(channels)
        if not self.bias:
            conv["bias"] = False
        if windows.is_symmetric(sides):
            conv |= unless_default(0, padding=tuple(before for before, _ in sides))
            if "padding" in conv and self.padding_mode != "zeros":
                conv["padding_mode"] = CONVOLUTION_MODES[self.padding_mode]
            return channels_first(x, module(f"Conv{self.dims}d", **conv))
        return channels_first(x, pad(sides, self.padding_mode), module(f"Conv{self.dims}d", **conv))

    def lower_padded(self, x: TensorType) -> Lowered:
        if self.padding_mode == "zeros":
            return masked(self.lower(x))
        border = padded(windows.borders(x, **self._window)[0], self.padding_mode)
        return border, *as_chain(self.replace(padding=(0,) * self.dims).lower(x))

    def lengths_after(self, x: TensorType) -> Call:
        return windows.lengths_after(x, **self._window)


def pad(sides: windows.Borders, mode: str = "zeros") -> Call:
    """A border before and after each axis, as a named module of its own."""
    call = module(f"{TORCH_MODES[mode]}{len(sides)}d", padding=windows.torch_borders(sides))
    return Call(call.target, kwargs=call.kwargs, name="pad")


def unless_default(usual: int, **sizes: Sizes) -> dict[str, Any]:
    """Return the arguments that differ from torch's default."""
    return {name: windows.compact(value) for name, value in sizes.items() if set(value) != {usual}}


class Convolution(_Convolution):
    """Slides learned filters over its input."""

    def short_value(self) -> str:
        return f"{self.filters:,} filter{'s' * (self.filters > 1)}"


class Conv1d(Convolution):
    """Slides learned filters along a sequence.

        y[f, t] = bias[f] + sum over c, k of weight[f, c, k] · x[c, s · t + d · k - p]

    with stride s, dilation d and padding p along each axis. Padding `causal` puts all zeros in front, so that no step
    sees a later one (van den Oord et al.: WaveNet, 2016). With padding `same` the output has ceil(size / stride)
    places; an odd zero goes behind. In MATLAB the padding is 0 unless told otherwise.
    Padded places hold zeros unless the padding mode says otherwise: MATLAB's PaddingValue, torch's padding_mode.

    Input: (N, T, C). Output: (N, T', K) with K filters and S' = floor((S + padding - dilation (kernel - 1) - 1) /
    stride) + 1 for each size S, where padding counts both sides.

    Source: LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998. Dilation: Yu,
    Koltun: Multi-scale context aggregation by dilated convolutions, 2016.
    """

    key, label, family, dims = "conv1d", "1-D convolution", "Convolution", 1
    matlab = "convolution1dLayer"
    kernel = kernel_field(1)
    stride = stride_field(1)
    padding = padding_field(1, words=("same", "causal"))
    dilation = dilation_field(1)


class Conv2d(Convolution):
    """Slides learned filters over an image.

        y[f, i] = bias[f] + sum over c, k of weight[f, c, k] · x[c, s · i + d · k - p]

    with stride s, dilation d and padding p along each axis. With padding `same` the output has ceil(size / stride)
    places; an odd zero goes behind. In MATLAB the padding is 0 unless told otherwise.
    Padded places hold zeros unless the padding mode says otherwise: MATLAB's PaddingValue, torch's padding_mode.

    Input: (N, C, H, W). Output: (N, K, H', W') with K filters and S' = floor((S + padding - dilation (kernel - 1) - 1)
    / stride) + 1 for each size S, where padding counts both sides.

    Source: LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998. Dilation: Yu,
    Koltun: Multi-scale context aggregation by dilated convolutions, 2016.
    """

    key, label, family, dims = "conv2d", "2-D convolution", "Convolution", 2
    matlab = "convolution2dLayer"


class Conv3d(Convolution):
    """Slides learned filters through a volume.

        y[f, i] = bias[f] + sum over c, k of weight[f, c, k] · x[c, s · i + d · k - p]

    with stride s, dilation d and padding p along each axis. With padding `same` the output has ceil(size / stride)
    places; an odd zero goes behind. In MATLAB the padding is 0 unless told otherwise.
    Padded places hold zeros unless the padding mode says otherwise: MATLAB's PaddingValue, torch's padding_mode.

    Input: (N, C, D, H, W). Output: (N, K, D', H', W') with K filters and S' = floor((S + padding - dilation (kernel -
    1) - 1) / stride) + 1 for each size S, where padding counts both sides.

    Source: LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998. Dilation: Yu,
    Koltun: Multi-scale context aggregation by dilated convolutions, 2016.
    """

    key, label, family, dims = "conv3d", "3-D convolution", "Convolution", 3
    matlab = "convolution3dLayer"
    kernel = kernel_field(3)
    stride = stride_field(3)
    padding = padding_field(3)
    dilation = dilation_field(3)


class GroupedConvolution(_Convolution):
    """Slides learned filters over each group of channels by itself."""

    filters = Int(1, low=1, high=1_000_000, label="Filters per group", help="Number of filters per group")
    groups = Int(0, low=0, high=1_000_000, help="Number of equal groups of input channels; 0: one group per channel")

    def _groups(self, channels: int) -> int:
        return self.groups or channels

    def _filters(self, channels: int) -> int:
        return self._groups(channels) * self.filters

    def short_value(self) -> str:
        return f"{self.groups:,} group{'s' * (self.groups > 1)}" if self.groups else "channel-wise"


class GroupedConv1d(GroupedConvolution):
    """Slides learned filters along a sequence, each group of channels by itself.

        y[f] = bias[f] + sum over the channels c of the group of f, and k, of weight[f, c, k] · x[c, ...]

    With as many groups as channels it is the depthwise part of a separable convolution. The output has groups × filters
    per group channels.

    Input: (N, T, C). Output: (N, T', K) with K = groups · filters per group and S' = floor((S + padding - dilation
    (kernel - 1) - 1) / stride) + 1 for each size S, where padding counts both sides.

    Source: Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012.
    Channel-wise: Chollet: Xception, 2017.
    """

    key, label, family, dims = "grouped_conv1d", "1-D grouped convolution", "Convolution", 1
    found_as = "depthwise DepthwiseConv1D"
    kernel = kernel_field(1)
    stride = stride_field(1)
    padding = padding_field(1, words=("same", "causal"))
    dilation = dilation_field(1)


class GroupedConv2d(GroupedConvolution):
    """Slides learned filters over an image, each group of channels by itself.

        y[f] = bias[f] + sum over the channels c of the group of f, and k, of weight[f, c, k] · x[c, ...]

    With as many groups as channels it is the depthwise part of a separable convolution. The output has groups × filters
    per group channels.

    Input: (N, C, H, W). Output: (N, K, H', W') with K = groups · filters per group and S' = floor((S + padding -
    dilation (kernel - 1) - 1) / stride) + 1 for each size S, where padding counts both sides.

    Source: Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012.
    Channel-wise: Chollet: Xception, 2017.
    """

    key, label, family, dims = "grouped_conv2d", "2-D grouped convolution", "Convolution", 2
    matlab = "groupedConvolution2dLayer"
    found_as = "depthwise DepthwiseConv2D SeparableConv2D"


class GroupedConv3d(GroupedConvolution):
    """Slides learned filters through a volume, each group of channels by itself.

        y[f] = bias[f] + sum over the channels c of the group of f, and k, of weight[f, c, k] · x[c, ...]

    With as many groups as channels it is the depthwise part of a separable convolution. The output has groups × filters
    per group channels.

    Input: (N, C, D, H, W). Output: (N, K, D', H', W') with K = groups · filters per group and S' = floor((S + padding -
    dilation (kernel - 1) - 1) / stride) + 1 for each size S, where padding counts both sides.

    Source: Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012.
    Channel-wise: Chollet: Xception, 2017.
    """

    key, label, family, dims = "grouped_conv3d", "3-D grouped convolution", "Convolution", 3
    found_as = "depthwise"
    kernel = kernel_field(3)
    stride = stride_field(3)
    padding = padding_field(3)
    dilation = dilation_field(3)
