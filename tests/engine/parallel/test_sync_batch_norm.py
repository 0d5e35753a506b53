"""Batch statistics over two real processes, against torch's BatchNorm on the joined batch."""

import copy
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from torch import nn

from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.sync_batch_norm import JoinedBatchNorm, Share, freeze, join_batch_norms

ROOT = Path(__file__).parents[3]
WORKER = """
import os
import sys
from pathlib import Path
import torch
from torch import nn
from netwright.engine.parallel.process_group import TorchProcessGroup
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms

folder, rank = Path(sys.argv[1]), int(sys.argv[2])
given = torch.load(folder / "given.pt")
group, share = TorchProcessGroup(rank, 2, "gloo", folder / "rendezvous"), Share()
network = nn.Sequential(getattr(nn, given["kind"])(given["x"].shape[1], momentum=given["momentum"]))
network.load_state_dict(given["state"])
join_batch_norms(network, group, share)
begin, end = given["shares"][rank]
share.is_empty = begin == end
x = (given["x"][:1] if share.is_empty else given["x"][begin:end]).clone().requires_grad_()
y = network(x)[: end - begin]
value = (y * given["slope"][begin:end]).sum()
if given.get("is_penalised"):
    (slope,) = torch.autograd.grad(value + (y**3).sum(), x, create_graph=True)
    value = slope.square().sum()
torch.autograd.backward(value)
for parameter in network.parameters():
    group.all_reduce(parameter.grad)
gradients = {name: p.grad for name, p in network.named_parameters()}
done = {"y": y.detach(), "dx": x.grad[: end - begin], "rest": x.grad[end - begin :],
        "state": network.state_dict(), "gradients": gradients}
torch.save(done, folder / f"done{rank}.pt")
group.close()
os._exit(0)  # as workers do: the group ends with its process
"""


def in_two_processes(folder: Path, given: dict) -> list[dict]:
    torch.save(given, folder / "given.pt")
    command = [sys.executable, "-c", WORKER, str(folder)]
    workers = [subprocess.Popen([*command, str(rank)], cwd=ROOT) for rank in range(2)]
    assert [worker.wait(250) for worker in workers] == [0, 0]
    return [torch.load(folder / f"done{rank}.pt") for rank in range(2)]


@pytest.mark.parametrize(
    ("kind", "shape", "split", "momentum"),
    [
        ("BatchNorm2d", (5, 3, 4, 2), 3, 0.1),
        ("BatchNorm1d", (7, 4), 4, 0.3),
        ("BatchNorm2d", (1, 3, 4, 2), 1, 0.1),
        ("BatchNorm3d", (4, 2, 2, 3, 2), 1, None),
    ],
)
def test_two_workers_normalise_as_one(
    tmp_path: Path, kind: str, shape: tuple[int, ...], split: int, momentum: float | None
) -> None:
    """Forward, gradients of input and parameters, running statistics; uneven and empty shares; far from zero."""
    torch.manual_seed(2)
    x = torch.randn(shape) * 0.5 + 20
    slope = torch.randn(shape)
    norm = getattr(nn, kind)(shape[1], momentum=momentum)
    nn.init.uniform_(norm.weight, 0.5, 2.0)
    nn.init.uniform_(norm.bias, -1.0, 1.0)
    network = nn.Sequential(norm)
    shares = [(0, split), (split, shape[0])]
    given = {"kind": kind, "x": x, "slope": slope, "state": network.state_dict(), "shares": shares}
    done = in_two_processes(tmp_path, {**given, "momentum": momentum})

    whole = x.clone().requires_grad_()
    y = network(whole)
    torch.autograd.backward((y * slope).sum())
    assert whole.grad is not None
    torch.testing.assert_close(torch.cat([d["y"] for d in done]), y.detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(torch.cat([d["dx"] for d in done]), whole.grad, rtol=1e-3, atol=1e-4)
    for d in done:
        assert d["rest"].abs().sum() == 0, "a sample that does not count has no gradient"
        for name, parameter in network.named_parameters():
            torch.testing.assert_close(d["gradients"][name], parameter.grad, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(dict(d["state"]), dict(network.state_dict()), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("split", [3, 5])
def test_two_workers_differentiate_twice_as_one(tmp_path: Path, split: int) -> None:
    """A gradient penalty, as a training step of the user's own has it; uneven and empty shares."""
    torch.manual_seed(3)
    x, slope = torch.randn(5, 3, 4, dtype=torch.float64) + 2, torch.randn(5, 3, 4, dtype=torch.float64)
    norm = nn.BatchNorm1d(3).double()
    nn.init.uniform_(norm.weight, 0.5, 2.0)
    network = nn.Sequential(norm)
    given: dict = {"kind": "BatchNorm1d", "x": x.float(), "slope": slope.float(), "state": network.state_dict()}
    given |= {"shares": [(0, split), (split, 5)], "momentum": 0.1, "is_penalised": True}
    done = in_two_processes(tmp_path, given)

    whole = x.clone().requires_grad_()
    y = network(whole)
    (steepness,) = torch.autograd.grad((y * slope).sum() + (y**3).sum(), whole, create_graph=True)
    torch.autograd.backward(steepness.square().sum())
    assert whole.grad is not None
    found = torch.cat([d["dx"] for d in done]).double()
    torch.testing.assert_close(found, whole.grad, rtol=1e-3, atol=1e-3)
    for d in done:
        for name, parameter in network.named_parameters():
            torch.testing.assert_close(d["gradients"][name].double(), parameter.grad, rtol=1e-3, atol=1e-3)


def test_alone_it_is_torchs() -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 3, 2, 2)
    plain, joined = nn.Sequential(nn.BatchNorm2d(3)), nn.Sequential(nn.BatchNorm2d(3))
    join_batch_norms(joined, SingleProcess(), Share())
    assert isinstance(joined[0], JoinedBatchNorm)
    for _ in range(2):
        assert torch.equal(plain(x), joined(x))
    assert plain.state_dict().keys() == joined.state_dict().keys()
    assert all(
        torch.equal(a, b) for a, b in zip(plain.state_dict().values(), joined.state_dict().values(), strict=True)
    )
    assert torch.equal(plain.eval()(x), joined.eval()(x))


def test_one_value_a_channel_trains() -> None:
    """torch refuses it; a last batch of one sample must not end a run."""
    network = nn.Sequential(nn.BatchNorm1d(3))
    with pytest.raises(ValueError, match="more than 1 value"):
        network(torch.ones(1, 3))
    join_batch_norms(network, SingleProcess(), Share())
    y = network(torch.full((1, 3), 5.0))
    assert torch.equal(y.detach(), torch.zeros(1, 3))
    assert all(torch.isfinite(value).all() for value in network.state_dict().values())


@pytest.mark.parametrize("sizes", [(1, 3), (1, 3, 4, 4)])
def test_an_empty_share_alone_counts_nowhere_and_is_a_number(sizes: tuple[int, ...]) -> None:
    """As of a worker that goes its own way and has no sample of a small last batch."""
    kind = nn.BatchNorm1d if len(sizes) == 2 else nn.BatchNorm2d
    network, share = nn.Sequential(kind(3)), Share()
    join_batch_norms(network, SingleProcess(), share)
    network(torch.randn(4, *sizes[1:]))
    before = {name: value.clone() for name, value in network.state_dict().items()}
    share.is_empty = True
    torch.autograd.backward(network(torch.randn(sizes))[:0].sum())
    assert all(p.grad is not None and not p.grad.any() for p in network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


class _InUse(SingleProcess):
    """Two workers, of whom one holds what cannot be copied, and never answers."""

    size = 2

    def __init__(self) -> None:
        self.store = threading.Lock()

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        raise AssertionError("a copy waits for nobody")


def test_a_copy_is_a_plain_module_that_waits_for_nobody() -> None:
    """As hooks make it of the network that several workers train."""
    plain = nn.Sequential(nn.BatchNorm2d(3))
    joined = copy.deepcopy(plain)
    join_batch_norms(joined, _InUse(), Share(is_empty=True))
    copied = copy.deepcopy(joined)
    x = torch.randn(4, 3, 2, 2)
    assert torch.equal(copied(x), plain(x))
    assert all(map(torch.equal, copied.state_dict().values(), plain.state_dict().values()))
    assert torch.equal(joined.state_dict()["0.running_mean"], torch.zeros(3))


@pytest.mark.parametrize("affine", [True, False])
def test_a_frozen_one_normalises_in_training_as_it_does_later(affine: bool) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, affine=affine))
    for _ in range(3):
        network(torch.randn(8, 3) + 5)
    join_batch_norms(network, SingleProcess(), Share())
    freeze([network[1]])
    before = {name: value.clone() for name, value in network.state_dict().items()}
    x = torch.randn(4, 3)
    judged = network.eval()(x)
    trained = network.train()(x)
    assert network.training
    assert torch.equal(trained, judged)
    torch.autograd.backward(trained.sum())
    assert network[0].weight.grad is not None, "what stands before it learns"
    assert all(p.grad is None for p in network[1].parameters())
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name]), name
