"""Layers of torch that a program of `torch.export` names: what `pt2_layers` and `pt2_attention` mark."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Node
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift
from netwright.engine.exchange.importing.lifts.recurrent_lifts import LAYERS, as_outputs, is_used
from netwright.engine.exchange.importing.values import BATCH, ONE, NotLiftable, Tensor
from netwright.engine.layers.attention import SelfAttention
from netwright.engine.layers.cross_attention import MultiheadAttention
from netwright.engine.layers.recurrent import RECURRENT_BIAS, RecurrentLayer
from netwright.engine.layers.transformers import TransformerEncoderLayer
from netwright.engine.layers.utility import Dropout

Weights = dict[str, np.ndarray]
PROJECTIONS = ("query", "key", "value", "result")


def _sequence(ctx: Context, node: Node, number: int, want: Sequence[str] | None = None) -> Tensor:
    """Return an input as a sequence, with its dimensions in torch's order."""
    if want is None:
        want = (BATCH, "T", "C") if ctx.attribute(node, "batch_first", 1) else ("T", BATCH, "C")
    return ctx.relayout(node, ctx.tensor(node, number), want)


@lift("nn.LSTM", "nn.GRU", "nn.RNN", domain=OWN_DOMAIN, becomes=("lstm", "bilstm", "gru", "bigru", "rnn", "birnn"))
def recurrent_layer(ctx: Context, node: Node) -> Values:
    """Outputs: of every step, hidden state, cell state of an LSTM, and the last output."""
    layers, directions = ctx.attribute(node, "layers"), ctx.attribute(node, "directions")
    x = _sequence(ctx, node, 0)
    states = _states(ctx, node, layers * directions)
    first = 1 + len(states)
    hidden = ctx.numbers(node, first + 1).shape[1]
    takes_all, *takes_states, takes_last = (is_used(ctx, node, number) for number in range(len(node.outputs)))
    if any(takes_states) and layers * directions > 1:
        raise NotLiftable("gives the states of several layers or directions")
    if takes_last and (takes_all or any(takes_states)):
        raise NotLiftable("gives its outputs and the last states of both directions")
    type = ctx.make(
        LAYERS[node.op.removeprefix("nn.")][directions == 2],
        hidden_units=hidden,
        layers=layers,
        output_mode="last" if takes_last else "sequence",
        state_inputs=bool(states),
        state_outputs=any(takes_states),
        **({"state_activation": "relu"} if ctx.attribute(node, "relu") else {}),
        **({"reset_gate_mode": RECURRENT_BIAS} if node.op == "nn.GRU" else {}),
    )
    assert isinstance(type, RecurrentLayer)
    out, *ends = ctx.add_all(node, type, x, *states, weights=_recurrent_weights(ctx, node, first, hidden))
    if takes_last:
        return *(None for _ in takes_states), None, out.viewed((BATCH, "C"))
    outputs: list[Tensor | None] = [end.viewed((ONE, BATCH, "C")) for end in as_outputs(ctx, node, ends)]
    outputs = outputs or [None for _ in takes_states]
    return out.viewed(x.dims), *outputs, None


def _states(ctx: Context, node: Node, count: int) -> list[Tensor]:
    """Return the initial states."""
    number = ctx.attribute(node, "states")
    if number and count > 1:
        raise NotLiftable("takes the states of several layers or directions")
    return [ctx.relayout(node, ctx.tensor(node, 1 + at), (ONE, BATCH, "C")) for at in range(number)]


def _recurrent_weights(ctx: Context, node: Node, first: int, hidden: int) -> Weights:
    """Return the weights by torch's names: layer by layer, forwards before backwards."""
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    stored_kinds = kinds if ctx.attribute(node, "biases") else kinds[:2]
    weights: Weights = {}
    for layer in range(ctx.attribute(node, "layers")):
        for suffix in ("", "_reverse")[: ctx.attribute(node, "directions")]:
            for kind in stored_kinds:
                weights[f"{kind}_l{layer}{suffix}"] = ctx.numbers(node, first)
                first += 1
            rows = len(weights[f"weight_hh_l{layer}{suffix}"])
            for kind in kinds[len(stored_kinds) :]:
                weights[f"{kind}_l{layer}{suffix}"] = np.zeros(rows, np.float32)
    return weights


# ---- attention ----


@lift("nn.MultiheadAttention", domain=OWN_DOMAIN, becomes=("self_attention", "multihead_attention"))
def attention(ctx: Context, node: Node) -> Values:
    """Inputs: query, key, value, and the weights; outputs: the sequence, and the scores."""
    query = _sequence(ctx, node, 0)
    own = len(set(node.inputs[:3])) == 1
    inputs = [query] if own else [query, *(_sequence(ctx, node, number) for number in (1, 2))]
    weights = _projections(ctx, node, 3)
    scores_mode = ctx.attribute(node, "scores", "none")
    type = ctx.make(
        SelfAttention if own else MultiheadAttention,
        heads=ctx.attribute(node, "heads"),
        mask="causal" if ctx.attribute(node, "causal") else "none",
        bias=_has_bias(ctx, node, 3),
        scores=scores_mode,
    )
    out, *scores = ctx.add_all(node, type, *inputs, weights=weights, dims=query.dims)
    if not scores:
        return out
    dims = (BATCH, "H", "W") if scores_mode == "mean" else (BATCH, "C", "H", "W")
    return out, as_outputs(ctx, node, scores, "scores")[0].viewed(dims)


def _places(ctx: Context, node: Node, first: int) -> tuple[int, int]:
    """Return the inputs from which the biases, and the weights of the result, of an attention follow: query, key and
    value have one matrix and one bias, or three of each."""
    count = 1 if ctx.attribute(node, "packed") else 3
    return first + count, first + 2 * count


def _has_bias(ctx: Context, node: Node, first: int) -> bool:
    biases, result = _places(ctx, node, first)
    return any(ctx.optional(node, number) is not None for number in (*range(biases, result), result + 1))


def _projections(ctx: Context, node: Node, first: int, *, fills: bool = False) -> Weights:
    """Return the four matrices of an attention, and their biases; `fills`: zeros where it has none."""
    biases, result = _places(ctx, node, first)
    matrices = [ctx.numbers(node, number) for number in range(first, biases)]
    matrices = np.split(matrices[0], 3) if len(matrices) == 1 else matrices
    matrices.append(ctx.numbers(node, result))
    weights = {f"{name}.weight": matrix for name, matrix in zip(PROJECTIONS, matrices, strict=True)}
    if not fills and not _has_bias(ctx, node, first):
        return weights
    stored_biases = [ctx.optional_numbers(node, number) for number in range(biases, result)]
    if stored_biases[0] is not None and len(stored_biases[0]) == sum(map(len, matrices[:3])):
        stored_biases = list(np.split(stored_biases[0], 3))
    stored_biases = [None, None, None] if len(stored_biases) == 1 else stored_biases
    parts = [*stored_biases, ctx.optional_numbers(node, result + 1)]
    rows = {
        f"{name}.bias": np.zeros(len(matrix), np.float32) if part is None else part
        for name, matrix, part in zip(PROJECTIONS, matrices, parts, strict=True)
    }
    return {**weights, **rows}


@lift("nn.TransformerEncoderLayer", domain=OWN_DOMAIN, becomes=("transformer_encoder_layer",))
def encoder_layer(ctx: Context, node: Node) -> Values:
    """Inputs: the sequence, the weights of the attention, two linear layers, two normalisations."""
    x = _sequence(ctx, node, 0)
    first = 2 + _places(ctx, node, 1)[1]
    weights = _projections(ctx, node, 1, fills=True)
    for number, name in enumerate(("expand", "reduce", "norm_1", "norm_2")):
        weight = ctx.optional_numbers(node, first + 2 * number)
        bias = ctx.optional_numbers(node, first + 2 * number + 1)
        channels = x.type.channels
        weights[f"{name}.weight"] = np.ones(channels, np.float32) if weight is None else weight
        rows = len(weights[f"{name}.weight"])
        weights[f"{name}.bias"] = np.zeros(rows, np.float32) if bias is None else bias
    type = ctx.make(
        TransformerEncoderLayer,
        heads=ctx.attribute(node, "heads"),
        feedforward=len(weights["expand.weight"]),
        mask="causal" if ctx.attribute(node, "causal") else "none",
        activation=ctx.attribute(node, "activation"),
        norm="before" if ctx.attribute(node, "norm_first") else "after",
        epsilon=_decimal(ctx.attribute(node, "epsilon")),
        dropout=_decimal(ctx.attribute(node, "dropout")),
    )
    return ctx.add(node, type, x, weights=weights, dims=x.dims)


@lift("nn.Dropout", domain=OWN_DOMAIN, becomes=("dropout",))
def dropout(ctx: Context, node: Node) -> Values:
    """Known numbers pass as they are."""
    x = ctx.held(node, 0)
    if not isinstance(x, Tensor) or x.type.kind != "real":
        return x
    return ctx.add(node, ctx.make(Dropout, probability=_decimal(ctx.attribute(node, "probability"))), x)


def _decimal(number: Any) -> float:
    """Return a number as it was written: ONNX keeps attributes in single precision."""
    return float(f"{number:.7g}")
