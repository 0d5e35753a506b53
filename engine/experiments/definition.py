"""From the definition of an experiment to what is run: its folder, the projects of its runs, and places for them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.core.errors import FieldErrors, UserError
from engine.core.files import write_atomically
from engine.placement.inventory import DeviceInventory
from engine.project.dataset_info import DatasetInfo
from engine.project.file import dumps, load
from engine.project.project import Project
from engine.project.trials import definition_problems, objectives_of, with_values
from engine.runs.experiments import ExperimentFolder, ExperimentInfo, Trial, create_experiment
from engine.runs.folder import origin


def begin(project: Project, project_path: Path | None, *, base: Path | None = None) -> ExperimentFolder:
    """Check the definition of an experiment with its data and create its folder. Raises `UserError`."""
    source = origin(project_path) if project_path is not None else None
    base = source.base if source is not None else (base or Path.cwd())
    errors = list(definition_problems(project, base))
    if errors:
        raise FieldErrors(errors)
    objectives = objectives_of(project, read_facts(project, base))
    info = ExperimentInfo(
        name=source.name if source is not None else "untitled",
        project_path=str(project_path) if project_path is not None else "",
        project_id=project.identity,
        base=str(base),
        objectives=tuple(objective.name for objective in objectives),
    )
    return create_experiment(project_path, info.name, dumps(project), info)


def read_facts(project: Project, base: Path) -> DatasetInfo | None:
    """Return the facts of the data that all trials share; None where a trial chooses other data. Raises `UserError`."""
    if project.data.source == "none":
        raise UserError("The project has no data to learn from.", hint="Choose a data source on the Data tab.")
    if any(parameter.path.startswith("data.") for parameter in project.experiment.parameters):
        return None
    from engine.data.load import facts

    return facts(project.data, base)


def read_data(project: Project, base: Path) -> None:
    """Read the samples of the project into memory, which forked processes share, and its splits or the first fold.
    Raises `UserError`."""
    from engine.data.load import load as load_data

    folds = project.experiment.folds
    load_data(project.data.replace(split="k-fold", folds=folds, fold=1) if folds else project.data, base)


@dataclass(frozen=True)
class Slot:
    """A place where one run executes at a time: accelerators by their torch names, or CPU threads."""

    devices: tuple[str, ...] = ()
    threads: int = 0


def slots_for(project: Project, inventory: DeviceInventory) -> list[Slot]:
    """Return the places for runs on this machine, as the experiment and the environment of the project want them."""
    options, environment = project.experiment, project.environment
    usable = [device.name for device in inventory.usable]
    if environment.target in ("auto", "gpu", "multi-gpu") and usable:
        each = options.gpus_per_trial if environment.target != "gpu" else 1
        groups = [tuple(usable[at : at + each]) for at in range(0, len(usable) - each + 1, each)] or [tuple(usable)]
        sharing = options.trials_per_gpu if each == 1 else 1
        slots = [Slot(group) for _ in range(sharing) for group in groups]
        return slots[: options.at_once] if options.at_once else slots
    if environment.target not in ("auto", "cpu", "multi-cpu"):
        return [Slot()] * max(1, options.at_once)
    workers = max(1, environment.num_workers) if environment.target == "multi-cpu" else 1
    count = options.at_once or max(1, inventory.num_cores // workers)
    return [Slot(threads=max(1, inventory.num_cores // (count * workers)))] * count


def placed(project: Project, slot: Slot) -> Project:
    """Return the project of a trial with the environment of its slot."""
    environment = project.environment
    if slot.devices:
        target = "multi-gpu" if len(slot.devices) > 1 else "gpu"
        numbers = [int(name.partition(":")[2] or 0) for name in slot.devices]
        return replace(project, environment=environment.replace(target=target, devices=numbers))
    if not slot.threads:
        return project
    target = "cpu" if environment.target == "auto" else environment.target
    threads = environment.threads or slot.threads
    return replace(project, environment=environment.replace(target=target, threads=threads))


def runs_of(project: Project, trial: Trial, base: Path) -> dict[str, Project]:
    """Return the projects of the runs of a trial by the names of their folders: one, or one per repeat and fold.

    Raises `UserError` where the values do not fit.
    """
    options = project.experiment
    one = with_values(project, trial.values, base)
    if options.runs_per_trial == 1:
        return {str(trial.number): one}
    found: dict[str, Project] = {}
    for repeat in range(options.repeats):
        seeded = replace(one, training=one.training.replace(seed=one.training.seed + repeat))
        for fold in range(1, options.folds + 1) if options.folds else (0,):
            changes = {"split": "k-fold", "folds": options.folds, "fold": fold} if fold else {}
            found[f"{trial.number}_{len(found) + 1}"] = replace(seeded, data=seeded.data.replace(**changes))
    return found


def change_options(folder: ExperimentFolder, changes: Mapping[str, Any]) -> None:
    """Change options of the frozen definition of an experiment, such as the number of trials. Raises `UserError`."""
    project = load(folder.project).project
    project = replace(project, experiment=project.experiment.replace(**changes))
    write_atomically(folder.project, dumps(project).encode(), mode=0o600)
