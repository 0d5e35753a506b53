"""Recurrent layers that torch has no module for: weights behind projectors, and gates that see the memory."""

from typing import Any

from netwright.engine.core.fields import Int
from netwright.engine.core.types import Sizes
from netwright.engine.layers.recurrent import (
    AFTER,
    BEFORE,
    RECURRENT_BIAS,
    RecurrentLayer,
    gate_field,
    reset_field,
    reset_of,
    state_field,
)
from netwright.engine.layers.weighted import (
    BIAS_INITIALIZERS,
    WEIGHT_INITIALIZERS,
    initializer_field,
    l2_field,
    lstm_bias_field,
    rate_field,
)


def _projector_size(noun: str, follows: str) -> Int:
    return Int(32, low=1, high=1_000_000, help=f"Columns of the {noun} projector; fewer than {follows} save parameters")


class _Projected(RecurrentLayer):
    """Weights behind projectors, as MATLAB has them."""

    output_projector = _projector_size("output", "hidden units")
    input_projector = _projector_size("input", "channels come in")
    input_projector_initializer = initializer_field(
        "input projector", "orthogonal", WEIGHT_INITIALIZERS, label="Input projector initialiser"
    )
    input_projector_learn_rate_factor = rate_field("input projector", label="Input projector rate factor")
    input_projector_l2_factor = l2_field("input projector", 1.0, label="Input projector L2 factor")
    output_projector_initializer = initializer_field(
        "output projector", "orthogonal", WEIGHT_INITIALIZERS, label="Output projector initialiser"
    )
    output_projector_learn_rate_factor = rate_field("output projector", label="Output projector rate factor")
    output_projector_l2_factor = l2_field("output projector", 1.0, label="Output projector L2 factor")
    state_activation = state_field()
    gate_activation = gate_field()

    def role(self, name: str) -> str:
        return super().role(name) if "projector" not in name else name.rpartition(".")[2].removesuffix("_l0")

    def _has_recurrent_bias(self) -> bool:
        return False

    def _weights_of_one(self, reads: int) -> dict[str, Sizes]:
        rows = self.gates * self.hidden_units
        return super()._weights_of_one(reads) | {
            "weight_ih": (rows, self.input_projector),
            "weight_hh": (rows, self.output_projector),
            "input_projector": (reads, self.input_projector),
            "output_projector": (self.hidden_units, self.output_projector),
        }

    def _projections(self) -> int:
        """Return the number of projections of the state in a step."""
        return 1

    def _flops_of_step(self, reads: int) -> int:
        projected = reads * self.input_projector + self._projections() * self.hidden_units * self.output_projector
        return 2 * (projected + self.gates * self.hidden_units * (self.input_projector + self.output_projector))

    def _variant(self) -> dict[str, Any]:
        gate = {} if self.gate_activation == "sigmoid" else {"gate_activation": self.gate_activation}
        state = {} if self.state_activation == "tanh" else {"state_activation": self.state_activation}
        bias = {} if self._has_recurrent_bias() else {"recurrent_bias": False}
        projectors = {"input_projector": self.input_projector, "output_projector": self.output_projector}
        return {**gate, **state, **bias, **projectors}


class ProjectedLstm(_Projected):
    """An LSTM with fewer parameters: input and state pass through projectors before they meet the weights.

        i, f, o = sigmoid(W Pᵀ x + R Qᵀ h' + b)
        g = tanh(W Pᵀ x + R Qᵀ h' + b)
        m = f · m' + i · g
        h = o · tanh(m)

    P is the input projector (channels × its size) and Q the output projector (hidden units × its size), each the same
    for all four gates. The output is h, with as many channels as hidden units, as MATLAB defines it: in
    place of V x it computes V P Pᵀ x, and W = V P is what is stored. That is another thing than `proj_size` of torch's
    LSTM, which makes the state itself smaller (Sak, Senior, Beaufays, 2014). The layer goes step by step and is slower
    than an LSTM on the processors it was tuned for; what it saves is memory for weights.

    Input: (N, T, C). Output: (N, T, U), or (N, U) with `last`, for U hidden units; states: (N, U).

    Source: MathWorks: lstmProjectedLayer, Deep Learning Toolbox, since R2022b.
    """

    key, label, family = "projected_lstm", "Projected LSTM", "Recurrent"
    matlab = "lstmProjectedLayer"
    state_names, loop = ("hidden", "cell"), "LstmLoop"
    bias_initializer = lstm_bias_field()


class ProjectedGru(_Projected):
    """A GRU with fewer parameters: input and state pass through projectors before they meet the weights.

        r, z = sigmoid(W Pᵀ x + b + R Qᵀ h')
        n = tanh(W Pᵀ x + b + r · (R Qᵀ h'))
        h = (1 - z) · n + z · h'

    P is the input projector (channels × its size) and Q the output projector (hidden units × its size), each the same
    for all three gates. The output is h, with as many channels as hidden units, as MATLAB defines it: in
    place of V x it computes V P Pᵀ x, and W = V P is what is stored. The reset gate has MATLAB's three modes and its
    default, in which it works after the multiplication, without a separate bias. The layer goes step by step and is
    slower than a GRU; what it saves is memory for weights.

    Input: (N, T, C). Output: (N, T, U), or (N, U) with `last`, for U hidden units; states: (N, U).

    Source: MathWorks: gruProjectedLayer, Deep Learning Toolbox, since R2023b.
    """

    key, label, family = "projected_gru", "Projected GRU", "Recurrent"
    matlab = "gruProjectedLayer"
    gates, loop = 3, "GruLoop"
    reset_gate_mode = reset_field(AFTER)

    def _has_recurrent_bias(self) -> bool:
        return self.reset_gate_mode == RECURRENT_BIAS

    def _projections(self) -> int:
        return 2 if self.reset_gate_mode == BEFORE else 1

    def _variant(self) -> dict[str, Any]:
        return {**super()._variant(), **reset_of(self.reset_gate_mode)}


class PeepholeLstm(RecurrentLayer):
    """An LSTM whose gates also see the memory, each by a learned weight for each unit.

        i = sigmoid(W x + R h' + p · m' + b)
        f = sigmoid(W x + R h' + p · m' + b)
        g = tanh(W x + R h' + b)
        m = f · m' + i · g
        o = sigmoid(W x + R h' + p · m + b)
        h = o · tanh(m)

    Each of i, f, o has separate peephole weights p, in this order; the output gate sees the new memory, the others
    that of the step before. It learns exact intervals and counts better than a plain LSTM. torch has no such layer: it
    goes step by step, which is slower.

    Input: (N, T, C). Output: (N, T, U), or (N, U) with `last`, for U hidden units; states: (N, U).

    Source: Gers, Schmidhuber: Recurrent nets that time and count, 2000.
    """

    key, label, family = "peephole_lstm", "Peephole LSTM", "Recurrent"
    matlab = "peepholeLSTMLayer"
    state_names, loop = ("hidden", "cell"), "LstmLoop"
    bias_initializer = lstm_bias_field()
    peephole_initializer = initializer_field("peepholes", "zeros", BIAS_INITIALIZERS, label="Peephole initialiser")
    peephole_learn_rate_factor = rate_field("peepholes", label="Peephole rate factor")
    peephole_l2_factor = l2_field("peepholes", 1.0, label="Peephole L2 factor")

    def role(self, name: str) -> str:
        return "peephole" if name.rpartition(".")[2].startswith("peephole") else super().role(name)

    def _has_recurrent_bias(self) -> bool:
        return False

    def _weights_of_one(self, reads: int) -> dict[str, Sizes]:
        return super()._weights_of_one(reads) | {"peephole": (3 * self.hidden_units,)}

    def _variant(self) -> dict[str, Any]:
        return {"recurrent_bias": False, "peephole": True}
