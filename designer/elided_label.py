"""A label that elides a text for which there is no room."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from netwright.designer import markup

LEAST_WIDTH = 48


class ElidedLabel(QLabel):
    """A label of one line that never needs more room than there is: longer text is elided, by default in the middle,
    and whole in the tooltip. `note` replaces the text in the tooltip, such as a whole path."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__(parent)
        self.note = ""
        self.elide = elide
        self.setText(text)

    def setText(self, text: str, note: str = "") -> None:
        """Set the text, and another one for the tooltip."""
        self.note = markup.visible(note)
        super().setText(markup.visible(text))
        self._update_tip()

    def minimumSizeHint(self) -> QSize:
        """Return room for a few letters."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), LEAST_WIDTH), hint.height())

    @property
    def is_elided(self) -> bool:
        """Whether the text is cut."""
        return self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the tooltip, which shows elided text."""
        super().resizeEvent(event)
        self._update_tip()

    def _update_tip(self) -> None:
        self.setToolTip(self.note or (self.text() if self.is_elided else ""))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, elided where it is longer than the label."""
        area = self.contentsRect()
        text = markup.elided(self.fontMetrics(), self.text(), self.elide, area.width())
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(area, self.alignment(), text)
        painter.end()
