"""Small ONNX files that ask for far more than their size accounts for."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

VERSION = 17
OPSETS = [helper.make_opsetid("", VERSION), helper.make_opsetid("own", 1)]


def model(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, np.ndarray | TensorProto] | None = None,
    sizes: Sequence[int | str] = ("N", 3),
    functions: Sequence[FunctionProto] = (),
) -> ModelProto:
    """Return a model with the input `x` and the output `y`."""
    tensors = [
        one if isinstance(one, TensorProto) else numpy_helper.from_array(np.asarray(one), name)
        for name, one in (constants or {}).items()
    ]
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=9, functions=functions)


def saved(folder: Path, whole: ModelProto) -> Path:
    """Write a model."""
    path = folder / "net.onnx"
    path.write_bytes(whole.SerializeToString())
    return path


def endless_loop(grows: bool = False) -> ModelProto:
    """Return a loop of 2^62 rounds, which makes its value longer each time if it `grows`."""
    step = helper.make_node("Concat", ["v", "v"], ["w"], axis=1) if grows else helper.make_node("Neg", ["v"], ["w"])
    ends: dict[str, tuple[int, list[int] | None]] = {
        "i": (TensorProto.INT64, []),
        "go": (TensorProto.BOOL, []),
        "v": (TensorProto.FLOAT, None),
    }
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), step],
        "body",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in ends.items()],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, None),
        ],
    )
    node = helper.make_node("Loop", ["rounds", "yes", "x"], ["y"], body=body)
    return model([node], {"rounds": np.array(2**62), "yes": np.array(True)})


def call_twice(depth: int, *, in_branches: bool = False, weight: np.ndarray | None = None) -> ModelProto:
    """Return functions of which each calls the one before it twice, the last one 2^depth operators in all;
    `in_branches` puts the calls into an If, `weight` into the first one."""
    first = [helper.make_node("Neg", ["a"], ["b"])]
    if weight is not None:
        first = [
            helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(weight)),
            helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
            helper.make_node("Add", ["a", "s"], ["b"]),
        ]
    functions = [helper.make_function("own", "f0", ["a"], ["b"], first, OPSETS)]
    for number in range(1, depth):
        before = f"f{number - 1}"
        calls = [
            helper.make_node(before, ["a"], ["m"], domain="own"),
            helper.make_node(before, ["m"], ["b"], domain="own"),
        ]
        if in_branches:
            end = helper.make_tensor_value_info("b", TensorProto.FLOAT, None)
            branch = helper.make_graph(calls, "branch", [], [end])
            calls = [
                helper.make_node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array(True))),
                helper.make_node("If", ["yes"], ["b"], then_branch=branch, else_branch=branch),
            ]
        functions.append(helper.make_function("own", f"f{number}", ["a"], ["b"], calls, OPSETS))
    call = helper.make_node(f"f{depth - 1}", ["x"], ["y"], domain="own")
    return model([call], functions=functions)


def far_away(location: str, sizes: Sequence[int]) -> ModelProto:
    """Return a product with numbers in another file."""
    weight = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=sizes, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", "0"), ("length", str(4 * int(np.prod(sizes))))):
        weight.external_data.add(key=key, value=value)
    return model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": weight})
