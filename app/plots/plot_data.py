"""The data of a plot of a run: its values, and what it has in common with the plots beside it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from PySide6.QtGui import QColor

from netwright.app.plots.points import Points
from netwright.app.plots.series import Floats, Series
from netwright.app.plots.timeline import Along, EventTicks, Timeline
from netwright.designer import theme
from netwright.engine.runs.events import ThinnedPoints
from netwright.engine.runs.thinning import extreme_points

Curve = tuple[Floats, Floats]
"""Steps and values."""
LEAST_PART = 2.0
"""No fewer steps than this are shown."""
VALUE = "value"
"""The name of the values of a curve that has only one kind of them: it needs no legend."""


@dataclass
class LinkedXAxis:
    """The lower axis of all plots of a run: what it counts, how long it is, and which part of it is in view."""

    timeline: Timeline = field(default_factory=Timeline)
    event_ticks: EventTicks = field(default_factory=EventTicks)
    along: Along = "iterations"
    expected_steps: float = 0
    is_log: bool = False
    """A logarithmic axis begins with the first step."""
    part: tuple[float, float] | None = None
    """First and last step in view, or None: all of them."""
    least: float = LEAST_PART
    """No smaller part is shown."""

    def end(self, last_step: float) -> float:
        """Where the axis ends if all is in view: as far as the run will go, or a little further than it is. Then it
        grows in strides, as a plot whose axis changes takes longer to draw."""
        if self.expected_steps:
            return max(self.expected_steps, last_step)
        stride = 10.0 ** math.floor(math.log10(max(last_step, 1.0))) / 50
        return max(10.0, math.ceil(last_step * 1.01 / stride) * stride)

    def view(self, last_step: float) -> tuple[float, float]:
        """First and last step in view."""
        low, high = self.part or (0.0, self.end(last_step))
        return (max(1.0, low), max(2.0, high)) if self.is_log else (low, high)

    def stretches(self, low: float, high: float, points: int) -> Iterator[tuple[float, float, int]]:
        """The part in view as stretches that are alike on the axis, and how many points each has room for: on a
        logarithmic axis its decades, else all of it."""
        edges = [low, *(10.0**power for power in range(12) if low < 10.0**power < high), high]
        if not self.is_log or low <= 0:
            edges = [low, high]
        for begin, end in pairwise(edges):
            share = math.log(end / begin) / math.log(high / low) if len(edges) > 2 else 1.0
            yield begin, end, max(2, round(points * share))

    def look_at(self, low: float, high: float, last_step: float) -> None:
        """Show this part; all, if it is no less."""
        end = self.end(last_step)
        width = min(max(high - low, self.least), end)
        low = min(max(0.0, low), end - width)
        self.part = None if width >= end * 0.999 else (low, low + width)


@dataclass
class Beside:
    """Another line in the same picture."""

    token: str
    line: Series

    @property
    def colour(self) -> QColor:
        """Its colour: one of the palette, or that of a layer family."""
        palette = theme.current()
        return QColor(getattr(palette, self.token, None) or palette.family(self.token))


@dataclass
class PlotData:
    """One quantity over a run."""

    title: str
    token: str
    training: Series
    points: dict[str, Points]
    x_axis: LinkedXAxis = field(default_factory=LinkedXAxis)
    word: str = "training"
    """The name of the values that are not of a part of the data."""
    waiting: str = ""
    """The text while there are no values."""
    is_reading: bool = False
    """Whether the run may have points that are not read yet."""
    smoothing: float = 0.9
    can_smooth: bool = True
    is_log: bool = False
    is_percent: bool = False
    bests: list[tuple[float, float]] = field(default_factory=list)
    """Step and value of what was best so far at its time, the newest last."""
    beside: dict[str, Beside] = field(default_factory=dict)
    """Further lines, by their names."""
    baselines: dict[str, float] = field(default_factory=dict)
    """Values of answers that need no network, by their names."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show yet."""
        return not len(self.training) and not any(len(points) for points in self.points.values())

    @property
    def last_step(self) -> float:
        """The newest step of all curves."""
        return max(self.training.last_step, *(points.last_step for points in self.points.values()), 0.0)

    @property
    def colour(self) -> QColor:
        """The colour of the training curve."""
        return QColor(getattr(theme.current(), self.token))

    @property
    def raw_colour(self) -> QColor:
        """The same, faint, for the values as they came."""
        if not self.can_smooth:
            return self.colour
        return theme.current().mixed(self.colour, theme.current().panel, 0.42)

    def split_colour(self, split: str) -> QColor:
        """The colour of points that are no training points."""
        return theme.current().good if split == "test" else theme.current().warning

    def append(self, split: str, first_step: int, steps_apart: int, values: Sequence[float] | Floats) -> None:
        """Takes points as an event brings them; those at or after `first_step` are replaced."""
        if split == "training":
            self.training.append(values, first_step, steps_apart)
        else:
            steps = [first_step + number * steps_apart for number in range(len(values))]
            self.points.setdefault(split, Points()).append(steps, list(values))

    def append_thinned(self, points: ThinnedPoints, name: str) -> None:
        """Takes old points of a long run."""
        if points.split == "training":
            self.training.append_thinned(points, name)
        elif extremes := extreme_points(points, name):
            self.points.setdefault(points.split, Points()).append(*zip(*extremes, strict=True))

    def clear(self) -> None:
        """Forget all points, for another run."""
        self.training = type(self.training)()
        self.points = {"validation": Points(), "test": Points()}
        self.bests, self.baselines = [], {}
        for other in self.beside.values():
            other.line = type(other.line)()

    def go_back(self, step: float) -> None:
        """The run goes on from this step: what comes after it, and every test, is forgotten."""
        self.training.truncate(self.training.index(step + 1))
        for split, points in self.points.items():
            points.truncate(-1 if split == "test" else step)
        self.bests, self.baselines = [best for best in self.bests if best[0] <= step], {}
        for other in self.beside.values():
            other.line.truncate(other.line.index(step + 1))

    def window(self, low: float, high: float, pixels: int) -> Curve:
        """The drawn training values between two steps (`Series.window`)."""
        stretches = list(self.x_axis.stretches(low, high, pixels))
        return _joined([self.training.window(*stretch) for stretch in stretches])

    def smoothed(self, low: float, high: float, points: int) -> Curve:
        """The same, smoothed (`Series.smoothed`)."""
        stretches = self.x_axis.stretches(low, high, points)
        return _joined([self.training.smoothed(a, b, self.smoothing, count) for a, b, count in stretches])

    def chunks(self) -> Iterator[tuple[str, Floats, Floats]]:
        """All points that are kept (`Series.chunks`), some thousand at a time: split, steps, values."""
        for word, line in ((self.word, self.training), *((name, other.line) for name, other in self.beside.items())):
            for steps, values in line.chunks():
                yield word, steps, values
        for split, points in self.points.items():
            pairs = np.array(points.pairs(), np.float64).reshape(-1, 2)
            yield split, pairs[:, 0], pairs[:, 1]

    def rows(self) -> Iterator[tuple[str, float, float]]:
        """All points as they came: split, step, value."""
        for split, steps, values in self.chunks():
            for step, value in zip(steps.tolist(), values.tolist(), strict=True):
                yield split, step, value


def _joined(parts: list[Curve]) -> Curve:
    """One behind the other, without the neighbours that they share."""
    if len(parts) == 1:
        return parts[0]
    x, y = (np.concatenate([part[axis] for part in parts]) for axis in (0, 1))
    order = np.unique(x, return_index=True)[1]
    return x[order], y[order]
