import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, image, sequence, tokens
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


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


def test_vectors_of_indices():
    data = torch.tensor([[0.0, 2.0, 5.0]])
    assert layer("one_hot", classes=3).output(tokens(T)) == sequence(T, 3)
    found = run(layer("one_hot", classes=3), data, x=[tokens(3)])
    assert found.tolist() == [[[1, 0, 0], [0, 0, 1], [0, 0, 0]]]
    assert "Expected tokens" in str(refusal(layer("one_hot"), sequence(3, 1)))


def test_indices_as_numbers_and_back():
    data = torch.tensor([[0.0, 2.0, 5.0]])
    numbers = run(layer("cast"), data, x=[tokens(3)])
    assert layer("cast").output(tokens(T)) == sequence(T, 1)
    assert numbers.tolist() == [[[0], [2], [5]]]
    assert run(layer("cast", to="indices"), numbers + 0.3, x=[sequence(3, 1)]).tolist() == [[0, 2, 5]]
    assert layer("cast", to="indices").output(sequence(T, 1)) == tokens(T)
    assert "one channel" in str(refusal(layer("cast", to="indices"), sequence(T, 2)))
