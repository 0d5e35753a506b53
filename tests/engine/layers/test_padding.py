from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, image, sequence, tokens, volume
from tests.builders import layer
from tests.lowered import assert_as_declared, run, sizes_of

T = Symbol("T")
INPUTS = {1: sequence(6, 3), 2: image(3, 5, 6), 3: volume(3, 4, 5, 6)}
NUMPY: dict[str, Any] = {
    "zeros": "constant",
    "constant": "constant",
    "reflection": "reflect",
    "replication": "edge",
    "circular": "wrap",
}


@pytest.mark.parametrize("mode", NUMPY)
@pytest.mark.parametrize(("dims", "border"), [(1, [2, 3]), (2, [2, 0, 3, 1]), (3, [1, 2, 0, 3, 2, 1])])
def test_borders_are_those_of_numpy(mode, dims, border):
    """numpy is the definition that was not written here: `numpy.pad`."""
    x = INPUTS[dims]
    pad = layer(f"pad{dims}d", border=border, mode=mode, **({"value": 2.5} if mode == "constant" else {}))
    given = torch.rand(2, *sizes_of(x))
    widths = [(0, 0)] * (1 + x.rank)
    for index, axis in enumerate(x.spatial):
        widths[x.dim(axis)] = (border[2 * index], border[2 * index + 1])
    values: dict[str, Any] = (
        {"constant_values": 2.5 if mode == "constant" else 0.0} if NUMPY[mode] == "constant" else {}
    )
    expected = np.pad(given.numpy(), widths, NUMPY[mode], **values)
    np.testing.assert_array_equal(run(pad, given, x=[x]).numpy(), expected)
    assert_as_declared(pad, x)


def test_any_length_becomes_another():
    assert layer("pad1d", border=[1, 2]).output(sequence(T, 4)) == sequence(Symbol("T'"), 4)
    assert layer("pad1d", border=[1, 2]).output(sequence(7, 4)) == sequence(10, 4)


def test_what_padding_refuses():
    with pytest.raises(ShapeError, match=r"Expected an image") as caught:
        layer("pad2d").output(tokens(4))
    with pytest.raises(ShapeError, match=r"along axis W there are 4, so 'reflection' gives at most 3") as caught:
        layer("pad2d", border=[1, 1, 0, 4], mode="reflection").output(image(1, 9, 4))
    assert caught.value.field == "border"
    layer("pad2d", border=[1, 1, 0, 4], mode="circular").output(image(1, 9, 4))
    with pytest.raises(ShapeError, match="at most 4"):
        layer("pad2d", border=[1, 1, 0, 5], mode="circular").output(image(1, 9, 4))
    layer("pad2d", border=9, mode="replication").output(image(1, 2, 2))


def test_the_value_applies_to_a_constant_only():
    assert not layer("pad2d").is_visible("value")
    assert layer("pad2d", mode="constant").is_visible("value")
    assert layer("pad2d", mode="circular").short_value() == "circular"
