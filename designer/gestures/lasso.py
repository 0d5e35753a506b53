"""Selecting with a lasso: a line drawn around layers."""

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPolygonF

from netwright.designer.gestures.gesture import Canvas, Gesture, Pointer
from netwright.designer.scene.feedback import Feedback
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH

_STEP = 4.0
"""Distance between two points of the line, in pixels at 100 %."""


class Lasso(Gesture):
    """Starts beside all layers. Selects items with their centre inside; with Shift or Ctrl they are added."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._line = QPolygonF()

    def press(self, pointer: Pointer) -> None:
        self._before = self.editor.selection
        self._lines_before = self.editor.selected_connections
        self._marks_before = self.editor.selected_marks
        self._adds = pointer.adds
        self._line.append(pointer.scene)
        if not self._adds:
            self.editor.set_selection(())

    def move(self, pointer: Pointer) -> None:
        if (pointer.scene - self._line.last()).manhattanLength() >= _STEP:
            self._line.append(pointer.scene)
        self.scene.show_feedback(Feedback(lasso=QPolygonF(self._line)))
        half = QPointF(NODE_WIDTH / 2, NODE_HEIGHT / 2)
        layout, rule = self.editor.layout, Qt.FillRule.OddEvenFill
        near = self.scene.nodes_in(self._line.boundingRect())
        inside = frozenset(id for id in near if self._line.containsPoint(QPointF(*layout.at(id)) + half, rule))
        self.editor.set_selection(self._before | inside if self._adds else inside)

    def release(self, pointer: Pointer) -> None:
        self.scene.show_feedback(Feedback())

    def cancel(self) -> None:
        self.scene.show_feedback(Feedback())
        self.editor.set_selection(self._before, self._lines_before, self._marks_before)
