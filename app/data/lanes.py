"""The legend of sequences: the name, the colour and the range of each channel."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from netwright.app.data.preview_tiles import ahead_of
from netwright.app.data.tiles import Span, Sparkline, channel_colour, spans_of
from netwright.designer import theme
from netwright.designer.language import tr
from netwright.engine.core.text import format_number

LEGEND_ROW = 20


class Lanes(QWidget):
    """Names the lanes of sequences, with colour and range, in as many columns as fit."""

    def __init__(self, names: list[str], spans: list[Span]) -> None:
        super().__init__()
        self.texts = [(name, _span(low, high)) for name, (low, high) in zip(names, spans, strict=True)]
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("; ".join(f"{name}: {span}" for name, span in self.texts))

    def _places(self, width: int) -> list[QPoint]:
        """Return where each entry begins."""
        measure, places, x, y = self.fontMetrics(), [], 0, 0
        for name, span in self.texts:
            needed = measure.horizontalAdvance(f"{name}  {span}") + 16
            if x and x + needed > width:
                x, y = 0, y + LEGEND_ROW
            places.append(QPoint(x, y))
            x += needed + 20
        return places

    def hasHeightForWidth(self) -> bool:
        """Return true: a narrow window needs more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        return self._places(width)[-1].y() + LEGEND_ROW if self.texts else 0

    def sizeHint(self) -> QSize:
        """Return the size in a window of usual width."""
        return QSize(900, self.heightForWidth(900))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a line in the colour, the name and the range of each lane."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, (place, (name, span)) in enumerate(zip(self._places(self.width()), self.texts, strict=True)):
            area = QRectF(place.x(), place.y(), self.width(), LEGEND_ROW)
            painter.setPen(QPen(channel_colour(index), 2.0))
            painter.drawLine(QPointF(area.left(), area.center().y()), QPointF(area.left() + 10, area.center().y()))
            painter.setPen(palette.text)
            painter.drawText(area.adjusted(16, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(palette.muted)
            offset = 16 + painter.fontMetrics().horizontalAdvance(f"{name}  ")
            painter.drawText(area.adjusted(offset, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, span)
        painter.end()


def _span(low: float, high: float) -> str:
    if low > high:
        return tr("no values")
    return tr("{low} to {high}", low=format_number(low), high=format_number(high))


def lanes_of(answer: Mapping[str, Any], names: Sequence[str] = ()) -> Lanes | None:
    """Return the legend of the sequences of an answer; None where there are none. `names` are those of the channels,
    where the answer has none."""
    if not (series := answer.get("series")):
        return None
    spans = spans_of(lane for sample in series for lane in Sparkline.lanes(sample["values"], ahead_of(sample)))
    channel_names = list(series[0].get("channels") or names)
    channel_names += [name for name in series[0].get("ahead") or () if name not in channel_names]
    if len(channel_names) < len(spans):
        channel_names = [tr("Channel {number}", number=index + 1) for index in range(len(spans))]
    return Lanes(channel_names[: len(spans)], spans)
