"""The whole main job with mouse and keyboard: from an empty canvas to a trained network in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from netwright.app.data.data_tab import DataTab
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.exchange.export_weights import RESULT
from netwright.app.runs.monitor import Monitor
from netwright.app.window import MainWindow
from netwright.engine.project.file import load
from tests.app.main_windows import Modal, shown_windows
from tests.designer.mouse import Hand

PATIENCE_MS = 120_000
LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


class WindowHand(Hand):
    """A hand on a whole window."""

    def __init__(self, qtbot, window: MainWindow) -> None:
        self.qtbot, self.window = qtbot, window
        self.editor, self.view = window.editor, window.design.canvas

    def add(self, words: str) -> None:
        """Search the palette and take what is found."""
        self.qtbot.keyClick(self.window, Qt.Key.Key_K, CONTROL)
        self.qtbot.waitUntil(self.window.design.palette.search.hasFocus)
        self.qtbot.keyClicks(self.window.design.palette.search, words)
        self.qtbot.keyClick(self.window.design.palette.search, Qt.Key.Key_Return)

    def type(self, inside: QWidget, name: str, text: str) -> None:
        """Type over the field of this name."""
        line = next(line for line in inside.findChildren(QLineEdit) if is_named(line, name))
        line.setFocus()
        line.selectAll()
        self.qtbot.keyClicks(line, text)
        self.qtbot.keyClick(line, Qt.Key.Key_Tab)

    def press_button(self, inside: QWidget, text: str) -> None:
        """Click the button with this text."""
        buttons = [b for b in inside.findChildren(QPushButton) if b.text() == text and b.isVisible()]
        assert len(buttons) == 1, text
        assert buttons[0].isEnabled(), text
        self.qtbot.mouseClick(buttons[0], LEFT)


def is_named(line: QLineEdit, name: str) -> bool:
    return line.isVisible() and line.accessibleName().partition(",")[0] == name


@pytest.fixture
def hand(qtbot) -> Iterator[WindowHand]:
    with shown_windows(qtbot) as make:
        yield WindowHand(qtbot, make())


def design(hand: WindowHand) -> None:
    window, properties = hand.window, hand.window.design.properties
    hand.press_button(window.design.canvas, "Add an image input")
    hand.type(properties, "Size", "8")
    hand.add("2-d conv")
    hand.type(properties, "Filters", "8")
    hand.add("relu")
    hand.key(Qt.Key.Key_Escape)  # nothing is selected: what comes next is not connected by itself
    hand.add("fully connected")
    hand.type(properties, "Outputs", "10")
    hand.add("softmax")
    assert hand.links() == {("image_1", "conv_1"), ("conv_1", "relu_1"), ("fc_1", "softmax_1")}
    window.design.canvas.fit()
    hand.qtbot.waitUntil(lambda: window.design.canvas.zoom > 0.35)
    assert any("not connected" in problem.message for problem in window.editor.problems)
    hand.drag(hand.port("relu_1", "out"), hand.port("fc_1", "in"))
    assert ("relu_1", "fc_1") in hand.links()
    assert not window.editor.check_result.errors
    assert window.editor.network.layer("conv_1").type.short_value() == "8 filters"


def choose_data(hand: WindowHand) -> None:
    window = hand.window
    hand.qtbot.mouseClick(window.bar._tabs["data"], LEFT)
    tab = window.tabs.page("data")
    assert isinstance(tab, DataTab)
    hand.press_button(tab, "Digits example")
    hand.qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview, timeout=PATIENCE_MS)
    assert window.editor.dataset_info is not None
    assert not window.editor.check_result.errors


def choose_options(hand: WindowHand) -> None:
    window = hand.window

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, TrainingOptionsDialog)
        hand.qtbot.mouseClick(dialog.cards.cards["multi-cpu"], LEFT, pos=QPoint(40, 20))
        hand.type(dialog.environment_form, "Workers", "2")
        hand.type(dialog.training_form, "Max epochs", "2")
        assert "2 workers" in dialog.sentence.text()
        hand.press_button(dialog, "OK")

    hand.qtbot.waitUntil(lambda: window.environment.inventory is not None, timeout=PATIENCE_MS)
    with Modal(work):
        hand.press_button(window.bar, "Training options…")
    assert window.editor.project.training.max_epochs == 2
    assert window.bar.environment.text() == "Environment multi-cpu · 2 workers"


def train(hand: WindowHand) -> None:
    window = hand.window
    hand.qtbot.mouseClick(window.bar.train, LEFT)
    monitor = window.training.monitor
    assert isinstance(monitor, Monitor)
    hand.qtbot.waitUntil(lambda: bool(list(monitor.loss_card.rows())), timeout=PATIENCE_MS)
    hand.qtbot.waitUntil(lambda: not window.training.is_running, timeout=PATIENCE_MS)
    assert monitor.facts.head.status.text() == "✓ Finished"
    assert {split for split, _, _ in monitor.metric_card.rows()} == {"training", "validation", "test"}
    assert monitor.facts.hardware.text("Workers") == "2 · gloo"
    assert "accuracy" in monitor.facts.progress.text("Test")


def export(hand: WindowHand, target: Path) -> None:
    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, ExportDialog)
        assert dialog.weights.group.button(RESULT).isChecked(), "the trained weights"
        hand.type(dialog, "File to write", str(target))
        hand.press_button(dialog, "Export")
        hand.qtbot.waitUntil(lambda: dialog.export_button.isEnabled(), timeout=PATIENCE_MS)
        assert "ONNX Runtime agrees" in dialog.outcome.text()
        hand.press_button(dialog, "Close")

    with Modal(work):
        hand.press_button(hand.window, "Export…")


def test_from_an_empty_canvas_to_a_trained_network(hand: WindowHand, tmp_path: Path) -> None:
    design(hand)
    choose_data(hand)
    choose_options(hand)
    train(hand)
    export(hand, tmp_path / "digits.onnx")
    assert (tmp_path / "digits.onnx").stat().st_size > 1000
    folder = hand.window.training.run_folder
    assert folder is not None
    assert load(folder.project).project.network == hand.editor.network
    hand.window.activateWindow()
    hand.qtbot.waitUntil(hand.window.isActiveWindow)
    hand.qtbot.keyClick(hand.window, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    hand.qtbot.keyClick(hand.window, Qt.Key.Key_Z, CONTROL)
    hand.qtbot.keyClick(hand.window, Qt.Key.Key_Z, CONTROL)
    assert hand.editor.project.data.source == "none", "options and data are undone like any edit"
