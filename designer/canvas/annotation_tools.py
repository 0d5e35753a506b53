"""Frames and comments on the canvas: which one is at a point, editing their text in place, adding new ones."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, Signal
from PySide6.QtWidgets import QMenu

from netwright.designer import markup, placement
from netwright.designer.canvas import context_menus
from netwright.designer.canvas.text_fields import CommentField, TitleField
from netwright.designer.canvas.viewport import Viewport
from netwright.designer.editor import Editor
from netwright.designer.gestures.resize import CURSORS, Sides
from netwright.designer.language import tr
from netwright.designer.scene.annotation_items import box
from netwright.engine.core.errors import UserError
from netwright.engine.network import annotations
from netwright.engine.network.annotations import COMMENT_SIZE, TITLE_HEIGHT, Annotation, Mark
from netwright.engine.network.layout import Frame, Layout

_EDGE = 5.0
_BORDER = 12.0
_LEAST_STRIP = 14.0
_LEAST_FIELD = 220
_LONGEST_TIP = 1500


@dataclass(frozen=True)
class AnnotationHit:
    """A frame or a comment at a point, and which of its edges are there: none where it can be moved."""

    mark: Mark
    annotation: Annotation
    sides: Sides = (0, 0)


class AnnotationTools(QObject):
    """Frames and comments of one canvas, for its pointer and its keys."""

    about_to_edit = Signal()
    """Emitted before a text field opens; gestures end."""

    def __init__(self, view: Viewport, editor: Editor) -> None:
        super().__init__(view)
        self._view = view
        self._editor = editor
        self._field: TitleField | CommentField | None = None
        editor.scope_changed.connect(self._close_field)

    # What is at a point

    def _hit(self, at: QPointF) -> AnnotationHit | None:
        """Return the foremost frame or comment that can be grabbed at a point. A frame is grabbed by its title or its
        border; its inside belongs to the canvas."""
        pixel = 1 / self._view.zoom
        for mark, annotation in self._view.network_scene.annotations.in_front():
            area = box(annotation)
            reach = min(_EDGE * pixel, area.width() / 4, area.height() / 4)
            if not area.adjusted(-reach, -reach, reach, reach).contains(at):
                continue
            sides = _side(at.x(), area.left(), area.right(), reach), _side(at.y(), area.top(), area.bottom(), reach)
            if sides != (0, 0) or not isinstance(annotation, Frame):
                return AnnotationHit(mark, annotation, sides)
            strip = max(TITLE_HEIGHT, _LEAST_STRIP * pixel)
            border = min(_BORDER * pixel, area.width() / 4, area.height() / 4)
            if at.y() <= area.top() + strip or not area.adjusted(border, border, -border, -border).contains(at):
                return AnnotationHit(mark, annotation)
        return None

    def title_at(self, at: QPointF) -> Mark | None:
        """Return the frame whose title is drawn at a point above all layers, as it is when zoomed out."""
        tabs = self._view.network_scene.annotations.titles.tabs(self._view.zoom)
        return next((Mark("frame", id) for id, tab in tabs.items() if tab.contains(at)), None)

    def hit_at(self, at: QPointF) -> AnnotationHit | None:
        """Return the frame or comment that can be grabbed at a point, where no layer and no connection lies above
        it."""
        scene, title = self._view.network_scene, self.title_at(at)
        if title is not None and (annotation := annotations.find(self._editor.layout, title)) is not None:
            return AnnotationHit(title, annotation)
        if scene.node_at(at) is not None or (hit := self._hit(at)) is None:
            return None
        is_covered = self._view.is_readable and scene.edges.at(at, self._view.reach / 2) is not None
        return None if is_covered else hit

    def _hit_if_any(self, at: QPointF) -> AnnotationHit | None:
        """Return the same, quickly for a layout without frames and comments: it is called at every move of the
        pointer."""
        layout = self._editor.layout
        return self.hit_at(at) if layout.frames or layout.comments else None

    def show_cursor(self, at: QPointF) -> None:
        """Show the resize cursor over an edge."""
        hit = self._hit_if_any(at)
        if hit is not None and hit.sides in CURSORS:
            self._view.viewport().setCursor(CURSORS[hit.sides])

    def menu_of(self, mark: Mark) -> QMenu:
        """Return the context menu of a selected frame or comment."""
        return context_menus.annotation_menu(self._editor, self._view, mark, lambda: self.edit(mark))

    def tooltip_at(self, at: QPointF) -> str:
        """Return the tooltip for a point: the whole text of a frame or a comment."""
        hit = self._hit_if_any(at)
        text = annotations.words(hit.annotation)[:_LONGEST_TIP] if hit is not None else ""
        return markup.wrapped(text)

    def reveal(self, mark: Mark) -> QPoint:
        """Scroll to a frame or a comment; return a point of the view where it can be grabbed."""
        view, annotation = self._view, annotations.find(self._editor.layout, mark)
        if annotation is None:
            return view.viewport().rect().center()
        area = box(annotation)
        head = QRectF(area.topLeft(), QPointF(area.left() + min(area.width(), 200), area.top() + TITLE_HEIGHT))
        focus = area if mark.kind == "comment" else head
        if not view.is_readable:
            view.look(1.0, focus.center())
        elif not view.visible_area().contains(focus):
            view.look_at(focus.center())
        return view.mapFromScene(QPointF(area.left() + min(area.width() / 2, 24), area.top() + TITLE_HEIGHT / 2))

    # Text

    def edit_at(self, at: QPointF) -> bool:
        """Edit the text of the frame or comment at a point; return whether there is one."""
        hit = self.hit_at(at)
        if hit is not None:
            self.edit(hit.mark)
        return hit is not None

    def edit_selected(self) -> None:
        """Edit the text of the selected frame or comment."""
        if len(self._editor.selected_marks) == 1:
            self.edit(next(iter(self._editor.selected_marks)))

    def edit(self, mark: Mark, *, merge: str = "") -> None:
        """Open a text field over a frame or a comment. `merge`: see `Editor.apply`."""
        view = self._view
        self._close_field()
        self.about_to_edit.emit()
        self.reveal(mark)
        annotation = annotations.find(self._editor.layout, mark)
        if annotation is None:
            return
        area = QRectF(view.mapFromScene(box(annotation).topLeft()), box(annotation).size() * view.zoom).toRect()
        room = view.viewport().rect()
        if isinstance(annotation, Frame):
            title = TitleField(self._editor, mark, merge, view)
            width = max(min(area.width() - 8, room.width() - 16), _LEAST_FIELD)
            title.setGeometry(area.left() + 4, area.top() + 1, width, 28)
            field: TitleField | CommentField = title
        else:
            field = CommentField(self._editor, mark, merge, view)
            field.setGeometry(area.left(), area.top(), max(area.width(), _LEAST_FIELD), max(area.height(), 96))
        place = field.geometry()
        place.moveLeft(max(room.left() + 4, min(place.left(), room.right() - place.width() - 4)))
        place.moveTop(max(room.top() + 4, min(place.top(), room.bottom() - place.height() - 4)))
        field.setGeometry(place)
        field.closed.connect(self._on_closed)
        self._field = field
        field.show()
        field.setFocus()

    def _close_field(self, _scope: object = None) -> None:
        """Close the open text field: only one is open at a time, and none for a block that is left."""
        if self._field is not None:
            self._field.finish()

    def _on_closed(self) -> None:
        self._field = None
        self._view.return_focus()

    # New ones

    def add_comment(self, at: QPointF, *, is_centre: bool = False) -> None:
        """Add a comment with its corner, or its centre, at a point of the canvas, and open it for typing."""
        corner = at - QPointF(COMMENT_SIZE[0] / 2, COMMENT_SIZE[1] / 2) if is_centre else at
        try:
            layout, mark = annotations.add_comment(self._editor.layout, placement.snapped((corner.x(), corner.y())))
        except UserError as error:
            self._editor.refused.emit(str(error))
            return
        self._add(tr("Add a comment"), layout, mark)

    def frame_selection(self) -> None:
        """Add a frame around the selection, and open its title for typing."""
        editor = self._editor
        try:
            layout, mark = annotations.frame_around(editor.layout, editor.selection, editor.selected_marks)
        except UserError as error:
            editor.refused.emit(str(error))
            return
        self._add(tr("Frame selection"), layout, mark)

    def _add(self, text: str, layout: Layout, mark: Mark) -> None:
        merge = f"{text} {mark.id}"
        if self._editor.apply_here(text, layout=layout, merge=merge):
            self._editor.set_selection((), (), {mark})
            self.edit(mark, merge=merge)


def _side(value: float, low: float, high: float, reach: float) -> int:
    if abs(value - low) <= reach:
        return -1
    return 1 if abs(value - high) <= reach else 0
