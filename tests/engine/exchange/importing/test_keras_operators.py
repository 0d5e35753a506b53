"""What Keras 3 writes into ONNX files comes in as layers; the graphs are those of `keras.Model.export`."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.project.file import load

RANDOM = np.random.default_rng(3)


def numbers(*shape: int) -> np.ndarray:
    return (0.4 * RANDOM.standard_normal(shape)).astype(np.float32)


def keys(
    path: Path, nodes: list[onnx.NodeProto], inputs: dict[str, Any], constants: dict[str, np.ndarray]
) -> list[str]:
    """Return the keys of the layers of a network that computes the same, without an operator that is kept as it is."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, *given) for name, given in inputs.items()],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    report = import_file(path, path.with_suffix(".netwright"), replaces=True)
    assert report.parity.agrees, report.parity
    assert all(one.varies for one in report.parity.outputs)
    assert not any(row.opaque for row in report.operators), report.operators
    return [layer.type.key for layer in load(report.project).project.network.layers.values() if not layer.type.is_input]


def cast(x: str, y: str, to: int = TensorProto.FLOAT) -> onnx.NodeProto:
    return helper.make_node("Cast", [x], [y], to=to)


def attention(x: str, other: str, *, has_bias: bool, mask: str = "") -> list[onnx.NodeProto]:
    """MultiHeadAttention: projections with the heads apart, the attention as torch writes it, and casts around."""
    nodes = []
    for name, given in (("q", x), ("k", other), ("v", other)):
        end = f"{name}e" if has_bias else f"{name}c"
        nodes += [
            cast(given, f"{name}0"),
            helper.make_node("Einsum", [f"{name}0", f"{name}w"], [f"{name}1"], equation="abc,cde->abde"),
            cast(f"{name}1", f"{name}c"),
            *([helper.make_node("Add", [f"{name}c", f"{name}b"], [end])] if has_bias else []),
        ]
        perm = [0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]
        nodes.append(helper.make_node("Transpose", [end], [f"{name}t"], perm=perm))
        nodes += [helper.make_node("Mul", [f"{name}t", "scale"], [f"{name}s"])] if name != "v" else []
    return [
        *nodes,
        helper.make_node("MatMul", ["qs", "ks"], ["scores"]),
        *([helper.make_node("Add", ["scores", mask], ["masked"])] if mask else []),
        helper.make_node("Softmax", ["masked" if mask else "scores"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "vt"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
        cast("back", "back1"),
        helper.make_node("Einsum", ["back1", "ow"], ["o" if has_bias else "y"], equation="abcd,cde->abe"),
        *([cast("o", "o1"), helper.make_node("Add", ["o1", "ob"], ["y"])] if has_bias else []),
    ]


WEIGHTS: dict[str, Any] = {
    "scale": np.float32(4**-0.25),
    **{f"{name}w": numbers(8, 2, 4) for name in "qkv"},
    **{f"{name}b": numbers(2, 4) for name in "qkv"},
    "ow": numbers(2, 4, 8),
    "ob": numbers(8),
}


def test_attention_with_the_heads_apart(tmp_path: Path) -> None:
    sizes = (TensorProto.FLOAT, ["N", 7, 8])
    nodes = attention("x", "x", has_bias=True)
    assert keys(tmp_path / "a.onnx", nodes, {"x": sizes}, WEIGHTS) == ["self_attention"]
    others = {"x": sizes, "z": (TensorProto.FLOAT, ["N", 5, 8])}
    plain = {name: array for name, array in WEIGHTS.items() if not name.endswith("b")}
    assert keys(tmp_path / "b.onnx", attention("x", "z", has_bias=False), others, plain) == ["multihead_attention"]


def masked() -> list[onnx.NodeProto]:
    """An embedding with `mask_zero`."""
    return [
        cast("x", "i", TensorProto.INT64),
        helper.make_node("Less", ["i", "zero"], ["l"]),
        helper.make_node("Add", ["i", "rows"], ["a"]),
        helper.make_node("Where", ["l", "a", "i"], ["at"]),
        helper.make_node("Gather", ["table", "at"], ["e"]),
        cast("x", "j", TensorProto.INT32),
        helper.make_node("Equal", ["j", "none"], ["is_zero"]),
        helper.make_node("Not", ["is_zero"], ["seen"]),
        cast("seen", "seen1", TensorProto.BOOL),
    ]


MASK: dict[str, Any] = {
    "zero": np.array(0),
    "rows": np.array(30),
    "table": numbers(30, 8),
    "none": np.array(0, np.int32),
}


def test_an_embedding_with_a_mask_of_zeros(tmp_path: Path) -> None:
    nodes = [
        *masked(),
        helper.make_node("Unsqueeze", ["seen1", "last"], ["steps"]),
        helper.make_node("Unsqueeze", ["seen1", "first"], ["others"]),
        helper.make_node("And", ["steps", "others"], ["both"]),
        helper.make_node("Unsqueeze", ["both", "first"], ["each"]),
        helper.make_node("Where", ["each", "nothing", "hidden"], ["mask"]),
        *attention("e", "e", has_bias=True, mask="mask"),
    ]
    more: dict[str, Any] = {
        "last": np.array([2]),
        "first": np.array([1]),
        "nothing": np.float32(0),
        "hidden": np.float32(-2e38),
    }
    found = keys(tmp_path / "a.onnx", nodes, {"x": (TensorProto.INT32, ["N", 6])}, {**MASK, **more, **WEIGHTS})
    assert {"embedding", "where", "softmax"} <= set(found)
    assert found.count("fully_connected") == 4


def test_a_mean_over_steps_that_are_not_masked(tmp_path: Path) -> None:
    nodes = [
        *masked(),
        cast("seen1", "real"),
        helper.make_node("Unsqueeze", ["real", "last"], ["weights"]),
        helper.make_node("Mul", ["e", "weights"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "first"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["weights", "first"], ["count"], keepdims=0),
        helper.make_node("Div", ["sum", "count"], ["y"]),
    ]
    more: dict[str, Any] = {"last": np.array([2]), "first": np.array([1])}
    found = keys(tmp_path / "a.onnx", nodes, {"x": (TensorProto.INT32, ["N", 6])}, {**MASK, **more})
    assert {"embedding", "division"} <= set(found)


@pytest.mark.parametrize("op", ["Gather", "Split"])
def test_steps_of_films_one_by_one(tmp_path: Path, op: str) -> None:
    """ConvLSTM2D and TimeDistributed put the steps before the samples, and take one after another."""
    taken = (
        [helper.make_node("Gather", ["t", f"at{at}"], [f"s{at}"]) for at in range(3)]
        if op == "Gather"
        else [
            helper.make_node("Split", ["t", "ones"], [f"p{at}" for at in range(3)]),
            *(helper.make_node("Squeeze", [f"p{at}", "axis"], [f"s{at}"]) for at in range(3)),
        ]
    )
    steps = []
    for at in range(3):
        steps += [
            helper.make_node("Transpose", [f"s{at}"], [f"c{at}"], perm=[0, 3, 1, 2]),
            helper.make_node("Conv", [f"c{at}", "w"], [f"h{at}"], pads=[1, 1, 1, 1]),
        ]
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2, 3, 4]),
        *taken,
        *steps,
        helper.make_node("Add", ["h0", "h1"], ["a"]),
        helper.make_node("Mul", ["a", "h2"], ["y"]),
    ]
    constants = {"w": numbers(3, 2, 3, 3), "ones": np.ones(3, np.int64), "axis": np.array([0])}
    constants |= {f"at{at}": np.array(at) for at in range(3)}
    sizes = (TensorProto.FLOAT, ["N", 3, 6, 5, 2])
    assert keys(tmp_path / "a.onnx", nodes, {"x": sizes}, constants).count("conv2d") == 3


def test_a_recurrent_layer_that_goes_backwards(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["r"]),
        helper.make_node("Slice", ["r", "start", "end", "axis", "two"], ["y"]),
    ]
    constants = {"start": np.array([-1]), "end": np.array([-(2**62)]), "axis": np.array([1])}
    constants |= {"step": np.array([-1]), "two": np.array([-2])}
    assert keys(tmp_path / "a.onnx", nodes, {"x": (TensorProto.FLOAT, ["N", 6, 4])}, constants) == [
        "flip",
        "slice",
        "flip",
    ]
