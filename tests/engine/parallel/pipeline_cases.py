"""The same training by one worker, and by several of which each has a stage. Run as a script with a folder, a rank and
a size it trains every case as one worker of a pipeline."""

import copy
import os
import sys
from dataclasses import dataclass, field
from functools import partial
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
from netwright.engine.parallel.strategies.pipeline import Pipeline
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.parallel.sync_batch_norm import Share, freeze, join_batch_norms
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.pipeline_stages import stages_by_hand
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.evaluation import Evaluator, metrics_for
from netwright.engine.training.gradient_clipping import gradient_clip
from netwright.engine.training.losses import loss_for
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.pipeline_step import PipelineEvaluator, PipelineTrainStep
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Schedule, Solver, groups_by_name
from netwright.engine.training.step import StepOptions, TrainStep
from tests.builders import add, layer

SAMPLES, BATCH, STEPS_PER_EPOCH, EPOCHS = 18, 8, 3, 3
"""The last batch has two samples, fewer than pieces."""


def with_skip(*, normalises: bool = False) -> Network:
    """What the first layers give is needed by the next stage and by the last one, and so is the input."""
    network, entering = add(Network.empty(), layer("feature_input", channels=6), name="into")
    network, first = add(network, layer("fully_connected", outputs=6), entering, name="fc_1")
    network, tanh = add(network, layer("tanh"), first, name="tanh")
    network, second = add(network, layer("fully_connected", outputs=6), tanh, name="fc_2")
    if normalises:
        network, second = add(network, layer("batch_norm"), second, name="norm")
    network, more = add(network, layer("tanh"), second, name="more")
    network, third = add(network, layer("fully_connected", outputs=6), more, name="fc_3")
    network, some = add(network, layer("addition"), tanh, third, name="sum_1")
    network, all = add(network, layer("addition"), entering, some, name="sum_2")
    network, _ = add(network, layer("fully_connected", outputs=3), all, name="fc_4")
    return network


def with_lengths() -> Network:
    """What is told of the lengths of sequences goes from stage to stage, too, and they differ from batch to batch."""
    network, entering = add(Network.empty(), layer("sequence_input", channels=6), name="into")
    network, first = add(network, layer("conv1d", filters=6, kernel=(3,), stride=(2,), padding=(1,)), entering)
    network, second = add(network, layer("lstm", hidden_units=5), first, name="lstm_1")
    network, third = add(network, layer("lstm", hidden_units=5, output_mode="last"), second, name="lstm_2")
    network, _ = add(network, layer("fully_connected", outputs=3), third, name="fc_3")
    return network


@dataclass(frozen=True)
class Case:
    """A network, its stages, and options."""

    network: Network
    pieces: int = 4
    stages: str = "fc_2: 2, fc_3: 3"
    options: dict[str, Any] = field(default_factory=dict)
    precision: str = "fp32"
    frozen: str = ""
    has_lengths: bool = False


CLIPPED = {"gradient_threshold": 0.2, "gradient_threshold_method": "global-l2norm"}
CASES = {
    "skip, sgdm, clipped": Case(with_skip(), options={"solver": "sgdm", **CLIPPED}),
    "normalised, adam": Case(with_skip(normalises=True), 2, options={"solver": "adam", "gradient_threshold": 0.3}),
    "bf16, more pieces than stages": Case(with_skip(), 7, options={"solver": "adamw"}, precision="bf16"),
    "nothing to learn at first": Case(with_skip(), stages="fc_3: 2, fc_4: 3", options=CLIPPED, frozen="fc_1"),
    "sequences": Case(with_lengths(), stages="lstm_1: 2, lstm_2: 3", options={"solver": "adam"}, has_lengths=True),
}


def _data(*, has_lengths: bool) -> ResidentDataset:
    drawn = torch.Generator().manual_seed(4)
    targets = torch.randint(0, 3, (SAMPLES,), generator=drawn)
    if not has_lengths:
        return ResidentDataset((torch.randn(SAMPLES, 6, generator=drawn),), (targets,))
    lengths = torch.randint(4, 12, (SAMPLES,), generator=drawn)
    return ResidentDataset((torch.randn(SAMPLES, 12, 6, generator=drawn),), (targets,), (lengths,))


def trained(case: Case, group: ProcessGroup) -> dict[str, Any]:
    """What came of it, as the first worker knows it."""
    torch.manual_seed(3)
    options = TrainingOptions(mini_batch_size=BATCH, max_epochs=EPOCHS, initial_learn_rate=0.05, **case.options)
    analysis = analyse(case.network)
    whole = build(case.network, analysis, lengths=case.has_lengths)
    initialize(whole, 0, {})
    join_batch_norms(whole, SingleProcess(), share := Share())
    if case.frozen:
        freeze([whole.get_submodule(case.frozen)])
    data, cpu = _data(has_lengths=case.has_lengths), torch.device("cpu")
    facts = DatasetInfo((InputInfo("x", features(6)),), {"training": SAMPLES}, classes_of("a", "b", "c"))
    loss = loss_for(options, alone(*facts.targets), data.targets)
    metrics = metrics_for(options, facts, data.targets)
    precision = Precision(case.precision, cpu, group)
    if group.size > 1:
        stages = stages_by_hand(case.network, analysis, case.stages)
        pipeline = Pipeline(whole, stages.of, group, cpu, partial(groups_by_name, options=options, parameters={}))
        model = TrainedModel(pipeline.module, pipeline, Solver(options, pipeline.module), group, precision)
    else:
        model = TrainedModel(whole, Single(whole), Solver(options, whole), group, precision)
    clip = gradient_clip(options, model.network.parameters(), group, in_stages=group.size > 1)
    schedule, step_options = Schedule(options, STEPS_PER_EPOCH, 9), StepOptions(clip=clip)
    train = (PipelineTrainStep if group.size > 1 else TrainStep)(model, loss, schedule, share, step_options)
    evaluator = (PipelineEvaluator if group.size > 1 else Evaluator)(model, loss, metrics)
    batches = BatchLoader(data, SampleOrder(SAMPLES, BATCH, "never", 0), SingleProcess(), micro_batches=case.pieces)
    losses, seen, kept = [], [], {}
    for epoch in range(EPOCHS):
        for number, batch in enumerate(batches.of_epoch(epoch + 1)):
            done = train(batch, epoch * STEPS_PER_EPOCH + number)
            losses.append(float(group.all_reduce(done.loss.clone())))
            seen.append(float(group.all_reduce(done.outputs[0].sum())))
            assert len(done.outputs[0]) == len(done.targets[0]) == done.count
        if epoch == 0:
            kept = copy.deepcopy(model.state_dict())
    scores = evaluator.evaluate(data)
    ended = model.state_dict()
    return {"losses": losses, "seen": seen, "scores": scores.values, "kept": kept, "ended": ended, "step": train}


def main(folder: Path, rank: int, size: int) -> None:
    """All cases as one worker of several; the first writes what came of them. The last epochs are trained again from
    what was kept after the first, by one worker, to be told in turn to all."""
    torch.set_num_threads(1)
    group = TorchProcessGroup(rank, size, "gloo", folder / "rendezvous")
    found = {}
    for name, case in CASES.items():
        found[name] = trained(case, group)
        model = found[name].pop("step").model
        # What one worker kept is taken up by all of them, and told again.
        model.load_state_dict(trained(case, SingleProcess())["kept"])
        found[name]["taken up"] = model.state_dict()
    if rank == 0:
        torch.save(found, folder / "found.pt")
    group.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    os._exit(0)
