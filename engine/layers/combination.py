"""Layers that combine several inputs element by element, or join them along an axis.

Inputs have the same axes. Element by element, sizes are equal along each axis, or 1 (broadcasting). An axis is never
added or moved.
"""

from typing import ClassVar

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Choice, Int
from netwright.engine.core.types import Size, Symbol, TensorType, clash, derive
from netwright.engine.layers.base import LENGTHS, Call, LayerType, Lowered, expect_real, function, masked, with_lengths

AXES = {
    "C": "Channels: depth concatenation",
    "H": "Height: one below the other",
    "W": "Width: side by side",
    "D": "Depth: one behind the other",
    "T": "Steps: one after the other",
}


def as_real(x: TensorType) -> TensorType:
    """The type with real numbers in place of complex ones."""
    return TensorType(x.axes, x.sizes, "real") if x.kind == "complex" else x


class SeveralInputs(LayerType):
    """Base of layers whose inputs have the same axes: by default two, in1 and in2."""

    takes_complex: ClassVar[bool] = False
    """Whether inputs may be complex; real and complex ones together give complex numbers."""

    def input_ports(self) -> tuple[str, ...]:
        return ("in1", "in2")

    def _refuse_mixed(self, x: tuple[TensorType, ...]) -> None:
        """Refuse inputs that do not all have the same axes."""
        for port, type in zip(self.input_ports(), x, strict=True):
            expect_real(as_real(type) if self.takes_complex else type, port)
            if type.axes != x[0].axes:
                raise ShapeError(
                    f"The axes differ: {self.input_ports()[0]} has {x[0]}, {port} has {type}. "
                    "Use a reshape layer to bring them together.",
                    port=port,
                )

    def _sized(self, x: tuple[TensorType, ...], **sizes: Size) -> TensorType:
        """The first input with these sizes, complex where one of all inputs is."""
        out = x[0].with_sizes(**sizes)
        return TensorType(out.axes, out.sizes, "complex") if any(type.kind == "complex" for type in x) else out

    def _same_size(self, axis: str, x: tuple[TensorType, ...], way_out: str) -> Size:
        """The size of an axis along which all inputs are equal."""
        size, where = x[0][axis], 0
        for index, type in enumerate(x):
            if clash(size, type[axis]):
                raise self._clash(axis, where, index, x, way_out)
            if isinstance(size, Symbol):
                size, where = type[axis], index
        return size

    def _clash(self, axis: str, first: int, second: int, x: tuple[TensorType, ...], way_out: str) -> ShapeError:
        """The error for two inputs, by their index, that do not fit along an axis."""
        ports = self.input_ports()
        return ShapeError(
            f"Sizes clash along axis {axis}: {ports[first]} has {x[first][axis]} ({x[first]}), "
            f"{ports[second]} has {x[second][axis]} ({x[second]}). {way_out}",
            port=ports[second],
        )


class NumberedInputs(SeveralInputs):
    """Takes a chosen number of inputs through the ports in1, in2, ..."""

    inputs = Int(2, low=2, high=64, help="Number of input ports")

    def input_ports(self) -> tuple[str, ...]:
        return tuple(f"in{number}" for number in range(1, self.inputs + 1))

    def short_value(self) -> str:
        return f"{self.inputs} inputs" if self.inputs > 2 else ""


class ElementWise(SeveralInputs):
    """Base of layers that compute element by element, with broadcasting along axes of size 1."""

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        return self._sized(x, **{axis: self._size(axis, x) for axis in x[0].axes})

    def _size(self, axis: str, x: tuple[TensorType, ...]) -> Size:
        common, where = x[0][axis], 0
        for index, type in enumerate(x):
            size = type[axis]
            if common != 1 and size != 1 and clash(common, size):
                raise self._clash(axis, where, index, x, "Sizes must be equal, or 1.")
            if common == 1 or (size != 1 and isinstance(common, Symbol)):
                common, where = size, index
        return common


class Addition(NumberedInputs, ElementWise):
    """Adds its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.

        y = x1 + x2 + ...

    The end of a shortcut: the output of a branch is added to its input. Inputs may be complex.

    Source: He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
    """

    key, label, family = "addition", "Addition", "Combination"
    matlab = "additionLayer"
    found_as = "add residual skip"
    takes_complex = True

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.add" if self.inputs == 2 else "netwright.engine.lowering.modules.arithmetic.add_all")


class Multiplication(NumberedInputs, ElementWise):
    """Multiplies its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.

        y = x1 · x2 · ...

    With numbers between 0 and 1 as one input it is a gate for the other. Inputs may be complex.

    Source: Hu, Shen, Sun: Squeeze-and-excitation networks, 2018.
    """

    key, label, family = "multiplication", "Multiplication", "Combination"
    matlab = "multiplicationLayer"
    found_as = "mul Multiply"
    takes_complex = True

    def lower(self, *x: TensorType) -> Lowered:
        return function(
            "torch.mul" if self.inputs == 2 else "netwright.engine.lowering.modules.arithmetic.multiply_all"
        )


class Concatenation(NumberedInputs):
    """Joins its inputs along one axis: channels (depth concatenation), unless told otherwise.

        size along the axis = the sum of the inputs' sizes

    All other sizes are equal. In MATLAB depthConcatenationLayer joins channels, concatenationLayer any axis.
    Inputs may be complex.

    Inputs: shapes that are equal but for the axis. Output: the same, with the sum of the sizes along the axis.

    Source: Szegedy et al.: Going deeper with convolutions, 2015; Huang, Liu, van der Maaten, Weinberger: Densely
    connected convolutional networks, 2017.
    """

    key, label, family = "concatenation", "Concatenation", "Combination"
    matlab = "concatenationLayer"
    found_as = "concat Concatenate depthConcatenationLayer cat"
    takes_complex = True
    axis = Choice("C", options=tuple(AXES), notes=AXES, help="Axis along which the inputs are concatenated")

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        if not x[0].has(self.axis):
            axes = ", ".join(x[0].axes)
            raise ShapeError(
                f"The inputs have no axis {self.axis}: received {x[0]}. Choose one of {axes}.", field="axis"
            )
        way_out = f"Only axis {self.axis}, which is joined, may differ."
        sizes = {axis: self._same_size(axis, x, way_out) for axis in x[0].axes if axis != self.axis}
        joined = derive(lambda *parts: sum(parts), *(type[self.axis] for type in x))
        return self._sized(x, **{**sizes, self.axis: joined})

    def lower(self, *x: TensorType) -> Lowered:
        return Call("torch.cat", "function", kwargs={"dim": x[0].dim(self.axis)}, as_list=True)

    def lower_padded(self, *x: TensorType) -> Lowered:
        return with_lengths(function(f"{LENGTHS}join_steps")) if self.axis == "T" else self.lower(*x)

    def lengths_after(self, *x: TensorType) -> Call | None:
        steps = sum(size for type in x if isinstance(size := type["T"], int))
        return function(f"{LENGTHS}joined_lengths", steps) if self.axis == "T" else None

    def short_value(self) -> str:
        return f"along {self.axis}"


class Subtraction(ElementWise):
    """Subtracts the second input from the first, place by place. Sizes are equal, or 1 where one number counts for all.

        y = x1 - x2

    Between two branches it leaves what tells them apart. Inputs may be complex.
    """

    key, label, family = "subtraction", "Subtraction", "Combination"
    found_as = "sub Subtract"
    takes_complex = True

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.sub")


class Division(ElementWise):
    """Divides the first input by the second, place by place. Sizes are equal, or 1 where one number counts for all.

        y = x1 / x2

    What is divided by zero becomes infinite, or no number for 0 / 0: let the second input come from something that
    stays away from zero, such as a softplus, or from a clamp.
    """

    key, label, family = "division", "Division", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.div")

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x), 1.0)  # nothing is divided by zero behind the ends


class Maximum(NumberedInputs, ElementWise):
    """Takes the largest of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.

        y = max(x1, x2, ...)

    Over branches of linear layers it is a maxout.

    Source: Goodfellow, Warde-Farley, Mirza, Courville, Bengio: Maxout networks, 2013.
    """

    key, label, family = "maximum", "Maximum", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function(
            "torch.maximum" if self.inputs == 2 else "netwright.engine.lowering.modules.arithmetic.maximum_of_all"
        )


class Minimum(NumberedInputs, ElementWise):
    """Takes the smallest of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.

        y = min(x1, x2, ...)

    Of two estimates it takes the careful one, as twin critics do.

    Source: Fujimoto, van Hoof, Meger: Addressing function approximation error in actor-critic methods, 2018.
    """

    key, label, family = "minimum", "Minimum", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function(
            "torch.minimum" if self.inputs == 2 else "netwright.engine.lowering.modules.arithmetic.minimum_of_all"
        )


class Average(NumberedInputs, ElementWise):
    """Takes the mean of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.

        y = (x1 + x2 + ... + xn) / n

    Over several branches with the same task it is an ensemble within one network.
    """

    key, label, family = "average", "Average", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.average_of_all")


class Where(ElementWise):
    """Takes each number from in1 where the condition is above zero, else from in2.

        y = x1 where condition > 0, else x2

    All three have the same axes; sizes are equal, or 1 where the one number counts for all. The condition gets no
    gradient: it is a switch. For a soft one, that learns, multiply by a sigmoid.
    """

    key, label, family = "where", "Where", "Combination"

    def input_ports(self) -> tuple[str, ...]:
        return ("condition", "in1", "in2")

    def lower(self, *x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.where_positive")
