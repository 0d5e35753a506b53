"""The CPU placements that a run may try at its start, and the condition for trying them: pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from netwright.engine.core.errors import plural
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import Analysis, analyse, type_at
from netwright.engine.placement.batch_arithmetic import hardware_text, placement_text, step_s, work_of
from netwright.engine.placement.choose import (
    MOST_AUTOMATIC_WORKERS,
    Placement,
    WorkerPlace,
    backend_on_cluster,
    refusal,
    resolve,
    with_devices,
)
from netwright.engine.placement.inventory import DeviceInventory, can_share
from netwright.engine.project import user_code
from netwright.engine.project.project import Project
from netwright.engine.project.training import training_length

MOST_CANDIDATES = 3
LEAST_RUN_S = 5.0
"""Seconds: the choice is not worthwhile for a run that is expected to take less."""
FAST_FLOPS_S = 1e11
FAST_STEP_S = 1e-4
"""FLOP/s of a core and seconds per step, faster than any current core in a small network: a run that is short even by
these is certain to be short."""


def candidates(project: Project, placement: Placement, inventory: DeviceInventory) -> tuple[Placement, ...]:
    """Return alternative placements with several workers, fewest first; none where there is no choice. Where several
    workers were requested, their number is chosen; where nothing was, whether to use several."""
    environment, batch = project.environment, sum(worker.samples for worker in placement.workers)
    if not _leaves_open(project, placement) or refusal("multi-cpu", inventory) is not None:
        return ()
    cores = inventory.num_cores
    most = min(MOST_AUTOMATIC_WORKERS, cores, batch)
    counts = [n for n in range(2, most + 1) if cores % n == 0] or ([most] if most > 1 else [])
    if len(counts) > MOST_CANDIDATES:
        counts = [counts[0], counts[len(counts) // 2], counts[-1]]
    placements = []
    for count in counts:
        options = environment.replace(target="multi-cpu", num_workers=count, threads=cores // count)
        resolved = resolve(options, inventory, batch, project.training.gradient_accumulation)
        placements.append(replace(resolved, target=environment.target))
    return tuple(placements) if environment.target == "auto" or len(placements) > 1 else ()


def _leaves_open(project: Project, placement: Placement) -> bool:
    """Return whether the options specify neither workers nor threads, and the results are the same with any number of
    workers, up to rounding."""
    environment, options = project.environment, project.training
    is_open = (environment.target == "auto" and placement.resolved == "cpu") or (
        environment.target == "multi-cpu" and not environment.num_workers
    )
    return (
        is_open
        and not environment.threads
        and environment.strategy in ("auto", "data-parallel")
        and environment.gradient_compression == "none"
        and (environment.target == "auto" or environment.worker_load == "equal")
        and not (options.deterministic or options.is_full_batch or user_code.has_code(project))
        and options.acceleration in ("none", "auto")
    )


def is_worthwhile(project: Project, analysis: Analysis, samples: int, steps: int) -> bool:
    """Return whether a run over this many samples per epoch, in sequences of this many steps, may take long enough."""
    whole = training_length(project.training, samples)
    work = work_of(analysis, steps)
    return whole.total_steps * max(FAST_STEP_S, step_s(work, whole.batch, FAST_FLOPS_S)) >= LEAST_RUN_S / 2


def draws_at_random(project: Project, analysis: Analysis) -> bool:
    """Return whether a layer draws random numbers in training, which differ between workers."""
    return any(_draws(type_at(project.network, path)) for path, _ in analysis.all_shapes())


def _draws(type: LayerType) -> bool:
    return type.random and getattr(type, "dropout", getattr(type, "probability", 1.0)) > 0


@dataclass(frozen=True, kw_only=True)
class PlacementRecord:
    """A placement as `run.json` holds it: `Placement.write()`, the place of each worker by rank, and texts."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[WorkerPlace, ...] = ()
    hardware: str = ""
    sentence: str = ""
    arithmetic: str = ""

    @property
    def resolved(self) -> str:
        """Return the environment in use, such as `multi-cpu`."""
        return str(self.environment.get("resolved", ""))

    @property
    def backend(self) -> str:
        """Return the communication backend of the process group; empty for a single worker."""
        return str(self.environment.get("backend", ""))

    def write(self) -> dict[str, Any]:
        """Return the record as JSON."""
        return {
            "environment": dict(self.environment),
            "places": [asdict(place) for place in self.places],
            "hardware": self.hardware,
            "sentence": self.sentence,
            "arithmetic": self.arithmetic,
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the record of a JSON object. A value of an unexpected kind counts as absent."""
        environment, places = data.get("environment"), data.get("places")
        are_places = isinstance(places, list) and all(isinstance(place, dict) for place in places)
        texts = {name: data.get(name) for name in ("hardware", "sentence", "arithmetic")}
        return cls(
            environment=environment if isinstance(environment, dict) else {},
            places=tuple(map(WorkerPlace.read, places)) if places and are_places else (),
            **{name: text for name, text in texts.items() if isinstance(text, str)},
        )


def resized(record: PlacementRecord, devices: Sequence[str], *, whole: bool) -> PlacementRecord:
    """Return the record of a placement on a cluster for these devices, one per worker. Raises `UserError`."""
    places = with_devices(record.places, devices, whole=whole)
    backend = backend_on_cluster(devices)  # not that of the record: it has none where the run had one worker last
    environment = {**record.environment, "workers": len(places), "devices": list(devices), "backend": backend}
    return replace(record, environment=environment, places=places)


def open_placements(
    project: Project, placement: Placement, inventory: DeviceInventory, samples: int, steps: int
) -> tuple[PlacementRecord, ...]:
    """Return the candidates of a run that is to choose among them when it starts; empty where nothing is open."""
    if not (project.run.accelerates("placement-trials") and project.run.accelerates("shared-memory")):
        return ()
    several = candidates(project, placement, inventory)
    analysis = analyse(project.network)
    if not several or not can_share() or draws_at_random(project, analysis):
        return ()
    if not is_worthwhile(project, analysis, samples, steps):
        return ()
    return tuple(record_of(each, project, inventory, samples, steps) for each in several)


def record_of(
    placement: Placement, project: Project, inventory: DeviceInventory, samples: int | None, steps: int
) -> PlacementRecord:
    """Return the entry of a placement in `run.json`, for the number of training samples and the most steps of their
    sequences."""
    return PlacementRecord(
        environment=placement.write(),
        places=placement.workers,
        hardware=hardware_text(placement, inventory),
        sentence=placement.sentence,
        arithmetic=placement_text(placement, project, samples, steps),
    )


def places_text(places: Sequence[WorkerPlace]) -> str:
    """Return the number of workers in words: `2 workers with 1 thread each`."""
    each = plural(places[0].threads, "thread")
    return f"1 process with {each}" if len(places) == 1 else f"{len(places):,} workers with {each} each"
