"""Dropping a layer from the library: onto the canvas, or into a connection if it fits there."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from netwright.designer import clipboard, placement
from netwright.designer.clipboard import BLOCK_MIME, LAYER_MIME, Piece, piece
from netwright.designer.gestures.gesture import Canvas, Gesture, Pointer
from netwright.designer.language import layer_label, tr, translation
from netwright.designer.layer_edits import insert_refusal
from netwright.designer.scene.content import new_layer_content
from netwright.designer.scene.feedback import Feedback, Ghost
from netwright.designer.scene.short_values import short_value
from netwright.engine.core.errors import UserError
from netwright.engine.network.layout import Position
from netwright.engine.network.network import Connection

_NEAR = 18.0


class Drop(Gesture):
    """Shows the layer where it would go, or the block of the user's own. Raises `UserError` if there is no layer type
    of that key."""

    def __init__(self, canvas: Canvas, entry: str | Piece) -> None:
        super().__init__(canvas)
        self._piece = piece(entry)
        self._type = self._piece.type
        name, detail = (
            self._piece.name or layer_label(self._type.label),
            short_value(self._type.short_value()) or translation(self._type.family),
        )
        flow = self.editor.layout.flow
        self._content = new_layer_content(self._type, name, detail, is_selected=True, flow=flow)

    def move(self, pointer: Pointer) -> None:
        self.scene.show_feedback(Feedback(ghost=Ghost(_corner(pointer.scene), self._content)))
        target = self._target(pointer.scene)
        self.scene.show_target(target)
        why = insert_refusal(self._type, self.editor.analysis, target) if target else None
        self.canvas.hint(why or (tr("Insert here") if target else ""))

    def release(self, pointer: Pointer) -> None:
        target = self._target(pointer.scene)
        self.cancel()
        at = _corner(pointer.scene)
        if target is not None and insert_refusal(self._type, self.editor.analysis, target) is None:
            self.editor.insert_layer(self._piece, at, target)
        else:
            self.editor.add_layer(self._piece, at)

    def cancel(self) -> None:
        self.scene.show_feedback(Feedback())
        self.scene.show_target(None)
        self.canvas.hint("")

    def _target(self, at: QPointF) -> Connection | None:
        """The connection under the pointer, if the layer has an input."""
        if not self._type.input_ports():
            return None
        return self.scene.edges.at(at, max(_NEAR, self.canvas.reach))


def _corner(middle: QPointF) -> Position:
    return placement.around((middle.x(), middle.y()))


class DropTarget:
    """Turns the drag events of Qt into a `Drop`. Only one layer is dragged at a time."""

    def __init__(self, canvas: Canvas, pointer: Callable[[QPointF, Qt.KeyboardModifier], Pointer]) -> None:
        self._canvas = canvas
        self._pointer = pointer
        self._drop: Drop | None = None

    def enter(self, event: QDragEnterEvent) -> bool:
        """Begin a drop; return whether the drag holds a layer. One of an unknown type is refused with a message."""
        data = event.mimeData()
        try:
            if data.hasFormat(LAYER_MIME):
                self._drop = Drop(self._canvas, bytes(data.data(LAYER_MIME).data()).decode("utf-8", "replace"))
            elif data.hasFormat(BLOCK_MIME):
                self._drop = Drop(self._canvas, clipboard.read_block(bytes(data.data(BLOCK_MIME).data())))
            else:
                return False
        except UserError as error:
            self._canvas.editor.refused.emit(str(error))
            return False
        event.acceptProposedAction()
        return True

    def move(self, event: QDragMoveEvent) -> None:
        """Follow the pointer."""
        if self._drop is not None:
            self._drop.move(self._pointer(event.position(), event.modifiers()))
            event.acceptProposedAction()

    def leave(self) -> None:
        """Cancel the drop."""
        if self._drop is not None:
            self._drop.cancel()
            self._drop = None

    def drop(self, event: QDropEvent) -> bool:
        """Add the layer; return whether one was dragged."""
        drop, self._drop = self._drop, None
        if drop is None:
            return False
        drop.release(self._pointer(event.position(), event.modifiers()))
        event.acceptProposedAction()
        return True
