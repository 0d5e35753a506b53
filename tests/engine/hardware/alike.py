"""The same training by one worker and by two, by every strategy whose workers share a batch. Run as a script with a
folder, a rank and a size it trains every case as one worker, and goes on from the middle of an epoch with another."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from netwright.engine.core.types import features
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess, TorchProcessGroup
from netwright.engine.parallel.strategies.selection import strategy_for
from netwright.engine.parallel.sync_batch_norm import Share, join_batch_norms
from netwright.engine.parallel.tensor_shards import whole
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.checkpoint_files import Checkpoint
from netwright.engine.training.checkpoints import read, write
from netwright.engine.training.evaluation import EvaluationOptions, Evaluator, metrics_for
from netwright.engine.training.losses import loss_for
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.solvers import Schedule, Solver
from netwright.engine.training.step import TrainStep
from tests.builders import chain, layer

SAMPLES, BATCH, STEPS_PER_EPOCH, EPOCHS = 21, 8, 3, 3
"""The last batch has five samples: with three parts of four, four for the first worker and one for the second."""
MIDDLE = 4
"""Steps made when the state is kept, in the second epoch of three steps."""


@dataclass(frozen=True)
class Case:
    """Options, whether batches are normalised, and by how much the losses may differ from those of one worker; None:
    they are others."""

    environment: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    normalises: bool = True
    rounding: float | None = 1e-5
    training: dict[str, Any] = field(default_factory=lambda: {"solver": "adam"})


SGDM = {"solver": "sgdm", "initial_learn_rate": 0.05}
CASES = {
    "data parallel, one sum": Case(name="flat"),
    "data parallel, DDP": Case(name="ddp"),
    "halves": Case({"gradient_compression": "fp16"}, rounding=2e-3),
    "fully sharded": Case({"strategy": "fully-sharded"}),
    "fully sharded, kept on the CPU": Case({"strategy": "fully-sharded", "cpu_offload": True}),
    "local, averaged at every step": Case(
        {"strategy": "local-sgd", "averaging_interval": 1}, normalises=False, training=SGDM
    ),
    "local, averaged now and then": Case({"strategy": "local-sgd", "averaging_interval": 3}, rounding=None),
}


def network_of(case: Case) -> Network:
    """Layers large enough to be in shards of their own."""
    norm = [layer("batch_norm")] if case.normalises else []
    wide = layer("fully_connected", outputs=40)
    # What is normalised needs no bias: its gradient is nothing but rounding, which adam makes large.
    first = wide.replace(bias=not case.normalises)
    return chain(
        layer("feature_input", channels=6), first, *norm, layer("tanh"), wide, layer("fully_connected", outputs=3)
    )


def _data() -> ResidentDataset:
    drawn = torch.Generator().manual_seed(4)
    return ResidentDataset(
        (torch.randn(SAMPLES, 6, generator=drawn),), (torch.randint(0, 3, (SAMPLES,), generator=drawn),)
    )


class Training:
    """One case by one group."""

    def __init__(self, case: Case, group: ProcessGroup, seed: int = 3) -> None:
        """Another seed begins elsewhere."""
        torch.manual_seed(seed)
        options = TrainingOptions(mini_batch_size=BATCH, max_epochs=EPOCHS, **case.training)
        environment = EnvironmentOptions(target="multi-cpu", num_workers=2, **case.environment)
        network, cpu, self.data = network_of(case), torch.device("cpu"), _data()
        module = build(network, analyse(network))
        initialize(module, seed, {})
        goes_alone = environment.strategy == "local-sgd"
        join_batch_norms(module, SingleProcess() if goes_alone else group, share := Share())
        facts = DatasetInfo((InputInfo("x", features(6)),), {"training": SAMPLES}, classes_of("a", "b", "c"))
        loads = (3.0, 1.0) if group.size > 1 else ()
        self.group = group
        strategy = strategy_for(environment, module, group, cpu, share, case.name)
        self.model = TrainedModel(module, strategy, Solver(options, module), group)
        loss = loss_for(options, alone(*facts.targets), self.data.targets)
        self.step = TrainStep(self.model, loss, Schedule(options, STEPS_PER_EPOCH, 9), share)
        metrics = metrics_for(options, facts, self.data.targets)
        self.evaluator = Evaluator(self.model, loss, metrics, EvaluationOptions(shard_weights=loads))
        self.batches = BatchLoader(
            self.data, SampleOrder(SAMPLES, BATCH, "every-epoch", 0), group, micro_batches=2, loads=loads
        )

    def steps(self, first: int, end: int) -> list[float]:
        """The losses of these steps."""
        losses = []
        for step in range(first, end):
            batch = next(iter(self.batches.of_epoch(step // STEPS_PER_EPOCH + 1, step % STEPS_PER_EPOCH)))
            losses.append(float(self.group.all_reduce(self.step(batch, step).loss.clone())))
        return losses

    def ended(self) -> dict[str, Any]:
        """All that came of it."""
        return {"scores": self.evaluator.evaluate(self.data).values, "state": self.state()}

    def state(self) -> dict[str, Any]:
        """Everything that training changes, with whole tensors. A collective."""
        state: dict[str, Any] = torch.utils._pytree.tree_map(whole, self.model.state_dict())
        return state


def main(folder: Path, rank: int, size: int) -> None:
    """All cases as one worker of several; the first writes what came of them."""
    torch.set_num_threads(1)
    group = TorchProcessGroup(rank, size, "gloo", folder / "rendezvous")
    found = {}
    last = STEPS_PER_EPOCH * EPOCHS
    for number, (name, case) in enumerate(CASES.items()):
        through = Training(case, group)
        losses = through.steps(0, MIDDLE)
        through.evaluator.evaluate(through.data)  # those who went their own way meet first
        kept = through.state()
        if rank == 0:
            write(kept, folder / str(number), MIDDLE)
        group.all_reduce(torch.zeros(1))  # it is there
        losses += through.steps(MIDDLE, last)
        again = Training(case, group, seed=5)
        again.model.load_state_dict(read(Checkpoint(folder / str(number), MIDDLE)))
        more = again.steps(MIDDLE, last)
        found[name] = {"losses": losses, "more": more, **through.ended(), "again": again.ended()}
    if rank == 0:
        torch.save(found, folder / "found.pt")
    group.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    os._exit(0)
