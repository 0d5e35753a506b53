"""The base of all gestures: one object from press to release, which Escape can cancel at any moment."""

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, Qt

from netwright.designer.editor import Editor
from netwright.designer.scene.node_items import PortHit
from netwright.designer.scene.scene import Scene


@dataclass(frozen=True)
class Pointer:
    """Position of the pointer on the canvas and in the view, and the modifier keys."""

    scene: QPointF
    view: QPoint
    keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier

    @property
    def adds(self) -> bool:
        """Whether the selection is added to instead of replaced."""
        return bool(self.keys & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier))


class Canvas(Protocol):
    """The interface of the view for gestures."""

    editor: Editor

    @property
    def network_scene(self) -> Scene:
        """The scene that draws the network."""

    @property
    def reach(self) -> float:
        """The distance within which a port or a connection is hit, in canvas units."""

    def hint(self, text: str, at: QPointF | None = None) -> None:
        """Show a hint beside the pointer, or beside a point of the canvas; an empty text hides it."""

    def reveal(self, id: str) -> None:
        """Scroll to a layer."""

    def suggest_at_port(self, port: PortHit, at: QPoint) -> None:
        """Suggest layers for the other end of a connection that was dropped at a point of the view."""

    def scroll_by(self, step: QPoint) -> None:
        """Scroll by a number of pixels."""


class Gesture:
    """The base of gestures. The feedback it shows is gone after `release` and after `cancel`."""

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.scene = canvas.network_scene
        self.editor = canvas.editor

    def press(self, pointer: Pointer) -> None:
        """Handle the pressed button."""

    def move(self, pointer: Pointer) -> None:
        """Handle a move of the pointer while the button is down."""

    def release(self, pointer: Pointer) -> None:
        """Handle the released button: carry the gesture out."""

    def cancel(self) -> None:
        """Remove the feedback of the gesture, after Escape."""
