"""Files and folders that the user brings: dropped on the window, or chosen; what is asked, set and said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QPushButton

from netwright.app.data.data_tab import DataTab
from netwright.app.window import MainWindow
from netwright.engine.project.file import save
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow

PATIENCE_MS = 60_000
IMAGES = {"source": "images", "confidence": 0.9, "reason": "2 subfolders with 12 images", "options": {}}
ARRAYS = {"source": "arrays", "confidence": 0.8, "reason": "The folder holds NumPy arrays: x.npy", "options": {}}


def guessed(*guesses: dict[str, Any]) -> dict[str, Any]:
    return {"guesses": list(guesses), "refusal": "" if guesses else "x.doc is nothing that Netwright reads as data."}


def drop(window: MainWindow, *paths: Path) -> bool:
    """Drag over the window and drop; return whether it takes the drag."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    none, left, copy = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPointF(9, 9).toPoint(), copy, data, left, none)
    enter.ignore()
    window.dragEnterEvent(enter)
    if enter.isAccepted():
        window.dropEvent(QDropEvent(QPointF(9, 9), copy, data, left, none))
    return enter.isAccepted()


def tab_of(window: MainWindow) -> DataTab:
    tab = window.tabs.page("data")
    assert isinstance(tab, DataTab)
    return tab


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pets").mkdir()
    return tmp_path / "pets"


def test_what_is_dropped_is_used_in_one_step_and_said(
    qtbot, window: MainWindow, server: FakeServer, folder: Path
) -> None:
    before = window.editor.project.data
    server.answers["guess"] = guessed({**IMAGES, "options": {"channels": "grey"}})
    assert drop(window, folder)
    qtbot.waitUntil(lambda: window.tabs.current == "data")
    data = window.editor.project.data
    assert (data.source, data.path, data.channels) == ("images", str(folder), "grey")
    tab = tab_of(window)
    assert tab.notice.label.text() == "pets: folder of images. 2 subfolders with 12 images."
    assert not tab.notice.isHidden()
    window.editor.undo()
    assert window.editor.project.data == before
    assert tab.notice.isHidden()
    window.editor.redo()
    assert not tab.notice.isHidden()


def test_names_set_for_other_data_are_cleared_and_choices_stay(
    qtbot, window: MainWindow, server: FakeServer, folder: Path
) -> None:
    from dataclasses import replace

    project = window.editor.project
    data = project.data.replace(source="images", path="old", masks="masks", image_size=32)
    window.editor.apply("Choose data", replace(project, data=data))
    server.answers["guess"] = guessed(IMAGES)
    drop(window, folder)
    qtbot.waitUntil(lambda: window.editor.project.data.path == str(folder))
    assert window.editor.project.data.masks == ""
    assert window.editor.project.data.image_size == 32


def test_ambiguous_data_lists_the_candidates(qtbot, window: MainWindow, server: FakeServer, folder: Path) -> None:
    server.answers["guess"] = guessed(IMAGES, ARRAYS)
    drop(window, folder)
    qtbot.waitUntil(lambda: window.tabs.current == "data")
    tab = tab_of(window)
    assert "It could also be arrays. The folder holds NumPy arrays: x.npy." in tab.notice.label.text()
    qtbot.mouseClick(tab.notice.links["Use as arrays"], Qt.MouseButton.LeftButton)
    assert window.editor.project.data.source == "arrays"
    assert "pets: arrays." in tab.notice.label.text()
    assert "Use as folder of images" in tab.notice.links


def test_another_kind_can_be_chosen(qtbot, window: MainWindow, server: FakeServer, folder: Path) -> None:
    server.answers["guess"] = guessed(IMAGES)
    drop(window, folder)
    qtbot.waitUntil(lambda: window.tabs.current == "data")
    menu = window.guesser.kinds_menu(tab_of(window))
    kinds = {action.text(): action for action in menu.actions()}
    assert "Arrays" in kinds
    assert "Table" not in kinds, "a folder is no table"
    kinds["Arrays"].trigger()
    assert window.editor.project.data.source == "arrays"


def test_what_is_not_understood_changes_nothing_and_says_what_is(
    qtbot, window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(window, "show_error", lambda title, text: shown.append(text))
    server.answers["guess"] = guessed()
    before = window.editor.project
    drop(window, tmp_path / "x.doc")
    qtbot.waitUntil(lambda: bool(shown))
    assert shown == ["x.doc is nothing that Netwright reads as data."]
    assert window.editor.project == before


def test_a_project_is_opened_and_several_files_are_refused(
    qtbot, window: MainWindow, server: FakeServer, tmp_path: Path
) -> None:
    save(window.editor.project, tmp_path / "own.netwright")
    assert not drop(window, tmp_path / "own.netwright", tmp_path)
    assert drop(window, tmp_path / "own.netwright")
    qtbot.waitUntil(lambda: window.documents.path == tmp_path / "own.netwright")
    assert not [request for request in server.asked if request.do == "guess"]


def test_files_are_chosen_in_the_menu_and_on_the_tab(
    qtbot, window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    server.answers["guess"] = guessed(IMAGES)
    monkeypatch.setattr(window.guesser, "use", lambda path: asked.append(path.name))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "t.csv"), ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "pets"))
    window.files.data_chosen.disconnect()
    window.files.data_chosen.connect(window.guesser.use)
    window.files.open()
    window.show_tab("data")
    for text in ("Choose a file…", "Choose a folder…"):
        button = next(b for b in tab_of(window).empty.findChildren(QPushButton) if b.text() == text)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked == ["t.csv", "t.csv", "pets"]


def test_the_real_engine_guesses(qtbot, make_window: MakeWindow, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((20, 3)))
    np.save(tmp_path / "y.npy", np.arange(20) % 2)
    window = make_window()
    drop(window, tmp_path)
    qtbot.waitUntil(lambda: window.editor.project.data.source == "arrays", timeout=PATIENCE_MS)
    assert window.editor.project.data.path == str(tmp_path)
    tab = tab_of(window)
    qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview, timeout=PATIENCE_MS)
    assert ": arrays. The folder holds arrays: x.npy, y.npy." in tab.notice.label.text()
