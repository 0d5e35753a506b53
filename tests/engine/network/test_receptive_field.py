"""Receptive fields of stacks whose fields are known, and of what has none."""

from fractions import Fraction

import pytest

from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.network.receptive_field import ReceptiveField, receptive_fields
from tests.builders import add, chain, layer

IMAGE = layer("image_input", channels=1, size=32)


def last(*layers) -> ReceptiveField | None:
    network = chain(*layers)
    return receptive_fields(network, analyse(network))[network.order[-1]]


def conv(kernel=(3, 3), **fields):
    return layer("conv2d", filters=2, kernel=kernel, **fields)


@pytest.mark.parametrize(
    ("layers", "size", "stride"),
    [
        ((conv(),), 3, 1),
        ((conv(), conv(), conv()), 7, 1),
        ((conv(dilation=(2, 2)), layer("relu")), 5, 1),
        ((conv(stride=(2, 2)), layer("batch_norm"), conv()), 7, 2),
        ((conv(), layer("max_pool2d"), conv()), 8, 2),
        ((conv((7, 7), stride=(2, 2)), layer("max_pool2d", kernel=(3, 3), stride=(2, 2), padding="same")), 11, 4),
        ((layer("max_pool2d"), layer("transposed_conv2d", kernel=(2, 2), stride=(2, 2))), 2, 1),
    ],
)
def test_fields_of_stacks(layers, size: int, stride: int) -> None:
    assert last(IMAGE, *layers) == ReceptiveField((size, size), (Fraction(stride), Fraction(stride)))


def test_axes_have_sizes_of_their_own() -> None:
    found = last(IMAGE, conv((1, 5), stride=(1, 2)), conv((3, 1)))
    assert found == ReceptiveField((3, 5), (Fraction(1), Fraction(2)))


@pytest.mark.parametrize("type", ["global_average_pool", "flatten", "fully_connected"])
def test_what_sees_all_has_no_field(type: str) -> None:
    assert last(IMAGE, conv(), layer(type)) is None


def test_branches_that_meet_have_the_larger_field() -> None:
    network, image = add(Network.empty(), IMAGE)
    network, inner = add(network, conv(), image)
    network, added = add(network, layer("addition"), image, inner)
    found = receptive_fields(network, analyse(network))
    assert found[added.id] == ReceptiveField((3, 3), (Fraction(1), Fraction(1)))
    assert found[image.id] == ReceptiveField((1, 1), (Fraction(1), Fraction(1)))
