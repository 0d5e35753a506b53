"""Training on a machine that lacks what every machine has: words with the way out, or a run as ever."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.project.file import save
from engine.runs.folder import RunFolder
from tests.runs import ROOT
from tests.system.test_command_line import command, environment
from tests.system.test_training import TWO, digits, mlp

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a part of the machine away")
Result = subprocess.CompletedProcess[str]


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., Result]:
    """Train two workers, or one, in a shell that has done something before."""

    def run(before: str, *words: str, workers: int = 1) -> Result:
        file = tmp_path / "digits.netwright"
        save(digits(mlp(), TWO if workers == 2 else None, max_epochs=2), file)
        line = [*command("train", file, "--run-dir", tmp_path / "run"), *words]
        shell = ["sh", "-c", f'{before} "$@"', "sh", *line]
        return subprocess.run(shell, capture_output=True, text=True, cwd=ROOT, env=environment(), check=False)

    return run


@only_root
def test_without_loopback_workers_are_refused_and_one_process_trains(
    train: Callable[..., Result], tmp_path: Path
) -> None:
    refused = train("exec unshare --net", workers=2)
    assert (refused.returncode, refused.stdout) == (5, "")
    assert "the loopback network interface lo, over which workers find each other, is down" in refused.stderr
    assert not (tmp_path / "run").exists()
    done = train("exec unshare --net")
    assert done.returncode == 0, done.stderr
    assert RunFolder(tmp_path / "run").state() == "finished"
