"""What is said at the end of a run, to whom, and what can be switched off."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMainWindow, QSystemTrayIcon

from netwright.app import notifier as module
from netwright.app.notifier import Notifier
from netwright.engine.runs.experiments import ExperimentFolder, hold


class Tray(QSystemTrayIcon):
    """The tray of a desktop that shows messages, which the tests have none of."""

    said: list[tuple[str, str, Any]]

    @staticmethod
    def isSystemTrayAvailable() -> bool:
        return True

    @staticmethod
    def supportsMessages() -> bool:
        return True

    def show(self) -> None:
        """There is nothing to show it in."""

    def showMessage(self, title: str, text: str, kind: Any, _shown_ms: int) -> None:  # type: ignore[override]
        Tray.said.append((title, text, kind))


@pytest.fixture
def notifier(qtbot, tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notifier]:
    Tray.said = []
    monkeypatch.setattr(module, "QSystemTrayIcon", Tray)
    beeps: list[int] = []
    monkeypatch.setattr(QApplication, "beep", lambda: beeps.append(1))
    window = QMainWindow()
    qtbot.addWidget(window)
    made = Notifier(window, QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made.beeps = beeps  # type: ignore[attr-defined]
    yield made
    made._hide()


def test_a_message_comes_while_the_window_is_behind_and_no_beep(notifier: Notifier) -> None:
    notifier.notify("digits", "Training finished.")
    notifier.notify("digits", "Failed: out of memory.", is_bad=True)
    kinds = QSystemTrayIcon.MessageIcon
    assert Tray.said == [
        ("digits", "Training finished.", kinds.Information),
        ("digits", "Failed: out of memory.", kinds.Critical),
    ]
    assert notifier.beeps == []  # type: ignore[attr-defined]


def test_who_has_the_window_before_them_gets_no_message(notifier: Notifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier._window, "isActiveWindow", lambda: True)
    notifier.notify("digits", "Training finished.")
    assert Tray.said == []


def test_both_are_switched_and_remembered(notifier: Notifier) -> None:
    notifier.switch_message()
    notifier.switch_beep()
    assert (notifier.has_message, notifier.has_beep) == (False, True)
    assert Notifier(notifier._window, notifier._settings).has_beep
    heard = len(notifier.beeps)  # type: ignore[attr-defined]
    notifier.notify("digits", "Training finished.")
    assert Tray.said == []
    assert len(notifier.beeps) == heard + 1  # type: ignore[attr-defined]
    notifier.switch_beep()
    assert not notifier.has_beep


def test_a_desktop_without_a_tray_is_no_trouble(notifier: Notifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tray, "isSystemTrayAvailable", staticmethod(lambda: False))
    notifier.notify("digits", "Training finished.")
    assert Tray.said == []


def test_the_end_of_an_experiment_is_told_once(notifier: Notifier, tmp_path) -> None:
    folder = ExperimentFolder(tmp_path / "experiment")
    folder.path.mkdir()
    folder.lock.touch()
    folder.info.write_text(json.dumps({"name": "digits", "state": "running"}))
    notifier.watch(folder)
    notifier._look()
    assert Tray.said == [], "its runner has not begun yet"
    lock = hold(folder)
    notifier._look()
    folder.update_info(state="finished")
    folder.trials.write_bytes(b'{"trial":1,"values":{}}\n{"trial":1,"state":"finished"}\n')
    os.close(lock)
    notifier._look()
    notifier._look()
    ((name, text, _),) = Tray.said
    assert (name, text) == ("digits", "Experiment finished: 1 of 1 trial ended.")
    assert not notifier._watching.isActive()


def test_a_runner_that_was_killed_is_told(notifier: Notifier, tmp_path) -> None:
    folder = ExperimentFolder(tmp_path)
    folder.lock.touch()
    folder.info.write_text(json.dumps({"name": "digits", "state": "running"}))
    lock = hold(folder)
    notifier.watch(folder)
    notifier._look()
    os.close(lock)
    notifier._look()
    ((name, text, kind),) = Tray.said
    assert (name, text) == ("digits", "Experiment lost: 0 of 0 trials ended.")
    assert kind == QSystemTrayIcon.MessageIcon.Critical
