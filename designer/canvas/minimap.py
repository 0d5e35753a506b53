"""The minimap: the whole network with a frame around the visible part; a click scrolls there."""

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QWidget

from netwright.designer import theme
from netwright.designer.language import tr
from netwright.designer.scene.scene import Scene
from netwright.designer.scene.tint import box_colour
from netwright.engine.drawing import colours
from netwright.engine.network.annotations import every

SIZE = QSize(138, 110)
"""The largest size; a small view has a smaller one."""
_LEAST = QSize(96, 44)
"""The smallest size: a slim network is stretched to it, as bands in the colours of the families."""
_SHARE = 0.28
"""Part of the view that the minimap takes at most in each direction."""
_PADDING = 10.0
_FADED = 0.35
_MARGIN = 14
_CHIP = 40
"""Room for the zoom below."""
_DELAY_MS = 30


class Minimap(QWidget):
    """Paints the network into a picture when it changed, and only the frame when the view moves."""

    moved = Signal(QPointF)

    def __init__(self, scene: Scene, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # painted again when the pointer comes and leaves
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(tr("Overview: click to go there"))
        self._scene = scene
        self._picture: QPixmap | None = None
        self._area = QRectF()
        self._visible = QRectF()
        self._is_over_layers = False
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_DELAY_MS)
        self._late.timeout.connect(self.refresh)
        editor = scene.editor
        for signal in (editor.project_changed, editor.analysis_changed, editor.selection_changed):
            signal.connect(self._refresh_soon)
        theme.changed.connect(self.refresh)

    def _refresh_soon(self) -> None:
        if not self._late.isActive():
            self._late.start()

    def refresh(self) -> None:
        """Paint the network anew."""
        self._picture = None
        self.update()

    def show_visible(self, visible: QRectF) -> None:
        """Put the frame around the visible part; the minimap is hidden while everything is visible."""
        self._visible = visible
        box = self._scene.content_box()
        self.setVisible(not box.isEmpty() and not visible.contains(box))
        if self.isVisible():
            if box != self._area:
                self._area, self._picture = box, None
            self.place()
            self.update()

    def place(self) -> None:
        """Fit the shape of the network into the lower right corner of the view; fade where layers are below."""
        over = self.parentWidget()
        if over is None or self._area.isEmpty() or self._visible.isEmpty():
            return
        room = over.size() * _SHARE
        broad = max(_LEAST.width(), min(SIZE.width(), room.width()))
        high = max(_LEAST.height(), min(SIZE.height(), room.height()))
        scale = min((broad - 2 * _PADDING) / self._area.width(), (high - 2 * _PADDING) / self._area.height())
        size = QSize(
            max(_LEAST.width(), round(self._area.width() * scale + 2 * _PADDING)),
            max(_LEAST.height(), round(self._area.height() * scale + 2 * _PADDING)),
        )
        if size != self.size():
            self.setFixedSize(size)
            self._picture = None
        self.move(over.width() - size.width() - _MARGIN, over.height() - size.height() - _MARGIN - _CHIP)
        step = self._visible.width() / over.width()
        below = QRectF(self._visible.topLeft() + QPointF(self.pos()) * step, QSizeF(size) * step)
        self._is_over_layers = bool(self._scene.nodes_in(below))

    @property
    def is_faded(self) -> bool:
        """Whether layers are seen through the minimap; the pointer over it makes it opaque."""
        return self._is_over_layers and not self.underMouse()

    def _transform(self) -> QTransform:
        """Return the way from the canvas to the minimap, which the network fills."""
        room = QRectF(self.rect()).adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        transform = QTransform.fromTranslate(room.left(), room.top())
        transform.scale(room.width() / max(self._area.width(), 1), room.height() / max(self._area.height(), 1))
        return transform.translate(-self._area.left(), -self._area.top())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            self._picture = self._painted()
        palette = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(_FADED if self.is_faded else 1.0)
        painter.setPen(QPen(palette.line, 1))
        painter.setBrush(palette.panel)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.drawPixmap(0, 0, self._picture)
        frame = self._transform().mapRect(self._visible)
        frame = frame.united(QRectF(frame.center().x() - 6, frame.center().y() - 4, 12, 8))
        inside = frame.intersected(QRectF(self.rect()).adjusted(4, 4, -4, -4))
        painter.setPen(QPen(palette.accent, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(inside, 3, 3)
        painter.end()

    def _painted(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(self._scene.nodes.nodes) < 500)
        painter.setTransform(self._transform(), combine=True)
        palette = theme.current()
        for annotation in every(self._scene.annotations.layout):
            colour = QColor(colours.TONES[annotation.tone])
            painter.setPen(QPen(palette.mixed(colour, palette.panel, 0.5), 0))
            painter.setBrush(palette.mixed(colour, palette.panel, 0.18))
            painter.drawRect(QRectF(*annotation.at, *annotation.size))
        for kind, boxes in self._scene.nodes.overview().items():
            if kind != "selected":
                colour = palette.error if kind == "error" else box_colour(kind)
                if kind != "warning":
                    # The pen keeps a layer in sight that is smaller than a pixel.
                    painter.setPen(QPen(colour, 0))
                    painter.setBrush(colour)
                    painter.drawRects(boxes)
        painter.end()
        return picture

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons():
            self._go(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def _go(self, at: QPointF) -> None:
        self.moved.emit(self._transform().inverted()[0].map(at))
