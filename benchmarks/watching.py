"""What watching costs a step: the gradient norm at every step, layers every two seconds, beside a step without either.

Steps of the three kinds take turns, so that the load of the machine falls on all of them alike; the fastest twentieth
of each counts.

    OMP_NUM_THREADS=1 python -m benchmarks.watching
"""

import statistics
import time

import torch
from torch import nn

from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.training.layer_statistics import LayerWatch, Watch

STEPS = 600


def step(network: nn.Module, inputs: torch.Tensor, watch: Watch | None, number: int) -> float:
    """Seconds of one step."""
    began = time.perf_counter()
    if watch is not None:
        watch.before(number)
    network.zero_grad()
    network(inputs).square().mean().backward()
    if watch is not None:
        watch.after()
    return time.perf_counter() - began


def measure(name: str, network: nn.Sequential, inputs: torch.Tensor) -> None:
    """Prints one line: the step, and what each watch adds to it."""
    group, layers = SingleProcess(), LayerWatch(network, {str(n): (str(n),) for n in range(len(network))}, {})
    watches = {
        "plain": None,
        "gradient norm": Watch(network.parameters(), group, gradient_norm=True, layers=None),
        "layers": Watch(network.parameters(), group, gradient_norm=False, layers=layers),
    }
    taken: dict[str, list[float]] = {kind: [] for kind in watches}
    for number in range(1, STEPS + 1):
        for kind, watch in watches.items():
            taken[kind].append(step(network, inputs, watch, number))
            if watch is not None:
                watch.take()
    fast = {kind: statistics.quantiles(seconds, n=20)[0] for kind, seconds in taken.items()}
    ratios = (f"{kind} × {fast[kind] / fast['plain']:.3f}" for kind in ("gradient norm", "layers"))
    print(f"{name:>24}: {1e6 * fast['plain']:7.0f} µs  " + "  ".join(ratios))


def main() -> None:
    """A small network, of which a watch is a large part, and two with more to compute."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    small = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    measure("2 layers, 128 samples", small, torch.randn(128, 64))
    wide = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    measure("3 wide layers", wide, torch.randn(128, 64))
    maps = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten()
    )
    measure("2 convolutions", maps, torch.randn(64, 1, 8, 8))


if __name__ == "__main__":
    main()
