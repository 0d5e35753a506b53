"""Moving one end of a connection, taken hold of beside its port."""

from netwright.designer.gestures.connect import Connect
from netwright.designer.gestures.gesture import Canvas, Pointer
from netwright.designer.scene.node_items import PortHit
from netwright.engine.network.network import Connection

_NEAR = 3.0
"""Distance from its end within which a connection is grabbed, in multiples of the reach."""
_MOST = 64
"""More connections of one port lie upon each other beside it."""


class Reconnect(Connect):
    """Starts on a connection near an end, which then follows the pointer. Without a drag the connection is selected."""

    def __init__(self, canvas: Canvas, connection: Connection, end: PortHit) -> None:
        super().__init__(canvas, end, [connection])
        self._connection = connection

    def press(self, pointer: Pointer) -> None:
        self._before = self.editor.selection, self.editor.selected_connections
        ids, lines = self._before if pointer.adds else (frozenset(), frozenset())
        self.editor.set_selection(ids, lines ^ {self._connection})
        super().press(pointer)

    def cancel(self) -> None:
        super().cancel()
        self.editor.set_selection(*self._before)


def near_end(canvas: Canvas, pointer: Pointer) -> tuple[Connection, PortHit] | None:
    """The connection under the pointer and its end nearby, or None. Cheap enough for every move."""
    scene = canvas.network_scene
    end = scene.port_at(pointer.scene, _NEAR * canvas.reach)
    if end is None or scene.node_at(pointer.scene) is not None:
        return None
    network, port = canvas.editor.network, end.port
    if end.is_input:
        feeds = network.incoming[port.layer]
        lines = [Connection(feeds[port.name], port)] if port.name in feeds else []
    else:
        lines = [connection for connection in network.outgoing[port.layer] if connection.source == port]
    near = scene.edges.nearest(lines[:_MOST], pointer.scene, canvas.reach)
    return None if near is None else (near, end)
