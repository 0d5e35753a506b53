"""What is said at the end of a run, to whom, and what can be switched off."""

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMainWindow, QSystemTrayIcon

from app import notifier as module
from app.notifier import Notifier


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
