"""Bindings between data and network: which input feeds which layer, which output predicts which target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.types import TensorType
from engine.network.analysis import Analysis
from engine.network.network import Network, Port
from engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from engine.project.options.loss import AUTO_LOSSES, LOSS_TASKS, LossOptions

NOWHERE = Port("", "")


@dataclass(frozen=True)
class Wanted:
    """One output of a network and the target it is to give.

    `number` is the place of the target in the data, `type` that of the output. `has_lengths` says that the built
    network gives the lengths of this output behind its tensors.
    """

    name: str
    facts: TargetInfo
    type: TensorType
    number: int = 0
    port: Port = NOWHERE
    has_lengths: bool = False

    @property
    def is_binary(self) -> bool:
        """Whether one channel tells two classes apart: the logit of the second one."""
        return self.facts.task == "classes" and len(self.facts.classes) == 2 and self.type["C"] == 1

    @property
    def folds(self) -> str:
        """The key of the layer that the loss holds itself, so that it is left out at this output in training: softmax,
        sigmoid or none."""
        if self.facts.task == "numbers":
            return ""
        return "sigmoid" if self.is_binary or self.facts.task == "labels" else "softmax"


def match_inputs(network: Network, facts: DatasetInfo) -> dict[str, InputInfo]:
    """Which input of the data feeds which input layer, by the layer's id: by name where all names agree, else in order.

    Shorter than the network's inputs where the data has fewer.
    """
    layers = network.inputs
    by_name = {i.name: i for i in facts.inputs}
    if {layer.name for layer in layers} == set(by_name):
        return {layer.id: by_name[layer.name] for layer in layers}
    return {layer.id: given for layer, given in zip(layers, facts.inputs, strict=False)}


def alone(*targets: TargetInfo) -> tuple[Wanted, ...]:
    """Outputs that are just what these targets want, in this order."""
    return tuple(Wanted(facts.name, facts, facts.type, number) for number, facts in enumerate(targets))


def output_name(network: Network, port: Port) -> str:
    """The name of an output: that of its layer, with the port where several leave the layer."""
    layer = network.layers[port.layer]
    return f"{layer.name}_{port.name}" if len(layer.type.output_ports()) > 1 else layer.name


def match_targets(network: Network, facts: DatasetInfo) -> dict[Port, int]:
    """The number of the target that each output is to give: by name where all names agree, else in order.

    Shorter than the network's outputs where the data has fewer targets.
    """
    ports, by_name = network.output_ports, {target.name: number for number, target in enumerate(facts.targets)}
    names = [output_name(network, port) for port in ports]
    if set(names) == set(by_name):
        return {port: by_name[name] for port, name in zip(ports, names, strict=True)}
    return dict(zip(ports, range(len(facts.targets)), strict=False))


def in_order(network: Network, facts: DatasetInfo) -> DatasetInfo:
    """The facts with the targets in the order of the outputs that give them; that of the first is the main one."""
    if len(facts.targets) == 1:
        return facts
    numbers = list(match_targets(network, facts).values())
    rest = [number for number in range(len(facts.targets)) if number not in numbers]
    return replace(facts, targets=tuple(facts.targets[number] for number in (*numbers, *rest)))


def wanted_of(network: Network, analysis: Analysis, facts: DatasetInfo, *, is_padded: bool) -> tuple[Wanted, ...]:
    """Each output in the network's order. `is_padded`: the network is built for sequences of different lengths."""
    matched = match_targets(network, facts)
    types = {port: analysis.shapes[port.layer].at(port.name) for port in matched}
    return tuple(
        Wanted(output_name(network, port), facts.targets[n], types[port], n, port, is_padded and types[port].is_open)
        for port, n in matched.items()
    )


def folding(wanted: Sequence[Wanted]) -> Mapping[Port, str]:
    """For each output the layer that training leaves out there; exports keep it."""
    return {one.port: one.folds for one in wanted if one.folds}


def said_of(options: LossOptions, wanted: Wanted) -> str:
    """The name under which the options say something of this output: its own, else that of its target, or nothing."""
    return next((name for name in (wanted.name, wanted.facts.name) if name in options.named_losses), "")


def loss_of(options: LossOptions, wanted: Wanted) -> tuple[str, float]:
    """The loss of an output and how much it counts: what is said of this output, else the loss of all where it fits
    the target, else the one that follows from the target."""
    task = wanted.facts.task
    name, weight = options.named_losses.get(said_of(options, wanted), ("", 1.0))
    if not name and task in LOSS_TASKS.get(options.loss, ()):
        name = options.loss
    if not name or name == "auto":
        name = "binary-cross-entropy" if wanted.is_binary else AUTO_LOSSES[task]
    return name, weight
