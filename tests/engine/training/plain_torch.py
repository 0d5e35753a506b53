"""The same training twice: by the engine, with one worker or several, and by a loop of plain torch that knows nothing
of it. Run as a script with a folder, a rank and a size, it trains every case as one worker of a group."""

import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn
from torch.optim.swa_utils import SWALR, AveragedModel

from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess, TorchProcessGroup
from netwright.engine.parallel.strategies.selection import strategy_for
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import classes_of, numbers_of
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.gradient_checkpointing import CheckpointedNetwork
from netwright.engine.training.gradient_clipping import gradient_clip
from netwright.engine.training.levenberg_marquardt import LevenbergMarquardt
from netwright.engine.training.losses import loss_for
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Schedule, Solver
from netwright.engine.training.step import StepOptions, TrainStep
from netwright.engine.training.weight_averaging import BatchStatistics, average_for
from tests.engine.training.lm_by_hand import BookLm
from tests.engine.training.target_cases import Ending

SAMPLES, BATCH, EPOCHS = 23, 8, 4
STEPS_PER_EPOCH = 3
STEPS = EPOCHS * STEPS_PER_EPOCH

PlainLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Case:
    """Options, and how a person would write them with torch: an optimizer, a scheduler, a loss, a clip."""

    options: dict[str, Any]
    optimizer: Callable[[nn.Sequential], torch.optim.Optimizer]
    loss: PlainLoss = nn.functional.cross_entropy
    scheduler: Callable[[torch.optim.Optimizer], torch.optim.lr_scheduler.LRScheduler] | None = None
    clip: Callable[[list[nn.Parameter]], object] = lambda parameters: None
    said: dict[str, ParameterOptions] = field(default_factory=dict)
    task: str = "classes"
    objective: Callable[[nn.Sequential], torch.Tensor] | None = None
    dtype: torch.dtype = torch.float32
    by_hand: Callable[[nn.Sequential], BookLm] | None = None
    """In place of an optimizer and a loss, for what torch does not have."""
    normalises: bool = False
    strategy: str = ""
    environment: dict[str, Any] = field(default_factory=dict)
    pieces: int = 1
    precision: str = "fp32"
    recomputes: bool = False
    average: Callable[[nn.Sequential], AveragedModel] | None = None
    averages_from: int = 0
    ending: Ending | None = None
    """What stands in the place of one response a sample."""
    rounding: float = 1e-6
    """By how much other parts of a batch may change a sum, against its size."""


def network(case: Case) -> nn.Sequential:
    torch.manual_seed(3)
    middle: list[nn.Module] = [nn.BatchNorm1d(6)] if case.normalises else []
    shape = case.ending.shape if case.ending else (3,)
    end: list[nn.Module] = [nn.Unflatten(1, shape)] if len(shape) > 1 else []
    return nn.Sequential(nn.Linear(4, 6), *middle, nn.Tanh(), nn.Linear(6, math.prod(shape)), *end).to(case.dtype)


def numbers_in(model: nn.Module) -> list[float]:
    """All weights, and the statistics of batch normalisation."""
    vector = nn.utils.parameters_to_vector(model.parameters())
    return [*vector.tolist(), *(float(x) for buffer in model.buffers() for x in buffer.flatten())]


def data(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(4)
    inputs = torch.randn(SAMPLES, 4, generator=drawn).to(case.dtype)
    if case.ending:
        return inputs, case.ending.targets(drawn, SAMPLES)
    classes = torch.randint(0, 3, (SAMPLES,), generator=drawn)
    return inputs, classes if case.task == "classes" else 2 * torch.randn(SAMPLES, 3, generator=drawn)


def weights_and_biases(model: nn.Module, l2: float) -> list[dict[str, Any]]:
    """torch's groups: weight decay for weights alone, not those of a normalisation."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": l2},
        {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0},
    ]


def by_torch(case: Case) -> tuple[list[float], list[float]]:
    """Loss of every step, and all weights at the end."""
    model, (inputs, targets) = network(case), data(case)
    if case.by_hand:
        book, x, y = case.by_hand(model), inputs.numpy(), targets.numpy()
        starts = [step % STEPS_PER_EPOCH * BATCH for step in range(STEPS)]
        return [book.step(x[start : start + BATCH], y[start : start + BATCH]) for start in starts], book.w.tolist()
    optimizer = case.optimizer(model)
    scheduler = case.scheduler(optimizer) if case.scheduler else None
    average = case.average(model) if case.average else None
    annealing = SWALR(optimizer, 0.05, anneal_epochs=2) if case.averages_from else None
    low = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(case.precision)
    scaler = torch.amp.GradScaler("cpu", enabled=case.precision == "fp16")
    losses = []
    for step in range(STEPS):
        start = step % STEPS_PER_EPOCH * BATCH
        places = torch.arange(SAMPLES)[start : start + BATCH]
        seen: list[float] = []

        def closure() -> Any:
            optimizer.zero_grad()
            pieces = []
            for some in places.tensor_split(case.pieces):  # noqa: B023  # called at once
                with torch.autocast("cpu", low, enabled=low is not None):
                    output = model(inputs[some])
                pieces.append(len(some) / len(places) * case.loss(output.to(case.dtype), targets[some]))  # noqa: B023
            loss = torch.stack(pieces).sum()
            seen.append(float(loss.detach()))  # noqa: B023
            whole = loss + case.objective(model) if case.objective else loss
            torch.autograd.backward(scaler.scale(whole))
            if scaler.is_enabled():
                scaler.unscale_(optimizer)
            case.clip(list(model.parameters()))
            return whole

        if scaler.is_enabled():
            closure()
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step(closure)
        losses.append(seen[0])
        epoch, is_end = 1 + step // STEPS_PER_EPOCH, (step + 1) % STEPS_PER_EPOCH == 0
        if average is not None and (is_end and epoch >= case.averages_from if annealing else True):
            average.update_parameters(model)
            if annealing is not None and step < STEPS - 1:
                annealing.step()
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            if is_end:
                scheduler.step(losses[-1])
        elif scheduler is not None and step < STEPS - 1:
            scheduler.step()
    if case.options.get("batch_normalization_statistics") == "population":
        entering = model[0](inputs).detach()
        model[1].running_mean.copy_(entering.mean(0))  # type: ignore[operator]
        model[1].running_var.copy_(entering.var(0, correction=0))  # type: ignore[operator]
    return losses, numbers_in(model if average is None else average.module)


def by_engine(case: Case, group: ProcessGroup, *, accelerated: bool = True) -> tuple[list[float], list[float]]:
    """Loss of every step, and all weights at the end."""
    options = TrainingOptions(
        mini_batch_size=BATCH,
        max_epochs=EPOCHS,
        shuffle="never",
        gradient_accumulation=case.pieces,
        **case.options,
    )
    precision, start = Precision(case.precision, torch.device("cpu"), group), case
    if case.precision == "fp64":
        start = replace(case, dtype=torch.float32)
    model, (inputs, targets) = precision.network(network(start)), data(start)
    share = Share()
    if case.recomputes:
        model = fx.symbolic_trace(model)
    join_batch_norms(model, group, share)
    called = CheckpointedNetwork(model, "auto", share) if isinstance(model, fx.GraphModule) else model
    kind = LevenbergMarquardt(options, model, case.said, group) if options.solver == "lm" else None
    population = BatchStatistics(model, share, precision, lambda: batches.one_pass())
    plain = classes_of("a", "b", "c") if case.task == "classes" else numbers_of(3)
    wanted = (case.ending.wanted,) if case.ending else alone(*plain)
    schedule = Schedule(options, STEPS_PER_EPOCH, STEPS)
    trained_model = TrainedModel(
        model,
        strategy_for(
            EnvironmentOptions(**case.environment), model, group, torch.device("cpu"), share, case.strategy, called
        ),
        kind or Solver(options, model, case.said, fused=accelerated),
        group,
        precision,
        average=average_for(options, model, STEPS_PER_EPOCH, population, schedule),
        statistics=population if options.batch_normalization_statistics == "population" else None,
    )
    clip = gradient_clip(options, model.parameters(), group)
    step_options = StepOptions(clip=clip, manual_backward=accelerated)
    train = TrainStep(trained_model, loss_for(options, wanted, (targets,)), schedule, share, step_options)
    order = SampleOrder(SAMPLES, BATCH, "never", 0)
    batches = BatchLoader(
        precision.data(ResidentDataset((inputs,), (targets,))), order, group, micro_batches=case.pieces
    )
    losses = []
    for epoch in range(EPOCHS):
        for number, batch in enumerate(batches.of_epoch(epoch + 1)):
            done = train(batch, epoch * STEPS_PER_EPOCH + number)
            losses.append(float(group.all_reduce(done.loss.clone())))
        schedule.validated((epoch + 1) * STEPS_PER_EPOCH, losses[-1], higher_is_better=False)
    trained_model.finalize()
    trained = network(case)
    trained.load_state_dict(trained_model.state())
    return losses, numbers_in(trained)


def main(folder: Path, rank: int, size: int) -> None:
    """All cases as one worker of several; the first writes what came of them."""
    from tests.engine.training.test_plain_torch import CASES

    torch.set_num_threads(1)
    group = TorchProcessGroup(rank, size, "gloo", folder / "rendezvous") if size > 1 else SingleProcess()
    found = {name: by_engine(case, group) for name, case in CASES.items()}
    if rank == 0:
        (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")
    group.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    os._exit(0)
