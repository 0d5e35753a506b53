"""The base of all gestures: one object from press to release, which Escape can cancel at any moment."""

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, Qt

from designer.editor import Editor
from designer.scene.scene import PortHit, Scene


@dataclass(frozen=True)
class Pointer:
    """Where the pointer is, on the canvas and in the window, and which keys are held."""

    scene: QPointF
    view: QPoint
    keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier

    @property
    def adds(self) -> bool:
        """Whether the selection is added to instead of replaced."""
        return bool(self.keys & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier))


class Canvas(Protocol):
    """What a gesture needs of the view."""

    editor: Editor

    @property
    def network_scene(self) -> Scene:
        """What draws the network."""

    @property
    def reach(self) -> float:
        """How near is near enough, in canvas units."""

    def hint(self, text: str, at: QPointF | None = None) -> None:
        """Say something beside the pointer, or beside a point of the canvas; nothing takes it away."""

    def reveal(self, id: str) -> None:
        """Bring a layer into sight."""

    def suggest_at_port(self, port: PortHit, at: QPoint) -> None:
        """Suggest layers for the other end of a connection that was dropped at a point of the view."""

    def scroll_by(self, step: QPoint) -> None:
        """Move what is visible by so many pixels."""


class Gesture:
    """A gesture. What it shows while it lasts is gone after `release` and after `cancel`."""

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.scene = canvas.network_scene
        self.editor = canvas.editor

    def press(self, pointer: Pointer) -> None:
        """The button goes down."""

    def move(self, pointer: Pointer) -> None:
        """The pointer moves while the button is down."""

    def release(self, pointer: Pointer) -> None:
        """The button goes up: the gesture does what it is for."""

    def cancel(self) -> None:
        """Escape: everything is as before."""
