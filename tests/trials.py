"""Trials of experiments, made without training anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.trial_log import Trial, TrialLog, TrialRun
from tests.builders import classifier

RATE, SOLVER, FILTERS = "training.initial_learn_rate", "training.solver", "network.fc_1.outputs"
ACCURACY = "validation.accuracy"
OPTIONS = ExperimentOptions(
    parameters=[f"{RATE}=log 0.001..0.1", f"{SOLVER}=sgdm,adam", f"{FILTERS}=4,8,16"], strategy="random"
)


def trial(number: int, values: dict[str, Any], state: str = "finished", **scores: float) -> Trial:
    """Return a trial that has ended with scores of the validation split, and those whose names have `_` at the end."""
    named = {
        name.removesuffix("_") if name.endswith("_") else f"validation.{name}": value for name, value in scores.items()
    }
    runs = (TrialRun(str(number), state, named, 1.0),) if scores else ()
    return Trial(number, values, state, runs)


def sample_trials() -> tuple[Trial, ...]:
    """Return eight finished trials of two values with an optimum inside, one that failed and one that trains."""
    found = []
    for number in range(1, 9):
        rate, solver = round(0.001 * 1.8 ** (number - 1), 6), ("sgdm", "adam")[number % 2]
        values = {RATE: rate, SOLVER: solver, FILTERS: (4, 8, 16)[number % 3]}
        accuracy = 0.95 - 0.02 * (number - 5) ** 2
        found.append(trial(number, values, accuracy=accuracy, loss=1 - accuracy, parameters_=100.0 * number))
    failed = trial(9, {RATE: 0.1, SOLVER: "sgdm", FILTERS: 4}, "failed")
    return (*found, failed, trial(10, {RATE: 0.05, SOLVER: "adam", FILTERS: 4}, "running"))


def written(folder: Path, trials: Sequence[Trial], objectives: Sequence[str] = (ACCURACY,)) -> ExperimentFolder:
    """Write an experiment with these trials beside a project in a folder."""
    path = str(folder / "net.netwright")
    info = ExperimentInfo(
        name="net", project_path=path, base=str(folder), objectives=tuple(objectives), state="finished"
    )
    project = Project(classifier(), experiment=OPTIONS)
    (folder / "net.netwright").write_text(dumps(project))
    experiment = create_experiment(folder / "net.netwright", "net", dumps(project), info)
    log = TrialLog(experiment.trials)
    for one in trials:
        log.append(one.number, values=dict(one.values))
        for run in one.runs:
            log.append(one.number, run=run.name, state=run.state, scores=dict(run.scores), seconds=run.seconds)
        if one.is_over:
            log.append(one.number, state=one.state, reason="its loss is not finite" if one.state == "failed" else "")
    log.close()
    return experiment
