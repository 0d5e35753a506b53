"""What a lift works with: the values of the graph, and the network that is being made."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netwright.engine.core.errors import FieldErrors, ShapeError, UserError
from netwright.engine.core.types import LAYOUTS, NAMES, TensorType
from netwright.engine.exchange.importing.graph import Constant, Graph, Node, Value
from netwright.engine.exchange.importing.values import (
    BATCH,
    ONE,
    Free,
    Headed,
    Held,
    NotLiftable,
    Sizes,
    Tensor,
    Unavailable,
)
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.reshape import Flatten, Permute, Reshape
from netwright.engine.network.network import Connection, Port


@dataclass(frozen=True)
class Placed:
    """A layer that was made: its id, type, the modules of the file that it is in, a name if the file has one, its
    weights by name, and the names of the tensors of the file that they are."""

    id: str
    type: LayerType
    scope: tuple[str, ...]
    name: str
    weights: Mapping[str, np.ndarray]
    op: str
    stored: frozenset[str] = frozenset()


def _refuse_factors(ctx: "Context", node: Node, x: Headed) -> Tensor:
    raise NotLiftable("takes a tensor whose axes are divided into factors")


@dataclass
class Context:
    """The values of a graph by name, and the layers made so far."""

    graph: Graph
    values: dict[str, Held | Headed] = field(default_factory=dict)
    laid_out: dict[str, Tensor] = field(default_factory=dict)
    """Tensors of layers in the place of headed ones, where an operator needs them."""
    layers: list[Placed] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    inputs: list[tuple[Value, Tensor]] = field(default_factory=list)
    users: dict[str, list[Node]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    """Constants of the operators that are kept as they are, by the names that their layers give them."""
    fixed_batch: int | None = None
    """Samples per batch where the file has a fixed number, else None."""
    around_attention: Set[str] = frozenset()
    """The values around attention whose axes may be divided into factors."""
    lay_out: Callable[["Context", Node, Headed], Tensor] = _refuse_factors
    """Add layers that give a headed tensor its dimensions, and return it; `heads.laid_out` while a graph is lifted."""

    @property
    def opset(self) -> int:
        """Return the version of ONNX's operators that the file uses."""
        return self.graph.opset

    # ---- what the node has ----

    def attribute(self, node: Node, name: str, default: Any = None) -> Any:
        """Return an attribute; a tensor as an array."""
        value = node.attributes.get(name, default)
        return value.array() if isinstance(value, Constant) else value

    def optional(self, node: Node, index: int) -> Held | None:
        """Return the value of an input, or None where it is left out."""
        name = node.inputs[index] if index < len(node.inputs) else ""
        if not name:
            return None
        value = self.values.get(name)
        if value is None and name in self.graph.constants:
            value = self.values[name] = self.graph.constants[name].array()
        if value is None:
            raise Unavailable("takes a value of an operator without a layer")
        if isinstance(value, Headed):
            if name not in self.laid_out:
                self.laid_out[name] = self.lay_out(self, node, value)
            value = self.laid_out[name]
        return value

    def headed_input(self, node: Node, index: int) -> Headed:
        """Return an input that comes from a layer, with the factors of its axes. Raises `NotLiftable`."""
        value = self.values.get(node.inputs[index])
        return value if isinstance(value, Headed) else Headed.of(self.tensor(node, index))

    def held(self, node: Node, index: int) -> Held:
        """Return the value of an input. Raises `NotLiftable` where it is left out."""
        value = self.optional(node, index)
        if value is None:
            raise NotLiftable(f"has no input {index + 1}")
        return value

    def tensor(self, node: Node, index: int) -> Tensor:
        """Return an input that comes from a layer. Raises `NotLiftable` for one that is known."""
        value = self.held(node, index)
        if not isinstance(value, Tensor):
            raise NotLiftable(f"has known numbers as its input {index + 1}")
        return value

    def is_tensor(self, node: Node, index: int) -> bool:
        """Return whether an input comes from a layer."""
        return isinstance(self.optional(node, index), Tensor)

    def numbers(self, node: Node, index: int) -> np.ndarray:
        """Return an input whose numbers are known. Raises `NotLiftable` for one that is computed."""
        value = self.held(node, index)
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, Sizes) and all(isinstance(item, int) for item in value.items):
            return np.asarray(value.items[0] if value.is_scalar else value.items, np.int64)
        raise NotLiftable(f"computes its input {index + 1}, which has to be known before the network runs")

    def optional_numbers(self, node: Node, index: int) -> np.ndarray | None:
        """Return an input whose numbers are known, or None where it is left out."""
        return None if self.optional(node, index) is None else self.numbers(node, index)

    def learned(self, node: Node, index: int, neutral: float) -> np.ndarray | None:
        """Return weights whose numbers are known; None where they are left out, or where each is `neutral` and no
        tensor of the file has them: exporters write them for a module that does not learn them."""
        numbers = self.optional_numbers(node, index)
        stored = self.graph.constants.get(node.inputs[index]) if numbers is not None else None
        is_stored = stored is not None and stored.is_stored
        return None if numbers is not None and not is_stored and np.all(numbers == neutral) else numbers

    def for_all(self, numbers: np.ndarray, axis: int) -> np.ndarray:
        """Return known numbers with one for all samples at the dimension `axis`, where the file has a fixed number of
        samples and the numbers are equal for each."""
        if not 0 <= axis < numbers.ndim or numbers.shape[axis] != self.fixed_batch or numbers.shape[axis] == 1:
            return numbers
        first = numbers.take([0], axis)
        return first if np.array_equal(np.broadcast_to(first, numbers.shape), numbers) else numbers

    def ints(self, node: Node, index: int, attribute: str) -> list[int] | None:
        """Return whole numbers that are an attribute in older versions of ONNX and an input in newer ones."""
        if attribute in node.attributes:
            value = self.attribute(node, attribute)
            return [int(number) for number in np.atleast_1d(value)]
        numbers = self.optional_numbers(node, index)
        if numbers is not None and numbers.dtype.kind not in "iu":
            raise NotLiftable(f"has no whole numbers as its input {index + 1}")
        return None if numbers is None else [int(number) for number in numbers.reshape(-1)]

    def is_used(self, name: str) -> bool:
        """Return whether a value has a name, and an operator takes it or it is an output."""
        return bool(name) and (bool(self.users.get(name)) or any(name == output.name for output in self.graph.outputs))

    # ---- layers ----

    def add(
        self,
        node: Node,
        type: LayerType,
        *inputs: Tensor,
        weights: Mapping[str, np.ndarray] | None = None,
        dims: Sequence[str] | None = None,
        name: str = "",
    ) -> Tensor:
        """Add a layer with one output and return it. `dims` are its dimensions as the file sees them; without them,
        those of the first input. `name` tells a further layer of a node apart, such as `permute`."""
        return self.add_all(node, type, *inputs, weights=weights, dims=dims, name=name)[0]

    def add_all(
        self,
        node: Node,
        type: LayerType,
        *inputs: Tensor,
        weights: Mapping[str, np.ndarray] | None = None,
        dims: Sequence[str] | None = None,
        name: str = "",
    ) -> tuple[Tensor, ...]:
        """Add a layer and return a tensor for each of its output ports."""
        try:
            types = type.output_types(*(x.type for x in inputs))
            expected = type.weights(*(x.type for x in inputs)) if weights else {}
        except (ShapeError, UserError) as error:
            raise NotLiftable(f"does not fit a layer: {error}") from None
        for key, sizes in expected.items():
            array = (weights or {}).get(key)
            if array is None or tuple(array.shape) != tuple(sizes):
                shape = "none" if array is None else list(array.shape)
                raise NotLiftable(f"has weights '{key}' of the sizes {shape}, and {list(sizes)} fit its input")
        id = f"n{len(self.layers) + 1}"
        for port, x in zip(type.input_ports(), inputs, strict=True):
            self.connections.append(Connection(x.port, Port(id, port)))
        sources = (*node.inputs, *node.attributes.get("stored", ())) if weights else ()
        stored = frozenset(filter(None, map(self.graph.origin, sources)))
        self.layers.append(Placed(id, type, node.scope, name, dict(weights or {}), node.op, stored))
        file_dims = tuple(dims) if dims is not None else inputs[0].dims
        is_whole = all(x.is_whole for x in inputs)
        return tuple(
            Tensor(Port(id, port), out, file_dims if _shows(file_dims, out) else canonical(out), is_whole=is_whole)
            for port, out in zip(type.output_ports(), types, strict=True)
        )

    def forget(self, count: int) -> None:
        """Leave out all layers but the first ones, with their connections."""
        del self.layers[count:]
        ids = {layer.id for layer in self.layers}
        self.laid_out = {name: tensor for name, tensor in self.laid_out.items() if tensor.port.layer in ids}
        while self.connections and self.connections[-1].target.layer not in ids:
            self.connections.pop()

    def make(self, type: type[LayerType], **values: Any) -> LayerType:
        """Return a layer with these field values. Raises `NotLiftable` for values that it does not take."""
        try:
            return type(**values)
        except FieldErrors as error:
            raise NotLiftable(f"has values that {type.label} does not take: {error}") from None

    def source(self, port: Port) -> Tensor:
        """Return a tensor that leaves a port, with the dimensions that the file first saw."""
        for value in self.values.values():
            if isinstance(value, Tensor) and value.port == port:
                return value
        raise NotLiftable("takes a value that was joined with another")

    # ---- layouts ----

    def as_sequence(self, node: Node, x: Tensor) -> Tensor:
        """Return the tensor as (N, T, C): steps, then channels."""
        return self.relayout(node, x, (BATCH, "T", "C"))

    def as_channels_first(self, node: Node, x: Tensor) -> Tensor:
        """Return the tensor as (N, C), (N, C, T), (N, C, H, W) or (N, C, D, H, W)."""
        axes = {2: "C", 3: "CT", 4: "CHW", 5: "CDHW"}.get(x.rank)
        if axes is None:
            raise NotLiftable(f"works on {x.rank} dimensions")
        return self.relayout(node, x, (BATCH, *axes))

    def as_image(self, node: Node, x: Tensor) -> Tensor:
        """Return the tensor as (N, C, H, W)."""
        return self.relayout(node, x, (BATCH, "C", "H", "W"))

    def relayout(self, node: Node, x: Tensor, want: Sequence[str]) -> Tensor:
        """Return the tensor so that each dimension that the file sees is the named axis (`1`: none), by a permutation
        and a change of layout where needed. Raises `NotLiftable` where that is not possible."""
        want = tuple(want)
        if x.dims == want:
            return x
        if x.rank != len(want) or any("*" in dim for dim in x.dims):
            raise NotLiftable(f"needs {len(want)} dimensions, of which the first is the batch, and has {x.rank}")
        if x.dims.index(BATCH) != want.index(BATCH):
            raise NotLiftable("takes the batch for another dimension")
        axes = tuple(dim for dim in want if dim not in (BATCH, ONE))
        layout = next((shape for shape in (*LAYOUTS.values(), ("T",)) if sorted(shape) == sorted(axes)), None)
        if layout is None:
            raise NotLiftable("has no layout that layers know")
        places = [want.index(axis) for axis in layout]
        real = [x.dims[place] for place in places if x.dims[place] != ONE]
        dropped = [axis for axis in x.type.axes if axis not in real]
        if any(x.type[axis] != 1 for axis in dropped):
            raise NotLiftable("loses a dimension")
        order = [*real, *dropped] if dropped else real
        x = self._permuted(node, x, order)
        if not dropped and len(real) == len(layout):
            return x.viewed(want)
        sizes = [x_size for place in places if (x_size := x.size(place))]
        if x.type.axes == tuple(layout) and list(x.type.sizes) == sizes:
            return x.viewed(want)
        return self.reshaped(node, x, layout, sizes).viewed(want)

    def _permuted(self, node: Node, x: Tensor, order: Sequence[str]) -> Tensor:
        """Return the tensor with its axes in this order in memory; `dims` still say what each dimension is."""
        if tuple(order) == x.type.axes:
            return x
        numbers = tuple(x.type.axes.index(axis) + 1 for axis in order)
        renamed = dict(zip(order, x.type.axes, strict=True))
        dims = tuple("*".join(renamed.get(name, name) for name in dim.split("*")) for dim in x.dims)
        if x.type.kind != "real":
            raise NotLiftable("permutes indices")
        return self.add(node, Permute(order=numbers), x, dims=dims, name="permute")

    def in_order(self, node: Node, x: Tensor) -> Tensor:
        """Return the tensor with its axes in memory as the file sees them, and the batch first."""
        axes = [dim for dim in x.dims if dim not in (BATCH, ONE)]
        if any("*" in dim for dim in x.dims) or next(d for d in x.dims if d != ONE) != BATCH:
            raise NotLiftable("has another dimension before the batch")
        return self._permuted(node, x, axes)

    def reshaped(self, node: Node, x: Tensor, layout: Sequence[str], sizes: Sequence[Any]) -> Tensor:
        """Return the numbers of the tensor, as they are in memory, with another layout."""
        if any(isinstance(size, Free) for size in sizes) or not x.type.is_known:
            raise NotLiftable("changes the layout of sizes that are known only when the network runs")
        if x.type.kind != "real":
            raise NotLiftable("changes the layout of indices")
        if len(layout) == 1:
            return self.add(node, Flatten(), x, dims=(BATCH, "C"), name="flatten")
        type = self.make(Reshape, layout=NAMES[tuple(layout)], sizes=tuple(int(size) for size in sizes))
        return self.add(node, type, x, dims=(BATCH, *layout), name="reshape")


def _shows(dims: Sequence[str], type: TensorType) -> bool:
    """Return whether these dimensions name all axes, but for such of size 1 that the file does not have."""
    names = {name for dim in dims for name in dim.split("*")}
    return all(axis in names or size == 1 for axis, size in zip(type.axes, type.sizes, strict=True))


def canonical(type: TensorType) -> tuple[str, ...]:
    """Return the dimensions of a tensor that the file sees as the layer has them."""
    return (BATCH, *type.axes)
