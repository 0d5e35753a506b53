import pytest
import torch
from torch import nn

from engine.exchange.onnx_export import ADAPTIVE_POOLS, AdaptivePool, exportable
from engine.lowering.module import build
from engine.network.analysis import analyse
from tests.builders import chain, layer


@pytest.mark.parametrize("kind", ADAPTIVE_POOLS)
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8])
def test_adaptive_pooling_has_the_same_numbers_in_every_form(kind: type[nn.Module], cells: int) -> None:
    dims = int(kind.__name__[-2])
    x = torch.randn(2, 3, *(5, 7, 6)[:dims], generator=torch.Generator().manual_seed(0))
    other = AdaptivePool((cells, 2, 3)[:dims], takes_max=ADAPTIVE_POOLS[kind])
    assert torch.allclose(kind((cells, 2, 3)[:dims])(x), other(x), atol=1e-6)


def test_the_network_itself_stays_as_it_is_and_weights_are_shared() -> None:
    network = chain(layer("image_input", size=8), layer("conv2d", filters=2), layer("adaptive_max_pool2d", size=(3, 5)))
    module = build(network, analyse(network))
    copied = exportable(module)
    kinds = [{type(part) for part in one.modules()} for one in (module, copied)]
    assert nn.AdaptiveMaxPool2d in kinds[0] - kinds[1]
    assert AdaptivePool in kinds[1] - kinds[0]
    assert all(a is b for a, b in zip(module.parameters(), copied.parameters(), strict=True))
    images = torch.rand(2, 1, 8, 8)
    assert torch.equal(module(images), copied(images))
