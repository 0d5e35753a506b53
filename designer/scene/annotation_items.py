"""Frames and comments on the canvas, behind connections and layers; when zoomed out, titles of frames are above all."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import markup, theme
from netwright.designer.language import noop, translation
from netwright.designer.scene import pictures
from netwright.designer.scene.node_items import OVERVIEW_BELOW
from netwright.engine.drawing import colours
from netwright.engine.network.annotations import TITLE_HEIGHT, Annotation, Mark, every, find, is_within, marks
from netwright.engine.network.layout import Comment, Frame, Layout, Tone

TITLES_BELOW = 0.45
"""The zoom below which titles are on tabs of a fixed size on the screen, above all layers."""
_READABLE = 0.45
"""The zoom below which the text of a comment is not readable."""
_CORNER, _SHEET_CORNER = 10.0, 6.0
_TITLE_PIXELS, _TAB_PIXELS, _TEXT_PIXELS = 13, 12, 12
_LEAST_PIXELS = 11.0
_PADDING = 12.0
_TEXT_PADDING = 10.0
_TAB_HEIGHT, _WIDEST_TAB = 20.0, 150.0
_LOWEST = 0.02
_GAP = 3.0
_WRAPPED = QTextOption()
_WRAPPED.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
NOTHING = noop("Double click to write")


def box(annotation: Annotation) -> QRectF:
    """Return the box of a frame or a comment."""
    return QRectF(*annotation.at, *annotation.size)


@dataclass(frozen=True)
class _Colours:
    fill: QColor
    line: QColor
    text: QColor


def _colours(annotation: Annotation) -> _Colours:
    return _coloured(isinstance(annotation, Frame), annotation.tone, theme.current().is_dark)


@cache
def _coloured(is_frame: bool, tone: Tone, is_dark: bool) -> _Colours:
    toned = (colours.frame if is_frame else colours.comment)(tone, "dark" if is_dark else "light")
    return _Colours(*(QColor(colour) for colour in toned))


def _pen(colour: QColor, width: float, zoom: float, *, is_selected: bool) -> QPen:
    """Return a border pen of constant width; when zoomed out a line of one pixel, which is painted fastest."""
    if is_selected:
        return QPen(theme.current().accent, 2.0 / min(zoom, 1.0))
    return QPen(colour, 0 if zoom < OVERVIEW_BELOW else width / min(zoom, 1.0))


class Annotations(QGraphicsItem):
    """Graphics item of the frames and comments of a layout, frames behind."""

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.layout = Layout()
        self.selected: frozenset[Mark] = frozenset()
        self.titles = Titles(self)
        self._content = QRectF()
        self._bounds = QRectF()

    def show_layout(self, layout: Layout) -> bool:
        """Show those of another layout; return whether anything changed."""
        before, self.layout = self.layout, layout
        if before.frames == layout.frames and before.comments == layout.comments:
            return False
        self.prepareGeometryChange()
        self.titles.prepareGeometryChange()
        self._content = QRectF()
        for annotation in every(layout):
            self._content = self._content.united(box(annotation))
        self._bounds = self._content.adjusted(-_GAP, -_GAP, _GAP, _GAP)
        self.update()
        self.titles.update()
        return True

    def select(self, marks: frozenset[Mark]) -> None:
        """Mark the selected frames and comments."""
        if marks != self.selected:
            self.selected = marks
            self.update()
            self.titles.update()

    def content_box(self) -> QRectF:
        """Return the box around all of them; an empty box without any."""
        return QRectF(self._content)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        exposed: QRectF = option.exposedRect
        zoom = painter.worldTransform().m11()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, zoom >= OVERVIEW_BELOW)
        for frame in self.layout.frames:
            if box(frame).adjusted(-_GAP, -_GAP, _GAP, _GAP).intersects(exposed):
                paint_frame(painter, frame, zoom, is_selected=Mark("frame", frame.id) in self.selected)
        for comment in self.layout.comments:
            if box(comment).adjusted(-_GAP, -_GAP, _GAP, _GAP).intersects(exposed):
                is_selected = Mark("comment", comment.id) in self.selected
                paint_comment(painter, comment, zoom, is_selected=is_selected, empty=translation(NOTHING))
        painter.restore()

    def in_front(self) -> Iterator[tuple[Mark, Annotation]]:
        """Return all of them, the foremost first."""
        for mark in reversed(marks(self.layout)):
            annotation = find(self.layout, mark)
            if annotation is not None:
                yield mark, annotation

    def inside(self, area: QRectF) -> frozenset[Mark]:
        """Return those that lie entirely inside an area."""
        at, size = (area.left(), area.top()), (area.width(), area.height())
        return frozenset(mark for mark, annotation in self.in_front() if is_within(annotation, at, size))


def paint_frame(painter: QPainter, frame: Frame, zoom: float = 1.0, *, is_selected: bool = False) -> None:
    """Paint a background with a border, and the title where it is readable."""
    toned, area = _colours(frame), box(frame)
    painter.setPen(_pen(toned.line, 1.2, zoom, is_selected=is_selected))
    painter.setBrush(toned.fill)
    if zoom < OVERVIEW_BELOW:
        painter.drawRect(area)
        return
    corner = min(_CORNER, area.width() / 2, area.height() / 2)
    painter.drawRoundedRect(area, corner, corner)
    if zoom < TITLES_BELOW or not frame.title:
        return
    font = pictures.font(round(max(_TITLE_PIXELS, _LEAST_PIXELS / zoom)), bold=True)
    strip = QRectF(area.left() + _PADDING, area.top(), area.width() - 2 * _PADDING, TITLE_HEIGHT)
    title = markup.elided(QFontMetricsF(font), frame.title, Qt.TextElideMode.ElideRight, strip.width())
    painter.setFont(font)
    painter.setPen(toned.text)
    painter.drawText(strip, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)


def paint_comment(
    painter: QPainter, comment: Comment, zoom: float = 1.0, *, is_selected: bool = False, empty: str = ""
) -> None:
    """Paint a sheet with its text; text that does not fit ends in an ellipsis. `empty` is the placeholder."""
    toned, area = _colours(comment), box(comment)
    palette = theme.current()
    painter.setPen(_pen(toned.line, 1.0, zoom, is_selected=is_selected))
    painter.setBrush(toned.fill)
    if zoom < OVERVIEW_BELOW:
        painter.drawRect(area)
        return
    painter.drawRoundedRect(area, _SHEET_CORNER, _SHEET_CORNER)
    if zoom < _READABLE:
        return
    font = pictures.font(_TEXT_PIXELS)
    room = area.adjusted(_TEXT_PADDING, _TEXT_PADDING - 2, -_TEXT_PADDING, -_TEXT_PADDING + 2)
    painter.setFont(font)
    painter.setPen(toned.text if comment.text else palette.muted)
    spacing = QFontMetricsF(font).lineSpacing()
    baseline = room.top() + QFontMetricsF(font).ascent()
    for number, words in enumerate(lines(markup.visible(comment.text) or empty, room.width(), room.height())):
        painter.drawText(QPointF(room.left(), baseline + number * spacing), words)


@lru_cache(maxsize=512)
def lines(text: str, width: float, height: float) -> tuple[str, ...]:
    """Return the lines of a text that fit, the last with an ellipsis if the text is longer."""
    font = pictures.font(_TEXT_PIXELS)
    metrics = QFontMetricsF(font)
    most = max(1, int((height + metrics.leading() + 1) / metrics.lineSpacing()))
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if len(lines) > most:
            break
        # No line takes more than this, so a long text costs no more than what can be seen of it.
        excerpt = paragraph[: most * max(8, int(width))]
        layout = QTextLayout(excerpt, font)
        layout.setTextOption(_WRAPPED)
        layout.beginLayout()
        while len(lines) <= most and (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            lines.append(_cut(excerpt, line.textStart(), line.textLength()))
        layout.endLayout()
    if len(lines) > most:
        last = markup.elided(metrics, f"{lines[most - 1]} …", Qt.TextElideMode.ElideRight, width)
        lines = [*lines[: most - 1], last]
    return tuple(lines)


def _cut(text: str, start: int, length: int) -> str:
    """Return a piece of a text by UTF-16 units as in Qt, where a character beyond the first 65,536 counts as two."""
    units = text.encode("utf-16-le")
    return units[2 * start : 2 * (start + length)].decode("utf-16-le", "ignore").rstrip()


class Titles(QGraphicsItem):
    """Titles of frames when zoomed out, each on a tab above its corner, of constant size on the screen."""

    def __init__(self, annotations: Annotations) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._annotations = annotations
        self._known: tuple[float, Layout, dict[str, QRectF]] = (0.0, annotations.layout, {})

    def boundingRect(self) -> QRectF:
        """Return the bounding box of the tabs, whose size on the canvas is inversely proportional to the zoom."""
        bounds = self._annotations.boundingRect()
        if bounds.isEmpty():
            return bounds
        return bounds.adjusted(-_WIDEST_TAB / _LOWEST, -_TAB_HEIGHT / _LOWEST, 0, 0)

    def tabs(self, zoom: float) -> dict[str, QRectF]:
        """Return the tabs of frames that have one at a zoom: above the frame, or beside it where it is too narrow.
        Smaller frames give way to larger ones."""
        layout = self._annotations.layout
        if zoom >= TITLES_BELOW or not layout.frames:
            return {}
        if self._known[0] != zoom or self._known[1] is not layout:
            self._known = zoom, layout, self._placed(zoom)
        return self._known[2]

    def _placed(self, zoom: float) -> dict[str, QRectF]:
        metrics = QFontMetricsF(pictures.font(_TAB_PIXELS, bold=True))
        tabs: dict[str, QRectF] = {}
        for frame in sorted(self._annotations.layout.frames, key=lambda item: -item.size[0]):
            if not frame.title:
                continue
            text_width, room = metrics.horizontalAdvance(frame.title) + 14, frame.size[0] * zoom
            if text_width <= room or room >= _WIDEST_TAB:
                width = min(text_width, room)
                corner = QPointF(0, -_TAB_HEIGHT - _GAP)
            else:
                width = min(text_width, _WIDEST_TAB)
                corner = QPointF(-width - _GAP, 0)
            tab = QRectF(QPointF(*frame.at) + corner * (1 / zoom), QSizeF(width, _TAB_HEIGHT) * (1 / zoom))
            if not any(tab.intersects(other) for other in tabs.values()):
                tabs[frame.id] = tab
        return tabs

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        transform = painter.worldTransform()
        tabs = self.tabs(transform.m11())
        if not tabs:
            return
        font = pictures.font(_TAB_PIXELS, bold=True)
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        exposed = option.exposedRect
        for frame in self._annotations.layout.frames:
            if frame.id in tabs and tabs[frame.id].intersects(exposed):
                toned = _colours(frame)
                is_selected = Mark("frame", frame.id) in self._annotations.selected
                tab = transform.mapRect(tabs[frame.id])
                painter.setPen(QPen(theme.current().accent if is_selected else toned.line, 1.5 if is_selected else 1))
                painter.setBrush(toned.fill)
                painter.drawRoundedRect(tab, 5, 5)
                painter.setPen(toned.text)
                words = tab.adjusted(7, 0, -6, 0)
                title = markup.elided(QFontMetricsF(font), frame.title, Qt.TextElideMode.ElideRight, words.width())
                painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        painter.restore()
