"""Panning: middle button, or the space bar and the left one."""

from PySide6.QtCore import QPoint, Qt

from netwright.designer.gestures.gesture import Gesture, Pointer


class Pan(Gesture):
    """Drags the canvas itself."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def press(self, pointer: Pointer) -> None:
        self._last = pointer.view
        self._distance = QPoint()

    def move(self, pointer: Pointer) -> None:
        step = self._last - pointer.view
        self._last = pointer.view
        self._distance += step
        self.canvas.scroll_by(step)

    def cancel(self) -> None:
        self.canvas.scroll_by(-self._distance)
