"""What a coordinator makes of workers that do as a test says: late, hanging, and dying at their ends.

In a process of its own, whose workers are forked from it without torch, since they only talk.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
RUNNER = """
import json, os, signal, sys, threading, types
from dataclasses import asdict
from pathlib import Path
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.create import create
from netwright.engine.launch import worker_attempt
from netwright.engine.launch import coordinator, local_launcher
from netwright.engine.launch.channel import ReportPipe

OUTCOME = {"state": "finished", "reason": "1 epoch completed", "epochs": 1, "iterations": 1,
           "loss": 0.5, "metrics": {"accuracy": 0.5},
           "validation": None, "test": None, "kept": "last", "samples_per_second": 1.0, "seconds": 1.0,
           "time_shares": {}}
LOST = {"cause": "Worker lost the others", "exit_code": 3, "defect": False, "is_peer_failure": True, "detail": ""}
OWN = {"cause": "The loss became NaN", "exit_code": 3, "defect": False, "is_peer_failure": False, "detail": "",
       "code": "non_finite_loss"}

def act(spec):
    reports = ReportPipe(spec.reports)
    told = lambda rank: Path(spec.folder, f"told{rank}")
    def wait_for_the_other(rank):
        while not told(1 - rank).exists():
            threading.Event().wait(0.01)
    for word in json.loads(sys.argv[2])[spec.rank]:
        match word:
            case "done": reports.send({"done": OUTCOME if spec.rank == 0 else {}})
            case "lost": reports.send({"error": LOST})
            case "error": reports.send({"error": OWN})
            case "alive": reports.send({"alive": True})
            case "alive, done": reports.send({"alive": True}, {"done": OUTCOME})
            case "hang": threading.Event().wait()
            case "die": os.kill(os.getpid(), signal.SIGKILL)
            case "save": Path(spec.folder, "saved").touch()
            case "told": told(spec.rank).touch()
            case "late":  # after the other one has told, and then some
                wait_for_the_other(spec.rank)
                threading.Event().wait(2 * worker_attempt.DEATH_GRACE_S)
            case "then": wait_for_the_other(spec.rank)
    return 0

sys.modules["torch"] = types.SimpleNamespace(accelerator=types.SimpleNamespace(current_accelerator=lambda: None))
local_launcher.preload = lambda **_: act
worker_attempt.DEATH_GRACE_S, worker_attempt.SHUTDOWN_S = 0.3, 0.3
folder = create(Path(sys.argv[1]), "{}", RunInfo.read({"places": [{}, {}]}))
print(json.dumps(coordinator.coordinate(folder, patience_s=float(sys.argv[3]))))
"""


def end(folder: Path, *workers: list[str], patience_s: float = 30) -> dict[str, Any]:
    """The result of a run whose workers do this, one after the other."""
    command = [sys.executable, "-c", RUNNER, str(folder), json.dumps(workers), str(patience_s)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["done"], ["done"]),
        (["done", "told"], ["late", "done"]),
        (["done", "told", "hang"], ["done", "hang"]),
        (["done", "told"], ["alive", "late", "lost", "hang"]),
        (["done", "told"], ["alive", "late", "die"]),
        (["late", "done"], ["lost", "told", "hang"]),
        (["late", "done"], ["lost", "told"]),
    ],
    ids=["plain", "late", "hang", "lost", "dead", "lost before and hanging", "lost before and gone"],
)
def test_a_run_is_complete_when_the_first_worker_says_so(tmp_path: Path, first: list[str], second: list[str]) -> None:
    """Whatever becomes of the others, which have nothing left to do for it, and of the connections."""
    result = end(tmp_path / "run", first, second)
    assert (result["state"], result["reason"], result["loss"]) == ("finished", "1 epoch completed", 0.5)


def test_a_worker_that_is_done_may_be_silent(tmp_path: Path) -> None:
    """And so may another one: from the first word of each on, all is done already."""
    result = end(tmp_path / "run", ["alive, done", "told", "hang"], ["then", "alive", "hang"], patience_s=0.1)
    assert result["state"] == "finished"


def test_who_finds_an_error_late_may_save_before(tmp_path: Path) -> None:
    """All workers find that the loss is no number, and the first one still saves the best network."""
    result = end(tmp_path / "run", ["late", "save", "error"], ["error", "told"])
    assert (result["state"], result["reason"]) == ("failed", "The loss became NaN")
    assert (tmp_path / "run" / "saved").exists()


@pytest.mark.parametrize(
    ("first", "second", "cause", "code"),
    [
        (["lost"], ["die"], "Worker 1 was killed by signal 9", "worker_died"),
        (["hang"], ["die"], "Worker 1 was killed by signal 9", "worker_died"),
        (["die"], ["done"], "Worker 0 was killed by signal 9", "worker_died"),
        (["lost", "told"], ["late", "error"], "The loss became NaN", "non_finite_loss"),
        (["lost"], [], "Worker 1 ended with code 0 and without a word", "worker_died"),
    ],
)
def test_a_cause_is_preferred_to_its_consequences(
    tmp_path: Path, first: list[str], second: list[str], cause: str, code: str
) -> None:
    result = end(tmp_path / "run", first, second)
    assert (result["state"], result["code"]) == ("failed", code)
    assert result["reason"].startswith(cause)
