"""Training on a machine that lacks what every machine has: words with the way out, or a run as ever."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from netwright.engine.project.file import save
from netwright.engine.runs.folder import RunFolder
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


@only_root
def test_without_proc_a_run_is_as_ever(train: Callable[..., Result], tmp_path: Path) -> None:
    """Shared memory and the list of descriptors need it: workers sum over gloo."""
    inside = 'exec unshare --mount sh -c "umount -l /proc; exec \\"\\$@\\"" sh'
    done = train(inside, workers=2)
    assert done.returncode == 0, done.stderr
    assert RunFolder(tmp_path / "run").state() == "finished"


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_run_goes_on_without_the_streams_that_its_caller_closed(
    train: Callable[..., Result], tmp_path: Path, closed: str
) -> None:
    done = train(f"exec {closed};", "--json", workers=2)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert RunFolder(tmp_path / "run").state() == "finished"


def test_too_few_addresses_for_torch_are_told(train: Callable[..., Result], tmp_path: Path) -> None:
    """With so many of them torch ends the process that loads it."""
    done = train("ulimit -v 560000;", workers=2)
    assert done.returncode == 3, done.stderr
    assert "limited to 547 MiB of addresses (`ulimit -v`). Lift the limit" in done.stderr
    assert "Traceback" not in done.stderr
    assert "terminate" not in done.stderr
    assert RunFolder(tmp_path / "run").state() == "failed"


def test_a_folder_that_was_deleted_under_the_command_is_named(train: Callable[..., Result], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    done = train(f"mkdir {gone}; cd {gone}; rmdir {gone};")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "netwright-engine: The current folder was deleted. Change to another one (cd) and run the command again.\n"
    )


def test_a_run_beside_the_current_folder_does_not_need_that(train: Callable[..., Result], tmp_path: Path) -> None:
    """A path through it (`here/../run`) would be gone with it, in the middle of the run."""
    here = tmp_path / "here"
    done = train(f"mkdir {here}; cd {here};", "--run-dir", "../run", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run_dir"] == str((tmp_path / "run").resolve())
