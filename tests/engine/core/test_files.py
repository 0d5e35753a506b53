"""Writing files: the old content or the new one, nothing left beside."""

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.core import files
from netwright.engine.core.files import open_file, path_from, read_file, write_atomically, write_json


@pytest.fixture
def no_space() -> Iterator[None]:
    """Files cannot grow beyond 10 bytes in this process: what a full disk looks like, also for root."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    import resource  # Windows has none

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_new_and_old_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited")
def test_without_space_the_old_file_stays(tmp_path: Path, no_space: None) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old")
    with pytest.raises(OSError, match="File too large"):
        write_atomically(path, b"new" * 10)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["netwright.engine.core.files.open_descriptor", "os.fsync", "os.replace"])
def test_a_failure_at_any_step_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="Input/output"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_keeps_its_permissions_and_a_link_its_goal(tmp_path: Path) -> None:
    goal, link = tmp_path / "goal", tmp_path / "link"
    write_atomically(goal, b"old")
    goal.chmod(0o640)
    link.symlink_to(goal)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert goal.read_bytes() == b"new"
    assert stat.S_IMODE(goal.stat().st_mode) == 0o640


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


def test_json_is_private_and_takes_any_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"path": "\udcff", "é": 1})
    assert json.loads(path.read_bytes()) == {"path": "\udcff", "é": 1}
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_following_a_link_its_goal_stays(tmp_path: Path) -> None:
    goal, link = tmp_path / "goal", tmp_path / "link"
    goal.write_bytes(b"old")
    link.symlink_to(goal)
    write_json(link, 1, follow_link=False)
    assert (goal.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"old", b"1\n", False)


def test_only_files_are_opened_and_no_more_of_them_than_allowed(tmp_path: Path) -> None:
    paths = [tmp_path]
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")  # opening one waits for somebody who writes
        paths += [tmp_path / "pipe", Path("/dev/zero")]
    for path in paths:
        with pytest.raises(OSError, match=r"not a file|directory"):
            open_file(path)
    (tmp_path / "a").write_bytes(b"12345")
    assert read_file(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_file(tmp_path / "a", 4)


@pytest.mark.skipif(sys.platform == "win32", reason="the path of a descriptor is not told")
def test_many_short_runs_leave_waiting_for_the_disk_to_their_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    monkeypatch.setattr(files, "_is_flushing", True)
    write_atomically(tmp_path / "before", b"1")
    assert len(flushed) == 1
    files.leave_flushing()
    (tmp_path / "inside").mkdir()
    write_atomically(tmp_path / "inside" / "after", b"2")
    assert len(flushed) == 1
    (tmp_path / "link").symlink_to(tmp_path / "before")
    files.flush_folder(tmp_path)
    assert sorted(flushed[1:]) == sorted(
        map(str, (tmp_path, *(tmp_path / n for n in ("before", "inside", "inside/after"))))
    )


def test_a_path_is_stored_plain_and_relative_where_it_lies_inside(tmp_path: Path) -> None:
    (tmp_path / "project" / "data").mkdir(parents=True)
    (tmp_path / "other" / "deep").mkdir(parents=True)
    base = tmp_path / "project"
    assert path_from(base / "data" / ".." / "data" / "x.csv", base) == "data/x.csv"
    assert path_from(tmp_path / "other" / ".." / "project" / "x.csv", base) == "x.csv"
    assert path_from(base / ".." / "other", base) == (tmp_path / "other").as_posix()
    (base / "link").symlink_to(tmp_path / "other" / "deep")
    assert path_from(base / "link" / ".." / "x.csv", base) == (tmp_path / "other" / "x.csv").as_posix()
    assert path_from(base / "link" / "x.csv", base) == "link/x.csv", "what a link is for stays"
    (tmp_path / "also").symlink_to(base)
    assert path_from(tmp_path / "also" / "x.csv", base) == "x.csv"
