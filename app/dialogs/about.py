"""About Netwright, and the list of its shortcuts."""

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

from app.actions import ACTIONS, MENUS
from designer import theme
from engine.version import VERSION

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
    """Name, version, licence, thanks."""
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
    text = QLabel(ABOUT)
    text.setWordWrap(True)
    text.setMinimumWidth(440)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    column.addWidget(text)
    column.addWidget(_close_button(dialog))
    dialog.exec()
    dialog.deleteLater()


def show_shortcuts(parent: QWidget) -> None:
    """Every shortcut, by menu, and what the mouse does on the canvas."""
    dialog = QDialog(parent)
    dialog.setWindowTitle("Keyboard shortcuts")
    dialog.resize(640, 600)
    content = QWidget()
    grid = QGridLayout(content)
    grid.setContentsMargins(16, 16, 16, 16)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(0, 1)
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
            key = QLabel(shortcut)
            theme.mark(key, "role", "muted")
            grid.addWidget(QLabel(text), row, 0)
            grid.addWidget(key, row, 1, Qt.AlignmentFlag.AlignRight)
        row += 1
        grid.setRowMinimumHeight(row, 8)
        row += 1
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(content)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(0, 0, 0, 12)
    column.addWidget(area)
    buttons = _close_button(dialog)
    buttons.setContentsMargins(0, 0, 12, 0)
    column.addWidget(buttons)
    dialog.exec()
    dialog.deleteLater()


def _keys(menu: str) -> list[tuple[str, str]]:
    rows = [action for action in ACTIONS if action.menu == menu and action.shortcut]
    return [(action.text.rstrip("…"), ", ".join((action.shortcut, *action.also))) for action in rows]


def _close_button(dialog: QDialog) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    return buttons
