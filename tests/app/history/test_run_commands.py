"""What can be done with runs on the page Runs: notes, names, the trash, options, export."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.history.runs_page import RunsPage
from netwright.app.window import MainWindow
from netwright.engine.project.file import load
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.notes import Notes, read_notes
from tests.app.history.runs_pages import click, press, titles
from tests.app.main_windows import Modal

CONTROL = Qt.KeyboardModifier.ControlModifier


def test_a_note_and_tags_are_kept(qtbot: QtBot, page: RunsPage, runs: list[RunFolder]) -> None:
    click(page, "Run 1")
    page.monitor.segments.choose("options")
    notes = page.monitor.options.notes
    notes.tags.setText("paper, again")
    qtbot.keyClicks(notes.note, "the best so far")
    click(page, "Run 2")  # what was typed is kept without being asked to
    qtbot.waitUntil(lambda: read_notes(runs[0]).note == "the best so far")
    click(page, "Run 1")
    qtbot.waitUntil(lambda: notes.tags.text() == "again, paper")
    assert notes.note.toPlainText() == "the best so far"


def test_what_is_typed_outlives_news_of_the_run(page: RunsPage) -> None:
    page.history.rest()
    notes = page.monitor.options.notes
    before = next(run for run in page.rail.model.runs if run.path.name == "c")
    notes.noted.disconnect()
    notes.note.setPlainText("half a sen")
    notes.keep()
    page.monitor.show_summary(replace(before, state="lost"))
    assert notes.note.toPlainText() == "half a sen"
    page.monitor.show_summary(replace(before, notes=Notes("half a sen")))
    page.monitor.show_summary(replace(before, notes=Notes("another window's")))
    assert notes.note.toPlainText() == "another window's"


def is_titled(page: RunsPage, title: str) -> bool:
    return titles(page)[0] == title


def test_a_run_is_renamed_in_place_and_given_its_number_back(
    qtbot: QtBot, page: RunsPage, runs: list[RunFolder]
) -> None:
    view = page.rail.list
    click(page, "Run 3")
    for typed, title in (("with dropout", "with dropout"), ("", "Run 3")):
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_F2)
        (field,) = view.viewport().findChildren(QLineEdit)
        field.setText(typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(partial(is_titled, page, title))
        QApplication.sendPostedEvents(None, 52)  # deferred deletes: of the field
    page.commands.actions["rename"].trigger()
    (field,) = view.viewport().findChildren(QLineEdit)
    field.setText("no")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert read_notes(runs[2]) == Notes()


def test_runs_go_to_the_trash_after_a_question(qtbot: QtBot, page: RunsPage, runs: list[RunFolder]) -> None:
    click(page, "Run 1")
    click(page, "Run 2", CONTROL)
    with Modal(press("Cancel")):
        page.commands.actions["delete"].trigger()
    page.rail.list.setFocus()
    with Modal(press("Move to trash")):
        QTest.keyClick(page.rail.list, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: titles(page) == ["Run 3"])
    assert not runs[0].path.exists()


def test_the_commands_of_a_run(page: RunsPage) -> None:
    click(page, "Run 2")
    texts = [action.text() for action in page.commands.menu.actions() if action.text()]
    assert [text for text in texts if text not in ("Export network…", "Export report…")] == [
        *(
            "Resume",
            "Start from its weights…",
            "Register as a model…",
            "Rename…",
            "Open project",
            "Reuse options",
            "Open folder",
        ),
        "Move to trash…",
    ]
    assert page.commands.actions["resume"].isEnabled()
    click(page, "Run 1", CONTROL)
    enabled = [key for key, action in page.commands.actions.items() if action.isEnabled()]
    assert enabled == ["delete"]


def test_options_of_a_run_are_used_as_one_step(window: MainWindow, page: RunsPage) -> None:
    before = window.editor.project
    click(page, "Run 3")
    page.commands.actions["options"].trigger()
    assert (window.editor.project.training.max_epochs, window.editor.project.training.solver) == (60, "adam")
    assert window.editor.project.network == before.network
    window.editor.undo()
    assert window.editor.project == before


def test_the_project_of_a_run_opens_as_a_copy(window: MainWindow, page: RunsPage, project: Path) -> None:
    click(page, "Run 2")
    page.commands.actions["project"].trigger()
    assert window.editor.project.training.max_epochs == 60
    assert (window.documents.path, window.documents.base) == (None, project.parent)
    assert load(project).project.training.max_epochs == 30


def test_the_folder_is_opened(page: RunsPage, runs: list[RunFolder], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    click(page, "Run 1")
    page.commands.actions["folder"].trigger()
    assert [Path(url.toLocalFile()) for url in opened] == [runs[0].path]


def test_the_network_of_the_chosen_run_is_exported(page: RunsPage, runs: list[RunFolder]) -> None:
    for name in ("best", "last"):
        (runs[0].path / name).mkdir()
    click(page, "Run 1")
    offered: list[str] = []

    def look(dialog: QWidget) -> None:
        assert isinstance(dialog, ExportDialog)
        offered.extend(button.text() for button in dialog.weights.group.buttons() if button.isVisible())
        assert dialog.weights.run == runs[0]
        assert dialog.file.text().endswith("one.onnx")
        dialog.reject()

    with Modal(look):
        page.commands.actions["export"].trigger()
    assert offered == ["Best", "Last", "Untrained"]


def test_the_rows_leave_as_csv(page: RunsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.rail.search.setText("state:failed")
    target = tmp_path / "runs"
    monkeypatch.setattr("netwright.app.history.run_commands.QFileDialog.getSaveFileName", lambda *_: (str(target), ""))
    page.rail.export_requested.emit()
    header, line = target.with_suffix(".csv").read_text().splitlines()
    assert "validation.rmse" in header
    assert line.startswith("b,one,failed,")
    page.rail.list.setFocus()
    QTest.keyClick(page.rail.list, Qt.Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("b,one,failed,")
