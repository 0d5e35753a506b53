"""Runs go to the trash, and one that is at work does not."""

import os
import sys
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.runs.create import create
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.trash import move_run_to_trash


def made(path: Path) -> RunFolder:
    run = create(path, "{}", RunInfo(name=path.name))
    update_info(run, state="finished")
    return run


@pytest.fixture(autouse=True)
def send2trash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import Send2Trash anew: it looks up the user's trash once, and each test has a home of its own."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "send2trash"]:
        monkeypatch.delitem(sys.modules, name)


def trash() -> Path:
    return Path(os.environ["XDG_DATA_HOME"]) / "Trash"


def test_a_run_in_the_trash_says_where_it_came_from(tmp_path: Path) -> None:
    for _ in range(2):
        move_run_to_trash(made(tmp_path / "a run"))
    assert not (tmp_path / "a run").exists()
    assert sorted(one.name for one in (trash() / "files").iterdir()) == ["a run", "a run 1"]
    assert (trash() / "files" / "a run" / "run.json").is_file()
    note = (trash() / "info" / "a run 1.trashinfo").read_text().splitlines()
    assert note[:2] == ["[Trash Info]", f"Path={tmp_path}/a%20run"]
    assert note[2].startswith("DeletionDate=2")


def test_a_run_at_work_stays(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    lock = take_lock(run)
    with pytest.raises(UserError, match=r"is at work\. Stop it first"):
        move_run_to_trash(run)
    os.close(lock)
    assert run.info.is_file()
    move_run_to_trash(run)
    assert not run.path.exists()


def test_the_lock_is_held_while_a_run_is_moved(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    seen: list[bool] = []
    move_run_to_trash(run, move=lambda path: seen.append(RunFolder(path).is_alive()))
    assert seen == [True]
    assert not run.is_alive()


def test_what_cannot_be_moved_stays_and_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made(tmp_path / "run")
    trash().parent.mkdir(parents=True)
    trash().touch()
    with pytest.raises(UserError, match=r"cannot be moved to the trash: .+\. Delete the folder yourself"):
        move_run_to_trash(run)
    assert run.info.is_file()
    trash().unlink()
    assert main(["delete", str(tmp_path / "absent"), str(run.path)]) == 2
    said = capsys.readouterr()
    assert said.out == f"moved to the trash: {run.path}\n"
    assert "absent does not exist" in said.err
