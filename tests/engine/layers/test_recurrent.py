import math

import pytest
import torch

from engine.errors import MisfitError
from engine.layers.types import Symbol, features, image, sequence, tokens
from tests.builders import layer
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
    with pytest.raises(MisfitError, match="Expected a sequence") as caught:
        layer(key).output(image(1, 8, 8))
    assert caught.value.port == "in"
    with pytest.raises(MisfitError, match="Expected a sequence"):
        layer(key).output(tokens(8))
    with pytest.raises(MisfitError, match="decides the size of the weights"):
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
    assert layer("lstm", hidden_units=1).telling() == "1 unit"
    assert layer("gru").telling() == "128 units"
