"""What processes take of a machine: the others see it while they live, and who waits longest goes first."""

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
    EXPERIMENT,
    QUEUE,
    RUNNER,
    Holding,
    MachineShare,
    experiments_at_work,
    holdings,
    longest_waiting,
)

GPUS = DeviceInventory(num_cores=8, devices=tuple(Device(f"cuda:{n}", "H200", 2**37) for n in range(4)))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_others_see_what_a_process_takes_until_it_ends(home: Path) -> None:
    with MachineShare(QUEUE) as queue, MachineShare(EXPERIMENT, "digits") as experiment:
        assert queue.others() == []
        experiment.write(devices=("cuda:0", "cuda:1"))
        (seen,) = queue.others()
        assert seen.text == "experiment digits: cuda:0, cuda:1"
        assert experiment.others() == []
    assert holdings() == []
    left = home / "netwright" / "shares" / "1_a.json"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text('{"kind": "queue", "cores": 3}')
    assert (holdings(left.parent), left.exists()) == ([], False)


def test_an_experiment_is_known_while_its_process_lives_also_where_it_takes_nothing(home: Path) -> None:
    with MachineShare(RUNNER, "/nets/experiments/a"):
        assert experiments_at_work() == [Path("/nets/experiments/a")]
        assert holdings() == [], "it leaves the others all room"
    assert experiments_at_work() == []


def test_who_waits_longest_goes_first() -> None:
    early, late, none = Holding(QUEUE, since=1.0), Holding(QUEUE, since=3.0), Holding(QUEUE, cores=1)
    assert longest_waiting([late, early, none], 0.0) is early
    assert longest_waiting([late, early, none], 2.0) is early
    assert longest_waiting([late, none], 2.0) is None


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
