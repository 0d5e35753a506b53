"""A plot that shows a part of a run as the mouse asks, and follows the pointer."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.plots.scales import Frame
from app.plots.zooming import Pictured, Zooming


class ZoomedPlot(QWidget):
    """A drag shows a part, the wheel more or less of it around the pointer, Shift with either moves it, a double click
    shows all again. `part_changed` tells the plots beside it.

    Who draws sets `_frame`, and paints the pointer and what is being chosen.
    """

    part_changed = Signal()

    def __init__(self, pictured: Pictured, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        self._pointer: float | None = None
        self._zooming = Zooming(pictured)
        self.setMouseTracking(True)

    def forget_pointer(self) -> None:
        """Takes the cross-hair away, for pictures."""
        self._pointer = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Moves the cross-hair, and what is dragged."""
        self._pointer = event.position().x()
        self._followed(self._zooming.move(self._frame, self._pointer))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begins to choose a part, or to move it."""
        is_moving = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            is_moving |= event.button() == Qt.MouseButton.MiddleButton
            self._zooming.press(self._frame, event.position().x(), is_moving=is_moving)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Shows the part that was chosen."""
        self._followed(self._zooming.release(self._frame))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Shows all again."""
        self._zooming.cancel()
        self._followed(self._zooming.show_all())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Shows more or less around the pointer; sideways, or with Shift, moves."""
        turn, is_sideways = event.angleDelta(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if is_sideways or abs(turn.x()) > abs(turn.y()):
            self._followed(self._zooming.shift(self._frame, -(turn.x() or turn.y()) / 120))
        else:
            self._followed(self._zooming.turn(self._frame, event.position().x(), turn.y() / 120))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape lets go of what is dragged."""
        if event.key() == Qt.Key.Key_Escape and self._zooming.is_busy:
            self._zooming.cancel()
            self.update()
        else:
            super().keyPressEvent(event)

    def _followed(self, has_changed: bool) -> None:
        self.update()
        if has_changed:
            self.part_changed.emit()

    def leaveEvent(self, event: QEvent) -> None:
        """Takes the cross-hair away."""
        self._pointer = None
        self.update()
