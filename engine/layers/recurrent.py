"""Recurrent layers: they go through a sequence step by step and carry a state."""

from typing import Any, ClassVar

from engine.fields import Choice, Int
from engine.layers.base import Call, Lowered, expect, function, method
from engine.layers.types import Sizes, TensorType, features
from engine.layers.weighted import WithRecurrentWeights, lstm_bias_field

OUTPUT_MODES = {
    "sequence": "What leaves at every step: a sequence",
    "last": "What leaves when all steps are read: features",
}


class _Recurrent(WithRecurrentWeights):
    """What LSTM and GRU share. `gates` is how many blocks the weights are made of, in torch's order."""

    gates: ClassVar[int] = 4
    directions: ClassVar[int] = 1
    hidden_units = Int(128, low=1, high=1_000_000, help="Numbers in the state, and numbers that leave each direction")
    output_mode = Choice("sequence", options=tuple(OUTPUT_MODES), notes=OUTPUT_MODES, help="What leaves the layer")
    layers = Int(1, low=1, high=64, help="Stacked layers, each reading what the one below gives")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        x.known("C", "the number of channels decides the size of the weights")
        channels = self.directions * self.hidden_units
        return features(channels) if self.output_mode == "last" else x.with_sizes(C=channels)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        rows = self.gates * self.hidden_units
        sizes: dict[str, Sizes] = {}
        for index in range(self.layers):
            for suffix in ("", "_reverse")[: self.directions]:
                name = f"l{index}{suffix}"
                sizes |= {
                    f"weight_ih_{name}": (rows, self._reads(x, index)),
                    f"weight_hh_{name}": (rows, self.hidden_units),
                }
                sizes |= {f"bias_ih_{name}": (rows,), f"bias_hh_{name}": (rows,)}
        return sizes

    def _reads(self, x: TensorType, index: int) -> int:
        """How many numbers a step the layer of this index in the stack reads."""
        return x.channels if index == 0 else self.directions * self.hidden_units

    def flops(self, x: TensorType) -> int:
        # By formula: torch's counter does not see inside the fused kernels that usually run here.
        steps = x["T"]
        if not isinstance(steps, int):
            return 0
        wide = sum(self._reads(x, index) + self.hidden_units for index in range(self.layers))
        return 2 * steps * self.directions * self.gates * self.hidden_units * wide

    def _call(self, x: TensorType, name: str, pick: int) -> Call:
        given: dict[str, Any] = {"input_size": x.channels, "hidden_size": self.hidden_units}
        given |= {"num_layers": self.layers} if self.layers > 1 else {}
        given |= {"batch_first": True}
        given |= {"bidirectional": True} if self.directions > 1 else {}
        return Call(f"torch.nn.{name}", kwargs=given, pick=pick)

    def telling(self) -> str:
        return f"{self.hidden_units:,} unit{'s' * (self.hidden_units > 1)}"


class Lstm(_Recurrent):
    """Long short-term memory: gates decide at each step what is kept, forgotten and shown.

        i, f, o = sigmoid(W x + b + R h' + c)
        g = tanh(W x + b + R h' + c)
        m = f · m' + i · g
        h = o · tanh(m)

    Each of i, f, g, o has rows of its own in the weights, in this order, as in torch and MATLAB; h' and m' are the
    state before the step, zero at the start. There are two biases, b and c, where MATLAB has one: their sum counts.
    With `last` it gives h after the last step.

    Source: Hochreiter, Schmidhuber: Long short-term memory, 1997; forget gate: Gers, Schmidhuber, Cummins: Learning to
    forget, 2000.
    """

    key, label, family = "lstm", "LSTM", "Recurrent"
    matlab = "lstmLayer"
    bias_initializer = lstm_bias_field()

    def lower(self, x: TensorType) -> Lowered:
        lstm = self._call(x, "LSTM", pick=0)
        return lstm if self.output_mode == "sequence" else (lstm, method("select", 1, -1))


class Bilstm(_Recurrent):
    """Two LSTMs that read the sequence forwards and backwards; their outputs stand side by side.

        y[t] = (forward h[t], backward h[t])

    With `last` each gives its state after it has read everything: the forward one at the last step, the backward one at
    the first. Twice as many channels as hidden units leave the layer.

    Source: Schuster, Paliwal: Bidirectional recurrent neural networks, 1997; Graves, Schmidhuber: Framewise phoneme
    classification with bidirectional LSTM, 2005.
    """

    key, label, family, directions = "bilstm", "Bidirectional LSTM", "Recurrent", 2
    matlab = "bilstmLayer"
    bias_initializer = lstm_bias_field()

    def lower(self, x: TensorType) -> Lowered:
        if self.output_mode == "sequence":
            return self._call(x, "LSTM", pick=0)
        # (h, c), then h: (layers × directions, batch, hidden); the last two are the top layer's directions
        states = function("operator.getitem", 0), method("narrow", 0, 2 * self.layers - 2, 2)
        return self._call(x, "LSTM", pick=1), *states, method("transpose", 0, 1), method("flatten", 1)


class Gru(_Recurrent):
    """Gated recurrent unit: like an LSTM with two gates and no separate memory.

        r, z = sigmoid(W x + b + R h' + c)
        n = tanh(W x + b + r · (R h' + c))
        h = (1 - z) · n + z · h'

    Each of r, z, n has rows of its own in the weights, in this order; h' is the state before the step. The reset gate r
    works after the multiplication, on a bias of its own: MATLAB's ResetGateMode `recurrent-bias-after-multiplication`,
    not its default. With `last` it gives h after the last step.

    Source: Cho et al.: Learning phrase representations using RNN encoder-decoder for statistical machine translation,
    2014.
    """

    key, label, family, gates = "gru", "GRU", "Recurrent", 3
    matlab = "gruLayer"

    def lower(self, x: TensorType) -> Lowered:
        gru = self._call(x, "GRU", pick=0)
        return gru if self.output_mode == "sequence" else (gru, method("select", 1, -1))
