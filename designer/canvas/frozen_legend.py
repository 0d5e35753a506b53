"""A chip beside the zoom chip with the number of frozen layers, which have a lock on them."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QToolButton

from netwright.designer import theme
from netwright.designer.canvas.view import CanvasView
from netwright.engine.core.errors import plural

_GAP = 8


class FrozenLegend(QToolButton):
    """Shown while layers of the open network are frozen; `wanted` is emitted with a click."""

    wanted = Signal()

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        theme.mark(self, "role", "chip")
        self.setToolTip("Layers with a lock keep their weights while the network trains. Click to change that.")
        self.setIcon(theme.icon("lock", "muted"))
        self.setIconSize(QSize(14, 14))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        view.corner.append(self)
        view.overlays.zoom_chip.installEventFilter(self)
        view.editor.project_changed.connect(self.refresh)
        self.clicked.connect(self.wanted)
        self.refresh()

    def refresh(self, _project: object = None) -> None:
        """Show the number of layers, or hide."""
        count = len(self._view.network_scene.frozen)
        self.setText(f"{plural(count, 'layer')} frozen")
        self.setVisible(bool(count))
        self._place()

    def _place(self) -> None:
        self.adjustSize()
        chip = self._view.overlays.zoom_chip
        self.move(chip.geometry().right() + _GAP, chip.y() + (chip.height() - self.height()) // 2)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the zoom chip."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place()
        return super().eventFilter(watched, event)
