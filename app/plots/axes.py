"""Axes of plots: round ticks, their labels, and the axis items that draw them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from netwright.app.plots.series import Floats
from netwright.app.plots.timeline import Along
from netwright.designer import markup, theme
from netwright.designer.language import translation
from netwright.engine.core.ticks import decades, multiples, nice_step, round_ticks

LEFT_PIXELS, BOTTOM_PIXELS = 52, 24
LABEL_PIXELS = 11
GAP = 12
"""Pixels between labels."""
_NOTHING = QColor(0, 0, 0, 0)
"""A pen without a style would still draw a dot where a line has no length."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The range of an axis and where its ticks stand, in the values' own units."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def to_view(self, values: Floats) -> Floats:
        """Values in the coordinates of the view: their logarithms on a logarithmic axis, NaN where they have none."""
        return np.log10(np.where(values > 0, values, np.nan)) if self.is_log else values

    def from_view(self, coordinate: float) -> float:
        """The value at a coordinate of the view."""
        return float(10.0**coordinate if self.is_log else coordinate)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """The unit of the lower axis: values are divided by so much and followed by its name."""

    name: str
    divisor: float = 1.0
    is_whole: bool = False
    """Whether it has no fractions."""

    def _decimals(self, apart: float) -> int:
        apart = apart / self.divisor
        return next((n for n in range(6) if abs(round(apart, n) - apart) < apart * 1e-6), 6)

    def label(self, value: float, apart: float) -> str:
        """A number with as many decimals as ticks need that stand `apart`."""
        return f"{value / self.divisor:,.{self._decimals(apart)}f}"


_OF_TIME = ((7200.0, Unit(name="h", divisor=3600.0)), (180.0, Unit(name="min", divisor=60.0)), (0.0, Unit(name="s")))


def places_axis(low: float, high: float, along: Along, count: int, *, is_log: bool = False) -> tuple[Axis, Unit]:
    """The lower axis between two places, and how its values are told: round numbers. Only places above 0 can be
    logarithmic."""
    unit = Unit(name=translation(along), is_whole=along == "iterations")
    if along == "time":
        unit = next(unit for least, unit in _OF_TIME if high - low >= least)
    is_log = is_log and 0 < low < high
    high = max(high, low + (1.0 if along != "epochs" else 1e-9))
    begin, end = low / unit.divisor, high / unit.divisor
    ticks = decades(begin, end, count) if is_log else []
    if len(ticks) < 2:  # a part between two powers of ten
        ticks = round_ticks(begin, end, count, is_whole=unit.is_whole)
    return Axis(low=low, high=high, ticks=tuple(tick * unit.divisor for tick in ticks), is_log=is_log), unit


def linear_axis(low: float, high: float, count: int) -> Axis:
    """Round ends around the values; from zero where zero is near."""
    if low >= 0 and low < 0.5 * high:
        low = 0.0
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        pad = abs(high) * 0.1 or 1.0
        low, high = low - pad, high + pad
    step = nice_step(high - low, count)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return Axis(low=low, high=high, ticks=tuple(multiples(low, high, step)))


def log_axis(low: float, high: float, count: int) -> Axis:
    """Decades around the positive values, with steps between where they are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    low, high = 10.0**first, 10.0 ** max(last, first + 1)
    return Axis(low=low, high=high, ticks=tuple(decades(low, high, count)), is_log=True)


def values_axis(values: Floats, count: int, *, is_log: bool = False) -> Axis:
    """The axis for some values, of which those that are not finite do not count; logarithmic only if any is above 0."""
    values = values[np.isfinite(values)]
    if is_log and (values > 0).any():
        return log_axis(float(values[values > 0].min()), float(values.max()), count)
    return linear_axis(float(values.min()), float(values.max()), count) if len(values) else linear_axis(0, 1, count)


def _short_power(text: str) -> str:
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def tick_labels(axis: Axis, *, is_percent: bool = False) -> list[str]:
    """The labels of an axis of values, with as many decimals as tell its ticks apart."""
    if is_percent:
        labels = [f"{100 * tick:.6g}" for tick in axis.ticks]
        return [*labels[:-1], *(f"{label} %" for label in labels[-1:])]
    if axis.is_log or not 1e-3 <= max(abs(axis.low), abs(axis.high)) < 1e6:
        return [_short_power(f"{tick:,.6g}") for tick in axis.ticks]
    step = axis.ticks[1] - axis.ticks[0] if len(axis.ticks) > 1 else 1.0
    decimals = next((n for n in range(9) if abs(round(step, n) - step) < step * 1e-6), 9)
    return [f"{tick + 0.0:,.{decimals}f}" if abs(tick) > step * 1e-6 else "0" for tick in axis.ticks]


class TickAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph ships no types
    """An axis without a line of its own, whose ticks and labels are given: `show_ticks`."""

    def __init__(self, orientation: str, overhang: int = 0, *, has_unit: bool = True) -> None:
        """Labels may stand out over the right end by so many pixels. With `has_unit` the last one has a unit."""
        super().__init__(orientation, maxTickLength=0)
        self.enableAutoSIPrefix(False)
        self.setStyle(tickAlpha=255, tickTextOffset=8)
        self._overhang, self._has_unit = overhang, has_unit
        self.name = ""
        """The name of a lower axis, which stands below its labels."""
        self._ticks: list[tuple[float, str]] = []
        # Without it the grid is drawn anew with every picture, which takes three times as long.
        self.setCacheMode(self.CacheMode.DeviceCoordinateCache)
        if orientation == "bottom":
            self.setHeight(BOTTOM_PIXELS)
        else:
            self.setWidth(LEFT_PIXELS)
            self.setGrid(255 if orientation == "left" else False)

    def dress(self, font: QFont) -> None:
        """Use this font, and the colours that hold."""
        label_font = theme.figures(font)
        label_font.setPixelSize(LABEL_PIXELS)
        self.setTickFont(label_font)
        palette = theme.current()
        self.setPen(_NOTHING)
        self.setTickPen(palette.line if self.orientation == "left" else _NOTHING)
        self.setTextPen(palette.muted)

    def show_ticks(self, axis: Axis, labels: Sequence[str]) -> None:
        """Show these labels at the ticks of an axis."""
        places = [math.log10(tick) for tick in axis.ticks] if axis.is_log else axis.ticks
        self.show_texts(list(zip(places, labels, strict=True)))

    def show_texts(self, ticks: list[tuple[float, str]]) -> None:
        """Show texts at coordinates of the view."""
        if ticks != self._ticks:
            self._ticks = ticks
            self.setTicks([ticks])

    def boundingRect(self) -> QRectF:
        """With room for labels that stand out over the ends."""
        rect: QRectF = super().boundingRect()
        return rect.adjusted(-LEFT_PIXELS, -8, self._overhang, 8)

    def generateDrawSpecs(self, painter: QPainter) -> Any:
        """Places the labels: below the plot each number under its tick, and the unit once, behind the last number where
        it does not stand over its neighbour, else behind one before."""
        if self.orientation == "left":
            return super().generateDrawSpecs(painter)
        rect, (low, high), metrics = self.mapRectFromParent(self.geometry()), self.range, QFontMetricsF(painter.font())
        texts: list[tuple[QRectF, Qt.TextFlag | Qt.AlignmentFlag, str]] = []
        if self.orientation == "right":
            for place, text in self._ticks:
                middle = rect.bottom() - (place - low) / (high - low) * rect.height()
                box = QRectF(rect.left() + 5, middle - 8, rect.width(), 16)
                texts.append((box, Qt.AlignmentFlag.AlignVCenter, text))
            return (_NOTHING, QPointF(), QPointF()), [], texts
        middles = [rect.left() + (place - low) / (high - low) * rect.width() for place, _ in self._ticks]
        parts = [text.partition(" ") if self._has_unit else (text, "", "") for _, text in self._ticks]
        halves = [metrics.horizontalAdvance(number) / 2 for number, _, _ in parts]
        unit, free = "".join(parts[-1][1:]) if parts else "", rect.right() + self._overhang
        # From the bottom, where the font of a Chinese unit has the room that the one of the numbers has.
        flags = Qt.TextFlag.TextDontClip | Qt.AlignmentFlag.AlignBottom
        for index in reversed(range(len(parts))):
            width = 2 * halves[index]
            whole = width + metrics.horizontalAdvance(unit)
            start = middles[index] - halves[index]
            before = middles[index - 1] + halves[index - 1] + GAP if index else -math.inf
            text = parts[index][0]
            if unit and max(before, start if texts else before) <= min(start, free - whole):
                text, unit, width, start = text + unit, "", whole, min(start, free - whole)
            start = start if texts else min(start, free - width)
            if start + width <= free:
                box = QRectF(start, rect.top() + 6, width, metrics.height())
                texts.append((box, flags, text))
                free = start - GAP
        if self.name:
            name = markup.elided(metrics, self.name, Qt.TextElideMode.ElideMiddle, int(rect.width()))
            below = QRectF(rect.left(), rect.top() + 20, rect.width(), metrics.height())
            texts.append((below, Qt.AlignmentFlag.AlignHCenter, name))
        return (_NOTHING, QPointF(), QPointF()), [], texts
