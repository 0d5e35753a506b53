"""Pictures of explanations: heat maps over samples, grids of maps, bars by name, and samples as points."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsRectItem, QSizePolicy

from netwright.app.data.tiles import GAP, Tile, class_colour
from netwright.app.plots.axes import LABEL_PIXELS, TickAxis
from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.plots.heat_map import BAR_WIDTH, ColourBar, HeatMap, StillCanvas, Texts
from netwright.app.plots.plot_items import Points, ZoomBox, polygon
from netwright.designer import markup, theme
from netwright.designer.language import named, tr
from netwright.engine.core.text import format_number
from netwright.engine.drawing.colour_maps import colours, limits

Array = NDArray[Any]
SIDE, LEAST_SIDE = 300, 160
BAR_GAP, EDGE = 16, 8
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


def coloured(values: Array, span: tuple[float, float], *, is_signed: bool) -> NDArray[np.uint8]:
    """Return values (H, W) in the colours of a map (H, W, 3), from the first value of `span` to the second."""
    table = np.array(colours("diverging" if is_signed else "sequential"), np.uint8)
    clean = np.nan_to_num(values.astype(np.float64))
    places = np.rint((clean - span[0]) / (span[1] - span[0]) * (len(table) - 1))
    pixels: NDArray[np.uint8] = table[np.clip(places, 0, len(table) - 1).astype(int)]
    return pixels


def span_of(values: Array, *, is_signed: bool) -> tuple[float, float]:
    """Return the values of the first and the last colour."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    return limits(float(finite.min()), float(finite.max()), is_signed=is_signed)


class HeatView(StillCanvas):
    """A sample, beside it the heat map over it, and a colour bar. Without a sample the map alone."""

    def __init__(self, heat: Array, picture: Array | None, *, is_signed: bool) -> None:
        """heat: (H, W). picture: bytes (H, W) or (H, W, 3)."""
        super().__init__()
        self.heat, self.span = heat, span_of(heat, is_signed=is_signed)
        count = 1 if picture is None else 2
        self._maps = [HeatMap(self.scene(), number + 1) for number in range(count)]
        if picture is not None:
            for heat_map in self._maps:
                heat_map.show(0, picture)
        self._heat = self._maps[-1].images[-1]
        self._maps[-1].show(-1, coloured(heat, self.span, is_signed=is_signed))
        self.set_opacity(100 if picture is None else OPACITY)
        self._bar = ColourBar(self.scene())
        self._bar.show(0, coloured(np.linspace(*self.span, 256)[:, None], self.span, is_signed=is_signed))
        ratio = heat.shape[0] / heat.shape[1]
        self._height = round(min(SIDE, max(LEAST_SIDE / 2 if picture is None else LEAST_SIDE, SIDE * ratio)))
        wide = SIDE if picture is not None or 0.5 < ratio < 2 else 2 * SIDE
        self._width = round(min(wide, self._height / ratio)) if picture is not None else wide
        self.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, max(heat.shape) >= SMOOTH_FROM)
        self.prepare_canvas()
        self.setFixedSize(self.sizeHint())

    def sizeHint(self) -> QSize:
        """Return the size of the pictures with the colour bar."""
        wide = len(self._maps) * (self._width + GAP) + BAR_GAP + BAR_WIDTH + LABELS_WIDTH
        return QSize(wide, self._height + 2 * EDGE)

    def set_opacity(self, percent: int) -> None:
        """Draw the heat map with this opacity."""
        self._heat.setOpacity(percent / 100)

    def axes(self) -> list[TickAxis]:
        """Return the axis of the colour bar."""
        return [self._bar.axis]

    def views(self) -> list[ZoomBox]:
        """Return the views of the pictures."""
        return [heat_map.view for heat_map in self._maps]

    def _places(self) -> list[QRectF]:
        return [QRectF(at * (self._width + GAP), EDGE, self._width, self._height) for at in range(len(self._maps))]

    def draw(self) -> str:
        """Lay out sample, map and colour bar."""
        places, (low, high) = self._places(), self.span
        for heat_map, place in zip(self._maps, places, strict=True):
            heat_map.place(place)
        marks = [(1.0, high), (0.0, low), *([(0.5, 0.0)] if low == -high else [])]
        texts = [(share, format_number(value)) for share, value in marks]
        self._bar.lay(places[-1].right() + BAR_GAP, places[-1], texts, LABELS_WIDTH)
        return ""

    def words(self, at: QPointF) -> str:
        """Return the value under the pointer."""
        for place in self._places():
            if place.contains(at):
                row = min(int((at.y() - place.top()) / place.height() * self.heat.shape[0]), self.heat.shape[0] - 1)
                column = min(int((at.x() - place.left()) / place.width() * self.heat.shape[1]), self.heat.shape[1] - 1)
                value = format_number(self.heat[row, column])
                return tr("row {row}, column {column}: {value}", row=row, column=column, value=value)
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
        super().__init__(
            caption, tr("{caption}: {low} to {high}", caption=caption, low=format_number(low), high=format_number(high))
        )
        if values.ndim == 3:
            self.image = image_of(np.rint((values - low) / ((high - low) or 1.0) * 255).astype(np.uint8))
        else:
            is_signed = low < 0
            self.image = image_of(coloured(values, span_of(values, is_signed=is_signed), is_signed=is_signed))

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
    tip = named(name, text) + (f" ± {format_number(row['std'])}" if "std" in row else "")
    interval = (value - spread, value + spread) if spread else None
    return BarRow((name, text), ((value, "accent" if value >= 0 else "error"),), interval, tip=tip)


class ScatterView(StillCanvas):
    """Samples as points, coloured by class or by number; wrong answers have a ring. A click tells which one it is."""

    chosen = Signal(int)
    """Place in the split of the sample that was clicked."""
    RADIUS, MARGIN, LEGEND_WIDTH, ROW = 3.5, 14, 150, 18

    def __init__(self, arrays: Mapping[str, Array], classes: Sequence[str], texts: Sequence[str]) -> None:
        """`arrays` and `texts` are those of the method `embedding`; without `classes` labels are numbers."""
        self.points, self._arrays, self._classes = arrays["points"].astype(float), arrays, list(classes)
        self._names, self.selected = list(texts), -1
        super().__init__()
        self._frame, self._dots, self._texts = QGraphicsRectItem(), Points(), Texts()
        self._bar = ColourBar(self.scene())
        for item in (self._frame, self._dots, self._texts):
            self.scene().addItem(item)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(440)
        self.setMinimumWidth(320)
        labels = arrays["labels"].astype(float)
        self._labels = labels
        finite = labels[np.isfinite(labels)]
        self._range = limits(float(finite.min()), float(finite.max()), is_signed=False) if finite.size else (0.0, 1.0)
        ramp = coloured(np.linspace(0, 1, 256)[:, None], (0.0, 1.0), is_signed=False)
        self._bar.show(0, ramp)
        self._bar.set_visible(not self._classes)
        self.prepare_canvas()
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def places(self) -> Array:
        """Return the points in pixels (N, 2)."""
        low, high = self.points.min(0), self.points.max(0)
        size = np.array([self.width() - self.LEGEND_WIDTH, self.height()]) - 2 * self.MARGIN
        shares = (self.points - low) / np.where(high > low, high - low, 1.0)
        shares[:, 1] = 1 - shares[:, 1]
        return np.asarray(self.MARGIN + shares * size)

    def axes(self) -> list[TickAxis]:
        """Return the axis of the colour bar."""
        return [self._bar.axis]

    def draw(self) -> str:
        """Lay out points and legend."""
        palette, area = theme.current(), QRectF(self.rect())
        self._frame.setPen(QPen(palette.line, 1))
        self._frame.setRect(QRectF(0.5, 0.5, area.width() - self.LEGEND_WIDTH, area.height() - 1))
        self._texts.clear(area, theme.figures(self.font()))
        self._dots.clear(area)
        groups, colour_of = self._groups()
        places = self.places()
        for group in np.unique(groups).tolist():
            x, y = places[groups == group].T
            self._dots.add_dots(polygon(x, y), colour_of(group), 2 * self.RADIUS)
        if self._classes:
            for place in places[self._arrays["predictions"] != self._labels].tolist():
                self._dots.add_ring(QPointF(*place), palette.error, self.RADIUS)
        if self.selected >= 0:
            place = QPointF(*places[self.selected].tolist())
            self._dots.add_dots(QPolygonF([place]), colour_of(int(groups[self.selected])), 2 * self.RADIUS + 6)
            self._dots.add_ring(place, palette.text, self.RADIUS + 3)
        self._lay_legend()
        return ""

    def _groups(self) -> tuple[NDArray[np.int64], Callable[[int], QColor]]:
        """Return the group of points of one colour to which each point belongs, and the colour of a group."""
        if self._classes:
            labels = np.nan_to_num(self._labels, nan=-1).astype(np.int64)
            return labels, lambda label: class_colour(label) if label >= 0 else QColor(theme.current().muted)
        table, (low, high) = colours("sequential"), self._range
        levels = np.rint(np.nan_to_num((self._labels - low) / (high - low)) * (len(table) - 1))
        return np.clip(levels, 0, len(table) - 1).astype(np.int64), lambda level: QColor(*table[level])

    def _lay_legend(self) -> None:
        """Lay out the names of the classes beside dots, or the values of the colours beside their bar."""
        palette, left, room = theme.current(), self.width() - self.LEGEND_WIDTH + 16, self.LEGEND_WIDTH - 36
        if not self._classes:
            texts = [(float(share), format_number(value)) for share, value in enumerate(self._range)]
            self._bar.lay(left, QRectF(left, EDGE, BAR_WIDTH, self.height() - 2 * EDGE), texts, room)
            return
        font = theme.figures(self.font())
        font.setPixelSize(LABEL_PIXELS)
        metrics, names = QFontMetricsF(font), self._classes[: (self.height() - 3 * self.ROW) // self.ROW]

        def add(y: float, text: str, colour: QColor) -> QPointF:
            label = markup.elided(metrics, text, Qt.TextElideMode.ElideRight, room)
            self._texts.add(QRectF(left + 18, y - 8, room, 16), Qt.AlignmentFlag.AlignVCenter, label, colour)
            return QPointF(left + 5, y)

        for number, name in enumerate(names):
            place = add(10.0 + number * self.ROW, name, palette.text)
            self._dots.add_dots(QPolygonF([place]), class_colour(number), 8)
        place = add(18.0 + len(names) * self.ROW, tr("wrong answer"), palette.muted)
        self._dots.add_ring(place, palette.error, 4)

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
        said = self._classes[int(answer)] if self._classes else format_number(answer)
        place, name = self._arrays["places"][index] + 1, self._names[index]
        return tr("sample {place}: {name}; answer {answer}", place=place, name=name, answer=said)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the sample under the pointer."""
        index = self.nearest(event.position())
        if index >= 0:
            self.selected = index
            self.refresh()
            self.chosen.emit(int(self._arrays["places"][index]))
