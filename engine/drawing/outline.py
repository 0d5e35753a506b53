"""Outline of a network for a small card: bars and curves, without text.

The layout of the canvas is turned to run from left to right and scaled, so that a deep network fits: each
layer is a bar in the colour of its family, from left to right; a very deep one continues in further rows, like text.
Bars and curves at the same position are drawn once, so an outline stays small however large the network is.

Blocks are expanded first. In that step `u` is the coordinate along the data flow, from 0, and `v` across it; a layer
measures `THICKNESS` by `LENGTH` in either flow direction of the canvas.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil

from netwright.engine.drawing.routes import Curve, Router
from netwright.engine.network.arrangement import arrange, is_folded, placed
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout, Position
from netwright.engine.network.network import Network

WIDTH, HEIGHT = 196.0, 108.0
THICKNESS, LENGTH, GAP = NODE_HEIGHT, NODE_WIDTH, 18.0
MOST_IN_BLOCK = 240
MOST_CONNECTIONS = 1200
_ROW, _COLUMN = 60.0, 208.0
_MARGIN = 12.0
_THICKEST, _THINNEST, _LONGEST = 15.0, 3.0, 54.0
_MOST_ROWS, _ROW_GAP, _BROADEST = 4, 6.0, 6.0

Spot = tuple[float, float]
Bar = tuple[float, float, float, float, str]
"""Left, top, width, height, and the family that gives the colour."""
FlatCurve = tuple[float, ...]
"""x and y of the start, and of three points per cubic Bézier curve that follows."""


@dataclass(frozen=True)
class Outline:
    """Shapes in a box of `WIDTH` by `HEIGHT`: a bar per layer, and the curves of connections."""

    bars: tuple[Bar, ...] = ()
    curves: tuple[FlatCurve, ...] = ()


def outline(network: Network, layout: Layout) -> Outline:
    """Return the outline of a network, centred in its box."""
    if not network.layers:
        return Outline()
    fitted = _Fitted(_unfold(network, layout))
    return Outline(fitted.bars(), fitted.curves())


@dataclass(frozen=True)
class _Unfolded:
    """A network with its blocks expanded: layers as (u, v, family), connections as a start and three points per cubic,
    and the extent along `u`."""

    layers: tuple[tuple[float, float, str], ...]
    curves: tuple[tuple[Spot, ...], ...]
    depth: float

    @property
    def top(self) -> float:
        """The smallest `v`."""
        return min(v for _, v, _ in self.layers)

    @property
    def breadth(self) -> float:
        """The extent along `v`."""
        return max(v for _, v, _ in self.layers) + LENGTH - self.top


def _unfold(network: Network, layout: Layout) -> _Unfolded:
    layout = placed(network, layout)
    if is_folded(network, layout):
        layout = replace(layout, positions=arrange(network, layout, may_fold=False).positions)
    return _Unfolding(network, layout).unfolded()


def _unfold_block(block: Block, layout: Layout) -> _Unfolded:
    """Unfold the network of a block; of a repeated one as many copies as `MOST_IN_BLOCK` layers allow."""
    single = _unfold(block.network, layout)
    copies = max(1, min(block.repeat, MOST_IN_BLOCK // len(single.layers)))
    middle = single.top + single.breadth / 2
    step = single.depth + GAP
    layers = [(u + n * step, v, family) for n in range(copies) for u, v, family in single.layers]
    curves = [tuple((u + n * step, v) for u, v in curve) for n in range(copies) for curve in single.curves]
    for n in range(1, copies):
        start, end = (n * step - GAP, middle), (n * step, middle)
        curves.append((start, start, end, end))
    return _Unfolded(tuple(layers), tuple(curves), copies * step - GAP)


class _Unfolding:
    """Expands the blocks of a network; the layers after a block are shifted along `u`."""

    def __init__(self, network: Network, layout: Layout) -> None:
        self._network = network
        self._positions = _downwards(network, {id: layout.at(id) for id in network.layers})
        types = {id: layer.type for id, layer in network.layers.items()}
        self._visible = [id for id, type in types.items() if not isinstance(type, BlockInput | BlockOutput)]
        self._blocks = {
            id: _unfold_block(type, layout.inside.get(id, Layout()))
            for id, type in types.items()
            if isinstance(type, Block)
        }
        us = [self._positions[id][1] for id in self._visible or types]
        self._low, self._high = min(us), max(us) + THICKNESS
        growth: dict[float, float] = {}
        for id, block in self._blocks.items():
            u = self._positions[id][1]
            growth[u] = max(growth.get(u, 0.0), block.depth - THICKNESS)
        self._starts = sorted(growth)
        self._shifts = list(accumulate((growth[u] for u in self._starts), initial=0.0))

    def unfolded(self) -> _Unfolded:
        layers: list[tuple[float, float, str]] = []
        curves = list(self._curves())
        for id in self._visible or list(self._positions)[:1]:
            v, u = self._positions[id]
            start = self._along(u)
            block = self._blocks.get(id)
            if block is None:
                layers.append((start, v, self._network.layers[id].type.family))
                continue
            shift = v + LENGTH / 2 - block.top - block.breadth / 2
            layers += [(start + u, v + shift, family) for u, v, family in block.layers]
            curves += [tuple((start + u, v + shift) for u, v in curve) for curve in block.curves]
        return _Unfolded(tuple(layers), tuple(curves), self._along(self._high))

    def _along(self, u: float) -> float:
        """Map `u` of the canvas to `u` with expanded blocks; the ports of a block are close to its layers."""
        u = max(self._low - GAP, min(self._high + GAP, u))
        return u - self._low + self._shifts[bisect_left(self._starts, u - THICKNESS / 2)]

    def _curves(self) -> Iterator[tuple[Spot, ...]]:
        connections = self._network.connections
        if len(connections) > MOST_CONNECTIONS:  # they could not be told apart
            connections = connections[:: len(connections) // MOST_CONNECTIONS + 1]
        router = Router(self._network, self._positions)
        for connection in connections:
            yield tuple(self._points(router.curve(connection, _MARGIN)))

    def _points(self, curve: Curve) -> Iterator[Spot]:
        at = curve.start
        yield self._along(at[1]), at[0]
        for piece in curve.pieces:
            for x, y in (at, piece[0], piece[0]) if len(piece) == 1 else piece:
                yield self._along(y), x
            at = piece[-1]


def _downwards(network: Network, positions: Mapping[str, Position]) -> dict[str, Position]:
    """Return the positions for a flow downwards; if the data run to the right, x and y are exchanged."""
    across = down = 0.0
    for connection in network.connections:
        (x1, y1), (x2, y2) = positions[connection.source.layer], positions[connection.target.layer]
        across += max(0.0, x2 - x1 - NODE_WIDTH / 2)
        down += max(0.0, y2 - y1)
    if across <= down:
        return dict(positions)
    return {id: (y * _COLUMN / _ROW, x * _ROW / _COLUMN) for id, (x, y) in positions.items()}


class _Fitted:
    """An unfolded network, scaled to fit into the box."""

    def __init__(self, unfolded: _Unfolded) -> None:
        self._unfolded, self._top = unfolded, unfolded.top
        self._rows = self._num_rows()
        self._row_length = unfolded.depth / self._rows
        height = (HEIGHT + _ROW_GAP) / self._rows - _ROW_GAP
        self._u = min(WIDTH / self._row_length, _THICKEST / THICKNESS)
        self._v = min(height / unfolded.breadth, _LONGEST / LENGTH)
        self._row_step = unfolded.breadth * self._v + _ROW_GAP
        total_height = self._rows * self._row_step - _ROW_GAP
        self._shift = ((WIDTH - self._row_length * self._u) / 2, (HEIGHT - total_height) / 2)
        self._lefts = [row * self._row_length for row in range(self._rows)]
        for u in sorted((u for u, _, _ in unfolded.layers), reverse=True):
            self._lefts[self._row(u)] = u  # a row begins with its first bar

    def _num_rows(self) -> int:
        """Return the number of rows, at most `_MOST_ROWS`, that makes bars at least `_THINNEST` thick, if possible."""
        thickness = THICKNESS * WIDTH / self._unfolded.depth
        if self._unfolded.breadth > _BROADEST * LENGTH or thickness >= _THINNEST:
            return 1
        return min(_MOST_ROWS, ceil(_THINNEST / thickness))

    def _row(self, u: float) -> int:
        return max(0, min(self._rows - 1, int(u / self._row_length)))

    def _placed(self, u: float, v: float, row: int) -> tuple[float, float]:
        return (
            round((u - self._lefts[row]) * self._u + self._shift[0], 1),
            round((v - self._top) * self._v + row * self._row_step + self._shift[1], 1),
        )

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar per layer; of several at the same position the last."""
        width, height = max(1.0, round(THICKNESS * self._u, 1)), max(1.0, round(LENGTH * self._v, 1))
        by_position: dict[tuple[int, int], Bar] = {}
        for u, v, family in self._unfolded.layers:
            x, y = self._placed(u, v, self._row(u))
            by_position[round(x * 2), round(y * 2)] = (x, y, width, height, family)
        return tuple(by_position.values())

    def curves(self) -> tuple[FlatCurve, ...]:
        """Return the curves of connections within a row; those between rows are omitted."""
        curves: dict[FlatCurve, None] = {}
        for curve in self._unfolded.curves:
            row = self._row(curve[0][0] - THICKNESS)
            if self._row(curve[-1][0]) == row:
                curves[tuple(number for u, v in curve for number in self._placed(u, v, row))] = None
        return tuple(curves)
