"""Learning curves of all trials: one line per trial, with a band over its repeats or folds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainterPath, QShowEvent
from PySide6.QtWidgets import QComboBox, QGraphicsPathItem, QPushButton, QWidget

from netwright.app.experiments.plots.chart import NEAR_PIXELS, Findings, TrialChart
from netwright.app.experiments.plots.frame import Frame, shares
from netwright.app.experiments.plots.marks import LEVELS, RankedLines, level_colour
from netwright.app.experiments.plots.scatter import BELOW, LEFT, RIGHT, TOP
from netwright.app.plots.card import Rows
from netwright.app.plots.plot_items import polygon
from netwright.app.plots.series import Floats
from netwright.app.plots.traces import Trace, Traces
from netwright.app.runs.run_texts import label_of
from netwright.designer import theme
from netwright.designer.language import noop, tr
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.trial_axes import TrialAxis

MOST_CURVES = 200
"""Trials whose curves are read and drawn, the best first."""
MOST_POINTS = 400
REDRAW_MS = 200
BAND_ALPHA = 40
CUT = 0.98
"""Share of the values of a loss that has room; one that explodes is cut off."""


@dataclass(frozen=True)
class TrialCurve:
    """The curve of a trial: the mean over its runs, and their standard deviation where there are several."""

    number: int
    x: Floats
    y: Floats
    spread: Floats | None = None


def joined(number: int, curves: Sequence[tuple[Floats, Floats]]) -> TrialCurve:
    """Return the mean and the standard deviation of the curves of a trial's runs, at the places of the longest one, as
    far as all of them reach."""
    x, y = max(curves, key=lambda curve: len(curve[0]))
    if len(curves) == 1:
        return TrialCurve(number, x, y)
    x = x[x <= min(float(places[-1]) for places, _ in curves) + 1e-9]
    values = np.array([np.interp(x, *curve) for curve in curves])
    return TrialCurve(number, x, values.mean(axis=0), values.std(axis=0, ddof=1))


class LearningCurves(TrialChart):
    """A loss or metric of all trials over the epochs. Curves are read a little at a time, and followed."""

    key, name, title = "curves", noop("Curves", "plot"), noop("Learning curves")
    help = noop(
        "A line per trial; with repeats or folds their mean, and a band one standard deviation wide on each side."
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        self.traces = Traces()
        self.quantity, self.log = QComboBox(), QPushButton(tr("log"))
        self.curves: list[TrialCurve] = []
        self._owners: list[int] = []
        self._runs: list[RunFolder] = []
        self._pixels: dict[int, tuple[Floats, Floats]] = {}
        self._lines = RankedLines()
        self._bands: list[QGraphicsPathItem] = []
        self._redraw = QTimer(singleShot=True, interval=REDRAW_MS)
        super().__init__(parent)
        self.quantity.setAccessibleName(tr("Curve"))
        self.quantity.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.quantity.activated.connect(self._collect)
        theme.mark(self.log, "role", "chip")
        self.log.setCheckable(True)
        self.log.setToolTip(tr("Logarithmic vertical axis"))
        self.log.toggled.connect(self.refresh)
        self.traces.changed.connect(lambda: self._redraw.isActive() or self._redraw.start())
        self._redraw.timeout.connect(self._collect)

    def controls(self) -> Sequence[QWidget]:
        """Return the choice of the curve and of the vertical axis."""
        return self.quantity, self.log

    def why_empty(self) -> str:
        """It needs points of any trial."""
        return "" if self.curves else tr("Curves of trials are shown here as they train.")

    @property
    def note(self) -> str:
        """How many trials have a curve."""
        count = len(self.findings.trials)
        return tr("the best {shown} of %n trial(s)", "", count, shown=MOST_CURVES) if count > MOST_CURVES else ""

    def show_findings(self, findings: Findings) -> None:
        """Read the curves of the trials; those that are read already stay."""
        levels = findings.levels
        trials = sorted(findings.trials, key=lambda t: (-levels.get(t.number, -1), -t.number))[:MOST_CURVES]
        runs = [
            (trial.number, RunFolder(findings.folder.run_path(name)))
            for trial in trials
            if findings.folder is not None
            for name in ([run.name for run in trial.runs] or [str(trial.number)])
        ]
        folders = [folder for _, folder in runs]
        self._owners = [number for number, _ in runs]
        if {folder.path for folder in folders} != {folder.path for folder in self._runs}:
            traces = {trace.folder.path: trace for trace in self.traces.traces}
            self.traces.show_runs(folders)
            self.traces.traces = [traces.get(trace.folder.path, trace) for trace in self.traces.traces]
            self._runs = folders
        else:  # the same runs in another order
            numbers = {folder.path: number for number, folder in runs}
            self._owners = [numbers[trace.folder.path] for trace in self.traces.traces]
        super().show_findings(findings)
        self._collect()

    def _collect(self) -> None:
        """Take the curves from what was read so far."""
        self._fill_metric()
        split, _, name = (self.quantity.currentData() or "").partition(".")
        parts: dict[int, list[tuple[Floats, Floats]]] = {}
        for number, trace in zip(self._owners, self.traces.traces, strict=True):
            curve = _points(trace, name, split)
            if curve is not None:
                parts.setdefault(number, []).append(curve)
        self.curves = [joined(number, curves) for number, curves in parts.items()]
        self.empty = self.why_empty()
        self.log.setVisible(name == "loss")
        self.refresh()
        self.changed.emit()

    def _fill_metric(self) -> None:
        offered = [f"{split}.{name}" for split in ("validation", "training") for name in self.traces.names()]
        if offered == [self.quantity.itemData(at) for at in range(self.quantity.count())]:
            return
        current = self.quantity.currentData() or next(iter(self.findings.objectives), "")
        self.quantity.clear()
        for quantity in offered:
            self.quantity.addItem(label_of(quantity), quantity)
        self.quantity.setCurrentIndex(offered.index(current) if current in offered else 0)

    # ---- drawing ----

    def frame(self) -> Frame:
        """Return the axes around all curves; a loss that explodes is cut off."""
        name = self.quantity.currentData() or ""
        values = np.concatenate([curve.y[np.isfinite(curve.y)] for curve in self.curves] or [np.zeros(1)])
        is_log = self.log.isChecked() and name.endswith(".loss") and bool((values > 0).any())
        values = values[values > 0] if is_log else values
        high = float(np.quantile(values, CUT) * 1.1) if name.endswith(".loss") and not is_log else float(values.max())
        y = TrialAxis(name, {0: float(values.min()), 1: min(high, float(values.max()))}, is_log=is_log, is_score=True)
        last = max((float(curve.x[-1]) for curve in self.curves), default=1.0)
        x = TrialAxis(noop("epoch"), {0: 0.0, 1: last}, is_whole=last >= 1)
        area = QRectF(LEFT, TOP, self.width() - LEFT - RIGHT, self.height() - TOP - BELOW)
        return self.framed(area, x, y)

    def frames(self) -> Sequence[Frame]:
        """Return the only pair of axes."""
        return () if self.empty else (self.frame(),)

    def lay(self) -> None:
        """Bands, and lines above them, the weak ones first."""
        frame, levels, marked = self.frame(), self.findings.levels, self.findings.marked
        if not self._bands:
            self._make_items()
        self._pixels, lines = {}, {}
        bands = [QPainterPath() for _ in self._bands]
        for curve in self.curves:
            good = np.isfinite(curve.y) & ((curve.y > 0) | (not frame.y.is_log))
            self._pixels[curve.number] = frame.across(curve.x[good]), frame.down(curve.y[good])
            lines[curve.number] = shares(frame.x, curve.x[good]), shares(frame.y, curve.y[good])
            if curve.spread is not None:
                there = np.concatenate([curve.x, curve.x[::-1]])
                edge = np.concatenate([curve.y + curve.spread, (curve.y - curve.spread)[::-1]])
                level = LEVELS if curve.number in marked else levels.get(curve.number, 0)
                bands[level].addPolygon(polygon(shares(frame.x, there), shares(frame.y, edge)))
        self._lines.show(lines, self.findings, width=1.2)
        for level, (item, path) in enumerate(zip(self._bands, bands, strict=True)):
            light = level_colour(level) if level < LEVELS else QColor(theme.current().good)
            light.setAlpha(BAND_ALPHA)
            item.setBrush(light)
            item.setPath(path)

    def _make_items(self) -> None:
        view = self.panels[0].view
        self._lines.add_to(view)
        self._bands = [QGraphicsPathItem() for _ in range(LEVELS + 1)]
        for item in self._bands:
            item.setPen(pg.mkPen(None))
            item.setZValue(-1)
            view.addItem(item, ignoreBounds=True)

    def highlight(self) -> None:
        """The picked line and the one under the pointer, above the others."""
        palette = theme.current()
        self._lines.highlight(((self.number, palette.text), (self.hovered, palette.accent)))

    def mark_at(self, at: QPointF) -> int | None:
        """Return the trial whose line is nearest to the pointer."""
        best, nearest = NEAR_PIXELS, None
        if self.parts and not self.frame().area.contains(at):
            return None
        for number, (x, y) in self._pixels.items():
            if len(x) and x[0] - 6 <= at.x() <= x[-1] + 6:
                apart = abs(float(np.interp(at.x(), x, y)) - at.y())
                if apart < best:
                    best, nearest = apart, number
        return nearest

    def rows(self) -> Rows:
        """Return every point of every curve."""
        yield ["trial", "curve", "epoch", "value", "deviation"]
        for curve in self.curves:
            for place, (x, y) in enumerate(zip(curve.x.tolist(), curve.y.tolist(), strict=True)):
                spread = "" if curve.spread is None else float(curve.spread[place])
                yield [curve.number, self.quantity.currentData(), x, y, spread]

    def showEvent(self, event: QShowEvent) -> None:
        """Read on."""
        super().showEvent(event)
        self.traces.resume()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self.traces.rest()


def _points(trace: Trace, name: str, split: str) -> tuple[Floats, Floats] | None:
    """Return places in epochs and values of a curve of a run; None where it has none."""
    curve = trace.curves.get(name)
    if curve is None:
        return None
    if split == "training":
        if not len(curve.training):
            return None
        steps, values = curve.training.window(0, curve.training.last_step, MOST_POINTS)
    else:
        steps, values = curve.validation.between(0, curve.validation.last_step)
        stride = max(1, len(steps) // MOST_POINTS)
        steps, values = steps[::stride], values[::stride]
    if not len(steps):
        return None
    return trace.places(np.asarray(steps, float), "epochs"), np.asarray(values, float)
