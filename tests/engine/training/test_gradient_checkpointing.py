"""Gradient checkpointing: the numbers of the whole network, and less that is held."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms
from netwright.engine.project.file import load
from netwright.engine.training.gradient_checkpointing import CheckpointedNetwork

TEMPLATES = Path(__file__).parents[3] / "resources" / "templates"


class TwoAlike(SingleProcess):
    """Another worker that holds the same samples."""

    size = 2

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.mul_(2.0)


class Residual(nn.Module):
    """A chain with a way around each third layer, with all that is drawn or moved while training."""

    def __init__(self, repeats: int = 6) -> None:
        super().__init__()
        self.first = nn.Linear(5, 16)
        for number in range(repeats):
            parts = [nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3)]
            self.add_module(f"stage{number}", nn.Sequential(*parts))
        self.last = nn.Linear(16, 2)
        self._repeats = repeats

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for number in range(self._repeats):
            x = x + self.get_submodule(f"stage{number}")(x)
        result: torch.Tensor = self.last(x)
        return result


def trained(how: str, group: ProcessGroup) -> tuple[Any, int]:
    """Loss, gradients and states of two steps; and how many bytes the first one held for its backward pass."""
    torch.manual_seed(2)
    network, share = fx.symbolic_trace(Residual()), Share()
    join_batch_norms(network, group, share)
    network.train()
    called = network if how == "off" else CheckpointedNetwork(network, how, share)
    inputs, held, losses = torch.randn(64, 5), [], []

    def hold(tensor: torch.Tensor) -> torch.Tensor:
        held.append(tensor.nbytes)
        return tensor

    for _ in range(2):
        with torch.autograd.graph.saved_tensors_hooks(hold, lambda tensor: tensor):
            loss = called(inputs).square().sum()
        losses.append(loss.detach())
        torch.autograd.backward(loss)
    gradients = [p.grad for p in network.parameters()]
    return (losses, gradients, dict(network.state_dict()), torch.rand(3)), sum(held) // 2


@pytest.mark.parametrize("group", [SingleProcess(), TwoAlike()], ids=["alone", "over workers"])
@pytest.mark.parametrize("how", ["auto", "blocks"])
def test_the_numbers_are_those_of_the_whole_network(how: str, group: ProcessGroup) -> None:
    expected, much = trained("off", group)
    found, little = trained(how, group)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert little < much / 2


def built(name: str) -> tuple[Network, fx.GraphModule]:
    network = load(TEMPLATES / f"{name}.netwright").project.network
    return network, build(network, analyse(network))


@pytest.mark.parametrize("how", ["auto", "blocks"])
def test_a_built_network_with_blocks_gives_the_same(how: str) -> None:
    network, module = built("resnet18")
    share = Share()
    join_batch_norms(module, SingleProcess(), share)
    module.eval()  # running statistics: the order of sums would show in those of a batch
    called = CheckpointedNetwork(module, how, share)
    x = torch.randn(1, 3, 64, 64)
    torch.testing.assert_close(called(x), module(x), rtol=0, atol=0)
    blocks = sum(layer.type.key == "block" for layer in network.layers.values())
    assert called.num_recomputed >= (blocks if how == "blocks" else 4)
    assert {id(p) for p in called.parameters()} == {id(p) for p in module.parameters()}
