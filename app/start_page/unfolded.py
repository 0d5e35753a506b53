"""A network with its blocks opened, layer by layer along the way of the data: what a sketch is drawn from.

`u` runs with the data, from 0; `v` across. A layer is `THICK` by `LONG`, wherever the data run on the canvas.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from engine.drawing.routes import Curve, Places, port_offset, route
from engine.network.arrangement import placed
from engine.network.block import Block, BlockInput, BlockOutput
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout, Position
from engine.network.network import Network

THICK, LONG, GAP = NODE_HEIGHT, NODE_WIDTH, 18.0
MOST_IN_BLOCK = 48
MOST_WAYS = 1200
_ROW, _COLUMN = 60.0, 208.0

Spot = tuple[float, float]


@dataclass(frozen=True)
class Unfolded:
    """Layers as (u, v, family); ways of connections as a start and three points for each cubic; how deep it all is."""

    layers: tuple[tuple[float, float, str], ...]
    ways: tuple[tuple[Spot, ...], ...]
    deep: float

    @property
    def top(self) -> float:
        """Where the outermost layers begin."""
        return min(v for _, v, _ in self.layers)

    @property
    def broad(self) -> float:
        """How far it reaches across."""
        return max(v for _, v, _ in self.layers) + LONG - self.top


def unfold(network: Network, layout: Layout) -> Unfolded:
    """The network; a repeated block in as many copies as can be told apart."""
    return _Unfolding(network, placed(network, layout)).unfolded()


def _in_copies(block: Block, layout: Layout) -> Unfolded:
    """What a block holds, once or several times in a row."""
    one = unfold(block.network, layout)
    copies = max(1, min(block.repeat, MOST_IN_BLOCK // len(one.layers)))
    middle = one.top + one.broad / 2
    step = one.deep + GAP
    layers = [(u + n * step, v, family) for n in range(copies) for u, v, family in one.layers]
    ways = [tuple((u + n * step, v) for u, v in way) for n in range(copies) for way in one.ways]
    for n in range(1, copies):
        start, end = (n * step - GAP, middle), (n * step, middle)
        ways.append((start, start, end, end))
    return Unfolded(tuple(layers), tuple(ways), copies * step - GAP)


class _Unfolding:
    def __init__(self, network: Network, layout: Layout) -> None:
        self._network = network
        self._at = _downwards(network, {id: layout.at(id) for id in network.layers})
        types = {id: layer.type for id, layer in network.layers.items()}
        self._shown = [id for id, type in types.items() if not isinstance(type, BlockInput | BlockOutput)]
        self._inside = {
            id: _in_copies(type, layout.inside.get(id, Layout()))
            for id, type in types.items()
            if isinstance(type, Block)
        }
        us = [self._at[id][1] for id in self._shown or types]
        self._low, self._high = min(us), max(us) + THICK
        more: dict[float, float] = {}
        for id, inside in self._inside.items():
            u = self._at[id][1]
            more[u] = max(more.get(u, 0.0), inside.deep - THICK)
        self._starts = sorted(more)
        self._longer = list(accumulate((more[u] for u in self._starts), initial=0.0))

    def unfolded(self) -> Unfolded:
        layers: list[tuple[float, float, str]] = []
        ways = list(self._ways())
        for id in self._shown or list(self._at)[:1]:
            v, u = self._at[id]
            start = self._along(u)
            inside = self._inside.get(id)
            if inside is None:
                layers.append((start, v, self._network.layers[id].type.family))
                continue
            shift = v + LONG / 2 - inside.top - inside.broad / 2
            layers += [(start + u, v + shift, family) for u, v, family in inside.layers]
            ways += [tuple((start + u, v + shift) for u, v in way) for way in inside.ways]
        return Unfolded(tuple(layers), tuple(ways), self._along(self._high))

    def _along(self, u: float) -> float:
        """Behind a block everything stands further on; the ports of a block stand close to what is in it."""
        u = max(self._low - GAP, min(self._high + GAP, u))
        return u - self._low + self._longer[bisect_left(self._starts, u - THICK / 2)]

    def _ways(self) -> Iterator[tuple[Spot, ...]]:
        connections = self._network.connections
        if len(connections) > MOST_WAYS:  # they could not be told apart
            connections = connections[:: len(connections) // MOST_WAYS + 1]
        places = Places(self._at)
        for connection in connections:
            source, target = connection.source, connection.target
            start, end = self._port(source.layer, source.name, False), self._port(target.layer, target.name, True)
            curve, _ = route(start, end, partial(places.at, but=(source.layer, target.layer)), 12.0, None)
            yield tuple(self._points(curve))

    def _port(self, id: str, name: str, is_input: bool) -> Spot:
        type = self._network.layers[id].type
        names = tuple(type.input_ports() if is_input else type.output_ports())
        x, y = self._at[id]
        offset = port_offset(names.index(name) if name in names else 0, max(1, len(names)))
        return x + offset, y + (0.0 if is_input else NODE_HEIGHT)

    def _points(self, curve: Curve) -> Iterator[Spot]:
        at = curve.start
        yield self._along(at[1]), at[0]
        for piece in curve.pieces:
            for x, y in (at, piece[0], piece[0]) if len(piece) == 1 else piece:
                yield self._along(y), x
            at = piece[-1]


def _downwards(network: Network, at: Mapping[str, Position]) -> dict[str, Position]:
    """The same places where the data run down; from left to right on the canvas they change roles."""
    across = down = 0.0
    for connection in network.connections:
        (x1, y1), (x2, y2) = at[connection.source.layer], at[connection.target.layer]
        across += max(0.0, x2 - x1 - NODE_WIDTH / 2)
        down += max(0.0, y2 - y1)
    if across <= down:
        return dict(at)
    return {id: (y * _COLUMN / _ROW, x * _ROW / _COLUMN) for id, (x, y) in at.items()}
