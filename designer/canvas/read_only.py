"""A canvas without edits: the same scene with zoom, scrolling and tooltips."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from netwright.designer.canvas.viewport import ZOOM_STEP, Viewport
from netwright.designer.editor import Editor
from netwright.designer.markup import visible
from netwright.designer.scene.differences import DifferenceItem
from netwright.designer.scene.scene import Scene
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Connection

_STEP = 60
_READABLE = 0.9
_ARROWS = {
    Qt.Key.Key_Left: QPoint(-_STEP, 0),
    Qt.Key.Key_Right: QPoint(_STEP, 0),
    Qt.Key.Key_Up: QPoint(0, -_STEP),
    Qt.Key.Key_Down: QPoint(0, _STEP),
}


class ReadOnlyView(Viewport):
    """Shows the editor's network. Dragging moves the view; a click on a layer is signalled."""

    layer_clicked = Signal(str)
    layer_opened = Signal(str)
    """The id of a layer that was double-clicked."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(Scene(editor), parent)
        self._scene.setParent(self)
        self.editor = editor
        self._marks: DifferenceItem | None = None
        self._pressed: QPoint | None = None
        self._is_panning = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def middle(self) -> QPointF:
        """Return the point of the canvas at the centre of the view."""
        return self.visible_area().center()

    def mark(self, layers: Mapping[str, str], lines: Mapping[Connection, str]) -> None:
        """Mark layers and connections with signs, and remove all other marks."""
        if self._marks is not None:
            self._scene.removeItem(self._marks)
        self._marks = DifferenceItem(self._scene, layers, lines)
        self._scene.addItem(self._marks)

    def go_to(self, id: str) -> None:
        """Select a layer and centre it; without one clear the selection."""
        self.editor.set_selection({id} if id else ())
        if id in self.editor.network.layers:
            x, y = self.editor.layout.at(id)
            middle = QRectF(x, y, NODE_WIDTH, NODE_HEIGHT).center()
            self.look(max(self.zoom, _READABLE), middle)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed, self._is_panning = event.position().toPoint(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        if self._pressed is None or not event.buttons():
            return
        if not self._is_panning and (at - self._pressed).manhattanLength() < QApplication.startDragDistance():
            return
        self._is_panning = True
        self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        self.scroll_by(self._pressed - at)
        self._pressed = at

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._is_panning and self._pressed is not None:
            id = self._scene.node_at(self.mapToScene(event.position().toPoint()))
            self.layer_clicked.emit(id or "")
        self._pressed, self._is_panning = None, False
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        id = self._scene.node_at(self.mapToScene(event.position().toPoint()))
        if id:
            self.layer_opened.emit(id)
        else:
            self.mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.scroll_by(QPoint(-(turn.y() or turn.x()), 0))
        else:
            self.zoom_around(event.position().toPoint(), ZOOM_STEP ** (turn.y() / 120))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = {
            Qt.Key.Key_F: self.fit,
            Qt.Key.Key_Plus: self.zoom_in,
            Qt.Key.Key_Equal: self.zoom_in,
            Qt.Key.Key_Minus: self.zoom_out,
        }
        key = Qt.Key(event.key())
        if key in _ARROWS:
            self.scroll_by(_ARROWS[key])
        elif key in plain:
            plain[key]()
        else:
            event.ignore()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            QToolTip.showText(
                event.globalPos(), visible(self.tooltip_at(self.mapToScene(event.pos()))), self.viewport()
            )
            return True
        return super().viewportEvent(event)
