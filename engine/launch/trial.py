"""A few training steps on made-up samples, in a process that is thrown away: how much memory they take, and how long.

The process that asks has torch but never used it, and forks one child a trial: a child that runs out of memory, or
hangs an accelerator, takes nothing with it.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from torch import fx, nn

from engine.core.child_process import read_all
from engine.core.types import TensorType
from engine.data.augment_mixing import Mixing
from engine.data.augmentation import PICTURES, Augmentation, Image
from engine.data.batches import Tensors, as_tuple
from engine.data.sample_inputs import accepted_lengths
from engine.lowering.initialization import frozen_modules, initialize, parameter_options
from engine.lowering.module import build, prefixes
from engine.network.analysis import analyse, type_at
from engine.parallel.process_group import SingleProcess
from engine.parallel.sync_batch_norm import Share, freeze, join_batch_norms
from engine.project import user_code
from engine.project.project import Project
from engine.training.gradient_checkpointing import Recomputing
from engine.training.precision import Precision
from engine.training.solvers import Solver


class Rehearsal:
    """One worker with its share of a batch, computed in the pieces that the project says."""

    def __init__(self, project: Project, device: torch.device, samples: int) -> None:
        options, network = project.training, project.network
        analysis = analyse(network)
        self._precision = Precision(options.fitting_precision, device, SingleProcess())
        module: nn.Module = build(network, analysis)
        places = (prefixes(network, analysis), partial(type_at, network))
        said = parameter_options(module, *places)
        initialize(module, options.seed, said)
        module = self._precision.network(module)
        self._precision.begin()
        share = Share()
        join_batch_norms(module, SingleProcess(), share)
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


PATIENCE_S = 60.0
ENOUGH_S = 4.0
"""Steps are timed until they took so long together: long ones differ little from each other."""


@dataclass(frozen=True)
class Tried:
    """One trial of a worker's share: the memory of the worker at its highest, the seconds of a step, or why not."""

    samples: int
    bytes: int = 0
    seconds: float = 0.0
    refusal: str = ""


def attempt(
    project: Project, samples: int, device: str = "cpu", threads: int = 1, steps: int = 2, limit_bytes: int = 0
) -> Tried:
    """One worker's share of so many samples, with so many bytes at most on the CPU (0: any). Needs `os.fork`."""
    _warm()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(writing, project, samples, device, threads, steps, limit_bytes)
    os.close(writing)
    told = read_all(reading, PATIENCE_S)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if told is None:
        return Tried(samples, refusal=f"{steps} steps take longer than {PATIENCE_S:.0f} s")
    return Tried(**json.loads(told)) if told else Tried(samples, refusal="the system ended it: out of memory")


def _warm() -> None:
    """Import once what every child needs; torch's optimizers import the compiler at their first step."""
    for module in ("torch._dynamo", "engine.launch.trial"):
        importlib.import_module(module)


def _be_child(writing: int, project: Project, samples: int, device: str, *how: int) -> None:
    """The life of a child. Nothing of it may reach the stack below."""
    try:
        tried = _try(project, samples, device, *how)
        os.write(writing, json.dumps(asdict(tried)).encode())
    except BaseException as error:  # whatever it was: the trial failed, and says of what
        words = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        with contextlib.suppress(Exception):
            os.write(writing, json.dumps(asdict(Tried(samples, refusal=words))).encode())
    finally:
        os._exit(0)


def _try(project: Project, samples: int, device: str, threads: int, steps: int, limit_bytes: int) -> Tried:
    import torch

    # MOVED

    torch.set_num_threads(threads)
    _limit(limit_bytes)
    place = torch.device(device)
    if place.type != "cpu":
        torch.accelerator.set_device_index(place.index)
    try:
        rehearsal = Rehearsal(project, place, samples)
        rehearsal.step()
        seconds: list[float] = []
        while len(seconds) < steps and sum(seconds) < ENOUGH_S:
            began = time.perf_counter()
            rehearsal.step()
            if place.type != "cpu":
                torch.accelerator.synchronize()
            seconds.append(time.perf_counter() - began)
    except (MemoryError, torch.OutOfMemoryError) as error:
        return Tried(samples, refusal=f"out of memory ({str(error).partition('.')[0][:100]})")
    except RuntimeError as error:
        if "allocate memory" in str(error):
            return Tried(samples, refusal="out of memory")
        raise
    return Tried(samples, _peak_bytes(place), sorted(seconds)[len(seconds) // 2])


def _limit(limit_bytes: int) -> None:
    """Let this process have no more memory than what it has and so many bytes, where the system can see to it."""
    if not limit_bytes or sys.platform != "linux":
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as status:
        has = next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmData")), 0)
    resource.setrlimit(resource.RLIMIT_DATA, (has + limit_bytes, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _peak_bytes(device: Any) -> int:
    import resource

    import torch

    if device.type in ("cuda", "xpu"):
        return torch.accelerator.max_memory_reserved(device)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def can_try() -> bool:
    """Whether trials can be made here: they are forked."""
    return hasattr(os, "fork") and sys.platform == "linux"


def refusals(project: Project) -> Iterator[str]:
    """Why no trial of this project can be made."""
    options = project.training
    if options.is_full_batch:
        yield (
            f"The solver {options.solver} takes all samples in each iteration, and trials are made with mini-batches. "
            "Choose another solver."
        )
    if not project.network.layers or analyse(project.network).has_errors:
        yield "The network has errors; correct them first (see the command check)."
    if user_code.has_code(project):
        yield "The project has code of its own, which trials do not run yet."
    if not can_try():
        yield "Trials are forked processes, which this system does not have."
