"""Runs one layer by itself, straight from the calls that it lowers to, for tests of the layers' rules."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.layers.base import Call, LayerType
from netwright.engine.lowering.module import resolve


class Lowered(nn.Module):
    """The calls of a layer in a row, its modules as attributes."""

    def __init__(self, type: LayerType, *x: TensorType) -> None:
        super().__init__()
        lowered = type.lower(*x)
        self.calls = (lowered,) if isinstance(lowered, Call) else lowered
        self.made: list[Any] = [resolve(c.target)(**c.kwargs) for c in self.calls if c.kind == "module"]
        self.parts = nn.ModuleList(self.made)

    def forward(self, *x: torch.Tensor) -> torch.Tensor:
        made = iter(self.made)
        tensors: tuple[Any, ...] = x
        for call in self.calls:
            given = (list(tensors),) if call.as_list else tensors * call.repeat
            if call.kind == "module":
                result = next(made)(*given, **call.call_kwargs)
            elif call.kind == "function":
                result = resolve(call.target)(*given, *call.args, **call.kwargs)
            else:
                result = getattr(given[0], call.target)(*given[1:], *call.args, **call.kwargs)
            tensors = (result if call.pick is None else result[call.pick],)
        last: torch.Tensor = tensors[0]
        return last

    def shapes(self) -> dict[str, Sizes]:
        """The learnable parameters and their sizes."""
        made = [m for m in self.made if list(m.parameters())]
        assert len(made) <= 1
        return {name: tuple(p.shape) for m in made for name, p in m.named_parameters()}


def sizes_of(x: TensorType, steps: int = 11) -> Sizes:
    """The sizes of the type; an unknown one becomes `steps`."""
    return tuple(size if isinstance(size, int) else steps for size in x.sizes)


def random_tensors(x: Sequence[TensorType], batch: int = 2, steps: int = 11) -> list[torch.Tensor]:
    """A random tensor for each type; an unknown size becomes `steps`."""
    torch.manual_seed(0)
    shapes = [(batch, *sizes_of(type, steps)) for type in x]
    dtypes = [torch.complex64 if type.kind == "complex" else torch.float32 for type in x]
    made = [torch.rand(shape, dtype=dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    return [torch.zeros_like(t) if type.kind == "index" else t for type, t in zip(x, made, strict=True)]


def run(type: LayerType, *tensors: torch.Tensor, x: Sequence[TensorType]) -> torch.Tensor:
    """What the layer makes of these tensors, not in training."""
    with torch.no_grad():
        result: torch.Tensor = Lowered(type, *x).eval()(*tensors)
    return result


def assert_as_declared(type: LayerType, *x: TensorType, steps: int = 11, batch: int = 2, count: bool = True) -> None:
    """Sizes, learnables and work of the declared layer are those of its torch calls."""
    layer = Lowered(type, *x)
    declared = type.output(*x)
    # torch counts products, but not what fused kernels of the CPU do
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        result = layer(*random_tensors(x, batch, steps))
    assert result.shape[0] == batch
    assert len(result.shape) == 1 + declared.rank
    for size, real in zip(declared.sizes, result.shape[1:], strict=True):
        assert not isinstance(size, int) or size == real, (declared, tuple(result.shape))
    assert layer.shapes() == type.weights(*x)
    if count and all(t.is_known for t in x):
        assert counter.get_total_flops() == batch * type.flops(*x)
