"""Paints the cells of the table of trials: curves, progress, colours of rows, signs of notes, and folds of groups."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from netwright.app.experiments.trials_model import CURVE, INDENT, IS_NOTED, SHARE, TINT, TrialsModel
from netwright.app.widgets import RowDelegate
from netwright.designer import icons, theme
from netwright.designer.items import Index
from netwright.engine.runs.trial_rows import Group

STEP = 16
"""Pixels that a level of groups is moved in, and the size of its chevron."""
NOTE = 6
BAR = 3
CURVE_MARGIN = 6


class TrialDelegate(RowDelegate):
    """Paints texts as the style does, and what is not text beside them."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Move the first cell in by its level."""
        super().initStyleOption(option, index)
        if index.column() == 0 and (moved := self._moved(index)):
            option.rect = option.rect.adjusted(moved, 0, 0, 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        """Paint a cell."""
        rect = QRect(option.rect)
        if (tint := index.data(TINT)) is not None:
            palette = theme.current()
            painter.fillRect(rect, palette.mixed(tint, palette.panel, 0.22 if palette.is_dark else 0.14))
            if index.column() == 0:
                painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), tint)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if index.column() == 0 and is_selected and self._moved(index):
            painter.fillRect(QRect(rect.left(), rect.top(), self._moved(index), rect.height()), theme.current().raised)
        super().paint(painter, option, index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.column() == 0:
            self._paint_fold(painter, rect, index)
        if (values := index.data(CURVE)) is not None:
            paint_curve(painter, QRectF(rect).adjusted(CURVE_MARGIN, 5, -CURVE_MARGIN, -5), values)
        if (share := index.data(SHARE)) is not None:
            self._paint_share(painter, rect, float(share))
        if index.data(IS_NOTED):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.current().warning)
            corner = QPointF(rect.right() + 1, rect.top())
            painter.drawPolygon(QPolygonF([corner, corner - QPointF(NOTE, 0), corner + QPointF(0, NOTE)]))
        painter.restore()

    @staticmethod
    def _moved(index: Index) -> int:
        model = index.model()
        if not isinstance(model, TrialsModel) or not model.group_columns:
            return 0
        return STEP * (int(index.data(INDENT) or 0) + (1 if isinstance(model.rows[index.row()], Group) else 0))

    @staticmethod
    def _paint_fold(painter: QPainter, rect: QRect, index: QModelIndex) -> None:
        model = index.model()
        group = model.rows[index.row()] if isinstance(model, TrialsModel) else None
        if isinstance(group, Group) and isinstance(model, TrialsModel):
            name = "chevron-right" if model.is_folded(group) else "chevron-down"
            top = rect.top() + (rect.height() - STEP + 2) / 2
            box = QRectF(rect.left() + 2 + STEP * group.level, top, STEP - 2, STEP - 2)
            icons.draw(painter, name, box, theme.current().muted)

    @staticmethod
    def _paint_share(painter: QPainter, rect: QRect, share: float) -> None:
        palette = theme.current()
        ground = QRectF(rect.left() + 6, rect.bottom() - BAR - 1, rect.width() - 16, BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.line)
        painter.drawRoundedRect(ground, 1.5, 1.5)
        painter.setBrush(palette.good)
        painter.drawRoundedRect(ground.adjusted(0, 0, -ground.width() * (1 - share), 0), 1.5, 1.5)


def paint_curve(painter: QPainter, rect: QRectF, values: Sequence[float]) -> None:
    """Paint a curve into a rectangle, from its lowest to its highest value, with a dot at its end."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return
    low, high = min(finite), max(finite)
    across = rect.width() / max(1, len(values) - 1)

    def point(number: int, value: float) -> QPointF:
        share = (value - low) / (high - low) if high > low else 0.5
        return QPointF(rect.left() + number * across, rect.bottom() - share * rect.height())

    points = [point(number, value) for number, value in enumerate(values) if math.isfinite(value)]
    accent = theme.current().accent
    painter.setPen(QPen(accent, 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(points))
    painter.setBrush(accent)
    painter.drawEllipse(points[-1], 1.6, 1.6)
