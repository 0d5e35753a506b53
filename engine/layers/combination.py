"""Layers with several inputs: sums and products, place by place or of matrices, comparisons, and joining.

Place by place, inputs have the same axes. Along each axis their sizes are equal, or 1: then the one number goes with
all of the other input (broadcasting). An axis is never added or moved on the way.
"""

import math
import re
from typing import ClassVar

from engine.core.errors import ShapeError
from engine.core.fields import Bool, Choice, Float, Int, Text
from engine.core.types import LAYOUTS, Size, Symbol, TensorType, clash, derive, sequence, volume, with_article
from engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    expect_real,
    function,
    masked,
    method,
    module,
    with_lengths,
)

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


class _Several(LayerType):
    """Takes inputs that have the same axes: two, in1 and in2, unless told otherwise."""

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
        found, where = x[0][axis], 0
        for index, type in enumerate(x):
            if clash(found, type[axis]):
                raise self._clash(axis, where, index, x, way_out)
            if isinstance(found, Symbol):
                found, where = type[axis], index
        return found

    def _clash(self, axis: str, first: int, second: int, x: tuple[TensorType, ...], way_out: str) -> ShapeError:
        """The error for two inputs, by their index, that do not fit along an axis."""
        ports = self.input_ports()
        return ShapeError(
            f"Sizes clash along axis {axis}: {ports[first]} has {x[first][axis]} ({x[first]}), "
            f"{ports[second]} has {x[second][axis]} ({x[second]}). {way_out}",
            port=ports[second],
        )


class _Numbered(_Several):
    """Takes so many inputs through the ports in1, in2, ..."""

    inputs = Int(2, low=2, high=64, help="Number of input ports")

    def input_ports(self) -> tuple[str, ...]:
        return tuple(f"in{number}" for number in range(1, self.inputs + 1))

    def short_value(self) -> str:
        return f"{self.inputs} inputs" if self.inputs > 2 else ""


class _ElementWise(_Several):
    """A result place by place. Along an axis of size 1 the one number goes with all of the other input."""

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        return self._sized(x, **{axis: self._size(axis, x) for axis in x[0].axes})

    def _size(self, axis: str, x: tuple[TensorType, ...]) -> Size:
        found, where = x[0][axis], 0
        for index, type in enumerate(x):
            size = type[axis]
            if found != 1 and size != 1 and clash(found, size):
                raise self._clash(axis, where, index, x, "Sizes must be equal, or 1.")
            if found == 1 or (size != 1 and isinstance(found, Symbol)):
                found, where = size, index
        return found


class Addition(_Numbered, _ElementWise):
    """Adds its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.

        y = x1 + x2 + ...

    The end of a shortcut: what a branch gives is added to what came into it. Inputs may be complex.

    Source: He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
    """

    key, label, family = "addition", "Addition", "Combination"
    matlab = "additionLayer"
    takes_complex = True

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.add" if self.inputs == 2 else "engine.lowering.modules.arithmetic.add_all")


class Multiplication(_Numbered, _ElementWise):
    """Multiplies its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.

        y = x1 · x2 · ...

    With numbers between 0 and 1 as one input it is a gate for the other. Inputs may be complex.

    Source: Hu, Shen, Sun: Squeeze-and-excitation networks, 2018.
    """

    key, label, family = "multiplication", "Multiplication", "Combination"
    matlab = "multiplicationLayer"
    takes_complex = True

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.mul" if self.inputs == 2 else "engine.lowering.modules.arithmetic.multiply_all")


class Concatenation(_Numbered):
    """Joins its inputs along one axis: channels (depth concatenation), unless told otherwise.

        size along the axis = the sum of the inputs' sizes

    All other sizes are equal. In MATLAB depthConcatenationLayer joins channels, concatenationLayer any axis.
    Inputs may be complex.

    Source: Szegedy et al.: Going deeper with convolutions, 2015; Huang, Liu, van der Maaten, Weinberger: Densely
    connected convolutional networks, 2017.
    """

    key, label, family = "concatenation", "Concatenation", "Combination"
    matlab = "concatenationLayer"
    found_as = "depthConcatenationLayer cat"
    takes_complex = True
    axis = Choice("C", options=tuple(AXES), notes=AXES, help="The axis along which the inputs stand")

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
        known = sum(size for type in x if isinstance(size := type["T"], int))
        return function(f"{LENGTHS}joined_lengths", known) if self.axis == "T" else None

    def short_value(self) -> str:
        return f"along {self.axis}"


class Subtraction(_ElementWise):
    """Subtracts the second input from the first, place by place. Sizes are equal, or 1 where one number counts for all.

        y = x1 - x2

    Between two branches it leaves what tells them apart. Inputs may be complex.
    """

    key, label, family = "subtraction", "Subtraction", "Combination"
    takes_complex = True

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.sub")


class Division(_ElementWise):
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


class Maximum(_Numbered, _ElementWise):
    """Takes the largest of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.

        y = max(x1, x2, ...)

    Over branches of linear layers it is a maxout.

    Source: Goodfellow, Warde-Farley, Mirza, Courville, Bengio: Maxout networks, 2013.
    """

    key, label, family = "maximum", "Maximum", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.maximum" if self.inputs == 2 else "engine.lowering.modules.arithmetic.maximum_of_all")


class Minimum(_Numbered, _ElementWise):
    """Takes the smallest of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.

        y = min(x1, x2, ...)

    Of two estimates it takes the careful one, as twin critics do.

    Source: Fujimoto, van Hoof, Meger: Addressing function approximation error in actor-critic methods, 2018.
    """

    key, label, family = "minimum", "Minimum", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("torch.minimum" if self.inputs == 2 else "engine.lowering.modules.arithmetic.minimum_of_all")


class Average(_Numbered, _ElementWise):
    """Takes the mean of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.

        y = (x1 + x2 + ... + xn) / n

    Over several branches with the same task it is an ensemble within one network.
    """

    key, label, family = "average", "Average", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("engine.lowering.modules.arithmetic.average_of_all")


class Where(_ElementWise):
    """Takes each number from in1 where the condition is above zero, else from in2.

        y = x1 where condition > 0, else x2

    All three have the same axes; sizes are equal, or 1 where the one number counts for all. The condition gets no
    gradient: it is a switch. For a soft one, that learns, multiply by a sigmoid.
    """

    key, label, family = "where", "Where", "Combination"

    def input_ports(self) -> tuple[str, ...]:
        return ("condition", "in1", "in2")

    def lower(self, *x: TensorType) -> Lowered:
        return function("engine.lowering.modules.arithmetic.where_positive")


class MatrixProduct(_Several):
    """Multiplies two inputs as matrices: the last two axes are rows and columns. (matmul)

        y[i, j] = sum over k of a[i, k] · b[k, j]

    A sequence is a matrix of steps × channels. Each channel of an image is a matrix of height × width; sizes along
    the other axes are equal, or 1. By default the second one is transposed, which compares each step of the first with
    each step of the second: attention before its softmax.
    """

    key, label, family = "matrix_product", "Matrix product", "Combination"
    transpose_first = Bool(False, help="Exchanges rows and columns of the first input")
    transpose_second = Bool(True, help="Exchanges rows and columns of the second input")

    def _shapes(self, x: tuple[TensorType, ...]) -> tuple[tuple[Size, Size], tuple[Size, Size]]:
        """Rows and columns of both, as they are multiplied."""
        (a, b), (c, d) = x[0].sizes[-2:], x[1].sizes[-2:]
        return (b, a) if self.transpose_first else (a, b), (d, c) if self.transpose_second else (c, d)

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        if x[0].rank < 2:
            raise ShapeError(f"Expected matrices, such as sequences or images; received {x[0]}.", port="in1")
        first, second = self._shapes(x)
        if clash(first[1], second[0]):
            raise ShapeError(
                f"The first has {first[1]} columns and the second {second[0]} rows, as they are multiplied; received "
                f"{x[0]} and {x[1]}. They must be equal: transpose one of them, or change its size.",
                port="in2",
            )
        if isinstance(first[1], Symbol) != isinstance(second[0], Symbol):
            raise ShapeError(
                f"The first has {first[1]} columns and the second {second[0]} rows, as they are multiplied: one of "
                "them is known only when the network runs. Give the sequence input a length, or transpose one of them.",
                port="in2",
            )
        leading = []
        for axis, one, other in zip(x[0].axes[:-2], x[0].sizes, x[1].sizes, strict=False):
            if 1 not in (one, other) and clash(one, other):
                raise self._clash(axis, 0, 1, x, "Sizes must be equal, or 1.")
            leading.append(other if one == 1 or (other != 1 and isinstance(one, Symbol)) else one)
        return TensorType(x[0].axes, (*leading, first[0], second[1]))

    def flops(self, *x: TensorType) -> int:
        sizes = (*self.output(*x).sizes, self._shapes(x)[0][1])
        known = [size for size in sizes if isinstance(size, int)]
        return 2 * math.prod(known) if len(known) == len(sizes) else 0

    def lower(self, *x: TensorType) -> Lowered:
        if not self.transpose_first and not self.transpose_second:
            return function("torch.matmul")
        given = {"transpose_first": self.transpose_first, "transpose_second": self.transpose_second}
        return function("engine.lowering.modules.arithmetic.matrix_product", **{k: v for k, v in given.items() if v})

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x))

    def short_value(self) -> str:
        return f"{'aᵀ' if self.transpose_first else 'a'} · {'bᵀ' if self.transpose_second else 'b'}"


class _Compared(_ElementWise):
    """One number for two vectors: they lie along an axis, which keeps size 1."""

    axis = Choice("C", options=tuple("CHWDT"), help="The axis along which the vectors lie; size 1 is left of it")

    def output(self, *x: TensorType) -> TensorType:
        found = super().output(*x)
        if not found.has(self.axis):
            axes = ", ".join(found.axes)
            raise ShapeError(
                f"The inputs have no axis {self.axis}: received {x[0]}. Choose one of {axes}.", field="axis"
            )
        return found.with_sizes(**{self.axis: 1})

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x)) if self.axis == "T" else self.lower(*x)

    def short_value(self) -> str:
        return "" if self.axis == "C" else f"along {self.axis}"


class DotProduct(_Compared):
    """Multiplies two vectors into one number: the sum of their products, over the channels unless told otherwise.

        y = sum over c of x1[c] · x2[c]

    Where images or sequences come in, at each place by itself. Sizes are equal, or 1 where one number counts for all.
    """

    key, label, family = "dot_product", "Dot product", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("engine.lowering.modules.arithmetic.dot_product", x[0].dim(self.axis))


class CosineSimilarity(_Compared):
    """Tells how alike the directions of two vectors are: 1 the same, 0 at right angles, -1 opposite.

        y = x1 · x2 / (max(|x1|, epsilon) · max(|x2|, epsilon))

    Over the channels, unless told otherwise; where images or sequences come in, at each place by itself. At the end of
    two branches that share their task it makes a Siamese network.

    Source: Bromley, Guyon, LeCun, Säckinger, Shah: Signature verification using a Siamese time delay network, 1994.
    """

    key, label, family = "cosine_similarity", "Cosine similarity", "Combination"
    epsilon = Float(1e-8, above=0.0, high=1.0, help="The smallest length that counts, against division by zero")

    def lower(self, *x: TensorType) -> Lowered:
        dim = x[0].dim(self.axis)
        given = {} if self.epsilon == 1e-8 else {"eps": self.epsilon}
        return module("CosineSimilarity", dim=dim, **given), method("unsqueeze", dim)


DISTANCES = {
    "euclidean": "The root of the summed squares",
    "squared": "The summed squares, without the root",
    "manhattan": "The summed absolute differences",
    "chebyshev": "The largest absolute difference",
}


class Distance(_Compared):
    """Tells how far two vectors are apart, over the channels unless told otherwise. (PairwiseDistance)

        euclidean: y = √(sum of (x1[c] - x2[c])²)
        squared: y = sum of (x1[c] - x2[c])²
        manhattan: y = sum of |x1[c] - x2[c]|
        chebyshev: y = max of |x1[c] - x2[c]|

    Where images or sequences come in, at each place by itself. torch's PairwiseDistance adds 0.000001 to each
    difference; this does not.
    """

    key, label, family = "distance", "Distance", "Combination"
    kind = Choice("euclidean", options=tuple(DISTANCES), notes=DISTANCES, help="How far is measured")

    def lower(self, *x: TensorType) -> Lowered:
        return function("engine.lowering.modules.arithmetic.distance", x[0].dim(self.axis), self.kind)

    def short_value(self) -> str:
        return self.kind


class EinsteinSum(LayerType):
    """Multiplies one or two inputs and sums over the letters that its equation leaves out. (einsum)

        tc,sc->ts: y[t, s] = sum over c of x1[t, c] · x2[s, c]

    One lower-case letter for each axis of each input, without the batch, a comma, an arrow, and the letters of the
    result. A letter that occurs twice stands for equal sizes. The layout says what the result is called.

    Source: Einstein: Die Grundlage der allgemeinen Relativitätstheorie, 1916.
    """

    key, label, family = "einsum", "Einstein sum", "Combination"
    equation = Text("tc,sc->ts", help="Letters of each input, an arrow, letters of the result; the batch is implied")
    layout = Choice("sequence", options=tuple(LAYOUTS), help="What leaves the layer: its axes, one for each letter")

    def _terms(self) -> tuple[list[str], str] | None:
        """The letters of each input and of the result, or None for what is no equation."""
        text = self.equation.replace(" ", "")
        if not re.fullmatch(r"[a-z]{1,8}(,[a-z]{1,8})?->[a-z]{1,8}", text):
            return None
        left, _, right = text.partition("->")
        terms = left.split(",")
        are_single = all(len(set(term)) == len(term) for term in (*terms, right))
        return (terms, right) if are_single and set(right) <= set(left) else None

    def input_ports(self) -> tuple[str, ...]:
        terms = self._terms()
        return ("in",) if terms and len(terms[0]) == 1 else ("in1", "in2")

    def _letters(self, *x: TensorType) -> dict[str, Size]:
        """The size of each letter. Raises `ShapeError`."""
        terms = self._terms()
        if terms is None:
            raise ShapeError(
                f"'{self.equation}' is no equation: expected lower-case letters, such as tc,sc->ts, each at most once "
                "an input, and a result of letters that occur before the arrow.",
                field="equation",
            )
        sizes: dict[str, Size] = {}
        for port, term, type in zip(self.input_ports(), terms[0], x, strict=True):
            expect_real(type, port)
            if len(term) != type.rank:
                raise ShapeError(
                    f"The equation has {len(term)} letter{'s' * (len(term) > 1)} ({term}) for {port}, which has "
                    f"{type.rank} axes: {type}. Write one letter for each axis.",
                    field="equation",
                )
            for letter, size in zip(term, type.sizes, strict=True):
                if clash(sizes.get(letter, size), size):
                    raise ShapeError(
                        f"Sizes clash for letter {letter}: {sizes[letter]} in in1 and {size} in {port} ({type}). "
                        "One letter stands for equal sizes: use another one, or change a size.",
                        port=port,
                    )
                if letter not in sizes or isinstance(sizes[letter], Symbol):
                    sizes[letter] = size
        return sizes

    def output(self, *x: TensorType) -> TensorType:
        sizes = self._letters(*x)
        terms = self._terms()
        axes = LAYOUTS[self.layout]
        right = terms[1] if terms else ""
        if len(right) != len(axes):
            plural = "s" * (len(axes) > 1)
            raise ShapeError(
                f"{with_article(self.layout).capitalize()} need{'' if self.layout == 'features' else 's'} {len(axes)} "
                f"letter{plural} ({' × '.join(axes)}) behind the arrow, received {right}.",
                field="layout",
            )
        return TensorType(axes, tuple(sizes[letter] for letter in right))

    def flops(self, *x: TensorType) -> int:
        sizes, terms = self._letters(*x), self._terms()
        if terms is None or len(terms[0]) == 1:
            return 0
        first, second, right = set(terms[0][0]), set(terms[0][1]), set(terms[1])
        if not (first & second) - right:
            return 0  # a product place by place
        counted = [sizes[letter] for letter in sizes if letter in right or letter in first & second]
        known = [size for size in counted if isinstance(size, int)]
        return 2 * math.prod(known) if len(known) == len(counted) else 0

    def lower(self, *x: TensorType) -> Lowered:
        left, _, right = self.equation.replace(" ", "").partition("->")
        batched = f"{','.join(f'B{term}' for term in left.split(','))}->B{right}"
        return function("engine.lowering.modules.arithmetic.einsum", equation=batched)

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x))

    def lengths_after(self, *x: TensorType) -> Call | None:
        terms = self._terms()
        axes = LAYOUTS[self.layout]
        if terms is None or "T" not in axes:
            return None
        letter = terms[1][axes.index("T")]
        giving = (n for n, type in enumerate(x) if type.is_open and terms[0][n][type.axes.index("T")] == letter)
        return function(f"{LENGTHS}lengths_of", port=next(giving, 0))

    def short_value(self) -> str:
        return self.equation


class Stack(_Numbered):
    """Puts its inputs one behind the other along a new axis: features become a sequence, images a volume.

        y[n, c] = xn[c], or y[c, n, h, w] = xn[c, h, w]

    All sizes are equal. The first input is the first step, or the first slice in depth.
    """

    key, label, family = "stack", "Stack", "Combination"

    def output(self, *x: TensorType) -> TensorType:
        self._refuse_mixed(x)
        if x[0].layout not in ("features", "image"):
            raise ShapeError(f"Expected features (C) or images (C × H × W), received {x[0]}.", port="in1")
        channels, *places = (self._same_size(axis, x, "All inputs of a stack have equal sizes.") for axis in x[0].axes)
        return volume(channels, self.inputs, *places) if places else sequence(self.inputs, channels)

    def lower(self, *x: TensorType) -> Lowered:
        return Call("torch.stack", "function", kwargs={"dim": min(2, x[0].rank)}, as_list=True)

    def short_value(self) -> str:
        return f"{self.inputs} inputs"
