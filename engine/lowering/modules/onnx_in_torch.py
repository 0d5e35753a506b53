"""Run operators of a foreign ONNX file with torch, so that gradients pass through them."""

from typing import Any

import torch

from netwright.engine.lowering.modules.onnx_functions import NotInTorch, torch_functions
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator, as_operand, onnx_node


class OnnxOperatorInTorch(OnnxOperator):
    """An operator of ONNX, computed by torch: gradients pass through it. Its arguments are those of `OnnxOperator`."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.node: Any = None

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self.node = None  # long attributes are constants

    def tensors(self, *x: torch.Tensor) -> list[torch.Tensor]:
        """Return the results in the number formats of the operator. Raises `NotInTorch`."""
        operands = [
            as_operand(tensor, sizes).to(getattr(torch, dtype))
            for tensor, (dtype, sizes) in zip(x, self.inputs, strict=True)
        ]
        if not self.one_by_one:
            return self._computed(operands)
        samples = [self._computed([operand[at : at + 1] for operand in operands]) for at in range(len(x[0]))]
        return [torch.cat(several) for several in zip(*samples, strict=True)]

    def _computed(self, x: list[torch.Tensor]) -> list[torch.Tensor]:
        names = ["" if at is None else f"x{at}" if isinstance(at, int) else at for at in self.operands]
        results = [f"y{number}" for number in range(len(self.results))]
        if self.node is None:
            self.node = onnx_node(self, names, results)
        values = {f"x{number}": tensor for number, tensor in enumerate(x)} | self.constants()
        opset = dict(self.inner_opsets).get("", self.opset)
        values = nodes_in_torch([self.node], values, opset, torch_functions())
        return [values[name] for name, result in zip(results, self.results, strict=True) if result]


def nodes_in_torch(nodes: Any, values: dict[str, Any], opset: int, functions: dict[str, Any]) -> dict[str, Any]:
    """Compute `onnx.NodeProto`s one after another from values by name, and return all values. Of an If, the branch is
    computed that its condition chooses. Raises `NotInTorch`."""
    import onnx

    device = next((value.device for value in values.values() if value is not None), None)
    values = {**values, "": None}
    for node in nodes:
        attributes = {
            proto.name: attribute_in_torch(onnx.helper.get_attribute_value(proto), device) for proto in node.attribute
        }
        inputs = [values[name] for name in node.input]
        if node.op_type == "If":
            graph = attributes["then_branch" if bool(inputs[0]) else "else_branch"]
            stored = {constant.name: attribute_in_torch(constant, device) for constant in graph.initializer}
            inner = nodes_in_torch(graph.node, {**values, **stored}, opset, functions)
            results = [inner[output.name] for output in graph.output]
        elif node.domain in ("", "ai.onnx") and node.op_type in functions:
            counts = {"opset": opset, "num_inputs": len(inputs), "num_outputs": len(node.output)}
            result = functions[node.op_type]([*inputs, *[None] * 6], {**counts, **attributes})
            results = result if isinstance(result, list) else [result]
        else:
            raise NotInTorch(node.op_type)
        values.update(zip(node.output, results, strict=False))
    return values


def attribute_in_torch(value: Any, device: Any) -> Any:
    """Return the value of an attribute with a tensor as torch's on a device, and bytes as text."""
    import onnx

    if isinstance(value, onnx.TensorProto):
        return torch.from_numpy(onnx.numpy_helper.to_array(value).copy()).to(device)
    return value.decode() if isinstance(value, bytes) else value
