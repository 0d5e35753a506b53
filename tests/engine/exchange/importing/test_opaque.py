"""Operators without a layer stay as they are: in the project, in its numbers, and in the file exported again."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT
from netwright.engine.core.types import sequence
from netwright.engine.exchange.foreign_operators import ForeignOperator
from netwright.engine.exchange.importing import operator_probes
from netwright.engine.exchange.importing.importer import import_file, network_of
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.importing.parity import computed
from netwright.engine.layers.onnx_operator import OnnxOperator
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator as OperatorModule
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.project.file import load
from netwright.engine.project.project import Project

RANDOM = np.random.default_rng(5)
ML = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def written(
    path: Path,
    nodes: list[onnx.NodeProto],
    constants: dict[str, np.ndarray],
    sizes: list[int | str],
    outputs: list[onnx.ValueInfoProto] | None = None,
    opsets: list[Any] | None = None,
) -> Path:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        outputs or [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=opsets or ML[:1], ir_version=8), path)
    return path


LABELS: dict[str, Any] = {"classlabels_int64s": [3, 5, 9]}


def body(
    nodes: list[onnx.NodeProto], inputs: Mapping[str, int], outputs: Mapping[str, int], name: str = "body"
) -> onnx.GraphProto:
    """Return a subgraph whose inputs and outputs have these data types, and no sizes."""
    first, last = (
        [
            helper.make_tensor_value_info(one, kind, None if kind == TensorProto.FLOAT else [])
            for one, kind in given.items()
        ]
        for given in (inputs, outputs)
    )
    return helper.make_graph(nodes, name, first, last)


LOOP = {"step": TensorProto.INT64, "go": TensorProto.BOOL, "x0": TensorProto.FLOAT}
"""Inputs of the body of a loop; the last one is named as the layer names its own input."""


def control_flow() -> list[onnx.NodeProto]:
    """A loop that takes a value of the network around it, and a branch that is chosen by all samples together."""
    nodes = [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["x0", "h"], ["more"])]
    loop = body(nodes, LOOP, {"on": TensorProto.BOOL, "more": TensorProto.FLOAT})
    branches = {
        f"{word}_branch": body([helper.make_node(op, ["l", "two"], [word])], {}, {word: TensorProto.FLOAT}, word)
        for word, op in (("then", "Mul"), ("else", "Add"))
    }
    return [
        helper.make_node("Loop", ["three", "yes", "h"], ["l"], body=loop),
        helper.make_node("ReduceSum", ["l"], ["s"], keepdims=0),
        helper.make_node("Less", ["s", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["r"], **branches),
    ]


FLOW = {"three": np.array(3), "yes": np.array(True), "zero": np.float32(0), "two": np.float32(2)}


def mixed(path: Path) -> Path:
    """Operators of several number formats, with constants and subgraphs, behind weights."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        *control_flow(),
        helper.make_node("MatMul", ["r", "v"], ["a"]),
        helper.make_node("CumSum", ["a", "d"], ["b"], exclusive=1),
        helper.make_node("IsInf", ["b"], ["i"]),
        helper.make_node("Xor", ["i", "t"], ["m"]),
        helper.make_node("Where", ["m", "b", "a"], ["y"]),
    ]
    constants = {"w": numbers(4, 6), "v": numbers(6, 6), "d": np.array(1), "t": np.array([True, False] * 3)}
    return written(path, nodes, constants | {key: np.asarray(value) for key, value in FLOW.items()}, ["N", 4])


def operators(project: Project) -> list[OnnxOperator]:
    return [layer.type for layer in project.network.layers.values() if isinstance(layer.type, OnnxOperator)]


def outputs(path: Path, x: np.ndarray) -> list[Any]:
    session = open_session(path)
    return list(session.run(None, {"x": x}))


def test_operators_stay_through_project_and_export_with_equal_numbers(tmp_path: Path) -> None:
    first = import_file(mixed(tmp_path / "a.onnx"), tmp_path / "a.netwright")
    assert first.parity.agrees
    assert first.constants == tmp_path / "a.constants.safetensors"
    kept = {row.operator: row.opaque for row in first.operators if row.opaque}
    assert {"CumSum", "IsInf", "Loop", "If", "Less", "ReduceSum"} <= set(kept)
    assert any(note.startswith("If computes across the samples of a batch") for note in first.notes)
    command = [sys.executable, "-m", "netwright.engine", "export", str(first.project), "--format", "onnx"]
    subprocess.run([*command, "-o", str(tmp_path / "b.onnx")], check=True, cwd=ROOT, capture_output=True)
    second = import_file(tmp_path / "b.onnx", tmp_path / "b.netwright")
    before, after = (operators(load(report.project).project) for report in (first, second))
    kinds = [
        [(one.operator, one.joined, one.whole_batch, one.short_value()) for one in ours] for ours in (before, after)
    ]
    assert kinds[0] == kinds[1]
    assert ("If", "ReduceSum, Less, If", True, "ReduceSum, Less, If") in kinds[0]
    plain = [one.attributes for one in before if not one.inner_names]
    assert plain == [one.attributes for one in after if not one.inner_names]
    for x in (numbers(7, 4), -numbers(7, 4)):
        np.testing.assert_allclose(outputs(tmp_path / "b.onnx", x)[0], outputs(tmp_path / "a.onnx", x)[0], atol=1e-4)


def test_a_normalisation_beside_an_operator_that_stays_is_a_layer(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("BatchNormalization", ["x", "scale", "shift", "mean", "variance"], ["n"]),
        helper.make_node("CumSum", ["n", "axis"], ["y"], exclusive=1),
    ]
    constants = {"scale": numbers(4), "shift": numbers(4), "mean": numbers(4), "variance": np.abs(numbers(4)) + 1}
    path = written(tmp_path / "a.onnx", nodes, {**constants, "axis": np.array(1)}, ["N", 4])
    report = import_file(path, tmp_path / "a.netwright")
    assert report.parity.agrees
    types = [layer.type.key for layer in load(tmp_path / "a.netwright").project.network.layers.values()]
    assert types == ["feature_input", "batch_norm", "onnx_operator"]


def test_constants_lie_beside_the_project_and_not_in_it_nor_in_its_weights(tmp_path: Path) -> None:
    report = import_file(mixed(tmp_path / "a.onnx"), tmp_path / "a.netwright")
    from safetensors import safe_open

    assert report.weights is not None
    with safe_open(report.weights, "np") as file:
        assert not [key for key in file.keys() if "constant" in key]  # noqa: SIM118  # it is no dictionary
    project = load(report.project).project
    (total,) = [one for one in operators(project) if one.operator == "CumSum"]
    assert [text.split()[1:] for text in total.constants] == [["int64"]]
    assert total.attributes == '{"exclusive": 1}'


def scikit_learn(path: Path, labels: dict[str, Any] = LABELS) -> Path:
    """What skl2onnx writes for a scaler with a decision tree of three classes."""
    tree: dict[str, Any] = {
        "nodes_treeids": [0] * 5,
        "nodes_nodeids": list(range(5)),
        "nodes_featureids": [0, 0, 2, 0, 0],
        "nodes_values": [0.1, 0.0, -0.3, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 3, 0, 0],
        "nodes_falsenodeids": [2, 0, 4, 0, 0],
        "nodes_hitrates": [1.0] * 5,
        "nodes_missing_value_tracks_true": [0] * 5,
        "class_treeids": [0] * 9,
        "class_nodeids": [1, 1, 1, 3, 3, 3, 4, 4, 4],
        "class_ids": [0, 1, 2] * 3,
        "class_weights": [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.0, 0.25, 0.75],
        "post_transform": "NONE",
        **labels,
    }
    domain = "ai.onnx.ml"
    nodes = [
        helper.make_node("Scaler", ["x"], ["s"], domain=domain, offset=[0.5, 0.0, 0.1], scale=[2.0, 1.0, 0.5]),
        helper.make_node("TreeEnsembleClassifier", ["s"], ["label", "p"], domain=domain, **tree),
        helper.make_node("ZipMap", ["p"], ["probabilities"], domain=domain, **labels),
    ]
    kind = TensorProto.INT64 if labels is LABELS else TensorProto.STRING
    given = [
        helper.make_tensor_value_info("label", kind, ["N"]),
        helper.make_empty_tensor_value_info("probabilities"),
    ]
    given[1].type.sequence_type.elem_type.map_type.key_type = kind
    given[1].type.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    return written(path, nodes, {}, ["N", 3], given, ML)


def test_a_model_of_scikit_learn_computes_the_same(tmp_path: Path) -> None:
    report = import_file(scikit_learn(tmp_path / "a.onnx"), tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    found = operators(load(report.project).project)
    assert [one.operator for one in found] == ["Scaler", "TreeEnsembleClassifier", "ZipMap"]
    assert found[1].results == ("int64", "float32 C=3")
    assert not found[0].constants
    linear = helper.make_node(
        "LinearClassifier", ["x"], ["l", "y"], domain="ai.onnx.ml", coefficients=[0.5, -0.25, 1.0, -0.5, 0.25, -1.0],
        intercepts=[0.1, -0.1], classlabels_ints=[0, 1], multi_class=0, post_transform="LOGISTIC",
    )  # fmt: skip
    path = written(tmp_path / "b.onnx", [linear], {}, ["N", 3], None, ML)
    assert import_file(path, tmp_path / "b.netwright").parity.agrees


def test_labels_that_no_layer_holds_are_left_out_and_said(tmp_path: Path) -> None:
    path = scikit_learn(tmp_path / "a.onnx", {"classlabels_strings": ["cat", "dog", "owl"]})
    report = import_file(path, tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    assert list(report.ends) == ["probabilities"]
    assert report.warnings == (
        "The output 'label' is left out: ai.onnx.ml:TreeEnsembleClassifier is not known, and gives object as its "
        "output 1, which a layer cannot hold.",
    )


def test_an_operator_that_crashes_onnx_runtime_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scikit_learn(tmp_path / "a.onnx")
    monkeypatch.setattr(OperatorModule, "computed", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(UserError, match=r"Scaler is not known, and ONNX Runtime crashed while it tried the operator"):
        import_file(path, tmp_path / "a.netwright")


def test_many_operators_are_tried_in_one_process_and_one_that_dies_there_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [
        helper.make_node("CumSum", ["x" if not at else f"v{at - 1}", "axis"], [f"v{at}"], exclusive=1)
        for at in range(4)
    ]
    nodes[-1].output[:] = ["y"]
    path = written(tmp_path / "a.onnx", nodes, {"axis": np.array(1)}, ["N", 5, 4])
    alone: list[str] = []

    def counted(work: Callable[[], Any], *_: Any) -> Any:
        alone.append("")
        return work()

    monkeypatch.setattr(operator_probes, "arrays_from_child", counted)
    assert import_file(path, tmp_path / "a.netwright").parity.agrees
    assert not alone
    computed = OperatorModule.computed
    (tmp_path / "once").touch()

    def dying(self: OperatorModule, *x: torch.Tensor) -> list[np.ndarray]:
        if (tmp_path / "once").exists():
            (tmp_path / "once").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return computed(self, *x)

    monkeypatch.setattr(OperatorModule, "computed", dying)
    assert import_file(path, tmp_path / "b.netwright").parity.agrees
    assert len(alone) == 1


def test_an_operator_that_crashes_later_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scikit_learn(tmp_path / "a.onnx")
    monkeypatch.setattr(OperatorModule, "forward", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    report = import_file(path, tmp_path / "a.netwright")
    assert report.parity.refusal == ("ONNX Runtime crashed while it computed the operators that are kept as they are.")


def test_an_operator_of_a_file_for_one_sample_computes_each_by_itself(tmp_path: Path) -> None:
    """Its places name the sample, so that it would change the first of several alone."""
    node = helper.make_node("ScatterND", ["x", "places", "rows"], ["y"])
    constants = {"places": np.array([[0, 1], [0, 3]]), "rows": numbers(2, 4)}
    path = written(tmp_path / "a.onnx", [node], constants, [1, 5, 4])
    report = import_file(path, tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    (layer,) = operators(load(report.project).project)
    assert layer.one_by_one
    made = network_of(read(path), {})
    x = numbers(3, 5, 4)
    (found,) = computed(made.module(), *made.ends(), {"x": x})
    expected = x.copy()
    expected[:, [1, 3]] = constants["rows"]
    np.testing.assert_array_equal(found, expected)


def clipped(path: Path) -> Path:
    """An LSTM in two directions whose gates are clipped, with steps before samples, and its states."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["t", "w", "r"], ["o", "h"], hidden_size=5, direction="bidirectional", clip=0.5),
        helper.make_node("ReduceSum", ["o", "one"], ["s"], keepdims=0),
        helper.make_node("Transpose", ["s"], ["p"], perm=[1, 0, 2]),
        helper.make_node("Transpose", ["h"], ["q"], perm=[1, 0, 2]),
        helper.make_node("Concat", ["p", "q"], ["y"], axis=1),
    ]
    constants = {"w": numbers(2, 20, 3), "r": numbers(2, 20, 5), "one": np.array([1])}
    return written(path, nodes, constants, ["N", 7, 3])


def test_an_operator_with_the_batch_in_another_place(tmp_path: Path) -> None:
    report = import_file(clipped(tmp_path / "a.onnx"), tmp_path / "a.netwright")
    assert report.parity.agrees, report.parity
    layer = next(one for one in operators(load(report.project).project) if one.operator == "LSTM")
    assert layer.input_tensors == ("float32 T=7 N C=3",)
    call = layer.lower(sequence(7, 3))
    assert not isinstance(call, tuple)
    stand_in = ForeignOperator(OperatorModule(**call.kwargs), "path")
    assert stand_in.part.inputs == (("float32", (7, None, 3)),)


def test_an_operator_for_one_sample_leaves_in_a_file_for_one(tmp_path: Path) -> None:
    node = helper.make_node("ScatterND", ["x", "places", "rows"], ["y"])
    constants = {"places": np.array([[0, 1]]), "rows": numbers(1, 4)}
    report = import_file(written(tmp_path / "a.onnx", [node], constants, [1, 5, 4]), tmp_path / "a.netwright")
    (layer,) = operators(load(report.project).project)
    call = layer.lower(sequence(5, 4))
    assert not isinstance(call, tuple)
    foreign = ForeignOperator(OperatorModule(**call.kwargs), "path")
    with pytest.raises(UserError, match="came from a file for one sample"):
        foreign(torch.zeros(2, 5, 4))


def test_an_operator_with_a_subgraph_takes_its_constants_along(tmp_path: Path) -> None:
    branch = helper.make_graph(
        [helper.make_node("Add", ["inside", "c"], ["out"])],
        "body",
        [helper.make_tensor_value_info("inside", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [3])],
    )
    node = helper.make_node("Scan", ["x"], ["y"], body=branch, num_scan_inputs=1)
    report = import_file(written(tmp_path / "a.onnx", [node], {"c": numbers(3)}, ["N", 3]), tmp_path / "a.netwright")
    assert report.parity.agrees


def imported(path: Path, nodes: list[onnx.NodeProto], inputs: dict[str, Any], constants: dict[str, Any]) -> Any:
    """Return the report on a file with these inputs (data type and sizes) and the layers of its operators."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, *given) for name, given in inputs.items()],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    report = import_file(path, path.with_suffix(".netwright"))
    assert report.parity.agrees, report.parity
    return operators(load(report.project).project)


def test_a_loop_over_steps_takes_along_what_says_how_many_there_are(tmp_path: Path) -> None:
    step = [
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Gather", ["x", "step"], ["now"], axis=1),
        helper.make_node("MatMul", ["x0", "w"], ["before"]),
        helper.make_node("Add", ["now", "before"], ["state"]),
        helper.make_node("Identity", ["state"], ["seen"]),
    ]
    given = {"on": TensorProto.BOOL, "state": TensorProto.FLOAT, "seen": TensorProto.FLOAT}
    nodes = [
        helper.make_node("Shape", ["x"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "one"], ["steps"]),
        helper.make_node("Gather", ["sizes", "first"], ["batch"]),
        helper.make_node("Concat", ["batch", "four"], ["start"], axis=0),
        helper.make_node("ConstantOfShape", ["start"], ["zeros"]),
        helper.make_node("Loop", ["steps", "yes", "zeros"], ["last", "all"], body=body(step, LOOP, given)),
        helper.make_node("Transpose", ["all"], ["y"], perm=[1, 0, 2]),
    ]
    constants = {"one": 1, "first": [0], "four": [4], "yes": True, "w": numbers(4, 4) / 2}
    (layer,) = imported(tmp_path / "a.onnx", nodes, {"x": (TensorProto.FLOAT, ["N", "T", 4])}, constants)
    assert layer.joined == "Shape, Gather, Concat, ConstantOfShape, Loop"
    assert not layer.whole_batch


def test_lengths_may_enter_or_follow_from_a_mask(tmp_path: Path) -> None:
    lengths = {"x": (TensorProto.FLOAT, ["N", 5, 3]), "l": (TensorProto.INT64, ["N"])}
    node = helper.make_node("ReverseSequence", ["x", "l"], ["y"], batch_axis=0, time_axis=1)
    (layer,) = imported(tmp_path / "a.onnx", [node], lengths, {})
    assert layer.input_tensors == ("float32 T=5 C=3", "int64")
    kind = TensorProto.INT32
    nodes = [
        helper.make_node("ReduceSum", ["mask", "axis"], ["seen"], keepdims=0),
        helper.make_node("Sub", ["seen", "one"], ["last"]),
        helper.make_node("Cast", ["last"], ["lengths"], to=kind),
        helper.make_node("Shape", ["mask"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "one"], ["size"]),
        helper.make_node("Cast", ["size"], ["steps"], to=kind),
        helper.make_node(
            "GroupQueryAttention", ["q", "k", "k", "", "", "lengths", "steps"], ["y", "keys", "values"],
            domain="com.microsoft", num_heads=4, kv_num_heads=2,
        ),
    ]  # fmt: skip
    given = {"q": (TensorProto.FLOAT, ["N", 6, 32]), "k": (TensorProto.FLOAT, ["N", 6, 16])}
    given["mask"] = (TensorProto.INT64, ["N", 6])
    found = imported(tmp_path / "b.onnx", nodes, given, {"axis": [1], "one": 1})
    assert "GroupQueryAttention" in [one.operator for one in found]


@pytest.mark.parametrize("hidden", [False, -np.inf])
def test_attention_whose_mask_hides_all_steps_stays(tmp_path: Path, hidden: float) -> None:
    """The operator gives zeros where nothing is to be seen; a layer with a softmax would give a mean."""
    mask = np.zeros((4, 4), np.float32) if hidden else np.ones((4, 4), bool)
    mask[1] = hidden
    node = helper.make_node("Attention", ["x", "x", "x", "m"], ["y"], q_num_heads=2, kv_num_heads=2)
    path = written(tmp_path / "a.onnx", [node], {"m": mask}, ["N", 4, 8], None, [helper.make_opsetid("", 23)])
    report = import_file(path, tmp_path / "a.netwright")
    assert report.parity.agrees
    assert [one.operator for one in operators(load(report.project).project)] == ["Attention"]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("Unknown", ["x"], ["y"], domain="own.domain"), "cannot be computed by itself"),
        (helper.make_node("Unique", ["x"], ["y"]), "gives no result for each sample"),
    ],
)
def test_an_operator_that_cannot_be_kept_is_refused_with_the_reason(
    tmp_path: Path, node: onnx.NodeProto, reason: str
) -> None:
    opsets = [*ML[:1], helper.make_opsetid("own.domain", 1)]
    path = written(tmp_path / "a.onnx", [node], {"zero": np.array(0)}, ["N", 3], None, opsets)
    with pytest.raises(UserError, match=reason):
        import_file(path, tmp_path / "a.netwright")
    assert not (tmp_path / "a.netwright").exists()
