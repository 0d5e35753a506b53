"""The search of commands."""

import pytest
from PySide6.QtCore import Qt

from netwright.app.frame.help_dialogs import CommandFinder
from netwright.app.window import MainWindow


def test_the_command_finder_finds_and_runs(qtbot, window: MainWindow) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.show()
    qtbot.keyClicks(finder.search, "view runs")  # other commands have it in their help: the name comes first
    first = finder.list.topLevelItem(0)
    assert first is not None
    assert "Runs" in first.text(0)
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.bar._tabs["runs"].isChecked())
    assert finder.result() == CommandFinder.DialogCode.Accepted


@pytest.mark.parametrize(
    ("typed", "id"),
    [
        ("dark", "theme.dark"),
        ("light", "theme.light"),
        ("analyze", "view.layers"),
        pytest.param("import", "file.import", marks=pytest.mark.part("exchange")),
        pytest.param("sweep", "view.search", marks=pytest.mark.part("experiments")),
        pytest.param("predict", "run.predict", marks=pytest.mark.part("analysis")),
        ("onnx", "file.import"),
        ("deploy", "file.export"),
        ("settings", "run.options"),
        ("stop", "run.stop"),
    ],
)
def test_the_command_finder_puts_the_best_match_first(qtbot, window: MainWindow, typed: str, id: str) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.search.setText(typed)
    assert finder.list.currentItem().data(0, Qt.ItemDataRole.UserRole) == id


def test_the_command_finder_says_that_nothing_matches(qtbot, window: MainWindow) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.search.setText("no such command")
    assert finder.nothing.text() == "No matching commands"


def test_the_command_finder_does_not_run_what_cannot_be_done(qtbot, window: MainWindow) -> None:
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.show()
    qtbot.keyClicks(finder.search, "undo")
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    assert finder.isVisible()
    finder.search.setText("no such command")
    qtbot.keyClick(finder.search, Qt.Key.Key_Down)
    qtbot.keyClick(finder.search, Qt.Key.Key_Return)
    assert finder.isVisible()
    finder.reject()
