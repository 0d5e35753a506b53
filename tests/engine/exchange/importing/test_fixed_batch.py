"""Files for a fixed number of samples: what is equal for each sample is for any number of them, the rest is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.importer import import_file, network_of
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.importing.parity import computed
from netwright.engine.layers.onnx_operator import OnnxOperator
from netwright.engine.project.file import load

RANDOM = np.random.default_rng(9)


def numbers(*shape: int) -> np.ndarray:
    return (0.3 * RANDOM.standard_normal(shape)).astype(np.float32)


def each(array: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return numbers for two samples, equal for each."""
    return np.repeat(array, 2, axis)


def file(path: Path, nodes: list[onnx.NodeProto], sizes: list[int | str], constants: dict[str, Any]) -> Path:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def states() -> tuple[list[onnx.NodeProto], dict[str, Any]]:
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["t", "w", "r", "", "lengths", "h", "c"], ["o"], hidden_size=4),
        helper.make_node("Squeeze", ["o", "one"], ["q"]),
        helper.make_node("Transpose", ["q"], ["y"], perm=[1, 0, 2]),
    ]
    state = {"h": each(numbers(1, 1, 4), 1), "c": np.zeros((1, 2, 4), np.float32), "one": [1]}
    return nodes, {"w": numbers(1, 16, 3), "r": numbers(1, 16, 4), "lengths": np.array([5, 5], np.int32), **state}


LIFTED: dict[str, tuple[list[onnx.NodeProto], dict[str, Any]]] = {
    "lstm": states(),
    "sizes": (
        [
            helper.make_node("Reshape", ["x", "a"], ["p"]),
            helper.make_node("Expand", ["p", "e"], ["q"]),
            helper.make_node("Reshape", ["q", "b"], ["y"]),
        ],
        {"a": [2, 1, 15], "e": [2, 4, 15], "b": [2, 60]},
    ),
    "numbers": (
        [helper.make_node("Add", ["x", "k"], ["q"]), helper.make_node("Concat", ["q", "more"], ["y"], axis=1)],
        {"k": each(numbers(1, 5, 3)), "more": each(numbers(1, 2, 3))},
    ),
}


@pytest.mark.parametrize("name", LIFTED)
def test_what_is_equal_for_each_sample_is_layers(tmp_path: Path, name: str) -> None:
    nodes, constants = LIFTED[name]
    path = file(tmp_path / "a.onnx", nodes, [2, 5, 3], constants)
    report = import_file(path, tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    assert not any(row.opaque for row in report.operators), report.operators
    made = network_of(read(path), {})
    x = numbers(4, 5, 3)
    (found,) = computed(made.module(), *made.ends(), {"x": x})
    (first,) = computed(made.module(), *made.ends(), {"x": x[:2]})
    np.testing.assert_allclose(found[:2], first, atol=1e-5)
    assert len(found) == 4


KEPT: dict[str, tuple[list[onnx.NodeProto], list[int | str], dict[str, Any]]] = {
    "lengths": (
        [helper.make_node("ReverseSequence", ["x", "l"], ["y"], batch_axis=0, time_axis=1)],
        [2, 5, 3],
        {"l": [4, 4]},
    ),
    "grid": (
        [
            helper.make_node("ReduceMean", ["x", "places"], ["m"], keepdims=0),
            helper.make_node("Gemm", ["m", "w"], ["f"]),
            helper.make_node("Reshape", ["f", "s"], ["theta"]),
            helper.make_node("AffineGrid", ["theta", "size"], ["grid"]),
            helper.make_node("GridSample", ["x", "grid"], ["y"]),
        ],
        [2, 3, 6, 6],
        {"places": [2, 3], "w": 0.01 * numbers(3, 6), "s": [-1, 2, 3], "size": [2, 3, 6, 6]},
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_an_operator_that_says_the_number_of_samples_computes_each_by_itself(tmp_path: Path, name: str) -> None:
    nodes, sizes, constants = KEPT[name]
    report = import_file(file(tmp_path / "a.onnx", nodes, sizes, constants), tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    layers = load(report.project).project.network.layers.values()
    assert next(one.type for one in layers if isinstance(one.type, OnnxOperator)).one_by_one


def test_other_numbers_for_each_sample_are_refused_with_the_way_out(tmp_path: Path) -> None:
    node = helper.make_node("ReverseSequence", ["x", "l"], ["y"], batch_axis=0, time_axis=1)
    path = file(tmp_path / "a.onnx", [node], [2, 5, 3], {"l": [4, 3]})
    with pytest.raises(UserError, match="its constants may be for the 2 samples of the file: export it again with a"):
        import_file(path, tmp_path / "a.netwright")


def test_results_whose_number_depends_on_numbers(tmp_path: Path) -> None:
    """Inside the network they stay; up to an output they are refused with the way out."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["i"]),
        helper.make_node("Transpose", ["i"], ["t"]),
        helper.make_node("GatherND", ["x", "t"], ["v"]),
        helper.make_node("ReduceSum", ["v"], ["s"], keepdims=0),
        helper.make_node("Add", ["x", "s"], ["y"]),
    ]
    report = import_file(file(tmp_path / "a.onnx", nodes, ["N", 4], {}), tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    path = file(tmp_path / "b.onnx", [helper.make_node("NonZero", ["x"], ["y"])], ["N", 4], {})
    with pytest.raises(UserError, match="NonZero is not known, and gives no result for each sample") as refused:
        import_file(path, tmp_path / "b.netwright")
    assert "extract_model" in refused.value.hint
