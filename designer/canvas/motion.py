"""Automatic motion on the canvas: the view to new layers and to its last position in a block, layers to new
positions."""

from collections.abc import Mapping

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QVariantAnimation
from PySide6.QtWidgets import QStyle, QWidget

from netwright.designer.canvas.viewport import Viewport
from netwright.designer.editor import Editor
from netwright.designer.scene.scene import Scene
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Position

MOST_ANIMATED = 150
"""Largest number of layers that are animated; more could not be followed by eye."""
_ANIMATION_MS = 220


class ViewTracker:
    """Scrolls the view to layers that were just added, shows a network that was just made, and restores the view of
    each block.

    It must be created after the view has connected to the editor.
    """

    def __init__(self, view: Viewport, editor: Editor) -> None:
        self._view = view
        self._editor = editor
        self._ids: frozenset[str] = frozenset(editor.network.layers)
        self._new_ids: frozenset[str] = frozenset()
        self._scope: tuple[str, ...] = editor.scope
        self._views: dict[tuple[str, ...], tuple[float, QPointF]] = {}
        """Zoom and centre of each block when it was left."""
        editor.centre = self._centre
        editor.scope_changed.connect(self._leave_scope)
        editor.project_changed.connect(self._note_new_layers)
        editor.project_changed.connect(self._show_scope)
        editor.selection_changed.connect(self._show_new_layers)

    def _note_new_layers(self) -> None:
        before, self._ids = self._ids, frozenset(self._editor.network.layers)
        self._new_ids = self._ids - before
        if self._has_made_all:
            self._view.fit_legibly()

    @property
    def _has_made_all(self) -> bool:
        """Whether the last step made a network where there was none."""
        return len(self._ids) > 1 and self._new_ids == self._ids

    def _show_new_layers(self, selection: frozenset[str]) -> None:
        """Scroll to layers that were just added, pasted or restored."""
        if selection and selection <= self._new_ids and not self._has_made_all:
            box = self._view.layers_box(selection)
            if not self._view.visible_area().contains(box):
                self._view.look_at(box.center())

    def _leave_scope(self, _path: object = None) -> None:
        """Remember the view of a block before another one is shown."""
        self._views[self._scope] = (self._view.zoom, self._view.visible_area().center())

    def _show_scope(self) -> None:
        """Restore the view of a block, or show all of it."""
        if self._scope == self._editor.scope:
            return
        self._scope = self._editor.scope
        self._new_ids = frozenset()
        if (view := self._views.get(self._scope)) is not None:
            self._view.look(*view)
        else:
            self._view.fit_legibly()

    def _centre(self) -> Position:
        middle = self._view.visible_area().center()
        return middle.x() - NODE_WIDTH / 2, middle.y() - NODE_HEIGHT / 2


class LayoutAnimation(QObject):
    """Animates layers from their old positions to the new ones, which the project already has."""

    def __init__(self, scene: Scene, parent: QWidget) -> None:
        super().__init__(parent)
        self._scene = scene
        self._widget = parent
        self._moves: dict[str, tuple[Position, Position]] = {}
        self._animation = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=_ANIMATION_MS)
        self._animation.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._animation.valueChanged.connect(self._step)
        self._animation.finished.connect(self._arrive)
        scene.editor.project_changed.connect(self.stop)

    @property
    def is_running(self) -> bool:
        """Whether the animation is running."""
        return bool(self._moves)

    def begin(self, before: Mapping[str, Position]) -> None:
        """Animate layers from their old positions, unless they are many or the desktop has animations switched off."""
        self.stop()
        places = self._scene.nodes.index.positions
        moves = {id: (at, places[id]) for id, at in before.items() if id in places and at != places[id]}
        has_animations = self._widget.style().styleHint(
            QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._widget
        )
        if moves and len(moves) <= MOST_ANIMATED and has_animations and self._widget.isVisible():
            self._moves = moves
            self._step(0.0)
            self._animation.start()

    def stop(self, _project: object = None) -> None:
        """Put all layers at their final positions at once."""
        if self._moves:
            self._animation.stop()
            self._arrive()

    def _step(self, progress: float) -> None:
        self._scene.drag(
            {
                id: (start[0] + (end[0] - start[0]) * progress, start[1] + (end[1] - start[1]) * progress)
                for id, (start, end) in self._moves.items()
            }
        )

    def _arrive(self) -> None:
        moves, self._moves = self._moves, {}
        layout, layers = self._scene.editor.layout, self._scene.editor.network.layers
        self._scene.drag({id: layout.at(id) for id in moves if id in layers})
        self._scene.settle()
