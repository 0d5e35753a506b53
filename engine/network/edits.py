"""Edit a network: pure functions from a network to a new one. They raise `UserError` for an impossible edit."""

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace

from netwright.engine.core.errors import UserError
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import Placeholder
from netwright.engine.network.network import (
    Connection,
    Layer,
    Network,
    Port,
    bypass_refusal,
    free_name,
    name_refusal,
    sharing_refusal,
)


def new_id(ids: Collection[str]) -> str:
    """Return an id that no layer of the network has."""
    while True:
        id = secrets.token_hex(3)
        if id not in ids:
            return id


def add_layer(network: Network, type: LayerType, name: str = "", *, id: str = "") -> tuple[Network, Layer]:
    """Return the network with one more layer, and that layer. Without a name it gets the next free name of its type."""
    if name:
        refuse_name(name, network.by_name)
    layer = Layer(id or new_id(network.layers), name or free_name(default_name(type), network.by_name), type)
    return Network({**network.layers, layer.id: layer}, network.connections), layer


def default_name(type: LayerType) -> str:
    """Return the base name of a new layer of this type: the key without its dimension, shortened where usual."""
    short = {"fully_connected": "fc", "batch_norm": "bn", "max_pool2d": "pool", "image_input": "image"}
    return short.get(type.key, type.key.removesuffix("1d").removesuffix("2d").removesuffix("3d"))


def refuse_name(name: str, names: Collection[str]) -> None:
    """Raise `UserError` if this cannot be a layer's name."""
    if (why := name_refusal(name, names)) is not None:
        raise UserError(why)


def rename(network: Network, id: str, name: str) -> Network:
    """Return the network with one layer renamed."""
    layer = network.layers[id]
    if layer.name == name:
        return network
    refuse_name(name, network.by_name)
    return network.with_layer(layer.renamed(name))


def set_fields(network: Network, id: str, values: Mapping[str, object]) -> Network:
    """Return the network with other field values in one layer, and in those with the same weights. Values of fields
    that no longer apply are dropped, and connections to ports that no longer exist removed."""
    for each in network.sharing(id):
        network = _with_fields(network, each, values)
    return network


def _with_fields(network: Network, id: str, values: Mapping[str, object]) -> Network:
    layer = network.layers[id]
    changed = replace(layer, type=layer.type.replace(**values).without_hidden())
    before, after = layer.type, changed.type
    if (before.input_ports(), before.output_ports()) == (after.input_ports(), after.output_ports()):
        return network.with_layer(changed)
    ports = {Port(id, name) for name in (*changed.type.input_ports(), *changed.type.output_ports())}
    connections = tuple(
        c
        for c in network.connections
        if (c.source.layer != id or c.source in ports) and (c.target.layer != id or c.target in ports)
    )
    return Network({**network.layers, id: changed}, connections)


def remove_layers(network: Network, ids: Collection[str]) -> Network:
    """Return the network without these layers and their connections. Where others use the weights of one of them, the
    first of those has them as its own."""
    removed = set(ids)
    network = _without_owners(network, removed)
    layers = {id: layer for id, layer in network.layers.items() if id not in removed}
    connections = (c for c in network.connections if c.source.layer not in removed and c.target.layer not in removed)
    return Network(layers, tuple(connections))


def _without_owners(network: Network, ids: Collection[str]) -> Network:
    """Return the network in which no other layer uses the weights of these."""
    for owner in network.borrowers.keys() & set(ids):
        first, *others = [id for id in network.borrowers[owner] if id not in ids] or [""]
        changed = {id: replace(network.layers[id], weights_of=first) for id in others}
        if first:
            changed[first] = replace(network.layers[first], weights_of="")
        network = Network({**network.layers, **changed}, network.connections)
    return network


def share_weights(network: Network, ids: Collection[str]) -> Network:
    """Return the network in which these layers, and those that share weights with them, have the weights of the first.
    Raises `UserError` for layers of other types or settings."""
    if len(ids) < 2:
        raise UserError("Select two or more layers of one type that are to have the same weights.")
    first, *others = ids
    owner = network.layers[network.sharing(first)[0]]
    group = dict.fromkeys(each for id in others for each in network.sharing(id))
    layers = dict(network.layers)
    for id in group:
        if id != owner.id and layers[id].weights_of != owner.id:
            if (why := sharing_refusal(layers[id], owner)) is not None:
                raise UserError(why)
            layers[id] = replace(layers[id], weights_of=owner.id)
    return Network(layers, network.connections)


def own_weights(network: Network, ids: Collection[str]) -> Network:
    """Return the network in which each of these layers has weights of its own. Where others use those of one of them,
    they share the weights of the first of these others."""
    network = _without_owners(network, set(ids))
    own = {id: replace(network.layers[id], weights_of="") for id in ids}
    return Network({**network.layers, **own}, network.connections)


def remove_and_heal(network: Network, ids: Collection[str]) -> Network:
    """Return the network without these layers, with their sources connected to their targets where that is unambiguous
    and the types fit.

    It is unambiguous where a removed layer has one connected input and uses one output. A connection whose target does
    not accept its new source is not made.
    """
    removed = set(ids)
    connections: list[Connection] = []
    healed: list[Connection] = []
    for connection in network.connections:
        if connection.target.layer in removed:
            continue
        if connection.source.layer not in removed:
            connections.append(connection)
        elif (source := _feeder(network, connection.source, removed)) is not None:
            healed.append(Connection(source, connection.target))
            connections.append(healed[-1])
    result = replace(remove_layers(network, removed), connections=tuple(connections))
    return disconnect(result, _impossible(result, healed)) if healed else result


def _feeder(network: Network, source: Port, removed: Collection[str]) -> Port | None:
    """Return the port that feeds this one through removed layers, or None where it is ambiguous."""
    passed: set[str] = set()
    while source.layer in removed:
        feeds = network.incoming[source.layer]
        sources = {connection.source for connection in network.outgoing[source.layer]}
        if source.layer in passed or len(feeds) != 1 or len(sources) != 1:
            return None
        passed.add(source.layer)
        (source,) = feeds.values()
    return source


def _impossible(network: Network, connections: Collection[Connection]) -> list[Connection]:
    """Return the connections whose target does not accept the type at the source, as far as types are known."""
    shapes = analyse(network).shapes
    misfits = []
    for connection in connections:
        id = connection.target.layer
        feeds = network.incoming[id]
        is_known = all(port in feeds and feeds[port].layer in shapes for port in network.layers[id].type.input_ports())
        if is_known and id not in shapes:
            misfits.append(connection)
    return misfits


def set_bypassed(network: Network, ids: Collection[str], bypassed: bool) -> Network:
    """Return the network with layers bypassed or no longer bypassed."""
    for id in ids:
        layer = network.layers[id]
        if bypassed and id in network.borrowers:
            raise UserError(
                f"'{layer.name}' cannot be bypassed: other layers use its weights. Give them their own first."
            )
        if bypassed and (why := bypass_refusal(layer.type)) is not None:
            raise UserError(f"'{layer.name}' cannot be bypassed. {why}")
        if layer.bypassed != bypassed:
            network = network.with_layer(replace(layer, bypassed=bypassed))
    return network


def replace_type(network: Network, id: str, type: type[LayerType]) -> Network:
    """Return the network with another type for one layer. Values of shared fields are kept where the new type accepts
    them, the name where a user gave it, and the connections whose port still exists: of the same name, else at the
    same position."""
    network = own_weights(network, [id])
    layer = network.layers[id]
    new = type(**_common_values(layer.type, type))
    name = layer.name
    if re.fullmatch(rf"{re.escape(default_name(layer.type))}_\d+", name):
        name = free_name(default_name(new), set(network.by_name) - {name})
    inputs = _port_map(layer.type.input_ports(), new.input_ports())
    outputs = _port_map(layer.type.output_ports(), new.output_ports())

    def kept(port: Port, names: Mapping[str, str]) -> Port | None:
        if port.layer != id:
            return port
        return Port(id, names[port.name]) if port.name in names else None

    ends = ((kept(c.source, outputs), kept(c.target, inputs)) for c in network.connections)
    connections = tuple(Connection(source, target) for source, target in ends if source and target)
    changed = Layer(id, name, new, layer.bypassed and bypass_refusal(new) is None)
    return Network({**network.layers, id: changed}, connections)


def _common_values(old: LayerType, new: type[LayerType]) -> dict[str, object]:
    """Return the values of the fields that both types have, where the new type accepts them."""
    values: dict[str, object] = dict(old.write()) if isinstance(old, Placeholder) else {}
    values |= {name: getattr(old, name) for name in old.fields}
    accepted: dict[str, object] = {}
    for name in (name for name in new.fields if name in values):
        try:
            new(**{name: values[name]})
        except UserError:
            continue
        accepted[name] = values[name]
    return accepted


def _port_map(before: tuple[str, ...], after: tuple[str, ...]) -> dict[str, str]:
    """Return the new name of each port that continues to exist."""
    mapping = {name: name for name in before if name in after}
    free = [name for name in after if name not in mapping]
    return mapping | dict(zip((name for name in before if name not in mapping), free, strict=False))


def connection_refusal(network: Network, source: Port, target: Port) -> str | None:
    """Return the reason why these two ports cannot be connected, or None. A connected input port is no reason: its
    connection is replaced."""
    start, end = network.layers.get(source.layer), network.layers.get(target.layer)
    if start is None or end is None:
        return "One end of the connection is not in the network."
    if source.name not in start.type.output_ports():
        return f"'{start.name}' has no output '{source.name}'."
    if target.name not in end.type.input_ports():
        return f"'{end.name}' has no input '{target.name}'."
    if source.layer == target.layer:
        return "A layer cannot feed itself."
    if _reaches(network, target.layer, source.layer):
        return f"'{end.name}' already feeds '{start.name}': the network would have a cycle."
    return None


def _reaches(network: Network, start: str, goal: str) -> bool:
    """Return whether `goal` is downstream of `start`."""
    ids: set[str] = set()
    waiting = [start]
    while waiting:
        id = waiting.pop()
        if id == goal:
            return True
        if id not in ids:
            ids.add(id)
            waiting.extend(c.target.layer for c in network.outgoing[id])
    return False


def connect(network: Network, source: Port, target: Port) -> Network:
    """Return the network with one more connection, which replaces the previous one at the target port."""
    if (why := connection_refusal(network, source, target)) is not None:
        raise UserError(why)
    connections = tuple(c for c in network.connections if c.target != target)
    return Network(network.layers, (*connections, Connection(source, target)))


def disconnect(network: Network, connections: Collection[Connection]) -> Network:
    """Return the network without these connections."""
    removed = set(connections)
    return Network(network.layers, tuple(c for c in network.connections if c not in removed))


def part(network: Network, ids: Collection[str]) -> Network:
    """Return the selected layers and the connections among them, as copying needs them."""
    return remove_layers(network, set(network.layers) - set(ids))


def paste(network: Network, clip: Network) -> tuple[Network, dict[str, str]]:
    """Return the network with the layers of another one pasted under free names and new ids; and the new id by old
    id."""
    layers = dict(network.layers)
    names = set(network.by_name)
    new_ids: dict[str, str] = {}
    for old, layer in clip.layers.items():
        name = layer.name if layer.name not in names else free_name(layer.name, names)
        id = new_id(layers)
        names.add(name)
        new_ids[old] = id
        layers[id] = replace(layer, id=id, name=name)
    for old, id in new_ids.items():
        if clip.layers[old].weights_of:
            layers[id] = replace(layers[id], weights_of=new_ids[clip.layers[old].weights_of])
    added = (
        Connection(Port(new_ids[c.source.layer], c.source.name), Port(new_ids[c.target.layer], c.target.name))
        for c in clip.connections
    )
    return Network(layers, (*network.connections, *added)), new_ids
