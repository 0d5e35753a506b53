"""Operators of ONNX computed by torch give the numbers of ONNX Runtime, and let gradients pass."""

from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.lowering.modules.onnx_functions import NotInTorch, torch_functions
from netwright.engine.lowering.modules.onnx_in_torch import nodes_in_torch
from netwright.engine.lowering.modules.onnx_runtime import open_session

RANDOM = np.random.default_rng(4)
Inputs = tuple[Any, ...]
Case = tuple[str, Inputs, dict[str, Any]]


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


X, Y, IMAGE, MATRIX = numbers(2, 3, 4), numbers(2, 3, 4), numbers(2, 4, 7, 6), numbers(3, 5)
BETWEEN = np.tanh(X)
TRUTHS = X > 0
ALONE = "Abs Neg Exp Sin Cos Tan Sinh Cosh Asinh Erf Floor Ceil Round Sign IsNaN IsInf Relu Tanh Sigmoid Softplus"
PAIRS = "Add Sub Mul Div Equal Less Greater LessOrEqual GreaterOrEqual Min Max Sum Mean Mod"
REDUCTIONS = "Sum Mean Max Min L1 L2 SumSquare LogSumExp"
HEADS, MASK = numbers(2, 3, 5, 4), RANDOM.random((5, 5)) + np.eye(5) > 0.4
CASES: list[Case] = [
    *((op, (X,), {}) for op in (*ALONE.split(), "Softsign", "Mish", "HardSwish", "Atan", "Identity", "Gelu")),
    *((op, (BETWEEN,), {}) for op in ("Asin", "Acos", "Atanh")),
    *((op, (np.abs(X) + 1,), {}) for op in ("Sqrt", "Log", "Reciprocal", "Acosh")),
    *((op, (X, Y), {"fmod": 1} if op == "Mod" else {}) for op in PAIRS.split()),
    *((op, (TRUTHS, Y > 0), {}) for op in ("And", "Or", "Xor")),
    ("Not", (TRUTHS,), {}),
    ("Pow", (np.abs(X), np.float32(1.5)), {}),
    ("Det", (numbers(2, 3, 3),), {}),
    ("Div", (whole(7, -7), whole(2, 2)), {}),
    ("Where", (TRUTHS, X, Y), {}),
    ("Cast", (X,), {"to": TensorProto.DOUBLE}),
    ("CastLike", (X, whole(1)), {}),
    ("Einsum", (X, Y), {"equation": "abc,adc->abd"}),
    ("MatMul", (X, numbers(4, 2)), {}),
    ("Gemm", (MATRIX, numbers(2, 5), numbers(2)), {"transB": 1, "alpha": 0.5, "beta": 2.0}),
    ("LeakyRelu", (X,), {"alpha": 0.2}),
    ("PRelu", (X, numbers(3, 1)), {}),
    ("Elu", (X,), {"alpha": 0.7}),
    ("Celu", (X,), {"alpha": 0.7}),
    ("HardSigmoid", (X,), {"alpha": 0.3}),
    ("ThresholdedRelu", (X,), {"alpha": 0.3}),
    ("Clip", (X, np.float32(-0.5), None), {}),
    *((op, (X,), {"axis": 1}) for op in ("Softmax", "LogSoftmax")),
    ("Conv", (IMAGE, numbers(6, 2, 3, 3), numbers(6)), {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]}),
    (
        "ConvTranspose",
        (IMAGE, numbers(4, 3, 3, 3), numbers(6)),
        {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 2], "output_padding": [1, 0]},
    ),
    ("ConvTranspose", (IMAGE, numbers(4, 3, 3, 3)), {"dilations": [2, 1]}),
    ("AveragePool", (IMAGE,), {"kernel_shape": [3, 2], "dilations": [2, 1], "pads": [1, 0, 1, 1]}),
    ("AveragePool", (IMAGE,), {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 2], "dilations": [2, 1], "pads": [2, 0, 1, 0], "strides": [1, 2]}),
    *((op, (IMAGE,), {}) for op in ("GlobalAveragePool", "GlobalMaxPool")),
    ("LayerNormalization", (IMAGE, numbers(7, 6), numbers(7, 6)), {"axis": 2}),
    ("RMSNormalization", (X, numbers(4)), {}),
    ("InstanceNormalization", (IMAGE, numbers(4), numbers(4)), {}),
    ("GroupNormalization", (IMAGE, numbers(4), numbers(4)), {"num_groups": 2}),
    ("BatchNormalization", (IMAGE, numbers(4), numbers(4), numbers(4), np.abs(numbers(4))), {}),
    ("LpNormalization", (X,), {"axis": 1}),
    ("CumSum", (X, whole(1)[0]), {"exclusive": 1, "reverse": 1}),
    *((f"Reduce{op}", (X, whole(0, 2)), {"keepdims": 0}) for op in REDUCTIONS.split()),
    ("ReduceLogSum", (np.abs(X), whole(1)), {}),
    ("Reshape", (X, whole(0, -1)), {}),
    ("Flatten", (X,), {"axis": 2}),
    ("Transpose", (X,), {"perm": [2, 0, 1]}),
    ("Squeeze", (numbers(2, 1, 3), whole(1)), {}),
    ("Unsqueeze", (X, whole(0, -1)), {}),
    ("Expand", (numbers(3, 1), whole(2, 1, 4)), {}),
    ("Concat", (X, Y), {"axis": -1}),
    ("Tile", (MATRIX, whole(2, 1)), {}),
    ("Shape", (X,), {"start": 1}),
    ("Size", (X,), {}),
    ("Constant", (), {"value_ints": [2, 3]}),
    ("ConstantOfShape", (whole(2, 3),), {"value": numpy_helper.from_array(np.array([1.5], np.float32))}),
    ("Range", (np.int64(1), np.int64(9), np.int64(3)), {}),
    *(("Trilu", (X, np.int64(1)), {"upper": upper}) for upper in (0, 1)),
    ("Slice", (X, whole(-1, 0), whole(-9, 2), whole(2, 1), whole(-2, 1)), {}),
    *(("Pad", (X, whole(1, 2, 0, 1), None, whole(1, 2)), {"mode": mode}) for mode in ("reflect", "edge", "wrap")),
    ("Pad", (X, whole(0, 1, -1, 0, 0, 2), np.float32(0.5)), {}),
    ("Gather", (X, np.array([[0, -1], [2, 1]])), {"axis": 1}),
    ("GatherElements", (X, np.array([[[0, -1, 1, 0]]] * 2)), {"axis": 1}),
    ("GatherND", (X, np.array([[0, 1], [1, 2]])), {}),
    ("Resize", (IMAGE, None, np.array([1, 1, 2, 1.5], np.float32)), {"mode": "linear"}),
    (
        "Resize",
        (IMAGE, None, None, whole(2, 4, 9, 8)),
        {"coordinate_transformation_mode": "align_corners", "mode": "cubic"},
    ),
    ("GridSample", (IMAGE, np.tanh(numbers(2, 3, 5, 2))), {"align_corners": 1, "padding_mode": "border"}),
]


CASES += [
    ("Attention", (HEADS, HEADS, HEADS, MASK), {"scale": 0.3}),
    ("Attention", (HEADS, HEADS, HEADS, numbers(5, 5).astype(np.float64)), {}),
    (
        "Attention",
        (numbers(2, 5, 8), numbers(2, 5, 4), numbers(2, 5, 4)),
        {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1},
    ),
]


def model_of(op: str, inputs: Inputs, attributes: dict[str, Any], outputs: list[str]) -> onnx.ModelProto:
    names = ["" if one is None else f"x{number}" for number, one in enumerate(inputs)]
    node = helper.make_node(op, names, outputs, **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(one).dtype), np.shape(one))
        for name, one in zip(names, inputs, strict=True)
        if name
    ]
    graph = helper.make_graph([node], "one", infos, [helper.make_empty_tensor_value_info(name) for name in outputs])
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 23 if op in ("RMSNormalization", "Attention") else 21)],
        ir_version=10,
    )


def both(
    op: str, inputs: Inputs, attributes: dict[str, Any], outputs: list[str]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The results of ONNX Runtime, and of torch."""
    model = model_of(op, inputs, attributes, outputs)
    feeds = {f"x{number}": np.asarray(one) for number, one in enumerate(inputs) if one is not None}
    session = open_session(model.SerializeToString())
    values = {name: torch.from_numpy(one.copy()) for name, one in feeds.items()}
    ours = nodes_in_torch(model.graph.node, values, model.opset_import[0].version, torch_functions())
    return list(zip(session.run(None, feeds), (ours[name].numpy() for name in outputs), strict=True))


@pytest.mark.parametrize(("op", "inputs", "attributes"), CASES, ids=[case[0] for case in CASES])
def test_functions_give_the_numbers_of_onnx_runtime(op: str, inputs: Inputs, attributes: dict[str, Any]) -> None:
    ((expected, result),) = both(op, inputs, attributes, ["y"])
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, 1e-4, 1e-5)


def test_every_function_has_a_case() -> None:
    assert torch_functions().keys() == {op for op, _, _ in CASES} | {"Split"}


def test_a_split_gives_several_results() -> None:
    for expected, result in both("Split", (X, whole(1, 3)), {"axis": 2}, ["a", "b"]):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("attributes", [{"auto_pad": "SAME_UPPER"}, {"output_shape": [9, 9]}])
def test_attributes_without_a_function_are_refused(attributes: dict[str, Any]) -> None:
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], **attributes)
    values = {"x": torch.from_numpy(IMAGE), "w": torch.randn(4, 3, 3, 3)}
    with pytest.raises(NotInTorch):
        nodes_in_torch([node], values, 21, torch_functions())
