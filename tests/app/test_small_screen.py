"""On a screen of 1280 × 720, every dialog fits and nothing that it says is cut off."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QScrollArea, QWidget

from app import messages
from app.dialogs.compare_projects import CompareDialog
from app.dialogs.devices import DevicesDialog
from app.dialogs.export import ExportDialog
from app.dialogs.training_options import TrainingOptionsDialog
from app.frame.help_dialogs import CommandFinder, about_dialog, shortcuts_dialog
from app.frame.network_commands import BlockName
from app.runs.change_run import ChangeRun
from app.window import MainWindow
from engine.layers.addons import AddOn
from engine.project.project import Project
from tests.app.clipping import SMALL, clipped, fitted, settle
from tests.builders import classifier

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
    for tab in ("design", "data", "train", "experiments", "start"):
        window.show_tab(tab)
        settle(window)
        found += [f"{tab}: {one}" for one in clipped(window)]
    assert found == []


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
