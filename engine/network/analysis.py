"""Shape inference without torch: types on every connection, problems, parameters and FLOPs.

`analyse` runs at every keystroke. The result of each layer's rules is cached by layer type (with field values) and
input types, so an edit recomputes only the layers that it changes and those downstream.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from netwright.engine.core.errors import ShapeError, UnknownSizesError, UntrustedCodeError, plural
from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.weighted import Weighted
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Layer, Network, Port, sharing_refusal
from netwright.engine.network.problems import Problem, Severity

NO_LAYERS = (Problem("error", "", "", "", "The network has no layers. Add an input layer first."),)
"""The problems of an empty network."""
Given = Mapping[str, TensorType | None]
"""Types that enter a block, by the id of the block input that represents the port."""


@dataclass(frozen=True)
class LayerShapes:
    """Input and output types of one layer, the sizes of its weights, parameters and FLOPs per sample."""

    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    weights: Mapping[str, Sizes]
    parameters: int
    flops: int
    ports: tuple[str, ...] = ("out",)
    """Names of the output ports; empty for the ports inside a block."""
    inner: tuple[TensorType, ...] = ()
    """Output types of each layer inside a block, in all copies; only for blocks."""

    def at(self, port: str) -> TensorType:
        """Return the type at the output port of this name."""
        return self.outputs[self.ports.index(port)] if len(self.ports) > 1 else self.outputs[0]

    @property
    def is_port(self) -> bool:
        """Return whether this is a port of a block, which only names the output of another layer."""
        return not self.ports

    @property
    def output(self) -> TensorType:
        """Return the type at the first output port; for a layer without output ports, its input type."""
        return self.outputs[0]


@dataclass(frozen=True)
class Inside:
    """Analysis of a block: one analysis per copy in sequence, and the types at its outputs, where known."""

    copies: tuple["Analysis", ...]
    outputs: tuple[TensorType | None, ...]
    repeat: int = 1
    """Number of copies of the block; the copies behind one with errors are not analysed."""
    is_bypassed: bool = False
    """Return whether the block is bypassed; its contents then neither count nor cause problems."""

    def problems(self, block: Layer) -> Iterator[Problem]:
        """Return the problems of the first copy that has any, with paths as in the network around the block."""
        if self.is_bypassed:
            return
        number = next((n for n, copy in enumerate(self.copies) if copy.problems), None)
        if number is None:
            return
        where = f" (In copy {number + 1} of {self.repeat}.)" if number else ""
        for problem in self.copies[number].problems:
            yield replace(problem.lifted(block.id, block.name), message=problem.message + where)


@dataclass(frozen=True)
class Analysis:
    """Shapes by layer id, where known, and problems. Only the first layer of an invalid chain reports a problem."""

    shapes: Mapping[str, LayerShapes]
    problems: tuple[Problem, ...]
    inside: Mapping[str, Inside] = field(default_factory=dict)
    """Analyses of the blocks by id, including blocks with errors and blocks without connected inputs."""

    def all_shapes(self) -> Iterator[tuple[str, LayerShapes]]:
        """Return the shapes of all layers except blocks, by id path: `stage/conv`, and in a repeated block
        `stage/2/conv`."""
        for id, shapes in self.shapes.items():
            if id not in self.inside or self.inside[id].is_bypassed:
                yield id, shapes
                continue
            copies = self.inside[id].copies
            for number, copy in enumerate(copies):
                path = copy_path(id, number, len(copies))
                yield from ((f"{path}/{inner}", inner_shapes) for inner, inner_shapes in copy.all_shapes())

    @property
    def parameters(self) -> int:
        """Return the number of learnable parameters of the network."""
        return sum(f.parameters for f in self.shapes.values())

    @property
    def flops(self) -> int:
        """Return the FLOPs per sample of the forward pass."""
        return sum(f.flops for f in self.shapes.values())

    @property
    def has_errors(self) -> bool:
        """Return whether the network has errors that keep it from being built."""
        return any(p.severity == "error" for p in self.problems)

    def type_at(self, port: Port) -> TensorType | None:
        """Return the type at an output port, or None where it is not known."""
        shapes = self.shapes.get(port.layer)
        return shapes.at(port.name) if shapes else None

    def problems_of(self, layer: str) -> tuple[Problem, ...]:
        """Return the problems of a layer, by its id, including those of layers inside it."""
        return tuple(p for p in self.problems if p.path[0] == layer)


def _shapes_of(type: LayerType, inputs: tuple[TensorType, ...]) -> LayerShapes | ShapeError:
    """Return the shapes for these inputs: from the cache for declared rules, computed anew where sizes are measured."""
    return _infer_shapes(type, inputs) if type.is_measured else _cached_shapes(type, inputs)


@lru_cache(maxsize=20_000)
def _cached_shapes(type: LayerType, inputs: tuple[TensorType, ...]) -> LayerShapes | ShapeError:
    """Return the shapes that the layer type's rules give, cached: the arguments and the result are immutable values."""
    return _infer_shapes(type, inputs)


def _infer_shapes(type: LayerType, inputs: tuple[TensorType, ...]) -> LayerShapes | ShapeError:
    """Infer the shapes of a layer, or the problem that prevents it."""
    for problem in type.problems():
        return ShapeError(f"The field {problem}", field=problem.path)
    try:
        outputs = type.output_types(*inputs)
        weights = type.weights(*inputs)
        flops = type.flops(*inputs)
    except ShapeError as error:
        return error
    return LayerShapes(
        inputs, outputs, weights, sum(math.prod(sizes) for sizes in weights.values()), flops, type.output_ports()
    )


def copy_path(id: str, number: int, count: int) -> str:
    """Return the name of a copy of a block in paths of ids and of names: the block's own for one copy, else with its
    number."""
    return id if count == 1 else f"{id}/{number}"


def inside(block: Block, inputs: tuple[TensorType | None, ...]) -> Inside:
    """Return the analysis of every copy of a block with these input types; cached, unless a layer inside is
    measured."""
    return _inside(block, inputs) if block.is_measured else _cached_inside(block, inputs)


@lru_cache(maxsize=4_000)
def _cached_inside(block: Block, inputs: tuple[TensorType | None, ...]) -> Inside:
    return _inside(block, inputs)


def _inside(block: Block, inputs: tuple[TensorType | None, ...]) -> Inside:
    ins, outs = block.ids(BlockInput), block.ids(BlockOutput)
    copies: list[Analysis] = []
    types = inputs
    for _ in range(block.repeat):
        copy = analyse(block.network, dict(zip(ins, types, strict=True)))
        copies.append(copy)
        outputs = tuple(copy.shapes[id].output if id in copy.shapes else None for id in outs)
        if copy.has_errors:
            break
        if all(outputs) and all(types) and (message := block.shape_error(_known(types), _known(outputs))):
            copies[-1] = replace(copy, problems=(*copy.problems, Problem("error", "", "", "", message)))
            break
        types = (*outputs, *inputs[len(outputs) :])
        if len(types) != len(ins) and len(copies) < block.repeat:
            too_many = _too_many_outputs(len(outs), len(ins))
            copies[0] = replace(copy, problems=(*copy.problems, too_many))
            break
    return Inside(tuple(copies), outputs, block.repeat)


def _known(types: Iterable[TensorType | None]) -> tuple[TensorType, ...]:
    return tuple(type for type in types if type is not None)


def _too_many_outputs(outputs: int, inputs: int) -> Problem:
    message = (
        f"A block that is repeated hands its outputs to the next copy; this one has {plural(outputs, 'output')} for "
        f"{plural(inputs, 'input')}. Remove outputs, add inputs, or do not repeat it."
    )
    return Problem("error", "", "", "repeat", message)


def analyse(network: Network, input_types: Given | None = None) -> Analysis:
    """Analyse the types, parameters, FLOPs and problems of a network; data and options are checked in
    `netwright.engine.project.check`.

    For the network inside a block, `input_types` holds the types that enter it, where known.
    """
    shapes: dict[str, LayerShapes] = {}
    blocks: dict[str, Inside] = {}
    problems = _cycle_problems(network)
    for id in network.order:
        layer = network.layers[id]
        sources = network.incoming[id]
        ports = layer.type.input_ports()
        missing = [port for port in ports if port not in sources]
        source_types = tuple(_type_at(shapes, sources.get(port)) for port in ports)
        if isinstance(layer.type, Block):
            blocks[id] = replace(inside(layer.type, source_types), is_bypassed=layer.bypassed)
            problems += blocks[id].problems(layer)
        if missing:
            problems.append(_unconnected(layer, missing))
        if (missing or None in source_types) and (fault := layer.effective_type.fault()) is not None:
            problems.append(_refused(layer, fault))
        if missing:
            continue
        if input_types is not None and isinstance(layer.type, BlockInput):
            type = input_types.get(id)
            if type is not None:
                shapes[id] = LayerShapes((), (type,), {}, 0, 0, ())
            continue
        inputs = tuple(type for type in source_types if type is not None)
        if len(inputs) < len(source_types):
            continue  # a layer upstream has already complained
        layer_shapes = (
            _block_shapes(layer, inputs, blocks[id]) if id in blocks else _shapes_of(layer.effective_type, inputs)
        )
        if isinstance(layer_shapes, ShapeError):
            problems.append(_refused(layer, layer_shapes))
        elif layer_shapes is not None:
            shapes[id] = layer_shapes
    for id in (id for ids in network.borrowers.values() for id in ids):
        problems += _share(network, id, shapes, blocks)
    whole = _whole_problems(network) if input_types is None else _inner_problems(network)
    return Analysis(shapes, (*problems, *whole), blocks)


def _share(network: Network, id: str, shapes: dict[str, LayerShapes], blocks: dict[str, Inside]) -> tuple[Problem, ...]:
    """Count the weights that a layer shares at their owner alone. Return the problem of a layer that cannot share."""
    layer = network.layers[id]
    owner = network.layers[layer.weights_of]
    message = sharing_refusal(layer, owner)
    if id in shapes and not layer.bypassed:
        if not message and owner.id in shapes and shapes[id].weights != shapes[owner.id].weights:
            message = (
                f"It uses the weights of '{owner.name}', which do not fit its input: it has {shapes[id].inputs[0]}, "
                f"and '{owner.name}' {shapes[owner.id].inputs[0]}. Connect the same sizes, or give it its own weights."
            )
        shapes[id] = replace(shapes[id], weights={}, parameters=0)
    if id in blocks:
        blocks[id] = replace(blocks[id], copies=tuple(map(_without_weights, blocks[id].copies)))
    return (Problem("error", id, layer.name, "", message),) if message else ()


def _without_weights(analysis: Analysis) -> Analysis:
    """Return the analysis of a network whose weights count elsewhere."""
    shapes = {id: replace(each, weights={}, parameters=0) for id, each in analysis.shapes.items()}
    inside = {
        id: replace(each, copies=tuple(map(_without_weights, each.copies))) for id, each in analysis.inside.items()
    }
    return replace(analysis, shapes=shapes, inside=inside)


def _refused(layer: Layer, error: ShapeError) -> Problem:
    severity: Severity = "warning" if isinstance(error, UnknownSizesError) else "error"
    where = error.field or error.port or ""
    is_untrusted = isinstance(error, UntrustedCodeError)
    return Problem(severity, layer.id, layer.name, where, str(error), needs_trust=is_untrusted)


def _type_at(shapes: Mapping[str, LayerShapes], source: Port | None) -> TensorType | None:
    layer_shapes = shapes.get(source.layer) if source is not None else None
    return layer_shapes.at(source.name) if source is not None and layer_shapes is not None else None


def _block_shapes(layer: Layer, inputs: tuple[TensorType, ...], inside: Inside) -> LayerShapes | ShapeError | None:
    """Return the shapes of a block: the sum over its layers, once it has no errors and every output type is known."""
    if layer.bypassed:
        return _shapes_of(layer.effective_type, inputs)
    outputs = tuple(type for type in inside.outputs if type is not None)
    if len(outputs) < len(inside.outputs) or not outputs or any(copy.has_errors for copy in inside.copies):
        return None
    assert isinstance(layer.type, Block)
    weights: dict[str, Sizes] = {}
    for number, copy in enumerate(inside.copies):
        path = f"{number}." if len(inside.copies) > 1 else ""
        for id, shapes in copy.shapes.items():
            name = layer.type.network.layers[id].name
            weights |= {f"{path}{name}.{weight}": sizes for weight, sizes in shapes.weights.items()}
    parameters, flops = (sum(getattr(copy, field) for copy in inside.copies) for field in ("parameters", "flops"))
    inner_shapes = (shapes for copy in inside.copies for _, shapes in copy.all_shapes() if not shapes.is_port)
    times = layer.type.evaluations
    inner = times * tuple(type for shapes in inner_shapes for type in shapes.outputs)
    return LayerShapes(inputs, outputs, weights, parameters, times * flops, layer.type.output_ports(), inner)


def _unconnected(layer: Layer, missing: list[str]) -> Problem:
    subject = "The input is" if layer.type.input_ports() == ("in",) else f"Input {', '.join(missing)} is"
    if len(missing) > 1:
        subject = f"Inputs {', '.join(missing)} are"
    return Problem("error", layer.id, layer.name, missing[0], f"{subject} not connected. Connect a layer to it.")


def _cycle_problems(network: Network) -> list[Problem]:
    """Return one problem for all layers of a cycle, at the first of them."""
    cycle = [network.layers[id] for id in network.layers if id in network.cyclic]
    if not cycle:
        return []
    names = ", ".join(layer.name for layer in cycle[:6]) + (", ..." if len(cycle) > 6 else "")
    message = f"The connections form a cycle through {names}. Cut one of them: data flows one way."
    return [Problem("error", cycle[0].id, cycle[0].name, "", message)]


def _whole_problems(network: Network) -> list[Problem]:
    """Return the problems of the network as a whole."""
    if not network.layers:
        return [*NO_LAYERS]
    if not network.inputs:
        return [Problem("error", "", "", "", "The network has no input layer. Add one and connect it.")]
    return []


def _inner_problems(network: Network) -> list[Problem]:
    """Return the problems of a block's contents as a whole: no output, its own input layer, or unconnected ports."""
    problems = []
    if not any(isinstance(layer.type, BlockOutput) for layer in network.layers.values()):
        problems.append(Problem("error", "", "", "", "The block has no output. Add a block output and connect it."))
    for layer in network.inputs:
        message = "An input layer cannot stand inside a block. Put it outside, and a block input in its place."
        problems.append(Problem("error", layer.id, layer.name, "", message))
    for port in network.output_ports:
        layer = network.layers[port.layer]
        message = "Nothing inside the block uses this. Connect it to a layer or a block output, or delete it."
        problems.append(Problem("error", layer.id, layer.name, port.name, message))
    return problems


def type_at(network: Network, path: str) -> LayerType:
    """Return the type of the layer at a path of ids as in `Analysis.all_shapes`: `conv`, `stage/conv`, `stage/2/conv`.

    Inside a frozen block every layer that learns is frozen.
    """
    id, _, rest = path.partition("/")
    type = network.layers[id].type
    if not rest:
        return type
    assert isinstance(type, Block)
    inner = type_at(type.network, rest.partition("/")[2] if type.repeat > 1 else rest)
    return inner.replace(frozen=True) if type.frozen and isinstance(inner, Weighted) else inner


def named_path(network: Network, path: str) -> str:
    """Return the path of a layer by names, for a path by ids as in `Analysis.all_shapes`; copies keep their number."""
    id, _, rest = path.partition("/")
    layer = network.layers[id]
    if not rest:
        return layer.name
    assert isinstance(layer.type, Block)
    number, inner = "", rest
    if layer.type.repeat > 1:
        number, _, inner = rest.partition("/")
        number += "/"
    return f"{layer.name}/{number}{named_path(layer.type.network, inner)}"


def owner_path(network: Network, path: str) -> str:
    """Return the path of the layer whose weights the layer at a path of ids uses, often itself."""
    id, _, rest = path.partition("/")
    owner = network.layers[id].weights_of or id
    if not rest:
        return owner
    type = network.layers[id].type
    assert isinstance(type, Block)
    number, inner = "", rest
    if type.repeat > 1:
        number, _, inner = rest.partition("/")
        number += "/"
    return f"{owner}/{number}{owner_path(type.network, inner)}"


def is_frozen(type: LayerType) -> bool:
    """Return whether training leaves the weights of a layer unchanged."""
    return bool(getattr(type, "frozen", False))


def is_in_frozen(network: Network, path: Sequence[str]) -> bool:
    """Return whether a block on the path (ids from the outermost in) is frozen, so that its layers do not learn."""
    if not path:
        return False
    block = network.layers[path[0]].type
    assert isinstance(block, Block)
    return block.frozen or is_in_frozen(block.network, path[1:])


def frozen_parameters(network: Network, analysis: Analysis) -> int:
    """Return the number of parameters that training leaves unchanged."""
    with_weights = ((path, shapes.parameters) for path, shapes in analysis.all_shapes() if shapes.parameters)
    return sum(count for path, count in with_weights if is_frozen(type_at(network, path)))


def output_softmaxes(network: Network) -> frozenset[str]:
    """Return the id paths of the softmax layers whose result is an output of the network, including those at the end
    of a block.

    Training with cross-entropy omits them, because the loss includes a softmax; exports keep them.
    """
    return folded(network, dict.fromkeys(network.output_ports, "softmax"))


def folded(network: Network, keys: Mapping[Port, str]) -> frozenset[str]:
    """Return the id paths of the layers of these types (a softmax, a sigmoid) whose result leaves at these outputs."""
    ends = (_layer_at(network, port, key) for port, key in keys.items())
    return frozenset(end for end in ends if end)


def _layer_at(network: Network, port: Port, key: str) -> str:
    """Return the id path of the layer of this type whose result leaves at this port, or None."""
    port = _effective_end(network, port)
    type = network.layers[port.layer].effective_type
    if not isinstance(type, Block):
        return port.layer if type.key == key else ""
    if not type.gives_what_leaves:
        return ""
    out = next(id for id in type.ids(BlockOutput) if type.network.layers[id].name == port.name)
    source = type.network.incoming[out].get("in")
    if source is None or len([c.target for c in type.network.outgoing[source.layer] if c.source == source]) != 1:
        return ""
    path = _layer_at(type.network, source, key)
    return f"{copy_path(port.layer, type.repeat - 1, type.repeat)}/{path}" if path else ""


def _effective_end(network: Network, port: Port) -> Port:
    """Return the port whose result leaves at an output: that port, or its source behind bypassed layers alone."""
    while network.layers[port.layer].bypassed and network.incoming[port.layer]:
        (source,) = network.incoming[port.layer].values()
        if len(network.outgoing[source.layer]) != 1:
            break
        port = source
    return port
