"""Segments: a row of choices of which one holds, which a screen reader calls radio buttons."""

from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton

from netwright.designer import theme

PADDING = 12


class SegmentRow(QFrame):
    """A frame with a button per choice. `margin` and `spacing` are in pixels; `group` has the buttons."""

    def __init__(self, *, margin: int = 3, spacing: int = 2) -> None:
        super().__init__()
        theme.mark(self, "role", "segments")
        self.group = QButtonGroup(self)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(margin, margin, margin, margin)
        self.row.setSpacing(spacing)

    def add(self, text: str, tip: str = "", *, is_on: bool = False, padding: int = PADDING) -> QPushButton:
        """Add a choice and return its button."""
        button = QPushButton(text)
        button.setCheckable(True)
        button.setAutoExclusive(True)  # the group does that, too; by this Qt tells a radio button from a check box
        button.setChecked(is_on)
        button.setToolTip(tip)
        font = QFont(button.font())
        font.setWeight(QFont.Weight.DemiBold)  # of the chosen one, where Qt would measure the regular weight
        button.setMinimumWidth(QFontMetrics(font).horizontalAdvance(text) + 2 * padding)
        self.group.addButton(button, len(self.group.buttons()))
        self.row.addWidget(button)
        return button
