"""Dropping a layer from the palette: onto the canvas, or into a connection if it fits there."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from designer import clipboard, placement
from designer.clipboard import BLOCK_MIME, LAYER_MIME, Piece, piece
from designer.gestures.gesture import Canvas, Gesture, Pointer
from designer.scene.feedback import Ghost, Marks
from designer.scene.pictures import Content
from engine.core.errors import UserError
from engine.network.layout import Position
from engine.network.network import Connection

if TYPE_CHECKING:
    from designer.canvas.view import CanvasView

_NEAR = 18.0


class Drop(Gesture):
    """Shows the layer where it would go, or the block of the user's own. Raises `UserError` if there is no layer type
    of that key."""

    def __init__(self, canvas: Canvas, what: str | Piece) -> None:
        super().__init__(canvas)
        self._piece = piece(what)
        self._type = self._piece.type
        telling = self._type.telling()
        self._content = Content(
            name=self._piece.name or self._type.label,
            detail=telling or self._type.family,
            count="",
            family=self._type.family,
            inputs=len(self._type.input_ports()),
            outputs=len(self._type.output_ports()),
            is_selected=True,
            flow=self.editor.layout.flow,
        )

    def move(self, pointer: Pointer) -> None:
        self.scene.show_marks(Marks(ghost=Ghost(_corner(pointer.scene), self._content)))
        target = self._target(pointer.scene)
        self.scene.show_target(target)
        why = self.editor.insert_refusal(self._type, target) if target else None
        self.canvas.hint(why or ("Insert here" if target else ""))

    def release(self, pointer: Pointer) -> None:
        target = self._target(pointer.scene)
        self.cancel()
        at = _corner(pointer.scene)
        if target is not None and self.editor.insert_refusal(self._type, target) is None:
            self.editor.insert_layer(self._piece, at, target)
        else:
            self.editor.add_layer(self._piece, at)

    def cancel(self) -> None:
        self.scene.show_marks(Marks())
        self.scene.show_target(None)
        self.canvas.hint("")

    def _target(self, at: QPointF) -> Connection | None:
        """The connection under the pointer, for a layer that has an input at all."""
        if not self._type.input_ports():
            return None
        return self.scene.connection_at(at, max(_NEAR, self.canvas.reach))


def _corner(middle: QPointF) -> Position:
    return placement.around((middle.x(), middle.y()))


class Drops:
    """At most one layer hangs over the canvas."""

    def __init__(self, view: "CanvasView", pointer: Callable[[QPointF, Qt.KeyboardModifier], Pointer]) -> None:
        self._view = view
        self._pointer = pointer
        self._drop: Drop | None = None

    def enter(self, event: QDragEnterEvent) -> None:
        """A layer comes in; one of a type that is not known is refused in words."""
        data = event.mimeData()
        if not data.hasFormat(LAYER_MIME) and not data.hasFormat(BLOCK_MIME):
            event.ignore()
            return
        try:
            if data.hasFormat(LAYER_MIME):
                self._drop = Drop(self._view, bytes(data.data(LAYER_MIME).data()).decode("utf-8", "replace"))
            else:
                self._drop = Drop(self._view, clipboard.read_block(bytes(data.data(BLOCK_MIME).data())))
        except UserError as error:
            self._view.editor.refused.emit(str(error))
            event.ignore()
            return
        self._view.cancel()
        event.acceptProposedAction()

    def move(self, event: QDragMoveEvent) -> None:
        """It follows the pointer."""
        if self._drop is not None:
            self._drop.move(self._pointer(event.position(), event.modifiers()))
            event.acceptProposedAction()

    def leave(self) -> None:
        """It goes away again."""
        if self._drop is not None:
            self._drop.cancel()
            self._drop = None

    def drop(self, event: QDropEvent) -> None:
        """It is let go."""
        if self._drop is not None:
            drop, self._drop = self._drop, None
            drop.release(self._pointer(event.position(), event.modifiers()))
            event.acceptProposedAction()
            self._view.setFocus()
