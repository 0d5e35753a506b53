"""Resizing a frame or a comment by a corner or an edge; one step to undo."""

from PySide6.QtCore import Qt

from netwright.designer import placement
from netwright.designer.gestures.gesture import Canvas, Gesture, Pointer
from netwright.designer.language import tr
from netwright.engine.network import annotations
from netwright.engine.network.annotations import LEAST, Annotation, Mark
from netwright.engine.network.layout import BoxSize, Position

Sides = tuple[int, int]
"""Which edges are held: -1 the left or upper one, 1 the right or lower one, 0 none."""

CURSORS: dict[Sides, Qt.CursorShape] = {
    (-1, 0): Qt.CursorShape.SizeHorCursor,
    (1, 0): Qt.CursorShape.SizeHorCursor,
    (0, -1): Qt.CursorShape.SizeVerCursor,
    (0, 1): Qt.CursorShape.SizeVerCursor,
    (-1, -1): Qt.CursorShape.SizeFDiagCursor,
    (1, 1): Qt.CursorShape.SizeFDiagCursor,
    (1, -1): Qt.CursorShape.SizeBDiagCursor,
    (-1, 1): Qt.CursorShape.SizeBDiagCursor,
}


def resized(annotation: Annotation, sides: Sides, step: Position) -> tuple[Position, BoxSize]:
    """Corner and size after its held edges went a step; they stop where it is as small as it may be."""
    corner, size = list(annotation.at), list(annotation.size)
    for axis, side in enumerate(sides):
        if side > 0:
            far = placement.snapped((corner[axis] + size[axis] + step[axis], 0))[0]
            size[axis] = max(far - corner[axis], LEAST[axis])
        elif side < 0:
            far = corner[axis] + size[axis]
            corner[axis] = min(placement.snapped((corner[axis] + step[axis], 0))[0], far - LEAST[axis])
            size[axis] = far - corner[axis]
    return (corner[0], corner[1]), (size[0], size[1])


class Resize(Gesture):
    """Starts on an edge or a corner, which follows the pointer."""

    def __init__(self, canvas: Canvas, mark: Mark, annotation: Annotation, sides: Sides) -> None:
        super().__init__(canvas)
        self.cursor = CURSORS[sides]
        self._mark = mark
        self._annotation = annotation
        self._sides = sides
        self._was_dragged = False

    def press(self, pointer: Pointer) -> None:
        self._start = pointer.scene
        self._before = self.editor.selection, self.editor.selected_connections, self.editor.selected_marks
        self.editor.set_selection((), (), {self._mark})

    def move(self, pointer: Pointer) -> None:
        self._was_dragged = True
        self.scene.drag_annotations(annotations.resize(self.editor.layout, self._mark, *self._box(pointer)))

    def release(self, pointer: Pointer) -> None:
        if self._was_dragged:
            layout = annotations.resize(self.editor.layout, self._mark, *self._box(pointer))
            self.editor.apply_here(
                tr("Resize frame") if self._mark.kind == "frame" else tr("Resize comment"), layout=layout
            )
            self.scene.drag_annotations(self.editor.layout)

    def cancel(self) -> None:
        self.scene.drag_annotations(self.editor.layout)
        self.editor.set_selection(*self._before)

    def _box(self, pointer: Pointer) -> tuple[Position, BoxSize]:
        step = pointer.scene - self._start
        return resized(self._annotation, self._sides, (step.x(), step.y()))
