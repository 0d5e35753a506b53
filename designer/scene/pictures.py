"""The pictures of layers: painted once per content and zoom, then copied to the screen."""

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
)

from netwright.designer import icons, markup, theme
from netwright.designer.scene import geometry, health_badges, stage_colours, tint
from netwright.designer.scene.content import Content
from netwright.engine.drawing import labels
from netwright.engine.drawing.picture import elided_detail
from netwright.engine.drawing.routes import TAG_HEIGHT
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH

MARGIN = 10.0
"""Margin around the box of a layer, for ports and the badge of a problem."""

_CORNER = 8.0
_EDGE = 8.0
_TEXT_LEFT = 19.0
_TEXT_RIGHT = 11.0
_CHIP_RIGHT = 8.0
_BADGE = 8.0
_LABEL_PADDING = 3.0
_TAG_PADDING = 6.0
_WIDEST_TAG = 76
LOCK = 13.0
"""Width and height of the lock at a layer that keeps its weights."""


@lru_cache(maxsize=16)
def font(pixels: int, *, bold: bool = False) -> QFont:
    """Return the interface font at a size of the canvas."""
    result = QFont(QGuiApplication.font())
    result.setPixelSize(pixels)
    result.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    result.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return result


@lru_cache(maxsize=16)
def _metrics(pixels: int, *, bold: bool = False) -> QFontMetricsF:
    return QFontMetricsF(font(pixels, bold=bold))


@lru_cache(maxsize=4096)
def _elided(text: str, width: int, pixels: int, *, bold: bool) -> str:
    return markup.elided(_metrics(pixels, bold=bold), text, Qt.TextElideMode.ElideMiddle, width)


def forget() -> None:
    """Clear the cached fonts and pictures, after the font or the colours changed."""
    for cached in (font, _metrics, _elided, _name, _detail, label_size, label, tag_size, tag, stage_colours.font):
        cached.cache_clear()


def is_elided(content: Content) -> bool:
    """Return whether the picture cannot show the whole name and detail."""
    name, detail = lines(content)
    return name != content.name or detail != content.detail


def lines(content: Content) -> tuple[str, str]:
    """Return the name and the detail as the picture shows them."""
    room = NODE_WIDTH - _TEXT_LEFT - _TEXT_RIGHT
    width = _metrics(11).horizontalAdvance(content.count) + 8 if content.count else 0.0
    if content.stage is not None:
        width = stage_colours.chip_width(content.stage) + 6
    if content.is_frozen:
        width += LOCK + 4
    name = _name(content.name, content.beginning, int(room - width))
    return name, _detail(content.detail, content.value, room - 12 if _badge_state(content) else room + 6)


@lru_cache(maxsize=4096)
def _name(text: str, beginning: str, room: int) -> str:
    return labels.short_name(markup.visible(text), beginning, room, _metrics(13, bold=True).horizontalAdvance)


@lru_cache(maxsize=4096)
def _detail(text: str, value: str, room: float) -> str:
    return elided_detail(text, value, room, _metrics(11).horizontalAdvance)


def picture(content: Content, scale: float) -> QPixmap:
    """Return the picture of a layer; `scale` is device pixels per canvas unit."""
    size = QSizeF(NODE_WIDTH + 2 * MARGIN, NODE_HEIGHT + 2 * MARGIN) * scale
    pixmap = QPixmap(round(size.width()), round(size.height()))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    painter.translate(MARGIN, MARGIN)
    paint(painter, content)
    painter.end()
    return pixmap


def paint(painter: QPainter, content: Content) -> None:
    """Paint a layer with its top left corner at the origin."""
    palette = theme.current()
    outline, edge, border = _shapes()
    if content.is_block:
        _paint_stack(painter, palette)
    painter.fillPath(outline, _ground(content))
    family = palette.family(content.family)
    painter.fillPath(edge, palette.mixed(family, palette.node, 0.35) if content.is_bypassed else family)
    pen = QPen(palette.accent, 2.0) if content.is_selected else QPen(palette.edge, 1.0)
    if content.is_bypassed:
        pen.setDashPattern([4.0, 3.0])
        if not content.is_selected:
            pen.setColor(palette.mixed(palette.muted, palette.node, 0.7))
    painter.strokePath(outline if content.is_selected else border, pen)
    _paint_texts(painter, content, palette)
    for index in range(content.inputs):
        paint_port(painter, geometry.input_point((0, 0), index, content.inputs, content.flow))
    for index in range(content.outputs):
        paint_port(painter, geometry.output_point((0, 0), index, content.outputs, content.flow))
    if state := _badge_state(content):
        at = QPointF(NODE_WIDTH - _TEXT_RIGHT - health_badges.RADIUS, 29.5)
        health_badges.paint_badge(painter, state, at)
    if content.severity in ("error", "warning"):
        _paint_badge(painter, content.severity, palette)


def _ground(content: Content) -> QColor:
    if content.stage is not None:
        return stage_colours.ground(content.stage)
    return tint.ground(content.heat or 0) if content.health is None else health_badges.ground(content.health.tone)


def _ink(content: Content) -> QColor:
    """Return the colour of the second line and of the figure."""
    if content.stage is not None:
        return stage_colours.ink(content.stage)
    return tint.ink(content.heat or 0) if content.health is None else health_badges.ink(content.health.tone)


def _badge_state(content: Content) -> str:
    """Return the state of health that has a badge: one worth a look."""
    return content.health.state if content.health is not None and content.health.rank else ""


def _paint_stack(painter: QPainter, palette: theme.Palette) -> None:
    """Paint two more sheets behind a block as a sign of its contents; at the side, where no size label is."""
    painter.setBrush(palette.mixed(palette.node, palette.canvas, 0.7))
    painter.setPen(QPen(palette.mixed(palette.muted, palette.node, 0.35), 1.0))
    for step in (2, 1):
        sheet = QRectF(20, 3.0 * step + 0.5, NODE_WIDTH - 20.5 + 3.5 * step, NODE_HEIGHT - 6.0 * step - 1)
        painter.drawRoundedRect(sheet, _CORNER - 2, _CORNER - 2)


@lru_cache(maxsize=1)
def _shapes() -> tuple[QPainterPath, QPainterPath, QPainterPath]:
    """Return the outline of a layer, its coloured edge, and the border, which leaves out the edge.

    Paths are used instead of clipping, which the SVG writer ignores.
    """
    radius, right, bottom = _CORNER - 0.5, NODE_WIDTH - 0.5, NODE_HEIGHT - 0.5
    outline = QPainterPath()
    outline.addRoundedRect(QRectF(0.5, 0.5, NODE_WIDTH - 1, NODE_HEIGHT - 1), radius, radius)
    left = QPainterPath()
    left.addRect(QRectF(0, 0, _EDGE, NODE_HEIGHT))
    border = QPainterPath(QPointF(_EDGE, 0.5))
    border.arcTo(QRectF(right - 2 * radius, 0.5, 2 * radius, 2 * radius), 90, -90)
    border.arcTo(QRectF(right - 2 * radius, bottom - 2 * radius, 2 * radius, 2 * radius), 0, -90)
    border.lineTo(_EDGE, bottom)
    return outline, outline.intersected(left), border


def _paint_texts(painter: QPainter, content: Content, palette: theme.Palette) -> None:
    name, detail = lines(content)
    ink = _ink(content)
    painter.setPen(ink if content.is_bypassed else palette.text)
    painter.setFont(font(13, bold=True))
    painter.drawText(QPointF(_TEXT_LEFT, 18.5), name)
    painter.setPen(QPen(ink, 1.2))
    if content.is_bypassed:
        width = _metrics(13, bold=True).horizontalAdvance(name)
        painter.drawLine(QPointF(_TEXT_LEFT - 1, 14), QPointF(_TEXT_LEFT + width + 1, 14))
    painter.setFont(font(11))
    painter.drawText(QPointF(_TEXT_LEFT, 33), detail)
    if content.stage is not None:
        stage_colours.paint_chip(painter, content.stage, QPointF(NODE_WIDTH - _CHIP_RIGHT, 6))
    elif content.count:
        right = NODE_WIDTH - _TEXT_RIGHT - _metrics(11).horizontalAdvance(content.count)
        painter.drawText(QPointF(right, 18.5), content.count)
    if content.is_frozen:
        offset = _metrics(11).horizontalAdvance(content.count) if content.count else -4.0
        if content.stage is not None:
            offset = stage_colours.chip_width(content.stage) + _CHIP_RIGHT - _TEXT_RIGHT
        left = NODE_WIDTH - _TEXT_RIGHT - offset - LOCK - 4
        icons.draw(painter, "lock", QRectF(left, 8.0, LOCK, LOCK), ink)


def paint_port(
    painter: QPainter, at: QPointF, radius: float = geometry.PORT_RADIUS, ring: QColor | None = None
) -> None:
    """Paint a port; an enlarged port, or one that accepts the connection, has a ring in its own colour."""
    palette = theme.current()
    painter.setPen(QPen(ring or palette.outline, 1.3))
    painter.setBrush(palette.canvas)
    painter.drawEllipse(at, radius - 0.65, radius - 0.65)


def _paint_badge(painter: QPainter, severity: str, palette: theme.Palette) -> None:
    """Paint a disc for an error, a triangle for a warning: the shapes differ, not only the colours."""
    middle = QPointF(NODE_WIDTH - 2, 2)
    painter.setPen(QPen(palette.canvas, 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(palette.error if severity == "error" else palette.warning)
    if severity == "error":
        painter.drawEllipse(middle, _BADGE, _BADGE)
    else:
        corners = (QPointF(0, -_BADGE - 0.5), QPointF(_BADGE + 0.5, _BADGE - 1.5), QPointF(-_BADGE - 0.5, _BADGE - 1.5))
        painter.drawPolygon(QPolygonF([middle + corner for corner in corners]))
    sink = 0.0 if severity == "error" else 1.2
    mark = QPen(palette.node, 1.7, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    painter.setPen(mark)
    painter.drawLine(middle + QPointF(0, sink - 3.4), middle + QPointF(0, sink + 0.6))
    painter.drawPoint(middle + QPointF(0, sink + 3.3))


@lru_cache(maxsize=4096)
def label_size(text: str) -> tuple[float, float]:
    """Return width and height of a size label."""
    metrics = _metrics(11)
    return metrics.horizontalAdvance(text) + 2 * _LABEL_PADDING, 14.0


@lru_cache(maxsize=512)
def label(text: str, scale: float) -> QPixmap:
    """Paint a size label on the background of the canvas, so that lines behind it do not cross it."""
    palette = theme.current()
    width, height = label_size(text)
    pixmap = QPixmap(max(1, round(width * scale)), max(1, round(height * scale)))
    pixmap.fill(palette.canvas)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    painter.setPen(palette.muted)
    painter.setFont(font(11))
    painter.drawText(QRectF(0, 0, width, height), Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    return pixmap


@lru_cache(maxsize=512)
def tag_size(name: str) -> tuple[float, float]:
    """Return width and height of a tag."""
    label = _elided(name, _WIDEST_TAG, 11, bold=False)
    return _metrics(11).horizontalAdvance(label) + 2 * _TAG_PADDING, TAG_HEIGHT


@lru_cache(maxsize=256)
def tag(name: str, scale: float) -> QPixmap:
    """Paint a tag: the name of the source in a small rounded box at an input."""
    palette = theme.current()
    width, height = tag_size(name)
    pixmap = QPixmap(max(1, round(width * scale)), max(1, round(height * scale)))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    painter.setPen(QPen(palette.mixed(palette.muted, palette.node, 0.5), 1.0))
    painter.setBrush(palette.node)
    painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), (height - 1) / 2, (height - 1) / 2)
    painter.setPen(palette.muted)
    painter.setFont(font(11))
    label = _elided(name, _WIDEST_TAG, 11, bold=False)
    painter.drawText(QRectF(0, -0.5, width, height), Qt.AlignmentFlag.AlignCenter, label)
    painter.end()
    return pixmap
