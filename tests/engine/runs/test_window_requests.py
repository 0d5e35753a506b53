"""Requests to the user of an open window: private, claimed once, answered once, gone with whoever asks."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.runs import window_requests
from netwright.engine.runs.window_requests import (
    announce,
    answer,
    claim,
    folder,
    has_window,
    place_request,
    take_answer,
    withdraw,
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "digits.netwright").touch()
    return tmp_path / "digits.netwright"


def files() -> list[str]:
    return [path.name for path in folder().iterdir()]


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_request_is_claimed_and_answered_once(project: Path) -> None:
    request = place_request("run", project, "client", settings=("training.max_epochs=1",))
    assert take_answer(request) is None
    assert claim(project) == request
    assert claim(project) is None
    assert answer(request, is_accepted=True)
    assert not answer(request, is_accepted=False)
    assert take_answer(request) is True
    assert take_answer(request) is None
    assert files() == []


def test_nobody_else_can_read_or_write_them(project: Path) -> None:
    place_request("run", project, "client")
    assert stat.S_IMODE(folder().stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder().iterdir())


def test_a_project_is_the_same_through_a_link(project: Path) -> None:
    link = project.with_name("link.netwright")
    link.symlink_to(project)
    announce(link)
    assert has_window(project)
    request = place_request("run", project, "client")
    assert claim(link) == request
    withdraw(request)
    assert not answer(request, is_accepted=True)
    announce(None)
    assert not has_window(project)
    assert files() == []


def test_what_ended_programs_and_windows_have_left_is_removed(project: Path) -> None:
    pid = ended_process()
    request = place_request("run", project, "client")
    path = folder() / f"{request.id}.asked.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": pid}))
    (folder() / f"{pid}.window.json").write_text(json.dumps({"pid": pid, "project": str(project)}))
    assert not has_window(project)
    assert claim(project) is None
    assert files() == []


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "x", "project": 3}', "[" * 100_000])
def test_files_that_hold_something_else_are_no_requests(project: Path, content: str) -> None:
    (folder() / "a.asked.json").write_text(content)
    (folder() / "b.window.json").write_text(content)
    assert claim(project) is None
    assert not has_window(project)


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise PermissionError("no")

    request = replace(place_request("run", project, "client"), pid=os.getpid())
    monkeypatch.setattr(window_requests, "folder", refuse)
    announce(project)
    assert claim(project) is None
    assert not has_window(project)
    assert not answer(request, is_accepted=True)
    withdraw(request)
