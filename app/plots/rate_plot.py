"""The learn rate over the whole run, drawn as the options are typed."""

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from netwright.app.plots.axes import Axis, Unit
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import tr, translation
from netwright.engine.core.text import format_number
from netwright.engine.core.ticks import round_ticks
from netwright.engine.project.schedules import rate_at
from netwright.engine.project.training import TrainingLength, TrainingOptions, training_length

STAND_IN = 100
"""Iterations per epoch while the data is unknown."""
HEIGHT = 168


class RatePlot(QWidget):
    """The learn rate over a run, under a caption that says what it goes by."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.options = TrainingOptions()
        self.samples: int | None = None
        self.scale = 1.0
        self.setAccessibleName(tr("Learn rate over the run"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        self._caption, self._curve = ElidedLabel(), RateCurve(self)
        theme.mark(self._caption, "role", "help")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._caption)
        column.addWidget(self._curve, 1)
        self._soon = QTimer(self, singleShot=True, interval=0)  # the dialog opens first: it is further down
        self._soon.timeout.connect(self._describe)

    def show_options(self, options: TrainingOptions, samples: int | None, scale: float = 1.0) -> None:
        """Draw so many times the rate of these options, for so many training samples; None where that is not known."""
        self.options, self.samples, self.scale = options, samples, scale
        self._caption.setText(self.caption)
        self._curve.refresh()
        self._soon.start()

    def _describe(self) -> None:
        """In words, for who does not see it."""
        rates = [rate for _, rate in self.points(101)]
        first, last, most = (format_number(rate) for rate in (rates[0], rates[-1], max(rates)))
        text = tr(
            "{caption}. From {first} to {last}, at most {most}.",
            caption=self.caption,
            first=first,
            last=last,
            most=most,
        )
        self.setAccessibleDescription(text)

    @property
    def length(self) -> TrainingLength:
        """How long the run is, or would be."""
        if self.samples or self.options.is_full_batch:
            return training_length(self.options, self.samples or 1)
        return TrainingLength(self.options.mini_batch_size, STAND_IN, self.options.max_epochs)

    @property
    def caption(self) -> str:
        """The quantity of the curve, and its range."""
        length = self.length
        if length.is_full_batch:
            return tr("Learn rate over %n iteration(s), each of all samples", "", length.epochs)
        epochs = tr("%n epoch(s)", "", length.epochs)
        iterations = tr("%n iteration(s)", "", length.total_steps)
        run = tr("Learn rate over {epochs}, {iterations}", epochs=epochs, iterations=iterations)
        if "plateau" in self.options.schedules:
            return tr("{range}, as long as validations get better", range=run)
        if not self.samples:
            return tr("{range}: {count} per epoch are assumed, as there is no data yet", range=run, count=STAND_IN)
        return run

    def points(self, most: int) -> Iterator[tuple[float, float]]:
        """Share of the run and rate, of all steps or of so many of them, evenly spread with both ends."""
        total, per_epoch = self.length.total_steps, self.length.steps_per_epoch
        count = min(total, most)
        for number in range(count):
            step = round(number * (total - 1) / max(1, count - 1))
            yield step / max(1, total - 1), self.scale * rate_at(self.options, step, per_epoch, total)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follows every change of a schedule that there are pixels for."""
        super().resizeEvent(event)
        self._curve.refresh()


class RateCurve(Plot):
    """The curve itself: epochs to the right, the rate upwards."""

    def __init__(self, owner: RatePlot) -> None:
        super().__init__(parent=owner, right=16)
        self._owner = owner
        self.setAccessibleName(tr("Learn rate over the run"))
        self._line = Line(antialias=True)
        self.addItem(self._line, ignoreBounds=True)

    def dress(self) -> None:
        """In the colour of training curves."""
        self._line.setPen(theme.current().accent, width=1.6)

    def draw(self) -> str:
        """Three quiet lines with the rate, and epochs at round numbers."""
        length = self._owner.length
        shares, rates = (np.array(values) for values in zip(*self._owner.points(2 * self.columns), strict=True))
        top = float(rates.max()) or 1.0
        if length.epochs == 1:
            unit = tr("iteration") if length.is_full_batch else tr("epoch")
        else:
            unit = translation("iterations" if length.is_full_batch else "epochs")
        x = Axis(low=0, high=length.epochs, ticks=tuple(round_ticks(0, length.epochs, self.num_x_ticks, is_whole=True)))
        y = Axis(low=0, high=top, ticks=(0.0, 0.5 * top, top))
        self.show_axes(x, Unit(name=unit), y, [format_number(rate) for rate in y.ticks])
        if len(shares) == 1:
            shares, rates = np.array([0.0, 1.0]), np.repeat(rates, 2)
        self.lay(self._line, shares * length.epochs, rates)
        return ""
