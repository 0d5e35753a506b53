"""Says over the canvas that something takes a while, and offers to stop it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget


class Busy(QFrame):
    """What is going on, a bar without an end, and Cancel."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.setSpacing(12)
        self._text = QLabel(self)
        bar = QProgressBar(self)
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedSize(96, 4)
        bar.setAccessibleName("Progress")
        button = QPushButton("Cancel", self)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Escape on the canvas does the same
        button.setToolTip("Leave everything as it is (Esc)")
        button.clicked.connect(self.cancelled)
        for widget in (self._text, bar, button):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def say(self, text: str) -> None:
        """Show this, at the top in the middle of the canvas."""
        self._text.setText(text)
        self.adjustSize()
        self.place()
        self.show()
        self.raise_()

    def place(self) -> None:
        """Stay in the middle when the canvas has another size."""
        over = self.parentWidget()
        if over is not None:
            self.move((over.width() - self.width()) // 2, 16)
