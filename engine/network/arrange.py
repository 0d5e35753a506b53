"""Where layers go when nobody places them: rows by distance from the inputs, few crossings, straight main paths.

The steps are the usual ones of a layered drawing: rows by the longest path, way-points where a connection passes a row,
an order in each row with few crossings (`engine.network.rows`), and columns (`engine.network.columns`). All the
connections that leave a layer share their way-points, so that a mask which feeds a thousand layers is one line and not
a thousand; that keeps the work nearly proportional to the layers.
"""

from collections import defaultdict

from engine.network.columns import columns
from engine.network.layout import NODE_WIDTH, Layout
from engine.network.network import Network
from engine.network.rows import Graph, ordered

ROW = 60.0
COLUMN = 208.0
GRID = 8.0


def placed(network: Network, layout: Layout) -> Layout:
    """The layout, or one of our own where all layers stand on one spot: nobody said where, as in a file by hand."""
    if len(network.layers) > 1 and len({layout.at(id) for id in network.layers}) == 1:
        return arrange(network)
    return layout


def arrange(network: Network, layout: Layout | None = None) -> Layout:
    """A layout of all layers. Where nothing else decides, layers keep their order from left to right in `layout`."""
    old = layout or Layout()
    succ = _forward(network)
    left = 0.0
    positions: dict[str, tuple[float, float]] = {}
    for part in _parts(network, succ):
        graph = _graph(part, succ, old)
        ordered(graph)
        xs = columns(graph, COLUMN)
        low = min((xs[v] for v in range(graph.real)), default=0.0)
        right = left
        for v in range(graph.real):
            x = round((xs[v] - low + left) / GRID) * GRID
            positions[graph.names[v]] = (x, graph.row[v] * ROW)
            right = max(right, x)
        left = right + COLUMN + NODE_WIDTH / 4
    return Layout(positions)


def _forward(network: Network) -> dict[str, list[str]]:
    """For each layer what it feeds, without the connections that would close a cycle."""
    known = set(network.order)
    order = [*network.order, *(id for id in network.layers if id not in known)]
    place = {id: number for number, id in enumerate(order)}
    return {
        id: list(
            dict.fromkeys(c.target.layer for c in network.outgoing[id] if place[c.target.layer] > place[c.source.layer])
        )
        for id in order
    }


def _parts(network: Network, succ: dict[str, list[str]]) -> list[list[str]]:
    """The layers of each connected part, sources first; parts in the order of their first layer."""
    near: dict[str, list[str]] = defaultdict(list)
    for id, targets in succ.items():
        near[id] += targets
        for target in targets:
            near[target].append(id)
    part: dict[str, int] = {}
    for number, start in enumerate(network.layers):
        waiting = [start] if start not in part else []
        while waiting:
            id = waiting.pop()
            if id not in part:
                part[id] = number
                waiting += near[id]
    found: dict[int, list[str]] = defaultdict(list)
    for id in succ:
        found[part[id]].append(id)
    return [found[number] for number in sorted(found)]


def _graph(part: list[str], succ: dict[str, list[str]], old: Layout) -> Graph:
    """One connected part as numbers: its layers in rows, and a way-point in every row that a connection passes."""
    number = {id: v for v, id in enumerate(part)}
    row = [0] * len(part)
    for id in part:
        for target in succ[id]:
            row[number[target]] = max(row[number[target]], row[number[id]] + 1)
    graph = Graph(part, row, [old.at(id)[0] for id in part])
    for id in part:
        v = number[id]
        chain = {row[v]: v}
        for below in sorted((number[target] for target in succ[id]), key=lambda u: row[u]):
            for between in range(row[v] + len(chain), row[below]):
                chain[between] = graph.way_point(chain[between - 1], between)
            graph.join(chain[row[below] - 1], below)
    return graph
