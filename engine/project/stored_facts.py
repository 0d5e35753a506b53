"""The facts about the data of a network from a stored preparation, where the data itself is not available."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from netwright.engine.core.types import Symbol, TensorType
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.network import Network
from netwright.engine.project.bindings import output_name
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.preparation import InputPreparation, Preparation, TargetPreparation, TextPreparation

Number = TypeVar("Number", int, float)


def type_of(part: InputPreparation | TargetPreparation) -> TensorType:
    """Return the type of an input or a target."""
    sizes = tuple(Symbol(axis) if size is None else size for axis, size in zip(part.axes, part.sizes, strict=True))
    is_index = isinstance(part, InputPreparation) and part.content == "indices"
    return TensorType(part.axes, sizes, "index" if is_index else "real")


def predicted_text(record: Preparation) -> TextPreparation | None:
    """Return the tokens of a network that predicts the next one at each step of a text; None for any other."""
    how = record.inputs[0].text
    if how is None or len(record.targets) != 1:
        return None
    target = record.targets[0]
    is_next = target.task == "classes" and target.axes == ("T", "C") and len(target.classes) == how.vocabulary
    return how if is_next else None


def facts_of(record: Preparation) -> DatasetInfo:
    """Return the facts of the data as far as a record has them; no samples are counted."""
    inputs = tuple(
        InputInfo(
            part.source or part.name,
            type_of(part),
            part.column_names,
            _pair(part.lengths),
            _pair(part.span),
            part.columns if part.reads == "columns" else (),
            part.sound,
            part.text,
        )
        for part in record.inputs
    )
    targets = tuple(
        TargetInfo(part.source or part.name, type_of(part), part.task, part.classes) for part in record.targets
    )
    return DatasetInfo(inputs, {}, targets)


def _pair(values: tuple[Number, ...]) -> tuple[Number, Number] | None:
    return (values[0], values[1]) if values else None


def of_network(
    record: Preparation, network: Network, analysis: Analysis, names: Mapping[str, str] | None = None
) -> Preparation | None:
    """Return a record of another file for a network: its parts in the order of the network, with the sizes that it has.
    None where the network has other inputs or outputs, such as after an edit.

    `names` are those in the network by those in the record, where they differ. The record has no normalisation: the
    network may have it elsewhere.
    """
    names = names or {}
    inputs = {names.get(part.name, part.name): part for part in record.inputs}
    targets = {names.get(part.name, part.name): part for part in record.targets}
    types = {layer.name: layer.type.output() for layer in network.inputs}
    ends = {output_name(network, port): analysis.type_at(port) for port in network.output_ports}
    if not targets or inputs.keys() != types.keys() or targets.keys() != ends.keys():
        return None
    parts = [_input(inputs[name], name, type) for name, type in types.items()]
    outputs = [_target(targets[name], name, type) for name, type in ends.items()]
    fitting, answers = tuple(filter(None, parts)), tuple(filter(None, outputs))
    if len(fitting) < len(parts) or len(answers) < len(outputs):
        return None
    return replace(record, inputs=fitting, targets=answers)


def _input(part: InputPreparation, name: str, type: TensorType) -> InputPreparation | None:
    if not type_of(part).fits(type) or (part.content == "indices") != (type.kind == "index"):
        return None
    changed = replace(part, name=name, source=_source(part, name), sizes=sizes_of(type), normalization=None)
    return replace(changed, dtype="int64" if type.kind == "index" else "float32")


def _target(part: TargetPreparation, name: str, type: TensorType | None) -> TargetPreparation | None:
    if type is None or set(type.axes) != set(part.axes):
        return None
    changed = replace(part, name=name, source=_source(part, name), normalization=None)
    changed = replace(changed, axes=type.axes, sizes=sizes_of(type))
    return changed if changed.fits else None


def _source(part: InputPreparation | TargetPreparation, name: str) -> str:
    source = part.source or part.name
    return "" if source == name else source


def sizes_of(type: TensorType) -> tuple[int | None, ...]:
    """Return the sizes of a type as a record has them."""
    return tuple(None if isinstance(size, Symbol) else size for size in type.sizes)
