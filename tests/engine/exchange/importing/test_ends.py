"""Outputs keep the order and the names of the file, and what is turned is said."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.onnx_graph import output_names
from netwright.engine.network.network import Network
from netwright.engine.project.file import load

RANDOM = np.random.default_rng(8)


def imported(path: Path) -> tuple[ImportReport, Network]:
    report = import_file(path, path.with_suffix(".netwright"))
    assert report.parity.agrees, report.warnings
    return report, load(path.with_suffix(".netwright")).project.network


def branching(path: Path, outputs: list[str], *, prefix: str = "op_") -> Path:
    """Branches p and q, each with a product behind it: p gives a and c, q gives b."""
    nodes = [
        helper.make_node(op, inputs, [name], name=f"{prefix}{name}")
        for op, inputs, name in (
            ("Tanh", ["x"], "p"),
            ("Sigmoid", ["x"], "q"),
            ("MatMul", ["p", "w"], "a"),
            ("MatMul", ["q", "w"], "b"),
            ("MatMul", ["p", "w"], "c"),
        )
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(RANDOM.standard_normal((3, 2)).astype(np.float32), "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("order", ["b a c", "b c a", "c a b", "a c b", "c"])
def test_outputs_keep_their_order_and_their_names(tmp_path: Path, order: str) -> None:
    report, network = imported(branching(tmp_path / "a.onnx", order.split()))
    assert output_names(network) == order.split()
    assert [one.name for one in report.parity.outputs] == order.split()
    assert report.notes == ()


def test_an_order_that_the_layers_do_not_allow_is_said(tmp_path: Path) -> None:
    report, network = imported(branching(tmp_path / "a.onnx", ["a", "b", "c"]))
    assert set(output_names(network)) == {"a", "b", "c"}
    assert report.notes == (
        f"The outputs stand in another order than in the file: {', '.join(output_names(network))}.",
    )


def test_names_that_an_exporter_makes_of_operators_are_not_kept(tmp_path: Path) -> None:
    _, network = imported(branching(tmp_path / "a.onnx", ["b", "a"], prefix="node_"))
    assert output_names(network) == ["fully_connected_2", "fully_connected_1"]


def test_a_name_that_no_layer_can_have_is_said(tmp_path: Path) -> None:
    path = branching(tmp_path / "a.onnx", ["b", "a"])
    model = onnx.load(path)
    model.graph.node[2].output[0] = model.graph.output[1].name = "a:0"
    onnx.save(model, path)
    report, network = imported(path)
    assert output_names(network) == ["b", "fully_connected_1"]
    assert report.notes == ("The output 'a:0' is called 'fully_connected_1' here.",)


class Heads(nn.Module):
    """A dictionary of outputs, of which the last is computed first."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.box, self.score = nn.Linear(4, 6), nn.Linear(6, 4), nn.Linear(6, 1)

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        h = self.stem(x)
        return {"scores": [self.score(h.tanh()), h.sigmoid()], "box": self.box(h)}


def saved(model: nn.Module, x: torch.Tensor, batch: int, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that a recurrent layer keeps a list of its weights
        program = torch.export.export(model.eval(), (x,), dynamic_shapes=({batch: torch.export.Dim("n")},))
    torch.export.save(program, path)
    return path


def test_keys_of_a_dictionary_are_the_names_of_outputs(tmp_path: Path) -> None:
    _, network = imported(saved(Heads(), torch.randn(3, 4), 0, tmp_path / "a.pt2"))
    assert output_names(network) == ["scores_0", "scores_1", "box"]


class Steps(nn.Module):
    """A recurrent layer that takes the steps first, as torch's do unless told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gru(x)[0]


@pytest.mark.parametrize(
    ("model", "sizes", "batch", "theirs", "ours"),
    [
        (Steps(), (7, 3, 4), 1, "steps × samples × channels", "samples × steps × channels"),
        (nn.Conv1d(4, 5, 3), (3, 4, 9), 0, "samples × channels × steps", "samples × steps × channels"),
        (nn.Conv2d(4, 5, 3), (3, 4, 9, 9), 0, "", ""),
    ],
)
def test_what_is_turned_is_said(
    tmp_path: Path, model: nn.Module, sizes: tuple[int, ...], batch: int, theirs: str, ours: str
) -> None:
    report, _ = imported(saved(model, torch.randn(sizes), batch, tmp_path / "a.pt2"))
    turned = [note.partition(" is ")[2] for note in report.notes]
    assert turned == ([f"{theirs} in the file, and {ours} here."] * 2 if theirs else [])
