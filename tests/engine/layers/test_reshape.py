import pytest
import torch

from engine.errors import MisfitError
from engine.layers.base import LayerType
from engine.layers.types import Symbol, TensorType, features, image, sequence, tokens, volume
from tests.builders import layer
from tests.lowered import assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> MisfitError:
    with pytest.raises(MisfitError) as caught:
        type.output(x)
    return caught.value


@pytest.mark.parametrize("x", [features(7), image(3, 4, 5), sequence(4, 3), volume(2, 3, 4, 5)], ids=str)
def test_flatten(x):
    assert layer("flatten").output(x) == features(x.count or 0)
    assert_as_declared(layer("flatten"), x)


def test_flatten_needs_every_size_and_numbers():
    assert "Every size must be known" in str(refusal(layer("flatten"), sequence(T, 3)))
    assert "Expected real numbers" in str(refusal(layer("flatten"), tokens(3)))


@pytest.mark.parametrize(
    ("layout", "sizes", "x", "expected"),
    [
        ("features", [-1], image(3, 4, 5), features(60)),
        ("features", [60], image(3, 4, 5), features(60)),
        ("image", [3, -1, 5], features(60), image(3, 4, 5)),
        ("image", [1, 6, 10], sequence(12, 5), image(1, 6, 10)),
        ("volume", [2, 2, 3, -1], features(60), volume(2, 2, 3, 5)),
        ("sequence", [-1, 15], image(3, 4, 5), sequence(4, 15)),
        ("image", [8, 1, 1], features(8), image(8, 1, 1)),
    ],
)
def test_reshape(layout, sizes, x, expected):
    type = layer("reshape", layout=layout, sizes=sizes)
    assert type.output(x) == expected
    assert_as_declared(type, x)


def test_reshape_keeps_the_order():
    data = torch.arange(12.0).view(1, 12)
    result = run(layer("reshape", layout="sequence", sizes=[3, 4]), data, x=[features(12)])
    assert result[0, 1].tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("layout", "sizes", "words"),
    [
        ("image", [3, 4], r"An image needs 3 sizes \(C × H × W\), received 3 × 4\."),
        ("features", [3, 4], r"Features need 1 size \(C\), received 3 × 4\."),
        ("sequence", [], r"A sequence needs 2 sizes \(T × C\), received none\."),
        ("sequence", [-1, -1], "at least 1, and -1 at most once, received -1 × -1"),
        ("sequence", [0, 5], "Expected sizes of at least 1"),
        ("sequence", [5, 5], r"The sizes 5 × 5 need 25 numbers, the input has 24 \(an image of 2 × 3 × 4"),
        ("sequence", [-1, 5], "The sizes -1 × 5 need a multiple of 5 numbers, the input has 24"),
    ],
)
def test_what_reshape_refuses(layout, sizes, words):
    error = refusal(layer("reshape", layout=layout, sizes=sizes), image(2, 3, 4))
    assert error.field == "sizes"
    with pytest.raises(MisfitError, match=words):
        raise error


def test_reshape_needs_every_size():
    assert refusal(layer("reshape"), sequence(T, 3)).port == "in"


@pytest.mark.parametrize(
    ("order", "x", "expected"),
    [
        ([2, 1], sequence(4, 3), sequence(3, 4)),
        ([2, 1], sequence(T, 3), sequence(3, T)),
        ([1, 3, 2], image(3, 4, 5), image(3, 5, 4)),
        ([3, 1, 2], image(3, 4, 5), image(5, 3, 4)),
        ([1, 4, 3, 2], volume(2, 3, 4, 5), volume(2, 5, 4, 3)),
        ([1], features(4), features(4)),
    ],
)
def test_permute(order, x, expected):
    type = layer("permute", order=order)
    assert type.output(x) == expected
    assert_as_declared(type, x)


@pytest.mark.parametrize("order", [[1, 2], [1, 2, 2], [2, 3, 4], []])
def test_an_order_names_each_axis_once(order):
    error = refusal(layer("permute", order=order), image(3, 4, 5))
    assert error.field == "order"
    assert "Expected each axis once: 1 (C), 2 (H), 3 (W); received " in str(error)


@pytest.mark.parametrize(
    ("steps", "expected"), [("rows", sequence(4, 15)), ("columns", sequence(5, 12)), ("positions", sequence(20, 3))]
)
def test_an_image_as_a_sequence(steps, expected):
    type = layer("image_to_sequence", steps=steps)
    assert type.output(image(3, 4, 5)) == expected
    assert_as_declared(type, image(3, 4, 5))


def test_what_a_step_of_an_image_holds():
    data = torch.arange(2 * 3 * 4.0).view(1, 2, 3, 4)
    by = {
        steps: run(layer("image_to_sequence", steps=steps), data, x=[image(2, 3, 4)])[0, 1]
        for steps in ("rows", "columns", "positions")
    }
    assert torch.equal(by["rows"], data[0, :, 1, :].flatten())
    assert torch.equal(by["columns"], data[0, :, :, 1].flatten())
    assert torch.equal(by["positions"], data[0, :, 0, 1])


def test_there_and_back():
    data = torch.rand(2, 3, 4, 5)
    steps = run(layer("image_to_sequence", steps="positions"), data, x=[image(3, 4, 5)])
    assert layer("sequence_to_image", size=[4, 5]).output(sequence(20, 3)) == image(3, 4, 5)
    assert torch.equal(run(layer("sequence_to_image", size=[4, 5]), steps, x=[sequence(20, 3)]), data)


def test_a_sequence_that_does_not_fill_the_image_is_refused():
    error = refusal(layer("sequence_to_image", size=[4, 4]), sequence(20, 3))
    assert error.field == "size"
    assert "The sequence has 20 steps, but 4 × 4 are 16." in str(error)
    assert "axis T is not known" in str(refusal(layer("sequence_to_image"), sequence(T, 3)))


def test_one_step():
    data = torch.rand(2, 5, 3)
    assert torch.equal(run(layer("select_step"), data, x=[sequence(5, 3)]), data[:, -1])
    assert torch.equal(run(layer("select_step", step=1), data, x=[sequence(5, 3)]), data[:, 3])
    assert torch.equal(run(layer("select_step", step=1, counted_from="start"), data, x=[sequence(5, 3)]), data[:, 1])
    assert layer("select_step").output(sequence(T, 3)) == features(3)
    assert_as_declared(layer("select_step", step=2), sequence(T, 3))
    error = refusal(layer("select_step", step=5), sequence(5, 3))
    assert error.field == "step"
    assert "expected a step from 0 to 4, received 5." in str(error)
    assert layer("select_step").telling() == "last"
    assert layer("select_step", counted_from="start").telling() == "first"
    assert layer("select_step", step=2).telling() == "2 from the end"
