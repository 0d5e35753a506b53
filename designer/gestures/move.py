"""Moving layers, frames and comments: they follow the pointer, and where they are let go is one step to undo."""

from PySide6.QtCore import QPointF, Qt

from netwright.designer import placement
from netwright.designer.gestures.gesture import Canvas, Gesture, Pointer
from netwright.designer.language import tr
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.layout import Layout, Position


class Move(Gesture):
    """Starts on a layer, a frame or a comment, which is selected by it; the whole selection moves along, and the
    items in selected frames."""

    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, canvas: Canvas, grip: str | Mark) -> None:
        super().__init__(canvas)
        self._grip = grip
        self._was_dragged = False

    def press(self, pointer: Pointer) -> None:
        editor = self.editor
        self._start = pointer.scene
        self._before = editor.selection, editor.selected_connections, editor.selected_marks
        ids, marks = editor.selection, editor.selected_marks
        if isinstance(self._grip, Mark):
            if self._grip not in marks:
                if pointer.adds:
                    editor.set_selection(ids, (), marks | {self._grip})
                else:
                    editor.set_selection((), (), {self._grip})
        elif self._grip not in ids:
            if pointer.adds:
                editor.set_selection(ids | {self._grip}, (), marks)
            else:
                editor.set_selection({self._grip})
        inner_ids, self._marks = annotations.standing_in(editor.layout, editor.selected_marks)
        self._from = {id: editor.layout.at(id) for id in editor.selection | inner_ids}

    def move(self, pointer: Pointer) -> None:
        self._was_dragged = True
        layout = self._moved(pointer.scene)
        self.scene.drag_annotations(layout)
        self.scene.drag({id: layout.at(id) for id in self._from})

    def release(self, pointer: Pointer) -> None:
        if self._was_dragged:
            self.editor.apply_here(tr("Move"), layout=self._moved(pointer.scene))
            self.scene.drag_annotations(self.editor.layout)
            self.scene.settle()
            return
        ids, _, marks = self._before
        if isinstance(self._grip, Mark):
            if self._grip in marks:
                if pointer.adds:
                    self.editor.set_selection(ids, (), marks - {self._grip})
                else:
                    self.editor.set_selection((), (), {self._grip})
        elif self._grip in ids:
            if pointer.adds:
                self.editor.set_selection(ids - {self._grip}, (), marks)
            else:
                self.editor.set_selection({self._grip})

    def cancel(self) -> None:
        if self._was_dragged:
            layers = self.editor.network.layers
            self.scene.drag_annotations(self.editor.layout)
            self.scene.drag({id: self.editor.layout.at(id) for id in self._from if id in layers})
            self.scene.settle()
        self.editor.set_selection(*self._before)

    def _moved(self, at: QPointF) -> Layout:
        """Snap the item under the pointer to the grid; the others keep their distance to it."""
        layout, step = self.editor.layout, at - self._start
        x, y = self._corner()
        to_x, to_y = placement.snapped((x + step.x(), y + step.y()))
        dx, dy = to_x - x, to_y - y
        places = {id: (px + dx, py + dy) for id, (px, py) in self._from.items() if id in layout.positions}
        return annotations.move(layout.moved(places), self._marks, (dx, dy))

    def _corner(self) -> Position:
        if isinstance(self._grip, str):
            return self._from[self._grip]
        annotation = annotations.find(self.editor.layout, self._grip)
        return annotation.at if annotation is not None else (0.0, 0.0)
