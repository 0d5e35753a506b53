"""One worker of a run: puts the pieces of a training together, runs it, and says how it went."""

import contextlib
import gc
import math
import os
import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch

from engine.core.errors import EXIT_DEFECT, EXIT_DONE, EXIT_RUN_FAILED, UserError
from engine.data.batches import BatchLoader, ResidentDataset, SampleOrder
from engine.hardware.accelerators import refusal_of
from engine.hardware.utilization import utilization_of
from engine.launch.channel import ReportPipe, RequestPipe
from engine.launch.placement_trial import choose_place
from engine.launch.worker_process import begin
from engine.lowering.user_code import blame
from engine.parallel import process_group
from engine.parallel.process_group import ProcessGroup, SingleProcess, WorkerSpec, is_peer_failure
from engine.placement.batch_arithmetic import rate_factor
from engine.project.bindings import in_order
from engine.project.check_strategies import pieces_of_batch
from engine.project.dataset_info import SPLITS
from engine.project.training import TrainingLength, training_length
from engine.runs.checkpoints import Checkpoint, all_checkpoints, beside, place
from engine.runs.confusion import write_confusions
from engine.runs.events import Message, Started, to_json
from engine.runs.folder import RunFolder
from engine.training import out_of_memory
from engine.training.assembling import augmentation_of, choose_threads, loss_of, network_for, part_for, unit_for
from engine.training.best_model import BestModelTracker, CheckpointSaver, FolderStore, NullStore, nowhere
from engine.training.checkpoints import RandomStates
from engine.training.evaluation import metrics_for, named
from engine.training.fast import garbage_timing
from engine.training.metrics import Metric
from engine.training.nan_replay import NanReplay
from engine.training.precision import Precision
from engine.training.recorder import Clock, Recorder
from engine.training.reporter import NoRequests, NullEventSink, Reporter
from engine.training.setting import Setting, known_of, process_group_for, set_up
from engine.training.solvers import Schedule
from engine.training.state import TrainingPlan, limits_for, validation_steps
from engine.training.step import State, Unit
from engine.training.trainer import NonFiniteLossError, Outcome, Trainer
from engine.training.user_code import hooks_for

DETAIL_CHARACTERS = 4000
_NOT_DETERMINISTIC = re.compile(r"(\w+) does not have a deterministic implementation")


def work(spec: WorkerSpec) -> int:
    """Train in this process. Every end but a crash is reported; returns the exit code."""
    reports = ReportPipe(spec.reports)
    try:
        with reports.heartbeat():
            outcome, group = _train(spec, reports)
    except Exception as error:  # whatever goes wrong in a worker, the coordinator is to know it
        traceback.print_exc()
        reports.send({"error": to_json(_describe(error, RunFolder(Path(spec.folder))))})
        return EXIT_RUN_FAILED
    # Before the farewell: whatever happens while the connections close, the run is complete.
    reports.send({"done": to_json(asdict(outcome)) if spec.rank == 0 else {}})
    group.close()
    return EXIT_DONE


def _describe(error: Exception, folder: RunFolder) -> dict[str, Any]:
    """The error in words, and whose it is: the user's, the machine's, or ours."""
    detail = "".join(traceback.format_exception(error))[-DETAIL_CHARACTERS:]
    known = {"exit_code": EXIT_RUN_FAILED, "defect": False, "is_peer_failure": is_peer_failure(error), "detail": detail}
    if isinstance(error, NonFiniteLossError):
        return {**known, "cause": str(error), "detail": "", "remedy": "lower rate"}
    if isinstance(error, UserError):
        return {**known, "cause": str(error), "exit_code": error.exit_code, "detail": ""}
    words = str(error).strip().partition("\n")[0][:300]
    if out_of_memory.is_one(error):
        begin = f"There is not enough memory to train ({out_of_memory.in_words(error)})"
        found = out_of_memory.cause(folder, begin, out_of_memory.place_of(error))
        known["is_peer_failure"] = False  # nccl may have said it, which takes memory of the device too
        return {**known, "cause": found.words, "detail": found.rows or detail, "offer": found.offer}
    if isinstance(error, OSError):
        return {**known, "cause": f"A file could not be read or written: {words}."}
    if known["is_peer_failure"]:
        return {**known, "cause": f"The connection to another worker broke: {words}"}
    if (named := _NOT_DETERMINISTIC.search(words)) is not None:
        cause = (
            f"torch has no deterministic form of {named[1]} on this device, and the option deterministic asks for one"
        )
        return {**known, "cause": f"{cause}. Train anew without it (training.deterministic), or on the CPU."}
    if isinstance(error, torch.AcceleratorError):  # it comes late, so the place where it is met is seldom the cause
        way_out = "Train on the CPU (environment.target=cpu) to see where, or resume the run once it can be used again."
        return {**known, "cause": f"The device failed: {refusal_of(words)}. {way_out}"}
    if where := blame(error):
        return {**known, "cause": f"The project's own code went wrong: {where}"}
    return {**known, "cause": f"{type(error).__name__}: {words}", "exit_code": EXIT_DEFECT, "defect": True}


def _train(spec: WorkerSpec, reports: ReportPipe) -> tuple[Outcome, ProcessGroup]:
    """The outcome, and the group, which is still together."""
    setting, choice = choose_place(set_up(spec), spec, reports)
    group = process_group_for(spec, setting)
    is_first = group.rank == 0
    options = setting.project.training
    precision = Precision(options.fitting_precision, setting.device, group)
    network = precision.network(network_for(setting))
    precision.begin()
    training, validation, test = (part_for(setting, precision, name) for name in SPLITS)
    assert training is not None  # `prepare` refuses a project whose training split is empty
    notes = [*choice, *_loading_note(setting), *precision.notes]
    notes += choose_threads(setting, network, precision, training, spec.rank)
    length = training_length(options, len(training))
    scale = rate_factor(setting.project.environment, group.size)
    schedule = Schedule(options, length.steps_per_epoch, length.total_steps, scale)
    loss = loss_of(setting, network, training.targets)
    facts = in_order(setting.project.network, setting.facts)
    metrics = metrics_for(options, facts, training.targets)
    batches = _batches_of(setting, training, length, group)
    parameters = sum(p.numel() for p in network.parameters())
    unit = unit_for(setting, spec, network, precision, schedule, loss, metrics, group, batches, notes)
    network = unit.network  # of a pipeline this stage, so that the others are let go
    keeper = _keeper_for(setting, unit, is_first=is_first, has_validation=validation is not None)
    collects_at_reports = setting.accelerations.uses("garbage-timing")
    if is_first:
        notes += [*setting.accelerations.notes(), *process_group.notes(group)]
        _announce(setting, parameters, length, named("metric", unit.metrics), reports, notes)
    plan = _plan_for(setting, unit, length, schedule, validation, test)
    clock = Clock(plan.limits.time_s, partial(_sending_s, setting, unit, group))
    reporter = _reporter_for(setting, spec, reports, unit, group, clock, length.total_steps)
    # From here on each worker has random numbers of its own: for dropout.
    _seed_own(options.seed, group.rank)
    hooks = hooks_for(options, network, setting.folder.path, length, group, rate=schedule, clock=clock)
    saver = CheckpointSaver(options, partial(beside, setting.folder) if is_first else nowhere)
    replay = _replay_for(setting, precision, unit, batches, group, saver)
    trainer = Trainer(plan, unit, batches, reporter, keeper, hooks, saver, replay)
    random = RandomStates(group, setting.device)
    saver.register(unit=unit, schedule=schedule, keeper=keeper, reporter=reporter, trainer=trainer, random=random)
    if hooks is not None:
        saver.register(hooks=hooks)
    if spec.checkpoint >= 0:
        saver.go_on(Checkpoint(place(setting.folder, spec.checkpoint), spec.checkpoint))
    schedule.multiply(spec.rate_factor)
    try:
        with garbage_timing.collected_at_reports() if collects_at_reports else contextlib.nullcontext():
            outcome = trainer.run()
        if is_first:
            _write_tables(setting, outcome, facts.classes)
        return outcome, group
    except NonFiniteLossError:
        if replay is None or not replay.broke_off:
            group.close()  # all find it at the same step, and the first one has still to tell and to save
        raise


def _loading_note(setting: Setting) -> list[str]:
    """Whether the data is read while it is wanted, where that is worth a word."""
    loading = setting.info.loading
    return [loading.sentence()] if loading.is_streamed or loading.because else []


def _keeper_for(setting: Setting, unit: Unit, *, is_first: bool, has_validation: bool) -> BestModelTracker:
    """Who remembers the best network; only the first worker puts it down."""
    options = setting.project.training
    shelf = FolderStore(setting.folder.path, known_of(setting)) if is_first else NullStore()
    return BestModelTracker(
        unit, options, named(options.objective_metric, unit.metrics), shelf, has_validation=has_validation
    )


def _plan_for(
    setting: Setting,
    unit: Unit,
    length: TrainingLength,
    schedule: Schedule,
    validation: ResidentDataset | None,
    test: ResidentDataset | None,
) -> TrainingPlan:
    """How long the run goes on, and when it validates."""
    options = setting.project.training
    return TrainingPlan(
        length,
        validation_steps(options, length.steps_per_epoch),
        options.validation_patience,
        validation,
        test,
        pace=schedule,
        release=partial(_release, setting.device),
        limits=limits_for(options, named(options.target_metric, unit.metrics)),
    )


def _batches_of(
    setting: Setting, training: ResidentDataset, length: TrainingLength, group: ProcessGroup
) -> BatchLoader:
    """The training split, batch by batch."""
    options = setting.project.training
    order = SampleOrder(
        len(training),
        length.batch,
        "never" if length.is_full_batch else options.shuffle,
        options.seed,
        keep_last=options.last_batch == "keep",
        lengths=training.longest if options.bucket_by_length else None,
    )
    return BatchLoader(
        training,
        order,
        SingleProcess() if setting.has_stages else group,  # all workers of a pipeline compute all samples
        cut=options.sequence_length == "shortest",
        micro_batches=pieces_of_batch(setting.project.environment, options.gradient_accumulation, group.size),
        loads=setting.loads,
        change=augmentation_of(setting, training),
    )


def _reporter_for(
    setting: Setting,
    spec: WorkerSpec,
    reports: ReportPipe,
    unit: Unit,
    group: ProcessGroup,
    clock: Clock,
    total_steps: int,
) -> Reporter:
    """What is told of the run, and what it is asked. The first worker speaks and listens for all."""
    busy = utilization_of(setting.device, group.size)
    recorder = Recorder(unit.metrics, group, lambda: _memory_bytes(setting.device), clock, setting.device, busy)
    is_first = group.rank == 0
    outbox, requests = (
        (reports, RequestPipe(spec.requests, spec.pending_requests)) if is_first else (NullEventSink(), NoRequests())
    )
    return Reporter(unit.metrics, recorder, outbox, requests, clock, total_steps, unit.watch)


def _write_tables(setting: Setting, outcome: Outcome, classes: Sequence[str]) -> None:
    """How often each class was taken for each, in the run's folder."""
    scores = {"validation": outcome.validation, "test": outcome.test}
    tables = {name: judged.confusion for name, judged in scores.items() if judged is not None}
    write_confusions(setting.folder.path, classes, tables)


def _seed_own(seed: int, rank: int) -> None:
    """Begin this worker's own random numbers."""
    torch.manual_seed(seed * 1_000_003 + 1 + rank)


def _replay_for(
    setting: Setting,
    precision: Precision,
    unit: Unit,
    batches: BatchLoader,
    group: ProcessGroup,
    saver: CheckpointSaver,
) -> NanReplay | None:
    """Who looks where a loss that is no number came from; none where a guard finds it at once, and where least squares
    are solved, which moves no weight by what is no number: the network as it is tells."""
    options = setting.project.training
    if options.non_finite_loss != "stop" or options.solver == "lm":
        return None

    def initial() -> State:
        state = precision.network(network_for(setting)).state_dict()
        _seed_own(options.seed, group.rank)
        return state

    return NanReplay(unit, batches, group, saver.pieces, initial, partial(all_checkpoints, setting.folder))


def _announce(
    setting: Setting,
    parameters: int,
    length: TrainingLength,
    metric: Metric,
    reports: ReportPipe,
    notes: Sequence[str],
) -> None:
    """The first events of a run."""
    options = setting.project.training
    reports.put(
        Started(
            environment=setting.info.placement.environment,
            hardware=setting.info.placement.hardware,
            epochs=length.epochs,
            iterations=length.total_steps,
            steps_per_epoch=length.steps_per_epoch,
            metric=metric.name,
            samples=setting.facts.samples,
            parameters=parameters,
            sentence=setting.info.placement.sentence[:1000],
            arithmetic=setting.info.placement.arithmetic[:1000],
        ),
        *(Message(severity="note", text=note[:1000]) for note in (*setting.facts.notes, *notes)),
    )
    if not setting.facts.samples.get("validation") and (
        options.output_network == "best-validation" or options.validation_patience
    ):
        text = (
            "The data has no validation split: the network of the last iteration is kept, and patience has no effect."
        )
        reports.put(Message(severity="warning", text=text))


def _release(device: torch.device) -> None:
    """Give back memory that is not in use."""
    gc.collect()
    if device.type != "cpu":
        with contextlib.suppress(RuntimeError):  # not every kind of device can
            torch.accelerator.empty_cache()


def _sending_s(setting: Setting, unit: Unit, group: ProcessGroup) -> float:
    """Seconds that sums have taken; NaN where they overlap with the computing, as all do on a device: there a sum is
    only begun when it is called."""
    is_known = unit.measures_communication and (group.size == 1 or setting.device.type == "cpu")
    return group.communication_s if is_known else math.nan


def _memory_bytes(device: torch.device) -> int:
    """Of the device at its highest, or of this process."""
    if device.type in ("cuda", "xpu"):
        return torch.accelerator.max_memory_allocated(device)
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(psutil.Process().memory_info().rss)


def main(arguments: list[str]) -> int:
    """A worker in an interpreter of its own."""
    spec = WorkerSpec.read(arguments[0])
    begin(spec)
    for descriptor in (spec.reports, spec.requests):
        os.set_inheritable(descriptor, False)
    return work(spec)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # as a forked worker does: see `TorchProcessGroup.close`
