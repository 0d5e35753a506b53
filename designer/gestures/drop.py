"""Dropping a layer from the palette: onto the canvas, or into a connection if it fits there."""

from PySide6.QtCore import QPointF

from designer import placing
from designer.canvas.overlays.overlay import Ghost, Marks
from designer.canvas.pictures import Content
from designer.gestures.gesture import Canvas, Gesture, Pointer
from designer.own_blocks import Piece, piece
from engine.network.layout import Position
from engine.network.network import Connection

MIME = "application/x-netwright-layer"
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
    return placing.around((middle.x(), middle.y()))
