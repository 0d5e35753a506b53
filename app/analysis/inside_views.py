"""Pictures of explanations: heat maps over samples, grids of maps, bars by name, and samples as points."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from netwright.app.data.tiles import GAP, Tile, class_colour
from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.designer import markup, theme
from netwright.engine.core.text import format_number
from netwright.engine.drawing.colour_maps import colours, limits

Array = NDArray[Any]
SIDE, LEAST_SIDE = 300, 160
BAR_WIDTH, BAR_GAP = 12, 16
LABEL_PIXELS = 11
LABELS_WIDTH = 72
SMOOTH_FROM = 48
"""Pictures with fewer pixels per side are enlarged without smoothing, so that pixels can be told apart."""
OPACITY = 55
"""Opacity of a heat map over its sample in per cent, until another one is chosen."""


def image_of(values: Array) -> QImage:
    """Return bytes (H, W) or (H, W, 3) as an image."""
    pixels = np.repeat(values[..., np.newaxis], 3, 2) if values.ndim == 2 else values
    pixels = np.ascontiguousarray(pixels, np.uint8)
    high, wide = pixels.shape[:2]
    return QImage(pixels.data, wide, high, 3 * wide, QImage.Format.Format_RGB888).copy()


def coloured(values: Array, span: tuple[float, float], *, is_signed: bool) -> QImage:
    """Return values (H, W) as an image in the colours of a map, from the first value of `span` to the second."""
    table = np.array(colours("diverging" if is_signed else "sequential"), np.uint8)
    clean = np.nan_to_num(values.astype(np.float64))
    places = np.rint((clean - span[0]) / (span[1] - span[0]) * (len(table) - 1))
    return image_of(table[np.clip(places, 0, len(table) - 1).astype(int)])


def span_of(values: Array, *, is_signed: bool) -> tuple[float, float]:
    """Return the values of the first and the last colour."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    return limits(float(finite.min()), float(finite.max()), is_signed=is_signed)


class View(QWidget):
    """A painted picture with labels, which is drawn anew in other colours."""

    def __init__(self) -> None:
        super().__init__()
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture."""
        painter = QPainter(self)
        font = theme.figures(self.font())
        font.setPixelSize(LABEL_PIXELS)
        painter.setFont(font)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Draw the picture into the whole widget."""
        raise NotImplementedError

    def words(self, at: QPointF) -> str:
        """Return the text about the point under the pointer."""
        return ""

    def event(self, event: QEvent) -> bool:
        """Show a tooltip on the point under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), markup.wrapped(self.words(QPointF(event.pos()))), self)
            return True
        return super().event(event)


class HeatView(View):
    """A sample, beside it the heat map over it, and a colour bar. Without a sample the map alone."""

    def __init__(self, heat: Array, picture: Array | None, *, is_signed: bool) -> None:
        """heat: (H, W). picture: bytes (H, W) or (H, W, 3)."""
        super().__init__()
        self.heat, self.opacity = heat, OPACITY / 100
        self.span = span_of(heat, is_signed=is_signed)
        self._map = coloured(heat, self.span, is_signed=is_signed)
        self._bar = coloured(np.linspace(*self.span[::-1], 256)[:, None], self.span, is_signed=is_signed)
        self._picture = image_of(picture) if picture is not None else None
        self._count = 1 if picture is None else 2
        ratio = heat.shape[0] / heat.shape[1]
        self._height = round(min(SIDE, max(LEAST_SIDE / 2 if picture is None else LEAST_SIDE, SIDE * ratio)))
        wide = SIDE if picture is not None or 0.5 < ratio < 2 else 2 * SIDE
        self._width = round(min(wide, self._height / ratio)) if picture is not None else wide
        self.setFixedSize(self.sizeHint())

    def sizeHint(self) -> QSize:
        """Return the size of the pictures with the colour bar."""
        return QSize(self._count * (self._width + GAP) + BAR_GAP + BAR_WIDTH + LABELS_WIDTH, self._height + 2)

    def set_opacity(self, percent: int) -> None:
        """Draw the heat map with this opacity."""
        self.opacity = percent / 100
        self.update()

    def _places(self) -> list[QRectF]:
        return [QRectF(at * (self._width + GAP), 1, self._width, self._height) for at in range(self._count)]

    def draw(self, painter: QPainter) -> None:
        """Draw sample, map and colour bar."""
        places = self._places()
        is_smooth = max(self.heat.shape) >= SMOOTH_FROM
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
        if self._picture is not None:
            for place in places:
                painter.drawImage(place, self._picture)
        painter.setOpacity(self.opacity if self._picture is not None else 1.0)
        painter.drawImage(places[-1], self._map)
        painter.setOpacity(1.0)
        bar = QRectF(places[-1].right() + BAR_GAP, 1, BAR_WIDTH, self._height)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(bar, self._bar)
        palette = theme.current()
        painter.setPen(QPen(palette.line, 1))
        for place in (*places, bar):
            painter.drawRect(place)
        painter.setPen(palette.muted)
        low, high = self.span
        marks = [(high, 0.0), (low, 1.0), *([(0.0, 0.5)] if low == -high else [])]
        for value, share in marks:
            y = bar.top() + share * bar.height()
            box = QRectF(bar.right() + 6, min(max(y - 8, 0), self.height() - 16), LABELS_WIDTH - 6, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, format_number(value))

    def words(self, at: QPointF) -> str:
        """Return the value under the pointer."""
        for place in self._places():
            if place.contains(at):
                row = min(int((at.y() - place.top()) / place.height() * self.heat.shape[0]), self.heat.shape[0] - 1)
                column = min(int((at.x() - place.left()) / place.width() * self.heat.shape[1]), self.heat.shape[1] - 1)
                return f"row {row}, column {column}: {format_number(self.heat[row, column])}"
        return ""


class MapTile(Tile):
    """A map (H, W) in colours, on a scale of its own, or a picture of bytes, above its caption."""

    elide = Qt.TextElideMode.ElideRight

    def __init__(self, values: Array, caption: str, side: int) -> None:
        """values: bytes (H, W) or (H, W, 3), or numbers (H, W) or, as three colours, (H, W, 3)."""
        self.size_wanted = QSize(side, side)
        if values.dtype == np.uint8:
            super().__init__(caption)
            self.image = image_of(values)
            return
        low, high = float(values.min()), float(values.max())
        super().__init__(caption, f"{caption}: {format_number(low)} to {format_number(high)}")
        if values.ndim == 3:
            self.image = image_of(np.rint((values - low) / ((high - low) or 1.0) * 255).astype(np.uint8))
        else:
            is_signed = low < 0
            self.image = coloured(values, span_of(values, is_signed=is_signed), is_signed=is_signed)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the map as large as fits."""
        wide, high = self.image.width(), self.image.height()
        scale = min(area.width() / wide, area.height() / high)
        scale = max(1.0, math.floor(scale)) if scale > 1 else scale
        size = QRectF(0, 0, wide * scale, high * scale)
        size.moveCenter(area.center())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, max(wide, high) >= SMOOTH_FROM)
        painter.drawImage(size, self.image)


def bars_of(rows: Sequence[Mapping[str, Any]]) -> BarRows:
    """Return bars from zero to the right or to the left, one per row with `name`, `value` and perhaps `std`, its
    spread."""
    bars = BarRows((Column(most=150, is_right=True), Column(is_right=True, is_muted=True)), BarStyle(bar=14, text=11))
    bars.show_rows([_bar_row(row) for row in rows], mark=0.0)
    return bars


def _bar_row(row: Mapping[str, Any]) -> BarRow:
    value, spread = float(row["value"]), float(row.get("std", 0.0))
    name, text = str(row["name"]), format_number(row["value"])
    tip = f"{name}: {text}" + (f" ± {format_number(row['std'])}" if "std" in row else "")
    interval = (value - spread, value + spread) if spread else None
    return BarRow((name, text), ((value, "accent" if value >= 0 else "error"),), interval, tip=tip)


class ScatterView(View):
    """Samples as points, coloured by class or by number; wrong answers have a ring. A click tells which one it is."""

    chosen = Signal(int)
    """Place in the split of the sample that was clicked."""
    RADIUS, MARGIN, LEGEND_WIDTH, ROW = 3.5, 14, 150, 18

    def __init__(self, arrays: Mapping[str, Array], classes: Sequence[str], texts: Sequence[str]) -> None:
        """`arrays` and `texts` are those of the method `embedding`; without `classes` labels are numbers."""
        super().__init__()
        self.points, self._arrays, self._classes = arrays["points"].astype(float), arrays, list(classes)
        self._texts, self.selected = list(texts), -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(440)
        self.setMinimumWidth(320)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        labels = arrays["labels"].astype(float)
        self._labels = labels
        finite = labels[np.isfinite(labels)]
        self._range = limits(float(finite.min()), float(finite.max()), is_signed=False) if finite.size else (0.0, 1.0)

    def places(self) -> Array:
        """Return the points in pixels (N, 2)."""
        low, high = self.points.min(0), self.points.max(0)
        size = np.array([self.width() - self.LEGEND_WIDTH, self.height()]) - 2 * self.MARGIN
        shares = (self.points - low) / np.where(high > low, high - low, 1.0)
        shares[:, 1] = 1 - shares[:, 1]
        return np.asarray(self.MARGIN + shares * size)

    def draw(self, painter: QPainter) -> None:
        """Draw points and legend."""
        palette = theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(palette.line, 1))
        painter.drawRect(QRectF(0.5, 0.5, self.width() - self.LEGEND_WIDTH, self.height() - 1))
        predictions = self._arrays["predictions"]
        ring = QPen(palette.error, 1.6)
        table = colours("sequential")
        for number, (x, y) in enumerate(self.places().tolist()):
            label = self._labels[number]
            if self._classes:
                painter.setBrush(class_colour(int(label)) if label >= 0 else palette.muted)
                painter.setPen(ring if predictions[number] != label else Qt.PenStyle.NoPen)
            else:
                share = (label - self._range[0]) / (self._range[1] - self._range[0])
                at = min(max(int(255 * share), 0), 255) if math.isfinite(share) else 0
                painter.setBrush(QColor(*table[at]))
                painter.setPen(Qt.PenStyle.NoPen)
            radius = self.RADIUS + (3 if number == self.selected else 0)
            if number == self.selected:
                painter.setPen(QPen(palette.text, 2))
            painter.drawEllipse(QPointF(x, y), radius, radius)
        self._draw_legend(painter)

    def _draw_legend(self, painter: QPainter) -> None:
        palette, left = theme.current(), self.width() - self.LEGEND_WIDTH + 16
        room = self.LEGEND_WIDTH - 36
        if not self._classes:
            bar = QRectF(left, 8, BAR_WIDTH, self.height() - 32)
            painter.drawImage(bar, coloured(np.linspace(1, 0, 256)[:, None], (0.0, 1.0), is_signed=False))
            painter.setPen(palette.muted)
            for value, y in ((self._range[1], bar.top()), (self._range[0], bar.bottom())):
                painter.drawText(
                    QRectF(left + 20, y - 8, room, 16), Qt.AlignmentFlag.AlignVCenter, format_number(value)
                )
            return
        most = (self.height() - 3 * self.ROW) // self.ROW
        for number, name in enumerate(self._classes[:most]):
            y = 10.0 + number * self.ROW
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(class_colour(number))
            painter.drawEllipse(QPointF(left + 5, y), 4, 4)
            painter.setPen(palette.text)
            text = markup.elided(painter.fontMetrics(), name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(left + 18, y - 8, room, 16), Qt.AlignmentFlag.AlignVCenter, text)
        y = 18.0 + min(len(self._classes), most) * self.ROW
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(palette.error, 1.6))
        painter.drawEllipse(QPointF(left + 5, y), 4, 4)
        painter.setPen(palette.muted)
        painter.drawText(QRectF(left + 18, y - 8, room, 16), Qt.AlignmentFlag.AlignVCenter, "wrong answer")

    def nearest(self, at: QPointF) -> int:
        """Return the point under the pointer, or -1."""
        apart = np.hypot(*(self.places() - (at.x(), at.y())).T)
        index = int(apart.argmin())
        return index if apart[index] <= 2.5 * self.RADIUS else -1

    def words(self, at: QPointF) -> str:
        """Return label and answer of the sample under the pointer."""
        index = self.nearest(at)
        if index < 0:
            return ""
        answer = self._arrays["predictions"][index]
        answer_text = self._classes[int(answer)] if self._classes else format_number(answer)
        return f"sample {self._arrays['places'][index]}: {self._texts[index]}; answer {answer_text}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the sample under the pointer."""
        index = self.nearest(event.position())
        if index >= 0:
            self.selected = index
            self.update()
            self.chosen.emit(int(self._arrays["places"][index]))
