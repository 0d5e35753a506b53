"""Feedback of a gesture above the network: a loose connection, a rubber band, the ghost of a layer to be dropped."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import theme
from netwright.designer.scene import geometry, pictures
from netwright.designer.scene.content import Content
from netwright.engine.network.layout import Flow, Position

GROWN = 6.5


@dataclass(frozen=True)
class LooseConnection:
    """A connection that is being drawn: from an output to an input, with one end at the pointer."""

    start: QPointF
    end: QPointF
    is_refused: bool = False


@dataclass(frozen=True)
class Ghost:
    """The preview of a layer that is to be added."""

    at: Position
    content: Content


@dataclass(frozen=True)
class Feedback:
    """Feedback of a gesture. A new value replaces the old one."""

    hover: QPointF | None = None
    lit: tuple[QPointF, ...] = ()
    loose: LooseConnection | None = None
    more: tuple[LooseConnection, ...] = ()
    """Further connections that are drawn to the same point."""
    band: QRectF | None = None
    lasso: QPolygonF | None = None
    ghost: Ghost | None = None
    flow: Flow = "down"

    def all_loose(self) -> tuple[LooseConnection, ...]:
        """Return all connections that are being drawn."""
        return (self.loose, *self.more) if self.loose else ()

    def bounds(self) -> QRectF:
        """Return the box around all feedback."""
        box = QRectF()
        points = [self.hover] if self.hover else []
        points += self.lit
        for point in points:
            box = box.united(QRectF(point.x() - 8, point.y() - 8, 16, 16))
        for loose in self.all_loose():
            curve = geometry.direct_curve(loose.start, loose.end, self.flow)
            box = box.united(curve.controlPointRect().adjusted(-10, -10, 10, 10))
        if self.band:
            box = box.united(self.band.adjusted(-4, -4, 4, 4))
        if self.lasso:
            box = box.united(self.lasso.boundingRect().adjusted(-4, -4, 4, 4))
        if self.ghost:
            m = pictures.MARGIN
            box = box.united(geometry.node_rect(self.ghost.at).adjusted(-m, -m, m, m))
        return box


class FeedbackItem(QGraphicsItem):
    """Paints the feedback, above everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.feedback = Feedback()
        self._bounds = QRectF()

    def show_feedback(self, feedback: Feedback) -> None:
        """Show this feedback instead of the previous one."""
        if feedback != self.feedback:
            self.prepareGeometryChange()
            self.feedback = feedback
            self._bounds = feedback.bounds()
            self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        palette = theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for point in self.feedback.lit:
            pictures.paint_port(painter, point, GROWN - 1, palette.accent)
        if self.feedback.hover:
            pictures.paint_port(painter, self.feedback.hover, GROWN, palette.accent)
        for loose in self.feedback.all_loose():
            self._paint_loose(painter, loose, palette)
        if self.feedback.ghost:
            painter.save()
            painter.setOpacity(0.75)
            painter.translate(*self.feedback.ghost.at)
            pictures.paint(painter, self.feedback.ghost.content)
            painter.restore()
        if self.feedback.band or self.feedback.lasso:
            zoom = painter.worldTransform().m11()
            filling = palette.mixed(palette.accent, palette.canvas, 0.5)
            filling.setAlphaF(0.18)
            painter.setPen(QPen(palette.accent, 1 / zoom))
            painter.setBrush(filling)
            if self.feedback.band:
                painter.drawRect(self.feedback.band)
            if self.feedback.lasso:
                painter.drawPolygon(self.feedback.lasso, Qt.FillRule.OddEvenFill)

    def _paint_loose(self, painter: QPainter, loose: LooseConnection, palette: theme.Palette) -> None:
        style = Qt.PenStyle.DashLine if loose.is_refused else Qt.PenStyle.SolidLine
        colour = palette.error if loose.is_refused else palette.accent
        painter.setPen(QPen(colour, 2.0, style, Qt.PenCapStyle.RoundCap))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(geometry.direct_curve(loose.start, loose.end, self.feedback.flow))
        for point in (loose.start, loose.end):
            pictures.paint_port(painter, point, GROWN - 1, colour)
