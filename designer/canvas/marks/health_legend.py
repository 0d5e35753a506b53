"""Says what the marks of layers in training mean, and of which iteration they are."""

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from designer import theme
from designer.canvas.marks.health import STATES, WORDS, State, paint_mark
from designer.canvas.marks.legend import TintLegend
from designer.canvas.view import CanvasView

_GAP = 8


class _Sample(QWidget):
    """The shape of one state."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.setFixedSize(QSize(12, 12))

    def paintEvent(self, event: QPaintEvent) -> None:
        """As on a layer."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_mark(painter, self._state, QPointF(6, 6))
        painter.end()


class HealthLegend(QFrame):
    """A chip above the zoom, there while layers are marked."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        theme.mark(self, "role", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        self.at = QLabel()
        self.at.setToolTip("The marks on the layers are of this iteration; the pointer tells why")
        self.at.setFont(theme.figures(self.at.font()))
        column.addWidget(self.at)
        for state in STATES:
            row = QHBoxLayout()
            row.setSpacing(8)
            label = QLabel(WORDS[state])
            theme.mark(label, "role", "help")
            row.addWidget(_Sample(state))
            row.addWidget(label, 1)
            column.addLayout(row)
        self._soon = QTimer(self, singleShot=True, interval=0)  # the legend of tints finds its place first
        self._soon.timeout.connect(self._place)
        view.chip.installEventFilter(self)
        view.network_scene.tint_changed.connect(lambda: self._soon.start())
        self.hide()

    def show_at(self, iteration: int) -> None:
        """The marks are of this iteration."""
        self.at.setText(f"Iteration {iteration:,}")
        self.show()
        self._place()

    def _place(self) -> None:
        self.adjustSize()
        chip, tints = self._view.chip, self._view.findChild(TintLegend)
        below = tints if tints is not None and not tints.isHidden() else chip
        self.move(chip.x(), max(0, below.y() - self.height() - _GAP))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """It goes where the zoom goes."""
        if watched is self._view.chip and event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place()
        return super().eventFilter(watched, event)
