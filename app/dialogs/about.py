"""The dialog About Netwright."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from designer import theme
from engine.core.version import VERSION
from engine.layers.addons import AddOn
from engine.network.catalog import add_ons, layer_type

ABOUT = (
    "Design, train and understand neural networks.\n\n"
    "Apache License 2.0. Built on Qt for Python (LGPL), PyTorch, ONNX and ONNX Runtime.\n\n"
    "The digits example holds the Optical Recognition of Handwritten Digits data set by E. Alpaydin and C. Kaynak, "
    "UCI Machine Learning Repository, CC BY 4.0."
)


def show_about(parent: QWidget) -> None:
    """Name, version, licence, thanks, add-ons."""
    dialog = about_dialog(parent, add_ons())
    dialog.exec()
    dialog.deleteLater()


def about_dialog(parent: QWidget | None, installed: Sequence[AddOn]) -> QDialog:
    """The dialog, with these add-ons."""
    dialog = QDialog(parent)
    dialog.setWindowTitle("About Netwright")
    column = QVBoxLayout(dialog)
    column.setContentsMargins(24, 24, 24, 16)
    column.setSpacing(12)
    head = QHBoxLayout()
    picture = QLabel()
    picture.setPixmap(theme.icon("network").pixmap(40, 40))
    name = QLabel(f"Netwright {VERSION}")
    theme.mark(name, "role", "title")
    head.addWidget(picture)
    head.addWidget(name, 1)
    column.addLayout(head)
    column.addWidget(_words(ABOUT))
    heading = QLabel("ADD-ONS")
    theme.mark(heading, "role", "section")
    heading.setContentsMargins(0, 8, 0, 0)
    column.addWidget(heading)
    for add_on in installed:
        column.addWidget(_words(add_on.refusal or add_on_in_words(add_on), "error" if add_on.error else None))
    if not installed:
        column.addWidget(_words("None. Installed packages can bring layer types of their own.", "muted"))
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column.addWidget(buttons)
    return dialog


def add_on_in_words(add_on: AddOn) -> str:
    """What an add-on brings."""
    labels = [layer_type(key).label for key in add_on.types]
    shown = ", ".join(labels[:8]) + (f" and {len(labels) - 8} more" if len(labels) > 8 else "")
    return f"{add_on.title}: {shown}"


def _words(text: str, role: str | None = None) -> QLabel:
    """A text that wraps and can be marked. An add-on's own words are no markup."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setMinimumWidth(440)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role is not None:
        theme.mark(label, "role", role)
    return label
