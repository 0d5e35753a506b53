"""The queue with real processes: one run after another, side by side, and a death in between."""

import signal
import subprocess
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.platform import num_cores
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.machine_shares import EXPERIMENT, MachineShare
from netwright.engine.runs.queue import Queue
from tests import runs, warm
from tests.builders import chain, layer
from tests.json_schema import checked_output

PATIENCE_S = 60
ROOT = Path(__file__).parents[2]


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Queue()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    path = tmp_path / "small.netwright"
    training = TrainingOptions(max_epochs=1)
    cpu = EnvironmentOptions(target="cpu", threads=1)
    save(Project(network, data=DataOptions(source="digits"), training=training, environment=cpu), path)
    return path


def working(*arguments: str) -> warm.Process:
    """A process that goes through the queue, and says what becomes of its entries."""
    return warm.Process(["queue", "run", *arguments], cwd=ROOT, stdout=subprocess.PIPE)


def wait_for(process: warm.Process, *beginnings: str) -> None:
    """Until lines with all these beginnings were said."""
    missing = list(beginnings)
    assert process.stdout is not None
    while missing:
        line = process.stdout.readline()
        assert line, f"it ended before it said {missing}"
        missing = [words for words in missing if not line.startswith(words)]


def test_a_run_waits_for_the_cores_that_an_experiment_takes(queue: Queue, project: Path) -> None:
    assert main(["queue", "add", str(project)]) == 0
    with MachineShare(EXPERIMENT, "big") as share, working() as process:
        share.write(cores=num_cores())
        runs.wait_for(lambda: process.poll() is not None or any(other.since for other in share.others()), "it waits")
        assert process.poll() is None
        assert states(queue) == ["waiting"]
        share.write(cores=num_cores() - 1)
        wait_for(process, "1 small: finished")
    assert states(queue) == ["finished"]


def states(queue: Queue) -> list[str]:
    return [entry.state for entry in queue.entries()]


def test_projects_are_trained_in_their_order_with_their_settings(
    queue: Queue, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["queue", "list"]) == 0
    assert "The queue is empty" in capsys.readouterr().out
    assert main(["queue", "add", str(project), "--set", "training.max_epochs=2"]) == 0
    assert main(["queue", "add", str(project), "--set", "data.source=images", "--set", "data.path=/nowhere"]) == 0
    assert main(["queue", "move", "2"]) == 0
    capsys.readouterr()
    assert main(["queue", "list", "--json"]) == 0
    listed = checked_output(capsys.readouterr().out)
    assert [entry["id"] for entry in listed["entries"]] == [2, 1]
    assert listed["is_worked"] is False
    assert main(["queue", "run", "--at-once", "1"]) == 3  # one is refused
    said = capsys.readouterr().out
    assert said.index("2 small: refused") < said.index("1 small: trains")
    refused, trained = queue.entries()
    assert (refused.state, trained.state) == ("refused", "finished")
    assert "/nowhere" in refused.reason
    assert (RunFolder(Path(trained.run_dir)).read_result() or {})["epochs"] == 2
    assert main(["queue", "remove", "--done"]) == 0
    assert queue.entries() == []
    assert main(["queue", "remove", "7"]) == 2


def test_runs_side_by_side_outlive_who_began_them_and_none_is_trained_twice(queue: Queue, project: Path) -> None:
    for _ in range(3):
        assert main(["queue", "add", str(project), "--set", "training.max_epochs=1000000"]) == 0
    with working("--at-once", "2") as first:
        wait_for(first, "1 small: trains", "2 small: trains")
        first.kill()
    assert states(queue) == ["running", "running", "waiting"]
    assert main(["queue", "remove", "1"]) == 3  # it is being trained
    with working("--at-once", "2") as second:
        wait_for(second, "1 small: trains", "2 small: trains")  # what has ended before it looks is no news
        RunFolder(Path(queue.entries()[0].run_dir)).request("stop")
        wait_for(second, "1 small: stopped", "3 small: trains")
        RunFolder(Path(queue.entries()[1].run_dir)).request("stop")
        wait_for(second, "2 small: stopped")
        second.send_signal(signal.SIGINT)
        wait_for(second, "stopping", "3 small: stopped")
        assert second.wait(PATIENCE_S) == 130
    assert states(queue) == ["stopped"] * 3
    assert len(list((project.parent / "runs").iterdir())) == 3
    assert not queue.is_worked()
