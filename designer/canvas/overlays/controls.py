"""What lies over the canvas: the zoom, the hint beside the pointer, and what to do first on an empty one."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from designer import theme


class ZoomChip(QFrame):
    """Minus, the zoom in percent, plus, and Fit."""

    zoom_out = Signal()
    zoom_in = Signal()
    zoom_reset = Signal()
    fit = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 2, 3, 2)
        row.setSpacing(0)
        self._button(row, "−", "Zoom out", self.zoom_out, 24)
        self._percent = self._button(row, "100 %", "Actual size", self.zoom_reset, 52)
        self._button(row, "+", "Zoom in", self.zoom_in, 24)
        self._button(row, "Fit", "Show the whole network (F)", self.fit, 34)
        self.adjustSize()

    def _button(self, row: QHBoxLayout, text: str, tip: str, signal: object, width: int) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFixedSize(width, 24)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        font = theme.figures(button.font())
        font.setPixelSize(12)
        button.setFont(font)
        button.clicked.connect(signal)
        row.addWidget(button)
        return button

    def show_zoom(self, zoom: float) -> None:
        """Show a zoom; 1 is 100 %."""
        percent = f"{zoom * 100:.0f}" if zoom >= 0.01 else f"{zoom * 100:.1g}"
        self._percent.setText(f"{percent} %")


class Hint(QLabel):
    """A few words beside the pointer while something is drawn or dropped."""

    _WIDTH = 320

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setProperty("role", "chip")
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, text: str, at: QPoint) -> None:
        """Say this below a point, inside the parent; nothing hides it."""
        self.setVisible(bool(text))
        if not text:
            return
        self.setText(text)
        width = min(self._WIDTH, self.fontMetrics().horizontalAdvance(text) + 24)
        self.resize(width, self.heightForWidth(width))
        room = self._over.size()
        x = min(at.x() + 16, room.width() - self.width() - 8)
        y = at.y() + 20
        if y + self.height() > room.height() - 8:
            y = at.y() - self.height() - 12
        self.move(max(8, x), max(8, y))
        self.raise_()


class EmptyState(QWidget):
    """Says what to do first, and offers it as a button."""

    example_requested = Signal()
    add_input_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        picture = QLabel(self)
        picture.setPixmap(theme.icon("network", "muted").pixmap(40, 40))
        self._picture = picture
        title = QLabel("Drag an image input here", self)
        title.setProperty("role", "title")
        help = QLabel("Layers are in the library on the left. Connect them by dragging from port to port.", self)
        help.setProperty("role", "muted")
        for label in (picture, title, help):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(label)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.setContentsMargins(0, 8, 0, 0)
        row.addStretch()
        for text, signal in (
            ("Start from an example", self.example_requested),
            ("Add an image input", self.add_input_requested),
        ):
            button = QPushButton(text, self)
            button.clicked.connect(signal)
            row.addWidget(button)
        row.addStretch()
        column.addLayout(row)
        theme.changed.connect(self._dress)
        self.adjustSize()

    def _dress(self) -> None:
        self._picture.setPixmap(theme.icon("network", "muted").pixmap(40, 40))
