"""What processes take of a machine: the others see it while they live, and who waits longest goes first."""

from pathlib import Path

import pytest

from netwright.engine.placement.inventory import Device, DeviceInventory
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
