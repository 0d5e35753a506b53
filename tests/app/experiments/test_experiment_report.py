"""The report of an experiment from the window."""

from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from netwright.app.experiments.experiment_menu import save_experiment_report
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer


def test_the_report_of_an_experiment_says_what_it_lacks(
    window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints: list[str] = []
    opened: list[str] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.b"), ""))
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    monkeypatch.setattr(window, "hint", hints.append)
    assert save_experiment_report(window, tmp_path) is not None
    to = str(tmp_path / "a.b.html")
    assert server.waiting[-1].given == {"experiment": str(tmp_path), "output": to}
    server.answer("experiment report", {"missing": "optuna is not installed."})
    assert hints == ["Wrote a.b.html, without importances of the parameters: optuna is not installed."]
    assert opened == [to]
