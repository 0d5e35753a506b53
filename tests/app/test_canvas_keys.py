"""The keys of the canvas inside the whole window, whose shortcuts and menus could take them away."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from netwright.app.window import MainWindow
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.builders import classifier

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def names(window: MainWindow) -> list[str]:
    return [layer.name for layer in window.editor.network.layers.values()]


def press(window: MainWindow, key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Tell the window system of a key, so that shortcuts and the open popup come before the canvas."""
    QTest.keyClick(QApplication.activePopupWidget() or window.windowHandle(), key, keys)


def test_layers_are_added_bypassed_and_removed_by_keys(window: MainWindow, qtbot) -> None:
    window.editor.open(Project(classifier()))
    window.design.canvas.setFocus()
    qtbot.waitUntil(window.design.canvas.hasFocus)
    relu = window.editor.network.layer("relu_1").id
    window.editor.set_selection({relu})
    press(window, Qt.Key.Key_B)
    assert window.editor.network.layers[relu].bypassed
    press(window, Qt.Key.Key_Delete, SHIFT)
    assert "relu_1" not in names(window)
    assert len(window.editor.network.connections) == 2
    window.editor.undo()
    press(window, Qt.Key.Key_Delete)
    assert len(window.editor.network.connections) == 3
    window.editor.set_selection({window.editor.network.layer("fc_1").id})
    press(window, Qt.Key.Key_A)
    popup = window.design.canvas.suggestions.popup
    assert popup is not None
    qtbot.keyClicks(popup.search, "dropout")
    qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert "dropout_1" in names(window)
    assert len(window.editor.network.connections) == 4


def test_a_click_on_the_ground_and_tab_offer_layers(window: MainWindow, qtbot) -> None:
    window.editor.open(Project(classifier()))
    qtbot.mouseClick(window.design.canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(30, 30))
    press(window, Qt.Key.Key_Tab)
    popup = window.design.canvas.suggestions.popup
    assert popup is not None
    press(window, Qt.Key.Key_Escape)
    assert window.design.canvas.suggestions.popup is None


@pytest.mark.parametrize(("key", "keys"), [(Qt.Key.Key_Tab, NONE), (Qt.Key.Key_Backtab, SHIFT)])
def test_tab_leaves_the_canvas_with_its_selection(
    window: MainWindow, qtbot, key: Qt.Key, keys: Qt.KeyboardModifier
) -> None:
    window.editor.open(Project(classifier()))
    window.design.canvas.setFocus()
    qtbot.waitUntil(window.design.canvas.hasFocus)
    press(window, Qt.Key.Key_Down)
    assert window.editor.selection == {window.editor.network.layer("image_1").id}
    press(window, key, keys)
    assert not window.design.canvas.hasFocus()
    assert QApplication.focusWidget() is not None
    assert window.editor.selection


def test_enter_leads_into_the_fields_of_the_selected_layer_and_c_connects(window: MainWindow, qtbot) -> None:
    network = classifier()
    window.editor.open(Project(network, arrange(network)))
    window.design.canvas.setFocus()
    qtbot.waitUntil(window.design.canvas.hasFocus)
    window.editor.set_selection({window.editor.network.layer("fc_1").id})
    press(window, Qt.Key.Key_Return)
    focus = QApplication.focusWidget()
    assert focus is not None
    assert window.design.properties.isAncestorOf(focus)
    window.design.canvas.setFocus()
    window.editor.set_selection({window.editor.network.layer("relu_1").id})
    count = len(window.editor.network.connections)
    press(window, Qt.Key.Key_C)
    press(window, Qt.Key.Key_Down)
    press(window, Qt.Key.Key_Return)
    assert len(window.editor.network.connections) == count
    target = window.editor.network.layer("softmax_1").id
    assert window.editor.network.incoming[target]["in"].layer == window.editor.network.layer("relu_1").id
