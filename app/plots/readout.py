"""What curves say under the pointer: the figures, and the box that shows them."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.plots.drawing import Drawing
from app.plots.scales import figure
from app.plots.series import Floats
from designer import theme
from engine.core.text import format_duration


def readings(drawing: Drawing, step: float, smoothed: tuple[Floats, Floats]) -> list[tuple[str, str]]:
    """What the curves say at a step, as pairs of name and value."""
    series, shown = drawing.training, drawing.is_percent
    result: list[tuple[str, str]] = []
    if len(series):
        index = min(series.index(round(step)), len(series) - 1)
        place = float(series.steps(np.array([index]))[0])
        result += _where(drawing, place)
        result.append((drawing.word, figure(float(series.values(index, index + 1)[0]), shown)))
        x, y = smoothed
        if drawing.smoothing > 0 and len(x):
            result.append(("smoothed", figure(float(np.interp(place, x, y)), shown)))
        for name, other in drawing.beside.items():
            if len(other.line):
                index = min(other.line.index(place), len(other.line) - 1)
                result.append((name, figure(float(other.line.values(index, index + 1)[0]), shown)))
    for split, points in drawing.points.items():
        if nearest := points.nearest(step):
            result.append((f"{split} at {nearest[0]:,.0f}", figure(nearest[1], shown)))
    return result


def _where(drawing: Drawing, step: float) -> list[tuple[str, str]]:
    """The step in iterations, and as the lower axis counts."""
    across = drawing.across
    found = [("iteration", f"{step:,.0f}")]
    place = across.timeline.place(step, across.along)
    if across.along == "epochs":
        found.append(("epoch", f"{place:,.2f}"))
    if across.along == "time":
        found.append(("time", format_duration(place)))
    return found


def paint(painter: QPainter, rect: QRectF, x: float, rows: list[tuple[str, str]]) -> None:
    """A vertical line, and a box beside it with a row each."""
    palette = theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(palette.muted, 0))
    painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
    metrics = QFontMetricsF(painter.font())
    names = max(metrics.horizontalAdvance(name) for name, _ in rows)
    width = names + 16 + max(metrics.horizontalAdvance(value) for _, value in rows) + 24
    left = x + 12 if x + 12 + width < rect.right() else x - 12 - width
    box = QRectF(left, rect.top() + 8, width, 16 * len(rows) + 16)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(palette.line, 1))
    painter.setBrush(palette.raised)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for number, (name, value) in enumerate(rows):
        line = QRectF(box.left() + 12, box.top() + 8 + 16 * number, width - 24, 16)
        painter.setPen(palette.muted)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.setPen(palette.text)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, value)
