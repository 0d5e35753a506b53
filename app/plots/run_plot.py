"""The plot of one quantity of a run."""

from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QLabel, QWidget

from netwright.app.plots.axes import Axis, places_axis, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_data import PlotData
from netwright.app.plots.plot_items import Line, Markers, icon_markup, table_markup
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.engine_messages import duration_text, message_text
from netwright.designer.language import tr, translation
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_value

MAX_SMOOTHED_POINTS = 600
MAX_EPOCH_LINES = 60
MAX_DASHED = 60
"""Dashed lines take long to draw."""
MAX_NAMED = 4
"""Of the marks under the pointer so many are named."""
NEAR_PIXELS = 5.0
FIRST_LABEL, LABELS_APART = 0.98, 0.25
"""Place of the name of the first baseline along its line, and the way to the next: values that are close to each other
have their names side by side."""
LABEL_PIXELS = 18
FARTHEST = 1.0
"""Heights of the curves that a baseline may be away from them, and the axis still reaches it."""
TICK_PIXELS = 6
SYMBOLS = {"validation": ("o", 9), "test": ("d", 13)}
"""A disc for validation, a diamond for test, and their sizes in pixels: told apart without colour."""


class RunPlot(Plot):
    """Draws one quantity over the iterations, the epochs or the time of a run: raw values, smoothed ones, validation
    and test with markers, the best validation, where epochs end, and what was asked of the run."""

    def __init__(self, data: PlotData, parent: QWidget | None = None) -> None:
        super().__init__(data, parent)
        self.data = data
        self._axes_state: object = None
        """The view that the axes were set for."""
        self._smoothed: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
        self._epochs, self._requests, self._checkpoints = pg.VTickGroup(), pg.VTickGroup(), pg.VTickGroup()
        self._nonfinite, self._first_nonfinite = pg.VTickGroup(), pg.VTickGroup()
        self._flags = Markers(symbol="t", size=9)
        self._raw, self._smooth = Line(), Line(antialias=True)
        self._beside = {name: Line() for name in data.beside}
        self._splits = {split: Line(antialias=True) for split in data.points}
        self._markers = {split: Markers(symbol=SYMBOLS[split][0], size=SYMBOLS[split][1]) for split in data.points}
        self._best = Markers(symbol="o", size=15, brush=None)
        self._baselines: list[pg.InfiniteLine] = []
        self._warning = QLabel(self)
        self._warning.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._warning.hide()
        self._smooth.setSegmentedLineMode("on")  # twice as fast
        items = (
            *(self._epochs, self._requests, self._checkpoints, self._raw, self._smooth),
            *(*self._beside.values(), *self._splits.values(), *self._markers.values()),
            *(self._best, self._flags, self._nonfinite, self._first_nonfinite),
        )
        for height, item in enumerate(items):
            item.setZValue(height)
            item.hide()
            self.addItem(item, ignoreBounds=True)
        self.setMinimumSize(240, 120)

    def dress(self) -> None:
        """Pens one pixel wide, but for the few points of the smoothed line: wide ones over many points are slow."""
        palette, data = theme.current(), self.data
        self._epochs.setPen(palette.mixed(palette.line, palette.panel, 0.45))
        self._checkpoints.setPen(palette.muted)
        self._requests.setPen(palette.mixed(palette.muted, palette.panel, 0.7), dash=[2, 3])
        self._flags.setPen(None)
        self._flags.setBrush(palette.muted)
        self._raw.setPen(data.raw_colour)
        smooth = pg.mkPen(data.colour, width=2)
        # Round joins cost three times as much, and cannot be seen at this width.
        smooth.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
        smooth.setCapStyle(Qt.PenCapStyle.FlatCap)
        self._smooth.setPen(smooth)
        for name, other in data.beside.items():
            self._beside[name].setPen(other.colour)
        for split in data.points:
            self._splits[split].setPen(data.split_colour(split), dash=[4, 3])
            self._markers[split].setPen(palette.panel)
            self._markers[split].setBrush(data.split_colour(split))
        for line in self._baselines:
            self._dress_baseline(line)
        self._best.setPen(palette.text, width=1.5)
        self._nonfinite.setPen(palette.warning)
        self._first_nonfinite.setPen(palette.warning)
        theme.mark(self._warning, "role", "plot-warning")

    def draw(self) -> str:
        """Draws the points in view; what it costs depends on the pixels, not on the history."""
        data, x_axis = self.data, self.data.x_axis
        if data.is_empty:
            if data.is_reading:
                return tr("Reading the run…")
            title = data.title
            name = title if title[1:2].isupper() else title[:1].lower() + title[1:]
            return data.waiting or tr("The {name} appears here when training starts.", name=name)
        low, high = x_axis.view(data.last_step)
        x, y = data.window(low, high, self.columns)
        smooth = min(MAX_SMOOTHED_POINTS, max(2, int(self.columns * 0.75)))
        self._smoothed = data.smoothed(low, high, smooth) if data.smoothing > 0 else (np.empty(0), np.empty(0))
        splits = {split: points.between(low, high) for split, points in data.points.items()}
        beside = {name: other.line.window(low, high, self.columns) for name, other in data.beside.items()}
        values = np.concatenate([y, *(y for _, y in splits.values()), *(y for _, y in beside.values())])
        self._set_axes(low, high, np.concatenate([values, self._baselines_near(values)]))
        # A zigzag denser than the pixels is slow to smooth, and its spikes would fade.
        is_fine = len(x) <= self.columns
        self._lay(self._raw, x, y, antialias=is_fine)
        self._lay(self._smooth, *self._smoothed)
        for name, (x, y) in beside.items():
            self._lay(self._beside[name], x, y, antialias=is_fine)
        for split, (x, y) in splits.items():
            self._lay(self._splits[split], x, y)
            mask = self.spaced(self._places(x))
            self._lay(self._markers[split], x[mask], y[mask])
        best = np.array(data.bests[-1:], np.float64).reshape(-1, 2)
        self._lay(self._best, best[:, 0], best[:, 1])
        self._draw_baselines(end=float(values[np.isfinite(values)][-1:].sum()))
        self._draw_marks(low, high)
        self._draw_nonfinite(low, high)
        return ""

    def _places(self, steps: Floats) -> Floats:
        """Where steps are on the lower axis."""
        return self.data.x_axis.timeline.places(steps, self.data.x_axis.along)

    def _lay(self, item: Line | Markers, steps: Floats, values: Floats, **options: bool) -> None:
        """Give an item its points by their steps."""
        if len(steps):
            self.lay(item, self._places(steps), values, **options)
        else:
            item.hide()

    def _set_axes(self, low: float, high: float, values: Floats) -> None:
        x_axis, data = self.data.x_axis, self.data
        ends = self._places(np.array([low, high])).tolist()
        good = values[np.isfinite(values)]
        above = good[good > 0] if data.is_log else good
        extremes = [float(v) for part in (good, above) if len(part) for v in (part.min(), part.max())]
        state = (ends, extremes, x_axis.along, x_axis.is_log, x_axis.part, data.is_log, data.is_percent, self.size())
        if state == self._axes_state:  # most new points leave the axes as they are
            return
        self._axes_state = state
        x, unit = places_axis(ends[0], ends[1], x_axis.along, self.num_x_ticks, is_log=x_axis.is_log)
        y = values_axis(values, self.num_y_ticks, is_log=data.is_log)
        if data.is_percent and x_axis.part is None and bool(((good >= 0) & (good <= 1)).all()):
            y = Axis(low=0, high=1, ticks=(0.0, 0.25, 0.5, 0.75, 1.0) if self.num_y_ticks >= 4 else (0.0, 0.5, 1.0))
        self.show_axes(x, unit, y, tick_labels(y, is_percent=data.is_percent))

    def _baselines_near(self, values: Floats) -> Floats:
        """The baselines that are not so far from the curves that these would be flat beside them."""
        values, baselines = values[np.isfinite(values)], np.array([*self.data.baselines.values()], np.float64)
        if not len(values):
            return baselines[:0]
        reach = FARTHEST * float(np.ptp(values))
        near: Floats = baselines[(baselines >= values.min() - reach) & (baselines <= values.max() + reach)]
        return near

    def _draw_baselines(self, end: float) -> None:
        """Dotted lines with name and value, as far as the axis reaches them. `end`: a newest value of the curves."""
        named = [*self.data.baselines.items()]
        while len(self._baselines) < len(named):
            place = max(0.1, FIRST_LABEL - LABELS_APART * len(self._baselines))
            self._baselines.append(pg.InfiniteLine(angle=0, label="", labelOpts={"position": place}))
            self.addItem(self._baselines[-1], ignoreBounds=True)
            self._dress_baseline(self._baselines[-1])
        heights = self.y.to_view(np.array([value for _, value in named], np.float64))
        bottom, top = self.view.viewRange()[1]
        room = (top - bottom) * LABEL_PIXELS / max(1.0, self.view.height())
        for number, line in enumerate(self._baselines):
            is_shown = number < len(named) and bool(bottom <= heights[number] <= top)
            line.setVisible(is_shown)
            if is_shown:
                (name, value), height = named[number], float(heights[number])
                # On the side where the curves do not end, if there is room.
                is_below = height - room >= bottom and (end > value or height + room > top)
                line.label.anchors = [(1, 0 if is_below else 1)] * 2
                line.setPos(height)
                line.label.updatePosition()
                told = format_value(value, is_percent=self.data.is_percent, is_measured=True)
                line.label.setFormat(f"{message_text(name)} {told}".replace("{", "{{"))

    def _dress_baseline(self, line: pg.InfiniteLine) -> None:
        palette = theme.current()
        line.setPen(palette.baseline, dash=[1, 3])
        line.label.setColor(palette.muted)
        line.label.setFont(self.font())

    def _draw_marks(self, low: float, high: float) -> None:
        """Where epochs end, while there is room for that; what was asked of the run, and its checkpoints."""
        x_axis = self.data.x_axis
        per_epoch, ends = x_axis.timeline.steps_per_epoch, np.empty(0)
        if per_epoch and (high - low) / per_epoch <= MAX_EPOCH_LINES:
            ends = np.arange(per_epoch * (low // per_epoch + 1), high, per_epoch, dtype=np.float64)
        self._lay_lines(self._epochs, ends)
        self._lay_lines(self._checkpoints, x_axis.event_ticks.checkpoints(low, high), TICK_PIXELS)
        requests = self._lay_lines(self._requests, x_axis.event_ticks.requests(low, high))[:MAX_DASHED]
        self._flags.setVisible(len(requests) > 0)
        if not len(requests):
            return
        bottom, top = self.view.viewRange()[1]
        height = top - (top - bottom) * 4 / max(1.0, self.view.height())
        self._flags.setData(requests, np.full(len(requests), height))

    def _lay_lines(self, item: pg.VTickGroup, steps: Floats, pixels: float | None = None) -> Floats:
        """Stand vertical lines at steps, at most one per pixel, of so many pixels or all the height. Returns where."""
        if not len(steps):
            item.hide()
            return steps
        x = self.x.to_view(self._places(steps))
        x = x[np.isfinite(x)]
        if len(x):
            low, high = self.view.viewRange()[0]
            x = x[np.unique(((x - low) * (self.columns / (high - low))).round(), return_index=True)[1]]
        item.setVisible(len(x) > 0)
        item.setYRange([0, 1 if pixels is None else pixels / max(1.0, self.view.height())])
        item.setXVals(x.tolist())
        item.update()
        return x

    def _draw_nonfinite(self, low: float, high: float) -> None:
        """Where values were no numbers: a tick each, words beside the first."""
        steps = self.data.training.nonfinite_steps()
        steps = steps[(steps >= low) & (steps <= high)]
        x = self._lay_lines(self._nonfinite, steps, TICK_PIXELS)
        self._lay_lines(self._first_nonfinite, steps[:1])
        self._warning.setVisible(len(x) > 0)
        if not len(x):
            return
        count = self.data.training.num_nonfinite
        if count > 1:
            words = tr("Not a number at {step:,.0f}, {count:,} in all", step=steps[0], count=count)
        else:
            words = tr("Not a number at {step:,.0f}", step=steps[0])
        markup.show(self._warning, markup.filled("{} {}", icon_markup("warning", "warning"), words))
        self._warning.adjustSize()
        rect, first = self.view.sceneBoundingRect(), self.view.mapViewToScene(QPointF(float(x[0]), 0)).x()
        width = self._warning.width()
        x_label = first + 5 if first + 5 + width < rect.right() else first - 5 - width
        self._warning.move(round(x_label), round(rect.top()) + 2)

    # ---- pointer ----

    def readout(self, place: float) -> tuple[float, Markup]:
        """Values of the curves and words of the marks under the pointer."""
        x_axis = self.data.x_axis
        place = min(place, float(self._places(np.array([self.data.last_step]))[0]))
        step = x_axis.timeline.step_at(place, x_axis.along)
        rows = [*self.readings(step), *self.marks_near(place)]
        return place, table_markup(rows)

    def readings(self, step: float) -> list[tuple[str, str]]:
        """The values of the curves at a step, as pairs of name and value."""
        data, series = self.data, self.data.training
        told = partial(format_value, is_percent=data.is_percent, is_measured=True)
        result: list[tuple[str, str]] = []
        if len(series):
            index = min(series.index(round(step)), len(series) - 1)
            place = float(series.steps(np.array([index]))[0])
            result += self._where(place)
            result.append((translation(data.word), told(series.value(index))))
            x, y = self._smoothed
            if data.smoothing > 0 and len(x):
                result.append((translation("smoothed"), told(float(np.interp(place, x, y)))))
            for name, other in data.beside.items():
                if len(other.line):
                    index = min(other.line.index(place), len(other.line) - 1)
                    result.append((translation(name), told(other.line.value(index))))
        result += [(message_text(name), told(value)) for name, value in data.baselines.items()]
        for split, points in data.points.items():
            if nearest := points.nearest(step):
                name = tr("{split} at {step:,.0f}", split=translation(split), step=nearest[0])
                result.append((name, told(nearest[1])))
        return result

    def _where(self, step: float) -> list[tuple[str, str]]:
        """The step in iterations, and as the lower axis counts."""
        x_axis = self.data.x_axis
        rows, place = [(tr("iteration"), f"{step:,.0f}")], x_axis.timeline.place(step, x_axis.along)
        if x_axis.along == "epochs":
            rows.append((tr("epoch"), f"{place:,.2f}"))
        if x_axis.along == "time":
            rows.append((tr("time"), duration_text(place)))
        return rows

    def marks_near(self, place: float) -> list[tuple[str, str]]:
        """The words of the marks around a place, as pairs of step and words; of many the first few."""
        x_axis = self.data.x_axis
        middle, (low, high) = float(self.x.to_view(np.array([place]))[0]), self.view.viewRange()[0]
        near = NEAR_PIXELS * (high - low) / self.columns
        ends = [x_axis.timeline.step_at(self.x.from_view(middle + side), x_axis.along) for side in (-near, near)]
        marks = x_axis.event_ticks.between(*ends)
        rows = [(tr("at {step:,.0f}", step=step), words) for step, words in marks[:MAX_NAMED]]
        return rows + ([("", tr("and {count:,} more", count=len(marks) - MAX_NAMED))] if len(marks) > MAX_NAMED else [])

    def samples(self) -> dict[str, tuple[Line | None, Markers | None]]:
        """The sample of each curve, by its name in the legend: a line, a marker, or both."""
        self.ensure_dressed()
        data = self.data
        result: dict[str, tuple[Line | None, Markers | None]] = {}
        if len(data.training):
            result[data.word] = self._raw, None
            if data.smoothing > 0:
                result["smoothed"] = self._smooth, None
        result |= {name: (self._beside[name], None) for name, other in data.beside.items() if len(other.line)}
        for split, points in data.points.items():
            if len(points):
                result[split] = self._splits[split], self._markers[split]
        return result | ({"best": (None, self._best)} if data.bests else {})
