"""Runs that end before their time: on request, by a fault, by force. Nothing is lost, nothing stays running."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.launch.prepare import lock_of
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, RunOptions
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from tests.runs import PATIENCE_S, ROOT, Done, Running, train
from tests.system.test_training import TWO, convolution, digits, mlp


def fragile(project: Project) -> Project:
    """It ends with its first fault, and does not go on by itself."""
    return replace(project, run=RunOptions(max_restarts=0))


ENDLESS: dict[str, Any] = {"max_epochs": 100_000, "validation_frequency": 20}


def test_a_stop_request_keeps_what_was_learned(tmp_path: Path) -> None:
    with Running(digits(convolution(), TWO, **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        run.folder.request("stop")
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert done.exit_code == 130
    assert done.result["iterations"] == len(done.losses) > 0
    assert done.result["test"]["accuracy"] > 0
    assert [event["state"] for event in done.events("state")] == ["starting", "running", "stopping"]
    assert load_weights(done.folder.best)[0].keys() == load_weights(done.folder.last)[0].keys()
    assert load_weights(done.folder.last)[1]["iteration"] == done.result["iterations"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_of_a_run_is_a_stop_request(tmp_path: Path, number: signal.Signals) -> None:
    """As Ctrl-C, a service manager and a terminal that closes send it: to the workers too, which leave it alone."""
    with Running(digits(mlp(), **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        for pid in [*run.workers, run.process.pid]:
            os.kill(pid, number)
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert done.folder.last.is_dir()


def test_stop_after_epoch_completes_it(tmp_path: Path) -> None:
    with Running(digits(mlp(), **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        run.folder.request("stop_after_epoch")
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert done.result["iterations"] == done.result["epochs"] * done.events("started")[0]["steps_per_epoch"]


def test_the_time_limit_ends_all_workers_at_the_same_step(tmp_path: Path) -> None:
    options = {**ENDLESS, "max_time": 0.5, "max_time_unit": "seconds"}
    done = train(digits(mlp(), TWO, **options), tmp_path / "run")
    assert done.result["reason"] == "time limit of 0.5 seconds reached"
    assert done.exit_code == 0
    assert done.result["iterations"] == len(done.losses) > 0
    assert done.result["seconds"] >= 0.5


def test_a_stop_before_training_ends_the_run_at_once(tmp_path: Path) -> None:
    with Running(digits(mlp(), **ENDLESS), tmp_path / "run") as run:
        run.wait_for(lambda event: event["kind"] == "state")
        run.folder.request("stop")
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert done.exit_code == 130


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_worker_fails_the_run_with_the_cause(tmp_path: Path, rank: int) -> None:
    with Running(fragile(digits(convolution(), TWO, **ENDLESS)), tmp_path / "run") as run:
        run.wait_for_training()
        workers = run.workers
        run.kill(workers[rank])
        done = run.finish()
    assert done.result["state"] == done.folder.state() == "failed"
    assert done.exit_code == 3
    failure = done.events("failed")[0]
    assert failure["worker"] == rank
    assert failure["cause"].startswith(f"Worker {rank} was killed by signal 9 (SIGKILL)")
    assert done.result["reason"] == failure["cause"]
    assert done.result["iterations"] > 0
    assert not failure["defect"]
    assert [pid for pid in workers if psutil.pid_exists(pid)] == []


@pytest.mark.parametrize("environment", [{}, TWO], ids=["alone", "two"])
def test_a_worker_that_hangs_fails_the_run_with_the_cause(tmp_path: Path, environment: dict[str, Any]) -> None:
    """And the one that waits for it is not blamed."""
    with Running(fragile(digits(mlp(), environment, **ENDLESS)), tmp_path / "run", patience_s=6) as run:
        run.wait_for_training()
        hung = len(run.workers) - 1
        os.kill(run.workers[hung], signal.SIGSTOP)
        done = run.finish()
        assert not any(psutil.pid_exists(pid) for pid in run.workers)
    assert done.result["state"] == "failed"
    assert done.exit_code == 3
    failure = done.events("failed")[0]
    assert failure["worker"] == hung
    assert "has given no sign of life" in failure["cause"]
    assert "it is paused, as by SIGSTOP" in failure["cause"]


def test_who_sees_an_end_finds_all_of_it(tmp_path: Path) -> None:
    """The state is written last, so that a follower who stops at it has missed nothing."""
    with Running(digits(mlp(), max_epochs=1), tmp_path / "run") as run:
        run.wait_for(lambda event: event["kind"] == "started")
        pause = threading.Event()
        while run.folder.read_info().state not in ENDS:
            pause.wait(0.001)
        done = Done(run.folder, run.said)
        assert done.events("ended"), "the last event came before the state"
        assert run.folder.read_result() == done.events("ended")[0]["result"]
        run.finish()


def test_where_the_system_takes_note_of_ends_by_itself(tmp_path: Path) -> None:
    """A starter that ignores SIGCHLD hands that on: nobody can ask then how a worker ended."""
    ignoring = ["sh", "-c", 'trap "" CHLD; exec "$@"', "sh"]
    with Running(fragile(digits(mlp(), TWO, **ENDLESS)), tmp_path / "run", command=ignoring) as run:
        run.wait_for_training()
        run.kill(run.workers[1])
        done = run.finish()
    assert done.result["state"] == "failed"
    assert done.events("failed")[0]["worker"] == 1


def test_a_crash_names_the_signal(tmp_path: Path) -> None:
    with Running(fragile(digits(mlp(), **ENDLESS)), tmp_path / "run") as run:
        run.wait_for_training()
        os.kill(run.workers[0], signal.SIGSEGV)
        done = run.finish()
    failure = done.events("failed")[0]
    assert "signal 11 (SIGSEGV)" in failure["cause"]
    assert "Segmentation fault" in failure["detail"]


def test_workers_die_with_their_coordinator(tmp_path: Path) -> None:
    with Running(digits(mlp(), TWO, **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        workers = [psutil.Process(pid) for pid in run.workers]
        run.kill(run.process.pid)
        run.process.wait()
        _, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
        assert alive == []
        assert run.folder.state() == "lost"


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    done = train(
        digits(mlp(), TWO, solver="sgdm", initial_learn_rate=900.0, loss="cross-entropy", max_epochs=50),
        tmp_path / "run",
        end="failed",
    )
    assert done.result["state"] == "failed"
    assert done.exit_code == 3
    cause = done.events("failed")[0]["cause"]
    assert cause.startswith("The loss became ")
    assert "lower initial learn rate (it is 900 there)" in cause
    assert not done.events("failed")[0]["defect"]
    first_bad = next(step for step, loss in done.curve("training", "loss").items() if isinstance(loss, str))
    assert f"at iteration {first_bad:,} " in cause
    assert done.folder.kept() == done.folder.best, "the network before training was the best one"


def test_a_full_disk_ends_the_run(tmp_path: Path) -> None:
    """The system refuses to let a file grow beyond a limit, which is met as a full disk is."""
    with Running(digits(mlp(), TWO, **ENDLESS), tmp_path / "run", limit_bytes=40_000) as run:
        done = run.finish()
    assert done.result["state"] == done.folder.state() == "failed"
    assert "cannot be written" in done.result["reason"]
    assert done.exit_code == 3


def test_a_run_whose_folder_is_moved_or_deleted_does_not_train_for_nothing(tmp_path: Path) -> None:
    """Nobody would hear of it until its end, and nothing of it would be kept."""
    with Running(digits(mlp(), **ENDLESS), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        moved = run.folder.path.rename(tmp_path / "elsewhere")
        done = run.finish()
    assert "was moved or deleted while it trained" in done.said[-1]["result"]["reason"]
    assert done.exit_code == 3
    assert not done.folder.path.exists(), "and it is not made again"
    there = RunFolder(moved)
    assert there.state() == "lost"
    prepare_resume(there)
    os.close(lock_of(there))


def test_a_defect_of_ours_in_a_worker_is_told_apart(tmp_path: Path) -> None:
    """A strategy that does not exist can only be asked for by a program."""
    done = train(digits(mlp(), TWO), tmp_path / "run", strategy="nonsense", end="failed")
    assert done.result["state"] == "failed"
    assert done.exit_code == 1
    failure = done.events("failed")[0]
    assert failure["defect"]
    assert failure["cause"] == "ValueError: There is no strategy 'nonsense'."
    assert "Traceback" in failure["detail"]
    assert "Traceback" in done.folder.log.read_text(encoding="utf-8")


def test_a_second_signal_ends_the_run_at_once(tmp_path: Path) -> None:
    with Running(digits(mlp(), TWO, **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        os.kill(run.workers[1], signal.SIGSTOP)  # now no report point is reached any more
        run.process.send_signal(signal.SIGINT)
        run.wait_for(lambda event: event["kind"] == "state" and event["state"] == "stopping")
        run.process.send_signal(signal.SIGINT)
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert "at once" in done.result["reason"]


def test_nothing_listens_beyond_loopback(tmp_path: Path) -> None:
    with Running(digits(mlp(), TWO, **ENDLESS), tmp_path / "run") as run:
        run.wait_for_training()
        for pid in [run.process.pid, *run.workers]:
            open_ones = psutil.Process(pid).net_connections()
            ends = {end.ip for c in open_ones for end in (c.laddr, c.raddr) if end}
            assert ends <= {"127.0.0.1", "::1"}
            assert bool(ends) == (pid != run.process.pid), "workers talk to each other, the coordinator to nobody"
        run.folder.request("stop")
        run.finish()


def test_a_detached_run_outlives_who_started_it(tmp_path: Path) -> None:
    """And at no moment does it look lost."""
    save(digits(mlp(), TWO, max_epochs=2), tmp_path / "project.netwright")
    code = """
import sys
from pathlib import Path
from netwright.engine.project.file import load
from netwright.engine.launch.detached_coordinator import start_detached
from netwright.engine.launch.prepare import prepare
file = Path(sys.argv[1])
folder = prepare(load(file).project, file, file.parent / "run")
assert folder.state() == "starting"
start_detached(folder)
print(folder.state())
"""
    command = [sys.executable, "-c", code, str(tmp_path / "project.netwright")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("starting", "running", "finished")
    folder = RunFolder(tmp_path / "run")
    deadline = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while folder.is_alive() and time.monotonic() < deadline:
        assert folder.state() != "lost"
        pause.wait(0.02)
    assert folder.state() == "finished", folder.log.read_text(encoding="utf-8")
    assert folder.read_result() is not None
