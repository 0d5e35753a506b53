"""Pooling: one number per window (max, average), or one for all positions (global)."""

from dataclasses import replace
from typing import Any, ClassVar

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice
from netwright.engine.core.types import TensorType, features
from netwright.engine.layers import windows
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    channels_first,
    expect,
    function,
    masked,
    method,
    module,
    with_lengths,
)
from netwright.engine.layers.convolution import kernel_field, pad, padding_field, stride_field


class WindowPooling(LayerType):
    """Base of max and average pooling."""

    dims: ClassVar[int] = 2
    kernel = kernel_field(2, default=2)
    stride = stride_field(2, default=2)
    padding = padding_field(2, default=0)

    @property
    def _window(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "stride": self.stride, "padding": self.padding}

    def output(self, x: TensorType) -> TensorType:
        expect(x, windows.LAYOUT_OF[self.dims])
        for axis, kernel, padding in zip(x.spatial, self.kernel, self._numbers(), strict=True):
            if 2 * padding > kernel:
                raise ShapeError(
                    f"The padding may be at most half the kernel, {kernel // 2:,} along axis {axis}; "
                    f"received {padding:,}. Use less padding or a larger kernel.",
                    field="padding",
                )
        return x.with_sizes(**windows.window_sizes(x, **self._window))

    def _numbers(self) -> tuple[int, ...]:
        """The padding where it is given in numbers, else zeros."""
        return (0,) * self.dims if isinstance(self.padding, str) else self.padding

    def _arguments(self) -> dict[str, Any]:
        pool: dict[str, Any] = {"kernel_size": windows.compact(self.kernel)}
        return pool if self.stride == self.kernel else {**pool, "stride": windows.compact(self.stride)}

    def lower(self, x: TensorType) -> Lowered:
        sides = windows.borders(x, **self._window)
        if not windows.is_symmetric(sides):
            return channels_first(x, *self._uneven(sides))
        pool = self._arguments()
        if any(before for before, _ in sides):
            pool |= {"padding": windows.compact(tuple(before for before, _ in sides)), **self._with_padding()}
        return channels_first(x, module(f"{self._torch_name()}{self.dims}d", **pool))

    def _torch_name(self) -> str:
        raise NotImplementedError

    def _with_padding(self) -> dict[str, Any]:
        """Further arguments where the module itself pads."""
        return {}

    def _uneven(self, sides: windows.Borders) -> tuple[Call, ...]:
        """The calls where torch's module cannot pad, because one side gets more."""
        raise NotImplementedError

    def lower_padded(self, x: TensorType) -> Lowered:
        return masked(self.lower(x))

    def lengths_after(self, x: TensorType) -> Call:
        return windows.lengths_after(x, **self._window)

    def short_value(self) -> str:
        return " × ".join(map(str, self.kernel))


class MaxPooling(WindowPooling):
    """The largest number of each window; padding is ignored."""

    def _torch_name(self) -> str:
        return "MaxPool"

    def lower_padded(self, x: TensorType) -> Lowered:
        finite = replace(function(f"{LENGTHS}mask_steps"), lengths="after")
        return *masked(self.lower(x), float("-inf")), finite

    def _uneven(self, sides: windows.Borders) -> tuple[Call, ...]:
        arguments = {"padding": windows.torch_borders(sides), "value": float("-inf")}
        lowest = Call(f"torch.nn.ConstantPad{self.dims}d", kwargs=arguments, name="pad")
        return lowest, module(f"MaxPool{self.dims}d", **self._arguments())


class MaxPool1d(MaxPooling):
    """Keeps the largest number of each window along a sequence. Padding is ignored.

        y[c, i] = max over k of x[c, stride · i + k - padding]

    Each channel by itself. Nothing is learned; the gradient goes to the largest number only.

    Input: (N, T, C). Output: (N, T', C) with S' = floor((S + padding - kernel) / stride) + 1 for each size S, where
    padding counts both sides.

    Source: Boureau, Ponce, LeCun: A theoretical analysis of feature pooling in visual recognition, 2010.
    """

    key, label, family, dims = "max_pool1d", "1-D max pooling", "Pooling", 1
    matlab = "maxPooling1dLayer"
    found_as = "MaxPooling1D"
    kernel = kernel_field(1, default=2)
    stride = stride_field(1, default=2)
    padding = padding_field(1, default=0)

    def lower(self, x: TensorType) -> Lowered:
        lowered = super().lower(x)
        if x.is_known or isinstance(lowered, Call):
            return lowered
        # torch.export fixes the length of a sequence where it meets max_pool1d, but not where indices are asked for
        return tuple(
            Call(call.target, kwargs={**call.kwargs, "return_indices": True}, pick=0)
            if call.target == "torch.nn.MaxPool1d"
            else call
            for call in lowered
        )


class MaxPool2d(MaxPooling):
    """Keeps the largest number of each window of an image. Padding is ignored.

        y[c, i] = max over k of x[c, stride · i + k - padding]

    Each channel separately. Nothing is learned; the gradient goes to the largest number only. With `indices` a second
    port has the positions of the largest numbers, row · width + column in the input image, counted from 0: max
    unpooling puts numbers back there. (MATLAB: HasUnpoolingOutputs, which counts from 1)

    Input: (N, C, H, W). Output: (N, C, H', W') with S' = floor((S + padding - kernel) / stride) + 1 for each size S,
    where padding counts both sides.

    Source: Boureau, Ponce, LeCun: A theoretical analysis of feature pooling in visual recognition, 2010.
    """

    key, label, family, dims = "max_pool2d", "2-D max pooling", "Pooling", 2
    matlab = "maxPooling2dLayer"
    found_as = "MaxPooling2D"
    indices = Bool(False, help="Also outputs the positions of the maxima, for max unpooling")

    def output_ports(self) -> tuple[str, ...]:
        return ("out", "indices") if self.indices else ("out",)

    def side_ports(self) -> tuple[str, ...]:
        return ("indices",) if self.indices else ()

    def output_types(self, x: TensorType) -> tuple[TensorType, ...]:
        out = self.output(x)
        return (out, TensorType(out.axes, out.sizes, "index")) if self.indices else (out,)

    def lower(self, x: TensorType) -> Lowered:
        if not self.indices:
            return super().lower(x)
        sides = windows.borders(x, **self._window)
        if windows.is_symmetric(sides):
            inner = super().lower(x)
            pool = inner if isinstance(inner, Call) else inner[-1]
            return Call(pool.target, kwargs={**pool.kwargs, "return_indices": True})
        sizes = {"kernel_size": self.kernel, "stride": self.stride, "padding": windows.torch_borders(sides)}
        return module("netwright.engine.lowering.modules.pooling.MaxPoolWithIndices", **sizes)


class MaxPool3d(MaxPooling):
    """Keeps the largest number of each window of a volume. Padding is ignored.

        y[c, i] = max over k of x[c, stride · i + k - padding]

    Each channel by itself. Nothing is learned; the gradient goes to the largest number only.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with S' = floor((S + padding - kernel) / stride) + 1 for each
    size S, where padding counts both sides.

    Source: Boureau, Ponce, LeCun: A theoretical analysis of feature pooling in visual recognition, 2010.
    """

    key, label, family, dims = "max_pool3d", "3-D max pooling", "Pooling", 3
    matlab = "maxPooling3dLayer"
    found_as = "MaxPooling3D"
    kernel = kernel_field(3, default=2)
    stride = stride_field(3, default=2)
    padding = padding_field(3, default=0)


PADDING_VALUES = {
    "zeros": "As zeros: the sum is always divided by the size of the window",
    "mean": "Not at all: the mean of the positions inside the input",
}


class AveragePooling(WindowPooling):
    """The mean of each window."""

    padding_value = Choice(
        "zeros",
        options=tuple(PADDING_VALUES),
        notes=PADDING_VALUES,
        help="How padding counts in the mean",
        visible_when=lambda layer: isinstance(layer.padding, str) or any(layer.padding),
    )

    def _torch_name(self) -> str:
        return "AvgPool"

    def _with_padding(self) -> dict[str, Any]:
        return {"count_include_pad": False} if self.padding_value == "mean" else {}

    def _uneven(self, sides: windows.Borders) -> tuple[Call, ...]:
        if self.padding_value == "zeros":
            return pad(sides), module(f"AvgPool{self.dims}d", **self._arguments())
        sizes = {"kernel_size": self.kernel, "stride": self.stride, "padding": windows.torch_borders(sides)}
        return (module("netwright.engine.lowering.modules.pooling.InnerAveragePool", **sizes),)

    def lower_padded(self, x: TensorType) -> Lowered:
        if self.padding_value == "zeros":
            return super().lower_padded(x)
        sizes = {"kernel": self.kernel[0], "stride": self.stride[0], "sides": windows.borders(x, **self._window)[0]}
        return with_lengths(function(f"{LENGTHS}average_windows", **sizes))


class AveragePool1d(AveragePooling):
    """Takes the mean of each window along a sequence.

        y[c, i] = sum over k of x[c, stride · i + k - padding] / count

    Padded places count as zeros (`zeros`: count is the size of the window) or are left out of the mean (`mean`: count
    is the number of positions that are there). Each channel by itself; nothing is learned.

    Input: (N, T, C). Output: (N, T', C) with S' = floor((S + padding - kernel) / stride) + 1 for each size S, where
    padding counts both sides.

    Source: LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
    """

    key, label, family, dims = "average_pool1d", "1-D average pooling", "Pooling", 1
    matlab = "averagePooling1dLayer"
    found_as = "AveragePooling1D AvgPool"
    kernel = kernel_field(1, default=2)
    stride = stride_field(1, default=2)
    padding = padding_field(1, default=0)


class AveragePool2d(AveragePooling):
    """Takes the mean of each window of an image.

        y[c, i] = sum over k of x[c, stride · i + k - padding] / count

    Padded places count as zeros (`zeros`: count is the size of the window) or are left out of the mean (`mean`: count
    is the number of positions that are there). Each channel by itself; nothing is learned.

    Input: (N, C, H, W). Output: (N, C, H', W') with S' = floor((S + padding - kernel) / stride) + 1 for each size S,
    where padding counts both sides.

    Source: LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
    """

    key, label, family, dims = "average_pool2d", "2-D average pooling", "Pooling", 2
    matlab = "averagePooling2dLayer"
    found_as = "AveragePooling2D AvgPool"


class AveragePool3d(AveragePooling):
    """Takes the mean of each window of a volume.

        y[c, i] = sum over k of x[c, stride · i + k - padding] / count

    Padded places count as zeros (`zeros`: count is the size of the window) or are left out of the mean (`mean`: count
    is the number of positions that are there). Each channel by itself; nothing is learned.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with S' = floor((S + padding - kernel) / stride) + 1 for each
    size S, where padding counts both sides.

    Source: LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998.
    """

    key, label, family, dims = "average_pool3d", "3-D average pooling", "Pooling", 3
    matlab = "averagePooling3dLayer"
    found_as = "AveragePooling3D AvgPool"
    kernel = kernel_field(3, default=2)
    stride = stride_field(3, default=2)
    padding = padding_field(3, default=0)


class _GlobalPooling(LayerType):
    """One number per channel, over all positions."""

    keep_axes = Bool(False, help="Keeps the pooled axes with size 1, for example to multiply channels by their means")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "volume", "sequence")
        return x.with_sizes(**dict.fromkeys(x.spatial, 1)) if self.keep_axes else features(x["C"])

    def _over(self, x: TensorType) -> dict[str, Any]:
        """The dimensions that go away, or become 1."""
        dims = tuple(x.dim(axis) for axis in x.spatial)
        over: dict[str, Any] = {"dim": dims if len(dims) > 1 else dims[0]}
        return {**over, "keepdim": True} if self.keep_axes else over

    def _reduced(self, kind: str) -> Call:
        """The call for sequences of different lengths."""
        return with_lengths(function(f"{LENGTHS}reduce_steps", kind, **({"keepdim": True} if self.keep_axes else {})))


class GlobalAveragePool(_GlobalPooling):
    """Takes the mean of each channel over all positions: an image, a volume or a sequence becomes features.

        y[c] = (sum over all positions i of x[c, i]) / number of positions

    MATLAB has a layer for each dimension (globalAveragePooling1dLayer, 2d, 3d), which always keep the axes.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: (N, C), or sizes of 1 where axes are kept.

    Source: Lin, Chen, Yan: Network in network, 2014.
    """

    key, label, family = "global_average_pool", "Global average pooling", "Pooling"
    matlab = "globalAveragePooling2dLayer"
    found_as = (
        "gap GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D "
        "AdaptiveAvgPool globalAveragePooling1dLayer globalAveragePooling3dLayer"
    )

    def lower(self, x: TensorType) -> Lowered:
        return method("mean", **self._over(x))

    def lower_padded(self, x: TensorType) -> Lowered:
        return self._reduced("mean")


class GlobalMaxPool(_GlobalPooling):
    """Keeps the largest number of each channel over all positions: an image, a volume or a sequence becomes features.

        y[c] = max over all positions i of x[c, i]

    MATLAB has a layer for each dimension (globalMaxPooling1dLayer, 2d, 3d), which always keep the axes.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: (N, C), or sizes of 1 where axes are kept.

    Source: Oquab, Bottou, Laptev, Sivic: Is object localization for free?, 2015.
    """

    key, label, family = "global_max_pool", "Global max pooling", "Pooling"
    matlab = "globalMaxPooling2dLayer"
    found_as = (
        "gmp GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D globalMaxPooling1dLayer globalMaxPooling3dLayer"
    )

    def lower(self, x: TensorType) -> Lowered:
        return method("amax", **self._over(x))

    def lower_padded(self, x: TensorType) -> Lowered:
        return self._reduced("max")
