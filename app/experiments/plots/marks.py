"""Graphics items of trials: pairs of axes, dots in the colours of their ranks, and lines."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication, QGraphicsScene, QGraphicsSimpleTextItem

from netwright.app.experiments.plots.frame import Frame, Part, Spots, shares, ticks_of
from netwright.app.experiments.trial_texts import axis_label
from netwright.app.plots.axes import LABEL_PIXELS, LEFT_PIXELS, TickAxis
from netwright.app.plots.plot_items import Line, Points, ZoomBox
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.engine.runs.trial_axes import TrialAxis

LEVELS = 8
"""Colours that trials have by their rank."""
WEAKEST = 0.22
FEW, SMOOTH = 200, 1500
"""Numbers of points up to which they are large, and have smooth edges, which take most of the time."""
BELOW_PIXELS = 40
"""Height of the labels and the name of a lower axis."""
NAME_PIXELS = 10


class Ranks(Protocol):
    """The ranks of trials, and the best ones."""

    @property
    def levels(self) -> Mapping[int, int]:
        """The rank of each trial, from 0 to `LEVELS` - 1."""

    @property
    def marked(self) -> frozenset[int]:
        """The trials that stand out."""


def level_colour(level: int) -> QColor:
    """Return the colour of trials of a level: the better, the stronger."""
    palette = theme.current()
    return palette.mixed(palette.accent, palette.panel, WEAKEST + (1 - WEAKEST) * level / (LEVELS - 1))


class Panel:
    """A pair of axes with its view, whose coordinates are the shares of both axes."""

    def __init__(self, scene: QGraphicsScene) -> None:
        self.view, self.name = ZoomBox(has_y_parts=True), QGraphicsSimpleTextItem()
        self.x_axis, self.y_axis = TickAxis("bottom", 8, has_unit=False), TickAxis("left")
        self.x_axis.setHeight(BELOW_PIXELS)
        self.frame: Frame | None = None
        for axis in (self.x_axis, self.y_axis):
            axis.linkToView(self.view)
            axis.setZValue(-1000)  # the grid lies behind the marks
        for item in self.items:
            scene.addItem(item)

    @property
    def items(self) -> tuple[Any, ...]:
        """All that it has in the scene."""
        return self.view, self.x_axis, self.y_axis, self.name

    def place(self, frame: Frame, *, has_x: bool, has_y: bool, has_name: bool, has_border: bool) -> None:
        """Show the axes of a frame, with their labels and the name of the left one as asked for."""
        self.frame, area = frame, frame.area
        self.view.setGeometry(area)
        self.view.setRange(xRange=frame.x_part, yRange=frame.y_part, padding=0, disableAutoRange=False)
        self.view.setBorder(theme.current().line if has_border else None)
        self.x_axis.setGeometry(QRectF(area.left(), area.bottom() - 2, area.width(), BELOW_PIXELS))
        self.y_axis.setGeometry(QRectF(area.left() - LEFT_PIXELS, area.top(), LEFT_PIXELS, area.height()))
        self.x_axis.name = axis_label(frame.x) if has_x else ""
        self.x_axis.show_texts(_labels(frame.x, frame.x_part, max(2, int(area.width() / 80)), area.width() / 2))
        self.y_axis.show_texts(_labels(frame.y, frame.y_part, max(2, int(area.height() / 30)), LEFT_PIXELS + 2))
        self.y_axis.setStyle(showValues=has_y)
        self.x_axis.setVisible(has_x)
        metrics = QFontMetricsF(self.name.font())
        text = markup.elided(metrics, axis_label(frame.y), Qt.TextElideMode.ElideMiddle, int(area.height()))
        self.name.setText(text)
        self.name.setRotation(-90)
        middle = area.center().y() + metrics.horizontalAdvance(text) / 2
        self.name.setPos(NAME_PIXELS - metrics.height() / 2, middle)
        self.name.setVisible(has_name)

    def show(self, is_shown: bool) -> None:
        """Show all, or hide it."""
        for item in self.items:
            item.setVisible(is_shown)


def _labels(axis: TrialAxis, part: Part, count: int, room: float) -> list[tuple[float, str]]:
    """Return the ticks of a part of an axis, as shares of its length, with their labels."""
    metrics = QFontMetricsF(label_font())
    ticks = ticks_of(axis, count, part)
    places = shares(axis, np.array([place for place, _ in ticks], dtype=float)).tolist()
    texts = (markup.elided(metrics, text, Qt.TextElideMode.ElideMiddle, int(room)) for _, text in ticks)
    return list(zip(places, texts, strict=True))


def label_font() -> QFont:
    """Return the font of labels and names of axes."""
    font = theme.figures(QApplication.font())
    font.setPixelSize(LABEL_PIXELS)
    return font


class RankedLines:
    """A line per trial in the colours of their ranks: one item per rank, and one for each line that stands out."""

    def __init__(self) -> None:
        self.items = [Line(antialias=True) for _ in range(LEVELS + 1)]
        self.above = [Line(antialias=True) for _ in range(2)]
        self.lines: dict[int, tuple[Floats, Floats]] = {}
        for height, item in enumerate([*self.items, *self.above]):
            item.setZValue(height)
        for item in self.items:
            item.setCacheMode(item.CacheMode.DeviceCoordinateCache)

    def add_to(self, view: ZoomBox) -> None:
        """Put the items into a view."""
        for item in [*self.items, *self.above]:
            view.addItem(item, ignoreBounds=True)

    def show(
        self, lines: Mapping[int, tuple[Floats, Floats]], ranks: Ranks, *, alpha: int = 255, width: float = 1.0
    ) -> None:
        """Show lines, in coordinates of the view."""
        self.lines = dict(lines)
        groups: list[list[tuple[Floats, Floats]]] = [[] for _ in self.items]
        for number, line in lines.items():
            groups[LEVELS if number in ranks.marked else ranks.levels.get(number, 0)].append(line)
        for level, (item, group) in enumerate(zip(self.items, groups, strict=True)):
            colour = level_colour(level) if level < LEVELS else theme.current().good
            colour.setAlpha(alpha if level < LEVELS else 255)
            item.setPen(pg.mkPen(colour, width=width if level < LEVELS else 2))
            set_lines(item, group)

    def highlight(self, marks: Iterable[tuple[int | None, QColor]]) -> None:
        """Show the lines of some trials above the others."""
        for item, (number, colour) in zip(self.above, marks, strict=True):
            item.setPen(pg.mkPen(colour, width=2.4))
            set_lines(item, [self.lines[number]] if number in self.lines else [])


def set_lines(item: Line, lines: Sequence[tuple[Floats, Floats]]) -> None:
    """Show several lines by one item."""
    gap = np.array([np.nan])
    parts = [part for x, y in lines for part in ((x, y), (gap, gap))]
    item.setVisible(bool(parts))
    if parts:
        x, y = (np.concatenate(values) for values in zip(*parts, strict=True))
        item.setData(x, y, connect="finite")


def add_points(item: Points, points: Spots, ranks: Ranks, size: float = 6.0) -> None:
    """Add the points of trials in the colours of their ranks, the best ones last and as stars; many are smaller."""
    dot = size if len(points.numbers) <= FEW else 0.6 * size
    levels = np.array([ranks.levels.get(n, 0) for n in points.numbers.tolist()], dtype=np.int64)
    is_marked = np.isin(points.numbers, list(ranks.marked))
    for level in range(LEVELS):
        places = points.of((levels == level) & ~is_marked)
        item.add_dots(places.polygon(), level_colour(level), dot)
    palette = theme.current()
    stars = [QPointF(x, y) for x, y in points.of(is_marked).at.tolist()]
    item.add_stars(stars, palette.good, palette.panel, size)
