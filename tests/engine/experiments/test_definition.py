"""Places for the runs of an experiment, and the projects of its runs."""

from pathlib import Path
from typing import Any

from netwright.engine.experiments.definition import runs_of, share_of
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.placement.shares import Share
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.trial_log import Trial


def project(target: str = "auto", workers: int = 0, **options: Any) -> Project:
    environment = EnvironmentOptions(target=target, num_workers=workers)
    return Project(environment=environment, experiment=ExperimentOptions(**options))


def test_the_share_of_a_machine_is_that_of_the_definition() -> None:
    machine = DeviceInventory(num_cores=8, devices=tuple(Device(f"cuda:{n}", "H200", 2**37) for n in range(4)))
    defined = project(gpus=3, cores=6, at_once=5, gpus_per_trial=2, trials_per_gpu=4)
    share = share_of(defined, machine)
    assert share == Share(machine.devices[:3], 6, at_once=5, gpus_per_run=2, runs_per_gpu=4)


def test_repeats_differ_in_their_seed_and_folds_in_what_validates() -> None:
    defined = Project(training=TrainingOptions(seed=7), experiment=ExperimentOptions(repeats=2, folds=3))
    runs = runs_of(defined, Trial(4, {"training.momentum": 0.5}), Path())
    assert list(runs) == [f"4_{n}" for n in range(1, 7)]
    assert [(one.training.seed, one.data.fold) for one in runs.values()] == [
        (7, 1),
        (7, 2),
        (7, 3),
        (8, 1),
        (8, 2),
        (8, 3),
    ]
    assert all(one.data.split == "k-fold" and one.data.folds == 3 for one in runs.values())
    assert all(one.training.momentum == 0.5 and one.experiment == ExperimentOptions() for one in runs.values())
    assert list(runs_of(project(), Trial(4, {}), Path())) == ["4"]
