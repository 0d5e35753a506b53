"""Weights that layers share in a file stay one set where layers can share them. Else they become copies: the report
says so, and the import refuses them on request."""

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_INPUT
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.project.file import load

PHOTOS = Path(__file__).parents[3] / "golden/keras/photos.keras"


class Tied(nn.Module):
    """A language model whose head has the weights of its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.inner = nn.Linear(6, 6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return scores of the next word."""
        return self.head(torch.tanh(self.inner(self.words(x))))


class Called(nn.Module):
    """A layer that is called twice, between two of which only the biases are equal."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.twice, self.last = nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 5)
        for layer in (self.first, self.last):
            nn.init.zeros_(layer.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return numbers."""
        return self.last(torch.relu(self.twice(torch.relu(self.twice(torch.relu(self.first(x)))))))


INDICES, NUMBERS = torch.randint(0, 11, (3, 7)), torch.randn(3, 5)


def written(folder: Path, module: nn.Module, example: torch.Tensor, form: str) -> Path:
    """Write the module as torch's exporters do."""
    batch = torch.export.Dim("batch", min=1, max=64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if form == "pt2":
            program = torch.export.export(module.eval(), (example,), dynamic_shapes=({0: batch},))
            torch.export.save(program, folder / "a.pt2")
            return folder / "a.pt2"
        free: dict[str, Any] = (
            {"dynamic_axes": {"x": {0: "batch"}}} if form == "script" else {"dynamic_shapes": ({0: batch},)}
        )
        torch.onnx.export(
            module.eval(),
            (example,),
            folder / "a.onnx",
            input_names=["x"],
            dynamo=form == "dynamo",
            verbose=False,
            **free,
        )
    return folder / "a.onnx"


def imported(path: Path, **options: Any) -> ImportReport:
    return import_file(path, path.with_suffix(".netwright"), **options)


@pytest.mark.parametrize("form", ["pt2", "dynamo", "script"])
def test_the_report_names_layers_that_share_weights(tmp_path: Path, form: str) -> None:
    report = imported(written(tmp_path, Tied(), INDICES, form))
    assert report.parity.agrees
    (text,) = [one for one in report.warnings if "share their weights" in one]
    assert text.startswith("'words' and 'head' share their weights in the file."), text
    assert text.endswith("66 parameters became 132."), text


@pytest.mark.parametrize("form", ["pt2", "dynamo", "script"])
def test_a_layer_that_is_called_twice_keeps_one_set_of_weights(tmp_path: Path, form: str) -> None:
    report = imported(written(tmp_path, Called(), NUMBERS, form))
    assert report.parity.agrees
    zeros = 2 * 5 if form == "dynamo" else 0  # that exporter leaves out a bias of zeros
    assert report.parameters == sum(p.numel() for p in Called().parameters()) - zeros
    assert not [one for one in report.warnings if "share their weights" in one], "equal biases alone are not shared"
    network = load(report.project).project.network
    (shared,) = [layer for layer in network.layers.values() if layer.weights_of]
    assert (shared.name, network.layers[shared.weights_of].name) == ("twice_1", "twice")
    assert report.weights is not None
    assert not [key for key in load_file(report.weights) if key.startswith("twice_1")]


class Siamese(nn.Module):
    """Two pictures through the same layers, of which one has statistics, and a head on the difference."""

    def __init__(self) -> None:
        super().__init__()
        norm = nn.BatchNorm2d(4)
        self.branch = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), norm, nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(100, 3)
        nn.init.uniform_(norm.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return numbers."""
        return self.head(self.branch(x) - self.branch(torch.sin(x)))


@pytest.mark.parametrize("form", ["pt2", "dynamo", "script"])
def test_branches_of_one_module_keep_one_set_of_weights(tmp_path: Path, form: str) -> None:
    report = imported(written(tmp_path, Siamese(), torch.randn(3, 2, 5, 5), form))
    assert report.parity.agrees
    folded = 2 * 4 if form == "script" else 0  # that exporter folds the statistics into the convolution
    assert report.parameters == sum(p.numel() for p in Siamese().parameters()) - folded


def test_an_import_refuses_copies_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, Tied(), INDICES, "dynamo")
    words = ["import", str(path), "-o", str(tmp_path / "net.netwright"), "--no-shared-copies"]
    assert main(words) == EXIT_INPUT
    said = capsys.readouterr().err
    assert "'words' and 'head' share their weights in the file" in said
    assert "--no-shared-copies" in said
    assert list(tmp_path.glob("net.*")) == []


def test_a_keras_model_that_is_used_twice_keeps_one_set_of_weights(tmp_path: Path) -> None:
    report = imported(Path(shutil.copy(PHOTOS, tmp_path)), copies_shared=False)
    layers = load(report.project).project.network.layers
    assert {layer.name: layers[layer.weights_of].name for layer in layers.values() if layer.weights_of} == {
        "my_stage_2": "my_stage"
    }
    assert report.weights is not None
    keys = load_file(report.weights)
    assert any(key.startswith("my_stage.") for key in keys)
    assert not any(key.startswith("my_stage_2.") for key in keys)
