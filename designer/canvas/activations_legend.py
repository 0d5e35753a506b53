"""A bar over the canvas that says which sample the pictures beside the layers are of, and goes to the next one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout

from netwright.designer import theme
from netwright.designer.canvas.view import CanvasView

MARGIN = 12


class ActivationsLegend(QFrame):
    """Shown in the corner of the canvas while activations are shown."""

    stepped = Signal(int)
    """The sample before (-1) or after (1) is wanted."""
    closed = Signal()

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        theme.mark(self, "role", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 4, 4)
        row.setSpacing(4)
        self.text, self.note = QLabel(), QLabel()
        theme.mark(self.note, "role", "help")
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.text)
        words.addWidget(self.note)
        self._buttons = {}
        for icon, name, step in (("chevron-left", "Sample before", -1), ("chevron-right", "Next sample", 1)):
            self._buttons[icon] = self._button(name)
            self._buttons[icon].clicked.connect(lambda _=False, step=step: self.stepped.emit(step))
        self._buttons["close"] = self._button("Hide activations")
        self._buttons["close"].clicked.connect(self.closed)
        row.addWidget(self._buttons["chevron-left"])
        row.addLayout(words)
        row.addWidget(self._buttons["chevron-right"])
        row.addWidget(self._buttons["close"])
        theme.changed.connect(self._dress)
        self._dress()

    @staticmethod
    def _button(name: str) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setToolTip(name)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def _dress(self) -> None:
        for icon, button in self._buttons.items():
            button.setIcon(theme.icon(icon, "muted"))

    def tell(self, text: str, note: str = "") -> None:
        """Show the bar with this text, and a note below it."""
        self.text.setText(text)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.show()
        self._place()

    def _place(self) -> None:
        self.adjustSize()
        self.move(MARGIN, MARGIN)
        self.raise_()
