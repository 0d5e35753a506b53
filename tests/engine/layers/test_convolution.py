from typing import Any

import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers import windows
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

T = Symbol("T")


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ({}, (28, 20)),
        ({"padding": 0}, (26, 18)),
        ({"padding": 0, "stride": [2, 3]}, (13, 6)),
        ({"padding": [1, 0], "kernel": [3, 4]}, (28, 17)),
        ({"padding": 0, "dilation": 3}, (22, 14)),
        ({"stride": 3}, (10, 7)),
        ({"kernel": 4}, (28, 20)),
        ({"kernel": [4, 3], "stride": [1, 2]}, (28, 10)),
        ({"kernel": 1, "stride": 4}, (7, 5)),
        ({"kernel": 4, "dilation": 3, "stride": 2}, (14, 10)),
    ],
)
def test_sizes_of_a_2d_convolution(values, size):
    conv = layer("conv2d", filters=5, **values)
    assert conv.output(image(3, 28, 20)) == image(5, *size)
    assert_as_declared(conv, image(3, 28, 20))


@pytest.mark.parametrize("bias", [True, False])
def test_learnables_and_work_by_hand(bias):
    conv = layer("conv2d", filters=8, kernel=[3, 5], bias=bias)
    x = image(3, 10, 10)
    assert conv.weights(x) == {"weight": (8, 3, 3, 5)} | ({"bias": (8,)} if bias else {})
    assert conv.flops(x) == 2 * 10 * 10 * 8 * 3 * 15


@pytest.mark.parametrize("key", ["conv", "grouped_conv", "transposed_conv"])
@pytest.mark.parametrize(("dims", "x"), [(1, sequence(9, 4)), (2, image(4, 9, 8)), (3, volume(4, 9, 8, 7))])
@pytest.mark.parametrize("values", [{}, {"kernel": 2, "stride": 3}, {"kernel": 3, "dilation": 2, "bias": False}])
def test_all_dimensions_are_as_torch_has_them(key, dims, x, values):
    assert_as_declared(layer(f"{key}{dims}d", **values), x)


def test_same_padding_puts_the_odd_zero_after():
    conv = layer("conv1d", filters=1, kernel=2, bias=False)
    module = Lowered(conv, sequence(4, 1))
    with torch.no_grad():
        module.made[-1].weight.copy_(torch.tensor([[[1.0, 10.0]]]))
    result = module(torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 4, 1))
    assert result.flatten().tolist() == [21, 32, 43, 4]


def test_causal_padding_lets_no_step_see_a_later_one():
    conv = layer("conv1d", filters=2, kernel=3, dilation=2, padding="causal")
    module = Lowered(conv, sequence(T, 1))
    x = torch.rand(1, 12, 1)
    later = x.clone()
    later[:, 7:] += 1
    assert torch.equal(module(x)[:, :7], module(later)[:, :7])
    assert not torch.equal(module(x)[:, 7], module(later)[:, 7])


def test_a_sequence_of_any_length_stays_one():
    assert layer("conv1d", filters=4).output(sequence(T, 2)) == sequence(Symbol("T'"), 4)
    assert layer("conv1d", filters=4).flops(sequence(T, 2)) == 0
    for values in ({}, {"kernel": 4}, {"padding": "causal", "stride": 2}, {"padding": 3, "stride": 2}):
        assert_as_declared(layer("conv1d", **values), sequence(T, 2), steps=9)
    conv = layer("conv1d", kernel=4)
    assert run(conv, torch.rand(1, 9, 2), x=[sequence(T, 2)]).shape[1] == 9


def test_strided_same_padding_needs_the_size():
    error = refusal(layer("conv1d", stride=2), sequence(T, 2))
    assert error.field == "padding"
    assert "depends on the size of axis T" in str(error)
    assert "Use a stride of 1" in str(error)


def test_a_wrong_layout_is_refused():
    error = refusal(layer("conv2d"), sequence(5, 3))
    assert error.port == "in"
    assert str(error) == "Expected an image (C × H × W), received a sequence of 5 × 3 (T × C)."
    assert "Expected a sequence" in str(refusal(layer("conv1d"), features(3)))
    assert "Expected a volume" in str(refusal(layer("conv3d"), image(3, 4, 4)))
    assert "Expected a sequence" in str(refusal(layer("conv1d"), tokens(7)))


def test_numbers_of_another_kind_and_empty_inputs_are_refused():
    indices = TensorType(("C", "H", "W"), (3, 4, 4), "index")
    assert "Expected real numbers" in str(refusal(layer("conv2d"), indices))
    assert "at least one number along each axis" in str(refusal(layer("conv2d"), image(3, 0, 4)))


def test_unknown_channels_are_refused():
    assert "decides the size of the weights" in str(refusal(layer("conv2d"), image(Symbol("C"), 4, 4)))


def test_a_window_larger_than_the_input_is_refused():
    error = refusal(layer("conv2d", kernel=3, dilation=[1, 4], padding=0), image(1, 8, 8))
    assert error.field == "kernel"
    assert "covers 9 along axis W, and the input has 8" in str(error)


def test_groups():
    x = image(6, 8, 8)
    assert layer("grouped_conv2d").output(x) == image(6, 8, 8)
    grouped = layer("grouped_conv2d", groups=3, filters=4)
    assert grouped.output(x) == image(12, 8, 8)
    assert grouped.weights(x) == {"weight": (12, 2, 3, 3), "bias": (12,)}
    assert_as_declared(grouped, x)
    error = refusal(layer("grouped_conv2d", groups=4), x)
    assert error.field == "groups"
    assert "6 channels of the input cannot be divided into 4 equal groups" in str(error)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ({}, 14),
        ({"kernel": 4}, 14),
        ({"kernel": 1}, 14),
        ({"kernel": 2, "stride": 5}, 35),
        ({"kernel": 3, "stride": 1}, 7),
        ({"kernel": 2, "stride": 1, "dilation": 3}, 7),
        ({"cropping": 0}, 15),
        ({"cropping": 1, "output_padding": 1}, 14),
        ({"cropping": 0, "dilation": 3, "output_padding": 2}, 21),
    ],
)
def test_sizes_of_a_transposed_convolution(values, size):
    conv = layer("transposed_conv2d", filters=3, **values)
    assert conv.output(image(2, 7, 7)) == image(3, size, size)
    assert_as_declared(conv, image(2, 7, 7))


def test_a_transposed_convolution_by_hand():
    conv = layer("transposed_conv1d", filters=1, kernel=2, stride=2, bias=False)
    module = Lowered(conv, sequence(T, 1))
    with torch.no_grad():
        module.made[0].weight.copy_(torch.tensor([[[1.0, 10.0]]]))
    assert module(torch.tensor([1.0, 2.0]).view(1, 2, 1)).flatten().tolist() == [1, 10, 2, 20]
    assert conv.flops(sequence(2, 1)) == 2 * 2 * 2


def test_what_a_transposed_convolution_refuses():
    x = image(2, 3, 3)
    error = refusal(layer("transposed_conv2d", kernel=2, stride=1), x)
    assert error.field == "kernel"
    assert "half a place" in str(error)
    error = refusal(layer("transposed_conv2d", cropping=0, output_padding=2), x)
    assert error.field == "output_padding"
    assert "Expected less than 2 along axis H, received 2" in str(error)
    error = refusal(layer("transposed_conv2d", cropping=5), x)
    assert error.field == "cropping"
    assert "Nothing is left along axis H: 7 less 5 on both sides" in str(error)


def test_what_is_told_on_the_canvas():
    assert layer("conv2d", filters=8).short_value() == "8 filters"
    assert layer("conv2d", filters=1).short_value() == "1 filter"
    assert layer("grouped_conv2d").short_value() == "channel-wise"
    assert layer("grouped_conv2d", groups=2).short_value() == "2 groups"


@pytest.mark.parametrize("mode", ["reflection", "replication", "circular"])
@pytest.mark.parametrize(("dims", "x"), [(1, sequence(9, 4)), (2, image(4, 9, 8)), (3, volume(4, 9, 8, 7))])
@pytest.mark.parametrize("values", [{"kernel": 3}, {"kernel": 4}, {"kernel": 3, "padding": 2}])
def test_borders_of_another_kind_are_those_of_a_padding_layer(mode, dims, x, values):
    conv: Any = layer(f"conv{dims}d", padding_mode=mode, **values)
    assert_as_declared(conv, x)
    sides = windows.borders(x, kernel=conv.kernel, stride=conv.stride, padding=conv.padding)
    pad = layer(f"pad{dims}d", mode=mode, border=[side for pair in sides for side in pair])
    plain = Lowered(conv.replace(padding=0), pad.output(x))
    module, given = Lowered(conv, x), torch.rand(2, *sizes_of(x))
    module.load_state_dict({f"parts.{len(module.made) - 1}.{n}": v for n, v in plain.made[0].state_dict().items()})
    with torch.no_grad():
        torch.testing.assert_close(module(given), plain(Lowered(pad, x)(given)))


def test_borders_that_cannot_be_filled():
    error = refusal(layer("conv2d", kernel=7, padding_mode="reflection"), image(1, 9, 3))
    assert error.field == "padding"
    assert "along axis W there are 3, so 'reflection' gives at most 2" in str(error)
    assert layer("conv1d", padding="causal", padding_mode="circular").problems()[0].path == "padding_mode"
    assert not layer("conv1d", padding="causal", padding_mode="replication").problems()
    assert not layer("conv2d", padding=0).is_visible("padding_mode")
