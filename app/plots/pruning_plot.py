"""Score of smaller networks against the weights that they keep, or the size of their files, with the chosen one."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from netwright.app.plots.axes import Unit, linear_axis, log_axis, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, Markers
from netwright.app.plots.words import metric_title
from netwright.designer import markup, theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.project.options.metric_options import format_score, is_better_low, is_share

NEAR_PIXELS = 16.0
"""Distance within which a click means an amount."""
EMPTY = noop("Accuracy against size is shown here as soon as it is measured.")
UNITS = {
    "nonzero": (
        *((1e9, noop("billion weights")), (1e6, noop("million weights"))),
        *((1e3, noop("thousand weights")), (1.0, noop("weights"))),
    ),
    "bytes": ((1e9, noop("GB")), (1e6, noop("MB")), (1e3, noop("kB")), (1.0, noop("B"))),
}
"""Units of the x-axis, by the key of a row that it shows."""


class PruningPlot(Plot):
    """A point per amount, joined by a line; the chosen one is ringed. A click on a point tells its row."""

    row_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._rows: Sequence[Mapping[str, Any]] = ()
        self._metric, self._chosen, self._along = "", -1, "nonzero"
        self._x = self._y = np.zeros(0)
        super().__init__(parent=parent)
        self._line, self._points, self._ring = Line(), Markers(size=8), Markers(size=15)
        for item in (self._line, self._points, self._ring):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(tr("Score by weights that are kept"))

    def show_rows(self, rows: Sequence[Mapping[str, Any]], metric: str, along: str = "nonzero") -> None:
        """Show the rows of `netwright-engine prune` or `compress` by one of their metrics, along weights or bytes."""
        self._rows, self._metric, self._chosen, self._along = rows, metric, -1, along
        self._x = np.array([row[along] for row in rows], dtype=float)
        self._y = np.array([row["metrics"].get(metric, math.nan) for row in rows], dtype=float)
        title = metric_title(metric)
        weights = tr("{metric} by weights that are not zero", metric=title)
        heading = weights if along == "nonzero" else tr("{metric} by size of the file", metric=title)
        self.heading = heading if metric else ""
        self.refresh()

    def choose(self, row: int) -> None:
        """Ring a point; -1 for none."""
        self._chosen = row if 0 <= row < len(self._rows) else -1
        self.refresh()

    def dress(self) -> None:
        """Points in the accent colour, a ring in that of the text."""
        palette = theme.current()
        self._line.setPen(pg.mkPen(palette.muted, width=1))
        self._points.setPen(pg.mkPen(None))
        self._points.setBrush(pg.mkBrush(palette.accent))
        self._ring.setPen(pg.mkPen(palette.text, width=2))
        self._ring.setBrush(pg.mkBrush(None))

    def draw(self) -> str:
        """Weights from 0 on, sizes by their logarithm; shares between 0 and 100 %."""
        if not len(self._x) or not np.isfinite(self._y).any():
            return translation(EMPTY)
        units = UNITS[self._along]
        divisor, name = next(((d, n) for d, n in units if self._x.max() >= d), units[-1])
        x = linear_axis(0.0, float(self._x.max()), self.num_x_ticks)
        if self._along == "bytes":
            x = log_axis(float(self._x.min()) / 1.5, float(self._x.max()) * 1.5, self.num_x_ticks)
        is_percent = is_share(self._metric)
        y = values_axis(np.append(self._y, [0.0, 1.0]) if is_percent else self._y, self.num_y_ticks)
        self.show_axes(x, Unit(name=translation(name), divisor=divisor), y, tick_labels(y, is_percent=is_percent))
        order = np.argsort(self._x, kind="stable")
        if self._along == "bytes":  # joined where smaller is worse: the others are on the front for their time
            best = np.minimum if is_better_low(self._metric) else np.maximum
            order = order[self._y[order] == best.accumulate(self._y[order])]
        self.lay(self._line, self._x[order], self._y[order])
        self.lay(self._points, self._x, self._y)
        selection = slice(self._chosen, self._chosen + 1) if self._chosen >= 0 else slice(0, 0)
        self.lay(self._ring, self._x[selection], self._y[selection])
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The amount whose number of weights is nearest to the pointer."""
        if not len(self._x):
            return place, Markup()
        nearest = int(np.abs(self._x - place).argmin())
        row = self._rows[nearest]
        value = f"{metric_title(self._metric)} {format_score(self._metric, float(self._y[nearest]))}"
        removed = tr("{share} removed", share=format_percent(row["amount"]))
        size = tr("%n weight(s)", "", int(row["nonzero"])) if "nonzero" in row else format_bytes(row["bytes"])
        text = markup.filled("{}<br>{}<br>{}", removed, size, value)
        return float(self._x[nearest]), text

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Tell the row of the point that is clicked."""
        super().mousePressEvent(event)
        at = self.mapToScene(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and (row := self.row_at(at.x(), at.y())) >= 0:
            self.row_clicked.emit(row)

    def row_at(self, x: float, y: float) -> int:
        """Return the row of the point at a position in pixels; -1 where there is none."""
        best, nearest = NEAR_PIXELS, -1
        for row in range(len(self._x)):
            spot = self.view.mapViewToScene(
                pg.Point(float(self.x.to_view(self._x[row])), float(self.y.to_view(self._y[row])))
            )
            distance = math.hypot(spot.x() - x, spot.y() - y)
            if distance < best:
                best, nearest = distance, row
        return nearest
