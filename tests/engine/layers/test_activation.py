import math
from collections.abc import Callable

import pytest
import torch

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.network.catalog import catalog
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run

ANY = [features(6), sequence(Symbol("T"), 6), image(6, 5, 4), volume(6, 2, 3, 4)]
ELEMENTWISE: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(0.0, x),
    "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
    "prelu": lambda x: x if x > 0 else 0.25 * x,
    "elu": lambda x: x if x > 0 else math.expm1(x),
    "selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
    "celu": lambda x: x if x > 0 else math.expm1(x),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "swish": lambda x: x / (1 + math.exp(-x)),
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "softplus": lambda x: math.log1p(math.exp(x)),
    "clipped_relu": lambda x: min(max(0.0, x), 6.0),
    "hardsigmoid": lambda x: min(max(0.0, x / 6 + 0.5), 1.0),
    "hardswish": lambda x: x * min(max(0.0, x / 6 + 0.5), 1.0),
    "hardtanh": lambda x: min(max(-1.0, x), 1.0),
    "rrelu": lambda x: x if x > 0 else x * (1 / 8 + 1 / 3) / 2,
    "squared_relu": lambda x: max(0.0, x) ** 2,
    "threshold": lambda x: x if x > 0 else 0.0,
    "log_sigmoid": lambda x: -math.log1p(math.exp(-x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanhshrink": lambda x: x - math.tanh(x),
    "hardshrink": lambda x: x if abs(x) > 0.5 else 0.0,
    "softshrink": lambda x: math.copysign(max(0.0, abs(x) - 0.5), x),
}
GATED = ["glu", "swiglu", "geglu"]
OVER_CHANNELS = ["softmax", "log_softmax", "softmin", *GATED]


def test_every_activation_is_tested_here():
    assert {key for key, type in catalog().items() if type.family == "Activation"} == {*ELEMENTWISE, *OVER_CHANNELS}


@pytest.mark.parametrize("key", ELEMENTWISE)
def test_the_formula(key):
    x = torch.tensor([[-4.0, -1.0, -0.25, 0.5, 2.0, 7.0]])
    expected = [ELEMENTWISE[key](value) for value in x.flatten().tolist()]
    assert run(layer(key), x, x=[features(6)]).flatten().tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("key", ELEMENTWISE)
@pytest.mark.parametrize("x", ANY, ids=str)
def test_sizes_stay(key, x):
    assert layer(key).output(x) == x
    assert_as_declared(layer(key), x)


@pytest.mark.parametrize("key", [*ELEMENTWISE, *OVER_CHANNELS])
def test_indices_are_refused(key):
    with pytest.raises(ShapeError, match="Expected real numbers, received tokens of 5") as caught:
        layer(key).output(tokens(5))
    assert caught.value.port == "in"
    assert "embedding" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "values", "x", "expected"),
    [
        ("leaky_relu", {"scale": 0.5}, -2.0, -1.0),
        ("prelu", {"alpha": 0.5, "per_channel": False}, -2.0, -1.0),
        ("elu", {"alpha": 3.0}, -1.0, 3 * math.expm1(-1)),
        ("celu", {"alpha": 2.0}, -1.0, 2 * math.expm1(-0.5)),
        ("clipped_relu", {"ceiling": 1.5}, 2.0, 1.5),
        ("hardtanh", {"low": 0.5, "high": 3.0}, -2.0, 0.5),
        ("rrelu", {"lower_slope": 0.5, "upper_slope": 1.0}, -2.0, -1.5),
        ("threshold", {"threshold": 2.0, "value": 9.0}, 2.0, 9.0),
        ("hardshrink", {"threshold": 3.0}, -2.0, 0.0),
        ("softshrink", {"threshold": 1.5}, -2.0, -0.5),
        ("gelu", {"approximation": "tanh"}, 1.0, 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * 1.044715))),
    ],
)
def test_values_count(key, values, x, expected):
    assert run(layer(key, **values), torch.tensor([[x]]), x=[features(1)]).item() == pytest.approx(expected, abs=1e-6)


def test_a_slope_for_each_channel_or_one_for_all():
    x = sequence(Symbol("T"), 6)
    assert layer("prelu").weights(x) == {"weight": (6,)}
    assert layer("prelu", per_channel=False).weights(x) == {"weight": (1,)}
    assert_as_declared(layer("prelu", per_channel=False), x)
    with pytest.raises(ShapeError, match="decides the size of the weights"):
        layer("prelu").output(features(Symbol("C")))


@pytest.mark.parametrize("x", ANY, ids=str)
def test_softmax_is_over_the_channels(x):
    torch.manual_seed(0)
    data = torch.randn(2, *(size if isinstance(size, int) else 7 for size in x.sizes))
    result = run(layer("softmax"), data, x=[x])
    torch.testing.assert_close(result.sum(x.dim("C")), torch.ones(result.sum(x.dim("C")).shape))
    torch.testing.assert_close(run(layer("log_softmax"), data, x=[x]), result.log())
    torch.testing.assert_close(run(layer("softmin"), -data, x=[x]), result)


def test_softmax_needs_channels():
    with pytest.raises(ShapeError, match="Expected an input with channels"):
        layer("softmax").output(TensorType(("T",), (5,)))


@pytest.mark.parametrize("key", GATED)
def test_a_gate_halves_the_channels(key):
    assert layer(key).output(image(6, 5, 4)) == image(3, 5, 4)
    assert layer(key).output(sequence(Symbol("T"), 6)) == sequence(Symbol("T"), 3)
    assert_as_declared(layer(key), sequence(4, 6))
    with pytest.raises(ShapeError, match="Expected an even number of channels to halve, received features of 5"):
        layer(key).output(features(5))


def test_which_half_is_the_gate():
    x = torch.tensor([[3.0, 0.0]])
    assert run(layer("glu"), x, x=[features(2)]).item() == 1.5
    assert run(layer("swiglu"), x.flip(1) + 1, x=[features(2)]).item() == pytest.approx(4 / (1 + math.exp(-1)))
    assert run(layer("geglu"), x.flip(1) + 2, x=[features(2)]).item() == pytest.approx(2 * ELEMENTWISE["gelu"](5))


def test_random_slopes_are_drawn_in_training_only():
    torch.manual_seed(0)
    slopes = Lowered(layer("rrelu"), features(1000)).train()(-torch.ones(1, 1000)).neg()
    assert slopes.min() >= 1 / 8
    assert slopes.max() <= 1 / 3
    assert slopes.std() > 0.03
    assert layer("rrelu").random


@pytest.mark.parametrize(
    ("key", "values", "field"),
    [
        ("hardtanh", {"low": 1.0, "high": 1.0}, "high"),
        ("rrelu", {"lower_slope": 0.5}, "upper_slope"),
    ],
)
def test_limits_in_the_wrong_order(key, values, field):
    with pytest.raises(ShapeError, match="must") as caught:
        layer(key, **values).output(features(3))
    assert caught.value.field == field


def test_limits_of_fields():
    with pytest.raises(FieldErrors, match="ceiling: expected a number above 0"):
        layer("clipped_relu", ceiling=0)
