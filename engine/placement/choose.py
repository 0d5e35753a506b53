"""Resolve the requested environment to workers and devices: pure functions of a `DeviceInventory`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from netwright.engine.core.errors import UnavailableError, UserError, plural
from netwright.engine.core.files import number_in
from netwright.engine.placement.cluster_part import ABSENT, has_clusters
from netwright.engine.placement.inventory import NO_LOOPBACK, TORCH_BACKENDS, ClusterSize, Device, DeviceInventory
from netwright.engine.project.check_strategies import pieces_of_batch
from netwright.engine.project.environment import TARGETS, EnvironmentOptions

MOST_AUTOMATIC_WORKERS = 8
LEAST_AUTOMATIC_SAMPLES = 32
"""Samples per batch that justify a further GPU."""


_STRATEGIES = {
    "fully-sharded": "Each worker holds its part of the weights.",
    "pipeline": "Each worker computes its stage of the network for all samples (experimental).",
    "local-sgd": "The workers' weights are averaged every {:,} iterations.",
}


@dataclass(frozen=True)
class WorkerPlace:
    """Place of one worker: a torch device name, CPU threads, its samples of a full global batch, the load they are
    proportional to, and the cores it is bound to (empty: all)."""

    device: str
    threads: int
    samples: int
    load: float = 1.0
    cores: tuple[int, ...] = ()

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the place that `asdict` made JSON of. A value of an unexpected kind counts as absent."""
        device, cores, load = data.get("device"), data.get("cores"), number_in(data.get("load"))
        threads, samples = (value if type(value) is int else 0 for value in (data.get("threads"), data.get("samples")))
        return cls(
            device if isinstance(device, str) else "cpu",
            max(1, threads),
            max(0, samples),
            1.0 if load is None else load,
            tuple(core for core in cores if type(core) is int) if isinstance(cores, list) else (),
        )


@dataclass(frozen=True)
class Placement:
    """The resolved environment. `sentence` describes it; `backend` is empty for a single worker."""

    target: str
    resolved: str
    backend: str
    workers: tuple[WorkerPlace, ...]
    sentence: str
    num_cores: int = 0
    """Cores of the machine, where the workers share them."""

    def write(self) -> dict[str, Any]:
        """Return the `environment` of `run.json`, of the summary and of the `started` event."""
        return {
            "target": self.target,
            "resolved": self.resolved,
            "workers": len(self.workers),
            "backend": self.backend,
            "devices": [worker.device for worker in self.workers],
        }


def shares(total: int, parts: int, loads: Sequence[float] = ()) -> list[int]:
    """Return `total` samples divided over the workers as evenly as possible; the first workers get the remainder.

    With `loads`, in proportion to them: rounded down, with the remaining samples for the largest fractions (the method
    of largest remainders).
    """
    if not loads:
        return [total // parts + (1 if i < total % parts else 0) for i in range(parts)]
    whole = sum(loads)
    exact = [total * load / whole for load in loads]
    counts = [int(share) for share in exact]
    most_lost = sorted(range(parts), key=lambda i: (counts[i] - exact[i], i))
    for i in most_lost[: total - sum(counts)]:
        counts[i] += 1
    return counts


def refusal(target: str, inventory: DeviceInventory) -> str | None:
    """Return the reason why this target cannot run on this machine, or None."""
    if target == "parallel":
        if inventory.cluster is not None:
            return None
        return "needs a cluster profile, and there is none yet" if has_clusters() else ABSENT
    usable = len(inventory.usable)
    refused = "; ".join(f"{device.name}: {device.refusal}" for device in inventory.devices if device.refusal)
    if target in ("gpu", "multi-gpu") and usable == 0:
        return refused or inventory.no_devices_because
    if target == "multi-gpu" and usable < 2:
        has = f"only {inventory.usable[0].name} can be used" if refused else "this machine has one"
        return f"needs two GPUs; {has} ({refused or inventory.usable[0].model})"
    if target == "multi-gpu" and not joined_by(inventory)[0]:
        return joined_by(inventory)[1]
    if target in ("multi-cpu", "multi-gpu") and not inventory.has_loopback:
        return NO_LOOPBACK
    if target == "multi-cpu" and "gloo" not in inventory.backends:
        return "this build of torch has no gloo, which joins the workers"
    return None


def joined_by(inventory: DeviceInventory) -> tuple[str, str]:
    """Return the backend that joins this machine's GPUs, and why it is not their usual one; or an empty name with the
    reason.

    torch's gloo supports only tensors of the CPU and of CUDA (and ROCm). Devices of a vendor's package are joined by
    the backend of that package.
    """
    kind = next((device.kind for device in inventory.usable), "cuda")
    others = [name for name in inventory.backends if name not in TORCH_BACKENDS]
    own = {"cuda": "nccl", "xpu": "xccl", "mps": ""}.get(kind, next(iter(others), ""))
    if own in inventory.backends:
        return own, ""
    why = f"this build of torch has no {own}, which joins the GPUs" if own else f"nothing joins {kind} devices"
    return ("gloo" if kind == "cuda" and "gloo" in inventory.backends else ""), why


def available(inventory: DeviceInventory) -> dict[str, str | None]:
    """Return each target with the reason why it cannot run here, or None."""
    return {target: refusal(target, inventory) for target in TARGETS}


def resolve(
    options: EnvironmentOptions, inventory: DeviceInventory, mini_batch_size: int, pieces: int = 1
) -> Placement:
    """Return the placement, where each mini-batch is computed in this many micro-batches. Raises `UnavailableError`
    with the reason why the target cannot run here, or `UserError`."""
    placement = _resolve(options, inventory, mini_batch_size)
    sentences = [placement.sentence]
    if len(placement.workers) > 1:
        sentences.append(_STRATEGIES.get(options.strategy, "").format(options.averaging_interval))
        pieces = pieces_of_batch(options, pieces, len(placement.workers))
    if pieces > 1:
        sentences.append(f"Each mini-batch is computed in {pieces:,} micro-batches.")
    return replace(placement, sentence=_joined(sentences))


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(filter(None, sentences))


def _resolve(options: EnvironmentOptions, inventory: DeviceInventory, mini_batch_size: int) -> Placement:
    for error in options.problems():
        raise UserError(f"environment.{error}")
    target = options.target
    if (why := refusal(target, inventory)) is not None:
        can = ", ".join(t for t, reason in available(inventory).items() if reason is None)
        raise UnavailableError(
            f"The execution environment '{target}' is not available here: {why}.", hint=f"Choose one of: {can}."
        )
    resolved = _automatic(inventory, mini_batch_size) if target == "auto" else target
    if resolved == "cpu":
        return _on_cpu(options, inventory, mini_batch_size)
    if resolved == "multi-cpu":
        return _on_many_cpus(options, inventory, mini_batch_size)
    if resolved == "parallel":
        assert inventory.cluster is not None
        return _on_cluster(options, inventory.cluster, mini_batch_size)
    return _on_gpus(options, inventory, mini_batch_size, resolved)


def _automatic(inventory: DeviceInventory, mini_batch_size: int) -> str:
    """Return the target of `auto`: GPUs before the CPU; several only where each gets a worthwhile share of the
    batch."""
    usable = len(inventory.usable)
    has_own = joined_by(inventory)[0] != "gloo"  # slower than one GPU, more often than not
    if refusal("multi-gpu", inventory) is None and has_own and mini_batch_size >= LEAST_AUTOMATIC_SAMPLES * usable:
        return "multi-gpu"
    return "gpu" if usable else "cpu"


def _chosen_because(options: EnvironmentOptions, reason: str) -> str:
    """Return a sentence on the choice of `auto`, where there was one."""
    return f"Chosen because {reason}." if options.target == "auto" and reason else ""


def _on_cpu(options: EnvironmentOptions, inventory: DeviceInventory, batch: int) -> Placement:
    threads = options.threads or max(1, inventory.num_cores)
    reason = refusal("gpu", inventory) or ""
    if threads >= inventory.num_cores > 1:  # who knows multi-cpu wonders why it was not taken
        reason = f"{reason}, and one process can use every core"
    sentences = [
        f"One process on the CPU with {plural(threads, 'thread')}; {plural(batch, 'sample')} per step.",
        _chosen_because(options, reason),
    ]
    if options.target == "auto" and not options.threads and inventory.num_cores > 1:
        sentences.append("A longer run may use several processes if a trial at its start finds them faster.")
    return Placement(options.target, "cpu", "", (WorkerPlace("cpu", threads, batch),), _joined(sentences))


def _on_many_cpus(options: EnvironmentOptions, inventory: DeviceInventory, batch: int) -> Placement:
    num_weights = len(options.worker_weights) if options.worker_load == "by-hand" else 0
    count = options.num_workers or num_weights or max(2, min(MOST_AUTOMATIC_WORKERS, inventory.num_cores, batch))
    _refuse_small_batch(batch, count, "workers", "cpu")
    threads = options.threads or max(1, inventory.num_cores // count)
    blocks = _blocks(options, inventory, count, threads)
    loads = _loads(options, [_speed_of(inventory, i, count) for i in range(count)])
    places = _share_out(
        batch,
        [WorkerPlace("cpu", threads, 0, *own) for own in zip(loads, blocks, strict=True)],
        whole=options.strategy == "pipeline",
    )
    sentences = [f"{count:,} workers on the CPU over gloo, {_each(places)}; {plural(threads, 'thread')} per worker."]
    if count > inventory.num_cores:
        sentences.append(f"The workers share {plural(inventory.num_cores, 'core')}.")
    if blocks[0]:
        num_cores = len(blocks[0])
        sentences.append(
            "Each worker is pinned to its own core." if num_cores == 1 else "Each worker is pinned to its own cores."
        )
    sentences.append(_unmeasured(options, inventory.core_speeds))
    return Placement(options.target, "multi-cpu", "gloo", places, _joined(sentences), inventory.num_cores)


def _blocks(options: EnvironmentOptions, inventory: DeviceInventory, count: int, threads: int) -> list[tuple[int, ...]]:
    """Return the cores of each worker: its part of all cores, or none where the part has too few for the threads."""
    blocks = [tuple(part_of(inventory.cores, number, count)) for number in range(count)]
    fits = options.pin_workers and all(len(block) >= threads for block in blocks)
    return blocks if fits else [()] * count


def _refuse_small_batch(batch: int, count: int, noun: str, single: str) -> None:
    """Raise `UserError` where some worker would get no sample."""
    if count > batch:
        problem = f"A mini-batch of {plural(batch, 'sample')} cannot be shared by {count:,} {noun}."
        if batch > 1:
            raise UserError(f"{problem} Use at most {batch:,} {noun} or a larger mini-batch.")
        raise UserError(f"{problem} Choose {single} or a larger mini-batch.")


def _loads(options: EnvironmentOptions, speeds: Sequence[float]) -> tuple[float, ...]:
    """Return the loads that the workers' shares are proportional to. Speeds of 0 were not measured."""
    if options.worker_load == "by-hand" and options.target != "auto":
        return options.worker_weights
    if options.worker_load == "measured" and options.target != "auto" and all(speeds):
        return tuple(speeds)
    return (1.0,) * len(speeds)


def _unmeasured(options: EnvironmentOptions, speeds: Sequence[float]) -> str:
    """Return a sentence on shares that will differ from those shown."""
    waits = options.worker_load == "measured" and options.target != "auto" and not all((*speeds, bool(speeds)))
    return (
        "The samples per worker will follow the speed of each device, measured when training starts." if waits else ""
    )


def _speed_of(inventory: DeviceInventory, number: int, count: int) -> float:
    """Return the speed of a thread on this worker's cores, in GFLOP/s; 0 where it was not measured."""
    speeds = part_of(inventory.core_speeds, number, count) or inventory.core_speeds
    return sum(speeds) / max(1, len(speeds))


def part_of(cores: Sequence[Any], number: int, count: int) -> Sequence[Any]:
    """Return a worker's contiguous part of the cores; empty where there are not enough for all workers."""
    if len(cores) < count:
        return cores[:0]
    return cores[number * len(cores) // count : (number + 1) * len(cores) // count]


def with_devices(places: Sequence[WorkerPlace], devices: Sequence[str], *, whole: bool) -> tuple[WorkerPlace, ...]:
    """Return places for other devices, one for each worker, where the global batch stays the same. `whole`: each
    worker computes all samples, as in a pipeline. Raises `UserError` where some worker would get no sample."""
    batch = max((place.samples for place in places), default=0) if whole else sum(place.samples for place in places)
    _refuse_small_batch(batch, len(devices), "workers", "cpu")
    return _share_out(batch, [replace(places[0], device=device, load=1.0) for device in devices], whole=whole)


def _share_out(batch: int, places: Sequence[WorkerPlace], *, whole: bool) -> tuple[WorkerPlace, ...]:
    """Return the places with their samples; `whole`: all samples for each. Raises `UserError` where a load is so small
    that a worker would get none."""
    loads = [place.load for place in places]
    if whole:
        return tuple(replace(place, samples=batch) for place in places)
    counts = shares(batch, len(places), loads if len(set(loads)) > 1 else ())
    for number, samples in enumerate(counts):
        if not samples:
            raise UserError(
                f"Worker {number + 1} would get no sample of a mini-batch of {batch:,}: its weight is "
                f"{loads[number]:g} of {sum(loads):g}.",
                hint="Give it more, leave it out, or choose a larger mini-batch.",
            )
    return tuple(replace(place, samples=samples) for place, samples in zip(places, counts, strict=True))


def _each(places: tuple[WorkerPlace, ...]) -> str:
    if len({place.load for place in places}) > 1:
        return f"{' + '.join(f'{place.samples:,}' for place in places)} samples"
    most, least = places[0].samples, places[-1].samples
    return f"{plural(most, 'sample')} each" if most == least else f"{least:,} or {most:,} samples each"


def _chosen_devices(options: EnvironmentOptions, inventory: DeviceInventory, resolved: str) -> list[Device]:
    """Return the devices by number, or the first, or all of them. Raises `UnavailableError` for a device that does not
    exist.

    `auto` accepts no numbers: they require gpu or multi-gpu.
    """
    usable = {device.number: device for device in inventory.usable}
    refused = {device.number: device.refusal for device in inventory.devices if device.refusal}
    numbers = list(options.devices) if options.target != "auto" else []
    for number in numbers:
        if number not in usable:
            why = refused.get(number, f"this machine has only {' and '.join(d.name for d in inventory.devices)}")
            raise UnavailableError(f"GPU {number} cannot be used: {why}.")
    if resolved == "gpu":
        if len(numbers) > 1:
            raise UserError(
                f"'gpu' trains on one device, {len(numbers)} are named.", hint="Choose multi-gpu or one device."
            )
        return [usable[numbers[0]]] if numbers else [next(iter(usable.values()))]
    if len(numbers) == 1:
        raise UserError("'multi-gpu' needs at least two devices, one is named.", hint="Name more, or choose gpu.")
    return [usable[number] for number in numbers] if numbers else list(usable.values())


def _on_gpus(options: EnvironmentOptions, inventory: DeviceInventory, batch: int, resolved: str) -> Placement:
    devices = _chosen_devices(options, inventory, resolved)
    if not options.devices and options.worker_load != "by-hand":
        devices = devices[: max(2, batch)]  # all of them were meant, as far as the batch goes
    _refuse_small_batch(batch, len(devices), "GPUs", "gpu")
    threads = max(1, inventory.num_cores // len(devices))
    loads = _loads(options, [device.speed for device in devices]) if len(devices) > 1 else (1.0,)
    if len(loads) != len(devices):
        raise UserError(
            f"environment.worker_weights: expected {len(devices)} numbers, one for each GPU, received {len(loads)}."
        )
    own = [WorkerPlace(d.name, threads, 0, load) for d, load in zip(devices, loads, strict=True)]
    places = _share_out(batch, own, whole=options.strategy == "pipeline" and len(own) > 1)
    *others, last = dict.fromkeys(device.model for device in devices)
    models = f"{', '.join(others)} and {last}" if others else last
    if resolved == "gpu":
        sentence = f"{models} ({devices[0].name}), {plural(batch, 'sample')} per step."
        reason = _chosen_because(options, _one_gpu_because(inventory, batch))
        return Placement(options.target, "gpu", "", places, _joined([sentence, reason]))
    names = ", ".join(device.name for device in devices)
    backend, why = joined_by(inventory)
    over = f"{backend} ({why})" if why else backend
    sentences = (
        f"{len(devices)} workers over {over} on {models} ({names}), {_each(places)}.",
        _unmeasured(options, [device.speed for device in devices]),
        _chosen_because(options, f"each GPU gets at least {LEAST_AUTOMATIC_SAMPLES} samples of a mini-batch"),
    )
    return Placement(options.target, "multi-gpu", backend, places, _joined(sentences))


def _on_cluster(options: EnvironmentOptions, cluster: ClusterSize, batch: int) -> Placement:
    """Return workers of a cluster. With GPUs only workers with GPUs of their own compute: a process for each."""
    per_worker = max(1, cluster.gpus_per_worker)
    count = (options.num_workers or cluster.workers) * per_worker
    _refuse_small_batch(batch, count, "workers", "cpu")
    if options.min_workers * per_worker > count:
        raise UserError(
            f"environment.min_workers: expected at most {count // per_worker:,}, the number of workers, received "
            f"{options.min_workers:,}."
        )
    has_gpus = cluster.gpus_per_worker > 0
    place = WorkerPlace("cuda:0" if has_gpus else "cpu", max(1, cluster.cores_per_worker // per_worker), 0)
    places = _share_out(batch, [place] * count, whole=options.strategy == "pipeline" and count > 1)
    backend = backend_on_cluster([place.device for place in places])
    kinds = {"ray": "Ray", "slurm": "Slurm", "ssh": "ssh"}
    over = f" over {backend}" if count > 1 else ""
    each = "one GPU" if has_gpus else plural(cluster.cores_per_worker, "thread")
    sentences = [
        f"{plural(count, 'worker')} on the cluster {cluster.name} ({kinds[cluster.kind]}){over}, {_each(places)}; "
        f"{each} per worker."
    ]
    if per_worker > 1:
        sentences.append(f"Each worker of the profile has {per_worker} GPUs, and a process for each.")
    if 0 < options.min_workers * per_worker < count:
        sentences.append(f"The run goes on with at least {options.min_workers:,} where others are lost.")
    return Placement("parallel", "parallel", backend, places, _joined(sentences))


def backend_on_cluster(devices: Sequence[str]) -> str:
    """Return the communication backend for workers of a cluster with these devices; empty for a single one."""
    if len(devices) < 2:
        return ""
    return "gloo" if "cpu" in devices else "nccl"


def _one_gpu_because(inventory: DeviceInventory, batch: int) -> str:
    """Return the reason why `auto` uses one GPU."""
    if len(inventory.devices) < 2:
        return "a GPU was found"
    if (why := refusal("multi-gpu", inventory)) is not None:
        return f"multi-gpu {why}" if why.startswith("needs") else why
    backend, own_is_missing = joined_by(inventory)
    if own_is_missing:
        return f"{own_is_missing}; {backend} can, slowly: choose multi-gpu for that"
    count = len(inventory.usable)
    return f"{plural(batch, 'sample')} are too few for {count} GPUs: fewer than {LEAST_AUTOMATIC_SAMPLES} each"
