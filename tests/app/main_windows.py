"""Real windows for tests: shown, and taken down as `main` does it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from PySide6.QtCore import QEvent, QObject, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from netwright.app import messages
from netwright.app.processes import ChildProcess, EngineServer
from netwright.app.window import MainWindow
from netwright.designer import theme
from netwright.engine.core import process
from netwright.engine.core.process import module_command
from tests import warm


class MakeWindow(Protocol):
    """Shows a window."""

    def __call__(self, server: EngineServer | None = None, *, tab: str = "design") -> MainWindow: ...


def fork_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let engines of windows, their other programs, and what goes on by itself, be forks of the process that tests
    share: one that imports torch takes 4 s, and one that lists the runs 0.4 s."""
    monkeypatch.setattr(process, "module_command", warm.module_command)
    fresh, start = module_command(""), ChildProcess.__init__

    def fork(self: ChildProcess, command: Sequence[str], parent: QObject, **options: Any) -> None:
        is_ours = list(command[: len(fresh) - 1]) == fresh[:-1]
        start(self, warm.module_command(*command[len(fresh) - 1 :]) if is_ours else command, parent, **options)

    monkeypatch.setattr(ChildProcess, "__init__", fork)


@contextmanager
def shown_windows(qtbot: QtBot) -> Iterator[MakeWindow]:
    """Gives a function that shows a window, with a server of the test's own or with the real one."""
    QSettings("Netwright", "Netwright").clear()
    windows: list[MainWindow] = []

    def make(server: EngineServer | None = None, *, tab: str = "design") -> MainWindow:
        window = MainWindow("light", tab=tab, server=server)
        windows.append(window)
        window.resize(1200, 800)
        with qtbot.waitExposed(window):
            window.show()
        qtbot.waitUntil(lambda: window.dataset._is_started)
        return window

    yield make
    for window in windows:
        window.editor.mark_saved()
        window._is_leaving = True  # nobody is there to answer
        window.close()
        window.shutdown()
        window.deleteLater()
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    app.processEvents()
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # as `main` does it
    theme.apply(app, "light")
    QSettings("Netwright", "Netwright").clear()  # a test that makes its window itself finds no panels of another's


class Modal:
    """Works a dialog that blocks until it closes: `with`, then the call that opens it. What fails there, fails here."""

    def __init__(self, work: Callable[[QWidget], None]) -> None:
        self._work = work
        self._error: BaseException | None = None
        self._was_worked = False

    def __enter__(self) -> None:
        QTimer.singleShot(0, self._look)

    def _look(self) -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            QTimer.singleShot(5, self._look)
            return
        self._was_worked = True
        try:
            self._work(dialog)
        except BaseException as error:  # raised again where the test can see it
            self._error = error
        finally:
            if isinstance(dialog, QDialog) and dialog.isVisible():
                dialog.reject()

    def __exit__(self, *_: object) -> None:
        if self._error is not None:
            raise self._error
        assert self._was_worked, "no dialog was opened"


def entries(menu: QMenu) -> list[str]:
    return [action.text().replace("&", "") for action in menu.actions() if action.text()]


def is_enabled(window: MainWindow, id: str) -> bool:
    return window.menus.actions_by_id[id].isEnabled()


def run(window: MainWindow, id: str) -> None:
    assert is_enabled(window, id)
    window.menus.actions_by_id[id].trigger()


def choose_file(monkeypatch: pytest.MonkeyPatch, path: Path | str) -> None:
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(f"netwright.app.frame.document_commands.QFileDialog.{name}", lambda *_: (str(path), ""))


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(messages, "ask_to_save", lambda parent, title: text)
