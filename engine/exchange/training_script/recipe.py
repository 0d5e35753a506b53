"""Decide what a training script carries over from a project, refuse what it cannot, and name what it leaves out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from netwright.engine.core.errors import UserError, plural
from netwright.engine.data.loading.datasets import fed_inputs, has_varying_lengths
from netwright.engine.lowering.module import build
from netwright.engine.lowering.plan import Plan, plan
from netwright.engine.network.analysis import copy_path, folded
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.sync_batch_norm import JoinedBatchNorm, Share
from netwright.engine.project.bindings import Wanted, folding, loss_of
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.target_scale import fitted_outputs
from netwright.engine.project.training import TrainingLength, TrainingOptions, training_length
from netwright.engine.training.job import TrainingJob, double_inputs, initial_network, prepare_parameters
from netwright.engine.training.losses import class_weights, positive_weights, scale_of
from netwright.engine.training.solvers import trainable_parameters
from netwright.engine.training.state import validation_steps

SOLVERS = ("sgdm", "adam", "adamw", "nadam", "rmsprop")
SCHEDULES = ("none", "warmup", "piecewise", "cosine", "cyclical", "exponential", "polynomial", "one-cycle", "plateau")
LOSSES = (
    "cross-entropy",
    "index-cross-entropy",
    "binary-cross-entropy",
    "focal",
    "half-mse",
    "mse",
    "mae",
    "huber",
    "dice",
    "generalized-dice",
    "dice-cross-entropy",
)
METRICS = {"classes": "accuracy", "labels": "accuracy", "numbers": "rmse"}
"""The metric that the script measures, by the task of the first target."""
WITHOUT = "or export without the training script"
SAME_NUMBERS = {
    "gradient_checkpointing": "recomputes activations to save memory",
    "acceleration": "compiles the network",
    "watch_gradient_norm": "records the norm of the gradients",
    "watch_layers": "records layers",
    "watch_weights": "records how weights are distributed",
    "watch_answers": "keeps answers for some samples",
    "watched_samples": "names these samples",
    "max_time": "limits the time of the run",
    "target_metric": "ends the run at a target",
}
"""Options that the script leaves out, which change no loss of a step, and what they do."""


@dataclass(frozen=True, eq=False)
class Target:
    """An output, its loss and the weight of that in the sum; `weights` are those of the classes, empty where equal.
    `has_gaps`: positions of the target do not count."""

    wanted: Wanted
    loss: str
    weight: float
    class_weights: tuple[float, ...] = ()
    has_gaps: bool = False
    shift: tuple[float, ...] = ()
    """The loss is computed of (x - shift) / scale, both per channel; empty: of x."""
    scale: tuple[float, ...] = ()

    @property
    def task(self) -> str:
        """Return the task of the target."""
        return self.wanted.facts.task

    @property
    def per(self) -> str:
        """Return what has a target: a sample, step, pixel or voxel."""
        return self.wanted.facts.per


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that the script prints, resolved: nothing in it depends on Netwright any more."""

    options: TrainingOptions
    length: TrainingLength
    samples: Mapping[str, int]
    inputs: tuple[str, ...]
    doubles: frozenset[int]
    """Indices of the data's inputs that are float64."""
    targets: tuple[Target, ...]
    num_outputs: int
    folded: tuple[str, ...]
    """Attributes of the softmax or sigmoid layers that the loss includes."""
    state: Mapping[str, torch.Tensor]
    """Weights that the run starts from, fitted normalisation included."""
    factors: Mapping[str, tuple[float, float]]
    """Factors of learn rate and L2 regularisation of each parameter that learns, by its name."""
    axes: Mapping[str, int]
    """Number of axes of the same parameters."""
    frozen: tuple[str, ...]
    frozen_norms: tuple[str, ...]
    has_batch_norm: bool
    validation_steps: int
    notes: tuple[str, ...]

    @property
    def validates(self) -> bool:
        """Return whether there is a validation split."""
        return bool(self.samples.get("validation"))

    @property
    def keeps_best(self) -> bool:
        """Return whether the weights of the best validation are kept."""
        return self.validates and self.options.output_network != "last-iteration"

    @property
    def metric(self) -> str:
        """Return the metric that the script measures; empty for none."""
        return METRICS.get(self.targets[0].task, "")

    @property
    def maximizes(self) -> bool:
        """Return whether the objective is the accuracy, of which more is better."""
        return self.options.objective_metric != "loss" and self.metric == "accuracy"


def recipe_of(job: TrainingJob) -> Recipe:
    """Return the recipe of a run on one process of the CPU. Raises `UserError` for what a script cannot carry over."""
    options, dataset = job.options, job.dataset
    refuse(job)
    assert job.data is not None
    module = initial_network(job)
    state = {name: value.detach().clone() for name, value in module.state_dict().items()}
    doubles = double_inputs(job, module)
    prepare_parameters(job, module, SingleProcess(), Share())
    length = training_length(options, dataset.samples["training"])
    learning = dict(trainable_parameters(module, job.parameter_options(module)))
    names = {parameter: name for name, parameter in module.named_parameters()}
    frozen = [name for name, part in module.named_modules() if _is_frozen(part)]
    norms = [name for name, part in module.named_modules() if isinstance(part, JoinedBatchNorm) and part.is_frozen]
    training = job.data.numbers["training"]
    return Recipe(
        options=options,
        length=length,
        samples={name: count for name, count in dataset.samples.items() if count},
        inputs=tuple(dataset.inputs[number].name for _, _, number in fed_inputs(job.project.network, dataset)),
        doubles=doubles,
        targets=tuple(_targets(job, module, training)),
        num_outputs=len(job.project.network.output_ports),
        folded=tuple(_folded(job)),
        state=state,
        factors={names[p]: (own.learn_rate_factor, own.l2_factor) for p, own in learning.items()},
        axes={names[p]: p.dim() for p in learning},
        frozen=tuple(frozen),
        frozen_norms=tuple(norms),
        has_batch_norm=any(isinstance(part, JoinedBatchNorm) for part in module.modules()),
        validation_steps=validation_steps(options, length.steps_per_epoch),
        notes=tuple(_left_out(job)),
    )


def refuse(job: TrainingJob) -> None:
    """Raise `UserError` with all that a script cannot carry over: each option, its value and the way out."""
    if reasons := list(_refusals(job)):
        first, *others = reasons
        text = f"The training script cannot carry over {first}" + "".join(f"; nor {other}" for other in others)
        raise UserError(f"{text}.", hint=f"Change what is named, {WITHOUT}.")


def _refusals(job: TrainingJob) -> Iterator[str]:
    options, environment = job.options, job.project.environment
    supported = {
        "solver": SOLVERS,
        "schedule": SCHEDULES,
        "convention": ("pytorch",),
        "weight_averaging": ("none",),
        "batch_normalization_statistics": ("auto", "moving"),
    }
    for name, values in supported.items():
        if options.is_visible(name) and getattr(options, name) not in values:
            yield f"{name}={getattr(options, name)}"
    if options.schedule == "plateau" and options.warmup_iterations:
        yield f"schedule=plateau with warmup_iterations={options.warmup_iterations}"
    if options.fitting_precision not in ("auto", "fp32", "tf32"):
        yield f"precision={options.precision}"
    for name in ("hooks_file", "step_function", "distil_from"):
        if options.is_visible(name) and getattr(options, name):
            yield f"{name}={getattr(options, name)}"
    if options.augments:
        yield f"augmentation ({', '.join(options.augments)}): it changes the samples at random in Netwright's own way"
    for one in job.targets:
        if (loss := loss_of(options, one)[0]) not in LOSSES:
            yield f"the loss {loss} of {one.name}"
        elif "dice" in loss and one.facts.per == "sample":
            yield f"the loss {loss} of {one.name}, which has one target per sample"
        if one.facts.per == "step" and one.type["T"] != one.facts.type["T"]:
            yield f"the output {one.name}, which has other steps than its target"
    if options.loss == "custom":
        yield "loss=custom"
    if options.objective_metric not in ("loss", "metric", METRICS.get(job.ordered_dataset.task, "")):
        yield f"objective_metric={options.objective_metric}"
    if has_varying_lengths(options, job.project.network, job.dataset):
        yield "sequences of different lengths: the printed network takes batches of one length"
    if options.gradient_accumulation > 1 and _has_batch_norm(job):
        yield f"gradient_accumulation={options.gradient_accumulation} with batch normalisation"
    if environment.strategy == "local-sgd":
        yield "strategy=local-sgd"
    if environment.is_visible("learn_rate_scaling") and environment.learn_rate_scaling != "none":
        yield f"learn_rate_scaling={environment.learn_rate_scaling}"
    data = job.project.data
    if data.source_type is not None and data.source_type.window(data):
        yield f"shuffle_window={data.source_type.window(data)}"


def _has_batch_norm(job: TrainingJob) -> bool:
    module = build(job.project.network, job.analysis)
    return any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in module.modules())


def _left_out(job: TrainingJob) -> Iterator[str]:
    """Yield a sentence on each option that the script leaves out, which changes no loss of a step."""
    options = job.options
    yield "It writes no checkpoints: a run that was interrupted begins anew."
    names = [
        name
        for name in SAME_NUMBERS
        if options.is_visible(name) and getattr(options, name) != type(options).fields[name].default
    ]
    for name in names:
        yield f"Left out: {name} ({SAME_NUMBERS[name]})."
    if options.gradient_accumulation > 1:
        yield (
            f"Left out: gradient_accumulation ({plural(options.gradient_accumulation, 'piece')} per batch): each batch "
            "is computed at once, with the same numbers and more memory."
        )
    if options.non_finite_loss != "stop":
        yield f"Left out: non_finite_loss={options.non_finite_loss}; the script stops at a loss that is not finite."
    if options.precision in ("auto", "tf32"):
        yield "It computes in float32, also on a GPU where the run would take tf32."
    measured = METRICS.get(job.ordered_dataset.task, "")
    extra = [name for name in options.metrics_for(job.ordered_dataset.task) if name != measured]
    if extra:
        yield f"Left out: the metrics {', '.join(extra)}."
    if job.project.environment.strategy not in ("auto", "data-parallel"):
        yield f"Left out: strategy={job.project.environment.strategy}; several processes share each batch (DDP)."


def _targets(job: TrainingJob, module: nn.Module, training: Iterable[int]) -> Iterator[Target]:
    assert job.data is not None
    options = job.options
    fitted = fitted_outputs(job.project.network) if options.normalize_targets else {}
    for number, one in enumerate(job.targets):
        loss, weight = loss_of(options, one)
        array = torch.from_numpy(job.data.targets[one.number])
        own, labels = array[torch.as_tensor(training)], one.facts.task == "labels"
        weights = None
        if labels:
            weights = positive_weights(options, own, one.facts.type.dim("C"))
        elif one.facts.task == "classes":
            weights = class_weights(options, own.flatten(), len(one.facts.classes))
        gaps = bool(array.isnan().any()) if array.is_floating_point() else bool((array == IGNORED).any())
        scaled = (
            scale_of(module.get_submodule(job.module_names[fitted[number]][0]), job.device) if number in fitted else ()
        )
        shift, scale = (tuple(part.flatten().tolist()) for part in scaled) if scaled else ((), ())
        yield Target(one, loss, weight, () if weights is None else tuple(weights.tolist()), gaps, shift, scale)


def _folded(job: TrainingJob) -> Iterator[str]:
    """Yield the attributes of the modules that the loss includes. Raises `UserError` where one is no module."""
    network = job.project.network
    left_out = folded(network, folding(job.targets))
    yield from _attributes(plan(network, job.analysis), left_out, "", "")


def _attributes(planned: Plan, names: frozenset[str], path: str, prefix: str) -> Iterator[str]:
    for step in planned.steps:
        if path + step.layer.id in names:
            modules = [call.attribute for call in step.calls if call.attribute]
            if len(modules) != 1 or len(step.calls) != 1:
                raise UserError(
                    f"The training script cannot leave out '{step.layer.name}', which the loss includes.",
                    hint=f"Put one softmax or sigmoid layer at the output, {WITHOUT}.",
                )
            yield prefix + modules[0]
        for number, copy in enumerate(step.copies):
            suffix = f"{copy_path('', number, len(step.copies))}/"
            inner = f"{path}{step.layer.id}{suffix}", f"{prefix}{step.variable}{suffix.replace('/', '.')}"
            yield from _attributes(copy, names, *inner)


def _is_frozen(part: nn.Module) -> bool:
    own = list(part.parameters(recurse=False))
    return bool(own) and not any(parameter.requires_grad for parameter in own)
