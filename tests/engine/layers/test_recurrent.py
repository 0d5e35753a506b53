import math
from typing import Any

import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, features, image, sequence, tokens
from netwright.engine.layers.base import Call
from netwright.engine.layers.recurrent import AFTER, RECURRENT_BIAS, RecurrentLayer
from netwright.engine.lowering.initialization import initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes, resolve
from netwright.engine.lowering.print_source import source as write_source
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network, Port
from tests.builders import add, chain, layer
from tests.lowered import Lowered, assert_as_declared, run

T = Symbol("T")
KEYS = ["lstm", "bilstm", "gru"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("mode", ["sequence", "last"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("steps", [7, T])
def test_sizes_and_learnables(key, mode, layers, steps):
    type = layer(key, hidden_units=5, output_mode=mode, layers=layers)
    channels = 10 if key == "bilstm" else 5
    assert type.output(sequence(steps, 3)) == (features(channels) if mode == "last" else sequence(steps, channels))
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):  # else torch's counter does not see the products
        assert_as_declared(type, sequence(steps, 3))


def test_learnables_and_work_by_hand():
    x = sequence(10, 3)
    assert layer("lstm", hidden_units=5).weights(x) == {
        "weight_ih_l0": (20, 3),
        "weight_hh_l0": (20, 5),
        "bias_ih_l0": (20,),
        "bias_hh_l0": (20,),
    }
    assert layer("gru", hidden_units=5).weights(x)["weight_ih_l0"] == (15, 3)
    assert layer("bilstm", hidden_units=5, layers=2).weights(x)["weight_ih_l1_reverse"] == (20, 10)
    assert layer("lstm", hidden_units=5).flops(x) == 2 * 10 * 20 * (3 + 5)
    assert layer("bilstm", hidden_units=5, layers=2).flops(x) == 2 * 2 * 10 * 20 * (8 + 15)
    assert layer("gru", hidden_units=5).flops(sequence(T, 3)) == 0


@pytest.mark.parametrize("key", ["lstm", "gru"])
@pytest.mark.parametrize("layers", [1, 2])
def test_last_is_the_last_step(key, layers):
    every, last = (Lowered(layer(key, layers=layers, output_mode=m), sequence(T, 3)) for m in ("sequence", "last"))
    last.load_state_dict(every.state_dict())
    x = torch.rand(2, 6, 3)
    assert torch.equal(last(x), every(x)[:, -1])


@pytest.mark.parametrize("layers", [1, 2])
def test_both_directions_have_read_everything_at_last(layers):
    kinds = (layer("bilstm", hidden_units=4, layers=layers, output_mode=mode) for mode in ("sequence", "last"))
    every, last = (Lowered(kind, sequence(T, 3)) for kind in kinds)
    last.load_state_dict(every.state_dict())
    x = torch.rand(2, 6, 3)
    torch.testing.assert_close(last(x), torch.cat([every(x)[:, -1, :4], every(x)[:, 0, 4:]], 1))


def test_an_lstm_step_by_hand():
    module = Lowered(layer("lstm", hidden_units=1), sequence(1, 1))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.made[0].bias_ih_l0.copy_(torch.tensor([1.0, 0.0, 2.0, 3.0]))  # input, forget, cell, output
        value = module(torch.zeros(1, 1, 1)).item()
    sigmoid = [1 / (1 + math.exp(-x)) for x in (1, 3)]
    assert value == pytest.approx(sigmoid[1] * math.tanh(sigmoid[0] * math.tanh(2)))


@pytest.mark.parametrize("key", KEYS)
def test_what_is_refused(key):
    with pytest.raises(ShapeError, match="Expected a sequence") as caught:
        layer(key).output(image(1, 8, 8))
    assert caught.value.port == "in"
    with pytest.raises(ShapeError, match="Expected a sequence"):
        layer(key).output(tokens(8))
    with pytest.raises(ShapeError, match="decides the size of the weights"):
        layer(key).output(sequence(8, Symbol("C")))


def test_a_gru_keeps_its_state_while_the_update_gate_is_closed():
    module = Lowered(layer("gru", hidden_units=1), sequence(T, 1))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.made[0].bias_ih_l0.copy_(torch.tensor([0.0, 40.0, 1.0]))  # reset, update, new
    assert run(layer("gru"), torch.rand(2, 3, 1), x=[sequence(3, 1)]).abs().sum() > 0
    assert module(torch.rand(1, 5, 1)).abs().sum() == 0


def test_what_is_told_on_the_canvas():
    assert layer("lstm", hidden_units=1).short_value() == "1 unit"
    assert layer("gru").short_value() == "128 units"


NEW = ["rnn", "birnn", "bigru", "projected_lstm", "projected_gru", "peephole_lstm"]
ALL = [*KEYS, *NEW]


def given_weights(module):
    """Random weights, so that no part of the formula is idle."""
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.7)
    return dict(module.made[0].named_parameters())


def hard_sigmoid(x):
    return (0.2 * x + 0.5).clip(0, 1)  # MATLAB's; torch's own is x / 6 + 0.5


@pytest.mark.parametrize("key", NEW)
@pytest.mark.parametrize("mode", ["sequence", "last"])
def test_sizes_and_learnables_of_the_others(key, mode):
    type = layer(key, hidden_units=5, output_mode=mode)
    channels = 10 if key.startswith("bi") else 5
    assert type.output(sequence(T, 3)) == (features(channels) if mode == "last" else sequence(T, channels))
    assert_as_declared(type, sequence(7, 3))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(
    "mode", ["after-multiplication", "before-multiplication", "recurrent-bias-after-multiplication"]
)
@pytest.mark.parametrize("gate", ["sigmoid", "hard-sigmoid"])
def test_the_reset_gates_of_a_gru_by_definition(mode, gate, layers):
    size = 4
    kind = layer("gru", hidden_units=size, reset_gate_mode=mode, gate_activation=gate, layers=layers)
    module = Lowered(kind, sequence(T, 3))
    w = given_weights(module)
    assert kind.weights(sequence(T, 3)) == module.shapes()
    sigmoid = torch.sigmoid if gate == "sigmoid" else hard_sigmoid
    x = torch.randn(2, 6, 3)
    below = x
    for index in range(layers):
        W, R, b = w[f"weight_ih_l{index}"], w[f"weight_hh_l{index}"], w[f"bias_ih_l{index}"]
        c = w.get(f"bias_hh_l{index}", torch.zeros(3 * size))
        assert (f"bias_hh_l{index}" in w) == (mode.startswith("recurrent"))
        h, rows = torch.zeros(2, size), []
        for t in range(6):
            in_r, in_z, in_n = (below[:, t] @ W.T + b).split(size, 1)
            r = sigmoid(in_r + h @ R[:size].T + c[:size])
            z = sigmoid(in_z + h @ R[size : 2 * size].T + c[size : 2 * size])
            last, bias = R[2 * size :], c[2 * size :]
            inner = (r * h) @ last.T if mode.startswith("before") else r * (h @ last.T + bias)
            h = (1 - z) * torch.tanh(in_n + inner) + z * h
            rows.append(h)
        below = torch.stack(rows, 1)
    torch.testing.assert_close(module(x), below)


def lstm_by_definition(x, w, *, gate=torch.sigmoid, state=torch.tanh, peephole=False, projected=False):
    """h at each step, and m at the end, written out from the formulas in the help."""
    W, R, b = w["weight_ih_l0"], w["weight_hh_l0"], w["bias_ih_l0"] + w.get("bias_hh_l0", 0)
    if projected:
        W, R = W @ w["input_projector_l0"].T, R @ w["output_projector_l0"].T
    size = R.shape[1]
    p_i, p_f, p_o = w["peephole_l0"].split(size) if peephole else (torch.zeros(size),) * 3
    h, m, rows = torch.zeros(len(x), size), torch.zeros(len(x), size), []
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ W.T + h @ R.T + b).split(size, 1)
        before = m
        m = gate(f + p_f * before) * before + gate(i + p_i * before) * state(g)
        h = gate(o + p_o * m) * state(m)
        rows.append(h)
    return torch.stack(rows, 1), m


@pytest.mark.parametrize("state", ["tanh", "softsign", "relu"])
@pytest.mark.parametrize("gate", ["sigmoid", "hard-sigmoid"])
def test_activations_of_an_lstm_by_definition(state, gate):
    module = Lowered(layer("lstm", hidden_units=4, state_activation=state, gate_activation=gate), sequence(T, 3))
    w = given_weights(module)
    functions = {"tanh": torch.tanh, "softsign": torch.nn.functional.softsign, "relu": torch.relu}
    x = torch.randn(2, 6, 3)
    wanted = lstm_by_definition(x, w, gate=torch.sigmoid if gate == "sigmoid" else hard_sigmoid, state=functions[state])
    torch.testing.assert_close(module(x), wanted[0])


def test_the_output_gate_sees_the_new_memory_through_its_peephole():
    module = Lowered(layer("peephole_lstm", hidden_units=4), sequence(T, 3))
    w = given_weights(module)
    x = torch.randn(2, 6, 3)
    torch.testing.assert_close(module(x), lstm_by_definition(x, w, peephole=True)[0])
    assert not torch.allclose(module(x), lstm_by_definition(x, w)[0])


def test_a_projected_lstm_is_an_lstm_with_weights_that_are_products():
    kind = layer("projected_lstm", hidden_units=4, input_projector=2, output_projector=3)
    module = Lowered(kind, sequence(T, 5))
    w = given_weights(module)
    x = torch.randn(2, 6, 5)
    torch.testing.assert_close(module(x), lstm_by_definition(x, w, projected=True)[0])
    sizes = {name: tuple(value.shape) for name, value in w.items()}
    assert sizes == {  # MATLAB's, whose output keeps all hidden units: torch's proj_size would make them three
        "weight_ih_l0": (16, 2),
        "weight_hh_l0": (16, 3),
        "bias_ih_l0": (16,),
        "input_projector_l0": (5, 2),
        "output_projector_l0": (4, 3),
    }


@pytest.mark.parametrize("mode", ["after-multiplication", "before-multiplication"])
def test_a_projected_gru_is_a_gru_with_weights_that_are_products(mode):
    given = {"hidden_units": 4, "reset_gate_mode": mode}
    projected = Lowered(layer("projected_gru", input_projector=2, output_projector=3, **given), sequence(T, 5))
    w = given_weights(projected)
    plain = Lowered(layer("gru", **given), sequence(T, 5))
    part = plain.made[0]
    with torch.no_grad():
        part.weight_ih_l0.copy_(w["weight_ih_l0"] @ w["input_projector_l0"].T)
        part.weight_hh_l0.copy_(w["weight_hh_l0"] @ w["output_projector_l0"].T)
        part.bias_ih_l0.copy_(w["bias_ih_l0"])
    x = torch.randn(2, 6, 5)
    torch.testing.assert_close(projected(x), plain(x))


def recurrent(key, **values) -> RecurrentLayer:
    type = layer(key, **values)
    assert isinstance(type, RecurrentLayer)
    return type


VARIANTS: list[tuple[str, dict[str, Any]]] = [(key, {}) for key in ALL]
VARIANTS += [("lstm", {"gate_activation": "hard-sigmoid"}), ("bigru", {"reset_gate_mode": "before-multiplication"})]
VARIANTS += [("bilstm", {"layers": 2}), ("bigru", {"layers": 2}), ("rnn", {"layers": 2, "state_activation": "relu"})]


@pytest.mark.parametrize(("key", "values"), VARIANTS)
def test_a_state_that_leaves_and_enters_again_goes_on(key, values):
    kind = recurrent(key, hidden_units=4, state_inputs=True, state_outputs=True, **values)
    plain = layer(key, hidden_units=4, **values)
    size = features(kind.state_size)
    types = [sequence(T, 3), *(size for _ in kind.state_names)]
    assert kind.input_ports() == ("in", *kind.state_names)
    assert kind.output_ports() == ("out", *kind.state_names)
    assert kind.side_ports() == kind.state_names
    assert kind.output_types(*types)[1:] == (size,) * len(kind.state_names)
    assert kind.weights(*types) == plain.weights(types[0])
    stateful, whole = Lowered(kind, *types), Lowered(plain, types[0])
    given_weights(stateful)
    whole.load_state_dict(stateful.state_dict())
    x = torch.randn(2, 7, 3)
    start = [torch.zeros(2, kind.state_size) for _ in kind.state_names]
    full, *ends = stateful(x, *start)
    torch.testing.assert_close(full, whole(x))
    assert all(end.shape == (2, kind.state_size) for end in ends)
    if kind.directions == 1:
        first, *between = stateful(x[:, :4], *start)
        second, *after = stateful(x[:, 4:], *between)
        torch.testing.assert_close(torch.cat([first, second], 1), full)
        torch.testing.assert_close(after, ends)


@pytest.mark.parametrize(("key", "values"), VARIANTS)
@pytest.mark.parametrize("mode", ["sequence", "last"])
def test_a_padded_sequence_gives_what_it_gives_alone(key, values, mode):
    kind = layer(key, hidden_units=4, output_mode=mode, state_outputs=True, **values)
    call = kind.lower_padded(sequence(T, 3))
    assert isinstance(call, Call)
    assert call.lengths == "before"
    module = resolve(call.target)(**call.kwargs)
    x, ends = torch.randn(3, 7, 3), (7, 4, 1)
    y, *states = module(x, lengths=torch.tensor(ends))
    for number, end in enumerate(ends):
        alone, *wanted = module(x[number : number + 1, :end])
        torch.testing.assert_close(y[number][:end] if mode == "sequence" else y[number], alone[0])
        for state, one in zip(states, wanted, strict=True):
            torch.testing.assert_close(state[number], one[0])


def test_last_of_both_directions_of_the_loops():
    given = {"hidden_units": 4, "gate_activation": "hard-sigmoid", "layers": 2}
    every, last = (Lowered(layer("bilstm", output_mode=m, **given), sequence(T, 3)) for m in ("sequence", "last"))
    last.load_state_dict(every.state_dict())
    x = torch.rand(2, 6, 3)
    torch.testing.assert_close(last(x), torch.cat([every(x)[:, -1, :4], every(x)[:, 0, 4:]], 1))


def test_a_state_of_another_size_is_refused():
    kind = layer("lstm", hidden_units=4, state_inputs=True)
    with pytest.raises(
        ShapeError, match=r"Expected a state: features of 4 \(C\), received features of 5 \(C\)"
    ) as caught:
        kind.output(sequence(T, 3), features(4), features(5))
    assert caught.value.port == "cell"


def test_the_reset_mode_is_torchs_unless_a_layer_is_matlabs_own():
    modes = {key: layer(key).fields["reset_gate_mode"] for key in ("gru", "bigru", "projected_gru")}
    assert [field.default for field in modes.values()] == [RECURRENT_BIAS, RECURRENT_BIAS, AFTER]


def started(kind):
    """The initial values of a layer's parameters."""
    network = chain(layer("sequence_input", channels=5, normalization="none"), kind)
    analysis = analyse(network)
    module = build(network, analysis)
    options = parameter_options(module, prefixes(network, analysis), lambda id: network.layers[id].type)
    initialize(module, 0, options)
    return {name.partition(".")[2]: value for name, value in module.state_dict().items()}


def test_each_parameter_starts_as_its_role_says():
    gru = started(layer("gru", hidden_units=4, gate_activation="hard-sigmoid", bias_initializer="ones"))
    sizes = {"hidden_units": 4, "input_projector": 2, "output_projector": 3}
    projected = started(layer("projected_lstm", input_projector_initializer="ones", **sizes))
    peephole = started(layer("peephole_lstm", hidden_units=4, peephole_initializer="ones"))
    assert (gru["bias_ih_l0"] == 1).all()
    assert (gru["bias_hh_l0"] == 1).all()
    assert (projected["input_projector_l0"] == 1).all()
    columns = projected["output_projector_l0"]
    torch.testing.assert_close(columns.T @ columns, torch.eye(3))
    assert projected["bias_ih_l0"].tolist() == [0] * 4 + [1] * 4 + [0] * 8
    assert (peephole["peephole_l0"] == 1).all()


@pytest.mark.parametrize("key", ["lstm", "peephole_lstm"])
def test_a_decoder_starts_from_the_state_of_an_encoder(key):
    network = Network.empty()
    network, source = add(network, layer("sequence_input", channels=3, normalization="none"), name="read")
    network, target = add(network, layer("sequence_input", channels=2, normalization="none"), name="write")
    network, encoder = add(network, layer(key, hidden_units=4, state_outputs=True), source, name="encoder")
    network, decoder = edits.add_layer(network, layer(key, hidden_units=4, state_inputs=True), "decoder")
    for port_from, port_to in (("hidden", "hidden"), ("cell", "cell")):
        network = edits.connect(network, Port(encoder.id, port_from), Port(decoder.id, port_to))
    network = edits.connect(network, Port(target.id, "out"), Port(decoder.id, "in"))
    analysis = analyse(network)
    module = build(network, analysis)
    x, y = torch.randn(2, 6, 3), torch.randn(2, 5, 2)
    encoded, decoded = module(x, y)
    assert encoded.shape == (2, 6, 4)
    assert not torch.allclose(decoded, module(torch.randn(2, 6, 3), y)[1])
    names: dict[str, Any] = {"__name__": "printed"}
    exec(compile(write_source(network, analysis, title="t"), "printed.py", "exec"), names)
    printed = names["Network"]()
    printed.load_state_dict(module.state_dict())
    torch.testing.assert_close(printed(x, y), (encoded, decoded), rtol=0, atol=0)
