"""Automatic layout, alignment and distribution of layers; frames and comments follow their layers.

Also decides from the graph alone which connections are shown as a name at the input instead of a line, such as a mask
that every block of a network takes.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import Literal

from netwright.engine.network.annotations import Mark, make_room, standing_in
from netwright.engine.network.block import Block
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Comment, Flow, Frame, Layout, Position
from netwright.engine.network.network import Connection, Network
from netwright.engine.network.sugiyama import Graph, columns, ordered

Edge = Literal["left", "centre", "right", "top", "middle", "bottom"]
Direction = Literal["horizontally", "vertically"]
_Box = tuple[float, float, float, float]
ROW = 60.0
COLUMN = 208.0
GRID = 8.0
_ACROSS = 72.0
"""Distance between rows where the network flows to the right."""
_ALONG = 272.0
"""Distance between columns where the network flows to the right: room for a size label on the connection."""
_LEAST = 4
_FAR = 3
_LONGEST_CHAIN, _LONGEST = 18, 24
"""Rows of a chain, and of a network with branches, that stay in one column: a window shows them at 60 %."""
_BETWEEN = 88.0
"""Room between columns, for the connections from one to the next."""
ASPECT = 1.5
"""Width of the canvas by its height, where it is not known."""
_REACH = 0.35
"""Part of a column by which a cut moves to a row that few connections pass."""
_MOST_CUT = 4
"""A column does not end where connections from more layers pass."""
_ARM = 2 * COLUMN
"""Distance between the arms of a U: room for the size on a connection from one to the other."""
_LEAST_JUMPS = 3
"""A U has so many connections between its arms; two nested ones are a branch inside a residual block."""


@dataclass(frozen=True)
class Outline:
    """Graph of a network by number: layers, each after its sources, and the targets of each.

    `unseen` are connections that only keep components together. `hints` are previous positions across the flow.
    """

    names: tuple[str, ...]
    links: tuple[tuple[int, ...], ...]
    unseen: tuple[tuple[int, ...], ...]
    hints: tuple[float, ...]
    first: tuple[int, ...]
    """Return the layers in the order of the network."""
    flow: Flow = "down"
    may_fold: bool = True
    """Whether a long network may go on in a next column, and an encoder with its decoder be a U."""
    aspect: float = ASPECT
    """Width by height that columns are made for."""


def placed(network: Network, layout: Layout) -> Layout:
    """Return the layout, or an automatic one where all layers have the same position because none was stored, as in a
    file written by hand. Layouts inside blocks are included."""
    if len(network.layers) > 1 and len({layout.at(id) for id in network.layers}) == 1:
        layout = arrange(network, layout)
    for id, layer in network.layers.items():
        if isinstance(layer.type, Block):
            inner = layout.within([id])
            if (inner_layout := placed(layer.type.network, inner)) is not inner:
                layout = layout.with_inside([id], inner_layout)
    return layout


def arrange(
    network: Network, layout: Layout | None = None, flow: Flow | None = None, *, may_fold: bool = True
) -> Layout:
    """Return a layout of all layers. Where nothing else decides, layers keep their order across the flow from
    `layout`. With `may_fold` long networks continue in a next column, and U-Nets are a U."""
    old = layout or Layout()
    shape = replace(outline(network, old, flow), may_fold=may_fold)
    return arranged(old, positions(shape), flow)


def is_folded(network: Network, layout: Layout) -> bool:
    """Return whether a connection of a network that flows down leads up."""
    if layout.flow == "right":
        return False
    return any(layout.at(c.target.layer)[1] < layout.at(c.source.layer)[1] for c in network.connections)


def arranged(old: Layout, places: dict[str, Position], flow: Flow | None = None) -> Layout:
    """Return the layout with all layers at new positions; frames and comments follow, and other layers make room for
    frames."""
    frames, comments = carried(old, places)
    layout = replace(old, positions=places, frames=frames, comments=comments, flow=flow or old.flow)
    for frame in sorted(frames, key=lambda item: item.at[1]):
        mark = Mark("frame", frame.id)
        layout = make_room(layout, mark, standing_in(old, {mark})[0] & places.keys())
    return layout


def outline(network: Network, layout: Layout, flow: Flow | None = None, aspect: float = ASPECT) -> Outline:
    """Return the graph of a network, without the connections that would close a cycle."""
    ids = set(network.order)
    order = [*network.order, *(id for id in network.layers if id not in ids)]
    number = {id: v for v, id in enumerate(order)}
    hidden = repeated(network)
    flow = flow or layout.flow
    axis = 0 if flow == "down" else 1

    def targets(leaving: Sequence[Connection], *, is_visible: bool) -> tuple[int, ...]:
        ends = ((number[c.source.layer], number[c.target.layer]) for c in leaving if (c in hidden) is not is_visible)
        return tuple(dict.fromkeys(below for above, below in ends if below > above))

    return Outline(
        names=tuple(order),
        links=tuple(targets(network.outgoing[id], is_visible=True) for id in order),
        unseen=tuple(targets(network.outgoing[id], is_visible=False) for id in order),
        hints=tuple(layout.at(id)[axis] for id in order),
        first=tuple(number[id] for id in network.layers),
        flow=flow,
        aspect=aspect,
    )


def positions(shape: Outline) -> dict[str, Position]:
    """Return positions of all layers of an outline, with unconnected components side by side."""
    is_down = shape.flow == "down"
    across, size = (COLUMN, NODE_WIDTH) if is_down else (_ACROSS, NODE_HEIGHT)
    start = 0.0
    coordinates: dict[str, Position] = {}
    for part in _parts(shape):
        places = _folded(part, shape) if is_down and shape.may_fold else None
        places = places or _in_rows(part, shape)
        for v, (x, y) in places.items():
            coordinates[shape.names[v]] = (x + start, y) if is_down else (y, x + start)
        start += max(x for x, _ in places.values()) + across + size / 4
    return coordinates


def _in_rows(part: list[int], shape: Outline) -> dict[int, Position]:
    """Return the positions of connected layers in rows along the flow: across and along it, from 0."""
    along, across = (ROW, COLUMN) if shape.flow == "down" else (_ALONG, _ACROSS)
    graph = _graph(part, shape)
    ordered(graph)
    xs = columns(graph, across)
    low = min(xs[v] for v in range(graph.real))
    return {layer: (round((xs[v] - low) / GRID) * GRID, graph.row[v] * along) for v, layer in enumerate(part)}


def _folded(part: list[int], shape: Outline) -> dict[int, Position] | None:
    """Return the positions of layers that are better folded: an encoder and its decoder as a U, a long network in as
    many columns as fit the view. None for any other network."""
    number = {v: n for n, v in enumerate(part)}
    jumps = []
    is_chain = True
    for n, v in enumerate(part[:-1]):
        ends = {number[target] for target in shape.links[v]}
        is_chain = is_chain and n + 1 in ends
        jumps += [(n, end) for end in ends if end > n + 1]
    if is_chain and jumps and (places := _as_u(part, jumps)):
        return places
    return _in_columns(part, shape, _LONGEST if jumps or not is_chain else _LONGEST_CHAIN)


def _in_columns(part: list[int], shape: Outline, longest: int) -> dict[int, Position] | None:
    """Return the positions of a long network, cut into columns where few connections pass; None for a short one, and
    for one that cannot be cut."""
    row = _late_rows(part, shape)
    depth = max(row.values()) + 1
    if depth <= longest:
        return None
    passing = [0] * depth
    for v in part:
        for between in range(row[v], max((row[target] for target in shape.links[v]), default=row[v])):
            passing[between] += 1
    width = NODE_WIDTH + _BETWEEN
    tried: dict[int, list[dict[int, Position]]] = {}
    most = -(-depth // _LONGEST_CHAIN)
    while (count := min(most, round((shape.aspect * depth * ROW / width) ** 0.5))) not in tried and count > 1:
        cuts = _cuts(passing, count)
        bands: list[list[int]] = [[] for _ in range(len(cuts) + 1)]
        for v in part:
            bands[bisect_right(cuts, row[v])].append(v)
        tried[count] = [_in_rows(band, shape) for band in bands]
        width = sum(max(x for x, _ in band.values()) for band in tried[count]) / len(bands) + NODE_WIDTH + _BETWEEN
    if count not in tried or len(tried[count]) < 2:
        return None
    places: dict[int, Position] = {}
    left = 0.0
    for band in tried[count]:
        places |= {v: (x + left, y) for v, (x, y) in band.items()}
        left += max(x for x, _ in band.values()) + NODE_WIDTH + _BETWEEN
    return places


def _cuts(passing: Sequence[int], count: int) -> list[int]:
    """Return the rows with which columns begin, near equal parts of the depth: where few connections pass."""
    length = -(-len(passing) // count)
    cuts: list[int] = []
    for number in range(1, count):
        middle, reach = number * length, _REACH * length
        rows = range(max(1, ceil(middle - reach)), min(len(passing) - 1, int(middle + reach)) + 1)
        best = min(rows, key=lambda row: (passing[row - 1] + abs(row - middle) / reach, row), default=0)
        if best and passing[best - 1] <= _MOST_CUT and best not in cuts:
            cuts.append(best)
    return cuts


def _late_rows(part: list[int], shape: Outline) -> dict[int, int]:
    """Return the row of each layer on the longest path; a layer without a source stands just before its first target,
    as does one that only such layers feed."""
    row = dict.fromkeys(part, 0)
    sources = dict.fromkeys(part, 0)
    for v in part:
        for target in shape.links[v]:
            row[target] = max(row[target], row[v] + 1)
            sources[target] += 1
    for v in reversed(part):
        if not sources[v] and shape.links[v]:
            row[v] = min(row[target] for target in shape.links[v]) - 1
    return row


def _as_u(part: list[int], jumps: list[tuple[int, int]]) -> dict[int, Position] | None:
    """Return the positions of an encoder going down, its bottleneck, and its decoder going up beside it.

    `jumps` are the connections from one to the other. They have to be nested, with layers between them; each is level,
    from a layer to the one beside it.
    """
    jumps = sorted(jumps)
    nested = all(a + 2 <= b and c >= d + 2 for (a, c), (b, d) in pairwise(jumps))
    (low, high), (first, last) = jumps[-1], jumps[0]
    if len(jumps) < _LEAST_JUMPS or not nested:
        return None
    row = {first: float(max(first, len(part) - 1 - last)), last: float(max(first, len(part) - 1 - last))}
    for (a, c), (b, d) in pairwise(jumps):
        row[b] = row[d] = row[a] + max(b - a, c - d)
    between = high - low - 1
    bottom = low + 1 + between // 2
    row[bottom] = row[low] + between // 2 + 1.5
    row[0], row[len(part) - 1] = row[first] - first, row[last] - (len(part) - 1 - last)
    ends = sorted(row)
    for a, b in pairwise(ends):
        for n in range(a + 1, b):
            row[n] = row[a] + (row[b] - row[a]) * (n - a) / (b - a)
    top = min(row.values())
    xs = (0.0 if n < bottom else _ARM if n > bottom else _ARM / 2 for n in range(len(part)))
    return {v: (x, float(round((row[n] - top) * ROW))) for (n, v), x in zip(enumerate(part), xs, strict=True)}


def _parts(shape: Outline) -> list[list[int]]:
    """Return the layers of each connected component, sources first; components in the order of their first layer."""
    near: dict[int, list[int]] = defaultdict(list)
    for links in (shape.links, shape.unseen):
        for v, targets in enumerate(links):
            near[v] += targets
            for target in targets:
                near[target].append(v)
    part: dict[int, int] = {}
    for number, start in enumerate(shape.first):
        waiting = [start] if start not in part else []
        while waiting:
            v = waiting.pop()
            if v not in part:
                part[v] = number
                waiting += near[v]
    members: dict[int, list[int]] = defaultdict(list)
    for v in range(len(shape.names)):
        members[part[v]].append(v)
    return [members[number] for number in sorted(members)]


def _graph(part: list[int], shape: Outline) -> Graph:
    """Return the graph of some layers: in rows, with a way-point in every row that a connection passes."""
    number = {layer: v for v, layer in enumerate(part)}
    row = [0] * len(part)
    links = {layer: [target for target in shape.links[layer] if target in number] for layer in part}
    for v, layer in enumerate(part):
        for target in links[layer]:
            row[number[target]] = max(row[number[target]], row[v] + 1)
    graph = Graph([shape.names[layer] for layer in part], row, [shape.hints[layer] for layer in part])
    for v, layer in enumerate(part):
        chain = {row[v]: v}
        for below in sorted((number[target] for target in links[layer]), key=lambda u: row[u]):
            for between in range(row[v] + len(chain), row[below]):
                chain[between] = graph.way_point(chain[between - 1], between)
            graph.join(chain[row[below] - 1], below)
    return graph


def align(layout: Layout, ids: Collection[str], edge: Edge) -> dict[str, Position]:
    """Return positions at which the layers share an edge or a centre: that of the whole group."""
    places = {id: layout.at(id) for id in ids}
    axis = 0 if edge in ("left", "centre", "right") else 1
    values = [at[axis] for at in places.values()]
    low, high = min(values), max(values)
    middle = round((low + high) / 2 / GRID) * GRID
    value = {"left": low, "top": low, "right": high, "bottom": high}.get(edge, middle)
    return {id: (value, y) if axis == 0 else (x, value) for id, (x, y) in places.items()}


def distribute(layout: Layout, ids: Collection[str], direction: Direction) -> dict[str, Position]:
    """Return positions with equal distances from the first to the last layer, which stay; the order stays too."""
    axis = 0 if direction == "horizontally" else 1
    ordered = sorted(ids, key=lambda id: (layout.at(id)[axis], layout.at(id)[1 - axis]))
    first, last = layout.at(ordered[0])[axis], layout.at(ordered[-1])[axis]
    step = (last - first) / max(1, len(ordered) - 1)
    places: dict[str, Position] = {}
    for number, id in enumerate(ordered):
        x, y = layout.at(id)
        inner = 0 < number < len(ordered) - 1
        value = round((first + number * step) / GRID) * GRID if inner else (x, y)[axis]
        places[id] = (value, y) if axis == 0 else (x, value)
    return places


def arrange_part(network: Network, layout: Layout, ids: Collection[str]) -> dict[str, Position]:
    """Return positions of some layers as `arrange` computes them, around their previous centre."""
    selection = set(ids)
    inner = Network(
        {id: layer for id, layer in network.layers.items() if id in selection},
        tuple(c for c in network.connections if c.source.layer in selection and c.target.layer in selection),
    )
    arranged = arrange(inner, layout)
    if not selection:
        return {}
    was, now = _centre_of(layout, selection), _centre_of(arranged, selection)
    dx, dy = (round((a - b) / GRID) * GRID for a, b in zip(was, now, strict=True))
    return {id: (x + dx, y + dy) for id, (x, y) in arranged.positions.items()}


def _centre_of(layout: Layout, ids: Collection[str]) -> Position:
    """Return the centre of the box around the corners of the layers."""
    xs, ys = zip(*(layout.at(id) for id in ids), strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def carried(old: Layout, places: Mapping[str, Position]) -> tuple[tuple[Frame, ...], tuple[Comment, ...]]:
    """Return the layout with frames around the same layers as before, and comments beside the layer they were nearest
    to."""
    positions = {id: at for id, at in old.positions.items() if id in places}
    if not positions:
        return old.frames, old.comments
    return (
        tuple(_framed(frame, positions, places) for frame in old.frames),
        tuple(_beside(comment, positions, places) for comment in old.comments),
    )


def _framed(frame: Frame, was: Mapping[str, Position], places: Mapping[str, Position]) -> Frame:
    """Return the frame with the same margins around its layers as before; an empty frame follows the nearest layer."""
    left, top = frame.at
    right, bottom = left + frame.size[0], top + frame.size[1]
    inside = [
        id for id, (x, y) in was.items() if left <= x + NODE_WIDTH / 2 <= right and top <= y + NODE_HEIGHT / 2 <= bottom
    ]
    if not inside:
        dx, dy = _shift(_middle(frame.at, frame.size), was, places)
        return replace(frame, at=(left + dx, top + dy))
    before, now = _around(was, inside), _around(places, inside)
    corner = now[0] - (before[0] - left), now[1] - (before[1] - top)
    far = now[2] + (right - before[2]), now[3] + (bottom - before[3])
    return replace(frame, at=corner, size=(max(far[0] - corner[0], NODE_WIDTH), max(far[1] - corner[1], NODE_HEIGHT)))


def _beside(comment: Comment, was: Mapping[str, Position], places: Mapping[str, Position]) -> Comment:
    dx, dy = _shift(_middle(comment.at, comment.size), was, places)
    return replace(comment, at=(comment.at[0] + dx, comment.at[1] + dy))


def _shift(middle: Position, was: Mapping[str, Position], places: Mapping[str, Position]) -> Position:
    """Return the displacement of the layer that is nearest to a point."""

    def distance(id: str) -> float:
        x, y = was[id]
        return (x + NODE_WIDTH / 2 - middle[0]) ** 2 + (y + NODE_HEIGHT / 2 - middle[1]) ** 2

    nearest = min(was, key=distance)
    return places[nearest][0] - was[nearest][0], places[nearest][1] - was[nearest][1]


def _middle(at: Position, size: tuple[float, float]) -> Position:
    return at[0] + size[0] / 2, at[1] + size[1] / 2


def _around(places: Mapping[str, Position], ids: list[str]) -> _Box:
    xs, ys = zip(*(places[id] for id in ids), strict=True)
    return min(xs), min(ys), max(xs) + NODE_WIDTH, max(ys) + NODE_HEIGHT


@lru_cache(maxsize=8)
def repeated(network: Network) -> frozenset[Connection]:
    """Return the connections from outputs that feed several distant layers, and are nowhere the main input.

    Examples are masks, position indices and an embedding of the time: each layer they feed has another input on a
    longer path. Distant means three layers on the longest path. A shortcut around a block is not included, as it
    begins at the block's input, nor is the output of an encoder that feeds all of a decoder.
    """
    connections: set[Connection] = set()
    depth: dict[str, int] | None = None
    for id, leaving in network.outgoing.items():
        if len(leaving) < _LEAST:
            continue
        depth = _depths(network) if depth is None else depth
        if id not in depth or not all(_is_aside(network, depth, connection) for connection in leaving):
            continue
        far = {connection.target.layer for connection in leaving if depth[connection.target.layer] >= depth[id] + _FAR}
        if len(far) >= _LEAST:
            connections.update(leaving)
    return frozenset(connections)


def _is_aside(network: Network, depth: dict[str, int], connection: Connection) -> bool:
    """Return whether another input of the same layer arrives on a longer path."""
    target, own = connection.target.layer, depth[connection.source.layer]
    return target in depth and any(depth[source.layer] > own for source in network.incoming[target].values())


def _depths(network: Network) -> dict[str, int]:
    """Return the number of layers before each layer on the longest path from an input; none for layers on a cycle."""
    depth: dict[str, int] = {}
    for id in network.order:
        feeds = network.incoming[id].values()
        depth[id] = max((depth[source.layer] + 1 for source in feeds), default=0)
    return depth
