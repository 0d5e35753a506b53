"""Batch size, steps per epoch and learn rate of a placement as text, and the cost model of dividing a step.

The window, the command line and the run's record all use this text.
"""

import math
from dataclasses import dataclass

from netwright.engine.core.errors import UserError, plural
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.placement.choose import Placement
from netwright.engine.placement.inventory import DeviceInventory, can_share
from netwright.engine.project.check_strategies import pieces_of_batch, stages_of
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingLength, TrainingOptions, batch_size, training_length

_LATENCY_S, _BYTES_S = 2.5e-4, 1.1e9
"""Cost of an all-reduce of the gradients of two workers over gloo: seconds of latency, and bytes per second. Measured
on two cores with 4 B to 4 MB (benchmarks/sums.py)."""
_SHARED_LATENCY_S, _SHARED_BYTES_S = 3e-5, 3e9
"""The same through shared memory."""
_FLOPS_S = 2e10
"""FLOP/s of one current core in the layers of a network, forward and backward; a fraction of its matrix products."""


def rate_factor(environment: EnvironmentOptions, workers: int) -> float:
    """Return the factor of the learn rates for this number of workers."""
    if not environment.is_visible("learn_rate_scaling"):
        return 1.0
    match environment.learn_rate_scaling:
        case "linear":
            return float(workers)
        case "square-root":
            return math.sqrt(workers)
        case _:
            return 1.0


def placement_text(
    placement: Placement,
    project: Project,
    samples: int | None,
    steps: int | None = None,
    analysis: Analysis | None = None,
) -> str:
    """Return the batch and the rate for a training split of this size, if it is known, and whether one process is
    expected to be faster; for a pipeline also its stages. `steps` is the length of the longest sequence of the data, if
    it is known: without it, nothing is expected of a network for sequences of any length. `analysis` is that of the
    network, where available. Raises `UserError` for a network that cannot be divided into the stages."""
    crowding = _crowding(placement)
    sentences = [batch_text(placement, project.environment, project.training, samples), crowding]
    averages_rarely = project.environment.strategy == "local-sgd"
    if _has_stages(placement, project.environment):
        sentences.append(_stages(placement, project, analysis or analyse(project.network)))
    elif placement.resolved == "multi-cpu" and not crowding and not averages_rarely:
        analysis = analysis or analyse(project.network)
        if steps is not None or not _takes_any_length(analysis):
            shares_memory = project.run.accelerates("shared-memory")
            sentences.append(better_alone(placement, work_of(analysis, steps or 1), shares_memory=shares_memory))
    return " ".join(filter(None, sentences))


def _crowding(placement: Placement) -> str:
    """Return advice where workers have to share cores, or an empty text."""
    if not 0 < placement.num_cores < len(placement.workers):
        return ""
    if placement.num_cores == 1:
        return "One process (cpu) is expected to be faster: more workers than cores take turns."
    return (
        f"One process (cpu) or at most {placement.num_cores:,} workers are expected to be faster: more workers than "
        "cores take turns."
    )


def batch_text(
    placement: Placement, environment: EnvironmentOptions, training: TrainingOptions, samples: int | None
) -> str:
    """Return the batch for a training split of this size, if it is known: `128 samples per step, 64 per worker in 4
    micro-batches of 16; 12 steps per epoch; learn rate 0.02 = 0.01 × 2 (linear, 2 workers).`"""
    parts = [_batch(placement, environment, training, batch_size(training, samples))]
    if samples:
        parts.append(_epoch(training_length(training, samples)))
    if training.is_visible("initial_learn_rate"):
        parts.append(_rate(environment, training.initial_learn_rate, len(placement.workers)))
    return "; ".join(parts) + "."


def _epoch(whole: TrainingLength) -> str:
    return "one step per epoch" if whole.is_full_batch else f"{plural(whole.steps_per_epoch, 'step')} per epoch"


def _has_stages(placement: Placement, environment: EnvironmentOptions) -> bool:
    return environment.strategy == "pipeline" and len(placement.workers) > 1


def _stages(placement: Placement, project: Project, analysis: Analysis) -> str:
    if analysis.has_errors:
        return ""
    try:
        return stages_of(project.network, analysis, project.environment, len(placement.workers)).sentence
    except UserError as error:
        raise UserError(f"environment.stages: {error}") from None


def _batch(placement: Placement, environment: EnvironmentOptions, training: TrainingOptions, batch: int) -> str:
    count = len(placement.workers)
    pieces = pieces_of_batch(environment, training.gradient_accumulation, count)
    shares = sorted({worker.samples for worker in placement.workers})
    step, each = f"{plural(batch, 'sample')} per step", " or ".join(f"{share:,}" for share in shares)
    has_shares = count > 1 and not _has_stages(placement, environment)  # each stage computes all samples
    if pieces == 1:
        return f"{step}, {each} per worker" if has_shares else step
    sizes = " or ".join(f"{size:,}" for size in sorted({-(-share // pieces) for share in shares}))
    size = f"at most {sizes}" if batch % pieces else sizes
    if has_shares:
        return f"{step}, {each} per worker in {pieces:,} micro-batches of {size}"
    return f"{step}, in {pieces:,} micro-batches of {size}"


def _rate(environment: EnvironmentOptions, rate: float, workers: int) -> str:
    factor = rate_factor(environment, workers)
    if workers == 1:
        return f"learn rate {rate:g}"
    kind = environment.learn_rate_scaling
    if factor == 1.0:
        return f"learn rate {rate:g} (not scaled, {plural(workers, 'worker')})"
    return f"learn rate {rate * factor:.4g} = {rate:g} × {factor:.4g} ({kind}, {plural(workers, 'worker')})"


@dataclass(frozen=True)
class Work:
    """Work of a step: forward FLOPs per sample, and bytes of gradients."""

    flops: int
    gradient_bytes: int


def work_of(analysis: Analysis, steps: int = 1) -> Work:
    """Return the work of a network in float32, with sequences of this many steps where it takes any length: those have
    no FLOPs in the analysis, and cost at least a product with all weights per step."""
    return Work(max(analysis.flops, 2 * analysis.parameters * steps), 4 * analysis.parameters)


def _takes_any_length(analysis: Analysis) -> bool:
    return any(type.is_open for facts in analysis.shapes.values() for type in facts.outputs)


def all_reduce_s(gradient_bytes: int, *, through_memory: bool = False) -> float:
    """Return the seconds for an all-reduce of gradients of this many bytes over workers of one machine, as measured:
    over gloo, or through shared memory, which workers on the CPU use where possible."""
    start, speed = (_SHARED_LATENCY_S, _SHARED_BYTES_S) if through_memory else (_LATENCY_S, _BYTES_S)
    return start + gradient_bytes / speed


def step_s(work: Work, samples: int, flops_s: float = _FLOPS_S) -> float:
    """Return the seconds of this many samples on one core, forward and backward, which is twice forward."""
    return 3 * work.flops * samples / flops_s


def better_alone(placement: Placement, work: Work, *, shares_memory: bool = True) -> str:
    """Return the reason why one process is expected to be faster than these workers on the CPU, or an empty text.

    Dividing a step saves computation and adds the cost of the all-reduce. The fixed cost of a step (calling the
    layers, moving the weights) is not saved.
    """
    if placement.resolved != "multi-cpu" or not work.flops:
        return ""
    batch, largest = (f(w.samples for w in placement.workers) for f in (sum, max))
    cost = all_reduce_s(work.gradient_bytes, through_memory=shares_memory and can_share())
    saved = step_s(work, batch) - step_s(work, largest)
    if saved >= cost:
        return ""
    return (
        f"One process (cpu) is expected to be faster: dividing a step saves about {1000 * saved:.2g} ms of computing, "
        f"and summing the gradients takes about {1000 * cost:.2g} ms."
    )


def hardware_text(placement: Placement, inventory: DeviceInventory) -> str:
    """Return the hardware that a run executes on, for its progress: `Some CPU, 2 workers with 1 thread each`."""
    count = len(placement.workers)
    if placement.resolved == "parallel" and inventory.cluster is not None:
        each = "1 GPU" if inventory.cluster.gpus_per_worker else plural(inventory.cluster.cores_per_worker, "core")
        return f"cluster {inventory.cluster.name}, {plural(count, 'worker')} with {each} each"
    if placement.workers[0].device == "cpu":
        threads = placement.workers[0].threads
        each = "1 thread" if threads == 1 else f"up to {threads:,} threads"
        return f"{inventory.cpu_model}, " + (each if count == 1 else f"{count:,} workers with {each} each")
    device_names = {place.device for place in placement.workers}
    models = [device.model for device in inventory.devices if device.name in device_names]
    names = ", ".join(
        f"{models.count(model)} × {model}" if models.count(model) > 1 else model for model in dict.fromkeys(models)
    )
    return f"{names} ({', '.join(place.device for place in placement.workers)})"
