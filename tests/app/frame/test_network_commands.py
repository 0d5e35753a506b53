"""The user's own blocks in a real window: saved, shown, added, dragged, renamed, deleted."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QPushButton, QWidget

from netwright.app.frame.network_commands import BlockName
from netwright.app.window import MainWindow
from netwright.designer.panels.library_model import USER_BLOCK_ROLE, UserBlock
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block
from netwright.engine.project.project import Project
from tests.app.main_windows import MakeWindow, Modal
from tests.builders import classifier


@pytest.fixture
def window(make_window: MakeWindow, server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MainWindow:
    """A window with a block of its network selected, and an empty library."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    window = make_window(server)
    network = classifier()
    window.editor.open(Project(network, arrange(network)))
    window.design.canvas.fit()
    window.editor.set_selection({network.layer("fc_1").id, network.layer("relu_1").id})
    window.editor.group()
    return window


def keep(window: MainWindow, qtbot, name: str) -> None:
    """Save the selected block under a name, through the menu and the dialog."""

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, BlockName)
        dialog.line.selectAll()
        qtbot.keyClicks(dialog.line, name)
        qtbot.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)

    action = window.menus.actions_by_id["block.keep"]
    assert action.isEnabled()
    with Modal(work):
        action.trigger()


def own(window: MainWindow) -> list[str]:
    found = [index.data(USER_BLOCK_ROLE) for index in window.design.palette.view.entries()]
    return [entry.name for entry in found if isinstance(entry, UserBlock)]


def answer(words: str):
    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, QMessageBox)
        next(one for one in dialog.findChildren(QPushButton) if one.text() == words).click()

    return work


def question(words: str, asked: list[str]) -> None:
    """Answers the question that is about to be asked."""
    box = QApplication.activeModalWidget()
    if isinstance(box, QMessageBox):
        asked.append(box.text())
        answer(words)(box)
    else:
        QTimer.singleShot(5, lambda: question(words, asked))


def menu_entry(window: MainWindow, words: str):
    index = next(one for one in window.design.palette.view.entries() if one.data(USER_BLOCK_ROLE))
    menu = window.design.palette.view.menu_of(index)
    assert isinstance(menu, QMenu)
    return menu, next(action for action in menu.actions() if action.text() == words)


def test_a_block_is_saved_shown_and_added_again(window: MainWindow, qtbot) -> None:
    block = next(iter(window.editor.selection))
    keep(window, qtbot, "Mine")
    assert own(window) == ["Mine"]
    before = window.editor.project
    window.editor.set_selection({block})
    window.design.palette.view.setCurrentIndex(
        next(one for one in window.design.palette.view.entries() if one.data(USER_BLOCK_ROLE))
    )
    qtbot.keyClick(window.design.palette.view, Qt.Key.Key_Return)
    layer = window.editor.network.layer("Mine")
    assert layer.type == window.editor.network.layers[block].type
    assert window.editor.project.layout.inside[layer.id] == window.editor.project.layout.inside[block]
    assert [c.source.layer for c in window.editor.network.connections if c.target.layer == layer.id] == [block]
    window.editor.undo()
    assert window.editor.project == before


def test_replacing_is_asked_about_and_can_be_left(window: MainWindow, qtbot) -> None:
    keep(window, qtbot, "Mine")
    id = next(iter(window.editor.selection))
    window.editor.set_fields({id}, {"repeat": 3})

    for words, copies in (("Cancel", 1), ("Replace", 3)):
        asked: list[str] = []

        def name(dialog: QWidget, words: str = words, asked: list[str] = asked) -> None:
            assert isinstance(dialog, BlockName)
            dialog.line.setText("mine")
            dialog.accept()
            question(words, asked)

        with Modal(name):
            window.blocks.keep()
        assert asked == ["Replace your block 'Mine'?"]
        (entry,) = window.blocks.library.entries
        made = window.blocks.library.piece(entry.name).type
        assert isinstance(made, Block)
        assert made.repeat == copies


def test_a_name_that_cannot_be_is_refused_while_it_is_typed(window: MainWindow, qtbot) -> None:
    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, BlockName)
        dialog.line.setText("two words")
        assert not dialog.ok.isEnabled()
        assert dialog.why.text()

    with Modal(work):
        window.blocks.keep()
    assert own(window) == []


def test_it_is_dropped_at_a_place_and_into_a_connection(window: MainWindow, qtbot) -> None:
    keep(window, qtbot, "Mine")
    (entry,) = window.blocks.library.entries
    canvas = window.design.canvas

    def drop(at: QPoint) -> None:
        data = QMimeData()
        data.setData(entry.mime, entry.payload)
        action, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        canvas.dragEnterEvent(QDragEnterEvent(at, action, data, left, none))
        canvas.dragMoveEvent(QDragMoveEvent(at, action, data, left, none))
        canvas.dropEvent(QDropEvent(QPointF(at), action, data, left, none))

    place = canvas.mapToScene(QPoint(140, 120))
    drop(QPoint(140, 120))
    layer = window.editor.network.layer("Mine")
    x, y = window.editor.layout.at(layer.id)
    assert abs(x + 88 - place.x()) <= 8
    assert abs(y + 21 - place.y()) <= 8
    line = window.editor.network.connections[0]
    drop(canvas.mapFromScene(canvas.network_scene.edges.edges[line].path.pointAtPercent(0.5)))
    added = window.editor.network.layer("Mine_1")
    assert window.editor.network.incoming[added.id]
    assert window.editor.network.outgoing[added.id]


def test_quick_add_finds_it(window: MainWindow, qtbot) -> None:
    keep(window, qtbot, "Mine")
    window.editor.set_selection(())
    window.design.canvas.suggestions.at_ground(QPoint(50, 300))
    popup = window.design.canvas.suggestions.popup
    assert popup is not None
    qtbot.keyClicks(popup.search, "mine")
    qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert "Mine" in window.editor.network.by_name


def test_it_is_offered_where_it_fits(window: MainWindow, qtbot) -> None:
    keep(window, qtbot, "Mine")
    network, offering = window.editor.network, window.design.canvas.suggestions

    def offered(line: int) -> list[str]:
        offering.into(network.connections[line], QPoint(50, 300))
        assert offering.popup is not None
        found = [index.data(USER_BLOCK_ROLE) for index in offering.popup.view.entries()]
        assert offering.popup.view.currentIndex().data(USER_BLOCK_ROLE) is None
        return [entry.name for entry in found if entry]

    assert offered(0) == ["Mine"]
    popup = offering.popup
    assert popup is not None
    qtbot.keyClicks(popup.search, "mine")
    qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    layer = window.editor.network.layer("Mine")
    assert window.editor.network.incoming[layer.id]
    assert window.editor.network.outgoing[layer.id]


def test_it_is_renamed_and_deleted_from_the_palette(window: MainWindow, qtbot) -> None:
    keep(window, qtbot, "Mine")

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, BlockName)
        dialog.line.setText("Other")
        dialog.accept()

    menu, rename = menu_entry(window, "Rename…")
    with Modal(work):
        rename.trigger()
    assert own(window) == ["Other"]
    menu, delete = menu_entry(window, "Delete…")
    delete.trigger()
    assert menu is not None
    assert own(window) == []


def test_where_there_is_no_bin_deleting_is_asked_about(
    window: MainWindow, qtbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(window, qtbot, "Mine")
    (entry,) = window.blocks.library.entries
    monkeypatch.setattr(window.blocks.library, "move_to_trash", lambda name: False)
    with Modal(answer("Cancel")):
        window.blocks.remove(entry)
    assert own(window) == ["Mine"]
    with Modal(answer("Delete")):
        window.blocks.remove(entry)
    assert own(window) == []


def test_the_ports_of_a_block_can_be_added_inside_one_only(window: MainWindow, qtbot) -> None:
    palette = window.design.palette

    def usable(key: str) -> bool:
        return next(item for item in palette.model._items() if item.data(Qt.ItemDataRole.UserRole) == key).isEnabled()

    def offered() -> set[str]:
        window.design.canvas.suggestions.at_ground(QPoint(50, 300))
        popup = window.design.canvas.suggestions.popup
        assert popup is not None
        found = {index.data(Qt.ItemDataRole.UserRole) for index in popup.view.entries()}
        popup.hide()
        return found

    assert not usable("block_input")
    assert "block_output" not in offered()
    assert window.design.canvas.open_selected()
    assert usable("block_input")
    assert usable("block_output")
    assert {"block_input", "block_output"} <= offered()
    window.editor.leave_block()
    assert not usable("block_output")
