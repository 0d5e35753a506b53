"""Asks for the name of a block of the user's own."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from designer import theme
from engine.network.network import NAME_LIMIT, name_refusal


class BlockName(QDialog):
    """One line, judged while it is typed."""

    def __init__(self, parent: QWidget, title: str, name: str, do_it: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(380)
        self.line = QLineEdit(name)
        self.line.setAccessibleName("Name of the block")
        self.line.setMaxLength(NAME_LIMIT)
        self.line.selectAll()
        self.line.textChanged.connect(self._judge)
        self.why = QLabel()
        self.why.setWordWrap(True)
        theme.mark(self.why, "role", "help")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(do_it)
        theme.mark(self.ok, "primary", True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        label = QLabel("&Name")
        label.setBuddy(self.line)
        for widget in (label, self.line, self.why):
            column.addWidget(widget)
        column.addSpacing(8)
        column.addWidget(self.buttons)
        self._judge(name)

    def _judge(self, text: str) -> None:
        why = name_refusal(text, ())
        theme.mark(self.line, "invalid", "true" if why else "false")
        theme.mark(self.why, "role", "error" if why else "help")
        self.why.setText(why or "A new layer made from it gets this name, with a number where it is taken.")
        self.ok.setEnabled(why is None)


def ask_name(parent: QWidget, title: str, name: str, do_it: str) -> str | None:
    """The name, or None if it was given up."""
    dialog = BlockName(parent, title, name, do_it)
    is_taken = dialog.exec() == QDialog.DialogCode.Accepted
    chosen = dialog.line.text()
    dialog.deleteLater()
    return chosen if is_taken else None
