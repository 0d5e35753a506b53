"""The places of an experiment on this machine, beside what else trains on it."""

from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.experiments.places import LocalPlaces
from netwright.engine.hardware import devices
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.placement.shares import Slot
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.project import Project
from netwright.engine.runs.machine_shares import (
    QUEUE,
    MachineShare,
)

GPUS = DeviceInventory(num_cores=8, devices=tuple(Device(f"cuda:{n}", "H200", 2**37) for n in range(4)))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def places(monkeypatch: pytest.MonkeyPatch, inventory: DeviceInventory, target: str, **options: int) -> LocalPlaces:
    monkeypatch.setattr(devices, "probe", lambda: inventory)
    environment = EnvironmentOptions(target=target)
    return LocalPlaces(Project(environment=environment, experiment=ExperimentOptions(**options)), "digits")


def test_an_experiment_leaves_devices_to_a_run_over_several_that_waits(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, environment = places(monkeypatch, GPUS, "gpu"), EnvironmentOptions(target="gpu")
    with MachineShare(QUEUE) as queue:
        queue.write(devices=("cuda:0",))
        assert ours.find(environment, {}) == Slot(("cuda:1",))
        queue.write(needs_devices=3, since=1.0)
        assert ours.find(environment, {}) is None, "three of four would no longer be free"
        assert "queue: cuda:0" in ours.waits
        assert queue.others()[0].since > 1.0
        queue.write(needs_devices=0, since=0.0, devices=("cuda:0", "cuda:2", "cuda:3"))
        assert ours.find(environment, {}) == Slot(("cuda:1",))
        assert (ours.waits, queue.others()) == ("", [])
        ours.environment_in(environment, Slot(("cuda:1",)))
        assert queue.others()[0].devices == ("cuda:1",)
        ours.attend({}, 0)
        assert queue.others() == []
    wide = places(monkeypatch, GPUS, "multi-gpu", gpus_per_trial=4)
    with MachineShare(QUEUE) as queue:
        queue.write(devices=("cuda:0",))
        assert wide.find(EnvironmentOptions(target="multi-gpu"), {}) is None, "it does not shrink"
    wide.close()
    ours.close()


def test_an_experiment_counts_the_cores_that_others_take(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = places(monkeypatch, replace(GPUS, devices=(), num_cores=2), "cpu")
    environment = EnvironmentOptions(target="cpu")
    with MachineShare(QUEUE) as queue:
        queue.write(cores=1)
        assert ours.find(environment, {}) == Slot(threads=1, cores=1)
        queue.write(cores=2)
        assert ours.find(environment, {}) is None
        assert queue.others()[0].needs_cores == 1
    assert ours.find(environment, {}) == Slot(threads=1, cores=1)
    ours.close()
