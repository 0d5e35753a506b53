"""Export to ONNX, and compare with ONNX Runtime before the file is written.

The file has one input per input layer, of the same name, in the units of the data (the normalisation is part of the
network), with a dynamic batch size: float32, or float64 for numbers that single precision cannot hold. The first output
of a classifier is the class probabilities; the class names are in the metadata.
"""

import contextlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
import torch
from torch import fx

from netwright.engine.core.errors import FieldErrors, RunError, UserError
from netwright.engine.core.files import not_written, refuse_destination, write_atomically
from netwright.engine.core.version import VERSION
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.exchange.exported_network import ExportedNetwork, exported_network, with_fixed_sizes
from netwright.engine.exchange.onnx_check import Comparison, DifferenceError, in_units, read_model, refuse_crash
from netwright.engine.exchange.onnx_graph import content, output_names, program, quiet
from netwright.engine.exchange.onnx_layers import LayerDifference, first_bad, layer_table
from netwright.engine.exchange.onnx_measure import Measured, measure, refuse_loss, torch_outputs
from netwright.engine.exchange.onnx_notes import KEY as LAYER_NOTES
from netwright.engine.exchange.onnx_notes import noted_layers
from netwright.engine.exchange.onnx_opset import LOWEST_EXPORTED
from netwright.engine.exchange.onnx_precision import reduced, refuse_overflow
from netwright.engine.exchange.sample_inputs import Arrays, at_sizes, random_samples
from netwright.engine.lowering.modules.onnx_runtime import onnx_runtime
from netwright.engine.lowering.plan import refuse_errors
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.bindings import match_inputs, wanted_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.input_format import InputFormat
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.training import TrainingOptions

SCALES = (1.0, 1e4, 1e8)
"""Sizes of normalised random inputs. Deep in a network with initial weights values fade, so that a gate after a sigmoid
is 0.5 whatever its weights are: large inputs make it count."""
LIMIT_BYTES = 2_000_000_000
"""Limit of the weights inside a file, which is one protobuf message of at most 2 GB; more lie beside it."""
LEAST_BESIDE = 256
"""Size in bytes of the smallest tensor that lies beside a file with external data."""


@dataclass(frozen=True)
class OnnxFile:
    """The file written, the largest difference of its first output between ONNX Runtime and torch, and what the
    comparison could not tell. `measured` are accuracy, size and speed, where they were asked for."""

    path: Path
    largest_difference: float
    samples_compared: int
    notes: tuple[str, ...] = ()
    opset: int = 0
    layers: tuple[LayerDifference, ...] = ()
    size_bytes: int = 0
    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True, eq=False)
class ExportData:
    """The data of an export beside the samples that are compared: `loaded` for metrics, `training` says which, and
    `calibration` are samples of the validation data in the order of the data's inputs."""

    loaded: LoadedData | None = None
    training: TrainingOptions = field(default_factory=TrainingOptions)
    calibration: Arrays | None = None


def export_onnx(
    network: Network,
    state: Mapping[str, torch.Tensor],
    to: Path,
    *,
    facts: DatasetInfo | None,
    samples: Arrays | None,
    inputs: Sequence[InputFormat] = (),
    record: Preparation | None = None,
    options: OnnxOptions | None = None,
    data: ExportData | None = None,
) -> OnnxFile:
    """Write the network with the weights `state`. `samples` are real samples in the order of the data's inputs,
    `inputs` what each input of the network takes and `record` how data is prepared for them, for the metadata.

    Without samples, random ones are compared. Raises `UserError` for a network that cannot be exported, before the
    export begins, and `DifferenceError` if ONNX Runtime computes other outputs, with the differences layer by layer; no
    file is left then.
    """
    options, data = options or OnnxOptions(), data or ExportData()
    refuse_network(network)
    refuse_destination(to)
    refuse_options(options, data)
    exported = exported_network(network, state, facts, options)
    probes = list(exported.probes())
    batches = [exported.fit(batch) for batch in at_sizes(samples)] if samples is not None else probes
    described = metadata(exported, inputs)
    if record is not None:
        described["preparation"] = _record(record, exported).text()
    lines_by_input = [entry.lines() for entry in inputs]
    with tempfile.TemporaryDirectory(prefix=".netwright-", dir=to.parent) as folder:
        content_or_path = _write_float(exported, probes[-1], described, Path(folder) / to.name)
        comparison, difference, layers = _compare(exported, content_or_path, batches, has_data=samples is not None)
        final, notes = content_or_path, comparison.notes()
        if notes_on_layers := noted_layers(exported, content_or_path, batches[-1]):
            described[LAYER_NOTES] = notes_on_layers  # also in other precisions: values keep their names there
        if options.precision != "float32":
            assert isinstance(content_or_path, bytes)
            final, difference = _reduced(exported, content_or_path, batches[-1], data)
        compared = len(batches[-1][0])
        files = [("float32", content_or_path, _size(content_or_path))]
        files += [(options.precision, final, _size(final))] if final is not content_or_path else []
        measured, costs = _measured(exported, files, batches[-1], data)
        notes = (*notes, *costs)
        described["parity"] = _parity(difference, batches[-1], exported, options, is_real=samples is not None)
        _move(_with_metadata(final, described, lines_by_input), to)
    return OnnxFile(to, difference, compared, notes, options.opset, layers, _size(to), measured)


def refuse_options(options: OnnxOptions, data: ExportData) -> None:
    """Raise `UserError` for options that do not go together, or that need data where there is none."""
    problems = options.problems()
    if problems:
        raise FieldErrors(problems)
    if options.precision == "int8-static" and data.calibration is None:
        raise UserError(
            "int8-static measures the ranges of activations on the validation data, and the project has no data that "
            "can be read.",
            hint="Choose int8-dynamic, which needs none.",
        )


def _write_float(exported: ExportedNetwork, batch: Arrays, described: Mapping[str, str], path: Path) -> bytes | Path:
    """Return the file in float32: its content, or `path` where the weights lie beside it."""
    options, module = exported.options, exported.module
    size = sum(t.numel() * t.element_size() for t in module.state_dict().values())
    is_beside = options.external_data == "yes" or (options.external_data == "auto" and size > LIMIT_BYTES)
    if size > LIMIT_BYTES and (not is_beside or options.precision != "float32" or options.opset < LOWEST_EXPORTED):
        raise UserError(
            f"The weights have {size / 1e9:.1f} GB; an ONNX file holds at most {LIMIT_BYTES / 1e9:.0f} GB.",
            hint=f"Put the weights beside the file (--external-data yes), in float32 and opset {LOWEST_EXPORTED} or "
            "above, or export to PyTorch.",
        )
    if not is_beside:
        return content(module, exported.network, batch, described, options)
    if options.opset < LOWEST_EXPORTED:
        model = onnx_ir.from_proto(onnx.load_from_string(content(module, exported.network, batch, described, options)))
    else:
        model = program(module, exported.network, batch, options)
    with quiet():
        onnx_ir.save(model, path, external_data=f"{path.name}.data", size_threshold_bytes=LEAST_BESIDE)
    onnx.checker.check_model(path)
    return path


def _compare(
    exported: ExportedNetwork, data: bytes | Path, batches: Sequence[Arrays], *, has_data: bool
) -> tuple[Comparison, float, tuple[LayerDifference, ...]]:
    """Compare the file with torch; return also the largest difference, and those of layers if they are asked for."""
    options, module = exported.options, exported.module
    refuse_crash(module, data, batches[-1], options.batch)
    comparison = Comparison(module, data, channel_dims(exported.network), options.batch)
    try:
        difference = max(comparison.run(batch) for batch in reversed(batches))
        probe(comparison, module, exported.network, has_data=has_data)
    except DifferenceError as error:
        raise _with_layers(error, module, data, options.batch) from None
    layers = tuple(layer_table(module, data, batches[-1], size=options.batch)) if options.layers else ()
    return comparison, difference, layers


def _reduced(exported: ExportedNetwork, data: bytes, batch: Arrays, export_data: ExportData) -> tuple[bytes, float]:
    """Return the file in the precision of the options, and the largest difference of its first output."""
    calibration = exported.fit(export_data.calibration) if export_data.calibration is not None else None
    final = reduced(data, exported.options, calibration)
    try:
        refuse_crash(exported.module, final, batch, exported.options.batch)
    except RunError as error:
        raise RunError(f"In {exported.options.precision}: {error}", hint="Export it in float32.") from None
    return final, refuse_overflow(torch_outputs(exported.module, batch), final, batch, exported.options)


def _measured(
    exported: ExportedNetwork, files: Sequence[tuple[str, bytes | Path, int]], batch: Arrays, data: ExportData
) -> tuple[tuple[Measured, ...], tuple[str, ...]]:
    """Return the table of accuracy, size and speed, where it is asked for, and notes on what a conversion costs. Raises
    `UserError` where that is more than the options accept."""
    options = exported.options
    is_converted = len(files) > 1
    if not options.measure and not is_converted:
        return (), ()
    rows = measure(exported, files, data.loaded, data.training, batch)
    costs = refuse_loss(rows, options.accepted_loss) if is_converted else ()
    return rows if options.measure else (), costs


def _with_layers(error: DifferenceError, module: fx.GraphModule, data: bytes | Path, size: int) -> DifferenceError:
    """Return the error with the differences layer by layer, as far as the file can be run with them."""
    with contextlib.suppress(RunError):
        rows = layer_table(module, data, error.batch, error.sample, size)
        text = " ".join(filter(None, (str(error), first_bad(rows))))
        error = DifferenceError(text, error.batch, error.sample)
        error.data = {"layers": [row.write() for row in rows]}
    return error


def _parity(difference: float, batch: Arrays, exported: ExportedNetwork, options: OnnxOptions, *, is_real: bool) -> str:
    """Return the report of the comparison as JSON."""
    largest = max(
        (float(np.abs(one).max(initial=0.0)) for one in torch_outputs(exported.module, batch)[:1]), default=0.0
    )
    is_float = options.precision == "float32"
    report = {
        "relative_difference": (difference / largest if largest else 0.0) if is_float else difference,
        "samples": len(batch[0]),
        "samples_kind": "real" if is_real else "random",
        "precision": options.precision,
        "opset": options.opset,
        "torch": torch.__version__,
        "onnxruntime": onnx_runtime().__version__,
    }
    return json.dumps(report)


def _with_metadata(data: bytes | Path, described: Mapping[str, str], texts: Sequence[Sequence[str]]) -> bytes | Path:
    """Return the file with its metadata, which conversions may have dropped."""
    model = read_model(data)
    onnx.helper.set_model_props(model, dict(described))
    for value, lines in zip(model.graph.input, texts, strict=False):
        value.doc_string = "\n".join(lines)
    model.producer_name, model.producer_version = "netwright", VERSION
    content: bytes = model.SerializeToString()
    if isinstance(data, bytes):
        return content
    data.write_bytes(content)
    return data


def _size(data: bytes | Path) -> int:
    if isinstance(data, bytes):
        return len(data)
    return sum(path.stat().st_size for path in (data, data.with_name(f"{data.name}.data")) if path.exists())


def _move(data: bytes | Path, to: Path) -> None:
    """Put the file, and the weights beside it, in their place."""
    try:
        if isinstance(data, bytes):
            write_atomically(to, data)
            return
        weights = data.with_name(f"{data.name}.data")
        if weights.exists():
            weights.replace(to.with_name(weights.name))
        data.replace(to)
    except OSError as error:
        raise not_written(to, error) from None


def _record(record: Preparation, exported: ExportedNetwork) -> Preparation:
    """Return the record as it is true of the file: what is normalised outside, and what remains to be applied."""
    written = record.for_onnx(output_names(exported.network))
    if exported.options.probabilities == "outside" and exported.facts is not None:
        bindings = wanted_of(exported.network, analyse(exported.network), exported.facts, is_padded=False)
        pairs = zip(written.targets, bindings, strict=False)
        written = replace(written, targets=tuple(replace(one, activation=out.folds) for one, out in pairs))  # type: ignore[arg-type]
    inputs = (replace(one, normalization=None) if one.name in exported.outside else one for one in written.inputs)
    return with_fixed_sizes(replace(written, inputs=tuple(inputs)), exported.options)


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


def metadata(exported: ExportedNetwork, inputs: Sequence[InputFormat] = ()) -> dict[str, str]:
    """Return the metadata of the file; ONNX allows strings only. docs/exporting.md lists the keys."""
    network, facts = exported.full, exported.facts
    described = {
        "netwright": VERSION,
        "input_units": "those of the data source; the normalisation is part of the network",
    }
    if inputs:
        described["inputs"] = json.dumps([entry.write() for entry in inputs], ensure_ascii=False)
        described["input_units"] = "; ".join(f"{entry.name}: {entry.short()}" for entry in inputs)
    if exported.outside:
        described["normalization"] = json.dumps(exported.normalization(), ensure_ascii=False)
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
