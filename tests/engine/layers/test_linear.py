import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, features, image, sequence, tokens
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared

T = Symbol("T")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (features(7), features(3)),
        (image(2, 4, 5), features(3)),
        (sequence(6, 7), sequence(6, 3)),
        (sequence(T, 7), sequence(T, 3)),
    ],
)
def test_sizes_learnables_and_work(x, expected, bias):
    type = layer("fully_connected", outputs=3, bias=bias)
    assert type.output(x) == expected
    assert_as_declared(type, x)


def test_what_is_refused():
    for x, words in [
        (tokens(4), "Expected real numbers, received tokens of 4"),
        (image(0, 4, 4), "at least one number along each axis"),
        (image(3, Symbol("H"), 4), "Every size must be known to flatten the input"),
        (features(Symbol("C")), "decides the size of the weights"),
    ]:
        with pytest.raises(ShapeError, match=words):
            layer("fully_connected").output(x)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("first", "second", "expected", "flops"),
    [
        (features(4), features(5), features(3), 2 * 3 * (4 * 5 + 5)),
        (sequence(6, 4), sequence(6, 5), sequence(6, 3), 6 * 2 * 3 * (4 * 5 + 5)),
        (sequence(T, 4), sequence(T, 5), sequence(T, 3), 0),
    ],
)
def test_bilinear(first, second, expected, flops, bias):
    type = layer("bilinear", outputs=3, bias=bias)
    assert type.output(first, second) == expected
    assert type.flops(first, second) == flops
    assert_as_declared(type, first, second, count=False)


def test_bilinear_is_the_sum_of_products():
    x, y = torch.randn(2, 4), torch.randn(2, 5)
    module = Lowered(layer("bilinear", outputs=3), features(4), features(5))
    wanted = torch.einsum("bi,oij,bj->bo", x, module.made[0].weight, y) + module.made[0].bias
    torch.testing.assert_close(module(x, y), wanted)


def test_what_bilinear_refuses():
    for x, words in [
        ((image(2, 4, 5), image(2, 4, 5)), "Expected two inputs of features"),
        ((features(4), sequence(3, 4)), "in2 has a sequence"),
        ((sequence(3, 4), sequence(5, 4)), "The sequences differ in length"),
    ]:
        with pytest.raises(ShapeError, match=words):
            layer("bilinear").output(*x)


@pytest.mark.parametrize("mode", ["mean", "sum", "max"])
def test_a_bag_of_embeddings(mode):
    type = layer("embedding_bag", vocabulary=7, dimension=3, mode=mode)
    assert type.output(tokens(T)) == features(3)
    assert type.weights(tokens(T)) == {"weight": (7, 3)}
    assert_as_declared(type, tokens(T))
    module = Lowered(type, tokens(4))
    x = torch.tensor([[0.0, 3.0, 3.0, 6.0], [1.0, 1.0, 1.0, 1.0]])
    vectors = module.made[0].weight[x.long()]
    wanted = vectors.amax(1) if mode == "max" else getattr(vectors, mode)(1)
    torch.testing.assert_close(module(x), wanted)
    with pytest.raises(ShapeError, match="Expected tokens"):
        type.output(sequence(4, 3))


def test_padding_is_in_no_bag():
    module = Lowered(layer("embedding_bag", vocabulary=7, dimension=3, padding_index=0), tokens(4))
    padded = module(torch.tensor([[2.0, 3.0, 0.0, 0.0]]))
    torch.testing.assert_close(padded, module.made[0].weight[[2, 3]].mean(0, keepdim=True))
