"""Findings about a project from its options, its data and its network, without training."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from netwright.engine.core.errors import plural
from netwright.engine.core.text import format_percent
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.doctor.operations.doctor import Cure, Finding
from netwright.engine.network.problems import Problem
from netwright.engine.operations import data_check
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.check import CheckResult, describe
from netwright.engine.project.dataset_info import IGNORED, DatasetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.training import training_length

WIDE_INTERVAL = 0.05
"""Half width of the 95 % interval of an accuracy of 90 % above which a validation is called small."""
FEW_UPDATES, TOO_FEW_UPDATES = 300, 100
"""Updates of the weights below which a training may be short, and below which it is."""
SHORT_BATCH = 32
LARGE_MEAN, LARGE_DEVIATION, SMALL_DEVIATION = 3.0, 5.0, 0.05
"""Inputs beyond these learn slowly: LeCun et al., Efficient BackProp (1998), section 4.3."""
UNBALANCED = 10.0
"""Ratio of the largest to the smallest class above which rare classes are hardly learned."""
MANY_PARAMETERS = 100
"""Parameters per number of the training targets above which a network can learn them by heart."""
LOOKED_AT = 512
"""Training samples whose inputs are looked at."""
EFFECTS = {"error": 100, "warning": 50, "note": 10}
OF_DATA = {"split_duplicates": 96, "leak": 95, "contradictions": 60, "labels": 55, "few_samples": 45}
"""Effects of findings about data that count more than their severity tells."""


@dataclass(frozen=True)
class Patient:
    """A project with its facts and its data. `data` is None where it was not read."""

    project: Project
    result: CheckResult
    facts: DatasetInfo
    data: LoadedData

    @property
    def validates(self) -> int:
        """Number of validation samples."""
        return self.facts.samples.get("validation", 0)


def of_problem(problem: Problem) -> Finding:
    """Return a problem of the check as a finding."""
    cure = Cure(problem.fix.label) if problem.fix is not None else None
    return Finding(problem.field or "network", problem.severity, describe(problem), "", EFFECTS[problem.severity], cure)


def of_data(finding: data_check.Finding) -> Finding:
    """Return a finding of the check of data, with the first of its fixes."""
    cure = None
    if finding.fixes:
        first = finding.fixes[0]
        cure = Cure(first.label, tuple(f"data.{name}={_text(value)}" for name, value in first.options.items()))
    names = "; ".join(": ".join(filter(None, item)) for item in finding.items[:3])
    effect = OF_DATA.get(finding.kind, EFFECTS[finding.severity])
    return Finding(
        finding.kind, finding.severity, finding.title, " ".join((finding.outcome, names)).strip(), effect, cure
    )


def _text(value: object) -> str:
    return ";".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def rules(patient: Patient) -> Iterator[Finding]:
    """Yield what options, data and network tell without a training."""
    yield from _validation(patient)
    yield from _updates(patient)
    yield from _inputs(patient)
    yield from _targets(patient)
    yield from _balance(patient)
    yield from _capacity(patient)


def _validation(patient: Patient) -> Iterator[Finding]:
    count, samples = patient.validates, sum(patient.facts.samples.values())
    if not count:
        yield Finding(
            "validation",
            "warning",
            "There is no validation: nobody sees when the network stops learning and begins to learn by heart",
            f"All {plural(samples, 'sample')} train or test.",
            50,
            Cure("Validate on 15 %", ("data.validation_share=0.15",)),
        )
        return
    if not patient.facts.targets[0].is_one_class:
        return
    width = 1.96 * math.sqrt(0.9 * 0.1 / count)  # Wald's interval, as a first look
    if width <= WIDE_INTERVAL:
        return
    cure = Cure("Validate five times (k-fold)", ("data.split=k-fold",)) if samples < 1000 else None
    yield Finding(
        "validation",
        "warning" if width > 2 * WIDE_INTERVAL else "note",
        f"The validation is small: with {plural(count, 'sample')}, an accuracy of 90 % is known to "
        f"± {format_percent(width, 0)}",
        "Differences below that between two networks say nothing (95 % interval).",
        40 if width > 2 * WIDE_INTERVAL else 15,
        cure,
    )


def _updates(patient: Patient) -> Iterator[Finding]:
    options = patient.project.training
    if options.is_full_batch:
        return
    length = training_length(options, patient.facts.samples["training"])
    if length.total_steps >= FEW_UPDATES:
        return
    updates, is_short = plural(length.total_steps, "update"), length.total_steps < TOO_FEW_UPDATES
    settings = []
    samples, epochs = patient.facts.samples["training"], options.max_epochs
    if options.mini_batch_size > SHORT_BATCH:
        settings.append(f"training.mini_batch_size={SHORT_BATCH}")
    steps = max(1, samples // min(SHORT_BATCH, options.mini_batch_size))
    if steps * epochs < FEW_UPDATES:
        settings.append(f"training.max_epochs={-(-FEW_UPDATES // steps)}")
    yield Finding(
        "updates",
        "warning" if is_short else "note",
        f"The training {'is' if is_short else 'may be'} short: {updates} of the weights in {plural(epochs, 'epoch')}",
        f"{plural(samples, 'training sample')} in batches of {length.batch:,}. "
        f"Fewer than {FEW_UPDATES} updates rarely suffice.",
        75 if is_short else 20,
        Cure(_lengthened(settings), tuple(settings)),
    )


def _lengthened(settings: Sequence[str]) -> str:
    """Return the settings of batch and epochs in words: `Batches of 32, 40 epochs`."""
    values = dict(setting.split("=") for setting in settings)
    batch, epochs = values.get("training.mini_batch_size"), values.get("training.max_epochs")
    return ", ".join(
        filter(None, [f"batches of {batch}" if batch else "", f"{epochs} epochs" if epochs else ""])
    ).capitalize()


def _inputs(patient: Patient) -> Iterator[Finding]:
    network = patient.project.network
    for id, info in match_inputs(network, patient.facts).items():
        layer = network.layers[id]
        kind = getattr(layer.type, "normalization_kind", "none")
        number = patient.facts.inputs.index(info)
        if kind != "none" or info.type.kind != "real":
            continue
        split = patient.data.split("training").inputs[number][:LOOKED_AT]
        numbers = np.asarray(split, np.float64)
        if not numbers.size:
            continue
        mean, deviation = float(numbers.mean()), float(numbers.std())
        if abs(mean) <= LARGE_MEAN and SMALL_DEVIATION <= deviation <= LARGE_DEVIATION:
            continue
        yield Finding(
            "normalisation",
            "warning",
            f"The input '{layer.name}' is not normalised",
            f"Its values have the mean {mean:.3g} and the standard deviation {deviation:.3g}; networks learn fast "
            "around 0 and 1.",
            80,
            Cure(f"Normalise '{layer.name}' (z-score)", layers={id: {"normalization": "zscore"}}),
        )


def _targets(patient: Patient) -> Iterator[Finding]:
    if patient.project.training.normalize_targets:
        return
    training = patient.data.numbers["training"]
    for info, targets in zip(patient.facts.targets, patient.data.targets, strict=True):
        if info.task != "numbers" or info.per != "sample":
            continue
        values = np.asarray(targets[training], np.float64)
        mean, deviation = float(np.nanmean(values)), float(np.nanstd(values))
        if abs(mean) <= 2 * LARGE_MEAN and SMALL_DEVIATION <= deviation <= LARGE_DEVIATION:
            continue
        yield Finding(
            "target-scale",
            "warning",
            f"The numbers to predict{f' ({info.name})' if info.name != 'y' else ''} are not normalised",
            f"Their mean is {mean:.4g}, their standard deviation {deviation:.4g}: the first steps are far too long, or "
            "far too short.",
            85,
            Cure("Normalise the targets", ("training.normalize_targets=true",)),
        )


def _balance(patient: Patient) -> Iterator[Finding]:
    options = patient.project.training
    info = patient.facts.targets[0]
    if not info.is_one_class or options.class_weighting != "none" or len(info.classes) < 2:
        return
    labels = np.asarray(patient.data.targets[0][patient.data.numbers["training"]], np.int64)
    counts = np.bincount(labels[labels != IGNORED], minlength=len(info.classes))
    least, most = int(counts.argmin()), int(counts.argmax())
    if not counts[least] or counts[most] / counts[least] < UNBALANCED:
        return
    yield Finding(
        "balance",
        "warning",
        f"The classes are unbalanced: '{info.classes[most]}' has {counts[most]:,} training samples, "
        f"'{info.classes[least]}' {counts[least]:,}",
        f"To say '{info.classes[most]}' always is right in {format_percent(counts[most] / counts.sum(), 1)}.",
        45,
        Cure("Weight the classes", (f"training.class_weighting={_weighting(options)}",)),
    )


def _weighting(options: object) -> str:
    """Return the weighting that makes up for the sizes of classes."""
    choices: Sequence[str] = type(options).class_weighting.options  # type: ignore[attr-defined]
    return next(choice for choice in choices if choice != "none")


def _capacity(patient: Patient) -> Iterator[Finding]:
    options, facts = patient.project.training, patient.facts
    numbers = facts.samples["training"] * max(1, facts.outputs if facts.task == "numbers" else 1)
    parameters = patient.result.analysis.parameters
    stops = patient.validates and options.validation_patience
    if facts.targets[0].per != "sample" or parameters <= MANY_PARAMETERS * numbers or options.augments or stops:
        return
    yield Finding(
        "capacity",
        "note",
        f"The network can learn the training samples by heart: {parameters:,} parameters for {numbers:,} targets",
        "Augmentation, dropout, or an end where the validation no longer improves help against it.",
        30,
        Cure("End after 10 validations without progress", ("training.validation_patience=10",)),
    )
