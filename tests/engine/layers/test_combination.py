import math

import pytest
import torch

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, *x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
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


VALUES = torch.tensor([[6.0, -2.0, 0.5]]), torch.tensor([[3.0, 4.0, -0.25]]), torch.tensor([[0.0, 1.0, 8.0]])


@pytest.mark.parametrize(
    ("key", "inputs", "expected"),
    [
        ("subtraction", 2, [3, -6, 0.75]),
        ("division", 2, [2, -0.5, -2]),
        ("maximum", 2, [6, 4, 0.5]),
        ("maximum", 3, [6, 4, 8]),
        ("minimum", 2, [3, -2, -0.25]),
        ("minimum", 3, [0, -2, -0.25]),
        ("average", 2, [4.5, 1, 0.125]),
        ("average", 3, [3, 1, 2.75]),
    ],
)
def test_other_results_place_by_place(key, inputs, expected):
    type = layer(key, inputs=inputs) if inputs > 2 else layer(key)
    assert run(type, *VALUES[:inputs], x=[features(3)] * inputs).tolist() == [expected]
    assert_as_declared(type, *[image(4, 5, 6), image(1, 5, 6), image(4, 1, 1)][:inputs])
    assert refusal(layer(key), features(2), features(3)).port == "in2"


def test_a_condition_chooses():
    condition = torch.tensor([[1.0, 0.0, -3.0]])
    assert layer("where").input_ports() == ("condition", "in1", "in2")
    assert run(layer("where"), condition, *VALUES[:2], x=[features(3)] * 3).tolist() == [[6, 4, -0.25]]
    assert_as_declared(layer("where"), image(1, 5, 6), image(4, 5, 6), image(4, 1, 1))
    assert "condition has features of 2" in str(refusal(layer("where"), features(2), image(2, 1, 1), features(2)))


@pytest.mark.parametrize(
    ("values", "x", "expected"),
    [
        ({}, [sequence(4, 3), sequence(5, 3)], sequence(4, 5)),
        ({"transpose_second": False}, [sequence(4, 3), sequence(3, 6)], sequence(4, 6)),
        ({"transpose_first": True}, [sequence(3, 4), sequence(5, 3)], sequence(4, 5)),
        ({"transpose_first": True, "transpose_second": False}, [sequence(T, 4), sequence(T, 5)], sequence(4, 5)),
        ({}, [sequence(T, 3), sequence(5, 3)], sequence(T, 5)),
        ({}, [image(2, 4, 3), image(2, 5, 3)], image(2, 4, 5)),
        ({"transpose_second": False}, [image(1, 4, 3), image(2, 3, 5)], image(2, 4, 5)),
    ],
)
def test_a_matrix_product(values, x, expected):
    type = layer("matrix_product", **values)
    assert type.output(*x) == expected
    assert_as_declared(type, *x)


def test_what_a_matrix_product_refuses():
    error = refusal(layer("matrix_product", transpose_second=False), sequence(4, 3), sequence(4, 3))
    assert error.port == "in2"
    assert "The first has 3 columns and the second 4 rows" in str(error)
    error = refusal(layer("matrix_product", transpose_second=False), sequence(4, 3), sequence(T, 3))
    assert "one of them is known only when the network runs. Give the sequence input a length" in str(error)
    assert "Sizes clash along axis C" in str(refusal(layer("matrix_product"), image(2, 4, 3), image(3, 4, 3)))
    assert "Expected matrices" in str(refusal(layer("matrix_product"), features(4), features(4)))


@pytest.mark.parametrize(
    ("key", "values", "expected"),
    [
        ("dot_product", {}, 6 * 3 - 2 * 4 - 0.125),
        ("cosine_similarity", {}, (18 - 8 - 0.125) / math.sqrt((36 + 4 + 0.25) * (9 + 16 + 0.0625))),
        ("distance", {}, math.sqrt(9 + 36 + 0.5625)),
        ("distance", {"kind": "squared"}, 9 + 36 + 0.5625),
        ("distance", {"kind": "manhattan"}, 9.75),
        ("distance", {"kind": "chebyshev"}, 6),
    ],
)
def test_two_vectors_become_one_number(key, values, expected):
    assert run(layer(key, **values), *VALUES[:2], x=[features(3)] * 2).tolist() == [[pytest.approx(expected)]]
    type = layer(key, axis="W", **values)
    assert type.output(image(4, 5, 6), image(4, 5, 6)) == image(4, 5, 1)
    assert_as_declared(type, image(4, 5, 6), image(4, 1, 6))
    assert refusal(type, features(3), features(3)).field == "axis"


@pytest.mark.parametrize(
    ("equation", "layout", "x", "expected"),
    [
        ("tc,sc->ts", "sequence", [sequence(4, 3), sequence(5, 3)], sequence(4, 5)),
        ("c,d->cd", "sequence", [features(3), features(4)], sequence(3, 4)),
        ("chw->c", "features", [image(3, 4, 5)], features(3)),
        ("chw,cd->dhw", "image", [image(3, 4, 5), sequence(3, 2)], image(2, 4, 5)),
        ("tc,tc->t", "features", [sequence(4, 3), sequence(4, 3)], features(4)),
        ("chw, chw -> cwh", "image", [image(3, 4, 5), image(3, 4, 5)], image(3, 5, 4)),
        ("tc,sd->ts", "sequence", [sequence(4, 3), sequence(5, 6)], sequence(4, 5)),
        ("tc,tc->tc", "sequence", [sequence(T, 3), sequence(T, 3)], sequence(T, 3)),
    ],
)
def test_einstein_sums(equation, layout, x, expected):
    type = layer("einsum", equation=equation, layout=layout)
    assert type.output(*x) == expected
    assert_as_declared(type, *x)


@pytest.mark.parametrize(
    ("equation", "field", "words"),
    [
        ("tc,sc", "equation", "'tc,sc' is no equation: expected lower-case letters"),
        ("tt,sc->ts", "equation", "is no equation"),
        ("tc,sc->tx", "equation", "is no equation"),
        ("tc,sc,uc->tu", "equation", "is no equation"),
        ("chw,sc->hw", "equation", r"has 3 letters \(chw\) for in1, which has 2 axes"),
        ("tc,ct->tc", None, "Sizes clash for letter c: 3 in in1 and 4 in in2"),
        ("tc,sc->t", "layout", r"A sequence needs 2 letters \(T × C\) behind the arrow, received t\."),
    ],
)
def test_what_an_einstein_sum_refuses(equation, field, words):
    error = refusal(layer("einsum", equation=equation), sequence(4, 3), sequence(4, 3))
    assert error.field == field
    with pytest.raises(ShapeError, match=words):
        raise error


def test_a_stack():
    assert layer("stack").output(features(3), features(3)) == sequence(2, 3)
    assert layer("stack", inputs=4).output(*[image(3, 5, 6)] * 4) == volume(3, 4, 5, 6)
    assert_as_declared(layer("stack", inputs=3), *[image(2, 5, 6)] * 3)
    assert run(layer("stack"), *VALUES[:2], x=[features(3)] * 2)[0, 1].tolist() == [3, 4, -0.25]
    assert "All inputs of a stack have equal sizes." in str(refusal(layer("stack"), features(3), features(4)))
    assert "Expected features" in str(refusal(layer("stack"), sequence(3, 4), sequence(3, 4)))


@pytest.mark.parametrize("key", ["addition", "subtraction", "multiplication", "concatenation"])
@pytest.mark.parametrize("kinds", [("complex", "complex"), ("complex", "real"), ("real", "complex")])
def test_complex_numbers_may_come_in_too(key, kinds):
    types = [TensorType(("T", "C"), (T, 2), kind) for kind in kinds]
    assert layer(key).output(*types).kind == "complex"
    assert_as_declared(layer(key), *types)
    x = [torch.tensor([[[1 + 2j, 3.0], [0.5j, -1.0]]]), torch.tensor([[[2j, -1j], [4.0, 1 + 1j]]])]
    x = [each if kind == "complex" else each.real for each, kind in zip(x, kinds, strict=True)]
    wanted = {
        "addition": x[0] + x[1],
        "subtraction": x[0] - x[1],
        "multiplication": x[0] * x[1],
        "concatenation": torch.stack([*x[0].mT[0], *x[1].mT[0]], 1)[None],
    }
    assert torch.equal(run(layer(key), *x, x=types), wanted[key])


def test_complex_numbers_are_refused_where_they_have_no_order():
    x = TensorType(("C",), (4,), "complex")
    assert "Expected real numbers, received complex features of 4" in str(refusal(layer("maximum"), x, x))
    assert "Expected real numbers" in str(refusal(layer("addition"), tokens(4), tokens(4)))
