"""The cards of the training monitor: a live plot with its legend and its newest figure."""

import contextlib
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from netwright.app.plots.card import PlotCard
from netwright.app.plots.curve_sentence import sentence
from netwright.app.plots.plot_data import VALUE, PlotData
from netwright.app.plots.plot_items import Legend
from netwright.app.plots.points import Points
from netwright.app.plots.run_plot import RunPlot
from netwright.app.plots.series import Floats, Series
from netwright.designer import theme
from netwright.designer.language import tr, translation
from netwright.designer.markup import visible
from netwright.engine.core.text import format_value

REDRAW_MS = 33
FIGURES = ("validation", "test")
"""The splits whose newest figures a card shows in large type."""
BEST = "best validation"
HEAD_MARGINS, LEGEND_AT = 64, 2
"""Pixels of a card's head that hold nothing, and the place of the legend in it."""
SLACK = 24
"""Pixels more than it needs that a legend must find to go up again: figures change their width."""


class CurveCard(PlotCard):
    """One quantity of a run: title, legend, newest figure, plot.

    Old points are thinned, never dropped; drawing is limited to one picture every 33 ms. `part_changed` tells that
    another part of the run is in view, `log_changed` that a logarithmic axis was asked for or given up, `closed` that
    the card is to go.
    """

    part_changed = Signal()
    log_changed = Signal(bool)
    closed = Signal()

    def __init__(
        self, title: str = "", parent: QWidget | None = None, *, token: str = "accent", data: PlotData | None = None
    ) -> None:
        """`token` is the palette's colour of the training curve: "accent", or "loss" for losses. A card of a `data`
        has its title and colour from there."""
        self.data = data or PlotData(title, token, Series(), {"validation": Points(), "test": Points()})
        self._run_plot = RunPlot(self.data)
        super().__init__(self._run_plot, parent)
        self.title = self.data.title
        self._legend, self._log = Legend(), self._make_log()
        self._described: object = None
        self._figures = [(QLabel(), QLabel()) for _ in FIGURES]
        self.plot.part_changed.connect(self.part_changed)
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._redraw.timeout.connect(self.flush)
        self._close = self._make_close()
        self._name_buttons()
        self._arrange()
        theme.changed.connect(self._restyle)
        self.flush()

    def set_title(self, title: str) -> None:
        """Another quantity is shown from now on."""
        self.title = self.data.title = title
        self._name_buttons()
        self.refresh()

    def append(self, split: str, first_step: int, steps_apart: int, values: Sequence[float] | Floats) -> None:
        """Takes points as an event brings them; those at or after `first_step` are replaced."""
        self.data.append(split, first_step, steps_apart, values)
        self.refresh()

    def set_expected_steps(self, count: int) -> None:
        """How long the run will be: the right end of the plot; 0 if nobody knows."""
        self.data.x_axis.expected_steps = count
        self.refresh()

    def set_smoothing(self, share: float) -> None:
        """The share of the previous value that the smoothed curve keeps, 0 (none) to 0.99."""
        self.data.smoothing = min(0.99, max(0.0, share)) if self.data.can_smooth else 0.0
        self.refresh()

    def set_log_y(self, is_log: bool) -> None:
        """A logarithmic vertical axis; values that are not positive become gaps."""
        self.data.is_log = is_log
        self.refresh()

    def clear(self) -> None:
        """Forgets all points, for another run."""
        self.data.clear()
        self.refresh()

    def refresh(self) -> None:
        """Show changed curves soon."""
        if not self._redraw.isActive():
            self._redraw.start()

    def rows(self) -> list[tuple[str, float, float]]:
        """All points as they came: split, step, value."""
        return list(self.data.rows())

    def flush(self) -> None:
        """Shows what has come, now."""
        self._redraw.stop()
        self.plot.refresh()
        samples = self._run_plot.samples()
        self._legend.show_samples({} if list(samples) == [VALUE] else samples)
        self._show_figure()
        self._describe()
        self._place_legend()

    def _describe(self) -> None:
        """Tell a screen reader in a sentence what the curves show, after each validation."""
        points = self.data.points
        state = (self.title, points["validation"].last_step or self.data.training.last_step, len(points["test"]))
        if state != self._described:
            self._described = state
            self.plot.setAccessibleDescription(visible(sentence(self.data)))

    def shutdown(self) -> None:
        """Stops drawing for good, before the window goes."""
        self._redraw.stop()
        theme.changed.disconnect(self._restyle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Find a place for the legend."""
        super().resizeEvent(event)
        self._place_legend()

    def _place_legend(self) -> None:
        """Put the legend beside the title, or on a line below where a name would be cut."""
        others = [self._title, *(part for pair in self._figures for part in pair), self._log, self._close]
        width = sum(part.sizeHint().width() + self.head.spacing() for part in others if not part.isHidden())
        room = self.width() - HEAD_MARGINS - width
        is_below = self._below.indexOf(self._legend) >= 0
        fits = self._legend.whole_width + (SLACK if is_below else 0) <= room
        if fits == is_below:
            (self._below if is_below else self.head).removeWidget(self._legend)
            if fits:
                self.head.insertWidget(LEGEND_AT, self._legend)
            else:
                self._below.insertWidget(0, self._legend)

    def _arrange(self) -> None:
        self.head.addSpacing(16)
        self.head.addWidget(self._legend)
        self.head.addStretch(1)
        self._below = QHBoxLayout()
        self._below.addStretch(1)
        self.column.insertLayout(1, self._below)
        for value, split in self._figures:
            theme.mark(value, "role", "large")
            theme.mark(split, "role", "muted")
            # As high without a figure, so that the plot does not move when the first one comes.
            value.setMinimumHeight(32)
            value.setFont(theme.figures(value.font()))
            self.head.addWidget(value)
            self.head.addWidget(split)
            is_first = value is self._figures[0][0]
            value.setContentsMargins(0 if is_first else 8, 0, 0, 0)
            value.setVisible(is_first)
            split.hide()
        self.head.addSpacing(8)
        self.head.addWidget(self._log)
        self.head.addWidget(self._close)
        self.controls += [self._log, self._close]

    def _make_log(self) -> QPushButton:
        button = QPushButton(tr("log"))
        theme.mark(button, "role", "chip")
        button.setCheckable(True)
        button.setToolTip(tr("Logarithmic vertical axis"))
        button.clicked.connect(self.log_changed)
        return button

    def _make_close(self) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIcon(theme.icon("close", "muted"))
        button.setToolTip(tr("Hide this plot"))
        button.clicked.connect(self.closed)
        return button

    def _name_buttons(self) -> None:
        self._log.setAccessibleName(tr("Logarithmic axis of {title}", title=self.title))
        self._close.setAccessibleName(tr("Close {title}", title=self.title))

    def _restyle(self) -> None:
        self._close.setIcon(theme.icon("close", "muted"))
        self.flush()
        self._legend.update()

    @contextlib.contextmanager
    def as_picture(self, scale: float = 1.0) -> Iterator[None]:
        """In here the newest points are drawn, without buttons."""
        self.flush()
        with super().as_picture(scale):
            yield

    def _newest(self) -> list[tuple[str, float, float]]:
        """The figures that count, as name, step and value: validation, or the newest training value before there is
        one; beside the test value the validation of the same network. Values from before the first step count until
        it."""
        training, points = self.data.training, self.data.points
        newest = {
            split: points[split].last
            for split in FIGURES
            if len(points[split]) and (points[split].last_step > 0 or not len(training))
        }
        names = {split: split for split in newest}
        if "test" in newest and "validation" in newest:
            same = points["validation"].nearest(newest["test"][0])
            if same and same[0] == newest["test"][0] != newest["validation"][0]:
                newest["validation"], names["validation"] = same, BEST
        if newest or not len(training):
            return [(names[split], *newest[split]) for split in newest]
        return [(self.data.word, training.last_step, training.value(len(training) - 1))]

    def _show_figure(self) -> None:
        newest = self._newest()
        for number, (label, name) in enumerate(self._figures):
            word, step, value = newest[number] if number < len(newest) else ("", 0.0, None)
            text = "" if value is None else format_value(value, is_percent=self.data.is_percent, is_measured=True)
            caption = translation(word) if word != VALUE else ""
            # Setting the same text again would lay the card out again.
            if (label.text(), name.text()) != (text, caption):
                label.setText(text)
                name.setText(caption)
                name.setVisible(bool(name.text()))
                label.setVisible(bool(text) or number == 0)
            tip = ""
            if word in (*FIGURES, BEST):
                tip = tr("{curve} after iteration {step:,.0f}", curve=caption, step=step)
            for part in (label, name):
                if part.toolTip() != tip:
                    part.setToolTip(tip)
        if self._log.isHidden() != (self.data.is_percent or self.data.is_empty):
            self._log.setHidden(not self._log.isHidden())
        self._log.setChecked(self.data.is_log)
