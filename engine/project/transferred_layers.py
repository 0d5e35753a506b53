"""Transfer learning: a new head for other classes, layers that keep their weights, and layers that learn slowly.

Pure functions from a project to a new one. What `weights.freeze_up_to` names is not written into the fields of the
layers: `with_freezing` is the network as it trains, and `frozen_layers` says for the canvas what does not learn.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.network import blocks, edits
from netwright.engine.network.analysis import is_frozen
from netwright.engine.network.block import Block, BlockOutput
from netwright.engine.network.blocks import Path, names_of, network_in
from netwright.engine.network.network import Connection, Layer, Network, Port, free_name
from netwright.engine.network.problems import Fix, Problem
from netwright.engine.project.bindings import match_targets, output_name
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project, project_in, with_project_in

HEADS = {
    "fully_connected": "outputs",
    "complex_fully_connected": "outputs",
    **{f"{kind}{axes}d": "filters" for kind in ("conv", "transposed_conv") for axes in (1, 2, 3)},
}
"""Types of layers that can be a head, with the field that decides the number of their outputs."""
RATE = "_learn_rate_factor"
"""End of the names of the fields that hold a factor of the learn rate."""


def layer_path(network: Network, text: str) -> tuple[str, ...]:
    """Return the path of ids of the layer that a text names, by id or name, in blocks as `stage/conv`.

    Raises `UserError` where there is no such layer.
    """
    path: list[str] = []
    for part in text.split("/"):
        layer = network.layers.get(part) or network.by_name.get(part)
        if layer is None:
            raise UserError(f"There is no layer {quoted(text)}.", hint=did_you_mean(part, network.by_name))
        path.append(layer.id)
        network = layer.type.network if isinstance(layer.type, Block) else Network.empty()
    return tuple(path)


# ---- freezing ----


def freeze_up_to(project: Project, layer: str) -> Project:
    """Return the project in which a layer and all layers that lead to it keep their weights; with an empty text none
    does, apart from those whose field Freeze is on.

    `layer` is an id or a name, in blocks a path. Raises `UserError` for a layer that cannot be named.
    """
    path = "/".join(_refuse_repeated(project.network, layer_path(project.network, layer))) if layer else ""
    return project.with_section("weights", project.weights.replace(freeze_up_to=path))


FREEZE_NONE = Fix("Freeze no layers", lambda project: freeze_up_to(project, ""))


def _refuse_repeated(network: Network, path: tuple[str, ...]) -> tuple[str, ...]:
    for id in path[:-1]:
        block = network.layers[id].type
        assert isinstance(block, Block)
        if block.repeat > 1:
            raise UserError(
                f"'{network.layers[id].name}' is repeated: its copies are frozen together or not at all.",
                hint="Name the block, or the layer before it.",
            )
        network = block.network
    return path


def with_freezing(project: Project) -> Project:
    """Return the project as it trains: Freeze is on in all layers up to the one that `weights.freeze_up_to` names.

    The project itself where none is named, or one that is not there (see `freezing_problem`).
    """
    text = project.weights.freeze_up_to
    if not text:
        return project
    try:
        path = _refuse_repeated(project.network, layer_path(project.network, text))
    except UserError:
        return project
    return replace(project, network=_frozen(project.network, path))


@lru_cache(8)
def _frozen(network: Network, path: tuple[str, ...]) -> Network:
    """Return the network with all layers frozen that lead to the end of a path. Cached, as analyses are by value."""
    id, *rest = path
    target = network.layers[id]
    layers = dict(network.layers)
    ends = set(network.sharing(id))
    for other in _sharing(network, _upstream(network, id)) - ends:
        layers[other] = _with_freeze(layers[other])
    inner = target.type
    if rest:
        assert isinstance(inner, Block)
        inner = inner.with_network(_frozen(inner.network, tuple(rest)))
    for end in ends:  # layers with the same weights stay equal
        layers[end] = replace(layers[end], type=inner) if rest else _with_freeze(layers[end])
    return Network(layers, network.connections)


def _sharing(network: Network, ids: Iterable[str]) -> set[str]:
    """Return these layers, and those with the same weights."""
    return {other for id in ids for other in network.sharing(id)}


def _with_freeze(layer: Layer) -> Layer:
    if "frozen" not in layer.type.fields or is_frozen(layer.type):
        return layer
    return replace(layer, type=layer.type.replace(frozen=True))


def _upstream(network: Network, id: str) -> set[str]:
    """Return the ids of the layers that lead to a layer, without itself."""
    ids: set[str] = set()
    waiting = [id]
    while waiting:
        for source in network.incoming[waiting.pop()].values():
            if source.layer not in ids:
                ids.add(source.layer)
                waiting.append(source.layer)
    return ids - {id}


def frozen_layers(project: Project, path: Path = ()) -> dict[str, str]:
    """Return why layers do not learn, in words by id, for the layers of the network or of a block at a path of ids.

    A block is among them where nothing in it learns. Layers without weights are not.
    """
    whole = with_freezing(project).network
    network, as_set = network_in(whole, path), network_in(project.network, path)
    frozen_block = next((name for name, is_still in _blocks_on(project.network, path) if is_still), "")
    covered = any(is_still for _, is_still in _blocks_on(whole, path))
    target = "/".join(_target_names(project))
    reasons: dict[str, str] = {}
    for id, layer in network.layers.items():
        if not _has_weights(layer):
            continue
        if is_frozen(as_set.layers[id].type):
            reasons[id] = "Keeps its weights: Freeze is on."
        elif frozen_block:
            reasons[id] = f"Keeps its weights: Freeze is on in its block '{frozen_block}'."
        elif covered or is_frozen(layer.type):
            reasons[id] = f"Keeps its weights: frozen up to '{target}'."
    return reasons


def _blocks_on(network: Network, path: Path) -> Iterator[tuple[str, bool]]:
    """Yield name and freezing of each block on a path."""
    for id in path:
        layer = network.layers[id]
        assert isinstance(layer.type, Block)
        yield layer.name, layer.type.frozen
        network = layer.type.network


def _target_names(project: Project) -> tuple[str, ...]:
    try:
        path = layer_path(project.network, project.weights.freeze_up_to)
    except UserError:
        return ()
    return (*names_of(project.network, path[:-1]), network_in(project.network, path[:-1]).layers[path[-1]].name)


def _has_weights(layer: Layer) -> bool:
    if isinstance(layer.type, Block):
        return layer.type.has_weights
    return "frozen" in layer.type.fields


def freezing_problem(project: Project) -> Problem | None:
    """Return the problem of a layer to freeze up to that is not there, or None. Its fix freezes none."""
    text = project.weights.freeze_up_to
    if not text:
        return None
    try:
        _refuse_repeated(project.network, layer_path(project.network, text))
    except UserError as error:
        return Problem("error", "", "", "weights.freeze_up_to", str(error), FREEZE_NONE)
    return None


# ---- the head ----


def replace_head(project: Project, outputs: int | DatasetInfo) -> Project:
    """Return the project with new layers in place of the last layers that decide the number of outputs.

    outputs: the number for the only output of the network, or the data that tells it for each output. The new layers
    have ids and names of their own, so that they start fresh whatever weights a run starts from. Raises `UserError`
    where an output has no such layer.
    """
    network = project.network
    if not network.output_ports:
        raise UserError("The network has no output, so it has no head that could be replaced.")
    if isinstance(outputs, DatasetInfo):
        counts = {port: outputs.targets[number].outputs for port, number in match_targets(network, outputs).items()}
    else:
        counts = {network.output_ports[0]: outputs}
    for port, count in counts.items():
        if count < 1:
            raise UserError(f"A head needs at least one output; received {count:,}.")
        path = head_of(network, port)
        inner = project_in(project, path[:-1])
        project = with_project_in(project, path[:-1], _with_new_head(inner, path[-1], count))
    return project


def head_of(network: Network, port: Port) -> tuple[str, ...]:
    """Return the path of ids of the last layer before an output that decides the number of outputs.

    Layers without weights and normalisations behind it are passed over. Raises `UserError` where there is none.
    """
    path = _head(network, port.layer)
    if path is None:
        raise UserError(
            f"Before the output '{output_name(network, port)}' no fully connected layer or convolution decides the "
            "number of outputs.",
            hint="Put one at the end of the network.",
        )
    return path


def _head(network: Network, end: str) -> tuple[str, ...] | None:
    """Return the path of the head at or before a layer."""
    before = _upstream(network, end) | {end}
    for id in (id for id in reversed(network.order) if id in before):
        type = network.layers[id].type
        if type.key in HEADS:
            return (id,)
        if isinstance(type, Block):
            if type.repeat > 1 or not type.gives_what_leaves:
                return None
            outs = type.ids(BlockOutput)
            inner = _head(type.network, outs[0]) if outs else None
            if inner is not None:
                return (id, *inner)
        elif "frozen" in type.fields and type.family != "Normalisation" and type.key != "prelu":
            return None  # its number of outputs follows from another field, as that of an LSTM
    return None


def _with_new_head(project: Project, id: str, outputs: int) -> Project:
    """Return the project with a new layer of the same type in the place of one layer."""
    network = edits.own_weights(project.network, [id])
    old = network.layers[id]
    type = old.type.replace(**{HEADS[old.type.key]: outputs, "frozen": False})
    fresh = Layer(edits.new_id(network.layers), free_name(old.name, network.by_name), type)

    def moved(port: Port) -> Port:
        return Port(fresh.id, port.name) if port.layer == id else port

    layers = {fresh.id if key == id else key: fresh if key == id else layer for key, layer in network.layers.items()}
    lines = tuple(Connection(moved(line.source), moved(line.target)) for line in network.connections)
    layout = project.layout.without([id]).moved({fresh.id: project.layout.at(id)})
    return replace(project, network=Network(layers, lines), layout=layout)


# ---- lower rates ----


def scale_rates(project: Project, layer: str, factor: float) -> Project:
    """Return the project in which a layer and all layers that lead to it learn at `factor` times the learn rate.

    Their factors are set, not multiplied, so that another call replaces the first one. Raises `UserError`.
    """
    path = layer_path(project.network, layer)
    network = project.network
    for depth in range(len(path)):
        here = network_in(network, path[:depth])
        ids = _upstream(here, path[depth]) | ({path[depth]} if depth == len(path) - 1 else set())
        network = blocks.with_network_in(network, path[:depth], _with_rates(here, ids, factor))
    return replace(project, network=network)


def _with_rates(network: Network, ids: set[str], factor: float) -> Network:
    for id in _sharing(network, ids):
        layer = network.layers[id]
        if isinstance(layer.type, Block):
            inner = layer.type.network
            type = layer.type.with_network(_with_rates(inner, set(inner.layers), factor))
            network = network.with_layer(replace(layer, type=type))
        elif names := [name for name in layer.type.fields if name.endswith(RATE)]:
            network = network.with_layer(replace(layer, type=layer.type.replace(**dict.fromkeys(names, factor))))
    return network


def outputs_of(network: Network) -> int:
    """Return the number of outputs of the head; 0 where there is none, or the network has several outputs."""
    try:
        (port,) = network.output_ports
        path = head_of(network, port)
    except (ValueError, UserError):
        return 0
    type = network_in(network, path[:-1]).layers[path[-1]].type
    return int(getattr(type, HEADS[type.key]))


def head_change(before: Project, after: Project) -> str:
    """Return a sentence on the layers that a new head replaces."""
    old, new = _flat(before.network), _flat(after.network)
    removed = ", ".join(f"{name} ({value})" for id, (name, value) in old.items() if id not in new)
    added = ", ".join(f"{name} ({value})" for id, (name, value) in new.items() if id not in old)
    return f"{removed} → {added}, which starts from random numbers." if removed and added else ""


def _flat(network: Network, path: str = "") -> dict[str, tuple[str, str]]:
    """Return name and telling value of each layer, in blocks too, by path of ids."""
    values = {}
    for id, layer in network.layers.items():
        values[f"{path}{id}"] = (layer.name, layer.type.short_value())
        if isinstance(layer.type, Block):
            values |= _flat(layer.type.network, f"{path}{id}/")
    return values
