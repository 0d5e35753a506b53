"""A picture as PDF: one page of its own size, vectors, and text in Helvetica, which every reader has."""

import zlib

from engine.drawing.colours import parts
from engine.drawing.picture import EDGE, Box, Line, Picture, Ring, Shape, Text, text_width
from engine.drawing.routes import Curve

LARGEST = 14_400.0
"""Units a side, the most that the format allows."""
_UNIT = 0.75
"""Points a unit of the canvas: a pixel at 96 a inch."""
_ROUND = 0.5523
"""How long the handles of a quarter of a circle are."""


def pdf(picture: Picture, title: str) -> bytes:
    """The whole file."""
    left, top, width, height = picture.area
    scale = min(_UNIT, LARGEST / max(width, height))
    page = f"[0 0 {_n(width * scale)} {_n(height * scale)}]"
    # The format counts from the lower left corner upwards.
    head = [f"{_n(scale, 5)} 0 0 {_n(-scale, 5)} {_n(-left * scale)} {_n((top + height) * scale)} cm"]
    ground = f"{_colour(picture.ground)} rg {_n(left)} {_n(top)} {_n(width)} {_n(height)} re f"
    body = "\n".join([*head, ground, *(_shape(shape) for shape in picture.shapes())])
    content = zlib.compress(body.encode("latin-1"))
    fonts = " ".join(f"/{name} {number} 0 R" for name, number in (("R", 5), ("B", 6)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox {page} /Contents 4 0 R "
        f"/Resources << /Font << {fonts} >> >> >>".encode(),
        f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode() + content + b"\nendstream",
        *(_font(name) for name in ("Helvetica", "Helvetica-Bold")),
        b"<< /Title <feff" + title.encode("utf-16-be", "replace").hex().encode() + b"> /Producer (Netwright) >>",
    ]
    return _file(objects)


def _font(name: str) -> bytes:
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()


def _file(objects: list[bytes]) -> bytes:
    """Objects one behind the other, and the table of where each begins."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
    return bytes(out + f"startxref\n{table}\n%%EOF\n".encode())


def _shape(shape: Shape) -> str:
    match shape:
        case Box():
            return _box(shape)
        case Text():
            return _text(shape)
        case Line():
            return f"{_colour(shape.stroke)} RG {_n(shape.width)} w {_path(shape.curve)} S"
        case Ring():
            look = f"{_colour(shape.fill)} rg {_colour(shape.stroke)} RG {_n(shape.width)} w"
            r = shape.radius
            return f"{look} {_rounded(shape.x - r, shape.y - r, 2 * r, 2 * r, r)} B"


def _box(box: Box) -> str:
    if not box.stroke:
        return f"{_colour(box.fill)} rg {_rounded(box.x, box.y, box.width, box.height, box.radius)} f"
    radius = max(0.0, box.radius - 0.5)
    card = _rounded(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, radius)
    if not box.edge:
        return f"{_colour(box.fill)} rg {_colour(box.stroke)} RG 1 w {card} B"
    edge = _rounded(box.x, box.y, box.width, box.height, box.radius)
    clip = f"{_n(box.x)} {_n(box.y)} {_n(EDGE)} {_n(box.height)} re W n"
    return f"{_colour(box.fill)} rg {_colour(box.stroke)} RG 1 w {card} B\nq {clip} {_colour(box.edge)} rg {edge} f Q"


def _text(text: Text) -> str:
    width = text_width(text.text, text.size, bold=text.bold)
    x = text.x - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    encoded = text.text.encode("cp1252", "replace").hex()
    font = "B" if text.bold else "R"
    return f"BT /{font} {_n(text.size)} Tf {_colour(text.fill)} rg 1 0 0 -1 {_n(x)} {_n(text.y)} Tm <{encoded}> Tj ET"


def _rounded(x: float, y: float, width: float, height: float, r: float) -> str:
    """A rectangle with round corners."""
    right, bottom, k = x + width, y + height, r * (1 - _ROUND)
    corners = (
        ((right - r, y), (right - k, y, right, y + k, right, y + r)),
        ((right, bottom - r), (right, bottom - k, right - k, bottom, right - r, bottom)),
        ((x + r, bottom), (x + k, bottom, x, bottom - k, x, bottom - r)),
        ((x, y + r), (x, y + k, x + k, y, x + r, y)),
    )
    words = [f"{_n(x + r)} {_n(y)} m"]
    for line, curve in corners:
        words += [f"{_n(line[0])} {_n(line[1])} l", " ".join(map(_n, curve)) + " c"]
    return " ".join([*words, "h"])


def _path(curve: Curve) -> str:
    words = [f"{_n(curve.start[0])} {_n(curve.start[1])} m"]
    for piece in curve.pieces:
        numbers = " ".join(f"{_n(x)} {_n(y)}" for x, y in piece)
        words.append(f"{numbers} {'l' if len(piece) == 1 else 'c'}")
    return " ".join(words)


def _colour(colour: str) -> str:
    return " ".join(_n(part / 255, 3) for part in parts(colour))


def _n(value: float, digits: int = 2) -> str:
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
