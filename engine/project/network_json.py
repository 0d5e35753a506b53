"""A network and its layout as JSON, one row a layer and one a connection: in the project file, on the clipboard."""

from collections.abc import Mapping
from typing import Any

from engine.errors import FieldError, FieldErrors, did_you_mean
from engine.fields import path_part, quoted
from engine.layers.base import LayerType
from engine.layers.catalog import catalog
from engine.layers.placeholder import Placeholder
from engine.network.layout import Layout
from engine.network.network import Connection, Layer, Network, Port, bypass_refusal, name_refusal

LAYER_LIMIT = 20_000
CONNECTION_LIMIT = 60_000
MOST_ERRORS = 20
NETWORK_KEYS = ("layers", "connections")
LAYER_KEYS = ("id", "name", "type", "at", "fields", "bypassed")


def read_network(data: object, *, keep_unknown: bool = False) -> tuple[Network, Layout]:
    """The network and its layout from their JSON. Raises `FieldErrors`; also used for pasting from text."""
    return NetworkReader(keep_unknown).read(data)


class NetworkReader:
    """Reads layers and connections, and gathers what is wrong with them (the first twenty)."""

    def __init__(self, keep_unknown: bool) -> None:
        self.keep_unknown = keep_unknown
        self.errors: list[FieldError] = []
        self.names: dict[str, str] = {}
        self.layers: dict[str, Layer] = {}
        self.positions: dict[str, tuple[float, float]] = {}
        self.unknown: dict[str, Any] = {}
        self.unknown_in_layers: dict[str, dict[str, Any]] = {}

    def read(self, data: object) -> tuple[Network, Layout]:
        """The value. Raises `FieldErrors`."""
        try:
            if not isinstance(data, dict):
                raise FieldError("network", f"expected an object, received {quoted(data)}.")
            rows = _list("network.layers", data.get("layers", []), LAYER_LIMIT)
            links = _list("network.connections", data.get("connections", []), CONNECTION_LIMIT)
            self.unknown = self._unknown("network", data, NETWORK_KEYS)
        except FieldError as refused:
            raise FieldErrors([refused]) from None
        self._layers(rows, _ports_used(links))
        connections = [] if self.errors else self._connections(links)
        if self.errors:
            raise FieldErrors(self.errors)
        return Network(self.layers, tuple(connections)), Layout(self.positions)

    def _unknown(self, where: str, data: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
        """What a newer version wrote here. In a file of our own version it is an error."""
        unknown = {key: value for key, value in data.items() if key not in known}
        if unknown and not self.keep_unknown:
            key = next(iter(unknown))
            hint = did_you_mean(key, known)
            raise FieldError(f"{where}.{path_part(key)}", f"there is no such key.{hint} Known are {', '.join(known)}.")
        return unknown

    def _layers(self, rows: list[Any], ports: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        for index, row in enumerate(rows):
            if self._is_enough():
                return
            try:
                self._layer(f"network.layers[{index}]", row, ports)
            except FieldErrors as refused:
                self.errors.extend(refused.errors)
            except FieldError as refused:
                self.errors.append(refused)

    def _connections(self, links: list[Any]) -> list[Connection]:
        connections: list[Connection] = []
        taken: set[Port] = set()
        for index, link in enumerate(links):
            if self._is_enough():
                break
            try:
                connection = self._connection(where := f"network.connections[{index}]", link)
                if connection.target in taken:
                    name = self.layers[connection.target.layer].name
                    raise FieldError(where, f"input '{connection.target.name or 'in'}' of '{name}' is connected twice.")
                taken.add(connection.target)
                connections.append(connection)
            except FieldError as refused:
                self.errors.append(refused)
        return connections

    def _is_enough(self) -> bool:
        """Whether so much is wrong that the rest need not be read; says so once."""
        if len(self.errors) < MOST_ERRORS:
            return False
        self.errors = [*self.errors[:MOST_ERRORS], FieldError("", "... and perhaps more: the rest was not read.")]
        return True

    def _layer(self, where: str, row: object, ports: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        if not isinstance(row, dict):
            raise FieldError(where, f"expected an object, received {quoted(row)}.")
        unknown = self._unknown(where, row, LAYER_KEYS)
        id, name, key = row.get("id"), row.get("name"), row.get("type")
        if not isinstance(id, str) or not 0 < len(id) <= 64 or not id.isprintable():
            raise FieldError(f"{where}.id", f"expected a text of 1 to 64 characters, received {quoted(id)}.")
        if id in self.layers:
            raise FieldError(f"{where}.id", f"the id {quoted(id)} is already taken by another layer.")
        if not isinstance(name, str):
            raise FieldError(f"{where}.name", f"expected a name, received {quoted(name)}.")
        if (why := name_refusal(name, self.names)) is not None:
            raise FieldError(f"{where}.name", why)
        if not isinstance(key, str) or not 0 < len(key) <= 64 or not key.isprintable():
            raise FieldError(f"{where}.type", f"expected a layer type of 1 to 64 characters, received {quoted(key)}.")
        self.positions[id] = _position(f"{where}.at", row.get("at", [0, 0]))
        fields = row.get("fields", {})
        known = catalog().get(key)
        if known is None:
            if not isinstance(fields, dict):
                raise FieldError(f"{where}.fields", f"expected an object, received {quoted(fields)}.")
            used = ports.get(name, ((), ()))
            type: LayerType = Placeholder(key, fields, *used)
        else:
            type = known.read(fields, f"{where} ({name}).fields", keep_unknown=self.keep_unknown)
        self.layers[id] = Layer(id, name, type, _bypassed(f"{where}.bypassed", row.get("bypassed", False), type))
        self.names[name] = id
        if unknown:
            self.unknown_in_layers[id] = unknown

    def _connection(self, where: str, link: object) -> Connection:
        if not isinstance(link, list) or len(link) != 2 or not all(isinstance(end, str) for end in link):
            raise FieldError(
                where, f'expected ["layer", "layer"] or ["layer:port", "layer:port"], received {quoted(link)}.'
            )
        source = self._port(where, link[0], "output")
        return Connection(source, self._port(where, link[1], "input"))

    def _port(self, where: str, text: str, side: str) -> Port:
        name, _, port = text.partition(":")
        if name not in self.names:
            hint = did_you_mean(name, self.names)
            raise FieldError(where, f"there is no layer {quoted(name)}.{hint}")
        layer = self.layers[self.names[name]]
        ports = layer.type.output_ports() if side == "output" else layer.type.input_ports()
        if not ports:
            raise FieldError(where, f"layer '{name}' has no {side}.")
        if not port and "" not in ports:
            port = ports[0]
        if port not in ports:
            raise FieldError(where, f"layer '{name}' has no {side} {quoted(port)}; it has {', '.join(ports)}.")
        return Port(layer.id, port)


def _position(where: str, value: object) -> tuple[float, float]:
    match value:
        case [int() | float() as x, int() | float() as y] if abs(x) <= 1e7 and abs(y) <= 1e7:
            if not isinstance(x, bool) and not isinstance(y, bool):
                return round(float(x), 2), round(float(y), 2)
    raise FieldError(where, f"expected [x, y] within ±10,000,000, received {quoted(value)}.")


def _bypassed(where: str, value: object, type: LayerType) -> bool:
    if not isinstance(value, bool):
        raise FieldError(where, f"expected true or false, received {quoted(value)}.")
    if value and (why := bypass_refusal(type)) is not None:
        raise FieldError(where, why)
    return value


def _ports_used(links: list[Any]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Input and output ports that connections name, by layer name: the ports of a layer of unknown type.

    Its first port, which connections need not name, is called "": what its real name is we cannot know.
    """
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for link in links:
        if isinstance(link, list) and len(link) == 2 and all(isinstance(end, str) for end in link):
            for side, end in ((1, link[0]), (0, link[1])):
                name, _, port = end.partition(":")
                found.setdefault(name, ({}, {}))[side][port] = None
    return {name: (tuple(ins), tuple(outs) or ("",)) for name, (ins, outs) in found.items()}


def _list(where: str, value: object, limit: int) -> list[Any]:
    if isinstance(value, list) and len(value) <= limit:
        return value
    received = f"{len(value):,} entries" if isinstance(value, list) else quoted(value)
    raise FieldError(where, f"expected a list of at most {limit:,} entries, received {received}.")


def write_network(network: Network, layout: Layout) -> dict[str, Any]:
    """Network and layout as JSON: also what copying puts on the clipboard."""
    layers = []
    for layer in network.layers.values():
        row: dict[str, Any] = {
            "id": layer.id,
            "name": layer.name,
            "type": layer.type_key,
            "at": layout.written(layer.id),
        }
        if fields := layer.type.write():
            row["fields"] = fields
        if layer.bypassed:
            row["bypassed"] = True
        layers.append(row)
    connections = [[_end(network, c.source, out=True), _end(network, c.target, out=False)] for c in network.connections]
    return {"layers": layers, "connections": connections}


def _end(network: Network, port: Port, *, out: bool) -> str:
    layer = network.layers[port.layer]
    ports = layer.type.output_ports() if out else layer.type.input_ports()
    if not port.name:  # of a layer of unknown type, which was not named when it was read
        return layer.name
    if isinstance(layer.type, Placeholder):
        return f"{layer.name}:{port.name}"
    return layer.name if len(ports) == 1 and port.name in ("in", "out") else f"{layer.name}:{port.name}"
