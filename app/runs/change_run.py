"""Dialogs that change a run: another learn rate or number of epochs while it trains, more epochs once it is
complete."""

import math

from PySide6.QtWidgets import QDialogButtonBox, QFormLayout, QInputDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from netwright.app.dialog import Dialog
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.engine.project.file import load
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import summary_of

HELP = noop("The schedule continues from the new rate. Both take effect at once, and a checkpoint is saved.")


class ChangeRun(Dialog):
    """Two fields with the current values, checked while they are typed."""

    def __init__(self, parent: QWidget, rate: float, epochs: int) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Change the run"))
        self.setMinimumWidth(380)
        self._before = (f"{rate:.6g}", f"{epochs}")
        self.rate, self.epochs = (QLineEdit(text) for text in self._before)
        self.rate.setAccessibleName(tr("Learn rate"))
        self.epochs.setAccessibleName(tr("Epochs"))
        self.why = QLabel()
        self.why.setWordWrap(True)
        theme.mark(self.why, "role", "help")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(tr("Change"))
        theme.mark(self.ok, "primary", True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow(tr("Learn &rate"), self.rate)
        form.addRow(tr("&Epochs"), self.epochs)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addLayout(form)
        column.addWidget(self.why)
        column.addWidget(self.buttons)
        for line in (self.rate, self.epochs):
            line.textChanged.connect(self._judge)
        self._judge()

    def chosen(self) -> dict[str, float]:
        """Return the changes, as the request `set` takes it."""
        changes: dict[str, float] = {}
        if self.rate.text() != self._before[0]:
            changes["rate"] = _number(self.rate.text())
        if self.epochs.text() != self._before[1]:
            changes["epochs"] = int(_number(self.epochs.text()))
        return changes

    def _judge(self) -> None:
        rate, epochs = _number(self.rate.text()), _number(self.epochs.text())
        why, has_rate = "", 0 < rate <= 1000
        if not has_rate:
            why = tr("The learn rate is a number above 0, at most 1000.")
        elif not (1 <= epochs <= 1_000_000 and epochs == int(epochs)):
            why = tr("Epochs are a whole number from 1 to 1,000,000.")
        theme.mark(self.rate, "invalid", "false" if has_rate else "true")
        theme.mark(self.epochs, "invalid", "true" if has_rate and why else "false")
        theme.mark(self.why, "role", "error" if why else "help")
        self.why.setText(why or translation(HELP))
        self.ok.setEnabled(not why and (self.rate.text(), self.epochs.text()) != self._before)


def _number(text: str) -> float:
    """Return the finite number in a text, or 0."""
    try:
        value = float(text.strip().replace(",", ""))
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


MOST = 1_000_000


def ask_for_more(parent: QWidget, folder: RunFolder) -> list[str] | None:
    """Return the settings to resume a run with: none if it has epochs left, more epochs if it is complete, None if the
    user cancels. Raises `UserError` for a run that cannot be read."""
    run = summary_of(folder.path)
    epochs = run.measured.get("epochs")
    if run.state_reached != "finished" or not isinstance(epochs, int):
        return []
    options = load(folder.project).project.training
    name = options.planned_option
    planned = int(folder.read_info().live_changes.get("epochs", options.planned_epochs))
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(tr("Resume the run"))
    dialog.setInputMode(QInputDialog.InputMode.IntInput)
    if options.is_full_batch:
        text = tr(
            "{epochs:,} of {planned:,} iterations are complete. New total number of iterations:",
            epochs=epochs,
            planned=planned,
        )
    else:
        text = tr(
            "{epochs:,} of {planned:,} epochs are complete. New total number of epochs:", epochs=epochs, planned=planned
        )
    dialog.setLabelText(text)
    dialog.setIntRange(min(epochs + 1, MOST), MOST)
    dialog.setIntValue(planned if planned > epochs else min(2 * epochs, MOST))
    dialog.setOkButtonText(tr("Resume"))
    is_chosen = bool(dialog.exec())
    value = dialog.intValue()
    dialog.deleteLater()
    return [f"training.{name}={value}"] if is_chosen else None
