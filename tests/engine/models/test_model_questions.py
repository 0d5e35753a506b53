"""Every question that is asked of a run can be asked of a file: an ONNX file of ours, and a program of plain torch."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import netwright as nw
from netwright.engine.cli.main import main
from netwright.engine.exchange.export import export
from netwright.engine.models.open_model import open_model
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.engine.exchange.importing.keras.keras_files import functional
from tests.engine.exchange.importing.keras.keras_files import layer as keras_layer
from tests.engine.exchange.importing.keras.keras_files import write as write_keras
from tests.json_schema import checked_output
from tests.runs import train

pytestmark = pytest.mark.usefixtures("importer_in_memory")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on a table and its ONNX file, and a program of torch that tells the same classes."""
    folder = tmp_path_factory.mktemp("models")
    random = np.random.default_rng(0)
    rows = [(a, b, ("no", "yes")[int(a + b > 0)]) for a, b in random.normal(size=(120, 2)).round(3)]
    (folder / "a.csv").write_text("\n".join(["a,b,y", *(f"{a},{b},{y}" for a, b, y in rows)]) + "\n")
    network = chain(
        layer("feature_input", channels=2),
        layer("fully_connected", outputs=8),
        layer("relu"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    project = Project(network)
    project = replace(
        project,
        data=project.data.replace(source="table", path=str(folder / "a.csv"), response="y"),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(solver="adam", initial_learn_rate=0.05, max_epochs=8, mini_batch_size=16),
    )
    assert train(project, folder / "run").exit_code == 0
    export(folder / "run", "onnx", folder / "net.onnx")
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2), nn.Softmax(1)).eval()
    shapes = ({0: torch.export.Dim("n")},)
    torch.export.save(torch.export.export(module, (torch.rand(2, 2),), dynamic_shapes=shapes), folder / "torch.pt2")
    return folder


FILES = ("net.onnx", "torch.pt2")


def asked(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """The JSON of a command."""
    assert main([*map(str, arguments), "--json"]) == code, capsys.readouterr().err
    return checked_output(capsys.readouterr().out)


def data_in(folder: Path) -> list[str]:
    return ["--data", str(folder / "a.csv"), "--set=data.response=y"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_explained(models: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    given: list[str | Path] = [models / name, *data_in(models)]
    found = asked(capsys, "explain", *given, "--method", "permutation")
    assert {row["name"] for row in found["features"]} == {"a", "b"}
    to = tmp_path / "gradients.csv"
    asked(capsys, "explain", *given, "--method", "integrated_gradients", "--sample", "3", "-o", to)
    assert len(to.read_text().splitlines()) == 3
    of_file = asked(
        capsys, "explain", models / name, "--method", "integrated_gradients", "--sample", _row(tmp_path, name)
    )
    assert of_file["file"] == ""


def _row(folder: Path, name: str) -> Path:
    """A table of one row, with the columns that a network is known to take."""
    path = folder / "row.csv"
    path.write_text("a,b\n0.5,0.5\n" if name == "net.onnx" else "x1,x2\n0.5,0.5\n")
    return path


def test_explanations_of_a_run_and_of_its_file_are_the_same(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    method = ["--method", "permutation", *data_in(models)]
    run, file = (asked(capsys, "explain", models / name, *method) for name in ("run", "net.onnx"))
    for one, other in zip(run["features"], file["features"], strict=True):
        assert one["name"] == other["name"]
        assert one["value"] == pytest.approx(other["value"], abs=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_its_robustness_is_measured(models: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "robustness", models / name, *data_in(models), "--samples", "60")
    assert [curve["kind"] for curve in found["curves"]] == ["noise", "fgsm", "pgd"]
    assert main(["robustness", str(models / name), *data_in(models), "--store"]) == 2
    assert "is no run" in capsys.readouterr().err


@pytest.mark.parametrize("name", FILES)
def test_it_has_a_report(models: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "report", models / name, *data_in(models), "-o", tmp_path / "a.html")
    assert found["has_evaluation"]
    text = (tmp_path / "a.html").read_text()
    assert name in text
    assert "Confusion" in text
    found = asked(capsys, "report", models / name, "-o", tmp_path / "b.html")
    assert not found["has_evaluation"]
    assert "has no data" in found["missing"]


@pytest.mark.parametrize("name", FILES)
def test_its_layers_are_profiled(models: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "profile", models / name, "--batch", "8", "--threads", "1")
    assert sum("fully" in layer["type"].lower() for layer in found["layers"]) == 2


def test_models_are_compared(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "compare", models / "net.onnx", models / "net.onnx")["equal"]
    assert not asked(capsys, "compare", models / "net.onnx", models / "torch.pt2", code=4)["equal"]
    against = ["--against", str(models / "net.onnx"), *data_in(models)]
    found = asked(capsys, "evaluate", models / "run", *against)
    assert found["targets"][0]["mcnemar"]["only_first"] == found["targets"][0]["mcnemar"]["only_second"] == 0
    found = asked(capsys, "evaluate", models / "run", "--against", models / "torch.pt2", *data_in(models))
    assert found["samples"] == 120


@pytest.mark.parametrize("name", FILES)
def test_it_is_pruned_into_a_project_that_is_a_model_again(
    models: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "small.netwright"
    found = asked(capsys, "prune", models / name, *data_in(models), "--structured", "--amount", "0.5", "-o", to)
    assert found["rows"][1]["parameters"] < found["rows"][0]["parameters"]
    project = load(to).project
    assert (tmp_path / project.weights.file).is_file()
    again = asked(capsys, "evaluate", to, *data_in(models))
    assert again["metrics"]["accuracy"] == pytest.approx(found["rows"][1]["metrics"]["accuracy"])


@pytest.mark.parametrize("name", FILES)
def test_it_is_exported_quantised_and_transferred(
    models: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for to in ("again.onnx", "net.py", "net.pt2"):
        asked(capsys, "export", models / name, "-o", tmp_path / to)
        assert (tmp_path / to).is_file()
    asked(capsys, "export", models / name, "-o", tmp_path / "int8.onnx", "--precision", "int8-dynamic")
    asked(capsys, "transfer", models / name, "-o", tmp_path / "new.netwright")
    x = torch.rand(6, 2)
    answers = []
    for path in (models / name, tmp_path / "again.onnx", tmp_path / "new.netwright"):
        model = open_model(path)
        answers.append(model.outputs(model.answering, (x,))[0])
    torch.testing.assert_close(answers[1], answers[0])
    torch.testing.assert_close(answers[2], answers[0])
    assert {file.name for file in tmp_path.glob("new.*")} == {"new.netwright", "new.weights.safetensors"}


def test_python_asks_a_model(models: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"data": models / "a.csv", "settings": {"data.response": "y"}}
    for name in ("run", *FILES):
        model = nw.load_model(models / name)
        assert model.evaluate(data=models / "a.csv", options=given["settings"]).samples == 120
        assert model.report(tmp_path / "a.html", **given).has_evaluation
        assert len(model.robustness(samples=30, **given).curves) == 3
        assert len(model.prune(0.5, **given).rows) == 2
        assert len(model.explain("permutation", **given).details["features"]) == 2
        assert model.export(tmp_path / "again.onnx").format == "onnx"
    assert nw.load_model(models / "net.onnx").predict([{"a": 1.0, "b": 1.0}])[0].label == "yes"
    program = nw.load_model(models / "torch.pt2")
    assert program.predict([{"x1": 1.0, "x2": 1.0}], classes=("off", "on"))[0].label in ("off", "on")
    with pytest.raises(nw.UserError, match="There is no argument 'clases'"):
        program.evaluate(clases=("no", "yes"))
    with pytest.raises(nw.UserError, match="Expected the folder of a run"):
        nw.load_model(models / "gone")


def test_a_keras_file_is_asked(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = np.array([[-4.0, 4.0], [-4.0, 4.0]])  # yes where the sum of both columns is positive
    layers = [
        keras_layer("InputLayer", "x", batch_shape=[None, 2]),
        keras_layer("Dense", "out", ["x"], units=2, use_bias=False, activation="softmax"),
    ]
    path = write_keras(tmp_path / "signs.keras", functional(layers, ["out"]), {"dense": [kernel]})
    found = asked(capsys, "evaluate", path, *data_in(models))
    assert found["metrics"]["accuracy"] > 0.9
    assert found["targets"][0]["classes"] == ["no", "yes"]
    card = asked(capsys, "models", "show", path)
    assert card["kind"] == "file"
    assert "data" not in card


def test_source_of_ours_is_asked_as_the_run_is_and_other_source_is_refused(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(models / "run", "pytorch", tmp_path / "net.py")
    run = asked(capsys, "evaluate", models / "run", *data_in(models))
    found = asked(capsys, "evaluate", tmp_path / "net.py", *data_in(models))
    assert found["metrics"] == pytest.approx(run["metrics"], rel=1e-4)
    (tmp_path / "other.py").write_text("print('a script')\n")
    error = asked(capsys, "evaluate", tmp_path / "other.py", *data_in(models), code=2)["error"]
    assert "other.py" in error["message"]
    assert "Traceback" not in error["message"]
