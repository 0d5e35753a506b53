"""A search over values: begun, its runner killed in the middle, resumed, looked at, the best applied and saved."""

import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import psutil
import pytest

from netwright.engine.project.file import load
from tests.journeys.conftest import Visit

VALUES = {"Initial learn rate": "0.001, 0.02, 0.05", "Mini-batch size": "32, 64"}


def runner_of(place: Path) -> psutil.Process:
    """The process that runs the trials of an experiment below a folder: the oldest of its kind."""
    rows = [p for p in psutil.process_iter(["cmdline", "create_time"]) if p.info["cmdline"]]
    runners = [
        p
        for p in rows
        if "netwright.engine.experiments.runner_program" in p.info["cmdline"] and str(place) in p.info["cmdline"][-1]
    ]
    return min(runners, key=lambda process: process.info["create_time"])


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_search_is_killed_and_resumed_and_its_best_is_applied(visit: Visit, place: Path) -> None:
    person = visit()
    person.open_example("Handwritten digits")
    person.save_as(place / "digits.netwright")
    person.set_options(**{"Max epochs": "15"})  # long enough to be killed in the middle
    person.run_sweep(VALUES)
    person.wait_to_see("[12] running, [0-5] of 6 done", or_else="could not|cannot|refused")
    person.look("running")
    person.wait_to_see(r"[1-4] of 6 done")
    os.kill(runner_of(place).pid, signal.SIGKILL)
    person.wait_to_see("Interrupted, [1-5] of 6 done")
    person.look("killed")
    person.click("Resume")
    person.wait_to_see("Finished, 6 done")
    person.look("finished")
    person.click("Apply best")
    person.menu("File", "Save")
    training = load(place / "digits.netwright").project.training
    assert (training.initial_learn_rate, training.mini_batch_size) in product((0.001, 0.02, 0.05), (32, 64))
    (folder,) = (place / "experiments").iterdir()
    command = [sys.executable, "-m", "netwright.engine", "experiment", "status", "--json", str(folder)]
    status = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert status["state"] == "finished"
    best = max(status["trials"], key=lambda t: (t["scores"]["validation.accuracy"], -t["scores"]["validation.loss"]))
    assert best["values"]["training.initial_learn_rate"] == training.initial_learn_rate
