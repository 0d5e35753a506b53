"""Export to ONNX, and compare with ONNX Runtime before the file is renamed to its final name.

The file has one input per input layer, of the same name, in the units of the data (the normalisation is part of the
network), with a dynamic batch size: float32, or float64 for numbers that single precision cannot hold. The first output
of a classifier is the class probabilities; the class names are in the metadata.
"""

import contextlib
import copy
import functools
import json
import logging
import os
import secrets
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir
import torch
from torch import fx, nn
from torch._higher_order_ops.scan import scan

from engine.core.errors import RunError, UserError
from engine.core.types import Symbol, TensorType
from engine.core.version import VERSION
from engine.data.sample_inputs import Arrays, at_sizes, fitting_samples, in_input_types, random_samples
from engine.exchange.export import not_written, refuse_destination
from engine.layers.user_code import UserCode
from engine.lowering.module import build
from engine.lowering.modules.recurrent import RecurrentLoop
from engine.lowering.plan import refuse_errors, unique
from engine.lowering.weights import fill
from engine.network import edits
from engine.network.analysis import analyse, folded
from engine.network.catalog import layer_type
from engine.network.network import Network, Port
from engine.project.bindings import match_inputs, wanted_of
from engine.project.dataset_info import DatasetInfo

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

ADAPTIVE_POOLS: dict[type[nn.Module], bool] = {
    nn.AdaptiveAvgPool1d: False,
    nn.AdaptiveAvgPool2d: False,
    nn.AdaptiveAvgPool3d: False,
    nn.AdaptiveMaxPool1d: True,
    nn.AdaptiveMaxPool2d: True,
    nn.AdaptiveMaxPool3d: True,
}
Tensors = tuple[torch.Tensor, ...]
OPSET = 20
TOLERANCE = 1e-4
"""Largest accepted difference, relative to the largest absolute value of an output, but at least to 1."""
LIMIT_BYTES = 2_000_000_000
"""Limit of the weights: an ONNX file is one protobuf message of at most 2 GB."""
CHATTY = ("torch.onnx", "torch.export", "torch._dynamo", "onnxscript", "onnx_ir")


@dataclass(frozen=True)
class OnnxFile:
    """The file written, and the largest difference of its first output between ONNX Runtime and torch."""

    path: Path
    largest_difference: float
    samples_compared: int
    opset: int = OPSET


def export_onnx(
    network: Network,
    state: Mapping[str, torch.Tensor],
    to: Path,
    *,
    facts: DatasetInfo | None,
    samples: Arrays | None,
) -> OnnxFile:
    """Write the network with the weights `state`. `samples` are real samples in the order of the data's inputs.

    Without samples, random ones are compared. Raises `UserError` for a network that cannot be exported, before the
    export begins, and `RunError` if ONNX Runtime computes other outputs; no file is left then.
    """
    refuse_network(network)
    refuse_destination(to)
    if facts is not None:
        network = with_probabilities(network, facts)
    module = build(network, analyse(network)).eval()
    fill(module, state)
    refuse_size(module)
    batches = (
        at_sizes(fitting_samples(network, facts, samples)) if samples is not None else list(random_samples(network))
    )
    batches = [in_input_types(module, batch) for batch in batches]
    beside = to.with_name(f".{to.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        write(module, network, batches[-1], beside, metadata(network, facts))
        difference = compare(module, beside, batches)
        os.replace(beside, to)
    except OSError as error:
        raise not_written(to, error) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()
    return OnnxFile(to, difference, len(batches[-1][0]))


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
            f"The weights have {size / 1e9:.1f} GB; an ONNX file holds at most {LIMIT_BYTES / 1e9:.0f} GB. "
            "Export to PyTorch instead."
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


def metadata(network: Network, facts: DatasetInfo | None) -> dict[str, str]:
    """Return the metadata of the file; ONNX allows strings only."""
    described = {
        "netwright": VERSION,
        "input_units": "those of the data source; the normalisation is part of the network",
    }
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


def write(module: fx.GraphModule, network: Network, batch: Arrays, to: Path, described: Mapping[str, str]) -> None:
    """Export and check the file. Raises `RunError` if the exporter or the ONNX checker fails."""
    inputs = [layer.name for layer in network.inputs]
    dynamic = tuple(_dynamic_axes(layer.type.output()) for layer in network.inputs)
    try:
        with quiet(), free_lengths():
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
            forget_origin(program.model)
            program.model.metadata_props.update(described)
            program.model.producer_name, program.model.producer_version = "netwright", VERSION
            program.save(str(to))
            onnx.checker.check_model(str(to), full_check=True)
    except (torch.onnx.OnnxExporterError, onnx.checker.ValidationError) as error:
        raise RunError(f"The network cannot be exported to ONNX: {_cause(error)}{_own_code(network)}") from error


class AdaptivePool(nn.Module):
    """Adaptive pooling of one axis after the other: cell i of n spans floor(i size / n) to ceil((i + 1) size / n)."""

    def __init__(self, cells: tuple[int, ...], *, takes_max: bool) -> None:
        super().__init__()
        self.cells = cells
        self.takes_max = takes_max

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for dim, count in enumerate(self.cells, x.dim() - len(self.cells)):
            x = torch.stack([self._cell(x, dim, index, count) for index in range(count)], dim)
        return x

    def _cell(self, x: torch.Tensor, dim: int, index: int, count: int) -> torch.Tensor:
        size = x.shape[dim]
        start, end = index * size // count, ((index + 1) * size + count - 1) // count
        cell = x[(slice(None),) * dim + (slice(start, end),)]
        return cell.amax(dim) if self.takes_max else cell.mean(dim)


def _scan(part: RecurrentLoop, name: str, state: Tensors, given: Tensors) -> tuple[Tensors, torch.Tensor]:
    """Compute a recurrent layer with a `scan` operator, for any number of steps, instead of an unrolled loop.

    Return the final state and the output of each step."""

    def step(state: Tensors, given: Tensors) -> tuple[Tensors, torch.Tensor]:
        after = part.step(name, state, given)
        return after, after[0].clone()

    end, rows = scan(step, tuple(part.clone() for part in state), given, dim=0)
    return end, rows


def exportable(module: fx.GraphModule) -> fx.GraphModule:
    """Return a copy of the network that shares its weights, with modules that the exporter supports."""
    copied = copy.deepcopy(module, {id(p): p for p in (*module.parameters(), *module.buffers())})
    for name, part in module.named_modules():
        if type(part) in ADAPTIVE_POOLS:
            dims = int(type(part).__name__[-2])
            output_size = part.output_size
            cells = output_size if isinstance(output_size, tuple) else (output_size,) * dims
            copied.set_submodule(name, AdaptivePool(cells, takes_max=ADAPTIVE_POOLS[type(part)]))
        elif isinstance(part, nn.RReLU):
            copied.set_submodule(name, nn.LeakyReLU((part.lower + part.upper) / 2))
        elif isinstance(part, RecurrentLoop):
            loop = copied.get_submodule(name)
            loop.walk = functools.partial(_scan, loop)  # type: ignore[arg-type, assignment]
    return copied


@contextlib.contextmanager
def free_lengths() -> Iterator[None]:
    """Export recurrent layers for sequences of any length, even after they have run in this process.

    The exporter replaces their implementations temporarily (`torch.export._patches`, seen in torch 2.13), but the
    operators cache the last dispatch, so the second such export of a process would fix the length. Remove this when
    that module clears the cache itself.
    """
    operators = (torch.ops.aten.lstm.input, torch.ops.aten.gru.input)
    for operator in operators:
        operator._dispatch_cache.clear()
    try:
        yield
    finally:
        for operator in operators:
            operator._dispatch_cache.clear()


def _own_code(network: Network) -> str:
    """Return a hint that names the layers of user code, or ''; the bundled layers are tested with the exporter."""
    names = [layer.name for layer in network.layers.values() if isinstance(layer.effective_type, UserCode)]
    if not names:
        return ""
    return f". Look first at the project's own code ({', '.join(names)}). Export to PyTorch takes any operation."


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


def _dynamic_axes(type: TensorType) -> dict[int, str]:
    """Return the names of the dynamic axes by dimension: the batch, and every symbolic size."""
    named = {"T": "time"}
    symbols = {type.dim(axis): named.get(axis, axis.lower()) for axis in type.axes if isinstance(type[axis], Symbol)}
    return {0: "batch", **symbols}


def _cause(error: BaseException) -> str:
    """Return the first line of the root cause; the exporter wraps it in advice to its own developers."""
    while error.__cause__ is not None:
        error = error.__cause__
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


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


def open_session(path: Path) -> "InferenceSession":
    """Open an ONNX file with ONNX Runtime on the CPU, its telemetry switched off.

    Its builds for Linux and macOS send events about models to their maker, and store an id of the machine in the home
    folder, unless `ORT_DISABLE_TELEMETRY` is set before the library is loaded. A user who wants telemetry sets it to 0.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compare(module: fx.GraphModule, path: Path, batches: list[Arrays]) -> float:
    """Return the largest difference of the first output over all batches. Raises `RunError` if any output is outside
    the tolerance."""
    session = open_session(path)
    names = [argument.name for argument in session.get_inputs()]
    largest = 0.0
    for batch in batches:
        with torch.no_grad():
            result = module(*(torch.from_numpy(array) for array in batch))
        expected = [tensor.numpy() for tensor in (result if isinstance(result, tuple) else (result,))]
        received = session.run(None, dict(zip(names, batch, strict=True)))
        for index, (torch_output, onnx_output) in enumerate(zip(expected, received, strict=True)):
            difference = largest_difference(torch_output, onnx_output)
            finite = np.abs(torch_output[np.isfinite(torch_output)])
            if difference > TOLERANCE * max(1.0, float(finite.max(initial=0.0))):
                name = session.get_outputs()[index].name
                raise RunError(
                    f"ONNX Runtime gives other numbers than torch: output '{name}' differs by {difference:.3g}. "
                    "The file was not kept."
                )
            largest = max(largest, difference) if index == 0 else largest
    return largest


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest absolute difference; equal infinities and two NaN do not differ."""
    if one.shape != other.shape:
        return float("inf")
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.abs(one.astype(np.float64) - other))
    return float(np.where(np.isnan(distance), np.inf, distance).max(initial=0.0))
