"""A network and its layout as JSON, one line per layer and per connection: project file and clipboard."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from netwright.engine.core.errors import FieldError, FieldErrors, did_you_mean
from netwright.engine.core.fields import path_part, quoted
from netwright.engine.layers.base import LayerType
from netwright.engine.network.block import DEPTH_LIMIT, LAYER_LIMIT, Block
from netwright.engine.network.catalog import Placeholder, catalog
from netwright.engine.network.layout import (
    COUNT_LIMIT,
    FLOWS,
    TEXT_LIMIT,
    TITLE_LIMIT,
    TONES,
    BoxSize,
    Comment,
    Flow,
    Frame,
    Layout,
    Position,
    Tone,
    numbers,
)
from netwright.engine.network.network import Connection, Layer, Network, Port, bypass_refusal, name_refusal

FRAME_KEYS = ("id", "at", "size", "title", "tone")
COMMENT_KEYS = ("id", "at", "size", "text", "tone")
NETWORK_KEYS = ("layers", "connections", "frames", "comments", "flow")
LAYER_KEYS = ("id", "name", "type", "at", "fields", "bypassed", "weights_of")
BLOCK_KEYS = (*LAYER_KEYS, "network")
CONNECTION_LIMIT = 60_000
MOST_ERRORS = 20
UnknownInLayers = Mapping[str, Mapping[str, Any]]


def read_network(data: object, *, keep_unknown: bool = False) -> tuple[Network, Layout]:
    """Return the network and its layout from their JSON. Raises `FieldErrors`; also used for pasting from text."""
    return NetworkReader(keep_unknown).read(data)


class NetworkReader:
    """Reader of layers and connections, which collects the errors (the first twenty).

    Keys of a newer version are in `unknown`, and by id path in `unknown_in_layers`; those of a block's network under
    the block's key `network`.
    """

    def __init__(self, keep_unknown: bool, where: str = "network", depth: int = 0) -> None:
        self.keep_unknown = keep_unknown
        self.where = where
        self.depth = depth
        self.errors: list[FieldError] = []
        self.names: dict[str, str] = {}
        self.layers: dict[str, Layer] = {}
        self.positions: dict[str, tuple[float, float]] = {}
        self.inside: dict[str, Layout] = {}
        self.unknown: dict[str, Any] = {}
        self.unknown_in_layers: dict[str, dict[str, Any]] = {}
        self.owners: dict[str, tuple[str, object]] = {}

    def read(self, data: object) -> tuple[Network, Layout]:
        """Return the network and its layout. Raises `FieldErrors`."""
        try:
            if not isinstance(data, dict):
                raise FieldError(self.where, f"expected an object, received {quoted(data)}.")
            rows = _list(f"{self.where}.layers", data.get("layers", []), LAYER_LIMIT)
            links = _list(f"{self.where}.connections", data.get("connections", []), CONNECTION_LIMIT)
            frames = read_frames(f"{self.where}.frames", data.get("frames", []), keep_unknown=self.keep_unknown)
            comments = read_comments(f"{self.where}.comments", data.get("comments", []), keep_unknown=self.keep_unknown)
            flow = _flow(f"{self.where}.flow", data.get("flow", "down"))
            self.unknown = self._unknown(self.where, data, NETWORK_KEYS)
        except FieldError as refused:
            raise FieldErrors([refused]) from None
        self._layers(rows, _ports_used(links))
        if not self.errors:
            self._share_weights()
        connections = [] if self.errors else self._connections(links)
        if not self.errors and not self.depth:
            self._refuse_too_many_copies()
        if self.errors:
            raise FieldErrors(self.errors)
        return Network(self.layers, tuple(connections)), Layout(self.positions, frames, comments, self.inside, flow)

    def _unknown(self, where: str, data: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
        """Return the keys of a newer version. Raises `FieldError` for them in a file of the current version."""
        unknown = {key: value for key, value in data.items() if key not in keys}
        if unknown and not self.keep_unknown:
            key = next(iter(unknown))
            hint = did_you_mean(key, keys)
            raise FieldError(f"{where}.{path_part(key)}", f"there is no such key.{hint} Known are {', '.join(keys)}.")
        return unknown

    def _refuse_too_many_copies(self) -> None:
        """Report blocks that are each small enough, but too large together."""
        blocks = {layer.name: layer.type.size for layer in self.layers.values() if isinstance(layer.type, Block)}
        count = len(self.layers) - len(blocks) + sum(blocks.values())
        if count > LAYER_LIMIT:
            most = max(blocks, key=lambda name: blocks[name])
            message = (
                f"{count:,} layers in all copies of all blocks; a network has at most {LAYER_LIMIT:,}. "
                f"'{most}' has most of them, {blocks[most]:,}: repeat it less often."
            )
            self.errors.append(FieldError(f"{self.where}.layers", message))

    def _layers(self, rows: list[Any], ports: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        for index, row in enumerate(rows):
            if self._is_enough():
                return
            try:
                self._layer(f"{self.where}.layers[{index}]", row, ports)
            except FieldErrors as refused:
                self.errors.extend(refused.errors)
            except FieldError as refused:
                self.errors.append(refused)

    def _share_weights(self) -> None:
        """Note the layers that use the weights of another one, which may stand behind them in the file."""
        for id, (where, name) in self.owners.items():
            owner = self.layers.get(self.names.get(name, "")) if isinstance(name, str) else None
            if owner is None:
                hint = did_you_mean(name, self.names) if isinstance(name, str) else ""
                self.errors.append(FieldError(where, f"there is no layer {quoted(name)}.{hint}"))
            elif owner.id == id or owner.id in self.owners:
                why = f"'{owner.name}' has no weights of its own. Name the layer that has them."
                self.errors.append(FieldError(where, why))
            else:
                self.layers[id] = replace(self.layers[id], weights_of=owner.id)

    def _connections(self, links: list[Any]) -> list[Connection]:
        connections: list[Connection] = []
        targets: set[Port] = set()
        for index, link in enumerate(links):
            if self._is_enough():
                break
            try:
                connection = self._connection(where := f"{self.where}.connections[{index}]", link)
                if connection.target in targets:
                    name = self.layers[connection.target.layer].name
                    raise FieldError(where, f"input '{connection.target.name or 'in'}' of '{name}' is connected twice.")
                targets.add(connection.target)
                connections.append(connection)
            except FieldError as refused:
                self.errors.append(refused)
        return connections

    def _is_enough(self) -> bool:
        """Return whether there are enough errors to stop reading; reports so once."""
        if len(self.errors) < MOST_ERRORS:
            return False
        self.errors = [*self.errors[:MOST_ERRORS], FieldError("", "... and perhaps more: the rest was not read.")]
        return True

    def _layer(self, where: str, row: object, ports: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        if not isinstance(row, dict):
            raise FieldError(where, f"expected an object, received {quoted(row)}.")
        unknown = self._unknown(where, row, BLOCK_KEYS if _is_block(row.get("type")) else LAYER_KEYS)
        id, name, key = row.get("id"), row.get("name"), row.get("type")
        if not isinstance(id, str) or not 0 < len(id) <= 64 or not id.isprintable():
            raise FieldError(f"{where}.id", f"expected a text of 1 to 64 characters, received {quoted(id)}.")
        if "/" in id:
            raise FieldError(f"{where}.id", f"expected an id without /, received {quoted(id)}.")
        if id in self.layers:
            raise FieldError(f"{where}.id", f"the id {quoted(id)} is already taken by another layer.")
        if not isinstance(name, str):
            raise FieldError(f"{where}.name", f"expected a name, received {quoted(name)}.")
        if (why := name_refusal(name, self.names)) is not None:
            raise FieldError(f"{where}.name", why)
        if not isinstance(key, str) or not 0 < len(key) <= 64 or not key.isprintable():
            raise FieldError(f"{where}.type", f"expected a layer type of 1 to 64 characters, received {quoted(key)}.")
        self.positions[id] = read_position(f"{where}.at", row.get("at", [0, 0]))
        fields = row.get("fields", {})
        type_class = catalog().get(key)
        if type_class is None:
            if not isinstance(fields, dict):
                raise FieldError(f"{where}.fields", f"expected an object, received {quoted(fields)}.")
            port_names = ports.get(name, ((), ()))
            type: LayerType = Placeholder(key, fields, *port_names)
        else:
            type = type_class.read(fields, f"{where} ({name}).fields", keep_unknown=self.keep_unknown)
            if isinstance(type, Block) and "network" in row:
                type = self._block(f"{where} ({name})", id, type, row["network"], unknown)
        self.layers[id] = Layer(id, name, type, _bypassed(f"{where}.bypassed", row.get("bypassed", False), type))
        self.names[name] = id
        if "weights_of" in row:
            self.owners[id] = f"{where}.weights_of", row["weights_of"]
        if unknown:
            self.unknown_in_layers[id] = unknown

    def _block(self, where: str, id: str, block: Block, data: object, unknown: dict[str, Any]) -> Block:
        if self.depth == DEPTH_LIMIT:
            raise FieldError(f"{where}.network", f"blocks stand at most {DEPTH_LIMIT} deep in each other.")
        reader = NetworkReader(self.keep_unknown, f"{where}.network", self.depth + 1)
        network, self.inside[id] = reader.read(data)
        self.unknown_in_layers |= {f"{id}/{inner}": values for inner, values in reader.unknown_in_layers.items()}
        if reader.unknown:
            unknown["network"] = reader.unknown
        try:
            return block.with_network(network)
        except FieldErrors as refused:
            raise FieldErrors(FieldError(f"{where}.{e.path}", e.message) for e in refused.errors) from None

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


def write_network(network: Network, layout: Layout, unknown: UnknownInLayers | None = None) -> dict[str, Any]:
    """Return network and layout as JSON, which is also the clipboard format. `unknown` holds the keys of a newer
    version."""
    return _write(network, layout, unknown or {}, "")


FURTHEST = 1e7
Annotation = TypeVar("Annotation", Frame, Comment)


def read_frames(where: str, data: object, *, keep_unknown: bool = False) -> tuple[Frame, ...]:
    """Return the frames. Raises `FieldError`."""

    def read(where: str, row: Mapping[str, Any]) -> Frame:
        title = _text(f"{where}.title", row.get("title", ""), TITLE_LIMIT)
        return Frame(
            *_place(where, row), title, _tone(where, row, "grey"), _unknown(where, row, FRAME_KEYS, keep_unknown)
        )

    return _rows(where, data, read)


def read_comments(where: str, data: object, *, keep_unknown: bool = False) -> tuple[Comment, ...]:
    """Return the comments. Raises `FieldError`."""

    def read(where: str, row: Mapping[str, Any]) -> Comment:
        text = _text(f"{where}.text", row.get("text", ""), TEXT_LIMIT)
        return Comment(
            *_place(where, row), text, _tone(where, row, "yellow"), _unknown(where, row, COMMENT_KEYS, keep_unknown)
        )

    return _rows(where, data, read)


def write_frame(frame: Frame) -> dict[str, Any]:
    """Return the frame as a row of the file."""
    row = {"id": frame.id, "at": numbers(frame.at), "size": numbers(frame.size), "title": frame.title}
    return {**row, "tone": frame.tone, **frame.unknown}


def write_comment(comment: Comment) -> dict[str, Any]:
    """Return the comment as a row of the file."""
    row = {"id": comment.id, "at": numbers(comment.at), "size": numbers(comment.size), "text": comment.text}
    return {**row, "tone": comment.tone, **comment.unknown}


def read_position(where: str, value: object) -> Position:
    """Return a point of the canvas. Raises `FieldError`."""
    match value:
        case [int() | float() as x, int() | float() as y] if abs(x) <= FURTHEST and abs(y) <= FURTHEST:
            if not isinstance(x, bool) and not isinstance(y, bool):
                return round(float(x), 2), round(float(y), 2)
    raise FieldError(where, f"expected [x, y] within ±10,000,000, received {quoted(value)}.")


def _rows(where: str, data: object, reader: Callable[[str, Mapping[str, Any]], Annotation]) -> tuple[Annotation, ...]:
    if not isinstance(data, list) or len(data) > COUNT_LIMIT:
        received = f"{len(data):,} entries" if isinstance(data, list) else quoted(data)
        raise FieldError(where, f"expected a list of at most {COUNT_LIMIT:,} entries, received {received}.")
    annotations: dict[str, Annotation] = {}
    for index, row in enumerate(data):
        at = f"{where}[{index}]"
        if not isinstance(row, dict):
            raise FieldError(at, f"expected an object, received {quoted(row)}.")
        annotation = reader(at, row)
        if annotation.id in annotations:
            raise FieldError(f"{at}.id", f"the id {quoted(annotation.id)} is already taken.")
        annotations[annotation.id] = annotation
    return tuple(annotations.values())


def _unknown(where: str, row: Mapping[str, Any], keys: tuple[str, ...], keep: bool) -> Mapping[str, Any]:
    """Return the keys of a newer version. Without `keep` raises `FieldError` for them."""
    unknown = {key: value for key, value in row.items() if key not in keys}
    for key in unknown if not keep else ():
        raise FieldError(f"{where}.{path_part(key)}", f"there is no such key.{did_you_mean(key, keys)}")
    return unknown


def _place(where: str, row: Mapping[str, Any]) -> tuple[str, Position, BoxSize]:
    id = row.get("id")
    if not isinstance(id, str) or not 0 < len(id) <= 64 or not id.isprintable():
        raise FieldError(f"{where}.id", f"expected a text of 1 to 64 characters, received {quoted(id)}.")
    size = read_position(f"{where}.size", row.get("size"))
    if min(size) <= 0:
        raise FieldError(f"{where}.size", f"expected a width and a height above 0, received {quoted(row['size'])}.")
    return id, read_position(f"{where}.at", row.get("at")), size


def _text(where: str, value: object, limit: int) -> str:
    if isinstance(value, str) and len(value) <= limit:
        return value
    received = f"{len(value):,} characters" if isinstance(value, str) else quoted(value)
    raise FieldError(where, f"expected a text of at most {limit:,} characters, received {received}.")


def _tone(where: str, row: Mapping[str, Any], default: Tone) -> Tone:
    value = row.get("tone", default)
    for tone in TONES:
        if tone == value:
            return tone
    raise FieldError(f"{where}.tone", f"expected one of {', '.join(TONES)}, received {quoted(value)}.")


def _is_block(key: object) -> bool:
    type_class = catalog().get(key) if isinstance(key, str) else None
    return type_class is not None and issubclass(type_class, Block)


def _bypassed(where: str, value: object, type: LayerType) -> bool:
    if not isinstance(value, bool):
        raise FieldError(where, f"expected true or false, received {quoted(value)}.")
    if value and (why := bypass_refusal(type)) is not None:
        raise FieldError(where, why)
    return value


def _ports_used(links: list[Any]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the input and output ports that connections name, by layer name: the ports of a layer of unknown type.

    Its first port, which connections need not name, is called "", because its real name is not known.
    """
    ports: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for link in links:
        if isinstance(link, list) and len(link) == 2 and all(isinstance(end, str) for end in link):
            for side, end in ((1, link[0]), (0, link[1])):
                name, _, port = end.partition(":")
                ports.setdefault(name, ({}, {}))[side][port] = None
    return {name: (tuple(ins), tuple(outs) or ("",)) for name, (ins, outs) in ports.items()}


def _list(where: str, value: object, limit: int) -> list[Any]:
    if isinstance(value, list) and len(value) <= limit:
        return value
    received = f"{len(value):,} entries" if isinstance(value, list) else quoted(value)
    raise FieldError(where, f"expected a list of at most {limit:,} entries, received {received}.")


def _flow(where: str, value: object) -> Flow:
    for flow in FLOWS:
        if value == flow:
            return flow
    raise FieldError(where, f"expected {' or '.join(FLOWS)}, received {quoted(value)}.")


def _write(network: Network, layout: Layout, unknown: UnknownInLayers, path: str) -> dict[str, Any]:
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
        if layer.weights_of:
            row["weights_of"] = network.layers[layer.weights_of].name
        extra = dict(unknown.get(path + layer.id, {}))
        if isinstance(layer.type, Block):
            inner = _write(layer.type.network, layout.within([layer.id]), unknown, f"{path}{layer.id}/")
            row["network"] = {**inner, **extra.pop("network", {})}
        layers.append({**row, **extra})
    connections = [[_end(network, c.source, out=True), _end(network, c.target, out=False)] for c in network.connections]
    written: dict[str, Any] = {"layers": layers, "connections": connections}
    if layout.frames:
        written["frames"] = [write_frame(frame) for frame in layout.frames]
    if layout.comments:
        written["comments"] = [write_comment(comment) for comment in layout.comments]
    if layout.flow != "down":
        written["flow"] = layout.flow
    return written


def _end(network: Network, port: Port, *, out: bool) -> str:
    layer = network.layers[port.layer]
    ports = layer.type.output_ports() if out else layer.type.input_ports()
    if not port.name:  # of a layer of unknown type, which was not named when it was read
        return layer.name
    if isinstance(layer.type, Placeholder):
        return f"{layer.name}:{port.name}"
    return layer.name if len(ports) == 1 else f"{layer.name}:{port.name}"
