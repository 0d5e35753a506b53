from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import TensorType, features, image
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.lowering.module import build
from netwright.engine.lowering.print_source import source
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network, Port
from tests.builders import add, layer


def pooled_and_back(x: TensorType, **values: object) -> Network:
    """An image, its max pooling with indices, and both together back to the size of the image."""
    network, given = add(Network.empty(), layer("image_input", channels=x["C"], size=x.sizes[1:], normalization="none"))
    network, pool = add(network, layer("max_pool2d", indices=True, **values), given)
    network, back = edits.add_layer(network, layer("max_unpool2d"), id="back")
    for port, source_port in (
        ("in", Port(pool.id, "out")),
        ("indices", Port(pool.id, "indices")),
        ("like", Port(given.id, "out")),
    ):
        network = edits.connect(network, source_port, Port(back.id, port))
    return network


def by_hand(x: torch.Tensor, kernel: int, stride: int, top: int) -> torch.Tensor:
    """The largest number of each window stays where it is, others become zero; counted for each window."""
    result = torch.zeros_like(x)
    height, width = x.shape
    for i in range(-top, height + top, stride):
        for j in range(-top, width + top, stride):
            if i + kernel > height + top or j + kernel > width + top:
                continue
            window = [(a, b) for a in range(i, i + kernel) for b in range(j, j + kernel)]
            places = [(a, b) for a, b in window if 0 <= a < height and 0 <= b < width]
            best = max(places, key=lambda place: float(x[place]))
            result[best] += x[best]
    return result


@pytest.mark.parametrize(("kernel", "stride", "top"), [(2, 2, 0), (3, 3, 1), (3, 2, 1)])
def test_the_largest_numbers_return_to_their_places(kernel, stride, top):
    network = pooled_and_back(image(1, 9, 7), kernel=kernel, stride=stride, padding=top)
    x = torch.randn(2, 1, 9, 7)
    found = build(network, analyse(network))(x)
    for sample in range(2):
        torch.testing.assert_close(found[sample, 0], by_hand(x[sample, 0], kernel, stride, top))


@pytest.mark.parametrize("values", [{}, {"padding": "same"}, {"padding": "same", "kernel": 3, "stride": 2}])
def test_module_source_and_onnx_agree(values, tmp_path):
    network = pooled_and_back(image(3, 8, 9), **values)
    module = build(network, analyse(network))
    x = torch.randn(2, 3, 8, 9)
    result = module(x)
    kept = result != 0
    pools = torch.nn.functional.pad(x, (0, 1, 0, 0), value=float("-inf"))
    if values == {"padding": "same"}:
        assert torch.equal(result[kept], x[kept])
        assert kept.sum() == nn.functional.max_pool2d(pools, 2).numel()
    names: dict[str, Any] = {"__name__": "printed"}
    exec(source(network, analyse(network), title="Unpooling"), names)
    assert torch.equal(names["Network"]()(x), result)
    done = export_onnx(network, module.state_dict(), Path(tmp_path) / "network.onnx", facts=None, samples=None)
    assert done.samples_compared == 5


def test_unused_indices_are_no_output_of_the_network():
    network, given = add(Network.empty(), layer("image_input", channels=1, size=8))
    network, pool = add(network, layer("max_pool2d", indices=True), given)
    assert network.output_ports == (Port(pool.id, "out"),)
    assert not layer("max_pool2d").side_ports()
    assert layer("max_pool2d").output_types(image(1, 8, 8)) == (image(1, 4, 4),)


@pytest.mark.parametrize(
    ("inputs", "port", "words"),
    [
        ([features(4), image(1, 4, 4), image(1, 8, 8)], "in", "Expected an image"),
        ([image(1, 4, 4), image(1, 4, 4), image(1, 8, 8)], "indices", "the second output of a max pooling layer"),
        ([image(2, 4, 4), TensorType(("C", "H", "W"), (1, 4, 4), "index"), image(1, 8, 8)], "indices", "one index"),
        ([image(1, 4, 4), TensorType(("C", "H", "W"), (1, 4, 4), "index"), image(1, 8, 3)], "like", "4 along axis W"),
    ],
)
def test_what_unpooling_refuses(inputs, port, words):
    with pytest.raises(ShapeError, match=words) as caught:
        layer("max_unpool2d").output(*inputs)
    assert caught.value.port == port


def test_the_channels_are_those_of_the_numbers():
    indices = TensorType(("C", "H", "W"), (5, 4, 4), "index")
    assert layer("max_unpool2d").output(image(5, 4, 4), indices, image(3, 8, 9)) == image(5, 8, 9)
