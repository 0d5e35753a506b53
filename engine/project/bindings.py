"""Bindings between data and network: which input feeds which layer, which output predicts which target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from netwright.engine.core.types import TensorType
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.network import Network, Port
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.options.loss import AUTO_LOSSES, LOSS_TASKS, LossOptions

NOWHERE = Port("", "")


@dataclass(frozen=True)
class Wanted:
    """An output of a network and the target that it predicts.

    `number` is the index of the target in the data, `type` that of the output. `has_lengths` says that the built
    network returns the lengths of this output after its tensors.
    """

    name: str
    facts: TargetInfo
    type: TensorType
    number: int = 0
    port: Port = NOWHERE
    has_lengths: bool = False

    @property
    def is_binary(self) -> bool:
        """Return whether one channel separates two classes: the logit of the second class."""
        return self.facts.task == "classes" and len(self.facts.classes) == 2 and self.type["C"] == 1

    @property
    def folds(self) -> str:
        """Return the key of the layer that the loss includes, so that training omits it at this output: softmax,
        sigmoid or none."""
        if self.facts.task == "numbers":
            return ""
        return "sigmoid" if self.is_binary or self.facts.task == "labels" else "softmax"


def match_inputs(network: Network, facts: DatasetInfo) -> dict[str, InputInfo]:
    """Return the index of the data's input for each input layer, by the layer's id: by name where all names match,
    else in order.

    It has fewer entries than the network has inputs where the data has fewer.
    """
    layers = network.inputs
    by_name = {i.name: i for i in facts.inputs}
    if {layer.name for layer in layers} == set(by_name):
        return {layer.id: by_name[layer.name] for layer in layers}
    return {layer.id: info for layer, info in zip(layers, facts.inputs, strict=False)}


def alone(*targets: TargetInfo) -> tuple[Wanted, ...]:
    """Return outputs that match exactly these targets, in this order."""
    return tuple(Wanted(facts.name, facts, facts.type, number) for number, facts in enumerate(targets))


def output_name(network: Network, port: Port) -> str:
    """Return the name of an output: that of its layer, with the port where a layer has several outputs."""
    layer = network.layers[port.layer]
    return f"{layer.name}_{port.name}" if len(layer.type.output_ports()) > 1 else layer.name


def match_targets(network: Network, facts: DatasetInfo) -> dict[Port, int]:
    """Return the index of the target of each output: by name where all names match, else in order.

    It has fewer entries than the network has outputs where the data has fewer targets.
    """
    ports, by_name = network.output_ports, {target.name: number for number, target in enumerate(facts.targets)}
    names = [output_name(network, port) for port in ports]
    if set(names) == set(by_name):
        return {port: by_name[name] for port, name in zip(ports, names, strict=True)}
    return dict(zip(ports, range(len(facts.targets)), strict=False))


def in_order(network: Network, facts: DatasetInfo) -> DatasetInfo:
    """Return the dataset info with the targets in the order of the outputs that predict them; the first output's
    target is the main one."""
    if len(facts.targets) == 1:
        return facts
    numbers = list(match_targets(network, facts).values())
    rest = [number for number in range(len(facts.targets)) if number not in numbers]
    return replace(facts, targets=tuple(facts.targets[number] for number in (*numbers, *rest)))


def wanted_of(network: Network, analysis: Analysis, facts: DatasetInfo, *, is_padded: bool) -> tuple[Wanted, ...]:
    """Return the outputs with their targets in the network's order. `is_padded`: the network is built for sequences of
    different lengths."""
    matched = match_targets(network, facts)
    types = {port: analysis.shapes[port.layer].at(port.name) for port in matched}
    return tuple(
        Wanted(output_name(network, port), facts.targets[n], types[port], n, port, is_padded and types[port].is_open)
        for port, n in matched.items()
    )


def folding(outputs: Sequence[Wanted]) -> Mapping[Port, str]:
    """Return for each output the layer that training omits there; exports keep it."""
    return {output.port: output.folds for output in outputs if output.folds}


def said_of(options: LossOptions, output: Wanted) -> str:
    """Return the name under which the options mention this output: its own, else that of its target, or an empty
    text."""
    return next((name for name in (output.name, output.facts.name) if name in options.named_losses), "")


def loss_of(options: LossOptions, output: Wanted) -> tuple[str, float]:
    """Return the loss of an output and its weight: the loss chosen for this output, else the loss of all outputs where
    it fits the target, else the default loss of the target."""
    task = output.facts.task
    name, weight = options.named_losses.get(said_of(options, output), ("", 1.0))
    if not name and task in LOSS_TASKS.get(options.loss, ()):
        name = options.loss
    if not name or name == "auto":
        name = "binary-cross-entropy" if output.is_binary else AUTO_LOSSES[task]
    return name, weight
