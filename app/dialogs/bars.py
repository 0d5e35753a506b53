"""Bars of figures, painted as the plots of a run are: a panel for each kind of work, a bar for each of its kinds."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from netwright.designer import markup, theme
from netwright.engine.core.text import format_number

_ROW, _HEAD, _GAP, _BAR = 22, 26, 14, 12
_KIND, _VALUE = 64, 84


@dataclass(frozen=True)
class Bar:
    """One figure: `value` in the panel's unit, or why there is none."""

    panel: str
    kind: str
    value: float
    unit: str
    refusal: str = ""


@dataclass(frozen=True)
class Way:
    """One row of a comparison: a value to draw as a bar, its text, another text, and a note. `is_best` stands out, one
    that is refused is faint."""

    name: str
    value: float | None
    text: str
    other: str
    note: str = ""
    is_best: bool = False
    is_refused: bool = False


class WayTable(QWidget):
    """Rows with a bar each, on one scale from zero: the shortest is the fastest."""

    COLUMNS = (("", 176), ("Time per step", 220), ("Memory per worker", 132), ("", 0))

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ways: list[Way] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Comparison of environments")
        self.hide()

    def show_ways(self, ways: list[Way]) -> None:
        """Show these rows; without any there is no table."""
        self.ways = list(ways)
        rows = (f"{way.name}: {', '.join(filter(None, (way.text, way.other, way.note)))}" for way in ways)
        self.setAccessibleDescription(markup.visible("; ".join(rows)))
        self.setToolTip("\n".join(f"{way.name}: {way.note}" for way in ways if way.note))
        self.setFixedHeight(_ROW * (len(ways) + 1))
        self.setVisible(bool(ways))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint headings and rows."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plain = QFont(self.font())
        plain.setPixelSize(12)
        strong = QFont(plain)
        strong.setWeight(QFont.Weight.DemiBold)
        painter.setFont(plain)
        painter.setPen(palette.muted)
        x = 0.0
        for heading, width in self.COLUMNS:
            painter.drawText(QRectF(x, 0, width, _ROW), Qt.AlignmentFlag.AlignVCenter, heading)
            x += width
        most = max((way.value or 0.0 for way in self.ways), default=0.0) or 1.0
        for number, way in enumerate(self.ways, start=1):
            painter.setFont(strong if way.is_best else plain)
            self._paint_row(painter, way, number * _ROW, most)

    def _paint_row(self, painter: QPainter, way: Way, y: float, most: float) -> None:
        palette, middle, x = theme.current(), Qt.AlignmentFlag.AlignVCenter, 0.0
        widths = [width for _, width in self.COLUMNS]
        widths[-1] = max(0, self.width() - sum(widths))
        for column, (text, width) in enumerate(zip((way.name, way.text, way.other, way.note), widths, strict=True)):
            room = QRectF(x, y, width - 8, _ROW)
            x += width
            if column == 1:
                track = QRectF(room.left(), y + (_ROW - _BAR) / 2, room.width() - _VALUE, _BAR)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(palette.raised)
                painter.drawRoundedRect(track, 3, 3)
                if way.value is not None:
                    track.setWidth(max(3.0, track.width() * way.value / most))
                    painter.setBrush(palette.accent if way.is_best else palette.muted)
                    painter.drawRoundedRect(track, 3, 3)
                room.setLeft(room.right() - _VALUE + 8)
            painter.setPen(palette.muted if way.is_refused or column == len(widths) - 1 else palette.text)
            label = markup.elided(painter.fontMetrics(), text, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, middle, label)


class Bars(QWidget):
    """Panels two by two. Each has a scale of its own, from zero, so that bars of one panel compare."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: list[Bar] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Speeds")

    def show_bars(self, bars: list[Bar]) -> None:
        """Show these figures."""
        self.bars = list(bars)
        descriptions = (
            f"{bar.panel}, {bar.kind}: {bar.refusal or f'{format_number(bar.value)} {bar.unit}'}" for bar in self.bars
        )
        self.setAccessibleDescription(markup.visible("; ".join(descriptions)))
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    @property
    def panels(self) -> dict[str, list[Bar]]:
        """The bars by panel, in their order."""
        panels: dict[str, list[Bar]] = {}
        for bar in self.bars:
            panels.setdefault(bar.panel, []).append(bar)
        return panels

    def sizeHint(self) -> QSize:
        """As high as the rows of panels."""
        sizes = [len(bars) for bars in self.panels.values()]
        rows = [max(sizes[i : i + 2]) for i in range(0, len(sizes), 2)]
        return QSize(640, sum(_HEAD + _ROW * count + _GAP for count in rows))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Titles, bars, numbers."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, top, tallest = (self.width() - 2 * _GAP) / 2, 0.0, 0
        for number, (title, bars) in enumerate(self.panels.items()):
            x = (number % 2) * (width + 2 * _GAP)
            if number % 2 == 0 and number:
                top += _HEAD + _ROW * tallest + _GAP
                tallest = 0
            tallest = max(tallest, len(bars))
            self._paint_panel(painter, QRectF(x, top, width, _HEAD + _ROW * len(bars)), title, bars)

    def _paint_panel(self, painter: QPainter, frame: QRectF, title: str, bars: list[Bar]) -> None:
        palette, middle = theme.current(), Qt.AlignmentFlag.AlignVCenter
        strong, plain = QFont(self.font()), QFont(self.font())
        strong.setWeight(QFont.Weight.DemiBold)
        strong.setPixelSize(12)
        plain.setPixelSize(11)
        painter.setFont(strong)
        painter.setPen(palette.text)
        painter.drawText(QRectF(frame.left(), frame.top(), frame.width(), 20), middle, f"{title}, {bars[0].unit}")
        painter.setFont(plain)
        most = max(bar.value for bar in bars) or 1.0
        room = frame.width() - _KIND - _VALUE
        for number, bar in enumerate(bars):
            y = frame.top() + _HEAD + number * _ROW
            painter.setPen(palette.muted)
            painter.drawText(QRectF(frame.left(), y, _KIND - 8, _ROW), middle, bar.kind)
            track = QRectF(frame.left() + _KIND, y + (_ROW - _BAR) / 2, room, _BAR)
            if bar.refusal:
                words = markup.elided(
                    painter.fontMetrics(),
                    f"not available: {bar.refusal}",
                    Qt.TextElideMode.ElideRight,
                    int(room + _VALUE),
                )
                painter.drawText(QRectF(track.left(), y, room + _VALUE, _ROW), middle, words)
                continue
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.raised)
            painter.drawRoundedRect(track, 3, 3)
            painter.setBrush(palette.accent)
            painter.drawRoundedRect(
                QRectF(track.topLeft(), track.size()).adjusted(0, 0, room * (bar.value / most - 1), 0), 3, 3
            )
            painter.setPen(palette.text)
            value = QRectF(track.right() + 8, y, _VALUE - 8, _ROW)
            painter.drawText(value, middle | Qt.AlignmentFlag.AlignRight, format_number(bar.value))
