"""Recurrent layers: LSTM, GRU and RNN, with gates in torch's order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift
from netwright.engine.exchange.importing.values import BATCH, ONE, NotLiftable, Sizes, Tensor, as_sizes
from netwright.engine.layers import recurrent
from netwright.engine.layers.arithmetic import Constant, LearnedParameter
from netwright.engine.layers.recurrent import BEFORE, RECURRENT_BIAS, RecurrentLayer
from netwright.engine.layers.recurrent_variants import PeepholeLstm
from netwright.engine.layers.reshape_layouts import Flip
from netwright.engine.layers.utility import Identity

LAYERS: dict[str, tuple[type[RecurrentLayer], type[RecurrentLayer]]] = {
    "LSTM": (recurrent.Lstm, recurrent.Bilstm),
    "GRU": (recurrent.Gru, recurrent.Bigru),
    "RNN": (recurrent.Rnn, recurrent.Birnn),
}
GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Gates of ONNX (input, output, forget, cell; update, reset, hidden) in torch's order."""
PEEPHOLES = (0, 2, 1)
"""Peepholes of ONNX (input, output, forget) in the order of the layer."""
STATES = {"Tanh": "tanh", "Softsign": "softsign", "Relu": "relu"}
MERGED = (0, 2, 1, 3)
"""Transposition that lays the two directions beside the numbers of each, for a Reshape to join."""


@lift(
    "LSTM", "GRU", "RNN",
    becomes=("lstm", "bilstm", "gru", "bigru", "rnn", "birnn", "peephole_lstm"),
    note="without clipping and lengths; the outputs of two directions joined",
)  # fmt: skip
def recurrent_layer(ctx: Context, node: Node) -> Values:
    """Weights are (directions, gates · hidden, inputs)."""
    is_batch_first = bool(ctx.attribute(node, "layout", 0))
    want = (BATCH, "T", "C") if is_batch_first else ("T", BATCH, "C")
    x = ctx.relayout(node, ctx.tensor(node, 0), want)
    _refuse(ctx, node, x)
    direction = ctx.attribute(node, "direction", "forward")
    both = direction == "bidirectional"
    hidden = ctx.numbers(node, 2).shape[2]
    takes_all, *takes_states = (is_used(ctx, node, number) for number in range(3))
    if both:
        _refuse_apart(ctx, node, is_batch_first=is_batch_first)
    states = _states(ctx, node)
    only_last = takes_states[0] and not takes_all and not takes_states[1] and not both
    type = ctx.make(
        _kind(ctx, node, both=both),
        hidden_units=hidden,
        output_mode="last" if only_last else "sequence",
        state_inputs=bool(states),
        state_outputs=any(takes_states) and not only_last,
        **_variant(ctx, node),
    )
    x = ctx.add(node, Flip(axis="T"), x, name="reversed") if direction == "reverse" else x
    assert isinstance(type, RecurrentLayer)
    out, *ends = ctx.add_all(node, type, x, *states, weights=_weights(ctx, node, type))
    end = (BATCH, ONE, "C") if is_batch_first else (ONE, BATCH, "C")
    if only_last:
        return None, out.viewed(end), None
    if direction == "reverse" and takes_all:
        out = ctx.add(node, Flip(axis="T"), out, name="back")
    whole = (BATCH, "T", ONE, "C") if is_batch_first else ("T", ONE, BATCH, "C")
    return out.viewed(whole), *(state.viewed(end) for state in as_outputs(ctx, node, ends))


def is_used(ctx: Context, node: Node, number: int) -> bool:
    """Return whether a node has an output of this number, and it is used."""
    return number < len(node.outputs) and ctx.is_used(node.outputs[number])


def as_outputs(ctx: Context, node: Node, ends: Sequence[Tensor], name: str = "state") -> list[Tensor]:
    """Return the values of the side ports of a layer, which are the outputs of the node from the second on: behind an
    identity where they are outputs of the graph, for such a port is no output of the network by itself."""
    leave = {output.name for output in ctx.graph.outputs}
    pairs = zip(node.outputs[1:], ends, strict=False)
    return [ctx.add(node, Identity(), end, name=name) if output in leave else end for output, end in pairs]


def _refuse(ctx: Context, node: Node, x: Tensor) -> None:
    """Refuse what no layer has: limits of the gates, and lengths, but for such of all steps."""
    if ctx.attribute(node, "clip", None) is not None or ctx.attribute(node, "input_forget", 0):
        raise NotLiftable("clips its gates, or couples them")
    lengths = as_sizes(ctx.optional(node, 4))
    steps = x.size(x.dims.index("T"))
    if len(node.inputs) > 4 and node.inputs[4] and (lengths is None or set(lengths.items) != {steps}):
        raise NotLiftable("takes the length of each sequence")


def _peepholes(ctx: Context, node: Node) -> np.ndarray | None:
    """Return the peephole weights (directions, gates · hidden), None where there are none."""
    numbers = ctx.optional_numbers(node, 7)
    return numbers if numbers is not None and np.any(numbers) else None


def _kind(ctx: Context, node: Node, *, both: bool) -> type[RecurrentLayer]:
    if _peepholes(ctx, node) is None:
        return LAYERS[node.op][both]
    if both:
        raise NotLiftable("has peepholes in two directions")
    return PeepholeLstm


def _refuse_apart(ctx: Context, node: Node, *, is_batch_first: bool) -> None:
    """Refuse two directions whose outputs are used apart: the layer gives them joined."""
    if any(is_used(ctx, node, number) for number in (1, 2)):
        raise NotLiftable("gives the states of two directions")
    users = ctx.users.get(node.outputs[0], ())
    if not is_batch_first:
        if not users or any(
            user.op != "Transpose" or tuple(user.attributes.get("perm", ())) != MERGED for user in users
        ):
            raise NotLiftable("gives the outputs of two directions apart")
        users = [after for user in users for after in ctx.users.get(user.outputs[0], ())]
    users = [user for user in users if user.op != "Shape"]
    if not users or any(user.op != "Reshape" for user in users):
        raise NotLiftable("gives the outputs of two directions apart")


def _states(ctx: Context, node: Node) -> list[Tensor]:
    """Return the initial states that are no known zeros."""
    states: dict[int, Tensor] = {}
    for number in (5, 6) if node.op == "LSTM" else (5,):
        value = ctx.optional(node, number)
        if value is None or (isinstance(value, np.ndarray) and not np.any(value)):
            continue
        if ctx.attribute(node, "direction", "forward") != "forward" or isinstance(value, Sizes):
            raise NotLiftable("has initial states that a layer does not take")
        want = (BATCH, ONE, "C") if ctx.attribute(node, "layout", 0) else (ONE, BATCH, "C")
        states[number] = (
            _known_state(ctx, node, value, want) if isinstance(value, np.ndarray) else ctx.relayout(node, value, want)
        )
    if states and node.op == "LSTM" and len(states) < 2:
        (state,) = states.values()
        zeros = ctx.make(Constant, value=0.0, layout="features", sizes=(state.type.channels,))
        states[11 - next(iter(states))] = ctx.add(node, zeros, state, name="zeros")
    return [states[number] for number in sorted(states)]


def _known_state(ctx: Context, node: Node, numbers: np.ndarray, want: tuple[str, ...]) -> Tensor:
    """Return an initial state that is known, and equal for each sample, as a layer that learns it."""
    same = ctx.for_all(numbers, want.index(BATCH))
    if same.shape[want.index(BATCH)] != 1:
        raise NotLiftable("has other initial states for each sample")
    type = ctx.make(LearnedParameter, layout="features", sizes=(same.shape[2],))
    weights = {"weight": same.reshape(-1).astype(np.float32)}
    return ctx.add(node, type, ctx.tensor(node, 0), weights=weights, dims=want, name="state")


def _variant(ctx: Context, node: Node) -> dict[str, Any]:
    """Return activations and the mode of the reset gate."""
    fields: dict[str, Any] = {}
    count = {"LSTM": 3, "GRU": 2, "RNN": 1}[node.op]
    names = ctx.attribute(node, "activations", None)
    if names and _peepholes(ctx, node) is not None and names != ["Sigmoid", "Tanh", "Tanh"]:
        raise NotLiftable(f"has peepholes and the activations {', '.join(names)}")
    for start in range(0, len(names or ()) if _peepholes(ctx, node) is None else 0, count):
        activations = names[start : start + count]
        gates, states = (activations[:1], activations[1:]) if node.op != "RNN" else ([], activations)
        if any(gate != "Sigmoid" for gate in gates) or len(set(states)) > 1 or states[0] not in STATES:
            raise NotLiftable(f"has the activations {', '.join(activations)}")
        activation = STATES[states[0]]
        if fields.setdefault("state_activation", activation) != activation:
            raise NotLiftable("has other activations backwards")
    if node.op == "GRU":
        fields["reset_gate_mode"] = RECURRENT_BIAS if ctx.attribute(node, "linear_before_reset", 0) else BEFORE
    return fields


def _weights(ctx: Context, node: Node, type: RecurrentLayer) -> dict[str, np.ndarray]:
    """Return the weights by torch's names."""
    inputs, hidden = ctx.numbers(node, 1), ctx.numbers(node, 2)
    bias = ctx.optional_numbers(node, 3)
    rows = inputs.shape[1]
    biases = np.zeros((len(inputs), 2 * rows), np.float32) if bias is None else bias
    weights: dict[str, np.ndarray] = {}
    for number, suffix in enumerate(("", "_reverse")[: len(inputs)]):
        first, second = _ordered(node, biases[number, :rows]), _ordered(node, biases[number, rows:])
        weights[f"weight_ih_l0{suffix}"] = _ordered(node, inputs[number])
        weights[f"weight_hh_l0{suffix}"] = _ordered(node, hidden[number])
        if type._has_recurrent_bias():
            weights |= {f"bias_ih_l0{suffix}": first, f"bias_hh_l0{suffix}": second}
        else:
            weights[f"bias_ih_l0{suffix}"] = first + second
    peepholes = _peepholes(ctx, node)
    if peepholes is not None:
        weights["peephole_l0"] = np.concatenate([np.split(peepholes[0], 3)[gate] for gate in PEEPHOLES])
    return weights


def _ordered(node: Node, rows: np.ndarray) -> np.ndarray:
    order = GATES[node.op]
    return np.concatenate([np.split(rows, len(order))[gate] for gate in order])
