"""Runs go to the bin, and one that is at work does not."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from engine.cli.main import main
from engine.core.errors import UserError
from engine.runs import bin as bin_
from engine.runs.create import create
from engine.runs.folder import RunFolder, take_lock, update_info
from engine.runs.info import RunInfo


def made(path: Path) -> RunFolder:
    run = create(path, "{}", RunInfo(name=path.name))
    update_info(run, state="finished")
    return run


def trash() -> Path:
    return Path(os.environ["XDG_DATA_HOME"]) / "Trash"


def test_a_run_in_the_bin_says_where_it_came_from(tmp_path: Path) -> None:
    for _ in range(2):
        bin_.discard(made(tmp_path / "a run"))
    assert not (tmp_path / "a run").exists()
    assert sorted(one.name for one in (trash() / "files").iterdir()) == ["a run", "a run.2"]
    assert (trash() / "files" / "a run" / "run.json").is_file()
    note = (trash() / "info" / "a run.2.trashinfo").read_text().splitlines()
    assert note[:2] == ["[Trash Info]", f"Path={tmp_path}/a%20run"]
    assert note[2].startswith("DeletionDate=2")


def test_a_run_at_work_stays(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    lock = take_lock(run)
    with pytest.raises(UserError, match=r"is at work\. Stop it first"):
        bin_.discard(run)
    os.close(lock)
    assert run.info.is_file()
    bin_.discard(run)
    assert not run.path.exists()


def test_the_lock_is_held_while_a_run_is_moved(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    seen: list[bool] = []
    bin_.discard(run, move=lambda path: seen.append(RunFolder(path).is_alive()))
    assert seen == [True]
    assert not run.is_alive()


def test_another_disk_has_a_bin_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path / "disk" / "runs" / "run")
    rename = os.rename

    def refuse(source: Any, target: Any) -> None:
        if Path(target).is_relative_to(trash()):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    monkeypatch.setattr(bin_, "_mount_of", lambda folder: tmp_path / "disk")
    bin_.discard(run)
    there = tmp_path / "disk" / f".Trash-{os.getuid()}"
    assert (there / "files" / "run" / "run.json").is_file()
    assert "Path=runs/run\n" in (there / "info" / "run.trashinfo").read_text()
    assert list((trash() / "info").iterdir()) == []


def test_what_cannot_be_moved_stays_and_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made(tmp_path / "run")
    trash().parent.mkdir(parents=True)
    trash().touch()
    with pytest.raises(UserError, match=r"cannot be moved to the bin: .+\. Delete the folder yourself"):
        bin_.discard(run)
    assert run.info.is_file()
    trash().unlink()
    assert main(["delete", str(tmp_path / "absent"), str(run.path)]) == 2
    said = capsys.readouterr()
    assert said.out == f"moved to the bin: {run.path}\n"
    assert "absent does not exist" in said.err


def test_a_run_is_brought_back_the_latest_of_a_place_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, other = tmp_path / "a run", tmp_path / "a run too"
    for name in ("older", "newer"):
        made(run)
        (run / "notes.json").write_text(name)
        bin_.discard(RunFolder(run))
    bin_.discard(made(other))
    for name in ("newer", "older"):
        assert main(["restore", str(run)]) == 0
        assert (run / "notes.json").read_text() == name
        with pytest.raises(UserError, match="is there"):
            bin_.restore(run)
        run.rename(tmp_path / name)
    assert "brought back" in capsys.readouterr().out
    with pytest.raises(UserError, match="is in the bin"):
        bin_.restore(run)
    bin_.restore(other)
    assert other.is_dir()
    assert list((trash() / "info").iterdir()) == []


def test_notes_of_others_in_the_bin_bring_nothing_back(tmp_path: Path) -> None:
    bin_.discard(made(tmp_path / "run"))
    held, note = trash() / "files" / "run", trash() / "info" / "run.trashinfo"
    for text in (b"\xff", b"[Trash Info]\n", b"[Trash Info]\nPath=/somewhere/else/run\n"):
        note.write_bytes(text)
        with pytest.raises(UserError, match="is in the bin"):
            bin_.restore(tmp_path / "run")
    note.write_text(f"[Trash Info]\nPath={tmp_path}/run\n")
    held.rename(held.with_name("elsewhere"))
    held.symlink_to(held.with_name("elsewhere"))
    with pytest.raises(UserError, match="is in the bin"):
        bin_.restore(tmp_path / "run")


def test_a_run_comes_back_from_the_bin_of_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path / "disk" / "runs" / "run")
    monkeypatch.setattr(bin_, "_mount_of", lambda folder: tmp_path / "disk")
    bin_._into(tmp_path / "disk" / f".Trash-{os.getuid()}", run.path, "runs/run")
    assert not run.path.exists()
    bin_.restore(run.path)
    assert run.info.is_file()
