"""What the canvas brings into sight by itself: new layers, layers that are gone to, a block as it was left."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from designer.editor import Editor
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Position

if TYPE_CHECKING:
    from designer.canvas.view import CanvasView
from collections.abc import Mapping

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation
from PySide6.QtWidgets import QStyle, QWidget

from designer.scene.scene import Scene

READABLE = 0.35
"""The zoom from which ports can be hit and names read."""
_EDGE = 8


class Sight:
    """Moves the view of one canvas where something happens. It is made after the view follows the editor itself."""

    def __init__(self, view: "CanvasView", editor: Editor) -> None:
        self._view = view
        self._editor = editor
        self._known: frozenset[str] = frozenset(editor.network.layers)
        self._new: frozenset[str] = frozenset()
        self._scope: tuple[str, ...] = editor.scope
        self._seen: dict[tuple[str, ...], tuple[float, QPointF]] = {}
        editor.centre = self._centre
        editor.scope_changed.connect(self._leave_scope)
        editor.project_changed.connect(self._note_new_layers)
        editor.project_changed.connect(self._show_scope)
        editor.selection_changed.connect(self._show_new_layers)

    def box(self, ids: Iterable[str]) -> QRectF:
        """The box around some layers."""
        box = QRectF()
        for id in ids:
            box = box.united(QRectF(*self._editor.layout.at(id), NODE_WIDTH, NODE_HEIGHT))
        return box

    def reveal(self, id: str) -> None:
        """Bring a layer into sight, near enough to be read."""
        view, box = self._view, self.box({id})
        if view.zoom < READABLE:
            view.look(1.0, box.center())
        elif not view.visible_area().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE).contains(box):
            view.look_at(box.center())

    def _note_new_layers(self) -> None:
        before, self._known = self._known, frozenset(self._editor.network.layers)
        self._new = self._known - before

    def _show_new_layers(self, selection: frozenset[str]) -> None:
        """Layers that were just added, pasted or brought back come into sight."""
        if selection and selection <= self._new:
            box = self.box(selection)
            if not self._view.visible_area().contains(box):
                self._view.look_at(box.center())

    def _leave_scope(self, _path: object = None) -> None:
        """Another block is about to be shown: remember what was seen of this one."""
        self._seen[self._scope] = (self._view.zoom, self._view.visible_area().center())

    def _show_scope(self) -> None:
        """Show a block as it was left, or all of it."""
        if self._scope == self._editor.scope:
            return
        self._scope = self._editor.scope
        self._new = frozenset()
        if (seen := self._seen.get(self._scope)) is not None:
            self._view.look(*seen)
        else:
            self._view.fit()

    def _centre(self) -> Position:
        middle = self._view.visible_area().center()
        return middle.x() - NODE_WIDTH / 2, middle.y() - NODE_HEIGHT / 2


MOST = 150
_MS = 220


class Glide(QObject):
    """Draws layers on their way. The project has them in their new places already; this only looks like moving."""

    def __init__(self, scene: Scene, parent: QWidget) -> None:
        super().__init__(parent)
        self._scene = scene
        self._widget = parent
        self._ways: dict[str, tuple[Position, Position]] = {}
        self._animation = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=_MS)
        self._animation.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._animation.valueChanged.connect(self._step)
        self._animation.finished.connect(self._arrive)
        scene.editor.project_changed.connect(self.stop)

    @property
    def is_running(self) -> bool:
        """Whether layers are on their way."""
        return bool(self._ways)

    def begin(self, before: Mapping[str, Position]) -> None:
        """Let layers glide from where they were to where they are now, unless they are many or the desktop is still."""
        self.stop()
        places = self._scene.nodes.index.positions
        ways = {id: (at, places[id]) for id, at in before.items() if id in places and at != places[id]}
        moves = self._widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._widget)
        if ways and len(ways) <= MOST and moves and self._widget.isVisible():
            self._ways = ways
            self._step(0.0)
            self._animation.start()

    def stop(self, _project: object = None) -> None:
        """Be there at once."""
        if self._ways:
            self._animation.stop()
            self._arrive()

    def _step(self, share: float) -> None:
        self._scene.drag(
            {
                id: (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
                for id, (start, end) in self._ways.items()
            }
        )

    def _arrive(self) -> None:
        ways, self._ways = self._ways, {}
        layout, layers = self._scene.editor.layout, self._scene.editor.network.layers
        self._scene.drag({id: layout.at(id) for id in ways if id in layers})
        self._scene.settle()
