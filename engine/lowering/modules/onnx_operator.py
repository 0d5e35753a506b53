"""Run one operator of a foreign ONNX file as a module."""

from typing import Any

import numpy as np
import torch
from torch import nn

from netwright.engine.lowering.modules.onnx_runtime import open_session


def onnx_attribute(name: str, value: Any, constants: dict[str, torch.Tensor]) -> Any:
    """Return an attribute as an `onnx.AttributeProto`.

    `value` is a number, a text, a list of them, or an object: `{"proto": base64}` holds the serialised attribute, and
    `{"constant": key}` names the constant (uint8) that holds it.
    """
    import base64

    import onnx

    if not isinstance(value, dict):
        return onnx.helper.make_attribute(name, value)
    proto = onnx.AttributeProto()
    key = value.get("constant")
    proto.ParseFromString(bytes(constants[key].cpu().numpy()) if key else base64.b64decode(value["proto"]))
    return proto


def onnx_node(module: "OnnxOperator", inputs: list[str], outputs: list[str]) -> Any:
    """Return the operator of a module as an `onnx.NodeProto` with these inputs and outputs. The last inputs are those
    that its subgraphs take, under their names."""
    import json

    import onnx

    own = len(inputs) - len(module.inner_names)
    node = onnx.helper.make_node(module.operator, inputs[:own], outputs, domain=module.domain)
    constants = module.constants()
    names = dict(zip(module.inner_names, inputs[own:], strict=True))
    for name, value in json.loads(module.attributes).items():
        node.attribute.append(onnx_attribute(name, value, constants))
    rename_taken(node, names)
    return node


def rename_taken(node: Any, names: dict[str, str]) -> None:
    """Give other names to what the subgraphs of an `onnx.NodeProto` take, in place."""
    for attribute in node.attribute if names else ():
        for graph in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
            for inner in graph.node:
                inner.input[:] = [names.get(name, name) for name in inner.input]
                rename_taken(inner, names)


def as_matrix(value: Any) -> np.ndarray:
    """Return a result as an array: also a map from class to number per sample, as ZipMap of ai.onnx.ml gives."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return np.array([list(row.values()) for row in value])
    return np.asarray(value)


def whole(sizes: tuple[int | str | None, ...]) -> tuple[int | str | None, ...]:
    """Return sizes with None in the place of the batch."""
    return sizes if None in sizes else (None, *sizes)


def as_operand(x: torch.Tensor, sizes: tuple[int | str | None, ...]) -> torch.Tensor:
    """Return an input (N, ...) with the sizes that the operator takes: with dimensions of 1, or one number per sample;
    a size that is a name is free, and None is the place of the batch where that is not the first."""
    own = [size for size in sizes if size is not None]
    if len(own) + 1 != x.dim():
        x = x.reshape(x.shape[0], *(-1 if isinstance(size, str) else size for size in own))
    return x.movedim(0, sizes.index(None)) if None in sizes else x


def as_result(x: torch.Tensor, sizes: tuple[int | str | None, ...]) -> torch.Tensor:
    """Return the result of an operator with the batch first, and without dimensions of size 1 that the port lacks:
    those with 0 in `sizes`."""
    if None in sizes:
        x = x.movedim(sizes.index(None), 0)
    own = [size for size in sizes if size is not None]
    absent = [place for place, size in enumerate(own, 1) if size == 0]
    return x.squeeze(absent) if absent else x


class OnnxOperator(nn.Module):
    """One operator of ONNX, computed by ONNX Runtime on the CPU, or by onnx's reference where that lacks it.

    `operands` are those of the operator in order: the number of an input, the name of a constant, or None. `inputs` and
    `results` have number format and sizes without the batch (none: one number per sample; a name: any size; None: the
    place of the batch; 0: a dimension that is left out). A result that is not needed is None. `constants` are (name,
    number format, sizes); their values are buffers that `load_state_dict` sets. `inner_names` are those by which
    subgraphs take the last operands, `inner_opsets` the versions of the domains that they use. With `one_by_one` the
    operator gets one sample at a time.

    It passes no gradient: what leaves does not depend on its inputs for autograd. `OnnxOperatorInTorch` does.
    """

    def __init__(
        self,
        *,
        operator: str,
        domain: str = "",
        opset: int,
        attributes: str,
        operands: tuple[int | str | None, ...],
        inputs: tuple[tuple[str, tuple[int | str | None, ...]], ...],
        results: tuple[tuple[str, tuple[int | str | None, ...]] | None, ...],
        constants: tuple[tuple[str, str, tuple[int, ...]], ...] = (),
        inner_names: tuple[str, ...] = (),
        inner_opsets: tuple[tuple[str, int], ...] = (),
        one_by_one: bool = False,
    ) -> None:
        super().__init__()
        self.one_by_one = one_by_one
        self.operator, self.domain, self.opset, self.attributes = operator, domain, opset, attributes
        self.operands, self.inputs, self.results = operands, inputs, results
        self.inner_names, self.inner_opsets = inner_names, inner_opsets
        self.names = tuple(name for name, _, _ in constants)
        self.formats = tuple(dtype for _, dtype, _ in constants)
        for number, (_, dtype, sizes) in enumerate(constants):
            self.register_buffer(f"constant_{number}", torch.zeros(sizes, dtype=getattr(torch, dtype)))
        self.is_filled = not constants
        self.session: Any = None

    def constants(self) -> dict[str, torch.Tensor]:
        """Return the constants by name."""
        return {name: getattr(self, f"constant_{number}") for number, name in enumerate(self.names)}

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self.is_filled, self.session = True, None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "session": None}  # a session of ONNX Runtime cannot be copied

    def _start(self) -> Any:
        """Return ONNX Runtime's session, or onnx's reference evaluator, for the operator. Raises `RuntimeError`."""
        import onnx.reference  # brings onnx, too

        if not self.is_filled:
            raise RuntimeError(f"The constants of the operator {self.operator} were not read.")
        helper = onnx.helper
        elements = {
            name: helper.np_dtype_to_tensor_dtype(np.dtype(name))
            for name in {*(name for name, _ in self.inputs), *self.formats}
        }
        names = ["" if at is None else f"x{at}" if isinstance(at, int) else at for at in self.operands]
        # Results that are not needed have names, too: ONNX Runtime 1.31 crashes for a Split without one.
        results = [f"y{number}" for number in range(len(self.results))]
        node = onnx_node(self, names, results)
        graph = helper.make_graph(
            [node],
            self.operator,
            [
                helper.make_tensor_value_info(
                    f"x{n}", elements[name], ["N" if size is None else size for size in whole(sizes)]
                )
                for n, (name, sizes) in enumerate(self.inputs)
            ],
            [
                helper.make_empty_tensor_value_info(name)
                for name, result in zip(results, self.results, strict=True)
                if result
            ],
            [
                onnx.numpy_helper.from_array(tensor.detach().cpu().numpy().astype(dtype), name)
                for (name, tensor), dtype in zip(self.constants().items(), self.formats, strict=True)
                if name in names
            ],
        )
        versions = {**dict(self.inner_opsets), self.domain: self.opset}
        opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        try:
            return open_session(model.SerializeToString(), torch.get_num_threads(), spins=False)
        except Exception as refused:
            try:
                # The reference would also compute number formats that the operator does not take.
                onnx.checker.check_model(model, full_check=True)
                return onnx.reference.ReferenceEvaluator(model)
            except Exception:
                raise RuntimeError(f"ONNX Runtime cannot compute the operator {self.operator}: {refused}") from None

    def forward(self, *x: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Compute the operator for inputs (N, ...) and return its results (N, ...), one or a tuple."""
        floats = next((tensor.dtype for tensor in x if tensor.is_floating_point()), torch.get_default_dtype())
        forms = (result for result in self.results if result is not None)
        results = tuple(
            _of_network(value, sizes, floats) for value, (_, sizes) in zip(self.tensors(*x), forms, strict=True)
        )
        return results[0] if len(results) == 1 else results

    def tensors(self, *x: torch.Tensor) -> list[torch.Tensor]:
        """Return the results in the number formats of the operator, as tensors where the inputs are."""
        return [torch.from_numpy(np.asarray(value, order="C")).to(x[0].device) for value in self.computed(*x)]

    def computed(self, *x: torch.Tensor) -> list[np.ndarray]:
        """Return the results in the number formats of the operator, computed by ONNX Runtime."""
        if self.session is None:
            self.session = self._start()
        feeds = {}
        for number, (tensor, (dtype, sizes)) in enumerate(zip(x, self.inputs, strict=True)):
            value = as_operand(tensor.detach(), sizes).to("cpu", getattr(torch, dtype))
            feeds[f"x{number}"] = value.contiguous().numpy()
        if not self.one_by_one:
            return [as_matrix(value) for value in self.session.run(None, feeds)]
        samples = [
            [as_matrix(value) for value in self.session.run(None, {name: x[at : at + 1] for name, x in feeds.items()})]
            for at in range(len(x[0]))
        ]
        if any(value.shape[:1] != (1,) for value in samples[0]):
            raise RuntimeError(f"The operator {self.operator} gives no result for each sample.")
        return [np.concatenate(several) for several in zip(*samples, strict=True)]


def _of_network(value: torch.Tensor, sizes: tuple[int | str | None, ...], floats: torch.dtype) -> torch.Tensor:
    """Return a result as a tensor of the network: real numbers as the inputs are, whole numbers as int64."""
    kind = floats if value.is_floating_point() else torch.complex64 if value.is_complex() else torch.int64
    tensor = as_result(value.to(kind), sizes)
    return tensor.unsqueeze(1) if tensor.dim() == 1 else tensor


def keep_from_compiler() -> None:
    """Let compiled networks call operators as they are. Imports torch's compiler, which takes as long as torch."""
    if not hasattr(OnnxOperator.forward, "_torchdynamo_disable"):
        OnnxOperator.forward = torch.compiler.disable(OnnxOperator.forward)  # type: ignore[method-assign, no-untyped-call]
