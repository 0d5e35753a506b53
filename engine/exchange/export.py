"""Export the network of a model to a named format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import refuse_destination
from netwright.engine.exchange.operations.export import ExportRequest, ExportResult
from netwright.engine.exchange.writing_script import writing_script
from netwright.engine.models.open_model import initial_network, open_model
from netwright.engine.models.trained_model import Model
from netwright.engine.network.analysis import analyse, folded
from netwright.engine.project import user_code
from netwright.engine.project.bindings import match_inputs, wanted_of
from netwright.engine.project.check import check
from netwright.engine.project.constants import has_constants
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.input_format import InputFormat, Range, input_formats
from netwright.engine.project.preparation import Preparation
from netwright.engine.runs.model_files import ModelChoice

if TYPE_CHECKING:
    import numpy as np
    import torch

    from netwright.engine.data.loading.loaded import LoadedData
    from netwright.engine.exchange.onnx_layers import LayerDifference
    from netwright.engine.exchange.onnx_measure import Measured
    from netwright.engine.exchange.training_script.write import TrainingScript

SAMPLES_TO_COMPARE = 64
ALIKE = ("format", "largest_difference", "samples_kind", "precision", "opset", "size_bytes", "code")
"""Names that a value has in `Exported` and in the result of the operation."""


@dataclass(frozen=True)
class Exported:
    """Result of an export. `largest_difference` is that of the first output from ONNX Runtime's, if compared."""

    path: Path
    format: str
    largest_difference: float | None = None
    samples_compared: int = 0
    samples_kind: str = "real"
    layers: "tuple[LayerDifference, ...]" = ()
    """Differences layer by layer, if they were asked for."""
    notes: tuple[str, ...] = ()
    precision: str = "float32"
    opset: int | None = None
    size_bytes: int | None = None
    measured: "tuple[Measured, ...]" = ()
    """Accuracy, size and speed before and after a conversion, beside torch's."""
    inputs: tuple[InputFormat, ...] = ()
    classes: tuple[str, ...] = ()
    code: str = ""
    """A Python program that loads the file, feeds it a sample, and prints the result."""


def export_file(request: ExportRequest) -> ExportResult:
    """Export the network of a project or run as a request asks. Raises `UserError`."""
    script = writing_script(request) if request.with_generation else None
    written = export(
        request.source,
        request.kind,
        request.output,
        trusted=request.trusted,
        base=request.base,
        replaces=request.force,
        weights_kept=request.weights,
        options=request.onnx_options,
        with_training=request.with_training,
    )
    if script is not None:
        script.write()
        written = replace(written, notes=(*written.notes, script.note))
    values: dict[str, Any] = {
        "path": str(written.path.absolute()),
        "samples": written.samples_compared,
        **{name: [row.write() for row in getattr(written, name)] for name in ("layers", "measured", "inputs")},
        **{name: list(getattr(written, name)) for name in ("classes", "notes")},
        **{name: getattr(written, name) for name in ALIKE},
    }
    return ExportResult(**values)


def export(
    path: Path,
    format: str,
    to: Path,
    *,
    trusted: bool = False,
    base: Path | None = None,
    replaces: bool = False,
    weights_kept: str = "",
    options: OnnxOptions | None = None,
    with_training: bool = False,
) -> Exported:
    """Export the network of a project or run to the file `to`. `trusted` lets its user code run this time,
    `replaces` files beside `to` be overwritten. `options` are those of ONNX, `with_training` writes a training script
    beside a PyTorch file.

    `base` is the folder of the project's files, if not beside it; `weights_kept` see `ModelChoice`. Raises `UserError`,
    with the reason, if the network cannot be exported.
    """
    refuse_destination(to)
    if with_training and format != "pytorch":
        raise UserError("A training script is written beside a PyTorch file only.", hint="Choose the format pytorch.")
    source = open_model(ModelChoice(path, weights_kept, trusted, base=base), needs_weights=False)
    network = source.project.network
    from netwright.engine.exchange.input_ranges import ranges
    from netwright.engine.lowering.fitted import trained_preparation

    facts, data, facts_note = _data(source)
    result = check(source.project, facts)
    if result.analysis.has_errors or (with_training and any(problem.layer for problem in result.errors)):
        result.refuse_errors()  # with a training script also where the data does not fit a layer
    is_described = source.run is not None or source.project.data.source == "none"
    stored = source.record if is_described else None  # a project with data of its own is described by that
    record = stored or trained_preparation(source.project, facts, source.weights or {}, result.analysis)
    options = options or OnnxOptions()
    is_bare = format == "onnx" and options.probabilities == "outside"
    if facts is not None and options.temperature == "inside" and not is_bare:
        from netwright.engine.exchange.exported_network import with_temperature

        network, record, remarks = with_temperature(network, record, facts)
        source = replace(source, project=replace(source.project, network=network), notes=(*source.notes, *remarks))
    ranged = ranges(network, facts, data, source.weights)
    inputs = _onnx_inputs(record, ranged, options) if format == "onnx" else input_formats(record, ranged)
    is_double = format != "onnx" or options.normalization == "inside"
    notes = (*(_double_notes(record) if is_double else ()), *_record_notes(source, facts))
    if format == "pytorch":
        script = _training_script(source, to, replaces=replaces) if with_training else None
        exported = _export_pytorch(source, facts, to, inputs, script, replaces=replaces)
        exported = replace(exported, notes=(*notes, *exported.notes))
    elif format == "pt2":
        exported = _export_program(source, facts, data, to, inputs, record, (*source.notes, *facts_note, *notes))
    else:
        preparation = record if facts is not None else None
        exported = _export_onnx(source, facts, data, to, inputs, preparation, options)
        exported = replace(exported, notes=(*source.notes, *facts_note, *notes, *exported.notes))
    classes = facts.classes if facts is not None else ()
    return replace(exported, inputs=inputs, classes=classes, code=_code(source, facts, data, exported, inputs, options))


def _onnx_inputs(record: Preparation, ranged: Mapping[str, Range], options: OnnxOptions) -> tuple[InputFormat, ...]:
    from netwright.engine.exchange.exported_network import described_inputs, with_fixed_sizes

    fixed = with_fixed_sizes(record.for_onnx(()), options)
    return described_inputs(input_formats(fixed, ranged), options, record)


def _training_script(source: Model, to: Path, *, replaces: bool) -> "TrainingScript":
    from netwright.engine.exchange.training_script.write import training_script

    return training_script(source.project, source.base, to, title=source.title, replaces=replaces)


def _export_pytorch(
    source: Model,
    facts: DatasetInfo | None,
    to: Path,
    inputs: tuple[InputFormat, ...],
    script: "TrainingScript | None",
    *,
    replaces: bool,
) -> Exported:
    from netwright.engine.exchange.pytorch_export import export_pytorch

    project, title = source.project, source.title
    state = _weights(source) if has_constants(project.network) else source.weights
    written = export_pytorch(project, state, to, facts=facts, title=title, inputs=inputs, replaces=replaces)
    notes = _pytorch_notes(source, facts, written)
    if script is not None:
        script.write()
        notes += script.notes
    return Exported(written, "pytorch", notes=tuple(notes))


def _export_program(
    source: Model,
    facts: DatasetInfo | None,
    data: "LoadedData | None",
    to: Path,
    inputs: tuple[InputFormat, ...],
    record: Preparation,
    notes: tuple[str, ...],
) -> Exported:
    from netwright.engine.exchange.exported_program import export_program

    network = source.project.network
    weights = _weights(source)
    samples = _samples(data)
    file = export_program(network, weights, to, facts=facts, samples=samples, inputs=inputs, record=record)
    compared = (file.largest_difference, file.samples_compared, "real" if samples is not None else "random")
    return Exported(file.path, "pt2", *compared, notes=(*notes, *_score_notes(source, facts)))


def _export_onnx(
    source: Model,
    facts: DatasetInfo | None,
    data: "LoadedData | None",
    to: Path,
    inputs: tuple[InputFormat, ...],
    record: Preparation | None,
    options: OnnxOptions,
) -> Exported:
    from netwright.engine.exchange.onnx_export import ExportData, export_onnx

    network = source.project.network
    weights = _weights(source)
    samples = _samples(data)
    calibration = _samples(data, ("validation", "test", "training"), options.calibration_samples)
    splits = ExportData(data, source.project.training, calibration if options.precision == "int8-static" else None)
    file = export_onnx(
        network, weights, to, facts=facts, samples=samples, inputs=inputs, record=record, options=options, data=splits
    )
    kind = "real" if samples is not None else "random"
    compared = (file.largest_difference, file.samples_compared, kind, file.layers, file.notes)
    return Exported(file.path, "onnx", *compared, options.precision, file.opset, file.size_bytes, file.measured)


def _code(
    source: Model,
    facts: DatasetInfo | None,
    data: "LoadedData | None",
    exported: Exported,
    inputs: tuple[InputFormat, ...],
    options: OnnxOptions,
) -> str:
    """Return the program that runs the exported file on a sample of the data."""
    from netwright.engine.exchange.snippet import Program, Sample, code, samples_of

    network = source.project.network
    samples: tuple[Sample, ...] = ()
    target = ""
    matched = match_inputs(network, facts) if facts is not None else {}
    if data is not None and facts is not None and len(matched) == len(network.inputs):
        order = [facts.inputs.index(matched[layer.id]) for layer in network.inputs]
        samples, target = samples_of(data, source.project.data, source.base, order)
    outputs = wanted_of(network, analyse(network), facts, is_padded=False) if facts is not None else ()
    is_scores = exported.format == "onnx" and options.probabilities == "outside"
    is_probable = tuple(
        not one.folds or (not is_scores and (exported.format == "onnx" or bool(folded(network, {one.port: one.folds}))))
        for one in outputs
    )
    has_weights, has_companions = source.weights is not None, bool(user_code.code_files(network))
    counts = (has_weights, len(network.output_ports))
    program = Program(exported.path, exported.format, *counts, outputs, is_probable, has_companions)
    return code(program, inputs, samples, target)


def _double_notes(record: Preparation) -> list[str]:
    """Return a note for each input that has to be float64."""
    return [
        f"The input '{entry.name}' has to be float64: single precision cannot hold its numbers, such as seconds since "
        "1970."
        for entry in record.inputs
        if entry.dtype == "float64"
    ]


def _record_notes(source: Model, facts: DatasetInfo | None) -> list[str]:
    """Return a note where a run did not store how its data was prepared."""
    if source.run is None or source.record is not None or facts is None:
        return []
    return [
        "The version of Netwright that trained the run did not store how the data was prepared. The file describes the "
        "data as it is read now; train again where it has changed since."
    ]


def _pytorch_notes(source: Model, facts: DatasetInfo | None, written: Path) -> list[str]:
    """Return notes for the person who loads the file."""
    if source.weights is not None:
        weights = written.with_suffix(".safetensors")
        notes = [*source.notes, f"Its weights are in {weights}; load() in the file takes them and needs safetensors."]
    else:
        notes = [
            "The project has no trained weights, so none are written: Network() starts with torch's initial weights. "
            "Export a run for trained ones; its load() needs the package safetensors."
        ]
    if facts is None:
        notes.append("The project's data cannot be read here: the file names neither classes nor columns.")
    return [*notes, *_score_notes(source, facts)]


def _score_notes(source: Model, facts: DatasetInfo | None) -> list[str]:
    """Return a note where the file gives scores instead of probabilities."""
    network = source.project.network
    bindings = wanted_of(network, analyse(network), facts, is_padded=False) if facts is not None else ()
    missing = {one.folds for one in bindings if one.folds and not folded(network, {one.port: one.folds})}
    if not missing:
        return []
    names = " and no ".join(sorted(missing))
    return [f"The network has no {names} at its end: the file gives scores, not probabilities."]


def _data(source: Model) -> "tuple[DatasetInfo | None, LoadedData | None, tuple[str, ...]]":
    """Return the facts of the data and the data itself. Without it: the facts that the run stored, and a note."""
    options = source.project.data
    names_note = "with the class names stored with the weights" if source.dataset else "without class names"
    if options.source == "none" or options.problems():
        return source.dataset, None, (f"The project has no data: compared on random samples, {names_note}.",)
    from netwright.engine.data.loading.load import load as load_data

    try:
        data = load_data(options, source.base, is_streamed=True)
        return data.facts, data, ()
    except UserError as error:
        return source.dataset, None, (f"The data cannot be read ({error}): compared on random samples, {names_note}.",)


def _weights(source: Model) -> "dict[str, torch.Tensor]":
    """Return the trained weights, or initial ones with the constants of imported operators."""
    return initial_network(source).state_dict() if source.weights is None else source.weights


def _samples(
    data: "LoadedData | None", order: Sequence[str] = ("test", "validation", "training"), most: int = SAMPLES_TO_COMPARE
) -> "tuple[np.ndarray, ...] | None":
    """Return up to `most` samples per input of the first split in the order that has some."""
    if data is None:
        return None
    part = next(name for name in order if data.facts.samples.get(name))
    return tuple(array[:most] for array in data.split(part, data.wider).inputs)
