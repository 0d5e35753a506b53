"""Preparation of a run on this machine: check the project, choose the placement of workers, create the run folder."""

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.platform import boot_id
from netwright.engine.hardware.devices import probe
from netwright.engine.hardware.speed import measure_cores, measure_in_process
from netwright.engine.placement.candidates import open_placements, record_of
from netwright.engine.placement.choose import Placement, resolve
from netwright.engine.placement.cluster_part import cluster_function, with_cluster
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project import user_code
from netwright.engine.project.check import CheckResult, check, describe
from netwright.engine.project.constants import checked_constants
from netwright.engine.project.data_hosts import keep_for, look_up
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.environment import SEVERAL, EnvironmentOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.teacher import refuse_unfit_teacher
from netwright.engine.project.training import TrainingOptions, batch_size
from netwright.engine.runs.create import create, new_folder
from netwright.engine.runs.folder import Origin, RunFolder, origin, take_lock
from netwright.engine.runs.history import ProjectKey, next_number, numbering, register
from netwright.engine.runs.info import RunInfo
from netwright.engine.user_code import registry, trust


def place(
    environment: EnvironmentOptions, training: TrainingOptions, samples: int | None
) -> tuple[Placement, DeviceInventory]:
    """Return the placement for a training split of `samples` samples, and the device inventory it was made for.

    Measures the speeds of the devices if the worker load is to follow them. Raises as `resolve` does, and `RunError`
    for a device that does not answer.
    """
    inventory = probe()
    if environment.target == "parallel":
        inventory = with_cluster(inventory, environment)
    batch = batch_size(training, samples)
    placement = resolve(environment, inventory, batch, training.gradient_accumulation)
    if environment.worker_load == "measured" and environment.target in SEVERAL:
        inventory = with_speeds(inventory, placement)
        placement = resolve(environment, inventory, batch, training.gradient_accumulation)
    return placement, inventory


def with_speeds(inventory: DeviceInventory, placement: Placement) -> DeviceInventory:
    """Return the inventory with measured speeds of the cores or devices that the placement uses."""
    if placement.resolved == "multi-cpu":
        return replace(inventory, core_speeds=measure_cores(inventory.cores or tuple(range(inventory.num_cores))))
    names = [worker.device for worker in placement.workers]
    speeds = {name: measure_in_process(name)["matmul_gflops"] for name in names}
    devices = (replace(device, speed=speeds.get(device.name, device.speed)) for device in inventory.devices)
    return replace(inventory, devices=tuple(devices))


WEIGHTS_PATIENCE_S = 1800.0
"""Limit for reading the weights that a run starts from, in seconds: they may have many gigabytes on a network drive."""
PACKAGES = ("netwright", "torch", "numpy")
# Locks of runs that were prepared in this process and wait for their coordinator, so that a run never looks lost.
_held: dict[Path, int] = {}


def prepare(project: Project, project_path: Path | None, run_dir: Path | None, *, trial: int = 0) -> RunFolder:
    """Check the project with its data, choose its placement, and create the run folder.

    A run of a `trial` of an experiment belongs to that one: it has no number of its own, and is not registered.

    Relative data paths start at the project's folder; for the copy of a project in a run folder, at the folder of the
    original. Raises `UserError` for project and data, `UnavailableError` for the environment, `RunError` for a folder.
    """
    here = Path.cwd()  # in a folder that was deleted, torch would end the process that loads it
    source = origin(project_path) if project_path else _untitled(here)
    base = source.base
    if project_path is not None:
        look_up(project_path)
    examined = examine(project, source)
    facts, files, weights = examined.facts, user_code.contents(project), started_from(project, base)
    samples = facts.samples.get("training")
    placement, inventory = place(project.environment, project.training, samples)
    from netwright.engine.data.loading import data_places, load

    loading = load.choose_loading(project, facts, placement, inventory)
    candidates = open_placements(project, placement, inventory, samples or 1, longest_sequence(facts))
    text = dumps(project)
    info = RunInfo(
        project_path=str(project_path) if project_path else None,
        project_id=project.identity,
        base=str(base),
        name=source.name,
        project_sha256=hashlib.sha256(text.encode()).hexdigest(),
        placement=record_of(placement, project, inventory, samples, longest_sequence(facts)),
        candidates=() if loading.is_streamed else candidates,
        weights=weights,
        code={file: registry.hash_of_bytes(data) for file, data in files.items()},
        warnings=tuple(describe(problem) for problem in examined.result.run_warnings),
        max_restarts=project.run.max_restarts,
        checkpoints_kept=project.training.checkpoints_kept,
        loading=loading,
        go_back=go_back(project),
        augments=tuple(project.training.augments),
        strategy=project.environment.strategy,
        seed=project.training.seed,
        deterministic=project.training.deterministic,
        versions=dict(versions()),
        host=platform.node(),
        boot=boot_id(),
        coordinator=os.getpid(),
    )
    path = _absolute(run_dir) if run_dir else new_folder(source.runs_beside if project_path else None, source.name)
    data = data_places.record(project.data, base, info.versions)
    constants = checked_constants(project.network, project.constants, registry.base())
    with contextlib.nullcontext() if trial else numbering():
        number = 0 if trial else next_number(ProjectKey(project_path, project.identity))
        info = replace(info, number=number, trial=trial, created=round(time.time(), 3))
        folder = create(path, text, info, files.values(), data, constants)
        if not trial:
            keep_for(folder.path, project.data)
            list_run(folder, project, project.identity, placement)
    if user_code.has_code(project):
        trust.grant(folder.path)  # a copy of the code found to be trusted above
    hold(folder, take_lock(folder))
    return folder


def _untitled(folder: Path) -> Origin:
    """Return the origin of a project without a file, whose paths start at a folder."""
    return Origin(folder, folder, folder / "untitled", "untitled")


def list_run(folder: RunFolder, project: Project, project_id: str, placement: Placement) -> None:
    """Enter a run in the history of its project; where it trains on a cluster, also in the list of jobs."""
    register(folder, project_id)
    if placement.resolved == "parallel":
        cluster_function("note_run_here")(folder, project.environment)


def _absolute(run_dir: Path) -> Path:
    """Return the path of a run folder without `..`: a folder that it leads through may be deleted while it trains."""
    return run_dir.resolve() if ".." in run_dir.parts else run_dir.absolute()


def go_back(project: Project) -> float:
    """Return the factor of the learn rate after a rollback from a non-finite loss; 0 if the run ends instead."""
    options = project.training
    return options.go_back_rate_factor if options.non_finite_loss == "go-back" else 0.0


def longest_sequence(facts: DatasetInfo) -> int:
    """Return the length of the longest sequence in the data, in steps; 1 if there are no sequences."""
    lengths = [info.lengths[1] if info.lengths else info.type["T"] for info in facts.inputs if info.type.has("T")]
    return max((steps for steps in lengths if isinstance(steps, int)), default=1)


def hold(folder: RunFolder, lock: int) -> None:
    """Keep the lock of a run until its coordinator takes it with `lock_of`."""
    _held[folder.path] = lock


def lock_of(folder: RunFolder) -> int:
    """Return the run's lock: the one `prepare` took, or a new one. Raises `RunError` if another engine has it."""
    descriptor = _held.pop(folder.path, None)
    return take_lock(folder) if descriptor is None else descriptor


@dataclass(frozen=True)
class Examined:
    """The facts of a project that can be trained."""

    facts: DatasetInfo
    result: CheckResult


def examine(project: Project, source: Origin) -> Examined:
    """Check a project with its code and its data. Raises `UserError`."""
    user_code.ready(project, source.code_base, source.code)
    if project.data.source == "none":
        raise UserError(
            "The project has no data to learn from.",
            hint="Choose a data source on the Data tab, or try the built-in digits with --set data.source=digits.",
        )
    check(project).refuse_errors()
    from netwright.engine.data.loading.load import facts

    data_facts = facts(project.data, source.base)
    result = check(project, data_facts)
    result.refuse_errors()
    refuse_unfit_teacher(project, data_facts, source.base)
    return Examined(data_facts, result)


def started_from(project: Project, base: Path) -> dict[str, Any]:
    """Return the record of the weights that a run starts from; empty for none. Raises `UserError` where they are gone,
    changed, or belong to another network.

    Read in a child process: torch must not stay in this one.
    """
    if not project.weights.file:
        return {}

    def record() -> dict[str, Any]:
        from netwright.engine.lowering.start_weights import start_report

        start = start_report(project, base)
        start.refuse_nothing()
        return start.record()

    return run_in_child_process(record, patience_s=WEIGHTS_PATIENCE_S)


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that affect the numerical results of a run."""
    numbers = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            numbers[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            numbers[package] = "unknown"
    return numbers
