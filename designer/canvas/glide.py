"""Layers glide to their new places instead of jumping there, where they are few enough to be followed by eye."""

from collections.abc import Mapping

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation
from PySide6.QtWidgets import QStyle, QWidget

from designer.canvas.scene import Scene
from engine.network.layout import Position

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
