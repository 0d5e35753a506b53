"""The channels of a network that belong together, so that some of them can be removed without changing its form.

Each output channel of a convolution or a fully connected layer is followed through the layers behind it: activations,
normalisation and pooling pass it on, an addition ties it to the channels that it is added to, a concatenation puts it
behind others, flattening spreads it over places. Inside a block they are followed through each of its copies, which
have weights of their own and equally many channels. A layer that mixes channels in another way keeps those that reach
it, and so do the outputs of the network (DepGraph: Fang et al., DepGraph: Towards Any Structural Pruning, 2023).
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from netwright.engine.core.types import TensorType
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, LayerShapes, copy_path
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.blocks import names_of, network_in, with_network_in
from netwright.engine.network.network import Layer, Network, Port

COUNTS = {
    "fully_connected": "outputs",
    **{f"{kind}{axes}d": "filters" for kind in ("conv", "transposed_conv") for axes in (1, 2, 3)},
}
"""Types whose output channels can be removed, and the field with their number."""
DEPTHWISE = frozenset({"grouped_conv1d", "grouped_conv2d", "grouped_conv3d"})
PER_CHANNEL = frozenset({"batch_norm", "prelu", "instance_norm"})
"""Types that pass channels on, and have a weight for each."""
_ACTIVATIONS = (
    "relu leaky_relu elu selu celu gelu swish mish sigmoid tanh softplus clipped_relu hardsigmoid hardswish hardtanh "
    "rrelu squared_relu threshold log_sigmoid softsign tanhshrink hardshrink softshrink"
)
_OTHERS = (
    "dropout spatial_dropout alpha_dropout feature_alpha_dropout drop_path gaussian_noise identity stop_gradient "
    "global_average_pool global_max_pool select_step crop2d crop3d fractional_max_pool2d fractional_max_pool3d"
)
PASSING = frozenset(
    {
        *_ACTIVATIONS.split(),
        *_OTHERS.split(),
        *(f"{kind}{axes}d" for kind in ("pad", "resize", "lp_pool", "max_pool", "average_pool") for axes in (1, 2, 3)),
        *(f"adaptive_{kind}_pool{axes}d" for kind in ("max", "average") for axes in (1, 2, 3)),
    }
)
"""Types that compute each channel by itself, without weights."""
TYING = frozenset({"addition", "subtraction", "multiplication", "division", "maximum", "minimum", "average"})
"""Types that combine channels at the same place of their inputs."""

Labels = tuple[int, ...]


@dataclass
class Channels:
    """The channels of a network. Each has a number; `root` tells those that are one channel with several places.

    `inputs` has the channels at each number that a layer takes along its channels, port by port, `outputs` those that
    it gives. `made` are the channels of the layers that can lose some. Layers have id paths as in
    `Analysis.all_shapes`, with the number of the copy in a repeated block; `ids` are those without.
    """

    network: Network
    layers: dict[str, Layer] = field(default_factory=dict)
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inputs: dict[str, tuple[Labels, ...]] = field(default_factory=dict)
    outputs: dict[Port, Labels] = field(default_factory=dict)
    made: dict[str, Labels] = field(default_factory=dict)
    _parents: list[int] = field(default_factory=list)
    _kept: dict[int, str] = field(default_factory=dict)
    """Why a channel stays, by its root."""

    def root(self, label: int) -> int:
        """Return the number that stands for a channel and all that are tied to it."""
        while self._parents[label] != label:
            self._parents[label] = self._parents[self._parents[label]]
            label = self._parents[label]
        return label

    def why_kept(self, label: int) -> str:
        """Return the reason why a channel cannot be removed; empty where it can."""
        return self._kept.get(self.root(label), "")

    def new(self, count: int) -> Labels:
        """Return so many new channels."""
        first = len(self._parents)
        self._parents += range(first, first + count)
        return tuple(range(first, first + count))

    def tie(self, labels: Labels, other_labels: Labels) -> None:
        """Make channels at the same places one."""
        for a, b in zip(labels, other_labels, strict=True):
            first, second = self.root(a), self.root(b)
            if first != second:
                self._parents[second] = first
                if reason := self._kept.pop(second, ""):
                    self._kept.setdefault(first, reason)

    def keep(self, labels: Collection[int], *, reason: str) -> None:
        """Note that channels stay."""
        for label in labels:
            self._kept.setdefault(self.root(label), reason)

    def groups(self) -> list[list[str]]:
        """Return the layers that can lose channels, those together whose channels are tied."""
        by_root: dict[int, str] = {}
        parents = {id: id for id in self.made}

        def top(id: str) -> str:
            while parents[id] != id:
                id = parents[id]
            return id

        for id, labels in self.made.items():
            for label in labels:
                other = by_root.setdefault(self.root(label), id)
                if top(other) != top(id):
                    parents[top(id)] = top(other)
        members: dict[str, list[str]] = defaultdict(list)
        for id in self.made:
            members[top(id)].append(id)
        return list(members.values())

    def without(self, removed: Collection[int]) -> Network:
        """Return the network without these channels, by their roots."""
        network = self.network
        for (first, *_), labels in ((copies, self.made[copies[0]]) for copies in self.copies()):
            *block, id = self.ids[first]
            count = sum(self.root(label) not in removed for label in labels)
            inner = edits.set_fields(network_in(network, block), id, {COUNTS[self.layers[first].type.key]: count})
            network = with_network_in(network, block, inner)
        return network

    def copies(self) -> list[list[str]]:
        """Return the layers that can lose channels, the copies of one together: they have equally many."""
        copies: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path in self.made:
            copies[self.ids[path]].append(path)
        return list(copies.values())

    def name(self, path: str) -> str:
        """Return the names of the blocks around a layer, and its own."""
        return "/".join((*names_of(self.network, self.ids[path][:-1]), self.layers[path].name))

    def places(self, labels: Sequence[int], removed: Collection[int]) -> list[int]:
        """Return the places of channels that stay."""
        return [place for place, label in enumerate(labels) if self.root(label) not in removed]


@dataclass(frozen=True)
class _Level:
    """The network itself, or that in a copy of a block: what stands before the paths of its layers."""

    network: Network
    analysis: Analysis
    path: str = ""
    ids: tuple[str, ...] = ()


def channels_of(network: Network, analysis: Analysis) -> Channels:
    """Follow the channels of a network without errors."""
    channels = Channels(network)
    _follow(channels, _Level(network, analysis), {})
    for out in network.output_ports:
        channels.keep(channels.outputs[out], reason=f"they lead to the output '{network.layers[out.layer].name}'")
    return channels


def _follow(channels: Channels, level: _Level, entering: Mapping[str, Labels]) -> list[Labels]:
    """Follow the channels of one network. `entering`: those of the inputs of a block, by their ids. Return those that
    leave the block."""
    network, leaving = level.network, []
    for id in network.order:
        layer, shapes, path = network.layers[id], level.analysis.shapes[id], level.path + id
        incoming = network.incoming[id]
        sources = [incoming[port] for port in layer.type.input_ports() if port in incoming]
        inputs = tuple(channels.outputs[Port(level.path + port.layer, port.name)] for port in sources)
        channels.layers[path], channels.ids[path], channels.inputs[path] = layer, (*level.ids, id), inputs
        is_alone = len(network.sharing(id)) == 1
        if isinstance(layer.type, BlockInput):
            outputs = [entering[id]]
        elif isinstance(layer.type, BlockOutput):
            leaving.append(inputs[0])
            continue
        elif isinstance(layer.type, Block) and layer.type.gives_what_leaves and is_alone and not layer.bypassed:
            outputs = _through(channels, level, layer, inputs)
        elif len(shapes.outputs) == 1 and is_alone:
            outputs = [_passed(channels, path, shapes, inputs)]
        else:
            outputs = [channels.new(_count(type)) for type in shapes.outputs]
            for labels in (*inputs, *outputs):
                channels.keep(labels, reason=_mixes(channels, path, is_shared=not is_alone))
        for port, labels in zip(shapes.ports or ("out",), outputs, strict=True):
            channels.outputs[Port(path, port)] = labels
    return leaving


def _through(channels: Channels, level: _Level, layer: Layer, inputs: tuple[Labels, ...]) -> list[Labels]:
    """Return the channels that leave the last copy of a block."""
    assert isinstance(layer.type, Block)
    copies = level.analysis.inside[layer.id].copies
    leaving: list[Labels] = []
    for number, analysis in enumerate(copies):
        path = f"{level.path}{copy_path(layer.id, number, len(copies))}/"
        inner = _Level(layer.type.network, analysis, path, (*level.ids, layer.id))
        leaving = _follow(channels, inner, dict(zip(layer.type.ids(BlockInput), inputs, strict=True)))
        inputs = (*leaving, *inputs[len(leaving) :])
    return leaving


def _passed(channels: Channels, path: str, shapes: LayerShapes, inputs: tuple[Labels, ...]) -> Labels:
    """Return the output channels of a layer, and record those that it ties or keeps."""
    layer = channels.layers[path]
    key, count = layer.type.key, _count(shapes.output)
    if layer.bypassed:
        return inputs[0]
    if key in COUNTS and len(inputs) == 1:
        channels.inputs[path] = (_taken(shapes, inputs[0], is_flat=key == "fully_connected"),)
        channels.made[path] = labels = channels.new(count)
        return labels
    is_same = all(len(labels) == count for labels in inputs)
    is_reduction = key == "reduction" and getattr(layer.type, "over", "C") != "C"
    if inputs and is_same and (key in PASSING or key in PER_CHANNEL or is_reduction or _is_depthwise(layer, shapes)):
        return inputs[0]
    if inputs and is_same and (key in TYING or (key == "concatenation" and getattr(layer.type, "axis", "C") != "C")):
        for other in inputs[1:]:
            channels.tie(inputs[0], other)
        return inputs[0]
    if key == "concatenation":
        return tuple(label for labels in inputs for label in labels)
    if key == "flatten":
        return _taken(shapes, inputs[0], is_flat=True)
    labels = channels.new(count)
    for mixed in (*inputs, labels):
        channels.keep(mixed, reason=_mixes(channels, path))
    return labels


def _mixes(channels: Channels, path: str, *, is_shared: bool = False) -> str:
    name = channels.name(path)
    if is_shared:
        return f"'{name}' has the same weights as another layer"
    return f"'{name}' ({channels.layers[path].label}) uses them in a way that pruning does not follow"


def _is_depthwise(layer: Layer, shapes: LayerShapes) -> bool:
    is_grouped = layer.type.key in DEPTHWISE
    return is_grouped and getattr(layer.type, "groups", 1) == 0 and getattr(layer.type, "filters", 0) == 1


def _count(type: TensorType) -> int:
    """Return the number of channels; of a type without channels all its numbers."""
    size = type["C"] if type.has("C") else prod(size for size in type.sizes if isinstance(size, int))
    return size if isinstance(size, int) else 0


def _taken(shapes: LayerShapes, labels: Labels, *, is_flat: bool) -> Labels:
    """Return the channel of each number that a layer takes along its channels; flattened, unless it works at each step
    or takes features."""
    input_type = shapes.inputs[0]
    is_stepwise = input_type.layout == "sequence" and shapes.output.layout == "sequence"
    if not is_flat or is_stepwise or input_type.layout == "features" or not input_type.has("C"):
        return labels
    place = input_type.axes.index("C")
    before = prod(size for size in input_type.sizes[:place] if isinstance(size, int))
    after = prod(size for size in input_type.sizes[place + 1 :] if isinstance(size, int))
    return tuple(label for _ in range(before) for label in labels for _ in range(after))
