"""The report of a run from the window: which command is run, and what the user is told."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from netwright.app.dialogs import run_report as module
from netwright.app.dialogs.run_report import save_experiment_report, save_report
from netwright.app.window import MainWindow
from netwright.engine.runs.folder import RunFolder


class FakeCommand(QObject):
    """Stands for the engine's process."""

    finished = Signal(object)
    failed = Signal(str)
    made: "list[FakeCommand]" = []

    def __init__(self, arguments: list[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.arguments, self.is_cancelled = arguments, False
        self.made.append(self)

    def cancel(self) -> None:
        self.is_cancelled = True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The files that are opened in the browser."""
    shown: list[str] = []
    FakeCommand.made.clear()
    monkeypatch.setattr(module, "EngineCommand", FakeCommand)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.b"), ""))

    def show(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    return shown


def test_it_is_written_and_shown(window: MainWindow, tmp_path: Path, opened: list[str]) -> None:
    assert save_report(window, RunFolder(tmp_path)) is not None
    (command,) = FakeCommand.made
    to = str(tmp_path / "a.b.html")
    assert command.arguments == ["report", str(tmp_path), "-o", to, "--json"]
    command.finished.emit({"missing": ""})
    assert opened == [to]


def test_a_failure_is_told_and_cancelling_ends_the_process(
    window: MainWindow, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(window, "show_error", lambda *words: told.append(words))
    save_report(window, RunFolder(tmp_path))
    FakeCommand.made[0].failed.emit("The disk is full.")
    assert told == [("The report cannot be written", "The disk is full.")]
    writer = save_report(window, RunFolder(tmp_path))
    assert writer is not None
    writer.canceled.emit()
    assert FakeCommand.made[1].is_cancelled
    assert not opened
    window.dialogs.export_report()
    assert told[1][0] == "There is no run yet"


def test_the_report_of_an_experiment_says_what_it_lacks(
    window: MainWindow, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hints: list[str] = []
    monkeypatch.setattr(window, "hint", hints.append)
    assert save_experiment_report(window, tmp_path) is not None
    (command,) = FakeCommand.made
    to = str(tmp_path / "a.b.html")
    assert command.arguments == ["experiment", "report", str(tmp_path), "-o", to, "--json"]
    command.finished.emit({"missing": "optuna is not installed."})
    assert hints == ["Wrote a.b.html, without importances of the parameters: optuna is not installed."]
    assert opened == [to]
