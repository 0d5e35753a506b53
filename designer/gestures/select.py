"""Selecting: a click on a connection or on nothing, or a band around layers, frames and comments."""

from PySide6.QtCore import QRectF

from netwright.designer.gestures.gesture import Gesture, Pointer
from netwright.designer.scene.feedback import Feedback


class Select(Gesture):
    """Starts beside all layers. Without a drag it selects the connection there, or nothing."""

    def press(self, pointer: Pointer) -> None:
        self._start = pointer.scene
        self._before = self.editor.selection
        self._lines_before = self.editor.selected_connections
        self._marks_before = self.editor.selected_marks
        self._adds = pointer.adds
        connection = self.scene.edges.at(pointer.scene, self.canvas.reach)
        lines = {connection} if connection else set()
        if self._adds:
            self.editor.set_selection(self._before, self._lines_before ^ lines, self._marks_before)
        else:
            self.editor.set_selection((), lines)

    def move(self, pointer: Pointer) -> None:
        band = QRectF(self._start, pointer.scene).normalized()
        self.scene.show_feedback(Feedback(band=band))
        inside = self.scene.nodes_in(band)
        marks = self.scene.annotations.inside(band)
        if self._adds:
            self.editor.set_selection(self._before | inside, (), self._marks_before | marks)
        else:
            self.editor.set_selection(inside, (), marks)

    def release(self, pointer: Pointer) -> None:
        self.scene.show_feedback(Feedback())

    def cancel(self) -> None:
        self.scene.show_feedback(Feedback())
        self.editor.set_selection(self._before, self._lines_before, self._marks_before)
