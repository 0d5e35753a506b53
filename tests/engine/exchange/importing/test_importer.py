"""Networks of ONNX files that torch and onnx's own helpers write become projects that compute the same."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.core.errors import UserError
from netwright.engine.exchange import onnx_runner
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.lowering.weights_file import read_weights_file
from netwright.engine.network.block import Block
from netwright.engine.project.file import load

RANDOM = np.random.default_rng(3)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def written(
    path: Path, nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], sizes: list[int | str], opset: int = 17
) -> Path:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def cnn(path: Path) -> Path:
    def conv(name: str, source: str, out: str, scope: str) -> onnx.NodeProto:
        return helper.make_node(
            "Conv", [source, f"{name}.w", f"{name}.b"], [out], name=f"{scope}{name}/Conv", pads=[1, 1, 1, 1]
        )

    nodes = [
        conv("stem", "x", "s", "/"),
        helper.make_node("Relu", ["s"], ["r"], name="/Relu"),
        conv("conv1", "r", "c", "/layer1/layer1.0/"),
        helper.make_node("BatchNormalization", ["c", *("s1", "s2", "s3", "s4")], ["n"], name="/layer1/layer1.0/bn/BN"),
        helper.make_node("Add", ["n", "r"], ["a"], name="/layer1/layer1.0/Add"),
        helper.make_node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Concat", ["p", "p"], ["d"], axis=1),
        helper.make_node("GlobalAveragePool", ["d"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "m"], ["h"], name="/head/MatMul"),
        helper.make_node("Add", ["h", "v"], ["z"], name="/head/Add"),
        helper.make_node("Softmax", ["z"], ["y"], axis=-1),
    ]
    constants = {
        "stem.w": numbers(4, 3, 3, 3),
        "stem.b": numbers(4),
        "conv1.w": numbers(4, 4, 3, 3),
        "conv1.b": numbers(4),
    }
    constants |= {"s1": numbers(4), "s2": numbers(4), "s3": numbers(4), "s4": np.abs(numbers(4)) + 0.5}
    return written(path, nodes, {**constants, "m": numbers(8, 5), "v": numbers(5)}, ["batch", 3, 16, 16])


def imported(path: Path) -> ImportReport:
    return import_file(path, path.with_suffix(".netwright"))


def test_cnn_becomes_a_project_with_weights_that_computes_the_same(tmp_path: Path) -> None:
    report = imported(cnn(tmp_path / "net.onnx"))
    assert report.parity.agrees
    assert not report.warnings
    project = load(report.project).project
    names = {layer.name: layer.type.key for layer in project.network.layers.values()}
    assert names["x"] == "image_input"
    assert names["stem"] == "conv2d"
    assert names["head"] == "fully_connected"
    block = project.network.layer("layer1").type
    assert isinstance(block, Block)
    assert {layer.name for layer in block.network.layers.values()} >= {"conv1", "bn"}
    assert project.network.inputs[0].type.normalization_kind == "none"  # type: ignore[attr-defined]
    assert report.weights is not None
    state, _ = read_weights_file(report.weights, project.weights.sha256)
    assert "head.weight" in state
    assert tuple(state["head.weight"].shape) == (5, 8)
    row = next(row for row in report.operators if row.operator == "MatMul")
    assert row.lifted == 1
    assert dict(row.layers) == {"Fully connected": 1}
    assert json.dumps(report.write())


def test_wrong_numbers_are_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netwright.engine.exchange.importing.lifts import arithmetic_lifts

    monkeypatch.setattr(arithmetic_lifts, "KINDS", {**arithmetic_lifts.KINDS, "Add": arithmetic_lifts.KINDS["Sub"]})
    report = imported(cnn(tmp_path / "net.onnx"))
    assert not report.parity.agrees
    assert "differs from the original" in report.warnings[0]


def test_shape_arithmetic_of_exporters_vanishes(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axis0"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["f"]),
        helper.make_node("Gemm", ["f", "w", "b"], ["y"], transB=1, alpha=0.5),
    ]
    constants = {"zero": np.array(0), "axis0": np.array([0]), "rest": np.array([-1])}
    path = written(tmp_path / "net.onnx", nodes, {**constants, "w": numbers(4, 24), "b": numbers(4)}, ["n", 2, 3, 4])
    report = imported(path)
    assert report.parity.agrees
    keys = [layer.type.key for layer in load(report.project).project.network.layers.values()]
    assert keys == ["image_input", "flatten", "fully_connected"]
    folded = {row.operator: row.folded for row in report.operators}
    assert folded["Shape"] == folded["Gather"] == folded["Unsqueeze"] == folded["Concat"] == 1


def test_an_embedding_and_an_initial_state_as_keras_writes_them(tmp_path: Path) -> None:
    """Indices come as real numbers and may count from the end; the state before the first step is computed."""
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["a"], ["b"], to=TensorProto.INT32),
        helper.make_node("Cast", ["b"], ["i"], to=TensorProto.INT64),
        helper.make_node("Less", ["i", "zero"], ["under"]),
        helper.make_node("Add", ["i", "rows"], ["wrapped"]),
        helper.make_node("Where", ["under", "wrapped", "i"], ["index"]),
        helper.make_node("Gather", ["table", "index"], ["e"]),
        helper.make_node("Gather", ["e", "zero"], ["step"], axis=1),
        helper.make_node("Shape", ["x"], ["sizes"]),
        helper.make_node("Slice", ["sizes", "zeros", "one"], ["batch"]),
        helper.make_node("Concat", ["batch", "four"], ["start"], axis=0),
        helper.make_node("ConstantOfShape", ["start"], ["state"]),
        helper.make_node("MatMul", ["state", "w"], ["m"]),
        helper.make_node("Add", ["m", "bias"], ["before"]),
        helper.make_node("Add", ["step", "before"], ["y"]),
    ]
    constants = {"zero": np.array(0), "rows": np.array(9), "table": numbers(9, 4), "w": numbers(4, 4)}
    constants |= {"zeros": np.array([0]), "one": np.array([1]), "four": np.array([4]), "bias": numbers(4)}
    report = imported(written(tmp_path / "net.onnx", nodes, constants, ["N", 5]))
    assert report.parity.agrees
    kinds = [layer.type.key for layer in load(report.project).project.network.layers.values()]
    assert kinds[:2] == ["sequence_input", "embedding"]
    assert "onnx_operator" not in kinds


def test_operators_without_a_layer_are_listed(tmp_path: Path) -> None:
    path = written(tmp_path / "net.onnx", [helper.make_node("Magic", ["x"], ["y"], name="wand")], {}, ["n", 4])
    with pytest.raises(UserError, match=r"Magic \(wand\) is not known"):
        imported(path)
    assert not (tmp_path / "net.netwright").exists()


def test_an_existing_project_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = cnn(tmp_path / "net.onnx")
    (tmp_path / "net.weights.safetensors").write_text("mine")
    with pytest.raises(UserError, match="exists"):
        imported(path)
    assert (tmp_path / "net.weights.safetensors").read_text() == "mine"


def logarithm(path: Path) -> Path:
    """A logarithm of random numbers: ONNX gives no number below zero, the layer that of its epsilon."""
    weights = np.random.default_rng(2).standard_normal((2, 4, 4)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["a"]),
        helper.make_node("Log", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w"], ["y"]),
    ]
    held = [numpy_helper.from_array(one, name) for name, one in zip("vw", weights, strict=True)]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])]
    graph = helper.make_graph(nodes, "net", given, [helper.make_empty_tensor_value_info("y")], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    return path


def test_the_report_names_the_first_layer_that_differs(tmp_path: Path) -> None:
    report = import_file(logarithm(tmp_path / "a.onnx"), tmp_path / "a.netwright")
    assert not report.parity.agrees
    assert report.warnings[-1].startswith("The first layer that differs is 'math_function_1' ('b' in the file)")


def test_a_crash_of_onnx_runtime_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_runner.Runner, "_run", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    report = import_file(logarithm(tmp_path / "a.onnx"), tmp_path / "a.netwright")
    assert report.layers == 4
    assert report.warnings == (
        "The outputs are not compared with the original: ONNX Runtime crashed while it ran a.onnx.",
    )


def test_the_power_of_a_small_number_is_that_of_the_file(tmp_path: Path) -> None:
    """The layer's own limit, 1e-6, is for training: 1e-7 to the power of 0.4 is 0.0016, and of the limit 0.004."""
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Mul", ["a", "small"], ["b"]),
        helper.make_node("Pow", ["b", "exponent"], ["y"]),
    ]
    constants = {"small": np.array(1e-7, np.float32), "exponent": np.array(0.4, np.float32)}
    assert imported(written(tmp_path / "net.onnx", nodes, constants, ["batch", 3])).parity.agrees
