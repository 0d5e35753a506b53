"""Layers that only move numbers: flatten, reshape, permute, and ways between images and sequences."""

import math
from collections.abc import Callable

from engine.errors import MisfitError
from engine.fields import Choice, Int, Ints, Size
from engine.layers.base import LayerType, Lowered, expect, expect_real, method
from engine.layers.types import LAYOUTS, Sizes, TensorType, derive, features, image, sequence, with_article


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


STEPS = {
    "rows": "Each row is a step: T = H, with channels × width numbers",
    "columns": "Each column is a step: T = W, with channels × height numbers",
    "positions": "Each place is a step: T = H × W, row by row, with the channels as numbers",
}


class ImageToSequence(LayerType):
    """Reads an image as a sequence: row by row, column by column, or place by place.

        rows: y[h, c · width + w] = x[c, h, w]
        columns: y[w, c · height + h] = x[c, h, w]
        positions: y[h · width + w, c] = x[c, h, w]

    Source of reading places as steps: Dosovitskiy et al.: An image is worth 16x16 words, 2021.
    """

    key, label, family = "image_to_sequence", "Image to sequence", "Reshape"
    steps = Choice("rows", options=tuple(STEPS), notes=STEPS, help="What becomes a step")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        times: Callable[[int, int], int] = int.__mul__
        match self.steps:
            case "rows":
                return sequence(x["H"], derive(times, x["C"], x["W"]))
            case "columns":
                return sequence(x["W"], derive(times, x["C"], x["H"]))
        return sequence(derive(times, x["H"], x["W"]), x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        match self.steps:
            case "rows":
                return method("transpose", 1, 2), method("flatten", 2)
            case "columns":
                return method("permute", 0, 3, 1, 2), method("flatten", 2)
        return method("flatten", 2), method("transpose", 1, 2)

    def telling(self) -> str:
        return self.steps


class SequenceToImage(LayerType):
    """Lays the steps of a sequence out as an image, row by row; the numbers of a step become its channels.

        y[c, h, w] = x[h · width + w, c]

    The reverse of reading an image place by place.
    """

    key, label, family = "sequence_to_image", "Sequence to image", "Reshape"
    size = Size(8, length=2, high=1_000_000, help="Height × width; their product is the number of steps")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        steps = x.known("T", "it must be height × width")
        height, width = self.size
        if steps != height * width:
            raise MisfitError(
                f"The sequence has {steps:,} steps, but {height:,} × {width:,} are {height * width:,}. "
                "Choose a height and a width whose product is the number of steps.",
                field="size",
            )
        return image(x["C"], height, width)

    def lower(self, *x: TensorType) -> Lowered:
        return method("unflatten", 1, self.size), method("permute", 0, 3, 1, 2)

    def telling(self) -> str:
        return " × ".join(map(str, self.size))


class SelectStep(LayerType):
    """Takes one step out of a sequence, such as the last one: features leave the layer. (1-D indexing)

        y[c] = x[step, c], or x[length - 1 - step, c] counted from the end

    Steps count from 0. Behind a recurrent layer with `last` it is not needed.
    """

    key, label, family = "select_step", "Select step", "Reshape"
    matlab = "indexing1dLayer"
    counted_from = Choice("end", options=("end", "start"), help="The end of the sequence at which counting begins")
    step = Int(0, low=0, high=1_000_000_000, help="0: the one at that end, 1: the one next to it")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        steps = x["T"]
        if isinstance(steps, int) and self.step >= steps:
            raise MisfitError(
                f"The sequence has {steps:,} steps: expected a step from 0 to {steps - 1:,}, received {self.step:,}.",
                field="step",
            )
        return features(x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        return method("select", 1, self.step if self.counted_from == "start" else -1 - self.step)

    def telling(self) -> str:
        if self.step:
            return f"{self.step:,} from the {self.counted_from}"
        return "last" if self.counted_from == "end" else "first"
