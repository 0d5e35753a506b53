"""Findings from short trainings: the loss at the start, one batch learned by heart, the range of learn rates, layers
that are dead or get no gradient; and a comparison of trainings with and without a cure.

All use the step that a run uses (`netwright.engine.training`), on the CPU, in this process.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from netwright.engine.core.progress import report
from netwright.engine.core.text import format_percent
from netwright.engine.data.loading.batches import Batch, ResidentDataset
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.doctor.operations.doctor import Comparison, Cure, Finding
from netwright.engine.doctor.project_rules import Patient
from netwright.engine.network.analysis import analyse
from netwright.engine.project import user_code
from netwright.engine.project.check import check
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Health
from netwright.engine.runs.trial_log import half_interval
from netwright.engine.training.builder import TrainerBuilder
from netwright.engine.training.evaluation import metrics_for, named
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.step import TrainStep

BY_HEART = 32
"""Samples that are learned by heart, at most."""
BY_HEART_STEPS = 300
BY_HEART_S = 10.0
LEARNED = 0.35
"""Share of the loss of a uniform guess, or of the first loss of numbers, below which a batch counts as learned."""
LOWEST_RATE, HIGHEST_RATE = 1e-6, 10.0
RANGE_STEPS = 100
RANGE_S = 10.0
SMOOTHING = 0.7
TOO_HIGH, TOO_LOW = 0.5, 0.02
"""Learn rates above this share of the one that diverges, and below this share of the recommended one, are findings."""
HEALTH_STEPS, HEALTH_S = 40, 8.0
DEAD = 0.5
"""Share of the units of a layer that are 0 for every sample of a batch above which the layer is a finding."""
VANISHED = 1e-5
"""Ratio of the smallest to the largest gradient norm of a layer below which gradients are said to vanish."""
ARM_S = 12.0
PAIRS = 3
MOST_ARM_STEPS, LEAST_ARM_STEPS = 400, 40


@dataclass
class Training:
    """A network in training, as a run would begin it. The step counts from 0."""

    builder: TrainerBuilder
    step: TrainStep

    @classmethod
    def of(cls, project: Project, data: LoadedData) -> "Training":
        """Return the training of a project on its data. Raises `UserError`."""
        options = project.training.replace(acceleration="none", hooks_file="", step_function="")
        project = replace(project, training=options)
        job = TrainingJob(project, analyse(project.network), torch.device("cpu"), data)
        builder = TrainerBuilder(job)
        return cls(builder, builder.train_step(builder.batches()))

    def batches(self) -> Iterator[Batch]:
        """Yield batches without end."""
        loader = self.builder.batches()
        epoch = 0
        while True:
            epoch += 1
            yield from loader.of_epoch(epoch)

    def first(self, samples: int) -> Batch:
        """Return the first samples of the first batch."""
        batch = next(self.batches())
        count = min(samples, batch.count)
        inputs, targets = (tuple(x[:count] for x in tensors) for tensors in (batch.inputs, batch.targets))
        return replace(batch, inputs=inputs, targets=targets, count=count, total=count)

    def loss(self, batch: Batch, step: int) -> float:
        """Train on a batch and return its mean loss per sample."""
        return float(self.step(batch, step).loss)

    def validate(self, split: ResidentDataset) -> dict[str, float]:
        """Return the loss and the metrics of a split."""
        job, builder = self.builder.job, self.builder
        metrics = metrics_for(builder.options, job.ordered_dataset, builder.training.targets, job.targets)
        return builder.evaluator(self.step, metrics).evaluate(split).values


def refusal(project: Project) -> str:
    """Return why no short training can be made; empty where it can."""
    options = project.training
    if options.is_full_batch:
        return f"the solver {options.solver} takes all samples in each iteration"
    if options.distil_from:
        return "the project learns from another run"
    return ""


def short_trainings(patient: Patient) -> Iterator[Finding | str]:
    """Yield findings of short trainings, and in words what was in order."""
    start = Training.of(patient.project, patient.data)
    yield from _first_loss(patient, start)
    report(1, 4, "short trainings")
    yield from _by_heart(patient)
    report(2, 4, "short trainings")
    yield from _rate(patient)
    report(3, 4, "short trainings")
    yield from _health(patient)
    report(4, 4, "short trainings")


def uniform_loss(patient: Patient) -> float | None:
    """Return the cross-entropy of a uniform guess, ln(classes); None where the loss is another one."""
    facts, options = patient.facts, patient.project.training
    is_plain = options.loss in ("auto", "cross-entropy") and options.class_weighting == "none"
    if len(facts.targets) == 1 and facts.targets[0].is_one_class and is_plain and len(facts.classes) > 1:
        return math.log(len(facts.classes))
    return None


def _first_loss(patient: Patient, training: Training) -> Iterator[Finding | str]:
    expected = uniform_loss(patient)
    loss = training.loss(training.first(256), 0)
    if not math.isfinite(loss):
        yield Finding(
            "first-loss",
            "error",
            "The very first loss is not a number",
            f"The loss of the first batch is {loss}.",
            100,
            None,
        )
    elif expected is not None and loss > 2 * expected + 0.5:
        yield Finding(
            "first-loss",
            "warning",
            f"The network begins far worse than by guessing: loss {loss:.3g}, a uniform guess has {expected:.3g}",
            "Inputs or initial weights are too large. Normalise the inputs, or add batch normalisation.",
            60,
            None,
        )
    elif expected is not None:
        yield f"first loss {loss:.3g}, a uniform guess has {expected:.3g}"


def _by_heart(patient: Patient) -> Iterator[Finding | str]:
    """Learn one batch by heart, without dropout and weight decay: a network that cannot, cannot learn more either."""
    best, first, count = math.inf, math.nan, 0
    for rate in (3e-3, 3e-4):
        options = patient.project.training.replace(
            solver="adam", initial_learn_rate=rate, schedule="none", l2_regularization=0.0, label_smoothing=0.0
        )
        training = Training.of(replace(patient.project, training=options), patient.data)
        for module in training.step.model.network.modules():
            if "dropout" in type(module).__name__.lower():
                vars(module)["p"] = 0.0
        batch, began = training.first(BY_HEART), time.monotonic()
        first, count = math.nan, batch.count
        for step in range(BY_HEART_STEPS):
            loss = training.loss(batch, step)
            first = loss if step == 0 else first
            if not math.isfinite(loss) or time.monotonic() - began > BY_HEART_S:
                break
            best = min(best, loss)
            if loss < LEARNED * (uniform_loss(patient) or first):
                yield f"it learns {count} samples by heart in {step + 1} steps"
                return
    bar = uniform_loss(patient) or first
    yield Finding(
        "by-heart",
        "warning",
        f"The network cannot learn even {count} samples by heart",
        f"After up to {BY_HEART_STEPS} steps of Adam the loss is {best:.3g}, at the start it is {bar:.3g}. Something "
        "stops it: a pooling that leaves nothing, a softmax too many, contradictory labels, or a network that is too "
        "small.",
        90,
        None,
    )


@dataclass(frozen=True)
class RateRange:
    """Result of a range test of the learn rate: where the loss falls steepest, and where it diverges (infinite where
    it does not)."""

    steepest: float
    diverges: float

    @property
    def advised(self) -> float:
        """The learn rate to begin with."""
        return float(f"{min(self.steepest, self.diverges / 4):.1g}")


def advised_rates(project: Project, base: Path, seconds: float) -> tuple[float, float] | None:
    """Return the learn rate that a range test on the data of a project advises, and the one from which on the loss
    diverges; None where no test can be made or the loss falls nowhere. Raises `UserError`."""
    known = facts(project.data, base)
    result = check(project, known)
    if result.errors or user_code.has_code(project) or refusal(project):
        return None
    limits = rate_range(Patient(project, result, known, load(project.data, base, is_streamed=True)), seconds)
    return None if limits is None else (limits.advised, limits.diverges)


def rate_range(patient: Patient, seconds: float = RANGE_S) -> RateRange | None:
    """Return where the loss falls and where it diverges while the learn rate rises from step to step, as in Smith,
    Cyclical Learning Rates for Training Neural Networks (2017); None where the loss falls nowhere."""
    training = Training.of(
        replace(patient.project, training=patient.project.training.replace(schedule="none")), patient.data
    )
    factor = (HIGHEST_RATE / LOWEST_RATE) ** (1 / (RANGE_STEPS - 1))
    rates = [LOWEST_RATE * factor**step for step in range(RANGE_STEPS)]
    training.step.learn_rate = rates.__getitem__
    losses: list[float] = []
    mean, diverges, began = 0.0, math.inf, time.monotonic()
    for step, batch in zip(range(RANGE_STEPS), training.batches(), strict=False):
        loss = training.loss(batch, step)
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        smooth = mean / (1 - SMOOTHING ** (step + 1))
        if not math.isfinite(smooth) or (losses and smooth > 4 * min(losses) and step > 10):
            diverges = rates[step]
            break
        losses.append(smooth)
        if time.monotonic() - began > seconds:
            break
    slopes = [(after - before) / max(before, 1e-12) for before, after in itertools.pairwise(losses[2:])]
    if not slopes or min(slopes) >= -1e-3:
        return None
    lowest = losses.index(min(losses))
    return RateRange(min(rates[slopes.index(min(slopes)) + 3], rates[lowest] / 3), diverges)


def _rate(patient: Patient) -> Iterator[Finding | str]:
    found = rate_range(patient)
    rate = patient.project.training.initial_learn_rate
    if found is None:
        yield "no learn rate made the loss fall within the range test"
        return
    advised = found.advised
    limit = "it did not diverge" if math.isinf(found.diverges) else f"from {found.diverges:.2g} on it diverges"
    cure = Cure(f"Learn rate {advised:g}", (f"training.initial_learn_rate={advised:g}",))
    evidence = f"In a range test the loss falls fastest around {found.steepest:.2g}; {limit}."
    if rate > TOO_HIGH * found.diverges:
        yield Finding("learn-rate", "warning", f"The learn rate {rate:g} is too high", evidence, 92, cure)
    elif rate < TOO_LOW * advised:
        yield Finding("learn-rate", "warning", f"The learn rate {rate:g} is very low", evidence, 70, cure)
    else:
        yield f"learn rate {rate:g}: in the range test {advised:.2g} is fastest, and {limit}"


def _health(patient: Patient) -> Iterator[Finding | str]:
    """Train some steps as a run would, and look at the layers after them."""
    options = patient.project.training.replace(watch_layers=True)
    training = Training.of(replace(patient.project, training=options), patient.data)
    rows: dict[str, list[float]] = {}
    losses: list[float] = []
    began = time.monotonic()
    for step, batch in zip(range(HEALTH_STEPS), training.batches(), strict=False):
        losses.append(training.loss(batch, step))
        for event in training.step.watch.take():
            if isinstance(event, Health):
                rows |= {id: list(figures) for id, figures in event.layers.items()}
        if not math.isfinite(losses[-1]) or time.monotonic() - began > HEALTH_S:
            break
    if losses and not math.isfinite(losses[-1]):
        lower = patient.project.training.initial_learn_rate / 10
        yield Finding(
            "diverges",
            "warning",
            f"The loss becomes {losses[-1]} after {len(losses)} steps",
            f"The losses before: {', '.join(f'{loss:.3g}' for loss in losses[-4:-1])}.",
            99,
            Cure("A tenth of the learn rate", (f"training.initial_learn_rate={lower:g}",)),
        )
        return
    yield from _of_layers(patient, rows, len(losses))


def _of_layers(patient: Patient, rows: dict[str, list[float]], steps: int) -> Iterator[Finding | str]:
    names = {id: layer.name for id, layer in patient.project.network.layers.items()}
    dead = [(id, row[2]) for id, row in rows.items() if len(row) > 2 and row[2] > DEAD and id in names]
    for id, share in dead:
        yield Finding(
            "dead-layer",
            "warning",
            f"{format_percent(share, 0)} of the units of '{names[id]}' are 0 for every sample after {steps} steps",
            "Units that are always 0 get no gradient and stay so. A lower learn rate, batch normalisation before it, "
            "or a leaky ReLU keeps them alive.",
            65 if share == 1 else 35,
            None,
        )
    norms = {id: row[0] for id, row in rows.items() if row[0] >= 0 and id in names}
    if norms and (largest := max(norms.values())) > 0:
        least = min(norms, key=lambda id: norms[id])
        if norms[least] < VANISHED * largest:
            yield Finding(
                "vanishing-gradient",
                "warning",
                f"'{names[least]}' gets hardly any gradient: {norms[least]:.2g}, another layer {largest:.2g}",
                "Batch normalisation, skip connections or ReLU in place of sigmoid and tanh let gradients through.",
                58,
                None,
            )
        elif not dead:
            yield f"all layers get a gradient and none is dead after {steps} steps"


def compared(patient: Patient, cured: Project, seconds: float = ARM_S) -> Comparison | None:
    """Return a comparison of short trainings without and with a cure, in pairs of equal seeds, on the validation; None
    where there is none, or the time does not suffice for pairs."""
    if not patient.validates:
        return None
    metric, samples = "", 0
    pairs: list[tuple[float, float]] = []
    higher = False
    for seed in range(PAIRS):
        scores = []
        for project in (patient.project, cured):
            project = replace(project, training=project.training.replace(seed=seed))
            training = Training.of(project, patient.data)
            samples = samples or training.builder.length.batch * _affordable(training, seconds / PAIRS / 2)
            for step, batch in zip(
                range(-(-samples // training.builder.length.batch)), training.batches(), strict=False
            ):
                training.step(batch, step)
            builder, job = training.builder, training.builder.job
            main = named(
                "metric", metrics_for(builder.options, job.ordered_dataset, builder.training.targets, job.targets)
            )
            split = builder.split("validation")
            assert split is not None
            values = training.validate(split)
            metric, higher = main.name, main.higher_is_better
            scores.append(values[metric] if math.isfinite(values[metric]) else (-math.inf if higher else math.inf))
        pairs.append((scores[0], scores[1]))
    return _paired(pairs, metric, samples, higher_is_better=higher)


def _affordable(training: Training, seconds: float) -> int:
    """Return how many steps of a training take so many seconds."""
    batches: Callable[[], Batch] = training.batches().__next__
    training.step(batches(), 0)
    began = time.monotonic()
    for step in range(1, 4):
        training.step(batches(), step)
    each = (time.monotonic() - began) / 3
    return max(LEAST_ARM_STEPS, min(MOST_ARM_STEPS, int(seconds / max(each, 1e-6))))


def _paired(pairs: list[tuple[float, float]], metric: str, samples: int, *, higher_is_better: bool) -> Comparison:
    count = len(pairs)
    without, with_cure = (sum(column) / count for column in zip(*pairs, strict=True))
    differences = [after - before for before, after in pairs]
    mean = sum(differences) / count
    interval = half_interval(differences) if math.isfinite(mean) else math.inf
    return Comparison(metric, higher_is_better, without, with_cure, mean, interval, count, samples)
