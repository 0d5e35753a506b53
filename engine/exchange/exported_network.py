"""The network as an ONNX file holds it: normalisation and probabilities inside or not, sizes fixed or free."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import fx

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Symbol
from netwright.engine.exchange.onnx_check import in_units
from netwright.engine.exchange.sample_inputs import Arrays, fitting_samples, in_input_types, random_samples
from netwright.engine.layers.arithmetic import Scaling
from netwright.engine.lowering.module import LAYER, build
from netwright.engine.lowering.modules.normalization import Normalize
from netwright.engine.lowering.weights_folder import fill
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse, folded
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.network import Connection, Network, Port
from netwright.engine.project.bindings import wanted_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.input_format import InputFormat
from netwright.engine.project.preparation import Preparation

DIGITS = 9
"""Significant digits of a temperature's factor."""


@dataclass(frozen=True, eq=False)
class ExportedNetwork:
    """The network that is written and its module. `full` is the network with its normalisation and free sizes;
    `outside` are the normalisations that are left out, by the name of the input."""

    network: Network
    module: fx.GraphModule
    full: Network
    facts: DatasetInfo | None
    outside: Mapping[str, Normalize]
    options: OnnxOptions

    def fit(self, samples: Arrays) -> Arrays:
        """Return samples of the data, in the order of the data's inputs, as the file takes them. Raises `UserError`."""
        ordered = fitting_samples(self.full, self.facts, samples)
        prepared = []
        for layer, array in zip(self.network.inputs, ordered, strict=True):
            steps = [
                (axis, size)
                for axis, (size, had) in enumerate(zip(layer.type.output().sizes, array.shape[1:], strict=True), 1)
                if isinstance(size, int) and size != had
            ]
            for axis, size in steps:
                array = _of_length(array, axis, size)
            part = self.outside.get(layer.name)
            if part is not None:
                array = part(torch.from_numpy(array)).numpy()
            prepared.append(array)
        return in_input_types(self.module, tuple(prepared))

    def probes(self, seed: int = 0, scale: float = 1.0) -> Iterator[Arrays]:
        """Yield random batches in the units of the inputs."""
        for batch in random_samples(self.network, seed, scale):
            yield in_input_types(self.module, in_units(self.module, batch))

    def normalization(self) -> dict[str, Any]:
        """Return shift and scale of each normalisation that is left out, as JSON, by the name of the input."""
        return {
            name: {
                "formula": "(x - shift) * scale",
                "shift": part.shift.double().flatten().tolist(),
                "scale": part.scale.double().flatten().tolist(),
                "sizes": list(part.sizes),
            }
            for name, part in self.outside.items()
        }


def exported_network(
    network: Network, state: Mapping[str, torch.Tensor], facts: DatasetInfo | None, options: OnnxOptions
) -> ExportedNetwork:
    """Return the network with the weights `state` as the options want it. Raises `UserError`."""
    full = network
    if facts is not None and options.probabilities == "inside":
        network = with_probabilities(network, facts)
    if options.probabilities == "outside":
        network = without_probabilities(network, facts)
    outside: dict[str, Normalize] = {}
    if options.normalization == "outside":
        module = build(network, analyse(network)).eval()
        fill(module, state)
        outside, keys = _normalizations(network, module)
        state = {key: value for key, value in state.items() if key not in keys}
        for layer in network.inputs:
            if layer.name in outside:
                network = edits.set_fields(network, layer.id, {"normalization": "none"})
    if options.steps:
        network = with_steps(network, options.steps)
    module = build(network, analyse(network)).eval()
    fill(module, state)
    return ExportedNetwork(network, module, full, facts, outside, options)


def _normalizations(network: Network, module: fx.GraphModule) -> tuple[dict[str, Normalize], set[str]]:
    """Return the normalisation of each input, by its name, and the keys of their weights."""
    parts, keys = {}, set()
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for layer, node in zip(network.inputs, placeholders, strict=True):
        for user in node.users:
            part = module.get_submodule(str(user.target)) if user.op == "call_module" else None
            if isinstance(part, Normalize) and user.meta.get(LAYER) == layer.name:
                parts[layer.name] = part
                keys |= {f"{user.target}.{name}" for name in part.state_dict()}
    return parts, keys


def with_steps(network: Network, steps: int) -> Network:
    """Return the network whose sequences of any length have so many steps. Raises `UserError` if it takes no such."""
    for layer in network.inputs:
        if any(isinstance(size, Symbol) for size in layer.type.output().sizes):
            network = edits.set_fields(network, layer.id, {"length": steps})
    problem = next((fault for fault in analyse(network).problems if fault.severity == "error"), None)
    if problem is not None:
        raise UserError(f"The network takes no sequences of {steps:,} steps: {problem.message}")
    return network


def with_probabilities(network: Network, facts: DatasetInfo) -> Network:
    """Return the network with a softmax, or a sigmoid for labels, at each output that is trained as logits and has
    none. If there are several outputs, `mask` becomes `mask_probabilities`."""
    if len(network.output_ports) != len(facts.targets):
        return network
    is_only = len(facts.targets) == 1
    for binding in wanted_of(network, analyse(network), facts, is_padded=False):
        if binding.folds and not folded(network, {binding.port: binding.folds}):
            network, layer = edits.add_layer(network, layer_type(binding.folds)())
            network = edits.connect(network, binding.port, Port(layer.id, layer.type.input_ports()[0]))
            name = f"{binding.name}_probabilities"
            network = network if is_only or name in network.by_name else edits.rename(network, layer.id, name)
    return network


def without_probabilities(network: Network, facts: DatasetInfo | None) -> Network:
    """Return the network without the softmax, or sigmoid of labels, at its outputs. Raises `UserError` where it cannot
    be left out: inside a block, or where something else uses what enters it."""
    kinds = dict.fromkeys(network.output_ports, "softmax")
    if facts is not None and len(network.output_ports) == len(facts.targets):
        bindings = wanted_of(network, analyse(network), facts, is_padded=False)
        kinds = {binding.port: binding.folds for binding in bindings if binding.folds}
    count = len(network.output_ports)
    for id in folded(network, kinds):
        removed = edits.remove_layers(network, [id]) if id in network.layers else network
        if "/" in id or len(removed.output_ports) != count:
            name = network.layers[id.partition("/")[0]].name
            raise UserError(
                f"The probabilities of '{name}' cannot be left out of the file: they are computed inside a block, or "
                "what enters them is used elsewhere.",
                hint="Export with probabilities inside.",
            )
        network = removed
    return network


def with_temperature(
    network: Network, record: Preparation, facts: DatasetInfo
) -> tuple[Network, Preparation, tuple[str, ...]]:
    """Return the network whose scores are divided by the temperatures in the record, the record without those, and a
    note for each. A layer is put before the softmax or sigmoid of an output; where that is missing or lies in a block,
    the temperature stays in the record, which whoever applies the activation follows.

    Source: Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks, ICML 2017.
    """
    notes: list[str] = []
    targets = list(record.targets)
    for place, binding in enumerate(wanted_of(network, analyse(network), facts, is_padded=False)):
        if place >= len(targets) or targets[place].temperature == 1.0 or not binding.folds:
            continue
        value = targets[place].temperature
        ends = [id for id in folded(network, {binding.port: binding.folds}) if id in network.layers]
        if not ends:
            notes.append(
                f"The scores of '{binding.name}' are not divided by the stored temperature {value:.4g}: no "
                f"{binding.folds} of its own follows them. The preparation has it."
            )
            continue
        network = _with_factor(network, ends[0], 1.0 / value)
        targets[place] = replace(targets[place], temperature=1.0)
        notes.append(
            f"The probabilities of '{binding.name}' are calibrated: its scores are divided by the stored temperature "
            f"{value:.4g}. --temperature outside leaves them as trained."
        )
    return network, replace(record, targets=tuple(targets)), tuple(notes)


def _with_factor(network: Network, end: str, scale: float) -> Network:
    """Return the network with a factor before the layer `end`, which has one input."""
    layer = network.layers[end]
    (port,) = layer.type.input_ports()
    source, target = network.incoming[end][port], Port(end, port)
    name = f"{layer.name}_temperature"
    name = name if name not in network.by_name else ""
    network, factor = edits.add_layer(network, Scaling(scale=float(f"{scale:.{DIGITS}g}")), name)
    network = edits.disconnect(network, [Connection(source, target)])
    network = edits.connect(network, source, Port(factor.id, "in"))
    return edits.connect(network, Port(factor.id, "out"), target)


def described_inputs(
    formats: tuple[InputFormat, ...], options: OnnxOptions, record: Preparation
) -> tuple[InputFormat, ...]:
    """Return what the inputs take under the options. `record` says which of them the network normalises."""
    methods = {one.name: one.normalization.method for one in record.inputs if one.normalization is not None}
    described = []
    for entry in formats:
        is_index = entry.type.kind == "index"
        method = methods.get(entry.name, "none") if options.normalization == "outside" else "none"
        if method != "none":
            rule = (
                f"Normalise this input before ({method}): (x - shift) * scale, with the numbers that the metadata has "
                "under 'normalization'. The network does not."
            )
            others = tuple(line for line in entry.preparation if not line.startswith("The network normalises"))
            entry = replace(entry, preparation=(*others, rule), dtype="float32", is_normalized=True)
        if options.precision == "float16" and not options.float32_inputs and not is_index and entry.dtype == "float32":
            entry = replace(entry, dtype="float16")
        described.append(replace(entry, batch=options.batch))
    return tuple(described)


def with_fixed_sizes(record: Preparation, options: OnnxOptions) -> Preparation:
    """Return the record for sequences of a fixed number of steps."""
    if not options.steps:
        return record
    inputs = (replace(entry, sizes=tuple(size or options.steps for size in entry.sizes)) for entry in record.inputs)
    return replace(record, inputs=tuple(inputs))


def _of_length(array: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Return the array cut to a length, or filled up with zeros."""
    cut = np.take(array, np.arange(min(size, array.shape[axis])), axis)
    missing = [(0, size - cut.shape[axis] if place == axis else 0) for place in range(array.ndim)]
    return np.pad(cut, missing)
