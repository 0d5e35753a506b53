"""What the canvas does with frames and comments: which gesture begins on one, words edited in place, new ones."""

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtWidgets import QMenu

from designer import placement
from designer.canvas import menus
from designer.canvas.motion import READABLE
from designer.canvas.text_fields import TextField, TitleField
from designer.gestures.gesture import Gesture, Pointer
from designer.gestures.move import Move
from designer.gestures.resize import CURSORS, Resize, Sides
from designer.scene.annotations import box
from engine.core.errors import UserError
from engine.network import annotations
from engine.network.annotations import COMMENT_SIZE, TITLE_HEIGHT, Annotation, Mark
from engine.network.layout import Frame, Layout

if TYPE_CHECKING:
    from designer.canvas.view import CanvasView

_EDGE = 5.0
_BORDER = 12.0
_LEAST_STRIP = 14.0
_LEAST_FIELD = 220
_LONGEST_TIP = 1500
_NEW_LINE = "\n"


class Annotating:
    """Frames and comments of one canvas, as the pointer and the keys meet them."""

    def __init__(self, view: "CanvasView") -> None:
        self._view = view
        self._editor = view.editor
        self._field: TitleField | TextField | None = None
        self._editor.scope_changed.connect(self._leave_field)

    # Where

    def _hit(self, at: QPointF) -> tuple[Mark, Annotation, Sides] | None:
        """The foremost one that can be taken hold of at a point, and which of its edges are there. A frame is held by
        its title and its border: inside it the ground goes on."""
        pixel = 1 / self._view.zoom
        for mark, one in self._view.network_scene.annotations.in_front():
            area = box(one)
            reach = min(_EDGE * pixel, area.width() / 4, area.height() / 4)
            if not area.adjusted(-reach, -reach, reach, reach).contains(at):
                continue
            sides = _side(at.x(), area.left(), area.right(), reach), _side(at.y(), area.top(), area.bottom(), reach)
            if sides != (0, 0) or not isinstance(one, Frame):
                return mark, one, sides
            strip = max(TITLE_HEIGHT, _LEAST_STRIP * pixel)
            border = min(_BORDER * pixel, area.width() / 4, area.height() / 4)
            if at.y() <= area.top() + strip or not area.adjusted(border, border, -border, -border).contains(at):
                return mark, one, (0, 0)
        return None

    def tab_at(self, at: QPointF) -> Mark | None:
        """The frame whose title stands at a point above all layers, as it does from afar."""
        tabs = self._view.network_scene.annotations.titles.tabs(self._view.zoom)
        return next((Mark("frame", id) for id, tab in tabs.items() if tab.contains(at)), None)

    def _free_hit(self, at: QPointF) -> tuple[Mark, Annotation, Sides] | None:
        """The same, where no layer and no connection lies above it."""
        scene, tab = self._view.network_scene, self.tab_at(at)
        if tab is not None and (one := annotations.find(self._editor.layout, tab)) is not None:
            return tab, one, (0, 0)
        if scene.node_at(at) is not None or (found := self._hit(at)) is None:
            return None
        is_near = self._view.zoom >= READABLE
        return None if is_near and scene.connection_at(at, self._view.reach / 2) is not None else found

    def gesture_at(self, pointer: Pointer) -> Gesture | None:
        """What a press begins here, if one is here."""
        found = self._free_hit(pointer.scene)
        if found is None:
            return None
        mark, annotation, sides = found
        return Move(self._view, mark) if sides == (0, 0) else Resize(self._view, mark, annotation, sides)

    def show_cursor(self, pointer: Pointer) -> None:
        """The cursor says so, where that is resizing."""
        layout = self._editor.layout
        found = self._free_hit(pointer.scene) if layout.frames or layout.comments else None
        if found is not None and found[2] in CURSORS:
            self._view.viewport().setCursor(CURSORS[found[2]])

    def menu_at(self, at: QPointF) -> QMenu | None:
        """The menu of the one at a point; it is selected by asking for it."""
        found = self._free_hit(at)
        if found is None:
            return None
        mark = found[0]
        if mark not in self._editor.selected_marks:
            self._editor.set_selection((), (), {mark})
        return menus.annotation_menu(self._editor, self._view, mark, lambda: self.edit(mark))

    def text_at(self, at: QPointF) -> str:
        """The tooltip for a point: all the words of a frame or a comment, as a paragraph that wraps."""
        layout = self._editor.layout
        found = self._free_hit(at) if layout.frames or layout.comments else None
        written = annotations.words(found[1])[:_LONGEST_TIP] if found is not None else ""
        return f"<p>{escape(written).replace(_NEW_LINE, '<br>')}</p>" if written else ""

    def reveal(self, mark: Mark) -> QPoint:
        """Bring one into sight, near enough to be read; where it can be taken hold of in the view."""
        view, found = self._view, annotations.find(self._editor.layout, mark)
        if found is None:
            return view.viewport().rect().center()
        area = box(found)
        head = QRectF(area.topLeft(), QPointF(area.left() + min(area.width(), 200), area.top() + TITLE_HEIGHT))
        shown = area if mark.kind == "comment" else head
        if view.zoom < READABLE:
            view.look(1.0, shown.center())
        elif not view.visible_area().contains(shown):
            view.look_at(shown.center())
        return view.mapFromScene(QPointF(area.left() + min(area.width() / 2, 24), area.top() + TITLE_HEIGHT / 2))

    # Words

    def edit_at(self, pointer: Pointer) -> bool:
        """Edit the words of the one at a point; whether there is one."""
        found = self._free_hit(pointer.scene)
        if found is not None:
            self.edit(found[0])
        return found is not None

    def edit_selected(self) -> None:
        """Edit the words of the one that is selected."""
        if len(self._editor.selected_marks) == 1:
            self.edit(next(iter(self._editor.selected_marks)))

    def edit(self, mark: Mark, *, merge: str = "") -> None:
        """Put a field over the words of a frame or a comment. `merge`: see `Editor.apply`."""
        view = self._view
        self._leave_field()
        view.cancel()
        self.reveal(mark)
        found = annotations.find(self._editor.layout, mark)
        if found is None:
            return
        area = QRectF(view.mapFromScene(box(found).topLeft()), box(found).size() * view.zoom).toRect()
        room = view.viewport().rect()
        if isinstance(found, Frame):
            title = TitleField(self._editor, mark, merge, view)
            width = max(min(area.width() - 8, room.width() - 16), _LEAST_FIELD)
            title.setGeometry(area.left() + 4, area.top() + 1, width, 28)
            field: TitleField | TextField = title
        else:
            field = TextField(self._editor, mark, merge, view)
            field.setGeometry(area.left(), area.top(), max(area.width(), _LEAST_FIELD), max(area.height(), 96))
        place = field.geometry()
        place.moveLeft(max(room.left() + 4, min(place.left(), room.right() - place.width() - 4)))
        place.moveTop(max(room.top() + 4, min(place.top(), room.bottom() - place.height() - 4)))
        field.setGeometry(place)
        field.closed.connect(self._on_closed)
        self._field = field
        field.show()
        field.setFocus()

    def _leave_field(self, _scope: object = None) -> None:
        """There is one field at a time, and none for what is not shown any more."""
        if self._field is not None:
            self._field.finish()

    def _on_closed(self) -> None:
        self._field = None
        self._view.setFocus()

    # New ones

    def add_comment(self, at: QPointF | None = None) -> None:
        """Add a comment at a point of the canvas, else at the pointer, and write it."""
        view = self._view
        corner = view.mapToScene(view.pointer_at) if at is None else at
        if at is None and not view.has_pointer:
            corner -= QPointF(COMMENT_SIZE[0] / 2, COMMENT_SIZE[1] / 2)
        try:
            layout, mark = annotations.add_comment(self._editor.layout, placement.snapped((corner.x(), corner.y())))
        except UserError as error:
            self._editor.refused.emit(str(error))
            return
        self._add("Add a comment", layout, mark)

    def frame_selection(self) -> None:
        """Put a frame around what is selected, and write its title."""
        editor = self._editor
        try:
            layout, mark = annotations.frame_around(editor.layout, editor.selection, editor.selected_marks)
        except UserError as error:
            editor.refused.emit(str(error))
            return
        self._add("Frame selection", layout, mark)

    def _add(self, text: str, layout: Layout, mark: Mark) -> None:
        merge = f"{text} {mark.id}"
        if self._editor.apply_here(text, layout=layout, merge=merge):
            self._editor.set_selection((), (), {mark})
            self.edit(mark, merge=merge)


def _side(value: float, low: float, high: float, reach: float) -> int:
    if abs(value - low) <= reach:
        return -1
    return 1 if abs(value - high) <= reach else 0
