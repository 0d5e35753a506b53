"""The cards of the training monitor: a live plot with its legend and its newest figure."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.plots.drawing import VALUE, Drawing
from app.plots.pictures import save_png, save_svg
from app.plots.plot import BEST_RADIUS, Plot, draw_marker
from app.plots.scales import figure
from app.plots.series import Floats, Points, Series
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
            names = [self._drawing.word, *(["smoothed"] if self._drawing.smoothing > 0 else [])]
        names += [name for name, other in self._drawing.beside.items() if len(other.line)]
        names += [split for split, points in self._drawing.points.items() if len(points)]
        names += ["best"] if self._drawing.bests else []
        names = [] if names == [VALUE] else names
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
        if name == "best":
            painter.setPen(QPen(theme.current().text, 1.5))
            painter.drawEllipse(QPointF(x + _SAMPLE / 2, y), BEST_RADIUS - 1, BEST_RADIUS - 1)
            return
        pen = QPen(self._drawing.raw_colour, 1)
        if name == "smoothed":
            pen = QPen(self._drawing.colour, 2)
        elif name in self._drawing.beside:
            pen = QPen(self._drawing.beside[name].colour, 1)
        elif name != self._drawing.word:
            pen = QPen(self._drawing.split_colour(name), 1)
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

    Points are never dropped; drawing is limited to one picture every 33 ms. `part_changed` tells that another part of
    the run is in view, `closed` that the card is to go, where it can be closed.
    """

    part_changed = Signal()
    closed = Signal()

    def __init__(
        self,
        title: str = "",
        parent: QWidget | None = None,
        *,
        token: str = "accent",
        drawing: Drawing | None = None,
        can_close: bool = False,
    ) -> None:
        """`token` is the palette's colour of the training curve: "accent", or "loss" for losses. A card of a `drawing`
        has its title and colour from there."""
        super().__init__(parent)
        self.drawing = drawing or Drawing(title, token, Series(), {"validation": Points(), "test": Points()})
        self._title = QLabel(self.title)
        self._legend = _Legend(self.drawing)
        self._figure = QLabel()
        self._split = QLabel()
        self._plot = Plot(self.drawing)
        self._plot.part_changed.connect(self.part_changed)
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._redraw.timeout.connect(self.flush)
        self._close = self._make_close() if can_close else None
        self._arrange()
        theme.changed.connect(self._restyle)
        self.flush()

    @property
    def title(self) -> str:
        """The name of the quantity."""
        return self.drawing.title

    @title.setter
    def title(self, title: str) -> None:
        self.drawing.title = title
        self._title.setText(title)
        self.setAccessibleName(title)
        self.refresh()

    def append(self, split: str, first_step: int, steps_apart: int, values: Sequence[float] | Floats) -> None:
        """Takes points as an event brings them; those at or after `first_step` are replaced."""
        self.drawing.append(split, first_step, steps_apart, values)
        self.refresh()

    def set_expected_steps(self, count: int) -> None:
        """How long the run will be: the right end of the plot; 0 if nobody knows."""
        self.drawing.across.expected_steps = count
        self.refresh()

    def set_smoothing(self, share: float) -> None:
        """The share of the previous value that the smoothed curve keeps, 0 (none) to 0.99."""
        self.drawing.smoothing = min(0.99, max(0.0, share)) if self.drawing.can_smooth else 0.0
        self.refresh()

    def set_log_y(self, is_log: bool) -> None:
        """A logarithmic vertical axis; values that are not positive become gaps."""
        self.drawing.is_log = is_log
        self.refresh()

    def clear(self) -> None:
        """Forgets all points, for another run."""
        self.drawing.clear()
        self.refresh()

    def refresh(self) -> None:
        """What is drawn has changed: it is shown soon."""
        if not self._redraw.isActive():
            self._redraw.start()

    def rows(self) -> list[tuple[str, float, float]]:
        """All points as they came: split, step, value."""
        return list(self.drawing.rows())

    def flush(self) -> None:
        """Shows what has come, now."""
        self._redraw.stop()
        self._legend.refresh()
        self._show_figure()
        self._legend.update()
        self._plot.update()

    def export_png(self, path: str | Path) -> None:
        """Writes the card as a picture, twice as fine as on the screen."""
        with self._as_picture():
            save_png(self, path)

    def export_svg(self, path: str | Path) -> None:
        """Writes the card as a drawing that scales."""
        with self._as_picture():
            save_svg(self, path, self.title)

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
        if self._close is not None:
            head.addWidget(self._close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._plot, 1)

    def _make_close(self) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIcon(theme.icon("close", "muted"))
        button.setToolTip("Show this plot no more")
        button.setAccessibleName(f"Close {self.title}")
        button.clicked.connect(self.closed)
        return button

    def _restyle(self) -> None:
        if self._close is not None:
            self._close.setIcon(theme.icon("close", "muted"))
        self.flush()

    @contextlib.contextmanager
    def _as_picture(self) -> Iterator[None]:
        """In here nothing shows that only a pointer needs."""
        self._plot.forget_pointer()
        if self._close is not None:
            self._close.hide()
        self.flush()
        self.ensurePolished()
        try:
            yield
        finally:
            if self._close is not None:
                self._close.show()

    def _newest(self) -> tuple[str, float] | None:
        """The figure that counts: test, else validation, else the newest training value. What the network gave before
        it learned anything counts only until it has begun."""
        training, word = self.drawing.training, self.drawing.word
        for split in ("test", "validation"):
            pairs = self.drawing.points[split].pairs()
            if pairs and (pairs[-1][0] > 0 or not len(training)):
                return split, pairs[-1][1]
        return (word, float(training.values(len(training) - 1)[0])) if len(training) else None

    def _show_figure(self) -> None:
        newest = self._newest()
        value = figure(newest[1], self.drawing.is_percent) if newest else ""
        word = newest[0] if newest and newest[0] != VALUE else ""
        # Setting the same text again would lay the card out again.
        for label, text in ((self._figure, value), (self._split, word)):
            if label.text() != text:
                label.setText(text)
