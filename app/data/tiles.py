"""Samples side by side, in as many columns as fit."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf, isfinite

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from netwright.designer import markup, theme
from netwright.designer.language import noop, tr, translation
from netwright.engine.drawing.colours import CLASS_FAMILIES
from netwright.engine.drawing.colours import class_colour as colour_of_class

GAP = 8
CAPTION_HEIGHT = 20
PICTURE = 72
MOST_PICTURE = 132
"""Width of the tile of a picture that has a long caption."""
SERIES_WIDTH, SERIES_HEIGHT, LANE = 168, 64, 24
BAND = 6
WAVE = 36
NOTHING = 255

MARK = 7
MARKS = {"validation": (noop("val"), "warning"), "test": (noop("test"), "good")}
"""Text and colour of the marks of splits beside captions."""


Span = tuple[float, float]
"""The smallest and the largest value of a channel."""


class Tile(QWidget):
    """One sample above its caption. `size_wanted` is the least it needs without the caption."""

    size_wanted = QSize(PICTURE, PICTURE)
    elide = Qt.TextElideMode.ElideMiddle

    def __init__(self, caption: str, tip: str = "") -> None:
        super().__init__()
        self.caption = caption
        self.split = ""
        """The split whose mark stands beside the caption; none for training."""
        self.setToolTip(tip or caption)
        self.setAccessibleName(tr("Sample: {name}", name=tip or caption))

    def _caption_font(self) -> QFont:
        """Return the font of the caption: a small one where the mark of a split may stand beside it."""
        font = QFont(self.font())
        if self.split:
            font.setPixelSize(theme.pixels(11))
        return font

    def caption_width(self) -> int:
        """Return the pixels that the caption needs, with the longest mark of a split where there are marks."""
        measure = QFontMetrics(self._caption_font())
        marks = (measure.horizontalAdvance(translation(text)) for text, _ in MARKS.values())
        return measure.horizontalAdvance(self.caption) + (max(marks) + MARK + 10 if self.split else 0)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the sample."""
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the sample, and its caption elided."""
        area = QRectF(self.rect())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, area.adjusted(0, 0, 0, -CAPTION_HEIGHT))
        below = QRectF(0, area.height() - CAPTION_HEIGHT, area.width(), CAPTION_HEIGHT)
        mark, colour = MARKS.get(self.split, ("", ""))
        mark, font = translation(mark), self._caption_font()
        measure = QFontMetrics(font)
        painter.setFont(font)
        room = measure.horizontalAdvance(mark) + MARK + 10 if mark else 0
        text = markup.elided(measure, self.caption, self.elide, self.width() - room)
        painter.setPen(theme.current().muted)
        side = (
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft if self.split else Qt.AlignmentFlag.AlignCenter
        )
        painter.drawText(below, side, text)
        if mark:
            painter.drawText(below, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, mark)
            left = below.right() - room + 6
            painter.fillRect(QRectF(left, below.center().y() - MARK / 2, MARK, MARK), getattr(theme.current(), colour))
        if self.hasFocus():
            painter.setPen(theme.current().accent)
            painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()


class Picture(Tile):
    """An image; small ones are scaled without smoothing."""

    def __init__(self, file: str, caption: str, tip: str, side: int = PICTURE) -> None:
        super().__init__(caption, tip)
        self.size_wanted = QSize(side, side)
        self.pixmap = scaled(QPixmap(file), side=side)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the image in the middle."""
        size = self.pixmap.size()
        painter.drawPixmap(QPointF((area.width() - size.width()) / 2, (area.height() - size.height()) / 2), self.pixmap)


class Sound(Tile):
    """A sound: its waveform, and below it the spectrogram that the network gets."""

    size_wanted = QSize(SERIES_WIDTH, WAVE + PICTURE)

    def __init__(self, file: str, wave: Sequence[Span], caption: str, tip: str) -> None:
        """`wave` has the smallest and the largest sample of each of many equal pieces of the sound."""
        super().__init__(caption, tip)
        self.pixmap = QPixmap(file)
        self.wave = list(wave)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw both over the same time."""
        top = QRectF(area.left(), area.top(), area.width(), WAVE - 4)
        most = max((max(abs(low), abs(high)) for low, high in self.wave), default=0.0) or 1.0
        painter.setPen(QPen(theme.current().accent, 1.0))
        for index, (low, high) in enumerate(self.wave):
            x = top.left() + top.width() * (index + 0.5) / len(self.wave)
            y = [top.center().y() - value / most * top.height() / 2 for value in (low, high)]
            painter.drawLine(QPointF(x, y[0] + 0.5), QPointF(x, y[1] - 0.5))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        below = area.adjusted(0, WAVE, 0, 0)
        painter.drawPixmap(below, self.pixmap, QRectF(self.pixmap.rect()))


class Masked(Tile):
    """An image, and beside it the class of each pixel."""

    size_wanted = QSize(2 * PICTURE + GAP // 2, PICTURE)

    def __init__(self, file: str, mask: str, caption: str, tip: str) -> None:
        super().__init__(caption, tip)
        self.pixmap = scaled(QPixmap(file))
        self.classes = coloured_classes(mask)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the image at the left, its classes at the right."""
        draw_beside(painter, area, self.pixmap, self.classes)


class Paired(Tile):
    """An image, and beside it its target image."""

    size_wanted = QSize(2 * PICTURE + GAP // 2, PICTURE)

    def __init__(self, file: str, target: str, caption: str, tip: str) -> None:
        super().__init__(caption, tip)
        self.pixmaps = scaled(QPixmap(file)), scaled(QPixmap(target))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the image at the left, its target at the right."""
        draw_beside(painter, area, *self.pixmaps)


def draw_beside(painter: QPainter, area: QRectF, *pixmaps: QPixmap) -> None:
    """Draw two pictures side by side, each in the middle of its half."""
    half = (area.width() - GAP / 2) / 2
    for offset, pixmap in zip((0.0, half + GAP / 2), pixmaps, strict=True):
        x = offset + (half - pixmap.width()) / 2
        painter.drawPixmap(QPointF(x, (area.height() - pixmap.height()) / 2), pixmap)


def scaled(pixels: QPixmap, *, smooth: bool | None = None, side: int = PICTURE) -> QPixmap:
    """Return a picture in the size of a tile; small ones scaled without smoothing."""
    if pixels.isNull():  # Qt would complain, and there is nothing to show anyway
        return pixels
    is_smooth = pixels.width() > side if smooth is None else smooth
    mode = Qt.TransformationMode.SmoothTransformation if is_smooth else Qt.TransformationMode.FastTransformation
    return pixels.scaled(QSize(side, side), Qt.AspectRatioMode.KeepAspectRatio, mode)


def coloured_classes(mask: str, colours: Sequence[QColor] | None = None) -> QPixmap:
    """Return a grey picture of class indices in the colours of classes, or in these; 255 is seen through."""
    grey = QImage(mask).convertToFormat(QImage.Format.Format_Grayscale8)
    size = (grey.width(), grey.height(), grey.bytesPerLine())
    coloured = QImage(grey.constBits(), *size, QImage.Format.Format_Indexed8).copy()
    table = [colour.rgba() for colour in colours or map(class_colour, range(NOTHING))]
    coloured.setColorTable([*table, *[0] * (NOTHING + 1 - len(table))])
    return scaled(QPixmap.fromImage(coloured), smooth=False)


def class_colour(number: int) -> QColor:
    """Return the colour of a class in masks and along sequences."""
    return QColor(colour_of_class(number, "dark" if theme.current().is_dark else "light"))


def channel_colour(index: int) -> QColor:
    """Return the colour of a channel of a sequence."""
    return class_colour(index % len(CLASS_FAMILIES))


def spans_of(sequences: Iterable[Sequence[Sequence[float]]]) -> list[Span]:
    """Return the span of each channel over all of these sequences."""
    spans: list[Span] = []
    for values in sequences:
        for index, channel in enumerate(values):
            if index == len(spans):
                spans.append((inf, -inf))
            if numbers := [value for value in channel if isfinite(value)]:
                low, high = spans[index]
                spans[index] = min(low, *numbers), max(high, *numbers)
    return spans


class Sparkline(Tile):
    """One sample of a sequence: each channel as a line over its steps, in a lane and on a scale of its own; below them
    the class of each step as a band, where steps have one. The values to predict after it are drawn behind a line, in
    the lane and the colour of their channel."""

    elide = Qt.TextElideMode.ElideRight

    def __init__(
        self,
        values: Sequence[Sequence[float]],
        caption: str,
        tip: str = "",
        steps: Sequence[int] = (),
        ahead: Sequence[tuple[int, Sequence[float]]] = (),
        spans: Sequence[Span] | None = None,
    ) -> None:
        """`ahead` are the values to predict, each with the index of its channel, or -1 for a lane below the others.
        `spans` are the scales of the lanes, which tiles side by side share; by default those of these values."""
        super().__init__(caption, tip)
        self.channels = [list(channel) for channel in values]
        self.steps = list(steps)
        self.ahead = [(channel, list(following)) for channel, following in ahead]
        self.spans = list(spans or spans_of(self.lanes(values, ahead)))
        self.size_wanted = QSize(SERIES_WIDTH, max(SERIES_HEIGHT, LANE * len(self.spans)) + (BAND if steps else 0))

    @staticmethod
    def lanes(
        values: Sequence[Sequence[float]], ahead: Sequence[tuple[int, Sequence[float]]]
    ) -> Iterator[Sequence[Sequence[float]]]:
        """Yield the values of each lane, and those to predict in their lanes, as `spans_of` takes them."""
        yield values
        others = len(values)
        for index, following in ahead:
            lane = others if index < 0 else index
            others += index < 0
            yield [*([()] * lane), following]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the lanes, and the band."""
        if self.steps:
            self._draw_band(painter, QRectF(area.left() + 2, area.bottom() - BAND, area.width() - 4, BAND))
            area = area.adjusted(0, 0, 0, -BAND)
        area = area.adjusted(2, 2, -2, -2)
        longest = max(map(len, self.channels), default=0)
        steps = max(1, longest + max((len(values) for _, values in self.ahead), default=0) - 1)
        step = area.width() / steps
        for index, channel in enumerate(self.channels):
            self._draw_line(painter, self.lane(area, index), step, (index, channel), 0)
        if self.ahead:
            x = area.left() + step * (longest - 0.5)
            painter.setPen(QPen(theme.current().muted, 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        others = len(self.channels)
        for index, values in self.ahead:
            lane = others if index < 0 else index
            others += index < 0
            self._draw_line(painter, self.lane(area, lane), step, (lane, values), longest)

    def lane(self, area: QRectF, index: int) -> QRectF:
        """Return where a channel is drawn: below those before it."""
        height = area.height() / max(1, len(self.spans))
        gap = min(3.0, height / 8)
        return QRectF(area.left(), area.top() + index * height + gap, area.width(), height - 2 * gap)

    def _draw_line(
        self, painter: QPainter, lane: QRectF, step: float, line: tuple[int, Sequence[float]], first: int
    ) -> None:
        """Draw the values of a channel from step `first` on; those to predict, which follow, are wider."""
        index, values = line
        low, high = self.spans[index] if index < len(self.spans) else (0.0, 1.0)
        span = (high - low) or 1.0
        middle = lane.center().y() if high == low else None
        painter.setPen(QPen(channel_colour(index), 2.0 if first else 1.0))
        points = [
            QPointF(lane.left() + step * (first + i), middle or lane.bottom() - lane.height() * (value - low) / span)
            for i, value in enumerate(values)
            if isfinite(value)
        ]
        if len(points) == 1:
            painter.setPen(QPen(channel_colour(index), 5.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawPoint(points[0])
        else:
            painter.drawPolyline(QPolygonF(points))

    def _draw_band(self, painter: QPainter, area: QRectF) -> None:
        """Draw the band of classes. A value stands for half a step on either side, and so does its colour."""
        width = area.width() / len(self.steps)
        start = 0
        for end in range(1, len(self.steps) + 1):
            if end == len(self.steps) or self.steps[end] != self.steps[start]:
                if self.steps[start] >= 0:
                    band = QRectF(area.left() + start * width, area.top(), (end - start) * width, area.height())
                    painter.fillRect(band, class_colour(self.steps[start]))
                start = end


class Tiles(QWidget):
    """Lays tiles out in rows, and is as high as they need. `chosen` carries the number of a tile that is clicked, or
    at which Enter or Space is pressed; arrow keys lead from tile to tile."""

    chosen = Signal(int)

    def __init__(self, tiles: Sequence[Tile], *, is_stretched: bool = False) -> None:
        super().__init__()
        self.tiles = list(tiles)
        self._is_stretched = is_stretched
        self._cell = tiles[0].size_wanted if tiles else QSize(PICTURE, PICTURE)
        if self._cell.width() < MOST_PICTURE:  # captions are to be read
            widest = max(tile.caption_width() for tile in tiles)
            self._cell = QSize(max(self._cell.width(), min(widest + 4, MOST_PICTURE)), self._cell.height())
        for tile in tiles:
            tile.setParent(self)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def offer(self, words: str) -> None:
        """Show that a click on a tile leads somewhere."""
        for tile in self.tiles:
            tile.setCursor(Qt.CursorShape.PointingHandCursor)
            tile.setToolTip(f"{tile.toolTip()}\n{words}".strip())
        for tile in self.tiles[:1]:
            tile.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to another tile, or choose the one that has the keyboard."""
        at = next((number for number, tile in enumerate(self.tiles) if tile.hasFocus()), None)
        columns = self.columns(self.width())
        ways = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: columns, Qt.Key.Key_Up: -columns}
        if at is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(at)
        elif at is not None and 0 <= at + ways.get(Qt.Key(event.key()), len(self.tiles)) < len(self.tiles):
            self._move_keyboard(at, at + ways[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _move_keyboard(self, before: int, after: int) -> None:
        """Give another tile the keyboard: Tab comes back to it."""
        self.tiles[before].setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.tiles[after].setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.tiles[after].setFocus(Qt.FocusReason.TabFocusReason)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Say which tile was clicked."""
        child = self.childAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and child in self.tiles:
            self.chosen.emit(self.tiles.index(child))

    def columns(self, width: int) -> int:
        """Return how many tiles fit into a row of this width."""
        return max(1, (width + GAP) // (self._cell.width() + GAP))

    def hasHeightForWidth(self) -> bool:
        """Return true: a narrow window needs more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        rows = -(-len(self.tiles) // self.columns(width))
        return max(0, rows * (self._cell.height() + CAPTION_HEIGHT + GAP) - GAP)

    def sizeHint(self) -> QSize:
        """Return the size of ten columns; any width will do."""
        return QSize(10 * (self._cell.width() + GAP), self.heightForWidth(10 * (self._cell.width() + GAP)))

    def minimumSizeHint(self) -> QSize:
        """Return the size of one tile."""
        return QSize(self._cell.width(), self._cell.height() + CAPTION_HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the tiles."""
        columns = self.columns(self.width())
        height = self._cell.height() + CAPTION_HEIGHT
        width = (self.width() + GAP) // columns - GAP if self._is_stretched else self._cell.width()
        for index, tile in enumerate(self.tiles):
            row, column = divmod(index, columns)
            tile.setGeometry(column * (width + GAP), row * (height + GAP), width, height)
