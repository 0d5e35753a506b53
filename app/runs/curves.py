"""The cards of the training monitor: a live plot with its legend and its newest figure."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QPointF, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.runs.plot import Drawing, Plot, draw_marker
from app.runs.scales import figure
from app.runs.series import Floats, Points, Series
from designer import theme

REDRAW_MS = 33
_SAMPLE, _GAP, _SPACE = 20, 8, 20


class _Legend(QWidget):
    """A sample of each curve that is there, with its name."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self._drawing = drawing
        self._names: list[str] = []
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def refresh(self) -> None:
        """Asks for another size when other curves are there."""
        names = []
        if len(self._drawing.training):
            names = ["training", "smoothed"] if self._drawing.smoothing > 0 else ["training"]
        names += [split for split, points in self._drawing.points.items() if len(points)]
        if names != self._names:
            self._names = names
            self.setAccessibleName("Curves: " + ", ".join(names))
            self.setToolTip(self.accessibleName())
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As wide as its words."""
        metrics = QFontMetrics(self.font())
        width = sum(_SAMPLE + _GAP + metrics.horizontalAdvance(name) + _SPACE for name in self._names)
        return QSize(width, max(20, metrics.height()))

    def words(self) -> list[str]:
        """The names as they are drawn: elided where the card is too narrow for all of them."""
        metrics, width = QFontMetrics(self.font()), self.width()
        if width >= self.sizeHint().width():
            return self._names
        room = width // max(1, len(self._names)) - _SAMPLE - 2 * _GAP
        elide, least = Qt.TextElideMode.ElideRight, metrics.horizontalAdvance("m…")
        return [metrics.elidedText(name, elide, room) if room >= least else "" for name in self._names]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the samples as the plot draws the curves."""
        painter = QPainter(self)
        metrics, x, middle = QFontMetrics(self.font()), 0, self.height() / 2
        for name, word in zip(self._names, self.words(), strict=True):
            self._paint_sample(painter, name, x, middle)
            painter.setPen(theme.current().muted)
            left = x + _SAMPLE + _GAP
            width = metrics.horizontalAdvance(word)
            painter.drawText(QRect(left, 0, width + 4, self.height()), Qt.AlignmentFlag.AlignVCenter, word)
            x = left + width + (_SPACE if self.width() >= self.sizeHint().width() else _GAP if word else 0)
        painter.end()

    def _paint_sample(self, painter: QPainter, name: str, x: float, y: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self._drawing.raw_colour, 1)
        if name == "smoothed":
            pen = QPen(self._drawing.colour, 2)
        elif name != "training":
            pen = QPen(self._drawing.split_colour(name), 1.25)
            pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawLine(QPointF(x, y), QPointF(x + _SAMPLE, y))
        if name in self._drawing.points:
            painter.setPen(QPen(theme.current().panel, 1))
            painter.setBrush(self._drawing.split_colour(name))
            draw_marker(painter, name, QPointF(x + _SAMPLE / 2, y))
            painter.setBrush(Qt.BrushStyle.NoBrush)


class CurveCard(QFrame):
    """One quantity of a run: title, legend, newest figure, plot.

    Points are never dropped; drawing is limited to one picture every 33 ms.
    """

    def __init__(self, title: str, parent: QWidget | None = None, *, token: str = "accent") -> None:
        """`token` is the palette's colour of the training curve: "accent", or "loss" for losses."""
        super().__init__(parent)
        self._drawing = Drawing(title, token, Series(), {"validation": Points(), "test": Points()})
        self._title = QLabel(title)
        self._legend = _Legend(self._drawing)
        self._figure = QLabel()
        self._split = QLabel()
        self._plot = Plot(self._drawing)
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._redraw.timeout.connect(self.flush)
        self._arrange()
        theme.changed.connect(self._restyle)
        self.flush()

    @property
    def title(self) -> str:
        """The name of the quantity."""
        return self._drawing.title

    @title.setter
    def title(self, title: str) -> None:
        self._drawing.title = title
        self._title.setText(title)
        self._stale()

    def append(self, split: str, first_step: int, steps_apart: int, values: Sequence[float] | Floats) -> None:
        """Takes points as an event brings them; those at or after `first_step` are replaced."""
        if split == "training":
            self._drawing.training.append(values, first_step, steps_apart)
        else:
            steps = [first_step + number * steps_apart for number in range(len(values))]
            self._drawing.points.setdefault(split, Points()).append(steps, list(values))
        self._stale()

    def go_back(self, step: int) -> None:
        """The run goes on from this step: what comes after it, and every test, is forgotten."""
        self._drawing.training.truncate(self._drawing.training.index(step + 1))
        for split, points in self._drawing.points.items():
            points.truncate(-1 if split == "test" else step)
        self._stale()

    def set_expected_steps(self, count: int) -> None:
        """How long the run will be: the right end of the plot; 0 if nobody knows."""
        self._drawing.expected_steps = count
        self._stale()

    def show_end(self) -> None:
        """The run has ended: what was done of it is as wide as the plot."""
        self.set_expected_steps(int(self._drawing.last_step))

    def set_epoch_steps(self, count: int) -> None:
        """Steps an epoch, for faint lines where epochs end; 0 for none."""
        self._drawing.epoch_steps = count
        self._stale()

    def set_smoothing(self, share: float) -> None:
        """The share of the previous value that the smoothed curve keeps, 0 (none) to 0.99."""
        self._drawing.smoothing = min(0.99, max(0.0, share))
        self._stale()

    def set_log_y(self, is_log: bool) -> None:
        """A logarithmic vertical axis; values that are not positive become gaps."""
        self._drawing.is_log = is_log
        self._stale()

    def set_percent(self, is_percent: bool) -> None:
        """Shows shares from 0 to 1 as 0 to 100 %."""
        self._drawing.is_percent = is_percent
        self._stale()

    def clear(self) -> None:
        """Forgets all points, for another run."""
        self._drawing.training = Series()
        self._drawing.points = {"validation": Points(), "test": Points()}
        self._stale()

    def rows(self) -> list[tuple[str, float, float]]:
        """All points as they came: split, step, value."""
        training = self._drawing.training
        result = []
        if len(training):
            steps = training.steps(np.arange(len(training)))
            pairs = zip(steps.tolist(), training.values().tolist(), strict=True)
            result = [("training", step, value) for step, value in pairs]
        for split, points in self._drawing.points.items():
            result += [(split, step, value) for step, value in points.pairs()]
        return result

    def flush(self) -> None:
        """Shows what has come, now."""
        self._redraw.stop()
        self._legend.refresh()
        self._show_figure()
        self._legend.update()
        self._plot.update()

    def export_png(self, path: str | Path) -> None:
        """Writes the card as a picture, twice as fine as on the screen."""
        self._prepare_picture()
        pixmap = QPixmap(self.size() * 2)
        pixmap.setDevicePixelRatio(2)
        pixmap.fill(theme.current().background)
        self.render(pixmap)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        pixmap.save(buffer, "PNG")
        Path(path).write_bytes(buffer.data().data())

    def export_svg(self, path: str | Path) -> None:
        """Writes the card as a drawing that scales."""
        self._prepare_picture()
        buffer = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(self.size())
        generator.setViewBox(self.rect())
        generator.setTitle(self.title)
        painter = QPainter(generator)
        self.render(painter, QPoint(0, 0))
        painter.end()
        Path(path).write_bytes(buffer.data().data())

    def shutdown(self) -> None:
        """Stops drawing for good, before the window goes."""
        self._redraw.stop()
        theme.changed.disconnect(self._restyle)

    def _arrange(self) -> None:
        theme.mark(self, "role", "card")
        theme.mark(self._title, "role", "strong")
        theme.mark(self._figure, "role", "large")
        theme.mark(self._split, "role", "muted")
        # As high without a figure, so that the plot does not move when the first one comes.
        self._figure.setMinimumHeight(32)
        self._figure.setFont(theme.figures(self._figure.font()))
        self.setAccessibleName(self.title)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addSpacing(16)
        head.addWidget(self._legend)
        head.addStretch(1)
        head.addWidget(self._figure)
        head.addSpacing(4)
        head.addWidget(self._split)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._plot, 1)

    def _stale(self) -> None:
        if not self._redraw.isActive():
            self._redraw.start()

    def _restyle(self) -> None:
        self.flush()

    def _prepare_picture(self) -> None:
        self._plot.forget_pointer()
        self.flush()
        self.ensurePolished()

    def _newest(self) -> tuple[str, float] | None:
        """The figure that counts: test, else validation, else the newest training value."""
        for split in ("test", "validation"):
            if pairs := self._drawing.points[split].pairs():
                return split, pairs[-1][1]
        training = self._drawing.training
        return ("training", float(training.values(len(training) - 1)[0])) if len(training) else None

    def _show_figure(self) -> None:
        newest = self._newest()
        value = figure(newest[1], self._drawing.is_percent) if newest else ""
        # Setting the same text again would lay the card out again.
        for label, text in ((self._figure, value), (self._split, newest[0] if newest else "")):
            if label.text() != text:
                label.setText(text)
