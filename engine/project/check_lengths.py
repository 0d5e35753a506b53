"""Checks and lowering of layers that receive padded sequences of different lengths."""

from collections.abc import Callable, Iterator, Mapping

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol
from netwright.engine.layers.base import LayerType, Lowered
from netwright.engine.layers.inputs import SequenceInput
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, LayerShapes, analyse
from netwright.engine.network.block import Block
from netwright.engine.network.network import Layer, Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo
from netwright.engine.project.project import Project

WAY_OUT = "Give the sequence input a length, cut or fill all sequences to one length, or use another layer."


def lowered(layer: Layer, shapes: LayerShapes) -> Lowered:
    """Return the calls of a layer, some of whose inputs are sequences of any length. Raises `ShapeError` where they
    cannot be padded."""
    type = layer.effective_type
    try:
        if not type.__module__.startswith("netwright.") and not _says(type):
            raise ShapeError(f"The layer type '{type.key}' does not say what it does with padded sequences.")
        for out in shapes.outputs:
            if any(isinstance(size, Symbol) and axis != "T" for axis, size in zip(out.axes, out.sizes, strict=True)):
                raise ShapeError(f"The steps do not stay the steps of a sequence: {out} leaves it.")
        calls: Lowered = type.lower_padded(*shapes.inputs)
    except ShapeError as error:
        raise ShapeError(f"Sequences of different lengths cannot be padded here. {error} {WAY_OUT}") from error
    return calls


def _says(type: LayerType) -> bool:
    return any("lower_padded" in vars(base) for base in type.__class__.__mro__ if base is not LayerType)


def is_padded(shapes: LayerShapes) -> bool:
    """Return whether any input is a sequence of any length."""
    return any(x.is_open for x in shapes.inputs)


def problems(network: Network, analysis: Analysis) -> Iterator[Problem]:
    """Return an error for each layer, also in blocks, that does not support sequences of different lengths."""
    for id, shapes in analysis.shapes.items():
        layer = network.layers[id]
        if isinstance(layer.effective_type, Block):
            for copy in analysis.inside[id].copies[:1]:
                yield from (problem.lifted(id, layer.name) for problem in problems(layer.effective_type.network, copy))
        elif is_padded(shapes):
            try:
                lowered(layer, shapes)
            except ShapeError as error:
                yield Problem("error", id, layer.name, "", str(error))


def length_problems(
    network: Network, analysis: Analysis, fed: Mapping[str, InputInfo], *, is_masked: bool = True
) -> Iterator[Problem]:
    """Return errors that depend on the data's lengths: a window longer than the sequence, too few positions, a layer
    that cannot distinguish padding from data.

    `fed` holds the type that the data gives each input layer, `is_masked` whether padding is masked. A layer with
    other errors is omitted.
    """
    faulty_ids = {problem.layer for problem in analysis.problems if problem.severity == "error"}
    candidates = [*_of_length(network, fed, min), *_of_length(network, fed, max)]
    if is_masked and any(info.lengths for info in fed.values()):
        candidates += problems(network, analysis)
    for problem in candidates:
        if problem.layer not in faulty_ids:
            faulty_ids.add(problem.layer)
            yield problem


def _of_length(
    network: Network, fed: Mapping[str, InputInfo], pick: Callable[[tuple[int, int]], int]
) -> Iterator[Problem]:
    """Return the errors with each input of the length of the data, or of its shortest or longest sequence."""
    measured = network
    for id, info in fed.items():
        type, length = network.layers[id].type, dict(zip(info.type.axes, info.type.sizes, strict=True)).get("T")
        length = pick(info.lengths) if info.lengths else length
        if isinstance(type, SequenceInput) and not type.length and isinstance(length, int):
            measured = edits.set_fields(measured, id, {"length": length})
    if measured is not network:
        for problem in analyse(measured).problems:
            if problem.severity == "error":
                yield Problem("error", problem.layer, problem.name, problem.field, problem.message)


def sequence_problems(project: Project, facts: DatasetInfo) -> Iterator[Problem]:
    """Return the problems of sequence options that do not fit the data or the network."""
    options, network = project.training, project.network
    fed = match_inputs(network, facts)
    tasks = {target.task for target in facts.targets}
    timed = {id: info for id, info in fed.items() if info.type.has("T")}
    if options.sequence_length == "split" and timed:
        message = ""
        if len(timed) > 1:
            names = ", ".join(info.name for info in timed.values())
            message = f"One sequence per sample can be split; the data has {len(timed)}: {names}."
        elif "transcripts" in tasks:
            message = "A transcript belongs to a whole sequence; pieces of it have none. Use longest or shortest."
        elif fixed := [network.layers[id] for id in timed if getattr(network.layers[id].type, "length", 0)]:
            message = f"'{fixed[0].name}' takes sequences of one length, so pieces do not fit. Set its length to 0."
        if message:
            yield Problem("error", "", "", "training.sequence_length", message)
    if options.sequence_padding == "seen" and any(info.lengths for info in timed.values()):
        if "transcripts" in tasks:
            message = "CTC has to know where a sequence ends, which seen padding hides. Use masked."
            yield Problem("error", "", "", "training.sequence_padding", message)
        value = options.sequence_padding_value
        if any(info.type.kind == "index" for info in timed.values()) and (value < 0 or value != int(value)):
            message = f"Indices are padded with an index, a whole number from 0; received {value:g}."
            yield Problem("error", "", "", "training.sequence_padding_value", message)
