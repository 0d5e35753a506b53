"""Run folders are made: private, whole or not at all, each for one run."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import EXIT_INPUT, RunError, UserError
from netwright.engine.runs import create as creating
from netwright.engine.runs.create import SHIPPED, create, new_folder, new_path
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.info import RunInfo

TEXT = '{"netwright": [1, 0]}\n'


def mode(path: Path) -> int:
    """Permissions."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("place", ["absent", "absent/deeper", "empty"])
def test_a_run_is_made_where_there_is_nothing(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        run = create(tmp_path / place, TEXT, RunInfo(name="digits"))
    finally:
        os.umask(before)
    assert run.project.read_text() == TEXT
    assert run.read_info() == RunInfo(name="digits")
    assert {path.name for path in run.path.iterdir()} == {
        "project.netwright",
        "run.json",
        "events.jsonl",
        "control",
        "run.lock",
    }
    assert mode(run.path) == mode(run.control) == 0o700
    assert {mode(path) for path in run.path.iterdir() if path.is_file()} == {0o600}
    assert open_run(run.path) == run


def test_a_run_needs_a_folder_of_its_own(tmp_path: Path, run: RunFolder) -> None:
    (tmp_path / "file").touch()
    for path, said in {run.path: "is not empty. A run needs", tmp_path / "file": "is a file. A run needs"}.items():
        with pytest.raises(UserError, match=said) as caught:
            create(path, TEXT, RunInfo())
        assert caught.value.exit_code == EXIT_INPUT


def test_where_nothing_can_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "run", tmp_path / ("x" * 300)):
        with pytest.raises(UserError, match=r"cannot be written: .+\. Name a folder with --run-dir") as caught:
            create(path, TEXT, RunInfo())
        assert caught.value.exit_code == EXIT_INPUT


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize("failing", ["project.netwright", "run.json"])
def test_a_run_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, was_there: bool
) -> None:
    path = tmp_path / "run"
    if was_there:
        path.mkdir()
    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if Path(target).name == failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(RunError, match="No space left on device"):
        create(path, TEXT, RunInfo())
    assert path.is_dir() == was_there
    assert not was_there or list(path.iterdir()) == []
    monkeypatch.undo()
    create(path, TEXT, RunInfo())


def test_new_runs_lie_beside_the_project_or_in_the_users_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "p" / "my digits!.netwright"
    project.parent.mkdir()
    path = new_path(project, "my digits!")
    assert path.parent == project.parent / "runs"
    assert path.name.endswith("_my-digits")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert new_path(None, "/../..").parent == tmp_path / "data" / "netwright" / "runs"
    assert new_path(None, "/../..").name.endswith("_untitled")
    assert new_path(SHIPPED / "templates" / "mlp.netwright", "mlp").parent == tmp_path / "data" / "netwright" / "runs"
    (tmp_path / "file").touch()
    assert new_path(tmp_path / "file" / "p.netwright", "p").parent == tmp_path / "data" / "netwright" / "runs"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(RunError, match=r"No folder for runs can be written; tried .*file/netwright/runs\. Name one"):
        new_path(None, "p")


def test_two_runs_of_one_second_get_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda _: "2026-11-21_10-22-03")
    names = [new_folder(tmp_path / "p.netwright", "p").name for _ in range(3)]
    assert names == ["2026-11-21_10-22-03_p", "2026-11-21_10-22-03_p_2", "2026-11-21_10-22-03_p_3"]


def test_of_two_that_make_a_run_in_one_folder_one_is_refused_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one looks just before the first one begins to write."""
    path = tmp_path / "run"
    refused: list[str] = []
    fill = creating._fill

    def late(folder: RunFolder, *given: Any) -> None:
        monkeypatch.setattr(creating, "_fill", fill)
        monkeypatch.setattr(Path, "iterdir", lambda _: iter(()))
        with pytest.raises(UserError, match="another run is just being made there") as caught:
            create(path, TEXT, RunInfo())
        refused.append(str(caught.value))
        monkeypatch.undo()
        fill(folder, *given)

    monkeypatch.setattr(creating, "_fill", late)
    run = create(path, TEXT, RunInfo(name="first"))
    assert len(refused) == 1
    assert run.read_info().name == "first"
    assert run.control.is_dir()
