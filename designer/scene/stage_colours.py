"""Layers in the colours of their pipeline stages, each with the number of its stage, so that colour is not the only
sign."""

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPainter

from netwright.designer import theme

HEIGHT = 16.0
_LEAST_WIDTH = 18.0
_PADDING = 5.0
_BOX = "stage "
_DARK_INK = QColor("#101216")
_WHITE = QColor("#ffffff")


def ground(number: int) -> QColor:
    """Return the background of a layer in a stage, from 0."""
    palette = theme.current()
    return palette.mixed(palette.stage(number), palette.node, 0.26 if palette.is_dark else 0.2)


def ink(number: int) -> QColor:
    """Return the text colour that is muted on a plain layer and must be readable on a coloured one."""
    palette = theme.current()
    return palette.mixed(palette.text, ground(number), 0.85)


def number_ink(number: int) -> QColor:
    """Return the colour of the number on a chip: white or black, whichever has more contrast."""
    colour = theme.current().stage(number)
    return _DARK_INK if luminance(colour) > 0.179 else _WHITE


def luminance(colour: QColor) -> float:
    """Return the relative luminance as defined in WCAG 2."""
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    )
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@lru_cache(maxsize=1)
def font() -> QFont:
    """Return the font of the numbers."""
    result = QFont(QGuiApplication.font())
    result.setPixelSize(11)
    result.setWeight(QFont.Weight.Bold)
    result.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return result


def chip_width(number: int) -> float:
    """Return the width of the chip of a stage."""
    return max(_LEAST_WIDTH, QFontMetricsF(font()).horizontalAdvance(str(number + 1)) + 2 * _PADDING)


def paint_chip(painter: QPainter, number: int, corner: QPointF) -> None:
    """Paint the number of a stage, from 0, on its colour, with the top right corner at a point."""
    width = chip_width(number)
    box = QRectF(corner.x() - width, corner.y(), width, HEIGHT)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.current().stage(number))
    painter.drawRoundedRect(box, 4, 4)
    painter.setPen(number_ink(number))
    painter.setFont(font())
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(number + 1))


def box_kind(number: int) -> str:
    """Return the name of a stage among the colours of boxes in the overview."""
    return f"{_BOX}{number}"


def box_stage(kind: str) -> int | None:
    """Return the stage of such a name, or None."""
    return int(kind.removeprefix(_BOX)) if kind.startswith(_BOX) else None
