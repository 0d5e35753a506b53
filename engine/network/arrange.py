"""Where layers go when nobody places them: rows by distance from the inputs, few crossings, straight main paths.

The steps are the usual ones of a layered drawing: rows by the longest path, way-points where a connection passes a row,
an order in each row with few crossings (`engine.network.rows`), and columns (`engine.network.columns`). All the
connections that leave a layer share their way-points, so that what feeds a thousand layers is one line and not a
thousand; that keeps the work nearly proportional to the layers. What is shown as a name at the input and not as a line
(`engine.network.repeats`) has no say.

An `Outline` is all that the drawing depends on. It can be handed to another process (`engine.network.arranging`).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.layers.block import Block
from engine.network.annotations import Mark, make_room, standing_in
from engine.network.carrying import carried
from engine.network.columns import columns
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Flow, Layout, Position
from engine.network.network import Connection, Network
from engine.network.repeats import repeated
from engine.network.rows import Graph, ordered

ROW = 60.0
COLUMN = 208.0
GRID = 8.0
_ACROSS = 72.0
"""From row to row where the network flows to the right."""
_ALONG = 272.0
"""From column to column there: room for a size on the connection."""


@dataclass(frozen=True)
class Outline:
    """The shape of a network: layers, each after what feeds it, and what they feed by number.

    `unseen` are connections that only say what belongs together. `hints` are places across the flow, from before.
    """

    names: tuple[str, ...]
    links: tuple[tuple[int, ...], ...]
    unseen: tuple[tuple[int, ...], ...]
    hints: tuple[float, ...]
    first: tuple[int, ...]
    """The layers in the order of the network."""
    flow: Flow = "down"


def placed(network: Network, layout: Layout) -> Layout:
    """The layout, or one of our own where all layers stand on one spot: nobody said where, as in a file by hand. What
    is inside blocks too."""
    if len(network.layers) > 1 and len({layout.at(id) for id in network.layers}) == 1:
        layout = arrange(network, layout)
    for id, layer in network.layers.items():
        if isinstance(layer.type, Block):
            inner = layout.within([id])
            if (found := placed(layer.type.network, inner)) is not inner:
                layout = layout.with_inside([id], found)
    return layout


def arrange(network: Network, layout: Layout | None = None, flow: Flow | None = None) -> Layout:
    """A layout of all layers. Where nothing else decides, layers keep their order across the flow from `layout`."""
    old = layout or Layout()
    return arranged(old, positions(outline(network, old, flow)), flow)


def arranged(old: Layout, places: dict[str, Position], flow: Flow | None = None) -> Layout:
    """The layout with all layers elsewhere; frames and comments go along, and other layers make room for frames."""
    frames, comments = carried(old, places)
    layout = replace(old, positions=places, frames=frames, comments=comments, flow=flow or old.flow)
    for frame in sorted(frames, key=lambda one: one.at[1]):
        mark = Mark("frame", frame.id)
        layout = make_room(layout, mark, standing_in(old, {mark})[0] & places.keys())
    return layout


def outline(network: Network, layout: Layout, flow: Flow | None = None) -> Outline:
    """The shape of a network, without the connections that would close a cycle."""
    known = set(network.order)
    order = [*network.order, *(id for id in network.layers if id not in known)]
    number = {id: v for v, id in enumerate(order)}
    hidden = repeated(network)
    flow = flow or layout.flow
    axis = 0 if flow == "down" else 1

    def targets(leaving: Sequence[Connection], *, seen: bool) -> tuple[int, ...]:
        ends = ((number[c.source.layer], number[c.target.layer]) for c in leaving if (c in hidden) is not seen)
        return tuple(dict.fromkeys(below for above, below in ends if below > above))

    return Outline(
        names=tuple(order),
        links=tuple(targets(network.outgoing[id], seen=True) for id in order),
        unseen=tuple(targets(network.outgoing[id], seen=False) for id in order),
        hints=tuple(layout.at(id)[axis] for id in order),
        first=tuple(number[id] for id in network.layers),
        flow=flow,
    )


def positions(shape: Outline) -> dict[str, Position]:
    """Places for all layers of an outline, parts that are not connected side by side."""
    is_down = shape.flow == "down"
    along, across, size = (ROW, COLUMN, NODE_WIDTH) if is_down else (_ALONG, _ACROSS, NODE_HEIGHT)
    start = 0.0
    found: dict[str, Position] = {}
    for part in _parts(shape):
        graph = _graph(part, shape)
        ordered(graph)
        xs = columns(graph, across)
        low = min((xs[v] for v in range(graph.real)), default=0.0)
        end = start
        for v in range(graph.real):
            x = round((xs[v] - low + start) / GRID) * GRID
            y = graph.row[v] * along
            found[graph.names[v]] = (x, y) if is_down else (y, x)
            end = max(end, x)
        start = end + across + size / 4
    return found


def _parts(shape: Outline) -> list[list[int]]:
    """The layers of each connected part, sources first; parts in the order of their first layer."""
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
    found: dict[int, list[int]] = defaultdict(list)
    for v in range(len(shape.names)):
        found[part[v]].append(v)
    return [found[number] for number in sorted(found)]


def _graph(part: list[int], shape: Outline) -> Graph:
    """One connected part: its layers in rows, and a way-point in every row that a connection passes."""
    number = {one: v for v, one in enumerate(part)}
    row = [0] * len(part)
    for v, one in enumerate(part):
        for target in shape.links[one]:
            row[number[target]] = max(row[number[target]], row[v] + 1)
    graph = Graph([shape.names[one] for one in part], row, [shape.hints[one] for one in part])
    for v, one in enumerate(part):
        chain = {row[v]: v}
        for below in sorted((number[target] for target in shape.links[one]), key=lambda u: row[u]):
            for between in range(row[v] + len(chain), row[below]):
                chain[between] = graph.way_point(chain[between - 1], between)
            graph.join(chain[row[below] - 1], below)
    return graph
