"""Networks for sequences of any length come in, learn, or say which size to set."""

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.network.network import Network
from netwright.engine.project.file import load

RANDOM = np.random.default_rng(9)


class Positions(nn.Module):
    """A learned vector for each position, taken from a table in one of the ways that people write."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.embed, self.fc = way, nn.Embedding(20, 8), nn.Linear(8, 3)
        self.places, self.table = nn.Embedding(30, 8), nn.Parameter(torch.randn(1, 30, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = x.shape[1]
        match self.way:
            case "slice":
                rows = self.table[:, :steps]
            case "slice from a row on":
                rows = self.table[0, 2 : steps + 2]
            case "indices":
                rows = self.places(torch.arange(steps))
            case _:
                rows = self.places(torch.arange(steps)[None].expand(x.shape[0], steps))
        return self.fc(torch.tanh(self.embed(x) + rows))


class Rotary(nn.Module):
    """Causal attention whose angles are computed for as many steps as there are."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.qkv, self.fc = nn.Embedding(20, 8), nn.Linear(8, 24), nn.Linear(8, 20)
        self.rates: torch.Tensor
        self.register_buffer("rates", torch.tensor([1.0, 0.1]).repeat(2))

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        angles = torch.arange(x.shape[2], dtype=torch.float32)[:, None] * self.rates
        first, second = x.chunk(2, -1)
        return x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps = x.shape
        q, k, v = (one.view(batch, steps, 2, 4).transpose(1, 2) for one in self.qkv(self.embed(x)).chunk(3, -1))
        y = functional.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True)
        return self.fc(y.transpose(1, 2).reshape(batch, steps, 8))


class Padded(nn.Module):
    """Attention that does not see padded steps, which are an input."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.attention, self.fc = (
            nn.Embedding(20, 8),
            nn.MultiheadAttention(8, 2, batch_first=True),
            nn.Linear(8, 3),
        )

    def forward(self, x: torch.Tensor, is_padded: torch.Tensor) -> torch.Tensor:
        y = self.embed(x)
        return self.fc(self.attention(y, y, y, key_padding_mask=is_padded, need_weights=False)[0])


class Factors(nn.Module):
    """A sum of products of three tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.weights = nn.Linear(4, 5), nn.Linear(4, 6), nn.Parameter(torch.randn(5, 6, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("btc,btd,cde->bte", self.a(x), self.b(x), self.weights)


def imported(model: nn.Module, *inputs: torch.Tensor, folder: Path) -> tuple[ImportReport, Network]:
    """Export a model with a free batch and a free length, and import it."""
    sizes = tuple({0: torch.export.Dim("batch"), 1: torch.export.Dim("time", min=2, max=28)} for _ in inputs)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(model.eval(), inputs, folder / "a.onnx", dynamo=True, dynamic_shapes=sizes, verbose=False)
    report = import_file(folder / "a.onnx", folder / "a.netwright")
    assert report.parity.agrees, report.warnings
    return report, load(folder / "a.netwright").project.network


@pytest.mark.parametrize("way", ["slice", "slice from a row on", "indices", "indices of each sample"])
def test_rows_of_a_table_for_the_steps_are_a_position_embedding(way: str, tmp_path: Path) -> None:
    report, network = imported(Positions(way), torch.randint(0, 20, (3, 7)), folder=tmp_path)
    assert not any(row.opaque for row in report.operators)
    assert "position_embedding" in {layer.type.key for layer in network.layers.values()}


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Rotary, (torch.randint(0, 20, (3, 7)),)),
        (Padded, (torch.randint(0, 20, (3, 7)), torch.arange(7).repeat(3, 1) > 4)),
    ],
)
def test_what_no_layer_computes_at_any_length_passes_gradients(
    model: Any, inputs: tuple[torch.Tensor, ...], tmp_path: Path
) -> None:
    report, _ = imported(model(), *inputs, folder=tmp_path)
    assert not any("gradient" in text for text in report.warnings)
    assert not any("across the samples" in text for text in report.notes)


def test_weights_in_an_operator_that_stays_are_said_not_to_learn(tmp_path: Path) -> None:
    report, _ = imported(Factors(), torch.randn(3, 7, 4), folder=tmp_path)
    assert report.warnings == ("einsum_1: its 90 numbers in the file of constants do not learn.",)


def of_one_length(path: Path) -> Path:
    """A file that leaves the length free, and computes with one length alone."""
    nodes = [
        helper.make_node("Shape", ["x"], ["all"], start=1, end=2),
        helper.make_node("Squeeze", ["all"], ["steps"]),
        helper.make_node("Range", ["zero", "steps", "one"], ["places"]),
        helper.make_node("Gather", ["table", "places"], ["rows"]),
        helper.make_node("Mul", ["rows", "scale"], ["scaled"]),
        helper.make_node("Add", ["x", "scaled"], ["y"]),
    ]
    constants = {
        "zero": np.array(0),
        "one": np.array(1),
        "table": RANDOM.standard_normal((7, 3)).astype(np.float32),
        "scale": RANDOM.standard_normal((7, 3)).astype(np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "time", 3])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_a_refusal_names_the_size_to_set(tmp_path: Path) -> None:
    path = of_one_length(tmp_path / "a.onnx")
    with pytest.raises(UserError, match="--size time=16") as refusal:
        import_file(path, tmp_path / "a.netwright")
    assert "Set the sizes that the file leaves free, to such as it takes" in str(refusal.value)
    assert import_file(path, tmp_path / "a.netwright", sizes={"time": 7}).parity.agrees


def test_a_matrix_for_all_steps_needs_their_number(tmp_path: Path) -> None:
    """Nothing says that a size is computed when the network runs; the matrix fits one length."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "w"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "frames", 3])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(RANDOM.standard_normal((15, 2)).astype(np.float32), "w")],
    )
    path = tmp_path / "a.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    with pytest.raises(UserError, match="--size frames=16"):
        import_file(path, tmp_path / "a.netwright")
    assert import_file(path, tmp_path / "a.netwright", sizes={"frames": 5}).parity.agrees


def test_a_size_that_the_file_does_not_leave_free_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--size steps: the file has no size of this name; it leaves N, time free"):
        import_file(of_one_length(tmp_path / "a.onnx"), tmp_path / "a.netwright", sizes={"steps": 7})
