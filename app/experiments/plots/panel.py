"""The panel of plots above the trials: one at a time, chosen by its name."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from netwright.app.experiments.plots.chart import Findings, TrialChart
from netwright.app.experiments.plots.coordinates import ParallelCoordinates
from netwright.app.experiments.plots.front import ParetoPlot
from netwright.app.experiments.plots.importance_plot import ImportancePlot
from netwright.app.experiments.plots.landscape import LandscapePlot
from netwright.app.experiments.plots.learning_curves import LearningCurves
from netwright.app.experiments.plots.scatter import ScatterMatrix, SlicePlot
from netwright.app.plots.card import FigureCard
from netwright.app.processes import EngineServer
from netwright.designer import markup
from netwright.designer.language import translation
from netwright.designer.segment_row import SegmentRow

PLOT = "plot"
"""The comment of the names of plots."""
PLOTS: tuple[type[TrialChart], ...] = (
    ParallelCoordinates,
    SlicePlot,
    LandscapePlot,
    ScatterMatrix,
    ParetoPlot,
    LearningCurves,
    ImportancePlot,
)
"""All plots, in the order in which they are offered. A further one is one class and its entry here."""


class PlotsPanel(QWidget):
    """Names of plots, and the one that is chosen. Each is made when it is first seen."""

    picked = Signal(int)
    """The number of a trial that was clicked."""
    filtered = Signal(object)
    """The numbers of the trials that brushes keep; None for all."""

    def __init__(self, first: QWidget, name: str, server: EngineServer, parent: QWidget | None = None) -> None:
        """`first` is a plot that is always there, shown at first under `name`; `server` computes for the others."""
        super().__init__(parent)
        self._server = server
        self.charts: dict[str, TrialChart] = {}
        self._cards: dict[str, FigureCard] = {}
        self._findings = Findings()
        self._number: int | None = None
        self._seen: dict[str, Findings] = {}
        self.stack = QStackedWidget()
        self.stack.addWidget(first)
        self.buttons: dict[str, QPushButton] = {}
        self._bar = SegmentRow()
        self._add_button("", name, "")
        for plot in PLOTS:
            self._add_button(
                plot.key, translation(plot.name, PLOT), f"{translation(plot.title)}\n{translation(plot.help)}"
            )
        self.buttons[""].setChecked(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.stack, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def _add_button(self, key: str, text: str, tip: str) -> None:
        button = self.buttons[key] = self._bar.add(text, markup.wrapped(tip))
        button.clicked.connect(lambda: self.choose(key))

    @property
    def current(self) -> TrialChart | None:
        """The plot that is seen; None for the first one."""
        return next((c for key, c in self.charts.items() if self._cards[key] is self.stack.currentWidget()), None)

    def choose(self, key: str) -> None:
        """Show a plot by its key; empty for the first one."""
        self.buttons[key].setChecked(True)
        if not key:
            self.stack.setCurrentIndex(0)
            return
        if key not in self.charts:
            self._make(next(plot for plot in PLOTS if plot.key == key))
        self.stack.setCurrentWidget(self._cards[key])
        self._refresh()

    def _make(self, plot: type[TrialChart]) -> None:
        chart = self.charts[plot.key] = plot()
        if isinstance(chart, ImportancePlot):
            chart.server = self._server
        card = self._cards[plot.key] = FigureCard(chart, translation(plot.title), values=chart.rows, fills=True)
        for control in (*chart.controls(), chart.whole):
            card.add_control(control)
        chart.picked.connect(self.picked)
        chart.changed.connect(lambda: card.note.setText(chart.note))
        if isinstance(chart, ParallelCoordinates):
            chart.filtered.connect(self.filtered)
        self.stack.addWidget(card)

    def show_findings(self, findings: Findings) -> None:
        """Show the trials of an experiment, as they are now."""
        self._findings = findings
        self._refresh()

    def select(self, number: int | None) -> None:
        """Ring a trial in the plot that is seen."""
        self._number = number
        if self.current is not None:
            self.current.select(number)

    def _refresh(self) -> None:
        chart = self.current
        if chart is None:
            return
        if self._seen.get(chart.key) is not self._findings:
            self._seen[chart.key] = self._findings
            chart.show_findings(self._findings)
            self._cards[chart.key].note.setText(chart.note)
        chart.select(self._number)
