from typing import Any

import pytest
import torch
from torch.nn.functional import fractional_max_pool2d, fractional_max_pool3d

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, image, volume
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

INPUTS = {2: image(3, 11, 8), 3: volume(2, 6, 7, 9)}


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize(
    "values", [{}, {"kernel": 3, "ratio": 0.5}, {"by": "size", "size": 1}, {"by": "size", "size": 4}]
)
def test_windows_are_torchs_for_the_same_number(dims, values):
    x, pooled = INPUTS[dims], {2: fractional_max_pool2d, 3: fractional_max_pool3d}[dims]
    pool: Any = layer(f"fractional_max_pool{dims}d", **values)
    assert_as_declared(pool, x)
    given = torch.randn(2, *sizes_of(x))
    samples = torch.full((2, given.shape[1], dims), 0.5)
    sizes = list(sizes_of(pool.output(x)))[1:]
    expected = pooled(given, list(pool.kernel), output_size=sizes, _random_samples=samples)
    assert torch.equal(run(pool, given, x=[x]), expected)


def test_places_are_drawn_while_training_only():
    x = image(1, 40, 40)
    module, given = Lowered(layer("fractional_max_pool2d"), x), torch.randn(1, 1, 40, 40)
    torch.manual_seed(1)
    assert not torch.equal(module.train()(given), module(given))
    assert torch.equal(module.eval()(given), module(given))
    assert module(given)[0, 0, 0, 0] == given[0, 0, :2, :2].max()
    assert layer("fractional_max_pool2d").random


def test_the_last_window_ends_where_the_axis_does():
    given = torch.zeros(1, 1, 10, 10)
    given[..., -1, -1] = 1
    module = Lowered(layer("fractional_max_pool2d"), image(1, 10, 10)).train()
    for _ in range(20):
        assert module(given)[0, 0, -1, -1] == 1


def test_what_fractional_pooling_refuses():
    assert layer("fractional_max_pool2d").output(image(1, 10, 10)) == image(1, 7, 7)
    with pytest.raises(ShapeError, match="axis H, which has 8, can become 1 to 6; received 7") as caught:
        layer("fractional_max_pool2d", kernel=3, ratio=0.9).output(image(1, 8, 8))
    assert caught.value.field == "ratio"
    with pytest.raises(ShapeError) as caught:
        layer("fractional_max_pool2d", kernel=9, by="size").output(image(1, 8, 8))
    assert caught.value.field == "kernel"
    with pytest.raises(ShapeError, match="not known before the network runs"):
        layer("fractional_max_pool2d").output(TensorType(("C", "H", "W"), (1, Symbol("H"), 9)))
