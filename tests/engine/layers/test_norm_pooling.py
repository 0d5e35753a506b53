from typing import Any

import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import features, image, sequence, volume
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

INPUTS = {1: sequence(9, 4), 2: image(4, 9, 8), 3: volume(4, 9, 8, 7)}


@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0, 2.5])
@pytest.mark.parametrize("values", [{}, {"kernel": 3, "stride": 2, "padding": 1}, {"kernel": 2, "padding": "same"}])
def test_norms_by_the_definition(norm, values):
    x = torch.randn(2, 7, 3)
    pool: Any = layer("lp_pool1d", norm=norm, **values)
    padded = torch.nn.functional.pad(x, (0, 0, *{1: (1, 1), "same": (0, 1)}.get(values.get("padding", 0), (0, 0))))
    rows = padded.unfold(1, pool.kernel[0], pool.stride[0])
    expected = torch.linalg.vector_norm(rows, norm, -1)
    torch.testing.assert_close(run(pool, x, x=[sequence(7, 3)]), expected)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("values", [{}, {"kernel": 3, "padding": 1}, {"padding": "same"}])
def test_all_dimensions(dims, values):
    x = INPUTS[dims]
    pool: Any = layer(f"lp_pool{dims}d", **values)
    assert_as_declared(pool, x)
    ones = run(pool, -torch.ones(1, *sizes_of(x)), x=[x])
    assert ones.max().item() == pytest.approx(pool.kernel[0] ** (dims / 2))


def test_a_window_of_zeros_has_no_gradient():
    x = torch.zeros(1, 4, 1, requires_grad=True)
    Lowered(layer("lp_pool1d"), sequence(4, 1))(x).sum().backward()
    assert x.grad is not None
    assert x.grad.flatten().tolist() == [0, 0, 0, 0]


def test_a_large_norm_is_nearly_the_maximum():
    x = torch.tensor([1.0, -3.0, 2.0, 0.5]).view(1, 4, 1)
    found = run(layer("lp_pool1d", norm=10), x, x=[sequence(4, 1)])
    assert found.flatten().tolist() == pytest.approx([3, 2], rel=1e-4)
    with pytest.raises(ShapeError, match="Expected an image"):
        layer("lp_pool2d").output(features(3))
    assert layer("lp_pool2d").short_value() == "p = 2"
