"""Write imported ONNX operators into an exported file as the operators that they were.

The exporter traces a symbolic operator of a domain of ours in place of each (`ForeignOperator`); afterwards
`restore_operators` puts the operator with its attributes and constants there.
"""

import logging
from collections.abc import Iterable, Mapping

import onnx
import onnx_ir
import torch
from onnx import version_converter
from torch import nn
from torch.onnx.ops import symbolic_multi_out

from netwright.engine.core.errors import UserError
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator, as_operand, as_result, onnx_node, whole
from netwright.engine.project.export_options import OPSETS, flag

DOMAIN = "netwright.foreign"
Sizes = tuple[int | str | None, ...]


class ForeignOperator(nn.Module):
    """Stands for an `OnnxOperator` while the exporter traces the network; `path` is that of the module."""

    def __init__(self, part: OnnxOperator, path: str) -> None:
        super().__init__()
        self.part, self.path = part, path

    def forward(self, *x: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Return results of the formats and sizes that the operator gives."""
        part = self.part
        if part.one_by_one and x[0].shape[0] != 1:
            raise UserError(
                f"its operator {part.operator} came from a file for one sample, and would not take more.",
                hint="Export it with a fixed batch of 1.",
            )
        types = [
            as_operand(tensor, sizes).to(getattr(torch, dtype))
            for tensor, (dtype, sizes) in zip(x, part.inputs, strict=True)
        ]
        constants = part.constants()
        operands = [None if at is None else types[at] if isinstance(at, int) else constants[at] for at in part.operands]
        symbols = {
            name: size
            for tensor, (_, sizes) in zip(types, part.inputs, strict=True)
            for name, size in zip(whole(sizes), tensor.shape, strict=True)
            if name is not None
        }
        given_results = [result or ("float32", ()) for result in part.results]
        results = symbolic_multi_out(
            f"{DOMAIN}::{part.operator}",
            operands,
            {"path": self.path},
            dtypes=[getattr(torch, dtype) for dtype, _ in given_results],
            shapes=[
                [x[0].shape[0] if size is None else _known(part, size or 1, symbols) for size in whole(sizes)]
                for _, sizes in given_results
            ],
            version=1,
        )
        floats = next((tensor.dtype for tensor in x if tensor.is_floating_point()), torch.float32)
        kept = ((value, result[1]) for value, result in zip(results, part.results, strict=True) if result is not None)
        converted = tuple(_converted(as_result(value, sizes), floats) for value, sizes in kept)
        return converted[0] if len(converted) == 1 else converted


def _converted(value: torch.Tensor, floats: torch.dtype) -> torch.Tensor:
    """Return a result in the number format that the network has it in."""
    kind = floats if value.is_floating_point() else torch.complex64 if value.is_complex() else torch.int64
    value = value.to(kind)
    return value.unsqueeze(1) if value.dim() == 1 else value


def _known(part: OnnxOperator, size: int | str, symbols: dict[int | str, int]) -> int:
    """Return a size of a result while tracing: one that is free is that of an input. Raises `UserError`."""
    if isinstance(size, int):
        return size
    if size not in symbols:
        raise UserError(
            f"The network cannot be exported to ONNX: the size {size} of what the operator {part.operator} gives is "
            "not that of an input.",
            hint="Give the network's input fixed sizes.",
        )
    return symbols[size]


def restore_operators(model: onnx_ir.Model, module: nn.Module, opset: int) -> None:
    """Put the imported operators of the network `module` in place of the symbolic ones, in place.

    Raises `UserError` for an operator that changed between its version and `opset` in a way that cannot be converted.
    """
    versions: dict[str, int] = {}
    logging.getLogger("onnx_ir.serde").setLevel(logging.ERROR)  # it misses the inputs of a node by itself
    for node in list(model.graph):
        if node.domain != DOMAIN:
            continue
        path = node.attributes["path"].as_string()
        part = module.get_submodule(path)
        assert isinstance(part, OnnxOperator)
        for domain, version in ((part.domain, part.opset), *part.inner_opsets):
            if domain and versions.setdefault(domain, version) != version:
                raise UserError(
                    f"The network cannot be exported to ONNX: its operators of {domain} have the versions "
                    f"{versions[domain]} and {version}, and a file has one."
                )
        operator = onnx_ir.serde.deserialize_node(_in_version(part, opset, path.replace(".", "/")))
        node.op_type, node.domain = operator.op_type, operator.domain
        node.version = None
        node.attributes.clear()
        node.attributes.update(operator.attributes)
        _bind(node, {f"x{number}": value for number, value in enumerate(node.inputs)})
        node.resize_inputs(len(node.inputs) - len(part.inner_names))
        for value, result in zip(node.outputs, part.results, strict=True):
            if result is None:  # its sizes are not known
                value.shape = value.type = None
    model.graph.opset_imports.pop(DOMAIN, None)
    model.opset_imports.update(versions)


def _bind(node: onnx_ir.Node, values: Mapping[str, onnx_ir.Value | None]) -> None:
    """Let the subgraphs of a node take these values of the graph around it, in place of their names."""
    for attribute in node.attributes.values():
        graphs = {onnx_ir.AttributeType.GRAPH: [attribute.value], onnx_ir.AttributeType.GRAPHS: attribute.value}
        for graph in graphs.get(attribute.type, ()):
            for inner in graph:
                for at, value in enumerate(inner.inputs):
                    if value is not None and value.name in values and value.producer() is None:
                        inner.replace_input_with(at, values[value.name])
                _bind(inner, values)


def _in_version(part: OnnxOperator, opset: int, path: str) -> onnx.NodeProto:
    """Return the operator of the layer at `path` as the version `opset` has it. Raises `UserError`."""
    inputs = ["" if at is None else f"x{number}" for number, at in enumerate(part.operands)]
    node: onnx.NodeProto = onnx_node(
        part, inputs, [f"y{number}" if result else "" for number, result in enumerate(part.results)]
    )
    if part.domain or part.opset == opset:
        return node
    try:
        schemas = [onnx.defs.get_schema(part.operator, version, "") for version in (part.opset, opset)]
        has_graphs = any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)
        if schemas[0].since_version == schemas[1].since_version and not has_graphs:
            return node
        graph = onnx.helper.make_graph(
            [node],
            part.operator,
            [onnx.helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(inputs) if name],
            [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name],
        )
        opsets = {**dict(part.inner_opsets), "": part.opset}
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid(*entry) for entry in opsets.items()]
        )
        converted: onnx.NodeProto
        (converted,) = version_converter.convert_version(model, opset).graph.node
    except Exception as error:  # of several kinds, also from C++
        names = ", ".join(_missing([node], opset)) or part.operator
        raise UserError(
            f"The network cannot be exported to ONNX: '{path}' has operators of opset {part.opset} that have no form "
            f"in opset {opset}: {names}.",
            hint=f"Export it with {flag('opset')} {part.opset}." if opset < part.opset <= OPSETS[1] else "",
        ) from error
    return converted


def _missing(nodes: Iterable[onnx.NodeProto], opset: int) -> list[str]:
    """Return the operators that a version of ONNX lacks, also those in subgraphs."""
    names: dict[str, None] = {}
    for node in nodes:
        if not node.domain and not onnx.defs.has(node.op_type, opset):
            names[node.op_type] = None
        for attribute in node.attribute:
            names |= dict.fromkeys(_missing(attribute.g.node, opset)) if attribute.HasField("g") else {}
    return list(names)
