"""A picture as SVG: plain shapes and real text, so that it can be searched, restyled and edited."""

from netwright.engine.core.text import xml_text
from netwright.engine.drawing.picture import (
    EDGE,
    WIDER,
    WIDEST_FONT,
    Box,
    Group,
    Line,
    Picture,
    Ring,
    Shape,
    Text,
    text_width,
)
from netwright.engine.drawing.routes import Curve

FONTS = "Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def svg(picture: Picture, title: str) -> str:
    """Return the text of the SVG file."""
    left, top, width, height = picture.area
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="{_n(left)} {_n(top)} {_n(width)} {_n(height)}" role="img" font-family="{FONTS}">',
        f"<title>{xml_text(title)}</title>",
        f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}" fill="{picture.ground}"/>',
    ]
    for group in picture.groups:
        lines += _group(group)
    return "\n".join([*lines, "</svg>", ""])


def _group(group: Group) -> list[str]:
    title = [f"<title>{xml_text(group.title)}</title>"] if group.title else []
    return ["<g>", *title, *(_shape(shape) for shape in group.shapes), "</g>"]


def _shape(shape: Shape) -> str:
    match shape:
        case Box():
            return _box(shape)
        case Text():
            weight = ' font-weight="600"' if shape.bold else ""
            anchor = f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else ""
            return (
                f'<text x="{_n(shape.x)}" y="{_n(shape.y)}" font-size="{_n(shape.size)}"{weight}{anchor}{_fit(shape)} '
                f'fill="{shape.fill}">{xml_text(shape.text)}</text>'
            )
        case Line():
            return (
                f'<path d="{_path(shape.curve)}" fill="none" stroke="{shape.stroke}" stroke-width="{_n(shape.width)}"/>'
            )
        case Ring():
            return (
                f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}" fill="{shape.fill}" '
                f'stroke="{shape.stroke}" stroke-width="{_n(shape.width)}"/>'
            )


def _fit(text: Text) -> str:
    """Return the attributes that limit the width of a text with little room in any font, or ''."""
    width = text_width(text.text, text.size, bold=text.bold)
    if width * WIDEST_FONT <= text.room:
        return ""
    return f' textLength="{_n(min(text.room, width * WIDER))}" lengthAdjust="spacingAndGlyphs"'


def _box(box: Box) -> str:
    if not box.edge:
        if not box.stroke:
            return _rect(box.x, box.y, box.width, box.height, box.radius, f'fill="{box.fill}"')
        attributes = f'fill="{box.fill}" stroke="{box.stroke}"'
        return _rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, max(0.0, box.radius - 0.5), attributes)
    attributes = f'fill="{box.fill}" stroke="{box.stroke}"'
    card = _rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, box.radius - 0.5, attributes)
    return card + f'<path d="{_left_edge(box)}" fill="{box.edge}"/>'


def _rect(x: float, y: float, width: float, height: float, radius: float, look: str) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}" {look}/>'


def _left_edge(box: Box) -> str:
    """Return the path of the left edge of a box, with its round corners."""
    r, bottom = box.radius, box.y + box.height
    return (
        f"M{_n(box.x + EDGE)} {_n(box.y)}H{_n(box.x + r)}A{_n(r)} {_n(r)} 0 0 0 {_n(box.x)} {_n(box.y + r)}"
        f"V{_n(bottom - r)}A{_n(r)} {_n(r)} 0 0 0 {_n(box.x + r)} {_n(bottom)}H{_n(box.x + EDGE)}Z"
    )


def _path(curve: Curve) -> str:
    commands = [f"M{_n(curve.start[0])} {_n(curve.start[1])}"]
    for piece in curve.pieces:
        commands.append(("L" if len(piece) == 1 else "C") + " ".join(f"{_n(x)} {_n(y)}" for x, y in piece))
    return "".join(commands)


def _n(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
