"""Labels with the size of a port's tensor at one of its connections; those of a large network are placed later."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QRectF, Signal

from netwright.designer.scene.edges import Edges
from netwright.designer.scene.idle import IdleWork
from netwright.engine.network.analysis import LayerShapes
from netwright.engine.network.layout import Flow
from netwright.engine.network.network import Network, Port

_AT_ONCE = 200


class SizeLabels(QObject):
    """Places the labels of ports. Those of a large network that was just shown wait until the event loop is idle: they
    take a third of the time to show it, and are not visible when all of it is."""

    placed = Signal(list)
    """Areas (`QRectF`) to paint again, of labels that had waited."""

    def __init__(self, edges: Edges, is_free: Callable[[float, float, float, float], bool], parent: QObject) -> None:
        """`is_free` tells whether no layer touches an area: left, top, right, bottom."""
        super().__init__(parent)
        self._edges, self._is_free = edges, is_free
        self._network = Network({})
        self._facts: Mapping[str, LayerShapes] = {}
        self._flow: Flow = "down"
        self._without: dict[Port, None] = {}
        """The ports whose label has no room."""
        self._areas: list[QRectF] = []
        self._waiting: IdleWork[Port] = IdleWork(lambda port: self._areas.extend(self._place(port)), self._tell, self)

    def place(
        self, ports: Mapping[Port, None], network: Network, facts: Mapping[str, LayerShapes], flow: Flow
    ) -> list[QRectF]:
        """Place the labels of these ports, and of those that had no room. Return the areas to paint again."""
        self._network, self._facts, self._flow = network, facts, flow
        if not ports:  # no curve and no size has changed: there is no more room than before
            return []
        ports, self._without = {**self._without, **ports}, {}
        if len(ports) > _AT_ONCE:
            self._waiting.add(ports)
            return []
        return [area for port in ports for area in self._place(port)]

    def place_waiting(self) -> None:
        """Place all labels that wait."""
        self._waiting.work()

    def _tell(self) -> None:
        areas, self._areas = self._areas, []
        self.placed.emit(areas)

    def _place(self, port: Port) -> list[QRectF]:
        self._waiting.drop(port)
        if port.layer not in self._network.layers:
            return []
        ends = (
            self._edges.edges.get(connection)
            for connection in self._network.outgoing[port.layer]
            if connection.source == port
        )
        leaving = [edge for edge in ends if edge and not edge.is_tag]
        before = [edge.bounds for edge in leaving if edge.text]
        text = size_text(self._facts.get(port.layer), port.name) if leaving else ""
        if not self._edges.label(leaving, text, self._is_free, self._flow):
            self._without[port] = None
        return [*before, *(edge.bounds for edge in leaving)]


def size_text(facts: LayerShapes | None, port: str) -> str:
    """Return the size of the tensors at a port, such as `8 × 28 × 28`; empty where it is not known."""
    if facts is None:
        return ""
    return facts.at(port).short() if port in facts.ports else facts.outputs[0].short()
