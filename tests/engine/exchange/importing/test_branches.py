"""If with a known condition is the branch that is taken, with equal numbers."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.project.file import load


def body(nodes: list[onnx.NodeProto], output: str, constants: dict[str, np.ndarray] | None = None) -> onnx.GraphProto:
    held = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    return helper.make_graph(nodes, "body", [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], held)


def written(path: Path, nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray]) -> Path:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    return path


def keys(path: Path) -> list[str]:
    report = import_file(path, path.with_suffix(".netwright"))
    assert report.parity.agrees, report.parity
    return [layer.type.key for layer in load(report.project).project.network.layers.values()][1:]


TWO = {"w": np.full((4, 3), 0.5, np.float32)}


@pytest.mark.parametrize("is_taken", [True, False])
def test_a_known_condition(tmp_path: Path, is_taken: bool) -> None:
    """Branches use the same names; a branch within a branch comes in as well."""
    inner = helper.make_node(
        "If", ["c"], ["a"], "inner",
        then_branch=body([helper.make_node("Tanh", ["x"], ["t"])], "t"),
        else_branch=body([helper.make_node("MatMul", ["x", "w"], ["t"])], "t", TWO),
    )  # fmt: skip
    outer = helper.make_node(
        "If", ["c"], ["b"],
        then_branch=body([inner, helper.make_node("Relu", ["a"], ["r"])], "r"),
        else_branch=body([inner], "a"),
    )  # fmt: skip
    last = helper.make_node(
        "If", ["c"], ["y"],
        then_branch=body([helper.make_node("Sigmoid", ["b"], ["t"])], "t"),
        else_branch=body([helper.make_node("Softplus", ["b"], ["t"])], "t"),
    )  # fmt: skip
    nodes = [outer, last]
    expected = ["tanh", "relu", "sigmoid"] if is_taken else ["fully_connected", "softplus"]
    assert keys(written(tmp_path / "a.onnx", nodes, {"c": np.array(is_taken)})) == expected


def test_a_condition_that_follows_from_sizes(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Shape", ["a"], ["s"]),
        helper.make_node("Gather", ["s", "one"], ["channels"]),
        helper.make_node("Equal", ["channels", "one"], ["c"]),
        helper.make_node("Exp", ["a"], ["unused"]),
        helper.make_node(
            "If", ["c"], ["y"],
            then_branch=body([helper.make_node("Neg", ["unused"], ["n"])], "n"),
            else_branch=body([helper.make_node("MatMul", ["a", "w"], ["m"])], "m", TWO),
        ),
    ]  # fmt: skip
    assert keys(written(tmp_path / "a.onnx", nodes, {"one": np.array(1)})) == ["relu", "fully_connected"]


def test_a_condition_of_numbers_of_the_network_stays_with_what_computes_it(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Cast", ["s"], ["c"], to=TensorProto.BOOL),
        helper.make_node(
            "If", ["c"], ["y"],
            then_branch=body([helper.make_node("Neg", ["x"], ["n"])], "n"),
            else_branch=body([helper.make_node("Relu", ["x"], ["m"])], "m"),
        ),
    ]  # fmt: skip
    assert keys(written(tmp_path / "a.onnx", nodes, {})) == ["onnx_operator"]
