"""Layers with several inputs: addition, multiplication, concatenation."""

from engine.errors import MisfitError
from engine.fields import Choice, Int
from engine.layers.base import Call, LayerType, Lowered, expect_real, function
from engine.layers.types import Size, Symbol, TensorType, clash, derive

AXES = {
    "C": "Channels: depth concatenation",
    "H": "Height: one below the other",
    "W": "Width: side by side",
    "D": "Depth: one behind the other",
    "T": "Steps: one after the other",
}


class _Combination(LayerType):
    """Takes so many inputs through the ports in1, in2, ..."""

    inputs = Int(2, low=2, high=64, help="Number of input ports")

    def input_ports(self) -> tuple[str, ...]:
        return tuple(f"in{number}" for number in range(1, self.inputs + 1))

    def telling(self) -> str:
        return f"{self.inputs} inputs" if self.inputs > 2 else ""

    def _refuse_mixed(self, x: tuple[TensorType, ...]) -> None:
        """Refuse inputs that do not all have the same axes."""
        for port, type in zip(self.input_ports(), x, strict=True):
            expect_real(type, port)
            if type.axes != x[0].axes:
                raise MisfitError(
                    f"The axes differ: in1 has {x[0]}, {port} has {type}. Use a reshape layer to bring them together.",
                    port=port,
                )

    def _clash(self, axis: str, first: int, second: int, x: tuple[TensorType, ...], way_out: str) -> MisfitError:
        """The error for two inputs, by their index, that do not fit along an axis."""
        ports = self.input_ports()
        return MisfitError(
            f"Sizes clash along axis {axis}: {ports[first]} has {x[first][axis]} ({x[first]}), "
            f"{ports[second]} has {x[second][axis]} ({x[second]}). {way_out}",
            port=ports[second],
        )


class _ElementWise(_Combination):
    """A sum or a product, place by place. Along an axis of size 1 the one number goes with all of the other input."""

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        return x[0].with_sizes(**{axis: self._size(axis, x) for axis in x[0].axes})

    def _size(self, axis: str, x: tuple[TensorType, ...]) -> Size:
        found, where = x[0][axis], 0
        for index, type in enumerate(x):
            size = type[axis]
            if found != 1 and size != 1 and clash(found, size):
                raise self._clash(axis, where, index, x, "Sizes must be equal, or 1.")
            if found == 1 or (size != 1 and isinstance(found, Symbol)):
                found, where = size, index
        return found


class Addition(_ElementWise):
    """Adds its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.

        y = x1 + x2 + ...

    The end of a shortcut: what a branch gives is added to what came into it.

    Source: He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
    """

    key, label, family = "addition", "Addition", "Combination"
    matlab = "additionLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.add" if self.inputs == 2 else "engine.build.modules.combination.add_all")


class Multiplication(_ElementWise):
    """Multiplies its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.

        y = x1 · x2 · ...

    With numbers between 0 and 1 as one input it is a gate for the other.

    Source: Hu, Shen, Sun: Squeeze-and-excitation networks, 2018.
    """

    key, label, family = "multiplication", "Multiplication", "Combination"
    matlab = "multiplicationLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.mul" if self.inputs == 2 else "engine.build.modules.combination.multiply_all")


class Concatenation(_Combination):
    """Joins its inputs along one axis: channels (depth concatenation), unless told otherwise.

        size along the axis = the sum of the inputs' sizes

    All other sizes are equal. In MATLAB depthConcatenationLayer joins channels, concatenationLayer any axis.

    Source: Szegedy et al.: Going deeper with convolutions, 2015; Huang, Liu, van der Maaten, Weinberger: Densely
    connected convolutional networks, 2017.
    """

    key, label, family = "concatenation", "Concatenation", "Combination"
    matlab = "concatenationLayer"
    axis = Choice("C", options=tuple(AXES), notes=AXES, help="The axis along which the inputs stand")

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        if not x[0].has(self.axis):
            axes = ", ".join(x[0].axes)
            raise MisfitError(
                f"The inputs have no axis {self.axis}: received {x[0]}. Choose one of {axes}.", field="axis"
            )
        sizes = {axis: self._size(axis, x) for axis in x[0].axes if axis != self.axis}
        joined = derive(lambda *parts: sum(parts), *(type[self.axis] for type in x))
        return x[0].with_sizes(**{**sizes, self.axis: joined})

    def _size(self, axis: str, x: tuple[TensorType, ...]) -> Size:
        """The size of an axis that is not joined: all inputs have the same."""
        found, where = x[0][axis], 0
        for index, type in enumerate(x):
            if clash(found, type[axis]):
                raise self._clash(axis, where, index, x, f"Only axis {self.axis}, which is joined, may differ.")
            if isinstance(found, Symbol):
                found, where = type[axis], index
        return found

    def lower(self, *x: TensorType) -> Lowered:
        return Call("torch.cat", "function", kwargs={"dim": x[0].dim(self.axis)}, as_list=True)

    def telling(self) -> str:
        return f"along {self.axis}"
