"""Recurrent layers: they go through a sequence step by step and carry a state."""

from typing import Any, ClassVar

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Int
from netwright.engine.core.types import Sizes, TensorType, features
from netwright.engine.layers.base import LENGTHS, Call, Lowered, expect, function, method, module, with_lengths
from netwright.engine.layers.weighted import WithRecurrentWeights, lstm_bias_field

OUTPUT_MODES = {
    "sequence": "The output of every step, a sequence",
    "last": "The output after the last step, features",
}
STATE_ACTIVATIONS = {
    "tanh": "Hyperbolic tangent, from -1 to 1",
    "softsign": "x / (1 + |x|), from -1 to 1",
    "relu": "max(0, x), which leaves the state unbounded",
}
GATE_ACTIVATIONS = {
    "sigmoid": "1 / (1 + exp(-x))",
    "hard-sigmoid": "0.2 x + 0.5, cut at 0 and 1 (torch's own hard sigmoid rises by 1/6)",
}
AFTER, BEFORE, RECURRENT_BIAS = "after-multiplication", "before-multiplication", "recurrent-bias-after-multiplication"
RESET_MODES = {
    AFTER: "n = tanh(W x + b + r · (R h')): MATLAB's default",
    BEFORE: "n = tanh(W x + b + R (r · h')): as the GRU was published first",
    RECURRENT_BIAS: "n = tanh(W x + b + r · (R h' + c)), with a bias c of its own: torch's GRU",
}
LOOPS = "netwright.engine.lowering.modules.recurrent."


def state_field(default: str = "tanh") -> Choice:
    """The function that makes the state."""
    return Choice(
        default, options=tuple(STATE_ACTIVATIONS), notes=STATE_ACTIVATIONS, help="Activation function of the state"
    )


def gate_field() -> Choice:
    """The function that opens the gates."""
    return Choice(
        "sigmoid", options=tuple(GATE_ACTIVATIONS), notes=GATE_ACTIVATIONS, help="Activation function of the gates"
    )


def reset_field(default: str) -> Choice:
    """The place of the reset gate of a GRU, by MATLAB's names."""
    return Choice(default, options=tuple(RESET_MODES), notes=RESET_MODES, help="What the reset gate works on")


class RecurrentLayer(WithRecurrentWeights):
    """Base of recurrent layers. `gates` is the number of gates in the rows of the weights, in torch's order."""

    gates: ClassVar[int] = 4
    directions: ClassVar[int] = 1
    state_names: ClassVar[tuple[str, ...]] = ("hidden",)
    loop: ClassVar[str] = ""
    """Our own module, which goes step by step."""
    hidden_units = Int(128, low=1, high=1_000_000, help="Size of the hidden state, and of the output of each direction")
    output_mode = Choice("sequence", options=tuple(OUTPUT_MODES), notes=OUTPUT_MODES, help="Output of the layer")
    state_inputs = Bool(False, help="Adds input ports for the initial state, which is zero otherwise")
    state_outputs = Bool(False, help="Adds output ports for the state after the last step")

    @property
    def stacked(self) -> int:
        """Layers that stand on each other in this one."""
        return 1

    @property
    def state_size(self) -> int:
        """Numbers in the state of all layers and directions: layer by layer, forwards before backwards."""
        return self.stacked * self.directions * self.hidden_units

    def input_ports(self) -> tuple[str, ...]:
        return ("in", *self.state_names) if self.state_inputs else ("in",)

    def output_ports(self) -> tuple[str, ...]:
        return ("out", *self.state_names) if self.state_outputs else ("out",)

    def side_ports(self) -> tuple[str, ...]:
        return self.state_names if self.state_outputs else ()

    def output(self, x: TensorType, *states: TensorType) -> TensorType:
        expect(x, "sequence")
        x.known("C", "the number of channels decides the size of the weights")
        for port, state in zip(self.state_names, states, strict=False):
            if state.kind != "real" or state != features(self.state_size):
                raise ShapeError(
                    f"Expected a state: {features(self.state_size)}, received {state}. It is what the port "
                    f"'{port}' of a layer like this one gives.",
                    port=port,
                )
        channels = self.directions * self.hidden_units
        return features(channels) if self.output_mode == "last" else x.with_sizes(C=channels)

    def output_types(self, x: TensorType, *states: TensorType) -> tuple[TensorType, ...]:
        names = self.state_names if self.state_outputs else ()
        return (self.output(x, *states), *(features(self.state_size) for _ in names))

    def weights(self, x: TensorType, *states: TensorType) -> dict[str, Sizes]:
        sizes: dict[str, Sizes] = {}
        for index in range(self.stacked):
            for suffix in ("", "_reverse")[: self.directions]:
                of_one = self._weights_of_one(self._reads(x, index))
                sizes |= {f"{name}_l{index}{suffix}": size for name, size in of_one.items()}
        return sizes

    def _weights_of_one(self, reads: int) -> dict[str, Sizes]:
        """The learnables of one layer in one direction, for this input size."""
        rows = self.gates * self.hidden_units
        sizes = {"weight_ih": (rows, reads), "weight_hh": (rows, self.hidden_units), "bias_ih": (rows,)}
        return sizes | ({"bias_hh": (rows,)} if self._has_recurrent_bias() else {})

    def _has_recurrent_bias(self) -> bool:
        return True

    def _reads(self, x: TensorType, index: int) -> int:
        """The input size of the layer of this index in the stack."""
        return x.channels if index == 0 else self.directions * self.hidden_units

    def flops(self, x: TensorType, *states: TensorType) -> int:
        # By formula: torch's counter does not see inside the fused kernels that usually run here.
        steps = x["T"]
        if not isinstance(steps, int):
            return 0
        of_one = (self._flops_of_step(self._reads(x, index)) for index in range(self.stacked))
        return steps * self.directions * sum(of_one)

    def _flops_of_step(self, reads: int) -> int:
        return 2 * self.gates * self.hidden_units * (reads + self.hidden_units)

    def _given(self, x: TensorType) -> dict[str, Any]:
        """The arguments of torch's module and of ours alike."""
        arguments: dict[str, Any] = {"input_size": x.channels, "hidden_size": self.hidden_units}
        arguments |= {"num_layers": self.stacked} if self.stacked > 1 else {}
        return arguments | ({"bidirectional": True} if self.directions > 1 else {})

    def _leaving(self) -> dict[str, Any]:
        """Return the arguments of our modules for their outputs."""
        last = {"last": True} if self.output_mode == "last" else {}
        return last | ({"states": True} if self.state_outputs else {})

    def _has_states(self) -> bool:
        return self.state_inputs or self.state_outputs

    def _own(self, x: TensorType) -> Call:
        """The call of a module of ours."""
        return module(f"{LOOPS}{self.loop}", **self._given(x), **self._variant(), **self._leaving())

    def _variant(self) -> dict[str, Any]:
        """Return the arguments of our module that torch's does not have."""
        return {}

    def lower(self, x: TensorType, *states: TensorType) -> Lowered:
        return self._own(x)

    def lower_padded(self, x: TensorType, *states: TensorType) -> Lowered:
        if not x.is_open or (self.directions == 1 and self.output_mode == "sequence" and not self.state_outputs):
            return self.lower(x, *states)
        return with_lengths(self._own(x))

    def short_value(self) -> str:
        return f"{self.hidden_units:,} unit{'s' * (self.hidden_units > 1)}"


class _Stacked(RecurrentLayer):
    """Layers that torch has modules for, which may stand on each other."""

    torch_name: ClassVar[str] = ""
    layers = Int(1, low=1, high=64, help="Number of stacked layers, each of which reads the output of the one below")

    @property
    def stacked(self) -> int:
        return self.layers

    def _is_torchs(self) -> bool:
        """Whether torch's module does it."""
        return True

    def _torch_variant(self) -> dict[str, Any]:
        """Further arguments of torch's module."""
        return {}

    def _own(self, x: TensorType) -> Call:
        if not self._is_torchs():
            return super()._own(x)
        arguments = {**self._given(x), **self._torch_variant(), **self._leaving()}
        return module(f"{LOOPS}Stateful{self.torch_name.capitalize()}", **arguments)

    def lower(self, x: TensorType, *states: TensorType) -> Lowered:
        if self._has_states() or not self._is_torchs():
            return self._own(x)
        arguments = {**self._given(x), **self._torch_variant()}
        return self._calls(Call(f"torch.nn.{self.torch_name}", kwargs={**arguments, "batch_first": True}, pick=0))

    def lower_padded(self, x: TensorType, *states: TensorType) -> Lowered:
        if self._has_states() or not self._is_torchs() or not x.is_open:
            return super().lower_padded(x, *states)
        plain = self.lower(x)
        if self.directions == 1:  # what comes behind the end changes nothing before it
            return plain if isinstance(plain, Call) else (plain[0], with_lengths(function(f"{LENGTHS}step_from_end")))
        arguments = {**self._given(x), **self._torch_variant(), "batch_first": True, **self._leaving()}
        return with_lengths(module(f"{LENGTHS}Padded{self.torch_name.capitalize()}", **arguments))

    def _calls(self, call: Call) -> Lowered:
        """Return the call of torch's module, and the calls that select the output from its results."""
        if self.output_mode == "sequence":
            return call
        if self.directions == 1:
            return call, method("select", 1, -1)
        # (output, state), then the state: (layers × directions, batch, hidden), whose last two are the top layer's; an
        # LSTM has its hidden state beside another
        states = [] if len(self.state_names) == 1 else [function("operator.getitem", 0)]
        states += [method("narrow", 0, 2 * self.layers - 2, 2), method("transpose", 0, 1), method("flatten", 1)]
        return Call(call.target, kwargs=call.kwargs, pick=1), *states


class _WithActivations(_Stacked):
    """Gates, whose activations may be others than torch has."""

    state_activation = state_field()
    gate_activation = gate_field()

    def _is_torchs(self) -> bool:
        return self.state_activation == "tanh" and self.gate_activation == "sigmoid"

    def _variant(self) -> dict[str, Any]:
        gate = {} if self.gate_activation == "sigmoid" else {"gate_activation": self.gate_activation}
        return gate | ({} if self.state_activation == "tanh" else {"state_activation": self.state_activation})


class _Lstm(_WithActivations):
    """Of one direction or both."""

    state_names, loop, torch_name = ("hidden", "cell"), "LstmLoop", "LSTM"
    bias_initializer = lstm_bias_field()


class _Gru(_WithActivations):
    """Of one direction or both."""

    gates, loop, torch_name = 3, "GruLoop", "GRU"
    reset_gate_mode = reset_field(RECURRENT_BIAS)

    def _has_recurrent_bias(self) -> bool:
        return self.reset_gate_mode == RECURRENT_BIAS

    def _is_torchs(self) -> bool:
        return super()._is_torchs() and self.reset_gate_mode == RECURRENT_BIAS

    def _variant(self) -> dict[str, Any]:
        return {**super()._variant(), **reset_of(self.reset_gate_mode)}


def reset_of(mode: str) -> dict[str, Any]:
    """Return the argument of our GRU module for its reset gate."""
    if mode == RECURRENT_BIAS:
        return {}
    return {"recurrent_bias": False} | ({"reset_first": True} if mode == BEFORE else {})


class Lstm(_Lstm):
    """Long short-term memory: gates decide at each step what is kept, forgotten and shown.

        i, f, o = sigmoid(W x + b + R h' + c)
        g = tanh(W x + b + R h' + c)
        m = f · m' + i · g
        h = o · tanh(m)

    Each of i, f, g, o has separate rows in the weights, in this order, as in torch and MATLAB; h' and m' are the
    state before the step, zero at the start. There are two biases, b and c, where MATLAB has one: their sum counts,
    and both learn; with the training option `convention` at `matlab` b alone does. With `last` it gives h after the
    last step.

    The state has separate input and output ports, `hidden` (h) and `cell` (m). Of stacked layers the states lie
    side by side, that of the first layer first. Other activations than tanh and sigmoid are slower: they go step by
    step.

    Input: (N, T, C). Output: (N, T, U), or (N, U) with `last`, for U hidden units; states: (N, L U) for L layers.

    Source: Hochreiter, Schmidhuber: Long short-term memory, 1997; forget gate: Gers, Schmidhuber, Cummins: Learning to
    forget, 2000.
    """

    key, label, family = "lstm", "LSTM", "Recurrent"
    matlab = "lstmLayer"


class Bilstm(_Lstm):
    """Two LSTMs that read the sequence forwards and backwards; their outputs are concatenated.

        y[t] = (forward h[t], backward h[t])

    With `last` each gives its state after it has read everything: the forward one at the last step, the backward one at
    the first. The output has twice as many channels as hidden units, and its states (ports `hidden` and `cell`) are
    twice as long: forwards, then backwards, layer by layer.

    Input: (N, T, C). Output: (N, T, 2 U), or (N, 2 U) with `last`, for U hidden units; states: (N, 2 L U) for L layers.

    Source: Schuster, Paliwal: Bidirectional recurrent neural networks, 1997; Graves, Schmidhuber: Framewise phoneme
    classification with bidirectional LSTM, 2005.
    """

    key, label, family, directions = "bilstm", "Bidirectional LSTM", "Recurrent", 2
    matlab = "bilstmLayer"


class Gru(_Gru):
    """Gated recurrent unit: like an LSTM with two gates and no separate memory.

        r, z = sigmoid(W x + b + R h' + c)
        n = tanh(W x + b + r · (R h' + c))
        h = (1 - z) · n + z · h'

    Each of r, z, n has separate rows in the weights, in this order; h' is the state before the step. The reset gate r
    works after the multiplication, on a separate bias, as in torch: MATLAB's ResetGateMode
    `recurrent-bias-after-multiplication`, which is not its default. The other two modes have one bias, b, and are
    slower: they go step by step, as other activations do. With `last` it gives h after the last step.

    Input: (N, T, C). Output: (N, T, U), or (N, U) with `last`, for U hidden units; states: (N, L U) for L layers.

    Source: Cho et al.: Learning phrase representations using RNN encoder-decoder for statistical machine translation,
    2014.
    """

    key, label, family = "gru", "GRU", "Recurrent"
    matlab = "gruLayer"


class Bigru(_Gru):
    """Two GRUs that read the sequence forwards and backwards; their outputs are concatenated.

        y[t] = (forward h[t], backward h[t])

    Each is a GRU as the layer of that name. With `last` each gives its state after it has read everything: the forward
    one at the last step, the backward one at the first. The output has twice as many channels as hidden units.

    Input: (N, T, C). Output: (N, T, 2 U), or (N, 2 U) with `last`, for U hidden units; states: (N, 2 L U) for L layers.

    Source: Schuster, Paliwal: Bidirectional recurrent neural networks, 1997; Cho et al.: Learning phrase
    representations using RNN encoder-decoder for statistical machine translation, 2014.
    """

    key, label, family, directions = "bigru", "Bidirectional GRU", "Recurrent", 2


NONLINEARITIES = {"tanh": STATE_ACTIVATIONS["tanh"], "relu": STATE_ACTIVATIONS["relu"]}


class _Rnn(_Stacked):
    """Of one direction or both."""

    gates, torch_name = 1, "RNN"
    state_activation = Choice(
        "tanh", options=tuple(NONLINEARITIES), notes=NONLINEARITIES, help="Activation function of the state"
    )

    def _torch_variant(self) -> dict[str, Any]:
        return {} if self.state_activation == "tanh" else {"nonlinearity": self.state_activation}


class Rnn(_Rnn):
    """The plain recurrent layer of Elman: each step mixes its input with the previous state.

        h = tanh(W x + b + R h' + c)

    h' is the state before the step, zero at the start; only the sum of the biases b and c counts. It forgets soon: an
    LSTM or a GRU keeps for longer. With `last` it gives h after the last step.

    Input: (N, T, C). Output: (N, T, U), or (N, U) with `last`, for U hidden units; states: (N, L U) for L layers.

    Source: Elman: Finding structure in time, 1990; with ReLU: Le, Jaitly, Hinton: A simple way to initialize recurrent
    networks of rectified linear units, 2015.
    """

    key, label, family = "rnn", "RNN", "Recurrent"


class Birnn(_Rnn):
    """Two plain recurrent layers that read the sequence forwards and backwards; their outputs are concatenated.

        y[t] = (forward h[t], backward h[t])

    With `last` each gives its state after it has read everything: the forward one at the last step, the backward one at
    the first. The output has twice as many channels as hidden units.

    Input: (N, T, C). Output: (N, T, 2 U), or (N, 2 U) with `last`, for U hidden units; states: (N, 2 L U) for L layers.

    Source: Schuster, Paliwal: Bidirectional recurrent neural networks, 1997.
    """

    key, label, family, directions = "birnn", "Bidirectional RNN", "Recurrent", 2
