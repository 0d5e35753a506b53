"""Modules that torch's ONNX exporter cannot translate, in operations that it can.

The network that is exported gets them in place of torch's own; what it computes stays the same, which the comparison
with ONNX Runtime shows, because that runs the network as it was built.
"""

import contextlib
import copy
import functools
from collections.abc import Iterator

import torch
from torch import fx, nn
from torch._higher_order_ops.scan import scan

from engine.build.modules.recurrent import GruLoop, LstmLoop

ADAPTIVE_POOLS: dict[type[nn.Module], bool] = {
    nn.AdaptiveAvgPool1d: False,
    nn.AdaptiveAvgPool2d: False,
    nn.AdaptiveAvgPool3d: False,
    nn.AdaptiveMaxPool1d: True,
    nn.AdaptiveMaxPool2d: True,
    nn.AdaptiveMaxPool3d: True,
}


class AdaptivePool(nn.Module):
    """Adaptive pooling, one axis after the other: cell i of n goes from floor(i size / n) to ceil((i + 1) size / n)."""

    def __init__(self, cells: tuple[int, ...], *, takes_max: bool) -> None:
        super().__init__()
        self.cells = cells
        self.takes_max = takes_max

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for dim, count in enumerate(self.cells, x.dim() - len(self.cells)):
            x = torch.stack([self._cell(x, dim, index, count) for index in range(count)], dim)
        return x

    def _cell(self, x: torch.Tensor, dim: int, index: int, count: int) -> torch.Tensor:
        size = x.shape[dim]
        start, end = index * size // count, ((index + 1) * size + count - 1) // count
        cell = x[(slice(None),) * dim + (slice(start, end),)]
        return cell.amax(dim) if self.takes_max else cell.mean(dim)


Tensors = tuple[torch.Tensor, ...]


def _scan(part: LstmLoop | GruLoop, name: str, state: Tensors, given: Tensors) -> tuple[Tensors, torch.Tensor]:
    """The steps of a recurrent layer as one operator, for any number of steps, in place of a loop over so many."""

    def step(state: Tensors, given: Tensors) -> tuple[Tensors, torch.Tensor]:
        after = part.step(name, state, given)
        return after, after[0].clone()

    end, rows = scan(step, tuple(part.clone() for part in state), given, dim=0)
    return end, rows


def exportable(module: fx.GraphModule) -> fx.GraphModule:
    """A copy of the network that shares its weights, in forms that the exporter knows."""
    copied = copy.deepcopy(module, {id(p): p for p in (*module.parameters(), *module.buffers())})
    for name, part in module.named_modules():
        if type(part) in ADAPTIVE_POOLS:
            dims = int(type(part).__name__[-2])
            given = part.output_size
            cells = given if isinstance(given, tuple) else (given,) * dims
            copied.set_submodule(name, AdaptivePool(cells, takes_max=ADAPTIVE_POOLS[type(part)]))
        elif isinstance(part, nn.RReLU):
            copied.set_submodule(name, nn.LeakyReLU((part.lower + part.upper) / 2))
        elif isinstance(part, LstmLoop | GruLoop):
            own = copied.get_submodule(name)
            own.walk = functools.partial(_scan, own)  # type: ignore[arg-type, assignment]
    return copied


@contextlib.contextmanager
def free_lengths() -> Iterator[None]:
    """Lets recurrent layers be exported for sequences of any length, also after they have run in this process.

    The exporter puts other implementations in their place for a while (`torch.export._patches`, seen in 2.13), but the
    operators remember which one they called last; so the second such export of a process would fix the length.
    This can go when that module clears the memory itself.
    """
    operators = (torch.ops.aten.lstm.input, torch.ops.aten.gru.input)
    for operator in operators:
        operator._dispatch_cache.clear()
    try:
        yield
    finally:
        for operator in operators:
            operator._dispatch_cache.clear()
