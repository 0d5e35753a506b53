"""Marks on a network that is compared with another: added, removed and changed items, by colour and by sign."""

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import theme
from netwright.designer.scene import geometry, pictures
from netwright.designer.scene.edges import LABELS_ABOVE, Edge
from netwright.designer.scene.scene import Scene
from netwright.engine.network.network import Connection

SIGNS = ("+", "-", "~")
_BADGE = 8.5
_REACH = 14.0
_ICON = 18
_TOKENS = {"+": "good", "-": "error", "~": "warning"}


def colour_of(sign: str) -> QColor:
    """Return the colour of a sign: good for added, error for removed, warning for changed."""
    colour: QColor = getattr(theme.current(), _TOKENS[sign])
    return colour


class DifferenceItem(QGraphicsItem):
    """Frames around layers and lines along connections, above everything else in the scene."""

    def __init__(self, scene: Scene, layers: Mapping[str, str], lines: Mapping[Connection, str]) -> None:
        super().__init__()
        self._scene = scene
        self.layers = dict(layers)
        self.lines = dict(lines)
        box = self._scene.content_box().adjusted(-_REACH, -_REACH, _REACH, _REACH)
        for line in self.lines:
            if line in self._scene.edges.edges:
                box = box.united(self._scene.edges.edges[line].bounds)
        self._bounds = box

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        zoom = painter.worldTransform().m11()
        width = max(2.0, 1.6 / zoom)  # still seen where a layer is a few pixels
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for line, sign in self.lines.items():
            if line in self._scene.edges.edges:
                self._paint_line(painter, self._scene.edges.edges[line], sign, width)
        for id, sign in self.layers.items():
            if id in self._scene.nodes.index.positions:
                self._paint_layer(painter, geometry.node_rect(self._scene.nodes.index.positions[id]), sign, width)

    def _paint_line(self, painter: QPainter, edge: Edge, sign: str, width: float) -> None:
        """Paint the curve, and again the items that it covers: its ports and its size label."""
        style = Qt.PenStyle.DashLine if sign == "-" else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour_of(sign), width, style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(edge.path)
        if painter.worldTransform().m11() < LABELS_ABOVE:
            return
        for share in (0.0, 1.0):
            pictures.paint_port(painter, edge.path.pointAtPercent(share))
        if edge.text:
            painter.fillRect(edge.label_box(), theme.current().canvas)
            painter.setPen(theme.current().muted)
            painter.setFont(pictures.font(11))
            painter.drawText(edge.label_box(), Qt.AlignmentFlag.AlignCenter, edge.text)

    def _paint_layer(self, painter: QPainter, box: QRectF, sign: str, width: float) -> None:
        colour = colour_of(sign)
        filling = QColor(colour)
        filling.setAlphaF(0.10)
        frame = QPainterPath()
        frame.addRoundedRect(box.adjusted(-3, -3, 3, 3), 10, 10)
        painter.fillPath(frame, filling)
        painter.strokePath(frame, QPen(colour, width))
        paint_sign(painter, box.topLeft() + QPointF(-1, -1), _BADGE, sign)


def paint_sign(painter: QPainter, middle: QPointF, radius: float, sign: str) -> None:
    """Paint the sign on a disc of its colour."""
    palette = theme.current()
    painter.setPen(QPen(palette.canvas, 2.0))
    painter.setBrush(colour_of(sign))
    painter.drawEllipse(middle, radius, radius)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(palette.canvas, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    arm = radius * 0.48
    if sign == "~":
        wave = QPainterPath(middle + QPointF(-arm, arm * 0.25))
        top, bottom = QPointF(-arm * 0.35, -arm * 1.3), QPointF(arm * 0.35, arm * 1.3)
        wave.cubicTo(middle + top, middle + bottom, middle + QPointF(arm, -arm * 0.25))
        painter.drawPath(wave)
        return
    painter.drawLine(middle - QPointF(arm, 0), middle + QPointF(arm, 0))
    if sign == "+":
        painter.drawLine(middle - QPointF(0, arm), middle + QPointF(0, arm))


def sign_icon(sign: str, ratio: float = 2.0) -> QIcon:
    """Return the sign as an icon for a row of a list."""
    pixmap = QPixmap(round(_ICON * ratio), round(_ICON * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_sign(painter, QPointF(_ICON / 2, _ICON / 2), _ICON / 2 - 1, sign)
    painter.end()
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)  # else Qt would make it paler
    return icon
