"""Blocks: paths into them, edits of the network inside, group and ungroup. Pure functions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Comment, Frame, Layout, Position
from netwright.engine.network.network import Connection, Layer, Network, Port, bypass_refusal, free_name

Path = Sequence[str]
"""Ids of nested blocks, from the outermost in; empty for the network itself."""
_ROW = 90.0
_Written = TypeVar("_Written", Frame, Comment)


def network_in(network: Network, path: Path) -> Network:
    """Return the network inside the block at the end of the path. Raises `UserError` if there is none."""
    for id in path:
        layer = network.layers.get(id)
        if layer is None or not isinstance(layer.type, Block):
            raise UserError("The block is not in the network any more.")
        network = layer.type.network
    return network


def known_path(network: Network, path: Path) -> tuple[str, ...]:
    """Return the longest beginning of the path that leads to an existing block."""
    ids: list[str] = []
    for id in path:
        layer = network.layers.get(id)
        if layer is None or not isinstance(layer.type, Block):
            break
        network = layer.type.network
        ids.append(id)
    return tuple(ids)


def path_of(network: Network, names: str) -> tuple[str, ...]:
    """Return the path of a block by its names, `stage/block`. Raises `UserError` if there is none."""
    path: list[str] = []
    for name in names.split("/") if names else ():
        blocks = {layer.name: layer for layer in network.layers.values() if isinstance(layer.type, Block)}
        if name not in blocks:
            around = "/".join(names.split("/")[: len(path)])
            where = f"'{around}'" if around else "the network"
            raise UserError(f"There is no block {quoted(name)} in {where}.{did_you_mean(name, blocks)}")
        path.append(blocks[name].id)
        network = network_in(network, path[-1:])
    return tuple(path)


def names_of(network: Network, path: Path) -> tuple[str, ...]:
    """Return the names of the blocks on the path."""
    names = []
    for id in path:
        layer = network.layers[id]
        assert isinstance(layer.type, Block)
        names.append(layer.name)
        network = layer.type.network
    return tuple(names)


def analysis_in(analysis: Analysis, path: Path) -> Analysis:
    """Return the analysis inside the block at the end of the path, in its first copy."""
    for id in path:
        if id not in analysis.inside:
            return Analysis({}, ())
        analysis = analysis.inside[id].copies[0]
    return analysis


def with_network_in(network: Network, path: Path, inner: Network) -> Network:
    """Return the network with another one inside a block, and inside those with the same weights. Connections follow
    renamed ports, and are removed with removed ports; a block that can no longer be bypassed becomes active again.
    Raises `UserError` where the block would become too large or too deep."""
    if not path:
        return inner
    id, *rest = path
    block = network.layers[id].type
    assert isinstance(block, Block)
    inside = with_network_in(block.network, rest, inner)
    for each in network.sharing(id):
        network = _with_contents(network, each, inside)
    return network


def with_layout_in(network: Network, layout: Layout, path: Path, inner: Layout) -> Layout:
    """Return the layout with another one inside a block, and inside those with the same weights: they stay equal."""
    if not path:
        return inner
    id, *rest = path
    block = network.layers[id].type
    assert isinstance(block, Block)
    inside = with_layout_in(block.network, layout.within([id]), rest, inner)
    return replace(layout, inside={**layout.inside, **dict.fromkeys(network.sharing(id), inside)})


def _with_contents(network: Network, id: str, inner: Network) -> Network:
    layer = network.layers[id]
    assert isinstance(layer.type, Block)
    changed = layer.type.with_network(inner)
    after = replace(layer, type=changed, bypassed=layer.bypassed and bypass_refusal(changed) is None)
    if layer.type.input_ports() == changed.input_ports() and layer.type.output_ports() == changed.output_ports():
        return network.with_layer(after)
    ins, outs = (_renamed_ports(layer.type, changed, kind) for kind in (BlockInput, BlockOutput))
    connections = []
    for connection in network.connections:
        source, target = connection.source, connection.target
        if source.layer == id:
            if source.name not in outs:
                continue
            source = Port(id, outs[source.name])
        if target.layer == id:
            if target.name not in ins:
                continue
            target = Port(id, ins[target.name])
        connections.append(Connection(source, target))
    return Network({**network.layers, id: after}, tuple(connections))


def _renamed_ports(before: Block, after: Block, kind: type[BlockInput] | type[BlockOutput]) -> dict[str, str]:
    """Return the new name of each port that still exists."""
    there = set(after.ids(kind))
    return {before.network.layers[id].name: after.network.layers[id].name for id in before.ids(kind) if id in there}


_COLUMN, _STEP = 272.0, 72.0
"""Distance between columns, and between layers in one, where the network flows to the right."""


def group(network: Network, layout: Layout, ids: Collection[str], name: str = "") -> tuple[Network, Layout, str]:
    """Return the network with these layers replaced by a new block that contains them, and the block's id.

    Each output outside that feeds them becomes one input of the block; each of their outputs that is used outside, or
    unused, becomes one output. Raises `UserError` for layers that cannot be inside a block, and where the block would
    feed itself.
    """
    layers = {id: network.layers[id] for id in network.layers if id in set(ids)}
    _refuse_group(layers)
    _refuse_apart(network, layers)
    box = _bounds(layout, layers)
    inner, inputs = _with_inputs(edits.part(network, layers), network, layers)
    inner, outputs = _with_outputs(inner, _leaving(network, layers))
    outside = edits.remove_layers(network, layers)
    outside, block = edits.add_layer(outside, Block(inner), name or free_name("block", outside.by_name))
    lines = [Connection(source, Port(block.id, layer.name)) for source, layer in inputs.items()]
    for c in network.connections:
        if c.source in outputs and c.target.layer not in layers:
            lines.append(Connection(Port(block.id, outputs[c.source].name), c.target))
    result = Network(outside.layers, (*outside.connections, *lines))
    if block.id in result.cyclic:
        between = next(id for id in result.layers if id in result.cyclic and id != block.id)
        raise UserError(
            f"These layers cannot be one block: what leaves them comes back through '{network.layers[between].name}'. "
            "Select it too."
        )
    places: dict[str, Position] = {id: layout.at(id) for id in layers}
    places.update(_places_of_ports(box, inputs.values(), outputs.values(), layout.flow))
    inner_layouts = {id: layout.inside[id] for id in layers if id in layout.inside}
    inside = Layout(places, inside=inner_layouts, flow=layout.flow)
    moved = layout.without(layers).moved({block.id: box.middle}).with_inside([block.id], inside)
    return result, moved, block.id


def fixed_layers(network: Network, ids: Collection[str]) -> dict[str, Layer]:
    """Return the layers among these that cannot be inside a block: network inputs, and ports of the enclosing block."""
    layers = {id: network.layers[id] for id in network.layers if id in set(ids)}
    is_fixed = {
        id: layer.type.is_input or isinstance(layer.type, BlockInput | BlockOutput) for id, layer in layers.items()
    }
    return {id: layer for id, layer in layers.items() if is_fixed[id]}


def ungroup(network: Network, layout: Layout, id: str) -> tuple[Network, Layout, tuple[str, ...]]:
    """Return the network with a block replaced by its contents, every copy of them, and the ids of those layers.

    Frames and comments come out with the first copy. Raises `UserError` for a layer that is not a block, and for a
    bypassed block, whose contents would become active again.
    """
    block = _refuse_ungroup(network, network.layers[id])
    inner_layout = layout.within([id])
    if any(inner not in inner_layout.positions for inner in block.network.layers):  # made by hand, or by a program
        inner_layout = arrange(block.network, inner_layout)
    contents = edits.remove_layers(block.network, {*block.ids(BlockInput), *block.ids(BlockOutput)})
    result, copies = _freed_layers(network, id, block, contents)
    left, top = layout.at(id)
    height = dx = dy = 0.0
    if contents.layers:
        box = _bounds(inner_layout, contents.layers)
        height = box.bottom - box.top + _ROW / 2
        dx, dy = left + NODE_WIDTH / 2 - (box.left + box.right) / 2, top - box.top
    places: dict[str, Position] = {}
    inside: dict[str, Layout] = {}
    for number, new_ids in enumerate(copies):
        for old, new in new_ids.items():
            x, y = inner_layout.at(old)
            places[new] = (x + dx, y + dy + number * height)
            if old in inner_layout.inside:
                inside[new] = inner_layout.inside[old]
    room = max(0.0, block.repeat * height - NODE_HEIGHT - _ROW / 2)
    others = ((other, layout.at(other)) for other in result.layers if other not in places)
    below = {other: (x, y + room) for other, (x, y) in others if y > top}
    moved = layout.without([id]).moved({**below, **places})
    frames = [*moved.frames, *(_freed(item, moved.frames, dx, dy) for item in inner_layout.frames)]
    comments = [*moved.comments, *(_freed(item, moved.comments, dx, dy) for item in inner_layout.comments)]
    inside = {**moved.inside, **inside}
    added = tuple(new for new_ids in copies for new in new_ids.values())
    return result, replace(moved, inside=inside, frames=tuple(frames), comments=tuple(comments)), added


@dataclass(frozen=True)
class _Box:
    """Bounding box of some layers."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> Position:
        """Return the position of a layer with the same centre."""
        return (self.left + self.right - NODE_WIDTH) / 2, (self.top + self.bottom - NODE_HEIGHT) / 2


def _bounds(layout: Layout, ids: Collection[str]) -> _Box:
    xs, ys = zip(*(layout.at(id) for id in ids), strict=True)
    return _Box(min(xs), min(ys), max(xs) + NODE_WIDTH, max(ys) + NODE_HEIGHT)


def _refuse_group(layers: Mapping[str, Layer]) -> None:
    if not layers:
        raise UserError("Select the layers that are to be one block.")
    for layer in layers.values():
        if layer.type.is_input:
            raise UserError(f"'{layer.name}' is an input of the network and cannot be inside a block. Leave it out.")
        if isinstance(layer.type, BlockInput | BlockOutput):
            raise UserError(f"'{layer.name}' is a port of this block and cannot be inside another. Leave it out.")


def _refuse_apart(network: Network, layers: Mapping[str, Layer]) -> None:
    """Raise `UserError` where layers with the same weights would stand inside and outside of a block."""
    for layer in layers.values():
        for other in network.sharing(layer.id):
            if other not in layers:
                raise UserError(
                    f"'{layer.name}' has the same weights as '{network.layers[other].name}', which stays outside "
                    "of the block. Select both, or give each weights of its own."
                )


def _leaving(network: Network, layers: Mapping[str, Layer]) -> list[Port]:
    """Return the outputs of these layers that other layers use, or that are unused."""
    loose = set(network.output_ports)
    uses = {c.source for c in network.connections if c.source.layer in layers and c.target.layer not in layers}
    return [
        Port(id, port)
        for id in dict.fromkeys((*(id for id in network.order if id in layers), *layers))
        for port in layers[id].type.output_ports()
        if Port(id, port) in uses or Port(id, port) in loose
    ]


def _with_inputs(inner: Network, network: Network, layers: Mapping[str, Layer]) -> tuple[Network, dict[Port, Layer]]:
    """Return the inner network with an input layer for each output outside that feeds it."""
    feeds = dict.fromkeys(
        c.source for c in network.connections if c.target.layer in layers and c.source.layer not in layers
    )
    inputs: dict[Port, Layer] = {}
    for source in feeds:
        inner, inputs[source] = edits.add_layer(inner, BlockInput(), free_name("input", inner.by_name))
        targets = [c.target for c in network.connections if c.source == source and c.target.layer in layers]
        lines = (Connection(Port(inputs[source].id, "out"), target) for target in targets)
        inner = replace(inner, connections=(*inner.connections, *lines))
    return inner, inputs


def _with_outputs(inner: Network, gives: Iterable[Port]) -> tuple[Network, dict[Port, Layer]]:
    """Return the inner network with an output layer for each of its outputs that leaves it."""
    outputs: dict[Port, Layer] = {}
    for port in gives:
        inner, outputs[port] = edits.add_layer(inner, BlockOutput(), free_name("output", inner.by_name))
        inner = edits.connect(inner, port, Port(outputs[port].id, "in"))
    return inner, outputs


def _places_of_ports(box: _Box, inputs: Iterable[Layer], outputs: Iterable[Layer], flow: str) -> dict[str, Position]:
    """Return positions of the inputs in a line before the layers, and of the outputs behind them."""
    if flow == "down":
        width = NODE_WIDTH + 24
        above = {layer.id: (box.left + n * width, box.top - _ROW) for n, layer in enumerate(inputs)}
        below = {layer.id: (box.left + n * width, box.bottom - NODE_HEIGHT + _ROW) for n, layer in enumerate(outputs)}
        return {**above, **below}
    before = {layer.id: (box.left - _COLUMN, box.top + n * _STEP) for n, layer in enumerate(inputs)}
    behind = {layer.id: (box.right - NODE_WIDTH + _COLUMN, box.top + n * _STEP) for n, layer in enumerate(outputs)}
    return {**before, **behind}


def _refuse_ungroup(network: Network, layer: Layer) -> Block:
    """Return the block. Raises `UserError` if it cannot be ungrouped."""
    if not isinstance(layer.type, Block):
        raise UserError(f"'{layer.name}' is no block.")
    if not layer.type.gives_what_leaves:
        raise UserError(f"'{layer.name}' computes what is inside many times over: it cannot be ungrouped. Open it.")
    if len(network.sharing(layer.id)) > 1:
        raise UserError(f"'{layer.name}' shares its weights with another block. Give it its own before you ungroup it.")
    if layer.bypassed:
        raise UserError(f"'{layer.name}' is bypassed. Use it again before you ungroup it, or delete it.")
    return layer.type


def _freed_layers(network: Network, id: str, block: Block, contents: Network) -> tuple[Network, list[dict[str, str]]]:
    """Return the network with a block replaced by `contents`, each copy fed by the previous one; and for each
    copy the new ids by the old ones."""
    ins, outs = block.ids(BlockInput), block.ids(BlockOutput)
    sources: list[Port | None] = [network.incoming[id].get(port) for port in block.input_ports()]
    result = edits.remove_layers(network, {id})
    copies: list[dict[str, str]] = []
    for _ in range(block.repeat):
        result, new_ids = edits.paste(result, contents)
        copies.append(new_ids)

        def outer(port: Port, ports: list[Port | None] = sources, ids: Mapping[str, str] = new_ids) -> Port | None:
            return ports[ins.index(port.layer)] if port.layer in ins else Port(ids[port.layer], port.name)

        lines = [
            Connection(source, Port(new_ids[c.target.layer], c.target.name))
            for c in block.network.connections
            if c.source.layer in ins and c.target.layer in new_ids and (source := outer(c.source)) is not None
        ]
        result = Network(result.layers, (*result.connections, *lines))
        feeds = [block.network.incoming[out].get("in") for out in outs]
        leaving = [outer(feed) if feed is not None else None for feed in feeds]
        sources = [*leaving, *sources[len(leaving) :]]
    gives = dict(zip(block.output_ports(), leaving, strict=True))
    lines = [
        Connection(source, c.target)
        for c in network.outgoing[id]
        if c.target.layer != id and (source := gives.get(c.source.name)) is not None
    ]
    return Network(result.layers, (*result.connections, *lines)), copies


def _freed(item: _Written, others: Sequence[Frame | Comment], dx: float, dy: float) -> _Written:
    """Return a frame or a comment from inside a block, placed among those outside."""
    ids = {other.id for other in others}
    return replace(item, id=edits.new_id(ids) if item.id in ids else item.id, at=(item.at[0] + dx, item.at[1] + dy))
