"""The line between two parts of a window."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from designer import theme


class Line(QWidget):
    """One pixel between two parts, whichever way they lie."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(1, 1)

    def sizeHint(self) -> QSize:
        """One pixel."""
        return QSize(1, 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The line's colour."""
        QPainter(self).fillRect(self.rect(), theme.current().line)
