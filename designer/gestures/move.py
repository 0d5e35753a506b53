"""Moving layers: they follow the pointer, and where they are let go is one step to undo."""

from PySide6.QtCore import QPointF, Qt

from designer import placing
from designer.gestures.gesture import Canvas, Gesture, Pointer
from engine.network.layout import Position


class Move(Gesture):
    """Starts on a layer, which is selected by it; the whole selection moves along."""

    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, canvas: Canvas, id: str) -> None:
        super().__init__(canvas)
        self._id = id
        self._was_dragged = False

    def press(self, pointer: Pointer) -> None:
        self._start = pointer.scene
        self._before = self.editor.selection
        self._lines_before = self.editor.selected_connections
        if self._id not in self._before:
            self.editor.set_selection(self._before | {self._id} if pointer.adds else {self._id})
        self._from = {id: self.editor.layout.at(id) for id in self.editor.selection}

    def move(self, pointer: Pointer) -> None:
        self._was_dragged = True
        self.scene.drag(self._places(pointer.scene))

    def release(self, pointer: Pointer) -> None:
        if self._was_dragged:
            self.editor.move(self._places(pointer.scene))
            self.scene.settle()
        elif self._id in self._before:
            self.editor.set_selection(self._before - {self._id} if pointer.adds else {self._id})

    def cancel(self) -> None:
        if self._was_dragged:
            layers = self.editor.network.layers
            self.scene.drag({id: self.editor.layout.at(id) for id in self._from if id in layers})
            self.scene.settle()
        self.editor.set_selection(self._before, self._lines_before)

    def _places(self, at: QPointF) -> dict[str, Position]:
        """The layer under the pointer goes to the grid; the others keep their distance to it."""
        step = at - self._start
        x, y = self._from[self._id]
        to_x, to_y = placing.snapped((x + step.x(), y + step.y()))
        return {id: (px + to_x - x, py + to_y - y) for id, (px, py) in self._from.items()}
