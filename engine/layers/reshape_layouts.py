"""Layers that convert between layouts (image, sequence, volume), cast and one-hot encode, repeat, roll and flip."""

from collections.abc import Callable

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Choice, Int
from netwright.engine.core.list_fields import Size
from netwright.engine.core.types import TensorType, derive, image, sequence, tokens, volume
from netwright.engine.layers.base import LENGTHS, Call, LayerType, Lowered, expect, function, method, with_lengths
from netwright.engine.layers.reshape import axis_field, refuse_absent

OWN = "netwright.engine.lowering.modules.resizing."
STEPS = {
    "rows": "Each row is a step: T = H, with channels × width values",
    "columns": "Each column is a step: T = W, with channels × height values",
    "positions": "Each pixel is a step: T = H × W, row by row, with the channels as values",
}
CASTS = {
    "numbers": "Indices become numbers: a sequence with one channel",
    "indices": "A sequence with one channel becomes indices, each number rounded; it passes no gradient",
}
REPEATS = {
    "whole": "The whole axis repeatedly: 1 2 1 2",
    "each": "Each position repeatedly: 1 1 2 2",
}


class ImageToSequence(LayerType):
    """Reads an image as a sequence: row by row, column by column, or place by place.

        rows: y[h, c · width + w] = x[c, h, w]
        columns: y[w, c · height + h] = x[c, h, w]
        positions: y[h · width + w, c] = x[c, h, w]

    Input: (N, C, H, W). Output: (N, H, C W), (N, W, C H) or (N, H W, C).

    Source of reading places as steps: Dosovitskiy et al.: An image is worth 16x16 words, 2021.
    """

    key, label, family = "image_to_sequence", "Image to sequence", "Reshape"
    steps = Choice("rows", options=tuple(STEPS), notes=STEPS, help="Elements of the image that become steps")

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

    def short_value(self) -> str:
        return self.steps


class SequenceToImage(LayerType):
    """Lays the steps of a sequence out as an image, row by row; the numbers of a step become its channels.

        y[c, h, w] = x[h · width + w, c]

    The reverse of reading an image place by place.

    Input: (N, H W, C). Output: (N, C, H, W).
    """

    key, label, family = "sequence_to_image", "Sequence to image", "Reshape"
    size = Size(8, length=2, high=1_000_000, help="Height × width; their product is the number of steps")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        steps = x.known("T", "it must be height × width")
        height, width = self.size
        if steps != height * width:
            raise ShapeError(
                f"The sequence has {steps:,} steps, but {height:,} × {width:,} are {height * width:,}. "
                "Choose a height and a width whose product is the number of steps.",
                field="size",
            )
        return image(x["C"], height, width)

    def lower(self, *x: TensorType) -> Lowered:
        return method("unflatten", 1, self.size), method("permute", 0, 3, 1, 2)

    def short_value(self) -> str:
        return " × ".join(map(str, self.size))


class ImageToVolume(LayerType):
    """Reads the channels of an image as slices of a volume, one behind the other.

        y[c, d, h, w] = x[c · depth + d, h, w]

    With as much depth as there are channels, a volume of one channel leaves: a stack of slices, ready for 3-D
    convolution.

    Input: (N, C, H, W). Output: (N, C / D, D, H, W) with depth D.
    """

    key, label, family = "image_to_volume", "Image to volume", "Reshape"
    depth = Int(0, low=0, high=1_000_000, help="Number of slices of the volume; 0: as many as the image has channels")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        depth = self.depth or x.channels
        if x.channels % depth:
            raise ShapeError(
                f"The {x.channels:,} channels of the image cannot be divided into slices of {depth:,}. "
                f"Use a divisor of {x.channels:,}.",
                field="depth",
            )
        return volume(x.channels // depth, depth, x["H"], x["W"])

    def lower(self, x: TensorType) -> Lowered:
        depth = self.depth or x.channels
        return method("unflatten", 1, (x.channels // depth, depth))

    def short_value(self) -> str:
        return f"{self.depth:,} slice{'s' * (self.depth > 1)}" if self.depth else ""


class VolumeToImage(LayerType):
    """Reads the slices of a volume as channels of an image.

        y[c · depth + d, h, w] = x[c, d, h, w]

    The reverse of reading the channels of an image as slices: 2-D convolution sees all slices at once.

    Input: (N, C, D, H, W). Output: (N, C D, H, W).
    """

    key, label, family = "volume_to_image", "Volume to image", "Reshape"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "volume")
        times: Callable[[int, int], int] = int.__mul__
        return image(derive(times, x["C"], x["D"]), x["H"], x["W"])

    def lower(self, *x: TensorType) -> Lowered:
        return method("flatten", 1, 2)


class VolumeToSequence(LayerType):
    """Reads a volume as a sequence of its slices, such as a film as a sequence of pictures.

        y[d, (c · height + h) · width + w] = x[c, d, h, w]

    Each slice is a step: T = D, with channels × height × width numbers.

    Input: (N, C, D, H, W). Output: (N, D, C H W).
    """

    key, label, family = "volume_to_sequence", "Volume to sequence", "Reshape"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "volume")
        return sequence(x["D"], derive(lambda c, h, w: c * h * w, x["C"], x["H"], x["W"]))

    def lower(self, *x: TensorType) -> Lowered:
        return method("transpose", 1, 2), method("flatten", 2)


class OneHot(LayerType):
    """Makes a vector of each index: one at its place, zero elsewhere. Nothing is learned.

        y[t, c] = 1 where c = x[t], else 0

    Indices count from 0 (MATLAB's from 1). An index that is no class gets zeros everywhere.

    Input: indices (N, T). Output: (N, T, K) with K classes.
    """

    key, label, family = "one_hot", "One-hot", "Reshape"
    classes = Int(10, low=2, high=1_000_000, help="Length of each vector, which is the number of different indices")

    def output(self, x: TensorType) -> TensorType:
        _refuse_numbers(x)
        return sequence(x["T"], self.classes)

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"{OWN}one_hot", self.classes)

    def short_value(self) -> str:
        return f"{self.classes:,} classes"


def _refuse_numbers(x: TensorType) -> None:
    """Raise `ShapeError` for an input that is no sequence of indices."""
    if x.axes != ("T",) or x.kind != "index" or x["T"] == 0:
        raise ShapeError(
            f"Expected tokens: a sequence of indices (T), received {x}. "
            "Set the content of the sequence input to indices.",
            port="in",
        )


class Cast(LayerType):
    """Makes numbers of indices, or indices of numbers: a sequence with one channel, or tokens.

        numbers: y[t, 1] = x[t]
        indices: y[t] = round(x[t, 1])

    As numbers, indices have an order, as counts and levels have. Words have none: they take an embedding or one-hot
    vectors.

    Input: indices (N, T), or numbers (N, T, 1). Output: numbers (N, T, 1), or indices (N, T).
    """

    key, label, family = "cast", "Cast", "Reshape"
    to = Choice("numbers", options=tuple(CASTS), notes=CASTS, help="Output of the layer")

    def output(self, x: TensorType) -> TensorType:
        if self.to == "numbers":
            _refuse_numbers(x)
            return sequence(x["T"], 1)
        expect(x, "sequence")
        if x.channels != 1:
            raise ShapeError(f"Expected a sequence with one channel, received {x}.", port="in")
        return tokens(x["T"])

    def lower(self, *x: TensorType) -> Lowered:
        if self.to == "numbers":
            return method("float"), method("unsqueeze", 2)
        return method("squeeze", 2), method("round"), method("long")

    def short_value(self) -> str:
        return f"to {self.to}"


class Repeat(LayerType):
    """Repeats what lies along one axis: the whole again and again, or each place before the next.

        whole: y[i] = x[i mod size]
        each: y[i] = x[floor(i / times)]

    An axis of size 1 is spread out by it. Along an image's axes, each repeats places as nearest upsampling does.

    Input: any shape with the axis. Output: the same with times · S along the axis of size S.
    """

    key, label, family = "repeat", "Repeat", "Reshape"
    axis = axis_field("C", "Axis along which values are repeated")
    times = Int(2, low=1, high=1_000_000, help="Number of repetitions; 1 changes nothing")
    order = Choice("whole", options=tuple(REPEATS), notes=REPEATS, help="Order of the repetitions")

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        return x.with_sizes(**{self.axis: derive(lambda size: size * self.times, x[self.axis])})

    def lower(self, x: TensorType) -> Lowered:
        dim = x.dim(self.axis)
        if self.order == "each":
            return method("repeat_interleave", self.times, dim)
        return method("repeat", *(self.times if at == dim else 1 for at in range(x.rank + 1)))

    def lower_padded(self, x: TensorType) -> Lowered:
        if self.axis != "T" or self.order == "each":
            return self.lower(x)
        return with_lengths(function(f"{LENGTHS}repeat_steps", times=self.times))

    def lengths_after(self, *x: TensorType) -> Call | None:
        return function(f"{LENGTHS}linear_lengths", factor=self.times) if self.axis == "T" else None

    def short_value(self) -> str:
        return f"{self.times:,} times along {self.axis}"


class RepeatVector(LayerType):
    """Makes a sequence of one vector: the same at each step.

        y[t, c] = x[c]

    Between an encoder that ends in one vector and a recurrent decoder that makes a sequence of it.

    Input: (N, C). Output: (N, T, C) with T steps.
    """

    key, label, family = "repeat_vector", "Repeat vector", "Reshape"
    steps = Int(10, low=1, high=10_000_000, unit="steps", help="Length of the sequence")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features")
        return sequence(self.steps, x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        return method("unsqueeze", 1), method("repeat", 1, self.steps, 1)

    def short_value(self) -> str:
        return f"{self.steps:,} step{'s' * (self.steps > 1)}"


class Roll(LayerType):
    """Shifts values along one axis by a number of places, around its end.

        y[i] = x[(i - shift) mod size]

    Shifted windows are made with it.

    Input: any shape with the axis. Output: the same shape.

    Source: Liu et al.: Swin transformer: hierarchical vision transformer using shifted windows, 2021.
    """

    key, label, family = "roll", "Roll", "Reshape"
    axis = axis_field("W", "Axis along which values are shifted")
    shift = Int(
        1, low=-1_000_000_000, high=1_000_000_000, help="Number of positions; negative values shift towards the start"
    )

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        return x

    def lower(self, x: TensorType) -> Lowered:
        return method("roll", self.shift, x.dim(self.axis))

    def lower_padded(self, x: TensorType) -> Lowered:
        return with_lengths(function(f"{LENGTHS}roll_steps", shift=self.shift)) if self.axis == "T" else self.lower(x)

    def short_value(self) -> str:
        return f"{self.shift:+,} along {self.axis}"


class Flip(LayerType):
    """Turns one axis round: the last place becomes the first.

        y[i] = x[size - 1 - i]

    Before and after a recurrent layer it makes that one run backwards.

    Input: any shape with the axis. Output: the same shape.
    """

    key, label, family = "flip", "Flip", "Reshape"
    axis = axis_field("T", "Axis to reverse")

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        return x

    def lower(self, x: TensorType) -> Lowered:
        return method("flip", x.dim(self.axis))

    def lower_padded(self, x: TensorType) -> Lowered:
        return with_lengths(function(f"{LENGTHS}reverse_steps")) if self.axis == "T" else self.lower(x)

    def short_value(self) -> str:
        return f"along {self.axis}"
