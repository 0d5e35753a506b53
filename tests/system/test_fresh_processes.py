"""Training without a fork, as on Windows and macOS: workers, readers and trials are fresh interpreters."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.process import module_environment
from netwright.engine.runs.events import Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all
from tests import warm

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "resources" / "examples" / "digits.netwright"


def train(run: Path, *, forks: bool, more: tuple[str, ...] = ()) -> dict[str, float]:
    """Train the digits; return the losses by split and step."""
    words = ["train", str(DIGITS), "--run-dir", str(run), "--set", "training.max_epochs=2", *more]
    if forks:
        done = warm.run(words, cwd=ROOT)
    else:
        command = [sys.executable, "-m", "netwright.engine", *words]
        environment = {**module_environment(), "NETWRIGHT_NO_FORK": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    events = read_all(RunFolder(run))
    return {
        f"{event.split} {event.first_step + place * event.steps_apart}": loss
        for event in events
        if isinstance(event, Points)
        for place, loss in enumerate(event.values["loss"])
    }


@pytest.mark.parametrize(
    "more",
    [
        ("--set", "environment.target=cpu", "--set", "environment.threads=1"),
        ("--set", "environment.target=multi-cpu", "--set", "environment.num_workers=2"),
    ],
    ids=["one worker", "two workers"],
)
def test_losses_are_those_of_forked_workers(tmp_path: Path, more: tuple[str, ...]) -> None:
    forked = train(tmp_path / "forked", forks=True, more=more)
    fresh = train(tmp_path / "fresh", forks=False, more=more)
    assert len(forked) > 20
    assert fresh == pytest.approx(forked, rel=1e-6)


def test_an_experiment_starts_its_runs_anew(tmp_path: Path) -> None:
    project = tmp_path / "digits.netwright"
    project.write_bytes(DIGITS.read_bytes())
    command = [sys.executable, "-m", "netwright.engine", "experiment", "run", str(project), "--environment", "cpu"]
    command += ["--set", "training.max_epochs=1", "--vary", "training.momentum=0.8,0.9", "--json"]
    environment = {**module_environment(), "NETWRIGHT_NO_FORK": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    assert "finished" in json.dumps(answer)
    assert not os.environ.get("NETWRIGHT_NO_FORK")
