"""How single connections are drawn: as curves around layers, or as tags at their inputs."""

from functools import partial

from PySide6.QtCore import QPointF

from netwright.designer.scene.edges import Edge, Edges, edge_of, make_tag
from netwright.designer.scene.node_items import Nodes
from netwright.engine.drawing import routes
from netwright.engine.network.arrangement import repeated
from netwright.engine.network.layout import Position
from netwright.engine.network.network import Connection, Network, Port


class Router:
    """Finds the way of each connection between the layers of the canvas."""

    def __init__(self, nodes: Nodes, edges: Edges) -> None:
        self._nodes, self._edges = nodes, edges
        self.tags: frozenset[Connection] = frozenset()
        """The connections that are drawn as a tag at their input."""
        self._lanes: dict[Port, float] = {}
        """The lane in which all connections of a port pass other layers."""

    def forget_lanes(self) -> None:
        """Choose lanes anew: layers have moved."""
        self._lanes.clear()

    def look_for_tags(self, before: Network, now: Network) -> dict[Connection, None]:
        """Update which connections are drawn as tags; return those that change."""
        was = self.tags
        if before.connections is not now.connections:
            self.tags = repeated(now)
        fed = now.incoming
        return {c: None for c in was ^ self.tags if fed.get(c.target.layer, {}).get(c.target.name) == c.source}

    def edge(self, connection: Connection, network: Network) -> Edge:
        """Return a connection as it is drawn now."""
        if connection in self.tags:
            return self._tag(connection, network)
        ends = connection.source.layer, connection.target.layer
        index = self._nodes.index

        def in_the_way(x: float, y: float) -> Position | None:
            id = index.at(x, y)
            return None if id is None or id in ends else index.positions[id]

        start, end = self._nodes.place_of(connection.source, False), self._nodes.place_of(connection.target, True)
        ways = self._nodes.heading(ends[0]), self._nodes.heading(ends[1])
        is_open = partial(self._edges.room.is_open, port=connection.source)
        lane = self._lanes.get(connection.source)
        curve, new_lane = routes.route(start, end, in_the_way, routes.LANE, lane, ways, is_open)
        if lane is None and new_lane is not None:
            self._lanes[connection.source] = new_lane
        return edge_of(connection, curve)

    def _tag(self, connection: Connection, network: Network) -> Edge:
        names = self._nodes.nodes[connection.target.layer].inputs
        port = QPointF(*self._nodes.place_of(connection.target, True))
        name = network.layers[connection.source.layer].name
        index = names.index(connection.target.name) if connection.target.name in names else 0
        return make_tag(connection, name, port, index, len(names), self._nodes.heading(connection.target.layer))
