"""About Netwright, and the list of its shortcuts."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.frame.action_table import ACTIONS, MENUS
from app.widgets import within_screen
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
CANVAS_KEYS = (
    ("Zoom", "Wheel, or two fingers"),
    ("Pan", "Middle button, or Space and drag"),
    ("Add a layer at the pointer, or behind the selected one", "A"),
    ("Add a layer on the ground, or into a connection", "Double click"),
    ("Add a layer where you clicked", "Click on the ground, then Tab"),
    ("Add a layer to an open port", "Drag from the port to the ground"),
    ("Move an end of a connection", "Drag it beside its port"),
    ("Move all connections of an output", "Shift and drag from the port"),
    ("Add to the selection", "Ctrl or Shift and click"),
    ("Select with a lasso", "Alt and drag, or L and drag"),
    ("Next, previous layer", "Tab, Shift+Tab"),
    ("Go along the connections, or to a layer beside", "Arrow keys; with Shift to select more"),
    ("Move the selection", "Ctrl and arrow keys; with Shift further"),
    ("Connect the selected layer by keys", "C, then arrows or typing, Tab for the input, Enter"),
    ("Edit the fields of the selected layers", "Enter"),
    ("Rename the selected layer", "F2, or double click"),
    ("Bypass the selected layers, or use them again", "B"),
    ("Delete and close the gap", "Del"),
    ("Delete and leave the gap", "Shift+Del"),
    ("Fit to window, zoom to the selection", "F, Shift+F"),
    ("Zoom in, out", "+, -"),
    ("Cancel a gesture, select nothing", "Esc"),
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
    column.addWidget(_close_button(dialog))
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


def show_shortcuts(parent: QWidget) -> None:
    """Every shortcut, by menu, and what the mouse does on the canvas."""
    dialog = shortcuts_dialog(parent)
    dialog.exec()
    dialog.deleteLater()


def shortcuts_dialog(parent: QWidget | None) -> QDialog:
    """The dialog: what is done at the left, its keys at the right, both wrapped where there is little room."""
    dialog = QDialog(parent)
    dialog.setWindowTitle("Keyboard shortcuts")
    dialog.resize(within_screen(dialog, 760, 640))
    content = QWidget()
    grid = QGridLayout(content)
    grid.setContentsMargins(24, 16, 24, 16)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(8)
    grid.setColumnStretch(0, 1)
    grid.setColumnStretch(1, 1)
    groups = [(menu, _keys(menu)) for menu in MENUS]
    row = 0
    for title, keys in [("Canvas", list(CANVAS_KEYS)), *groups]:
        if not keys:
            continue
        heading = QLabel(title.upper())
        theme.mark(heading, "role", "section")
        grid.addWidget(heading, row, 0)
        for text, shortcut in keys:
            row += 1
            what, key = QLabel(text), QLabel(shortcut)
            theme.mark(key, "role", "muted")
            key.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            for place, label in enumerate((what, key)):
                label.setWordWrap(True)
                grid.addWidget(label, row, place, Qt.AlignmentFlag.AlignTop)
        row += 1
        grid.setRowMinimumHeight(row, 8)
        row += 1
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(content)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(0, 0, 0, 16)
    column.addWidget(area)
    buttons = _close_button(dialog)
    buttons.setContentsMargins(0, 0, 24, 0)
    column.addWidget(buttons)
    return dialog


def _keys(menu: str) -> list[tuple[str, str]]:
    rows = [action for action in ACTIONS if action.menu == menu and action.shortcut]
    return [(action.text.rstrip("…"), ", ".join((action.shortcut, *action.also))) for action in rows]


def _close_button(dialog: QDialog) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    return buttons
