"""Layers that multiply or compare several inputs (matrix and dot products, distances, Einstein sums), or stack them."""

import math
import re

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Float, Text
from netwright.engine.core.types import LAYOUTS, Size, Symbol, TensorType, clash, sequence, volume, with_article
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    expect_real,
    function,
    masked,
    method,
    module,
)
from netwright.engine.layers.combination import ElementWise, NumberedInputs, SeveralInputs


class MatrixProduct(SeveralInputs):
    """Multiplies two inputs as matrices: the last two axes are rows and columns. (matmul)

        y[i, j] = sum over k of a[i, k] · b[k, j]

    A sequence is a matrix of steps × channels. Each channel of an image is a matrix of height × width; sizes along
    the other axes are equal, or 1. By default the second one is transposed, which compares each step of the first with
    each step of the second: attention before its softmax.

    Inputs: (N, ..., n, m) and (N, ..., m, p), such as images (N, C, H, W) or sequences (N, T, C). Output: (N, ..., n,
    p).
    """

    key, label, family = "matrix_product", "Matrix product", "Combination"
    found_as = "matmul"
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
        for axis, size, other_size in zip(x[0].axes[:-2], x[0].sizes, x[1].sizes, strict=False):
            if 1 not in (size, other_size) and clash(size, other_size):
                raise self._clash(axis, 0, 1, x, "Sizes must be equal, or 1.")
            leading.append(other_size if size == 1 or (other_size != 1 and isinstance(size, Symbol)) else size)
        return TensorType(x[0].axes, (*leading, first[0], second[1]))

    def flops(self, *x: TensorType) -> int:
        sizes = (*self.output(*x).sizes, self._shapes(x)[0][1])
        numbers = [size for size in sizes if isinstance(size, int)]
        return 2 * math.prod(numbers) if len(numbers) == len(sizes) else 0

    def lower(self, *x: TensorType) -> Lowered:
        if not self.transpose_first and not self.transpose_second:
            return function("torch.matmul")
        arguments = {"transpose_first": self.transpose_first, "transpose_second": self.transpose_second}
        return function(
            "netwright.engine.lowering.modules.arithmetic.matrix_product", **{k: v for k, v in arguments.items() if v}
        )

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x))

    def short_value(self) -> str:
        return f"{'aᵀ' if self.transpose_first else 'a'} · {'bᵀ' if self.transpose_second else 'b'}"


class _Comparison(ElementWise):
    """One number for two vectors: they lie along an axis, which keeps size 1."""

    axis = Choice("C", options=tuple("CHWDT"), help="Axis of the vectors; its size becomes 1")

    def output(self, *x: TensorType) -> TensorType:
        result_type = super().output(*x)
        if not result_type.has(self.axis):
            axes = ", ".join(result_type.axes)
            raise ShapeError(
                f"The inputs have no axis {self.axis}: received {x[0]}. Choose one of {axes}.", field="axis"
            )
        return result_type.with_sizes(**{self.axis: 1})

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x)) if self.axis == "T" else self.lower(*x)

    def short_value(self) -> str:
        return "" if self.axis == "C" else f"along {self.axis}"


class DotProduct(_Comparison):
    """Multiplies two vectors into one number: the sum of their products, over the channels unless told otherwise.

        y = sum over c of x1[c] · x2[c]

    Where images or sequences come in, at each place by itself. Sizes are equal, or 1 where one number counts for all.

    Inputs: two equal shapes. Output: the same with size 1 along the axis, such as (N, 1) for (N, C).
    """

    key, label, family = "dot_product", "Dot product", "Combination"

    def lower(self, *x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.dot_product", x[0].dim(self.axis))


class CosineSimilarity(_Comparison):
    """Tells how alike the directions of two vectors are: 1 the same, 0 at right angles, -1 opposite.

        y = x1 · x2 / (max(|x1|, epsilon) · max(|x2|, epsilon))

    Over the channels, unless told otherwise; where images or sequences come in, at each place by itself. At the end of
    two branches that share their task it makes a Siamese network.

    Inputs: two equal shapes. Output: the same with size 1 along the axis, such as (N, 1) for (N, C).

    Source: Bromley, Guyon, LeCun, Säckinger, Shah: Signature verification using a Siamese time delay network, 1994.
    """

    key, label, family = "cosine_similarity", "Cosine similarity", "Combination"
    epsilon = Float(1e-8, above=0.0, high=1.0, help="Lower limit of the vectors' lengths, to avoid division by zero")

    def lower(self, *x: TensorType) -> Lowered:
        dim = x[0].dim(self.axis)
        arguments = {} if self.epsilon == 1e-8 else {"eps": self.epsilon}
        return module("CosineSimilarity", dim=dim, **arguments), method("unsqueeze", dim)


DISTANCES = {
    "euclidean": "The root of the summed squares",
    "squared": "The summed squares, without the root",
    "manhattan": "The summed absolute differences",
    "chebyshev": "The largest absolute difference",
}


class Distance(_Comparison):
    """Tells how far two vectors are apart, over the channels unless told otherwise. (PairwiseDistance)

        euclidean: y = √(sum of (x1[c] - x2[c])²)
        squared: y = sum of (x1[c] - x2[c])²
        manhattan: y = sum of |x1[c] - x2[c]|
        chebyshev: y = max of |x1[c] - x2[c]|

    Where images or sequences come in, at each place by itself. torch's PairwiseDistance adds 0.000001 to each
    difference; this does not.

    Inputs: two equal shapes. Output: the same with size 1 along the axis, such as (N, 1) for (N, C).
    """

    key, label, family = "distance", "Distance", "Combination"
    kind = Choice("euclidean", options=tuple(DISTANCES), notes=DISTANCES, help="Distance measure")

    def lower(self, *x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.distance", x[0].dim(self.axis), self.kind)

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
    equation = Text(
        "tc,sc->ts", help=("Letters of each input, an arrow, letters of the output; the batch axis is implied")
    )
    layout = Choice("sequence", options=tuple(LAYOUTS), help="Layout of the output, with one axis per letter")

    def _terms(self) -> tuple[list[str], str] | None:
        """The letters of each input and of the result, or None for an invalid equation."""
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
        numbers = [size for size in counted if isinstance(size, int)]
        return 2 * math.prod(numbers) if len(numbers) == len(counted) else 0

    def lower(self, *x: TensorType) -> Lowered:
        left, _, right = self.equation.replace(" ", "").partition("->")
        batched = f"{','.join(f'B{term}' for term in left.split(','))}->B{right}"
        return function("netwright.engine.lowering.modules.arithmetic.einsum", equation=batched)

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x))

    def lengths_after(self, *x: TensorType) -> Call | None:
        terms = self._terms()
        axes = LAYOUTS[self.layout]
        if terms is None or "T" not in axes:
            return None
        letter = terms[1][axes.index("T")]
        open_inputs = (n for n, type in enumerate(x) if type.is_open and terms[0][n][type.axes.index("T")] == letter)
        return function(f"{LENGTHS}lengths_of", port=next(open_inputs, 0))

    def short_value(self) -> str:
        return self.equation


class Stack(NumberedInputs):
    """Puts its inputs one behind the other along a new axis: features become a sequence, images a volume.

        y[n, c] = xn[c], or y[c, n, h, w] = xn[c, h, w]

    All sizes are equal. The first input is the first step, or the first slice in depth.

    Inputs: S equal shapes (N, C) or (N, C, H, W). Output: (N, S, C), or (N, C, S, H, W).
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
