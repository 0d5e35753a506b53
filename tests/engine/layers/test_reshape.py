import pytest
import torch

from engine.build.module import build
from engine.errors import MisfitError
from engine.layers.base import LayerType
from engine.layers.types import Symbol, TensorType, features, image, sequence, tokens, volume
from engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.lowered import assert_as_declared, run, sizes_of

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
    assert type.telling() == "C[-7:-1:2]"
    error = refusal(layer("slice", start=4, end=2), features(9))
    assert error.field == "start"
    assert "Nothing is left of axis C: it has 9 places, from 4 up to 2 there is none." in str(error)
    assert "The input has no axis T" in str(refusal(layer("slice", axis="T"), features(9)))


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
    assert type.telling() == "2 × 3"


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
    with pytest.raises(MisfitError) as caught:
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
    with pytest.raises(MisfitError, match="6 channels of the input cannot be divided into 4") as caught:
        layer("channel_shuffle", groups=4).output(image(6, 2, 2))
    assert caught.value.field == "groups"
