"""Memory and time of a few training steps on synthetic samples, measured in a child process.

The parent has imported torch but never used it, and starts one child per trial, by a fork where it can: a child that
runs out of memory, or hangs an accelerator, does not affect the parent.
"""

import contextlib
import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch

from netwright.engine.core.fork import read_from_child
from netwright.engine.core.platform import limit_memory, peak_resident_bytes
from netwright.engine.core.types import TensorType
from netwright.engine.data.loading.augment_mixing import Mixing
from netwright.engine.data.loading.augmentation import PICTURES, Augmentation, Image
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, Tensors
from netwright.engine.network.analysis import analyse
from netwright.engine.network.free_lengths import accepted_lengths
from netwright.engine.network.network import Network
from netwright.engine.project import user_code
from netwright.engine.project.project import Project
from netwright.engine.training import checkpoints
from netwright.engine.training.builder import TrainerBuilder
from netwright.engine.training.fast.accelerations import keep_freed_memory
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.solvers import FUSED_SOLVERS
from netwright.engine.training.step import TrainStep

PATIENCE_S = 60.0
"""Time limit of a trial, in seconds."""
MAX_TIMED_S = 4.0
"""Maximum total time of the timed steps, in seconds: long steps differ little from each other."""


@dataclass(frozen=True)
class TrialResult:
    """Peak memory of the worker in bytes and seconds per step, or the reason why the steps failed."""

    samples: int
    bytes: int = 0
    seconds: float = 0.0
    refusal: str = ""


def run_trial(
    project: Project, samples: int, device: str = "cpu", threads: int = 1, steps: int = 2, limit_bytes: int = 0
) -> TrialResult:
    """Train one worker with this many samples per step, in a child process.

    `limit_bytes` limits its memory on the CPU; 0: no limit.
    """
    importlib.import_module(__name__)  # what every child needs
    if not project.run.accelerates("fused-optimizers") or project.training.solver not in FUSED_SOLVERS:
        importlib.import_module("torch._dynamo")  # torch's optimizers import the compiler
    measure = partial(_measure, project, samples, device, threads, steps, limit_bytes)
    output = read_from_child(partial(_result, samples, measure), PATIENCE_S)
    if output is None:
        return TrialResult(samples, refusal=f"{steps} steps take longer than {PATIENCE_S:.0f} s")
    return (
        TrialResult(**json.loads(output))
        if output
        else TrialResult(samples, refusal="the system ended it: out of memory")
    )


def _result(samples: int, measure: Callable[[], TrialResult]) -> bytes:
    """Return the result of the measurement as JSON, whatever happens."""
    try:
        result = measure()
    except BaseException as error:  # any error is the refusal of the trial
        text = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        result = TrialResult(samples, refusal=text)
    return json.dumps(asdict(result)).encode()


def _measure(
    project: Project, samples: int, device_name: str, threads: int, steps: int, limit_bytes: int
) -> TrialResult:
    """Make the steps in this process and return what they took."""
    torch.set_num_threads(threads)
    if limit_bytes and sys.platform != "darwin":
        limit_memory(limit_bytes)
    device = torch.device(device_name)
    if device.type != "cpu":
        torch.accelerator.set_device_index(device.index)
    try:
        step = _trial_step(project, device, samples)
        step()
        seconds: list[float] = []
        while len(seconds) < steps and sum(seconds) < MAX_TIMED_S:
            start_s = time.perf_counter()
            step()
            if device.type != "cpu":
                torch.accelerator.synchronize()
            seconds.append(time.perf_counter() - start_s)
    except (MemoryError, torch.OutOfMemoryError) as error:
        return TrialResult(samples, refusal=f"out of memory ({str(error).partition('.')[0][:100]})")
    except RuntimeError as error:
        if "allocate memory" in str(error):
            return TrialResult(samples, refusal="out of memory")
        raise
    return TrialResult(samples, _peak_bytes(device), sorted(seconds)[len(seconds) // 2])


def time_checkpoint(project: Project, folder: Path) -> dict[str, float]:
    """Return the bytes of a checkpoint of weights and moments, and the median seconds of writing it below a folder.

    Trains one step first, so that there are moments: call it in a child process.
    """
    train_step, batches = _trial_trainer(project, torch.device("cpu"), 2)
    train_step(next(iter(batches.of_epoch(1))), 0)
    seconds = []
    with tempfile.TemporaryDirectory(prefix=".netwright-", dir=folder) as place:
        path = Path(place) / "checkpoints" / "1"
        for _ in range(3):
            start_s = time.perf_counter()
            checkpoints.write({"unit": train_step.model.state_dict()}, path, 1)
            seconds.append(time.perf_counter() - start_s)
        size = sum(file.stat().st_size for file in path.iterdir())
    return {"bytes": size, "seconds": sorted(seconds)[1]}


def _trial_step(project: Project, device: torch.device, samples: int) -> Callable[[], object]:
    """Return a function that makes one training step of one worker, on synthetic samples on the device."""
    train_step, batches = _trial_trainer(project, device, samples)
    return lambda: train_step(next(iter(batches.of_epoch(1))), 0)


def _trial_trainer(project: Project, device: torch.device, samples: int) -> tuple[TrainStep, BatchLoader]:
    """Return the step of one worker, and its synthetic samples on the device."""
    options = project.training.replace(mini_batch_size=samples, acceleration="none", shuffle="never")
    job = TrainingJob(replace(project, training=options), analyse(project.network), device)
    if job.reuses_memory:
        keep_freed_memory()
    builder = TrainerBuilder(job)
    types = [layer.type.output() for layer in project.network.inputs]
    inputs = synthetic_inputs(project.network, samples, device)
    classes = torch.zeros(samples, dtype=torch.int64, device=device)
    builder.training = ResidentDataset(inputs, (classes,))
    builder.loss = mean_square
    images = [Image(number, PICTURES) for number, type in enumerate(types) if type.layout == "image"]
    augmentation = None
    if options.augments and images:
        mixing = Mixing(options, samples, 1) if options.mixes else None
        augmentation = Augmentation(options, images, (), options.seed, mixing)
    batches = builder.batches(augmentation)
    return builder.train_step(batches), batches


def synthetic_inputs(network: Network, samples: int, device: torch.device) -> Tensors:
    """Return a batch of synthetic samples, one tensor per input layer. Raises `UserError` where no length of sequences
    fits."""
    steps = accepted_lengths(network)[0]
    return tuple(_synthetic(layer.type.output(), samples, steps, device) for layer in network.inputs)


def mean_square(outputs: Tensors, _targets: object = None) -> torch.Tensor:
    """Return a loss that every output has a part in."""
    return torch.stack([(x.abs() if x.is_complex() else x.float()).square().mean() for x in outputs]).sum()


def _synthetic(type: TensorType, count: int, steps: int, device: torch.device) -> torch.Tensor:
    """Return noise, or the first index of every vocabulary."""
    shape = (count, *(size if isinstance(size, int) else steps for size in type.sizes))
    if type.kind == "index":
        return torch.zeros(shape, dtype=torch.int64, device=device)
    return torch.randn(shape, dtype=torch.complex64 if type.kind == "complex" else torch.float32, device=device)


def _peak_bytes(device: torch.device) -> int:
    """Return the peak memory of the device, or of this process."""
    if device.type not in ("cpu", "mps"):
        with contextlib.suppress(RuntimeError):  # a vendor's package need not count
            return torch.accelerator.max_memory_reserved(device)
    return peak_resident_bytes()


def refusals(project: Project, *, takes_full_batch: bool = False) -> Iterator[str]:
    """Yield why no trial of this project can be made. `takes_full_batch`: its batch does not come from the solver."""
    options = project.training
    if options.is_full_batch and not takes_full_batch:
        yield (
            f"The solver {options.solver} takes all samples in each iteration, and trials are made with mini-batches. "
            "Choose another solver."
        )
    if not project.network.layers or analyse(project.network).has_errors:
        yield "The network has errors; correct them first (see the command check)."
    if user_code.has_code(project):
        yield "The project has code of its own, which trials do not run yet."
    if not takes_full_batch and sys.platform == "darwin":
        yield "Trials need a limit of memory, which macOS does not enforce."
