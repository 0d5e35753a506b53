"""The report of a run from the window: which command is run, and what the user is told."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from netwright.app.analysis.run_report import save_report
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The files that are opened in the browser."""
    shown: list[str] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.b"), ""))

    def show(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    return shown


def test_it_is_written_and_shown(window: MainWindow, server: FakeServer, tmp_path: Path, opened: list[str]) -> None:
    assert save_report(window, tmp_path) is not None
    to = str(tmp_path / "a.b.html")
    assert server.waiting[-1].given == {"model": str(tmp_path), "output": to}
    server.answer("report", {"missing": ""})
    assert opened == [to]


def test_a_failure_is_told_and_cancelling_ends_the_process(
    window: MainWindow, server: FakeServer, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(window, "show_error", lambda *words: told.append(words))
    save_report(window, tmp_path)
    server.refuse("report", "The disk is full.")
    assert told == [("The report cannot be written", "The disk is full.")]
    writer = save_report(window, tmp_path)
    assert writer is not None
    writer.canceled.emit()
    assert server.cancelled == ["report"]
    assert not opened
    window.dialogs.export_report()
    assert told[1][0] == "There is no run yet"
