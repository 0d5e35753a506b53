import pytest
import torch

from engine.errors import FieldErrors, MisfitError
from engine.layers.base import LayerType
from engine.layers.types import Symbol, TensorType, features, image, sequence, tokens
from tests.builders import layer
from tests.lowered import assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, *x: TensorType) -> MisfitError:
    with pytest.raises(MisfitError) as caught:
        type.output(*x)
    return caught.value


@pytest.mark.parametrize("key", ["addition", "multiplication", "concatenation"])
def test_ports_are_numbered(key):
    assert layer(key).input_ports() == ("in1", "in2")
    assert layer(key, inputs=3).input_ports() == ("in1", "in2", "in3")
    with pytest.raises(FieldErrors, match="inputs: expected a whole number from 2 to 64, received 1"):
        layer(key, inputs=1)


@pytest.mark.parametrize("key", ["addition", "multiplication"])
@pytest.mark.parametrize("inputs", [2, 3])
def test_place_by_place(key, inputs):
    x = [torch.tensor([[2.0, 2.0]]), torch.tensor([[5.0, 7.0]]), torch.tensor([[10.0, 100.0]])][:inputs]
    wanted = torch.stack(x).sum(0) if key == "addition" else torch.stack(x).prod(0)
    result = run(layer(key, inputs=inputs), *x, x=[features(2)] * inputs)
    assert torch.equal(result, wanted)


@pytest.mark.parametrize("key", ["addition", "multiplication"])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([image(4, 5, 6), image(4, 5, 6)], image(4, 5, 6)),
        ([image(4, 1, 1), image(4, 5, 6)], image(4, 5, 6)),
        ([image(4, 5, 6), image(1, 5, 6)], image(4, 5, 6)),
        ([image(1, 5, 1), image(4, 1, 1), image(1, 1, 6)], image(4, 5, 6)),
        ([sequence(T, 3), sequence(T, 3)], sequence(T, 3)),
        ([sequence(T, 3), sequence(1, 3)], sequence(T, 3)),
        ([sequence(1, 3), sequence(T, 1)], sequence(T, 3)),
        ([sequence(T, 3), sequence(11, 3)], sequence(11, 3)),
    ],
)
def test_sizes_are_equal_or_one(key, x, expected):
    type = layer(key, inputs=len(x))
    assert type.output(*x) == expected
    assert_as_declared(type, *x)


def test_clashing_sizes_are_refused():
    error = refusal(layer("addition"), image(8, 28, 28), image(8, 14, 14))
    assert error.port == "in2"
    assert str(error) == (
        "Sizes clash along axis H: in1 has 28 (an image of 8 × 28 × 28 (C × H × W)), "
        "in2 has 14 (an image of 8 × 14 × 14 (C × H × W)). Sizes must be equal, or 1."
    )
    error = refusal(layer("multiplication", inputs=3), features(1), features(3), features(4))
    assert error.port == "in3"
    assert "in2 has 3" in str(error)
    assert "in3 has 4" in str(error)


@pytest.mark.parametrize("key", ["addition", "multiplication", "concatenation"])
def test_different_axes_and_indices_are_refused(key):
    error = refusal(layer(key), image(8, 1, 1), features(8))
    assert error.port == "in2"
    assert "The axes differ: in1 has an image of 8 × 1 × 1" in str(error)
    assert "Use a reshape layer" in str(error)
    error = refusal(layer(key), sequence(4, 2), tokens(4))
    assert error.port == "in2"
    assert "Expected real numbers" in str(error)


@pytest.mark.parametrize(
    ("axis", "x", "expected"),
    [
        ("C", [image(4, 5, 6), image(3, 5, 6)], image(7, 5, 6)),
        ("W", [image(4, 5, 6), image(4, 5, 1), image(4, 5, 2)], image(4, 5, 9)),
        ("C", [features(2), features(3)], features(5)),
        ("C", [sequence(T, 2), sequence(T, 3)], sequence(T, 5)),
        ("C", [sequence(T, 2), sequence(11, 3)], sequence(11, 5)),
        ("T", [sequence(4, 2), sequence(3, 2)], sequence(7, 2)),
        ("T", [sequence(T, 2), sequence(3, 2)], sequence(Symbol("T'"), 2)),
    ],
)
def test_concatenation(axis, x, expected):
    type = layer("concatenation", inputs=len(x), axis=axis)
    assert type.output(*x) == expected
    assert_as_declared(type, *x)


def test_concatenation_keeps_the_order():
    x = torch.tensor([[1.0]]), torch.tensor([[2.0, 3.0]])
    assert run(layer("concatenation"), *x, x=[features(1), features(2)]).tolist() == [[1, 2, 3]]


def test_what_concatenation_refuses():
    error = refusal(layer("concatenation"), image(4, 5, 6), image(4, 1, 6))
    assert error.port == "in2"
    assert "Sizes clash along axis H: in1 has 5" in str(error)
    assert "Only axis C, which is joined, may differ." in str(error)
    error = refusal(layer("concatenation", axis="T"), features(4), features(4))
    assert error.field == "axis"
    assert "The inputs have no axis T: received features of 4 (C). Choose one of C." in str(error)
