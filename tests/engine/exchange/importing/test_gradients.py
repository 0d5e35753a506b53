"""Gradients pass through operators that stay where torch computes them; layers that do not learn are named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import load_file

from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.layers.onnx_operator import OnnxOperator
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.runs import train

RANDOM = np.random.default_rng(6)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def imported(
    folder: Path,
    nodes: list[onnx.NodeProto],
    constants: dict[str, np.ndarray],
    sizes: list[int | str],
) -> tuple[ImportReport, Project]:
    """Import a file with one input of these sizes and one output of numbers."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "a.onnx")
    report = import_file(folder / "a.onnx", folder / "a.netwright")
    assert report.parity.agrees, report.warnings
    return report, load(folder / "a.netwright").project


def kept(project: Project) -> list[OnnxOperator]:
    return [layer.type for layer in project.network.layers.values() if isinstance(layer.type, OnnxOperator)]


def decoder(folder: Path) -> tuple[ImportReport, Project]:
    """A convolution, and a transposed one of two groups, which no layer computes."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["h"], pads=[1, 1, 1, 1]),
        helper.make_node("ConvTranspose", ["h", "v"], ["u"], group=2, strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["u"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "e"], ["y"]),
    ]
    constants = {"w": numbers(4, 2, 3, 3), "b": numbers(4), "v": numbers(4, 3, 2, 2), "e": numbers(6, 1)}
    return imported(folder, nodes, constants, ["N", 2, 6, 6])


def test_weights_before_an_operator_that_stays_change_in_training(tmp_path: Path) -> None:
    report, project = decoder(tmp_path)
    assert [type.gradients for type in kept(project)] == [("in",)]
    assert report.warnings == ("convtranspose_1: its 48 numbers in the file of constants do not learn.",)
    assert report.weights is not None
    np.savez(tmp_path / "data.npz", x=numbers(24, 2, 6, 6), y=numbers(24, 1))
    data = DataOptions(source="arrays", path="data.npz", task="numbers")
    training = TrainingOptions(max_epochs=2, mini_batch_size=8)
    done = train(replace(project, data=data, training=training), tmp_path / "run")
    before, after = load_file(report.weights), load_file(done.folder.last / "weights.safetensors")
    assert {name for name, value in before.items() if torch.equal(value, after[name])} == set()


def hardmax(folder: Path) -> tuple[ImportReport, Project]:
    """Weights before an operator without a gradient, and others behind it."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Hardmax", ["h"], ["m"]),
        helper.make_node("MatMul", ["m", "v"], ["y"]),
    ]
    return imported(folder, nodes, {"w": numbers(3, 4), "v": numbers(4, 1)}, ["N", 3])


def test_layers_that_do_not_learn_are_named_at_the_import_and_before_a_training(tmp_path: Path) -> None:
    report, project = hardmax(tmp_path)
    assert [type.gradients for type in kept(project)] == [()]
    (warning,) = report.warnings
    assert warning.startswith("hardmax_1, gradients: Its inputs get no gradient, so 'fully_connected_1' cannot learn.")
    np.savez(tmp_path / "data.npz", x=numbers(24, 3), y=numbers(24, 1))
    data = DataOptions(source="arrays", path="data.npz", task="numbers")
    done = train(replace(project, data=data, training=TrainingOptions(max_epochs=1)), tmp_path / "run")
    assert done.folder.read_info().warnings == (warning,)


def steps(op: str) -> list[onnx.NodeProto]:
    """Numbers that depend on the place of a step, times those of a layer."""
    return [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Shape", ["x"], ["s"], start=1, end=2),
        helper.make_node("Squeeze", ["s"], ["n"]),
        helper.make_node("Range", ["zero", "n", "one"], ["r"]),
        helper.make_node("Cast", ["r"], ["t"], to=TensorProto.FLOAT),
        helper.make_node(op, ["t"], ["c"]),
        helper.make_node("Unsqueeze", ["c", "last"], ["u"]),
        helper.make_node("Mul", ["h", "u"], ["y"]),
    ]


@pytest.mark.parametrize("op", ["Cos", "Sigmoid"])
def test_what_follows_from_sizes_keeps_samples_apart_and_lets_gradients_pass(tmp_path: Path, op: str) -> None:
    constants: dict[str, Any] = {"w": numbers(3, 4), "zero": np.array(0), "one": np.array(1), "last": np.array([1])}
    report, project = imported(tmp_path, steps(op), constants, ["N", "T", 3])
    (type,) = kept(project)
    assert type.joined == f"Shape, Squeeze, Range, Cast, {op}, Unsqueeze, …"
    assert not type.whole_batch
    assert type.gradients == ("in1", "in2")  # the first gives its sizes alone
    assert report.warnings == ()
    assert not any("across the samples" in note for note in report.notes)
