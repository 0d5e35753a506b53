"""The same numbers with other axes, or in another order of the axes or channels."""

import math

from engine.errors import MisfitError
from engine.fields import Choice, Int, Ints
from engine.layers.base import LayerType, Lowered, expect, expect_real, method
from engine.layers.types import (
    LAYOUTS,
    Sizes,
    TensorType,
    features,
    with_article,
)

OWN = "engine.build.modules.reshape."


def _count(x: TensorType) -> int:
    """Numbers a sample. Raises `MisfitError` where that is not known."""
    expect_real(x)
    if x.count is None:
        raise MisfitError(f"Every size must be known before the network runs, received {x}.", port="in")
    return x.count


class Flatten(LayerType):
    """Makes one vector of all numbers of a sample, the last axis first: an image becomes features.

        y[(c · height + h) · width + w] = x[c, h, w]

    The last axis runs fastest, as in torch; in MATLAB the first one does, so weights behind it are in another order.
    """

    key, label, family = "flatten", "Flatten", "Reshape"
    matlab = "flattenLayer"

    def output(self, x: TensorType) -> TensorType:
        return features(_count(x))

    def lower(self, *x: TensorType) -> Lowered:
        return method("flatten", 1)


LAYOUT_NOTES = {name: f"{' × '.join(axes)}" for name, axes in LAYOUTS.items()}


class Reshape(LayerType):
    """Gives the numbers of a sample other axes, without changing their order in memory.

        product of the sizes after = product of the sizes before

    The last axis runs fastest, before and after, as in torch; in MATLAB the first one does. One size may be -1: what is
    left.
    """

    key, label, family = "reshape", "Reshape", "Reshape"
    matlab = "reshapeLayer"
    found_as = "squeeze unsqueeze view"
    layout = Choice("features", options=tuple(LAYOUTS), notes=LAYOUT_NOTES, help="What leaves the layer")
    sizes = Ints((-1,), low=-1, separator=" × ", help="One size for each axis of the layout; -1, once: what is left")

    def output(self, x: TensorType) -> TensorType:
        return TensorType(LAYOUTS[self.layout], self._sizes(_count(x), x))

    def _sizes(self, count: int, x: TensorType) -> Sizes:
        axes = LAYOUTS[self.layout]
        shown = " × ".join(map(str, self.sizes))
        if len(self.sizes) != len(axes):
            raise MisfitError(
                f"{with_article(self.layout).capitalize()} need{'s' * (len(axes) > 1)} {len(axes)} "
                f"size{'s' * (len(axes) > 1)} ({' × '.join(axes)}), received {shown or 'none'}.",
                field="sizes",
            )
        if 0 in self.sizes or self.sizes.count(-1) > 1:
            raise MisfitError(f"Expected sizes of at least 1, and -1 at most once, received {shown}.", field="sizes")
        given = math.prod(size for size in self.sizes if size > 0)
        if count % given or (-1 not in self.sizes and count != given):
            needs = f"a multiple of {given:,}" if -1 in self.sizes else f"{given:,}"
            raise MisfitError(
                f"The sizes {shown} need {needs} numbers, the input has {count:,} ({x}). "
                "Use sizes whose product is that, or -1 for one of them.",
                field="sizes",
            )
        return tuple(count // given if size == -1 else size for size in self.sizes)

    def lower(self, x: TensorType) -> Lowered:
        sizes = self._sizes(_count(x), x)
        flat = () if x.rank == 1 else (method("flatten", 1),)
        return flat if len(sizes) == 1 else (*flat, method("unflatten", 1, sizes))

    def telling(self) -> str:
        return " × ".join(map(str, self.sizes))


class Permute(LayerType):
    """Exchanges the axes of a sample. The layout stays: with 1, 3, 2 an image is mirrored at its diagonal.

        size of axis i after = size of axis order[i] before

    Axis i of the output is axis order[i] of the input. With 2, 1 the channels of a sequence become its steps.
    """

    key, label, family = "permute", "Permute", "Reshape"
    matlab = "permuteLayer"
    order = Ints(
        (2, 1), low=1, high=16, help="The axes of the input, counted from 1 without the batch, in their new order"
    )

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if sorted(self.order) != list(range(1, x.rank + 1)):
            axes = ", ".join(f"{number} ({axis})" for number, axis in enumerate(x.axes, 1))
            received = ", ".join(map(str, self.order)) or "nothing"
            raise MisfitError(f"Expected each axis once: {axes}; received {received}.", field="order")
        return TensorType(x.axes, tuple(x.sizes[number - 1] for number in self.order))

    def lower(self, *x: TensorType) -> Lowered:
        return method("permute", 0, *self.order)

    def telling(self) -> str:
        return ", ".join(map(str, self.order))


class ChannelShuffle(LayerType):
    """Deals the channels out anew, so that each group behind it gets some of every group before it.

        y[c · groups + g] = x[g · (channels / groups) + c]

    Between two grouped convolutions it lets the groups exchange what they know. Nothing is lost.

    Source: Zhang, Zhou, Lin, Sun: ShuffleNet, 2018.
    """

    key, label, family = "channel_shuffle", "Channel shuffle", "Reshape"
    groups = Int(2, low=1, high=1_000_000, help="Equal groups of channels")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        if x.channels % self.groups:
            raise MisfitError(
                f"The {x.channels:,} channels of the input cannot be divided into {self.groups:,} equal groups. "
                f"Use a divisor of {x.channels:,}.",
                field="groups",
            )
        return x

    def lower(self, x: TensorType) -> Lowered:
        at = x.dim("C")
        apart = method("unflatten", at, (self.groups, x.channels // self.groups))
        return apart, method("transpose", at, at + 1), method("flatten", at, at + 1)

    def telling(self) -> str:
        return f"{self.groups:,} group{'s' * (self.groups > 1)}"
