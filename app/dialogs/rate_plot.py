"""The learn rate over the whole run, drawn as the options are typed."""

import math
from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer import theme
from engine.core.errors import plural
from engine.project.schedules import rate_at
from engine.project.training import TrainingLength, TrainingOptions, training_length

STAND_IN = 100
"""Iterations an epoch where no data says how many."""
HEIGHT = 168
_LEFT, _TOP, _RIGHT, _BOTTOM = 56, 30, 16, 26
_LABEL_PIXELS = 11
_ROUND = (1, 2, 5)


class RatePlot(QWidget):
    """A quiet curve: rate upwards, epochs to the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.options = TrainingOptions()
        self.samples: int | None = None
        self.scale = 1.0
        self.setAccessibleName("Learn rate over the run")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        self._soon = QTimer(self, singleShot=True, interval=0)  # the dialog opens first: it is further down
        self._soon.timeout.connect(self._describe)

    def sizeHint(self) -> QSize:
        """As wide as the form makes it."""
        return QSize(400, HEIGHT)

    def show_options(self, options: TrainingOptions, samples: int | None, scale: float = 1.0) -> None:
        """Draw so many times the rate of these options, for so many training samples; None where that is not known."""
        self.options, self.samples, self.scale = options, samples, scale
        self._soon.start()
        self.update()

    def _describe(self) -> None:
        """In words, for who does not see it."""
        rates = [rate for _, rate in self.points(101)]
        from_to = " to ".join(_figure(rate) for rate in (rates[0], rates[-1]))
        self.setAccessibleDescription(f"{self.caption}. From {from_to}, at most {_figure(max(rates))}.")

    @property
    def length(self) -> TrainingLength:
        """How long the run is, or would be."""
        if self.samples or self.options.is_full_batch:
            return training_length(self.options, self.samples or 1)
        return TrainingLength(self.options.mini_batch_size, STAND_IN, self.options.max_epochs)

    @property
    def caption(self) -> str:
        """What the curve shows, and what it goes by."""
        length = self.length
        run = f"Learn rate over {plural(length.epochs, 'epoch')}, {plural(length.total_steps, 'iteration')}"
        if length.is_full_batch:
            return f"Learn rate over {plural(length.epochs, 'iteration')}, each of all samples"
        if "plateau" in self.options.schedules:
            return f"{run}, as long as validations get better"
        return run if self.samples else f"{run}: {STAND_IN} an epoch are assumed, as there is no data yet"

    def points(self, most: int) -> Iterator[tuple[float, float]]:
        """Share of the run and rate, of all steps or of so many of them, evenly spread with both ends."""
        total, per_epoch = self.length.total_steps, self.length.steps_per_epoch
        count = min(total, most)
        for number in range(count):
            step = round(number * (total - 1) / max(1, count - 1))
            yield step / max(1, total - 1), self.scale * rate_at(self.options, step, per_epoch, total)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Caption, axes, curve."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)
        painter.setFont(self._label_font())
        painter.setPen(palette.muted)
        place = QRectF(_LEFT, 2, frame.width(), 20)
        words = painter.fontMetrics().elidedText(self.caption, Qt.TextElideMode.ElideRight, int(frame.width()))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        points = list(self.points(max(2, 2 * int(frame.width()))))
        top = max(rate for _, rate in points) or 1.0
        self._paint_axes(painter, frame, top)
        places = [self._place(frame, share, rate / top) for share, rate in points]
        if len(places) == 1:
            places.append(QPointF(frame.right(), places[0].y()))
        pen = QPen(palette.accent, 1.6)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(places))

    @staticmethod
    def _place(frame: QRectF, across: float, up: float) -> QPointF:
        return QPointF(frame.left() + across * frame.width(), frame.bottom() - up * frame.height())

    def _paint_axes(self, painter: QPainter, frame: QRectF, top: float) -> None:
        """Three quiet lines with the rate, and epochs at round numbers."""
        palette = theme.current()
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for share in (0.0, 0.5, 1.0):
            y = round(self._place(frame, 0, share).y()) + 0.5
            painter.setPen(QPen(palette.line, 1))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(palette.muted)
            painter.drawText(QRectF(0, y - 10, _LEFT - 10, 20), right, _figure(share * top))
        epochs, unit = self.length.epochs, "iteration" if self.length.is_full_batch else "epoch"
        for epoch in ticks(epochs, max(2, int(frame.width() / 90))):
            x = frame.left() + epoch / epochs * frame.width()
            text = f"{epoch:,}" if epoch else f"{unit} 0"
            place = QRectF(x - 50, frame.bottom() + 6, 100, 18)
            at = Qt.AlignmentFlag.AlignHCenter
            if epoch == 0:
                place, at = QRectF(frame.left(), place.y(), 100, 18), Qt.AlignmentFlag.AlignLeft
            elif x > frame.right() - 20:
                place, at = QRectF(frame.right() - 100, place.y(), 100, 18), Qt.AlignmentFlag.AlignRight
            painter.drawText(place, at | Qt.AlignmentFlag.AlignTop, text)

    def _label_font(self) -> QFont:
        font = theme.figures(self.font())
        font.setPixelSize(_LABEL_PIXELS)
        return font


def ticks(last: int, count: int) -> list[int]:
    """Zero and round numbers up to the last, about so many."""
    raw = max(1.0, last / count)
    power = 10 ** math.floor(math.log10(raw))
    step = next((factor * power for factor in _ROUND if factor * power >= raw), 10 * power)
    return list(range(0, last + 1, step))


def _figure(rate: float) -> str:
    """Three digits of a rate: `0.01`, `2.5e-5`."""
    if rate == 0 or 1e-3 <= rate < 1e5:
        return f"{rate:.3g}"
    digits, _, power = f"{rate:.2e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
