"""What every journey has: an empty home folder, the real window with its engine, and a person at it.

A journey runs on the machine as it is, and once more where engine processes get a fraction of their time
(`tests.journeys.slowing`), but for a few that wait for nothing which others do not wait for. `make journeys` runs all
of them; those that take under 20 s are in `make test` as well.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from netwright.app.processes import engine_log
from netwright.engine.runs.folder import RunFolder
from tests.app.main_windows import shown_windows
from tests.journeys.person import Person
from tests.journeys.screen import ScreenWatch
from tests.journeys.slowing import slowed
from tests.runs import ROOT

Visit = Callable[[], Person]
SIZE = (1440, 900)
HARMLESS = ("Matplotlib is building the font cache",)
"""Lines of libraries that a log may have."""


@pytest.fixture(params=["usual", pytest.param("slow", marks=pytest.mark.journey)])
def machine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The machine as it is, or with little time for engine processes."""
    with ExitStack() as stack:
        if request.param == "slow":
            stack.enter_context(slowed())
        yield request.param


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the person keeps data and projects. It is the current folder, as for who starts the program
    there."""
    folder = tmp_path / "my work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def visit(qtbot: QtBot, request: pytest.FixtureRequest, machine: str, place: Path) -> Iterator[Visit]:
    """Function that opens the window, on the start page, and seats a person at it."""
    watch = ScreenWatch()
    with shown_windows(qtbot) as make:

        def sit_down() -> Person:
            window = make(tab="start")
            window.resize(*SIZE)
            window.activateWindow()
            return Person(window, watch, request.node.name)

        yield sit_down
        watch.stop()
        QApplication.processEvents()
    assert not watch.flashes, f"shown as windows of their own: {watch.flashes}"
    for log in (engine_log(), *place.rglob(RunFolder(place).log.name)):
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        odd = [line for line in lines if line.strip() and not line.startswith(HARMLESS)]
        assert not odd, f"in {log}: {odd}"


@pytest.fixture
def reachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine answers to ssh: a program in its place runs the command here."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nfor last; do :; done\nPYTHONPATH={ROOT} exec sh -c "exec $last"\n')
    (programs / "ssh").chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
