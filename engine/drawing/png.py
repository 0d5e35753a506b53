"""A picture as PNG: painted four times as large, then made smaller, so that curves are smooth."""

import io
import math
from functools import cache
from typing import cast

from PIL import Image, ImageDraw, ImageFont

from engine.drawing.metrics import WIDER, text_width
from engine.drawing.picture import EDGE, Box, Line, Picture, Ring, Shape, Text
from engine.errors import UserError

FINER = 2
"""Painted so many times as large as it will be."""
FINE_STEPS = 40
MOST_PIXELS = 100_000_000
_REGULAR = ("Inter-Regular.otf", "Inter-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "DejaVuSans.ttf")
_BOLD = ("Inter-SemiBold.otf", "Inter-SemiBold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf", "DejaVuSans-Bold.ttf")
# The font that Pillow brings along has no such signs.
_PLAIN = str.maketrans({"×": "x", "·": "-", "…": "..", "−": "-"})


def png(picture: Picture, scale: float = 2.0) -> bytes:
    """The whole file, with so many pixels a unit of the canvas. Raises `UserError` if that would be too many."""
    width, height = (math.ceil(side * scale) for side in picture.area[2:])
    if width * height * FINER**2 > MOST_PIXELS:
        raise UserError(
            f"The picture would have {width:,} × {height:,} pixels, more than can be painted here. "
            "Draw it as SVG or PDF, which have no pixels, or with a smaller --scale."
        )
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
        font, is_whole = _font(round(text.size * self.scale), text.bold)
        words = text.text if is_whole else text.text.translate(_PLAIN)
        # A wide font is taken smaller rather than past its room.
        width = font.getlength(words) / self.scale
        room = min(text.room, text_width(text.text, text.size, bold=text.bold) * WIDER + 4)
        if width > room:
            font, _ = _font(int(text.size * self.scale * room / width), text.bold)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
        self.draw.text(self._at(text.x, text.y), words, text.fill, font, anchor)


@cache
def _font(pixels: int, bold: bool) -> tuple[ImageFont.FreeTypeFont, bool]:
    """The first font of the system that is like the interface's, and whether it has all signs; else Pillow's own."""
    for name in _BOLD if bold else _REGULAR:
        try:
            return ImageFont.truetype(name, pixels), True
        except OSError:
            continue
    return cast(ImageFont.FreeTypeFont, ImageFont.load_default(pixels)), False
