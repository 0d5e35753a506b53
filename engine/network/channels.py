"""The channels of a network that belong together, so that some of them can be removed without changing its form.

Each output channel of a convolution or a fully connected layer is followed through the layers behind it: activations,
normalisation and pooling pass it on, an addition ties it to the channels that it is added to, a concatenation puts it
behind others, flattening spreads it over places. A layer that mixes channels in another way keeps those that reach it,
and so do the outputs of the network (DepGraph: Fang et al., DepGraph: Towards Any Structural Pruning, 2023).
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod

from netwright.engine.core.types import TensorType
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, LayerShapes
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
    it gives. `made` are the channels of the layers that can lose some.
    """

    network: Network
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

    def keep(self, labels: Collection[int], reason: str) -> None:
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
        for id, labels in self.made.items():
            count = sum(self.root(label) not in removed for label in labels)
            if count != len(labels):
                network = edits.set_fields(network, id, {COUNTS[network.layers[id].type.key]: count})
        return network

    def places(self, labels: Sequence[int], removed: Collection[int]) -> list[int]:
        """Return the places of channels that stay."""
        return [place for place, label in enumerate(labels) if self.root(label) not in removed]


def channels_of(network: Network, analysis: Analysis) -> Channels:
    """Follow the channels of a network without errors."""
    channels = Channels(network)
    for id in network.order:
        layer, shapes = network.layers[id], analysis.shapes[id]
        incoming = network.incoming[id]
        inputs = tuple(channels.outputs[incoming[port]] for port in layer.type.input_ports() if port in incoming)
        channels.inputs[id] = inputs
        ports = shapes.ports or ("out",)
        if len(ports) == 1 and len(network.sharing(id)) == 1:
            channels.outputs[Port(id, ports[0])] = _passed(channels, layer, shapes, inputs)
            continue
        _keep_all(channels, layer, inputs)
        for port, type in zip(ports, shapes.outputs, strict=True):
            channels.outputs[Port(id, port)] = channels.new(_count(type))
            channels.keep(channels.outputs[Port(id, port)], _mixes(network, layer))
    for out in network.output_ports:
        channels.keep(channels.outputs[out], f"they lead to the output '{network.layers[out.layer].name}'")
    return channels


def _passed(channels: Channels, layer: Layer, shapes: LayerShapes, inputs: tuple[Labels, ...]) -> Labels:
    """Return the output channels of a layer, and record those that it ties or keeps."""
    key, count = layer.type.key, _count(shapes.output)
    if layer.bypassed:
        return inputs[0]
    if key in COUNTS and len(inputs) == 1:
        channels.inputs[layer.id] = (_taken(shapes, inputs[0], is_flat=key == "fully_connected"),)
        channels.made[layer.id] = labels = channels.new(count)
        return labels
    is_same = all(len(labels) == count for labels in inputs)
    if inputs and is_same and (key in PASSING or key in PER_CHANNEL or _is_depthwise(layer, shapes)):
        return inputs[0]
    if inputs and is_same and (key in TYING or (key == "concatenation" and getattr(layer.type, "axis", "C") != "C")):
        for other in inputs[1:]:
            channels.tie(inputs[0], other)
        return inputs[0]
    if key == "concatenation":
        return tuple(label for labels in inputs for label in labels)
    if key == "flatten":
        return _taken(shapes, inputs[0], is_flat=True)
    _keep_all(channels, layer, inputs)
    labels = channels.new(count)
    channels.keep(labels, _mixes(channels.network, layer))
    return labels


def _keep_all(channels: Channels, layer: Layer, inputs: tuple[Labels, ...]) -> None:
    for labels in inputs:
        channels.keep(labels, _mixes(channels.network, layer))


def _mixes(network: Network, layer: Layer) -> str:
    if len(network.sharing(layer.id)) > 1:
        return f"'{layer.name}' has the same weights as another layer"
    return f"'{layer.name}' ({layer.label}) uses them in a way that pruning does not follow"


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
