"""Fully connected layers, and others that multiply by one learned matrix or tensor."""

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Int
from netwright.engine.core.types import Sizes, TensorType, clash, features
from netwright.engine.layers.attention import Embedding
from netwright.engine.layers.base import LENGTHS, Lowered, as_chain, expect_real, method, module, with_lengths
from netwright.engine.layers.weighted import WithWeightsAndBias


def inputs_count(x: TensorType) -> int:
    """Return the input size of the matrix: the channels of a step of a sequence, or all numbers of a sample.

    Raises `ShapeError` where a size is open.
    """
    if x.layout in ("features", "sequence"):
        return x.channels
    if x.count is None:
        raise ShapeError(f"Every size must be known to flatten the input, received {x}.", port="in")
    return x.count


class FullyConnected(WithWeightsAndBias):
    """Multiplies by a learned matrix and adds a bias: y = x Wᵀ + b.

    Images and volumes are flattened first, as in MATLAB; on a sequence it works at every step by itself. The matrix has
    a row for each output and a column for each number that comes in.

    Input: (N, C) or (N, T, C), or other shapes, flattened. Output: (N, K), or (N, T, K) for sequences, with K outputs.

    Source: Rumelhart, Hinton, Williams: Learning representations by back-propagating errors, 1986.
    """

    key, label, family = "fully_connected", "Fully connected", "Fully connected"
    matlab = "fullyConnectedLayer"
    found_as = "fc dense linear mlp"
    outputs = Int(10, low=1, help="Number of outputs")
    bias = Bool(True, help="Adds a learned bias to each output")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        inputs_count(x)
        return x.with_sizes(C=self.outputs) if x.layout == "sequence" else features(self.outputs)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        weight: dict[str, Sizes] = {"weight": (self.outputs, inputs_count(x))}
        return {**weight, "bias": (self.outputs,)} if self.bias else weight

    def flops(self, x: TensorType) -> int:
        steps = x["T"] if x.layout == "sequence" else 1
        return 2 * steps * inputs_count(x) * self.outputs if isinstance(steps, int) else 0

    def lower(self, x: TensorType) -> Lowered:
        linear = module("Linear", in_features=inputs_count(x), out_features=self.outputs, bias=self.bias)
        return linear if x.layout in ("features", "sequence") else (method("flatten", 1), linear)

    def short_value(self) -> str:
        return f"{self.outputs:,} output{'s' * (self.outputs > 1)}"


class Bilinear(WithWeightsAndBias):
    """Multiplies each pair of numbers of two inputs by learned weights and sums up: y = x1ᵀ W x2 + b.

        y[o] = sum over i and j of x1[i] · W[o, i, j] · x2[j] + b[o]

    The inputs are two vectors, of any sizes, or two sequences of equal length; then it works at every step by itself.
    It has outputs × numbers of the first × numbers of the second weights.

    Inputs: (N, A) and (N, B), or (N, T, A) and (N, T, B). Output: (N, K) or (N, T, K) with K outputs.

    Source: Tenenbaum, Freeman: Separating style and content with bilinear models, 2000.
    """

    key, label, family = "bilinear", "Bilinear", "Fully connected"
    outputs = Int(10, low=1, help="Number of outputs")
    bias = Bool(True, help="Adds a learned bias to each output")

    def input_ports(self) -> tuple[str, ...]:
        return ("in1", "in2")

    def output(self, *x: TensorType) -> TensorType:
        for port, type in zip(self.input_ports(), x, strict=True):
            expect_real(type, port)
            if type.layout not in ("features", "sequence") or type.axes != x[0].axes:
                raise ShapeError(
                    f"Expected two inputs of features (C) or two sequences (T × C); {port} has {type}.", port=port
                )
        if x[0].layout == "sequence" and clash(x[0]["T"], x[1]["T"]):
            raise ShapeError(
                f"The sequences differ in length: in1 has {x[0]}, in2 has {x[1]}. Both need the same.", port="in2"
            )
        return x[0].with_sizes(C=self.outputs) if x[0].channels and x[1].channels else x[0]

    def weights(self, *x: TensorType) -> dict[str, Sizes]:
        weight: dict[str, Sizes] = {"weight": (self.outputs, x[0].channels, x[1].channels)}
        return {**weight, "bias": (self.outputs,)} if self.bias else weight

    def flops(self, *x: TensorType) -> int:
        """First x1ᵀ W, then that with x2. torch's counter does not know this operation."""
        steps = x[0]["T"] if x[0].layout == "sequence" else 1
        return 2 * steps * self.outputs * (x[0].channels + 1) * x[1].channels if isinstance(steps, int) else 0

    def lower(self, *x: TensorType) -> Lowered:
        first, second = (type.channels for type in x)
        return module("Bilinear", in1_features=first, in2_features=second, out_features=self.outputs, bias=self.bias)

    def short_value(self) -> str:
        return f"{self.outputs:,} output{'s' * (self.outputs > 1)}"


BAGS = {
    "mean": "The mean of the vectors",
    "sum": "The sum of the vectors",
    "max": "The elementwise maximum of the vectors",
}


class EmbeddingBag(Embedding):
    """Looks up a learned vector for each index and makes one of all: what is in a sequence, not in which order.

        mean: y = (table[x[1]] + ... + table[x[n]]) / n

    A bag of words. Steps with the padding index do not count. Indices count from 0 (MATLAB's from 1).

    Input: indices (N, T). Output: (N, K) for vectors of K numbers.

    Source: Joulin, Grave, Bojanowski, Mikolov: Bag of tricks for efficient text classification, 2017.
    """

    key, label, family = "embedding_bag", "Embedding bag", "Fully connected"
    matlab = ""
    mode = Choice("mean", options=tuple(BAGS), notes=BAGS, help="Reduction of the vectors to one")

    def output(self, x: TensorType) -> TensorType:
        super().output(x)
        return features(self.dimension)

    def lower(self, *x: TensorType) -> Lowered:
        padding = {} if self.padding_index < 0 else {"padding_idx": self.padding_index}
        mode = {} if self.mode == "mean" else {"mode": self.mode}
        table = module("EmbeddingBag", num_embeddings=self.vocabulary, embedding_dim=self.dimension, **mode, **padding)
        return method("long"), table

    def lower_padded(self, *x: TensorType) -> Lowered:
        index, table = as_chain(self.lower(*x))
        return index, with_lengths(module(f"{LENGTHS}PaddedEmbeddingBag", **table.kwargs))
