"""Fractional max pooling: windows at places drawn at random, so that the size shrinks by less than two."""

import math
from typing import ClassVar

from engine.errors import MisfitError
from engine.fields import Choice, Float, Size
from engine.layers import windows
from engine.layers.base import LayerType, Lowered, expect, module
from engine.layers.convolution import kernel_field
from engine.layers.types import Sizes, TensorType

BY = {"ratio": "Every axis shrinks by the same factor", "size": "The size is given, whatever comes in"}


def _size(dims: int) -> Size:
    help = "Places along each axis, whatever comes in"
    return Size(4, length=dims, high=100_000, help=help, visible_when=lambda layer: layer.by == "size")


class _FractionalMaxPooling(LayerType):
    """What fractional max pooling of images and volumes shares."""

    random = True
    dims: ClassVar[int] = 2
    kernel = kernel_field(2, default=2)
    by = Choice("ratio", options=tuple(BY), notes=BY, label="Shrink by", help="What decides the size")
    ratio = Float(
        0.7,
        above=0.0,
        high=1.0,
        help="The size is multiplied by this, and rounded down",
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
        left = self.size[i] if self.by == "size" else math.floor(size * self.ratio + 1e-9)  # 10 · 0.7 may be below 7
        most = size - self.kernel[i] + 1
        if not 1 <= left <= most:
            raise MisfitError(
                f"With windows of {self.kernel[i]:,} axis {axis}, which has {size:,}, can become 1 to "
                f"{max(most, 0):,}; received {left:,}. Use another {self.by} or a smaller kernel.",
                field=self.by if most > 0 else "kernel",
            )
        return left

    def lower(self, x: TensorType) -> Lowered:
        target = "engine.build.modules.pooling.FractionalMaxPool"
        return module(target, kernel_size=self.kernel, output_size=self._sizes(x))

    def telling(self) -> str:
        return f"× {self.ratio:g}" if self.by == "ratio" else " × ".join(map(str, self.size))


class FractionalMaxPool2d(_FractionalMaxPooling):
    """Keeps the largest number of windows that lie at random places of an image, so that it shrinks a little.

        window i begins at floor(a · (i + u)) - floor(a · u), with a = (size - kernel) / (new size - 1)
        the last window ends where the axis does

    While training u is drawn from 0 to 1 for each batch and axis, the same for all samples and channels; otherwise it
    is 0.5, so results repeat and can be exported. Torch's own FractionalMaxPool2d draws for each sample and channel,
    and goes on drawing when training is over.

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

    Source: Graham: Fractional max-pooling, 2014.
    """

    key, label, family, dims = "fractional_max_pool3d", "3-D fractional max pooling", "Pooling", 3
    found_as = "FractionalMaxPool3d"
    kernel = kernel_field(3, default=2)
    size = _size(3)
