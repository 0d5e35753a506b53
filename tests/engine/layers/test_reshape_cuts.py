import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, volume
from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.lowered import assert_as_declared, run

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


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
    assert layer("select_step").short_value() == "last"
    assert layer("select_step", counted_from="start").short_value() == "first"
    assert layer("select_step", step=2).short_value() == "2 from the end"


def places(*sizes: int) -> torch.Tensor:
    """Numbers that count up, as a batch of one."""
    total = 1
    for size in sizes:
        total *= size
    return torch.arange(float(total)).view(1, *sizes)


@pytest.mark.parametrize(
    ("values", "x", "expected"),
    [
        ({"start": 1}, image(4, 5, 6), image(3, 5, 6)),
        ({"axis": "W", "start": 1, "end": -1, "step": 2}, image(4, 5, 6), image(4, 5, 2)),
        ({"axis": "T", "start": -3}, sequence(7, 2), sequence(3, 2)),
        ({"axis": "T", "end": 3}, sequence(T, 2), sequence(Symbol("T'"), 2)),
        ({"end": 2}, features(7), features(2)),
        ({"axis": "D", "end": 99}, volume(2, 3, 4, 5), volume(2, 3, 4, 5)),
    ],
)
def test_a_slice(values, x, expected):
    type = layer("slice", **values)
    assert type.output(x) == expected
    assert_as_declared(type, x)


def test_a_slice_is_that_of_python():
    data = torch.arange(9.0).view(1, 9)
    type = layer("slice", start=-7, end=-1, step=2)
    assert run(type, data, x=[features(9)])[0].tolist() == list(range(9))[-7:-1:2]
    assert type.short_value() == "C[-7:-1:2]"
    error = refusal(layer("slice", start=4, end=2), features(9))
    assert error.field == "start"
    assert "Nothing is left of axis C: it has 9 places, from 4 up to 2 there is none." in str(error)
    assert "The input has no axis T" in str(refusal(layer("slice", axis="T"), features(9)))


@pytest.mark.parametrize(("start", "end", "is_empty"), [(-5, -5, True), (4, 2, True), (-5, 3, False), (3, -5, False)])
def test_a_slice_of_free_length_is_refused_where_nothing_is_left_of_any(start, end, is_empty):
    type = layer("slice", axis="T", start=start, end=end)
    if is_empty:
        assert "Nothing is left of axis T at any size" in str(refusal(type, sequence(T, 2)))
    else:
        assert type.output(sequence(T, 2)).has("T")


def test_a_crop_to_the_size_of_another():
    type = layer("crop2d")
    assert type.input_ports() == ("in", "ref")
    assert type.output(image(3, 8, 9), image(5, 4, 4)) == image(3, 4, 4)
    data = places(1, 4, 5)
    found = run(type, data, torch.zeros(1, 2, 2, 2), x=[image(1, 4, 5), image(2, 2, 2)])
    assert torch.equal(found, data[:, :, 1:3, 1:3])
    assert_as_declared(layer("crop3d"), volume(2, 6, 7, 8), volume(1, 3, 3, 3))
    placed = layer("crop2d", position="place", start=[0, 3])
    assert torch.equal(run(placed, data, data[..., :2, :2], x=[image(1, 4, 5), image(1, 2, 2)]), data[..., :2, 3:5])


def test_a_crop_to_a_size():
    type = layer("crop2d", to="size", size=[2, 3])
    assert type.input_ports() == ("in",)
    assert type.output(image(1, 4, 5)) == image(1, 2, 3)
    assert torch.equal(run(type, places(1, 4, 5), x=[image(1, 4, 5)]), places(1, 4, 5)[..., 1:3, 1:4])
    assert type.short_value() == "2 × 3"


@pytest.mark.parametrize(
    ("values", "x", "field", "port"),
    [
        ({}, [image(3, 4, 5), image(3, 5, 5)], None, "ref"),
        ({}, [image(3, 4, 5), volume(3, 4, 5, 6)], None, "ref"),
        ({"to": "size", "size": [5, 5]}, [image(3, 4, 5)], "size", None),
        ({"to": "size", "size": [3, 3], "position": "place", "start": [2, 0]}, [image(3, 4, 5)], "start", None),
        ({"position": "place", "start": [2, 0]}, [image(3, 4, 5), image(3, 3, 3)], "start", None),
    ],
)
def test_what_a_crop_refuses(values, x, field, port):
    with pytest.raises(ShapeError) as caught:
        layer("crop2d", **values).output(*x)
    assert (caught.value.field, caught.value.port) == (field, port)


def test_slices_of_volumes():
    assert layer("image_to_volume").output(image(6, 4, 5)) == volume(1, 6, 4, 5)
    assert layer("image_to_volume", depth=2).output(image(6, 4, 5)) == volume(3, 2, 4, 5)
    assert layer("volume_to_image").output(volume(3, 2, 4, 5)) == image(6, 4, 5)
    assert layer("volume_to_sequence").output(volume(3, 2, 4, 5)) == sequence(2, 60)
    data = places(6, 4, 5)
    there = run(layer("image_to_volume", depth=2), data, x=[image(6, 4, 5)])
    assert torch.equal(run(layer("volume_to_image"), there, x=[volume(3, 2, 4, 5)]), data)
    steps = run(layer("volume_to_sequence"), there, x=[volume(3, 2, 4, 5)])
    assert torch.equal(steps[0, 1], there[0, :, 1].flatten())
    error = refusal(layer("image_to_volume", depth=4), image(6, 4, 5))
    assert error.field == "depth"
    assert "cannot be divided into slices of 4" in str(error)


def test_a_split():
    type = layer("split", parts=3, axis="W")
    assert type.output_ports() == ("out1", "out2", "out3")
    assert type.output_types(image(2, 4, 6)) == (image(2, 4, 2),) * 3
    network = chain(layer("image_input", channels=2, size=[4, 6], normalization="none"), type)
    data = places(2, 4, 6)
    found = build(network, analyse(network))(data)
    assert all(torch.equal(part, data[..., 2 * n : 2 * n + 2]) for n, part in enumerate(found))
    assert len(found) == 3
    error = refusal(layer("split"), features(5))
    assert error.field == "parts"
    assert "The 5 places along axis C cannot be divided into 2 equal parts. Use a divisor of 5" in str(error)
    assert "axis T is not known" in str(refusal(layer("split", axis="T"), sequence(T, 4)))
