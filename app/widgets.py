"""A label that never needs more room than there is: long text is elided in the middle, and whole in the tooltip."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from designer import theme

LEAST_WIDTH = 48


class ElidedLabel(QLabel):
    """One line of plain text. `note` is what the tooltip says instead of the text, such as a whole path."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str, note: str = "") -> None:
        """Show another text."""
        self.note = note
        super().setText(text)
        self._update_tip()

    def minimumSizeHint(self) -> QSize:
        """A few letters are enough."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), LEAST_WIDTH), hint.height())

    @property
    def is_elided(self) -> bool:
        """Whether a part of the text cannot be seen."""
        return self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The tooltip tells what the label cannot."""
        super().resizeEvent(event)
        self._update_tip()

    def _update_tip(self) -> None:
        self.setToolTip(self.note or (self.text() if self.is_elided else ""))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The text, or its beginning and end."""
        area = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, area.width())
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(area, self.alignment(), shown)
        painter.end()


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


FRAME = QSize(16, 48)
"""What a title bar and borders take of a screen."""


def within_screen(widget: QWidget, width: int, height: int) -> QSize:
    """The size, or as much of it as the screen has room for: below its edge nobody reaches the buttons."""
    return QSize(width, height).boundedTo(widget.screen().availableSize() - FRAME)


class FactsTable(QWidget):
    """Names at the left, values at the right."""

    def __init__(self, title: str, names: tuple[str, ...]) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        heading = QLabel(title.upper())
        theme.mark(heading, "role", "section")
        grid.addWidget(heading, 0, 0, 1, 2)
        self._values: dict[str, QLabel] = {}
        self._names: dict[str, QLabel] = {}
        for row, name in enumerate(names, start=1):
            label, value = QLabel(name), QLabel()
            theme.mark(label, "role", "muted")
            label.setAlignment(
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
            )  # as the value: else a pixel below
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setFont(theme.figures(value.font()))
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self._names[name], self._values[name] = label, value
            self.set(name, "")

    def set(self, name: str, value: str) -> None:
        """Show a value; a row without one hides."""
        self._values[name].setText(value)
        self._values[name].setVisible(bool(value))
        self._names[name].setVisible(bool(value))

    def explain(self, name: str, words: str) -> None:
        """Say more where the pointer rests on a row."""
        for label in (self._names[name], self._values[name]):
            label.setToolTip(words)

    def text(self, name: str) -> str:
        """What is shown."""
        return self._values[name].text()

    def clear(self) -> None:
        """Hide every row."""
        for name in self._values:
            self.set(name, "")
