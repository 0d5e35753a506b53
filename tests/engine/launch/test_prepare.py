"""Preparation of runs: what several processes do at the same moment."""

import os
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.fork import fork
from netwright.engine.launch import prepare as prepare_module
from netwright.engine.launch.prepare import prepare
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.file import load
from netwright.engine.runs.history import ProjectKey, runs_of

PROCESSES = 8


def test_runs_that_start_at_the_same_moment_have_numbers_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "probe", lambda: DeviceInventory(num_cores=2))
    assert main(["new", "digits", str(tmp_path)]) == 0
    path = tmp_path / "digits.netwright"
    project = load(path).project
    reading, writing = os.pipe()

    def work() -> int:
        os.read(reading, 1)  # until the test closes its end
        prepare(project, path, None)
        return 0

    children = [fork(work, keep=(reading,)) for _ in range(PROCESSES)]
    os.close(writing)
    os.close(reading)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * PROCESSES
    runs = runs_of(ProjectKey(path, project.identity))
    assert sorted(run.run_number for run in runs) == list(range(1, PROCESSES + 1))
