"""Checks of the input layers against the inputs of the data, with fixes: sizes, types, counts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from netwright.engine.core.errors import plural
from netwright.engine.core.types import TensorType, clash
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.inputs import FeatureInput, ImageInput, SequenceInput, VolumeInput
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Layer
from netwright.engine.network.problems import Fix, Problem
from netwright.engine.project import check_fixes
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.check_outputs import output_count_problem, output_problems
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo
from netwright.engine.project.project import Project

FIT = "Fit the network to the data"
"""Label of the edit that sets all inputs and outputs."""
ROW = 120.0
"""Vertical distance of input layers that are added."""


def input_problems(project: Project, analysis: Analysis, facts: DatasetInfo) -> Iterator[Problem]:
    """Return the differences between the input layers and the inputs of the data; each problem sets the layer from the
    data. Where several things differ, a note sets all of them, and the numbers of outputs, at once."""
    differences = [*_differences(project, facts)]
    yield from differences
    if len(differences) + len(_output_edits(project, analysis, facts)) > 1:
        message = "The network differs from the data in several places. All inputs and outputs can be set at once."
        detail = (
            "Sets type and size of each input layer, and the number of outputs, from the data; removes a softmax or a "
            "sigmoid at the end that does not fit the responses."
        )
        fix = Fix(FIT, lambda project: fitted(project, facts), detail)
        yield Problem("note", "", "", "data", message, fix)


def _differences(project: Project, facts: DatasetInfo) -> Iterator[Problem]:
    network = project.network
    if network.inputs and len(network.inputs) != len(facts.inputs):
        names = ", ".join(i.name for i in facts.inputs)
        message = (
            f"The data has {plural(len(facts.inputs), 'input')} ({names}), "
            f"the network {plural(len(network.inputs), 'input layer')}. "
            "Give the network one input layer for each."
        )
        yield Problem("error", "", "", "data", message, missing_inputs(project, facts))
    for id, info in match_inputs(network, facts).items():
        layer = network.layers[id]
        expected = layer.type.output()
        if not expected.fits(info.type) or expected.kind != info.type.kind:
            message = (
                f"The layer takes {expected}; the data gives {info.type}.{_resizing(project, expected, info.type)}"
            )
            fix = _input_fix(layer, info.type)
            if expected.layout == "features" and info.type.kind == "index":
                message += " To take its whole numbers as numbers, set data.integer_arrays=numbers."
                fix = check_fixes.data_option("Take as numbers", integer_arrays="numbers")
            yield Problem("error", id, layer.name, "", message, fix)
        elif info.lengths and not expected.is_open:
            shortest, longest = info.lengths
            message = f"The layer takes {expected}; the sequences of the data have {shortest:,} to {longest:,} steps."
            yield Problem("error", id, layer.name, "length", message, _input_fix(layer, info.type))


def _resizing(project: Project, expected: TensorType, data_type: TensorType) -> str:
    """Return advice to resize the images to the size that a layer takes, where only their size does not fit."""
    if not project.data.is_visible("image_size") or expected.layout != "image" or data_type.layout != "image":
        return ""
    size = expected["H"]
    can_be = isinstance(size, int) and size == expected["W"] and expected["C"] == data_type["C"]
    return f" Give the layer that size, or resize the images: data.image_size={size}." if can_be else ""


def input_of(data_type: TensorType) -> tuple[type[LayerType], dict[str, object]] | None:
    """Return the type of the input layer that takes data of this type, and its field values; None where there is
    none."""
    sizes: Mapping[str, object] = dict(zip(data_type.axes, data_type.sizes, strict=True))
    if data_type.kind == "complex":
        return None
    match data_type.layout:
        case "image":
            return ImageInput, {"channels": sizes["C"], "size": [sizes["H"], sizes["W"]]}
        case "volume":
            return VolumeInput, {"channels": sizes["C"], "size": [sizes["D"], sizes["H"], sizes["W"]]}
        case "features":
            return FeatureInput, {"channels": sizes["C"]}
        case "sequence":
            length = 0 if data_type.is_open else sizes["T"]
            return SequenceInput, {"channels": sizes["C"], "content": "numbers", "length": length}
        case "tokens":
            return SequenceInput, {"content": "indices", "length": 0}
    return None


def _input_fix(layer: Layer, data_type: TensorType) -> Fix | None:
    """Return the edit that sets the input layer's sizes to those of the data, and its type where that differs."""
    if (input_layer := input_of(data_type)) is None:
        return None
    type, values = input_layer
    if isinstance(layer.type, type):
        if isinstance(layer.type, SequenceInput) and data_type.layout == "sequence" and not data_type.is_open:
            has_length = clash(layer.type.length or data_type["T"], data_type["T"])
            values["length"] = data_type["T"] if has_length else layer.type.length
        return check_fixes.fields(f"Set to {data_type.short()}", {layer.id: values})

    def edit(project: Project) -> Project:
        network = edits.replace_type(project.network, layer.id, type)
        return replace(project, network=edits.set_fields(network, layer.id, values))

    return Fix(f"Make it {_named(type, data_type)}", edit)


def _named(type: type[LayerType], data_type: TensorType) -> str:
    """Return `an image input of 3 × 8 × 9`."""
    label = type.label[:1].lower() + type.label[1:]
    return f"{'an' if label[0] in 'aeiou' else 'a'} {label} of {data_type.short()}"


def missing_inputs(project: Project, facts: DatasetInfo) -> Fix | None:
    """Return the edit that adds the input layers that the network lacks, below those that it has; None where it has
    enough."""
    have = len(project.network.inputs)
    missing: list[tuple[InputInfo, type[LayerType], dict[str, object]]] = []
    for info in facts.inputs[have:]:
        if (input_layer := input_of(info.type)) is None:
            return None
        missing.append((info, *input_layer))
    if not missing:
        return None

    def edit(project: Project) -> Project:
        network, layout = project.network, project.layout
        places = [layout.at(layer.id) for layer in network.inputs]
        x, y = max(places, key=lambda at: at[1], default=(0.0, -ROW))
        for _, type, values in missing:
            network, layer = edits.add_layer(network, type(**values))
            y += ROW
            layout = layout.moved({layer.id: (x, y)})
        return replace(project, network=network, layout=layout)

    (first, kind, _), *others = missing
    label = f"Add {plural(len(missing), 'input layer')}" if others else f"Add {_named(kind, first.type)}"
    return Fix(label, edit)


def _output_edits(project: Project, analysis: Analysis, facts: DatasetInfo) -> list[Problem]:
    """Return the problems of outputs that an edit solves: another number of channels than their target, a softmax or a
    sigmoid that does not fit it."""
    network = project.network
    ports = network.output_ports
    if any(port.layer not in analysis.shapes for port in ports) or output_count_problem(network, facts) is not None:
        return []
    return [p for p in output_problems(project, analysis, facts) if p.fix is not None]


def fitted(project: Project, facts: DatasetInfo) -> Project:
    """Return the project with type and size of the input layers, and the numbers of outputs, set from the data, and
    without a softmax or a sigmoid that does not fit its target, as far as there are edits for that. The data stays as
    it is."""
    for problem in _differences(project, facts):
        if problem.fix is not None and (after := problem.fix.edit(project)).data == project.data:
            project = after
    for problem in _output_edits(project, analyse(project.network), facts):
        if problem.fix is not None:
            project = problem.fix.edit(project)
    return project
