"""Begin an experiment: check its definition, also with its data and for what would refuse every trial, and create its
folder."""

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.experiments.definition import read_facts, runs_of
from netwright.engine.experiments.operations.experiment_begin import BeginRequest, BeginResult
from netwright.engine.experiments.strategies import Listed, next_values, refuse_without_optuna
from netwright.engine.hardware.devices import probe
from netwright.engine.launch.prepare import examine, started_from
from netwright.engine.placement.choose import resolve
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.project import user_code
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit, keep_for, look_up
from netwright.engine.project.experiment import NEEDS_OPTUNA, ExperimentOptions, rows_in
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.project.training import batch_size
from netwright.engine.project.trials import num_trials, objectives_of, refuse_wrong_definition
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.folder import Origin, origin
from netwright.engine.runs.trial_log import Trial
from netwright.engine.user_code import registry

MOST_LOOKED_AT, ENOUGH = 200, 20
"""Trials that are looked at, and how many are enough where that takes longer than `PATIENCE_S`."""
PATIENCE_S = 5.0


def begin(project: Project, project_path: Path | None, *, base: Path | None = None) -> ExperimentFolder:
    """Check the definition of an experiment with its data and create its folder. Raises `UserError`, also for what
    would refuse every trial."""
    source = origin_of(project_path, base or Path.cwd())
    base = source.base
    if project_path is not None:
        look_up(project_path)
    places = [project.data, *_varied_places(project)]
    for options in places:
        admit(options)
    refuse_wrong_definition(project, base)
    if project.environment.target == "parallel":
        cluster_function("trial_cluster")(project)
    objectives = objectives_of(project, read_facts(project, base))
    info = ExperimentInfo(
        name=source.name,
        project_path=str(project_path) if project_path is not None else "",
        project_id=project.identity,
        base=str(base),
        objectives=tuple(objective.name for objective in objectives),
    )
    functions = user_code.experiment_files(project)
    if functions:  # before they are copied to a folder that may be trusted
        user_code.refuse_untrusted(project, in_experiment=True)
    refuse_if_none_fits(project, source)
    code = {file: registry.read_code(base / file, file) for file in functions}
    folder = create_experiment(project_path, info.name, dumps(project), info, code)
    for options in places:
        keep_for(folder.path, options)
    return folder


def begin_project(request: BeginRequest) -> BeginResult:
    """Begin the experiment of a project in an editor. Raises `UserError`."""
    project = loads(request.project).project
    user_code.ready(project, request.base)
    folder = begin(project, request.project_path, base=request.base)
    return BeginResult(experiment_dir=str(folder.path))


def _varied_places(project: Project) -> list[DataOptions]:
    """Return the data of an experiment with each URL that varies in it."""
    return [
        project.data.replace(**{parameter.path.removeprefix("data."): value})
        for parameter in project.experiment.parameters
        if parameter.path.removeprefix("data.") in project.data.fields
        for value in parameter.values
        if isinstance(value, str) and is_remote(value)
    ]


def origin_of(project_path: Path | None, base: Path) -> Origin:
    """Return the origin of the project of an experiment; `base` is the folder of one that has no file."""
    return origin(project_path) if project_path is not None else Origin(base, base, base / "untitled", "untitled")


def refuse_if_none_fits(project: Project, source: Origin) -> None:
    """Raise the refusal that every trial of an experiment would meet, such as missing data, a network that is not
    whole, or an environment that is not here. Where trials differ, each has its own.

    Trials that optuna will choose are judged by random ones. Those of a user's function are not known before.
    """
    options = project.experiment
    if options.strategy in NEEDS_OPTUNA and importlib.util.find_spec("optuna") is None:
        refuse_without_optuna(options.strategy)
    if options.strategy == "function" or options.initialization_function:
        return
    if (refusal := _common_refusal(project, source)) is not None:
        raise refusal
    if not {"weights", "network", "data"}.intersection(_varied_sections(options)):
        started_from(project, source.base)


def _common_refusal(project: Project, source: Origin) -> UserError | None:
    """Return the refusal of all trials that are looked at; None where they differ, or one would begin."""
    first, deadline = None, time.monotonic() + PATIENCE_S
    for place, trial in enumerate(_some_trials(project)):
        refusal = _refusal(project, trial, source)
        if refusal is None or (first is not None and str(refusal) != str(first)):
            return None
        first = first or refusal
        if place >= ENOUGH and time.monotonic() > deadline:
            break
    if first is None:
        return None
    begin, *rest = first.lines
    return first.reworded(f"No trial can be trained: {begin}", *rest)


def _varied_sections(options: ExperimentOptions) -> set[str]:
    rows = rows_in(options) if options.strategy == "table" else ()
    paths = (*(parameter.path for parameter in options.parameters), *(path for row in rows for path in row))
    return {path.partition(".")[0] for path in paths}


def _some_trials(project: Project) -> Iterator[Trial]:
    """Yield the first trial, and others that are spread over all."""
    options = project.experiment
    if options.strategy in NEEDS_OPTUNA:
        options = options.replace(strategy="random")
        project = project.with_section("experiment", options)
    strategy, total = Listed(project), num_trials(project) or MOST_LOOKED_AT
    for place in range(min(total, MOST_LOOKED_AT)):
        number = 1 + place * total // min(total, MOST_LOOKED_AT)
        if (values := next_values(strategy, options, number)) is None:
            return
        yield Trial(number, values)


def _refusal(project: Project, trial: Trial, source: Origin) -> UserError | None:
    """Return the reason why a trial would be refused; None where it would begin."""
    try:
        first = next(iter(runs_of(project, trial, source.base).values()))
        samples = examine(first, source).facts.samples.get("training")
        environment, training = first.environment, first.training
        if environment.target != "parallel":  # a cluster is asked once the experiment begins
            batch = batch_size(training, samples)
            resolve(environment, probe(), batch, training.gradient_accumulation)
    except UserError as error:
        return error
    return None
