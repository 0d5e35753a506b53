"""A registered model answers as the run that it was, also when that is gone; its card says what it takes and gives."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import netwright as nw
from netwright.engine.core.errors import UserError
from netwright.engine.exchange.export import export
from netwright.engine.project.project import Project
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.model_registry import VARIABLE, Registry
from tests.builders import chain, layer
from tests.engine.models.test_model_questions import asked, data_in
from tests.runs import train


def trained(folder: Path, name: str, **options: object) -> Path:
    """A run on the table `a.csv`."""
    network = chain(
        layer("feature_input", channels=2),
        layer("fully_connected", outputs=8),
        layer("relu"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    project = Project(network)
    values = {"solver": "adam", "initial_learn_rate": 0.05, "max_epochs": 4, "mini_batch_size": 16, **options}
    project = replace(
        project,
        data=project.data.replace(source="table", path=str(folder / "a.csv"), response="y"),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(**values),
    )
    assert train(project, folder / name).exit_code == 0
    return folder / name


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs on a table, and the ONNX file of the first."""
    folder = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    rows = [(a, b, ("no", "yes")[int(a + b > 0)]) for a, b in random.normal(size=(120, 2)).round(3)]
    (folder / "a.csv").write_text("\n".join(["a,b,y", *(f"{a},{b},{y}" for a, b, y in rows)]) + "\n")
    trained(folder, "run")
    trained(folder, "longer", max_epochs=9)
    export(folder / "run", "onnx", folder / "net.onnx")
    return folder


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "registry"))
    return tmp_path / "registry"


def test_a_registered_run_answers_as_it_did_when_it_is_gone(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(runs / "run", tmp_path / "copy")
    before = asked(capsys, "evaluate", copy)
    added = asked(capsys, "models", "register", copy, "signs", "--tag", "small", "--metric", "size_mb=0.01")
    assert (added["name"], added["version"], added["stage"], added["tags"]) == ("signs", 1, "none", ["small"])
    assert added["metrics"]["size_mb"] == 0.01
    assert added["metrics"]["validation.accuracy"] > 0.5
    record = read_record(runs / "run")
    assert record is not None
    assert added["lineage"]["data"] == record.fingerprint
    assert added["lineage"]["samples"] == record.samples
    shutil.rmtree(copy)
    asked(capsys, "models", "promote", "signs@1")
    after = asked(capsys, "evaluate", "signs@production")
    assert after["metrics"] == pytest.approx(before["metrics"], rel=1e-6)
    assert after["targets"][0]["classes"] == before["targets"][0]["classes"] == ["no", "yes"]
    answers = asked(capsys, "predict", "signs@1", runs / "a.csv")["predictions"]
    assert len(answers) == 120
    assert asked(capsys, "explain", "signs@1", "--method", "permutation")["features"]
    model = nw.load_model("signs@production")
    assert model.evaluate().metrics == pytest.approx(before["metrics"], rel=1e-6)
    assert nw.predict("signs@1", [{"a": 3, "b": 3}])[0].label == "yes"


def test_an_onnx_file_is_registered_with_what_it_says(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(capsys, "models", "register", runs / "net.onnx", "signs")
    found = asked(capsys, "evaluate", "signs@1", *data_in(runs))
    file = asked(capsys, "evaluate", runs / "net.onnx", *data_in(runs))
    assert found["metrics"] == pytest.approx(file["metrics"])
    card = asked(capsys, "models", "show", "signs@1")
    assert card["registered"]["lineage"]["source"] == "net.onnx"
    assert card["outputs"][0]["classes"] == ["no", "yes"]
    assert card["title"] == "signs@1"


def test_a_model_says_what_it_takes_and_gives(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, kind in (("run", "run"), ("net.onnx", "file")):
        card = asked(capsys, "models", "show", runs / name)
        assert card["kind"] == kind
        assert card["inputs"][0]["columns"] == ["a", "b"]
        assert card["outputs"][0]["classes"] == ["no", "yes"]
        normalisation = [] if name == "run" else ["learned_scale"]  # a layer of the file
        assert card["parameters"] == 4 * len(normalisation) + 2 * 8 + 8 + 8 * 2 + 2
        assert ("data" in card) == (name == "run")
        assert [row["type"] for row in card["layers"]][:-1] == [
            "feature_input",
            *normalisation,
            "fully_connected",
            "relu",
            "fully_connected",
        ]


def test_two_versions_are_compared(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("run", "longer"):
        asked(capsys, "models", "register", runs / name, "signs")
    found = asked(capsys, "models", "compare", "signs@1", "signs@2")
    assert found["same_data"] is True
    assert {score["name"] for score in found["metrics"]} >= {"validation.accuracy", "test.loss"}
    assert any("max_epochs" in text or "epochs" in text for text in found["differences"])
    listed = asked(capsys, "models", "list")["models"]
    assert [(model["name"], model["version"]) for model in listed] == [("signs", 2), ("signs", 1)]


def test_a_project_is_started_from_a_registered_model_and_names_it_as_its_parent(
    runs: Path, registry: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(capsys, "models", "register", runs / "run", "signs")
    project = nw.load_model("signs@1").transfer(tmp_path / "next.netwright", freeze_up_to="relu_1")
    assert project.value.weights.freeze_up_to
    with pytest.raises(UserError, match=r"transfer has no option 'fit_haed'. Did you mean 'fit_head'"):
        nw.transfer("signs@1", tmp_path / "other.netwright", fit_haed=True)
    child = asked(capsys, "models", "register", tmp_path / "next.netwright", "marks")
    assert child["lineage"]["parent"] == "signs@1"
    assert [version.title for version in Registry().all()] == ["marks@1", "signs@1"]
