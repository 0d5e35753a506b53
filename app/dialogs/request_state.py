"""A bar and a line of text for one request to the engine: its progress, its end, its error."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QVBoxLayout, QWidget

from netwright.app.data.dataset_tracker import progress_text
from netwright.app.messages import breakable
from netwright.designer import theme

FULL = 1000


class RequestState(QWidget):
    """Shows nothing until there is something to say."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.bar)
        column.addWidget(self.label)

    def set_busy(self, *, is_busy: bool) -> None:
        """Show the bar, which moves until progress is told, or hide it."""
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_busy)

    def show_progress(self, label: str, progress: dict[str, Any]) -> None:
        """Show how far the request is: `label` is 'Importing' or the like."""
        count, total = int(progress["done"]), int(progress["total"])
        self.bar.setRange(0, FULL if total else 0)
        self.bar.setValue(min(FULL, FULL * count // total) if total else 0)
        self.say(f"{label}: {progress_text(progress)}", "help")

    def say(self, text: str, role: str) -> None:
        """Show a text in the colour of a role: 'help' or 'error'."""
        theme.mark(self.label, "role", role)
        self.label.setText(breakable(text))
        self.label.show()
        self.label.ensurePolished()
        self.label.setMinimumHeight(max(0, self.label.heightForWidth(self.width())))

    def text(self) -> str:
        """Return the text of the label."""
        return self.label.text()
