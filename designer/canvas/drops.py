"""Layers that are dragged over the canvas from the library, as Qt tells of them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from designer import own_blocks
from designer.gestures.drop import MIME, Drop
from designer.gestures.gesture import Pointer
from engine.errors import UserError

if TYPE_CHECKING:
    from designer.canvas.view import CanvasView


class Drops:
    """At most one layer hangs over the canvas."""

    def __init__(self, view: "CanvasView", pointer: Callable[[QPointF, Qt.KeyboardModifier], Pointer]) -> None:
        self._view = view
        self._pointer = pointer
        self._drop: Drop | None = None

    def enter(self, event: QDragEnterEvent) -> None:
        """A layer comes in; one of a type that is not known is refused in words."""
        data = event.mimeData()
        if not data.hasFormat(MIME) and not data.hasFormat(own_blocks.MIME):
            event.ignore()
            return
        try:
            if data.hasFormat(MIME):
                self._drop = Drop(self._view, bytes(data.data(MIME).data()).decode("utf-8", "replace"))
            else:
                self._drop = Drop(self._view, own_blocks.parse(bytes(data.data(own_blocks.MIME).data())))
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
