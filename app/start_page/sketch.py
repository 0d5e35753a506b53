"""A project as a few bars and lines, small enough for a card: made without Qt, kept in the user's cache folder.

The network is drawn as it stands on the canvas, laid on its side and pushed together, so that a deep one fits: each
layer is a bar in the colour of its family, from left to right; a very deep one goes on in further rows, like text. What
would fall on the same spot is drawn once, so a sketch stays small however large the network is. It holds no colours and
no pixels: one sketch serves both themes and every screen.
"""

import contextlib
import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import accumulate
from math import ceil
from pathlib import Path

from engine.drawing.curves import Curve, Places, direct_curve, port_offset, route
from engine.errors import UserError
from engine.files import write_atomically
from engine.layers.base import LayerType
from engine.layers.block import Block, BlockInput, BlockOutput
from engine.network.analysis import analyse
from engine.network.arrange import placed
from engine.network.counts import short_count
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout
from engine.network.network import Network
from engine.project.file import loads
from engine.version import VERSION

WIDTH, HEIGHT = 196.0, 108.0
FORMAT = 2
LARGEST_BYTES = 2 * 2**20
"""Of a project that is drawn: some ten thousand layers, a second of work."""
MOST_KEPT = 300
_THICKEST, _THINNEST, _LONGEST = 15.0, 3.0, 54.0
_MOST_ROWS, _ROW_GAP, _BROADEST = 4, 6.0, 6.0
_MANY = 1200
_MOST_STRIPES = 40
_GAP = 18.0

Bar = tuple[float, float, float, float, str]
"""Left, top, width, height, and the family that gives the colour."""
Way = tuple[float, ...]
"""x and y of a start, and of three points for each cubic behind it."""


@dataclass(frozen=True)
class Sketch:
    """Bars, the ways of connections, and the size in words. `problem` says why a file cannot be read or drawn."""

    bars: tuple[Bar, ...] = ()
    ways: tuple[Way, ...] = ()
    size: str = ""
    problem: str = ""


def cache_folder() -> Path:
    """Where sketches are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netwright" / "sketches"


def sketch_of(path: Path) -> Sketch:
    """The sketch of a project file, from the cache if the same bytes were drawn before. Raises nothing."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        return Sketch(problem=f"The file cannot be read: {error.strerror}.")
    if len(data) > LARGEST_BYTES:
        return Sketch(size="a very large network")
    key = hashlib.sha256(f"{FORMAT} {VERSION}\n".encode() + data).hexdigest()[:32]
    kept = cache_folder() / f"{key}.json"
    known = _read(kept)
    if known is not None:
        return known
    try:
        project = loads(data.decode("utf-8-sig")).project
    except (UserError, UnicodeDecodeError) as error:
        return Sketch(problem=f"The file cannot be opened: {error}")
    found = draw(project.network, project.layout)
    _keep(kept, found)
    return found


def _read(path: Path) -> Sketch | None:
    """A sketch from the cache; None where there is none, or nothing that could be one."""
    try:
        values = json.loads(path.read_bytes())
        bars = tuple((float(x), float(y), float(w), float(h), str(family)) for x, y, w, h, family in values["bars"])
        ways = tuple(tuple(map(float, way)) for way in values["ways"])
        return Sketch(bars, ways, str(values["size"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(path: Path, sketch: Sketch) -> None:
    """Into the cache; without room or permission it is drawn again next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, json.dumps(asdict(sketch), ensure_ascii=False).encode(), mode=0o600)


def tidy_cache() -> None:
    """Forget the sketches that were made longest ago, where there are many."""
    with contextlib.suppress(OSError):
        kept = sorted(cache_folder().glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-MOST_KEPT]:
            path.unlink()


def draw(network: Network, layout: Layout) -> Sketch:
    """The network in a box of `WIDTH` by `HEIGHT`, in the middle of it."""
    if not network.layers:
        return Sketch(size="empty")
    return Sketch(*_Drawing(network, placed(network, layout)).drawn(), size=_size(network))


def _size(network: Network) -> str:
    """How many layers and learnables; that it is unfinished, where learnables cannot be known."""
    analysis = analyse(network)
    count = sum(_num_layers(layer.type) for layer in network.layers.values())
    layers = f"{count:,} layer{'' if count == 1 else 's'}"
    learnables = "unfinished" if analysis.has_errors else f"{_short(analysis.parameters)} learnables"
    return f"{layers} · {learnables}"


def _short(number: int) -> str:
    return short_count(number) if number >= 1_000_000 else f"{number:,}"


def _num_layers(type: LayerType) -> int:
    """One, or all that a block holds without its ports, in every copy."""
    if isinstance(type, Block):
        return type.repeat * sum(_num_layers(layer.type) for layer in type.network.layers.values())
    return 0 if isinstance(type, BlockInput | BlockOutput) else 1


def _families(type: LayerType) -> list[str]:
    """The family of a layer, or those in a block in their order, in as many copies as can be shown."""
    if not isinstance(type, Block):
        return [] if isinstance(type, BlockInput | BlockOutput) else [type.family]
    network = type.network
    found = [family for id in network.order for family in _families(network.layers[id].type)]
    copies = max(1, min(type.repeat, _MOST_STRIPES // max(1, len(found))))
    return found[:_MOST_STRIPES] * copies or [type.family]


class _Drawing:
    """Where everything goes: `u` runs with the data, `v` across. A block takes the room of the layers it holds."""

    def __init__(self, network: Network, layout: Layout) -> None:
        self._network = network
        self._at = {id: layout.at(id) for id in network.layers}
        self._is_sideways = _runs_sideways(network, self._at)
        self._thick, self._long = (NODE_WIDTH, NODE_HEIGHT) if self._is_sideways else (NODE_HEIGHT, NODE_WIDTH)
        self._pitch = self._thick + _GAP
        self._families = {id: _families(layer.type) or [layer.type.family] for id, layer in network.layers.items()}
        self._starts, self._longer = self._stretches()
        spots = [self._turned(*at) for at in self._at.values()]
        self._left, self._top = min(u for u, _ in spots), min(v for _, v in spots)
        deep = max(u for u, _ in spots) + self._thick - self._left
        broad = max(v for _, v in spots) + self._long - self._top
        deep = self._stretched(self._left + deep) - self._left
        self._rows = self._num_rows(deep, broad)
        self._row_length = deep / self._rows
        height = (HEIGHT + _ROW_GAP) / self._rows - _ROW_GAP
        self._u = min(WIDTH / self._row_length, _THICKEST / self._thick)
        self._v = min(height / broad, _LONGEST / self._long)
        self._row_step = broad * self._v + _ROW_GAP
        whole = self._rows * self._row_step - _ROW_GAP
        self._shift = ((WIDTH - self._row_length * self._u) / 2, (HEIGHT - whole) / 2)
        self._lefts = [self._left + row * self._row_length for row in range(self._rows)]
        for u, _, _ in sorted(self._stripes(), reverse=True):
            self._lefts[self._row(u)] = u  # a row begins with its first bar

    def drawn(self) -> tuple[tuple[Bar, ...], tuple[Way, ...]]:
        """All bars and ways."""
        return tuple(self._bars()), tuple(self._ways())

    def _turned(self, x: float, y: float) -> tuple[float, float]:
        return (x, y) if self._is_sideways else (y, x)

    def _stretches(self) -> tuple[list[float], list[float]]:
        """Behind which `u` everything stands further on, and by how much in all."""
        more: dict[float, float] = {}
        for id, families in self._families.items():
            if len(families) > 1:
                u = self._turned(*self._at[id])[0]
                more[u] = max(more.get(u, 0.0), (len(families) - 1) * self._pitch)
        starts = sorted(more)
        return starts, list(accumulate((more[u] for u in starts), initial=0.0))

    def _stretched(self, u: float) -> float:
        return u + self._longer[bisect_left(self._starts, u - self._thick / 2)]

    def _num_rows(self, deep: float, broad: float) -> int:
        """One, or where bars would be too thin to tell apart as many as make them thick enough."""
        thickness = self._thick * WIDTH / deep
        if broad > _BROADEST * self._long or thickness >= _THINNEST:
            return 1
        return min(_MOST_ROWS, ceil(_THINNEST / thickness))

    def _row(self, u: float) -> int:
        return max(0, min(self._rows - 1, int((u - self._left) / self._row_length)))

    def _placed(self, u: float, v: float, row: int) -> tuple[float, float]:
        return (
            round((u - self._lefts[row]) * self._u + self._shift[0], 1),
            round((v - self._top) * self._v + row * self._row_step + self._shift[1], 1),
        )

    def _stripes(self) -> Iterator[tuple[float, float, str]]:
        """Every bar before it is placed: a layer is one, a block as many as it holds."""
        for id, families in self._families.items():
            u, v = self._turned(*self._at[id])
            start = self._stretched(u)
            for n, family in enumerate(families):
                yield start + n * self._pitch, v, family

    def _bars(self) -> list[Bar]:
        width, height = max(1.0, round(self._thick * self._u, 1)), max(1.0, round(self._long * self._v, 1))
        seen: dict[tuple[int, int], Bar] = {}
        for u, v, family in self._stripes():
            x, y = self._placed(u, v, self._row(u))
            seen[round(x * 2), round(y * 2)] = (x, y, width, height, family)
        return list(seen.values())

    def _ways(self) -> list[Way]:
        connections = self._network.connections
        is_many = len(connections) > _MANY  # they could not be told apart
        if is_many:
            connections = connections[:: len(connections) // _MANY + 1]
        places = Places(self._at)
        ways: dict[Way, None] = {}
        for connection in connections:
            source, target = connection.source, connection.target
            start = self._port(source.layer, source.name, False)
            end = self._port(target.layer, target.name, True)
            if self._is_sideways or is_many:
                curve = direct_curve(start, end)
            else:
                curve, _ = route(start, end, partial(places.at, but=(source.layer, target.layer)), 12.0, None)
            found = self._way(curve)
            if found:
                ways[found] = None
        ways.update(dict.fromkeys(self._inner_ways()))
        return list(ways)

    def _inner_ways(self) -> Iterator[Way]:
        """From bar to bar in a block."""
        for id, families in self._families.items():
            u, v = self._turned(*self._at[id])
            for n in range(len(families) - 1):
                begin = self._stretched(u) + n * self._pitch + self._thick
                row = self._row(begin - self._thick)
                if self._row(begin + _GAP) == row:
                    start = self._placed(begin, v + self._long / 2, row)
                    end = self._placed(begin + _GAP, v + self._long / 2, row)
                    yield (*start, *start, *end, *end)

    def _port(self, id: str, name: str, is_input: bool) -> tuple[float, float]:
        type = self._network.layers[id].type
        names = tuple(type.input_ports() if is_input else type.output_ports())
        x, y = self._at[id]
        if self._is_sideways:
            return x + (0.0 if is_input else NODE_WIDTH), y + NODE_HEIGHT / 2
        offset = port_offset(names.index(name) if name in names else 0, max(1, len(names)))
        return x + offset, y + (0.0 if is_input else NODE_HEIGHT)

    def _way(self, curve: Curve) -> Way:
        """The curve where it goes; nothing if it leads into another row, where it is understood."""
        row = self._row(self._stretched(self._turned(*curve.start)[0]) - self._thick)
        if self._row(self._stretched(self._turned(*curve.end)[0])) != row:
            return ()
        numbers = [*self._point(curve.start, row)]
        at = curve.start
        for piece in curve.pieces:
            for point in (at, piece[0], piece[0]) if len(piece) == 1 else piece:
                numbers += self._point(point, row)
            at = piece[-1]
        return tuple(numbers)

    def _point(self, at: tuple[float, float], row: int) -> tuple[float, float]:
        u, v = self._turned(*at)
        return self._placed(self._stretched(u), v, row)


def _runs_sideways(network: Network, at: Mapping[str, tuple[float, float]]) -> bool:
    """Whether the data run from left to right on the canvas, rather than down."""
    across = down = 0.0
    for connection in network.connections:
        (x1, y1), (x2, y2) = at[connection.source.layer], at[connection.target.layer]
        across += max(0.0, x2 - x1 - NODE_WIDTH / 2)
        down += max(0.0, y2 - y1)
    return across > down
