import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import assert_as_declared, run, sizes_of

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
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
    with pytest.raises(ShapeError, match=words):
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


@pytest.mark.parametrize("x", [features(6), sequence(4, 6), image(6, 2, 3), volume(6, 2, 3, 2)], ids=str)
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_channels_are_dealt_out_by_the_definition(x, groups):
    shuffle = layer("channel_shuffle", groups=groups)
    given = torch.rand(2, *sizes_of(x))
    found = run(shuffle, given, x=[x]).movedim(x.dim("C"), 1)
    before = given.movedim(x.dim("C"), 1)
    for g in range(groups):
        for c in range(6 // groups):
            assert torch.equal(found[:, c * groups + g], before[:, g * (6 // groups) + c])
    assert_as_declared(shuffle, x)


def test_channels_that_cannot_be_dealt_out():
    with pytest.raises(ShapeError, match="6 channels of the input cannot be divided into 4") as caught:
        layer("channel_shuffle", groups=4).output(image(6, 2, 2))
    assert caught.value.field == "groups"
