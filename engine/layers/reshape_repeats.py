"""What comes in again and again, or moved and turned round along an axis."""

from engine.fields import Choice, Int
from engine.layers.base import LENGTHS, Call, LayerType, Lowered, expect, function, method, with_lengths
from engine.layers.reshape_cuts import axis_field, refuse_absent
from engine.layers.types import (
    TensorType,
    derive,
    sequence,
)

REPEATS = {
    "whole": "The whole, again and again: 1 2 1 2",
    "each": "Each place so many times before the next: 1 1 2 2",
}


class Repeat(LayerType):
    """Repeats what lies along one axis: the whole again and again, or each place before the next.

        whole: y[i] = x[i mod size]
        each: y[i] = x[floor(i / times)]

    An axis of size 1 is spread out by it. Along an image's axes, each repeats places as nearest upsampling does.
    """

    key, label, family = "repeat", "Repeat", "Reshape"
    axis = axis_field("C", "The axis that becomes longer")
    times = Int(2, low=1, high=1_000_000, help="How often; 1 changes nothing")
    order = Choice("whole", options=tuple(REPEATS), notes=REPEATS, help="What is repeated")

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

    def telling(self) -> str:
        return f"{self.times:,} times along {self.axis}"


class RepeatVector(LayerType):
    """Makes a sequence of one vector: the same at each step.

        y[t, c] = x[c]

    Between an encoder that ends in one vector and a recurrent decoder that makes a sequence of it.
    """

    key, label, family = "repeat_vector", "Repeat vector", "Reshape"
    steps = Int(10, low=1, high=10_000_000, unit="steps", help="Length of the sequence")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features")
        return sequence(self.steps, x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        return method("unsqueeze", 1), method("repeat", 1, self.steps, 1)

    def telling(self) -> str:
        return f"{self.steps:,} step{'s' * (self.steps > 1)}"


class Roll(LayerType):
    """Moves everything along one axis by so many places; what leaves at one end comes in at the other.

        y[i] = x[(i - shift) mod size]

    Shifted windows are made with it.

    Source: Liu et al.: Swin transformer: hierarchical vision transformer using shifted windows, 2021.
    """

    key, label, family = "roll", "Roll", "Reshape"
    axis = axis_field("W", "The axis along which everything moves")
    shift = Int(1, low=-1_000_000_000, high=1_000_000_000, help="How far; below zero towards the start")

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        return x

    def lower(self, x: TensorType) -> Lowered:
        return method("roll", self.shift, x.dim(self.axis))

    def lower_padded(self, x: TensorType) -> Lowered:
        return with_lengths(function(f"{LENGTHS}roll_steps", shift=self.shift)) if self.axis == "T" else self.lower(x)

    def telling(self) -> str:
        return f"{self.shift:+,} along {self.axis}"


class Flip(LayerType):
    """Turns one axis round: the last place becomes the first.

        y[i] = x[size - 1 - i]

    Before and after a recurrent layer it makes that one run backwards.
    """

    key, label, family = "flip", "Flip", "Reshape"
    axis = axis_field("T", "The axis that is turned round")

    def output(self, x: TensorType) -> TensorType:
        refuse_absent(self.axis, x)
        return x

    def lower(self, x: TensorType) -> Lowered:
        return method("flip", x.dim(self.axis))

    def lower_padded(self, x: TensorType) -> Lowered:
        return with_lengths(function(f"{LENGTHS}reverse_steps")) if self.axis == "T" else self.lower(x)

    def telling(self) -> str:
        return f"along {self.axis}"
