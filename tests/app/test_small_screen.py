"""On a screen of 1280 × 720, every dialog fits and nothing that it says is cut off; on one of 800 × 500 nothing that is
needed is out of reach."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from netwright.app import messages, widgets
from netwright.app.data.preview_panel import Preview
from netwright.app.dialog import Dialog
from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.app.dialogs.devices_dialog import DevicesDialog
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.frame.help_dialogs import CommandFinder, about_dialog, shortcuts_dialog
from netwright.app.frame.network_commands import BlockName
from netwright.app.plots.bar_rows import BarRows
from netwright.app.runs.change_run import ChangeRun
from netwright.app.window import MainWindow
from netwright.engine.core.types import image
from netwright.engine.layers.addons import AddOn
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from tests.app.clipping import SMALL, clipped, fitted, settle
from tests.app.fake_server import FakeServer
from tests.builders import classifier

SMALLEST = (800 - 16, 500 - 48)
"""What a frame leaves of a screen of 1600 × 1000 pixels at 200 %."""
LONG = "Straßenschildererkennung_für_autonome_Fahrzeuge_im_Winter_日本語"
"""Sixty letters, some of them wide, and few places to break."""


def dialogs(window: MainWindow, folder: Path) -> list[QDialog]:
    """One of each, with long names in it."""
    project = Project(classifier())
    other = replace(project, training=project.training.replace(max_epochs=77))
    return [
        about_dialog(window, [AddOn(LONG, "1.2", (), error=f"ModuleNotFoundError: No module named '{LONG}'.")]),
        shortcuts_dialog(window),
        BlockName(window, "Save as a block", LONG, "Save"),
        ChangeRun(window, 0.01, 12),
        CommandFinder(window.menus.actions_by_id, window),
        CompareDialog(project, other, ("digits", LONG), window),
        DevicesDialog(window),
        ExportDialog(project, folder, folder / LONG, folder / f"{LONG}.onnx", window),
        ExportDialog(project, folder, None, folder / "network.onnx", window),
        TrainingOptionsDialog(project, parent=window),
        messages._box(window, f"Save the changes to {LONG}?", f"/{LONG}/{LONG}.netwright: line 14.", "save"),
        messages.make_box(window, [f"{LONG}.py"], [Path("/") / LONG / LONG]),
    ]


def test_every_dialog_fits_and_is_read_whole(window: MainWindow, tmp_path: Path) -> None:
    found = []
    for dialog in dialogs(window, tmp_path):
        fitted(dialog)
        if dialog.width() > SMALL[0] or dialog.height() > SMALL[1]:
            found.append(f"{type(dialog).__name__} is {dialog.width()} × {dialog.height()}")
        found += [f"{dialog.windowTitle()}: {one}" for one in clipped(dialog)]
        dialog.close()
        dialog.deleteLater()
    assert found == []


def test_every_tab_is_read_whole(window: MainWindow) -> None:
    window.resize(1280, 720)
    window.editor.open(Project(classifier()))
    found = []
    for tab in ("design", "data", "runs", "start"):
        window.show_tab(tab)
        settle(window)
        found += [f"{tab}: {one}" for one in clipped(window)]
    assert found == []


def test_no_dialog_is_larger_than_the_screen(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(widgets, "room_on_screen", lambda _: QSize(*SMALLEST))
    found = []
    for dialog in dialogs(window, tmp_path):
        dialog.setVisible(True)
        settle(dialog)
        if dialog.width() > SMALLEST[0] or dialog.height() > SMALLEST[1]:
            found.append(f"{dialog.windowTitle()} is {dialog.width()} × {dialog.height()}")
        found += [
            f"{dialog.windowTitle()}: {button.text()} is outside"
            for button in dialog.findChildren(QPushButton)
            if button.isVisible() and not _is_reached(dialog, button)
        ]
        dialog.close()
        dialog.deleteLater()
    assert found == []


def _is_reached(dialog: QDialog, button: QPushButton) -> bool:
    """Whether a button lies inside a dialog, or in what can be scrolled there."""
    parent = button.parentWidget()
    while parent is not None and parent is not dialog:
        if isinstance(parent.parentWidget(), QScrollArea):
            return True
        parent = parent.parentWidget()
    return dialog.rect().contains(QRect(button.mapTo(dialog, QPoint()), button.size()))


def test_a_dialog_without_room_scrolls_above_its_buttons(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "room_on_screen", lambda _: QSize(400, 300))
    dialog = Dialog()
    qtbot.addWidget(dialog)
    column = QVBoxLayout(dialog)
    fields = [QLineEdit() for _ in range(20)]
    for field in fields:
        column.addWidget(field)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok)
    column.addWidget(buttons)
    dialog.show()
    settle(dialog)
    assert (dialog.width(), dialog.height()) <= (400, 300)
    ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert dialog.rect().contains(QRect(ok.mapTo(dialog, QPoint()), ok.size()))
    assert dialog.findChildren(QScrollArea)[0].verticalScrollBar().maximum() > 0
    with qtbot.waitSignal(dialog.accepted):
        buttons.accepted.connect(dialog.accept)
        qtbot.mouseClick(ok, Qt.MouseButton.LeftButton)


def test_a_text_that_wraps_is_not_squeezed(qtbot: QtBot) -> None:
    dialog = Dialog()
    qtbot.addWidget(dialog)
    label = QLabel("several words in lines " * 80)
    label.setWordWrap(True)
    label.setMinimumWidth(300)
    QVBoxLayout(dialog).addWidget(label)
    dialog.show()
    settle(dialog)
    assert dialog.height() > dialog.screen().availableSize().height() * 2 / 3, "what Qt takes at most"
    assert list(clipped(dialog)) == []


def test_a_long_message_leaves_its_button_on_the_screen(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "room_on_screen", lambda _: QSize(*SMALLEST))
    heights = []

    def answer() -> None:
        # Not by QApplication.topLevelWidgets(): that wraps windows that are being deleted.
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        settle(box)
        heights.append(box.height())
        box.accept()

    QTimer.singleShot(0, answer)
    messages.show_error(window, "The file cannot be read", "\n".join(f"column_{n}: no number" for n in range(60)))
    QTimer.singleShot(0, answer)
    messages.show_error(window, "The file cannot be read", "It is gone.")
    assert heights[1] < heights[0] <= SMALLEST[1]


@pytest.mark.parametrize("width", [800, 960, 1100, 1440])
@pytest.mark.parametrize("running", ["", "run 5 (a_project_with_quite_a_long_name)"])
def test_the_bar_folds(qtbot: QtBot, window: MainWindow, width: int, running: str) -> None:
    window.bar.set_environment("Environment multi-cpu · 16 workers", "")
    window.resize(width, 500)
    window.bar.set_running(running)
    settle(window)
    assert (window.width(), window.height()) == (width, 500)
    bar = window.bar
    needed = [bar.train, bar.options, bar.environment, *bar._tabs.values(), *([bar.stop] if running else [])]
    for button in needed:
        at = QRect(button.mapTo(bar, QPoint()), button.size())
        name = button.accessibleName() or button.text()
        assert (button.isVisible(), bar.rect().contains(at)) == (True, True), name
        assert button.width() >= button.sizeHint().width() - 1 or button.text() == ""
    assert bar.train.text() == ("Queue run" if running else "Train")
    assert bar.environment.accessibleName() == "Environment multi-cpu · 16 workers"
    assert "multi-cpu" in (bar.environment.text() or bar.environment.toolTip())
    if width == 1440:
        assert (bar.environment.text(), bar.options.text()) == (
            "Environment multi-cpu · 16 workers",
            "Training options…",
        )
    assert bar.stop.text().startswith("Stop run 5" if running else "Stop")


def test_on_the_smallest_screen_every_tab_is_read_whole(window: MainWindow, server: FakeServer) -> None:
    window.editor.open(Project(classifier()))
    found = []
    for tab in ("design", "data", "runs", "start"):
        window.show_tab(tab)
        window.resize(800, 500)
        settle(window)
        if (window.width(), window.height()) != (800, 500):
            found.append(f"{tab} needs {window.width()} × {window.height()}")
        found += [f"{tab}: {one}" for one in clipped(window)]
    assert found == []


def test_cards_beside_the_samples_go_below_them_on_a_narrow_page(qtbot: QtBot) -> None:
    preview = Preview()
    qtbot.addWidget(preview)
    info = DatasetInfo(
        (InputInfo("x", image(3, 224, 224)),), {"training": 12_345, "validation": 270}, classes_of("a", "b")
    )
    preview.resize(1200, 600)
    preview.show_answer({}, info)
    preview.show()
    settle(preview)
    (chart,) = preview.content.findChildren(BarRows)
    top = chart.mapTo(preview, QPoint()).y()
    preview.resize(420, 600)
    settle(preview)
    assert chart.mapTo(preview, QPoint()).y() >= top
    assert preview.content.width() <= 420, "the cards stand below the samples"


def test_what_is_cut_off_is_found(qtbot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    label, wrapped, button = (
        QLabel("much too long", holder),
        QLabel("words in lines", holder),
        QPushButton("Go on", holder),
    )
    wrapped.setWordWrap(True)
    for row, widget in enumerate((label, wrapped, button)):
        widget.setGeometry(0, 30 * row, 24, 12)
    area = QScrollArea(holder)
    area.setGeometry(0, 100, 50, 50)
    inside = QWidget()
    inside.setFixedSize(300, 20)
    area.setWidget(inside)
    holder.show()
    settle(holder)
    assert [one.split()[0] for one in clipped(holder)] == ["QLabel", "QLabel", "QPushButton", "QScrollArea"]
