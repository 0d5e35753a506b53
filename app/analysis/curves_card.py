"""ROC and precision over recall of a class, with a threshold to move, its scores, and a button that stores it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider, QVBoxLayout, QWidget

from netwright.app.plots.axes import Unit, linear_axis, tick_labels
from netwright.app.plots.card import FigureCard
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, Markers
from netwright.app.widgets import ValueTable
from netwright.designer import markup, theme
from netwright.designer.language import METRIC, noop, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_figure, format_number, format_percent
from netwright.engine.project.options.metric_options import format_score

HEIGHT = 260
ROC, PRECISION = "ROC", noop("Precision over recall")
EVEN = 0.5
DRAWN = {"step": noop("drawn steps"), "pixel": noop("drawn pixels")}
"""Names of what stands in the curves where that is not each sample."""
NAMES = {
    "Precision": METRIC,
    "Recall": METRIC,
    "F1": "",
    "Accuracy": METRIC,
    noop("Right", "count"): "count",
    noop("False alarms"): "",
    noop("Missed"): "",
    noop("Rightly left out"): "",
}
"""The scores and counts at a threshold, each with the comment of its translation."""
SCORES = tuple(NAMES)[:4]


def _shown(name: str) -> str:
    return translation(name, NAMES[name])


def scores_at(curve: Mapping[str, Any], place: int) -> dict[str, float]:
    """Return counts and scores at a point of a curve of `netwright-engine evaluate`."""
    _, hits, false = curve["points"][place]
    missed, rejected = curve["positives"] - hits, curve["negatives"] - false
    return {
        "Precision": hits / max(1, hits + false),
        "Recall": hits / curve["positives"],
        "F1": 2 * hits / (2 * hits + false + missed),
        "Accuracy": (hits + rejected) / (curve["positives"] + curve["negatives"]),
        "Right": hits,
        "False alarms": false,
        "Missed": missed,
        "Rightly left out": rejected,
    }


class CurvePlot(Plot):
    """A curve with a marker at the threshold; a press on it moves the marker: `chosen` carries the point."""

    chosen = Signal(int)

    def __init__(self) -> None:
        self._x = self._y = np.zeros(1)
        self.kind, self.place = ROC, 0
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self._line, self._diagonal = Line(), Line([0.0, 1.0], [0.0, 1.0])
        self._marker = Markers(size=11)
        for item in (self._diagonal, self._line, self._marker):
            self.addItem(item, ignoreBounds=True)

    def show_curve(self, curve: Mapping[str, Any], kind: str) -> None:
        """Show a curve of a class as `kind`."""
        points = np.array(curve["points"], dtype=float).reshape(-1, 3)
        recall = points[:, 1] / curve["positives"]
        if kind == ROC:
            self._x, self._y = points[:, 2] / curve["negatives"], recall
        else:
            self._x, self._y = recall, points[:, 1] / np.maximum(1, points[:, 1] + points[:, 2])
        self.kind = kind
        self.setAccessibleName(markup.visible(tr("{kind} of {name}", kind=translation(kind), name=curve["class"])))
        self.refresh()

    def show_place(self, place: int) -> None:
        """Move the marker to a point."""
        self.place = place
        self.refresh()

    def dress(self) -> None:
        """The curve in the accent colour, the diagonal dashed."""
        palette = theme.current()
        self._line.setPen(pg.mkPen(palette.accent, width=2))
        self._marker.setPen(pg.mkPen(palette.panel, width=2))
        self._marker.setBrush(pg.mkBrush(palette.accent))
        self._diagonal.setPen(pg.mkPen(palette.muted, width=1, style=Qt.PenStyle.DashLine))

    def draw(self) -> str:
        """Both axes from 0 to 100 %."""
        axis = linear_axis(0.0, 1.0, 4)
        name = tr("of the others said") if self.kind == ROC else tr("recall")
        self.show_axes(axis, Unit(name=name), axis, tick_labels(axis, is_percent=True))
        start = ([0.0], [0.0]) if self.kind == ROC else ([0.0], [self._y[0]])
        self.lay(self._line, np.concatenate([start[0], self._x]), np.concatenate([start[1], self._y]))
        self.lay(self._marker, self._x[self.place : self.place + 1], self._y[self.place : self.place + 1])
        self._diagonal.setVisible(self.kind == ROC)
        return ""

    def nearest(self, place: float) -> int:
        """Return the point nearest to a place of the x axis."""
        return int(np.abs(self._x - place).argmin())

    def readout(self, place: float) -> tuple[float, Markup]:
        """The point under the pointer."""
        at = self.nearest(place)
        x_text, y_text = format_percent(float(self._x[at]), 1), format_percent(float(self._y[at]), 1)
        if self.kind == ROC:
            lines = tr("{share} false alarms", share=x_text), tr("{share} recall", share=y_text)
        else:
            lines = tr("{share} recall", share=x_text), tr("{share} precision", share=y_text)
        return float(self._x[at]), markup.filled("{}<br>{}", *lines)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the point under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            x, y = self.to_pixels(self._x, self._y)
            apart = (x - event.position().x()) ** 2 + (y - event.position().y()) ** 2
            self.chosen.emit(int(apart.argmin()))
        super().mousePressEvent(event)


class CurvesCard(FigureCard):
    """The curves of an output of classes or labels. `store_wanted` carries `CLASS=PROBABILITY`, `reset_wanted` that
    what is stored is to go."""

    store_wanted, reset_wanted = Signal(str), Signal()

    def __init__(self, target: Mapping[str, Any]) -> None:
        self._curves: Sequence[Mapping[str, Any]] = target["curves"]
        self._stored: Mapping[str, float] = (target.get("stored") or {}).get("thresholds", {})
        self._per = str(target["per"])
        self._can_store = target["task"] == "labels" or len(target["classes"]) == 2
        self.plot, self.values = CurvePlot(), ValueTable(tr("At the threshold"), tuple(map(_shown, NAMES)))
        self.classes, self.kinds, self.slider, self.said = QComboBox(), QComboBox(), QSlider(), QLabel()
        self.store, self.reset = QPushButton(tr("Store with the network")), QPushButton(tr("Reset"))
        super().__init__(self._make_content(), tr("Threshold"), "", self._rows)
        for curve in self._curves:
            area = tr("{name}: area {area}", name=curve["class"], area=format_figure(curve["auc"]))
            self.classes.addItem(markup.visible(area))
        for kind in (ROC, PRECISION):
            self.kinds.addItem(translation(kind), kind)
        self.classes.setAccessibleName(tr("Class of the curve"))
        self.kinds.setAccessibleName(tr("Kind of curve"))
        self.head.insertWidget(1, self.classes)
        self.head.insertWidget(2, self.kinds)
        self.classes.currentIndexChanged.connect(self._show_class)
        self.kinds.currentIndexChanged.connect(self._show_curve)
        self.slider.valueChanged.connect(self._show_place)
        self.plot.chosen.connect(self.slider.setValue)
        self.store.clicked.connect(self._ask_to_store)
        self.reset.clicked.connect(self.reset_wanted)
        self._show_class()

    def _make_content(self) -> QWidget:
        content, side = QWidget(), QWidget()
        row, column, buttons = QHBoxLayout(content), QVBoxLayout(side), QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(32)
        column.setContentsMargins(0, 0, 0, 0)
        side.setMinimumWidth(300)
        side.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.said.setWordWrap(True)
        self.slider.setOrientation(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("Threshold"))
        buttons.addWidget(self.store)
        buttons.addWidget(self.reset)
        buttons.addStretch(1)
        for widget in (self.said, self.slider, self.values):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addStretch(1)
        row.addWidget(self.plot, 1)
        row.addWidget(side)
        self.store.setVisible(self._can_store)
        self.reset.setVisible(bool(self._stored))
        return content

    @property
    def curve(self) -> Mapping[str, Any]:
        """The curve that is shown."""
        return self._curves[max(0, self.classes.currentIndex())]

    @property
    def threshold(self) -> float:
        """The threshold that is chosen."""
        return float(self.curve["points"][self.slider.value()][0])

    def _show_class(self) -> None:
        """Show the curve of the class that is chosen, at its stored threshold, else at one half."""
        points = np.array([point[0] for point in self.curve["points"]])
        threshold = self._stored.get(self.curve["class"], EVEN)
        self.slider.setRange(0, len(points) - 1)
        self._show_curve()
        self.slider.setValue(max(0, int((points >= threshold).sum()) - 1))
        self._show_place()
        note = tr(
            "average precision {average}, {positives:,} of the class, {negatives:,} others",
            average=format_figure(self.curve["average_precision"]),
            positives=self.curve["positives"],
            negatives=self.curve["negatives"],
        )
        drawn = DRAWN.get(self._per)
        self.note.setText(f"{note} ({translation(drawn)})" if drawn else note)

    def _show_curve(self) -> None:
        self.plot.show_curve(self.curve, str(self.kinds.currentData()))
        self.plot.show_place(self.slider.value())

    def _show_place(self) -> None:
        """Show the scores at the threshold."""
        self.plot.show_place(self.slider.value())
        is_stored = self.curve["class"] in self._stored
        text = tr("{name} from {threshold} on", name=self.curve["class"], threshold=format_number(self.threshold))
        if is_stored:
            stored = format_number(self._stored[self.curve["class"]])
            text = tr("{text}, stored: {threshold}", text=text, threshold=stored)
        self.said.setText(markup.visible(text))
        scores = scores_at(self.curve, self.slider.value())
        for name, value in scores.items():
            self.values.set(_shown(name), f"{value:,}" if isinstance(value, int) else format_score(name.lower(), value))
        self.store.setEnabled(0 < self.threshold < 1)

    def _ask_to_store(self) -> None:
        self.store_wanted.emit(f"{self.curve['class']}={self.threshold:.6g}")

    def _rows(self) -> Iterator[Sequence[object]]:
        yield "threshold", "true positives", "false positives", *(name.lower() for name in SCORES)
        for place, point in enumerate(self.curve["points"]):
            yield *point, *(scores_at(self.curve, place)[name] for name in SCORES)
