"""What is chosen for times that are known; and real trials, whose choice is made for them."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from netwright.engine.launch.placement_trial import START_S, Candidate, Choice, choose_fastest
from netwright.engine.placement.choose import WorkerPlace
from netwright.engine.placement.inventory import can_share
from netwright.engine.project.file import save
from netwright.engine.runs.folder import RunFolder
from tests.runs import PATIENCE_S, ROOT, Done, wait_for
from tests.system.test_training import convolution, digits

STEPS = 10_000


def place(threads: int) -> WorkerPlace:
    return WorkerPlace("cpu", threads, samples=64)


def ways(one: float, all_threads: float, *several: float) -> list[Candidate]:
    """Of one process with one thread and with four, and of two and more workers; 0 was not tried."""
    alone = [Candidate([place(threads)], seconds=time) for threads, time in ((1, one), (4, all_threads))]
    places = ([place(2)] * 2, [place(1)] * 4)
    return alone + [Candidate(places[n], n, seconds) for n, seconds in enumerate(several)]


@pytest.mark.parametrize(
    ("tried", "chosen"),
    [
        (ways(0.01, 0.02, 0.03), (-1, 1)),
        (ways(0.01, 0.005, 0.03), (-1, 4)),
        (ways(0.01, 0.0096, 0.0098), (-1, 1)),
        (ways(0.01, 0.005, 0.004, 0.003), (1, 1)),
        (ways(0.01, 0.005, 0.003, 0.004), (0, 2)),
        (ways(0.01, 0.005, 0.0048, 0.0), (0, 2)),
        (ways(0.01, 0.005, 0.0051, 0.0), (-1, 4)),
        (ways(0.01, 0.02, 0.0, 0.0), (-1, 1)),
    ],
)
def test_the_fastest_is_taken_if_it_is_worth_it(tried: list[Candidate], chosen: tuple[int, int]) -> None:
    found = choose_fastest(tried, STEPS, 1.0)
    assert (found.choice, found.threads) == chosen


def test_a_short_run_does_not_wait_for_workers() -> None:
    tried = ways(0.01, 0.02, 0.005)
    assert choose_fastest(tried, START_S / 0.005 + 1, 1.0).choice == 0
    assert choose_fastest(tried, START_S / 0.005 - 1, 1.0).choice == -1


def test_where_several_were_asked_for_there_are_several() -> None:
    assert choose_fastest(ways(0.01, 0.005, 0.03, 0.02), STEPS, 1.0, several=True).choice == 1
    assert choose_fastest(ways(0.01, 0.005, 0.0), STEPS, 1.0, several=True) == Choice()


def test_nothing_is_chosen_where_there_was_no_time_for_threads() -> None:
    assert choose_fastest(ways(0.01, 0.0, 0.0), STEPS, 1.0) == Choice()


def test_the_choice_is_explained() -> None:
    assert choose_fastest(ways(0.01, 0.008, 0.004), STEPS, 1.43).note == (
        "Computing with 2 workers with 2 threads each: 2.50 times as fast as 1 thread "
        "(1 process with 4 threads: 1.25), measured in 1.4 s."
    )
    assert choose_fastest(ways(0.01, 0.0125, 0.04), STEPS, 0.6).note == (
        "Computing with 1 process with 1 thread: nothing else is faster by enough "
        "(1 process with 4 threads: 0.80; 2 workers with 2 threads each: 0.25), measured in 0.6 s."
    )


RUNNER = """
import json, os, signal, sys
from dataclasses import replace
from pathlib import Path
from netwright.engine.launch import placement_trial
from netwright.engine.launch import prepare as preparation
from netwright.engine.placement import candidates
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.file import load
from netwright.engine.launch.coordinator import coordinate
from netwright.engine.launch.prepare import prepare
from netwright.engine.launch.resume import prepare_resume

folder = Path(sys.argv[1])
candidates.LEAST_RUN_S = placement_trial.LEAST_RUN_S = 0.0
placement_trial.ROUNDS, placement_trial.BUDGET_S, placement_trial.PATIENCE_S = 1, 60.0, 60.0
preparation.probe = lambda: DeviceInventory(num_cores=2)
weigh, race = placement_trial.choose_fastest, placement_trial._PlacementTrial._race


def die(trying, ways):
    # once, in the middle of a trial
    told = folder / "twins"
    if not told.exists():
        told.write_text(json.dumps(trying._workers.pids))
        os.kill(os.getpid(), signal.SIGKILL)
    race(trying, ways)


def run(name, choice, **environment):
    def decide(ways, *given, **named):
        (folder / f"tried in {name}").write_text(json.dumps([way.seconds > 0 for way in ways]))
        return replace(weigh(ways, *given, **named), choice=choice, threads=1)

    placement_trial.choose_fastest = decide
    project = load(folder / "project.netwright").project
    project = replace(project, environment=project.environment.replace(**environment))
    made = prepare(project, None, folder / name)
    coordinate(made)
    if name in ("chosen", "given"):
        prepare_resume(made, ["training.max_epochs=3"])
        coordinate(made)


run("chosen", 0)
run("alone", -1)
run("given", None, target="multi-cpu", num_workers=2, threads=1)
placement_trial._PlacementTrial._race = die
run("killed", 0)


def break_off(trial):
    raise AttributeError("no such call in this torch")


placement_trial._PlacementTrial.choose = break_off
run("broken", 0)
"""
SHAPE = {
    "chosen": ("auto", "multi-cpu", 2),
    "alone": ("auto", "cpu", 1),
    "given": ("multi-cpu", "multi-cpu", 2),
    "killed": ("auto", "multi-cpu", 2),
}


def has_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE  # nobody may be there to take note of its end
    except psutil.NoSuchProcess:
        return True


@pytest.mark.skipif(not can_share(), reason="nothing is tried where memory cannot be shared")
def test_a_run_begins_alone_and_goes_on_with_what_it_chose(tmp_path: Path) -> None:
    """To the bit as if that had been asked for, also after it was resumed, and after it was killed while it tried."""
    project = digits(convolution(), {"target": "auto", "threads": 0}, max_epochs=2, mini_batch_size=100)
    save(project, tmp_path / "project.netwright")
    command = [sys.executable, "-c", RUNNER, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False)
    assert ended.returncode == 0, ended.stderr
    runs = {name: Done(RunFolder(tmp_path / name), []) for name in SHAPE}
    for name, done in runs.items():
        told = [event["environment"] for event in done.events("started")]
        told.append((done.folder.read_result() or {})["environment"])
        assert {(each["target"], each["resolved"], each["workers"]) for each in told} == {SHAPE[name]}, name
        assert len(told) == (3 if name in ("chosen", "given") else 2), "begun, gone on with, ended"
        notes = [note["text"] for note in done.events("message") if note["text"].startswith("Computing with ")]
        assert len(notes) == (0 if name == "given" else 1), "chosen once, when it began"
        log = done.folder.log.read_text()
        assert "Traceback" not in log, log
        assert list(done.folder.path.glob(".*")) == []
        assert [pid for pid in done.folder.read_info().workers if psutil.pid_exists(pid)] == []
    broken = Done(RunFolder(tmp_path / "broken"), [])
    assert (broken.folder.read_result() or {})["state"] == "finished"
    notes = [note["text"] for note in broken.events("message") if "placement-trials" in note["text"]]
    cause = "AttributeError: no such call in this torch"
    assert notes == [f"The acceleration placement-trials is not used: {cause}."]
    # It chooses its threads as any run does, and two round in another way than one.
    assert broken.losses == pytest.approx(runs["alone"].losses, rel=1e-4)
    (twin,) = json.loads((tmp_path / "twins").read_text())
    wait_for(lambda: has_gone(twin), "the end of the twin of a worker that was killed")
    assert [event["restarts"] for event in runs["killed"].events("resumed")] == [1]
    tried = {name: json.loads((tmp_path / f"tried in {name}").read_text()) for name in ("chosen", "alone")}
    assert tried == {"chosen": [True, True, True], "alone": [True, True, True]}
    assert runs["chosen"].losses == runs["given"].losses
    count = len(runs["killed"].losses)
    assert runs["killed"].losses == runs["given"].losses[:count]
    assert runs["alone"].losses == pytest.approx(runs["given"].losses[:count], rel=1e-4)
