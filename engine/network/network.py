"""The network as a value: layers and connections. An edit (`netwright.engine.network.edits`) makes a new one.

Layers have ids that never change; connections join ids, so renaming affects nothing else. Positions of layers on the
canvas are a separate value (`netwright.engine.network.layout`).
"""

import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from netwright.engine.core.errors import UserError, listed
from netwright.engine.core.fields import printable
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.weighted import Weighted
from netwright.engine.network.catalog import Passing, Placeholder

NAME_LIMIT = 64
_PASSING = Passing()


@dataclass(frozen=True)
class Layer:
    """One placed layer: an id that never changes, a name unique in its network, its type and values."""

    id: str
    name: str
    type: LayerType
    bypassed: bool = False
    """Whether the layer is bypassed: its input passes unchanged. Values and connections stay."""
    weights_of: str = ""
    """Id of the layer, in the same network, whose weights this layer uses; empty where it has its own."""

    def renamed(self, name: str) -> Self:
        """Return the layer under another name."""
        return replace(self, name=name)

    @property
    def effective_type(self) -> LayerType:
        """Return the type that takes effect: the layer's own, or an identity where it is bypassed."""
        return _PASSING if self.bypassed else self.type

    @property
    def label(self) -> str:
        """Return the label of the layer's type, with a note that it is bypassed, for a table."""
        return f"{self.type.label} (bypassed)" if self.bypassed else self.type.label

    @property
    def type_key(self) -> str:
        """Return the key of the type, also where the type is not known."""
        return self.type.type_key if isinstance(self.type, Placeholder) else self.type.key


@dataclass(frozen=True, order=True)
class Port:
    """One port of one layer, by the layer's id."""

    layer: str
    name: str


@dataclass(frozen=True, order=True)
class Connection:
    """Connection from an output port to an input port. An input port has at most one connection, an output port any
    number."""

    source: Port
    target: Port

    def __hash__(self) -> int:
        """Hash the four names at once: a canvas looks connections up by the hundred thousand."""
        return hash((self.source.layer, self.source.name, self.target.layer, self.target.name))


@dataclass(frozen=True)
class Network:
    """Layers by id, in the order in which they were added, and connections. Neither is changed in place."""

    layers: Mapping[str, Layer]
    connections: tuple[Connection, ...] = ()

    def __hash__(self) -> int:
        return id(self)

    @classmethod
    def empty(cls) -> "Network":
        """Return a network without layers."""
        return cls({})

    def __len__(self) -> int:
        return len(self.layers)

    def with_layer(self, layer: Layer) -> "Network":
        """Return the network with one layer changed and all ports as before. Cached facts about the connections stay
        valid and are passed on, so that typing in a field of a large network is cheap."""
        new = Network({**self.layers, layer.id: layer}, self.connections)
        for name in ("incoming", "outgoing", "order", "cyclic"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    @cached_property
    def by_name(self) -> dict[str, Layer]:
        """Return the layers by name."""
        return {layer.name: layer for layer in self.layers.values()}

    @cached_property
    def incoming(self) -> dict[str, dict[str, Port]]:
        """Return for each layer the source of each connected input port."""
        sources: dict[str, dict[str, Port]] = {id: {} for id in self.layers}
        for connection in self.connections:
            sources[connection.target.layer][connection.target.name] = connection.source
        return sources

    @cached_property
    def outgoing(self) -> dict[str, list[Connection]]:
        """Return for each layer its outgoing connections."""
        connections: dict[str, list[Connection]] = {id: [] for id in self.layers}
        for connection in self.connections:
            connections[connection.source.layer].append(connection)
        return connections

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Return the ids in topological order. Layers on a cycle, and downstream of one, are missing."""
        waiting = {id: len({p.layer for p in feeds.values()}) for id, feeds in self.incoming.items()}
        ready = [id for id, count in waiting.items() if count == 0]
        ready.reverse()
        ordered: list[str] = []
        while ready:
            id = ready.pop()
            ordered.append(id)
            for target in reversed(list(dict.fromkeys(c.target.layer for c in self.outgoing[id]))):
                waiting[target] -= 1
                if waiting[target] == 0:
                    ready.append(target)
        return tuple(ordered)

    @cached_property
    def cyclic(self) -> frozenset[str]:
        """Return the ids of the layers that are on a cycle, or between two."""
        ids = set(self.layers) - set(self.order)
        while dead := {id for id in ids if not any(c.target.layer in ids for c in self.outgoing[id])}:
            ids -= dead
        return frozenset(ids)

    @cached_property
    def inputs(self) -> tuple[Layer, ...]:
        """Return the input layers, in the order in which they were added."""
        return tuple(layer for layer in self.layers.values() if layer.type.is_input)

    @cached_property
    def borrowers(self) -> dict[str, tuple[str, ...]]:
        """Return, for each layer whose weights others use, the ids of those others."""
        ids: dict[str, tuple[str, ...]] = {}
        for layer in self.layers.values():
            if layer.weights_of:
                ids[layer.weights_of] = (*ids.get(layer.weights_of, ()), layer.id)
        return ids

    def sharing(self, id: str) -> tuple[str, ...]:
        """Return the ids of the layers with the weights of this one, itself among them; that with its own comes
        first."""
        owner = self.layers[id].weights_of or id
        return (owner, *self.borrowers.get(owner, ()))

    @cached_property
    def output_ports(self) -> tuple[Port, ...]:
        """Return the unconnected output ports: the network's outputs, named after their layers."""
        ends = ((id, self.layers[id].type, {c.source.name for c in self.outgoing[id]}) for id in self.order)
        loose = ((id, type, name) for id, type, used in ends for name in type.output_ports() if name not in used)
        return tuple(Port(id, name) for id, type, name in loose if name not in type.side_ports())

    def layer(self, name: str) -> Layer:
        """Return the layer with this name. Raises `UserError`."""
        if name not in self.by_name:
            raise UserError(f"There is no layer '{name}' in the network.")
        return self.by_name[name]


def name_refusal(name: str, names: Iterable[str] = ()) -> str | None:
    """Return the reason why this cannot be a layer's name, or None."""
    if len(name) > NAME_LIMIT:
        return f"A layer's name has at most {NAME_LIMIT} characters; this one has {len(name):,}."
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        label = printable(name if len(name) <= 40 else name[:37] + "...")
        return f"'{label}' cannot be a name: use letters, digits and _, starting with a letter, no Python keyword."
    if name in names:
        return f"There is already a layer '{name}'."
    return None


def bypass_refusal(type: LayerType) -> str | None:
    """Return the reason why a layer of this type cannot be bypassed, or None."""
    count = len(type.input_ports())
    if count == 1 and len(type.output_ports()) == 1:
        return None
    if not count:
        return f"{type.label} has no input that could be passed on."
    return f"Only a layer with one input and one output can be bypassed; {type.label} has {count} inputs."


def sharing_refusal(layer: Layer, owner: Layer) -> str | None:
    """Return the reason why a layer cannot use the weights of another one, or None. Their sizes are not compared."""
    if layer.id == owner.id:
        return f"'{layer.name}' cannot use its own weights as those of another layer."
    if owner.weights_of:
        return f"'{owner.name}' uses the weights of another layer itself. Name that layer."
    if not has_weights(owner.type):
        return f"'{owner.name}' ({owner.type.label}) has no weights that another layer could use."
    if type(layer.type) is not type(owner.type):
        return (
            f"'{layer.name}' is a layer {layer.type.label} and '{owner.name}' a layer {owner.type.label}: layers with "
            "the same weights are of one type."
        )
    if layer.type != owner.type:
        names = [name for name in owner.type.fields if getattr(layer.type, name) != getattr(owner.type, name)]
        labels = listed([owner.type.fields[name].label for name in names]) or "what is inside"
        return (
            f"'{layer.name}' and '{owner.name}' differ in {labels}: layers with the same weights have equal settings."
        )
    if owner.bypassed:
        return f"'{owner.name}' is bypassed, and '{layer.name}' uses its weights. Use it again, or give them their own."
    return None


def has_weights(type: LayerType) -> bool:
    """Return whether a layer of this type may have learnable weights."""
    return isinstance(type, Weighted) or bool(getattr(type, "has_weights", False))


def free_name(base: str, names: Iterable[str]) -> str:
    """Return `base` with the lowest unused number, such as `conv_3`."""
    name_set = set(names)
    base = re.sub(r"_\d+$", "", base)[: NAME_LIMIT - 8]
    number = next(n for n in range(1, len(name_set) + 2) if f"{base}_{n}" not in name_set)
    return f"{base}_{number}"
