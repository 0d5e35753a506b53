"""Fully connected layers."""

from engine.errors import MisfitError
from engine.fields import Bool, Int
from engine.layers.base import Lowered, expect_real, method, module
from engine.layers.types import Sizes, TensorType, features
from engine.layers.weighted import WithWeightsAndBias


class FullyConnected(WithWeightsAndBias):
    """Multiplies by a learned matrix and adds a bias: y = x Wᵀ + b.

    Images and volumes are flattened first, as in MATLAB; on a sequence it works at every step by itself. The matrix has
    a row for each output and a column for each number that comes in.

    Source: Rumelhart, Hinton, Williams: Learning representations by back-propagating errors, 1986.
    """

    key, label, family = "fully_connected", "Fully connected", "Fully connected"
    matlab = "fullyConnectedLayer"
    outputs = Int(10, low=1, help="Numbers that leave the layer")
    bias = Bool(True, help="Adds a learned number to each output")

    def _inputs_count(self, x: TensorType) -> int:
        if x.layout in ("features", "sequence"):
            return x.channels
        if x.count is None:
            raise MisfitError(f"Every size must be known to flatten the input, received {x}.", port="in")
        return x.count

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        self._inputs_count(x)
        return x.with_sizes(C=self.outputs) if x.layout == "sequence" else features(self.outputs)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        weight: dict[str, Sizes] = {"weight": (self.outputs, self._inputs_count(x))}
        return {**weight, "bias": (self.outputs,)} if self.bias else weight

    def flops(self, x: TensorType) -> int:
        steps = x["T"] if x.layout == "sequence" else 1
        return 2 * steps * self._inputs_count(x) * self.outputs if isinstance(steps, int) else 0

    def lower(self, x: TensorType) -> Lowered:
        linear = module("Linear", in_features=self._inputs_count(x), out_features=self.outputs, bias=self.bias)
        return linear if x.layout in ("features", "sequence") else (method("flatten", 1), linear)

    def telling(self) -> str:
        return f"{self.outputs:,} output{'s' * (self.outputs > 1)}"
