"""Distillation: the loss of a training that also learns the answers of a teacher.

Source: Hinton, Vinyals, Dean: Distilling the Knowledge in a Neural Network, arXiv:1503.02531.

    (1 - w) · loss(outputs, targets) + w · T² · KL(softmax(teacher / T) || softmax(outputs / T))

Labels take the divergence of each label's two probabilities, numbers half the squared difference. As in the loss, the
mean is over the positions of a sample that count.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from netwright.engine.data.loading.batches import Tensors, as_tuple
from netwright.engine.data.loading.datasets import fed_inputs
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_folder import fill, load
from netwright.engine.network.analysis import analyse
from netwright.engine.project.bindings import Wanted, folding, wanted_of
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.teacher import read_teacher, refuse_teacher
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.losses import OutputAdapters, Scale, over_samples
from netwright.engine.training.precision import Precision


class Distillation:
    """Adds what a teacher answers to the loss of a batch."""

    def __init__(
        self,
        teacher: nn.Module,
        teacher_outputs: Sequence[Wanted],
        outputs: Sequence[Wanted],
        temperature: float,
        weight: float,
        precision: Precision,
        *,
        order: Sequence[int] = (0,),
        num_inputs: int = 1,
        doubles: Collection[int] = (),
        scales: Mapping[int, Scale] | None = None,
        mixes: bool = False,
    ) -> None:
        """`order`: place of each input of the teacher among the `num_inputs` of the network. `doubles`: its inputs that
        are float64. `scales` normalise outputs that are numbers, by their index. `mixes`: targets are class
        probabilities."""
        self._teacher = teacher
        self._wanted = tuple(outputs)
        self._teacher_adapters = OutputAdapters(teacher_outputs)
        self._adapters = OutputAdapters(outputs, mixes=mixes)
        self._temperature, self._weight = temperature, weight
        self._precision, self._num_inputs = precision, num_inputs
        self._order, self._doubles = tuple(order), frozenset(doubles)
        self._scales = scales or {}

    def __call__(self, loss: torch.Tensor, outputs: Tensors, inputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Return the mixed loss, summed over samples. `loss` is that of outputs and targets, summed over samples."""
        if not len(targets[0]):
            return loss
        with torch.no_grad():
            answers = as_tuple(self._precision.call(self._teacher, *self._taken(inputs)))
            answers, _ = self._teacher_adapters(answers, targets)
        outputs, labels = self._adapters(outputs, targets)
        taught = [
            self._divergence(number, outputs[number], answers[number].to(outputs[number].dtype), labels[number])
            for number in range(len(self._wanted))
        ]
        return (1 - self._weight) * loss + self._weight * sum(taught)

    def _taken(self, inputs: Tensors) -> Tensors:
        """Return the inputs in the order of the teacher, in single precision unless it needs double, and the lengths
        behind them."""
        teacher_inputs = [inputs[place] for place in self._order]
        for place, x in enumerate(teacher_inputs):
            if x.dtype == torch.float64 and place not in self._doubles:
                teacher_inputs[place] = x.float()
        return (*teacher_inputs, *inputs[self._num_inputs :])

    def _divergence(
        self, number: int, output: torch.Tensor, answer: torch.Tensor, target: torch.Tensor
    ) -> torch.Tensor:
        """Return the sum over samples of the mean over positions that count; `output` and `answer` are (N, C, ...) or
        (N, T, C)."""
        spec = self._wanted[number]
        if spec.facts.task == "numbers":
            scale = self._scales.get(number)
            output, answer = (scale(output), scale(answer)) if scale is not None else (output, answer)
            counted = ~target.isnan()
            return over_samples(torch.where(counted, (output - answer).square() / 2, 0.0), counted)
        t, axis = self._temperature, spec.type.dim("C")
        if spec.facts.task == "labels":
            counted = ~target.isnan()
            each = functional.binary_cross_entropy_with_logits(
                output / t, torch.sigmoid(answer / t), reduction="none"
            ) - functional.binary_cross_entropy_with_logits(answer / t, torch.sigmoid(answer / t), reduction="none")
            return over_samples(torch.where(counted, each, 0.0), counted) * t**2
        student, teacher = (functional.log_softmax(x / t, dim=axis) for x in (output, answer))
        divergence = functional.kl_div(student, teacher, reduction="none", log_target=True).sum(axis)
        counted = torch.ones_like(divergence, dtype=torch.bool)
        if not target.is_floating_point() and target.shape == divergence.shape:
            counted = target != IGNORED
        shaped = (divergence.reshape(len(divergence), -1), counted.reshape(len(counted), -1))
        return over_samples(torch.where(shaped[1], shaped[0], 0.0), shaped[1]) * t**2


def distillation_for(job: TrainingJob, precision: Precision, scales: Mapping[int, Scale]) -> Distillation | None:
    """Return the distillation that the options of a job ask for, or None. Raises `UserError` for a teacher that is
    gone, or does not fit."""
    options = job.options
    if not options.distil_from or job.data is None:
        return None
    teacher = read_teacher(job.project, Path(job.info.base))
    refuse_teacher(teacher, job.project, job.dataset)
    network, analysis = teacher.network, analyse(teacher.network)
    outputs = wanted_of(network, analysis, job.dataset, is_padded=job.is_padded)
    module: nn.Module = build(network, analysis, logits=folding(outputs), lengths=job.is_padded)
    fill(module, load(teacher.weights)[0])
    module = precision.network(module).eval().requires_grad_(False).to(job.device)
    own = [number for _, _, number in fed_inputs(job.project.network, job.dataset)]
    fed, names = fed_inputs(network, job.dataset), prefixes(network, analysis)
    order = [own.index(number) for _, _, number in fed]
    return Distillation(
        module,
        outputs,
        job.targets,
        options.distil_temperature,
        options.distil_weight,
        precision,
        order=order,
        num_inputs=len(own),
        doubles=[place for place, (id, _, _) in enumerate(fed) if _is_double(module, names.get(id, ()), precision)],
        scales=scales,
        mixes=options.mixes,
    )


def _is_double(module: nn.Module, names: Sequence[str], precision: Precision) -> bool:
    """Return whether an input layer takes float64: all do in double precision, and those with such a shift."""
    shift = getattr(module.get_submodule(names[0]), "shift", None) if names else None
    return precision.name == "fp64" or (shift is not None and shift.dtype == torch.float64)
