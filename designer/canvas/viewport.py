"""The view of a scene: zoom, scrolling, tooltips and the dotted background. It edits nothing."""

import sys
from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFocusEvent, QNativeGestureEvent, QPainter, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QFrame, QGestureEvent, QGraphicsView, QPinchGesture, QWidget

from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.designer.scene import pictures
from netwright.designer.scene.scene import Scene
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH

LOWEST_ZOOM = 0.1
HIGHEST_ZOOM = 4.0
ZOOM_STEP = 1.25
_DOTS = 24.0
_LEAST_PITCH = 16.0
_FIT_MARGIN = 24
_CORNER_GAP = 12
_SETTLE_MS = 120
LEGIBLE = 0.6
"""The smallest zoom that the view chooses by itself: below it sizes and fields cannot be read."""
READABLE = 0.35
"""The zoom from which ports can be hit and names read."""
_REACH_PIXELS = 10.0
_EDGE = 8


class Viewport(QGraphicsView):
    """Zooms and scrolls over the scene; the network can be scrolled to any edge of the view."""

    zoom_changed = Signal(float)
    visible_changed = Signal(object)
    """The visible part of the canvas, a `QRectF`."""
    resized = Signal()

    def __init__(self, scene: Scene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene = scene
        self._lowest = LOWEST_ZOOM
        self._middle, self._size, self._window_size = QPointF(), QSize(), QSize()
        self.refit: Callable[[], None] | None = None
        """Fits the network again when the view is resized; None once the user has zoomed or scrolled."""
        self.home: QWidget | None = None
        """The outline, while it works the canvas: what opens here gives the keyboard back to it."""
        self.corners: list[QWidget] = []
        """Widgets over the lower corners: a fitted network keeps clear of them."""
        self.setScene(scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setMouseTracking(True)
        if sys.platform != "darwin":  # there a touchpad tells of every pinch both ways
            self.viewport().grabGesture(Qt.GestureType.PinchGesture)
        self.setMinimumSize(160, 120)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._settled)
        theme.changed.connect(self._repaint)

    def _repaint(self) -> None:
        self.viewport().update()

    @property
    def network_scene(self) -> Scene:
        """Return the scene that is shown."""
        return self._scene

    @property
    def zoom(self) -> float:
        """Return the pixels per canvas unit."""
        return self.transform().m11()

    @property
    def is_readable(self) -> bool:
        """Return whether the zoom is large enough for ports to be hit and names to be read."""
        return self.zoom >= READABLE

    @property
    def reach(self) -> float:
        """Return the distance from the pointer within which a port or a connection is hit, in canvas units: that is the
        same on the screen at every zoom."""
        return _REACH_PIXELS / self.zoom

    def visible_area(self) -> QRectF:
        """Return the visible part of the canvas."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def return_focus(self) -> None:
        """Give the keyboard back to what it was taken from: the outline, if a popup or a field was opened there."""
        (self.home if self.home is not None and self.home.isVisible() else self).setFocus()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keep the keyboard from now on."""
        self.home = None
        super().focusInEvent(event)

    def zoom_in(self) -> None:
        """Zoom in by one step, around the middle of the view."""
        self._zoom_at(self.viewport().rect().center(), ZOOM_STEP)

    def zoom_out(self) -> None:
        """Zoom out by one step, around the middle of the view."""
        self._zoom_at(self.viewport().rect().center(), 1 / ZOOM_STEP)

    def zoom_reset(self) -> None:
        """Zoom to 100 %, around the middle of the view."""
        self._zoom_at(self.viewport().rect().center(), 1 / self.zoom)

    def fit(self) -> None:
        """Show the whole network, at most at 100 %; a deep one may need less than the smallest zoom."""
        self.fit_to(self._scene.content_box())
        self.refit = self.fit
        self.clear_corners()

    def fit_legibly(self) -> None:
        """Show the whole network if it can be read so, else its first layers at 60 %; the minimap has the rest."""
        box = self._scene.content_box()
        self.fit_to(box)
        if self.zoom < LEGIBLE:
            self._set_zoom(LEGIBLE)
            margin = _FIT_MARGIN / self.zoom
            half = QPointF(self.viewport().width(), self.viewport().height()) * (0.5 / self.zoom)
            room = box.adjusted(half.x() - margin, half.y() - margin, margin - half.x(), margin - half.y())
            first = min(self._scene.editor.layout.positions.values(), key=lambda at: (at[1], at[0]), default=(0, 0))
            x = min(max(first[0] + NODE_WIDTH / 2, room.left()), room.right()) if room.width() > 0 else box.center().x()
            self.look_at(QPointF(x, room.top() if room.height() > 0 else box.center().y()))
        self.refit = self.fit_legibly
        self.clear_corners()

    def clear_corners(self) -> None:
        """Move a network that was fitted to the side, as far as there is room, from under the widgets in the lower
        corners."""
        refit = self.refit
        for widget in self.corners if refit is not None else ():
            if widget.isHidden():
                continue
            is_left = widget.geometry().center().x() < self.viewport().width() / 2
            area = widget.geometry().adjusted(0 if is_left else -_CORNER_GAP, -_CORNER_GAP, 0, 0)
            area.setWidth(area.width() + (_CORNER_GAP if is_left else 0))
            covered, visible = self.mapToScene(area).boundingRect(), self.visible_area()
            box, gap = self._scene.content_box(), _CORNER_GAP / self.zoom
            xs = [self._scene.nodes.index.positions[id][0] for id in self._scene.nodes_in(covered)]
            if xs and is_left:
                step = min(covered.right() - min(xs), visible.right() - box.right() - gap)
            elif xs:
                step = -min(max(xs) + NODE_WIDTH - covered.left(), box.left() - visible.left() - gap)
            if xs and (step > 0) is is_left:
                self.look_at(visible.center() - QPointF(step, 0))
        self.refit = refit

    def fit_to(self, box: QRectF) -> None:
        """Show a whole part of the canvas, at most at 100 %."""
        room = self.viewport().size()
        width, height = room.width() - 2 * _FIT_MARGIN, room.height() - 2 * _FIT_MARGIN
        zoom = 1.0
        if not box.isEmpty():
            zoom = min(1.0, max(width, 1) / box.width(), max(height, 1) / box.height())
        self._lowest = min(LOWEST_ZOOM, zoom)
        self._set_zoom(zoom)
        self.look_at(box.center())

    def _set_zoom(self, zoom: float) -> None:
        zoom = min(HIGHEST_ZOOM, max(self._lowest, zoom))
        if zoom != self.zoom:
            self.resetTransform()
            self.scale(zoom, zoom)
            self.zoom_changed.emit(zoom)

    def _zoom_at(self, at: QPoint, factor: float) -> None:
        fixed = self.mapToScene(at)
        self._set_zoom(self.zoom * factor)
        middle = self.viewport().rect().center() - at
        self.look_at(fixed + QPointF(middle) * (1 / self.zoom))

    def look(self, zoom: float, middle: QPointF) -> None:
        """Centre a point of the canvas at a zoom."""
        self._lowest = min(self._lowest, zoom)
        self._set_zoom(zoom)
        self.look_at(middle)

    def look_at(self, middle: QPointF) -> None:
        """Centre a point of the canvas."""
        self.refit = None
        half = QPointF(self.viewport().width(), self.viewport().height()) * (1 / self.zoom)
        self.make_room(QRectF(middle - half, middle + half))
        self.centerOn(middle)
        self.make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit a network again in another window; panels beside the canvas leave its zoom and its centre."""
        # The event has no old size where the canvas was hidden meanwhile.
        middle, self._size = self.middle_of(self._size), event.size()
        if (middle - self._middle).manhattanLength() * self.zoom > 2:  # else only pixels were rounded
            self._middle = middle
        super().resizeEvent(event)
        self.resized.emit()
        is_other_window, self._window_size = self._window_size != self.window().size(), self.window().size()
        refit = self.refit
        if refit is not None and is_other_window:
            refit()
        else:
            self.look_at(self._middle)
            self.refit = refit

    def middle_of(self, size: QSize) -> QPointF:
        """Return the point of the canvas in the middle of a view of this size, as it is scrolled now."""
        return self.viewportTransform().inverted()[0].map(QPointF(size.width() / 2, size.height() / 2))

    def layers_box(self, ids: Iterable[str]) -> QRectF:
        """Return the bounding box of some layers."""
        box = QRectF()
        for id in ids:
            box = box.united(QRectF(*self._scene.editor.layout.at(id), NODE_WIDTH, NODE_HEIGHT))
        return box

    def reveal(self, id: str) -> None:
        """Scroll to a layer, and zoom in where its name would not be readable."""
        box = self.layers_box({id})
        if not self.is_readable:
            self.look(1.0, box.center())
        elif not self.visible_area().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE).contains(box):
            self.look_at(box.center())

    def make_room(self, area: object = None) -> None:
        """Set the scene rectangle so that the network can be scrolled to any edge of the view."""
        visible = self.visible_area()
        box = self._scene.content_box()
        room = box.adjusted(-visible.width(), -visible.height(), visible.width(), visible.height()).united(visible)
        if isinstance(area, QRectF):
            room = room.united(area)
        if not self.sceneRect().contains(room) or room.width() * 3 < self.sceneRect().width():
            self.setSceneRect(room)
        self.visible_changed.emit(visible)

    def _settled(self) -> None:
        self._scene.nodes.is_zooming = False
        self.viewport().update()

    def zoom_around(self, at: QPoint, factor: float) -> None:
        """Zoom around a point of the view; until the zoom settles, pictures of another zoom are scaled."""
        self._scene.nodes.is_zooming = True
        self._settle.start()
        self._zoom_at(at, factor)

    def viewportEvent(self, event: QEvent) -> bool:
        """Zoom by pinch gestures on touchpads and touch screens."""
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom_around(event.position().toPoint(), 1 + event.value())
            return True
        if isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                at = self.viewport().mapFromGlobal(pinch.hotSpot().toPoint())
                self.zoom_around(at, pinch.scaleFactor())
                event.accept(pinch)
                return True
        return super().viewportEvent(event)

    def tooltip_at(self, at: QPointF) -> str:
        """Return the tooltip of the port, layer or connection at a point of the canvas."""
        scene, reach = self._scene, self.reach
        layers = scene.editor.network.layers
        if (port := scene.port_at(at, reach)) is not None:
            text = tr("Input '{port}' of {layer}") if port.is_input else tr("Output '{port}' of {layer}")
            return text.format(port=port.port.name, layer=layers[port.port.layer].name)
        if (id := scene.node_at(at)) is not None:
            node = scene.nodes.nodes[id]
            name = [f"{node.content.name}\n{node.content.detail}"] if pictures.is_elided(node.content) else []
            health = [tr("In training: {words}", words=scene.health[id].words)] if id in scene.health else []
            stage = [tr("Stage {number}", number=scene.stages[id] + 1)] if id in scene.stages else []
            frozen = [scene.frozen[id]] if id in scene.frozen else []
            return "\n".join([*name, *stage, *map(message_text, node.messages), *health, *frozen])
        connection = scene.edges.at(at, reach)
        if connection is None:
            return ""
        type = scene.editor.analysis.type_at(connection.source)
        ends = f"{layers[connection.source.layer].name} → {layers[connection.target.layer].name}"
        return f"{ends}\n{type}" if type else ends

    def scroll_by(self, step: QPoint) -> None:
        """Scroll by a number of pixels."""
        self.refit = None
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setValue(across.value() + step.x())
        down.setValue(down.value() + step.y())
        self.make_room()

    def drawBackground(self, painter: QPainter, rect: object) -> None:
        palette = theme.current()
        painter.save()
        painter.resetTransform()
        painter.fillRect(self.viewport().rect(), palette.canvas)
        step = _DOTS
        while step * self.zoom < _LEAST_PITCH:
            step *= 2
        origin = self.viewportTransform().map(QPointF(0, 0))
        pitch = step * self.zoom
        row = self._dot_row(pitch, palette.dots)
        left, top = round(origin.x() % pitch) - round(pitch) - 1, origin.y() % pitch
        for number in range(-1, int(self.viewport().height() / pitch) + 2):
            painter.drawPixmap(left, round(top + number * pitch) - 1, row)
        painter.restore()

    def _dot_row(self, pitch: float, colour: QColor) -> QPixmap:
        """Return a row of dots wider than the window: pictures of it are painted in a seventh of the time of dots."""
        ratio, width = self.devicePixelRatioF(), self.viewport().width() + 2 * pitch + 2
        row = QPixmap(int(width * ratio), round(2 * ratio))
        row.setDevicePixelRatio(ratio)
        row.fill(Qt.GlobalColor.transparent)
        painter = QPainter(row)
        painter.setPen(QPen(colour, 2))
        begin = round(pitch) + 1
        painter.drawPoints(QPolygonF([QPointF(begin + round(x * pitch), 1) for x in range(-1, int(width / pitch))]))
        painter.end()
        return row
