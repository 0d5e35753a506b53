"""One worker of a run: puts the pieces of a training together, runs it, and says how it went."""

import contextlib
import copy
import gc
import math
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import fx, nn

from engine.build.init import initialize
from engine.build.module import build, prefixes
from engine.build.parameters import frozen_modules, parameter_options
from engine.build.user_code import blame
from engine.data.facts import PARTS, DataFacts
from engine.data.load import LoadedData
from engine.data.load import load as load_data
from engine.data.normalise import fit
from engine.environments.arithmetic import rate_factor
from engine.environments.gang import Gang, ProcessGang, SoloGang, is_lost_peer
from engine.environments.launch import Seat, begin
from engine.environments.strategies.strategy import strategy_for
from engine.environments.strategies.sync_batch_norm import Share, freeze, join_batch_norms
from engine.environments.threads import fastest, keep_to
from engine.errors import EXIT_DEFECT, EXIT_DONE, EXIT_RUN_FAILED, UserError
from engine.layers.base import LayerType
from engine.layers.normalisation import InverseNorm
from engine.layers.weighted import ParameterOptions
from engine.network.analysis import Analysis, analyse
from engine.network.freezing import type_at
from engine.project import own_code
from engine.project.code import ready
from engine.project.extent import Extent, extent
from engine.project.file import load as load_project
from engine.project.project import Project
from engine.project.strategies import pieces_of_batch, stages_of
from engine.project.target_scale import fitted_outputs
from engine.project.targets import Wanted, folding, in_order, wanted_of
from engine.project.training import TrainingOptions
from engine.runs.checkpoints import Checkpoint, beside, place
from engine.runs.confusion import write_confusions
from engine.runs.events import Message, Started, to_json
from engine.runs.folder import RunFolder, frozen_code
from engine.training import out_of_memory
from engine.training.acceleration import accelerate
from engine.training.averaging import averaging
from engine.training.batches import Batches, Resident, Tensors, as_tuple
from engine.training.channel import Reports, RequestPipe
from engine.training.checkpoint import RandomStates
from engine.training.clipping import clipping
from engine.training.guard import guard_for
from engine.training.hooks import hooks_for
from engine.training.keeping import FolderShelf, Keeper, NoShelf
from engine.training.limits import limits_for, validation_steps
from engine.training.lm import LevenbergMarquardt
from engine.training.losses.choosing import Loss, loss_for
from engine.training.losses.ends import Ends
from engine.training.metrics.choosing import confusion_for, metrics_for, named
from engine.training.metrics.metric import Metric
from engine.training.order import Order
from engine.training.parts import differ_in_length, inputs_of, resident
from engine.training.plan import Plan
from engine.training.population import Population
from engine.training.precision import Precision
from engine.training.recomputing import Recomputing
from engine.training.reporting import Clock, NoOutbox, NoRequests, Recorder, Reporter
from engine.training.saving import Saver, nowhere
from engine.training.schedules import Schedule
from engine.training.solvers import Solver, groups_by_name
from engine.training.step import Fittings, Unit
from engine.training.target_scale import fit_inverse, normalised, scale_of
from engine.training.trainer import NonFiniteLossError, Outcome, Trainer
from engine.training.transcripts import refuse_long_transcripts
from engine.training.utilisation import utilisation_of
from engine.training.vocabulary import refuse_unknown_indices
from engine.training.watching import LayerWatch, Watch

DETAIL_CHARACTERS = 4000


def work(seat: Seat) -> int:
    """Train in this process. Every end but a crash is reported; returns the exit code."""
    reports = Reports(seat.reports)
    try:
        with reports.beating():
            outcome, gang = _train(seat, reports)
    except Exception as error:  # whatever goes wrong in a worker, the coordinator is to know it
        traceback.print_exc()
        reports.send({"error": to_json(_describe(error, RunFolder(Path(seat.folder))))})
        return EXIT_RUN_FAILED
    # Before the farewell: whatever happens while the connections close, the run is complete.
    reports.send({"done": to_json(asdict(outcome)) if seat.rank == 0 else {}})
    gang.close()
    return EXIT_DONE


def _describe(error: Exception, folder: RunFolder) -> dict[str, Any]:
    """The error in words, and whose it is: the user's, the machine's, or ours."""
    detail = "".join(traceback.format_exception(error))[-DETAIL_CHARACTERS:]
    known = {"exit_code": EXIT_RUN_FAILED, "defect": False, "is_lost_peer": is_lost_peer(error), "detail": detail}
    if isinstance(error, NonFiniteLossError):
        return {**known, "cause": str(error), "detail": "", "remedy": "lower rate"}
    if isinstance(error, UserError):
        return {**known, "cause": str(error), "exit_code": error.exit_code, "detail": ""}
    words = str(error).strip().partition("\n")[0][:300]
    if out_of_memory.is_one(error):
        begin = f"There is not enough memory to train ({out_of_memory.in_words(error)})"
        cause, rows = out_of_memory.cause(folder, begin, out_of_memory.place_of(error))
        return {**known, "cause": cause, "detail": rows or detail}
    if isinstance(error, OSError):
        return {**known, "cause": f"A file could not be read or written: {words}."}
    if known["is_lost_peer"]:
        return {**known, "cause": f"The connection to another worker broke: {words}"}
    if where := blame(error):
        return {**known, "cause": f"The project's own code went wrong: {where}"}
    return {**known, "cause": f"{type(error).__name__}: {words}", "exit_code": EXIT_DEFECT, "defect": True}


@dataclass(frozen=True)
class Setting:
    """What a worker knows of its run."""

    folder: RunFolder
    info: dict[str, Any]
    project: Project
    analysis: Analysis
    data: LoadedData
    device: torch.device

    @property
    def facts(self) -> DataFacts:
        """What is known of the data."""
        return self.data.facts

    @property
    def loads(self) -> tuple[float, ...]:
        """What the workers' shares are in proportion to; none where they are equal."""
        found = tuple(float(place.get("load", 1.0)) for place in self.info["places"])
        return found if len(set(found)) > 1 else ()

    @property
    def has_stages(self) -> bool:
        """Whether each worker has a stage of the network."""
        return self.project.environment.strategy == "pipeline" and len(self.info["places"]) > 1

    @property
    def is_padded(self) -> bool:
        """Whether sequences of different lengths come in whose padding no layer is to see."""
        options = self.project.training
        return options.sequence_padding == "masked" and differ_in_length(options, self.project.network, self.facts)

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """What each output is to give."""
        return wanted_of(self.project.network, self.analysis, self.facts, is_padded=self.is_padded)


def _train(seat: Seat, reports: Reports) -> tuple[Outcome, Gang]:
    """The outcome, and the gang, which is still together."""
    setting = _set_up(seat)
    gang = _gang(seat, setting)
    is_first = gang.rank == 0
    options = setting.project.training
    precision = Precision(options.precision, setting.device, gang)
    network = precision.network(_network(setting))
    precision.begin()
    training, validation, test = (_part(setting, precision, name) for name in PARTS)
    assert training is not None  # `prepare` refuses a project whose training part is empty
    notes = [*precision.notes, *_choose_threads(setting, network, precision, training, seat.rank)]
    whole = extent(options, len(training))
    order = Order(
        len(training),
        whole.batch,
        "never" if whole.is_full_batch else options.shuffle,
        options.seed,
        keep_last=options.last_batch == "keep",
        lengths=training.longest if options.bucket_by_length else None,
    )
    scale = rate_factor(setting.project.environment, gang.size)
    schedule = Schedule(options, whole.steps_per_epoch, whole.total_steps, scale)
    loss = _loss(setting, network, training.targets)
    facts = in_order(setting.project.network, setting.facts)
    metrics = metrics_for(options, facts, training.targets)
    cut = options.sequence_length == "shortest"
    pieces = pieces_of_batch(setting.project.environment, options.gradient_accumulation, gang.size)
    # All workers of a pipeline compute all samples.
    sharing = SoloGang() if setting.has_stages else gang
    batches = Batches(training, order, sharing, cut=cut, pieces=pieces, loads=setting.loads)
    parameters = sum(p.numel() for p in network.parameters())
    unit = _unit(setting, seat, network, precision, schedule, loss, metrics, gang, batches, notes)
    network = unit.network  # of a pipeline this stage, so that the others are let go
    shelf = FolderShelf(setting.folder.path, _known(setting)) if is_first else NoShelf()
    objective = named(options.objective_metric, unit.metrics)
    keeper = Keeper(unit, options, objective, shelf, has_validation=validation is not None)
    if is_first:
        _announce(setting, parameters, whole, named("metric", unit.metrics), reports, notes)
    limits = limits_for(options, named(options.target_metric, unit.metrics))
    clock = Clock(limits.time_s, lambda: gang.sending_s if unit.sends_in_turn else math.nan)
    busy = utilisation_of(setting.device, gang.size)
    recorder = Recorder(unit.metrics, gang, lambda: _memory_bytes(setting.device), clock, setting.device, busy)
    outbox, requests = (reports, RequestPipe(seat.requests)) if is_first else (NoOutbox(), NoRequests())
    reporter = Reporter(unit.metrics, recorder, outbox, requests, clock, whole.total_steps, unit.watch)
    plan = Plan(
        whole,
        validation_steps(options, whole.steps_per_epoch),
        options.validation_patience,
        validation,
        test,
        pace=schedule,
        release=partial(_release, setting.device),
        limits=limits,
    )
    # From here on each worker has random numbers of its own: for dropout.
    torch.manual_seed(options.seed * 1_000_003 + 1 + gang.rank)
    hooks = hooks_for(options, network, setting.folder.path, whole, gang, rate=schedule, clock=clock)
    saver = Saver(options, partial(beside, setting.folder) if is_first else nowhere)
    trainer = Trainer(plan, unit, batches, reporter, keeper, hooks, saver)
    random = RandomStates(gang, setting.device)
    saver.register(unit=unit, schedule=schedule, keeper=keeper, reporter=reporter, trainer=trainer, random=random)
    if hooks is not None:
        saver.register(hooks=hooks)
    if seat.checkpoint >= 0:
        saver.go_on(Checkpoint(place(setting.folder, seat.checkpoint), seat.checkpoint))
    schedule.multiply(seat.rate_factor)
    try:
        outcome = trainer.run()
        if is_first:
            scores = {"validation": outcome.validation, "test": outcome.test}
            tables = {name: judged.confusion for name, judged in scores.items() if judged is not None}
            write_confusions(setting.folder.path, facts.classes, tables)
        return outcome, gang
    except NonFiniteLossError:
        gang.close()  # all find it at the same step, and the first one has still to tell and to save
        raise


def _loss(setting: Setting, network: nn.Module, targets: Tensors) -> Loss:
    """What is minimised: of responses as they are, or without their units."""
    options, names = setting.project.training, prefixes(setting.project.network, setting.analysis)
    loss = loss_for(options, setting.wanted, targets)
    if not options.normalize_targets:
        return loss
    ends = fitted_outputs(setting.project.network)
    return normalised(
        loss, {end: scale_of(network.get_submodule(names[id][0]), setting.device) for end, id in ends.items()}
    )


def _unit(
    setting: Setting,
    seat: Seat,
    network: nn.Module,
    precision: Precision,
    schedule: Schedule,
    loss: Loss,
    metrics: Sequence[Metric],
    gang: Gang,
    batches: Batches,
    notes: list[str],
) -> Unit:
    """The network on its device, with all it takes to train and judge it. What is worth a line is added to `notes`."""
    options, share = setting.project.training, Share()
    # Workers that go their own way take batch statistics of their own, too; those of a pipeline have all samples.
    goes_alone = setting.project.environment.strategy in ("local-sgd", "pipeline")
    _make_trainable(setting, network, SoloGang() if goes_alone else gang, share)
    said = _parameter_options(setting, network)
    if setting.has_stages:
        return _staged(setting, network, said, loss, metrics, gang, share=share, rate=schedule, precision=precision)
    network.to(setting.device)
    called: nn.Module = network
    if options.gradient_checkpointing != "off":
        assert isinstance(network, fx.GraphModule)  # as it was built
        called = Recomputing(network, options.gradient_checkpointing, share)
    elif setting.project.environment.strategy != "fully-sharded" and options.solver != "lm":
        called = _accelerated(setting, network, precision, loss, gang, batches, notes)
    population = Population(network, share, precision, batches.of_all)
    least_squares = LevenbergMarquardt(options, network, said, gang) if options.solver == "lm" else None
    return Unit(
        network,
        strategy_for(setting.project.environment, network, gang, setting.device, share, seat.strategy, called),
        least_squares or Solver(options, network, said),
        loss,
        metrics,
        gang,
        share=share,
        rate=schedule,
        fittings=Fittings(
            clip=clipping(options, network.parameters(), gang),
            custom_step=own_code.target(options, "step_function"),
            precision=precision,
            average=averaging(options, network, batches.order.steps_per_epoch, population),
            population=population if options.batch_normalization_statistics == "population" else None,
            ends=Ends(setting.wanted),
            most_at_once=_most_at_once(options, gang.size * options.gradient_accumulation),
            guard=guard_for(options, network, gang),
            loads=setting.loads,
            watch=_watch(setting, network, gang),
            confusion=confusion_for(in_order(setting.project.network, setting.facts)),
        ),
    )


def _most_at_once(options: TrainingOptions, parts: int) -> int:
    """So many samples are judged together where a batch is computed in so many parts."""
    return max(64, 2 * -(-options.mini_batch_size // parts))


def _staged(
    setting: Setting,
    network: nn.Module,
    said: dict[str, ParameterOptions],
    loss: Loss,
    metrics: Sequence[Metric],
    gang: Gang,
    *,
    share: Share,
    rate: Schedule,
    precision: Precision,
) -> Unit:
    """This worker's stage of the network, with all it takes to train and judge it together with the others."""
    from engine.environments.strategies.pipeline import Pipeline
    from engine.training.staged import StagedUnit

    project, options = setting.project, setting.project.training
    assert isinstance(network, fx.GraphModule)  # as it was built
    stages = stages_of(project.network, setting.analysis, project.environment, gang.size)
    groups = partial(groups_by_name, options=options, parameters=said)
    pipeline = Pipeline(network, stages.of, gang, setting.device, groups)
    stage = pipeline.module
    return StagedUnit(
        pipeline,
        Solver(options, stage, said),
        loss,
        metrics,
        gang,
        share=share,
        rate=rate,
        fittings=Fittings(
            clip=clipping(options, stage.parameters(), gang, in_stages=True),
            precision=precision,
            ends=Ends(setting.wanted),
            most_at_once=_most_at_once(
                options, pieces_of_batch(project.environment, options.gradient_accumulation, gang.size)
            ),
            guard=guard_for(options, stage, gang),
            # What each has of the squared norm adds up, since no two have the same weight.
            watch=_watch(setting, stage, SoloGang()),
            confusion=confusion_for(in_order(project.network, setting.facts)),
        ),
    )


def _watch(setting: Setting, network: nn.Module, gang: Gang) -> Watch | None:
    """What is watched beside the loss, if anything. Layers are looked at by the first worker."""
    options = setting.project.training
    layers = None
    if options.watch_layers and gang.rank == 0:
        types = {id: facts.output for id, facts in setting.analysis.all_facts() if facts.outputs}
        units = {id: type.dim("C") for id, type in types.items() if type.has("C")}
        layers = LayerWatch(network, prefixes(setting.project.network, setting.analysis), units)
    if not (options.watch_gradient_norm or layers):
        return None
    return Watch(network.parameters(), gang, gradient_norm=options.watch_gradient_norm, layers=layers)


def _accelerated(
    setting: Setting,
    network: nn.Module,
    precision: Precision,
    loss: Loss,
    gang: Gang,
    batches: Batches,
    notes: list[str],
) -> nn.Module:
    """The network, or what torch makes of it for its sizes."""
    first = next(iter(batches.of_epoch(1)))

    def step(module: nn.Module) -> None:
        torch.autograd.backward(loss(as_tuple(precision.call(module, *first.inputs)), first.targets))

    called, note = accelerate(setting.project.training.acceleration, network, step, gang, setting.device)
    notes.extend(filter(None, [note]))
    return called


def _make_trainable(setting: Setting, network: nn.Module, gang: Gang, share: Share) -> None:
    """Batch statistics of all workers together, and no gradients for what is frozen. Raises `UserError` where nothing
    is left that learns."""
    join_batch_norms(network, gang, share)
    freeze(frozen_modules(network, *_layers(setting)))
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise UserError(
            "Nothing in the network can learn: no layer has weights, or all that have are frozen. Add a layer with "
            "weights, such as a fully connected one, or switch off Freeze."
        )


def _parameter_options(setting: Setting, network: nn.Module) -> dict[str, ParameterOptions]:
    """What the layers say about each parameter."""
    return parameter_options(network, *_layers(setting))


def _layers(setting: Setting) -> tuple[dict[str, tuple[str, ...]], Callable[[str], LayerType]]:
    """For each layer's id path its attributes in the built module, and its type."""
    network = setting.project.network
    return prefixes(network, setting.analysis), partial(type_at, network)


def _set_up(seat: Seat) -> Setting:
    """Read the run, take the place on the device, load the data."""
    folder = RunFolder(Path(seat.folder))
    info = folder.read_info()
    project = load_project(folder.project).project
    ready(project, folder.path, frozen_code(folder))
    place = info["places"][seat.rank]
    keep_to(place.get("cores", ()))  # before threads are made, which stay where they were made
    torch.set_num_threads(place["threads"])
    if project.training.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    device = torch.device(place["device"])
    if device.type != "cpu":
        torch.accelerator.set_device_index(device.index)
    data = load_data(project.data, Path(info["base"]))
    analysis = analyse(project.network)
    refuse_unknown_indices(project.network, analysis, data, project.training)
    refuse_long_transcripts(project.network, analysis, data)
    return Setting(folder, info, project, analysis, data, device)


def _gang(seat: Seat, setting: Setting) -> Gang:
    size = len(setting.info["places"])
    if size == 1:
        return SoloGang()
    return ProcessGang(seat.rank, size, setting.info["environment"]["backend"], Path(seat.meeting))


def _network(setting: Setting) -> nn.Module:
    """The built network with its initial weights, and the normalisation of its inputs fitted on the training part."""
    network, seed = setting.project.network, setting.project.training.seed
    torch.manual_seed(seed)
    module = build(network, setting.analysis, logits=folding(setting.wanted), lengths=setting.is_padded)
    initialize(module, seed, _parameter_options(setting, module))
    names = prefixes(network, setting.analysis)
    training = setting.data.part("training")
    for id, given, number in inputs_of(network, setting.facts):
        kind = getattr(network.layers[id].type, "normalization_kind", "none")
        if kind != "none":
            is_padded = given.lengths is not None
            shift, scale = fit(kind, training.real(number), 1 if is_padded else given.type.dim("C"))
            normalise = module.get_submodule(names[id][0])
            normalise.load_state_dict({"shift": torch.from_numpy(shift), "scale": torch.from_numpy(scale)})
    for end, id in fitted_outputs(network).items():
        last = network.layers[id].acting
        assert isinstance(last, InverseNorm)
        axis = setting.analysis.facts[id].output.dim("C")
        fit_inverse(module.get_submodule(names[id][0]), last.kind, training.targets[setting.wanted[end].number], axis)
    return module


def _part(setting: Setting, precision: Precision, name: str) -> Resident | None:
    """One part of the data on the device, or None where it is empty."""
    if not setting.facts.samples.get(name):
        return None
    given = (setting.project.network, setting.analysis, setting.facts, setting.project.training, setting.wanted)
    part = resident(setting.data.part(name), *given, setting.device, is_training=name == "training")
    return precision.data(part)


def _known(setting: Setting) -> dict[str, Any]:
    """What every manifest of weights says."""
    return {
        "task": setting.facts.task,
        "classes": list(setting.facts.classes),
        "layers": {id: list(names) for id, names in prefixes(setting.project.network, setting.analysis).items()},
        "project_sha256": setting.info["project_sha256"],
    }


def _choose_threads(
    setting: Setting, network: nn.Module, precision: Precision, training: Resident, rank: int
) -> list[str]:
    """Try a step with one thread and with all of this worker's, unless the project says how many. Notes what it found.

    On a copy, and before the random numbers of training are seeded, so that nothing of it shows in the run. Where the
    run is to repeat bit for bit, the load of the moment must not decide: all threads are used then. Nor where several
    workers each search along their own direction: another number of threads rounds in another way, and one of them
    might look once more than the others.
    """
    place, options = setting.info["places"][rank], setting.project.training
    searches_alike = options.is_full_batch and len(setting.info["places"]) > 1
    is_given = setting.project.environment.threads or options.deterministic or searches_alike or setting.has_stages
    if setting.device.type != "cpu" or place["threads"] == 1 or is_given:
        return []
    trial = copy.deepcopy(network)
    _make_trainable(setting, trial, SoloGang(), Share())
    loss = loss_for(setting.project.training, setting.wanted, training.targets)
    count = max(1, place["samples"] // setting.project.training.gradient_accumulation)
    inputs, targets = training.at(slice(count))

    def step() -> None:
        torch.autograd.backward(loss(as_tuple(precision.call(trial, *inputs)), targets))

    chosen, seconds = fastest((1, place["threads"]), torch.set_num_threads, step)
    if chosen == place["threads"]:
        return []
    one, all_of_them = (1000 * seconds[n] for n in (1, place["threads"]))
    return [
        f"Computing with 1 thread: for this network and the load of now a step takes {one:.1f} ms with it and "
        f"{all_of_them:.1f} ms with {place['threads']}."
    ]


def _announce(
    setting: Setting,
    parameters: int,
    whole: Extent,
    metric: Metric,
    reports: Reports,
    notes: Sequence[str],
) -> None:
    """The first events of a run."""
    options = setting.project.training
    reports.put(
        Started(
            environment=setting.info["environment"],
            hardware=setting.info["hardware"],
            epochs=whole.epochs,
            iterations=whole.total_steps,
            steps_per_epoch=whole.steps_per_epoch,
            metric=metric.name,
            samples=setting.facts.samples,
            parameters=parameters,
        ),
        *(Message(severity="note", text=note[:1000]) for note in (*setting.facts.notes, *notes)),
    )
    if not setting.facts.samples.get("validation") and (
        options.output_network == "best-validation" or options.validation_patience
    ):
        text = "The data has no validation part: the network of the last iteration is kept, and patience has no effect."
        reports.put(Message(severity="warning", text=text))


def _release(device: torch.device) -> None:
    """Give back memory that is not in use."""
    gc.collect()
    if device.type != "cpu":
        with contextlib.suppress(RuntimeError):  # not every kind of device can
            torch.accelerator.empty_cache()


def _memory_bytes(device: torch.device) -> int:
    """Of the device at its highest, or of this process."""
    if device.type in ("cuda", "xpu"):
        return torch.accelerator.max_memory_allocated(device)
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(psutil.Process().memory_info().rss)


def main(arguments: list[str]) -> int:
    """A worker in an interpreter of its own."""
    seat = Seat.read(arguments[0])
    begin(seat)
    for descriptor in (seat.reports, seat.requests):
        os.set_inheritable(descriptor, False)
    return work(seat)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # as a forked worker does: see `ProcessGang.close`
