"""The strip below the canvas: the curves of the run that is shown, its state and its controls, and a scrubber over its
epochs."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from netwright.app.plots.axes import values_axis
from netwright.app.plots.board import Board
from netwright.app.plots.plot_data import LinkedXAxis, PlotData
from netwright.app.plots.series import Floats
from netwright.app.runs.run_header import RunHeader
from netwright.designer import language, markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.text import format_value
from netwright.engine.core.ticks import round_ticks

HEIGHT = 96
REFRESH_MS = 100
LEFT, RIGHT = 64, 10
BANDS, BAND, APART = 8, 26, 5
TRACK, TICKS = 76, 82
KNOB = 5.5
NEAR_END = 8.0
"""Pixels before the newest step within which the scrubber follows the run."""
MOST_SMOOTHED = 400
MARKERS_APART = 9.0
TICKS_APART = 44
WIDE = 900
"""A strip that is no wider than this has no figures at its right."""
NO_RUN = noop("No run is shown. Train the network, or choose a run in Runs.")


class StripPlot(QWidget):
    """Training and validation of two quantities over one axis of epochs, with a scrubber below.

    `moved` tells that another moment is looked at: `moment` is its step, None for the newest.
    """

    moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.moment: float | None = None
        self._data: tuple[PlotData, ...] = ()
        self.setFixedHeight(HEIGHT)
        self.setMinimumWidth(160)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Epoch that is looked at"))
        self.setToolTip(tr("Drag to look at an earlier epoch; at the right end it follows the run"))
        theme.changed.connect(self.update)

    def show_data(self, data: tuple[PlotData, ...]) -> None:
        """Show these quantities, as far as they are known."""
        self._data = data
        if self.moment is not None and self.moment >= self.last_step:  # the run went on from before it
            self.go_to(None)
        self.update()

    # ---- places ----

    @property
    def _x_axis(self) -> LinkedXAxis:
        return self._data[0].x_axis if self._data else LinkedXAxis()

    @property
    def last_step(self) -> float:
        """The newest step of all curves."""
        return max((data.last_step for data in self._data), default=0.0)

    @property
    def steps_per_epoch(self) -> int:
        """Steps of an epoch; 1 before that is known."""
        return max(1, self._x_axis.timeline.steps_per_epoch)

    @property
    def epoch(self) -> float:
        """The epoch that is looked at, with a fraction within one."""
        step = self.last_step if self.moment is None else self.moment
        return step / self.steps_per_epoch

    @property
    def _room(self) -> float:
        return max(1.0, self.width() - LEFT - RIGHT)

    def x_of(self, step: float) -> float:
        """Return the pixel of a step."""
        return LEFT + self._room * step / self._x_axis.end(self.last_step)

    def go_to(self, step: float | None) -> None:
        """Look at the end of the epoch that is nearest to a step, or at the step itself within the first two epochs;
        None and the right end follow the run."""
        if step is not None:
            per_epoch = self.steps_per_epoch
            if self.last_step >= 2 * per_epoch:
                step = per_epoch * round(step / per_epoch)
            step = max(0.0, step) if step < self.last_step else None
        if step != self.moment:
            self.moment = step
            self.moved.emit()
            self.update()

    def go_by(self, epochs: int) -> None:
        """Look at an epoch before or after."""
        whole = np.ceil(self.epoch - 1e-9) if epochs < 0 else np.floor(self.epoch + 1e-9)
        self.go_to(float(whole + epochs) * self.steps_per_epoch)

    # ---- input ----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the scrubber."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the scrubber."""
        if event.buttons() & Qt.MouseButton.LeftButton and self.last_step:
            x = event.position().x()
            share, is_newest = (x - LEFT) / self._room, x > self.x_of(self.last_step) - NEAR_END
            self.go_to(None if is_newest else share * self._x_axis.end(self.last_step))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the scrubber by keys."""
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Down:
                self.go_by(-1)
            case Qt.Key.Key_Right | Qt.Key.Key_Up:
                self.go_by(1)
            case Qt.Key.Key_Home:
                self.go_to(self.steps_per_epoch)
            case Qt.Key.Key_End:
                self.go_to(None)
            case _:
                super().keyPressEvent(event)

    # ---- drawing ----

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bands with their curves, the track, the epochs and the scrubber."""
        palette, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme.figures(self.font())
        font.setPixelSize(11)
        painter.setFont(font)
        for number, data in enumerate(self._data):
            band = QRectF(LEFT, BANDS + number * (BAND + APART), self._room, BAND)
            painter.setPen(palette.muted)
            name = markup.elided(painter.fontMetrics(), data.title, Qt.TextElideMode.ElideRight, LEFT - 10)
            aligned = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, band.top(), LEFT - 10, BAND), aligned, name)
            painter.fillRect(band, palette.raised)
            self._paint_curves(painter, data, band)
        self._paint_track(painter)
        painter.end()

    def _paint_curves(self, painter: QPainter, data: PlotData, band: QRectF) -> None:
        end = data.x_axis.end(self.last_step)
        raw = data.window(0.0, end, int(band.width()))
        smooth = data.smoothed(0.0, end, MOST_SMOOTHED) if data.smoothing > 0 and len(raw[0]) else raw
        marks = data.points["validation"].arrays()
        axis = values_axis(np.concatenate([raw[1], marks[1]]), 2, is_log=data.is_log)
        low, high = axis.to_view(np.array([axis.low, axis.high])).tolist()

        def line(steps: Floats, values: Floats) -> list[QPointF]:
            y = band.bottom() - 3 - (band.height() - 6) * (axis.to_view(values) - low) / max(high - low, 1e-300)
            x = LEFT + band.width() * steps / end
            good = np.isfinite(y)
            return [QPointF(*pair) for pair in zip(x[good].tolist(), y[good].tolist(), strict=True)]

        painter.setBrush(Qt.BrushStyle.NoBrush)
        for (steps, values), colour, width in ((raw, data.raw_colour, 1.0), (smooth, data.colour, 1.8)):
            painter.setPen(QPen(colour, width))
            painter.drawPolyline(QPolygonF(line(steps, values)))
        painter.setPen(QPen(data.split_colour("validation"), 1.6))
        painter.setBrush(theme.current().panel)
        place = -MARKERS_APART
        for point in line(*marks):
            if point.x() - place >= MARKERS_APART:
                painter.drawEllipse(point, 2.8, 2.8)
                place = point.x()

    def _paint_track(self, painter: QPainter) -> None:
        palette, end, last = theme.current(), self._x_axis.end(self.last_step), self.last_step
        reached, at = self.x_of(last), self.x_of(last if self.moment is None else self.moment)
        for colour, right in ((palette.line, LEFT + self._room), (palette.accent, reached)):
            painter.setPen(QPen(colour, 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(LEFT, TRACK), QPointF(max(LEFT, right), TRACK))
        painter.setPen(palette.muted)
        aligned = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, TRACK - 8, LEFT - 10, 16), aligned, tr("Epoch"))
        epochs = end / self.steps_per_epoch
        for tick in round_ticks(0.0, epochs, max(2, int(self._room / TICKS_APART)), is_whole=epochs >= 1):
            middle = self.x_of(tick * self.steps_per_epoch)
            centred = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
            painter.drawText(QRectF(middle - 24, TICKS, 48, 14), centred, f"{tick:,g}")
        if not last:
            return
        bottom = BANDS + len(self._data) * (BAND + APART) - APART
        if reached < LEFT + self._room - 1:
            painter.setPen(QPen(palette.accent, 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(reached, BANDS), QPointF(reached, bottom))
        if self.moment is not None:
            painter.setPen(QPen(palette.text, 1.2))
            painter.drawLine(QPointF(at, BANDS - 4), QPointF(at, TRACK))
        painter.setPen(QPen(palette.accent if self.hasFocus() else QColor(palette.panel), 2))
        painter.setBrush(palette.text if self.moment is not None else palette.accent)
        painter.drawEllipse(QPointF(at, TRACK), KNOB, KNOB)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring."""
        self.update()


class RunStrip(QFrame):
    """Name, state and controls at the left, curves with the scrubber, figures of the moment at the right.

    `clicked` tells the name of a button (`netwright.app.runs.run_buttons.RunButtons`), `closed` that the strip is to
    go.
    """

    clicked = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "strip")
        self.setFixedHeight(HEIGHT + 1)
        self._data: tuple[PlotData, ...] = ()
        self._header: RunHeader | None = None
        self.name, self.state, self.about = ElidedLabel(), QLabel(), ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        theme.mark(self.name, "role", "strong")
        theme.mark(self.about, "role", "help")
        self.plot = StripPlot()
        self.plot.moved.connect(self._show_figures)
        self.pause, self.resume, self.stop = (QPushButton(text) for text in (tr("Pause"), tr("Resume"), tr("Stop")))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 8, 0)
        row.setSpacing(12)
        row.addWidget(self._make_head())
        row.addWidget(self.plot, 1)
        row.addWidget(self._make_figures())
        row.addWidget(self._make_close(), 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._timer.timeout.connect(self.flush)
        theme.changed.connect(self._dress)
        self._dress()

    def _make_head(self) -> QWidget:
        head, buttons, states = QWidget(), QHBoxLayout(), QHBoxLayout()
        head.setFixedWidth(232)
        for name, button in (("pause", self.pause), ("resume", self.resume), ("stop", self.stop)):
            button.setIconSize(QSize(12, 12))
            button.clicked.connect(lambda _=False, name=name: self.clicked.emit(name))
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.setSpacing(8)
        states.setSpacing(6)
        states.addWidget(self.state)
        states.addWidget(self.about, 1)
        column = QVBoxLayout(head)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        column.addWidget(self.name)
        column.addLayout(states)
        column.addStretch(1)
        column.addLayout(buttons)
        return head

    def _make_figures(self) -> QWidget:
        self._right = QWidget()
        grid = QGridLayout(self._right)
        grid.setContentsMargins(0, 8, 0, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        self.figures = [(QLabel(), QLabel()) for _ in range(2)]
        for number, (value, words) in enumerate(self.figures):
            theme.mark(value, "role", "strong")
            value.setFont(theme.figures(value.font()))
            theme.mark(words, "role", "help")
            grid.addWidget(value, number, 0)
            grid.addWidget(words, number, 1, Qt.AlignmentFlag.AlignRight)
        self.before, self.after, self.live = QToolButton(), QToolButton(), QPushButton(tr("Go to live"))
        theme.mark(self.live, "role", "link")
        self.live.setCursor(Qt.CursorShape.PointingHandCursor)
        self.live.setToolTip(tr("Follow the run again"))
        self.live.clicked.connect(lambda: self.plot.go_to(None))
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        for button, name, epochs in ((self.before, tr("Epoch before"), -1), (self.after, tr("Next epoch"), 1)):
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(lambda _=False, epochs=epochs: self.plot.go_by(epochs))
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self.live)
        grid.setRowStretch(2, 1)
        grid.addLayout(buttons, 3, 0, 1, 2)
        self._right.setFixedWidth(184)
        return self._right

    def _make_close(self) -> QToolButton:
        self.close_button = QToolButton()
        self.close_button.setToolTip(tr("Close the timeline; View > Panels shows it again"))
        self.close_button.setAccessibleName(tr("Close the timeline of the run"))
        self.close_button.setIconSize(QSize(14, 14))
        self.close_button.clicked.connect(self.closed)
        return self.close_button

    def _dress(self) -> None:
        for button, icon in (
            *((self.pause, "pause"), (self.resume, "play"), (self.stop, "stop"), (self.close_button, "close")),
            *((self.before, "chevron-left"), (self.after, "chevron-right")),
        ):
            button.setIcon(theme.icon(icon, "text" if isinstance(button, QPushButton) else "muted"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the curves their room in a narrow window."""
        super().resizeEvent(event)
        self._right.setVisible(event.size().width() > WIDE)

    # ---- what is known ----

    def show_run(self, header: RunHeader, board: Board) -> None:
        """Show the run of a header and of its plots, soon: newer figures may follow at once."""
        self._header, self._data = header, tuple(card.data for card in board.first_cards().values())
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Show what is known, now."""
        self._timer.stop()
        header = self._header
        texts = ["", "", ""] if header is None else [label.text() for label in (header.name, header.status)]
        self.name.setText(texts[0] or tr("No run"))
        self.state.setText(texts[1])
        theme.mark(self.state, "role", header.status.property("role") if header is not None else "muted")
        parts = [header.epoch.text(), header.left.text()] if header is not None else []
        if parts and language.current() == language.ENGLISH:
            parts[0] = parts[0].lower()
        about = " · ".join(filter(None, parts))
        self.about.setText(about if header is not None and header.name.text() else translation(NO_RUN))
        for button, name in ((self.pause, "pause"), (self.resume, "resume"), (self.stop, "stop")):
            own: QPushButton | None = getattr(header.buttons, name) if header is not None else None
            is_active = header is not None and not header.buttons.controls.isHidden()
            button.setVisible(own is not None and is_active and not own.isHidden())
            button.setEnabled(own is not None and own.isEnabled())
        self.stop.setToolTip(tr("Stop {run} (Shift+F5)", run=texts[0]))
        self.plot.show_data(self._data)
        self._show_figures()

    def _show_figures(self) -> None:
        """Show the figures of the moment."""
        plot = self.plot
        step = plot.last_step if plot.moment is None else plot.moment
        for number, (value, words) in enumerate(self.figures):
            data = self._data[number] if number < len(self._data) else None
            point = data.points["validation"].nearest(step) if data is not None else None
            if data is not None and point is None and len(data.training):
                point = step, data.training.value(min(data.training.index(step), len(data.training) - 1))
            told = ""
            if data is not None and point is not None:
                told = format_value(point[1], is_percent=data.is_percent, is_measured=True)
            value.setText(told)
            is_validated = data is not None and len(data.points["validation"]) > 0
            words.setText(translation("validation" if is_validated else "training") if point is not None else "")
        if self.figures[1][0].text():
            self.figures[1][1].setText(self.moment_text)
        has_points = plot.last_step > 0
        self.live.setVisible(plot.moment is not None)
        self.before.setEnabled(has_points and plot.epoch > 1)
        self.after.setEnabled(has_points and plot.moment is not None)

    @property
    def moment_text(self) -> str:
        """The moment that is looked at, in words."""
        if self.plot.moment is None:
            return tr("newest")
        epoch = self.plot.epoch
        return tr("at epoch {epoch}", epoch=f"{epoch:,.0f}" if epoch == round(epoch) else f"{epoch:,.2f}")
