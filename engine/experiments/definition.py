"""From the definition of an experiment to what is run: its functions, the projects of its runs, and places for them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically
from netwright.engine.core.folders import data_folder
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.placement.shares import Share
from netwright.engine.project import user_code
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import dumps, load
from netwright.engine.project.project import Project
from netwright.engine.project.trials import with_values
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_log import Trial
from netwright.engine.user_code import registry, trust


def look_at_functions(folder: ExperimentFolder, project: Project, base: Path) -> dict[str, Path]:
    """Read the code of an experiment: that of its functions in the copies of its folder, which are as they were when
    it began. Return the copies by their paths in the project. Those in the user's data folder are trusted where the
    project's folder is. Raises `UserError` where code is not trusted."""
    frozen = {file: path for file, path in folder.frozen_code().items() if path.is_file()}
    if frozen and trust.is_trusted(base) and folder.path.resolve().is_relative_to(data_folder().resolve()):
        trust.grant(folder.code)
    user_code.look(project, base, frozen)
    user_code.refuse_untrusted(project, in_experiment=True)
    return frozen


def changed_functions(folder: ExperimentFolder, base: Path) -> list[str]:
    """Return the files of the experiment's functions that have changed, or are gone, since it began."""
    changed = []
    for file, sha256 in folder.read_info().code.items():
        try:
            is_same = registry.hash_of_bytes(registry.read_code(base / file, file)) == sha256
        except UserError:
            is_same = False
        changed += [] if is_same else [file]
    return changed


def read_facts(project: Project, base: Path) -> DatasetInfo | None:
    """Return the facts of the data that all trials share; None where a trial chooses other data. Raises `UserError`."""
    if project.data.source == "none":
        raise UserError("The project has no data to learn from.", hint="Choose a data source on the Data tab.")
    if any(parameter.path.startswith("data.") for parameter in project.experiment.parameters):
        return None
    from netwright.engine.data.loading.load import facts

    return facts(project.data, base)


def read_data(project: Project, base: Path) -> None:
    """Read the samples of the project into memory, which forked processes share, and its splits or the first fold.
    Raises `UserError`."""
    from netwright.engine.data.loading.load import load as load_data

    load_data(project.data_of_trials, base)


def share_of(project: Project, inventory: DeviceInventory) -> Share:
    """Return the part of this machine that the runs of an experiment may use."""
    options = project.experiment
    return Share.of(
        inventory,
        project.environment,
        gpus=options.gpus,
        cores=options.cores,
        at_once=options.at_once,
        gpus_per_run=options.gpus_per_trial,
        runs_per_gpu=options.trials_per_gpu,
    )


def least_environment(project: Project, share: Share) -> EnvironmentOptions:
    """Return the environment of the next trial, or where trials differ in theirs, one that needs as little as any."""
    environment = project.environment
    if not any(parameter.path.startswith("environment.") for parameter in project.experiment.parameters):
        return environment
    return environment.replace(target="gpu" if share.devices else "cpu", num_workers=0)


def runs_of(project: Project, trial: Trial, base: Path) -> dict[str, Project]:
    """Return the projects of the runs of a trial by the names of their folders: one, or one per repeat and fold.

    Raises `UserError` where the values do not fit.
    """
    options = project.experiment
    prototype = with_values(project, trial.values, base)
    if options.runs_per_trial == 1:
        return {str(trial.number): prototype}
    runs: dict[str, Project] = {}
    for repeat in range(options.repeats):
        seeded = replace(prototype, training=prototype.training.replace(seed=prototype.training.seed + repeat))
        for fold in range(1, options.folds + 1) if options.folds else (0,):
            changes = {"split": "k-fold", "folds": options.folds, "fold": fold} if fold else {}
            runs[f"{trial.number}_{len(runs) + 1}"] = replace(seeded, data=seeded.data.replace(**changes))
    return runs


def first_run(project: Project, number: int) -> str:
    """Return the name of the only or the first run of a trial."""
    return str(number) if project.experiment.runs_per_trial == 1 else f"{number}_1"


def change_options(folder: ExperimentFolder, changes: Mapping[str, Any]) -> None:
    """Change options of the frozen definition of an experiment, such as the number of trials. Raises `UserError`."""
    project = load(folder.project).project
    project = replace(project, experiment=project.experiment.replace(**changes))
    write_atomically(folder.project, dumps(project).encode(), mode=0o600)
