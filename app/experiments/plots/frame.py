"""A pair of axes of a plot of trials, or parts of them, in pixels."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPolygonF

from netwright.app.experiments.trial_texts import axis_value
from netwright.app.plots.plot_items import polygon
from netwright.app.plots.series import Floats
from netwright.engine.core.ticks import decades, round_ticks
from netwright.engine.runs.trial_axes import TINY, TrialAxis

INSET = 0.04
"""Share of an axis of numbers that stays free at both ends; one of texts begins half a place before the first."""
Part = tuple[float, float]
"""The part of an axis that is in view, as shares of its length."""
WHOLE: Part = (0.0, 1.0)


def ticks_of(axis: TrialAxis, count: int, part: Part = WHOLE) -> list[tuple[float, str]]:
    """Return about `count` places of a part of an axis with their labels."""
    low, high = axis.ends if part == WHOLE else (axis.place_at(_unset(axis, end)) for end in part)
    if axis.categories:
        ticks = [(float(n), text) for n, text in enumerate(axis.categories) if low <= n <= high]
        return ticks[:: max(1, math.ceil(len(ticks) / max(1, count)))]
    if axis.is_log:
        places = decades(low, high, count)
        stride = max(1, math.ceil(len(places) / max(2, count)))
        if len(places) > 1 or part == WHOLE:
            return [(place, axis_value(axis, place)) for place in places[::stride]]
    return [(place, axis.said(place)) for place in round_ticks(low, high, count, is_whole=axis.is_whole)]


def inset(axis: TrialAxis) -> float:
    """Return the share of the length of an axis that stays free at each end."""
    return 0.0 if axis.categories else INSET


def _unset(axis: TrialAxis, share: float) -> float:
    """Return the share of the way between the ends of an axis, from a share of its length."""
    return (share - inset(axis)) / (1 - 2 * inset(axis))


@dataclass(frozen=True)
class Spots:
    """Where trials are: their numbers, and `at` of shape (N, 2) in pixels."""

    numbers: NDArray[np.int64]
    at: Floats

    def of(self, mask: NDArray[np.bool_]) -> "Spots":
        """Return a part of them."""
        return Spots(self.numbers[mask], self.at[mask])

    def polygon(self) -> QPolygonF:
        """Return the points as Qt draws them."""
        return polygon(self.at[:, 0], self.at[:, 1])


NO_SPOTS = Spots(np.zeros(0, dtype=np.int64), np.zeros((0, 2)))


@dataclass(frozen=True)
class Frame:
    """A pair of axes in a rectangle of pixels, or parts of them."""

    area: QRectF
    x: TrialAxis
    y: TrialAxis
    x_part: Part = WHOLE
    y_part: Part = WHOLE

    def across(self, places: Floats) -> Floats:
        """Return the pixels of places of the lower axis, from the left."""
        return self.area.left() + shares(self.x, places, self.x_part) * self.area.width()

    def down(self, places: Floats) -> Floats:
        """Return the pixels of places of the left axis, from the top."""
        return self.area.bottom() - shares(self.y, places, self.y_part) * self.area.height()

    def points(self, numbers: Iterable[int]) -> Spots:
        """Return the places of the trials that have both values, as far as they are in view."""
        x, y = self.x.places, self.y.places
        common = [n for n in numbers if n in x and n in y]
        across = self.across(np.array([x[n] for n in common], dtype=float))
        down = self.down(np.array([y[n] for n in common], dtype=float))
        spots = Spots(np.array(common, dtype=np.int64), np.column_stack([across, down]))
        box = self.area.adjusted(-1, -1, 1, 1)
        is_in = (across >= box.left()) & (across <= box.right()) & (down >= box.top()) & (down <= box.bottom())
        return spots if is_in.all() else spots.of(is_in)

    def share_at(self, at: QPointF) -> tuple[float, float]:
        """Return the shares of the lengths of both axes at a pixel."""
        across = (at.x() - self.area.left()) / max(1.0, self.area.width())
        up = (self.area.bottom() - at.y()) / max(1.0, self.area.height())
        (left, right), (low, high) = self.x_part, self.y_part
        return left + across * (right - left), low + up * (high - low)


def shares(axis: TrialAxis, places: Floats, part: Part = WHOLE) -> Floats:
    """Return where places are on the length that shows a part of an axis, as shares of it."""
    low, high = axis.scale
    positions = np.log(np.maximum(places, TINY)) if axis.is_log else places
    share = inset(axis) + (1 - 2 * inset(axis)) * (positions - low) / (high - low)
    return (share - part[0]) / (part[1] - part[0])
