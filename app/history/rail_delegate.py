"""Paints the rows of the rail: a sign of the state, the name, the figure at the right, and below what differs."""

import time

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from netwright.app.history.rail_model import ROW, RailRow
from netwright.designer import icons, markup, theme
from netwright.designer.focus_ring import has_ring
from netwright.designer.language import tr
from netwright.engine.runs.notes import LONGEST_NAME

Index = QModelIndex | QPersistentModelIndex
HEIGHTS = {"run": 48, "folder": 48, "trial": 27, "more": 27, "model": 48}
ALIVE_HEIGHT = 60
MARGIN, PADDING, SIGN, NAME = 8, 8, 14, 24
"""Space beside the rows, within them, the side of the sign, and from it to the name."""
VALUES = 40
"""From the number of a trial to its values."""


class RailDelegate(QStyledItemDelegate):
    """Paints and edits the rows; one widget paints them all."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row, by its kind."""
        row = index.data(ROW)
        is_tall = isinstance(row, RailRow) and row.is_alive
        return QSize(100, ALIVE_HEIGHT if is_tall else HEIGHTS[row.kind] if isinstance(row, RailRow) else 48)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a row."""
        row = index.data(ROW)
        if not isinstance(row, RailRow):
            return
        palette = theme.current()
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        has_focus = bool(option.state & QStyle.StateFlag.State_HasFocus)
        ground = option.rect.adjusted(MARGIN, 1, -MARGIN, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.selected if is_selected else palette.hover)
            painter.drawRoundedRect(ground, 8, 8)
        if has_focus and option.widget is not None and has_ring(option.widget):
            painter.setPen(QPen(palette.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(ground).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        inside = ground.adjusted(PADDING, 0, -PADDING, 0)
        if row.kind in ("trial", "more"):
            self._paint_trial(painter, option, inside, row)
        else:
            self._paint_run(painter, option, inside, row, is_selected=is_selected)
        painter.restore()

    def _paint_run(
        self, painter: QPainter, option: QStyleOptionViewItem, inside: QRect, row: RailRow, *, is_selected: bool
    ) -> None:
        palette = theme.current()
        first = QRect(inside.left(), inside.top() + 4, inside.width(), 20)
        _paint_sign(painter, QRectF(inside.left() - 1, first.center().y() - SIGN / 2 + 1, SIGN, SIGN), row)
        strong = _font(option, QFont.Weight.DemiBold)
        width = QFontMetrics(theme.figures(strong)).horizontalAdvance(row.figure)
        _write(painter, theme.figures(strong), palette.text, first, row.figure, Qt.AlignmentFlag.AlignRight)
        name = first.adjusted(NAME, 0, -width - 8, 0)
        _write(painter, strong, palette.text, name, row.title)
        small = _font(option, QFont.Weight.Normal)
        small.setPixelSize(theme.pixels(12))
        second = QRect(inside.left() + NAME, first.bottom() + 1, inside.width() - NAME, 18)
        _write(painter, small, palette.text if is_selected else palette.muted, second, row.words(time.time()))
        if row.is_alive:
            track = QRectF(inside.left() + NAME, second.bottom() + 5, inside.width() - NAME, 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.line)
            painter.drawRoundedRect(track, 2, 2)
            track.setWidth(max(4.0, track.width() * row.share) if row.share else 0.0)
            painter.setBrush(palette.accent)
            painter.drawRoundedRect(track, 2, 2)

    def _paint_trial(self, painter: QPainter, option: QStyleOptionViewItem, inside: QRect, row: RailRow) -> None:
        palette = theme.current()
        x = inside.left() + SIGN / 2 - 1
        painter.setPen(QPen(palette.line, 1))
        painter.drawLine(QPointF(x, option.rect.top()), QPointF(x, option.rect.bottom()))
        area = inside.adjusted(NAME, 0, 0, 0)
        if row.kind == "more":
            _write(painter, _font(option, QFont.Weight.Normal), palette.accent, area, row.title)
            return
        strong = theme.figures(_font(option, QFont.Weight.DemiBold))
        _write(painter, strong, palette.text, area, row.title)
        if row.is_best:
            left = area.left() + QFontMetrics(strong).horizontalAdvance(row.title) + 4
            icons.draw(painter, "star-filled", QRectF(left, area.center().y() - 6, 13, 13), palette.warning)
        width = QFontMetrics(strong).horizontalAdvance(row.figure)
        _write(painter, strong, palette.text, area, row.figure, Qt.AlignmentFlag.AlignRight)
        plain = theme.figures(_font(option, QFont.Weight.Normal))
        plain.setPixelSize(theme.pixels(12))
        _write(painter, plain, palette.muted, area.adjusted(VALUES, 0, -width - 8, 0), row.about)

    # ---- names ----

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Return a field for the name of a run; left empty, the run has its number, solver and learn rate again."""
        field = QLineEdit(parent)
        field.setMaxLength(LONGEST_NAME)
        field.setAccessibleName(tr("Name of the run"))
        field.setPlaceholderText(tr("Number, solver and learn rate"))
        return field

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Place the field over the row."""
        editor.setGeometry(option.rect.adjusted(MARGIN, 6, -MARGIN, -6))


def _font(option: QStyleOptionViewItem, weight: QFont.Weight) -> QFont:
    font = QFont(option.font)
    font.setWeight(weight)
    return font


def _write(
    painter: QPainter,
    font: QFont,
    colour: QColor,
    area: QRect,
    text: str,
    side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    text = markup.elided(QFontMetrics(font), markup.visible(text), Qt.TextElideMode.ElideRight, area.width())
    painter.drawText(area, side | Qt.AlignmentFlag.AlignVCenter, text)


def _paint_sign(painter: QPainter, box: QRectF, row: RailRow) -> None:
    """Paint the state as a shape: a ring that fills, a tick, a square, a cross, a dashed ring, bars; the arrow of a
    folder."""
    palette = theme.current()
    if row.kind in ("folder", "model"):
        fold = "chevron-down" if row.is_open else "chevron-right"
        icons.draw(painter, "network" if row.kind == "model" else fold, box, palette.muted)
        return
    middle = box.center()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    pen = QPen(palette.muted, 1.6)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    match row.state:
        case "paused":
            painter.setPen(QPen(palette.warning, 2.4))
            for dx in (-2.5, 2.5):
                painter.drawLine(middle + QPointF(dx, -4), middle + QPointF(dx, 4))
        case _ if row.is_alive:
            ring = box.adjusted(1.5, 1.5, -1.5, -1.5)
            painter.setPen(QPen(palette.line, 2.6))
            painter.drawEllipse(ring)
            painter.setPen(QPen(palette.accent, 2.6))
            painter.drawArc(ring, 90 * 16, -round(360 * 16 * row.share))
        case "finished":
            pen.setColor(palette.good)
            painter.setPen(pen)
            points = (QPointF(-5, 0.5), QPointF(-1.5, 4), QPointF(5, -3.5))
            painter.drawPolyline(QPolygonF([middle + point for point in points]))
        case "stopped":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.muted)
            painter.drawRoundedRect(QRectF(middle.x() - 4, middle.y() - 4, 8, 8), 2, 2)
        case "lost":
            pen.setColor(palette.error)
            pen.setDashPattern([1.5, 2.0])
            painter.setPen(pen)
            painter.drawEllipse(box.adjusted(2, 2, -2, -2))
        case _:
            pen.setColor(palette.error)
            painter.setPen(pen)
            for sign in (-1, 1):
                painter.drawLine(middle + QPointF(-4, -4 * sign), middle + QPointF(4, 4 * sign))
