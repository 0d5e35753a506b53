"""What precision, pieces, segments and averages cost a training step, in processor time, and what a step holds.

    python -m benchmarks.steps

Each figure is the best of several rounds in turns, as a ratio to the step with the defaults. `by hand` is the same step
as a person would write it: forward, loss, backward, one move of the same optimizer.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional

from netwright.engine.data.loading.batches import Batch, Tensors
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.gradient_checkpointing import CheckpointedNetwork
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep
from netwright.engine.training.weight_averaging import BatchStatistics, average_for

CPU = torch.device("cpu")
ROUNDS = 5
CASES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "gradient_accumulation=4": {"gradient_accumulation": 4},
    "gradient_checkpointing=auto": {"gradient_checkpointing": "auto"},
    "precision=bf16": {"precision": "bf16"},
    "precision=fp16": {"precision": "fp16"},
    "precision=fp64": {"precision": "fp64"},
    "weight_averaging=ema": {"weight_averaging": "ema"},
}


@dataclass(frozen=True)
class Work:
    """A network, a batch for it, and how many steps make a round."""

    make: Callable[[], nn.Module]
    sizes: tuple[int, ...]
    steps: int


def small() -> nn.Module:
    """So small that overhead shows."""
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 10))


def convolutions() -> nn.Module:
    """Batch normalisation between them."""

    def stage(channels: int) -> list[nn.Module]:
        return [nn.Conv2d(channels, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU()]

    stages = [layer for number in range(9) for layer in stage(24 if number else 3)]
    return nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))


WORK = {"small": Work(small, (32, 20), 400), "9 convolutions": Work(convolutions, (8, 3, 16, 16), 3)}


def data(work: Work) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and classes."""
    drawn = torch.Generator().manual_seed(0)
    return torch.randn(work.sizes, generator=drawn), torch.randint(0, 10, (work.sizes[0],), generator=drawn)


def loss_of(outputs: Tensors, targets: Tensors) -> torch.Tensor:
    """Cross-entropy, the sum over samples."""
    return functional.cross_entropy(outputs[0], targets[0], reduction="sum")


def by_engine(work: Work, given: dict[str, Any]) -> Callable[[int], object]:
    """A step with these options."""
    options, share, group = TrainingOptions(**given), Share(), SingleProcess()
    precision = Precision(options.precision, CPU, group)
    network = precision.network(fx.symbolic_trace(work.make()))
    join_batch_norms(network, group, share)
    called: nn.Module = network
    if options.gradient_checkpointing != "off":
        assert isinstance(network, fx.GraphModule)
        called = CheckpointedNetwork(network, options.gradient_checkpointing, share)
    inputs, targets = data(work)
    inputs = inputs.double() if options.precision == "fp64" else inputs
    size, pieces = len(inputs), options.gradient_accumulation
    batch = Batch((inputs,), (targets,), size, size, (size // pieces,) * pieces)
    model = TrainedModel(
        network,
        Single(network, called),
        Solver(options, network),
        group,
        precision,
        average=average_for(options, network, 10, BatchStatistics(network, share, precision, lambda: iter(()))),
    )
    return partial(TrainStep(model, loss_of, lambda step: 0.01, share), batch)


def by_hand(work: Work) -> Callable[[int], object]:
    """The same without the engine."""
    network = work.make()
    solver, (inputs, targets) = Solver(TrainingOptions(), network), data(work)
    parameters = list(network.parameters())

    def step(number: int) -> torch.Tensor:
        for parameter in parameters:
            parameter.grad = None
        loss = loss_of((network(inputs),), (targets,)) / len(inputs)
        torch.autograd.backward(loss)
        solver.step(0.01)
        given: torch.Tensor = loss.detach()
        return given

    return step


def held(step: Callable[[int], object]) -> int:
    """The most bytes that a step holds for its backward passes at one time, weights included."""
    now, most, sizes = 0, 0, dict[int, int]()

    def hold(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal now, most
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in sizes:
            sizes[storage.data_ptr()] = storage.nbytes()
            now += storage.nbytes()
            most = max(most, now)
        return tensor

    backward = torch.autograd.backward

    def release(loss: torch.Tensor) -> None:
        nonlocal now
        backward(loss)
        sizes.clear()
        now = 0

    torch.autograd.backward = release  # type: ignore[assignment]
    try:
        with torch.autograd.graph.saved_tensors_hooks(hold, lambda tensor: tensor):
            step(0)
    finally:
        torch.autograd.backward = backward
    return most


def main() -> None:
    """All cases in turns; a line each with both ratios."""
    torch.set_num_threads(1)
    for name, work in WORK.items():
        steps = {"by hand": by_hand(work), **{case: by_engine(work, given) for case, given in CASES.items()}}
        best = dict.fromkeys(steps, float("inf"))
        for _ in range(ROUNDS):
            for case, step in steps.items():
                began = time.process_time()
                for number in range(work.steps):
                    step(number)
                best[case] = min(best[case], time.process_time() - began)
        memory = {case: held(step) for case, step in steps.items()}
        for case, seconds in best.items():
            ratio = f"{seconds / best['defaults']:.2f}"
            print(f"{name:16} {case:28} {ratio:>6} {memory[case] / memory['defaults']:8.2f}")


if __name__ == "__main__":
    main()
