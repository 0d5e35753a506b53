"""Training steps on made-up samples, for trials of memory and speed: the network, solver, precision and random changes
of images of a project, and a loss that is as large as its outputs."""

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import fx, nn

from engine.build.init import initialize
from engine.build.module import build, prefixes
from engine.build.parameters import frozen_modules, parameter_options
from engine.environments.gang import SoloGang
from engine.environments.strategies.sync_batch_norm import Share, freeze, join_batch_norms
from engine.exchange.samples import accepted_lengths
from engine.layers.types import TensorType
from engine.network.analysis import analyse
from engine.network.freezing import type_at
from engine.project.project import Project
from engine.training.augmenting.making import PICTURES
from engine.training.augmenting.mixing import Mixing
from engine.training.augmenting.pictures import Augmentation, Image
from engine.training.batching.batches import Tensors, as_tuple
from engine.training.solvers.solver import Solver
from engine.training.steps.precision import Precision
from engine.training.steps.recomputing import Recomputing


class Rehearsal:
    """One worker with its share of a batch, computed in the pieces that the project says."""

    def __init__(self, project: Project, device: torch.device, samples: int) -> None:
        options, network = project.training, project.network
        analysis = analyse(network)
        self._precision = Precision(options.fitting_precision, device, SoloGang())
        module: nn.Module = build(network, analysis)
        places = (prefixes(network, analysis), partial(type_at, network))
        said = parameter_options(module, *places)
        initialize(module, options.seed, said)
        module = self._precision.network(module)
        self._precision.begin()
        share = Share()
        join_batch_norms(module, SoloGang(), share)
        freeze(frozen_modules(module, *places))
        module.to(device)
        self._called: nn.Module = module
        if options.gradient_checkpointing != "off":
            assert isinstance(module, fx.GraphModule)  # as it was built
            self._called = Recomputing(module, options.gradient_checkpointing, share)
        self._solver = Solver(options, module, said)
        self._rate = options.initial_learn_rate
        self._pieces = min(options.gradient_accumulation, samples)
        steps = accepted_lengths(network)[0]
        types = [layer.type.output() for layer in network.inputs]
        self._numbers = torch.arange(samples, device=device)
        self._augmentation = _augmentation_of(project, types, samples)
        # Samples are changed all at once, and with their partners, where some are mixed; then come the pieces.
        count = -(-samples // self._pieces) if self._augmentation is None else (1 + options.mixes) * samples
        self._inputs: Tensors = tuple(_made_up(type, count, steps, device) for type in types)
        self._parameters = [p for p in module.parameters() if p.requires_grad]

    def step(self) -> None:
        """Forward, backward, and one move of the weights."""
        for parameter in self._parameters:
            parameter.grad = None
        for inputs in self._next():
            outputs = as_tuple(self._precision.call(self._called, *inputs))
            loss = torch.stack([(x.abs() if x.is_complex() else x.float()).square().mean() for x in outputs]).sum()
            scale = self._precision.scale
            torch.autograd.backward(loss if scale is None else scale.scale(loss))
        if self._precision.scale is not None:
            self._solver.unscale(self._precision.scale)
        self._solver.step(self._rate, None, self._precision.scale)

    def _next(self) -> Iterator[Tensors]:
        """The pieces of a batch."""
        if self._augmentation is None:
            yield from (self._inputs for _ in range(self._pieces))
            return
        classes = torch.zeros(len(self._inputs[0]), dtype=torch.int64, device=self._numbers.device)
        changed, _ = self._augmentation(self._inputs, (classes,), self._numbers, 1)
        yield from zip(*(x.tensor_split(self._pieces) for x in changed), strict=True)


def _augmentation_of(project: Project, types: Sequence[TensorType], samples: int) -> Augmentation | None:
    """What changes the images of so many samples, where something is to."""
    options = project.training
    images = [Image(place, PICTURES) for place, type in enumerate(types) if type.layout == "image"]
    if not options.augments or not images:
        return None
    return Augmentation(options, images, (), options.seed, Mixing(options, samples, 1) if options.mixes else None)


def _made_up(type: TensorType, count: int, steps: int, device: torch.device) -> torch.Tensor:
    """Noise, or the first word of every vocabulary."""
    shape = (count, *(size if isinstance(size, int) else steps for size in type.sizes))
    if type.kind == "index":
        return torch.zeros(shape, dtype=torch.int64, device=device)
    return torch.randn(shape, dtype=torch.complex64 if type.kind == "complex" else torch.float32, device=device)
