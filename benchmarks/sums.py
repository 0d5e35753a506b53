"""What summing gradients over two workers of one machine takes: through shared memory, and over gloo.

    python benchmarks/sums.py [--rounds 60]

Both ways in turn, between the same two processes with a thread each. First sums of several sizes alone; then a whole
forward and backward of half a batch of the shared benchmark's networks, by torch's DistributedDataParallel over gloo,
by one flat sum over gloo, and by one flat sum through shared memory.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import torch  # noqa: E402  # the folder has no package
from peer import WORKLOADS, network  # noqa: E402
from torch import nn  # noqa: E402

from netwright.engine.lowering.module import build  # noqa: E402
from netwright.engine.network.analysis import analyse  # noqa: E402
from netwright.engine.parallel.process_group import TorchProcessGroup  # noqa: E402
from netwright.engine.parallel.strategies.ddp import Ddp  # noqa: E402
from netwright.engine.parallel.strategies.flat_all_reduce import FlatAllReduce  # noqa: E402
from netwright.engine.parallel.strategies.strategy import Strategy  # noqa: E402

SIZES = (1, 1_000, 10_000, 100_000, 250_000, 1_000_000, 10_000_000)
CPU = torch.device("cpu")


class OverGloo:
    """The same workers without their shared memory."""

    def __init__(self, group: TorchProcessGroup) -> None:
        self.rank, self.size, self.communication_s = group.rank, group.size, 0.0

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over all workers, in place."""
        torch.distributed.all_reduce(tensor)
        return tensor

    def close(self) -> None:
        """The other one does."""


def main() -> None:
    """Start two workers and wait."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for rank in range(2):
            pid = os.fork()
            if pid == 0:
                _work(rank, Path(folder), rounds)
                os._exit(0)
            started.append(pid)
        for pid in started:
            os.waitpid(pid, 0)


def _work(rank: int, folder: Path, rounds: int) -> None:
    torch.set_num_threads(1)
    group = TorchProcessGroup(rank, 2, "gloo", folder / "rendezvous")
    if not group.shares_memory:
        sys.exit("Memory cannot be shared here.")
    gloo = OverGloo(group)
    say = print if rank == 0 else lambda *_, **__: None
    say("| bytes | gloo, us (best) | shared memory, us (best) | times faster (best) |\n|---|---|---|---|")
    for count in SIZES:
        tensor = torch.zeros(count)
        ways = {"gloo": lambda t=tensor: gloo.all_reduce(t), "shared": lambda t=tensor: group.all_reduce(t)}
        found = _in_turn(ways, group, rounds if count < 10**6 else 8)
        say(_line(f"{4 * count:,}", found, 1e6, "gloo"), flush=True)
    say("\n| half a batch of | DDP over gloo, ms (best) | flat over gloo | flat, shared memory | times faster |")
    say("|---|---|---|---|---|")
    for name in WORKLOADS:
        found = _in_turn(_steps(name, group, gloo), group, max(8, rounds // 3))
        say(_line(name, found, 1e3, "ddp"), flush=True)
    group.close()


def _steps(name: str, group: TorchProcessGroup, gloo: OverGloo) -> dict[str, Callable[[], object]]:
    """Forward and backward, each strategy with a copy of the network."""
    load, built = WORKLOADS[name], network(WORKLOADS[name]["layers"])
    inputs = torch.randn(load["batch"] // 2, *load["shape"])

    def step(strategy: Strategy) -> None:
        strategy.zero_grad()
        strategy.backward(strategy.module(inputs).square().mean())

    def made() -> nn.Module:
        torch.manual_seed(0)
        return build(built, analyse(built))

    a, b, c = made(), made(), made()
    ways: dict[str, Strategy] = {
        "ddp": Ddp(a, a, group, CPU),
        "flat": FlatAllReduce(b, b, gloo),
        "shared": FlatAllReduce(c, c, group),
    }
    return {way: lambda strategy=strategy: step(strategy) for way, strategy in ways.items()}


def _in_turn(ways: dict[str, Callable[[], object]], group: TorchProcessGroup, rounds: int) -> dict[str, list[float]]:
    """Seconds of each way in each round but the first; both workers begin each together."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            group.all_reduce(torch.zeros(1))
            began = time.perf_counter()
            way()
            found[name].append(time.perf_counter() - began)
    return {name: times[1:] for name, times in found.items()}


def _line(title: str, found: dict[str, list[float]], unit: float, yardstick: str) -> str:
    cells = [f"{unit * median(times):.3g} ({unit * min(times):.3g})" for times in found.values()]
    slow, fast = found[yardstick], found["shared"]
    gain = f"{median(slow) / median(fast):.1f} ({min(slow) / min(fast):.1f})"
    return f"| {title} | {' | '.join(cells)} | {gain} |"


if __name__ == "__main__":
    main()
