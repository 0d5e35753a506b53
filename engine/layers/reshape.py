"""Layers that change axes without changing numbers: flatten, reshape, permute, shuffle, slice, split and crop."""

import math

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Choice, Int
from netwright.engine.core.list_fields import Ints, Size
from netwright.engine.core.types import LAYOUTS, Sizes, TensorType, derive, features, with_article
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    expect,
    expect_real,
    function,
    method,
    with_lengths,
)

OWN = "netwright.engine.lowering.modules.resizing."
LAYOUT_NOTES = {name: f"{' × '.join(axes)}" for name, axes in LAYOUTS.items()}
AXIS_NOTES = {"C": "Channels", "H": "Height", "W": "Width", "D": "Depth", "T": "Steps"}
CROPS = {
    "reference": "The size of a second input, ref, whose values are not used",
    "size": "A fixed size",
}
POSITIONS = {"centre": "The centre; MATLAB: centercrop", "place": "A fixed position"}


def axis_field(default: str, help: str) -> Choice:
    """One axis, by its letter."""
    return Choice(default, options=tuple(AXIS_NOTES), notes=AXIS_NOTES, help=help)


def refuse_absent(axis: str, x: TensorType) -> None:
    """Refuse an axis that the input does not have, in words."""
    expect_real(x)
    if not x.has(axis):
        raise ShapeError(
            f"The input has no axis {axis}: received {x}. Choose one of {', '.join(x.axes)}.", field="axis"
        )


def _count(x: TensorType) -> int:
    """Return the numbers per sample. Raises `ShapeError` where that is not known."""
    expect_real(x)
    if x.count is None:
        raise ShapeError(f"Every size must be known before the network runs, received {x}.", port="in")
    return x.count


class Flatten(LayerType):
    """Makes one vector of all numbers of a sample, the last axis first: an image becomes features.

        y[(c · height + h) · width + w] = x[c, h, w]

    The last axis runs fastest, as in torch; in MATLAB the first one does, so weights behind it are in another order.

    Input: any shape. Output: (N, K) with the product K of the sizes.
    """

    key, label, family = "flatten", "Flatten", "Reshape"
    matlab = "flattenLayer"

    def output(self, x: TensorType) -> TensorType:
        return features(_count(x))

    def lower(self, *x: TensorType) -> Lowered:
        return method("flatten", 1)


class Reshape(LayerType):
    """Gives the numbers of a sample other axes, without changing their order in memory.

        product of the sizes after = product of the sizes before

    The last axis runs fastest, before and after, as in torch; in MATLAB the first one does. One size may be -1: what is
    left.

    Input: any shape. Output: (N, ...) with the sizes of the field `sizes`.
    """

    key, label, family = "reshape", "Reshape", "Reshape"
    matlab = "reshapeLayer"
    found_as = "squeeze unsqueeze view"
    layout = Choice("features", options=tuple(LAYOUTS), notes=LAYOUT_NOTES, help="Output of the layer")
    sizes = Ints(
        (-1,),
        low=-1,
        separator=" × ",
        help="Size of each axis of the layout; one may be -1, which is computed from the others",
    )

    def output(self, x: TensorType) -> TensorType:
        return TensorType(LAYOUTS[self.layout], self._sizes(_count(x), x))

    def _sizes(self, count: int, x: TensorType) -> Sizes:
        axes = LAYOUTS[self.layout]
        sizes_text = " × ".join(map(str, self.sizes))
        if len(self.sizes) != len(axes):
            raise ShapeError(
                f"{with_article(self.layout).capitalize()} need{'s' * (len(axes) > 1)} {len(axes)} "
                f"size{'s' * (len(axes) > 1)} ({' × '.join(axes)}), received {sizes_text or 'none'}.",
                field="sizes",
            )
        if 0 in self.sizes or self.sizes.count(-1) > 1:
            raise ShapeError(
                f"Expected sizes of at least 1, and -1 at most once, received {sizes_text}.", field="sizes"
            )
        product = math.prod(size for size in self.sizes if size > 0)
        if count % product or (-1 not in self.sizes and count != product):
            needs = f"a multiple of {product:,}" if -1 in self.sizes else f"{product:,}"
            raise ShapeError(
                f"The sizes {sizes_text} need {needs} numbers, the input has {count:,} ({x}). "
                "Use sizes whose product is that, or -1 for one of them.",
                field="sizes",
            )
        return tuple(count // product if size == -1 else size for size in self.sizes)

    def lower(self, x: TensorType) -> Lowered:
        sizes = self._sizes(_count(x), x)
        flat = () if x.rank == 1 else (method("flatten", 1),)
        return flat if len(sizes) == 1 else (*flat, method("unflatten", 1, sizes))

    def short_value(self) -> str:
        return " × ".join(map(str, self.sizes))


class Permute(LayerType):
    """Exchanges the axes of a sample. The layout stays: with 1, 3, 2 an image is mirrored at its diagonal.

        size of axis i after = size of axis order[i] before

    Axis i of the output is axis order[i] of the input. With 2, 1 the channels of a sequence become its steps.

    Input: any shape of real numbers. Output: the same sizes in another order.
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
            raise ShapeError(f"Expected each axis once: {axes}; received {received}.", field="order")
        return TensorType(x.axes, tuple(x.sizes[number - 1] for number in self.order))

    def lower(self, *x: TensorType) -> Lowered:
        return method("permute", 0, *self.order)

    def short_value(self) -> str:
        return ", ".join(map(str, self.order))


class ChannelShuffle(LayerType):
    """Deals the channels out anew, so that each group behind it gets some of every group before it.

        y[c · groups + g] = x[g · (channels / groups) + c]

    Between two grouped convolutions it lets the groups exchange what they know. Nothing is lost.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Zhang, Zhou, Lin, Sun: ShuffleNet, 2018.
    """

    key, label, family = "channel_shuffle", "Channel shuffle", "Reshape"
    groups = Int(2, low=1, high=1_000_000, help="Number of equal groups of channels")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        if x.channels % self.groups:
            raise ShapeError(
                f"The {x.channels:,} channels of the input cannot be divided into {self.groups:,} equal groups. "
                f"Use a divisor of {x.channels:,}.",
                field="groups",
            )
        return x

    def lower(self, x: TensorType) -> Lowered:
        at = x.dim("C")
        apart = method("unflatten", at, (self.groups, x.channels // self.groups))
        return apart, method("transpose", at, at + 1), method("flatten", at, at + 1)

    def short_value(self) -> str:
        return f"{self.groups:,} group{'s' * (self.groups > 1)}"


class SelectStep(LayerType):
    """Takes one step out of a sequence, such as the last one; the output is features. (1-D indexing)

        y[c] = x[step, c], or x[length - 1 - step, c] counted from the end

    Steps count from 0. Behind a recurrent layer with `last` it is not needed.

    Input: (N, T, C). Output: (N, C).
    """

    key, label, family = "select_step", "Select step", "Reshape"
    matlab = "indexing1dLayer"
    found_as = "select"
    counted_from = Choice("end", options=("end", "start"), help="End of the sequence from which steps are counted")
    step = Int(0, low=0, high=1_000_000_000, help="Number of the step, counted from that end; 0: the outermost step")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        steps = x["T"]
        if isinstance(steps, int) and self.step >= steps:
            raise ShapeError(
                f"The sequence has {steps:,} steps: expected a step from 0 to {steps - 1:,}, received {self.step:,}.",
                field="step",
            )
        return features(x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        return method("select", 1, self.step if self.counted_from == "start" else -1 - self.step)

    def lower_padded(self, *x: TensorType) -> Lowered:
        if self.counted_from == "start":
            return self.lower(*x)
        return with_lengths(function(f"{LENGTHS}step_from_end", step=self.step))

    def short_value(self) -> str:
        if self.step:
            return f"{self.step:,} from the {self.counted_from}"
        return "last" if self.counted_from == "end" else "first"


class Slice(LayerType):
    """Takes a part of one axis: from a start to an end, in steps.

        y[i] = x[start + i · step], as long as that is before the end

    Places count from 0; below zero they count from the end, as in Python: -1 is the last one. The end itself is left
    out; 0 means that there is none.

    Input: any shape with the axis. Output: the same with the size of the part along the axis.
    """

    key, label, family = "slice", "Slice", "Reshape"
    axis = axis_field("C", "Axis to slice")
    start = Int(0, low=-1_000_000_000, high=1_000_000_000, help="First position; negative values count from the end")
    end = Int(0, low=-1_000_000_000, high=1_000_000_000, help="Position after the last one; 0: up to the end")
    step = Int(1, low=1, high=1_000_000_000, help="Distance of the positions taken")

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        if isinstance(size := x[self.axis], int) and not self._count(size):
            raise ShapeError(
                f"Nothing is left of axis {self.axis}: it has {size:,} places, from {self.start:,} "
                f"{f'up to {self.end:,}' if self.end else 'on'} there is none. Start earlier, or end later.",
                field="start",
            )
        # Counted from the same side, the order does not depend on the size.
        if self.end and (self.start < 0) == (self.end < 0) and self.start >= self.end:
            raise ShapeError(
                f"Nothing is left of axis {self.axis} at any size: the start {self.start:,} is not before the end "
                f"{self.end:,}. Start earlier, or end later.",
                field="start",
            )
        return x.with_sizes(**{self.axis: derive(self._count, x[self.axis])})

    def _count(self, size: int) -> int:
        return len(range(*slice(self.start, self.end or None, self.step).indices(size)))

    def lower(self, x: TensorType) -> Lowered:
        values = {"start": self.start, "end": self.end or None, "step": self.step}
        usual = {"start": 0, "end": None, "step": 1}
        arguments = {name: value for name, value in values.items() if value != usual[name]}
        return function(f"{OWN}slice_axis", x.dim(self.axis), **arguments)

    def _places(self) -> tuple[int, int, int]:
        return self.start, self.end, self.step

    def lower_padded(self, x: TensorType) -> Lowered:
        if self.axis != "T":
            return self.lower(x)
        return with_lengths(function(f"{LENGTHS}slice_steps", *self._places()))

    def lengths_after(self, *x: TensorType) -> Call | None:
        return function(f"{LENGTHS}sliced_lengths", *self._places()) if self.axis == "T" else None

    def short_value(self) -> str:
        step = f":{self.step}" if self.step > 1 else ""
        return f"{self.axis}[{self.start or ''}:{self.end or ''}{step}]"


class Split(LayerType):
    """Cuts one axis into equal parts, one per output port. (chunk)

        part n: y[i] = x[(n - 1) · size / parts + i]

    The axis must be divisible by the number of parts. For parts of other sizes take slices.

    Input: any shape with the axis. Outputs: the same with S / parts along the axis of size S.
    """

    key, label, family = "split", "Split", "Reshape"
    axis = axis_field("C", "Axis to split")
    parts = Int(2, low=2, high=64, help="Number of parts, and of output ports")

    def output_ports(self) -> tuple[str, ...]:
        return tuple(f"out{number}" for number in range(1, self.parts + 1))

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        size = x.known(self.axis, "it is divided into equal parts")
        if size % self.parts:
            raise ShapeError(
                f"The {size:,} places along axis {self.axis} cannot be divided into {self.parts:,} equal parts. "
                f"Use a divisor of {size:,}, or slices.",
                field="parts",
            )
        return x.with_sizes(**{self.axis: size // self.parts})

    def output_types(self, x: TensorType) -> tuple[TensorType, ...]:
        return (self.output(x),) * self.parts

    def lower(self, x: TensorType) -> Lowered:
        return method("chunk", self.parts, x.dim(self.axis))

    def short_value(self) -> str:
        return f"{self.parts:,} parts along {self.axis}"


class _Crop(LayerType):
    """Cuts a part out of an image or a volume."""

    layout = ""
    to = Choice(
        "reference",
        options=tuple(CROPS),
        notes=CROPS,
        label="Crop to the size",
        help="How the size of the part is chosen",
    )
    position = Choice("centre", options=tuple(POSITIONS), notes=POSITIONS, help="Position of the part")
    size: Size
    start: Ints

    def input_ports(self) -> tuple[str, ...]:
        return ("in", "ref") if self.to == "reference" else ("in",)

    def _cut(self, *x: TensorType) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The first place and the size along each axis. Raises `ShapeError`."""
        places = LAYOUTS[self.layout][1:]
        for port, type in zip(self.input_ports(), x, strict=True):
            expect_real(type, port)
            if type.layout != self.layout:
                axes = " × ".join(LAYOUTS[self.layout])
                raise ShapeError(f"Expected {with_article(self.layout)} ({axes}), received {type}.", port=port)
        why = "cropping must know it"
        sizes = tuple(x[1].known(axis, why) for axis in places) if self.to == "reference" else self.size
        starts = self.start
        offsets = []
        for axis, size, start in zip(places, sizes, starts, strict=True):
            whole = x[0].known(axis, why)
            first = (whole - size) // 2 if self.position == "centre" else start
            if size > whole or first + size > whole:
                field = "start" if size <= whole else "size"
                is_reference = self.to == "reference" and field == "size"
                raise ShapeError(
                    f"The part does not lie inside along axis {axis}: {size:,} places from {first:,} on, of {whole:,}. "
                    "Make the part smaller, or start earlier.",
                    field=None if is_reference else field,
                    port="ref" if is_reference else None,
                )
            offsets.append(first)
        return tuple(offsets), sizes

    def output(self, *x: TensorType) -> TensorType:
        _, sizes = self._cut(*x)
        return x[0].with_sizes(**dict(zip(LAYOUTS[self.layout][1:], sizes, strict=True)))

    def lower(self, *x: TensorType) -> Lowered:
        starts, sizes = self._cut(*x)
        return function(f"{OWN}crop", starts=starts, sizes=sizes)

    def short_value(self) -> str:
        return " × ".join(map(str, self.size)) if self.to == "size" else ""


def _is_sized(layer: LayerType) -> bool:
    return bool(getattr(layer, "to", "") == "size")


def _is_placed(layer: LayerType) -> bool:
    return bool(getattr(layer, "position", "") == "place")


class Crop2d(_Crop):
    """Cuts a part out of an image: as large as another input, or as told; from the middle, or from a place on.

        y[c, h, w] = x[c, top + h, left + w]

    Where the middle is no whole place, the part lies nearer to the top and the left. In a U-Net it crops the output
    of the encoder to the size of the decoder's.

    Input: (N, C, H, W). Output: (N, C, H', W') with the sizes of the field `size`, or of the port `ref`.

    Source: Ronneberger, Fischer, Brox: U-Net: convolutional networks for biomedical image segmentation, 2015.
    """

    key, label, family = "crop2d", "2-D crop", "Reshape"
    matlab = "crop2dLayer"
    found_as = "Cropping2D"
    layout = "image"
    size = Size(8, length=2, help="Height × width of the part", visible_when=_is_sized)
    start = Ints(
        0, length=2, high=1_000_000, help="Top, left: first position of the part, from 0", visible_when=_is_placed
    )


class Crop3d(_Crop):
    """Cuts a part out of a volume: as large as another input, or as told; from the middle, or from a place on.

        y[c, d, h, w] = x[c, front + d, top + h, left + w]

    Where the middle is no whole place, the part lies nearer to the front, the top and the left.

    Input: (N, C, D, H, W). Output: (N, C, D', H', W') with the sizes of the field `size`, or of the port `ref`.

    Source: Çiçek, Abdulkadir, Lienkamp, Brox, Ronneberger: 3D U-Net, 2016.
    """

    key, label, family = "crop3d", "3-D crop", "Reshape"
    matlab = "crop3dLayer"
    found_as = "Cropping3D"
    layout = "volume"
    size = Size(8, length=3, help="Depth × height × width of the part", visible_when=_is_sized)
    start = Ints(
        0,
        length=3,
        high=1_000_000,
        help="Front, top, left: first position of the part, from 0",
        visible_when=_is_placed,
    )
