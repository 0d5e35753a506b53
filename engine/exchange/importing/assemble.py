"""A network of lifted layers: names, blocks after the modules of the file, and positions."""

import graphlib
import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from netwright.engine.exchange.importing.context import Placed
from netwright.engine.exchange.importing.graph import Constant
from netwright.engine.exchange.importing.repeats import repeated
from netwright.engine.exchange.importing.sharing import with_shared_weights
from netwright.engine.network.analysis import owner_path
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import DEPTH_LIMIT, Block, BlockInput, BlockOutput
from netwright.engine.network.layout import Layout, Position
from netwright.engine.network.network import NAME_LIMIT, Connection, Layer, Network, Port, name_refusal

MOST_PORTS = 6
"""A module with more inputs or outputs than this is no block: its layers stand for themselves."""
_PLAIN = re.compile(r"(node_)?[A-Za-z]+(_?\d+)?")


@dataclass
class Assembled:
    """A network with its layout, and for each layer that was made its id path and its weights."""

    network: Network
    layout: Layout
    paths: dict[str, str]
    weights: dict[str, Mapping[str, np.ndarray]]


@dataclass
class _Scope:
    """A module of the file: layers and modules in it, in order."""

    name: str
    layers: list[Placed] = field(default_factory=list)
    inner: dict[str, "_Scope"] = field(default_factory=dict)
    is_block: bool = False

    def all(self) -> Iterable[Placed]:
        yield from self.layers
        for scope in self.inner.values():
            yield from scope.all()


def assemble(
    layers: Sequence[Placed],
    connections: Sequence[Connection],
    needed: Iterable[str],
    constants: Mapping[str, Constant] = MappingProxyType({}),
) -> Assembled:
    """Return the network of the layers that reach the layers `needed`, with a block for each module that can be one,
    and one set of weights for layers with the same tensors of the file, `constants`."""
    layers, connections = _reaching(layers, connections, set(needed))
    root = _scopes(layers)
    builder = _Builder(layers, connections)
    builder.choose(root, 1)
    network, owners = builder.build(root)
    network = with_shared_weights(network, {layer.id: layer for layer in layers}, constants)
    network, moved = repeated(network)
    layout = layout_of(network)
    paths = {layer.id: moved[owners[layer.id]] for layer in layers}
    weights = {path: layer.weights for layer in layers if layer.weights and _is_owner(network, path := paths[layer.id])}
    return Assembled(network, layout, paths, weights)


def _is_owner(network: Network, path: str) -> bool:
    return path == owner_path(network, path)


def layout_of(network: Network) -> Layout:
    """Return positions for the layers of a network, and of the networks in its blocks."""
    return _Arranger().layout(network)


class _Arranger:
    """Positions layers, those of equal blocks once."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], tuple[Position, ...]] = {}

    def layout(self, network: Network) -> Layout:
        """Return the layout of a network and of the blocks in it."""
        number = {id: at for at, id in enumerate(network.layers)}
        ports = tuple((number[c.source.layer], number[c.target.layer], c.target.name) for c in network.connections)
        key = (len(number), ports)
        if key not in self.known:
            arrangement = arrange(network)
            self.known[key] = tuple(arrangement.at(id) for id in number)
        places = dict(zip(number, self.known[key], strict=True))
        inside = {
            id: self.layout(layer.type.network) for id, layer in network.layers.items() if isinstance(layer.type, Block)
        }
        return Layout(places, inside=inside)


def _reaching(
    layers: Sequence[Placed], connections: Sequence[Connection], needed: set[str]
) -> tuple[list[Placed], list[Connection]]:
    """Return the layers that reach the needed ones, and input layers."""
    feeds: dict[str, list[str]] = {}
    for connection in connections:
        feeds.setdefault(connection.target.layer, []).append(connection.source.layer)
    waiting, ids = list(needed), set(needed)
    while waiting:
        for source in feeds.get(waiting.pop(), ()):
            if source not in ids:
                ids.add(source)
                waiting.append(source)
    members = [layer for layer in layers if layer.id in ids]
    return members, [connection for connection in connections if connection.target.layer in ids]


def _scopes(layers: Sequence[Placed]) -> _Scope:
    root = _Scope("")
    for layer in layers:
        scope = root
        for name in layer.scope:
            scope = scope.inner.setdefault(name, _Scope(name))
        scope.layers.append(layer)
    return root


class _Builder:
    """Makes blocks of scopes, from the outside to the inside."""

    def __init__(self, layers: Sequence[Placed], connections: Sequence[Connection]) -> None:
        self.order = {layer.id: number for number, layer in enumerate(layers)}
        self.types = {layer.id: layer for layer in layers}
        self.connections = connections
        self.leaving: dict[str, list[Connection]] = {layer.id: [] for layer in layers}
        self.entering: dict[str, list[Connection]] = {layer.id: [] for layer in layers}
        for connection in connections:
            self.leaving[connection.source.layer].append(connection)
            self.entering[connection.target.layer].append(connection)

    def choose(self, scope: _Scope, depth: int) -> None:
        """Note which of the modules in a scope can be blocks."""
        for inner in scope.inner.values():
            members = {layer.id for layer in inner.all()}
            # A module with all that the module around it has says nothing; nor does one layer that is called often.
            kinds = {(layer.type, layer.stored) if layer.stored else layer.id for layer in inner.all()}
            is_part = len(kinds) > 1 and (len(scope.inner) > 1 or bool(scope.layers))
            inner.is_block = is_part and depth < DEPTH_LIMIT and self._is_closed(members)
            self.choose(inner, depth + inner.is_block)

    def _is_closed(self, members: set[str]) -> bool:
        """Return whether layers can stand in a block: few ports, and no way out of it and back."""
        ins, outs = self._ports(members)
        if not ins or not outs or len(ins) > MOST_PORTS or len(outs) > MOST_PORTS:
            return False
        last = max(self.order[id] for id in members)
        waiting = [c.target.layer for port in outs for c in self.leaving[port.layer] if c.target.layer not in members]
        visited: set[str] = set()
        while waiting:
            id = waiting.pop()
            if id in members:
                return False
            if id in visited or self.order[id] > last:
                continue
            visited.add(id)
            waiting += [c.target.layer for c in self.leaving[id]]
        return True

    def _ports(self, members: set[str]) -> tuple[list[Port], list[Port]]:
        """Return the ports outside that feed the layers, and those of the layers that are used outside, or are outputs
        of the network."""
        ins = {
            c.source: None for id in self._sorted(members) for c in self.entering[id] if c.source.layer not in members
        }
        outs: dict[Port, None] = {}
        for id in self._sorted(members):
            sources = {c.source.name for c in self.leaving[id]}
            outside = {c.source.name for c in self.leaving[id] if c.target.layer not in members}
            type = self.types[id].type
            for port in type.output_ports():
                if port in outside or (port not in sources and port not in type.side_ports()):
                    outs[Port(id, port)] = None
        return list(ins), list(outs)

    def _sorted(self, members: Iterable[str]) -> list[str]:
        return sorted(members, key=self.order.__getitem__)

    def build(self, root: _Scope) -> tuple[Network, dict[str, str]]:
        """Return the network, and the id path of each layer."""
        paths: dict[str, str] = {}
        network, _ = self._network(root, {}, paths, "")
        return network, paths

    def _network(
        self, scope: _Scope, inputs: Mapping[Port, Port], paths: dict[str, str], prefix: str
    ) -> tuple[Network, dict[Port, Port]]:
        """Return the network of a scope, and the port in it where each port of a lifted layer is found."""
        names = _Names()
        layers: dict[str, Layer] = {}
        where: dict[Port, Port] = dict(inputs)
        for port in inputs.values():
            if port.layer not in layers:
                layers[port.layer] = Layer(port.layer, names.free(port.layer), BlockInput())
        parts = self._ordered(scope)
        connections: list[Connection] = []
        for part in parts:
            if isinstance(part, Placed):
                paths[part.id] = prefix + part.id
                layers[part.id] = Layer(part.id, names.of(part, scope), part.type)
                for name in part.type.output_ports():
                    where[Port(part.id, name)] = Port(part.id, name)
                connections += [Connection(where[c.source], c.target) for c in self.entering[part.id]]
            else:
                self._add_block(part[0], part[1], layers, where, connections, names, paths, prefix)
        return Network(layers, tuple(connections)), where

    def _ordered(self, scope: _Scope) -> list["Placed | tuple[str, _Scope]"]:
        """Return the layers and blocks of a scope, each behind those that feed it, else in the order of the file. Where
        two blocks feed each other, one of them is opened."""
        while True:
            parts = sorted(_parts(scope), key=self._place)
            members = [
                [part.id] if isinstance(part, Placed) else [layer.id for layer in part[1].all()] for part in parts
            ]
            owner = {id: at for at, ids in enumerate(members) for id in ids}
            feeds = {
                at: {owner[c.source.layer] for id in ids for c in self.entering[id] if c.source.layer in owner} - {at}
                for at, ids in enumerate(members)
            }
            sorter = graphlib.TopologicalSorter(feeds)
            try:
                sorter.prepare()
            except graphlib.CycleError as error:
                block = next(part for at in error.args[1] if isinstance(part := parts[at], tuple))
                block[1].is_block = False
                continue
            order: list[Placed | tuple[str, _Scope]] = []
            ready = sorted(sorter.get_ready())
            while ready:
                at = heapq.heappop(ready)
                order.append(parts[at])
                sorter.done(at)
                for index in sorter.get_ready():
                    heapq.heappush(ready, index)
            return order

    def _place(self, part: "Placed | tuple[str, _Scope]") -> int:
        """Return the place of a layer, or of the first one in a block, in the order of the file."""
        return self.order[part.id] if isinstance(part, Placed) else min(self.order[layer.id] for layer in part[1].all())

    def _add_block(
        self,
        name: str,
        scope: _Scope,
        layers: dict[str, Layer],
        where: dict[Port, Port],
        connections: list[Connection],
        names: "_Names",
        paths: dict[str, str],
        prefix: str,
    ) -> None:
        """Add a block with the layers of a scope."""
        members = {layer.id for layer in scope.all()}
        ins, outs = self._ports(members)
        id = f"b{min(self.order[member] for member in members) + 1}"
        while id in layers:
            id += "x"
        inputs = {port: Port(f"input_{number}", "out") for number, port in enumerate(ins, 1)}
        inner, inner_where = self._network(scope, inputs, paths, f"{prefix}{id}/")
        ends = dict(inner.layers)
        lines = list(inner.connections)
        for number, port in enumerate(outs, 1):
            end = f"output_{number}"
            end_names = {layer.name for layer in ends.values()}
            ends[end] = Layer(end, end if end not in end_names else f"{end}_end", BlockOutput())
            lines.append(Connection(inner_where[port], Port(end, "in")))
            where[port] = Port(id, ends[end].name)
        layers[id] = Layer(id, names.free(name), Block(Network(ends, tuple(lines))))
        for port, inside in inputs.items():
            connections.append(Connection(where[port], Port(id, inner.layers[inside.layer].name)))


def _parts(scope: _Scope) -> list[Placed | tuple[str, _Scope]]:
    """Return the layers of a scope and its blocks, by name. A module that is no block is opened."""
    parts: list[Placed | tuple[str, _Scope]] = list(scope.layers)
    for inner in scope.inner.values():
        if inner.is_block:
            parts.append((_block_name(inner.name, scope.name), inner))
            continue
        for part in _parts(inner):
            parts.append((f"{inner.name}_{part[0]}", part[1]) if isinstance(part, tuple) else part)
    return parts


def _block_name(name: str, around: str) -> str:
    """Return the name of a block; a number of a sequence follows the name of what it is in."""
    return f"{around or 'block'}_{name}" if name.isdigit() and not around.isdigit() else name


class _Names:
    """Names of one network, each given once."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self.next: dict[str, int] = {}

    def free(self, base: str) -> str:
        """Return the name, or with a number where it is taken; a valid one in any case."""
        base = re.sub(r"\W", "_", base, flags=re.ASCII).strip("_")[: NAME_LIMIT - 8] or "layer"
        if base[0].isdigit():
            base = f"layer_{base}"
        name = base if name_refusal(base) is None else f"{base}_layer"
        if name in self.taken:
            stem = re.sub(r"_\d+$", "", name)
            number = self.next.get(stem, 1)
            while f"{stem}_{number}" in self.taken:
                number += 1
            self.next[stem] = number + 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        return name

    def of(self, layer: Placed, scope: _Scope) -> str:
        """Return a name for a layer: that of its module in the file, or of its type."""
        if layer.type.is_input:
            return self.free(layer.name)
        if layer.scope and not scope.layers.count(layer) and layer.scope:
            path = [name for name in layer.scope if not name.isdigit()] or list(layer.scope)
            last = layer.scope[-1]
            base = last if not last.isdigit() else "_".join([path[-1], last]) if path[-1] != last else layer.type.key
            return self.free(f"{base}_{layer.name}" if layer.name else base)
        return self.free(layer.name or f"{layer.type.key}_1")
