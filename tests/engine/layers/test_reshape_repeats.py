import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


def places(*sizes: int) -> torch.Tensor:
    """Numbers that count up, as a batch of one."""
    total = 1
    for size in sizes:
        total *= size
    return torch.arange(float(total)).view(1, *sizes)


@pytest.mark.parametrize("x", [features(3), image(3, 4, 5), sequence(T, 3)], ids=str)
@pytest.mark.parametrize("order", ["whole", "each"])
def test_repeated(order, x):
    type = layer("repeat", times=3, order=order)
    assert type.output(x) == x.with_sizes(C=9)
    assert_as_declared(type, x)


def test_what_is_repeated():
    data, x = torch.tensor([[1.0, 2.0]]), [features(2)]
    assert run(layer("repeat"), data, x=x).tolist() == [[1, 2, 1, 2]]
    assert run(layer("repeat", order="each"), data, x=x).tolist() == [[1, 1, 2, 2]]
    assert layer("repeat", axis="T").output(sequence(T, 2)) == sequence(Symbol("T'"), 2)
    assert layer("repeat_vector", steps=3).output(features(2)) == sequence(3, 2)
    assert run(layer("repeat_vector", steps=3), data, x=x).tolist() == [[[1, 2]] * 3]


def test_rolled_and_flipped():
    data, x = places(1, 2, 3), [image(1, 2, 3)]
    assert run(layer("roll"), data, x=x)[0, 0].tolist() == [[2, 0, 1], [5, 3, 4]]
    assert run(layer("roll", axis="H", shift=-1), data, x=x)[0, 0].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert run(layer("flip", axis="W"), data, x=x)[0, 0].tolist() == [[2, 1, 0], [5, 4, 3]]
    for type in (layer("roll", axis="T", shift=20), layer("flip")):
        assert type.output(sequence(T, 2)) == sequence(T, 2)
        assert_as_declared(type, sequence(T, 2))
        assert refusal(type, features(3)).field == "axis"
