"""The pieces of a training, made from a project and its data and put together."""

import copy
from collections.abc import Sequence
from functools import cache, partial

import torch
from torch import fx, nn

from engine.core.errors import UserError
from engine.data.augmentation import Augmentation, augmentation_for
from engine.data.batches import Batch, BatchLoader, ResidentDataset, Tensors, as_tuple
from engine.data.datasets import inputs_of, resident
from engine.data.normalization import fit
from engine.hardware.threads import fastest
from engine.layers.normalisation import InverseNorm
from engine.layers.weighted import ParameterOptions
from engine.lowering.initialization import frozen_modules, initialize
from engine.lowering.module import build, prefixes
from engine.parallel.process_group import ProcessGroup, SingleProcess, WorkerSpec
from engine.parallel.strategies.strategy import form_of_data_parallel, strategy_for
from engine.parallel.sync_batch_norm import Share, freeze, join_batch_norms
from engine.project import user_code
from engine.project.bindings import folding, in_order
from engine.project.check_strategies import pieces_of_batch, stages_of
from engine.project.target_scale import fitted_outputs
from engine.project.training import TrainingOptions
from engine.project.user_code import has_code
from engine.training.compilation import Step, accelerate, all_learn
from engine.training.evaluation import confusion_for
from engine.training.gradient_checkpointing import Recomputing
from engine.training.gradient_clipping import BatchStatistics, gradient_clip
from engine.training.layer_statistics import LayerWatch, Watch
from engine.training.levenberg_marquardt import LevenbergMarquardt
from engine.training.losses import Loss, OutputAdapters, fit_inverse, loss_for, normalised, scale_of
from engine.training.metrics import Metric
from engine.training.nan_check import nan_check_for
from engine.training.precision import Precision
from engine.training.setting import Setting, layers_of, parameter_options_of
from engine.training.solvers import Schedule, Solver, groups_by_name
from engine.training.step import Fittings, Unit
from engine.training.weight_averaging import average_for

SHARDED = (
    "Of the layers outputs and dead units are shown, but no gradients: each worker has a part of each, and only the "
    "first one looks. The norm of all gradients together can be watched (watch_gradient_norm)."
)


def loss_of(setting: Setting, network: nn.Module, targets: Tensors) -> Loss:
    """What is minimised: of responses as they are, or without their units."""
    options, names = setting.project.training, prefixes(setting.project.network, setting.analysis)
    loss = loss_for(options, setting.wanted, targets)
    if not options.normalize_targets:
        return loss
    ends = fitted_outputs(setting.project.network)
    return normalised(
        loss, {end: scale_of(network.get_submodule(names[id][0]), setting.device) for end, id in ends.items()}
    )


def unit_for(
    setting: Setting,
    spec: WorkerSpec,
    network: nn.Module,
    precision: Precision,
    schedule: Schedule,
    loss: Loss,
    metrics: Sequence[Metric],
    group: ProcessGroup,
    batches: BatchLoader,
    notes: list[str],
) -> Unit:
    """The network on its device, with all it takes to train and judge it. What is worth a line is added to `notes`."""
    options, share = setting.project.training, Share()
    # Workers that go their own way take batch statistics of their own, too; those of a pipeline have all samples.
    goes_alone = setting.project.environment.strategy in ("local-sgd", "pipeline")
    make_trainable(setting, network, SingleProcess() if goes_alone else group, share)
    said = parameter_options_of(setting, network)
    if setting.has_stages:
        return _staged(setting, network, said, loss, metrics, group, share=share, rate=schedule, precision=precision)
    network.to(setting.device)
    called: nn.Module = network
    step = _trial(precision, loss, batches)
    if options.gradient_checkpointing != "off":
        assert isinstance(network, fx.GraphModule)  # as it was built
        called = Recomputing(network, options.gradient_checkpointing, share)
    elif setting.project.environment.strategy != "fully-sharded" and options.solver != "lm":
        called, note = accelerate(options.acceleration, network, step, group, setting.device)
        notes.extend(filter(None, [note]))
    population = BatchStatistics(network, share, precision, batches.one_pass)
    new_solver = partial(Solver, options, network, said, fused=setting.accelerations.uses("fused-optimizers"))
    least_squares = LevenbergMarquardt(options, network, said, group) if options.solver == "lm" else None
    return Unit(
        network,
        strategy_for(
            setting.project.environment,
            network,
            group,
            setting.device,
            share,
            spec.strategy,
            called,
            all_learn=_all_learn(setting, spec, network, called, step, group),
            # torch's static graph knows no pieces that are not sent. Own code may compute otherwise at every step.
            is_static=options.gradient_accumulation == 1 and called is network and not has_code(setting.project),
        ),
        least_squares or new_solver(),
        loss,
        metrics,
        group,
        share=share,
        rate=schedule,
        fittings=Fittings(
            clip=gradient_clip(options, network.parameters(), group),
            custom_step=user_code.target(options, "step_function"),
            precision=precision,
            average=average_for(options, network, batches.order.steps_per_epoch, population),
            population=population if options.batch_normalization_statistics == "population" else None,
            ends=OutputAdapters(setting.wanted, mixes=options.mixes),
            most_at_once=_most_at_once(options, group.size * options.gradient_accumulation),
            guard=nan_check_for(options, network, group),
            loads=setting.loads,
            watch=_watch(setting, network, group, called),
            new_solver=new_solver,
            confusion=confusion_for(in_order(setting.project.network, setting.facts)),
            manual_backward=not options.hooks_file and setting.accelerations.uses("manual-backward"),
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
    group: ProcessGroup,
    *,
    share: Share,
    rate: Schedule,
    precision: Precision,
) -> Unit:
    """This worker's stage of the network, with all it takes to train and judge it together with the others."""
    from engine.parallel.strategies.pipeline import Pipeline
    from engine.training.pipeline_step import StagedUnit

    project, options = setting.project, setting.project.training
    assert isinstance(network, fx.GraphModule)  # as it was built
    stages = stages_of(project.network, setting.analysis, project.environment, group.size)
    groups = partial(groups_by_name, options=options, parameters=said)
    pipeline = Pipeline(network, stages.of, group, setting.device, groups)
    stage = pipeline.module
    new_solver = partial(Solver, options, stage, said, fused=setting.accelerations.uses("fused-optimizers"))
    return StagedUnit(
        pipeline,
        new_solver(),
        loss,
        metrics,
        group,
        share=share,
        rate=rate,
        fittings=Fittings(
            clip=gradient_clip(options, stage.parameters(), group, in_stages=True),
            precision=precision,
            ends=OutputAdapters(setting.wanted, mixes=options.mixes),
            most_at_once=_most_at_once(
                options, pieces_of_batch(project.environment, options.gradient_accumulation, group.size)
            ),
            guard=nan_check_for(options, stage, group),
            new_solver=new_solver,
            # What each has of the squared norm adds up, since no two have the same weight.
            watch=_watch(setting, stage, SingleProcess()),
            confusion=confusion_for(in_order(project.network, setting.facts)),
        ),
    )


def _watch(setting: Setting, network: nn.Module, group: ProcessGroup, called: nn.Module | None = None) -> Watch:
    """What is watched beside the loss, and what may be later. Layers are looked at by the first worker. `called` is
    what is computed in the network's place."""
    options = setting.project.training
    refusals = {}
    if options.solver == "lm":
        refusals["gradient_norm"] = "the solver lm takes the error of each sample apart, and has no gradient"
    if setting.has_stages:
        refusals["layers"] = "each worker of a pipeline has some of the layers, and one alone looks at them"
    elif called is not None and hasattr(called, "_orig_mod"):
        refusals["layers"] = "a compiled network shows nothing of its layers; use acceleration none"
    layers, remark = None, ""
    if group.size > 1 and setting.project.environment.strategy == "fully-sharded":
        remark = SHARDED
    if group.rank == 0 and not setting.has_stages:
        types = {id: facts.output for id, facts in setting.analysis.all_facts() if facts.outputs}
        units = {id: type.dim("C") for id, type in types.items() if type.has("C")}
        layers = LayerWatch(network, prefixes(setting.project.network, setting.analysis), units)
    return Watch(
        network.parameters(),
        group,
        gradient_norm=options.watch_gradient_norm,
        layers=layers,
        watches_layers=options.watch_layers,
        refusals=refusals,
        remark=remark,
    )


def _trial(precision: Precision, loss: Loss, batches: BatchLoader) -> Step:
    """What makes gradients with a module on the first piece of the first batch: as much as is computed at once."""

    @cache
    def first() -> Batch:
        return next(next(iter(batches.of_epoch(1))).micro_batches())

    def step(module: nn.Module) -> None:
        torch.autograd.backward(loss(as_tuple(precision.call(module, *first().inputs)), first().targets))

    return step


def _all_learn(
    setting: Setting, spec: WorkerSpec, network: nn.Module, called: nn.Module, step: Step, group: ProcessGroup
) -> bool:
    """Whether every weight gets a gradient in each step, asked where it matters: of a step of the user's nothing is
    known. A collective."""
    environment, options = setting.project.environment, setting.project.training
    shares = environment.strategy in ("auto", "data-parallel") and not spec.strategy and options.solver != "lm"
    if group.size == 1 or not shares or form_of_data_parallel(environment, setting.device) != "ddp":
        return True
    return not options.step_function and all_learn(network, called, step, group, setting.device)


def make_trainable(setting: Setting, network: nn.Module, group: ProcessGroup, share: Share) -> None:
    """Batch statistics of all workers together, and no gradients for what is frozen. Raises `UserError` where nothing
    is left that learns."""
    join_batch_norms(network, group, share)
    freeze(frozen_modules(network, *layers_of(setting)))
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise UserError(
            "Nothing in the network can learn: no layer has weights, or all that have are frozen. Add a layer with "
            "weights, such as a fully connected one, or switch off Freeze."
        )


def network_for(setting: Setting) -> nn.Module:
    """The built network with its initial weights, and the normalisation of its inputs fitted on the training split."""
    network, seed = setting.project.network, setting.project.training.seed
    torch.manual_seed(seed)
    module = build(network, setting.analysis, logits=folding(setting.wanted), lengths=setting.is_padded)
    initialize(module, seed, parameter_options_of(setting, module))
    names = prefixes(network, setting.analysis)
    training = setting.data.split("training")
    for id, given, number in inputs_of(network, setting.facts):
        kind = getattr(network.layers[id].type, "normalization_kind", "none")
        if kind != "none":
            is_padded = given.lengths is not None
            shift, scale = fit(kind, training.real(number), 1 if is_padded else given.type.dim("C"))
            normalise = module.get_submodule(names[id][0])
            normalise.load_state_dict({"shift": torch.from_numpy(shift), "scale": torch.from_numpy(scale)})
    for end, id in fitted_outputs(network).items():
        last = network.layers[id].effective_type
        assert isinstance(last, InverseNorm)
        axis = setting.analysis.facts[id].output.dim("C")
        fit_inverse(module.get_submodule(names[id][0]), last.kind, training.targets[setting.wanted[end].number], axis)
    return module


def part_for(setting: Setting, precision: Precision, name: str) -> ResidentDataset | None:
    """One part of the data on the device, or None where it is empty."""
    if not setting.facts.samples.get(name):
        return None
    given = (setting.project.network, setting.analysis, setting.facts, setting.project.training, setting.wanted)
    part = resident(setting.data.split(name), *given, setting.device, is_training=name == "training")
    return precision.data(part)


def augmentation_of(setting: Setting, training: ResidentDataset) -> Augmentation | None:
    """What changes the images of training batches at random, if the options ask for it."""
    given = [facts for _, facts, _ in inputs_of(setting.project.network, setting.facts)]
    options, data = setting.project.training, setting.project.data
    return augmentation_for(options, data, given, training.span, setting.wanted, len(training))


def choose_threads(
    setting: Setting, network: nn.Module, precision: Precision, training: ResidentDataset, rank: int
) -> list[str]:
    """Try a step with one thread and with all of this worker's, unless the project says how many. Notes what it found.

    On a copy, and before the random numbers of training are seeded, so that nothing of it shows in the run. Where the
    run is to repeat bit for bit, the load of the moment must not decide: all threads are used then. Nor where several
    workers each search along their own direction: another number of threads rounds in another way, and one of them
    might look once more than the others.
    """
    place, options = setting.info.placement.places[rank], setting.project.training
    searches_alike = options.is_full_batch and len(setting.info.placement.places) > 1
    is_given = setting.project.environment.threads or options.deterministic or setting.info.threads_are_chosen
    if setting.device.type != "cpu" or place.threads == 1 or is_given or searches_alike or setting.has_stages:
        return []
    trial = copy.deepcopy(network)
    make_trainable(setting, trial, SingleProcess(), Share())
    loss = loss_for(setting.project.training, setting.wanted, training.targets)
    count = max(1, place.samples // setting.project.training.gradient_accumulation)
    inputs, targets = training.at(slice(count))

    def step() -> None:
        torch.autograd.backward(loss(as_tuple(precision.call(trial, *inputs)), targets))

    chosen, seconds = fastest((1, place.threads), torch.set_num_threads, step)
    if chosen == place.threads:
        return []
    one, all_of_them = (1000 * seconds[n] for n in (1, place.threads))
    return [
        f"Computing with 1 thread: for this network and the load of now a step takes {one:.1f} ms with it and "
        f"{all_of_them:.1f} ms with {place.threads}."
    ]
