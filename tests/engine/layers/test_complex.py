import cmath

import pytest
import torch

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence
from netwright.engine.exchange.onnx_export import refuse_network
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.complex import GIVES
from tests.builders import chain, layer
from tests.lowered import Lowered, assert_as_declared, run

T = Symbol("T")
NUMBERS = [1 + 2j, -1 + 2j, -1 - 2j, 3 - 4j, 0j, 2 + 0j]


def complex_type(*sizes: int | Symbol, axes: str = "C") -> TensorType:
    return TensorType(tuple(axes), sizes, "complex")


ANY = [complex_type(4), complex_type(4, 3, 2, axes="CHW"), complex_type(T, 4, axes="TC")]


def of(type: LayerType, numbers: list[complex]) -> list[complex]:
    """What a layer makes of these complex features."""
    result = run(type, torch.tensor([numbers], dtype=torch.complex64), x=[complex_type(len(numbers))])
    found: list[complex] = result[0].tolist()
    return found


@pytest.mark.parametrize(
    ("key", "function"),
    [
        ("complex_relu", lambda z: complex(max(0.0, z.real), max(0.0, z.imag))),
        ("z_relu", lambda z: z if z.real >= 0 and z.imag >= 0 else 0),
        ("complex_cardioid", lambda z: 0.5 * (1 + cmath.cos(cmath.phase(z)).real) * z),
        ("mod_relu", lambda z: z),
    ],
)
def test_activations_of_complex_numbers(key, function):
    assert of(layer(key), NUMBERS) == pytest.approx([function(z) for z in NUMBERS], rel=1e-5, abs=1e-6)
    for x in ANY:
        assert layer(key).output(x) == x
        assert_as_declared(layer(key), x)


def test_mod_relu_cuts_small_numbers_and_keeps_the_phase():
    type = layer("mod_relu")
    lowered = Lowered(type, complex_type(2))
    with torch.no_grad():
        lowered.made[0].bias.copy_(torch.tensor([-2.0, 1.0]))
        found = lowered(torch.tensor([[1j, 3 - 4j], [3 + 4j, 0j]]))
    assert found[0].tolist() == pytest.approx([0j, (3 - 4j) * 6 / 5])
    assert found[1].tolist() == pytest.approx([(3 + 4j) * 3 / 5, 0j])


def test_parts_of_complex_numbers():
    given = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    interleaved, halves = layer("real_to_complex"), layer("real_to_complex", order="halves")
    assert run(interleaved, given, x=[features(4)])[0].tolist() == [1 + 2j, 3 + 4j]
    assert run(halves, given, x=[features(4)])[0].tolist() == [1 + 3j, 2 + 4j]
    for type in (interleaved, halves):
        for x in (features(4), image(4, 3, 2), sequence(T, 4)):
            assert type.output(x).kind == "complex"
            assert_as_declared(type, x)
    numbers = [3 + 4j, -2j]
    made = {gives: of(layer("complex_to_real", gives=gives), numbers) for gives in GIVES}
    assert made["interleaved"] == [3, 4, 0, -2]
    assert made["halves"] == [3, 0, 4, -2]
    assert made["magnitude"] == pytest.approx([5, 2])
    assert made["power"] == pytest.approx([25, 4])
    assert made["phase"] == pytest.approx([cmath.phase(z) for z in numbers])
    assert made["real"] == [3, 0]
    for gives in made:
        for x in ANY:
            assert_as_declared(layer("complex_to_real", gives=gives), x)


@pytest.mark.parametrize("order", ["interleaved", "halves"])
def test_there_and_back_gives_the_same_numbers(order):
    x = sequence(5, 6)
    given = torch.randn(2, 5, 6)
    there = run(layer("real_to_complex", order=order), given, x=[x])
    back = run(layer("complex_to_real", gives=order), there, x=[complex_type(5, 3, axes="TC")])
    assert torch.equal(back, given)


def test_complex_fully_connected_is_the_product_of_complex_matrices():
    type = layer("complex_fully_connected", outputs=3)
    lowered = Lowered(type, complex_type(4))
    linear = lowered.made[0]
    with torch.no_grad():
        linear.bias.normal_()
        given = torch.randn(2, 4, dtype=torch.complex64)
        weight, bias = torch.view_as_complex(linear.weight), torch.view_as_complex(linear.bias)
        expected = torch.stack([sum(weight[:, j] * row[j] for j in range(4)) + bias for row in given])
        torch.testing.assert_close(lowered(given), expected)
    for x in ANY:
        assert_as_declared(type, x)
        assert_as_declared(type.replace(bias=False), x)
    assert type.output(ANY[1]) == complex_type(3)
    assert type.short_value() == "3 outputs"


@pytest.mark.parametrize(
    ("type", "x", "words"),
    [
        (layer("complex_relu"), features(3), "Expected complex numbers, received features of 3"),
        (layer("complex_fully_connected"), image(1, 2, 2), "real-to-complex layer"),
        (layer("complex_fully_connected"), complex_type(2, T, 3, axes="CHW"), "Every size must be known"),
        (layer("complex_to_real"), features(3), "real-to-complex"),
        (layer("complex_to_real"), complex_type(3, 0, axes="TC"), "at least one number"),
        (layer("complex_to_real"), complex_type(3, axes="H"), "with channels"),
        (layer("real_to_complex"), features(3), "even number of channels"),
        (layer("fully_connected"), complex_type(3), "complex-to-real layer"),
    ],
)
def test_what_does_not_fit_is_said_in_words(type, x, words):
    with pytest.raises(ShapeError, match=words):
        type.output(x)


def test_a_complex_layer_is_refused_by_name_before_an_export():
    network = chain(layer("feature_input", channels=4), layer("real_to_complex"), layer("complex_to_real"))
    with pytest.raises(UserError, match="'real_to_complex_1' cannot be exported to ONNX: ONNX has no complex numbers"):
        refuse_network(network)
