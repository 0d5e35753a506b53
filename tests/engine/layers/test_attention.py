import math

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


def test_embedding():
    type = layer("embedding", vocabulary=10, dimension=4)
    assert type.output(tokens(T)) == sequence(T, 4)
    assert type.output(tokens(6)) == sequence(6, 4)
    assert_as_declared(type, tokens(T))
    assert_as_declared(layer("embedding", vocabulary=10, dimension=4, padding_index=9), tokens(6))


def test_embedding_looks_up_whole_numbers_that_come_as_floats():
    module = Lowered(layer("embedding", vocabulary=3, dimension=2, padding_index=1), tokens(T))
    result = module(torch.tensor([[2.0, 1.0]]))
    assert torch.equal(result[0, 0], module.made[0].weight[2])
    assert result[0, 1].tolist() == [0, 0]


def test_what_embedding_refuses():
    error = refusal(layer("embedding"), sequence(4, 2))
    assert error.port == "in"
    assert "Expected tokens: a sequence of indices (T), received a sequence of 4 × 2 (T × C)." in str(error)
    assert "content of the sequence input" in str(error)
    assert refusal(layer("embedding"), TensorType(("T",), (4,))).port == "in"
    error = refusal(layer("embedding", vocabulary=5, padding_index=5), tokens(4))
    assert error.field == "padding_index"
    assert "expected at most 4, received 5" in str(error)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"key_channels": 12},
        {"mask": "causal"},
        {"heads": 1, "bias": False},
        {"value_channels": 20, "outputs": 3},
    ],
)
@pytest.mark.parametrize("steps", [1, 7, T])
def test_self_attention_is_as_declared(values, steps):
    type = layer("self_attention", **values)
    assert type.output(sequence(steps, 8)) == sequence(steps, values.get("outputs", 8))
    assert_as_declared(type, sequence(steps, 8))


def test_work_of_self_attention_by_hand():
    # projections of 5 steps from 8 to 12 channels and back, then 5 × 5 products of 12 channels, twice
    assert layer("self_attention", key_channels=12).flops(sequence(5, 8)) == 2 * (4 * 5 * 8 * 12 + 2 * 5 * 5 * 12)
    assert layer("self_attention").flops(sequence(T, 8)) == 0


def test_self_attention_is_torchs():
    torch.manual_seed(0)
    ours = Lowered(layer("self_attention", heads=2), sequence(T, 8))
    theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    part = ours.made[0]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.query.weight, part.key.weight, part.value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([part.query.bias, part.key.bias, part.value.bias]))
        theirs.out_proj.weight.copy_(part.result.weight)
        theirs.out_proj.bias.copy_(part.result.bias)
    x = torch.randn(3, 5, 8)
    torch.testing.assert_close(ours(x), theirs(x, x, x)[0])


def test_a_causal_step_sees_nothing_later():
    module = Lowered(layer("self_attention", mask="causal"), sequence(T, 8))
    x = torch.rand(1, 6, 8)
    later = x.clone()
    later[:, 4:] += 1
    torch.testing.assert_close(module(x)[:, :4], module(later)[:, :4], rtol=0, atol=1e-6)
    assert (module(x)[:, 4] - module(later)[:, 4]).abs().max() > 1e-3


def test_attention_drops_weights_only_in_training():
    module = Lowered(layer("self_attention", dropout=0.9), sequence(T, 8))
    x = torch.rand(1, 6, 8)
    assert not torch.equal(module.train()(x), module(x))
    assert torch.equal(module.eval()(x), module(x))


def test_what_self_attention_refuses():
    assert "Expected a sequence" in str(refusal(layer("self_attention"), features(8)))
    error = refusal(layer("self_attention", heads=3), sequence(T, 8))
    assert error.field == "heads"
    assert "The 8 key channels cannot be divided among 3 heads" in str(error)
    assert refusal(layer("self_attention", heads=3, key_channels=8), sequence(T, 6)).field == "key_channels"
    assert "decides the size" in str(refusal(layer("self_attention"), sequence(4, Symbol("C"))))


def test_position_embedding_adds_one_vector_a_position():
    type = layer("position_embedding", positions=9)
    assert type.output(sequence(T, 4)) == sequence(T, 4)
    assert_as_declared(type, sequence(T, 4), steps=9)
    assert_as_declared(type, sequence(9, 4))
    module = Lowered(type, sequence(T, 4))
    assert torch.equal(module(torch.zeros(2, 3, 4))[1], module.made[0].table.weight[:3])
    error = refusal(type, sequence(10, 4))
    assert error.field == "positions"
    assert "The sequence has 10 steps, but only 9 positions have a vector. Use at least 10" in str(error)


@pytest.mark.parametrize("channels", [1, 4, 5])
def test_sinusoidal_positions_by_hand(channels):
    type = layer("sinusoidal_position")
    assert_as_declared(type, sequence(T, channels))
    result = run(type, torch.zeros(1, 3, channels), x=[sequence(3, channels)])[0]
    for step in range(3):
        for channel in range(channels):
            angle = step / 10000 ** (channel // 2 * 2 / channels)
            wanted = math.cos(angle) if channel % 2 else math.sin(angle)
            assert result[step, channel].item() == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("key", ["position_embedding", "sinusoidal_position"])
def test_positions_may_give_their_vectors_alone(key):
    x = torch.randn(2, 5, 6)
    alone, added = (Lowered(layer(key, alone=value), sequence(T, 6)) for value in (True, False))
    added.load_state_dict(alone.state_dict())
    torch.testing.assert_close(alone(x), added(torch.zeros(2, 5, 6)))
    kind = layer(key, alone=True, dimension=4)
    assert kind.output(sequence(T, 6)) == sequence(T, 4)
    assert_as_declared(kind, sequence(T, 6))
    assert layer(key, dimension=4).output(sequence(T, 6)) == sequence(T, 6)


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        (features(1), features(6)),
        (sequence(T, 1), sequence(T, 6)),
        (tokens(T), sequence(T, 6)),
        (image(1, 3, 4), image(6, 3, 4)),
    ],
)
def test_a_value_may_be_the_position(x, wanted):
    type = layer("sinusoidal_position", positions="data-values", dimension=6)
    assert type.output(x) == wanted
    assert_as_declared(type, x)


def test_positions_of_values_by_hand():
    type = layer("sinusoidal_position", positions="data-values", dimension=5)
    values = torch.tensor([[[0.0, 2.5], [-3.0, 700.0]]])
    result = run(type, values.unsqueeze(0), x=[image(1, 2, 2)])[0]
    for row in range(2):
        for column in range(2):
            for channel in range(5):
                angle = values[0, row, column].item() / 10000 ** (channel // 2 * 2 / 5)
                wanted = math.cos(angle) if channel % 2 else math.sin(angle)
                assert result[channel, row, column].item() == pytest.approx(wanted, abs=1e-4)


def test_what_positions_of_values_refuse():
    type = layer("sinusoidal_position", positions="data-values")
    assert type.output(features(1)) == features(64)
    assert "one channel that holds the position, received features of 3" in str(refusal(type, features(3)))
    assert type.is_visible("dimension")
    assert not type.is_visible("alone")
