"""How large a dialog may be."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(16, 48)
"""What a title bar and borders take of a screen."""


def within_screen(widget: QWidget, width: int, height: int) -> QSize:
    """The size, or as much of it as the screen has room for: below its edge nobody reaches the buttons."""
    return QSize(width, height).boundedTo(widget.screen().availableSize() - FRAME)
