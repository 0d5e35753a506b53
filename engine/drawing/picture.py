"""Picture of a network as plain shapes, which each writer converts to its own format."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from netwright.engine.drawing import colours, labels
from netwright.engine.drawing.routes import LANE, TAG_HEIGHT, Curve, Point, Router, port_point, tag
from netwright.engine.network.analysis import Analysis, LayerShapes
from netwright.engine.network.annotations import TITLE_HEIGHT
from netwright.engine.network.arrangement import arrange, repeated
from netwright.engine.network.block import Block
from netwright.engine.network.layer_table import short_count
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Comment, Frame, Layout, Position
from netwright.engine.network.network import Connection, Layer, Network, Port

# Widths in thousandths of the font size, for the characters from space to tilde.
_REGULAR = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 "
    "584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 "
    "333 611 556 778 556 556 500 389 280 389 584"
)
_OTHERS = {"×": 584, "·": 278, "…": 1000, "−": 584, "’": 222}
WIDER, WIDEST_FONT = 1.08, 1.22
"""Width of interface fonts relative to this table: of Inter, and of the widest common font."""
_UNKNOWN = 667
_WIDE = 1000
_WIDTHS = {
    is_bold: {chr(32 + n): int(width) for n, width in enumerate(table.split())}
    for is_bold, table in ((False, _REGULAR), (True, _BOLD))
}
MARGIN = 32.0
NAME_SIZE, DETAIL_SIZE = 13.0, 11.0
CORNER, EDGE = 8.0, 8.0
_TEXT_LEFT, _TEXT_RIGHT = 19.0, 11.0
_PORT = 3.35
_LABEL_PADDING = 3.0
_WIDEST_LABEL = 400.0
_WIDEST_TAG, _TAG_PADDING = 76.0, 6.0
_FRAME_CORNER, _FRAME_PADDING = 10.0, 12.0
_SHEET_CORNER, _SHEET_PADDING, _TEXT_SIZE, _LINE = 6.0, 10.0, 12.0, 15.0


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text; characters without a table entry get a wide estimate."""
    widths = _WIDTHS[bold]
    units = (widths.get(c) or _OTHERS.get(c) or (_WIDE if ord(c) > 0x2E7F else _UNKNOWN) for c in text)
    return sum(units) * size / 1000


def elided(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return the text, or its beginning and end around an ellipsis if it is wider than `room`."""
    if text_width(text, size, bold=bold) <= room:
        return text
    keep = len(text) - 1
    while keep > 0:
        short = text[: (keep + 1) // 2] + "…" + (text[-(keep // 2) :] if keep > 1 else "")
        if text_width(short, size, bold=bold) <= room:
            return short
        keep -= 1
    return "…"


def _name_width(text: str) -> float:
    return text_width(text, NAME_SIZE, bold=True)


def elided_detail(text: str, value: str, room: float, width: Callable[[str], float]) -> str:
    """Return the second line of a layer, at most `room` wide where its value is: the type is cut, the value is not.

    `value` is the end of the text, such as `1,000 outputs`; a value wider than the whole line stands alone, and keeps
    its beginning.
    """
    if width(text) <= room:
        return text
    label = text.removesuffix(f" · {value}") if value and text != value else ""
    for keep in range(len(label) - 1, 0, -1):
        if width(short := f"{label[:keep].rstrip()}… · {value}") <= room:
            return short
    rest = value or text
    if width(rest) <= room:
        return rest
    return next((short for n in range(len(rest) - 1, 0, -1) if width(short := f"{rest[:n].rstrip()}…") <= room), "…")


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners, with a border of one unit if `stroke` is set. If `edge` is set, the left part of
    width `EDGE` has that colour and no border."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    stroke: str = ""
    edge: str = ""


@dataclass(frozen=True)
class Text:
    """A line of text; x and y are on the base line. In a wider font it must not exceed `room`."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    bold: bool = False
    anchor: Literal["start", "middle", "end"] = "start"
    room: float = math.inf


@dataclass(frozen=True)
class Line:
    """A curve."""

    curve: Curve
    stroke: str
    width: float


@dataclass(frozen=True)
class Ring:
    """A port."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str
    width: float


Shape = Box | Text | Line | Ring


@dataclass(frozen=True)
class Group:
    """Shapes that belong together, and their description."""

    title: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Picture:
    """The visible area (left, top, width, height), its background colour, and the groups from back to front."""

    area: tuple[float, float, float, float]
    ground: str
    groups: tuple[Group, ...]

    def shapes(self) -> Iterator[Shape]:
        """Yield every shape, from back to front."""
        for group in self.groups:
            yield from group.shapes


def placed(network: Network, layout: Layout) -> Layout:
    """Return the layout, or an automatic one if positions are missing or equal, as in a file written by hand."""
    spots = {layout.at(id) for id in network.layers}
    if len(spots) == len(network.layers) and all(id in layout.positions for id in network.layers):
        return layout
    return arrange(network, layout)


def draw(network: Network, layout: Layout, analysis: Analysis, theme: str = "light") -> Picture:
    """Return a picture of the network as on the canvas, without the elements for editing."""
    return _Drawing(network, layout, analysis, theme).picture(annotations(layout, theme))


def annotations(layout: Layout, theme: str) -> list[Group]:
    """Return the frames and comments of a layout, which the canvas draws behind the network."""
    frames = [_frame(frame, theme) for frame in layout.frames]
    return [*frames, *(_comment(comment, theme) for comment in layout.comments)]


def _frame(frame: Frame, theme: str) -> Group:
    (x, y), (width, height), toned = frame.at, frame.size, colours.frame(frame.tone, theme)
    title = _on_one_line(frame.title)
    shapes: list[Shape] = [Box(x, y, width, height, min(_FRAME_CORNER, width / 2, height / 2), toned.fill, toned.line)]
    if title:
        room = width - 2 * _FRAME_PADDING
        label = elided(title, room / WIDER, NAME_SIZE, bold=True)
        below = y + TITLE_HEIGHT / 2 + 4.5
        shapes.append(Text(x + _FRAME_PADDING, below, label, NAME_SIZE, toned.text, bold=True, room=room))
    return Group(title or "Frame", tuple(shapes))


def _comment(comment: Comment, theme: str) -> Group:
    (x, y), (width, height), toned = comment.at, comment.size, colours.comment(comment.tone, theme)
    sheet = Box(x, y, width, height, min(_SHEET_CORNER, width / 2, height / 2), toned.fill, toned.line)
    room = width - 2 * _SHEET_PADDING
    max_lines = max(1, int((height - 2 * _SHEET_PADDING + 5) / _LINE))
    texts = [
        Text(x + _SHEET_PADDING, y + _SHEET_PADDING + 9.5 + _LINE * number, line, _TEXT_SIZE, toned.text, room=room)
        for number, line in enumerate(wrapped(comment.text, room / WIDER, max_lines))
        if line
    ]
    return Group(_on_one_line(comment.text[:200]), (sheet, *texts))


def wrapped(text: str, room: float, most: int) -> list[str]:
    """Return the lines of a comment, wrapped between words; after `most` lines the text ends in an ellipsis."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in _on_one_line(paragraph[: most * max(8, int(room))]).split(" "):
            longer = f"{line} {word}" if line else word
            if line and text_width(longer, _TEXT_SIZE) > room:
                lines.append(line)
                longer = word
            while text_width(longer, _TEXT_SIZE) > room and len(longer) > 1:
                keep = next(n for n in range(len(longer) - 1, 0, -1) if n == 1 or _fits(longer[:n], room))
                lines.append(longer[:keep])
                longer = longer[keep:]
            line = longer
        lines.append(line)
        if len(lines) > most:
            break
    if len(lines) > most:
        last = lines[most - 1]
        while last and not _fits(f"{last} …", room):
            last = last[:-1]
        lines = [*lines[: most - 1], f"{last} …".strip()]
    return lines


def _fits(text: str, room: float) -> bool:
    return text_width(text, _TEXT_SIZE) <= room


def _on_one_line(text: str) -> str:
    """Return the text with spaces instead of unprintable characters; control characters would make an SVG invalid."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


class _Drawing:
    """Gathers the shapes of one network in one scheme."""

    def __init__(self, network: Network, layout: Layout, analysis: Analysis, theme: str) -> None:
        self.network, self.facts, self.tokens = network, analysis.shapes, colours.SCHEMES[theme]
        self.theme, self.frames = theme, layout.frames
        self.positions: dict[str, Position] = {id: layout.at(id) for id in network.layers}
        self.flow = layout.flow
        self.router = Router(network, self.positions, layout.flow)
        self.room = labels.Room()

    def picture(self, behind: Sequence[Group] = ()) -> Picture:
        """Return the picture, with the groups `behind` in the background."""
        repeats = repeated(self.network)
        tags = [self._tag(connection) for connection in self.network.connections if connection in repeats]
        curves: dict[Port, list[Curve]] = {}
        lines = []
        for connection in sorted(self.network.connections, key=self.router.span):
            if connection not in repeats:
                line, curve = self._connection(connection)
                lines.append(line)
                curves.setdefault(connection.source, []).append(curve)
        sizes = [self._size_label(port, leaving) for port, leaving in curves.items()]
        sizes += [self._output(port.layer, port.name) for port in self.network.output_ports]
        nodes = [self._node(layer) for layer in self.network.layers.values()]
        groups = tuple(group for group in (*behind, *lines, *tags, *sizes, *nodes) if group.shapes)
        return Picture(self._area(groups), self.tokens["canvas"], groups)

    def _area(self, groups: tuple[Group, ...]) -> tuple[float, float, float, float]:
        points = [point for group in groups for shape in group.shapes for point in _corner_points(shape)] or [
            (0.0, 0.0)
        ]
        left, top = min(x for x, _ in points) - MARGIN, min(y for _, y in points) - MARGIN
        return left, top, max(x for x, _ in points) + MARGIN - left, max(y for _, y in points) + MARGIN - top

    def _mixed(self, token: str, ground: str, share: float) -> str:
        return colours.mixed(self.tokens[token], self.tokens[ground], share)

    # Layers

    def _node(self, layer: Layer) -> Group:
        x, y = self.positions[layer.id]
        tokens, facts = self.tokens, self.facts.get(layer.id)
        short_value = layer.type.short_value()
        detail = " · ".join(
            ("Bypassed", layer.type.label) if layer.bypassed else filter(None, (layer.type.label, short_value))
        )
        if layer.weights_of and not layer.bypassed:
            detail, short_value = f"Same weights as {self.network.layers[layer.weights_of].name}", ""
        count = short_count(facts.parameters) if facts and facts.parameters else ""
        room = NODE_WIDTH - _TEXT_LEFT - _TEXT_RIGHT
        count_width = text_width(count, DETAIL_SIZE) * WIDER + 8 if count else 0.0
        beginning = labels.common_beginning(self.network)
        name = labels.short_name(layer.name, beginning, (room - count_width) / WIDER, _name_width)
        edge, text_colour = colours.family(layer.type.family, self.theme), tokens["text"]
        if layer.bypassed:
            edge, text_colour = colours.mixed(edge, tokens["node"], 0.35), tokens["muted"]
        box = Box(x, y, NODE_WIDTH, NODE_HEIGHT, CORNER, tokens["node"], tokens["edge"], edge)
        value = "" if layer.bypassed else short_value
        shown_detail = elided_detail(detail, value, (room + 6) / WIDER, lambda text: text_width(text, DETAIL_SIZE))
        shapes: list[Shape] = [*self._stack(x, y), box] if isinstance(layer.type, Block) else [box]
        shapes.append(Text(x + _TEXT_LEFT, y + 18.5, name, NAME_SIZE, text_colour, bold=True, room=room - count_width))
        shapes.append(Text(x + _TEXT_LEFT, y + 33, shown_detail, DETAIL_SIZE, tokens["muted"], room=room + 6))
        if count:
            right = x + NODE_WIDTH - _TEXT_RIGHT
            shapes.append(Text(right, y + 18.5, count, DETAIL_SIZE, tokens["muted"], anchor="end"))
        ring = tokens["outline"]
        for names, is_input in ((layer.type.input_ports(), True), (layer.type.output_ports(), False)):
            for n in range(len(names)):
                at = port_point((x, y), n, len(names), is_input=is_input, flow=self.router.heading(layer.id))
                shapes.append(Ring(*at, _PORT, tokens["canvas"], ring, 1.3))
        return Group(_in_words(layer, detail, facts), tuple(shapes))

    def _stack(self, x: float, y: float) -> Iterator[Box]:
        """Yield the two sheets behind a block, as on the canvas."""
        fill, stroke = self._mixed("node", "canvas", 0.7), self._mixed("muted", "node", 0.35)
        for step in (2, 1):
            width, height = NODE_WIDTH - 20 + 3.5 * step, NODE_HEIGHT - 6.0 * step
            yield Box(x + 20, y + 3.0 * step, width, height, CORNER - 2, fill, stroke)

    # Connections

    def _connection(self, connection: Connection) -> tuple[Group, Curve]:
        ends = (connection.source.layer, connection.target.layer)
        curve = self.router.curve(connection, LANE, partial(self.room.is_open, port=connection.source))
        self.room.put_curve(connection, curve)
        names = [self.network.layers[id].name for id in ends]
        return Group(" → ".join(names), (Line(curve, self.tokens["outline"], 1.3),)), curve

    def _tag(self, connection: Connection) -> Group:
        """Return the name of the source at an input, which replaces one of many long lines."""
        source, target = self.network.layers[connection.source.layer], self.network.layers[connection.target.layer]
        name = elided(source.name, _WIDEST_TAG, DETAIL_SIZE)
        width = text_width(name, DETAIL_SIZE) * WIDER + 2 * _TAG_PADDING
        ports = target.type.input_ports()
        index = ports.index(connection.target.name) if connection.target.name in ports else 0
        at = self.router.port(connection.target, is_input=True)
        curve, (x, y) = tag(at, index, len(ports), width, self.router.heading(target.id))
        self.room.put_curve(connection, curve)
        self.room.put_label(connection, (x, y, x + width, y + TAG_HEIGHT))
        line = Line(curve, self.tokens["outline"], 1.3)
        box = Box(x, y, width, TAG_HEIGHT, TAG_HEIGHT / 2, self.tokens["node"], self._mixed("muted", "node", 0.5))
        words = Text(x + width / 2, y + 10.8, name, DETAIL_SIZE, self.tokens["muted"], anchor="middle")
        return Group(f"{source.name} → {target.name}", (line, box, words))

    def _size_label(self, port: Port, curves: list[Curve]) -> Group:
        """Return the one label of the connections that leave a port."""
        text = self._size(port.layer, port.name)
        corner = labels.place(curves, _label_width(text), self.flow, self._is_free) if text else None
        return self._label(port, text, corner)

    def _output(self, id: str, port: str) -> Group:
        """Return the label of an output of the network, below its port, or right of it."""
        x, y = self.router.port(Port(id, port), is_input=False)
        text = self._size(id, port)
        width = _label_width(text)
        y_label = y - labels.HEIGHT - 3 if self.router.heading(id) == "up" else y + 3
        corners = [(x + 7, y_label), (x - 7 - width, y_label)]
        if self.flow == "right":
            corners = [(x + 8, y - labels.HEIGHT / 2), (x + 8, y + 3)]
        free = (corner for corner in corners if self._is_free(*corner, corner[0] + width, corner[1] + labels.HEIGHT))
        return self._label(Port(id, port), text, next(free, None) if text else None)

    def _size(self, id: str, port: str) -> str:
        facts = self.facts.get(id)
        if facts is None:
            return ""
        type = facts.at(port) if port in facts.ports else facts.output
        return elided(type.short(), _WIDEST_LABEL, DETAIL_SIZE)

    def _label(self, port: Port, text: str, corner: Point | None) -> Group:
        """Return the label of a size at a position; an empty group where there is none."""
        if corner is None:
            return Group("", ())
        (x, y), width = corner, _label_width(text)
        self.room.put_label(port, (x, y, x + width, y + labels.HEIGHT))
        ground = Box(x, y, width, labels.HEIGHT, 2.0, self._ground(x + width / 2, y + labels.HEIGHT / 2))
        words = Text(x + width / 2, y + 10.8, text, DETAIL_SIZE, self.tokens["muted"], anchor="middle")
        return Group("", (ground, words))

    def _ground(self, x: float, y: float) -> str:
        """Return the background colour at a point: that of the front frame there, else of the canvas."""
        for frame in reversed(self.frames):
            if 0 <= x - frame.at[0] <= frame.size[0] and 0 <= y - frame.at[1] <= frame.size[1]:
                return colours.frame(frame.tone, self.theme).fill
        return self.tokens["canvas"]

    def _is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        steps = max(2, int((right - left) / 40))
        spots = ((left + (right - left) * n / steps, y) for n in range(steps + 1) for y in (top + 1, bottom - 1))
        if any(self.router.places.at(*spot) is not None for spot in spots):
            return False
        return self.room.is_free((left, top, right, bottom))


def _label_width(text: str) -> float:
    return text_width(text, DETAIL_SIZE) * WIDER + 2 * _LABEL_PADDING


def _in_words(layer: Layer, detail: str, facts: LayerShapes | None) -> str:
    if facts is None:
        return f"{layer.name}: {detail}"
    count = f", {facts.parameters:,} parameters" if facts.parameters else ""
    return f"{layer.name}: {detail}, {facts.output.short()}{count}"


def _corner_points(shape: Shape) -> Iterator[Point]:
    match shape:
        case Box():
            yield shape.x, shape.y
            yield shape.x + shape.width, shape.y + shape.height
        case Line():
            yield from shape.curve.reach()
        case Ring():
            yield shape.x - shape.radius, shape.y - shape.radius
            yield shape.x + shape.radius, shape.y + shape.radius
        case Text():
            pass  # always inside a box
