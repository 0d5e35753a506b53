"""Connecting: from a port to another one, or to a layer, whose first free input is then taken."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, Qt

from netwright.designer.gestures.gesture import Canvas, Gesture, Pointer
from netwright.designer.language import tr
from netwright.designer.scene.feedback import Feedback, LooseConnection
from netwright.designer.scene.node_items import PortHit
from netwright.engine.core.errors import UserError
from netwright.engine.network import edits
from netwright.engine.network.network import Connection, Network, Port


class Connect(Gesture):
    """Starts on a port. What is taken off there is held at its other end: the connection of an input, or `taken`."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, canvas: Canvas, port: PortHit, connections: Iterable[Connection] = ()) -> None:
        super().__init__(canvas)
        self._start = port
        self._taken = tuple(connections)
        self._was_dragged = False

    def press(self, pointer: Pointer) -> None:
        self._network = self.editor.network
        port = self._start.port
        feeds = self._network.incoming[port.layer]
        if self._start.is_input and port.name in feeds:
            self._taken = (Connection(feeds[port.name], port),)
        self._held = [self._start]
        if self._taken:
            self._network = edits.disconnect(self._network, self._taken)
            ports = [c.source if self._start.is_input else c.target for c in self._taken]
            self._held = [self.scene.port_at_layer(end, not self._start.is_input) for end in ports]
        self._holds_inputs = self._held[0].is_input
        hits = (hit for id in self._fitting() for hit in self.scene.nodes.ports_of(id))
        self._lit = tuple(hit.at for hit in hits if hit.is_input != self._holds_inputs and self._is_easy(hit))

    def move(self, pointer: Pointer) -> None:
        if not self._was_dragged:
            for connection in self._taken:
                self.scene.hide_connection(connection)
        self._was_dragged = True
        goal = self._goal(pointer)
        why = self._refusal(goal) if goal else None
        end = goal.at if goal else pointer.scene
        loose = [
            LooseConnection(*((end, hit.at) if hit.is_input else (hit.at, end)), is_refused=why is not None)
            for hit in self._held
        ]
        hover = goal.at if goal and why is None else None
        self.scene.show_feedback(Feedback(lit=self._lit, hover=hover, loose=loose[0], more=tuple(loose[1:])))
        self.canvas.hint(why or (self._warning(goal) if goal else ""))

    def release(self, pointer: Pointer) -> None:
        self._clear()
        if not self._was_dragged:
            return
        goal = self._goal(pointer)
        if goal is not None:
            if not self._taken or goal.port != self._start.port:
                self._connect(goal)
        elif self._taken:
            self.editor.disconnect_all(self._taken)
        elif self._is_ground(pointer):
            self.canvas.suggest_at_port(self._start, pointer.view)
        self._restore()

    def _connect(self, goal: PortHit) -> None:
        def change(network: Network) -> Network:
            network = edits.disconnect(network, self._taken)
            for source, target in self._ends(goal):
                network = edits.connect(network, source, target)
            return network

        self.editor.edit_network(tr("Reconnect") if self._taken else tr("Connect"), change)

    def cancel(self) -> None:
        self._clear()
        self._restore()

    def _clear(self) -> None:
        self.scene.show_feedback(Feedback())
        self.canvas.hint("")

    def _restore(self) -> None:
        """Connections that were taken off but are still there are drawn again."""
        there = self.editor.network.connections if self._taken else ()
        for connection in self._taken:
            if connection in there:
                self.scene.redraw_connection(connection)

    def _ends(self, goal: PortHit) -> list[tuple[Port, Port]]:
        return [(goal.port, hit.port) if hit.is_input else (hit.port, goal.port) for hit in self._held]

    def _is_ground(self, pointer: Pointer) -> bool:
        """Whether neither a port nor a layer is near the pointer."""
        near = self.scene.port_at(pointer.scene, self.canvas.reach * 1.5)
        return near is None and self.scene.node_at(pointer.scene) is None

    def _goal(self, pointer: Pointer) -> PortHit | None:
        """The port under the pointer, or the first free one of the layer under it."""
        at: QPointF = pointer.scene
        hit = self.scene.port_at(at, self.canvas.reach * 1.5)
        if hit is not None and hit.is_input != self._holds_inputs:
            return hit
        id = self.scene.node_at(at)
        if id is None or any(id == grip.port.layer for grip in self._held):
            return None
        ports = [port for port in self.scene.nodes.ports_of(id) if port.is_input != self._holds_inputs]
        if self._holds_inputs:
            return ports[0] if ports else None
        feeds = self._network.incoming[id]
        free = [port for port in ports if port.port.name not in feeds]
        candidates = free or ports
        return candidates[0] if candidates else None

    def _refusal(self, goal: PortHit) -> str | None:
        refusals = (edits.connection_refusal(self._network, *ends) for ends in self._ends(goal))
        return next((why for why in refusals if why is not None), None)

    def _warning(self, goal: PortHit) -> str:
        """The shape error of the new connection. It is allowed: a network is built in any order."""
        return next(filter(None, (self._refusal_between(*ends) for ends in self._ends(goal))), "")

    def _refusal_between(self, source: Port, target: Port) -> str:
        type = self._network.layers[target.layer].effective_type
        source_type = self.editor.analysis.type_at(source)
        if source_type is None or len(type.input_ports()) != 1:
            return ""
        try:
            type.output(source_type)
        except UserError as error:
            return str(error)
        return ""

    def _is_easy(self, hit: PortHit) -> bool:
        """Whether a port is highlighted: it is free and accepts the type."""
        if hit.is_input and hit.port.name in self._network.incoming[hit.port.layer]:
            return False
        return not self._warning(hit)

    def _fitting(self) -> list[str]:
        """The layers that can be at the other end without a cycle."""
        network = self._network
        ids = {hit.port.layer for hit in self._held}
        waiting = list(ids)
        while waiting:
            id = waiting.pop()
            if self._holds_inputs:
                near = [connection.target.layer for connection in network.outgoing[id]]
            else:
                near = [source.layer for source in network.incoming[id].values()]
            waiting += [neighbour for neighbour in near if neighbour not in ids]
            ids.update(near)
        return [id for id in network.layers if id not in ids]
