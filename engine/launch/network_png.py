"""The picture of a network as PNG, painted without a screen."""

import io
import math
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import RESOURCES
from netwright.engine.drawing.picture import EDGE, WIDER, Box, Line, Picture, Ring, Shape, Text, text_width

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FINER = 2
"""Painted so many times as large as it will be."""
FINE_STEPS = 40
MOST_PIXELS = 100_000_000
_REGULAR = (RESOURCES / "fonts/Inter-Regular.otf", "LiberationSans-Regular.ttf", "Arial.ttf", "DejaVuSans.ttf")
_BOLD = (
    RESOURCES / "fonts/Inter-SemiBold.otf",
    "LiberationSans-Bold.ttf",
    "Arial Bold.ttf",
    "DejaVuSans-Bold.ttf",
)


def png(picture: Picture, scale: float = 2.0) -> bytes:
    """The whole file, with so many pixels a unit of the canvas. Raises `UserError` if that would be too many."""
    width, height = (math.ceil(side * scale) for side in picture.area[2:])
    if width * height * FINER**2 > MOST_PIXELS:
        raise UserError(
            f"The picture would have {width:,} × {height:,} pixels, more than can be painted here.",
            hint="Draw it as SVG, which has no pixels, or with a smaller --scale.",
        )
    from PIL import Image

    canvas = _Canvas(picture, scale * FINER, width * FINER, height * FINER)
    for shape in picture.shapes():
        canvas.paint(shape)
    out = io.BytesIO()
    small = canvas.image.resize((width, height), Image.Resampling.LANCZOS)
    small.save(out, "png", optimize=True, dpi=(96 * scale, 96 * scale))
    return out.getvalue()


class _Canvas:
    """Paints shapes at a scale."""

    def __init__(self, picture: Picture, scale: float, width: int, height: int) -> None:
        from PIL import Image, ImageDraw

        self.left, self.top = picture.area[:2]
        self.scale = scale
        self.image = Image.new("RGB", (width, height), picture.ground)
        self.draw = ImageDraw.Draw(self.image)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return (x - self.left) * self.scale, (y - self.top) * self.scale

    def _rect(self, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
        return (*self._at(x, y), *self._at(x + width, y + height))

    def paint(self, shape: Shape) -> None:
        """Paint one shape."""
        match shape:
            case Box():
                self._box(shape)
            case Text():
                self._text(shape)
            case Line():
                points = [self._at(*point) for point in shape.curve.points(FINE_STEPS)]
                self.draw.line(points, shape.stroke, round(shape.width * self.scale), joint="curve")
            case Ring():
                r = shape.radius + shape.width / 2
                ring = self._rect(shape.x - r, shape.y - r, 2 * r, 2 * r)
                self.draw.ellipse(ring, shape.fill, shape.stroke, round(shape.width * self.scale))

    def _box(self, box: Box) -> None:
        rect = self._rect(box.x, box.y, box.width, box.height)
        radius, line = box.radius * self.scale, round(self.scale)
        if not box.edge:
            self.draw.rounded_rectangle(rect, radius, box.fill, box.stroke or None, line if box.stroke else 0)
            return
        left, top, right, bottom = rect
        inner = left + EDGE * self.scale
        self.draw.rounded_rectangle(rect, radius, box.edge)
        card = (inner, top, right, bottom)
        self.draw.rounded_rectangle(card, radius, box.fill, box.stroke, line, corners=(False, True, True, False))
        # The coloured edge needs no border of its own beside it.
        self.draw.rectangle((inner, top + line, inner + line, bottom - line), box.fill)

    def _text(self, text: Text) -> None:
        words = text.text
        font = _font(round(text.size * self.scale), text.bold, words)
        # A wide font is taken smaller rather than past its room.
        width = font.getlength(words) / self.scale
        room = min(text.room, text_width(text.text, text.size, bold=text.bold) * WIDER + 4)
        if width > room:
            font = _font(int(text.size * self.scale * room / width), text.bold, words)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
        self.draw.text(self._at(text.x, text.y), words, text.fill, font, anchor)


@cache
def _fonts(pixels: int, bold: bool) -> "list[FreeTypeFont]":
    """Return the font of the interface, and those of the system for signs that it lacks."""
    from PIL import ImageFont

    found = []
    for name in _BOLD if bold else _REGULAR:
        with suppress(OSError):
            found.append(ImageFont.truetype(str(name), pixels))
    return found


@cache
def _lacks(font: "FreeTypeFont", sign: str) -> bool:
    """Return whether a font draws a sign as it draws one that no font has."""
    return bytes(font.getmask(sign)) == bytes(font.getmask("\uffff"))


def _font(pixels: int, bold: bool, words: str) -> "FreeTypeFont":
    """Return the first font with all signs of a text, else the first."""
    fonts = _fonts(pixels, bold)
    return next((font for font in fonts if not any(_lacks(font, sign) for sign in set(words) - {" "})), fonts[0])
