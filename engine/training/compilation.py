"""Choices made by timing a few steps before training: torch.compile, and the number of threads."""

import contextlib
import copy
import time
from collections.abc import Callable, Iterator

import torch
from torch import nn

from netwright.engine.data.loading.batches import ResidentDataset, as_tuple
from netwright.engine.hardware.threads import fastest
from netwright.engine.lowering.modules.onnx_operator import keep_from_compiler
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess
from netwright.engine.parallel.sync_batch_norm import Share
from netwright.engine.training.job import TrainingJob, prepare_parameters
from netwright.engine.training.losses import loss_for
from netwright.engine.training.precision import Precision

ROUNDS = 10
MIN_GAIN = 1.05
"""The compiled network is used if it is this many times as fast."""

Step = Callable[[nn.Module], object]


def accelerate(
    how: str, network: nn.Module, step: Step, group: ProcessGroup, device: torch.device
) -> tuple[nn.Module, str]:
    """Return the module to call instead of the network, and a note about it.

    `how` is the option `acceleration`; `step` computes gradients with a module on a batch. Weights, statistics and
    random numbers are unchanged afterwards. All workers decide alike. A collective.
    """
    if how == "none" or (how == "auto" and device.type == "cpu"):
        return network, ""
    keep_from_compiler()
    compiled: nn.Module = torch.compile(network)  # type: ignore[assignment]  # it is one, with the same parameters
    with _restored(network, device):
        failure = _failure(step, compiled)
        if group.all_reduce(torch.tensor([float(bool(failure))], device=device)).item():
            reason = failure or "it failed on another worker"
            return network, f"torch.compile cannot be used here, the run goes on without: {reason}"
        if how == "compile":
            return compiled, ""
        plain_s, compiled_s = (_fastest(step, module, device) for module in (network, compiled))
    both = group.all_reduce(torch.tensor([plain_s, compiled_s], dtype=torch.float64, device=device)).tolist()
    gain = both[0] / max(both[1], 1e-9)
    if gain >= MIN_GAIN:
        return compiled, f"Compiled by torch.compile: a step is {gain:.2f} times as fast."
    return network, f"Not compiled: with torch.compile a step is {gain:.2f} times as fast."


def all_learn(network: nn.Module, module: nn.Module, step: Step, group: ProcessGroup, device: torch.device) -> bool:
    """Return whether every trainable parameter gets a gradient on every worker, by one step of what training calls.

    Weights get none where every path to the loss passes a layer that stops gradients, or where a loss ignores an
    output. A collective.
    """
    with _restored(network, device):
        step(module)
        missing = sum(p.requires_grad and p.grad is None for p in network.parameters())
    return not group.all_reduce(torch.tensor([float(missing)], device=device)).item()


def _failure(step: Step, module: nn.Module) -> str:
    """Return the reason why it cannot be computed, or an empty text. Compiling may fail without a C++ compiler."""
    try:
        step(module)
    except Exception as error:  # whatever it is, the network itself is not to blame: it is tried without
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
    return ""


def _fastest(step: Step, module: nn.Module, device: torch.device) -> float:
    """Return the seconds of the fastest of some steps."""
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        step(module)
        if device.type != "cpu":
            torch.accelerator.synchronize(device)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


@contextlib.contextmanager
def _restored(network: nn.Module, device: torch.device) -> Iterator[None]:
    """Restore the network and the random numbers after this context."""
    before = {key: value.detach().clone() for key, value in network.state_dict().items()}
    draws = device.type not in ("cpu", "mps")  # fork_rng does not know the generator of MPS
    with torch.random.fork_rng([device] if draws else [], device_type=device.type if draws else "cuda"):
        try:
            yield
        finally:
            network.load_state_dict(before)
            for parameter in network.parameters():
                parameter.grad = None


def choose_threads(job: TrainingJob, network: nn.Module, precision: Precision, training: ResidentDataset) -> list[str]:
    """Time a step with one thread and with all of this worker's, keep the faster number, and return notes on it.

    A copy of the network computes it, before random numbers are seeded, so the run is not affected. Nothing is measured
    where the project sets the number; where the run must repeat bit for bit, since the load of the moment would decide;
    and where several workers each run a line search, since another number of threads rounds differently and one of them
    might search longer than the others.
    """
    options = job.options
    place = job.places[job.group.rank]
    searches = options.is_full_batch and len(job.places) > 1
    is_set = job.project.environment.threads or options.deterministic or job.info.threads_are_chosen
    if job.device.type != "cpu" or place.threads == 1 or is_set or searches or job.has_stages:
        return []
    trial = copy.deepcopy(network)
    prepare_parameters(job, trial, SingleProcess(), Share())
    loss = loss_for(options, job.targets, training.targets)
    inputs, targets = training.at(slice(max(1, place.samples // options.gradient_accumulation)))

    def step() -> None:
        torch.autograd.backward(loss(as_tuple(precision.call(trial, *inputs)), targets))

    threads, seconds = fastest((1, place.threads), torch.set_num_threads, step)
    if threads == place.threads:
        return []
    one_ms, all_ms = (1000 * seconds[n] for n in (1, place.threads))
    return [
        f"Computing with 1 thread: for this network and the load of now a step takes {one_ms:.1f} ms with it and "
        f"{all_ms:.1f} ms with {place.threads}."
    ]
