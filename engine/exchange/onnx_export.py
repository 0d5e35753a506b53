"""Export to ONNX, and compare with ONNX Runtime before the file is written.

The file has one input per input layer, of the same name, in the units of the data (the normalisation is part of the
network), with a dynamic batch size: float32, or float64 for numbers that single precision cannot hold. The first output
of a classifier is the class probabilities; the class names are in the metadata.
"""

import ast
import contextlib
import itertools
import json
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx_ir
import torch
from torch import fx

from engine.core.errors import RunError, UserError
from engine.core.files import write_atomically
from engine.core.types import Symbol
from engine.core.version import VERSION
from engine.data.sample_inputs import Arrays, at_sizes, fitting_samples, in_input_types, random_samples
from engine.exchange.export import not_written, refuse_destination
from engine.exchange.foreign_operators import restore_operators
from engine.exchange.onnx_check import Comparison, DifferenceError, first_line, in_units
from engine.exchange.onnx_forms import MARK, exportable
from engine.exchange.onnx_layers import LayerDifference, first_bad, layer_table
from engine.layers.user_code import UserCode
from engine.lowering.module import build
from engine.lowering.plan import refuse_errors, unique
from engine.lowering.weights import fill
from engine.network import edits
from engine.network.analysis import analyse, folded
from engine.network.catalog import layer_type
from engine.network.network import Layer, Network, Port
from engine.project.bindings import match_inputs, wanted_of
from engine.project.dataset_info import DatasetInfo
from engine.project.input_format import InputFormat
from engine.project.preparation import Preparation

OPSET = 20
SCALES = (1.0, 1e4, 1e8)
"""Sizes of normalised random inputs. Deep in a network with initial weights values fade, so that a gate after a sigmoid
is 0.5 whatever its weights are: large inputs make it count."""
LIMIT_BYTES = 2_000_000_000
"""Limit of the weights: an ONNX file is one protobuf message of at most 2 GB."""
CHATTY = ("torch.onnx", "torch.export", "torch._dynamo", "onnxscript", "onnx_ir")


@dataclass(frozen=True)
class OnnxFile:
    """The file written, the largest difference of its first output between ONNX Runtime and torch, and what the
    comparison could not tell."""

    path: Path
    largest_difference: float
    samples_compared: int
    notes: tuple[str, ...] = ()
    opset: int = OPSET
    layers: tuple[LayerDifference, ...] = ()


def export_onnx(
    network: Network,
    state: Mapping[str, torch.Tensor],
    to: Path,
    *,
    facts: DatasetInfo | None,
    samples: Arrays | None,
    inputs: Sequence[InputFormat] = (),
    record: Preparation | None = None,
    by_layer: bool = False,
) -> OnnxFile:
    """Write the network with the weights `state`. `samples` are real samples in the order of the data's inputs,
    `inputs` what each input of the network takes and `record` how data is prepared for them, for the metadata.

    Without samples, random ones are compared. Raises `UserError` for a network that cannot be exported, before the
    export begins, and `DifferenceError` if ONNX Runtime computes other outputs, with the differences layer by layer; no
    file is left then. `by_layer` gives them also where the outputs agree.
    """
    refuse_network(network)
    refuse_destination(to)
    if facts is not None:
        network = with_probabilities(network, facts)
    module = build(network, analyse(network)).eval()
    fill(module, state)
    refuse_size(module)
    probes = [in_units(module, batch) for batch in random_samples(network)]
    batches = at_sizes(fitting_samples(network, facts, samples)) if samples is not None else probes
    batches = [in_input_types(module, batch) for batch in batches]
    described = metadata(network, facts, inputs)
    if record is not None:
        described["preparation"] = record.for_onnx(output_names(network)).text()
    data = content(module, network, probes[-1], described, [given.lines() for given in inputs])
    comparison = Comparison(module, data, channel_dims(network))
    try:
        difference = max(comparison.run(batch) for batch in reversed(batches))
        probe(comparison, module, network, has_data=samples is not None)
    except DifferenceError as error:
        raise _with_layers(error, module, data) from None
    layers = tuple(layer_table(module, data, batches[-1])) if by_layer else ()
    try:
        write_atomically(to, data)
    except OSError as error:
        raise not_written(to, error) from None
    return OnnxFile(to, difference, len(batches[-1][0]), comparison.notes(), layers=layers)


def _with_layers(error: DifferenceError, module: fx.GraphModule, data: bytes) -> DifferenceError:
    """Return the error with the differences layer by layer, as far as the file can be run with them."""
    with contextlib.suppress(RunError):
        rows = layer_table(module, data, error.batch, error.sample)
        text = " ".join(filter(None, (str(error), first_bad(rows))))
        error = DifferenceError(text, error.batch, error.sample)
        error.data = {"layers": [row.write() for row in rows]}
    return error


def probe(comparison: Comparison, module: fx.GraphModule, network: Network, *, has_data: bool) -> None:
    """Compare random inputs as well: of a second length if sequences may have any, and of several sizes if there is no
    data, or an output did not vary over its samples."""
    has_free_lengths = any(not layer.type.output().is_known for layer in network.inputs)
    for number, scale in enumerate(SCALES):
        if has_data and comparison.has_varied and (number or not has_free_lengths):
            return
        batches = [in_units(module, batch) for batch in random_samples(network, number, scale)]
        for batch in batches if scale == 1.0 else batches[-1:]:
            comparison.run(batch, is_extreme=scale > 1.0)


def channel_dims(network: Network) -> list[int | None]:
    """Return the dimension of the channels of each output, None where it has no channels."""
    shapes = analyse(network).shapes
    types = [
        shapes[port.layer].outputs[network.layers[port.layer].type.output_ports().index(port.name)]
        for port in network.output_ports
    ]
    return [type.dim("C") if type.has("C") else None for type in types]


def refuse_network(network: Network) -> None:
    """Raise `UserError` for a network with errors, and for layers without an ONNX form, by name."""
    refuse_errors(analyse(network))
    for layer in network.layers.values():
        if layer.effective_type.onnx_refusal:
            raise UserError(f"'{layer.name}' cannot be exported to ONNX: {layer.effective_type.onnx_refusal}")


def refuse_size(module: fx.GraphModule) -> None:
    """Raise `UserError` for weights that do not fit into one ONNX file."""
    size = sum(t.numel() * t.element_size() for t in module.state_dict().values())
    if size > LIMIT_BYTES:
        raise UserError(
            f"The weights have {size / 1e9:.1f} GB; an ONNX file holds at most {LIMIT_BYTES / 1e9:.0f} GB.",
            hint="Export to PyTorch instead.",
        )


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


def metadata(network: Network, facts: DatasetInfo | None, inputs: Sequence[InputFormat] = ()) -> dict[str, str]:
    """Return the metadata of the file; ONNX allows strings only. docs/exporting.md lists the keys."""
    described = {
        "netwright": VERSION,
        "input_units": "those of the data source; the normalisation is part of the network",
    }
    if inputs:
        described["inputs"] = json.dumps([given.write() for given in inputs], ensure_ascii=False)
        described["input_units"] = "; ".join(f"{given.name}: {given.short()}" for given in inputs)
    if facts is not None:
        described["task"] = facts.task
        if facts.classes:
            described["classes"] = json.dumps(list(facts.classes), ensure_ascii=False)
        if len(facts.targets) > 1:
            targets = [{"name": t.name, "task": t.task, "classes": list(t.classes)} for t in facts.targets]
            described["targets"] = json.dumps(targets, ensure_ascii=False)
        data_inputs = match_inputs(network, facts)
        columns = {network.layers[id].name: info.columns for id, info in data_inputs.items() if info.columns}
        if columns:
            described["columns"] = json.dumps(columns, ensure_ascii=False)
    return described


def output_names(network: Network) -> list[str]:
    """Return one name per output: that of its layer, followed by the port if the layer has several outputs."""
    taken = {layer.name for layer in network.inputs}
    names = []
    for port in network.output_ports:
        layer = network.layers[port.layer]
        name = f"{layer.name}_{port.name}" if len(layer.type.output_ports()) > 1 else layer.name
        names.append(unique(f"{name}_out" if name in taken else name, taken))
        taken.add(names[-1])
    return names


def content(
    module: fx.GraphModule,
    network: Network,
    batch: Arrays,
    described: Mapping[str, str],
    inputs_said: Sequence[Sequence[str]] = (),
) -> bytes:
    """Return the whole file, checked. `inputs_said` are the lines that describe each input.

    Raises `RunError` if the exporter or the ONNX checker fails.
    """
    inputs = [layer.name for layer in network.inputs]
    is_only = sum(not layer.type.output().is_known for layer in network.inputs) == 1
    dynamic = tuple(_dynamic_axes(layer, is_only) for layer in network.inputs)
    try:
        with quiet():
            program = torch.onnx.export(
                exportable(module),
                tuple(torch.from_numpy(array) for array in batch),
                dynamo=True,
                external_data=False,
                opset_version=OPSET,
                input_names=inputs,
                output_names=output_names(network),
                dynamic_shapes=dynamic,
                verbose=False,
            )
            if program is None:
                raise RunError("torch returned no ONNX program.")
            restore_operators(program.model, module, OPSET)
            keep_layer_names(program.model)
            forget_origin(program.model)
            program.model.metadata_props.update(described)
            for value, lines in zip(program.model.graph.inputs, inputs_said, strict=False):
                value.doc_string = "\n".join(lines)
            program.model.producer_name, program.model.producer_version = "netwright", VERSION
            data: bytes = onnx_ir.to_proto(program.model).SerializeToString()
            onnx.checker.check_model(data, full_check=True)
            return data
    except (torch.onnx.OnnxExporterError, onnx.checker.ValidationError) as error:
        raise RunError(f"The network cannot be exported to ONNX: {_cause(error)}{_own_code(network)}") from error


def _own_code(network: Network) -> str:
    """Return a hint that names the layers of user code, or ''; the bundled layers are tested with the exporter."""
    names = [layer.name for layer in network.layers.values() if isinstance(layer.effective_type, UserCode)]
    if not names:
        return ""
    return f". Look first at the project's own code ({', '.join(names)}). Export to PyTorch takes any operation."


def keep_layer_names(model: onnx_ir.Model) -> None:
    """Name nodes, and the values between them, after the layers that they compute: `stage/2/conv/Conv`.

    The exporter notes the path of modules that each node comes from; its own names count nodes. A convolution that a
    normalisation was folded into is named after its weights, which the exporter notes as the normalisation's.
    """
    taken = {value.name for value in (*model.graph.inputs, *model.graph.outputs, *model.graph.initializers.values())}
    for node in model.graph:
        scopes = ast.literal_eval(node.metadata_props.get("pkg.torch.onnx.name_scopes", "[]"))
        path = [scope for scope in scopes[:-1] if scope and not scope.startswith("_")]
        if not path:
            continue
        module = path[-1].partition(MARK)[0]
        if node.op_type in ("Conv", "ConvTranspose") and (weights := node.inputs[1]) and weights.name:
            module = weights.name.removesuffix(".weight") if weights.name.endswith(".weight") else module
        layer = module.replace(".", "/")
        node.name = _numbered(f"{layer}/{node.op_type}", taken)
        for value in node.outputs:
            if not value.is_graph_output():
                value.name = _numbered(f"{node.name}_output", taken)


def _numbered(name: str, taken: set[str | None]) -> str:
    """Return the name, with a number if it is taken, and add it to the names taken."""
    numbered = (f"{name}_{number}" for number in itertools.count(2))
    free = next(text for text in itertools.chain((name,), numbered) if text not in taken)
    taken.add(free)
    return free


def forget_origin(model: onnx_ir.Model) -> None:
    """Remove the metadata that torch wrote while tracing: it names files and folders of this machine."""
    model.metadata_props.clear()
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        graph.metadata_props.clear()
        values = [*graph.inputs, *graph.initializers.values()]
        for node in onnx_ir.traversal.RecursiveGraphIterator(graph):
            node.metadata_props.clear()
            values += node.outputs
        for value in values:
            value.metadata_props.clear()


def _dynamic_axes(layer: Layer, is_only: bool) -> dict[int, str]:
    """Return the names of the dynamic axes by dimension: the batch, and every symbolic size, which is named after its
    input unless that `is_only` one of its kind: inputs may differ in length."""
    type = layer.type.output()
    prefix, named = "" if is_only else f"{layer.name}_", {"T": "time"}
    symbols = {axis: named.get(axis, axis.lower()) for axis in type.axes if isinstance(type[axis], Symbol)}
    return {0: "batch", **{type.dim(axis): f"{prefix}{name}" for axis, name in symbols.items()}}


def _cause(error: BaseException) -> str:
    """Return the first line of the root cause; the exporter wraps it in advice to its own developers."""
    while error.__cause__ is not None:
        error = error.__cause__
    return first_line(error)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings and log lines of the exporter, which would mix with JSON on standard output."""
    loggers = [logging.getLogger(name) for name in CHATTY]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
