"""Places for the runs of an experiment, and the projects of its runs."""

from pathlib import Path
from typing import Any

import pytest

from engine.experiments.definition import Slot, placed, runs_of, slots_for
from engine.placement.inventory import Device, DeviceInventory
from engine.project.environment import EnvironmentOptions
from engine.project.experiment import ExperimentOptions
from engine.project.project import Project
from engine.project.training import TrainingOptions
from engine.runs.experiments import Trial

CPU = DeviceInventory(num_cores=8)
GPUS = DeviceInventory(num_cores=8, devices=tuple(Device(f"cuda:{n}", "H200", 2**37) for n in range(4)))


def project(target: str = "auto", workers: int = 0, **options: Any) -> Project:
    environment = EnvironmentOptions(target=target, num_workers=workers)
    return Project(environment=environment, experiment=ExperimentOptions(**options))


@pytest.mark.parametrize(
    ("defined", "machine", "slots"),
    [
        (project(), CPU, [Slot(threads=1)] * 8),
        (project(at_once=2), CPU, [Slot(threads=4)] * 2),
        (project("multi-cpu", 4), CPU, [Slot(threads=1)] * 2),
        (project("cpu", at_once=3), GPUS, [Slot(threads=2)] * 3),
        (project(), GPUS, [Slot((f"cuda:{n}",)) for n in range(4)]),
        (project(at_once=2), GPUS, [Slot(("cuda:0",)), Slot(("cuda:1",))]),
        (project(gpus_per_trial=2), GPUS, [Slot(("cuda:0", "cuda:1")), Slot(("cuda:2", "cuda:3"))]),
        (project(gpus_per_trial=8), GPUS, [Slot(tuple(f"cuda:{n}" for n in range(4)))]),
        (project(trials_per_gpu=2), GPUS, [Slot((f"cuda:{n}",)) for n in (0, 1, 2, 3, 0, 1, 2, 3)]),
    ],
)
def test_places_for_trials(defined: Project, machine: DeviceInventory, slots: list[Slot]) -> None:
    assert slots_for(defined, machine) == slots


def test_a_trial_is_placed_in_its_slot() -> None:
    assert placed(project(), Slot(threads=2)).environment.write() == {"target": "cpu", "threads": 2}
    one, two = (placed(project(), Slot(names)).environment for names in (("cuda:3",), ("cuda:1", "cuda:2")))
    assert (one.target, one.devices, two.target, two.devices) == ("gpu", (3,), "multi-gpu", (1, 2))


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
