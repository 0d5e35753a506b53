"""The arithmetic of axes: round ticks, their words, and the way from values to pixels."""

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF

from app.plots.series import Floats
from app.plots.timeline import Along
from engine.core.text import format_percent

# No tick is useful below this: beyond it a float has no digits left.
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The range of an axis and where its ticks stand, in the values' own units."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def share(self, values: Floats) -> Floats:
        """Places on the axis, 0 at its low end and 1 at its high end; NaN where a value has none."""
        low, high = self.low, self.high
        if self.is_log:
            values = np.log10(np.where(values > 0, values, np.nan))
            low, high = math.log10(low), math.log10(high)
        return np.asarray((values - low) / (high - low), np.float64)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Two axes in a rectangle of pixels."""

    rect: QRectF
    x: Axis
    y: Axis

    def across(self, values: Floats) -> Floats:
        """Pixels from the left."""
        return self.rect.left() + self.x.share(values) * self.rect.width()

    def down(self, values: Floats) -> Floats:
        """Pixels from the top."""
        return self.rect.bottom() - self.y.share(values) * self.rect.height()

    def place_at(self, pixel: float) -> float:
        """The place on the lower axis under a pixel."""
        share, axis = (pixel - self.rect.left()) / self.rect.width(), self.x
        if axis.is_log:
            return float(axis.low * (axis.high / axis.low) ** share)
        return axis.low + share * (axis.high - axis.low)


def nice_step(span: float, count: int) -> float:
    """A round distance that divides a span into about `count` parts."""
    raw = max(span / max(1, count), _TINY)
    power = 10.0 ** math.floor(math.log10(raw))
    return next((factor * power for factor in (1, 2, 2.5, 5) if raw <= factor * power * 1.0001), 10 * power)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What the lower axis counts: values are divided by so much and followed by its name."""

    name: str
    divisor: float = 1.0

    def label(self, value: float, apart: float) -> str:
        """A number with as many decimals as ticks need that stand `apart`."""
        apart = apart / self.divisor
        decimals = next((n for n in range(6) if abs(round(apart, n) - apart) < apart * 1e-6), 6)
        return f"{value / self.divisor:,.{decimals}f}"


_OF_TIME = (
    (7200.0, Unit(name="h", divisor=3600.0)),
    (180.0, Unit(name="min", divisor=60.0)),
    (0.0, Unit(name="s")),
)


def places_axis(low: float, high: float, along: Along, count: int, *, is_log: bool = False) -> tuple[Axis, Unit]:
    """The lower axis between two places, and how its values are told. Only places above 0 can be logarithmic."""
    unit = Unit(name=along)
    if along == "time":
        unit = next(unit for least, unit in _OF_TIME if high - low >= least)
    if is_log and 0 < low < high:
        powers = range(math.floor(math.log10(low / unit.divisor)), math.ceil(math.log10(high / unit.divisor)) + 1)
        factors = (1, 2, 5) if len(powers) <= 3 else (1,)
        places = [unit.divisor * factor * 10.0**power for power in powers for factor in factors]
        ticks = [place for place in places if low <= place * 1.000001 and place <= high * 1.000001]
        return Axis(low=low, high=high, ticks=tuple(ticks), is_log=True), unit
    high = max(high, low + (1.0 if along != "epochs" else 1e-9))
    step = nice_step((high - low) / unit.divisor, count) * unit.divisor
    if along == "iterations":
        step = max(1.0, step)
    first = math.ceil(low / step - 1e-9)
    ticks = [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]
    return Axis(low=low, high=high, ticks=tuple(ticks)), unit


def linear_axis(low: float, high: float, count: int) -> Axis:
    """Round ends around the values; from zero where zero is near."""
    if low >= 0 and low < 0.5 * high:
        low = 0.0
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        pad = abs(high) * 0.1 or 1.0
        low, high = low - pad, high + pad
    step = nice_step(high - low, count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    return Axis(low=ticks[0], high=ticks[-1], ticks=ticks)


def log_axis(low: float, high: float, count: int) -> Axis:
    """Decades around the positive values, with steps between where they are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    stride = max(1, -(-(last - first) // max(1, count)))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    places = (factor * 10.0**power for power in range(first, last + 1, stride) for factor in factors)
    ticks = tuple(place for place in places if place <= 10.0**last)
    return Axis(low=10.0**first, high=10.0**last, ticks=ticks, is_log=True)


def figure(value: float, is_percent: bool) -> str:
    """A value in words: three digits, or per cent with one decimal."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    if is_percent:
        return format_percent(value, 1)
    if value == 0 or 0.001 <= abs(value) < 100_000:
        digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
        return f"{value:,.{min(digits, 5)}f}"
    return _short_power(f"{value:.2e}")


def _short_power(text: str) -> str:
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def tick_label(value: float, axis: Axis, is_percent: bool) -> str:
    """The word beside a horizontal line."""
    if is_percent:
        text = f"{100 * value:.6g}"
        return f"{text} %" if value == axis.ticks[-1] else text
    largest = max(abs(axis.low), abs(axis.high))
    if axis.is_log or not 1e-3 <= largest < 1e6:
        return _short_power(f"{value:,.6g}")
    step = axis.ticks[1] - axis.ticks[0] if len(axis.ticks) > 1 else 1.0
    decimals = next((n for n in range(9) if abs(round(step, n) - step) < step * 1e-6), 9)
    return f"{value + 0.0:,.{decimals}f}" if abs(value) > step * 1e-6 else "0"
