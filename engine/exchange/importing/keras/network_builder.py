"""Build a network of ours layer by layer, with the weights, from the calls of a Keras model.

Keras keeps channels last, Netwright first: a `Value` knows in which order Keras has the axes of a tensor. Flattened
images hold the same numbers in another order; a `Value` carries that permutation until a layer with weights takes it up
in its rows. Where no layer can, `NeedsOrder` names the flatten layer, which then gives Keras's order by itself.
"""

import keyword
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from netwright.engine.core.errors import FieldErrors, ShapeError, UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.types import TensorType
from netwright.engine.exchange.importing.keras.archive import Array, Weights
from netwright.engine.exchange.importing.keras.config import Call, KerasLayer, Ref
from netwright.engine.layers.base import LayerType
from netwright.engine.network.catalog import built_in
from netwright.engine.network.network import NAME_LIMIT, Connection, Layer, Network, Port, has_weights, sharing_refusal

CHANNELS_LAST: Final = {1: ("C",), 2: ("T", "C"), 3: ("H", "W", "C"), 4: ("D", "H", "W", "C")}
CHANNELS_FIRST: Final = {1: ("C",), 2: ("T", "C"), 3: ("C", "H", "W"), 4: ("C", "D", "H", "W")}
LAYOUT_OF: Final = {1: "features", 2: "sequence", 3: "image", 4: "volume"}


class NeedsOrder(Exception):
    """A flatten layer must give its numbers in the order of Keras; its path is the argument."""


class Refused(Exception):
    """A layer has no counterpart; the reason is the argument."""


@dataclass(frozen=True)
class Value:
    """One tensor: the port that gives it, its type here, and the order in which Keras has its axes.

    `shuffled`, of flattened images: Keras's number i is number `shuffled[i]` here; `flatten` is the path of the layer
    that made it so.
    """

    port: Port
    type: TensorType
    order: tuple[str, ...]
    shuffled: Array | None = None
    flatten: str = ""

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes in Keras's order, without the batch."""
        return tuple(self.type[axis] for axis in self.order)

    def axis(self, number: int) -> str:
        """Return the letter of an axis that Keras numbers from 0, the batch, or from the end below zero."""
        index = number - 1 if number > 0 else number + len(self.order)
        if number == 0 or not 0 <= index < len(self.order):
            raise Refused(f"it works along axis {number}, which is not one of {len(self.order)} beside the batch")
        return self.order[index]


@dataclass
class Builder:
    """A network in the making, the weights by id path and parameter, and what is to be said about it."""

    channels_first: bool = False
    path: str = ""
    ordered: frozenset[str] = frozenset()
    version: str = ""
    layers: dict[str, Layer] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    weights: dict[str, dict[str, Array]] = field(default_factory=dict)
    made: dict[str, list[str]] = field(default_factory=dict)
    """Names of the layers here by the path of the layer in Keras."""
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    """Labels of the layers made of each class of Keras; under an empty label the number of its calls."""
    notes: dict[str, None] = field(default_factory=dict)
    shared: dict[str, None] = field(default_factory=dict)
    """Sentences on layers that are called several times, with the same weights, and have copies of them here."""
    calls: dict[str, list[str]] = field(default_factory=dict)
    """Ids of the layers of the first call of each layer of Keras."""
    refused: dict[str, None] = field(default_factory=dict)
    """Layers without a counterpart, each with the reason."""

    def inner(self, path: str) -> "Builder":
        """Return the builder of the network of a block, which shares what is said about the whole."""
        return replace(self, path=path, layers={}, connections=[], weights={}, calls={})

    @property
    def network(self) -> Network:
        """The network as it stands."""
        return Network(dict(self.layers), tuple(self.connections))

    def orders(self, rank: int) -> tuple[str, ...]:
        """Return the axes of a tensor in Keras's order."""
        return (CHANNELS_FIRST if self.channels_first else CHANNELS_LAST)[rank]

    def place(self, type: LayerType, name: str, sources: Sequence[Value], weights: Mapping[str, Array]) -> str:
        """Add a layer and its connections, and return its id."""
        id = f"l{len(self.layers) + 1}"
        self.layers[id] = Layer(id, free(name, [layer.name for layer in self.layers.values()]), type)
        for value, port in zip(sources, type.input_ports(), strict=True):
            self.connections.append(Connection(value.port, Port(id, port)))
        if weights:
            self.weights[id] = dict(weights)
        return id

    def share(self, ids: Sequence[str], owners: Sequence[str]) -> bool:
        """Let the layers of a further call use the weights of those of the first, in order. Return whether none has
        weights of its own."""
        for id, owner in zip(ids, owners, strict=False):
            layer, first = self.layers[id], self.layers[owner]
            if has_weights(layer.type) and sharing_refusal(layer, first) is None:
                self.layers[id] = replace(layer, weights_of=owner)
                for path in [path for path in self.weights if path.partition("/")[0] == id]:
                    del self.weights[path]
        return not any(path.partition("/")[0] in ids for path in self.weights)


def free(name: str, other_names: Sequence[str]) -> str:
    """Return a name as a Python identifier that is not taken."""
    name = re.sub(r"\W", "_", name, flags=re.ASCII)[: NAME_LIMIT - 6] or "layer"
    name = f"layer_{name}" if name[0].isdigit() else f"{name}_layer" if keyword.iskeyword(name) else name
    names, number, candidate = set(other_names), 1, name
    while candidate in names:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


@dataclass
class Site:
    """One call of one Keras layer: what a rule reads, and where it puts layers."""

    builder: Builder
    layer: KerasLayer
    call: Call
    values: Mapping[Ref, Value]
    store: Weights | None
    name: str
    keeps_order: bool = False

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings of the layer in Keras."""
        return self.layer.config

    @property
    def inputs(self) -> list[Value]:
        """The tensors that enter. Flattened images in another order than Keras's only where the rule can take them."""
        values = [self.values[ref] for ref in self.call.tensors()]
        for value in values:
            if value.shuffled is not None and not self.keeps_order:
                raise NeedsOrder(value.flatten)
        return values

    @property
    def x(self) -> Value:
        """The one tensor that enters."""
        values = self.inputs
        if len(values) != 1:
            raise Refused(f"expected one input, received {len(values)}")
        return values[0]

    def get(self, name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """Return a setting of a kind. Raises `Refused` for a damaged one."""
        value = self.config.get(name, default)
        if value is None:
            value = default
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise Refused(f"its setting {name} cannot be read: {printable(str(value))[:60]}")
        return value

    def number(self, name: str, default: float) -> float:
        """Return a setting that is a number; Keras writes some as an array of one."""
        value = self.config.get(name)
        if isinstance(value, dict):
            value = (value.get("config") or {}).get("value")
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"expected a number for its setting {name}, received {printable(str(value))[:60]}")
        try:
            return float(value)
        except OverflowError:
            raise Refused(f"expected a number for its setting {name}, received one beyond any limit") from None

    def whole(self, name: str, default: int) -> int:
        """Return a setting that is a whole number."""
        value = self.number(name, default)
        if not value.is_integer() or abs(value) > 2**53:
            raise Refused(f"expected a whole number for its setting {name}, received {value:g}")
        return int(value)

    def sizes(self, name: str, dims: int, default: int = 1) -> tuple[int, ...]:
        """Return a setting with a whole number for each axis."""
        value = self.config.get(name)
        value = default if value is None else value
        value = [value] * dims if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(value, list) or len(value) != dims or not all(isinstance(size, int) for size in value):
            raise Refused(f"its setting {name} cannot be read: {printable(str(value))[:60]}")
        return tuple(value)

    def variables(self, path: str = "", count: int | None = None) -> list[Array]:
        """Return the variables of the layer, or of a part of it. Raises `Refused` where there are others."""
        store = self.store
        for key in filter(None, path.split("/")):
            store = store.group(key) if store is not None else None
        arrays = store.variables() if store is not None else []
        if count is not None and len(arrays) != count:
            raise Refused(f"expected {count} weights in the file, received {len(arrays)}")
        return arrays

    def add(
        self,
        key: str,
        *inputs: Value,
        suffix: str = "",
        weights: Mapping[str, Array] | None = None,
        **fields: Any,
    ) -> Value:
        """Add a layer of ours and return the value of its first output."""
        return self.add_all(key, *inputs, suffix=suffix, weights=weights, **fields)[0]

    def add_all(
        self,
        key: str,
        *inputs: Value,
        suffix: str = "",
        weights: Mapping[str, Array] | None = None,
        **fields: Any,
    ) -> list[Value]:
        """Add a layer of ours and return the values of its outputs. Raises `Refused` for what does not fit."""
        type = built_in()[key]
        if self.config.get("trainable") is False and "frozen" in type.fields:
            fields["frozen"] = True
        try:
            layer = type(**fields)
            types = layer.output_types(*(value.type for value in inputs))
            sizes = layer.weights(*(value.type for value in inputs))
        except (ShapeError, FieldErrors) as error:
            raise Refused(str(error).rstrip(".")) from None
        for problem in layer.problems():
            raise Refused(str(problem).rstrip("."))
        self._refuse_weights(sizes, weights or {})
        id = self.builder.place(layer, f"{self.name}{suffix}", inputs, weights or {})
        self.builder.made.setdefault(f"{self.builder.path}{self.layer.name}", []).append(self.builder.layers[id].name)
        self.builder.rows.setdefault(self.layer.class_name, Counter())[layer.label] += 1
        return [
            Value(Port(id, port), output, self.builder.orders(output.rank))
            for port, output in zip(layer.output_ports(), types, strict=True)
        ]

    @staticmethod
    def _refuse_weights(sizes: Mapping[str, tuple[int, ...]], weights: Mapping[str, Array]) -> None:
        """Refuse weights of other sizes than the layer has here."""
        for name, size in sizes.items():
            if name not in weights:
                raise Refused(f"its weights '{name}' are missing in the file")
            if weights[name].shape != size:
                sizes_text = " × ".join(map(str, weights[name].shape))
                raise Refused(f"its weights '{name}' are {sizes_text}; expected {' × '.join(map(str, size))}")

    def note(self, text: str) -> None:
        """Say something about this layer that its user should know."""
        self.builder.notes[f"{printable(self.layer.name)[:80]}: {text}"] = None


Rule = Callable[[Site], Value | list[Value]]
RULES: dict[str, Rule] = {}
TAKES_ANY_ORDER: set[str] = set()


def rule(*class_names: str, keeps_order: bool = False) -> Callable[[Rule], Rule]:
    """Register the rule for layers of these classes. `keeps_order`: it takes flattened images in any order."""

    def register(function: Rule) -> Rule:
        for name in class_names:
            RULES[name] = function
            if keeps_order:
                TAKES_ANY_ORDER.add(name)
        return function

    return register


def like(value: Value, source: Value) -> Value:
    """Return a value with the order of another, which has the same numbers of features."""
    return replace(value, order=source.order, shuffled=source.shuffled, flatten=source.flatten)


def in_order(array: Array, value: Value, axis: int = -1) -> Array:
    """Return an array that has one entry per feature of Keras along an axis with the features in our order."""
    if value.shuffled is None:
        return array
    return np.take(array, np.argsort(value.shuffled), axis)


def refuse_unread(names: Mapping[str, None]) -> UserError:
    """Return the error that lists what has no counterpart."""
    listed = "\n".join(f"  {name}" for name in list(names)[:40])
    more = f"\n  ... and {len(names) - 40:,} more" if len(names) > 40 else ""
    return UserError(
        f"{len(names):,} layer{'s' * (len(names) > 1)} of the Keras model cannot be imported:\n{listed}{more}\n"
        "Nothing of the file is run, so layers with code of their own cannot come along.",
        hint="Export the model as ONNX instead, model.export('NAME.onnx', format='onnx'), and import that: what has "
        "no counterpart is then kept as an opaque layer.",
    )
