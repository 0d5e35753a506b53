"""The line on the start page that offers the tour to a new user, until it is answered."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from netwright.designer import theme
from netwright.designer.language import tr
from netwright.designer.settings import settings

ANSWERED = "tour_answered"
"""The setting that keeps it from being offered again."""


class TourOffer(QWidget):
    """Offers the tour in a line. `accepted` is emitted when it is to start; either answer holds for good."""

    accepted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(tr("New here? Take the tour: six chapters of two minutes."))
        self.label.setWordWrap(True)
        theme.mark(self.label, "role", "muted")
        self.start, self.decline = QPushButton(tr("Start the tour")), QPushButton(tr("Not now"))
        self.decline.setToolTip(tr("Help > Tour has it at any time"))
        theme.mark(self.decline, "role", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 8)
        row.setSpacing(8)
        row.addWidget(self.label, 1)
        row.addWidget(self.start)
        row.addWidget(self.decline)
        self.start.clicked.connect(self._accept)
        self.decline.clicked.connect(self._answer)
        self.setVisible(not settings().value(ANSWERED, False, bool))

    def _accept(self) -> None:
        self._answer()
        self.accepted.emit()

    def _answer(self) -> None:
        settings().setValue(ANSWERED, True)
        self.hide()
