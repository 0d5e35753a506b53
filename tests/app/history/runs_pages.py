"""The page Runs, as tests work it."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.history.rail_model import RailRow
from netwright.app.history.runs_page import RunsPage
from netwright.app.window import MainWindow


def shown(qtbot: QtBot, window: MainWindow) -> RunsPage:
    window.show_tab("runs")
    page = window.tabs.page("runs")
    assert isinstance(page, RunsPage)
    qtbot.waitUntil(lambda: page.history.is_read)
    return page


def rows(page: RunsPage) -> list[RailRow]:
    return page.rail.model.rows


def titles(page: RunsPage) -> list[str]:
    return [row.title for row in rows(page)]


def click(page: RunsPage, title: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    view = page.rail.list
    index = view.model().index(titles(page).index(title), 0)
    view.scrollTo(index)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, view.visualRect(index).center())


def selected(page: RunsPage) -> list[str]:
    return [row.title for row in page.rail.list.selected]


def run_name(window: MainWindow) -> str:
    folder = window.training.run_folder
    return folder.path.name if folder is not None else ""


def press(text: str) -> Callable[[QWidget], None]:
    def work(box: QWidget) -> None:
        assert isinstance(box, QMessageBox)
        next(button for button in box.findChildren(QPushButton) if button.text() == text).click()

    return work
