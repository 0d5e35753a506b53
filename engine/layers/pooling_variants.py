"""Adaptive pooling, LP pooling, fractional max pooling and max unpooling."""

import math
from typing import ClassVar

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Choice, Float
from netwright.engine.core.list_fields import Size
from netwright.engine.core.types import LAYOUTS, Sizes, TensorType, clash
from netwright.engine.layers import windows
from netwright.engine.layers.base import (
    LENGTHS,
    LayerType,
    Lowered,
    channels_first,
    expect,
    expect_real,
    function,
    module,
    with_lengths,
)
from netwright.engine.layers.convolution import kernel_field, padding_field, stride_field
from netwright.engine.layers.pooling import WindowPooling

BY = {"ratio": "Every axis shrinks by the same factor", "size": "A fixed size, for any size of the input"}


def _cells(dims: int) -> Size:
    return Size(
        1, length=dims, high=100_000, label="Output size", help="Output size along each axis, for any size of the input"
    )


class _AdaptivePooling(LayerType):
    """A grid with a fixed number of cells, whatever the size of the input: cell i of n goes from floor(i size / n) to
    ceil((i + 1) size / n)."""

    dims: ClassVar[int] = 2
    size = _cells(2)

    def output(self, x: TensorType) -> TensorType:
        expect(x, windows.LAYOUT_OF[self.dims])
        return x.with_sizes(**dict(zip(x.spatial, self.size, strict=True)))

    def _torch_name(self) -> str:
        raise NotImplementedError

    def lower(self, x: TensorType) -> Lowered:
        name = f"Adaptive{self._torch_name()}Pool{self.dims}d"
        return channels_first(x, module(name, output_size=windows.compact(self.size)))

    def lower_padded(self, x: TensorType) -> Lowered:
        kind = "max" if self._torch_name() == "Max" else "mean"
        return with_lengths(function(f"{LENGTHS}reduce_cells", kind, self.size[0]))

    def short_value(self) -> str:
        return " × ".join(map(str, self.size))


class AdaptiveAveragePooling(_AdaptivePooling):
    """The mean of each cell."""

    def _torch_name(self) -> str:
        return "Avg"


class AdaptiveAveragePool1d(AdaptiveAveragePooling):
    """Takes means over a fixed number of cells along a sequence of any length.

        cell i of n goes from floor(i · T / n) to ceil((i + 1) · T / n)

    The mean of each cell. Cells overlap where the length cannot be divided.

    Input: (N, T, C). Output: (N, T', C) with the sizes of the field `size`.

    Source: He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2015.
    """

    key, label, family, dims = "adaptive_average_pool1d", "1-D adaptive average pooling", "Pooling", 1
    size = _cells(1)


class AdaptiveAveragePool2d(AdaptiveAveragePooling):
    """Takes means over a fixed grid of cells, whatever the size of the image.

        cell i of n goes from floor(i · size / n) to ceil((i + 1) · size / n)

    The mean of each cell. Cells overlap where the size cannot be divided.

    Input: (N, C, H, W). Output: (N, C, H', W') with the sizes of the field `size`.

    Source: He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2015.
    """

    key, label, family, dims = "adaptive_average_pool2d", "2-D adaptive average pooling", "Pooling", 2
    matlab = "adaptiveAveragePooling2dLayer"


class AdaptiveAveragePool3d(AdaptiveAveragePooling):
    """Takes means over a fixed grid of cells, whatever the size of the volume.

        cell i of n goes from floor(i · size / n) to ceil((i + 1) · size / n)

    The mean of each cell. Cells overlap where the size cannot be divided.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with the sizes of the field `size`.

    Source: He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2015.
    """

    key, label, family, dims = "adaptive_average_pool3d", "3-D adaptive average pooling", "Pooling", 3
    size = _cells(3)


class AdaptiveMaxPooling(_AdaptivePooling):
    """The largest number of each cell."""

    def _torch_name(self) -> str:
        return "Max"


class AdaptiveMaxPool1d(AdaptiveMaxPooling):
    """Keeps the largest number of each of a fixed number of cells along a sequence of any length.

        cell i of n goes from floor(i · T / n) to ceil((i + 1) · T / n)

    The largest number of each cell. Cells overlap where the length cannot be divided.

    Input: (N, T, C). Output: (N, T', C) with the sizes of the field `size`.

    Source: He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2015.
    """

    key, label, family, dims = "adaptive_max_pool1d", "1-D adaptive max pooling", "Pooling", 1
    size = _cells(1)


class AdaptiveMaxPool2d(AdaptiveMaxPooling):
    """Keeps the largest number of each cell of a fixed grid, whatever the size of the image.

        cell i of n goes from floor(i · size / n) to ceil((i + 1) · size / n)

    The largest number of each cell. Cells overlap where the size cannot be divided.

    Input: (N, C, H, W). Output: (N, C, H', W') with the sizes of the field `size`.

    Source: He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2015.
    """

    key, label, family, dims = "adaptive_max_pool2d", "2-D adaptive max pooling", "Pooling", 2


class AdaptiveMaxPool3d(AdaptiveMaxPooling):
    """Keeps the largest number of each cell of a fixed grid, whatever the size of the volume.

        cell i of n goes from floor(i · size / n) to ceil((i + 1) · size / n)

    The largest number of each cell. Cells overlap where the size cannot be divided.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with the sizes of the field `size`.

    Source: He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2015.
    """

    key, label, family, dims = "adaptive_max_pool3d", "3-D adaptive max pooling", "Pooling", 3
    size = _cells(3)


class _LpPooling(WindowPooling):
    """The p-norm of each window."""

    dims: ClassVar[int] = 2
    norm = Float(
        2.0,
        low=1.0,
        high=10.0,
        label="p",
        help="Exponent of the norm; 1 gives the sum of magnitudes, large values approach the maximum",
    )

    def lower(self, x: TensorType) -> Lowered:
        sides = windows.borders(x, **self._window)
        call = module(
            "netwright.engine.lowering.modules.pooling.LpPool",
            kernel_size=self.kernel,
            stride=self.stride,
            padding=windows.torch_borders(sides) if any(map(any, sides)) else (),
            norm=self.norm,
        )
        return channels_first(x, call)

    def short_value(self) -> str:
        return f"p = {self.norm:g}"


class LpPool1d(_LpPooling):
    """Takes the p-norm of each window along a sequence. (Power-average pooling)

        y[c, i] = (sum over k of |x[c, stride · i + k - padding]| ^ p) ^ (1 / p)

    p = 1 sums up, a large p is nearly max pooling of sizes. Torch's LPPool1d takes no sizes: with an odd p negative
    numbers count against positive ones, and a negative sum gives no number; this layer is the norm. Padded places are
    zeros. Where a window has zeros only the gradient is zero.

    Input: (N, T, C). Output: (N, T', C) with S' = floor((S + padding - kernel) / stride) + 1 for each size S, where
    padding counts both sides.

    Source: Sermanet, Chintala, LeCun: Convolutional neural networks applied to house numbers digit
    classification, 2012.
    """

    key, label, family, dims = "lp_pool1d", "1-D LP pooling", "Pooling", 1
    found_as = "LPPool1d"
    kernel = kernel_field(1, default=2)
    stride = stride_field(1, default=2)
    padding = padding_field(1, default=0)


class LpPool2d(_LpPooling):
    """Takes the p-norm of each window of an image. (Power-average pooling)

        y[c, i] = (sum over k of |x[c, stride · i + k - padding]| ^ p) ^ (1 / p)

    p = 1 sums up, a large p is nearly max pooling of sizes. Torch's LPPool2d takes no sizes: with an odd p negative
    numbers count against positive ones, and a negative sum gives no number; this layer is the norm. Padded places are
    zeros. Where a window has zeros only the gradient is zero.

    Input: (N, C, H, W). Output: (N, C, H', W') with S' = floor((S + padding - kernel) / stride) + 1 for each size S,
    where padding counts both sides.

    Source: Sermanet, Chintala, LeCun: Convolutional neural networks applied to house numbers digit
    classification, 2012.
    """

    key, label, family, dims = "lp_pool2d", "2-D LP pooling", "Pooling", 2
    found_as = "LPPool2d"


class LpPool3d(_LpPooling):
    """Takes the p-norm of each window of a volume. (Power-average pooling)

        y[c, i] = (sum over k of |x[c, stride · i + k - padding]| ^ p) ^ (1 / p)

    p = 1 sums up, a large p is nearly max pooling of sizes. Torch's LPPool3d takes no sizes: with an odd p negative
    numbers count against positive ones, and a negative sum gives no number; this layer is the norm. Padded places are
    zeros. Where a window has zeros only the gradient is zero.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with S' = floor((S + padding - kernel) / stride) + 1 for each
    size S, where padding counts both sides.

    Source: Sermanet, Chintala, LeCun: Convolutional neural networks applied to house numbers digit
    classification, 2012.
    """

    key, label, family, dims = "lp_pool3d", "3-D LP pooling", "Pooling", 3
    found_as = "LPPool3d"
    kernel = kernel_field(3, default=2)
    stride = stride_field(3, default=2)
    padding = padding_field(3, default=0)


def _size(dims: int) -> Size:
    help = "Output size along each axis, for any size of the input"
    return Size(4, length=dims, high=100_000, help=help, visible_when=lambda layer: layer.by == "size")


class _FractionalMaxPooling(LayerType):
    """Base of fractional max pooling of images and volumes."""

    random = True
    dims: ClassVar[int] = 2
    kernel = kernel_field(2, default=2)
    by = Choice("ratio", options=tuple(BY), notes=BY, label="Shrink by", help="How the output size is chosen")
    ratio = Float(
        0.7,
        above=0.0,
        high=1.0,
        help="Factor of the size; the result is rounded down",
        visible_when=lambda layer: layer.by == "ratio",
    )
    size = _size(2)

    def output(self, x: TensorType) -> TensorType:
        expect(x, windows.LAYOUT_OF[self.dims])
        return x.with_sizes(**dict(zip(x.spatial, self._sizes(x), strict=True)))

    def _sizes(self, x: TensorType) -> Sizes:
        return tuple(
            self._along(x.known(axis, "the windows are laid out over it"), axis, i) for i, axis in enumerate(x.spatial)
        )

    def _along(self, size: int, axis: str, i: int) -> int:
        # 10 · 0.7 may be below 7.
        out_size = self.size[i] if self.by == "size" else math.floor(size * self.ratio + 1e-9)
        most = size - self.kernel[i] + 1
        if not 1 <= out_size <= most:
            raise ShapeError(
                f"With windows of {self.kernel[i]:,} axis {axis}, which has {size:,}, can become 1 to "
                f"{max(most, 0):,}; received {out_size:,}. Use another {self.by} or a smaller kernel.",
                field=self.by if most > 0 else "kernel",
            )
        return out_size

    def lower(self, x: TensorType) -> Lowered:
        target = "netwright.engine.lowering.modules.pooling.FractionalMaxPool"
        return module(target, kernel_size=self.kernel, output_size=self._sizes(x))

    def short_value(self) -> str:
        return f"× {self.ratio:g}" if self.by == "ratio" else " × ".join(map(str, self.size))


class FractionalMaxPool2d(_FractionalMaxPooling):
    """Keeps the largest number of windows that lie at random places of an image, so that it shrinks a little.

        window i begins at floor(a · (i + u)) - floor(a · u), with a = (size - kernel) / (new size - 1)
        the last window ends where the axis does

    While training u is drawn from 0 to 1 for each batch and axis, the same for all samples and channels; otherwise it
    is 0.5, so results repeat and can be exported. Torch's own FractionalMaxPool2d draws for each sample and channel,
    and goes on drawing when training is over.

    Input: (N, C, H, W). Output: (N, C, H', W') with S' = floor(ratio · S) for each size S, or the sizes of the field
    `size`.

    Source: Graham: Fractional max-pooling, 2014.
    """

    key, label, family, dims = "fractional_max_pool2d", "2-D fractional max pooling", "Pooling", 2
    found_as = "FractionalMaxPool2d"


class FractionalMaxPool3d(_FractionalMaxPooling):
    """Keeps the largest number of windows that lie at random places of a volume, so that it shrinks a little.

        window i begins at floor(a · (i + u)) - floor(a · u), with a = (size - kernel) / (new size - 1)
        the last window ends where the axis does

    While training u is drawn from 0 to 1 for each batch and axis, the same for all samples and channels; otherwise it
    is 0.5, so results repeat and can be exported. Torch's own FractionalMaxPool3d draws for each sample and channel,
    and goes on drawing when training is over.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with S' = floor(ratio · S) for each size S, or the sizes of the
    field `size`.

    Source: Graham: Fractional max-pooling, 2014.
    """

    key, label, family, dims = "fractional_max_pool3d", "3-D fractional max pooling", "Pooling", 3
    found_as = "FractionalMaxPool3d"
    kernel = kernel_field(3, default=2)
    size = _size(3)


class MaxUnpool2d(LayerType):
    """Puts each number back to the place in an image that max pooling took it from; the other places are zero.

        y[c, indices[c, i, j]] += x[c, i, j], places counted row by row from 0

    `indices` come from a 2-D max pooling layer with indices, whose places they are. `like` decides height and width:
    connect what went into that pooling layer, or anything of its size; its numbers do not matter. Where windows
    overlap, numbers for the same place are added; torch keeps one of them, MATLAB refuses. (MATLAB takes the size
    itself in place of `like`, and counts from 1)

    Inputs: (N, C, H, W), indices of the same shape, and the input (N, C, H', W') of the max pooling. Output: (N, C, H',
    W').

    Source: Zeiler, Taylor, Fergus: Adaptive deconvolutional networks for mid and high level feature learning, 2011.
    """

    key, label, family = "max_unpool2d", "2-D max unpooling", "Pooling"
    matlab = "maxUnpooling2dLayer"

    def input_ports(self) -> tuple[str, ...]:
        return ("in", "indices", "like")

    def output(self, x: TensorType, indices: TensorType, like: TensorType) -> TensorType:
        for port, type in (("in", x), ("indices", indices), ("like", like)):
            if type.axes != LAYOUTS["image"]:
                raise ShapeError(f"Expected an image (C × H × W), received {type}.", port=port)
        expect_real(x)
        expect_real(like, "like")
        if indices.kind != "index":
            raise ShapeError(
                f"Expected the second output of a max pooling layer with indices, received {indices}.", port="indices"
            )
        if any(clash(a, b) for a, b in zip(x.sizes, indices.sizes, strict=True)):
            raise ShapeError(f"Expected one index for each number, {x.short()}, received {indices}.", port="indices")
        for axis in x.spatial:
            small, large = x[axis], like[axis]
            if isinstance(small, int) and isinstance(large, int) and large < small:
                raise ShapeError(
                    f"Expected what went into the max pooling layer: at least {small:,} along axis {axis}, "
                    f"received {like}.",
                    port="like",
                )
        return like.with_sizes(C=x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        return module("netwright.engine.lowering.modules.pooling.MaxUnpool2d")
