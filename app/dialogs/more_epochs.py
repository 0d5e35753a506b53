"""Asks how many epochs a run that is complete is to have in all."""

from PySide6.QtWidgets import QInputDialog, QWidget

from engine.project.file import load
from engine.runs.folder import RunFolder

MOST = 1_000_000


def ask_for_more(parent: QWidget, folder: RunFolder) -> list[str] | None:
    """The settings to resume a run with: none for one that has epochs left, more epochs for one that is complete, or
    None where the user thinks better of it. Raises `UserError` for a run that cannot be read."""
    result = folder.read_result() or {}
    done = result.get("epochs")
    if result.get("state") != "finished" or not isinstance(done, int):
        return []
    options = load(folder.project).project.training
    name, planned, what = "max_epochs", options.max_epochs, "epochs"
    if options.is_full_batch:
        name, planned, what = "max_iterations", options.max_iterations, "iterations"
    dialog = QInputDialog(parent)
    dialog.setWindowTitle("Go on with the run")
    dialog.setInputMode(QInputDialog.InputMode.IntInput)
    dialog.setLabelText(f"{done:,} of {planned:,} {what} are done. How many is it to have in all?")
    dialog.setIntRange(min(done + 1, MOST), MOST)
    dialog.setIntValue(planned if planned > done else min(2 * done, MOST))
    dialog.setOkButtonText("Go on")
    is_chosen = bool(dialog.exec())
    value = dialog.intValue()
    dialog.deleteLater()
    return [f"training.{name}={value}"] if is_chosen else None
