import math

import pytest
import torch

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run

T = Symbol("T")
ANY = [features(6), sequence(T, 6), image(6, 5, 4), volume(6, 2, 3, 4)]


def refusal(type: LayerType, *x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(*x)
    return caught.value


def of(type: LayerType, *values: float) -> list[float]:
    """What a layer makes of these features."""
    found: list[float] = run(type, torch.tensor([values]), x=[features(len(values))])[0].tolist()
    return found


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("exp", [math.exp(-1.5), 1, math.exp(2.5)]),
        ("log", [math.log(1e-12), math.log(1e-12), math.log(2.5)]),
        ("sqrt", [1e-6, 1e-6, math.sqrt(2.5)]),
        ("abs", [1.5, 0, 2.5]),
        ("negate", [1.5, 0, -2.5]),
        ("sin", [math.sin(-1.5), 0, math.sin(2.5)]),
        ("cos", [math.cos(-1.5), 1, math.cos(2.5)]),
        ("sign", [-1, 0, 1]),
        ("floor", [-2, 0, 2]),
        ("round", [-2, 0, 2]),
    ],
)
def test_math_functions(function, expected):
    type = layer("math_function", function=function)
    assert of(type, -1.5, 0.0, 2.5) == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert type.short_value() == function
    for x in ANY:
        assert type.output(x) == x
        assert_as_declared(type, x)


def test_the_smallest_number_of_a_logarithm():
    type = layer("math_function", function="log", epsilon=0.5)
    assert of(type, -3.0) == pytest.approx([math.log(0.5)])
    assert type.is_visible("epsilon")
    assert not layer("math_function").is_visible("epsilon")


@pytest.mark.parametrize(
    ("values", "x", "expected"),
    [
        ({}, -3.0, 9),
        ({"exponent": 3}, -2.0, -8),
        ({"exponent": -1}, -4.0, -0.25),
        ({"exponent": 0.5}, 9.0, 3),
        ({"exponent": 0.5, "epsilon": 0.25}, -9.0, 0.5),
        ({"exponent": 0}, -9.0, 1),
    ],
)
def test_powers(values, x, expected):
    assert of(layer("power", **values), x) == pytest.approx([expected])
    assert layer("power", exponent=-1).short_value() == "x^-1"


def test_scaling_is_fixed():
    assert of(layer("scaling", scale=2, shift=1), -1.0, 0.5) == [-1, 2]
    assert of(layer("scaling", scale=2), -1.0) == [-2]
    assert of(layer("scaling", shift=3), -1.0) == [2]
    assert of(layer("scaling"), -1.0) == [-1]
    assert layer("scaling", scale=2, shift=-1).short_value() == "2 · x -1"
    assert_as_declared(layer("scaling", scale=2, shift=-1), image(2, 3, 4))


@pytest.mark.parametrize("x", ANY, ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_a_learned_scale(x, bias):
    type = layer("learned_scale", bias=bias)
    assert type.output(x) == x
    assert type.weights(x) == ({"weight": (6,), "bias": (6,)} if bias else {"weight": (6,)})
    assert_as_declared(type, x)
    module = Lowered(type, x)
    with torch.no_grad():
        module.made[0].weight.copy_(torch.arange(6.0))
    result = module(torch.ones(2, *(size if isinstance(size, int) else 7 for size in x.sizes)))
    assert result.movedim(x.dim("C"), 0).flatten(1)[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_every_pair_of_numbers():
    assert of(layer("quadratic"), 1.0, 2.0, 3.0) == [1, 2, 3, 4, 6, 9]
    assert layer("quadratic").output(sequence(T, 4)) == sequence(T, 10)
    assert_as_declared(layer("quadratic"), sequence(5, 4))
    error = refusal(layer("quadratic"), features(2000))
    assert "2,000 numbers have 2,001,000 products: expected at most 1,000 numbers." in str(error)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("mean", 1.5),
        ("sum", 6),
        ("max", 4),
        ("min", -1),
        ("norm", math.sqrt(1 + 0 + 9 + 16)),
        ("variance", (2.5**2 + 1.5**2 + 1.5**2 + 2.5**2) / 4),
        ("logsumexp", math.log(math.exp(-1) + 1 + math.exp(3) + math.exp(4))),
    ],
)
def test_one_number_of_many(function, expected):
    type = layer("reduction", function=function)
    data = torch.tensor([-1.0, 0.0, 3.0, 4.0])
    assert run(type, data.view(1, 1, 2, 2), x=[image(1, 2, 2)]).tolist() == [[pytest.approx(expected)]]
    kept = layer("reduction", function=function, over="C", keep=True)
    assert run(kept, data.view(1, 4), x=[features(4)]).tolist() == [[pytest.approx(expected)]]
    assert_as_declared(type, volume(2, 3, 4, 5))
    assert_as_declared(kept, sequence(T, 6))


@pytest.mark.parametrize(
    ("over", "keep", "x", "expected"),
    [
        ("places", False, image(3, 4, 5), features(3)),
        ("places", True, image(3, 4, 5), image(3, 1, 1)),
        ("places", False, volume(3, 4, 5, 6), features(3)),
        ("places", False, sequence(T, 5), features(5)),
        ("T", True, sequence(T, 5), sequence(1, 5)),
        ("D", False, volume(3, 4, 5, 6), image(3, 5, 6)),
        ("C", True, volume(3, 4, 5, 6), volume(1, 4, 5, 6)),
        ("W", True, image(3, 4, 5), image(3, 4, 1)),
    ],
)
def test_what_is_left_of_an_axis(over, keep, x, expected):
    type = layer("reduction", over=over, keep=keep)
    assert type.output(x) == expected
    assert_as_declared(type, x)


@pytest.mark.parametrize(
    ("over", "x", "field", "words"),
    [
        ("places", features(3), "over", "Expected an input with places, received features of 3"),
        ("T", image(3, 4, 5), "over", "The input has no axis T: .* Choose one of C, H, W"),
        ("W", image(3, 4, 5), "keep", "What is left has axes C × H, which no layer takes: .* Keep the axis"),
        ("C", features(3), "keep", "No axis is left"),
    ],
)
def test_what_a_reduction_refuses(over, x, field, words):
    error = refusal(layer("reduction", over=over), x)
    assert error.field == field
    with pytest.raises(ShapeError, match=words):
        raise error


def test_sums_so_far():
    data = torch.tensor([[[1.0], [2.0], [-4.0]]])
    assert run(layer("cumulative_sum"), data, x=[sequence(3, 1)]).flatten().tolist() == [1, 3, -1]
    assert_as_declared(layer("cumulative_sum", axis="W"), image(2, 3, 4))
    assert refusal(layer("cumulative_sum"), features(3)).field == "axis"


def test_which_channel_is_largest():
    data = torch.tensor([[[1.0, 3.0, 2.0], [5.0, 0.0, 1.0]]])
    assert run(layer("arg_max"), data, x=[sequence(2, 3)]).tolist() == [[1, 0]]
    assert layer("arg_max").output(sequence(T, 3)) == tokens(T)
    assert layer("arg_max").output(image(3, 4, 5)) == TensorType(("C", "H", "W"), (1, 4, 5), "index")
    assert_as_declared(layer("arg_max"), image(3, 4, 5))
    assert layer("embedding").output(layer("arg_max").output(sequence(4, 3))) == sequence(4, 64)


@pytest.mark.parametrize("x", [*ANY, tokens(4)], ids=str)
def test_numbers_that_do_not_come_from_the_data(x):
    constant = layer("constant", layout="sequence", sizes=[3, 4], value=2.5)
    assert constant.output(x) == sequence(3, 4)
    assert_as_declared(constant, x)
    learned = layer("learned_parameter", layout="image", sizes=[3, 1, 2])
    assert learned.output(x) == image(3, 1, 2)
    assert learned.weights(x) == {"weight": (3, 1, 2)}
    assert_as_declared(learned, x)
    data = torch.zeros(5, *(size if isinstance(size, int) else 7 for size in x.sizes))
    assert torch.equal(run(constant, data, x=[x]), torch.full((5, 3, 4), 2.5))


def test_every_sample_gets_the_learned_numbers_and_teaches_them():
    module = Lowered(layer("learned_parameter", sizes=[3]), features(2))
    result = module(torch.zeros(4, 2))
    assert result.shape == (4, 3)
    result.sum().backward()
    assert module.made[0].weight.grad.tolist() == [4, 4, 4]


def test_sizes_that_are_not_those_of_the_layout():
    error = refusal(layer("constant", layout="image", sizes=[3]), features(2))
    assert error.field == "sizes"
    assert "An image needs 3 sizes (C × H × W), received 3." in str(error)
    with pytest.raises(FieldErrors, match="sizes: expected"):
        layer("constant", sizes=[0])
