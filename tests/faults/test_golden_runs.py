"""Run folders that older versions wrote are read, listed, gone on with and exported for ever.

`tests/golden/runs` has one of each form that there was: `0` has no checkpoints and one metric, `1` has the first
checkpoints, `2` is how runs are since metrics are a list, its checkpoint of two workers. Two of them broke off: their
coordinator was killed. They are never made anew: a version that writes another form adds a folder of its own.
"""

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from netwright.engine.cli.main import main
from netwright.engine.runs.events import Resumed, UnknownEvent, standing
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import list_runs
from netwright.engine.runs.log import read_all
from tests.faults.harness import Workshop, assert_over
from tests.runs import Done

GOLDEN = Path(__file__).parents[1] / "golden" / "runs"
STATES = {"0_finished": "finished", "1_broken_off": "lost", "2_broken_off": "lost", "2_finished": "finished"}
REACHED = {"0_finished": 20, "1_broken_off": 21, "2_broken_off": 14, "2_finished": 20}
STEPS_PER_EPOCH = 10


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Copies, with the folders that git does not keep because they are empty."""
    copies = tmp_path / "runs"
    shutil.copytree(GOLDEN, copies)
    for run in copies.iterdir():
        (run / "control").mkdir()
    return copies


def test_every_form_is_listed_and_read_to_the_last_event(runs: Path) -> None:
    found = {run.path.name: run for run in list_runs(runs)}
    assert {name: run.state for name, run in found.items()} == STATES
    for name, run in found.items():
        events = read_all(RunFolder(run.path))
        assert len(events) == (run.path / "events.jsonl").read_bytes().count(b"\n") > 10
        assert not any(isinstance(event, UnknownEvent) for event in standing(events))
        assert run.environment == ("multi-cpu" if name == "2_broken_off" else "cpu")
        assert 0 < run.scores["validation.loss"] < 3
        assert run.number("iterations") == REACHED[name]
    assert found["2_finished"].notes.tags == ("paper",)
    said = {change.short for change in found["2_broken_off"].changes}
    assert {"solver", "watch_layers"} <= said, "what a run changes of the one before it"


def test_the_curves_of_every_form_leave(runs: Path, tmp_path: Path) -> None:
    folders = [str(runs / name) for name in STATES]
    for form, target in (("csv", "curves.csv"), ("tensorboard", "board"), ("mlflow", "flow")):
        assert main(["curves", *folders, "--format", form, "-o", str(tmp_path / target)]) == 0
    rows = (tmp_path / "curves.csv").read_text().splitlines()
    for name, steps in REACHED.items():
        assert sum(row.startswith(f"{name},loss,training,") for row in rows) == steps


def test_a_run_without_checkpoints_says_that_it_cannot_go_on(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", str(runs / "0_finished"), "--set", "training.max_epochs=3"]) == 2
    assert "left no checkpoint to go on from" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["1_broken_off", "2_broken_off"])
def test_a_run_of_then_goes_on_now(workshop: Workshop, runs: Path, tmp_path: Path, name: str) -> None:
    folder = RunFolder(runs / name)
    run = workshop.resume(folder, settings=["training.max_epochs=3", "environment.target=cpu"])
    done = run.end()
    assert run.said().get("refused") is None
    assert_over(run)
    assert folder.state() == "finished", run.printed()
    assert (folder.read_result() or {})["iterations"] == 3 * STEPS_PER_EPOCH
    (resumed,) = (event for event in run.events if isinstance(event, Resumed))
    assert resumed.iteration == 14
    assert len(Done(folder, []).losses) == 3 * STEPS_PER_EPOCH
    assert done.losses[-1] < done.losses[0]
    assert_exported(folder, tmp_path)


@pytest.mark.parametrize("name", ["0_finished", "2_finished"])
def test_a_network_of_then_is_exported_as_it_was_trained(runs: Path, tmp_path: Path, name: str) -> None:
    assert_exported(RunFolder(runs / name), tmp_path)


def assert_exported(folder: RunFolder, to: Path) -> None:
    assert main(["export", str(folder.path), "--format", "pytorch", "-o", str(to / "net.py")]) == 0
    kept = folder.kept()
    assert kept is not None
    exported, trained = load_file(to / "net.safetensors"), load_file(kept / "weights.safetensors")
    assert exported.keys() == trained.keys()
    assert all(torch.equal(exported[key], trained[key]) for key in trained)
