"""The plots of a run: its main metric and its loss, and below them those that were chosen of all it tells."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QMenu, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.plots.confusion_chart import ConfusionCard
from netwright.app.plots.curve_card import CurveCard
from netwright.app.plots.plot_data import LinkedXAxis, PlotData
from netwright.app.plots.quantities import (
    COMPUTING,
    GRADIENT_NORM,
    LOSS,
    OFFERED,
    SHARES,
    of_progress,
    plot_data_of,
    shares_of,
)
from netwright.app.plots.timeline import Along, EventTicks, Timeline
from netwright.app.plots.words import metric_title
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.engine.project.options.metric_options import is_share
from netwright.engine.runs.baselines import errors_beside
from netwright.engine.runs.confusion import Confusion
from netwright.engine.runs.events import (
    Best,
    Ended,
    Event,
    Points,
    Progress,
    Requested,
    Resumed,
    Started,
    ThinnedPoints,
)

FIRST = "accuracy"
"""The upper quantity until a run reports its main metric."""
METRIC = "metric"
"""The main metric, whichever it is."""
CONFUSION = "confusion_matrix"
"""Name of the confusion matrix among the plots; a run has it after its end, if it classifies."""
COLUMNS = 2
REVEALING_MS = 300
LEAST_TWO = 760
"""Narrower than this there is one column."""
MOST_PLOTS = 200
"""Quantities; a run has some tens of them at most."""


class Board(QWidget):
    """Takes the events of one run at a time, and keeps all they say, whether it is shown or not.

    `part_changed` tells that another part of the run is in view, `choices_changed` that other plots were chosen, or
    another scale for one of them.
    """

    part_changed = Signal()
    choices_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.x_axis = LinkedXAxis()
        self.plot_data: dict[str, PlotData] = {}
        self._main = FIRST
        self._smoothing = 0.0
        self.log_plots: set[str] = set()
        """Quantities with a logarithmic vertical axis, by name."""
        self._chosen: list[str] = []
        self.hidden: set[str] = set()
        """Which of the two plots that every run has are hidden: `METRIC`, `LOSS`."""
        self._cards: dict[str, CurveCard] = {}
        self._confusions: dict[str, Confusion] = {}
        self._confusion_card: ConfusionCard | None = None
        self._is_revealing = self._measures_loss_alone = False
        self._arranged = 0
        for name in (self._main, LOSS, *OFFERED):
            self._plot_data(name)
        self._make()
        self.main_card, self.loss_card = self._add_card(self._main), self._add_card(LOSS)
        self._arrange()

    def _make(self) -> None:
        content = QWidget()
        area = self._area = QScrollArea()
        self._grid = QGridLayout(content)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        for number in range(COLUMNS):
            self._grid.setColumnStretch(number, 1)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(content)
        area.verticalScrollBar().rangeChanged.connect(lambda *_: self._reveal())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(area)
        self.nothing = QLabel(tr("All plots are hidden. Plots, below, shows them again."))
        theme.mark(self.nothing, "role", "muted")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.nothing, 1)
        self.choice = QPushButton(tr("Plots"))
        tip = tr("Show or hide plots: accuracy, loss, learn rate, speed, memory, step time, other metrics")
        self.choice.setToolTip(tip)
        menu = QMenu(self.choice)
        theme.mark(menu, "role", "choices")
        menu.aboutToShow.connect(self._fill_menu)
        self.choice.setMenu(menu)

    @property
    def cards(self) -> tuple[CurveCard, ...]:
        """Those that are shown: main metric, loss, then as they were chosen."""
        return tuple(self._cards.values())

    @property
    def shown(self) -> dict[str, CurveCard]:
        """Those that are shown, by the name of their quantity."""
        return dict(self._cards)

    # ---- what a run says ----

    def take(self, event: Event) -> None:
        """One event of the run."""
        self.x_axis.timeline.take(event)
        self.x_axis.event_ticks.take(event)
        match event:
            case Started():
                self._set_main(event.metric)
                self.set_expected_steps(event.iterations)
            case Points(split="training" | "validation" | "test"):
                for name, values in event.values.items():
                    if name in self.plot_data or len(self.plot_data) < MOST_PLOTS:  # a stranger's log may name any
                        self._append(name, event, [float(v) for v in values])
            case ThinnedPoints():
                for name in event.curves:
                    if name in self.plot_data or len(self.plot_data) < MOST_PLOTS:
                        self._plot_data(name).append_thinned(event, name)
                        self._show(name)
            case Progress():
                for name, value in of_progress(event).items():
                    self.plot_data[name].append("training", event.iteration, 1, [value])
                    self._refresh(name)
                self._take_shares(event)
            case Best():
                name = LOSS if event.objective == LOSS else self._named(event.objective)
                self._plot_data(name).bests.append((event.iteration, event.value))
                self._refresh(name)
            case Requested(what="watch_gradient_norm") if event.value:
                self.choose(GRADIENT_NORM, True)
            case Requested(what="epochs") if self.x_axis.timeline.steps_per_epoch:
                self.set_expected_steps(event.value * self.x_axis.timeline.steps_per_epoch)
            case Ended():
                metric, baselines = errors_beside(event.result)
                if metric in self.plot_data:
                    self.plot_data[metric].baselines = baselines
                    self._refresh(metric)
            case Resumed():
                for name, data in self.plot_data.items():
                    data.go_back(event.iteration)
                    self._refresh(name)

    def _append(self, name: str, event: Points, values: list[float]) -> None:
        self._plot_data(name).append(event.split, event.first_step, event.steps_apart, values)
        self._show(name)

    def _show(self, name: str) -> None:
        """New points of this quantity have come."""
        if name in self._chosen and name not in self._cards:
            self._add_card(name)
            self._arrange()
        self._refresh(name)

    def _take_shares(self, event: Progress) -> None:
        """Add the shares of the time, as far as they are measured."""
        data = self.plot_data[SHARES]
        for name, share in shares_of(event).items():
            if name == COMPUTING:
                data.append("training", event.iteration, 1, [share])
            else:
                data.beside[name].line.append([share], event.iteration)
        self._refresh(SHARES)

    def _named(self, objective: str) -> str:
        """The metric that an objective is."""
        return self._main if objective == "metric" else objective

    def _plot_data(self, name: str) -> PlotData:
        if name not in self.plot_data:
            self.plot_data[name] = plot_data_of(name, self.x_axis)
            self._style(name, self.plot_data[name])
        return self.plot_data[name]

    def _set_main(self, name: str) -> None:
        """The main metric of the run is this one."""
        self._measures_loss_alone = name == LOSS
        if name in (self._main, LOSS):
            self._arrange()
            return
        old, was = self._main, self.plot_data
        self._main = name
        self.plot_data = {name if key == old else key: data for key, data in was.items() if key != name}
        self._close_card(name)
        self._cards = {name if key == old else key: card for key, card in self._cards.items()}
        self.main_card.data.is_percent = is_share(name)
        self._style(name, self.main_card.data)
        self.main_card.set_title(metric_title(name))
        self._arrange()

    def set_expected_steps(self, count: float) -> None:
        """How long the run will be: the right end of the plots; 0 if nobody knows."""
        self.x_axis.expected_steps = count
        self._refresh_all()

    def show_end(self) -> None:
        """The run has ended: what was done of it is as wide as the plots."""
        self.set_expected_steps(max(data.last_step for data in self.plot_data.values()))

    def set_confusions(self, confusions: Mapping[str, Confusion]) -> None:
        """Set the confusion matrices of the saved network by split. The list of plots offers that of the test split, or
        another one where there is none."""
        self._confusions = dict(confusions)
        self._show_confusion()

    def _show_confusion(self) -> None:
        """Show the confusion matrix if it was chosen and there is one."""
        if self._confusion_card is not None:
            _remove(self._grid, self._confusion_card)
            self._confusion_card = None
        if CONFUSION in self._chosen and self._confusions:
            self._confusion_card = ConfusionCard(self._confusions)
            self._confusion_card.closed.connect(lambda: self.choose(CONFUSION, False))
        self._arrange()

    def clear(self, *, is_reading: bool = False) -> None:
        """Forget all points, for another run: the metrics may be others. `is_reading`: it may have points that come
        before `show_caught_up`."""
        was_zoomed = self.x_axis.part is not None
        self.x_axis.timeline, self.x_axis.expected_steps, self.x_axis.part = Timeline(), 0, None
        self.x_axis.event_ticks = EventTicks()
        for name in [name for name in self.plot_data if name not in (self._main, LOSS, *OFFERED)]:
            del self.plot_data[name]
            self._drop_card(name)
        for data in self.plot_data.values():
            data.clear()
            data.is_reading = is_reading
        self.set_confusions({})
        self._refresh_all()
        if was_zoomed:
            self.part_changed.emit()

    def show_caught_up(self) -> None:
        """All points that the run had so far were taken."""
        for data in self.plot_data.values():
            data.is_reading = False
        self._refresh_all()

    # ---- how it is shown ----

    def set_smoothing(self, share: float) -> None:
        """The share of the previous value that smoothed curves keep, 0 (none) to 0.99."""
        self._smoothing = min(0.99, max(0.0, share))
        self._restyle()

    def set_log_y(self, name: str, is_log: bool) -> None:
        """Give one quantity a logarithmic axis of values, or a linear one."""
        (self.log_plots.add if is_log else self.log_plots.discard)(name)
        if name in self.plot_data:
            self._style(name, self.plot_data[name])
        self._refresh(name)
        self.choices_changed.emit()

    def set_along(self, along: Along) -> None:
        """Set the unit of the lower axes."""
        self.x_axis.along = along
        self._refresh_all()

    def set_log_x(self, is_log: bool) -> None:
        """Logarithmic lower axes."""
        self.x_axis.is_log = is_log
        self._refresh_all()

    def show_all(self) -> None:
        """The whole run is in view."""
        self.x_axis.part = None
        self._on_part_changed()

    def _restyle(self) -> None:
        for name, data in self.plot_data.items():
            self._style(name, data)
        self._refresh_all()

    def _style(self, name: str, data: PlotData) -> None:
        data.smoothing = self._smoothing if data.can_smooth else 0.0
        data.is_log = name in self.log_plots and not data.is_percent

    def _refresh(self, name: str) -> None:
        if name in self._cards:
            self._cards[name].refresh()

    def _refresh_all(self) -> None:
        for card in self._cards.values():
            card.refresh()

    def _on_part_changed(self) -> None:
        self._refresh_all()
        self.part_changed.emit()

    # ---- which plots ----

    @property
    def chosen(self) -> tuple[str, ...]:
        """The plots that were chosen beside main metric and loss, whether this run has them or not."""
        return tuple(self._chosen)

    def choose(self, name: str, is_shown: bool) -> None:
        """Show a quantity, or no more."""
        if name in (METRIC, LOSS):
            (self.hidden.discard if is_shown else self.hidden.add)(name)
            self._arrange()
            self.choices_changed.emit()
            return
        if is_shown == (name in self._chosen):
            return
        if is_shown:
            self._chosen.append(name)
            if name in self.plot_data and name not in self._cards:
                self._add_card(name)
        else:
            self._chosen.remove(name)
            self._drop_card(name)
        if name == CONFUSION:
            self._show_confusion()
        self._arrange()
        self.choices_changed.emit()

    def show_confusion(self) -> None:
        """Show the confusion matrix, and scroll to it."""
        self.choose(CONFUSION, True)
        self._is_revealing = True
        self._reveal()
        QTimer.singleShot(REVEALING_MS, self, self._end_revealing)

    def _reveal(self) -> None:
        """Scroll to the confusion matrix while its layout settles."""
        if self._is_revealing and self._confusion_card is not None:
            self._area.ensureWidgetVisible(self._confusion_card)

    def _end_revealing(self) -> None:
        self._is_revealing = False

    def _fill_menu(self) -> None:
        menu = self.choice.menu()
        menu.clear()
        metrics = sorted(name for name in self.plot_data if name not in (self._main, LOSS, *OFFERED))

        for name, card in self.first_cards().items():
            self._add_entry(name, card.title, name not in self.hidden)
        menu.addSeparator()
        for name in (*metrics, "", *OFFERED, "", *([CONFUSION] if self._confusions else [])):
            if not name:
                menu.addSeparator()
                continue
            title = self.plot_data[name].title if name in self.plot_data else tr("Confusion matrix")
            self._add_entry(name, title, name in self._cards or name in self._chosen)

    def _add_entry(self, name: str, title: str, is_shown: bool) -> None:
        action = self.choice.menu().addAction(markup.without_mnemonic(title))
        action.setCheckable(True)
        action.setChecked(is_shown)
        action.toggled.connect(lambda is_on: self.choose(name, is_on))

    def first_cards(self) -> dict[str, CurveCard]:
        """Main metric and loss; the loss alone where a run measures nothing else."""
        return {LOSS: self.loss_card} if self._measures_loss_alone else {METRIC: self.main_card, LOSS: self.loss_card}

    def _add_card(self, name: str) -> CurveCard:
        key = METRIC if name == self._main else name
        card = CurveCard(data=self.plot_data[name])
        card.part_changed.connect(self._on_part_changed)
        card.log_changed.connect(lambda is_log: self._on_log_changed(card, is_log))
        card.closed.connect(lambda: self.choose(key, False))
        self._cards[name] = card
        return card

    def _on_log_changed(self, card: CurveCard, is_log: bool) -> None:
        """The main card may have another name by now."""
        self.set_log_y(next(name for name, other in self._cards.items() if other is card), is_log)

    def _close_card(self, name: str) -> None:
        """Another card shows it now."""
        if name in self._chosen:
            self._chosen.remove(name)
        self._drop_card(name)

    def _drop_card(self, name: str) -> None:
        if name in self._cards:
            card = self._cards.pop(name)
            card.shutdown()
            _remove(self._grid, card)

    def _arrange(self) -> None:
        """Main metric and loss one below the other, the others two per row where there is room, the confusion matrix
        in a row of its own."""
        first, second, *others = self._cards.values()
        columns = self._arranged = self._columns
        visible = [card for name, card in self.first_cards().items() if name not in self.hidden]
        for row, card in enumerate((first, second)):
            self._grid.addWidget(card, row, 0, 1, COLUMNS)
            card.setVisible(card in visible)
        has_cards = bool(visible or others or self._confusion_card is not None)
        self._area.setVisible(has_cards)
        self.nothing.setVisible(not has_cards)
        for number, other in enumerate(others):
            row, column = divmod(number, columns)
            is_alone = columns == 1 or (number == len(others) - 1 and column == 0)
            self._grid.addWidget(other, 2 + row, column, 1, COLUMNS if is_alone else 1)
        if self._confusion_card is not None:
            below = 2 + -(-len(others) // columns)
            self._grid.addWidget(self._confusion_card, below, 0, 1, COLUMNS)
        for row in range(max(2, self._grid.rowCount())):
            item = self._grid.itemAtPosition(row, 0)
            widget = item.widget() if item is not None else None
            is_used = widget is not None and not widget.isHidden()
            self._grid.setRowStretch(row, (3 if row < 2 else 2) if is_used else 0)

    @property
    def _columns(self) -> int:
        return COLUMNS if self.width() >= LEAST_TWO else 1

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two columns or one."""
        super().resizeEvent(event)
        if self._columns != self._arranged:
            self._arrange()

    def shutdown(self) -> None:
        """Let go of the plots, in order."""
        for card in self._cards.values():
            card.shutdown()


def _remove(grid: QGridLayout, card: QWidget) -> None:
    grid.removeWidget(card)
    card.hide()
    card.deleteLater()
