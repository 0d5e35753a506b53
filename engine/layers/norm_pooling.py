"""Pooling by a norm: between the mean and the largest number of a window."""

from typing import ClassVar

from engine.fields import Float
from engine.layers import windows
from engine.layers.base import Lowered, channels_first, module
from engine.layers.convolution import kernel_field, padding_field, stride_field
from engine.layers.pooling import WindowPooling
from engine.layers.types import TensorType


class _LpPooling(WindowPooling):
    """The p-norm of each window."""

    dims: ClassVar[int] = 2
    norm = Float(
        2.0, low=1.0, high=10.0, label="p", help="1: the sum of the sizes; the larger, the nearer to the maximum"
    )

    def lower(self, x: TensorType) -> Lowered:
        sides = windows.borders(x, **self._window)
        call = module(
            "engine.build.modules.pooling.LpPool",
            kernel_size=self.kernel,
            stride=self.stride,
            padding=windows.torch_borders(sides) if any(map(any, sides)) else (),
            norm=self.norm,
        )
        return channels_first(x, call)

    def telling(self) -> str:
        return f"p = {self.norm:g}"


class LpPool1d(_LpPooling):
    """Takes the p-norm of each window along a sequence. (Power-average pooling)

        y[c, i] = (sum over k of |x[c, stride · i + k - padding]| ^ p) ^ (1 / p)

    p = 1 sums up, a large p is nearly max pooling of sizes. Torch's LPPool1d takes no sizes: with an odd p negative
    numbers count against positive ones, and a negative sum gives no number; this layer is the norm. Padded places are
    zeros. Where a window has zeros only the gradient is zero.

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

    Source: Sermanet, Chintala, LeCun: Convolutional neural networks applied to house numbers digit
    classification, 2012.
    """

    key, label, family, dims = "lp_pool3d", "3-D LP pooling", "Pooling", 3
    found_as = "LPPool3d"
    kernel = kernel_field(3, default=2)
    stride = stride_field(3, default=2)
    padding = padding_field(3, default=0)
