"""The output of `experiment` with `--json`."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict


class Spread(TypedDict):
    """How much a score differs between the runs of a trial."""

    deviation: float
    """Standard deviation."""
    half_interval: float
    """Half the width of the 95 % interval of the mean, by Student's t distribution."""


class Trial(TypedDict):
    """A trial of an experiment."""

    trial: int
    title: str
    state: str
    """running, or how it ended: finished, pruned, stopped, failed, refused, lost."""
    values: Mapping[str, Any]
    """Values by path, such as training.momentum."""
    scores: Mapping[str, float]
    """Means over its runs, by split and name, such as validation.loss."""
    spread: Mapping[str, Spread]
    """By name; of trials with several runs."""
    seconds: float
    """Time of all its runs."""
    reason: str
    runs: list[str]
    """Names of the folders in runs of those of its runs that have ended."""
    hosts: NotRequired[list[str]]
    """Hosts of a cluster where these were."""
    tags: NotRequired[list[str]]
    """In status and export, like the notes."""
    note: NotRequired[str]
    cell_notes: NotRequired[Mapping[str, str]]
    """Notes on single values, by the column of the table."""


class Experiment(TypedDict):
    """An experiment and its trials."""

    experiment_dir: str
    name: str
    state: str
    """running, finished, stopped, failed, or lost where its process is gone."""
    reason: str
    waits: str
    """What it waits for, such as room on a cluster; empty for nothing."""
    created: str | None
    seconds: float
    objectives: list[str]
    """What is compared."""
    best: int | None
    """Number of the best trial by the first objective."""
    pareto_front: list[int]
    """Trials that no other one beats in every objective; empty with one objective."""
    trials: list[Trial]
    importance: NotRequired[Mapping[str, float]]
    """Share of the differences that each parameter explains, with --importance."""


class StartedExperiment(TypedDict):
    """An experiment that runs in the background."""

    experiment_dir: str


class AskedExperiment(TypedDict):
    """An experiment whose runner was asked for something."""

    experiment_dir: str
    is_running: bool
    """Whether a process is at work on it; otherwise the next one obeys."""


class ListedExperiment(TypedDict):
    """An experiment in a list."""

    experiment_dir: str
    state: str
    created: str | None
    trials: int
    ended: int
    best: Trial | None


class Experiments(TypedDict):
    """The experiments of a project, the newest first."""

    experiments: list[ListedExperiment]


class BestTrial(TypedDict):
    """The best trial of an experiment."""

    best: Trial
    run_dirs: list[str]
    pareto_front: list[Trial]
    project: str | None
    """Project file that was written with its values."""


OUTPUTS: Mapping[str, tuple[type, ...]] = {
    "experiment run": (Experiment, StartedExperiment),
    "experiment status": (Experiment,),
    "experiment list": (Experiments,),
    "experiment best": (BestTrial,),
    "experiment append": (AskedExperiment,),
    "experiment again": (AskedExperiment,),
    "experiment stop": (AskedExperiment,),
}
"""The output of each command, beside `schema_version`, `command` and, where it fails, `error`."""
