"""Dialogs that are opened while another one waits, and waiting for facts while the window lives."""

import os
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

PATIENCE_MS = int(os.environ.get("NETWRIGHT_JOURNEY_PATIENCE_MS", "240000"))
"""Only a journey that fails waits so long."""
LOOK_MS = 10


def wait_until(fact: Callable[[], bool], patience_ms: int) -> bool:
    """Let the window live until a fact holds; return whether it came to that in time."""
    deadline = time.monotonic() + patience_ms / 1000
    while not fact():
        if time.monotonic() > deadline:
            return False
        QTest.qWait(LOOK_MS)
    return True


class Dialogs:
    """Context for the act that opens dialogs, one after the other, each of which blocks until it is left: `works` are
    what is done in them. What fails in one, fails here."""

    def __init__(self, works: Sequence[Callable[[], None]]) -> None:
        self._works = list(works)
        self._known: list[QWidget | None] = [QApplication.activeModalWidget()]
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        QTimer.singleShot(0, self._look)

    def _look(self) -> None:
        """Work the next dialog, once it is there."""
        dialog = QApplication.activeModalWidget()
        if dialog is None or dialog in self._known or not dialog.isActiveWindow():
            QTimer.singleShot(LOOK_MS, self._look)
            return
        self._known.append(dialog)
        try:
            self._works.pop(0)()
            assert not dialog.isVisible(), f"the dialog '{dialog.windowTitle()}' is still open"
        except BaseException as error:  # raised again where the test can see it
            self._error = error
            self._works.clear()
            QTimer.singleShot(0, self._leave)
        if self._works:
            QTimer.singleShot(LOOK_MS, self._look)

    def _leave(self) -> None:
        """Leave what a failure left open, dialog by dialog: one that is left may ask whether that is meant."""
        dialog = QApplication.activeModalWidget()
        if dialog is None or dialog is self._known[0]:
            return
        QTimer.singleShot(LOOK_MS, self._leave)
        if isinstance(dialog, QDialog):
            dialog.reject()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._error is None:
            wait_until(lambda: not self._works or self._error is not None, PATIENCE_MS)
        if self._error is not None:
            raise self._error
        assert kind is not None or not self._works, f"{len(self._works)} dialogs were not opened"
