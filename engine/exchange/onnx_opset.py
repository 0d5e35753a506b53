"""Write an ONNX model of opset 18, the lowest that torch's exporter knows, with the operators of an older opset.

Most operators of opset 18 exist in opset 13 with the same meaning; what newer versions added is left out where it has
its default value. A few are written otherwise. What has no older form is refused with its layer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

from netwright.engine.core.errors import UserError, listed
from netwright.engine.project.export_options import flag

LOWEST_EXPORTED = 18
"""Lowest opset that torch's exporter writes."""
MOST_NAMED = 3
REDUCTIONS = ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp")
IGNORED = {("Reshape", "allowzero"): 1}
"""Attributes that matter only for tensors without elements, with the value that may be left out."""


@dataclass
class _Graph:
    """A graph that is rewritten: its constants by name, and the names taken."""

    graph: onnx.GraphProto
    constants: dict[str, onnx.TensorProto]

    def add(self, name: str, values: np.ndarray) -> str:
        """Add a constant; return its name."""
        while name in self.constants:
            name += "_"
        self.constants[name] = numpy_helper.from_array(values, name)
        self.graph.initializer.append(self.constants[name])
        return name


def with_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return the model with an older opset. Raises `UserError` with the layers that it has no form for, and the lowest
    opset that has."""
    _rewrite(_Graph(model.graph, {}), opset)
    needs = {node.name: (lowest_opset(node), node.op_type) for node in _nodes(model.graph)}
    refused = {name: need for name, need in needs.items() if need[0] > opset}
    if refused:
        lowest = max(number for number, _ in needs.values())
        layers = list(dict.fromkeys(f"'{name.rpartition('/')[0] or name}' ({op})" for name, (_, op) in refused.items()))
        if len(layers) > MOST_NAMED:
            layers = [*layers[:MOST_NAMED], f"{len(layers) - MOST_NAMED:,} more"]
        raise UserError(
            f"Opset {opset} has no form for {listed(layers)}.",
            hint=f"The lowest opset for this network is {lowest}: {flag('opset')} {lowest}.",
        )
    for entry in model.opset_import:
        entry.version = opset if entry.domain in ("", "ai.onnx") else entry.version
    model.ir_version = helper.find_min_ir_version_for(model.opset_import)
    return model


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _nodes(attribute.g)


def outer_names(graph: onnx.GraphProto) -> list[str]:
    """Return the names that a subgraph takes from the graph around it."""
    own = {one.name for one in (*graph.input, *graph.initializer)} | {n for node in graph.node for n in node.output}
    needed = [name for node in graph.node for name in node.input if name] + [one.name for one in graph.output]
    inner = [
        name
        for node in graph.node
        for attribute in node.attribute
        for sub in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs)
        for name in outer_names(sub)
    ]
    return [name for name in dict.fromkeys([*needed, *inner]) if name not in own]


def lowest_opset(node: onnx.NodeProto) -> int:
    """Return the lowest opset from 13 on that has the operator with these attributes and so many inputs."""
    if node.domain not in ("", "ai.onnx"):
        return 0
    names = {attribute.name for attribute in node.attribute}
    for opset in range(13, LOWEST_EXPORTED + 1):
        try:
            schema = onnx.defs.get_schema(node.op_type, opset, "")
        except onnx.defs.SchemaError:
            continue
        is_known = names <= set(schema.attributes) and schema.min_input <= len(node.input) <= schema.max_input
        if is_known and not (node.op_type == "BatchNormalization" and len(node.output) > 1):
            return opset
    return LOWEST_EXPORTED


def _rewrite(place: _Graph, opset: int) -> None:
    """Rewrite the nodes of a graph, and of those inside it, in place."""
    place.constants |= {one.name: one for one in place.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in place.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _rewrite(_Graph(attribute.g, dict(place.constants)), opset)
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            place.constants[node.output[0]] = node.attribute[0].t
        _leave_out_defaults(node, opset)
        rewrite = REWRITES.get(node.op_type)
        has_older = rewrite is not None and lowest_opset(node) > opset
        nodes += rewrite(place, node) if rewrite is not None and has_older else [node]
    del place.graph.node[:]
    place.graph.node.extend(nodes)


def _leave_out_defaults(node: onnx.NodeProto, opset: int) -> None:
    """Remove attributes that the older operator does not have, where their value changes nothing."""
    try:
        older = onnx.defs.get_schema(node.op_type, opset, "").attributes
        newer = onnx.defs.get_schema(node.op_type, LOWEST_EXPORTED, "").attributes
    except onnx.defs.SchemaError:
        return
    for attribute in list(node.attribute):
        if attribute.name in older or attribute.name not in newer:
            continue
        value = helper.get_attribute_value(attribute)
        default = newer[attribute.name].default_value
        is_default = default.type and helper.get_attribute_value(default) == value
        if is_default or IGNORED.get((node.op_type, attribute.name)) == value:
            node.attribute.remove(attribute)


def _reduction(place: _Graph, node: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
    """Return a reduction whose axes are an attribute."""
    if len(node.input) > 1 and node.input[1] in place.constants:
        axes = numpy_helper.to_array(place.constants[node.input[1]]).tolist()
        node.attribute.append(helper.make_attribute("axes", axes))
        del node.input[1:]
    for attribute in list(node.attribute):
        if attribute.name == "noop_with_empty_axes" and any(one.name == "axes" for one in node.attribute):
            node.attribute.remove(attribute)
    return [node]


def _layer_normalization(place: _Graph, node: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
    """Return y = (x - mean) / sqrt(mean((x - mean)²) + epsilon) · scale + bias, written out."""
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    axis, name = int(attributes.get("axis", -1)), node.name
    if axis >= 0:  # the rank is not known here
        return [node]
    axes = list(range(axis, 0))
    epsilon = place.add(f"{name}_epsilon", np.array(attributes.get("epsilon", 1e-5), np.float32))
    x, scale = node.input[0], node.input[1]
    bias = node.input[2] if len(node.input) > 2 else ""
    part = [f"{name}_{word}" for word in ("mean", "centred", "square", "variance", "shifted", "spread", "unit")]
    mean, centred, square, variance, shifted, spread, unit = part
    scaled = f"{name}_scaled" if bias else node.output[0]
    nodes = [
        helper.make_node("ReduceMean", [x], [mean], f"{name}_ReduceMean", axes=axes, keepdims=1),
        helper.make_node("Sub", [x, mean], [centred], f"{name}_Sub"),
        helper.make_node("Mul", [centred, centred], [square], f"{name}_Mul"),
        helper.make_node("ReduceMean", [square], [variance], f"{name}_ReduceMean_2", axes=axes, keepdims=1),
        helper.make_node("Add", [variance, epsilon], [shifted], f"{name}_Add"),
        helper.make_node("Sqrt", [shifted], [spread], f"{name}_Sqrt"),
        helper.make_node("Div", [centred, spread], [unit], f"{name}_Div"),
        helper.make_node("Mul", [unit, scale], [scaled], f"{name}_Mul_2"),
    ]
    if bias:
        nodes.append(helper.make_node("Add", [scaled, bias], [node.output[0]], f"{name}_Add_2"))
    return nodes


def _split(place: _Graph, node: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
    """Return a split without the number of its parts where their sizes are given, or all are equal."""
    for attribute in list(node.attribute):
        if attribute.name == "num_outputs":
            node.attribute.remove(attribute)
    return [node]


def _shape(place: _Graph, node: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
    """Return a part of a shape as the whole shape and a slice of it."""
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    whole, name = f"{node.output[0]}_whole", node.name or node.output[0]
    ends = (attributes.get("start", 0), attributes.get("end", np.iinfo(np.int64).max))
    start, end = (
        place.add(f"{name}_{word}", np.array([number], np.int64)) for word, number in zip("ab", ends, strict=True)
    )
    axis = place.add(f"{name}_axis", np.array([0], np.int64))
    return [
        helper.make_node("Shape", [node.input[0]], [whole], node.name),
        helper.make_node("Slice", [whole, start, end, axis], [node.output[0]], f"{name}_Slice"),
    ]


REWRITES: dict[str, Callable[[_Graph, onnx.NodeProto], Sequence[onnx.NodeProto]]] = {
    **dict.fromkeys(REDUCTIONS, _reduction),
    "LayerNormalization": _layer_normalization,
    "Shape": _shape,
    "Split": _split,
}
